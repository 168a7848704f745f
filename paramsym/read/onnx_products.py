"""ONNX's products, norms, reductions, recurrent functions and attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.errors import NotYetError
from paramsym.layers.cells import Cell, GRUCell, LSTMCell, RNNCell
from paramsym.program import (
    Mask,
    Value,
    apply,
    attend,
    best,
    contract,
    cumulate,
    join,
    normalise,
    rearrange,
    reduce,
    segments,
    softmax,
    take,
)
from paramsym.program.reductions import Reduction
from paramsym.read.onnx_entries import ONNX, array, axes_of, axis_in
from paramsym.read.onnx_from_sizes import is_known, number, sizes
from paramsym.read.torch_entries import TORCH, filled
from paramsym.read.torch_recurrent import scanned


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


@ONNX("Softmax")
def _softmax(input: Any, axis: int | None = None, *, version: int) -> Value:
    return _normalised(array(input), axis, version, log=False)


@ONNX("LogSoftmax")
def _log_softmax(input: Any, axis: int | None = None, *, version: int) -> Value:
    return _normalised(array(input), axis, version, log=True)


def _normalised(x: Value, axis: int | None, version: int, *, log: bool) -> Value:
    """Return a softmax; before version 13 it was over all axes from one on."""
    if version >= 13:
        return softmax(x, axis_in(x, -1 if axis is None else axis), log=log)
    first = axis_in(x, 1 if axis is None else axis)
    if first != x.rank - 1:
        raise NotYetError("a softmax over several axes is not known.")
    return softmax(x, first, log=log)


# Norms ---------------------------------------------------------------------------------------------------------------------------


@ONNX("LayerNormalization", ignored="stash_type")
def _layer_norm(X: Any, Scale: Any = None, B: Any = None, axis: int = -1, epsilon: float = 1e-5) -> Value:
    x = array(X)
    scale, shift = (None if one is None else array(one) for one in (Scale, B))
    return normalise(x, "layer", *range(axis_in(x, axis) - x.rank, 0), eps=epsilon, scale=scale, shift=shift)


@ONNX("RMSNormalization", ignored="stash_type")
def _rms_norm(X: Any, scale: Any, axis: int = -1, epsilon: float = 1e-5) -> Value:
    x = array(X)
    return normalise(x, "rms", *range(axis_in(x, axis) - x.rank, 0), eps=epsilon, scale=array(scale))


@ONNX("BatchNormalization", ignored="momentum spatial")
def _batch_norm(X: Any, scale: Any, B: Any, input_mean: Any, input_var: Any, epsilon: float = 1e-5, training_mode: int = 0) -> Value:
    given = [array(one) for one in (X, scale, B, input_mean, input_var)]
    return TORCH.functions["native_batch_norm"](*given, training=bool(training_mode), eps=epsilon)


@ONNX("InstanceNormalization")
def _instance_norm(input: Any, scale: Any, B: Any, epsilon: float = 1e-5) -> Value:
    return TORCH.functions["instance_norm"](array(input), array(scale), array(B), None, None, True, epsilon)


@ONNX("GroupNormalization", ignored="stash_type")
def _group_norm(X: Any, scale: Any, bias: Any, num_groups: int, epsilon: float = 1e-5, *, version: int) -> Value:
    if version < 21:
        raise NotYetError("a group normalisation with one scale for a group, as before version 21, is not known.")
    return TORCH.functions["native_group_norm"](array(X), array(scale), array(bias), num_groups, epsilon)


@ONNX("LpNormalization")
def _lp_norm(input: Any, axis: int = -1, p: int = 2) -> Value:
    x = array(input)
    if p == 1:
        return x / reduce("sum", apply("abs", x), axis, keep=True)
    return x / apply("sqrt", reduce("sum", apply("square", x), axis, keep=True))


# Reductions ----------------------------------------------------------------------------------------------------------------------

_REDUCTIONS: Mapping[str, Reduction] = {"Sum": "sum", "Mean": "mean", "Max": "amax", "Min": "amin", "Prod": "prod"}
_BEFORE = {"L1": "abs", "L2": "square", "SumSquare": "square", "LogSumExp": "exp", "LogSum": ""}
_AFTER = {"L2": "sqrt", "LogSumExp": "log", "LogSum": "log"}


def _reduction(name: str) -> None:
    @ONNX(f"Reduce{name}")
    def reduction(data: Any, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Value:
        x, over = array(data), axes_of(axes)
        if not over and noop_with_empty_axes:
            return x
        if name == "LogSumExp":
            return TORCH.functions["logsumexp"](x, over, bool(keepdims))
        x = apply(_BEFORE[name], x) if _BEFORE.get(name) else x
        x = reduce(_REDUCTIONS.get(name, "sum"), x, *(over or range(x.rank)), keep=bool(keepdims)) if x.rank else x
        return apply(_AFTER[name], x) if name in _AFTER else x


for _name in (*_REDUCTIONS, *_BEFORE):
    _reduction(_name)


def _place(theirs: str, *, least: bool) -> None:
    @ONNX(theirs)
    def place(data: Any, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Value:
        if select_last_index:
            raise NotYetError("the last of equal entries is not known.")
        x = array(data)
        return take(best(x, 1, axis_in(x, axis), least=least)[1], axis_in(x, axis), 0, 1 if keepdims else None)


_place("ArgMax", least=False)
_place("ArgMin", least=True)


@ONNX("TopK", ignored="sorted")
def _topk(X: Any, K: Any, axis: int = -1, largest: int = 1) -> tuple[Value, Value]:
    x = array(X)
    return best(x, sizes(K)[0], axis_in(x, axis), least=not largest)


@ONNX("CumSum")
def _cumsum(x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Value:
    if exclusive or reverse or not is_known(axis):
        raise NotYetError("running sums from the end, or without the entry itself, are not known.")
    return cumulate(array(x), axis_in(array(x), number(axis)))


# Recurrent functions -------------------------------------------------------------------------------------------------------------

_USUAL: Mapping[type[Cell], tuple[str, ...]] = {LSTMCell: ("Sigmoid", "Tanh", "Tanh"), GRUCell: ("Sigmoid", "Tanh"), RNNCell: ("Tanh",)}
_GATES: Mapping[type[Cell], tuple[int, ...]] = {LSTMCell: (0, 2, 3, 1), GRUCell: (1, 0, 2), RNNCell: (0,)}
"""The places of torch's gates among ONNX's: of an LSTM input, forget, cell, output; of a GRU reset, update, new."""


def _recurrent(
    kind: type[Cell], x: Any, W: Any, R: Any, B: Any, lens: Any, initial: Sequence[Any], given: Mapping[str, Any]
) -> tuple[Value, ...]:
    """Return the hidden states of all steps (length, directions, batch, hidden), then the last states."""
    if lens is not None or given["layout"] or given["clip"] is not None:
        raise NotYetError(
            f"{kind.__name__.removesuffix('Cell')} with lengths, with the batch first or with limits of entries is not known."
        )
    x, gates = array(x), _GATES[kind]
    words, usual = given["activations"] or (), _USUAL[kind]
    relu = kind is RNNCell and set(words) == {"Relu"}
    if words and not relu and tuple(words) != usual * (len(words) // len(usual)):
        raise NotYetError(f"{kind.__name__.removesuffix('Cell')} with the functions {', '.join(words)} is not known.")
    direction = given["direction"]
    ways = 2 if direction == "bidirectional" else 1
    hidden = given["hidden_size"] or array(R).sizes[-1]
    zeros = filled((ways, x.sizes[1], hidden), 0.0)
    states = [zeros if one is None else array(one) for one in initial]
    outputs, last = [], []
    for way in range(ways):
        weights = [_ordered(take(array(one), 0, way), hidden, gates) for one in (W, R)]
        if B is not None:
            weights += [_ordered(one, hidden, gates) for one in segments(take(array(B), 0, way), *(len(gates) * hidden,) * 2, axis=0)]
        more = {"nonlinearity": "relu" if relu else "tanh"} if kind is RNNCell else {}
        reverse = way == 1 or direction == "reverse"
        *ends, output = scanned(kind, more, x, [take(one, 0, way) for one in states], weights, B is not None, False, reverse)
        outputs.append(rearrange(output, "s b h -> s () b h"))
        last.append([rearrange(one, "b h -> () b h") for one in ends])
    y = outputs[0] if ways == 1 else join(*outputs, axis=1)
    return (y, *(one[0] if ways == 1 else join(*one, axis=0) for one in zip(*last, strict=True)))


def _ordered(x: Value, hidden: Any, gates: Sequence[int]) -> Value:
    """Return the gates of a matrix or a bias in torch's order."""
    if len(gates) == 1:
        return x
    pieces = segments(x, *(hidden,) * len(gates), axis=0)
    return join(*(pieces[place] for place in gates), axis=0)


@ONNX("LSTM")
def _lstm(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    P: Any = None,
    activations: Any = None,
    clip: Any = None,
    direction: str = "forward",
    hidden_size: int = 0,
    input_forget: int = 0,
    layout: int = 0,
) -> tuple[Value, ...]:
    if P is not None or input_forget:
        raise NotYetError("an LSTM with peepholes or coupled gates is not known.")
    given = {"activations": activations, "clip": clip, "direction": direction, "hidden_size": hidden_size, "layout": layout}
    return _recurrent(LSTMCell, X, W, R, B, sequence_lens, (initial_h, initial_c), given)


@ONNX("GRU")
def _gru(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    activations: Any = None,
    clip: Any = None,
    direction: str = "forward",
    hidden_size: int = 0,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Value, ...]:
    if not linear_before_reset:
        raise NotYetError("a GRU that resets before the product is not known.")
    given = {"activations": activations, "clip": clip, "direction": direction, "hidden_size": hidden_size, "layout": layout}
    return _recurrent(GRUCell, X, W, R, B, sequence_lens, (initial_h,), given)


@ONNX("RNN")
def _rnn(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    activations: Any = None,
    clip: Any = None,
    direction: str = "forward",
    hidden_size: int = 0,
    layout: int = 0,
) -> tuple[Value, ...]:
    given = {"activations": activations, "clip": clip, "direction": direction, "hidden_size": hidden_size, "layout": layout}
    return _recurrent(RNNCell, X, W, R, B, sequence_lens, (initial_h,), given)


# Attention -----------------------------------------------------------------------------------------------------------------------


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
