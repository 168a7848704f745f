"""The table of a network for an input: what reaches each part, what leaves it, what it stores and how often that is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, Shape, canonical, shown
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import NotYetError, ShapeError, SizeError
from paramsym.measure.neurons import connections_of
from paramsym.measure.shapes import canonical_shape, with_layer_name
from paramsym.measure.walk import Visit, checked_shape, units, visits
from paramsym.present.tabulate import PAPER, check_depth
from paramsym.render.table import Cell, Table


def summary(layer: Layer, input_shape: Iterable[Count | None], depth: int | None = None) -> Table:
    """Return a table with input shape, output shape, parameters, neurons and connections of every part, as text, HTML, LaTeX or Markdown.

    ``depth`` stops at the parts of that depth; by default every layer that is applied has a row, equal copies one together. Where a layer
    does not say how often its weights are used the connections stay open, and so does their sum. Neurons are those of layers that store
    weights. A last row takes back what tied weights would count twice.

    Raises:
        ShapeError: an input shape that the layer cannot take.
        ArgumentError: a depth below zero; what is no layer.

    >>> from paramsym import B, Conv2d, Dense, Flatten, Sequential
    >>> print(summary(Sequential(Conv2d(1, 6, 5), Flatten(), Dense(3456, 10)), (B, 1, 28, 28)))
    Sequential for an input of (B, 1, 28, 28)
    part   layer    input           output          parameters  neurons  connections
    --------------------------------------------------------------------------------
    0      Conv2d   (B, 1, 28, 28)  (B, 6, 24, 24)         156    3,456       89,856
    1      Flatten  (B, 6, 24, 24)  (B, 3456)                0                     0
    2      Dense    (B, 3456)       (B, 10)             34,570       10       34,570
    --------------------------------------------------------------------------------
    total           (B, 1, 28, 28)  (B, 10)             34,726    3,466      124,426
    """
    check_layer(layer)
    check_depth(depth)
    shape = checked_shape(input_shape)
    try:
        found = list(visits(layer, shape, depth))
        left = canonical_shape(layer.output_shape(shape))
    except ShapeError as error:
        raise with_layer_name(layer, shape, error) from None
    entries = [_Entry(visit) for visit in found]
    rows = [entry.row() for entry in entries]
    total = canonical(layer.params)
    twice = (Polynomial.of(layer.params) - Polynomial.total(Polynomial.of(entry.parameters) for entry in entries)).as_expr()
    if twice != 0:
        rows.append(("shared", "", None, None, canonical(twice), None, None))
    totals = (_sum([entry.neurons for entry in entries]), _sum([entry.connections for entry in entries]))
    columns = ("part", "layer", "input", "output", "parameters", "neurons", "connections")
    footer: tuple[Cell, ...] = ("total", "", _shape(shape), _shape(left), total, *totals)
    return Table(columns, tuple(rows), footer, f"{type(layer).__name__} for an input of {shown(shape)}", PAPER)


class _Entry:
    """One row: a visit and what is counted for it."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        layer = visit.layer
        own = [tensor for tensor in layer.own_tensors if not tensor.buffer]
        whole = Polynomial.total(Polynomial.product(tensor.sizes) for tensor in own).as_expr() if visit.own else layer.params
        self.parameters = canonical(whole * visit.stored)
        found = units(visit.left, visit.batch_axis)
        weighs = whole != 0 and not visit.own
        self.neurons: Dim | None = canonical(found * visit.used) if weighs and found is not None else (None if weighs else 0)
        try:
            self.connections: Dim | None = connections_of(visit)
        except (NotYetError, SizeError):  # a layer that does not say, or an extent that is not known
            self.connections = None

    def row(self) -> tuple[Cell, ...]:
        """Return the cells; layers without weights have no neurons of their own."""
        visit = self.visit
        kind = type(visit.layer).__name__.lstrip("_")
        shapes = (_shape(canonical_shape(visit.arrived)), _shape(canonical_shape(visit.left)))
        return (visit.path or kind, kind, *shapes, self.parameters, self.neurons or None, self.connections)


def _shape(shape: Shape) -> Cell:
    """Return a shape as a cell; one with unknown extents, or several, as words."""
    plain = all(extent is not None and not isinstance(extent, tuple) for extent in shape)
    return cast("Cell", shape) if plain else shown(shape)


def _sum(amounts: list[Dim | None]) -> Dim | None:
    known = [amount for amount in amounts if amount is not None]
    return None if len(known) < len(amounts) else canonical(Polynomial.total(map(Polynomial.of, known)).as_expr())
