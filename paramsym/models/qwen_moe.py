"""Qwen1.5-MoE, Qwen2-MoE and Qwen3-MoE (Yang et al. 2024 and 2025: arXiv:2407.10671, arXiv:2505.09388).

References: ``transformers.models.qwen2_moe`` and ``qwen3_moe`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import lcm
from typing import Any, Literal, get_args

from paramsym.compose import Repeat, copies_of
from paramsym.errors import ConfigError
from paramsym.layer import Layer, Part
from paramsym.layers.attention import HeadNorm
from paramsym.layers.dense import Dense
from paramsym.layers.experts import Router
from paramsym.layers.normalization import RMSNorm
from paramsym.ledger import Numbers
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Mixture, PreNorm, RotatedAttention
from paramsym.models.decoder import GroupedDecoder, by_turns, check_window, decoder_family, experts, gated, grouped_keys, of_kind
from paramsym.models.keys import Fixed, Flag, Key, Real, Size, Sizes, Whole, shown
from paramsym.models.published import published_in
from paramsym.models.rope import settled
from paramsym.program import ROPE, Own, Rope, Value
from paramsym.program.own import through
from paramsym.size import Count, Dim, at_most, canonical
from paramsym.symbols import A, E, F, G, H, K, L, V, dims

Architecture = Literal[
    "Qwen2MoeModel",
    "Qwen2MoeForCausalLM",
    "Qwen2MoeForSequenceClassification",
    "Qwen2MoeForTokenClassification",
    "Qwen2MoeForQuestionAnswering",
    "Qwen3MoeModel",
    "Qwen3MoeForCausalLM",
    "Qwen3MoeForSequenceClassification",
    "Qwen3MoeForTokenClassification",
    "Qwen3MoeForQuestionAnswering",
]
EXPERT, SHARED = dims("F_e F_s")
"""The widths of an expert and of the one that every token uses."""


@dataclass(frozen=True)
class QwenMoe(GroupedDecoder):
    """Qwen's mixtures of experts and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. A sparse block has a router of E*H and E experts of 3*F_e*H, of which a
    token uses K; Qwen2-MoE also one of 3*F_s*H that every token uses, behind a gate of H. Every ``decoder_sparse_step``-th layer is sparse,
    except those in ``mlp_only_layers`` (numbered from 0); the others have a feed-forward network of 3*F*H. Without experts all layers are
    dense. Attention is Qwen2's (biases on queries, keys and values unless ``qkv_bias`` is False) or Qwen3's (a scale of D for queries and
    one for keys). ``expert_storage`` is *stacked*, two tensors as the reference holds them, or *separate*, as the published files do.
    ``layer_types`` are the kinds of attention, by turns, of the first ``max_window_layers`` layers (None: of all); the others see all
    earlier positions.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        SizeError: more experts used than stored.
        ArgumentError: an argument that the family does not have; an activation or architecture that the reference does not know.

    >>> from paramsym import D
    >>> QwenMoe(architecture="Qwen3MoeModel", head_dim=D).params
    2*A*D*H*L + 2*D*G*H*L + 2*D*L + 3*E*F_e*H*L + E*H*L + 2*H*L + H*V + H
    >>> QwenMoe(architecture="Qwen2MoeForCausalLM").at("Qwen/Qwen1.5-MoE-A2.7B", F=5632).params
    14315784192
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    moe_intermediate_size: Dim = EXPERT
    shared_expert_intermediate_size: Count = SHARED
    num_experts: Count = E
    num_experts_per_tok: Dim = K
    decoder_sparse_step: int = 1
    mlp_only_layers: tuple[int, ...] = ()
    hidden_act: str = "silu"
    qkv_bias: bool = True
    attention_bias: bool = False
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    expert_storage: Literal["stacked", "separate"] = "stacked"
    architecture: Architecture = "Qwen2MoeModel"
    _: KW_ONLY
    rms_norm_eps: float = 1e-6
    norm_topk_prob: bool = False
    sliding_window: Dim | None = None
    layer_types: tuple[str, ...] = ("full_attention",)
    max_window_layers: int | None = None

    published, claims = published_in("qwen_moe")

    def conditions(self) -> None:
        """Heads and groups divide; a token uses no more experts than there are; the family has the biases."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")
        if self.num_experts != 0:
            at_most(self.num_experts_per_tok, self.num_experts, "num_experts_per_tok", "num_experts")
        if self.kind == "Qwen2Moe":
            self.refuse(attention_bias=self.attention_bias)

    @property
    def answering_base_name(self) -> str:  # type: ignore[override]
        """Qwen3's question answering keeps its base model under another name."""
        return "transformer" if self.kind == "Qwen3Moe" else "model"

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size, self.rms_norm_eps)

    def forward(self, own: Own, input_ids: Value) -> Value:
        """What every decoder gives; windows need a width."""
        check_window(self.layer_types, self.sliding_window)
        return super().forward(own, input_ids)

    def blocks(self) -> Layer:
        """Sparse layers at every step, dense ones between them and where they are listed; each kind of attention by turns."""
        mixed = self.num_experts != 0
        step, only = (self.decoder_sparse_step, self.mlp_only_layers) if mixed else (1, ())
        dense = self._dense()
        sparse = self._sparse() if mixed else dense
        seen = tuple(self.sliding_window if kind == "sliding_attention" else None for kind in self.layer_types)
        until = None if set(seen) == {None} else self.max_window_layers
        ways: dict[Dim | None, tuple[Layer, Layer]] = {
            window: (self._block(dense, window), self._block(sparse, window)) for window in {*seen, None}
        }
        if step == 1 and not only and len(set(seen)) == 1 and until is None:
            return Repeat(ways[seen[0]][1], self.num_hidden_layers)
        windowed = tuple(ways[window] for window in seen)
        return SparsePattern(*ways[None], self.num_hidden_layers, step, only, turns=windowed, until=until)

    def _block(self, mlp: Layer, window: Dim | None) -> PreNorm:
        """Attention, a feed-forward network or experts, and the scale before each."""
        layers = self.projections(bias=self.qkv_bias, output_bias=False)
        if self.kind == "Qwen3Moe":
            layers = self.projections(bias=self.attention_bias)
            layers |= self.shared_norms("q_norm", "k_norm", HeadNorm((self.head_width(),), eps=self.rms_norm_eps))
        return PreNorm(
            {
                "self_attn": RotatedAttention(layers, window=window),
                "mlp": mlp,
                "input_layernorm": self.norm(),
                "post_attention_layernorm": self.norm(),
            }
        )

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


@dataclass(frozen=True)
class SparsePattern(Layer):
    """Every ``step``-th of ``copies`` layers is sparse, the last of each ``step``, except those in ``only``; the others are dense.

    ``only`` holds, in order, those layers that would be sparse. ``turns`` are pairs, dense and sparse, that store the same as these two and
    compute something else: they take turns with one another, up to the layer number ``until``, or in all layers.

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
        """Return the layers between two numbers, one after another by turns."""
        period = lcm(self.step, len(self.turns) or 1)
        ways = [self._way(start + n) for n in range(period)]
        if start in self.only or all(way == ways[0] for way in ways):
            period = 1
        counts = [copies_of(canonical(end - start), n, period) for n in range(period)]
        return [(Numbers(count, start + n, period), ways[n]) for n, count in enumerate(counts) if count != 0]

    def _way(self, number: int) -> Layer:
        """Return the layer of a number."""
        turning = self.turns and (self.until is None or number < self.until)
        dense, sparse = self.turns[number % len(self.turns)] if turning else (self.dense, self.sparse)
        return sparse if (number + 1) % self.step == 0 and number not in self.only else dense


@dataclass(frozen=True)
class LayerNumbers:
    """A key that holds a list of layers by number, or null."""

    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> tuple[int, ...]:
        """Return the numbers."""
        del sizes
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            message = f"{where} is {shown(value)}; wanted a list of layer numbers."
            raise ConfigError(message)
        for position, number in enumerate(value):
            if isinstance(number, bool) or not isinstance(number, int):
                message = f"{where}[{position}] is {shown(number)}; wanted a whole number."
                raise ConfigError(message)
        return tuple(value)

    def missing(self, sizes: Sizes) -> tuple[int, ...]:
        """Return no numbers."""
        del sizes
        return ()


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Keep those exceptions that are layers and would be sparse: the reference ignores the others, too."""
    listed = arguments["layer_types"]
    settled()(arguments, sizes)
    _settle_windows(arguments, sizes, listed)
    step = arguments["decoder_sparse_step"]
    listed = {number for number in arguments["mlp_only_layers"] if 0 <= number < sizes[L] and (number + 1) % step == 0}
    arguments["mlp_only_layers"] = tuple(sorted(listed))
    if sizes[E] == 0:
        arguments["num_experts"] = sizes.pop(E)
    if sizes.get(SHARED, 0) == 0:
        arguments["shared_expert_intermediate_size"] = sizes.pop(SHARED, 0)


def _settle_windows(arguments: dict[str, Any], sizes: Sizes, listed: tuple[str, ...] | None) -> None:
    """Find out which layers see a window: all (Qwen3), or every other one up to ``max_window_layers``, or those that are listed (Qwen2)."""
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


def _keys(heads: int, groups: int, inner: int, expert: int, stored: int, used: int, **own: Any) -> dict[str, Key]:
    return grouped_keys(
        *(151936, 2048, 24, heads, Size(G, groups), inner),
        positions=32768,
        moe_intermediate_size=Size(EXPERT, expert),
        num_experts=Size(E, stored, least=0),
        num_experts_per_tok=Size(K, used),
        decoder_sparse_step=Fixed(1),
        mlp_only_layers=LayerNumbers(),
        rms_norm_eps=Real(1e-6),
        norm_topk_prob=Flag(default=False),
        use_sliding_window=Flag(default=False),
        sliding_window=Whole(4096, least=0),
        **own,
    )


_NAMES: tuple[str, ...] = get_args(Architecture)
FAMILIES = (
    decoder_family(
        "qwen2_moe",
        QwenMoe,
        of_kind(_NAMES, "Qwen2Moe"),
        _keys(
            *(16, 16, 5632, 1408, 60, 4),
            shared_expert_intermediate_size=Size(SHARED, 5632, least=0),
            qkv_bias=Flag(default=True),
            max_window_layers=Whole(28, least=0),
        ),
        _settle,
    ),
    decoder_family(
        "qwen3_moe",
        QwenMoe,
        of_kind(_NAMES, "Qwen3Moe"),
        _keys(32, 4, 6144, 768, 128, 8, attention_bias=Flag(default=False)),
        _settle,
        aliases={"num_local_experts": "num_experts"},
    ),
)
