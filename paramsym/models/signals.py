"""Layers of models that read signals: frames, their positions, blocks over them, and the parts of wav2vec 2.0's heads and training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Dim, canonical, divides
from paramsym.core.compose import Repeat
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.models.blocks import Holder, PreNorm, activation
from paramsym.program import (
    Own,
    Value,
    apply,
    best,
    collected,
    constant,
    convolve,
    drop,
    features,
    glu,
    heads,
    join,
    lookup,
    normalise,
    rearrange,
    reduce,
    segments,
    take,
    unfold,
)
from paramsym.program.tracing import each


def weighted(weights: Value, last: Value, *entering: Value) -> Value:
    """Return the weighted sum of every block's input, (blocks, batch, frames, width), and the last block's output."""
    if not entering:
        return last * weights
    blocks = entering[0].sizes[0]
    each_block, end = segments(weights, blocks, 1)
    return reduce("sum", entering[0] * rearrange(each_block, "l -> l () () ()"), 0) + last * end


def mean_and_deviation(x: Value) -> Value:
    """Return the means over frames and the unbiased deviations side by side: (batch, frames, width) to (batch, 2*width)."""
    mean = reduce("mean", x, 1, keep=True)
    apart = x - mean
    variance = reduce("sum", apart * apart, 1) / canonical(x.sizes[1] - 1)
    return join(rearrange(mean, "b () d -> b d"), apply("sqrt", variance))


class Hearing(Holder):
    """The base model over signals (batch, samples); with ``heard`` it also returns the normalised features before their projection."""

    heard: bool
    dropped: float = 0.0

    def forward(self, own: Own, x: Value) -> Any:
        x = rearrange(own.feature_extractor(rearrange(x, "b s -> b () s")), "b c s -> b s c")
        if "feature_projection.layer_norm" in own:
            x = own["feature_projection.layer_norm"](x)
        y, *shown = each(own.encoder(drop(own["feature_projection.projection"](x), self.dropped)))
        y = own.adapter(y) if "adapter" in own else y
        more = (*shown, x) if self.heard else tuple(shown)
        return (y, *more) if more else y


class FrameConvolution(Holder):
    """A convolution over the signal, normalised if there is a norm, and activated."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, channels, frames)."""
        x = own.conv(x)
        x = own.layer_norm(x) if "layer_norm" in own else x
        return activation(own, self.function, x, "activation")


class Positions(Holder):
    """The position of each frame from a convolution over many frames, (batch, frames, width)."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """The same number of frames; an even span gives one more at the end, which is dropped."""
        y = rearrange(x, "b s c -> b c s")
        y = own.conv(own.batch_norm(y) if "batch_norm" in own else y)
        y = activation(own, self.function, take(y, 2, 0, x.sizes[1]), "activation")
        return rearrange(y, "b c s -> b s c")


class HearingEncoder(Holder):
    """Positions, then the blocks; ``stable`` blocks are normalised after the last one, others before the first."""

    stable: bool
    shows: bool
    dropped: float = 0.0

    def forward(self, own: Own, x: Value) -> Any:
        """The output; with blocks that return their inputs, also the last block's output, and the inputs."""
        x = x + own.pos_conv_embed(x)
        last, *shown = each(own.layers(drop(x if self.stable else own.layer_norm(x), self.dropped)))
        x = own.layer_norm(last) if self.stable else last
        return (x, last, *shown) if self.shows else x


class Handing(Declared):
    """A block that returns its input beside its result."""

    block: Layer

    def parts(self) -> Iterator[Part]:
        yield Part("", self.block)

    def forward(self, own: Own, x: Value) -> tuple[Value, Value]:
        return own[""](x), x


@dataclass(frozen=True)
class Collected(Repeat):
    """Blocks whose second results are stacked after the result of the last."""

    def forward(self, own: Own, x: Value, *along: Value) -> tuple[Value, ...]:
        return collected(own, 0, x, *along)


class AdaptedBlock(PreNorm):
    """A block with a narrow network ``adapter_layer`` for one language of many, which is added at its end."""

    def forward(self, own: Own, x: Value, *along: Value) -> Value:
        x = super().forward(own, x, *along)
        return x + own.adapter_layer(x)


class BlockAdapter(Holder):
    """The narrow network inside a block."""

    def forward(self, own: Own, x: Value) -> Value:
        """A normalisation, a projection to fewer features, ReLU, and a projection back."""
        return own.linear_2(apply("relu", own.linear_1(own.norm(x))))


class Adapter(Holder):
    """Convolutions after the encoder, each of which gives fewer frames; a projection before them changes the width."""

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, frames, width)."""
        x = own.proj_layer_norm(own.proj(x)) if "proj" in own else x
        return rearrange(own.layers(rearrange(x, "b s c -> b c s")), "b c s -> b s c")


class Narrowing(Holder):
    """A convolution to twice the channels; one half gates the other."""

    def forward(self, own: Own, x: Value) -> Value:
        return glu(own.conv(x), 1)


class MaskedFrames(Declared):
    """A model that reads a learned vector instead of masked frames; in evaluation no frame is masked and the vector is unused.

    >>> from paramsym.algebra.symbols import F, H
    >>> MaskedFrames(H, Dense(H, F)).params
    F*H + F + H
    """

    in_order = True

    hidden_size: Dim
    body: Layer

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("masked_spec_embed", (self.hidden_size,))

    def parts(self) -> Iterator[Part]:
        yield Part("", self.body)


class NormedConvolution(Declared):
    """A convolution in groups whose weight is stored as directions and, for every frame of its span, a length.

    >>> from paramsym.algebra.symbols import H, K
    >>> NormedConvolution(H, K, 16).params
    H**2*K/16 + H + K
    """

    width: Dim
    span: Dim
    groups: Dim

    def conditions(self) -> None:
        divides(self.groups, self.width, "num_conv_pos_embedding_groups", "hidden_size")

    def tensors(self) -> Iterator[Tensor]:
        inside = divides(self.groups, self.width, "num_conv_pos_embedding_groups", "hidden_size")
        yield Tensor("bias", (self.width,), role="bias")
        yield Tensor("parametrizations.weight.original0", (1, 1, self.span), role="scale")
        yield Tensor("parametrizations.weight.original1", (self.width, inside, self.span))

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, width, frames), with half of the span added on both sides; every direction is scaled to its frame's length."""
        directions = own["parametrizations.weight.original1"]
        half = over(self.span, 2)
        kernel = normalise(directions, "length", 0, 1, scale=own["parametrizations.weight.original0"])
        return convolve(x, kernel, (1,), ((half, half),), groups=self.groups) + rearrange(own.bias, "c -> c ()")


class Quantizer(Declared):
    """Codebooks of vectors, and the scores that choose one vector of each (Baevski et al. 2020, section 2).

    >>> Quantizer(512, 2, 320, 256).params
    410240
    """

    features: Dim
    codebooks: Dim
    codes: Dim
    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        share = divides(self.codebooks, self.width, "num_codevector_groups", "codevector_dim")
        yield Tensor("codevectors", (1, (self.codebooks, self.codes), share), role="table")

    def parts(self) -> Iterator[Part]:
        yield Part("weight_proj", Dense(self.features, (self.codebooks, self.codes)))

    def forward(self, own: Own, x: Value) -> Value:
        """The code with the greatest score of each codebook, side by side, for every frame; in training the reference draws one."""
        _, chosen = best(heads(own.weight_proj(features(x, self.features))), 1)
        first = constant("positions", (self.codebooks,), kind="index") * self.codes
        codes = lookup(rearrange(own.codevectors, "() r d -> r d"), take(chosen, 3) + first)
        return rearrange(codes, "b s g d -> b s (g d)")


class DilatedDense(Declared):
    """A dilated convolution over frames, stored as a matrix ``kernel`` over the frames that it reads (Snyder et al. 2018, x-vectors).

    >>> DilatedDense(512, 5, 1500).params
    3841500
    """

    features: Dim
    span: Dim
    outputs: Dim
    dilation: Dim = 1

    def parts(self) -> Iterator[Part]:
        yield Part("kernel", Dense((self.features, self.span), self.outputs))

    def forward(self, own: Own, x: Value) -> Value:
        channels = rearrange(features(x, self.features), "b s c -> b c s")
        windows = unfold(channels, (self.span,), (1,), ((0, 0),), (self.dilation,))
        return apply("relu", own.kernel(rearrange(windows, "b c s k -> b s (k c)")))
