"""The table of a network for an input: input and output shapes, parameters, neurons and connections of each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, groupby
from typing import Any, cast

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, Shape, canonical, product, shown
from paramsym.arguments import check_depth, check_flags
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import NotYetError, SizeError
from paramsym.measure.neurons import connections_of
from paramsym.measure.shapes import canonical_shape, layer_named
from paramsym.measure.walk import Visit, inputs_asked, units, visits
from paramsym.present.tabulate import PAPER
from paramsym.program.inputs import each_input
from paramsym.program.output import output_shape
from paramsym.render.table import Cell, Table


def summary(layer: Layer, *inputs: Iterable[Count | None] | None, depth: int | None = None, stages: bool = False, **named: Any) -> Table:
    """Return a table with input shape, output shape, parameters, neurons and connections of every part, as text, HTML, LaTeX or Markdown.

    ``depth`` stops at the parts of that depth; by default every layer that is applied has a row, equal copies share one. Where a layer
    does not state the uses of its weights, the cell of its connections is empty, and so is their sum. Neurons are those of layers with
    weights. A last row subtracts tied weights that were counted twice, or adds stored layers that are not applied, such as classifiers for
    training only.

    With ``stages`` there is one row for each size of the feature map, as in papers about image networks; it contains all layers whose
    output has this size. Layers that are applied to several maps, such as the heads of detectors, have one row, "100 x 100 to 7 x 7".

    Raises:
        ShapeError: an input shape that the layer cannot take.
        ArgumentError: a depth below zero; something that is not a layer.

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
    check_flags(stages=stages)
    shape = inputs_asked(layer, inputs, named)
    with layer_named(layer, shape):
        found = list(visits(layer, shape, depth))
        left = canonical_shape(output_shape(layer, shape))
    entries = [_Entry(visit) for visit in found]
    total = canonical(layer.params)
    twice = (Polynomial.of(layer.params) - Polynomial.total(Polynomial.of(entry.parameters) for entry in entries)).as_expr()
    word = "" if twice == 0 else "shared" if twice.could_extract_minus_sign() else "not applied"
    totals = (_sum([entry.neurons for entry in entries]), _sum([entry.connections for entry in entries]))
    counted = ("parameters", "neurons", "connections")
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    footer: tuple[Cell, ...]
    if stages:
        batches = frozenset(one[0] for one in each_input(shape) if one)
        columns, rows = ("size", "layers", "output", *counted), [_staged(sizes, some) for sizes, some in _stages(entries, batches)]
        footer = ("total", "", _shape(left), total, *totals)
    else:
        columns, rows = ("part", "layer", "input", "output", *counted), [entry.row() for entry in entries]
        footer = ("total", "", _shape(shape), _shape(left), total, *totals)
    if word:
        rows.append((word, *("", None, None)[: len(columns) - 4], canonical(twice), None, None))
    return Table(columns, tuple(rows), footer, f"{type(layer).__name__} for an input of {shown(shape)}", PAPER)


_LAST = {"Dense", "LayerNorm"}
"""Layers whose channels are the last axis."""


def _stages(entries: list[_Entry], batches: frozenset[Any]) -> Iterator[tuple[list[Shape], list[_Entry]]]:
    """Yield the rows of a table of stages: the sizes of the maps, and the layers.

    Layers that are applied to several maps have several sizes, such as the heads of detectors, which papers list once for all levels.
    """
    found: list[tuple[list[Shape], list[_Entry]]] = []
    for size, some in _by_size(entries, batches):
        if found and not any(entry.named for entry in some) and any(entry.connections != 0 for entry in some):
            found[-1][0].append(size)
            found[-1][1].extend(some)
        else:
            found.append(([size], some))
    yield from found


def _by_size(entries: list[_Entry], batches: frozenset[Any]) -> Iterator[tuple[Shape, list[_Entry]]]:
    """Group neighbouring layers by the size of their output map.

    Padding, and layers before the first layer with weights, belong to the next size. A single position in the middle of a network, such as
    the means of squeeze-and-excitation, is not a separate size. Branches that shrink a map are listed one after another; their layers
    before the stride belong to the larger size.
    """
    sizes = _sizes(entries, batches)
    last = max((position for position, size in enumerate(sizes) if any(extent != 1 for extent in size)), default=-1)
    first = next((position for position, entry in enumerate(entries) if entry.named), 0)
    for position in range(len(entries) - 2, -1, -1):
        inside = position < last and all(extent == 1 for extent in sizes[position])
        if inside or position < first or "Pad" in entries[position].kind:
            sizes[position] = sizes[position + 1]
    groups: list[tuple[Shape, list[_Entry]]] = []
    for size, some in groupby(zip(sizes, entries, strict=True), key=lambda pair: pair[0]):
        groups.append((size, [entry for _, entry in some]))
        if len(groups) > 3 and groups[-4][0] == groups[-2][0] and groups[-3][0] == groups[-1][0]:
            (_, larger), (_, smaller) = groups.pop(-2), groups.pop(-1)
            groups[-2][1].extend(larger)
            groups[-1][1].extend(smaller)
    yield from groups


def _sizes(entries: list[_Entry], batches: frozenset[Any]) -> list[Shape]:
    """Return the spatial extents of the map that every layer's output belongs to; features behind a map have one position.

    The outputs of convolutions and poolings are maps. The output of another layer is a map if it has the size of one, with its channels
    first or last, or if it is a sequence of a map's positions, with or without a class token. An output with windows or heads in the batch
    axis belongs to the map before it.
    """
    layers = [entry.visit.layer for entry in entries]
    keras = any(getattr(one, "data_format", "") == "channels_last" or getattr(one, "dialect", "torch") != "torch" for one in layers)
    left = [canonical_shape(each_input(entry.visit.left)[0]) for entry in entries]
    maps = [len(shape) > 2 and any(word in entry.kind for word in ("Conv", "Pool")) for entry, shape in zip(entries, left, strict=True)]
    plain = [shape[1:-1] if keras else shape[2:] for shape in left]
    rank = max((len(size) for size, is_map in zip(plain, maps, strict=True) if is_map), default=max(map(len, plain), default=0))
    known = dict.fromkeys(size for size, is_map in zip(plain, maps, strict=True) if is_map and len(size) == rank)
    found: list[Shape | None] = []
    for entry, shape, size, is_map in zip(entries, left, plain, maps, strict=True):
        if len(shape) <= 2:
            found.append((1,) * rank)
        elif shape[0] not in batches:
            found.append(None)
        elif len(size) == rank:
            fits = [size] if is_map else [one for one in (size, shape[1:-1]) if one in known]
            fits += [shape[1:-1] if entry.kind in _LAST else size] if entry.parameters != 0 else []
            known.update(dict.fromkeys(fits[:1]))
            found.append(next(iter(fits), None))
        else:
            found.append(next((one for one in known if len(shape) == 3 and _in_row(shape[1], one)), None))
    for entry, one in zip(entries, found, strict=True):
        entry.whole = one is not None
    first = next((size for size in found if size is not None), (1,) * rank)
    return list(accumulate(found, lambda before, size: before if size is None else size, initial=first))[1:]


def _in_row(length: Count | None, size: Shape) -> bool:
    """Whether a sequence has as many positions as a map, or one more for a class token."""
    places = product(size)
    return length in {places, canonical(places + 1)}


def _staged(sizes: list[Shape], entries: list[_Entry]) -> tuple[Cell, ...]:
    """Return the row of one or more sizes: the first and the last size, the applied layers by kind, the last output, the sums."""
    kinds: dict[str, Dim] = {}
    for entry in entries:
        if entry.named:
            kinds[entry.kind] = canonical(kinds.get(entry.kind, 0) + entry.visit.used)
    layers = ", ".join(kind if n == 1 else f"{n} {kind}" if isinstance(n, int) else f"({n}) {kind}" for kind, n in kinds.items())
    sums = (_sum([getattr(entry, one) for entry in entries]) for one in ("parameters", "neurons", "connections"))
    last = next((entry for entry in reversed(entries) if entry.whole), entries[-1])
    ends = sizes if len(sizes) == 1 else (sizes[0], sizes[-1])
    return (" to ".join(" x ".join(map(str, size)) for size in ends), layers, _shape(canonical_shape(last.visit.left)), *sums)


class _Entry:
    """One row: a visit, its counts, and whether its output is a whole map or a part of one, such as windows."""

    def __init__(self, visit: Visit) -> None:
        self.visit, self.whole = visit, True
        layer = visit.layer
        own = [tensor for tensor in layer.own_tensors if not tensor.buffer]
        whole = Polynomial.total(Polynomial.product(tensor.sizes) for tensor in own).as_expr() if visit.own else layer.params
        self.parameters = canonical(whole * visit.stored)
        found = units(visit.left, visit.batch_axis)
        weighs = whole != 0 and not visit.own
        self.neurons: Dim | None = canonical(found * visit.used) if weighs and found is not None else (None if weighs else 0)
        try:
            self.connections: Dim | None = connections_of(visit)
        except (NotYetError, SizeError):  # uses that a layer does not state, or an unknown extent
            self.connections = None

    @property
    def kind(self) -> str:
        return type(self.visit.layer).__name__.lstrip("_")

    @property
    def named(self) -> bool:
        """Whether a table of stages names the layer: it stores weights, or it pools."""
        return self.parameters != 0 or "Pool" in self.kind

    def row(self) -> tuple[Cell, ...]:
        visit, kind = self.visit, self.kind
        shapes = (_shape(canonical_shape(visit.arrived)), _shape(canonical_shape(visit.left)))
        return (visit.path or kind, kind, *shapes, self.parameters, self.neurons or None, self.connections)


def _shape(shape: Shape) -> Cell:
    """Return a shape as a cell; one with unknown extents, or several, as words."""
    plain = all(extent is not None and not isinstance(extent, tuple) for extent in shape)
    return cast("Cell", shape) if plain else shown(shape)


def _sum(amounts: list[Dim | None]) -> Dim | None:
    known = [amount for amount in amounts if amount is not None]
    return None if len(known) < len(amounts) else canonical(Polynomial.total(map(Polynomial.of, known)).as_expr())
