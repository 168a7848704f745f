"""Command R and Aya (Cohere 2024, arXiv:2405.15032). Reference: ``transformers.models.cohere`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from paramsym.layers.heads import HeadNorm
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Parallel, RotatedAttention, scaled
from paramsym.models.decoder import GroupedDecoder, gated
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Own, Rope, Value, normalise, rearrange, rotate


class Cohere(GroupedDecoder):
    """Command R, Aya and their head, as the reference class ``architecture`` stores them.

    Attention and feed-forward network are parallel after one normalisation, which has a scale and no shift. ``use_qk_norm`` adds a separate
    scale for each query head and each key head, (A + G)*D in all.

    >>> Cohere().params
    3*F*H*L + 2*H**2*L + H*L + H*V + H + 2*G*H**2*L/A
    >>> Cohere(architecture="CohereForCausalLM").at("CohereForAI/c4ai-command-r-v01").params
    34980831232
    """

    hidden_act: str = key(Function("silu"))
    attention_bias: bool = key(Flag())
    use_qk_norm: bool = key(Flag(null=True))
    architecture: str = classes({"Cohere": "Model ForCausalLM"})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    layer_norm_eps: float = key(Real(1e-5))
    rope: Rope = Rope(500000.0)
    logit_scale: float | None = key(Real(0.0625, null=True))

    def norm(self) -> LayerNorm:
        return SteppedNorm(self.hidden_size, self.layer_norm_eps, bias=False)

    def scores(self, x: Value) -> Value:
        return x if self.logit_scale is None else scaled(x, self.logit_scale)

    def block(self) -> Parallel:
        matrices = self.projections(bias=self.attention_bias)
        if self.use_qk_norm:
            query, key = (HeadNorm(axes, kind="layer", eps=self.layer_norm_eps) for axes in self.sliced())
            matrices |= {"q_norm": query, "k_norm": key}
        attention = PairedAttention(matrices, dropout=self.attention_dropout)
        mlp = gated(self.hidden_size, self.intermediate_size, self.hidden_act)
        return Parallel({"self_attn": attention, "mlp": mlp, "input_layernorm": self.norm()})


@dataclass(frozen=True)
class SteppedNorm(LayerNorm):
    """A LayerNorm without a bias, which the reference computes in Python, step by step."""

    def forward(self, own: Own, x: Value) -> Value:
        return normalise(x, "layer", -1, eps=self.eps, scale=own.weight, steps=True)


class PairedAttention(RotatedAttention):
    """Rotated attention that turns neighbouring entries of a head against each other, not the halves."""

    def turned(self, x: Value, *turn: Value) -> Value:
        """Return queries or keys, rotated: the first entries of all pairs are brought together, and the second ones."""
        halves = rotate(rearrange(x, "b s a (half pair) -> b s a (pair half)", pair=2), *turn)
        return rearrange(halves, "b s a (pair half) -> b s a (half pair)", pair=2)


_DEFAULTS = {"V": 256000, "H": 8192, "L": 40, "A": 64, "F": 22528, "max_position_embeddings": 8192, "rope_theta": 500000.0}
FAMILIES = (family("cohere", Cohere, "", _DEFAULTS, rope_arguments()),)
