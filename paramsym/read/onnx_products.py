"""ONNX's products: matrices, Einstein sums, attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.errors import NotYetError
from paramsym.program import Mask, Value, attend, contract, rearrange
from paramsym.read.onnx_entries import ONNX, array
from paramsym.read.torch_entries import TORCH


@ONNX("MatMul")
def _matmul(A: Any, B: Any) -> Value:
    return TORCH.functions["matmul"](array(A), array(B))


@ONNX("Gemm")
def _gemm(A: Any, B: Any, C: Any = None, alpha: float = 1.0, beta: float = 1.0, transA: int = 0, transB: int = 0) -> Value:
    left, right = "k i" if transA else "i k", "j k" if transB else "k j"
    y = contract(f"{left}, {right} -> i j", array(A), array(B))
    y = y if alpha == 1 else y * alpha
    return y if C is None or beta == 0 else y + (array(C) if beta == 1 else array(C) * beta)


@ONNX("Einsum")
def _einsum(inputs: Sequence[Any], equation: str) -> Value:
    return TORCH.functions["einsum"](equation, tuple(map(array, inputs)))


@ONNX("Attention", ignored="softmax_precision qk_matmul_output_mode")
def _attention(
    Q: Any,
    K: Any,
    V: Any,
    attn_mask: Any = None,
    past_key: Any = None,
    past_value: Any = None,
    is_causal: int = 0,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
) -> Value:
    if past_key is not None or past_value is not None or softcap:
        raise NotYetError("an attention with earlier keys, or with a limit of the scores, is not known.")
    q, k, v = array(Q), array(K), array(V)
    mask = None if attn_mask is None else array(attn_mask)
    if q.rank == 4:
        return TORCH.functions["scaled_dot_product_attention"](q, k, v, mask, is_causal=bool(is_causal), scale=scale)
    q, k, v = (rearrange(one, "b s (a d) -> b s a d", a=heads) for one, heads in ((q, q_num_heads), (k, kv_num_heads), (v, kv_num_heads)))
    return attend(q, k, v, mask=Mask(causal=bool(is_causal)), scale=scale, bias=mask)
