"""OLMoE (Muennighoff et al. 2024, arXiv:2409.02060). Reference: ``transformers.models.olmoe`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, get_args

from paramsym.extents import over
from paramsym.layers.attention import HeadNorm
from paramsym.layers.experts import Router
from paramsym.layers.normalization import RMSNorm
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Mixture, PreNorm, RotatedAttention
from paramsym.models.decoder import GroupedDecoder, decoder_family, experts, grouped_keys
from paramsym.models.keys import Flag, Real, Size
from paramsym.models.published import published_in
from paramsym.models.rope import settled
from paramsym.program import ROPE, Rope
from paramsym.size import Count, Dim, at_most
from paramsym.symbols import A, E, F, G, H, K, L, V

Architecture = Literal["OlmoeModel", "OlmoeForCausalLM"]


@dataclass(frozen=True)
class Olmoe(GroupedDecoder):
    """OLMoE and its head, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. The base model stores a table of V*H; L blocks of 2*A*D*H + 2*G*D*H for
    attention, a scale of H for all queries together and one of G*H/A for all keys, a router of E*H, E experts of 3*F*H of which a token
    uses K, and two scales of H; and a last scale of H. A head's width D is H/A where ``head_dim`` is None. ``expert_storage`` is
    *stacked*, two tensors as the reference holds them, or *separate*, as the published files do.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        SizeError: more experts used than stored.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Olmoe(num_key_value_heads=None).params
    3*E*F*H*L + E*H*L + 4*H**2*L + 4*H*L + H*V + H
    >>> olmoe = Olmoe(architecture="OlmoeForCausalLM").at("allenai/OLMoE-1B-7B-0924")
    >>> olmoe.params, olmoe.active
    (6919161856, 1282017280)
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    num_experts: Dim = E
    num_experts_per_tok: Dim = K
    hidden_act: str = "silu"
    attention_bias: bool = False
    rotary_dim: Count | None = None
    rope: Rope = ROPE
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    expert_storage: Literal["stacked", "separate"] = "stacked"
    architecture: Architecture = "OlmoeModel"
    _: KW_ONLY
    rms_norm_eps: float = 1e-5
    norm_topk_prob: bool = False
    clip_qkv: float | None = None

    published, claims = published_in("olmoe")

    def conditions(self) -> None:
        """Heads and groups divide; a token uses no more experts than there are; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")
        at_most(self.num_experts_per_tok, self.num_experts, "num_experts_per_tok", "num_experts")

    def norm(self) -> RMSNorm:
        """A scale for each entry."""
        return RMSNorm(self.hidden_size, self.rms_norm_eps)

    def block(self, kind: str = "full_attention") -> PreNorm:  # noqa: ARG002 - all layers are of one kind
        """Attention, router and experts, and the scale before each."""
        width, stored, used, heads = self.hidden_size, self.num_experts, self.num_experts_per_tok, self.num_attention_heads
        groups = heads if self.num_key_value_heads is None else self.num_key_value_heads
        # The scales of queries and keys are as wide as H and H/A say, even where head_dim says otherwise.
        own = self.head_width() if self.head_dim is None else over(width, heads)
        attention = self.projections(bias=self.attention_bias)
        attention |= {name: HeadNorm((one,), eps=self.rms_norm_eps) for name, one in (("q_norm", width), ("k_norm", (groups, own)))}
        router = Router(width, stored, experts_per_token=used, normalised=self.norm_topk_prob)
        routed = experts(width, self.intermediate_size, stored, used, self.hidden_act, self.expert_storage)
        return PreNorm(
            {
                "self_attn": RotatedAttention(attention, joint=True, clip=self.clip_qkv),
                "mlp": Mixture({"gate": router, "experts": routed}),
                "input_layernorm": self.norm(),
                "post_attention_layernorm": self.norm(),
            }
        )


FAMILIES = (
    decoder_family(
        "olmoe",
        Olmoe,
        get_args(Architecture),
        grouped_keys(
            *(50304, 2048, 16, 16, Size(G, None, null=True), 2048),
            num_experts=Size(E, 64),
            num_experts_per_tok=Size(K, 8),
            positions=4096,
            attention_bias=Flag(default=False),
            rms_norm_eps=Real(1e-5),
            norm_topk_prob=Flag(default=False),
            clip_qkv=Real(),
        ),
        settled(),
        aliases={"num_local_experts": "num_experts"},
    ),
)
