"""From the rows of a record and the values of a configuration to every tensor with its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from paramsym.atlas.expression import OutsideError, Values, chosen, evaluated, present
from paramsym.atlas.indices import MOST_COPIES, indices

NUMBER = "#"


Factors = tuple[Any, ...]
"""The factors of an axis: expressions, and tuples of segments ``(label, expression, ...)``; none if the reference divides it nowhere."""


@dataclass(frozen=True)
class Row:
    """Tensors with a common law. ``template`` has # for numbers; ``bounds`` and ``sets`` give the bound and the set of each number.

    ``factors`` has those of each axis, none unless they are given. ``role`` is empty for weights and biases.
    """

    template: tuple[str, ...]
    kind: str  # parameter, frozen, buffer or tie
    axes: tuple[Any, ...] = ()
    bounds: tuple[Any, ...] = ()
    sets: tuple[Any, ...] = ()
    presence: Any = None
    first: str = ""  # for a tie: the template of the first name, with the same numbers
    factors: tuple[Factors, ...] = ()
    role: str = ""

    def __post_init__(self) -> None:
        """Give each axis its factors."""
        if not self.factors:
            object.__setattr__(self, "factors", ((),) * len(self.axes))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The positions of numbers in the template."""
        return tuple(place for place, step in enumerate(self.template) if step == NUMBER)

    @cached_property
    def mixed(self) -> frozenset[tuple[str, ...]]:
        """The prefixes whose numbers are literal, or follow a law for some copies only."""
        literal = [place for place, step in enumerate(self.template) if step.isdigit()]
        some = [place for place, one in zip(self.places, self.sets, strict=True) if one != ["all"]]
        return frozenset(self.template[:place] for place in (*literal, *some))

    @property
    def inside(self) -> Iterator[Any]:
        """The expressions of factors and segments."""
        for factor in (factor for factors in self.factors for factor in factors):
            if isinstance(factor, tuple):
                yield from (what for _, *segment in factor for what in segment)
            else:
                yield factor

    def present(self, values: Values) -> bool:
        """Whether such tensors exist."""
        return True if self.presence is None else bool(chosen(values, *self.presence))

    def numbers(self, values: Values, size: Callable[[Any], int]) -> list[Sequence[int]]:
        """Return the indices of each number; ``size`` evaluates an expression."""
        return [indices(values, one, size(bound)) for one, bound in zip(self.sets, self.bounds, strict=True)]

    def shape(self, size: Callable[[Any], int]) -> tuple[int, ...]:
        """Return the shape."""
        found = tuple(map(size, self.axes))
        if any(size < 0 for size in found):
            raise OutsideError(f"{'.'.join(self.template)} would have the shape {found}.")
        return found


@dataclass(eq=False, slots=True)
class Choice:
    """The choice of a configuration for an existing row: the number of its law of existence, and the indices of each number."""

    row: Row
    law: int
    sets: tuple[tuple[int, ...], ...]

    def numbers(self, depth: int) -> Sequence[int]:
        """Return the numbers of the copies that have the row, at a step of its template."""
        step = self.row.template[depth]
        return self.sets[self.place(depth)] if step == NUMBER else (int(step),)

    def place(self, depth: int) -> int:
        """Return the position of a step among the numbers of the template."""
        return self.row.places.index(depth)


Existing = tuple[tuple[tuple[int, ...], ...] | None, ...]
"""The indices of each number for each law of existence, or None if no such row exists."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a class, with what all its configurations share."""

    rows: tuple[Row, ...]

    @cached_property
    def expressions(self) -> tuple[Any, ...]:
        """The different expressions of sizes and bounds."""
        return _each_once(what for row in self.rows for what in (*row.axes, *row.bounds, *row.inside))

    @cached_property
    def _factors(self) -> tuple[Any, ...]:
        return _each_once(what for row in self.rows for what in row.inside)

    def divisions(self, values: Values) -> list[tuple[Any, Any]]:
        """Return the different divisions in factors, as dividend and divisor: how the reference divides an axis into equal slices."""
        return [*{repr(one): one for what in self._factors for one in _divisions(what, values)}.values()]

    @cached_property
    def deciding(self) -> tuple[Any, ...]:
        """The different bounds that decide which copies exist, by another law than consecutive numbers."""
        mixed = frozenset[tuple[str, ...]]().union(*(row.mixed for row in self.rows))
        return _each_once(
            bound
            for row in self.rows
            for place, bound, one in zip(row.places, row.bounds, row.sets, strict=True)
            if one != ["all"] or row.template[:place] in mixed or place == len(row.template) - 1
        )

    @cached_property
    def _laws(self) -> tuple[tuple[Row, ...], tuple[int, ...]]:
        """A row for each law of existence, which many rows share, and the number of the law of each row."""
        known: dict[tuple[Any, ...], int] = {}
        first: list[Row] = []
        numbers = []
        for row in self.rows:
            key = repr((row.presence, row.sets)), *map(id, row.bounds)
            if key not in known:
                known[key] = len(first)
                first.append(row)
            numbers.append(known[key])
        return tuple(first), tuple(numbers)

    def existing(self, values: Values, size: Callable[[Any], int]) -> Existing:
        """Return which rows exist; ``size`` evaluates an expression."""
        return tuple([_existing(row, values, size) for row in self._laws[0]])

    def choices(self, existing: Existing) -> list[Choice]:
        """Return the existing rows with their indices."""
        return [Choice(row, law, sets) for row, law in zip(self.rows, self._laws[1], strict=True) if (sets := existing[law]) is not None]


def _existing(row: Row, values: Values, size: Callable[[Any], int]) -> tuple[tuple[int, ...], ...] | None:
    if not row.present(values):
        return None
    sets = tuple(map(tuple, row.numbers(values, size)))
    return sets if all(sets) else None


def contiguous(steps: Sequence[str]) -> bool:
    """Whether no other step is between numbers, at one place of the templates of rows.

    >>> contiguous(["norm", "0", "#"]), contiguous(["0", "norm", "#"])
    (True, False)
    """
    each = list(dict.fromkeys(steps))
    numbered = [at for at, step in enumerate(each) if step == NUMBER or step.isdigit()]
    return not numbered or numbered[-1] - numbered[0] < len(numbered)


def _each_once(stated: Iterable[Any]) -> tuple[Any, ...]:
    """Return the different expressions; many rows share one."""
    return tuple({id(what): what for what in stated}.values())


def sizes_of(values: Values) -> Callable[[Any], int]:
    """Return a function that evaluates expressions, each once: many rows share one."""
    known: dict[int, int] = {}

    def size(expression: Any) -> int:
        key = id(expression)
        if key not in known:
            known[key] = evaluated(values, expression)
        return known[key]

    return size


def filled(template: str, numbers: Sequence[int]) -> str:
    """Put numbers into a template.

    >>> filled("layers.#.w", [3])
    'layers.3.w'
    """
    found = iter(numbers)
    return ".".join(str(next(found)) if step == NUMBER else step for step in template.split("."))


def predicted(rows: Sequence[Row], values: Values) -> dict[str, tuple[str, tuple[int, ...] | str]]:
    """Return ``{name: (kind, shape or first name)}`` of every tensor, in the order of the rows."""
    found: dict[str, tuple[str, tuple[int, ...] | str]] = {}
    size = sizes_of(values)
    for row in rows:
        sets = _existing(row, values, size)
        if sets is None:
            continue
        copies = 1
        for one in sets:
            copies *= len(one)
        if copies > MOST_COPIES or len(found) > MOST_COPIES:
            raise OutsideError(f"there would be more than {MOST_COPIES} tensors.")
        template = ".".join(row.template)
        what: Any = None if row.kind == "tie" else row.shape(size)
        for numbers in product(*sets):
            name = filled(template, numbers)
            if name in found:
                raise OutsideError(f"{name} would be stored twice.")
            found[name] = (row.kind, filled(row.first, numbers) if row.kind == "tie" else what)
    return found


def rows_of(stated: Sequence[Any], expressions: Sequence[Any]) -> Iterator[Row]:
    """Yield the rows of a record, with its expressions put in."""
    known: dict[str, Factors] = {}  # axes with equal factors share them
    for template, kind, more in stated:
        axes = [axis if isinstance(axis, list) else [axis] for axis in more.get("axes", ())]
        factors = [known.setdefault(repr(axis[1:]), tuple(_factor(factor, expressions) for factor in axis[1:])) for axis in axes]
        yield Row(
            tuple(template.split(".")),
            kind,
            tuple(expressions[axis[0]] for axis in axes),
            tuple(expressions[number] for number in more.get("bounds", ())),
            tuple(more.get("sets", ())),
            more.get("if"),
            more.get("first", ""),
            tuple(factors),
            more.get("role", ""),
        )


def _factor(stated: Any, expressions: Sequence[Any]) -> Any:
    """Return a factor of an axis with its expressions put in."""
    if isinstance(stated, list):
        return tuple((label, *(expressions[number] for number in segment)) for label, *segment in stated)
    return expressions[stated]


def _divisions(what: Any, values: Values) -> Iterator[tuple[Any, Any]]:
    """Yield dividend and divisor of each division in an expression, in the case that the values have."""
    if isinstance(what, int):
        return
    if what[0] == "?":
        with suppress(OutsideError):  # of a tensor that does not exist
            yield from _divisions(chosen(values, what[1], what[2]), values)
        return
    for one in [one for _, _, factors in what[1] for one, _ in factors]:
        yield from _divided_in(present(values, one))


def _divided_in(one: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(one, list) and one[0] != "at":
        if one[0] == "//":
            yield one[1], one[2]
        for inner in one[1:]:
            yield from _divided_in(inner)
