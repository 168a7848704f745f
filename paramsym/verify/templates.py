"""The formula of a shape for a full name: a layer's ledger lists numbered copies once, under a template."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sympy import Integer, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Dim, canonical, extent, substitute
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line


@dataclass(frozen=True)
class Template:
    """The lines of one tensor, which may have many numbered copies."""

    line: Line

    @cached_property
    def numbers(self) -> tuple[Numbers, ...]:
        """The numbered steps of its path."""
        return tuple(step for step in self.line.path if isinstance(step, Numbers))

    def down_to(self, depth: int) -> tuple[str | Numbers, ...]:
        """Return its path down to the numbered step at a depth; nothing at depth 0."""
        ends = [place + 1 for place, step in enumerate(self.line.path) if isinstance(step, Numbers)]
        return self.line.path[: ends[depth - 1]] if depth else ()

    @cached_property
    def form(self) -> str:
        """Its name with ``{}`` for each number."""
        return ".".join(step.pattern if isinstance(step, Numbers) else step for step in self.line.path)

    @property
    def bare(self) -> str:
        """Its name without any number."""
        return without_numbers(self.form.replace("{}", ""))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A pattern of its names, with a group for each number."""
        steps = (
            r"(\d+)".join(re.escape(piece) for piece in step.pattern.split("{}")) if isinstance(step, Numbers) else re.escape(step)
            for step in self.line.path
        )
        return re.compile(r"\.".join(steps))

    def numbers_in(self, name: str) -> tuple[int, ...] | None:
        """Return the copy that a name means, one number per numbered step, or None for another name."""
        found = self.pattern.fullmatch(name)
        if found is None:
            return None
        values = tuple(map(int, found.groups()))
        return values if all(map(possible, self.numbers, values)) else None

    def sizes(self, numbers: tuple[int, ...]) -> tuple[Dim, ...]:
        """Return the sizes of the axes of one copy."""
        bound: Mapping[Symbol, Integer] = {
            step.index: Integer(value) for step, value in zip(self.numbers, numbers, strict=True) if step.index is not None
        }
        return tuple(canonical(substitute(extent(axis), bound)) for axis in self.line.shape)


class Templates(Collection[str]):
    """The names of a layer's tensors, for all values of symbolic numbers of copies.

    >>> from paramsym import Dense, H, L
    >>> names = Templates(L * Dense(H, H))
    >>> "11.weight" in names, "weight" in names
    (True, False)
    """

    def __init__(self, layer: Layer) -> None:
        """Collect every name without its numbers, with the templates that it may belong to."""
        self._by_form: dict[str, list[Template]] = {}
        self.templates = templates(layer)
        for template in self.templates:
            self._by_form.setdefault(template.bare, []).append(template)

    def __contains__(self, name: object) -> bool:
        found = self._by_form.get(without_numbers(name), ()) if isinstance(name, str) else ()
        return any(template.numbers_in(str(name)) is not None for template in found)

    def __iter__(self) -> Iterator[str]:
        """Yield one name for each template, that of its first copy."""
        return (_written(template.line) for template in self.templates)

    def __len__(self) -> int:
        return len(self.templates)


def _written(line: Line) -> str:
    return ".".join(step.pattern.replace("{}", "0") if isinstance(step, Numbers) else step for step in line.path)


def without_numbers(name: str) -> str:
    """Return a name without its digits."""
    return re.sub(r"\d+", "", name)


def templates(layer: Layer) -> tuple[Template, ...]:
    """Return one template per tensor of a layer, aliases and persistent buffers included."""
    found: dict[tuple[str | Numbers, ...], Line] = {}
    for line in layer.lines:
        if line.persistent or not line.buffer:
            found.setdefault(line.path, line)
    return tuple(map(Template, found.values()))


def possible(numbers: Numbers, value: int) -> bool:
    """Whether a number may be that of a copy, for some values of the symbols in the range."""
    if numbers.values is not None:
        return value in numbers.values
    return not isinstance(numbers.start, int) or (value >= numbers.start and (value - numbers.start) % numbers.step == 0)
