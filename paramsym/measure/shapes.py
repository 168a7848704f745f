"""Output shapes of layers, and the widths that follow from them."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, cast

from paramsym.algebra.size import Count, Shape, canonical
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import ShapeError
from paramsym.measure.inferring import with_widths
from paramsym.measure.readings import with_readings
from paramsym.measure.walk import inputs_asked
from paramsym.program import output


def output_shape(layer: Layer, *inputs: Iterable[Count | None] | None, **named: Any) -> Shape:
    """Return the output shape for an input shape, batch first, in symbols or numbers.

    A model also takes shapes by the names of its inputs, ``input_ids=(2, 16)``; without shapes, its own input shapes in letters are used.
    An unknown extent may be None, and stays None in the output. Layers of torch that take one example without a batch axis do so here. A
    recurrent layer that returns its states gives a tuple of shapes, the output's first.

    Raises:
        ShapeError: an input shape that the layer cannot take; the message names the part, its input shape and the wanted one, and, if an
            axis is missing, the readings that would work.
        SizeError: an extent that is not a size.
        NotYetError: a layer that states no output shape.

    >>> from paramsym import B, Conv2d, Dense, Sequential, W
    >>> output_shape(Conv2d(3, 6, 5), (B, 3, W, W))
    (B, 6, W - 4, W - 4)
    >>> output_shape(Dense(3, 4), (B, 3)), output_shape(Dense(3, 4), x=(B, 3))
    ((B, 4), (B, 4))
    """
    check_layer(layer)
    shape = inputs_asked(layer, inputs, named)
    with layer_named(layer, shape):
        return canonical_shape(output.output_shape(layer, shape))


def infer(layer: Layer, *inputs: Iterable[Count | None] | None, **named: Any) -> Layer:
    """Return the layer with every ``LazyDense`` built for the width of its input, which may be symbolic.

    Raises:
        ShapeError: an input shape that the layer cannot take.
        NotYetError: a composite that does not state the input shapes of its parts.

    >>> from paramsym import B, Conv2d, Flatten, LazyDense, Sequential, W
    >>> net = Sequential(Conv2d(1, 6, 5), Flatten(), LazyDense(10))
    >>> infer(net, (B, 1, W, W)).params
    60*W**2 - 480*W + 1126
    >>> infer(net, (B, 1, 28, 28)).count
    34726
    """
    check_layer(layer)
    shape = inputs_asked(layer, inputs, named)
    with layer_named(layer, shape):
        return with_widths(layer, shape)


@contextmanager
def layer_named(layer: Layer, input_shape: Shape) -> Generator[None]:
    """Add the layer's name to errors about shapes, and the readings if an axis is missing.

    Raises:
        ShapeError: the same error with more details.
    """
    try:
        yield
    except ShapeError as error:
        found = ShapeError(f"{type(layer).__name__}: {error}{with_readings(layer, input_shape, error)}")
        found.__dict__.update(error.__dict__)
        raise found from None


def canonical_shape(shape: Shape) -> Shape:
    """Return a shape, or the shapes of an output and its states, in canonical form."""
    listed: tuple[object, ...] = shape
    return cast("Shape", tuple(canonical_shape(entry) if isinstance(entry, tuple) else _extent(entry) for entry in listed))


def _extent(entry: object) -> Count | None:
    return None if entry is None else canonical(cast("Count", entry))
