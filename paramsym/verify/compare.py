"""The comparison: one row per tensor, without exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from math import prod
from typing import Literal, TypeAlias

from sympy import Expr, Integer

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, text
from paramsym.core.layer import Layer
from paramsym.core.names import Entry
from paramsym.verify.slices import Piece, slice_of, stacked
from paramsym.verify.stored import SCALED, Packed, Shape, Stored, kind
from paramsym.verify.templates import Template, templates

Outcome: TypeAlias = Literal[
    "equal",
    "tied",
    "packed",
    "left out",
    "transposed",
    "wrong shape",
    "wrong tie",
    "wrong kind",
    "wrong dtype",
    "wrong packing",
    "missing",
    "unexpected",
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
        self.sources: dict[str, list[str]] = {}
        for name, names in targets.items():
            sliced = slice_of(names)
            for target in names if sliced is None else (sliced[0],):
                self.sources.setdefault(target, []).append(name)
        self.tied = _tied_in_layer_names(stored, targets)
        self.aliases_of: dict[str, list[str]] = {}
        for entry in self.entries.values():
            if entry.alias_of:
                self.aliases_of.setdefault(entry.alias_of, []).append(entry.name)

    @cached_property
    def scaled(self) -> bool:
        """Whether some weights have 8 bits and a scale."""
        return any(packed.scheme == SCALED for packed in self.stored.packed.values())

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
        sources = self.sources.get(name, (piece.stored_name,))
        packed = self.stored.packed.get(piece.stored_name)
        if packed is not None:
            faults = (fault for source in sources if source in self.stored.packed for fault in self.stored.packed[source].faults)
            dtype = self.stored.dtypes.get(piece.stored_name, "") if packed.scheme == SCALED else ""
            note = f"packed by {packed.scheme}{f' ({dtype})' if dtype else ''}"
            return self._packed_row(TensorRow(name, "packed", expected, found, note), replace(packed, faults=tuple(dict.fromkeys(faults))))
        wrong = [axis for axis, pair in enumerate(zip(expected, found, strict=False)) if not self._fits(*pair)]
        if not wrong and len(expected) == len(found):
            words = self._wrong_dtype(name, sources)
            return TensorRow(name, "wrong dtype" if words else "equal", expected, found, words or note)
        order = _order(expected, found)
        if order is not None:
            return TensorRow(name, "transposed", expected, found, f"its axes are ordered as {order}" if len(order) > 2 else note)
        return TensorRow(
            name, "wrong shape", expected, found, self._explained(name, expected, found, wrong) + (f"; {note}" if note else "")
        )

    def _wrong_dtype(self, name: str, sources: Sequence[str]) -> str:
        """Return what is wrong with the numbers of a parameter: whole numbers, or numbers of 8 bits without the scale that others have."""
        if name in self.entries and self.entries[name].tensor.buffer:
            return ""
        for dtype in (self.stored.dtypes.get(source, "") for source in sources):
            found = kind(dtype)
            if found == "float8" and self.scaled:
                return f"{dtype} without a scale, which other weights have"
            if found not in {"", "float", "float8"}:
                return f"{dtype}; a parameter is a real number, unless a known scheme packs it"
        return ""

    def _packed_row(self, row: TensorRow, packed: Packed) -> TensorRow:
        """Compare a packed tensor; a linear layer that stores its matrix transposed is packed with the axes of one that does not."""
        expected, found = row.expected or (), row.found or ()
        if packed.faults:
            return replace(row, outcome="wrong packing", found=found if packed.shapes else None, note="; ".join((row.note, *packed.faults)))
        if not packed.shapes:
            amount, entries = Polynomial.product(expected).constant, prod(found)
            right = amount is None or amount == entries  # a size that nothing determines may have any value
            note = f"{row.note}: {entries:,} entries" + ("" if right else f", not {amount:,}")
            return replace(row, outcome="packed" if right else "wrong shape", found=None, note=note)
        for shape in packed.shapes if found in packed.shapes else (found,):
            if len(expected) == len(shape) and all(self._fits(*pair) for pair in zip(expected, shape, strict=True)):
                return replace(row, found=shape)
        if (*expected[:-2], *reversed(expected[-2:])) != found:
            return replace(row, outcome="wrong shape", note=f"{row.note}; this is the unpacked shape")
        scope, _, last = row.name.rpartition(".")
        bias = self.entries.get(f"{scope}.bias" if scope else "bias")
        turned = last != "weight" or (bias is not None and bias.tensor.sizes == expected[-1:])
        return row if turned else replace(row, outcome="transposed")

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
