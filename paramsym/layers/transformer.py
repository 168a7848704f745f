"""torch's Transformer, its stacks and its layers (Vaswani et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from paramsym.algebra.size import Count, Dim
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.attention import MultiHeadAttention
from paramsym.layers.feed_forward import FeedForward
from paramsym.layers.normalization import LayerNorm
from paramsym.naming import quoted
from paramsym.program import Own, Value, apply, drop, is_known, unknown


@dataclass(frozen=True)
class _Layer(Layer):
    """The common base of the two layers: torch's arguments, and a feed-forward network."""

    d_model: Dim
    nhead: Dim
    dim_feedforward: Dim = 2048
    dropout: float = 0.1
    activation: object = "relu"
    layer_norm_eps: float = 1e-5
    batch_first: bool = False
    norm_first: bool = False
    bias: bool = True

    def conditions(self) -> None:
        _check(self.dropout, self.activation)

    def _inner(self, own: Own) -> Callable[[Value], Value]:
        """Return the feed-forward network with its dropouts; an activation with parameters is a part."""

        def activated(x: Value) -> Value:
            if isinstance(self.activation, Layer):
                return own.activation(x)
            name = str(self.activation if isinstance(self.activation, str) else getattr(self.activation, "__name__", self.activation))
            return apply(name, x) if is_known(name) else unknown(name, x)

        return lambda x: drop(own.linear2(drop(activated(own.linear1(x)), self.dropout)), self.dropout)


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

    def parts(self) -> Iterator[Part]:
        yield Part("self_attn", _attention(self))
        yield from _rest(self, norms=2)

    def forward(self, own: Own, x: Value) -> Value:
        for norm, body in (("norm1", lambda x: drop(own.self_attn(x), self.dropout)), ("norm2", self._inner(own))):
            x = x + body(own[norm](x)) if self.norm_first else own[norm](x + body(x))
        return x


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

    def parts(self) -> Iterator[Part]:
        yield Part("self_attn", _attention(self))
        yield Part("multihead_attn", _attention(self))
        yield from _rest(self, norms=3)

    def forward(self, own: Own, x: Value, memory: Value | None = None) -> Value:
        """Self-attention, attention to the memory and the feed-forward network; without a memory, attention is to the target."""
        memory = x if memory is None else memory

        def within(x: Value) -> Value:
            return drop(own.self_attn(x), self.dropout)

        def across(x: Value) -> Value:
            return drop(own.multihead_attn(x, memory), self.dropout)

        for norm, body in (("norm1", within), ("norm2", across), ("norm3", self._inner(own))):
            x = x + body(own[norm](x)) if self.norm_first else own[norm](x + body(x))
        return x


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
class Transformer(Layer):
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

    def conditions(self) -> None:
        _check(self.dropout, self.activation)

    def parts(self) -> Iterator[Part]:
        arguments = (self.d_model, self.nhead, self.dim_feedforward, self.dropout, self.activation)
        options = (self.layer_norm_eps, self.batch_first, self.norm_first, self.bias)
        encoder = self.custom_encoder
        if encoder is None:
            encoder = TransformerEncoder(TransformerEncoderLayer(*arguments, *options), self.num_encoder_layers, _norm(self))
        yield Part("encoder", encoder)
        decoder = self.custom_decoder
        if decoder is None:
            decoder = TransformerDecoder(TransformerDecoderLayer(*arguments, *options), self.num_decoder_layers, _norm(self))
        yield Part("decoder", decoder)

    def forward(self, own: Own, source: Value, target: Value | None = None) -> Value:
        """The decoded target, which attends to the encoded source; a single input is used for both."""
        return own.decoder(source if target is None else target, own.encoder(source))


def _attention(layer: TransformerEncoderLayer | TransformerDecoderLayer) -> MultiHeadAttention:
    return MultiHeadAttention(layer.d_model, layer.nhead, layer.dropout, layer.bias, batch_first=layer.batch_first)


def _norm(layer: TransformerEncoderLayer | TransformerDecoderLayer | Transformer) -> LayerNorm:
    return LayerNorm(layer.d_model, layer.layer_norm_eps, bias=layer.bias)


def _rest(layer: TransformerEncoderLayer | TransformerDecoderLayer, norms: int) -> Iterator[Part]:
    """Yield the parts after the attentions; an activation that is a layer comes last, as in torch."""
    yield Part("", FeedForward(layer.d_model, layer.dim_feedforward, layer.bias))
    for number in range(1, norms + 1):
        yield Part(f"norm{number}", _norm(layer))
    if isinstance(layer.activation, Layer):
        yield Part("activation", layer.activation)


def _check(dropout: float, activation: object) -> None:
    if not 0 <= dropout <= 1:
        message = f"dropout is {dropout}; wanted a probability between 0 and 1."
        raise ArgumentError(message)
    if isinstance(activation, Layer) or (isinstance(activation, str) and activation in {"relu", "gelu"}):
        return
    if isinstance(activation, type):
        message = f"activation is the class {activation.__name__}; give an instance, such as {activation.__name__}(), or 'relu' or 'gelu'."
        raise ArgumentError(message)
    if not callable(activation):
        message = f"activation is {quoted(activation)}; wanted 'relu', 'gelu', a function or a layer."
        raise ArgumentError(message)
    parameters = getattr(activation, "parameters", None)
    if callable(parameters) and any(True for _ in cast("Iterable[object]", parameters())):
        message = f"activation {quoted(activation)} has parameters; give the layer that states them, such as PReLU()."
        raise ArgumentError(message)
