"""Phi-3 and Phi-4 (Microsoft 2024: arXiv:2404.14219, arXiv:2412.08905). Reference: ``transformers.models.phi3`` 5.23."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.decoder import GroupedDecoder, OptionalSize, decoder_family, grouped_keys, grouped_size, settled
from paramsym.program import ROPE, Rope
from paramsym.size import Count, Dim, cat
from paramsym.symbols import A, F, G, H, L, V

Architecture = Literal["Phi3Model", "Phi3ForCausalLM", "Phi3ForSequenceClassification", "Phi3ForTokenClassification"]


@dataclass(frozen=True)
class Phi3(GroupedDecoder):
    """Phi-3, Phi-4 and their heads, as the reference class ``architecture`` stores them: Llama's matrices, fused.

    The arguments are the keys of the reference's configuration. Queries, keys and values are one matrix, gate and up another. The base
    model stores a table of V*H; L blocks of 2*A*D*H + 2*G*D*H + 3*F*H + 2*H; and a last scale of H. A head's width D is H/A where
    ``head_dim`` is None; ``rotary_dim`` entries of it are rotated, all where it is None.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Phi3().params
    3*F*H*L + 2*H**2*L + 2*H*L + H*V + H + 2*G*H**2*L/A
    >>> Phi3(architecture="Phi3ForCausalLM").at("microsoft/Phi-3-mini-4k-instruct").params
    3821079552
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    hidden_act: str = "silu"
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    architecture: Architecture = "Phi3Model"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "microsoft/Phi-3-mini-4k-instruct": grouped_size(32064, 3072, 32, 32, 32, 8192),
        "microsoft/phi-4": grouped_size(100352, 5120, 40, 40, 10, 17920),
        "microsoft/Phi-4-mini-instruct": grouped_size(200064, 3072, 32, 24, 8, 8192, tie_word_embeddings=True),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("microsoft/Phi-3-mini-4k-instruct", 3_821_079_552, RECALLED, counts="Phi3ForCausalLM"),
        Claim("microsoft/phi-4", 14_659_507_200, RECALLED, counts="Phi3ForCausalLM"),
        Claim("microsoft/Phi-4-mini-instruct", 3_836_021_760, RECALLED, counts="Phi3ForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size)

    def block(self) -> Block:
        """Attention, output first, as the reference stores it; the feed-forward network; and the scale before each."""
        width, inner = self.hidden_size, self.intermediate_size
        query, key = self.sliced()
        fused = Dense(width, cat(query=query, key=key, value=key), bias=False)
        up = Dense(width, cat(gate=inner, up=inner), bias=False)
        return Block(
            self_attn=Block(o_proj=Dense(query, width, bias=False), qkv_proj=fused),
            mlp=Block({"gate_up_proj": up, "down_proj": Dense(inner, width, bias=False), **learned("activation_fn", self.hidden_act)}),
            input_layernorm=self.norm(),
            post_attention_layernorm=self.norm(),
        )


FAMILIES = (
    decoder_family(
        "phi3",
        Phi3,
        get_args(Architecture),
        grouped_keys(32064, 3072, 32, 32, OptionalSize(G, None), 8192),
        settled(partial=True),
    ),
)
