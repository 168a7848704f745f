"""StarCoder2 (Lozhkov et al. 2024, arXiv:2402.19173). Reference: ``transformers.models.starcoder2`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY

from paramsym.algebra.size import Dim
from paramsym.models.blocks import PreNorm, RotatedAttention, feed_forward
from paramsym.models.decoder import GroupedDecoder
from paramsym.models.key_kinds import Flag, Function, Real, Whole
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments


class Starcoder2(GroupedDecoder):
    """StarCoder2 and its heads, as the reference class ``architecture`` stores them.

    >>> Starcoder2(use_bias=False).params
    2*F*H*L + 2*H**2*L + 4*H*L + H*V + 2*H + 2*G*H**2*L/A
    >>> Starcoder2(architecture="Starcoder2ForCausalLM").at("bigcode/starcoder2-3b").params
    3030371328
    """

    hidden_act: str = key(Function("gelu_pytorch_tanh"))
    use_bias: bool = key(Flag(default=True))
    architecture: str = classes({"Starcoder2": "Model ForCausalLM ForSequenceClassification ForTokenClassification"})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    norm_epsilon: float = key(Real(1e-5))
    residual_dropout: float = key(Real(0.0))
    embedding_dropout: float = key(Real(0.0))
    sliding_window: Dim | None = key(Whole())

    table_dropout = "embedding_dropout"

    def block(self) -> PreNorm:
        attention = RotatedAttention(self.projections(bias=self.use_bias), window=self.sliding_window, dropout=self.attention_dropout)
        mlp = feed_forward(self.hidden_size, self.intermediate_size, self.hidden_act, bias=self.use_bias)
        return self.pre_norm(attention, mlp, dropped=self.residual_dropout)


_DEFAULTS = {"V": 49152, "H": 3072, "L": 30, "A": 24, "G": 2, "F": 12288, "max_position_embeddings": 4096}
_IGNORED = "activation_function attention_softmax_in_fp32 scale_attention_softmax_in_fp32 scale_attn_weights mlp_type norm_type"
FAMILIES = (family("starcoder2", Starcoder2, "", _DEFAULTS, rope_arguments(), ignored=_IGNORED),)
