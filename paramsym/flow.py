"""Shapes of several inputs, and which layers of a model they reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from paramsym.errors import NotYetError, ShapeError
from paramsym.extents import after
from paramsym.size import Count, text

if TYPE_CHECKING:
    from paramsym.extents import View
    from paramsym.layer import Layer
    from paramsym.size import Shape


@dataclass(frozen=True)
class Step:
    """One layer applied: under which name, to what shape, with what shape as result, and how many times over.

    Equal copies that give back the shape they took are one step; ``used`` is how many of them one example goes through, ``stored`` how
    many there are.
    """

    name: str
    layer: Layer
    arrived: Shape
    left: Shape
    used: Count = 1
    stored: Count = 1


def each_input(shape: Shape) -> tuple[Shape, ...]:
    """Return the shapes of several inputs; of one, that one.

    >>> each_input((2, 3)), each_input(((2, 3), (2, 5)))
    (((2, 3),), ((2, 3), (2, 5)))
    """
    listed: tuple[object, ...] = shape
    several = bool(listed) and all(isinstance(entry, tuple) for entry in listed)
    return cast("tuple[Shape, ...]", listed) if several else (shape,)


def together(first: Shape, *others: Shape) -> Shape:
    """Return the shapes of several inputs as one value, which ``each_input`` takes apart; one input stays as it is."""
    return cast("Shape", (first, *others)) if others else first


def only_input(layer: Layer, shape: Shape) -> None:
    """Raise ``ShapeError`` where several inputs are given to a layer that takes one."""
    found = each_input(shape)
    if len(found) > 1 and not layer.takes_several:
        message = f"wanted one shape, for one input; found {len(found)}, {text(shape)}."
        raise ShapeError(message)


def in_turn(named: Iterable[tuple[str, Layer]], input_shape: Shape) -> Iterator[Step]:
    """Yield the applications of named layers, each fed by the one before.

    Of several inputs the first goes through the layers; the others go along to each that takes several, as what a decoder attends to.
    """
    shape, *others = each_input(input_shape)
    for name, layer in named:
        arrived = together(shape, *others) if layer.takes_several else shape
        left = applied(name, layer, arrived)
        yield Step(name, layer, arrived, left)
        shape = left


def seen(layers: Iterable[tuple[Layer, Count]]) -> tuple[View, ...]:
    """Return what one output entry sees through layers one after another, each so many times, along each spatial axis."""
    found: tuple[View, ...] = ()
    for layer, times in layers:
        found = after(found, tuple(view.repeated(times) for view in layer.views()))
    return found


def across(encoder: tuple[str, Layer], decoder: tuple[str, Layer], input_shape: Shape) -> Iterator[Step]:
    """Yield the applications of an encoder, to the source, and of a decoder, to the target and what the encoder gave.

    Source and target go in, or one shape for both.
    """
    source, *targets = each_input(input_shape)
    if len(targets) > 1:
        message = f"wanted at most two shapes, of source and target; found {1 + len(targets)}."
        raise ShapeError(message)
    memory = applied(*encoder, source)
    yield Step(*encoder, source, memory)
    attending = together(targets[0] if targets else source, memory)
    yield Step(*decoder, attending, applied(*decoder, attending))


def standing(name: str, layer: Layer, places: Shape) -> Step:
    """Return the application of a layer to the features of every position; its own sizes say which.

    Raises:
        NotYetError: a layer that does not say.
    """
    arrived = layer.reached(places)
    if arrived is None:
        message = f"{name}, of the kind {type(layer).__name__}, does not say what reaches it."
        raise NotYetError(message)
    return Step(name, layer, arrived, applied(name, layer, arrived))


def applied(name: str, layer: Layer, arrived: Shape) -> Shape:
    """Return what comes out of one part; an error says which part it was, by its whole path, and what arrived there."""
    try:
        only_input(layer, arrived)
        return layer.output_shape(arrived)
    except ShapeError as error:
        raise located(name, layer, arrived, error, ShapeError) from None


def located(name: str, layer: Layer, arrived: Shape, error: ShapeError, kind: type[ShapeError]) -> ShapeError:
    """Return the error with the whole path of the part, and with what arrived there; a part without a name leaves that to its parent."""
    if not name:
        return error
    inner: str = getattr(error, "part", "")
    reason: str = getattr(error, "reason", f"{type(layer).__name__}, which was given {text(arrived)}: {error}")
    path = f"{name}.{inner}" if inner else name
    found = kind(f"{path}, {'an' if reason[0] in 'AEIOU' else 'a'} {reason}")
    found.__dict__.update(error.__dict__)
    found.__dict__.update(part=path, reason=reason)
    return found
