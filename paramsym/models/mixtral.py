"""Mixtral (Jiang et al. 2024, arXiv:2401.04088). Reference: ``transformers.models.mixtral`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, get_args

from paramsym.compose import Repeat
from paramsym.layers.dense import Dense
from paramsym.layers.experts import Router
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import Gated, Mixture, PreNorm, RotatedAttention, activation
from paramsym.models.decoder import GroupedDecoder, decoder_family, experts, grouped_keys
from paramsym.models.keys import Real, Size, Whole
from paramsym.models.published import published_in
from paramsym.models.rope import settled
from paramsym.program import ROPE, Own, Rope, Value
from paramsym.size import Count, Dim, at_most
from paramsym.symbols import A, E, F, G, H, K, L, V

Architecture = Literal[
    "MixtralModel",
    "MixtralForCausalLM",
    "MixtralForSequenceClassification",
    "MixtralForTokenClassification",
    "MixtralForQuestionAnswering",
]


@dataclass(frozen=True)
class Mixtral(GroupedDecoder):
    """Mixtral and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. It is Mistral with E experts of 3*F*H in each block and a router of E*H
    that sends a token to K of them: ``.params`` counts what is stored, ``.active`` what a token uses. ``expert_storage`` is *stacked*, two
    tensors as the reference holds them, or *separate*: ``block_sparse_moe.experts.0.w1``, ``w2``, ``w3`` and so on, as the published files
    do. A head's width D is H/A where ``head_dim`` is None.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        SizeError: more experts used than stored.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Mixtral().params
    3*E*F*H*L + E*H*L + 2*H**2*L + 2*H*L + H*V + H + 2*G*H**2*L/A
    >>> mixtral = Mixtral(architecture="MixtralForCausalLM").at("mistralai/Mixtral-8x7B-v0.1")
    >>> mixtral.params, mixtral.active
    (46702792704, 12879925248)
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    num_local_experts: Dim = E
    num_experts_per_tok: Dim = K
    hidden_act: str = "silu"
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    expert_storage: Literal["stacked", "separate"] = "stacked"
    architecture: Architecture = "MixtralModel"
    _: KW_ONLY
    rms_norm_eps: float = 1e-5
    sliding_window: Dim | None = None

    published, claims = published_in("mixtral")

    def conditions(self) -> None:
        """Heads and groups divide; a token uses no more experts than there are; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")
        at_most(self.num_experts_per_tok, self.num_local_experts, "num_experts_per_tok", "num_local_experts")

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size, self.rms_norm_eps)

    def block(self, kind: str = "full_attention") -> PreNorm:  # noqa: ARG002 - all layers are of one kind
        """Attention, router and experts, and the scale before each."""
        width, inner, stored, used = self.hidden_size, self.intermediate_size, self.num_local_experts, self.num_experts_per_tok
        name, routed = "mlp", experts(width, inner, stored, used, self.hidden_act, "stacked")
        if self.expert_storage == "separate":
            up = Dense(width, inner, bias=False)
            expert = Expert(
                {"w1": up, "w2": Dense(inner, width, bias=False), "w3": up, **learned("act_fn", self.hidden_act)}, self.hidden_act
            )
            name, routed = "block_sparse_moe", Repeat(expert, stored, used=used)
        layers = {
            "self_attn": RotatedAttention(self.projections(), window=self.sliding_window),
            name: Mixture({"gate": Router(width, stored, experts_per_token=used), "experts": routed}),
            "input_layernorm": self.norm(),
            "post_attention_layernorm": self.norm(),
        }
        return PreNorm(layers, names=("input_layernorm", "self_attn", "post_attention_layernorm", name))


@dataclass(frozen=True)
class Expert(Gated):
    """One expert under the names of the published files: ``w1`` is the gate, ``w3`` the other way up, ``w2`` the way down."""

    def forward(self, own: Own, x: Value) -> Value:
        """The gate, activated, times the other way up, then down."""
        return own.w2(activation(own, self.function, own.w1(x)) * own.w3(x))


FAMILIES = (
    decoder_family(
        "mixtral",
        Mixtral,
        get_args(Architecture),
        grouped_keys(
            *(32000, 4096, 32, 32, Size(G, 8), 14336),
            positions=131072,
            rope_theta=Real(1e6),
            num_local_experts=Size(E, 8),
            num_experts_per_tok=Size(K, 2),
            rms_norm_eps=Real(1e-5),
            sliding_window=Whole(),
        ),
        settled(),
        aliases={"num_experts": "num_local_experts"},
    ),
)
