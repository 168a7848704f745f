"""An explanation: its verdict, the sentences of its steps, and its formats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Literal

from sympy import Expr, Symbol

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.size import Count, Dim, per, symbols_in, text, with_quotients
from paramsym.analysis.counted import PARAMETERS, Counted, Words, holder, title
from paramsym.analysis.explain.derivation import Said, Step, plain, shown, written_in
from paramsym.analysis.explain.groups import Group, quotients, tensors
from paramsym.analysis.wording import listed, once_per
from paramsym.core.ledger import Line
from paramsym.present.tabulate import PAPER
from paramsym.render import latex
from paramsym.render.html import formula
from paramsym.render.markdown import escaped
from paramsym.render.printed import Printed
from paramsym.render.table import Letters
from paramsym.render.widths import limit_of, width as measured

_SLICED = frozenset("AG")
_TIMES = {2: " twice", 3: " three times"}
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
        widest = sum(max(map(measured, side), default=0) for side in zip(*sides, strict=True)) + measured("=")
        fits = widest <= limit and words != "text"  # otherwise all of it is flush left
        for step in self.steps:
            equation = step.to_latex(chosen) if fits else " \\\\\n".join(step.latex_lines(chosen, limit))
            if words == "intertext":
                said = written_in(step.said, latex.words, "${}$".format, chosen)
                equation = rf"\intertext{{\emergencystretch=6em {said}}}" + "\n" + equation  # long names of tensors have few spaces
            elif words == "text":
                lines = latex.wrapped(step.words, limit)
                equation = " \\\\\n".join([*(rf"&\text{{{line}}}" for line in lines), equation])
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


def aside(layer: Counted, symbol: Symbol, arguments: list[str]) -> str:
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


def of_group(group: Group, symbol: Symbol, spoken: Words, earlier: Iterable[Group] = ()) -> tuple[Said, ...]:
    """Say which tensors a group has, and how the symbol enters them."""
    del earlier
    return (f"{group.tensors} {spoken.one}{'s' if group.tensors > 1 else ''} ({group.names}): ", *how(group, symbol), ".")


def together(symbol: Symbol, *, entered: bool, rest: bool) -> tuple[Said, ...]:
    """Introduce the sum of all terms: whether the symbol entered any, and whether there is a ``rest`` without it."""
    if not rest:
        return ("Everything together:",)
    return ("Everything together, the last term without " if entered else "Everything together, no term with ", symbol, ":")


def two_parts(groups: Iterable[Group], symbol: Symbol) -> tuple[Said, ...]:
    """Introduce a derivative as the sum of what the symbol multiplies and what it divides."""
    if any(how(group, symbol)[:2] == (symbol, " slices of width ") for group in groups):
        return "The derivative in ", symbol, " has two parts: one more slice of the same width, and the smaller width of every slice."
    return "The derivative: first the terms that ", symbol, " multiplies, then the terms that it divides."


def how(group: Group, symbol: Symbol) -> tuple[Said, ...]:
    """Describe how the symbol enters a group: as slices, as a number of slices or copies, or inside a size."""
    line = group.lines[0]
    each = " each" if len(group.lines) > 1 else ""
    if any(span.index is not None and symbol in set(symbols_in((span.count, span.start))) for span in line.spans):
        return (f"one{each} for every copy, and the copies differ: their sizes are summed",)
    if any(quotients(group.factors, symbol)):
        return _divided(group, symbol, each)
    copies = next((count for count in line.stored if symbol in set(symbols_in(count))), None)
    if copies is not None:
        per_what = f", {once_per(symbol)}" if copies == symbol and symbol.name in {"L", "E"} else ""
        return ("stored " if line.shape else "", copies, " times", each, per_what)
    if symbol in group.factors:
        return _multiplied(group, symbol, each)
    size = next(factor for factor in group.factors if symbol in set(symbols_in(factor)))
    for axis in line.axes:
        slices = [factor for factor in axis if factor != size]
        if isinstance(size, per) and size.as_quotient()[0] == symbol and len(slices) == 1 and size in axis:
            return (f"the width{each} is ", symbol, ", divided among ", slices[0], " slices")
    return (symbol, " is inside a size", each, ", ", size)


def _divided(group: Group, symbol: Symbol, each: str) -> tuple[Said, ...]:
    slices, width = sliced(group, symbol)
    if width is None:
        size = next(factor for factor in group.factors if any(quotients((factor,), symbol)))
        return (symbol, " divides inside a size", each, ", ", size, ", and stays")
    if slices == symbol:
        return (symbol, " slices of width ", width, f"{each}, because the width is divided exactly")
    if slices is not None:
        return (slices, " slices of width ", width, f"{each}, and ", slices, " is not ", symbol, ": ", symbol, " stays")
    if symbol.name in _SLICED:
        return ("one slice of width ", width, f"{each}, shared by all: nothing multiplies the division away, and ", symbol, " stays")
    return ("a width of ", width, f"{each}: nothing multiplies the division away, and ", symbol, " stays")


def sliced(group: Group, symbol: Symbol) -> tuple[Dim | None, Expr | None]:
    """Return the number of slices, None for one, and their width, which is divided by the symbol; None if no axis is so divided."""
    stays = symbol in group.amount.free_symbols
    for factors in group.lines[0].axes or (_slices_first(group.factors, symbol),):
        for factor in factors:
            if isinstance(factor, per) and symbol in factor.as_quotient()[1].free_symbols:
                slices = next((other for other in factors if other is not factor and other != 1), None)
                if not (slices == symbol and stays):  # else another axis is divided as well
                    return slices, with_quotients(factor)
    return None, None


def _slices_first(factors: tuple[Count, ...], symbol: Symbol) -> tuple[Dim, ...]:
    """Return the factors of a line without a shape as one axis: the number of slices, then their width."""
    widths = [factor for factor in factors if isinstance(factor, per)]
    known = {text(width.as_quotient()[1]) for width in widths}
    return (*(factor for factor in factors if factor == symbol or text(factor) in known), *widths)


def _multiplied(group: Group, symbol: Symbol, each: str) -> tuple[Said, ...]:
    line = group.lines[0]
    if line.role == "table" and symbol.name in _SLICED:
        return (symbol, f" is a factor of the table{each}, and no width in it is divided by ", symbol)
    if line.role == "table" and line.sizes[0] == symbol:
        return (f"a table{each} with one row for each of ", symbol)
    width = _beside(line, symbol) if symbol.name in _SLICED and line.shape else None
    if width is not None:
        return (symbol, " slices of width ", width, f"{each}, a separate size: ", symbol, " stays")
    times = group.factors.count(symbol)
    often = _TIMES.get(times, f" {times} times") if times > 1 else ""
    return (symbol, " is a factor", f" of each{',' if often else ''}" if each else "", often)


def _beside(line: Line, symbol: Symbol) -> Symbol | None:
    """Return the width that follows a number of slices among the factors of a tensor."""
    following = line.factors[line.factors.index(symbol) + 1 :]
    return next((factor for factor in following[:1] if isinstance(factor, Symbol)), None)
