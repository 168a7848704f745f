"""What the references compute between their modules: it stores nothing and has no name there, but it changes shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from paramsym.compose import Aside, Flow, InTurn
from paramsym.errors import NotYetError, ShapeError
from paramsym.extents import View, differ
from paramsym.flow import Step, across, applied, each_input, together
from paramsym.layer import Layer, Part
from paramsym.layers.axes import take_apart
from paramsym.layers.spatial import per_axis
from paramsym.size import Count, Dim, Shape, canonical, text


class TokenModel(InTurn):
    """A model that reads the numbers of tokens, (batch, positions); one that chooses among several texts (batch, choices, positions)."""

    architecture: Any  # each family's own words

    def output_shape(self, input_shape: Shape) -> Shape:
        """What comes out at the end, for each position or for each text."""
        self._check(input_shape)
        return super().output_shape(input_shape)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Every layer of the sequence."""
        self._check(input_shape)
        return super().applications(input_shape)

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The parts; one score for each choice where there are choices."""
        yield from super().sequence()
        if self.architecture.endswith("MultipleChoice"):
            yield "choices", Squeeze()

    def _check(self, input_shape: Shape) -> None:
        axes: tuple[str, ...] = ("batch", "positions")
        if self.architecture.endswith("MultipleChoice") or (self.architecture.endswith("DoubleHeadsModel") and len(input_shape) == 3):
            axes = ("batch", "choices", "positions")
        check_axes(input_shape, axes, "the numbers of tokens")


class ImageModel(InTurn):
    """A model that sees images, (batch, channels, height, width), of the one size that its positions are made for."""

    image_size: Any
    num_channels: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """What comes out at the end, for each image or for each of its patches."""
        self._check(input_shape)
        return super().output_shape(input_shape)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Every layer of the sequence."""
        self._check(input_shape)
        return super().applications(input_shape)

    def _check(self, input_shape: Shape) -> None:
        axes = take_apart(input_shape, 2, channels=self.num_channels, batched=True)
        if any(differ(found, wanted) for found, wanted in zip(axes.extents, per_axis(self.image_size, 2, "image_size"), strict=True)):
            message = f"the image is {text(axes.extents)}; wanted {text(self.image_size)}."
            raise ShapeError(message)


class PatchTokens(InTurn):
    """The embeddings of an image: the projection of every patch, ``extra`` tokens in front, and a position for each where they are kept."""

    extra: int = 1

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The projection, the patches in a row behind the other tokens, and what else there is."""
        (name, projection), *others = ((part.name, part.layer) for part in self.own_parts)
        yield from ((name, projection), ("tokens", InRow(self.extra)), *others)

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """Tokens and positions are used once; a mask token only where patches are masked."""
        del input_shape
        return {tensor.name: 1 for tensor in self.own_tensors if tensor.name != "mask_token"}


class Seq2Seq(TokenModel):
    """A model with an encoder and a decoder: (batch, positions) of the source and of the target, or one shape for both."""

    def _check(self, input_shape: Shape) -> None:
        for shape in each_input(input_shape):
            check_axes(shape, ("batch", "positions"), "the numbers of tokens")


@dataclass(frozen=True)
class Stacks(Layer):
    """An encoder and a decoder that attends to it, and the table they share where there is one; or the encoder alone.

    What goes in is the source's shape and the target's, or one for both; what comes out is the decoder's.
    """

    encoder: Layer
    decoder: Layer
    shared: Layer | None = None

    def parts(self) -> Iterator[Part]:
        """The table, the encoder, the decoder."""
        if self.shared is not None:
            yield Part("shared", self.shared)
        yield Part("encoder", self.encoder)
        yield Part("decoder", self.decoder)

    @property
    def takes_several(self) -> bool:
        """Source and target."""
        return True

    def views(self) -> tuple[View, ...]:
        """Attention sees everything, as the encoder's blocks say."""
        return self.encoder.views()

    def output_shape(self, input_shape: Shape) -> Shape:
        """What the decoder gives."""
        return list(self.applications(input_shape))[-1].left

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """The table is used under the names that the stacks have for it."""
        return across(("encoder", self.encoder), ("decoder", self.decoder), input_shape)


def refuse_maps(architecture: str) -> None:
    """Raise ``NotYetError`` for a class whose output is the maps of chosen stages, or the labels of pixels made of them."""
    if architecture.endswith(("Backbone", "Segmentation")):
        message = f"{architecture} does not say what shape comes out of it: it makes use of several stages at once."
        raise NotYetError(message)


def check_axes(input_shape: Shape, axes: tuple[str, ...], what: str) -> None:
    """Raise ``ShapeError`` for another number of axes."""
    if len(input_shape) != len(axes):
        message = f"wanted {len(axes)} axes, ({', '.join(axes)}), for {what}; found {len(input_shape)}, {text(input_shape)}."
        raise ShapeError(message)


def pooling(layers: Mapping[str, Layer], *order: str | tuple[str, Layer], aside: bool) -> Flow:
    """Return layers in an order and at the end, where there is one, the ``pooler`` of one vector, ``aside`` of the stream or ending it."""
    if "pooler" not in layers:
        return Flow(layers, *order)
    if aside:
        return Flow(layers, *order, ("pooler", Aside(layers["pooler"], OneOfEach())))
    return Flow(layers, *order, ("one", OneOfEach()), "pooler")


@dataclass(frozen=True)
class OneOfEach(Layer):
    """One vector for each sequence: that of one token, or the mean of all; or several such ``vectors`` side by side.

    >>> from paramsym import B, H, S
    >>> OneOfEach().output_shape((B, S, H)), OneOfEach(2).output_shape((B, S, H))
    ((B, H), (B, 2*H))
    """

    vectors: int = 1

    def output_shape(self, input_shape: Shape) -> Shape:
        """The axis of positions goes."""
        if len(input_shape) < 3:
            message = f"wanted (batch, positions, features); found {text(input_shape)}."
            raise ShapeError(message)
        return (*input_shape[:-2], None if input_shape[-1] is None else canonical(self.vectors * input_shape[-1]))


@dataclass(frozen=True)
class Squeeze(Layer):
    """The last axis, of one entry, left out."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """The axes before it."""
        return input_shape[:-1]


@dataclass(frozen=True)
class InRow(Layer):
    """A map of vectors as a sequence of tokens, ``extra`` tokens in front: (batch, width, height, width) to (batch, tokens, width).

    >>> from paramsym import B, H
    >>> InRow(1).output_shape((B, H, 14, 14))
    (B, 197, H)
    """

    extra: Count = 0

    def output_shape(self, input_shape: Shape) -> Shape:
        """The places of the map, and the extra tokens."""
        axes = take_apart(input_shape, 2, batched=True)
        down, across = axes.extents
        places = None if down is None or across is None else canonical(down * across + self.extra)
        return (*axes.batch, places, axes.channels)

    def views(self) -> tuple[View, ...]:
        """Every token sees its own place."""
        return ()


@dataclass(frozen=True)
class Without(Layer):
    """A sequence without so many of its tokens."""

    tokens: Count

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, the other tokens, width)."""
        places = input_shape[-2]
        return (*input_shape[:-2], None if places is None else canonical(places - self.tokens), input_shape[-1])


@dataclass(frozen=True)
class Pairs(Layer):
    """Every two positions of a sequence: (batch, positions, width) to (batch, positions, positions)."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """The positions twice."""
        return (*input_shape[:-1], input_shape[-2])


@dataclass(frozen=True)
class OnMap(Layer):
    """A sequence of tokens as a map of vectors again, the ``extra`` tokens in front left out.

    >>> from paramsym import B, H
    >>> OnMap((14, 14), 1).output_shape((B, 197, H))
    (B, H, 14, 14)
    """

    extents: tuple[Dim, Dim]
    extra: Count = 0

    def output_shape(self, input_shape: Shape) -> Shape:
        """(batch, width, height, width)."""
        return (*input_shape[:-2], input_shape[-1], *self.extents)


@dataclass(frozen=True)
class Heads(Layer):
    """Several heads over one stream; their outputs come out together, the first one's first. Those in ``pooled`` read one vector of each.

    >>> from paramsym import B, Dense, H, S, V
    >>> Heads((("words", Dense(H, V)), ("order", Dense(H, 2))), pooled=("order",)).output_shape((B, S, H))
    ((B, S, V), (B, 2))
    """

    layers: tuple[tuple[str, Layer], ...]
    pooled: tuple[str, ...] = ()

    def parts(self) -> Iterator[Part]:
        """The heads."""
        for name, layer in self.layers:
            yield Part(name, layer)

    def output_shape(self, input_shape: Shape) -> Shape:
        """What comes out of each."""
        return together(*(step.left for step in self.applications(input_shape)))

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Each is given the stream, or one vector of each sequence."""
        for name, layer in self.layers:
            arrived = OneOfEach().output_shape(input_shape) if name in self.pooled else input_shape
            yield Step(name, layer, arrived, applied(name, layer, arrived))
