"""GPT-NeoX and Pythia (Black et al. 2022, arXiv:2204.06745; Biderman et al. 2023, arXiv:2304.01373).

Reference: ``transformers.models.gpt_neox`` 5.23, names and shapes of its state dict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim, cat
from paramsym.algebra.symbols import A, F, H, L
from paramsym.layers.dense import Dense
from paramsym.models.blocks import Parallel, PreNorm, feed_forward
from paramsym.models.decoder import Decoder
from paramsym.models.gpt import FusedAttention
from paramsym.models.key_kinds import Flag, Function, Key, Real, Sizes, Whole
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.models.rope import RopeSettings, RotaryShare, rope_arguments
from paramsym.program import ROPE, Rope


class GptNeoX(Decoder):
    """GPT-NeoX, Pythia and their heads, as the reference class ``architecture`` stores them.

    Queries, keys and values are one matrix, head by head. ``rotary_dim`` entries of a head are rotated, all if it is None; the default of
    configurations is a quarter.

    >>> GptNeoX().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*V + 2*H
    >>> GptNeoX(architecture="GPTNeoXForCausalLM").at("EleutherAI/gpt-neox-20b").params
    20554567680
    """

    hidden_size: Dim = key(H, 6144)
    num_hidden_layers: Count = key(L, 44, least=0)
    num_attention_heads: Dim = key(A, 64, divides="hidden_size")
    intermediate_size: Dim = key(F, 24576)
    hidden_act: str = key(Function("gelu"))
    attention_bias: bool = key(Flag(default=True))
    rotary_dim: Count | None = None
    architecture: str = classes({"GPTNeoX": LANGUAGE})
    _: KW_ONLY
    rope: Rope = ROPE
    layer_norm_eps: float = key(Real(1e-5))
    use_parallel_residual: bool = key(Flag(default=True))
    attention_dropout: float = key(Real(0.0))
    hidden_dropout: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {
        "rope_parameters": RopeSettings(),
        "rope_scaling": RopeSettings(),
        "rotary_pct": RotaryShare(0.25),
        "rotary_emb_base": Real(10000.0),
        "max_position_embeddings": Whole(2048),
    }
    base_name = "gpt_neox"
    stem = ("embed_in", "layers", "final_layer_norm")
    classifier_name = "classifier"
    table_dropout = "hidden_dropout"

    def block(self) -> PreNorm:
        width, heads, own, bias = self.hidden_size, self.num_attention_heads, self.head_width(), self.attention_bias
        fused = Dense(width, (heads, cat(query=own, key=own, value=own)), bias)
        matrices = {"query_key_value": fused, "dense": Dense((heads, own), width, bias)}
        layers = {
            "input_layernorm": self.norm(),
            "post_attention_layernorm": self.norm(),
            "attention": FusedAttention(matrices, partly=True, dropout=self.attention_dropout),
            "mlp": feed_forward(width, self.intermediate_size, self.hidden_act, ("dense_h_to_4h", "act", "dense_4h_to_h")),
        }
        names = ("input_layernorm", "attention", "post_attention_layernorm", "mlp")
        kind = Parallel if self.use_parallel_residual else PreNorm
        return kind(layers, names=names, dropped=(self.hidden_dropout, self.hidden_dropout))


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    arguments |= {"partial_rotary_factor": arguments.pop("rotary_pct"), "rope_theta": arguments.pop("rotary_emb_base")}
    rope_arguments(floors=False, partial=True)(arguments, sizes)


FAMILIES = (family("gpt_neox", GptNeoX, "", {"vocab_size": 50432}, _settle, ignored="partial_rotary_factor"),)
