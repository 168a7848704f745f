"""A model in the explorer: its structure in letters, the shapes of its inputs, and named sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from sympy import Symbol

from paramsym.core.layer import Layer
from paramsym.program.statement import class_name


@dataclass(frozen=True)
class Variant:
    """One structure, in letters: the Python that builds it, the shapes of its inputs (its own without any), and its named sizes.

    ``start`` are the sizes that the page puts in first for letters of the inputs.
    """

    root: Layer
    python: str = ""
    inputs: tuple[Any, ...] = ()
    sizes: dict[str, dict[str, int]] = field(default_factory=dict, compare=False)
    start: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def title(self) -> str:
        """The class's name, that of the reference if it has one."""
        return class_name(self.root)

    @cached_property
    def letters(self) -> tuple[Symbol, ...]:
        """The letters of the model, in the order of its arguments."""
        held = [symbol for one in fields(type(self.root)) for symbol in _symbols(getattr(self.root, one.name))]  # type: ignore[arg-type]
        rest = sorted(self.root.symbols, key=lambda symbol: symbol.name)
        return tuple(dict.fromkeys(symbol for symbol in (*held, *rest) if symbol in self.root.symbols))


def _symbols(held: Any) -> Iterator[Symbol]:
    if isinstance(held, Symbol):
        yield held
    elif isinstance(held, tuple):
        for one in held:
            yield from _symbols(one)
    elif isinstance(held, Layer):
        for one in fields(held):  # type: ignore[arg-type]
            yield from _symbols(getattr(held, one.name))
