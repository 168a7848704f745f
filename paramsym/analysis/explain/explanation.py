"""An explanation: its verdict in a sentence or two, and its formats."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from sympy import Expr, Symbol

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.size import Dim, symbols_in, with_quotients
from paramsym.analysis.counted import PARAMETERS, Words
from paramsym.analysis.explain.derivation import Said, Step, plain, shown, written_in
from paramsym.analysis.explain.groups import Group, quotients, tensors
from paramsym.present.tabulate import PAPER
from paramsym.render import latex
from paramsym.render.html import formula
from paramsym.render.markdown import escaped
from paramsym.render.printed import Printed
from paramsym.render.table import Letters
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
