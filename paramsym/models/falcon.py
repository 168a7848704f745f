"""Falcon (Almazrouei et al. 2023, arXiv:2311.16867). Reference: ``transformers.models.falcon`` 5.23."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Axis, Count, Dim, cat, divides
from paramsym.algebra.symbols import A, F, G, H, L
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.models.activations import learned
from paramsym.models.blocks import FeedForward, Parallel, PreNorm, Stem
from paramsym.models.bloom import other_width
from paramsym.models.decoder import Decoder
from paramsym.models.gpt import AlibiStem, FusedAttention, FusedBiased
from paramsym.models.key_kinds import Flag, Function, Key, Real, Sizes, Whole
from paramsym.models.model import LANGUAGE, classes, family, key
from paramsym.models.rope import ROTATION, rope_arguments
from paramsym.program import ROPE, Rope
from paramsym.program.attention import root_reciprocal


class Falcon(Decoder):
    """Falcon and its heads, as the reference class ``architecture`` stores them.

    Queries, keys and values are one matrix: with ``new_decoder_architecture`` of G groups of heads with one key and one value each, H**2 +
    2*G*H*H/A; with ``multi_query`` of one key and one value for all heads, H**2 + 2*H*H/A; otherwise 3*H**2. A block has one normalisation,
    or two if attention and feed-forward are not parallel (``parallel_attn`` False) or ``num_ln_in_parallel_attn`` is 2, as it is in the new
    architecture unless it is given.

    >>> Falcon().params
    10*H**2*L + 2*H*L + H*V + 2*H + 2*H**2*L/A
    >>> Falcon(architecture="FalconForCausalLM").at("tiiuae/falcon-7b").params
    6921720704
    """

    hidden_size: Dim = key(H, 4544)
    num_hidden_layers: Count = key(L, 32, least=0)
    num_attention_heads: Dim = key(A, 71, divides="hidden_size")
    num_kv_heads: Dim | None = key(G, None, argument=None)
    ffn_hidden_size: Dim | None = key(F, None, argument=None)
    num_ln_in_parallel_attn: int | None = key(Whole())
    alibi: bool = key(Flag(null=True))
    new_decoder_architecture: bool = key(Flag(null=True))
    multi_query: bool = key(Flag(default=True, null=True))
    parallel_attn: bool = key(Flag(default=True, null=True))
    bias: bool = key(Flag(null=True))
    activation: str = key(Function("gelu"))
    rotary_dim: Count | None = None
    architecture: str = classes({"Falcon": LANGUAGE})
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    rope: Rope = ROPE
    layer_norm_epsilon: float = key(Real(1e-5))
    attention_dropout: float = key(Real(0.0))
    hidden_dropout: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {"n_embed": Whole(), **ROTATION}
    base_name = "transformer"
    stem = ("word_embeddings", "h", "ln_f")
    classifier_name = "classifier"

    def conditions(self) -> None:
        super().conditions()
        if self.num_kv_heads is not None and self.new_decoder_architecture:
            divides(self.num_kv_heads, self.num_attention_heads, "num_kv_heads", "num_attention_heads")

    def stemmed(self, layers: Mapping[str, Layer]) -> Stem:
        if not self.alibi:
            return super().stemmed(layers)
        # The biases are scaled like the scores; the reference keeps the rotary frequencies, which they replace.
        return AlibiStem(layers, self.num_attention_heads, blocks="h", factor=root_reciprocal(self.head_width()), masked=True)

    def block(self) -> PreNorm:
        width, bias, parallel, given = self.hidden_size, self.bias, self.parallel_attn, self.num_ln_in_parallel_attn
        inner = 4 * width if self.ffn_hidden_size is None else self.ffn_hidden_size
        up, down = Dense(width, inner, bias), Dense(inner, width, bias)
        mlp = {"dense_h_to_4h": up, **learned("act", self.activation), "dense_4h_to_h": down}
        if not parallel:
            first, second = "input_layernorm", "post_attention_layernorm"
        elif given == 2 or (given is None and self.new_decoder_architecture):
            first, second = "ln_attn", "ln_mlp"
        else:
            first = second = "input_layernorm"
        layers = {
            "self_attention": self._attention(),
            "mlp": FeedForward(mlp, self.activation, names=("dense_h_to_4h", "act", "dense_4h_to_h")),
            **dict.fromkeys((first, second) if parallel else (second, first), self.norm()),
        }
        kind = Parallel if parallel else PreNorm
        rates = (0.0 if parallel else self.attention_dropout, self.hidden_dropout)  # in parallel, one mask for the sum
        return kind(layers, names=(first, "self_attention", second, "mlp"), dropped=rates)

    def _attention(self) -> FusedAttention:
        """In the new architecture, heads that share a key and a value get copies, which are kept."""
        width, new = self.hidden_size, self.new_decoder_architecture
        outward = Dense((self.num_attention_heads, self.head_width()), width, self.bias)
        matrices = {"query_key_value": Dense(width, self._fused(), self.bias), "dense": outward}
        how: dict[str, Any] = {"spread": new, "listed": self.multi_query or new, "written": True}
        return FusedBiased(matrices, dropout=self.attention_dropout, **how) if self.alibi else FusedAttention(matrices, **how)

    def _fused(self) -> Axis:
        heads, own = self.num_attention_heads, self.head_width()
        if self.new_decoder_architecture and self.num_kv_heads is not None:
            each = divides(self.num_kv_heads, heads, "num_kv_heads", "num_attention_heads")
            return (self.num_kv_heads, cat(query=(each, own), key=own, value=own))
        if self.multi_query and not self.new_decoder_architecture:
            return cat(query=(heads, own), key=own, value=own)
        return (heads, cat(query=own, key=own, value=own))


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Use the old name of the hidden size, which takes precedence; then read the rotation."""
    other_width(arguments, sizes)
    if not arguments["new_decoder_architecture"] and arguments["num_kv_heads"] is not None:
        arguments["num_kv_heads"] = None  # only the new architecture reads it
        del sizes[G]
    rope_arguments(floors=False, named=True)(arguments, sizes)


_FORMER = {f"RW{rest}": f"Falcon{rest}" for rest in ("Model", "ForCausalLM")}
_IGNORED = "apply_residual_connection_post_layernorm"
FAMILIES = (family("falcon", Falcon, "", {"vocab_size": 65024}, _settle, ignored=_IGNORED, former=_FORMER),)
