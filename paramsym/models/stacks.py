"""The common base of BART and Whisper, which come from fairseq: an encoder's and a decoder's stack, their blocks, and their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sympy import sqrt

from paramsym.algebra.size import Count, Dim, divides
from paramsym.algebra.symbols import A, F, H, L, V, dims
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import learned
from paramsym.models.bert_blocks import Attention
from paramsym.models.blocks import Holder, activation, inward_and_out, scaled
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import Ignored, Model, key
from paramsym.program import Own, Value, drop

ENCODES = ("Model", "Generation", "Classification", "Answering")
DECODES = ("Model", "Generation", "CausalLM", "SequenceClassification", "Answering")
"""The ends of the names of classes with an encoder, and with a decoder."""


class TwoStacks(Model):
    """A model of an encoder and a decoder of width H = ``d_model``, or of one of them; abstract."""

    vocab_size: Dim = key(V, 50265)
    encoder_layers: Count = key(L, 12, least=0, only=ENCODES)
    encoder_ffn_dim: Dim = key(F, 4096, only=ENCODES)
    encoder_attention_heads: Dim = key(A, 16, only=ENCODES, divides="d_model")
    decoder_layers: Count = key(dims("L_d"), 12, least=0, only=DECODES)
    decoder_ffn_dim: Dim = key(dims("F_d"), 4096, only=DECODES)
    decoder_attention_heads: Dim = key(dims("A_d"), 16, only=DECODES, divides="d_model")
    activation_function: str = key(Function("gelu"))
    d_model: Dim = key(H, 1024)

    ignored: ClassVar[Ignored] = {
        "drops values while training": "classif_dropout encoder_layerdrop decoder_layerdrop",
        "seeds the weights": "init_std",
    }
    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {"is_encoder_decoder": (True, False), "is_decoder": (True, False)}
    heads, depth = ("encoder_attention_heads", "d_model"), "encoder_layers"
    key_bias: ClassVar[bool] = True
    """Whether the keys of attention have a bias."""
    _: KW_ONLY
    tie_word_embeddings: bool = key(Flag(default=True))
    dropout: float = key(Real(0.1))
    attention_dropout: float = key(Real(0.0))
    activation_dropout: float = key(Real(0.0))

    @property
    def norm_first(self) -> bool:
        """Whether the blocks normalise before each sub-layer, rather than after each sum."""
        return True

    def encoder_block(self) -> Around:
        return self._block(self.encoder_attention_heads, self.encoder_ffn_dim, crosses=False)

    def decoder_blocks(self) -> Repeat:
        """Return the decoder's blocks: as the encoder's, with an attention to the encoder's output in the middle of each."""
        return Repeat(self._block(self.decoder_attention_heads, self.decoder_ffn_dim, crosses=True), self.decoder_layers)

    def _block(self, heads: Dim, inner: Dim, *, crosses: bool) -> Around:
        width, norm, attention = self.d_model, LayerNorm(self.d_model), self._attention(heads)
        how: dict[str, Any] = {"names": ("q_proj", "k_proj", "v_proj"), "output": "out_proj", "dropout": self.attention_dropout}
        how["laid"] = not self.key_bias  # the reference of one family does both
        learns = learned("activation_fn", self.activation_function)
        body: dict[str, Layer] = {"self_attn": Attention(attention, **how), "self_attn_layer_norm": norm, **learns}
        if crosses:
            body = {"self_attn": Attention(attention, causal=True, **how), **learns, "self_attn_layer_norm": norm}
            body |= {"encoder_attn": Attention(attention, **how), "encoder_attn_layer_norm": norm}
        body |= {"fc1": Dense(width, inner), "fc2": Dense(inner, width), "final_layer_norm": norm}
        return Around(body, self.activation_function, self.norm_first, self.dropout, self.activation_dropout)

    def _attention(self, heads: Dim) -> dict[str, Layer]:
        sliced = (heads, divides(heads, self.d_model, "attention_heads", "d_model"))
        return inward_and_out(self.d_model, sliced, key_bias=self.key_bias)


class Stack(Holder):
    """One stack: the table, multiplied by the root of the width with ``scales``; positions; blocks; normalisations if they are stored."""

    _: KW_ONLY
    scales: bool = False
    dropped: float = 0.0

    def forward(self, own: Own, input_ids: Value, *memory: Value) -> Value:
        """From the token ids to the last hidden states; ``memory`` is the encoder's output for a decoder."""
        x = own.embed_tokens(input_ids)
        x = own.embed_positions(scaled(x, sqrt(x.sizes[-1])) if self.scales else x)
        x = own.layers(drop(own.layernorm_embedding(x) if "layernorm_embedding" in own else x, self.dropped), *memory)
        return own.layer_norm(x) if "layer_norm" in own else x


class Around(Holder):
    """A block: attention to itself, in a decoder to a memory, and the feed-forward network, each with a norm before it or after the sum."""

    function: str
    norm_first: bool = False
    dropped: float = 0.0
    inside: float = 0.0

    def forward(self, own: Own, x: Value, *memory: Value) -> Value:
        """The sub-layers one after another; without a memory, the attention to it is left out, as in the reference."""
        x = self._added(own, "self_attn", x)
        if memory:
            x = self._added(own, "encoder_attn", x, *memory)
        norm = own.final_layer_norm
        y = own.fc1(norm(x) if self.norm_first else x)
        y = drop(activation(own, self.function, y, "activation_fn"), self.inside)
        y = x + drop(own.fc2(y), self.dropped)
        return y if self.norm_first else norm(y)

    def _added(self, own: Own, name: str, x: Value, *memory: Value) -> Value:
        norm = own[f"{name}_layer_norm"]
        y = drop(own[name](norm(x) if self.norm_first else x, *memory), self.dropped)
        return x + y if self.norm_first else norm(x + y)
