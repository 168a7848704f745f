"""OLMo and OLMo 2 (Groeneveld et al. 2024, arXiv:2402.00838; Ai2 2025, arXiv:2501.00656).

References: ``transformers.models.olmo`` and ``olmo2`` 5.23, names and shapes of their state dicts.
"""

from __future__ import annotations

from dataclasses import KW_ONLY

from paramsym.core.layer import Layer
from paramsym.layers.heads import HeadNorm
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Residual, RotatedAttention
from paramsym.models.decoder import RmsDecoder, gated
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments


class Olmo(RmsDecoder):
    """OLMo, OLMo 2 and their heads, as the reference class ``architecture`` stores them.

    OLMo's norms have no parameters. OLMo 2 normalises after attention and feed-forward, and all queries and all keys together. ``clip_qkv``
    limits OLMo's queries, keys and values; ``rms_norm_eps`` is a key of OLMo 2.

    >>> Olmo().params
    3*F*H*L + 2*H**2*L + H*V + 2*G*H**2*L/A
    >>> (Olmo(architecture="Olmo2Model").params - Olmo().params).expand()
    3*H*L + H + G*H*L/A
    """

    hidden_act: str = key(Function("silu"))
    attention_bias: bool = key(Flag())
    architecture: str = classes({"Olmo Olmo2": "Model ForCausalLM ForSequenceClassification"})
    _: KW_ONLY
    rms_norm_eps: float = key(Real(1e-5), of="Olmo2")
    clip_qkv: float | None = key(Real(), of="Olmo")

    def norm(self) -> Layer:
        return super().norm() if self.kind == "Olmo2" else LayerNorm(self.hidden_size, elementwise_affine=False)

    def block(self) -> Layer:
        matrices = self.projections(bias=self.attention_bias)
        mlp = gated(self.hidden_size, self.intermediate_size, self.hidden_act)
        if self.kind == "Olmo":
            return self.pre_norm(RotatedAttention(matrices, clip=self.clip_qkv, dropout=self.attention_dropout), mlp)
        query, key = self.sliced()
        matrices |= {"q_norm": HeadNorm((query,), eps=self.rms_norm_eps), "k_norm": HeadNorm((key,), eps=self.rms_norm_eps)}
        layers: dict[str, Layer] = {"self_attn": RotatedAttention(matrices, joint=True, dropout=self.attention_dropout), "mlp": mlp}
        norms = dict.fromkeys(("post_attention_layernorm", "post_feedforward_layernorm"), self.norm())
        return Residual({**layers, **norms}, branches=tuple(zip(layers, norms, strict=True)))


FAMILIES = (
    family("olmo", Olmo, "Olmo", {"vocab_size": 50304, "pad_token_id": 1}, rope_arguments()),
    family("olmo2", Olmo, "Olmo2", {"vocab_size": 50304, "pad_token_id": 1}, rope_arguments()),
)
