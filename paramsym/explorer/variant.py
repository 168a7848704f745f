"""A model in the explorer: its structure in letters, the shapes of its inputs, and named sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from sympy import Symbol

from paramsym.algebra.symbols import BY_NAME
from paramsym.core.layer import Layer, class_name

MEANINGS = {
    "S": "sequence length",
    "S_d": "sequence length of the decoder",
    "B": "batch size",
    "B_v": "batch size of the images",
    "W": "width of an image or length of a signal",
}


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

    def argument(self, symbol: Symbol) -> str:
        """Return the argument with a letter, and the index in it if it has several; empty if none has it."""
        return next(_arguments(self.root, symbol), "")


def _arguments(layer: Layer, symbol: Symbol) -> Iterator[str]:
    for one in fields(layer):  # type: ignore[arg-type]
        held = getattr(layer, one.name)
        if held == symbol:
            yield one.name
        elif isinstance(held, tuple) and symbol in held:
            yield f"{one.name}[{held.index(symbol)}]"
    for one in fields(layer):  # type: ignore[arg-type]
        held = getattr(layer, one.name)
        if isinstance(held, Layer):
            yield from (f"{one.name}.{inner}" for inner in _arguments(held, symbol))


def _symbols(held: Any) -> Iterator[Symbol]:
    if isinstance(held, Symbol):
        yield held
    elif isinstance(held, tuple):
        for one in held:
            yield from _symbols(one)
    elif isinstance(held, Layer):
        for one in fields(held):  # type: ignore[arg-type]
            yield from _symbols(getattr(held, one.name))


def meaning(name: str) -> str:
    """Return the library's meaning of a letter; empty for letters of only one model."""
    return MEANINGS.get(name) or (BY_NAME[name].meaning if name in BY_NAME else "")
