"""The widths of lazy layers, which follow from the shape of the input."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paramsym.algebra.size import Shape
from paramsym.core.layer import Layer
from paramsym.layers.lazy import LazyDense
from paramsym.measure.walk import rebuilt, visits

_NUMBERS = re.compile(r"\{(\d+)(?:,(\d+))?\.\.(\d+)\}")
_SYMBOLS = re.compile(r"\{[^}]*\}")


def with_widths(layer: Layer, shape: Shape) -> Layer:
    """Return the layer with every ``LazyDense`` built for the width of its input, for a checked input shape.

    Raises:
        ShapeError: an input shape that the layer cannot take.
    """
    if isinstance(layer, LazyDense):
        return layer.built(layer.width(shape))
    lazy = [(visit.path, visit.layer, visit.arrived) for visit in visits(layer, shape) if isinstance(visit.layer, LazyDense)]
    for template, built in {path: part.built(part.width(arrived)) for path, part, arrived in lazy}.items():
        for path in _copies(template):
            layer = rebuilt(layer, path, built)
    return layer


def _copies(path: str) -> Iterator[str]:
    """Yield the path of each copy of a template such as ``blocks.{0..2}``; for a symbolic number, the path for all."""
    found = _NUMBERS.search(path)
    if found is None:
        yield _SYMBOLS.sub("{}", path)
        return
    first, second, last = found.groups()
    step = 1 if second is None else int(second) - int(first)
    for number in range(int(first), int(last) + 1, step):
        yield from _copies(f"{path[: found.start()]}{number}{path[found.end() :]}")
