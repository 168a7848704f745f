"""What shape comes out of a layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from paramsym.errors import ShapeError
from paramsym.layer import Layer
from paramsym.size import Count, Shape, canonical, count


def output_shape(layer: Layer, input_shape: Iterable[Count | None]) -> Shape:
    """Return the shape that comes out for a shape that goes in, batch first; symbols in, symbols out.

    An extent that is not known may be None, and stays None where it passes through.

    Raises:
        ShapeError: an input shape that the layer cannot take; the message names the part, the shape that arrived and what was wanted.
        SizeError: an extent that is no size.
        NotYetError: a layer that does not say what comes out of it.

    >>> from paramsym import B, Conv2d, Dense, Sequential, W
    >>> output_shape(Conv2d(3, 6, 5), (B, 3, W, W))
    (B, 6, W - 4, W - 4)
    >>> output_shape(Dense(3, 4), (B, 3))
    (B, 4)
    """
    if isinstance(input_shape, str) or not isinstance(input_shape, Iterable):
        message = f"input_shape is {input_shape!r}; wanted a tuple such as (B, 3, W, W), batch first."
        raise ShapeError(message)
    extents = tuple(None if extent is None else count(extent, f"input_shape[{i}]") for i, extent in enumerate(input_shape))
    try:
        found = layer.output_shape(extents)
    except ShapeError as error:
        message = f"{type(layer).__name__}: {error}"
        raise ShapeError(message) from None
    return _settled(found)


def _settled(shape: Shape) -> Shape:
    """Return a shape, or the shapes of an output and its states, in canonical form."""
    listed: tuple[object, ...] = shape
    return cast("Shape", tuple(_settled(entry) if isinstance(entry, tuple) else _extent(entry) for entry in listed))


def _extent(entry: object) -> Count | None:
    return None if entry is None else canonical(cast("Count", entry))
