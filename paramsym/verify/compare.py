"""The comparison: one row per tensor, without exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Literal, TypeAlias

from sympy import Expr, Integer

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, text
from paramsym.core.layer import Entry, Layer
from paramsym.verify.slices import Piece, slice_of, stacked
from paramsym.verify.stored import Shape, Stored
from paramsym.verify.templates import Template, templates

Outcome: TypeAlias = Literal[
    "equal", "tied", "packed", "left out", "transposed", "wrong shape", "wrong tie", "wrong kind", "missing", "unexpected"
]
GOOD: tuple[Outcome, ...] = ("equal", "tied", "packed", "left out")
_MOST_AXES = 8  # permutations of more axes are not tried


@dataclass(frozen=True)
class TensorRow:
    """One tensor: its name in the layer (an unexpected one: in the source), the outcome, both shapes, and a note."""

    name: str
    outcome: Outcome
    expected: tuple[Dim, ...] | None = None
    found: Shape | None = None
    note: str = ""


def compare_tensors(layer: Layer, stored: Stored, targets: Mapping[str, tuple[str, ...]]) -> tuple[TensorRow, ...]:
    """Compare a layer's entries with the stored tensors; ``targets`` maps these to names in the layer."""
    return tuple(_Comparison(layer, stored, targets).rows())


class _Comparison:
    """The tables that the rows are made from."""

    def __init__(self, layer: Layer, stored: Stored, targets: Mapping[str, tuple[str, ...]]) -> None:
        self.layer = layer
        self.stored = stored
        self.entries = {entry.name: entry for entry in layer.entries()}
        self.segments_of = _segments_of(self.entries)
        self.segments = {segment: shape for found in self.segments_of.values() for segment, shape in found.items()}
        self.pieces: dict[str, Piece] = {}
        self.open: dict[Dim, int] = {}
        for name, names in targets.items():
            if slice_of(names) is None:
                self.pieces.update(self._pieces(name, stored.shapes[name], names))
        self.pieces |= stacked(stored.shapes, targets)
        self.tied = _tied_in_layer_names(stored, targets)
        self.aliases_of: dict[str, list[str]] = {}
        for entry in self.entries.values():
            if entry.alias_of:
                self.aliases_of.setdefault(entry.alias_of, []).append(entry.name)

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        return templates(self.layer.origin[0])

    def rows(self) -> Iterator[TensorRow]:
        """Yield a row per tensor of the layer in storage order, then one per unexpected tensor."""
        for entry in self.entries.values():
            yield from self._rows_of(entry)
        for target, piece in self.pieces.items():
            if target not in self.entries and not (target in self.segments and target.partition("[")[0] not in self.pieces):
                called = f"renamed to {target}" if piece.stored_name != target else piece.note
                yield TensorRow(piece.stored_name, "unexpected", None, self.stored.shapes[piece.stored_name], called)

    def _rows_of(self, entry: Entry) -> Iterator[TensorRow]:
        parts = self.segments_of.get(entry.name, {}) if entry.name not in self.pieces else {}
        if any(name in self.pieces for name in parts):
            for name, shape in parts.items():
                piece = self.pieces.get(name)
                yield TensorRow(name, "missing", shape) if piece is None else self._row(name, shape, piece)
            return
        piece = self.pieces.get(entry.name)
        if piece is None:
            row = self._absent(entry)
            if row is not None:
                yield row
            return
        row = self._row(entry.name, entry.tensor.sizes, piece)
        yield self._as_shared(entry, row) if row.outcome == "equal" else row

    def _absent(self, entry: Entry) -> TensorRow | None:
        expected = entry.tensor.sizes
        if entry.tensor.buffer and not (self.stored.complete and entry.tensor.persistent):
            return TensorRow(entry.name, "left out", expected, None, "a buffer") if entry.tensor.persistent else None
        if entry.alias_of:
            if self.stored.names_aliases:
                return TensorRow(entry.name, "missing", expected, None, f"tied to {entry.alias_of} in the layer")
            return TensorRow(entry.name, "tied", expected, None, f"= {entry.alias_of}")
        second = next((name for name in self.aliases_of.get(entry.name, ()) if name in self.pieces), None)
        if second is not None and not self.stored.names_aliases:
            row = self._row(entry.name, expected, self.pieces[second])
            return replace(row, note=row.note or f"stored as {second}")
        return TensorRow(entry.name, "missing", expected)

    def _as_shared(self, entry: Entry, row: TensorRow) -> TensorRow:
        """Check that a tensor of the right shape is tied as in the layer, and is a buffer on both sides or on none."""
        name = row.name
        if self.tied is not None:
            here, there = entry.alias_of or name, self.tied.get(name, name)
            if entry.alias_of and here in self.pieces and self.tied.get(here, here) != there:
                return replace(row, outcome="wrong tie", note=f"a separate tensor; the layer ties it to {here}")
            firsts = self.entries[there].alias_of or there if there in self.entries else there
            if there != name and firsts != here:
                return replace(row, outcome="wrong tie", note=f"the same tensor as {there}; the layer counts both")
        if entry.alias_of:
            return replace(row, outcome="tied", note=f"= {entry.alias_of}")
        if self.stored.kinds and entry.tensor.buffer != (self.pieces[name].stored_name in self.stored.buffers):
            words = "a parameter here, a buffer in the layer" if entry.tensor.buffer else "a buffer here, a parameter in the layer"
            return replace(row, outcome="wrong kind", note=words)
        return row

    def _row(self, name: str, expected: tuple[Dim, ...], piece: Piece) -> TensorRow:
        found = piece.shape
        if found is None:
            return TensorRow(name, "wrong shape", expected, self.stored.shapes[piece.stored_name], piece.note)
        note = piece.note or (f"stored as {piece.stored_name}" if piece.stored_name != name else "")
        scheme = self.stored.packed.get(piece.stored_name)
        if scheme is not None:
            return self._packed_row(name, expected, piece, scheme)
        wrong = [axis for axis, pair in enumerate(zip(expected, found, strict=False)) if not self._fits(*pair)]
        if not wrong and len(expected) == len(found):
            return TensorRow(name, "equal", expected, found, note)
        order = _order(expected, found)
        if order is not None:
            return TensorRow(name, "transposed", expected, found, f"its axes are ordered as {order}" if len(order) > 2 else note)
        return TensorRow(
            name, "wrong shape", expected, found, self._explained(name, expected, found, wrong) + (f"; {note}" if note else "")
        )

    def _packed_row(self, name: str, expected: tuple[Dim, ...], piece: Piece, scheme: str) -> TensorRow:
        entries = self.stored.entries.get(piece.stored_name)
        if entries is not None:
            amount = Polynomial.product(expected).constant
            right = amount is None or amount == entries  # a size that nothing determines may have any value
            note = f"packed by {scheme}: {entries:,} entries" + ("" if right else f", not {amount:,}")
            return TensorRow(name, "packed" if right else "wrong shape", expected, None, note)
        found = piece.shape or ()
        fits = len(expected) == len(found) and all(self._fits(*pair) for pair in zip(expected, found, strict=True))
        if fits or _order(expected, found) is not None:
            return TensorRow(name, "packed", expected, found, f"packed by {scheme}")
        return TensorRow(name, "wrong shape", expected, found, f"packed by {scheme}; this is the unpacked shape")

    def _fits(self, expected: Dim, found: int) -> bool:
        """Compare an extent; a formula without a known size must at least be the same number everywhere."""
        if isinstance(expected, Expr):
            return found > 0 and self.open.setdefault(expected, found) == found
        return expected == found

    def _explained(self, name: str, expected: tuple[Dim, ...], found: Shape, wrong: list[int]) -> str:
        if len(expected) != len(found):
            return f"{len(found)} {'axis' if len(found) == 1 else 'axes'}, not {len(expected)}"
        formulas = self._formulas(name)
        words = []
        for axis in wrong:
            formula = formulas[axis] if axis < len(formulas) else None
            label = f" ({text(formula)})" if isinstance(formula, Expr) else ""
            words.append(f"axis {axis}{label} is {found[axis]}, not {self.open.get(expected[axis], expected[axis])}")
        return "; ".join(words)

    def _formulas(self, name: str) -> tuple[Dim, ...]:
        """The symbolic sizes of a tensor, from the layer before sizes were put in."""
        if name in self.segments:
            return ()
        for template in self.templates:
            numbers = template.numbers_in(name)
            if numbers is not None:
                return template.sizes(numbers)
        return ()

    def _pieces(self, name: str, found: Shape, names: tuple[str, ...]) -> Iterator[tuple[str, Piece]]:
        """Split a stored tensor into separate tensors of the layer."""
        if len(names) < 2:
            yield from ((target, Piece(name, found)) for target in names)
            return
        wanted = [self._expected(target) for target in names]
        known = [shape for shape in wanted if shape is not None]
        axis = seam(known, found) if len(known) == len(names) else None
        for target, shape in zip(names, wanted, strict=True):
            if axis is None or shape is None:
                parts = " + ".join(map(str, known))
                yield target, Piece(name, None, f"{name} {found} is not {parts} along one axis")
            else:
                yield target, Piece(name, tuple(int(extent) for extent in shape), f"stored inside {name}, along axis {axis}")

    def _expected(self, target: str) -> tuple[Dim, ...] | None:
        entry = self.entries.get(target)
        return entry.tensor.sizes if entry is not None else self.segments.get(target)


def segments(entry: Entry) -> Iterator[tuple[str, tuple[Dim, ...]]]:
    """Yield the labelled segments of a fused tensor with their shapes."""
    for line in entry.tensor.lines():
        if line.label:
            yield line.label, line.sizes


def _segments_of(entries: Mapping[str, Entry]) -> dict[str, dict[str, tuple[Dim, ...]]]:
    """Return the segments of every fused tensor by their full names; computed once for copies of a layer."""
    found: dict[int, list[tuple[str, tuple[Dim, ...]]]] = {}
    for entry in entries.values():
        if id(entry.tensor) not in found:
            found[id(entry.tensor)] = list(segments(entry))
    labelled = {name: found[id(entry.tensor)] for name, entry in entries.items() if found[id(entry.tensor)]}
    return {name: {f"{name}[{label}]": shape for label, shape in parts} for name, parts in labelled.items()}


def _tied_in_layer_names(stored: Stored, targets: Mapping[str, tuple[str, ...]]) -> dict[str, str] | None:
    if stored.tied is None:
        return None
    single = {name: names[0] for name, names in targets.items() if len(names) == 1}
    return {single[alias]: single[first] for alias, first in stored.tied.items() if alias in single and first in single}


def _order(expected: tuple[Dim, ...], found: Shape) -> tuple[int, ...] | None:
    """Return the order of the stored axes if only the order differs; Keras' order of torch's kernels is tried first."""
    if not 2 <= len(expected) <= _MOST_AXES or sorted(map(str, expected)) != sorted(map(str, found)):
        return None
    turned = (*range(2, len(expected)), 1, 0)
    for order in (turned, *permutations(range(len(expected)))):
        if tuple(expected[axis] for axis in order) == found:
            return order
    return None


def seam(shapes: Sequence[tuple[Dim, ...]], found: Shape) -> int | None:
    """Return the axis along which the shapes, joined, give the found one."""
    for axis in range(len(found)):
        joined = [
            len(shape) == len(found) and all(shape[other] == found[other] for other in range(len(found)) if other != axis)
            for shape in shapes
        ]
        if all(joined) and Integer(found[axis]) == sum((shape[axis] for shape in shapes), Integer(0)):
            return axis
    return None
