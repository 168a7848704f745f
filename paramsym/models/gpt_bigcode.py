"""SantaCoder and StarCoder (Ben Allal et al. 2023, arXiv:2301.03988; Li et al. 2023, arXiv:2305.06161).

Reference: ``transformers.models.gpt_bigcode`` 5.23, names and shapes of its state dict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, get_args

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import PreNorm
from paramsym.models.decoder import decoder_family
from paramsym.models.gpt import CrossDecoder, CrossPreNorm, FeedForward, FusedAttention, FusedCross
from paramsym.models.keys import Flag, Real, Size, Word
from paramsym.models.published import published_in
from paramsym.size import Count, Dim, cat, divides
from paramsym.symbols import A, F, H, L, P, V

Architecture = Literal[
    "GPTBigCodeModel", "GPTBigCodeForCausalLM", "GPTBigCodeForSequenceClassification", "GPTBigCodeForTokenClassification"
]


@dataclass(frozen=True)
class GptBigCode(CrossDecoder):
    """SantaCoder, StarCoder and their heads, as the reference class ``architecture`` stores them: GPT-2 with one key and one value.

    The arguments are the keys of the reference's configuration. The base model stores V*H + P*H for its tables; L blocks of
    2*H**2 + 2*H*H/A for attention with ``multi_query``, of 4*H**2 without, 2*F*H for the feed-forward network (F is 4*H where ``n_inner``
    is None), their biases and two normalisations of 2*H; and a last normalisation of 2*H. A mask of P*P entries is kept and not saved.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: cross attention with ``multi_query``; an activation or architecture that the reference does not know.

    >>> GptBigCode(multi_query=False).params
    12*H**2*L + 13*H*L + H*P + H*V + 2*H
    >>> GptBigCode(architecture="GPTBigCodeForCausalLM").at("bigcode/gpt_bigcode-santacoder").params
    1124886528
    """

    vocab_size: Dim = V
    n_positions: Dim = P
    n_embd: Dim = H
    n_layer: Count = L
    n_head: Dim = A
    n_inner: Dim | None = None
    activation_function: str = "gelu_pytorch_tanh"
    multi_query: bool = True
    add_cross_attention: bool = False
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "GPTBigCodeModel"
    _: KW_ONLY
    layer_norm_epsilon: float = 1e-5
    scale_attn_weights: bool = True

    base_name: ClassVar[str] = "transformer"
    table_name: ClassVar[str] = "wte"
    classifier_name: ClassVar[str] = "classifier"
    published, claims = published_in("gpt_bigcode")

    def conditions(self) -> None:
        """Heads divide the width; the reference knows the activation, and builds cross attention with all heads only."""
        divides(self.n_head, self.n_embd, "n_head", "n_embd")
        check_activation(self.activation_function, "activation_function")
        if self.add_cross_attention and self.multi_query:
            message = "add_cross_attention=True needs multi_query=False: the reference has no cross attention with one key for all heads."
            raise ArgumentError(message)

    @property
    def hidden_size(self) -> Dim:  # type: ignore[override]
        """The width under the name that decoders share."""
        return self.n_embd

    def base(self) -> Layer:
        """The base model."""
        width = self.n_embd
        return Sequential(
            wte=Embedding(self.vocab_size, width),
            wpe=LearnedPositions(self.n_positions, width),
            h=Repeat(self.block(), self.n_layer),
            ln_f=self.norm(),
        )

    def norm(self) -> LayerNorm:
        """A scale and a shift for each entry."""
        return LayerNorm(self.n_embd, self.layer_norm_epsilon)

    def parts(self) -> Iterator[Part]:
        """The base model with its mask, then the head."""
        first, *head = super().parts()
        yield Part(first.name, CausalMask(self.n_positions, first.layer))
        yield from head

    def block(self, kind: str = "full_attention") -> PreNorm:  # noqa: ARG002 - there is one kind
        """Attention, cross attention where there is one, and the feed-forward network, each with its normalisation."""
        width, heads, own = self.n_embd, self.n_head, divides(self.n_head, self.n_embd, "n_head", "n_embd")
        inner = 4 * width if self.n_inner is None else self.n_inner
        scale = None if self.scale_attn_weights else 1.0
        out = Dense((heads, own), width)
        axis = cat(query=(heads, own), key=own, value=own) if self.multi_query else (heads, cat(query=own, key=own, value=own))
        layers: dict[str, Layer] = {
            "ln_1": self.norm(),
            "attn": FusedAttention({"c_attn": Dense(width, axis), "c_proj": out}, names=("c_attn", "c_proj"), scale=scale),
            "ln_2": self.norm(),
        }
        if self.add_cross_attention:
            both = Dense(width, (heads, cat(key=own, value=own)))
            layers["crossattention"] = FusedCross({"c_attn": both, "q_attn": Dense(width, (heads, own)), "c_proj": out}, scale=scale)
            layers["ln_cross_attn"] = self.norm()
        function = self.activation_function
        layers["mlp"] = FeedForward({"c_fc": Dense(width, inner), "c_proj": Dense(inner, width), **learned("act", function)}, function)
        return (CrossPreNorm if self.add_cross_attention else PreNorm)(layers, names=("ln_1", "attn", "ln_2", "mlp"))


@dataclass(frozen=True)
class CausalMask(Layer):
    """A model beside its causal mask ``bias``, a buffer (P, P) that is not saved.

    >>> CausalMask(P, Sequential()).params
    0
    """

    in_order = True

    positions: Dim
    layer: Layer

    def tensors(self) -> Iterator[Tensor]:
        """The mask."""
        yield Tensor("bias", (self.positions, self.positions), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """The model, on this one's own level."""
        yield Part("", self.layer)


FAMILIES = (
    decoder_family(
        "gpt_bigcode",
        GptBigCode,
        get_args(Architecture),
        {
            "vocab_size": Size(V, 50257),
            "n_positions": Size(P, 1024),
            "n_embd": Size(H, 768),
            "n_layer": Size(L, 12, least=0),
            "n_head": Size(A, 12),
            "n_inner": Size(F, None),
            "activation_function": Word("gelu_pytorch_tanh"),
            "multi_query": Flag(default=True),
            "add_cross_attention": Flag(default=False),
            "tie_word_embeddings": Flag(default=True),
            "layer_norm_epsilon": Real(1e-5),
            "scale_attn_weights": Flag(default=True),
        },
        None,
        ignored=(
            "num_key_value_heads attention_softmax_in_fp32 scale_attention_softmax_in_fp32"
            " inference_runner max_batch_size pad_key_length pre_allocate_kv_cache validate_runner_input n_ctx"
            " summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj"
        ),
        aliases={
            "hidden_size": "n_embd",
            "max_position_embeddings": "n_positions",
            "num_attention_heads": "n_head",
            "num_hidden_layers": "n_layer",
        },
        usual={"attention_type": (2, None)},  # what multi_query says now: 1 is one key per head, 3 splits the fused matrix
        former={"GPTBigCodeLMHeadModel": "GPTBigCodeForCausalLM"},
    ),
)
