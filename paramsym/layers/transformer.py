"""torch's Transformer, its stacks and its layers (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from paramsym import program as ops
from paramsym.algebra.size import Count, Dim
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.attention import MultiHeadAttention
from paramsym.layers.feed_forward import FeedForward
from paramsym.layers.normalization import LayerNorm
from paramsym.naming import quoted

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class _Torch(Layer):
    """The common base of the layers and of the whole: torch's arguments."""

    d_model: Dim
    dropout: float
    activation: object
    layer_norm_eps: float
    bias: bool

    def conditions(self) -> None:
        if not 0 <= self.dropout <= 1:
            raise ArgumentError(f"dropout is {self.dropout}; wanted a probability between 0 and 1.")
        given = self.activation
        if isinstance(given, Layer) or (isinstance(given, str) and given in {"relu", "gelu"}):
            return
        if isinstance(given, type):
            message = f"activation is the class {given.__name__}; give an instance, such as {given.__name__}(), or 'relu' or 'gelu'."
            raise ArgumentError(message)
        if not callable(given):
            raise ArgumentError(f"activation is {quoted(given)}; wanted 'relu', 'gelu', a function or a layer.")
        parameters = getattr(given, "parameters", None)
        if callable(parameters) and any(True for _ in cast("Iterable[object]", parameters())):
            raise ArgumentError(f"activation {quoted(given)} has parameters; give the layer that states them, such as PReLU().")

    def _norm(self) -> LayerNorm:
        return LayerNorm(self.d_model, self.layer_norm_eps, bias=self.bias)


@dataclass(frozen=True)
class _Layer(_Torch):
    """The common base of the two layers: attentions and a feed-forward network, each with a norm."""

    attentions: ClassVar[tuple[str, ...]]

    d_model: Dim
    nhead: Dim
    dim_feedforward: Dim = 2048
    dropout: float = 0.1
    activation: object = "relu"
    layer_norm_eps: float = 1e-5
    batch_first: bool = False
    norm_first: bool = False
    bias: bool = True

    def parts(self) -> Iterator[Part]:
        """The attentions, the feed-forward network, the norms; an activation that is a layer comes last, as in torch."""
        for name in self.attentions:
            yield Part(name, MultiHeadAttention(self.d_model, self.nhead, self.dropout, self.bias, batch_first=self.batch_first))
        yield Part("", FeedForward(self.d_model, self.dim_feedforward, self.bias))
        for number in range(len(self.attentions) + 1):
            yield Part(f"norm{number + 1}", self._norm())
        if isinstance(self.activation, Layer):
            yield Part("activation", self.activation)

    def _blocks(self, own: Own, x: Value, *memory: Value) -> Value:
        """Every block, with the norms before the blocks or after the residual additions."""
        blocks: list[Callable[[Value], Value]] = [own.self_attn]
        if memory:
            blocks.append(lambda x: own.multihead_attn(x, *memory))
        blocks.append(lambda x: own.linear2(ops.drop(self._activated(own, own.linear1(x)), self.dropout)))
        for number, block in enumerate(blocks, 1):
            norm = own[f"norm{number}"]
            x = x + ops.drop(block(norm(x)), self.dropout) if self.norm_first else norm(x + ops.drop(block(x), self.dropout))
        return x

    def _activated(self, own: Own, x: Value) -> Value:
        given = self.activation
        if isinstance(given, Layer):
            activated: Value = own.activation(x)
            return activated
        name = str(given if isinstance(given, str) else getattr(given, "__name__", given))
        return ops.apply(name, x) if ops.is_known(name) else ops.unknown(name, x)


@dataclass(frozen=True)
class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a LayerNorm (Vaswani et al. 2017, section 3.1).

    ``self_attn``, ``linear1``, ``linear2``, ``norm1``, ``norm2``, in this order; shapes as in ``MultiHeadAttention``, ``FeedForward`` and
    ``LayerNorm``. ``activation`` is "relu", "gelu", a function, or a layer with parameters (``PReLU()``). Reference:
    ``torch.nn.TransformerEncoderLayer``.

    Raises:
        DivisibilityError: ``nhead`` does not divide ``d_model``.

    >>> from paramsym import A, F, H
    >>> TransformerEncoderLayer(H, A, F).params
    2*F*H + F + 4*H**2 + 9*H
    """

    attentions = ("self_attn",)

    def forward(self, own: Own, x: Value) -> Value:
        return self._blocks(own, x)


@dataclass(frozen=True)
class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder and a feed-forward network, each with a LayerNorm (Vaswani et al. 2017, section 3.1).

    ``self_attn``, ``multihead_attn``, ``linear1``, ``linear2``, ``norm1``, ``norm2``, ``norm3``, in this order; arguments as in
    ``TransformerEncoderLayer``. Reference: ``torch.nn.TransformerDecoderLayer``.

    Raises:
        DivisibilityError: ``nhead`` does not divide ``d_model``.

    >>> from paramsym import A, F, H
    >>> TransformerDecoderLayer(H, A, F).params
    2*F*H + F + 8*H**2 + 15*H
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(self, own: Own, x: Value, memory: Value | None = None) -> Value:
        """Without a memory, attention is to the target."""
        return self._blocks(own, x, x if memory is None else memory)


@dataclass(frozen=True)
class TransformerEncoder(Layer):
    """``num_layers`` copies of an encoder layer, ``layers.0``, ``layers.1``, ..., and at the end ``norm``, if present.

    Reference: ``torch.nn.TransformerEncoder``. Any layer may be repeated.

    >>> from paramsym import A, F, H, L
    >>> TransformerEncoder(TransformerEncoderLayer(H, A, F), L).params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L
    """

    in_order = True

    encoder_layer: Layer
    num_layers: Count
    norm: Layer | None = None
    enable_nested_tensor: bool = True
    mask_check: bool = True

    def parts(self) -> Iterator[Part]:
        yield Part("layers", Repeat(self.encoder_layer, self.num_layers))
        if self.norm is not None:
            yield Part("norm", self.norm)


@dataclass(frozen=True)
class TransformerDecoder(Layer):
    """``num_layers`` copies of a decoder layer, ``layers.0``, ``layers.1``, ..., and at the end ``norm``, if present.

    Reference: ``torch.nn.TransformerDecoder``. Any layer may be repeated.

    >>> from paramsym import A, F, H, L
    >>> TransformerDecoder(TransformerDecoderLayer(H, A, F), L).params
    2*F*H*L + F*L + 8*H**2*L + 15*H*L
    """

    in_order = True

    decoder_layer: Layer
    num_layers: Count
    norm: Layer | None = None

    def parts(self) -> Iterator[Part]:
        yield Part("layers", Repeat(self.decoder_layer, self.num_layers))
        if self.norm is not None:
            yield Part("norm", self.norm)


@dataclass(frozen=True)
class Transformer(_Torch):
    """An encoder and a decoder stack with a LayerNorm at the end of each; embeddings are not part of it.

    ``encoder.layers.0`` ... ``encoder.norm``, ``decoder.layers.0`` ... ``decoder.norm``. ``custom_encoder`` and ``custom_decoder`` are
    layers that replace the stacks. Reference: ``torch.nn.Transformer``, with torch's defaults: the base model of Vaswani et al. 2017.

    >>> from paramsym import A, F, H, L
    >>> Transformer(H, A, L, L, F).params
    4*F*H*L + 2*F*L + 12*H**2*L + 24*H*L + 4*H
    >>> Transformer().params
    44140544
    """

    d_model: Dim = 512
    nhead: Dim = 8
    num_encoder_layers: Count = 6
    num_decoder_layers: Count = 6
    dim_feedforward: Dim = 2048
    dropout: float = 0.1
    activation: object = "relu"
    custom_encoder: Layer | None = None
    custom_decoder: Layer | None = None
    layer_norm_eps: float = 1e-5
    batch_first: bool = False
    norm_first: bool = False
    bias: bool = True

    def parts(self) -> Iterator[Part]:
        arguments = (self.d_model, self.nhead, self.dim_feedforward, self.dropout, self.activation)
        options = (self.layer_norm_eps, self.batch_first, self.norm_first, self.bias)
        encoder, decoder = self.custom_encoder, self.custom_decoder
        if encoder is None:
            encoder = TransformerEncoder(TransformerEncoderLayer(*arguments, *options), self.num_encoder_layers, self._norm())
        if decoder is None:
            decoder = TransformerDecoder(TransformerDecoderLayer(*arguments, *options), self.num_decoder_layers, self._norm())
        yield from (Part("encoder", encoder), Part("decoder", decoder))

    def forward(self, own: Own, source: Value, target: Value | None = None) -> Value:
        """The decoded target, which attends to the encoded source; a single input is used for both."""
        return own.decoder(source if target is None else target, own.encoder(source))
