"""GPT-Neo (Black et al. 2021). Reference: ``transformers.models.gpt_neo`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Repeat, Sequential
from paramsym.errors import ConfigError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.models.activations import check_activation, learned
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.decoder import Decoder, decoder_family
from paramsym.models.family import Flag, Size, Sizes, Word, shown, whole
from paramsym.size import Count, Dim, divides
from paramsym.symbols import A, F, H, L, P, V

Architecture = Literal[
    "GPTNeoModel",
    "GPTNeoForCausalLM",
    "GPTNeoForSequenceClassification",
    "GPTNeoForTokenClassification",
    "GPTNeoForQuestionAnswering",
]


def _size(hidden_size: int, layers: int, heads: int) -> dict[str, int]:
    """All published sizes share the vocabulary and the 2048 positions."""
    return {
        "vocab_size": 50257,
        "max_position_embeddings": 2048,
        "hidden_size": hidden_size,
        "num_layers": layers,
        "num_heads": heads,
    }


@dataclass(frozen=True)
class GptNeo(Decoder):
    """GPT-Neo and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores V*H + P*H for its tables; L blocks of 4*H**2 + H for
    attention, whose output alone has a bias, 2*F*H + F + H for the feed-forward network (F is 4*H where ``intermediate_size`` is None) and
    two normalisations of 2*H; and a last normalisation of 2*H. Which layers attend locally changes no parameter; each layer keeps a mask of
    P*P entries that is not saved.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> GptNeo().params
    12*H**2*L + 10*H*L + H*P + H*V + 2*H
    >>> GptNeo(architecture="GPTNeoForCausalLM").at("EleutherAI/gpt-neo-125m").params
    125198592
    """

    vocab_size: Dim = V
    max_position_embeddings: Dim = P
    hidden_size: Dim = H
    num_layers: Count = L
    num_heads: Dim = A
    intermediate_size: Dim | None = None
    activation_function: str = "gelu_new"
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "GPTNeoModel"

    base_name: ClassVar[str] = "transformer"
    answering_base_name: ClassVar[str] = "transformer"
    table_name: ClassVar[str] = "wte"
    classifier_name: ClassVar[str] = "classifier"
    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "EleutherAI/gpt-neo-125m": _size(768, 12, 12),
        "EleutherAI/gpt-neo-1.3B": _size(2048, 24, 16),
        "EleutherAI/gpt-neo-2.7B": _size(2560, 32, 20),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("EleutherAI/gpt-neo-125m", 125_198_592, RECALLED, counts="GPTNeoForCausalLM"),
        Claim("EleutherAI/gpt-neo-1.3B", 1_315_575_808, RECALLED, counts="GPTNeoForCausalLM"),
        Claim("EleutherAI/gpt-neo-2.7B", 2_651_307_520, BUILT, counts="GPTNeoForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads divide the width; the reference knows the activation."""
        divides(self.num_heads, self.hidden_size, "num_heads", "hidden_size")
        check_activation(self.activation_function, "activation_function")

    def base(self) -> Layer:
        """The base model."""
        width = self.hidden_size
        return Sequential(
            wte=Embedding(self.vocab_size, width),
            wpe=LearnedPositions(self.max_position_embeddings, width),
            h=Repeat(self.stream(self.block()), self.num_layers),
            ln_f=LayerNorm(width),
        )

    def block(self) -> Block:
        """Attention and the feed-forward network, each behind a normalisation."""
        width = self.hidden_size
        inner = 4 * width if self.intermediate_size is None else self.intermediate_size
        sliced = (self.num_heads, divides(self.num_heads, width, "num_heads", "hidden_size"))
        project = Dense(width, sliced, bias=False)
        attention = Block(k_proj=project, v_proj=project, q_proj=project, out_proj=Dense(sliced, width))
        return Block(
            ln_1=LayerNorm(width),
            attn=Block(attention=Masked((1, 1, self.max_position_embeddings, self.max_position_embeddings), attention)),
            ln_2=LayerNorm(width),
            mlp=Block({"c_fc": Dense(width, inner), "c_proj": Dense(inner, width), **learned("act", self.activation_function)}),
        )


@dataclass(frozen=True)
class Masked(Layer):
    """A layer beside its mask ``bias``, a buffer of ``shape`` that is not saved.

    >>> Masked((1, 1, P, P), Block()).params
    0
    """

    shape: tuple[Dim, ...]
    layer: Block

    def tensors(self) -> Iterator[Tensor]:
        """The mask."""
        yield Tensor("bias", self.shape, role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """The layer, on this one's own level."""
        yield Part("", self.layer)


@dataclass(frozen=True)
class AttentionTypes:
    """A key that holds patterns of layers and how often each is repeated: ``[[["global", "local"], 12]]``, or null, which is that."""

    only: tuple[str, ...] = ()

    def read(self, value: Any, where: str, sizes: Sizes) -> int:
        """Return the number of layers."""
        del sizes
        if value is None:
            return 24
        if not isinstance(value, list | tuple):
            message = f"{where} is {shown(value)}; wanted a list such as [[['global', 'local'], 12]]."
            raise ConfigError(message)
        return sum(_layers(item, f"{where}[{position}]") for position, item in enumerate(value))

    def missing(self, sizes: Sizes) -> int:
        """Return the number of layers of the default."""
        return self.read(None, "", sizes)


def _layers(item: Any, where: str) -> int:
    if not isinstance(item, list | tuple) or len(item) != 2 or not isinstance(item[0], list | tuple):
        message = f"{where} is {shown(item)}; wanted a pattern and a number, such as [['global', 'local'], 12]."
        raise ConfigError(message)
    for kind in item[0]:
        if not isinstance(kind, str) or kind not in {"global", "local"}:
            message = f"{where} names {shown(kind)}; layers are 'global' or 'local'."
            raise ConfigError(message)
    return len(item[0]) * whole(item[1], f"{where}[1]", 0)


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """The kinds of attention are one per layer, as the reference checks."""
    layers = arguments.pop("attention_types")
    if layers != sizes[L]:
        message = f"this configuration cannot be built. attention_types describes {layers} layers, and num_layers is {sizes[L]}."
        raise ConfigError(message)


FAMILIES = (
    decoder_family(
        "gpt_neo",
        GptNeo,
        get_args(Architecture),
        {
            "vocab_size": Size(V, 50257),
            "max_position_embeddings": Size(P, 2048),
            "hidden_size": Size(H, 2048),
            "num_layers": Size(L, 24, least=0),
            "num_heads": Size(A, 16),
            "intermediate_size": Size(F, None),
            "activation_function": Word("gelu_new"),
            "tie_word_embeddings": Flag(default=True),
            "attention_types": AttentionTypes(),
        },
        _settle,
        ignored=(
            "attention_layers window_size resid_dropout embed_dropout gradient_checkpointing_every"
            " summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj"
        ),
        aliases={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
    ),
)
