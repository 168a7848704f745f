"""OLMoE (Muennighoff et al. 2024, arXiv:2409.02060). Reference: ``transformers.models.olmoe`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import E, K
from paramsym.layers.experts import Router
from paramsym.layers.heads import HeadNorm
from paramsym.models.blocks import Mixture, PreNorm, RotatedAttention
from paramsym.models.decoder import RmsDecoder
from paramsym.models.experts import experts
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments


class Olmoe(RmsDecoder):
    """OLMoE and its head, as the reference class ``architecture`` stores them.

    All queries of a position have one scale of H, all keys one of G*H/A. ``expert_storage`` is *stacked*, two tensors as the reference
    holds them, or *separate*, as the published files do.

    >>> Olmoe(num_key_value_heads=None).params
    3*E*F*H*L + E*H*L + 4*H**2*L + 4*H*L + H*V + H
    >>> olmoe = Olmoe(architecture="OlmoeForCausalLM").at("allenai/OLMoE-1B-7B-0924")
    >>> olmoe.params, olmoe.active
    (6919161856, 1282017280)
    """

    num_experts: Dim = key(E, 64)
    num_experts_per_tok: Dim = key(K, 8, at_most="num_experts")
    hidden_act: str = key(Function("silu"))
    attention_bias: bool = key(Flag())
    expert_storage: Literal["stacked", "separate"] = "stacked"
    architecture: str = classes({"Olmoe": "Model ForCausalLM"})
    _: KW_ONLY
    rms_norm_eps: float = key(Real(1e-5))
    norm_topk_prob: bool = key(Flag())
    clip_qkv: float | None = key(Real())

    def block(self) -> PreNorm:
        width, stored, used, heads = self.hidden_size, self.num_experts, self.num_experts_per_tok, self.num_attention_heads
        groups = heads if self.num_key_value_heads is None else self.num_key_value_heads
        # The norms of queries and keys have the widths that follow from H and H/A, even if head_dim differs.
        own = self.head_width() if self.head_dim is None else over(width, heads)
        matrices = self.projections(bias=self.attention_bias)
        matrices |= {name: HeadNorm((one,), eps=self.rms_norm_eps) for name, one in (("q_norm", width), ("k_norm", (groups, own)))}
        attention = RotatedAttention(matrices, joint=True, clip=self.clip_qkv, dropout=self.attention_dropout)
        router = Router(width, stored, experts_per_token=used, normalised=self.norm_topk_prob)
        routed = experts(width, self.intermediate_size, stored, used, self.hidden_act, self.expert_storage)
        return self.pre_norm(attention, Mixture({"gate": router, "experts": routed}))


_DEFAULTS = {"V": 50304, "H": 2048, "L": 16, "A": 16, "F": 2048, "max_position_embeddings": 4096}
FAMILIES = (family("olmoe", Olmoe, "", _DEFAULTS, rope_arguments(), aliases={"num_local_experts": "num_experts"}),)
