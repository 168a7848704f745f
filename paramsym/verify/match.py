"""A layer compared with existing tensors, one by one, with the axis and the symbol of each difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sympy import Expr, Symbol

from paramsym.algebra.size import Dim, symbols_in
from paramsym.core.layer import Layer, check_layer
from paramsym.core.spelling import is_dropped_buffer
from paramsym.errors import ArgumentError, ParamsymError
from paramsym.program.statement import class_name
from paramsym.render.table import Table
from paramsym.render.tabular import Tabular
from paramsym.verify.advice import advice
from paramsym.verify.compare import GOOD, Outcome, TensorRow, compare_tensors
from paramsym.verify.infer import Inferred, infer
from paramsym.verify.readers import read
from paramsym.verify.rename import Renaming, renamed
from paramsym.verify.report import headline, report, table
from paramsym.verify.slices import stacked
from paramsym.verify.spelling import respelt
from paramsym.verify.stored import Stored
from paramsym.verify.templates import Templates

_NAMED = 3  # the most names in a note


@dataclass(frozen=True)
class Match(Tabular):
    """A layer compared with stored tensors; true if everything agrees.

    ``missing``, ``mismatched`` and ``transposed`` are names in the layer, ``unexpected`` names in the source, all in storage order;
    ``rows`` and ``row(name)`` have the shapes and notes. ``sizes`` are those put in, or those that the shapes determined. Prints as
    text, and as a table in a notebook.
    """

    subject: str
    source: str
    rows: tuple[TensorRow, ...]
    sizes: Mapping[Symbol, Dim] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every tensor of the layer exists with its shape and ties, and no others."""
        return not self.problems and all(row.outcome in GOOD for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def _names(self, *outcomes: Outcome) -> tuple[str, ...]:
        return tuple(row.name for row in self.rows if row.outcome in outcomes)

    @property
    def equal(self) -> tuple[str, ...]:
        """Tensors of the same shape."""
        return self._names("equal")

    @property
    def tied(self) -> tuple[str, ...]:
        """Second names of tensors, stored or correctly left out."""
        return self._names("tied")

    @property
    def packed(self) -> tuple[str, ...]:
        """Quantised tensors whose shape or number of entries is right after unpacking."""
        return self._names("packed")

    @property
    def missing(self) -> tuple[str, ...]:
        """Tensors of the layer that are not stored."""
        return self._names("missing")

    @property
    def unexpected(self) -> tuple[str, ...]:
        """Stored tensors that the layer does not have."""
        return self._names("unexpected")

    @property
    def mismatched(self) -> tuple[str, ...]:
        """Tensors that differ: in shape, ties, dtype or packing, or because only one of the two sides has them as a buffer."""
        return self._names("wrong shape", "wrong tie", "wrong kind", "wrong dtype", "wrong packing")

    @property
    def transposed(self) -> tuple[str, ...]:
        """Tensors whose axes are in another order."""
        return self._names("transposed")

    def row(self, name: str) -> TensorRow:
        """Return the row of one tensor.

        Raises:
            KeyError: a name that neither the layer nor the source has.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def table(self) -> Table:
        """Return every tensor with its outcome; text, HTML, LaTeX, Markdown and CSV."""
        return table(self.rows, headline(self.subject, self.rows, self.problems))

    def __str__(self) -> str:
        return report(self.subject, self.rows, self.problems, self.notes)


def match(layer: Layer, shapes: Any, *, rename: Renaming | None = None, by: Literal["name", "order"] = "name") -> Match:
    """Compare the tensors that a layer states with existing ones.

    ``shapes`` is a torch, Keras or Flax module, a state dict, a tree of arrays, the path of a safetensors file or of a folder with its
    shards and their index, ``{name: shape}``, or another layer. Of files only headers are read; no weights are loaded. ``rename`` is a
    table ``{stored name: name in the layer}`` in which ``{}`` matches any text; several targets mean one fused tensor, ``name[label]`` one
    segment of a fused tensor of the layer, ``name[0]``, ``name[1]``, ... its slices along the first axis, None a tensor to leave out.
    ``rename="auto"`` reads the names of wrappers, older versions and transformers' own files, with or without the base model's prefix, and
    leaves out buffers that only older versions saved; the notes list the renamed tensors. If names do not fit, the notes of the report say
    whether "auto" would help, or which table. ``by="order"`` pairs tensors by their order instead, for sources such as Keras with generated
    names.

    If the layer has symbols, their values are solved from the shapes: ``sizes`` has the result, and an axis without a solution is a
    mismatch. Files may leave out aliases and buffers; a module may not.

    Raises:
        ArgumentError: something that is not a layer, or has no tensors; a wrong ``by``, or by order with a table.
        CheckpointError: a file that cannot be read or contradicts itself.
        UnknownNameError: a renaming rule without a matching tensor.

    >>> from paramsym import Dense, F, H
    >>> found = match(Dense(H, F), {"weight": (3072, 768), "bias": (3072,)})
    >>> found.ok, found.sizes
    (True, {F: 3072, H: 768})
    >>> print(match(Dense(H, F).at(H=768, F=3072), {"weight": (768, 3072), "bias": (3071,)}))
    Dense: 2 of 2 tensors do not match.
    tensor  outcome      expected     found        note
    ---------------------------------------------------------------------------
    weight  transposed   (3072, 768)  (768, 3072)
    bias    wrong shape  (3072,)      (3071,)      axis 0 (F) is 3071, not 3072
    """
    check_layer(layer, "Pass the layer first, and the tensors second.")
    stored = read(shapes)
    if by not in ("name", "order") or (by == "order" and rename is not None):
        message = f"by is {by!r}{' with a renaming table' if rename is not None else ''}; wanted 'name', or 'order' without a table."
        raise ArgumentError(message)
    names = Templates(layer)
    stored, targets, read_so = _read_so(layer, stored, names, rename, by)
    sizes, inferred = dict(layer.sizes), Inferred({})
    problems: list[str] = []
    sized = layer
    if layer.symbols:
        alone = {single[0]: stored.shapes[name] for name, single in targets.items() if len(single) == 1}
        together = {name: found.shape for name, found in stacked(stored.shapes, targets).items() if found.shape is not None}
        inferred = infer(layer, {**alone, **together})
        try:
            sized = layer.at(inferred.sizes) if inferred.sizes else layer
            sizes |= inferred.sizes
        except ParamsymError as error:
            values = ", ".join(f"{symbol} = {value}" for symbol, value in inferred.sizes.items())
            problems.append(f"the shapes give {values}, which is impossible: {error}")
    rows = compare_tensors(sized, stored, targets)
    notes = (*read_so, *inferred.contradictions, *_open(sized, rows))
    if by == "name" and any(row.outcome not in GOOD for row in rows):
        notes += tuple(advice(sized, names, stored, rows))
    by_name = dict(sorted(sizes.items(), key=lambda pair: pair[0].name))
    return Match(class_name(layer), stored.source, rows, by_name, tuple(problems), notes)


def _read_so(
    layer: Layer, stored: Stored, names: Templates, rename: Renaming | None, by: str
) -> tuple[Stored, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return the stored tensors, their names in the layer, and notes about respelt names."""
    if by == "order":
        return stored, _in_order(layer, stored), ()
    if rename != "auto":
        return stored, renamed(tuple(stored.shapes), rename), ()
    stored, notes = respelt(stored, names)
    dropped = [name for name in stored.shapes if name not in names and is_dropped_buffer(name)]
    if dropped:
        notes += (f"{', '.join(dropped[:_NAMED])}{', ...' if len(dropped) > _NAMED else ''}: left out, a buffer of older versions",)
    return stored, {name: () if name in dropped else (name,) for name in stored.shapes}, tuple(f"{note}." for note in notes)


def _in_order(layer: Layer, stored: Stored) -> dict[str, tuple[str, ...]]:
    names = list(layer.shapes(buffers=True))
    return {name: (names[position] if position < len(names) else name,) for position, name in enumerate(stored.shapes)}


def _open(layer: Layer, rows: tuple[TensorRow, ...]) -> Iterator[str]:
    """Yield a sentence about symbols that no shape determines, if a shape is then unknown."""
    formulas = [extent for row in rows for extent in row.expected or () if isinstance(extent, Expr)]
    undetermined = {symbol.name for symbol in symbols_in(tuple(formulas))}
    if undetermined and layer.symbols:
        names = ", ".join(sorted(undetermined))
        example = ", ".join(f"{name}=..." for name in sorted(undetermined))
        yield f"no shape determines {names}; put sizes in first: layer.at({example})."
