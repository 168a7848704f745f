"""What models that see images share: attention of all patches to all, images in rows of patches, and what stands before the patches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar

from paramsym.errors import ShapeError
from paramsym.extents import differ, over
from paramsym.layer import Layer
from paramsym.layers.axes import spatial
from paramsym.layers.dense import Dense
from paramsym.models.activations import learned
from paramsym.models.blocks import Holder, activation
from paramsym.program import ALL, Mask, Own, Value, attend, copies, heads, join, known, rearrange, reduce, resample, take
from paramsym.size import Axis, Dim, Shape, canonical, per, text
from paramsym.symbols import B

_Extent = TypeVar("_Extent")


def pair(size: _Extent | tuple[_Extent, _Extent]) -> tuple[_Extent, _Extent]:
    """Return height and width of what may be given as one number."""
    return size if isinstance(size, tuple) else (size, size)


class ImageModel(Layer):
    """A model that sees images, (batch, channels, height, width), of the one size that its positions are made for."""

    image_size: Any
    num_channels: Dim

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The images."""
        return {"pixel_values": (B, self.num_channels, *pair(self.image_size))}

    def checked(self, pixel_values: Value, *, any_size: bool = False) -> Value:
        """Return the images, after a check of their axes.

        Raises:
            ShapeError: other axes or channels, or another size, unless the model takes ``any_size``.
        """
        x, _ = spatial(pixel_values, 2, channels=self.num_channels, batched=True)
        if not any_size and any(map(differ, x.sizes[2:], pair(self.image_size))):
            message = f"the image is {text(x.sizes[2:])}; wanted {text(self.image_size)}."
            raise ShapeError(message)
        return x


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
