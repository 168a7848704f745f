"""Comparing tensor by tensor: two layers, or a layer and measured shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from sympy import Expr, Integer

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import symbols_in, text
from paramsym.analysis.counted import Counted, lines as lines_of, title, total
from paramsym.analysis.reconcile.answers import Answer, Reading, Reconciliation
from paramsym.analysis.reconcile.edits import Edit, fixed
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.wording import listed
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.core.spelling import respelt
from paramsym.errors import ArgumentError, SizeError
from paramsym.measure.cost import Cost
from paramsym.naming import described
from paramsym.program.inputs import measured


def against_layer(layer: Counted, claim: Counted) -> Reconciliation:
    """Return the tensors by which two layers differ."""
    symbolic = _same_sizes(layer, claim)
    one, other = (layer.origin[0], claim.origin[0]) if symbolic else (layer, claim)
    edits = list(_by_name(one, other))
    term = (other.polynomial - one.polynomial).as_expr()
    now = layer.polynomial.constant
    count = now if isinstance(now, int) else None
    gap = (claim.polynomial - layer.polynomial).as_expr()
    answer = _answer(edits, term, int(gap) if isinstance(gap, Integer) else gap)
    return Reconciliation(title(layer), count, title(claim), (answer,))


def _answer(edits: list[Edit], term: Expr, difference: int | Expr, note: str = "") -> Answer:
    words = "; ".join(edit.words for edit in edits) or "the same tensors"
    return Answer(term, difference if edits else 0, (Reading(words, tuple(edits), note),))


def _same_sizes(layer: Counted, claim: Counted) -> bool:
    """Whether the two formulas can be subtracted: no letter has two values."""
    one, other = layer.origin[1], claim.origin[1]
    names = {symbol.name: symbol for symbol in one}
    return all(symbol.name not in names or (names[symbol.name] == symbol and one[symbol] == size) for symbol, size in other.items())


def _by_name(one: Counted, other: Counted) -> Iterator[Edit]:
    """Yield the tensors to leave out, add and reshape to get the second layer from the first."""
    before, after = (_keyed(lines_of(layer)) for layer in (one, other))
    lost = [line for key, line in before.items() if key not in after]
    gained = [line for key, line in after.items() if key not in before]
    # If no names are equal, lines of equal size are the same tensors under other names.
    if len(lost) == len(before):
        lost, gained = _unmatched(lost, gained)
    if lost:
        yield _edit(f"without {listed([_shown(line) for line in lost])}", lost, -total(lost))
    if gained:
        yield _edit(f"with {listed([_shown(line) for line in gained])}", gained, total(gained))
    for key, line in before.items():
        new = after.get(key)
        if new is not None and new.polynomial() != line.polynomial():
            term = new.polynomial() - line.polynomial()
            words = f"{_shown(new)} in place of {_shown(line)}" + ("" if new.sizes != line.sizes else ", in another number of copies")
            yield _edit(words, [line], term)


def _unmatched(lost: list[Line], gained: list[Line]) -> tuple[list[Line], list[Line]]:
    left: list[Line] = []
    remaining = list(gained)
    for line in lost:
        match = next((other for other in remaining if other.polynomial() == line.polynomial()), None)
        if match is None:
            left.append(line)
        else:
            remaining.remove(match)
    return left, remaining


def _edit(words: str, lines: list[Line], term: Polynomial) -> Edit:
    value = term.constant
    return Edit(words, tuple(line.name for line in lines), value if isinstance(value, int) else 0, 1.0, fixed=term)


def _keyed(lines: tuple[Line, ...]) -> dict[tuple[object, ...], Line]:
    """Return lines by their paths; several lines of one path, such as the two products of attention, also by their number."""
    found: dict[tuple[object, ...], Line] = {}
    for line in lines:
        key, number = _key(line), 0
        while (*key, number) in found:
            number += 1
        found[*key, number] = line
    return found


def _key(line: Line) -> tuple[object, ...]:
    return (*(step.pattern if isinstance(step, Numbers) else step for step in line.path), line.label)


def _shown(line: Line) -> str:
    label = f" [{line.label}]" if line.label else ""
    return f"{line.name}{label} ({', '.join(map(text, line.sizes or line.factors))})"


# Measured shapes --------------------------------------------------------------------------------------------------------------


def against_shapes(subject: Subject, shapes: Mapping[str, Any]) -> Reconciliation:
    """Return the tensors by which a layer and measured shapes differ; a state dict may list ties twice and contain buffers.

    Raises:
        ArgumentError: a value that is neither a shape nor has one.
        SizeError: a layer whose shapes still have symbols.
    """
    for name in shapes:
        if not isinstance(name, str):
            raise ArgumentError(f"the claim's shapes have the name {described(name)}; wanted strings, as in {{'weight': (768, 768)}}.")
    layer = subject.layer
    if isinstance(layer, Cost):
        raise ArgumentError(f"shapes of tensors can be compared with a layer, not with the {subject.unit} of {subject.name}.")
    given = {name: measured(getattr(shape, "shape", shape), f"the claim's {name!r}", ArgumentError) for name, shape in shapes.items()}
    count = subject.count  # raises if letters are left that do not cancel
    if symbols_in(tuple(layer.shapes(buffers=True).values())):
        left = ", ".join(sorted(symbol.name for symbol in layer.symbols))
        raise SizeError(f"the shapes of {subject.name} still have symbols ({left}); put sizes in with at=..., or compare with match.")
    entries = sum(map(prod, given.values()))
    names, notes = respelt(given, {entry.name for entry in layer.entries()})
    edits = list(_measured(subject, layer, {names[name]: shape for name, shape in given.items()}))
    term = Polynomial.total(edit.term(subject) for edit in edits).as_expr()
    answer = _answer(edits, term, entries - count, "; ".join(notes))
    return Reconciliation(subject.name, count, f"{len(given)} tensors of {entries:,} elements", (answer,))


def _measured(subject: Subject, layer: Layer, found: Mapping[str, tuple[int, ...]]) -> Iterator[Edit]:
    entries = {entry.name: entry for entry in layer.entries()}
    copies = _copies(subject)
    missing = [name for name, entry in entries.items() if name not in found and not entry.alias_of and not entry.tensor.buffer]
    aliases = [name for name in found if name in entries and entries[name].alias_of]
    buffers = [name for name in found if name in entries and entries[name].tensor.buffer and not entries[name].alias_of]
    unknown = [name for name in found if name not in entries]
    shapes = {name: tuple(map(int, entry.tensor.sizes)) for name, entry in entries.items()}
    sizes = {name: prod(shape) for name, shape in shapes.items()}
    for names, word, sign in ((missing, "without", -1), (aliases, "ties listed again:", 1), (buffers, "buffers as well:", 1)):
        if names:
            term = _in_letters(names, copies, sizes) * Polynomial.of(sign)
            yield fixed(subject, term, f"{word} {listed(names)}", 1.0, names)
    if unknown:
        term = Polynomial.of(sum(prod(found[name]) for name in unknown))
        yield fixed(subject, term, f"with {listed(unknown)}, which the layer does not have", 1.0, unknown)
    reshaped = [name for name, shape in found.items() if name in entries and shapes[name] != shape]
    if reshaped:
        term = Polynomial.of(sum(prod(found[name]) for name in reshaped)) - _in_letters(reshaped, copies, sizes)
        yield fixed(subject, term, listed([f"{name} {found[name]} in place of {shapes[name]}" for name in reshaped]), 1.0, reshaped)


def _copies(subject: Subject) -> list[tuple[Polynomial, frozenset[str]]]:
    """Pair each tensor's contribution, in letters, with the names of all its copies."""
    found: dict[frozenset[str], Polynomial] = {}
    for general, line in zip(subject.root.lines, subject.layer.lines, strict=True):
        names = frozenset(_written_out(line))
        found[names] = found.get(names, Polynomial.of(0)) + general.polynomial()
    return [(amount, names) for names, amount in found.items()]


def _written_out(line: Line) -> Iterator[str]:
    choices = (
        [str(step)] if not isinstance(step, Numbers) or step.values is None else [step.name(number) for number in step.values]
        for step in line.path
    )
    yield from map(".".join, product(*choices))


def _in_letters(names: list[str], copies: list[tuple[Polynomial, frozenset[str]]], sizes: Mapping[str, int]) -> Polynomial:
    """Return the sum of some tensors: in letters if all copies of a tensor are among them, in numbers for the rest."""
    left, whole = set(names), []
    for amount, written_out in copies:
        if written_out and written_out <= left:
            whole.append(amount)
            left -= written_out
    return Polynomial.total([*whole, Polynomial.of(sum(sizes[name] for name in left))])
