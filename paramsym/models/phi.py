"""Phi-1, Phi-1.5 and Phi-2 (Li et al. 2023, arXiv:2309.05463). Reference: ``transformers.models.phi`` 5.23."""

from __future__ import annotations

from dataclasses import KW_ONLY

from paramsym.algebra.convolution import over
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import learned
from paramsym.models.blocks import FeedForward, Parallel, RotatedAttention
from paramsym.models.decoder import GroupedDecoder
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.models.rope import rope_arguments


class Phi(GroupedDecoder):
    """Phi-1, Phi-1.5, Phi-2 and their heads, as the reference class ``architecture`` stores them.

    Every matrix has a bias, including the output's. One normalisation precedes attention and feed-forward network, which are parallel.
    ``qk_layernorm`` adds normalisations of 2*H/A for queries and for keys. Half of a head is rotated, unless a configuration says
    otherwise.

    >>> Phi(num_key_value_heads=None).params
    2*F*H*L + F*L + 4*H**2*L + 7*H*L + H*V + 2*H
    >>> Phi(architecture="PhiForCausalLM").at("microsoft/phi-2").params
    2779683840
    """

    hidden_act: str = key(Function("gelu_new"))
    qk_layernorm: bool = key(Flag())
    architecture: str = classes({"Phi": "Model ForCausalLM ForSequenceClassification ForTokenClassification"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-5))
    embd_pdrop: float = key(Real(0.0))
    resid_pdrop: float = key(Real(0.0))

    stem = ("embed_tokens", "layers", "final_layernorm")
    output_bias = True
    table_dropout = "embd_pdrop"
    odd_share = False

    def base(self) -> Layer:
        table, blocks, norm = self.stem
        return self.stemmed({table: self.token_table(), blocks: self.blocks(), **self.rotated(), norm: self.norm()})

    def block(self) -> Parallel:
        width, inner, norms = self.hidden_size, self.intermediate_size, ("q_layernorm", "k_layernorm")
        matrices = self.projections(bias=True, output="dense")
        if self.qk_layernorm:
            # The width is H/A rounded down, even if head_dim differs.
            norm_width = self.head_width() if self.head_dim is None else over(width, self.num_attention_heads)
            matrices |= self.shared_norms(*norms, LayerNorm(norm_width, self.layer_norm_eps))
        mlp = {**learned("activation_fn", self.hidden_act), "fc1": Dense(width, inner), "fc2": Dense(inner, width)}
        layers = {
            "self_attn": RotatedAttention(matrices, output="dense", norms=norms, partly=True, dropout=self.attention_dropout),
            "mlp": FeedForward(mlp, self.hidden_act, names=("fc1", "activation_fn", "fc2")),
            "input_layernorm": self.norm(),
        }
        return Parallel(layers, dropped=(self.resid_pdrop, self.resid_pdrop))


FAMILIES = (family("phi", Phi, "", {"V": 51200, "H": 2048, "L": 24, "F": 8192}, rope_arguments(share=0.5, partial=True)),)
