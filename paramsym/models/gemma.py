"""Gemma, Gemma 2 and the language model of Gemma 3 (Google 2024 and 2025: arXiv:2403.08295, arXiv:2408.00118, arXiv:2503.19786).

References: ``transformers.models.gemma``, ``gemma2`` and ``gemma3`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Sequential
from paramsym.errors import ConfigError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.attention import HeadNorm
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import check_activation
from paramsym.models.claims import CARD, RECALLED, Claim
from paramsym.models.decoder import (
    GroupedDecoder,
    RotaryFrequencies,
    check_even,
    check_length,
    decoder_family,
    gated,
    grouped_keys,
    grouped_size,
    of_kind,
    rotation,
    round_heads,
    settled,
)
from paramsym.models.family import Flag, Key, Size, Sizes, Word
from paramsym.program import ROPE, Rope
from paramsym.size import Count, Dim, divides
from paramsym.symbols import A, D, F, G, H, L, V, dims

Architecture = Literal[
    "GemmaModel",
    "GemmaForCausalLM",
    "GemmaForSequenceClassification",
    "GemmaForTokenClassification",
    "Gemma2Model",
    "Gemma2ForCausalLM",
    "Gemma2ForSequenceClassification",
    "Gemma2ForTokenClassification",
    "Gemma3TextModel",
    "Gemma3ForCausalLM",
    "Gemma3TextForSequenceClassification",
]
PATTERN = dims("p")
"""Every how many layers of Gemma 3 one attends to everything."""
_KINDS = ("full_attention", "sliding_attention")


@dataclass(frozen=True)
class Gemma(GroupedDecoder):
    """Gemma, Gemma 2, Gemma 3 (text) and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of 2*A*D*H + 2*G*D*H for
    attention, 3*F*H for the gated feed-forward network and 2*H for two scales; and a last scale of H. ``architecture`` also says which of
    the three it is: Gemma 2 and 3 have two more scales of H in each block, Gemma 3 also one of D for queries and one for keys.
    ``layer_types`` are the kinds of layers that occur, each with rotary frequencies of its own (Gemma 3). ``attention_bias`` gives the four
    matrices of attention a bias.

    Raises:
        DivisibilityError: key/value heads that do not divide the heads; heads that do not divide the width (Gemma 2 and 3).
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Gemma().params
    2*A*D*H*L + 2*D*G*H*L + 3*F*H*L + 2*H*L + H*V + H
    >>> Gemma(architecture="Gemma3ForCausalLM").at("google/gemma-3-270m").params
    268098176
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = D
    intermediate_size: Dim = F
    hidden_activation: str = "gelu_pytorch_tanh"
    attention_bias: bool = False
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    layer_types: tuple[str, ...] = _KINDS
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "GemmaModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "google/gemma-2b": grouped_size(256000, 2048, 18, 8, 1, 16384, head_dim=256),
        "google/gemma-7b": grouped_size(256000, 3072, 28, 16, 16, 24576, head_dim=256),
        "google/gemma-2-2b": grouped_size(256000, 2304, 26, 8, 4, 9216, head_dim=256),
        "google/gemma-2-9b": grouped_size(256000, 3584, 42, 16, 8, 14336, head_dim=256),
        "google/gemma-2-27b": grouped_size(256000, 4608, 46, 32, 16, 36864, head_dim=128),
        "google/gemma-3-270m": grouped_size(262144, 640, 18, 4, 1, 2048, head_dim=256),
        "google/gemma-3-1b-pt": grouped_size(262144, 1152, 26, 4, 1, 6912, head_dim=256),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("google/gemma-2b", 2_506_172_416, RECALLED, counts="GemmaForCausalLM"),
        Claim("google/gemma-7b", 8_537_680_896, RECALLED, counts="GemmaForCausalLM"),
        Claim("google/gemma-2-2b", 2_614_341_888, CARD, counts="Gemma2ForCausalLM"),
        Claim("google/gemma-2-9b", 9_241_705_984, RECALLED, counts="Gemma2ForCausalLM"),
        Claim("google/gemma-2-27b", 27_227_128_320, RECALLED, counts="Gemma2ForCausalLM"),
        Claim("google/gemma-3-270m", 268_098_176, RECALLED, counts="Gemma3ForCausalLM"),
        Claim("google/gemma-3-1b-pt", 999_885_952, RECALLED, counts="Gemma3ForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_activation, "hidden_activation")
        if self.kind != "Gemma":  # checked by the reference even where head_dim makes the quotient idle
            divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")

    def base(self) -> Layer:
        """The base model; the table comes with the factor that its rows are scaled by, which is not saved."""
        return Sequential(
            embed_tokens=ScaledEmbedding(self.vocab_size, self.hidden_size),
            layers=self.blocks(),
            norm=self.norm(),
            rotary_emb=self.frequencies(),
        )

    def frequencies(self) -> Layer:
        """One set of frequencies; in Gemma 3 one for each kind of layer that occurs."""
        if not self.kind.startswith("Gemma3"):
            return super().frequencies()
        return RotaryFrequencies(self.head_width(), tuple(sorted(set(self.layer_types))))

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size)

    def block(self) -> Block:
        """Attention, the feed-forward network, and the scales before, and since Gemma 2 after each."""
        attention = self.projections(bias=self.attention_bias)
        if self.kind.startswith("Gemma3"):
            attention |= self.shared_norms("q_norm", "k_norm", HeadNorm((self.head_width(),)))
        layers: dict[str, Layer] = {
            "self_attn": Block(attention),
            "mlp": gated(self.hidden_size, self.intermediate_size, self.hidden_activation),
            "input_layernorm": self.norm(),
            "post_attention_layernorm": self.norm(),
        }
        if self.kind != "Gemma":
            layers |= {"pre_feedforward_layernorm": self.norm(), "post_feedforward_layernorm": self.norm()}
        return Block(layers)


@dataclass(frozen=True)
class ScaledEmbedding(Layer):
    """A table whose rows are scaled when they are looked up: ``weight`` (V, H), and the factor, which is not saved.

    >>> ScaledEmbedding(V, H).params
    H*V
    """

    in_order = True

    num_embeddings: Dim
    embedding_dim: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The factor."""
        yield Tensor("embed_scale", (), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """The table."""
        yield Part("", Embedding(self.num_embeddings, self.embedding_dim))


def _settle_gemma3(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Find out which kinds of layers occur: from their list, or from the pattern of one full layer in p."""
    listed = check_length(arguments, sizes, "layer_types")
    round_heads(arguments, sizes, floors=False)
    rotation(arguments)
    check_even(sizes[D], None)
    pattern, layers = sizes.pop(arguments.pop("sliding_window_pattern")), sizes[L]
    if listed is None:
        occurs = {"full_attention": layers >= pattern, "sliding_attention": layers > 0 and pattern > 1}
        listed = tuple(kind for kind in _KINDS if occurs[kind])
    other = sorted(set(listed) - set(_KINDS))
    if other:
        message = f"layer_types has {other[0]!r}; the layers of gemma3_text are {' and '.join(_KINDS)}."
        raise ConfigError(message)
    arguments["layer_types"] = tuple(sorted(set(listed)))


def _keys(vocab_size: int, width: int, layers: int, heads: int, groups: int, inner: int, activation: str, **own: Key) -> dict[str, Key]:
    """Return the keys of one generation, whose activation stands under a name of its own."""
    keys = grouped_keys(vocab_size, width, layers, heads, Size(G, groups), inner, tied=True, head_dim=Size(D, 256))
    del keys["hidden_act"]
    return {**keys, activation: Word("gelu_pytorch_tanh"), "attention_bias": Flag(default=False), **own}


def _settle_gemma(arguments: dict[str, Any], sizes: Sizes) -> None:
    arguments["hidden_activation"] = arguments.pop("hidden_act")
    settled()(arguments, sizes)


_NAMES: tuple[str, ...] = get_args(Architecture)
FAMILIES = (
    decoder_family(
        "gemma",
        Gemma,
        of_kind(_NAMES, "Gemma"),
        _keys(256000, 3072, 28, 16, 16, 24576, "hidden_act"),
        _settle_gemma,
        ignored="hidden_activation",
    ),
    decoder_family(
        "gemma2",
        Gemma,
        of_kind(_NAMES, "Gemma2"),
        _keys(256000, 2304, 26, 8, 4, 9216, "hidden_activation"),
        settled(floors=False),
        ignored="hidden_act cache_implementation",
    ),
    decoder_family(
        "gemma3_text",
        Gemma,
        (*of_kind(_NAMES, "Gemma3Text"), *of_kind(_NAMES, "Gemma3")),
        _keys(262208, 2304, 26, 8, 4, 9216, "hidden_activation", sliding_window_pattern=Size(PATTERN, 6)),
        _settle_gemma3,
        ignored="hidden_act cache_implementation _sliding_window_pattern",
    ),
)
