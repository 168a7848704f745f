"""The common base of image models: classifier, attention between all patches, conversion of maps to rows of patches and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

from paramsym.algebra.convolution import over, up_over
from paramsym.algebra.size import Axis, Count, Dim, canonical, per
from paramsym.algebra.symbols import N
from paramsym.core.declared import Declared
from paramsym.core.layer import Part
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import learned
from paramsym.models.blocks import FeedForward, Holder, activation
from paramsym.models.key_kinds import Sizes
from paramsym.models.model import Ignored, Model
from paramsym.program import Own, Value, copies, join, known, pad, rearrange, reduce, resample, take

_Extent = TypeVar("_Extent")


def pair(size: _Extent | tuple[_Extent, _Extent]) -> tuple[_Extent, _Extent]:
    """Return height and width, which may be given as one number."""
    return size if isinstance(size, tuple) else (size, size)


class Classifying(Model):
    """A model with an optional classifier of images, abstract; with ``num_labels`` 0 the reference stores none."""

    _: KW_ONLY
    num_labels: Count | None = None

    ignored: ClassVar[Ignored] = {"there is no word table": "tie_word_embeddings"}

    @property
    def base_name(self) -> str:
        """The name of the base model; empty if it is the whole model."""
        return self.kind.lower() if self.task else ""

    def classifier(self, width: Dim, *names: str) -> Iterator[Part]:
        """Yield the classifier of vectors, or one under each of ``names``, if there are labels."""
        labels = self.num_labels
        if labels is not None and labels != 0 and self.architecture.endswith(self.labelled):
            yield from (Part(name, Dense(width, labels)) for name in names or ("classifier",))


def no_labels(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Without labels the reference stores no classifier, and their number is not a letter."""
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


def feed_forward(width: Dim, inner: Dim, function: str) -> FeedForward:
    """Return a feed-forward network: ``fc1`` (F, H) and ``fc2`` (H, F) with biases, and the activation if it has parameters.

    >>> from paramsym.algebra.symbols import F, H
    >>> feed_forward(H, F, "gelu").params
    2*F*H + F + H
    """
    layers = {**learned("activation_fn", function), "fc1": Dense(width, inner), "fc2": Dense(inner, width)}
    return FeedForward(layers, function, names=("fc1", "activation_fn", "fc2"))


def convolved(near: Dim, far: Dim, kernel: int, function: str = "relu", *, stride: int = 1) -> Convolved:
    """Return a convolution without bias, its normalisation by batch, and its activation if it has parameters.

    >>> from paramsym.algebra.symbols import C, H
    >>> convolved(C, H, 3).params
    9*C*H + 2*H
    """
    convolution = Conv2d(near, far, kernel, stride=stride, padding=kernel // 2, bias=False)
    layers = {"convolution": convolution, "normalization": BatchNorm2d(far), **learned("activation", function)}
    return Convolved(layers, function)


class Convolved(Holder):
    """A ``convolution``, its ``normalization``, and the activation ``function``; ``linear`` is the identity."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        return activation(own, self.function, own.normalization(own.convolution(x)), "activation")


@dataclass(frozen=True)
class ChannelsFirst(LayerNorm):
    """A normalisation of the channels at every position of a map or of a signal, which holds them first."""

    def forward(self, own: Own, x: Value) -> Value:
        return rearrange(super().forward(own, rearrange(x, "b c ... -> b ... c")), "b ... c -> b c ...")


def in_row(x: Value, *extents: Axis) -> Value:
    """Return a map as a sequence: (batch, width, height, width) to (batch, positions, width); ``extents`` are the map's, if known."""
    x = known(x, *x.type.shape[:2], *extents) if extents else x
    return rearrange(x, "b c h w -> b (h w) c")


def on_map(x: Value, extents: tuple[Dim, Dim]) -> Value:
    """Return a sequence of positions as a map: (batch, positions, width) to (batch, width, height, width)."""
    return rearrange(x, "b (h w) c -> b c h w", h=extents[0], w=extents[1])


def filled(x: Value, parts: tuple[Dim, ...]) -> Value:
    """Return maps whose last axes are extents and channels, padded with zeros to whole numbers of parts."""
    extents = x.sizes[-1 - len(parts) : -1]
    rest = ((0, canonical(size * up_over(length, size) - length)) for length, size in zip(extents, parts, strict=True))
    return pad(x, (*rest, (0, 0)))


class Merging(Declared):
    """Four neighbours joined and their width halved; the first version normalises before, the second after it."""

    width: Dim
    second: bool = False

    def parts(self) -> Iterator[Part]:
        yield Part("reduction", Dense(canonical(4 * self.width), canonical(2 * self.width), bias=False))
        yield Part("norm", LayerNorm(canonical((2 if self.second else 4) * self.width)))

    def forward(self, own: Own, x: Value) -> Value:
        """Half the height and the width, rounded up: the map is padded with zeros."""
        x = rearrange(filled(x, (2, 2)), "... (h y) (w x) c -> ... h w (x y c)", y=2, x=2)
        return own.norm(own.reduction(x)) if self.second else own.reduction(own.norm(x))


def patches_of(x: Value, image: tuple[Dim, Dim], patch: tuple[Dim, Dim]) -> tuple[Dim, Dim]:
    """Return the numbers of patches down and across (batch, channels, height, width): exact quotients for images of the stated size."""
    sizes = zip(x.sizes[2:], image, patch, strict=True)
    down, across = (canonical(per(stated, size) if length == canonical(stated) else over(length, size)) for length, stated, size in sizes)
    return down, across


def fitted(positions: Value, first: int, stated: tuple[Dim, Dim], found: tuple[Dim, Dim]) -> Value:
    """Return positions (1, first + places, width) for a map of other extents: all but the ``first`` are interpolated."""
    if tuple(map(canonical, stated)) == found:
        return positions
    places = take(positions, 1, first, canonical(stated[0] * stated[1]))
    return join(take(positions, 1, 0, first), in_row(resample("cubic", on_map(places, stated), found, (None, None))), axis=1)


def behind(token: Value, x: Value) -> Value:
    """Put a token, (1, 1, width), in front of each row: (batch, positions, width) to (batch, places + 1, width)."""
    return join(copies(token, x.sizes[0], axis=0), x, axis=1)


def mean_of_places(x: Value, first: int) -> Value:
    """Return the mean of the positions from ``first`` on: (batch, positions, width) to (batch, width)."""
    return reduce("mean", take(x, 1, first, canonical(x.sizes[1] - first)) if first else x, 1)


def masked(x: Value, token: Value, mask: Value) -> Value:
    """Replace the patches that a mask, (batch, positions), marks with 1 by a token."""
    hidden = rearrange(mask, "b s -> b s ()")
    return x * (1 - hidden) + token * hidden
