"""OLMo and OLMo 2 (Groeneveld et al. 2024, arXiv:2402.00838; Ai2 2025, arXiv:2501.00656).

References: ``transformers.models.olmo`` and ``olmo2`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, get_args

from paramsym.layer import Layer
from paramsym.layers.attention import HeadNorm
from paramsym.layers.normalization import LayerNorm, RMSNorm
from paramsym.models.activations import check_activation
from paramsym.models.blocks import PreNorm, Residual, RotatedAttention
from paramsym.models.decoder import GroupedDecoder, decoder_family, gated, grouped_keys, of_kind
from paramsym.models.keys import Flag, Key, Real, Size
from paramsym.models.published import published_in
from paramsym.models.rope import settled
from paramsym.program import ROPE, Rope
from paramsym.size import Count, Dim
from paramsym.symbols import A, F, G, H, L, V

Architecture = Literal[
    "OlmoModel",
    "OlmoForCausalLM",
    "OlmoForSequenceClassification",
    "Olmo2Model",
    "Olmo2ForCausalLM",
    "Olmo2ForSequenceClassification",
]


@dataclass(frozen=True)
class Olmo(GroupedDecoder):
    """OLMo, OLMo 2 and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. OLMo normalises without learning anything: it stores a table of V*H and L
    blocks of 2*A*D*H + 2*G*D*H + 3*F*H. OLMo 2 adds, in each block, a scale for all queries together (A*D), one for all keys (G*D) and two
    of H after attention and feed-forward, and a last one of H. A head's width D is H/A where ``head_dim`` is None.

    ``clip_qkv`` limits what OLMo's queries, keys and values can be; ``rms_norm_eps`` is OLMo 2's.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        ArgumentError: a limit for OLMo 2; an activation or architecture that the reference does not know.

    >>> Olmo().params
    3*F*H*L + 2*H**2*L + H*V + 2*G*H**2*L/A
    >>> (Olmo(architecture="Olmo2Model").params - Olmo().params).expand()
    3*H*L + H + G*H*L/A
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_key_value_heads: Dim | None = G
    head_dim: Dim | None = None
    intermediate_size: Dim = F
    hidden_act: str = "silu"
    attention_bias: bool = False
    rotary_dim: Count | None = None
    tie_word_embeddings: bool = False
    num_labels: Dim | None = None
    architecture: Architecture = "OlmoModel"
    _: KW_ONLY
    rms_norm_eps: float = 1e-5
    clip_qkv: float | None = None
    rope: Rope = ROPE

    published, claims = published_in("olmo")

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")
        if self.kind == "Olmo2":
            self.refuse(clip_qkv=self.clip_qkv)

    def norm(self) -> Layer:
        """A scale for each entry in OLMo 2; nothing is learned in OLMo."""
        return (
            RMSNorm(self.hidden_size, self.rms_norm_eps) if self.kind == "Olmo2" else LayerNorm(self.hidden_size, elementwise_affine=False)
        )

    def block(self, kind: str = "full_attention") -> Layer:  # noqa: ARG002 - one kind
        """Attention and the feed-forward network; the norms stand before them in OLMo, behind them in OLMo 2."""
        attention = self.projections(bias=self.attention_bias)
        mlp = gated(self.hidden_size, self.intermediate_size, self.hidden_act)
        if self.kind == "Olmo":
            layers: dict[str, Layer] = {"self_attn": RotatedAttention(attention, clip=self.clip_qkv), "mlp": mlp}
            return PreNorm({**layers, "input_layernorm": self.norm(), "post_attention_layernorm": self.norm()})
        query, key = self.sliced()
        attention |= {"q_norm": HeadNorm((query,), eps=self.rms_norm_eps), "k_norm": HeadNorm((key,), eps=self.rms_norm_eps)}
        layers = {"self_attn": RotatedAttention(attention, joint=True), "mlp": mlp}
        norms = {"post_attention_layernorm": self.norm(), "post_feedforward_layernorm": self.norm()}
        return Residual({**layers, **norms}, branches=tuple(zip(layers, norms, strict=True)))


_NAMES: tuple[str, ...] = get_args(Architecture)


def _keys(**own: Key) -> dict[str, Key]:
    return {**grouped_keys(50304, 4096, 32, 32, Size(G, None, null=True), 11008, attention_bias=Flag(default=False)), **own}


FAMILIES = (
    decoder_family("olmo", Olmo, of_kind(_NAMES, "Olmo"), _keys(clip_qkv=Real()), settled()),
    decoder_family("olmo2", Olmo, of_kind(_NAMES, "Olmo2"), _keys(rms_norm_eps=Real(1e-5)), settled()),
)
