"""Command R and Aya (Cohere 2024, arXiv:2405.15032). Reference: ``transformers.models.cohere`` 5.23."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.layers.attention import HeadNorm
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Parallel, RotatedAttention, scaled
from paramsym.models.claims import BUILT, RECALLED, Claim
from paramsym.models.decoder import (
    GroupedDecoder,
    OptionalFlag,
    OptionalReal,
    OptionalSize,
    decoder_family,
    gated,
    grouped_keys,
    grouped_size,
    settled,
)
from paramsym.models.family import Flag, Number as Real
from paramsym.program import Own, Rope, Value, normalise, rearrange, rotate
from paramsym.size import Count, Dim
from paramsym.symbols import A, F, G, H, L, V

Architecture = Literal["CohereModel", "CohereForCausalLM"]
_ROPE = Rope(500000.0)


@dataclass(frozen=True)
class Cohere(GroupedDecoder):
    """Command R, Aya and their head, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. Attention and feed-forward stand side by side behind one normalisation,
    which has a scale and no shift: the base model stores a table of V*H; L blocks of 2*A*D*H + 2*G*D*H + 3*F*H + H; and a last scale of H.
    ``use_qk_norm`` adds a scale of its own for each query head and each key head, (A + G)*D in all. A head's width D is H/A where
    ``head_dim`` is None.

    Raises:
        DivisibilityError: heads that do not divide the width, or key/value heads that do not divide the heads.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Cohere().params
    3*F*H*L + 2*H**2*L + H*L + H*V + H + 2*G*H**2*L/A
    >>> Cohere(architecture="CohereForCausalLM").at("CohereForAI/c4ai-command-r-v01").params
    34980831232
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
    use_qk_norm: bool = False
    rotary_dim: Count | None = None
    tie_word_embeddings: bool = True
    num_labels: Dim | None = None
    architecture: Architecture = "CohereModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-5
    rope: Rope = _ROPE
    logit_scale: float | None = 0.0625

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CohereForAI/c4ai-command-r-v01": grouped_size(256000, 8192, 40, 64, 64, 22528),
        "CohereForAI/c4ai-command-r-plus": grouped_size(256000, 12288, 64, 96, 8, 33792, use_qk_norm=True),
        "CohereForAI/aya-23-8B": grouped_size(256000, 4096, 32, 32, 8, 14336),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("CohereForAI/c4ai-command-r-v01", 34_980_831_232, RECALLED, counts="CohereForCausalLM"),
        Claim("CohereForAI/c4ai-command-r-plus", 103_810_674_688, BUILT, counts="CohereForCausalLM"),
        Claim("CohereForAI/aya-23-8B", 8_028_033_024, RECALLED, counts="CohereForCausalLM"),
    )

    def conditions(self) -> None:
        """Heads and groups divide; the reference knows the activation."""
        super().conditions()
        check_activation(self.hidden_act, "hidden_act")

    def norm(self) -> LayerNorm:
        """A scale for each entry."""
        return SteppedNorm(self.hidden_size, self.layer_norm_eps, bias=False)

    def scores(self, x: Value) -> Value:
        """The scores are scaled."""
        return x if self.logit_scale is None else scaled(x, self.logit_scale)

    def block(self, kind: str = "full_attention") -> Parallel:  # noqa: ARG002 - one kind
        """Attention, the feed-forward network, and the one normalisation before both."""
        attention = self.projections(bias=self.attention_bias)
        if self.use_qk_norm:
            query, key = (HeadNorm(axes, kind="layer", eps=self.layer_norm_eps) for axes in self.sliced())
            attention |= {"q_norm": query, "k_norm": key}
        return Parallel(
            {
                "self_attn": PairedAttention(attention),
                "mlp": gated(self.hidden_size, self.intermediate_size, self.hidden_act),
                "input_layernorm": self.norm(),
            }
        )


@dataclass(frozen=True)
class SteppedNorm(LayerNorm):
    """A layer normalisation without a shift that the reference writes in Python, step by step."""

    def forward(self, own: Own, x: Value) -> Value:
        """The difference from the mean over the deviation, scaled."""
        return normalise(x, "layer", -1, eps=self.eps, scale=own.weight, steps=True)


@dataclass(frozen=True)
class PairedAttention(RotatedAttention):
    """Rotated attention that turns neighbouring entries of a head against each other, not the halves."""

    def turned(self, x: Value, *turn: Value) -> Value:
        """Return queries or keys, rotated: the first entries of all pairs are brought together, and the second ones."""
        halves = rotate(rearrange(x, "b s a (half pair) -> b s a (pair half)", pair=2), *turn)
        return rearrange(halves, "b s a (pair half) -> b s a (half pair)", pair=2)


FAMILIES = (
    decoder_family(
        "cohere",
        Cohere,
        get_args(Architecture),
        grouped_keys(
            *(256000, 8192, 40, 64, OptionalSize(G, None), 22528),
            tied=True,
            positions=8192,
            rope_theta=Real(500000.0),
            layer_norm_eps=Real(1e-5),
            logit_scale=OptionalReal(0.0625),
            attention_bias=Flag(default=False),
            use_qk_norm=OptionalFlag(),
        ),
        settled(),
    ),
)
