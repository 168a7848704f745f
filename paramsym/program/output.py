"""The output shape of a layer, from its forward pass; a size of None is a symbol on the way."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from sympy import Expr

from paramsym.algebra.size import Count, Shape
from paramsym.program.inputs import each_input, together
from paramsym.program.own import trace_layer
from paramsym.program.statement import Statement
from paramsym.program.types import ArrayType, Open, opened


def types_of(input_shape: Shape) -> tuple[ArrayType, ...]:
    """Return the types of the inputs; a size of None becomes a new symbol."""
    taken = {symbol.name for symbol in _open_in(input_shape)}
    names = (name for number in count() if (name := f"open{number}") not in taken)
    shapes = each_input(input_shape)
    return tuple(ArrayType(tuple(opened(next(names)) if size is None else size for size in shape)) for shape in shapes)


def _open_in(input_shape: Shape) -> set[Open]:
    """Return the symbols of open sizes that an input shape already contains, as inside a larger program."""
    return {symbol for shape in each_input(input_shape) for size in shape if isinstance(size, Expr) for symbol in size.atoms(Open)}


class Closing:
    """Sizes of None as symbols, and the way back."""

    def __init__(self, input_shape: Shape) -> None:
        self.types = types_of(input_shape)
        self.stated = _open_in(input_shape)

    def __call__(self, types: Iterable[ArrayType]) -> Shape:
        """Return the shape of one result, or the shapes of several."""
        shapes = [tuple(None if self.open(size) else size for size in type_.sizes) for type_ in types]
        return together(*shapes) if shapes else ()

    def open(self, size: Count) -> bool:
        """Return whether a size depends on an open one: of the input, or of a part that states None."""
        return not isinstance(size, int) and any(isinstance(one, Open) and one not in self.stated for one in size.free_symbols)


def output_shape(layer: Statement, input_shape: Shape) -> Shape:
    """Return the output shape of the layer: from its forward pass, or, if it is opaque, as it states."""
    if not layer.computes:
        return layer.output_shape(input_shape)
    shapes_of = Closing(input_shape)
    return shapes_of(trace_layer(layer, *shapes_of.types).output_types)
