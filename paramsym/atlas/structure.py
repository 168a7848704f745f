"""The laws of a record as a layer: names as levels, numbered copies, shapes in letters; sizes without a letter are numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sympy import Expr, Rational, ceiling, floor

from paramsym.algebra.size import Count, canonical
from paramsym.atlas.expression import OutsideError, Values, chosen, evaluated, present
from paramsym.atlas.predicting import NUMBER, Row, sizes_of
from paramsym.atlas.values import Value
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer
from paramsym.core.tied import Tied
from paramsym.derive.levels import Held, Level

Atom = Any
T = TypeVar("T")


@dataclass(frozen=True)
class Choice:
    """The choice of a configuration for one row: whether it exists, and the indices of each number."""

    row: Row
    sets: tuple[tuple[int, ...], ...]


def choices(rows: Iterable[Row], values: Values) -> list[Choice]:
    """Return the existing rows with their indices."""
    found, size = [], sizes_of(values)
    for row in rows:
        if row.present(values):
            sets = tuple(tuple(one) for one in row.numbers(values, size))
            if all(sets):
                found.append(Choice(row, sets))
    return found


# Which numbers may be letters --------------------------------------------------------------------------------------------------


def letters_of(rows: Sequence[Row], values: Values) -> dict[str, int]:
    """Return the numbers that may be letters, by name: those in which sizes are polynomials or quotients.

    A number that decides which copies exist, by another law than consecutive numbers, stays a number.
    """
    found: dict[str, int] = {}
    fixed: set[str] = set()
    mixed = frozenset[tuple[str, ...]]().union(*(row.mixed for row in rows))
    shared = {id(what): what for row in rows for what in (*row.axes, *row.bounds)}  # many rows share one expression
    for what in shared.values():
        _collect(what, values, found, fixed)
    for row in rows:
        for place, bound, one in zip(row.places, row.bounds, row.sets, strict=True):
            if one != ["all"] or row.template[:place] in mixed or place == len(row.template) - 1:
                _fix(bound, values, fixed)
    return {name: value for name, value in found.items() if name not in fixed}


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
    one = present(values, one)
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
    """Return the letter's name of a key or of an entry of a list; None for anything else, and for an entry that the list does not have.

    >>> letter_name("text_config.hidden_size", {}), letter_name(["at", "depths", -1], {"depths": (2, 2)})
    ('text_config_hidden_size', 'depths_1')
    >>> letter_name(["at", "depths", 3], {"depths": (2, 2)}) is None
    True
    """
    if isinstance(one, str):
        return one.replace(".", "_")
    if isinstance(one, list) and one[0] == "at":
        held: Value = values.get(one[1])
        places = []
        for place in one[2:]:
            if not isinstance(held, tuple) or not -len(held) <= place < len(held):
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
            raise OutsideError(f"a size would be {total}.")
        return int(total)

    def atom(self, one: Atom) -> Any:
        """Return an atom: a letter, a number, or a quotient of these."""
        one = present(self.values, one)
        name = letter_name(one, self.values)
        if name is not None:
            found = self.letters.get(name, values_at(one, self.values))
            if isinstance(found, bool) or not isinstance(found, int | Expr):
                raise OutsideError(f"{name} is {found}, and a size depends on it.")
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


class _Item(NamedTuple):
    """One row during the walk through its template: the steps from the current one on, and the position of the next number."""

    choice: Choice
    steps: tuple[str, ...]
    place: int = 0

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of the copies that have the row."""
        return self.choice.sets[self.place] if self.steps[0] == NUMBER else (int(self.steps[0]),)

    def down(self) -> _Item:
        return _Item(self.choice, self.steps[1:], self.place + (self.steps[0] == NUMBER))


class Builder:
    """Builds the layer of a class at one configuration."""

    def __init__(self, rows: Sequence[Row], values: Values, letters: Mapping[str, Count]) -> None:
        """Choose the existing rows."""
        self.sizes = Sizes(values, letters)
        self.found = choices(rows, values)
        self.shapes: dict[str, tuple[Count, ...]] = {}
        self.ties: dict[str, str] = {}
        self.made: dict[tuple[Any, ...], Any] = {}

    def layer(self) -> Layer:
        """Return the model."""
        for choice in self.found:
            if choice.row.kind != "tie":
                self.shapes.setdefault(".".join(choice.row.template), tuple(self.sizes.size(axis) for axis in choice.row.axes))
        model = self._level([_Item(choice, choice.row.template) for choice in self.found], "")
        return Tied(model, self.ties) if self.ties else model

    def _level(self, items: Sequence[_Item], path: str) -> Level:
        groups: dict[str, list[_Item]] = {}
        for item in items:
            groups.setdefault(item.steps[0], []).append(item)
        copies = groups.get(NUMBER, [])
        if any(len(item.steps) == 1 for item in copies):
            groups = self._written_out(groups)
        elif copies and any(step.isdigit() for step in groups):
            groups = self._joined(groups) or self._written_out(groups)
        leaves: list[tuple[str, Layer]] = []
        inner: list[tuple[str, Layer]] = []
        for step, group in groups.items():
            if step == NUMBER:
                inner.extend(("", one) for one in self._copies(group, path))
                continue
            under = [item.down() for item in group if len(item.steps) > 1]
            if len(under) < len(group):
                leaves.extend(("", self._held(item, step, path)) for item in group if len(item.steps) == 1)
            if under:
                inner.append((step, self._level(under, f"{path}{step}.")))
        below = (*leaves, *inner)
        return self._once(tuple((step, id(layer)) for step, layer in below), lambda: Level(below))

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Return the one layer of a key: many parts are alike, and each new layer is checked."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

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
                    found.setdefault(str(index), []).append(item)
        numbers = iter(sorted((step for step in found if step.isdigit()), key=int))
        order = [next(numbers) if step.isdigit() else step for step in found]
        return {step: found[step] for step in order}

    @staticmethod
    def _joined(groups: Mapping[str, list[_Item]]) -> dict[str, list[_Item]] | None:
        """Return groups with the rows of single copies among those of all copies; None if other steps are between them."""
        numbered = [n for n, step in enumerate(groups) if step == NUMBER or step.isdigit()]
        if numbered[-1] - numbered[0] >= len(numbered):
            return None
        found: dict[str, list[_Item]] = {}
        for step, group in groups.items():
            found.setdefault(NUMBER if step.isdigit() else step, []).extend(group)
        return found

    def _copies(self, group: Sequence[_Item], path: str) -> Iterator[Layer]:
        below = [item.down() for item in group]
        if all(item.steps[0] == NUMBER and item.choice.row.sets[item.place] == ["all"] for item in group):
            bound = group[0].choice.row.bounds[group[0].place]
            yield Repeat(self._level(below, f"{path}{{}}."), self.sizes.size(bound), name="{}")
            return
        kinds: dict[int, list[_Item]] = {}
        for item, under in zip(group, below, strict=True):
            for index in item.numbers:
                kinds.setdefault(index, []).append(under)
        runs: list[list[int]] = []
        for index in sorted(kinds):
            if runs and index == runs[-1][-1] + 1 and kinds[index] == kinds[runs[-1][0]]:
                runs[-1].append(index)
            else:
                runs.append([index])
        built: list[tuple[list[_Item], Layer]] = []  # runs that alternate have equal copies, which are built once
        for run in runs:
            inside = kinds[run[0]]
            if any(item.choice.row.kind == "tie" for item in inside):  # the first name of a tie can have the number of the copy
                yield Level(tuple((str(index), self._level(inside, f"{path}{index}.")) for index in run))
                continue
            layer = next((layer for items, layer in built if items == inside), None)
            if layer is None:
                layer = self._level(inside, f"{path}{{}}.")
                built.append((inside, layer))
            yield Repeat(layer, len(run), start=run[0], name="{}")

    def _held(self, item: _Item, step: str, path: str) -> Held:
        row = item.choice.row
        if row.kind != "tie":
            shape = tuple(self.sizes.size(axis) for axis in row.axes)
            kind = "parameter" if row.kind == "frozen" else row.kind
            return self._once((step, shape, row.kind), lambda: Held(step, shape, kind, frozen=row.kind == "frozen"))
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
        raise OutsideError(f"the tensor {template}, to which another is tied, does not exist.")
