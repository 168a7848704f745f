"""The laws of a record as a layer: names as levels, numbered copies, shapes in letters; sizes without a letter are numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sympy import Expr, Rational, ceiling, floor

from paramsym.algebra.size import Count, canonical
from paramsym.atlas.expression import OutsideError, Values, chosen, evaluated
from paramsym.atlas.predicting import NUMBER, Row
from paramsym.atlas.values import Value
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer
from paramsym.core.tied import Tied
from paramsym.derive.levels import Held, Level

Atom = Any


@dataclass(frozen=True)
class Choice:
    """The choice of a configuration for one row: whether it exists, and the indices of each number."""

    row: Row
    sets: tuple[tuple[int, ...], ...]


def choices(rows: Iterable[Row], values: Values) -> list[Choice]:
    """Return the existing rows with their indices."""
    found = []
    for row in rows:
        if row.present(values):
            sets = tuple(tuple(one) for one in row.numbers(values, partial(evaluated, values)))
            if all(sets):
                found.append(Choice(row, sets))
    return found


# Which numbers may be letters --------------------------------------------------------------------------------------------------


def letters_of(rows: Iterable[Row], values: Values) -> dict[str, int]:
    """Return the numbers that may be letters, by name: those in which sizes are polynomials or quotients.

    A number that decides which copies exist, by another law than consecutive numbers, stays a number.
    """
    found: dict[str, int] = {}
    fixed: set[str] = set()
    rows = list(rows)
    mixed = _with_literal_numbers(rows)
    for row in rows:
        for axis in row.axes:
            _collect(axis, values, found, fixed)
        steps = row.template
        places = [i for i, step in enumerate(steps) if step == NUMBER]
        for place, bound, one in zip(places, row.bounds, row.sets, strict=True):
            _collect(bound, values, found, fixed)
            if one != ["all"] or steps[:place] in mixed or place == len(steps) - 1:
                _fix(bound, values, fixed)
    return {name: value for name, value in found.items() if name not in fixed}


def _with_literal_numbers(rows: Sequence[Row]) -> set[tuple[str, ...]]:
    """Return the prefixes whose numbers are literal in some rows and follow a law in others, or follow a law for some copies only."""
    literal = {row.template[:i] for row in rows for i, step in enumerate(row.template) if step.isdigit()}
    partial = set()
    for row in rows:
        places = [i for i, step in enumerate(row.template) if step == NUMBER]
        partial |= {row.template[:place] for place, one in zip(places, row.sets, strict=True) if one != ["all"]}
    return literal | partial


def _collect(what: Any, values: Values, found: dict[str, int], fixed: set[str]) -> None:
    """Collect the letters of an expression; those in operations without a closed form stay numbers."""
    if isinstance(what, int):
        return
    if what[0] == "?":
        _collect(chosen(values, what[1], what[2]), values, found, fixed)
        return
    for _, _, factors in what[1]:
        for one, _ in factors:
            _collect_atom(one, values, found, fixed)


def _collect_atom(one: Atom, values: Values, found: dict[str, int], fixed: set[str]) -> None:
    name = letter_name(one, values)
    if name is not None:
        value = values_at(one, values)
        if isinstance(value, int):
            found[name] = value
    elif isinstance(one, list) and one[0] != "len":
        closed = {"//": 2, "^/": 2, "-": 2, "*": 2, "int*": int(_whole_rate(one[-1], values))}.get(one[0], 0)
        for inner in one[1 : 1 + closed]:
            _collect_atom(inner, values, found, fixed)
        for inner in one[1 + closed :]:
            _fix_atom(inner, values, fixed)


def _fix(what: Any, values: Values, fixed: set[str]) -> None:
    if isinstance(what, int):
        return
    if what[0] == "?":
        _fix(chosen(values, what[1], what[2]), values, fixed)
        return
    for _, _, factors in what[1]:
        for one, _ in factors:
            _fix_atom(one, values, fixed)


def _fix_atom(one: Atom, values: Values, fixed: set[str]) -> None:
    name = letter_name(one, values)
    if name is not None:
        fixed.add(name)
    elif isinstance(one, list):
        for inner in one[1:]:
            _fix_atom(inner, values, fixed)


def letter_name(one: Atom, values: Values) -> str | None:
    """Return the letter's name of a key or of an entry of a list; None for anything else.

    >>> letter_name("text_config.hidden_size", {}), letter_name(["at", "depths", -1], {"depths": (2, 2)})
    ('text_config_hidden_size', 'depths_1')
    """
    if isinstance(one, str):
        return one.replace(".", "_")
    if isinstance(one, list) and one[0] == "at":
        held: Value = values.get(one[1])
        places = []
        for place in one[2:]:
            if not isinstance(held, tuple):
                return None
            places.append(place % len(held))
            held = held[place]
        return "_".join([one[1].replace(".", "_"), *map(str, places)])
    return None


def values_at(one: Atom, values: Values) -> Any:
    """Return the value of a key or an entry."""
    if isinstance(one, str):
        return values.get(one)
    held: Any = values.get(one[1])
    for place in one[2:]:
        held = held[place]
    return held


def _rate(one: Atom, values: Values) -> Any:
    return one if isinstance(one, int | float) else values_at(one, values) if letter_name(one, values) else None


def _whole_rate(one: Atom, values: Values) -> bool:
    rate = _rate(one, values)
    return isinstance(rate, int | float) and float(rate).is_integer()


# Sizes in letters --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sizes:
    """Writes expressions in letters if possible, otherwise in numbers."""

    values: Values
    letters: Mapping[str, Count]
    written: dict[int, Count] = field(default_factory=dict[int, Count], compare=False)

    def size(self, what: Any) -> Count:
        """Return an expression as a size; rows share their expressions, and each is written once."""
        if isinstance(what, int):
            return what
        found = self.written.get(id(what))
        if found is None:
            found = self.written[id(what)] = self._size(what)
        return found

    def _size(self, what: Any) -> Count:
        if what[0] == "?":
            return self.size(chosen(self.values, what[1], what[2]))
        total: Any = 0
        symbolic = False
        for numerator, denominator, factors in what[1]:
            term: Any = Rational(numerator, denominator) if denominator != 1 else numerator
            for one, power in factors:
                value = self.atom(one)
                symbolic = symbolic or isinstance(value, Expr)
                term = term * value**power
            total = total + term
        if symbolic:
            return canonical(total)
        if total != int(total):
            message = f"a size would be {total}."
            raise OutsideError(message)
        return int(total)

    def atom(self, one: Atom) -> Any:
        """Return an atom: a letter, a number, or a quotient of these."""
        name = letter_name(one, self.values)
        if name is not None:
            found = self.letters.get(name, values_at(one, self.values))
            if isinstance(found, bool) or not isinstance(found, int | Expr):
                message = f"{name} is {found}, and a size depends on it."
                raise OutsideError(message)
            return found
        if isinstance(one, int | float):
            return one
        kind = one[0]
        if kind == "int*" and _whole_rate(one[2], self.values):
            return self.atom(one[1]) * int(_rate(one[2], self.values))
        if kind in {"//", "^/", "-", "*"}:
            a, b = self.atom(one[1]), self.atom(one[2])
            if isinstance(a, Expr) or isinstance(b, Expr):
                return _combined(kind, a, b)
            return evaluated({"a": a, "b": b}, ["+", [[1, 1, [[[kind, "a", "b"], 1]]]]])
        return evaluated(self.values, ["+", [[1, 1, [[one, 1]]]]])


def _combined(kind: str, a: Any, b: Any) -> Any:
    """Combine two sizes, at least one of which has a letter."""
    if kind == "-":
        return a - b
    if kind == "*":
        return a * b
    quotient = a * (Rational(1, b) if isinstance(b, int) else 1 / b)
    return floor(quotient) if kind == "//" else ceiling(quotient)


# The tree ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Item:
    """One row during the walk through its template: the current step, the position of the next number, and the numbers above."""

    choice: Choice
    step: int
    place: int

    @property
    def here(self) -> str:
        return self.choice.row.template[self.step]

    @property
    def last(self) -> bool:
        return self.step == len(self.choice.row.template) - 1

    def down(self, numbered: bool = False) -> _Item:
        return _Item(self.choice, self.step + 1, self.place + numbered)


class Builder:
    """Builds the layer of a class at one configuration."""

    def __init__(self, rows: Sequence[Row], values: Values, letters: Mapping[str, Count]) -> None:
        """Choose the existing rows."""
        self.sizes = Sizes(values, letters)
        self.found = choices(rows, values)
        self.shapes: dict[str, tuple[Count, ...]] = {}
        self.ties: dict[str, str] = {}

    def layer(self) -> Layer:
        """Return the model."""
        for choice in self.found:
            if choice.row.kind != "tie":
                self.shapes.setdefault(".".join(choice.row.template), tuple(self.sizes.size(axis) for axis in choice.row.axes))
        model = self._level([_Item(choice, 0, 0) for choice in self.found], "")
        return Tied(model, self.ties) if self.ties else model

    def _level(self, items: Sequence[_Item], path: str) -> Level:
        groups: dict[str, list[_Item]] = {}
        for item in items:
            groups.setdefault(item.here, []).append(item)
        copies = groups.get(NUMBER, [])
        if copies and (any(step.isdigit() for step in groups) or any(item.last for item in copies)):
            groups = self._written_out(groups)
        leaves: list[tuple[str, Layer]] = []
        inner: list[tuple[str, Layer]] = []
        for step, group in groups.items():
            if step == NUMBER:
                inner.extend(("", one) for one in self._copies(group, path))
                continue
            leaves.extend(("", self._held(item, step, path)) for item in group if item.last)
            below = [item.down() for item in group if not item.last]
            if below:
                inner.append((step, self._level(below, f"{path}{step}.")))
        return Level((*leaves, *inner))

    @staticmethod
    def _written_out(groups: Mapping[str, list[_Item]]) -> dict[str, list[_Item]]:
        """Return groups with the numbers of copies as plain names, in numeric order."""
        found: dict[str, list[_Item]] = {}
        for step, group in groups.items():
            if step != NUMBER:
                found.setdefault(step, []).extend(group)
                continue
            for item in group:
                for index in item.choice.sets[item.place]:
                    found.setdefault(str(index), []).append(_Item(item.choice, item.step, item.place + 1))
        numbers = iter(sorted((step for step in found if step.isdigit()), key=int))
        order = [next(numbers) if step.isdigit() else step for step in found]
        return {step: found[step] for step in order}

    def _copies(self, group: Sequence[_Item], path: str) -> Iterator[Layer]:
        bound = group[0].choice.row.bounds[group[0].place]
        below = [item.down(numbered=True) for item in group]
        if all(item.choice.row.sets[item.place] == ["all"] for item in group):
            yield Repeat(self._level(below, f"{path}{{}}."), self.sizes.size(bound), name="{}")
            return
        kinds: dict[int, list[int]] = {}
        for position, item in enumerate(group):
            for index in item.choice.sets[item.place]:
                kinds.setdefault(index, []).append(position)
        start: int | None = None
        run: list[int] = []
        for index in sorted(kinds):
            if start is not None and (kinds[index] != kinds[start] or index != run[-1] + 1):
                yield self._run(below, kinds[start], run, path)
                start, run = None, []
            start = index if start is None else start
            run.append(index)
        if start is not None:
            yield self._run(below, kinds[start], run, path)

    def _run(self, below: Sequence[_Item], positions: Sequence[int], run: Sequence[int], path: str) -> Layer:
        inside = [below[position] for position in positions]
        if any(item.choice.row.kind == "tie" for item in inside) and len(run) > 1:
            layers = tuple((str(index), self._level(inside, f"{path}{index}.")) for index in run)
            return Level(layers)
        name = f"{path}{run[0]}." if len(run) == 1 else f"{path}{{}}."
        return Repeat(self._level(inside, name), len(run), start=run[0], name="{}")

    def _held(self, item: _Item, step: str, path: str) -> Held:
        row = item.choice.row
        if row.kind != "tie":
            shape = tuple(self.sizes.size(axis) for axis in row.axes)
            kind = "parameter" if row.kind == "frozen" else row.kind
            return Held(step, shape, kind, frozen=row.kind == "frozen")
        first = self._first(row.first, path)
        self.ties[path + step] = first
        return Held(step, self._shape_of(row.first))

    @staticmethod
    def _first(template: str, path: str) -> str:
        """Return the first name of a tie, with the numbers of the path for its own."""
        numbers = [one for one in path.split(".") if one == "{}" or one.isdigit()]
        steps = template.split(".")
        wanted = steps.count(NUMBER)
        found = iter(numbers[len(numbers) - wanted :])
        return ".".join(next(found) if one == NUMBER else one for one in steps)

    def _shape_of(self, template: str) -> tuple[Count, ...]:
        if template in self.shapes:
            return self.shapes[template]
        steps = template.split(".")
        for known, shape in self.shapes.items():
            others = known.split(".")
            if len(others) == len(steps) and all(
                one == other or ((NUMBER in {one, other} and (one + other).replace(NUMBER, "").isdigit()) or one == other == NUMBER)
                for one, other in zip(steps, others, strict=True)
            ):
                return shape
        message = f"the tensor {template}, to which another is tied, does not exist."
        raise OutsideError(message)
