"""OPT (Zhang et al. 2022, arXiv:2205.01068). Reference: ``transformers.models.opt`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim, same
from paramsym.algebra.symbols import A, F, H, L, P, V, dims
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.models.activations import learned
from paramsym.models.blocks import Holder, RotatedAttention, inward_and_out
from paramsym.models.decoder import Decoder
from paramsym.models.key_kinds import Flag, Function, Key, Real, Sizes, left_out
from paramsym.models.model import classes, family, key
from paramsym.models.stacks import Around
from paramsym.program import Own, Value

TABLE = dims("H_e")
"""The embedding size, if it is not the hidden size."""


class Opt(Decoder):
    """OPT and its heads, as the reference class ``architecture`` stores them.

    The table of positions has two more rows. ``do_layer_norm_before`` normalises before each sub-layer and at the end, otherwise after each
    sum. If ``word_embed_proj_dim`` differs from H, the embedding has this size, and two matrices project in and out; None is H.

    >>> Opt().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 4*H
    >>> Opt(architecture="OPTForCausalLM").at("facebook/opt-125m").params
    125239296
    """

    vocab_size: Dim = key(V, 50272)
    hidden_size: Dim = key(H, 768)
    num_hidden_layers: Count = key(L, 12, least=0)
    num_attention_heads: Dim = key(A, 12, divides="hidden_size")
    ffn_dim: Dim = key(F, 3072)
    max_position_embeddings: Dim = key(P, 2048)
    word_embed_proj_dim: Dim | None = key(TABLE, None, argument=None)
    activation_function: str = key(Function("relu"))
    do_layer_norm_before: bool = key(Flag(default=True))
    remove_final_layer_norm: bool = False
    enable_bias: bool = key(Flag(default=True))
    layer_norm_elementwise_affine: bool = key(Flag(default=True))
    architecture: str = classes({"OPT": "Model ForCausalLM ForSequenceClassification ForQuestionAnswering"})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    dropout: float = key(Real(0.1))
    attention_dropout: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {"_remove_final_layer_norm": Flag()}
    stem = ("decoder.embed_tokens", "decoder.layers", "decoder.final_layer_norm")

    def output_width(self) -> Dim:
        return self.hidden_size if self.word_embed_proj_dim is None else self.word_embed_proj_dim

    def base(self) -> Layer:
        width, outer = self.hidden_size, self.output_width()
        layers: dict[str, Layer] = {
            "embed_tokens": Embedding(self.vocab_size, outer),
            # The reference offsets positions by two, which an older padding needed.
            "embed_positions": LearnedPositions(self.max_position_embeddings, width, offset=2, counted="each"),
        }
        if not same(outer, width):
            layers |= {"project_out": Dense(width, outer, bias=False), "project_in": Dense(outer, width, bias=False)}
        if self.do_layer_norm_before and not self.remove_final_layer_norm:
            layers["final_layer_norm"] = self.norm()
        layers["layers"] = self.blocks()
        return Sequential(decoder=OptDecoder(layers))

    def norm(self) -> LayerNorm:
        return LayerNorm(self.hidden_size, elementwise_affine=self.layer_norm_elementwise_affine)

    def block(self) -> Around:
        width, inner, bias = self.hidden_size, self.ffn_dim, self.enable_bias
        matrices = inward_and_out(width, (self.num_attention_heads, self.head_width()), bias=bias, output_bias=bias)
        layers = {
            "self_attn": RotatedAttention(matrices, output="out_proj", dropout=self.attention_dropout),
            **learned("activation_fn", self.activation_function),
            "self_attn_layer_norm": self.norm(),
            "fc1": Dense(width, inner, bias),
            "fc2": Dense(inner, width, bias),
            "final_layer_norm": self.norm(),
        }
        return Around(layers, self.activation_function, self.do_layer_norm_before, self.dropout)


class OptDecoder(Holder):
    """The embeddings, the projections to and from the hidden size, the blocks, the last norm."""

    def forward(self, own: Own, input_ids: Value) -> Value:
        x = own.embed_tokens(input_ids)
        for name in ("project_in", "embed_positions", "layers", "final_layer_norm", "project_out"):
            if name in own:
                x = own[name](x)
        return x


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """An embedding size equal to the hidden size becomes None."""
    arguments["remove_final_layer_norm"] = arguments.pop("_remove_final_layer_norm")
    left_out(H, word_embed_proj_dim=TABLE)(arguments, sizes)


FAMILIES = (family("opt", Opt, "", {"pad_token_id": 1}, _settle, ignored="activation_dropout layerdrop init_std"),)
