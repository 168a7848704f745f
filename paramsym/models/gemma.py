"""Gemma, Gemma 2 and the language model of Gemma 3 (Google 2024 and 2025: arXiv:2403.08295, arXiv:2408.00118, arXiv:2503.19786).

References: ``transformers.models.gemma``, ``gemma2`` and ``gemma3`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sympy import sqrt

from paramsym.algebra.size import Dim, divides
from paramsym.algebra.symbols import D, L, dims
from paramsym.atlas.values import refused, shown
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ConfigError
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import RMSNorm
from paramsym.models.blocks import Residual, RotatedAttention
from paramsym.models.decoder import RmsDecoder, RotaryFrequencies, by_turns, gated
from paramsym.models.key_kinds import Flag, Function, Key, Real, Size, Sizes, Whole, Word
from paramsym.models.model import classes, family, key
from paramsym.models.rope import RopeSettings, check_even, check_length, rope_arguments, rotation, round_heads
from paramsym.program import ROPE, Own, Rope, Value, apply, normalise
from paramsym.program.attention import root_reciprocal

PATTERN = dims("p")
"""The period of layers with full attention in Gemma 3."""
_WINDOWED = "Gemma2 Gemma3Text Gemma3"
_KINDS = ("full_attention", "sliding_attention")
_TURNS: Mapping[str, tuple[str, ...]] = {
    "Gemma": ("full_attention",),
    "Gemma2": ("sliding_attention", "full_attention"),
    "Gemma3": (*("sliding_attention",) * 5, "full_attention"),
}
"""The alternating kinds of layers."""
_CAPS: Mapping[str, tuple[float, float]] = {"Gemma": (0.0, 0.0), "Gemma2": (50.0, 30.0), "Gemma3": (0.0, 0.0)}
"""The limits of attention scores and of the scores of tokens; 0 is none."""


class Gemma(RmsDecoder):
    """Gemma, Gemma 2, Gemma 3 (text) and their heads, as the reference class ``architecture`` stores them.

    ``architecture`` also says which of the three it is: Gemma 2 and 3 have two more scales of H in each block, Gemma 3 also one of D for
    queries and one for keys. ``layer_types`` are the alternating kinds of layers, "sliding_attention" with a window and "full_attention";
    if it is None, they are those of the reference. In Gemma 3 each kind has separate rotary frequencies: ``rope`` and, with a window,
    ``local_rope``. The limits ``attn_logit_softcapping`` (Gemma 2) and ``final_logit_softcapping`` are the reference's if they are None; 0
    is no limit.

    >>> Gemma().params
    2*A*D*H*L + 2*D*G*H*L + 3*F*H*L + 2*H*L + H*V + H
    >>> Gemma(architecture="Gemma3ForCausalLM").at("google/gemma-3-270m").params
    268098176
    """

    head_dim: Dim | None = key(D, 256)
    hidden_activation: str = key(Function("gelu_pytorch_tanh"))
    attention_bias: bool = key(Flag())
    layer_types: tuple[str, ...] | None = None
    architecture: str = classes(
        {
            "Gemma Gemma2": "Model ForCausalLM ForSequenceClassification ForTokenClassification",
            "Gemma3Text": "Model ForSequenceClassification",
            "Gemma3": "ForCausalLM",
        }
    )
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    local_rope: Rope = ROPE
    sliding_window: Dim | None = key(Whole(4096), of=_WINDOWED)
    query_pre_attn_scalar: Dim | None = key(Whole(256), of=_WINDOWED)
    attn_logit_softcapping: float | None = key(Real(), of=_WINDOWED)
    final_logit_softcapping: float | None = key(Real(), of=_WINDOWED)
    use_bidirectional_attention: bool = key(Flag(null=True), of="Gemma Gemma3Text Gemma3")

    def conditions(self) -> None:
        super().conditions()
        if self.kind != "Gemma":  # checked by the reference even if head_dim makes the quotient unused
            divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        for kind in self.layer_types or ():
            if kind not in _KINDS:
                raise ArgumentError(f"layer_types has {kind!r:.80}; wanted {' or '.join(_KINDS)}.")

    @property
    def generation(self) -> str:
        return self.kind.removesuffix("Text")

    def token_table(self) -> Layer:
        return ScaledEmbedding(self.vocab_size, self.hidden_size)

    def norm(self) -> Layer:
        return GemmaRMSNorm(self.hidden_size, self.rms_norm_eps)

    def scores(self, x: Value) -> Value:
        cap = _CAPS[self.generation][1] if self.final_logit_softcapping is None else self.final_logit_softcapping
        return apply("tanh", x / cap) * cap if cap else x

    def rotated_kinds(self) -> tuple[str, ...]:
        """Return the kinds of layers that have separate frequencies, in the order in which they are kept."""
        return tuple(sorted(set(_TURNS["Gemma3"] if self.layer_types is None else self.layer_types)))

    def rotated(self) -> dict[str, Layer]:
        if self.generation != "Gemma3":
            return super().rotated()
        kinds = self.rotated_kinds()
        ropes = tuple(self.rope if kind == "full_attention" else self.local_rope for kind in kinds)
        return {"rotary_emb": RotaryFrequencies(self.head_width(), kinds, ropes)}

    def blocks(self) -> Layer:
        return self.in_turn(self.block, self.layer_types or _TURNS[self.generation])

    def block(self, kind: str = "full_attention") -> Layer:
        attention, mlp = self._attention(kind), gated(self.hidden_size, self.intermediate_size, self.hidden_activation)
        if self.generation == "Gemma":
            return self.pre_norm(attention, mlp)
        norms = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm")
        branches = ((norms[0], "self_attn", norms[1]), (norms[2], "mlp", norms[3]))
        return Residual({"self_attn": attention, "mlp": mlp, **dict.fromkeys(norms, self.norm())}, branches=branches)

    def _attention(self, kind: str) -> GemmaAttention:
        layers = self.projections(bias=self.attention_bias)
        if self.generation == "Gemma3":
            layers |= self.shared_norms("q_norm", "k_norm", GemmaRMSNorm(self.head_width(), self.rms_norm_eps))
        cap = _CAPS[self.generation][0] if self.attn_logit_softcapping is None else self.attn_logit_softcapping
        scalar = None if self.generation == "Gemma" else self.query_pre_attn_scalar
        return GemmaAttention(
            layers,
            causal=not self.use_bidirectional_attention,
            dropout=self.attention_dropout,
            window=self.sliding_window if kind == "sliding_attention" else None,
            scale=None if scalar is None else root_reciprocal(scalar),
            cap=cap if cap and self.generation == "Gemma2" else None,
            turn=self.rotated_kinds().index(kind) if self.generation == "Gemma3" and self.layer_types != () else 0,
        )


class GemmaAttention(RotatedAttention):
    """Rotated attention that gets several pairs of cosines and sines and uses pair number ``turn``."""

    _: KW_ONLY
    turn: int = 0

    def forward(self, own: Own, x: Value, *turn: Value) -> Value:
        return super().forward(own, x, *turn[2 * self.turn :][:2])


@dataclass(frozen=True)
class GemmaRMSNorm(RMSNorm):
    """Root-mean-square normalisation whose scale is stored as its difference from 1.

    >>> from paramsym.algebra.symbols import H
    >>> GemmaRMSNorm(H).params
    H
    """

    def forward(self, own: Own, x: Value) -> Value:
        x, over = self.over(x)
        return normalise(x, "rms", *over, eps=self.eps, scale=own.weight + 1)


class ScaledEmbedding(Declared):
    """A table whose rows are scaled when they are looked up: ``weight`` (V, H), and the factor, which is not saved.

    >>> from paramsym.algebra.symbols import H, V
    >>> ScaledEmbedding(V, H).params
    H*V
    """

    num_embeddings: Dim
    embedding_dim: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("embed_scale", (), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        yield Part("", Embedding(self.num_embeddings, self.embedding_dim))

    def forward(self, own: Own, index: Value) -> Value:
        return own[""](index) * sqrt(self.embedding_dim)


_LONGEST = 256
"""The most layers of a pattern."""


class RopesByKind(Key):
    """The key of the rotation in each kind of layer: an object with an object for each, or null."""

    def read(self, value: Any, where: str, sizes: Sizes, /) -> dict[str, Any]:
        if value is not None and not isinstance(value, Mapping):
            raise refused(value, where, "an object such as {'full_attention': {'rope_type': 'default'}}, or null")
        return {kind: RopeSettings().read((value or {}).get(kind), f"{where}: {kind}", sizes) for kind in _KINDS}


def _turns(arguments: dict[str, Any], sizes: Sizes, model_type: str, pattern: int) -> tuple[str, ...]:
    """Return the alternating kinds of layers: from their list, or from the pattern of one full layer in p."""
    listed, layers = check_length(arguments, sizes), sizes[L]
    if listed is None:
        if pattern > layers:
            return ("sliding_attention",) if layers else ()
        if pattern > _LONGEST:
            raise ConfigError(f"sliding_window_pattern is {shown(pattern)}; at most {_LONGEST} can be built.")
        return (*("sliding_attention",) * (pattern - 1), "full_attention")
    if other := sorted(set(listed) - set(_KINDS)):
        raise ConfigError(f"layer_types has {other[0]!r}; the layers of {model_type} are {' and '.join(_KINDS)}.")
    return by_turns(listed)


def _limits(arguments: dict[str, Any]) -> None:
    """Write 0 for a limit that is null."""
    for name in ("attn_logit_softcapping", "final_logit_softcapping"):
        if name in arguments:
            arguments[name] = arguments[name] or 0.0


def _settle_gemma2(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Every other layer has a window, unless a list says otherwise."""
    turns = _turns(arguments, sizes, "gemma2", 2)
    _limits(arguments)
    rope_arguments(floors=False)(arguments, sizes)
    arguments["layer_types"] = turns


def _settle_gemma3(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Find the kinds of layers and the rotation of each; a bidirectional window has the same width in all layers."""
    turns = _turns(arguments, sizes, "gemma3_text", sizes.pop(arguments.pop("sliding_window_pattern")))
    _limits(arguments)
    round_heads(arguments, sizes, floors=False)
    check_even(sizes[D], None)
    kinds, scaling, local = (arguments.pop(name) for name in ("rope_parameters", "rope_scaling", "rope_local_base_freq"))
    full = kinds["full_attention"]
    if scaling is not None:
        full = {**scaling, "numbers": {**(full or scaling)["numbers"], **scaling["numbers"]}}
    window = {"max_position_embeddings": arguments["max_position_embeddings"], "rope_theta": local}
    window["rope_parameters"] = kinds["sliding_attention"]
    rotation(window)
    arguments |= {"rope_parameters": full, "layer_types": turns, "local_rope": window["rope"]}
    rotation(arguments)
    if arguments["use_bidirectional_attention"] and arguments["sliding_window"] is not None:
        arguments["sliding_window"] = arguments["sliding_window"] // 2 + 1


def _settle_gemma(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Read "gelu" as the tanh form, its meaning in published files."""
    function = arguments.pop("hidden_act")
    arguments["hidden_activation"] = "gelu_pytorch_tanh" if function == "gelu" else function
    rope_arguments()(arguments, sizes)


_GEMMA2 = {"pad_token_id": 0, "V": 256000, "H": 2304, "L": 26, "A": 8, "G": 4, "F": 9216, "max_position_embeddings": 8192}
_GEMMA = {**_GEMMA2, "H": 3072, "L": 28, "A": 16, "G": 16, "F": 24576, "hidden_act": Word("gelu_pytorch_tanh")}
_GEMMA3 = {
    **_GEMMA2,
    "V": 262208,
    "max_position_embeddings": 131072,
    "sliding_window_pattern": Size(PATTERN, 6),
    "rope_parameters": RopesByKind(),
    "rope_theta": 1e6,
    "rope_local_base_freq": Real(10000.0),
}
_CAPPED = {"attn_logit_softcapping": Real(50.0, null=True), "final_logit_softcapping": Real(30.0, null=True)}
_CACHE = "hidden_act cache_implementation"
FAMILIES = (
    family("gemma", Gemma, "Gemma", _GEMMA, _settle_gemma, without="hidden_activation", ignored="hidden_activation"),
    family("gemma2", Gemma, "Gemma2", {**_GEMMA2, **_CAPPED}, _settle_gemma2, ignored=_CACHE),
    family("gemma3_text", Gemma, "Gemma3Text Gemma3", _GEMMA3, _settle_gemma3, ignored=f"{_CACHE} _sliding_window_pattern"),
)
