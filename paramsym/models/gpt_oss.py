"""gpt-oss (OpenAI 2025, arXiv:2508.10925). Reference: ``transformers.models.gpt_oss`` 5.23."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block
from paramsym.layer import Part, Tensor
from paramsym.layers.experts import Router, StackedExperts
from paramsym.layers.features import positions
from paramsym.layers.normalization import RMSNorm
from paramsym.layers.stream import OverPositions
from paramsym.models.claims import Claim
from paramsym.models.decoder import GroupedDecoder, decoder_family, grouped_keys, grouped_size, settled
from paramsym.models.family import Flag, Size
from paramsym.program import ROPE, Rope
from paramsym.size import Count, Dim, Shape, at_most
from paramsym.symbols import A, D, E, F, G, H, K, L, V

Architecture = Literal["GptOssModel", "GptOssForCausalLM", "GptOssForSequenceClassification", "GptOssForTokenClassification"]


@dataclass(frozen=True)
class GptOss(GroupedDecoder):
    """gpt-oss and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of 2*A*D*H + 2*G*D*H for
    attention, their biases unless ``attention_bias`` is False, a sink for each head (A); a router of E*H + E, E experts of
    3*F*H + 2*F + H of which a token uses K; and two scales of H; and a last scale of H. Experts are stacked, here and in the published
    files; their matrices are stored (in, out).

    Raises:
        DivisibilityError: key/value heads that do not divide the heads.
        SizeError: more experts used than stored.
        ArgumentError: an architecture that the reference does not know.

    >>> GptOss(attention_bias=False).params
    2*A*D*H*L + A*L + 2*D*G*H*L + 3*E*F*H*L + 2*E*F*L + 2*E*H*L + E*L + 2*H*L + H*V + H
    >>> GptOss(architecture="GptOssForCausalLM").at("openai/gpt-oss-120b").params
    116829156672
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = D
    intermediate_size: Dim = F
    num_local_experts: Dim = E
    num_experts_per_tok: Dim = K
    attention_bias: bool = True
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    architecture: Architecture = "GptOssModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "openai/gpt-oss-20b": grouped_size(201088, 2880, 24, 64, 8, 2880, head_dim=64, num_local_experts=32, num_experts_per_tok=4),
        "openai/gpt-oss-120b": grouped_size(201088, 2880, 36, 64, 8, 2880, head_dim=64, num_local_experts=128, num_experts_per_tok=4),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("openai/gpt-oss-20b", 20_914_757_184, "OpenAI 2025, table 1 (20.9B)", counts="GptOssForCausalLM"),
        Claim("openai/gpt-oss-120b", 116_829_156_672, "OpenAI 2025, table 1 (116.8B)", counts="GptOssForCausalLM"),
    )

    def conditions(self) -> None:
        """Groups divide heads; a token uses no more experts than there are."""
        super().conditions()
        at_most(self.num_experts_per_tok, self.num_local_experts, "num_experts_per_tok", "num_local_experts")

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size)

    def block(self) -> Block:
        """Attention with sinks, router and experts, and the scale before each."""
        width, stored = self.hidden_size, self.num_local_experts
        experts = StackedExperts(width, self.intermediate_size, stored, self.num_experts_per_tok, bias=True, transposed=True)
        return Block(
            self_attn=SinkAttention(width, self.num_attention_heads, Block(self.projections(bias=self.attention_bias))),
            mlp=Block(router=Router(width, stored, bias=True), experts=experts),
            input_layernorm=self.norm(),
            post_attention_layernorm=self.norm(),
        )


@dataclass(frozen=True)
class SinkAttention(OverPositions):
    """Attention in which each head can attend to nothing: ``sinks`` (A,), one learned score a head, beside the projections.

    >>> SinkAttention(H, A, Block()).params
    A
    """

    width: Dim
    num_heads: Dim
    projections: Block

    def tensors(self) -> Iterator[Tensor]:
        """The scores."""
        yield Tensor("sinks", (self.num_heads,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The projections, on this layer's own level."""
        yield Part("", self.projections)

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """A head's score stands beside those of every position."""
        return {"sinks": positions(input_shape)}


_KEYS = grouped_keys(
    *(201088, 2880, 36, 64, Size(G, 8), 2880),
    head_dim=Size(D, 64),
    num_local_experts=Size(E, 128),
    num_experts_per_tok=Size(K, 4),
    attention_bias=Flag(default=True),
)
FAMILIES = (
    decoder_family(
        "gpt_oss",
        GptOss,
        get_args(Architecture),
        {name: key for name, key in _KEYS.items() if name != "hidden_act"},
        settled(),
        ignored="hidden_act swiglu_alpha swiglu_limit experts_per_token initial_context_length",
        aliases={"num_experts": "num_local_experts"},
    ),
)
