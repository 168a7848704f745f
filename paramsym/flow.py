"""Shapes through parts applied one after another, numbered copies in index order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sympy import Integer

from paramsym.errors import ShapeError
from paramsym.size import text

if TYPE_CHECKING:
    from paramsym.layer import Layer, Part
    from paramsym.size import Shape


def through(parts: Iterable[Part], input_shape: Shape) -> Shape:
    """Return the shape after all parts, each fed by the one before.

    Equal copies that give back the shape they took are asked once, however many there are.

    Raises:
        ShapeError: names the part, and the shape that arrived at it; also where a symbolic number of copies would change the shape.
    """
    shape, settled = input_shape, ""
    for name, key, layer in _in_order(parts):
        if key and key == settled:
            continue
        arrived = shape
        try:
            shape = layer.output_shape(arrived)
        except ShapeError as error:
            message = f"{name}: {error}" if hasattr(error, "part") else f"{name}, which was given {text(arrived)}: {error}"
            located = ShapeError(message)
            located.part = name  # type: ignore[attr-defined]
            raise located from None
        if key.startswith("{") and shape != arrived:
            message = f"{name}: a block that turns {text(arrived)} into {text(shape)} cannot be repeated a symbolic number of times."
            raise ShapeError(message)
        settled = key if shape == arrived else ""
    return shape


def _in_order(parts: Iterable[Part]) -> Iterator[tuple[str, str, Layer]]:
    """Yield name, key and layer of each application; copies that are the same block share a key, symbolic ones begin with a brace."""
    numbered: list[Part] = []
    for part in parts:
        if part.numbers is not None:
            numbered.append(part)
            continue
        yield from _copies(numbered)
        numbered = []
        yield part.name or type(part.layer).__name__, "", part.layer
    yield from _copies(numbered)


def _copies(parts: list[Part]) -> Iterator[tuple[str, str, Layer]]:
    if any(part.numbers is not None and part.numbers.values is None for part in parts):
        for position, part in enumerate(parts):
            single = part.numbers is not None and part.numbers.count == 1
            yield str(part.numbers), "" if single else f"{{{position}}}", part.layer
        return
    placed: Iterable[tuple[int, int]] = ((number, position) for position, part in enumerate(parts) for number in _values(part))
    alternating = any(part.numbers is not None and part.numbers.step > 1 for part in parts)
    for number, position in sorted(placed) if alternating else placed:
        part = parts[position]
        numbers, layer, key = part.numbers, part.layer, "" if alternating else str(position)
        if numbers is None:
            continue
        if numbers.index is not None and numbers.index in layer.symbols:
            layer, key = layer.substituted({numbers.index: Integer(number)}), ""
        yield numbers.name(number), key, layer


def _values(part: Part) -> range:
    return range(0) if part.numbers is None or part.numbers.values is None else part.numbers.values
