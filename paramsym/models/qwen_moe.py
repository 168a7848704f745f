"""Qwen1.5-MoE, Qwen2-MoE and Qwen3-MoE (Yang et al. 2024 and 2025: arXiv:2407.10671, arXiv:2505.09388).

References: ``transformers.models.qwen2_moe`` and ``qwen3_moe`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from math import lcm
from typing import Any, Literal

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, at_most, canonical
from paramsym.algebra.symbols import E, K, L, dims
from paramsym.atlas.values import refused
from paramsym.core.compose import Repeat, copies_of
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part
from paramsym.layers.dense import Dense
from paramsym.layers.experts import Router
from paramsym.layers.heads import HeadNorm
from paramsym.models.blocks import Mixture, PreNorm, RotatedAttention
from paramsym.models.decoder import RmsDecoder, by_turns, check_window, gated
from paramsym.models.experts import experts
from paramsym.models.key_kinds import Fixed, Flag, Function, Key, Sizes, Whole, as_numbers
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Own, Value
from paramsym.program.own import through

EXPERT, SHARED = dims("F_e F_s")
"""The widths of an expert and of the shared expert."""


class LayerNumbers(Key):
    """A list of layers by number, or null."""

    nothing = ()

    def check(self, value: Any, where: str, _: Sizes, /) -> tuple[int, ...]:
        if not isinstance(value, list | tuple):
            raise refused(value, where, "a list of layer numbers")
        for position, number in enumerate(value):
            if isinstance(number, bool) or not isinstance(number, int):
                raise refused(number, f"{where}[{position}]", "a whole number")
        return tuple(value)


class QwenMoe(RmsDecoder):
    """Qwen's mixtures of experts and their heads, as the reference class ``architecture`` stores them.

    Every ``decoder_sparse_step``-th layer is sparse: it has a router and E experts, of which a token uses K; Qwen2-MoE also has a shared
    expert with a gate. The layers in ``mlp_only_layers`` (numbered from 0) and all others are dense, and so are all layers without experts.
    Attention is Qwen2's (biases on queries, keys and values unless ``qkv_bias`` is False) or Qwen3's (a scale of D for queries and one for
    keys). ``expert_storage`` is *stacked*, two tensors as the reference holds them, or *separate*, as the published files do.
    ``layer_types`` are the alternating kinds of attention of the first ``max_window_layers`` layers (None: of all); the others see all
    earlier positions.

    >>> from paramsym import D
    >>> QwenMoe(architecture="Qwen3MoeModel", head_dim=D).params
    2*A*D*H*L + 2*D*G*H*L + 2*D*L + 3*E*F_e*H*L + E*H*L + 2*H*L + H*V + H
    >>> QwenMoe(architecture="Qwen2MoeForCausalLM").at("Qwen/Qwen1.5-MoE-A2.7B", F=5632).params
    14315784192
    """

    moe_intermediate_size: Dim = key(EXPERT, 1408)
    shared_expert_intermediate_size: Count = key(SHARED, 5632, least=0, of="Qwen2Moe")
    num_experts: Count = key(E, 60, least=0)
    num_experts_per_tok: Dim = key(K, 4)
    decoder_sparse_step: int = key(Fixed(1))
    mlp_only_layers: tuple[int, ...] = key(LayerNumbers(), argument=())
    hidden_act: str = key(Function("silu"))
    qkv_bias: bool = key(Flag(default=True), of="Qwen2Moe")
    attention_bias: bool = key(Flag(), of="Qwen3Moe")
    expert_storage: Literal["stacked", "separate"] = "stacked"
    architecture: str = classes({"Qwen2Moe Qwen3Moe": LANGUAGE})
    _: KW_ONLY
    norm_topk_prob: bool = key(Flag())
    sliding_window: Dim | None = key(Whole(4096, least=0), argument=None)
    layer_types: tuple[str, ...] = ("full_attention",)
    max_window_layers: int | None = key(Whole(28, least=0), of="Qwen2Moe", argument=None)

    renamed = ("Qwen3Moe",)

    def conditions(self) -> None:
        super().conditions()
        if self.num_experts != 0:
            at_most(self.num_experts_per_tok, self.num_experts, "num_experts_per_tok", "num_experts")

    def forward(self, own: Own, input_ids: Value) -> Value:
        check_window(self.layer_types, self.sliding_window)
        return super().forward(own, input_ids)

    def blocks(self) -> Layer:
        """A sparse layer at every step; the layers between them, and the listed layers, are dense; the kinds of attention alternate."""
        mixed = self.num_experts != 0
        step, only = (self.decoder_sparse_step, self.mlp_only_layers) if mixed else (1, ())
        sparse = self._sparse() if mixed else self._dense()
        seen = tuple(self.sliding_window if kind == "sliding_attention" else None for kind in self.layer_types)
        until = None if set(seen) == {None} else self.max_window_layers
        if step == 1 and not only and len(set(seen)) == 1 and until is None:
            return Repeat(self._block(sparse, seen[0]), self.num_hidden_layers)
        dense = self._dense() if mixed else sparse
        ways = {window: (self._block(dense, window), self._block(sparse, window)) for window in {*seen, None}}
        windowed = tuple(ways[window] for window in seen)
        return SparsePattern(*ways[None], self.num_hidden_layers, step, only, turns=windowed, until=until)

    def _block(self, mlp: Layer, window: Dim | None) -> PreNorm:
        layers = self.projections(bias=self.qkv_bias, output_bias=False)
        if self.kind == "Qwen3Moe":
            layers = self.projections(bias=self.attention_bias)
            layers |= self.shared_norms("q_norm", "k_norm", HeadNorm((self.head_width(),), eps=self.rms_norm_eps))
        return self.pre_norm(RotatedAttention(layers, window=window, dropout=self.attention_dropout), mlp)

    def _dense(self) -> Layer:
        return gated(self.hidden_size, self.intermediate_size, self.hidden_act)

    def _sparse(self) -> Mixture:
        width, stored, used, act = self.hidden_size, self.num_experts, self.num_experts_per_tok, self.hidden_act
        router = Router(width, stored, experts_per_token=used, normalised=self.norm_topk_prob)
        routed = experts(width, self.moe_intermediate_size, stored, used, act, self.expert_storage)
        if self.kind == "Qwen3Moe":
            return Mixture({"experts": routed, "gate": router})
        shared, gate = gated(width, self.shared_expert_intermediate_size, act), Dense(width, 1, bias=False)
        layers = {"gate": router, "experts": routed, "shared_expert": shared, "shared_expert_gate": gate}
        return Mixture(layers, shared="shared_expert")


class SparsePattern(Declared):
    """Every ``step``-th of ``copies`` layers is sparse, the last of each ``step``, except those in ``only``; the others are dense.

    ``only`` lists, in order, the exceptions that would be sparse. ``turns`` are pairs, dense and sparse, with the same tensors and another
    forward pass: they alternate up to the layer number ``until``, or in all layers.

    >>> from paramsym.algebra.symbols import F, H, L
    >>> SparsePattern(Dense(H, F, bias=False), Dense(H, H, bias=False), 6, 2, (3,)).params
    4*F*H + 2*H**2
    >>> SparsePattern(Dense(H, 1, bias=False), Dense(H, H, bias=False), L, 1, (0, 1)).params
    H**2*L - 2*H**2 + 2*H
    """

    dense: Layer
    sparse: Layer
    copies: Count
    step: int
    only: tuple[int, ...] = ()
    _: KW_ONLY
    turns: tuple[tuple[Layer, Layer], ...] = ()
    until: int | None = None

    def parts(self) -> Iterator[Part]:
        """Whole steps up to each exception, a dense step for it, and whole steps after the last."""
        blocks = (*(self.dense,) * (self.step - 1), self.sparse)
        start = 0
        for exception in self.only:
            before = exception + 1 - self.step - start
            if before:
                yield Part("", Repeat(blocks, before, start=start))
            yield Part("", Repeat(self.dense, self.step, start=start + before))
            start = exception + 1
        yield Part("", Repeat(blocks, self.copies - start, start=start))

    def forward(self, own: Own, x: Value, *along: Value) -> Value:  # noqa: ARG002 - the copies are those of the parts
        """Layer after layer: one loop from each exception, or from the end of the turns, to the next."""
        starts = sorted({0, *self.only, *(number + 1 for number in self.only), self.until or 0})
        for start, end in zip(starts, (*starts[1:], self.copies), strict=True):
            if runs := self._runs(start, end):
                x = through(runs, (x,), along)
        return x

    def _runs(self, start: int, end: Count) -> list[tuple[Numbers, Layer]]:
        """Return the layers between two numbers, with alternating forward passes."""
        period = lcm(self.step, len(self.turns) or 1)
        ways = [self._way(start + n) for n in range(period)]
        if start in self.only or all(way == ways[0] for way in ways):
            period = 1
        counts = [copies_of(canonical(end - start), n, period) for n in range(period)]
        return [(Numbers(count, start + n, period), ways[n]) for n, count in enumerate(counts) if count != 0]

    def _way(self, number: int) -> Layer:
        turning = self.turns and (self.until is None or number < self.until)
        dense, sparse = self.turns[number % len(self.turns)] if turning else (self.dense, self.sparse)
        return sparse if (number + 1) % self.step == 0 and number not in self.only else dense


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Keep the exceptions that exist and would be sparse; the reference also ignores the others."""
    listed = arguments["layer_types"]
    rope_arguments()(arguments, sizes)
    _settle_windows(arguments, sizes, listed)
    step = arguments["decoder_sparse_step"]
    listed = {number for number in arguments["mlp_only_layers"] if 0 <= number < sizes[L] and (number + 1) % step == 0}
    arguments["mlp_only_layers"] = tuple(sorted(listed))
    as_numbers(arguments, sizes, num_experts=E, shared_expert_intermediate_size=SHARED)


def _settle_windows(arguments: dict[str, Any], sizes: Sizes, listed: tuple[str, ...] | None) -> None:
    """Find the layers with a window: all (Qwen3), or every other one up to ``max_window_layers``, or those that are listed (Qwen2)."""
    used, several = arguments.pop("use_sliding_window"), "max_window_layers" in arguments
    last = arguments.pop("max_window_layers", None)
    arguments["sliding_window"] = (arguments["sliding_window"] if used else None) or None
    if several and listed:
        arguments["layer_types"] = by_turns(listed)
    elif arguments["sliding_window"] is not None and not several:
        arguments["layer_types"] = ("sliding_attention",)
    elif arguments["sliding_window"] is not None and last != 0:
        arguments["layer_types"] = ("sliding_attention", "full_attention")
        arguments["max_window_layers"] = None if last is None or last >= sizes[L] else last


_POSITIONS = {"max_position_embeddings": 32768, "use_sliding_window": Flag()}
_QWEN2 = {"V": 151936, "H": 2048, "L": 24, "A": 16, "G": 16, "F": 5632, **_POSITIONS}
_QWEN3 = {**_QWEN2, "A": 32, "G": 4, "F": 6144, "F_e": 768, "E": 128, "K": 8}
FAMILIES = (
    family("qwen2_moe", QwenMoe, "Qwen2Moe", _QWEN2, _settle),
    family("qwen3_moe", QwenMoe, "Qwen3Moe", _QWEN3, _settle, aliases={"num_local_experts": "num_experts"}),
)
