"""GPT-J (Wang and Komatsuzaki 2021). Reference: ``transformers.models.gptj`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Repeat, Sequential
from paramsym.extents import up_over
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.claims import Claim
from paramsym.models.decoder import ROTATED, Decoder, decoder_family
from paramsym.models.family import Flag, Size, Sizes, Word
from paramsym.size import Count, Dim, divides
from paramsym.symbols import A, F, H, L, N, P, V

Architecture = Literal["GPTJModel", "GPTJForCausalLM", "GPTJForSequenceClassification", "GPTJForQuestionAnswering"]


@dataclass(frozen=True)
class GptJ(Decoder):
    """GPT-J and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of 4*H**2 for attention
    without biases, 2*F*H + F + H for the feed-forward network (F is 4*H where ``n_inner`` is None) and 2*H for one normalisation before
    both; and a last normalisation of 2*H. The output has a bias. Each block keeps the sines and cosines of P positions for the
    ``rotary_dim`` entries of a head that are rotated, or for H where it is None, and does not save them. ``num_labels`` is N where the
    architecture has labels and no number is given, question answering included.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> GptJ().params
    12*H**2*L + 7*H*L + H*V + 2*H
    >>> GptJ(architecture="GPTJForCausalLM").at("EleutherAI/gpt-j-6b").params
    6050882784
    """

    vocab_size: Dim = V
    n_positions: Dim = P
    n_embd: Dim = H
    n_layer: Count = L
    n_head: Dim = A
    rotary_dim: Dim | None = ROTATED
    n_inner: Dim | None = None
    activation_function: str = "gelu_new"
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    architecture: Architecture = "GPTJModel"

    base_name: ClassVar[str] = "transformer"
    answering_base_name: ClassVar[str] = "transformer"
    table_name: ClassVar[str] = "wte"
    output_bias: ClassVar[bool] = True
    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "EleutherAI/gpt-j-6b": {"vocab_size": 50400, "n_positions": 2048, "n_embd": 4096, "n_layer": 28, "n_head": 16, "rotary_dim": 64}
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("EleutherAI/gpt-j-6b", 6_050_882_784, "Hugging Face model card (n_parameters)", counts="GPTJForCausalLM"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter; the reference's question answering has as many outputs as labels."""
        if self.num_labels is None and self.architecture == "GPTJForQuestionAnswering":
            object.__setattr__(self, "num_labels", N)
        super().__post_init__()

    def conditions(self) -> None:
        """Heads divide the width; the reference knows the activation."""
        divides(self.n_head, self.n_embd, "n_head", "n_embd")
        check_activation(self.activation_function, "activation_function")

    @property
    def hidden_size(self) -> Dim:  # type: ignore[override]
        """The width under the name that decoders share."""
        return self.n_embd

    def answers(self) -> Dim:
        """As many as there are labels, whatever they are."""
        return 2 if self.num_labels is None else self.num_labels

    def base(self) -> Layer:
        """The base model."""
        width = self.n_embd
        return Sequential(wte=Embedding(self.vocab_size, width), h=Repeat(self.stream(self.block()), self.n_layer), ln_f=LayerNorm(width))

    def block(self) -> Block:
        """The normalisation, attention, the feed-forward network."""
        width = self.n_embd
        inner = 4 * width if self.n_inner is None else self.n_inner
        sliced = (self.n_head, divides(self.n_head, width, "n_head", "n_embd"))
        project = Dense(width, sliced, bias=False)
        attention = Block(k_proj=project, v_proj=project, q_proj=project, out_proj=Dense(sliced, width, bias=False))
        rotated = width if self.rotary_dim is None else self.rotary_dim
        return Block(
            ln_1=LayerNorm(width),
            attn=TurnedAttention(self.n_positions, rotated, attention),
            mlp=Block({"fc_in": Dense(width, inner), "fc_out": Dense(inner, width), **learned("act", self.activation_function)}),
        )


@dataclass(frozen=True)
class TurnedAttention(Layer):
    """Attention beside the sines and cosines of its positions, a buffer (P, rotary_dim) that is not saved.

    >>> TurnedAttention(P, 64, Block()).params
    0
    """

    positions: Dim
    rotary_dim: Dim
    projections: Block

    def tensors(self) -> Iterator[Tensor]:
        """One sine and one cosine for each two entries."""
        shape = (self.positions, 2 * up_over(self.rotary_dim, 2))
        yield Tensor("embed_positions", shape, role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """The projections, on this layer's own level."""
        yield Part("", self.projections)


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Read a rotary width of 0 as the reference does: as the hidden width."""
    if sizes[ROTATED] == 0:
        arguments["rotary_dim"] = None
        del sizes[ROTATED]


FAMILIES = (
    decoder_family(
        "gptj",
        GptJ,
        get_args(Architecture),
        {
            "vocab_size": Size(V, 50400),
            "n_positions": Size(P, 2048),
            "n_embd": Size(H, 4096),
            "n_layer": Size(L, 28, least=0),
            "n_head": Size(A, 16),
            "rotary_dim": Size(ROTATED, 64, least=0),
            "n_inner": Size(F, None),
            "activation_function": Word("gelu_new"),
            "tie_word_embeddings": Flag(default=False),
        },
        _settle,
        ignored=(
            "rotary scale_attn_weights n_ctx summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj"
        ),
        aliases={
            "max_position_embeddings": "n_positions",
            "hidden_size": "n_embd",
            "num_attention_heads": "n_head",
            "num_hidden_layers": "n_layer",
        },
        labelled=("QuestionAnswering",),
    ),
)
