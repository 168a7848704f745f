"""Mixtral (Jiang et al. 2024, arXiv:2401.04088). Reference: ``transformers.models.mixtral`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import E, K
from paramsym.core.compose import Repeat
from paramsym.layers.dense import Dense
from paramsym.layers.experts import Router
from paramsym.models.activations import learned
from paramsym.models.blocks import Gated, Mixture, PreNorm, RotatedAttention, activation
from paramsym.models.decoder import RmsDecoder
from paramsym.models.experts import experts
from paramsym.models.key_kinds import Function, Real, Whole
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.models.rope import rope_arguments
from paramsym.program import Own, Value


class Mixtral(RmsDecoder):
    """Mixtral and its heads, as the reference class ``architecture`` stores them.

    It is Mistral with E experts in each block and a router that sends a token to K of them: ``.params`` counts the stored parameters,
    ``.active`` those that a token uses. ``expert_storage`` is *stacked*, two tensors as the reference holds them, or *separate*:
    ``block_sparse_moe.experts.0.w1``, ``w2``, ``w3`` and so on, as the published files do.

    >>> Mixtral().params
    3*E*F*H*L + E*H*L + 2*H**2*L + 2*H*L + H*V + H + 2*G*H**2*L/A
    >>> mixtral = Mixtral(architecture="MixtralForCausalLM").at("mistralai/Mixtral-8x7B-v0.1")
    >>> mixtral.params, mixtral.active
    (46702792704, 12879925248)
    """

    num_local_experts: Dim = key(E, 8)
    num_experts_per_tok: Dim = key(K, 2, at_most="num_local_experts")
    hidden_act: str = key(Function("silu"))
    expert_storage: Literal["stacked", "separate"] = "stacked"
    architecture: str = classes({"Mixtral": LANGUAGE})
    _: KW_ONLY
    rms_norm_eps: float = key(Real(1e-5))
    sliding_window: Dim | None = key(Whole())

    def block(self) -> PreNorm:
        width, inner, stored, used = self.hidden_size, self.intermediate_size, self.num_local_experts, self.num_experts_per_tok
        name, routed = "mlp", experts(width, inner, stored, used, self.hidden_act, "stacked")
        if self.expert_storage == "separate":
            up, down = Dense(width, inner, bias=False), Dense(inner, width, bias=False)
            expert = Expert({"w1": up, "w2": down, "w3": up, **learned("act_fn", self.hidden_act)}, self.hidden_act)
            name, routed = "block_sparse_moe", Repeat(expert, stored, used=used)
        attention = RotatedAttention(self.projections(), window=self.sliding_window, dropout=self.attention_dropout)
        router = Router(width, stored, experts_per_token=used)
        return self.pre_norm(attention, Mixture({"gate": router, "experts": routed}), name)


class Expert(Gated):
    """One expert under the names of the published files: ``w1`` is the gate, ``w3`` the up projection, ``w2`` the down projection."""

    def forward(self, own: Own, x: Value) -> Value:
        return own.w2(activation(own, self.function, own.w1(x)) * own.w3(x))


_DEFAULTS = {"G": 8, "F": 14336, "max_position_embeddings": 131072, "rope_theta": 1e6}
FAMILIES = (family("mixtral", Mixtral, "", _DEFAULTS, rope_arguments(), aliases={"num_experts": "num_local_experts"}),)
