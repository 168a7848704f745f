"""Explanations: why a symbol does not change the count, or through which tensors it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal

from sympy import Expr, Symbol

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, per, symbols_in, with_quotients
from paramsym.algebra.symbols import BY_NAME
from paramsym.algebra.wanted import symbol_of
from paramsym.analysis.counted import PARAMETERS, Counted, Words, check_counted, holder, lines as lines_of, title, total, words as words_of
from paramsym.analysis.derivation import Product, Said, Step, Sum, plain, shown, written_in
from paramsym.analysis.formula import formula_of, one_more
from paramsym.analysis.groups import Group, grouped, how, quotients, tensors
from paramsym.analysis.meaning import meaning
from paramsym.analysis.named import named
from paramsym.analysis.wording import listed
from paramsym.errors import ArgumentError
from paramsym.naming import quoted
from paramsym.present.tabulate import PAPER
from paramsym.render import latex
from paramsym.render.html import formula
from paramsym.render.markdown import escaped
from paramsym.render.table import Letters, Printed
from paramsym.render.widths import limit_of, width as measured

_LONG = 200  # the most characters of a derivative inside a sentence


@dataclass(frozen=True)
class Explanation(Printed):
    """A derivation: where ``symbol`` enters, how the terms add up, and the result.

    ``steps`` are true equations; the last one's right-hand side is the closed form. ``groups`` are the tensors it enters, by product of
    factors. If the count changes ``in_steps``, as inside a floor, ``derivative`` is the change for one more of the symbol. ``meaning`` is
    the meaning of the symbol, ``aside`` a sentence about a symbol that no stored tensor has. Prints as text; ``to_latex()`` gives an
    ``align*``.
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
    meaning: str = ""
    aside: str = ""
    in_steps: bool = False
    spoken: Words = PARAMETERS

    @property
    def cancels(self) -> bool:
        """Whether the count does not depend on the symbol."""
        return self.derivative == 0

    @property
    def enters(self) -> bool:
        """Whether any tensor's shape or number of copies contains the symbol."""
        return bool(self.groups)

    @property
    def verdict(self) -> str:
        """The answer in one or two sentences."""
        return plain(self._said)

    @property
    def _said(self) -> tuple[Said, ...]:
        known = f" ({self.meaning})" if self.meaning else ""
        if not self.enters:
            return self.symbol, f"{known} does not change the {self.spoken.count} of {self.subject}: no {self.spoken.having}.{self.aside}"
        where = f"It enters {tensors(line for group in self.groups for line in group.lines)} of {self.tensors} {self.spoken.one}s"
        if self.cancels:
            begin = f"{known} cancels from the {self.spoken.count} of {self.subject}. {where}, "
            return self.symbol, begin, *self._because, ", and cancels in every sum."
        begin = f"{known} changes the {self.spoken.count} of {self.subject}. {where}"
        if len(shown(self.derivative)) > _LONG:
            return self.symbol, begin, ".", *self._stays
        slope: tuple[Said, ...] = ("one more of ", self.symbol, " adds ") if self.in_steps else ("the derivative is ",)
        return self.symbol, begin, "; ", *slope, self.derivative, ".", *self._stays

    @property
    def _stays(self) -> tuple[Said, ...]:
        kept = [group for group in self.groups if self.symbol in group.amount.free_symbols and any(quotients(group.factors, self.symbol))]
        named = [piece for group in kept for piece in ("; ", f"{group.names} (", group.amount.as_expr(), ")")]
        return (" It stays in ", *named[1:], ".") if kept else ()

    @property
    def _because(self) -> tuple[Said, ...]:
        found = {shown(quotient): with_quotients(quotient) for group in self.groups for quotient in quotients(group.factors, self.symbol)}
        widths = [piece for _, quotient in sorted(found.items()) for piece in (" or ", quotient)]
        return ("always as ", self.symbol, " slices of width ", *widths[1:]) if found else ("in terms that cancel",)

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"{number}. {step}" for number, step in enumerate(self.steps, 1))])

    def to_latex(
        self, letters: Lettering = None, *, words: Literal["intertext", "text", "none"] = "intertext", width: int | None = None
    ) -> str:
        r"""Return the derivation as a LaTeX ``align*``; needs ``amsmath``.

        ``letters`` is the name of a paper's set or a mapping. ``words="text"`` writes the sentences with ``\text``, which MathJax and KaTeX
        know too; ``"none"`` leaves them out. ``width`` is the number of characters in a line: None means an article in ten points, 45 a
        column of a two-column article.

        Raises:
            ArgumentError: unknown letters, or an impossible width.
        """
        limit = limit_of(width)
        chosen = self.letters if letters is None else lettering(letters, symbols_in(self.params) | {self.symbol})
        rows: list[str] = []
        sides = [step.to_latex(chosen).split("&=") for step in self.steps]
        widest = sum(max(map(measured, side), default=0) for side in zip(*sides, strict=True))
        fits = widest <= limit and words != "text"  # otherwise all of it is flush left
        for step in self.steps:
            equation = step.to_latex(chosen) if fits else " \\\\\n".join(step.latex_lines(chosen, limit))
            if words == "intertext":
                equation = rf"\intertext{{{written_in(step.said, latex.words, '${}$'.format, chosen)}}}" + "\n" + equation
            elif words == "text":
                said = latex.wrapped(step.words, limit)
                equation = " \\\\\n".join([*(rf"&\text{{{line}}}" for line in said), equation])
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
            steps.append(f"<li>{written_in(step.said, escape, formula, self.letters)}<br>{equation}{numbers}</li>")
        return f"<p>{written_in(self._said, escape, formula, self.letters)}</p>\n<ol>\n" + "\n".join(steps) + "\n</ol>"

    def to_markdown(self) -> str:
        """Return the derivation as Markdown with formulas between dollars, as a README or a notebook shows it."""
        steps = [written_in(self._said, escaped, "${}$".format, self.letters)]
        for number, step in enumerate(self.steps, 1):
            equation = step.to_latex(self.letters).replace("&=", "=")
            numbers = f"\n\n    {escaped(step.numbers)}" if step.numbers else ""
            said = written_in(step.said, escaped, "${}$".format, self.letters)
            steps.append(f"{number}. {said}\n\n   $$\n   {equation}\n   $$" + numbers)
        return "\n\n".join(steps)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def explain(layer: Counted, symbol: Symbol | str) -> Explanation:
    """Derive how the count of a layer, or a cost, depends on a symbol: tensor by tensor, operation by operation.

    On a layer with sizes put in, the formula is explained and the numbers are shown beside it. The name of an argument means the symbol, or
    the number, that was passed for it.

    Raises:
        ArgumentError: neither a layer nor a cost, or not a symbol.
        UnknownNameError: a name that is neither the layer's nor a shared letter, or a different symbol of the same name.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> why = explain(MultiHeadAttention(H, A), A)
    >>> why.cancels, why.derivative
    (True, 0)
    >>> print(why.verdict)
    A (number of attention heads) cancels from the count of MultiHeadAttention. It enters 3 of 4 tensors, always as A slices of width H/A, \
and cancels in every sum.
    >>> explain(MultiHeadAttention(768, 12), "num_heads").derivative
    0
    >>> from paramsym import B, S, activations
    >>> explain(activations(MultiHeadAttention(H, A, batch_first=True), (B, S, H)), A).derivative  # attention scores kept for training
    4*B*S**2
    """
    check_counted(layer)
    root, sizes = named(layer, symbol if isinstance(symbol, str) else "").origin
    found = _symbol(root, symbol)
    lines = lines_of(root)
    closed = root.polynomial.as_expr()
    entered = [
        line for line in lines if found in set(symbols_in((line.factors, line.stored, tuple((s.start, s.count) for s in line.spans))))
    ]
    groups = tuple(grouped(entered))
    in_steps = bool(root.polynomial.steps(found))
    derivative = (one_more(root.polynomial, found) if in_steps else root.polynomial.diff(found)).as_expr()
    return Explanation(
        title(root),
        found,
        closed,
        derivative,
        tuple(_steps(root, found, groups, derivative, sizes)),
        groups,
        tensors(lines),
        tuple(sizes.items()),
        meaning=meaning(found, holder(root)),
        aside="" if groups else _aside(root, found, [] if root is layer.origin[0] else [symbol.name for symbol in sizes]),
        in_steps=in_steps,
        spoken=words_of(root),
    )


def _aside(layer: Counted, symbol: Symbol, arguments: list[str]) -> str:
    """Explain a symbol that no stored tensor has: it may count uses, or another symbol may be meant."""
    if any(symbol in set(symbols_in(line.used)) for line in layer.lines):
        return " It says how often what is stored is used."
    name = title(layer)
    alike = sorted(other.name for other in layer.symbols if other.name.startswith(f"{symbol.name}_"))
    if symbol not in layer.symbols and alike:
        return f" {name} has {listed(alike)}."
    if symbol not in layer.symbols and (key := holder(layer).argument_of(symbol)):
        return f" In {name} {key} is a number, not a letter."
    if symbol.name in arguments or not arguments:
        return ""
    return f" {name} was built with numbers; ask for one by its name, {listed(arguments)}."


def _symbol(layer: Counted, symbol: Symbol | str) -> Symbol:
    if not isinstance(symbol, Symbol | str):
        raise ArgumentError(f"wanted a symbol or its name, not {quoted(symbol)}.")
    name = symbol if isinstance(symbol, str) else symbol.name
    if name not in {known.name for known in layer.symbols}:
        if isinstance(symbol, Symbol):
            return symbol
        given = next((one for one in layer.symbols if holder(layer).argument_of(one) == name), None)
        if given is not None:
            return given
        if name in BY_NAME:
            return BY_NAME[name].symbol
    return symbol_of(type(holder(layer)).__name__, symbol, layer.symbols)


def _steps(layer: Counted, symbol: Symbol, groups: tuple[Group, ...], derivative: Expr, sizes: dict[Symbol, Dim]) -> Iterator[Step]:
    closed = layer.polynomial.as_expr()
    terms: list[tuple[int, Product]] = []
    for group in groups:
        left = Sum(((len(group.lines), group.product),))
        what = f"{group.tensors} {words_of(layer).one}{'s' if group.tensors > 1 else ''} ({group.names}): "
        yield Step((what, *how(group, symbol), "."), left, group.amount.as_expr(), _numbers(left, sizes))
        terms.append((1, Product((group.amount.as_expr(),))))
    inside = {id(line) for group in groups for line in group.lines}
    rest = total(line for line in lines_of(layer) if id(line) not in inside)
    if groups:
        yield from _chain_rule(groups, symbol, derivative, sizes)
    else:
        terms.extend((1, Product((amount.as_expr(),))) for amount in formula_of(layer).parts.values())
    said: tuple[Said, ...] = ("Everything together:",)
    if rest and groups:
        terms.append((1, Product((rest.as_expr(),))))
        said = ("Everything together, the last term without ", symbol, ":")
    elif rest:
        said = ("Everything together, no term with ", symbol, ":")
    yield Step(said, Sum(tuple(terms)), closed, _numbers(Sum(((1, Product((closed,))),)), sizes))


def _chain_rule(groups: tuple[Group, ...], symbol: Symbol, derivative: Expr, sizes: dict[Symbol, Dim]) -> Iterator[Step]:
    """Split the derivative into the direct effect and the effect through quotients: one more head, and thinner heads."""
    if not any(True for group in groups for _ in quotients(group.factors, symbol)):
        return
    terms: dict[bool, list[Polynomial]] = {False: [], True: []}
    for group in groups:
        if any(line.spans for line in group.lines):
            return
        for position, factor in enumerate(group.factors):
            if not isinstance(factor, Expr) or symbol not in factor.free_symbols:
                continue
            size = Polynomial.of(factor)
            if size.steps(symbol):
                return
            slope = size.diff(symbol)
            others = Polynomial.product((*group.factors[:position], *group.factors[position + 1 :], len(group.lines)))
            terms[bool(factor.atoms(per))].append(slope * others)
    direct, through = (Polynomial.total(terms[kind]).as_expr() for kind in (False, True))
    left = Sum(tuple((1, Product((side,))) for side in (direct, through) if side != 0))
    if Polynomial.of(direct) + Polynomial.of(through) != Polynomial.of(derivative):
        return
    said: tuple[Said, ...] = (
        *("The derivative in ", symbol),
        " has two parts: one more slice of the same width, and the smaller width of every slice.",
    )
    if not any(how(group, symbol)[:2] == (symbol, " slices of width ") for group in groups):
        said = ("The derivative: first the terms that ", symbol, " multiplies, then the terms that it divides.")
    yield Step(said, left, derivative, _numbers(left, sizes))


def _numbers(left: Sum, sizes: dict[Symbol, Dim]) -> str:
    """Write a sum with sizes put in and its value, if every symbol has a size."""
    if not sizes:
        return ""
    placed = Sum(tuple((times, product.at(sizes)) for times, product in left.terms))
    value = placed.value.constant
    if not isinstance(value, int):
        return ""
    return f"{placed} = {value:,}" if str(placed) != str(value) else f"= {value:,}"
