"""The laws of a record as a layer: names as levels, numbered copies, shapes in letters; sizes without a letter are numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

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
_MOST_PARTS = 1 << 13
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Choice:
    """The choice of a configuration for an existing row: the indices of each number."""

    row: Row
    sets: tuple[tuple[int, ...], ...]

    def numbers(self, depth: int) -> Sequence[int]:
        """Return the numbers of the copies that have the row, at a step of its template."""
        step = self.row.template[depth]
        return self.sets[self.place(depth)] if step == NUMBER else (int(step),)

    def place(self, depth: int) -> int:
        """Return the position of a step among the numbers of the template."""
        return self.row.places.index(depth)


def choices(rows: Iterable[Row], values: Values, size: Callable[[Any], int]) -> list[Choice]:
    """Return the existing rows with their indices; ``size`` evaluates an expression."""
    found = []
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
    for what in _each_once(what for row in rows for what in (*row.axes, *row.bounds)):
        _collect(what, values, found, fixed)
    deciding = (
        bound
        for row in rows
        for place, bound, one in zip(row.places, row.bounds, row.sets, strict=True)
        if one != ["all"] or row.template[:place] in mixed or place == len(row.template) - 1
    )
    for bound in _each_once(deciding):
        _fix(bound, values, fixed)
    return {name: value for name, value in found.items() if name not in fixed}


def _each_once(stated: Iterable[Any]) -> Iterable[Any]:
    """Return the different expressions; many rows share one."""
    return {id(what): what for what in stated}.values()


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


class Builder:
    """Builds the layer of a class at one configuration."""

    def __init__(self, rows: Sequence[Row], values: Values, letters: Mapping[str, Count], made: dict[tuple[Any, ...], Any]) -> None:
        """Choose the existing rows; the sizes of the ``letters`` are written in them. ``made`` holds the parts of earlier models."""
        number = sizes_of(values)
        self.size = Sizes(values, letters).size if letters else number
        self.found = choices(rows, values, number)
        self.ties: dict[str, str] = {}
        self.made = made
        if len(made) > _MOST_PARTS:
            made.clear()  # a key has the ids of parts, which its own layer keeps alive

    def layer(self) -> Layer:
        """Return the model."""
        model = self._level(self.found, 0, "")
        return Tied(model, self.ties) if self.ties else model

    @cached_property
    def shapes(self) -> dict[str, tuple[Count, ...]]:
        """The shape of each row that is not a tie, by template."""
        found: dict[str, tuple[Count, ...]] = {}
        for choice in self.found:
            if choice.row.kind != "tie":
                found.setdefault(".".join(choice.row.template), self._shape(choice.row))
        return found

    def _shape(self, row: Row) -> tuple[Count, ...]:
        return tuple([self.size(axis) for axis in row.axes])

    def _level(self, found: Sequence[Choice], depth: int, path: str) -> Level:
        """Return the layer of rows whose templates have the same steps before ``depth``."""
        leaves: dict[str, list[Choice]] = defaultdict(list)
        inner: dict[str, list[Choice]] = defaultdict(list)
        end = depth + 1
        for choice in found:
            template = choice.row.template
            (leaves if len(template) == end else inner)[template[depth]].append(choice)
        if NUMBER in leaves:
            leaves, inner = _written_out(leaves, depth), _written_out(inner, depth)
        elif NUMBER in inner and any(step.isdigit() for step in inner):
            inner = _joined(inner) or _written_out(inner, depth)
        below: list[tuple[str, Layer]] = [("", self._held(choice.row, step, path)) for step, group in leaves.items() for choice in group]
        for step, group in inner.items():
            if step == NUMBER:
                below.extend(("", one) for one in self._copies(group, depth, path))
            else:
                below.append((step, self._level(group, end, f"{path}{step}.")))
        return self._once(tuple([(step, id(layer)) for step, layer in below]), lambda: Level(tuple(below)))

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """Return the one layer of a key: many parts are alike, in one model and in models of one class, and each new layer is checked."""
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _copies(self, group: Sequence[Choice], depth: int, path: str) -> Iterator[Layer]:
        if all(choice.row.template[depth] == NUMBER and choice.row.sets[choice.place(depth)] == ["all"] for choice in group):
            bound = group[0].row.bounds[group[0].place(depth)]
            yield Repeat(self._level(group, depth + 1, f"{path}{{}}."), self.size(bound), name="{}")
            return
        kinds: dict[int, list[Choice]] = {}
        for choice in group:
            for index in choice.numbers(depth):
                kinds.setdefault(index, []).append(choice)
        runs: list[list[int]] = []
        for index in sorted(kinds):
            if runs and index == runs[-1][-1] + 1 and kinds[index] == kinds[runs[-1][0]]:
                runs[-1].append(index)
            else:
                runs.append([index])
        built: list[tuple[list[Choice], Layer]] = []  # runs that alternate have equal copies, which are built once
        for run in runs:
            inside = kinds[run[0]]
            if any(choice.row.kind == "tie" for choice in inside):  # the first name of a tie can have the number of the copy
                yield Level(tuple((str(index), self._level(inside, depth + 1, f"{path}{index}.")) for index in run))
                continue
            layer = next((layer for one, layer in built if one == inside), None)
            if layer is None:
                layer = self._level(inside, depth + 1, f"{path}{{}}.")
                built.append((inside, layer))
            yield Repeat(layer, len(run), start=run[0], name="{}")

    def _held(self, row: Row, step: str, path: str) -> Held:
        if row.kind != "tie":
            kind = "parameter" if row.kind == "frozen" else row.kind
            shape = self._shape(row)
            return self._once((step, row.kind, shape), lambda: Held(step, shape, kind, frozen=row.kind == "frozen"))
        self.ties[path + step] = _first(row.first, path)
        return Held(step, self._shape_of(row.first))

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


def _written_out(groups: Mapping[str, list[Choice]], depth: int) -> dict[str, list[Choice]]:
    """Return groups with the numbers of copies as plain names, in numeric order."""
    found: dict[str, list[Choice]] = {}
    for step, group in groups.items():
        for choice in group:
            for name in map(str, choice.numbers(depth)) if step == NUMBER else [step]:
                found.setdefault(name, []).append(choice)
    numbers = iter(sorted((step for step in found if step.isdigit()), key=int))
    order = [next(numbers) if step.isdigit() else step for step in found]
    return {step: found[step] for step in order}


def _joined(groups: Mapping[str, list[Choice]]) -> dict[str, list[Choice]] | None:
    """Return groups with the rows of single copies among those of all copies; None if other steps are between them."""
    numbered = [n for n, step in enumerate(groups) if step == NUMBER or step.isdigit()]
    if numbered[-1] - numbered[0] >= len(numbered):
        return None
    found: dict[str, list[Choice]] = {}
    for step, group in groups.items():
        found.setdefault(NUMBER if step.isdigit() else step, []).extend(group)
    return found


def _first(template: str, path: str) -> str:
    """Return the first name of a tie, with the numbers of the path for its own."""
    numbers = [one for one in path.split(".") if one == "{}" or one.isdigit()]
    steps = template.split(".")
    wanted = steps.count(NUMBER)
    found = iter(numbers[len(numbers) - wanted :])
    return ".".join(next(found) if one == NUMBER else one for one in steps)
