"""What a layer costs for an input, as a value: a ledger with a unit, a convention and the question that it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.errors import ArgumentError
from paramsym.layer import Layer, class_name
from paramsym.ledger import Ledger, Line
from paramsym.letters import Lettering, lettering
from paramsym.naming import described
from paramsym.polynomial import Polynomial
from paramsym.render.latex import expression
from paramsym.render.table import Cell, Printed, Table
from paramsym.size import Dim, substitute, symbols_in
from paramsym.sizing import mapping_from
from paramsym.tabulate import check_depth


@dataclass(frozen=True, repr=False)
class Cost(Printed):
    """The cost of a layer for inputs of certain shapes: lines of products, in a unit, counted by a convention.

    >>> from paramsym import A, B, H, MultiHeadAttention, S, flops
    >>> cost = flops(MultiHeadAttention(H, A, batch_first=True), (B, S, H))
    >>> print(cost)
    MultiHeadAttention for (B, S, H): 8*B*H**2*S + 4*B*H*S**2 FLOPs (matmul)
    >>> cost.at(B=1, S=1024, H=768, A=12).total
    8053063680
    """

    layer: Layer
    inputs: tuple[tuple[Dim, ...], ...]
    unit: str
    convention: str
    ledger: Ledger
    ask: Callable[..., Cost] = field(compare=False)

    @cached_property
    def total(self) -> Expr:
        """The sum of all lines, expanded; an ``Integer`` once every size is a number."""
        return Integer(self.ledger.used) if isinstance(self.ledger.used, int) else self.ledger.used

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The symbols of the layer and of its inputs."""
        return frozenset({*self.layer.symbols, *symbols_in(self.inputs)})

    def at(self, sizes: Mapping[Any, Any] | None = None, /, **named: Dim) -> Cost:
        """Return the same cost with sizes or expressions put in, by symbol or by name, for the layer and the inputs at once.

        Raises:
            UnknownNameError: a symbol that neither the layer nor the inputs have.
            SizeError, DivisibilityError: sizes that the layer cannot have.
        """
        known = self.symbols
        kind = type(self.layer).__name__
        mapping = mapping_from(kind, [*(sizes or {}).items(), *named.items()], known, lambda _: "")
        inside = {symbol: value for symbol, value in mapping.items() if symbol in self.layer.symbols}
        layer = self.layer.at(inside) if inside else self.layer
        return self.ask(layer, *(substitute(shape, mapping) for shape in self.inputs))

    def table(self, depth: int | None = None, *, letters: Lettering = None) -> Table:
        """Return what every operation costs, or every part down to a depth."""
        check_depth(depth)
        sums: dict[str, list[Polynomial]] = {}
        for line in self.ledger:
            sums.setdefault(_name(line, depth), []).append(line.polynomial("used"))
        rows = [(name, _cell(Polynomial.total(amounts).as_expr())) for name, amounts in sums.items()]
        total, symbols = _cell(self.total), self.symbols
        form = (self._caption, lettering(letters, symbols), (f"{self._subject}:", total, self.unit))
        if not isinstance(total, int) or total == 0:
            return Table(("part", self.unit), tuple(rows), ("total", total), *form)
        shares = tuple((name, amount, f"{100 * amount / total:.1f} %" if isinstance(amount, int) else "") for name, amount in rows)
        return Table(("part", self.unit, "share"), shares, ("total", total, None), *form)

    def to_latex(self, *, letters: Lettering = None) -> str:
        """Return the total as LaTeX, without dollar signs."""
        return expression(self.total, lettering(letters, self.symbols))

    @property
    def _subject(self) -> str:
        shapes = ", ".join(str(shape) for shape in self.inputs)
        return f"{class_name(self.layer)} for {shapes}"

    @property
    def _caption(self) -> str:
        total = f"{int(self.total):,}" if isinstance(self.total, Integer) else str(self.total)
        return f"{self._subject}: {total} {self.unit} ({self.convention})"

    def __str__(self) -> str:
        return self._caption

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.to_latex()}$"

    def _repr_html_(self) -> str:
        return self.table(1).to_html()


def check_word(what: str, value: object, known: Iterable[str], more: str = "") -> None:
    """Raise ``ArgumentError`` where a word is none of the known ones.

    >>> check_word("dtype", "float31", ("float32", "float16"))
    Traceback (most recent call last):
        ...
    paramsym.errors.ArgumentError: dtype is 'float31' (str); known are float32, float16.
    """
    words = tuple(known)
    if value not in words:
        message = f"{what} is {described(value)}; known are {', '.join(words)}{more}."
        raise ArgumentError(message)


def _name(line: Line, depth: int | None) -> str:
    """Return the part that a line belongs to, at most ``depth`` levels down; without a depth the operation itself."""
    path = line.path if depth is None else line.path[:-1][:depth]
    return ".".join(map(str, path)) or "(itself)"


def _cell(value: Expr) -> Cell:
    return int(value) if isinstance(value, Integer) else value
