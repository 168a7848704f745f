"""From the rows of a record and the values of a configuration to every tensor with its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from paramsym.atlas.expression import OutsideError, Values, chosen, evaluated
from paramsym.atlas.indices import MOST_COPIES, indices

NUMBER = "#"


@dataclass(frozen=True)
class Row:
    """Tensors with a common law. ``template`` has # for numbers; ``bounds`` and ``sets`` give the bound and the set of each number."""

    template: tuple[str, ...]
    kind: str  # parameter, frozen, buffer or tie
    axes: tuple[Any, ...] = ()
    bounds: tuple[Any, ...] = ()
    sets: tuple[Any, ...] = ()
    presence: Any = None
    first: str = ""  # for a tie: the template of the first name, with the same numbers

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
        if not row.present(values):
            continue
        sets = row.numbers(values, size)
        if not all(sets):
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
    for template, kind, more in stated:
        axes, bounds = ([expressions[number] for number in more.get(which, ())] for which in ("axes", "bounds"))
        yield Row(
            tuple(template.split(".")),
            kind,
            tuple(axes),
            tuple(bounds),
            tuple(more.get("sets", ())),
            more.get("if"),
            more.get("first", ""),
        )
