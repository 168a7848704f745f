"""Why does a symbol not change the count, and where it does, through what?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from textwrap import wrap
from typing import Literal

from sympy import Expr, Integer, Symbol, diff

from paramsym.analysis.derivation import Product, Said, Step, Sum, in_html, in_latex, in_markdown, plain, shown
from paramsym.errors import UnknownNameError
from paramsym.layer import Layer
from paramsym.ledger import Line
from paramsym.letters import Lettering, lettering
from paramsym.polynomial import Polynomial
from paramsym.render import latex
from paramsym.render.html import formula
from paramsym.render.markdown import escaped
from paramsym.render.table import Letters, Printed
from paramsym.size import Count, Dim, per, substitute, symbols_in
from paramsym.symbols import BY_NAME
from paramsym.tabulate import PAPER

_SLICED = frozenset("AG")
_ONE_OF = {"L": "layer", "E": "expert"}
_WIDE = 68  # characters on a line of an align before an equation is broken
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
    def product(self) -> Product:
        """What one of them adds, as written: numbers of copies first, then the axes; summed where copies differ."""
        return Product(self.factors, self.lines[0].spans)

    @property
    def names(self) -> str:
        """The tensors' names, the first few of them."""
        names = [f"{line.name} [{line.label}]" if line.label else line.name for line in self.lines]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more


@dataclass(frozen=True)
class Explanation(Printed):
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
        return plain(self._said)

    @property
    def _said(self) -> tuple[Said, ...]:
        """The verdict, words and formulas apart."""
        letter = BY_NAME.get(self.symbol.name)
        known = f" ({letter.meaning})" if letter is not None and letter.symbol == self.symbol else ""
        if not self.enters:
            return self.symbol, f"{known} does not change the count of {self.subject}: no stored tensor has it in its shape."
        entered = sum(len(group.lines) for group in self.groups)
        where = f"It enters {entered} of {self.tensors} tensors"
        if self.cancels:
            begin = f"{known} cancels from the count of {self.subject}. {where}, "
            return self.symbol, begin, *self._because, ", and leaves no trace in any sum."
        begin = f"{known} changes the count of {self.subject}. {where}; the derivative is "
        return self.symbol, begin, self.derivative, ".", *self._stays

    @property
    def _stays(self) -> tuple[Said, ...]:
        """Where a quotient is not multiplied away, name the tensors that keep the symbol."""
        kept = [group for group in self.groups if self.symbol in group.amount.free_symbols and any(_quotients(group.factors, self.symbol))]
        named = [piece for group in kept for piece in ("; ", f"{group.names} (", group.amount.as_expr(), ")")]
        return (" It stays in ", *named[1:], ".") if kept else ()

    @property
    def _because(self) -> tuple[Said, ...]:
        quotients = {shown(q): q.doit() for group in self.groups for q in _quotients(group.factors, self.symbol)}
        widths = [piece for _, quotient in sorted(quotients.items()) for piece in (" or ", quotient)]
        return ("always as ", self.symbol, " slices of width ", *widths[1:]) if quotients else ("in terms that cancel",)

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"{number}. {step}" for number, step in enumerate(self.steps, 1))])

    def to_latex(self, letters: Lettering = None, *, words: Literal["intertext", "text", "none"] = "intertext") -> str:
        r"""Return the derivation as a LaTeX ``align*``; needs ``amsmath``.

        ``letters`` is the name of a paper's set or a mapping. ``words="text"`` writes the sentences with ``\text``, which MathJax and KaTeX
        know too; ``"none"`` leaves them out.
        """
        chosen = self.letters if letters is None else lettering(letters, symbols_in(self.params) | {self.symbol})
        rows: list[str] = []
        sides = [step.to_latex(chosen).split("&=") for step in self.steps]
        widest = sum(max(map(latex.width, side), default=0) for side in zip(*sides, strict=True))
        fits = widest <= _WIDE and words != "text"  # else all of it stands flush left
        for step in self.steps:
            equation = step.to_latex(chosen) if fits else " \\\\\n".join(step.latex_lines(chosen, _WIDE))
            if words == "intertext":
                equation = rf"\intertext{{{in_latex(step.said, chosen)}}}" + "\n" + equation
            elif words == "text":
                said = wrap(step.words, _WIDE, break_long_words=False, break_on_hyphens=False)
                equation = " \\\\\n".join([*(rf"&\text{{{latex.escape(line)}}}" for line in said), equation])
            rows.append(equation)
        return "\\begin{align*}\n" + " \\\\\n".join(rows).replace(" \\\\\n\\intertext", "\n\\intertext") + "\n\\end{align*}"

    def _repr_latex_(self) -> str:
        return self.to_latex(words="text")

    def to_html(self) -> str:
        """Return the derivation as HTML that needs no script: the verdict, then the steps as a numbered list."""
        steps = []
        for step in self.steps:
            numbers = f"<br><small>{escape(step.numbers)}</small>" if step.numbers else ""
            equation = formula(step.to_latex(self.letters).replace("&=", "="))
            steps.append(f"<li>{in_html(step.said, self.letters)}<br>{equation}{numbers}</li>")
        return f"<p>{in_html(self._said, self.letters)}</p>\n<ol>\n" + "\n".join(steps) + "\n</ol>"

    def to_markdown(self) -> str:
        """Return the derivation as Markdown with formulas between dollars, as a README or a notebook shows it."""
        steps = [in_markdown(self._said, self.letters)]
        for number, step in enumerate(self.steps, 1):
            equation = step.to_latex(self.letters).replace("&=", "=")
            numbers = f"\n\n    {escaped(step.numbers)}" if step.numbers else ""
            steps.append(f"{number}. {in_markdown(step.said, self.letters)}\n\n   $$\n   {equation}\n   $$" + numbers)
        return "\n\n".join(steps)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


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
        return (Polynomial.of(substitute(params, {symbol: symbol + 1})) - polynomial).as_expr()
    return polynomial.diff(symbol).as_expr()


def _steps(layer: Layer, symbol: Symbol, groups: tuple[Group, ...], derivative: Expr, sizes: dict[Symbol, Dim]) -> Iterator[Step]:
    terms: list[tuple[int, Product]] = []
    for group in groups:
        left = Sum(((len(group.lines), group.product),))
        yield Step(_sentence(group, symbol), left, group.amount.as_expr(), _numbers(left, sizes))
        terms.append((1, Product((group.amount.as_expr(),))))
    inside = {id(line) for group in groups for line in group.lines}
    rest = Polynomial.total(line.polynomial() for line in layer.ledger() if id(line) not in inside)
    if groups:
        yield from _chain_rule(groups, symbol, derivative, sizes)
    said: tuple[Said, ...] = ("Everything together:",)
    if rest:
        terms.append((1, Product((rest.as_expr(),))))
        which = "the last term" if groups else "no term with"
        said = ("Everything together, ", which, *((" without ", symbol) if groups else (" ", symbol)), ":")
    yield Step(said, Sum(tuple(terms)), layer.params, _numbers(Sum(((1, Product((layer.params,))),)), sizes))


def _sentence(group: Group, symbol: Symbol) -> tuple[Said, ...]:
    many = len(group.lines)
    head = f"{many} tensor{'s' if many > 1 else ''} ({group.names}): "
    return (head, *_how(group, symbol), ".")


def _how(group: Group, symbol: Symbol) -> tuple[Said, ...]:
    """Say how the symbol enters a group: as slices that are shared out, as a number of slices or copies, or inside a size."""
    line = group.lines[0]
    each = " each" if len(group.lines) > 1 else ""
    quotients = list(dict.fromkeys(_quotients(group.factors, symbol)))
    if any(span.index is not None and symbol in set(symbols_in((span.count, span.start))) for span in line.spans):
        return (f"one{each} for every copy, and the copies differ: their sizes are summed",)
    if quotients:
        width = quotients[0].doit()
        if any(factor == symbol for factor in group.factors):
            return (symbol, " slices of width ", width, f"{each}, because the width is shared out exactly")
        others = [factor for factor in line.factors if isinstance(factor, Expr) and symbol not in factor.free_symbols]
        shared = [*others[: len(others) - (line.role == "weight")], *(factor for factor in line.factors if isinstance(factor, int))]
        if shared:
            return (shared[0], " slices of width ", width, f"{each}, and ", shared[0], " is not ", symbol, ": ", symbol, " stays")
        return ("one slice of width ", width, f"{each}, shared by all: nothing multiplies the division away, and ", symbol, " stays")
    if symbol in line.stored:
        return ("stored ", symbol, " times", f"{each}, once per {_ONE_OF[symbol.name]}" if symbol.name in _ONE_OF else each)
    if any(factor == symbol for factor in group.factors):
        if line.role == "table":
            return (symbol, f" is a factor of the table{each}, and no width in it is divided by ", symbol)
        width = _beside(line, symbol) if symbol.name in _SLICED else None
        if width is not None:
            return (symbol, " slices of width ", width, f"{each}, a width of its own: ", symbol, " stays")
        return (symbol, " is a factor", " of each" if len(group.lines) > 1 else "")
    return (symbol, " stands inside a size", each)


def _beside(line: Line, symbol: Symbol) -> Symbol | None:
    """Return the width that stands right behind a number of slices among the factors of a tensor."""
    following = line.factors[line.factors.index(symbol) + 1 :]
    return next((factor for factor in following[:1] if isinstance(factor, Symbol)), None)


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
    said: tuple[Said, ...] = (
        *("The derivative: first what one more of ", symbol),
        " adds while every slice keeps its width, then what thinner slices take away.",
    )
    yield Step(said, left, derivative, _numbers(left, sizes))


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
