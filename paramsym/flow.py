"""Shapes through parts applied one after another, numbered copies in index order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, cast

from sympy import Integer

from paramsym.errors import NotYetError, ShapeError
from paramsym.extents import after
from paramsym.size import Count, canonical, text

if TYPE_CHECKING:
    from paramsym.extents import View
    from paramsym.layer import Layer, Part
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


def through(parts: Iterable[Part], input_shape: Shape) -> Shape:
    """Return the shape after all parts, each fed by the one before.

    Raises:
        ShapeError: names the part, and the shape that arrived at it; also where a symbolic number of copies would change the shape.
    """
    shape = each_input(input_shape)[0]
    for step in steps(parts, input_shape):
        shape = step.left
    return shape


def steps(parts: Iterable[Part], input_shape: Shape) -> Iterator[Step]:
    """Yield every application of the parts, each fed by the one before; equal copies that keep the shape are asked once.

    Of several inputs the first goes through the parts; the others go along to each part that takes several, as what a decoder attends to.
    """
    shape, *others = each_input(input_shape)
    for run in _runs(parts):
        for position, name in enumerate(run.names):
            arrived = together(shape, *others) if run.layer.takes_several else shape
            left = applied(name, run.layer, arrived)
            if left == shape and position == 0:
                yield Step(run.label, run.layer, arrived, left, run.used, run.stored)
                break
            if run.symbolic:
                message = f"{name}: a block that turns {text(shape)} into {text(left)} cannot be repeated a symbolic number of times."
                raise ShapeError(message)
            yield Step(name, run.layer, arrived, left, stored=0 if position and run.stored == 1 else 1)
            shape = left


def in_turn(named: Iterable[tuple[str, Layer]], input_shape: Shape) -> Iterator[Step]:
    """Yield the applications of named layers, each fed by the one before; several inputs as in ``steps``."""
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


def each_part(parts: Iterable[Part]) -> Iterator[tuple[Layer, Count]]:
    """Yield the layers of parts applied one after another, and how many times each is."""
    for run in _runs(parts):
        yield run.layer, run.used


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
        if not name:  # a part on its parent's own level: the parent's name is the better one
            raise
        inner: str = getattr(error, "part", "")
        reason: str = getattr(error, "reason", f"{type(layer).__name__}, which was given {text(arrived)}: {error}")
        path = f"{name}.{inner}" if inner else name
        located = ShapeError(f"{path}, a {reason}" if reason[0] not in "AEIOU" else f"{path}, an {reason}")
        located.__dict__.update(error.__dict__)
        located.__dict__.update(part=path, reason=reason)
        raise located from None


@dataclass(frozen=True)
class _Run:
    """Equal copies one after another: their names while they are numbers, and the template that stands for all of them."""

    label: str
    layer: Layer
    names: Iterable[str]
    used: Count = 1
    stored: Count = 1
    symbolic: bool = False


def _runs(parts: Iterable[Part]) -> Iterator[_Run]:
    numbered: list[Part] = []
    for part in parts:
        if part.numbers is not None:
            numbered.append(part)
            continue
        yield from _copies(numbered)
        numbered = []
        yield from _shared(part) if part.used is not None else [_Run(part.name, part.layer, (part.name,))]
    yield from _copies(numbered)


def _shared(part: Part) -> Iterator[_Run]:
    """Yield the uses of a block that is stored once."""
    used = cast("Count", part.used)
    names = repeat(part.name, used) if isinstance(used, int) else (part.name,)
    yield _Run(part.name, part.layer, names, used, symbolic=not isinstance(used, int))


def _copies(parts: list[Part]) -> Iterator[_Run]:
    if any(part.numbers is not None and part.numbers.values is None for part in parts):
        for part in parts:
            numbers = part.numbers
            assert numbers is not None  # noqa: S101 - for the type checker; only numbered parts come here
            used = numbers.count if part.used is None else part.used
            yield _Run(str(numbers), part.layer, (str(numbers),), canonical(used), numbers.count, symbolic=numbers.count != 1)
        return
    alternating = any(part.numbers is not None and part.numbers.step > 1 for part in parts)
    if not alternating:
        for part in parts:
            yield from _run(part)
        return
    placed = ((number, position) for position, part in enumerate(parts) for number in _values(part))
    for number, position in sorted(placed):
        yield _single(parts[position], number)


def _run(part: Part) -> Iterator[_Run]:
    """Yield the copies of one part: together, unless each depends on its number."""
    values, numbers = _values(part), part.numbers
    if numbers is None or not values:
        return
    if numbers.index is not None and numbers.index in part.layer.symbols:
        yield from (_single(part, number) for number in values)
        return
    used = len(values) if part.used is None else part.used
    yield _Run(str(numbers), part.layer, (numbers.name(number) for number in values), used, len(values))


def _single(part: Part, number: int) -> _Run:
    numbers, layer = part.numbers, part.layer
    assert numbers is not None  # noqa: S101 - for the type checker; only numbered parts come here
    if numbers.index is not None and numbers.index in layer.symbols:
        layer = layer.substituted({numbers.index: Integer(number)})
    name = numbers.name(number)
    return _Run(name, layer, (name,))


def _values(part: Part) -> range:
    return range(0) if part.numbers is None or part.numbers.values is None else part.numbers.values
