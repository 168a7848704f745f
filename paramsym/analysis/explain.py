"""Why does a symbol not change the count, and where it does, through what?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sympy import Expr, Integer, Symbol, diff

from paramsym.analysis.derivation import Product, Step, Sum
from paramsym.errors import UnknownNameError
from paramsym.layer import Layer
from paramsym.ledger import Line
from paramsym.polynomial import Polynomial
from paramsym.render.table import Letters
from paramsym.size import Count, Dim, per, symbols_in, text
from paramsym.symbols import BY_NAME
from paramsym.tabulate import PAPER

_NAMED = 4  # tensors of one kind that a sentence names before it counts the rest


@dataclass(frozen=True)
class Group:
    """Tensors that contribute the same product of factors."""

    factors: tuple[Count, ...]
    lines: tuple[Line, ...]

    @cached_property
    def amount(self) -> Polynomial:
        """What the whole group adds to the count."""
        return Polynomial.total(line.polynomial() for line in self.lines)

    @property
    def names(self) -> str:
        """The tensors' names, the first few of them."""
        names = [f"{line.name} [{line.label}]" if line.label else line.name for line in self.lines]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more


@dataclass(frozen=True)
class Explanation:
    """A derivation: where ``symbol`` enters, how the terms add up, what is left.

    ``steps`` are true equations; the last one's right-hand side is the closed form. ``groups`` are the tensors it enters, by product of
    factors. Prints as text; ``to_latex()`` gives an ``align*``.
    """

    subject: str
    symbol: Symbol
    params: Expr
    derivative: Expr
    steps: tuple[Step, ...]
    groups: tuple[Group, ...]
    tensors: int
    sizes: tuple[tuple[Symbol, Dim], ...] = ()
    letters: Letters = PAPER

    @property
    def cancels(self) -> bool:
        """Whether the count does not depend on the symbol."""
        return self.derivative == 0

    @property
    def enters(self) -> bool:
        """Whether the symbol stands in any tensor's shape or number of copies."""
        return bool(self.groups)

    @property
    def verdict(self) -> str:
        """The answer in one or two sentences."""
        letter = BY_NAME.get(self.symbol.name)
        known = f" ({letter.meaning})" if letter is not None and letter.symbol == self.symbol else ""
        name = f"{self.symbol}{known}"
        if not self.enters:
            return f"{name} does not change the count of {self.subject}: no stored tensor has it in its shape."
        entered = sum(len(group.lines) for group in self.groups)
        where = f"It enters {entered} of {self.tensors} tensors"
        if self.cancels:
            return f"{name} cancels from the count of {self.subject}. {where}, {self._because}, and leaves no trace in any sum."
        return f"{name} changes the count of {self.subject}. {where}; the derivative is {text(self.derivative)}.{self._stays}"

    @property
    def _stays(self) -> str:
        """Where a quotient is not multiplied away, name the tensors that keep the symbol."""
        kept = [group for group in self.groups if self.symbol in group.amount.free_symbols and any(_quotients(group.factors, self.symbol))]
        if not kept:
            return ""
        return f" It stays in {'; '.join(f'{group.names} ({text(group.amount.as_expr())})' for group in kept)}."

    @property
    def _because(self) -> str:
        quotients = sorted({text(q.doit()) for group in self.groups for q in _quotients(group.factors, self.symbol)})
        return f"always as {self.symbol} slices of width {' or '.join(quotients)}" if quotients else "in terms that cancel"

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"{number}. {step}" for number, step in enumerate(self.steps, 1))])

    def to_latex(self) -> str:
        r"""Return the derivation as a LaTeX ``align*``; needs ``amsmath``."""
        rows = []
        for step in self.steps:
            words = "".join({"_": r"\_", "{": r"\{", "}": r"\}", "#": r"\#", "&": r"\&", "%": r"\%"}.get(c, c) for c in step.words)
            rows.append(rf"\intertext{{{words}}}" + "\n" + step.to_latex(self.letters))
        return "\\begin{align*}\n" + " \\\\\n".join(rows).replace(" \\\\\n\\intertext", "\n\\intertext") + "\n\\end{align*}"

    def _repr_latex_(self) -> str:
        return self.to_latex()


def explain(layer: Layer, symbol: Symbol | str) -> Explanation:
    """Derive how the count of a layer depends on a symbol, tensor by tensor.

    On a layer with sizes put in, the formula is explained and the numbers are shown beside it.

    Raises:
        UnknownNameError: a name that is neither the layer's nor a shared letter, or another symbol of the same name.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> why = explain(MultiHeadAttention(H, A), A)
    >>> why.cancels, why.derivative
    (True, 0)
    >>> print(why.verdict)
    A (number of attention heads) cancels from the count of MultiHeadAttention. It enters 7 of 8 tensors, always as A slices of width H/A, \
and leaves no trace in any sum.
    """
    root, sizes = layer.origin
    found = _symbol(root, symbol)
    lines = root.ledger().lines
    entered = [
        line for line in lines if found in set(symbols_in((line.factors, line.stored, tuple((s.start, s.count) for s in line.spans))))
    ]
    groups = tuple(_grouped(entered))
    derivative = _derivative(root.params, found)
    return Explanation(
        type(root).__name__,
        found,
        root.params,
        derivative,
        tuple(_steps(root, found, groups, derivative, sizes)),
        groups,
        len(lines),
        tuple(sizes.items()),
    )


def _symbol(layer: Layer, symbol: Symbol | str) -> Symbol:
    by_name = {s.name: s for s in layer.symbols}
    name = symbol if isinstance(symbol, str) else symbol.name
    if name in by_name and (isinstance(symbol, str) or by_name[name] == symbol):
        return by_name[name]
    if name in by_name:
        message = f"{type(layer).__name__} has another symbol named {name!r} (other assumptions); pass the name {name!r} instead."
        raise UnknownNameError(message)
    if isinstance(symbol, Symbol):
        return symbol
    if name in BY_NAME:
        return BY_NAME[name].symbol
    has = ", ".join(sorted(by_name)) or "none"
    message = f"{type(layer).__name__} has no symbol {name!r}; it has {has}."
    raise UnknownNameError(message)


def _grouped(lines: list[Line]) -> Iterator[Group]:
    found: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        found.setdefault((line.stored, line.factors, line.spans), []).append(line)
    for members in found.values():
        yield Group((*members[0].stored, *members[0].factors), tuple(members))


def _quotients(factors: tuple[Count, ...], symbol: Symbol) -> Iterator[Expr]:
    """Yield the exact quotients by the symbol anywhere in the factors."""
    for factor in factors:
        if isinstance(factor, Expr):
            yield from (quotient for quotient in factor.atoms(per) if symbol in quotient.args[1].free_symbols)


def _derivative(params: Expr, symbol: Symbol) -> Expr:
    """Differentiate; where the symbol moves in steps, take the difference of one unit instead."""
    polynomial = Polynomial.of(params)
    in_steps = any(g != symbol and not g.is_Add and symbol in g.free_symbols for monomial in polynomial.terms for g, _ in monomial)
    if in_steps:
        return (Polynomial.of(params.xreplace({symbol: symbol + 1})) - polynomial).as_expr()
    return polynomial.diff(symbol).as_expr()


def _steps(layer: Layer, symbol: Symbol, groups: tuple[Group, ...], derivative: Expr, sizes: dict[Symbol, Dim]) -> Iterator[Step]:
    terms: list[tuple[int, Product]] = []
    for group in groups:
        spanned = any(line.spans for line in group.lines)
        left = Sum(((1, Product((group.amount.as_expr(),))),)) if spanned else Sum(((len(group.lines), Product(group.factors)),))
        yield Step(_sentence(group, symbol), left, group.amount.as_expr(), _numbers(left, sizes))
        terms.append((1, Product((group.amount.as_expr(),))))
    inside = {id(line) for group in groups for line in group.lines}
    rest = Polynomial.total(line.polynomial() for line in layer.ledger() if id(line) not in inside)
    if groups:
        yield from _chain_rule(groups, symbol, derivative, sizes)
    if rest:
        terms.append((1, Product((rest.as_expr(),))))
    total = Sum(tuple(terms))
    words = (
        f"Everything together, the {'last' if groups else 'only'} term{'' if rest else 's'} without {symbol}:"
        if rest
        else "Everything together:"
    )
    yield Step(words, total, layer.params, _numbers(Sum(((1, Product((layer.params,))),)), sizes))


def _sentence(group: Group, symbol: Symbol) -> str:
    many = len(group.lines)
    each = " each" if many > 1 else ""
    noun = "tensors" if many > 1 else "tensor"
    plain = any(factor == symbol for factor in group.factors)
    quotients = [text(q.doit()) for q in dict.fromkeys(_quotients(group.factors, symbol))]
    if quotients and plain:
        how = f"{symbol} slices of width {quotients[0]}{each}, because the width is shared out exactly"
    elif quotients:
        others = [text(f) for f in group.lines[0].factors if isinstance(f, Expr) and symbol not in f.free_symbols]
        how = f"slices of width {quotients[0]}{each}, but {others[0] if others else 'a fixed number'} of them, not {symbol}: {symbol} stays"
    elif plain:
        how = f"{symbol} is a factor{' of each' if many > 1 else ''}"
    else:
        how = f"{symbol} stands inside a size"
    return f"{many} {noun} ({group.names}): {how}."


def _chain_rule(groups: tuple[Group, ...], symbol: Symbol, derivative: Expr, sizes: dict[Symbol, Dim]) -> Iterator[Step]:
    """Split the derivative into the direct effect and the effect through quotients: one more head, and thinner heads."""
    if not any(True for group in groups for _ in _quotients(group.factors, symbol)):
        return
    terms: dict[bool, list[Polynomial]] = {False: [], True: []}
    for group in groups:
        if any(line.spans for line in group.lines):
            return
        for position, factor in enumerate(group.factors):
            if not isinstance(factor, Expr) or symbol not in factor.free_symbols:
                continue
            slope = Polynomial.of(diff(factor.doit(), symbol))
            others = Polynomial.product((*group.factors[:position], *group.factors[position + 1 :], len(group.lines)))
            terms[bool(factor.atoms(per))].append(slope * others)
    direct, through = (Polynomial.total(terms[kind]).as_expr() for kind in (False, True))
    left = Sum(tuple((1, Product((side,))) for side in (direct, through) if side != 0))
    if Polynomial.of(direct) + Polynomial.of(through) != Polynomial.of(derivative):
        return
    words = f"The derivative: first what one more of {symbol} adds while every slice keeps its width, then what thinner slices take away."
    yield Step(words, left, derivative, _numbers(left, sizes))


def _numbers(left: Sum, sizes: dict[Symbol, Dim]) -> str:
    """Write a sum with sizes put in and its value, where every symbol has one."""
    if not sizes:
        return ""
    placed = Sum(
        tuple((times, product.at({s: v if isinstance(v, Expr) else Integer(v) for s, v in sizes.items()})) for times, product in left.terms)
    )
    value = placed.value.constant
    if value is None or not isinstance(value, int):
        return ""
    return f"{placed} = {value:,}" if str(placed) != str(value) else f"= {value:,}"
