"""gpt-oss (OpenAI 2025, arXiv:2508.10925). Reference: ``transformers.models.gpt_oss`` 5.23."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import D, E, K
from paramsym.core.layer import Layer, Tensor
from paramsym.layers.experts import Router, StackedExperts
from paramsym.models.blocks import Mixture, PreNorm, RotatedAttention
from paramsym.models.decoder import RmsDecoder, by_turns, check_window, frequencies
from paramsym.models.key_kinds import Flag, Real, Sizes, Whole
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Own, Value


class GptOss(RmsDecoder):
    """gpt-oss and its heads, as the reference class ``architecture`` stores them.

    Each head has a sink. Experts are stacked, here and in the published files; their matrices are stored (in, out). ``layer_types`` are the
    alternating kinds of attention; those with a window see ``sliding_window`` positions. ``swiglu_alpha`` and ``swiglu_limit`` are the
    slope and the bound of the experts' gate.

    >>> GptOss(attention_bias=False).params
    2*A*D*H*L + A*L + 2*D*G*H*L + 3*E*F*H*L + 2*E*F*L + 2*E*H*L + E*L + 2*H*L + H*V + H
    >>> GptOss(architecture="GptOssForCausalLM").at("openai/gpt-oss-120b").params
    116829156672
    """

    head_dim: Dim | None = key(D, 64)
    num_local_experts: Dim = key(E, 128)
    num_experts_per_tok: Dim = key(K, 4, at_most="num_local_experts")
    attention_bias: bool = key(Flag(default=True))
    architecture: str = classes({"GptOss": "Model ForCausalLM ForSequenceClassification ForTokenClassification"})
    _: KW_ONLY
    rms_norm_eps: float = key(Real(1e-5))
    sliding_window: Dim | None = key(Whole(128, least=0))
    layer_types: tuple[str, ...] = ("sliding_attention", "full_attention")
    swiglu_alpha: float = key(Real(1.702))
    swiglu_limit: float = key(Real(7.0))

    def forward(self, own: Own, input_ids: Value) -> Value:
        check_window(self.layer_types, self.sliding_window)
        return super().forward(own, input_ids)

    def rotated(self) -> dict[str, Layer]:
        return {"rotary_emb": frequencies(self.head_width(), self.rotary_dim, rope=self.rope, halves=True)}

    def blocks(self) -> Layer:
        return self.in_turn(self.block, self.layer_types)

    def block(self, kind: str = "full_attention") -> PreNorm:
        width, inner, stored, used = self.hidden_size, self.intermediate_size, self.num_local_experts, self.num_experts_per_tok
        window = self.sliding_window if kind == "sliding_attention" else None
        matrices = self.projections(bias=self.attention_bias)
        attention = SinkAttention(matrices, self.num_attention_heads, window=window, halves=True, dropout=self.attention_dropout)
        router = Router(width, stored, bias=True, experts_per_token=used, scores="chosen")
        experts = StackedExperts(width, inner, stored, used, bias=True, transposed=True, limit=self.swiglu_limit, alpha=self.swiglu_alpha)
        return self.pre_norm(attention, Mixture({"router": router, "experts": experts}, router="router"))


class SinkAttention(RotatedAttention):
    """Attention in which each head can attend to nothing: ``sinks`` (A,), one learned score per head, and the projections.

    >>> from paramsym.algebra.symbols import A
    >>> SinkAttention({}, A).params
    A
    """

    num_heads: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("sinks", (self.num_heads,), role="bias")


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Scale positions by the reference's default; find the alternation of layers with a window."""
    if arguments["rope_parameters"] is None and arguments["rope_scaling"] is None:
        arguments["rope_parameters"] = {"kind": "yarn", "share": None, "numbers": _YARN}
    listed = arguments["layer_types"]
    rope_arguments()(arguments, sizes)
    if listed:
        arguments["layer_types"] = by_turns(listed)
    arguments["sliding_window"] = arguments["sliding_window"] or None


_YARN = {"factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False, "original_positions": 4096}
"""The reference's default scaling of positions."""
_DEFAULTS = {"V": 201088, "H": 2880, "L": 36, "A": 64, "G": 8, "F": 2880, "max_position_embeddings": 131072, "rope_theta": 150000.0}
_IGNORED = "hidden_act experts_per_token initial_context_length"
FAMILIES = (family("gpt_oss", GptOss, "", _DEFAULTS, _settle, ignored=_IGNORED, aliases={"num_experts": "num_local_experts"}),)
