"""What models that see images share: their classifier, attention of all patches to all, images in rows of patches and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

from paramsym.extents import over
from paramsym.layer import Part
from paramsym.layers.dense import Dense
from paramsym.models.activations import learned
from paramsym.models.blocks import Holder, activation
from paramsym.models.keys import Sizes
from paramsym.models.model import Ignored, Model, key
from paramsym.program import ALL, Mask, Own, Value, attend, copies, heads, join, known, rearrange, reduce, resample, take
from paramsym.size import Axis, Count, Dim, canonical, per
from paramsym.symbols import C, N

_Extent = TypeVar("_Extent")


def pair(size: _Extent | tuple[_Extent, _Extent]) -> tuple[_Extent, _Extent]:
    """Return height and width of what may be given as one number."""
    return size if isinstance(size, tuple) else (size, size)


@dataclass(frozen=True)
class Classifying(Model):
    """A model that may end in a classifier of images, abstract; with ``num_labels`` 0 the reference stores none."""

    _: KW_ONLY
    num_labels: Count | None = None

    ignored: ClassVar[Ignored] = {"there is no word table": "tie_word_embeddings"}

    @property
    def base_name(self) -> str:
        """The name of the base model; empty where it is the whole model."""
        return self.kind.lower() if self.task else ""

    def classifier(self, width: Dim, *names: str) -> Iterator[Part]:
        """Yield the classifier of vectors, or one under each of ``names``, where there are labels."""
        labels = self.num_labels
        if labels is not None and labels != 0 and self.architecture.endswith(self.labelled):
            yield from (Part(name, Dense(width, labels)) for name in names or ("classifier",))


@dataclass(frozen=True)
class ImageModel(Classifying):
    """A model that sees images of C channels, abstract."""

    num_channels: Dim = key(C, 3)


def no_labels(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Without labels the reference stores no classifier: their number is then no letter."""
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


@dataclass(frozen=True)
class Attention(Holder):
    """Attention in heads: ``q_proj``, ``k_proj``, ``v_proj`` and an output. All positions see each other, but what a ``mask`` hides."""

    _: KW_ONLY
    output: str = "o_proj"
    mask: Mask = ALL

    def forward(self, own: Own, x: Value, *bias: Value) -> Value:
        """Project, attend; what is given as ``bias`` is added to the scores."""
        query, key, value = (heads(own[name](x)) for name in ("q_proj", "k_proj", "v_proj"))
        return own[self.output](attend(query, key, value, mask=self.mask, bias=bias[0] if bias else None))


@dataclass(frozen=True)
class FeedForward(Holder):
    """A feed-forward network: ``fc2`` of the activated ``fc1``; an activation that learns is ``activation_fn``."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """Up, the activation, down."""
        return own.fc2(activation(own, self.function, own.fc1(x), "activation_fn"))


def feed_forward(width: Dim, inner: Dim, function: str) -> FeedForward:
    """Return a feed-forward network: ``fc1`` (F, H) and ``fc2`` (H, F) with biases, and what the activation learns.

    >>> from paramsym.symbols import F, H
    >>> feed_forward(H, F, "gelu").params
    2*F*H + F + H
    """
    return FeedForward({**learned("activation_fn", function), "fc1": Dense(width, inner), "fc2": Dense(inner, width)}, function)


def in_row(x: Value, *extents: Axis) -> Value:
    """Return a map as a row: (batch, width, height, width) to (batch, places, width); ``extents`` are those of the map, where known."""
    x = known(x, *x.type.shape[:2], *extents) if extents else x
    return rearrange(x, "b c h w -> b (h w) c")


def on_map(x: Value, extents: tuple[Dim, Dim]) -> Value:
    """Return a row of places as a map again: (batch, places, width) to (batch, width, height, width)."""
    return rearrange(x, "b (h w) c -> b c h w", h=extents[0], w=extents[1])


def patches_of(x: Value, image: tuple[Dim, Dim], patch: tuple[Dim, Dim]) -> tuple[Dim, Dim]:
    """Return how many patches lie down and across (batch, channels, height, width): exact quotients for images of the stated size."""
    sizes = zip(x.sizes[2:], image, patch, strict=True)
    down, across = (canonical(per(stated, size) if length == canonical(stated) else over(length, size)) for length, stated, size in sizes)
    return down, across


def fitted(positions: Value, first: int, stated: tuple[Dim, Dim], found: tuple[Dim, Dim]) -> Value:
    """Return positions (1, first + places, width) for a map of other extents: all but the ``first`` interpolated, as the reference does."""
    if tuple(map(canonical, stated)) == found:
        return positions
    places = take(positions, 1, first, canonical(stated[0] * stated[1]))
    return join(take(positions, 1, 0, first), in_row(resample("cubic", on_map(places, stated), found, (None, None))), axis=1)


def behind(token: Value, x: Value) -> Value:
    """Put a token, (1, 1, width), in front of each row: (batch, places, width) to (batch, places + 1, width)."""
    return join(copies(token, x.sizes[0], axis=0), x, axis=1)


def mean_of_places(x: Value, first: int) -> Value:
    """Return the mean of the places from ``first`` on: (batch, places, width) to (batch, width)."""
    return reduce("mean", take(x, 1, first, canonical(x.sizes[1] - first)) if first else x, 1)


def masked(x: Value, token: Value, mask: Value) -> Value:
    """Put a token in the place of the patches that a mask, (batch, places), marks with 1."""
    hidden = rearrange(mask, "b s -> b s ()")
    return x * (1 - hidden) + token * hidden
