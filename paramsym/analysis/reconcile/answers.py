"""The answers of a reconciliation: ranked terms, each with its readings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Expr, Integer

from paramsym.analysis.reconcile.edits import Edit
from paramsym.analysis.several import Several
from paramsym.analysis.wording import written
from paramsym.present.tabulate import PAPER
from paramsym.render import latex
from paramsym.render.printed import Printed
from paramsym.render.table import Cell, Table

_SURE = 0.01  # a rounded claim confirms an answer if a random one would fit such an answer less often than this
_ANY = 0.5  # from this number of chance hits on, nearly every number has an answer
POSSIBLE = "possible: "  # before words that fit a rounded claim, which does not confirm them
_LONGEST = 200  # the most characters of a term in a line of text; ``term`` and the table have all of it
_SHOWN = 3  # the most readings of one term in a line of text


@dataclass(frozen=True)
class Reading(Printed):
    """One reading of a term: the edits, and a note if the sizes are impossible."""

    words: str
    edits: tuple[Edit, ...] = ()
    note: str = ""

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors the edits touch."""
        return tuple(dict.fromkeys(name for edit in self.edits for name in edit.tensors))

    def __str__(self) -> str:
        return f"{self.words} ({self.note})" if self.note else self.words


@dataclass(frozen=True)
class Answer(Printed):
    """One term that explains the difference, with all its readings.

    ``term`` is in letters, expanded. ``difference`` is claim minus count, an int; if a compared layer has letters left, it is the term.
    ``value`` is the value of the term if the claim is rounded, so that the two differ. ``chance`` is the expected number of equally short
    answers for a random claim nearby.
    """

    term: Expr
    difference: int | Expr
    readings: tuple[Reading, ...]
    chance: float = 0.0
    value: int | None = None

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors of the first reading."""
        return self.readings[0].tensors

    @property
    def known(self) -> bool:
        """Whether the first reading names a habit, a convention or a structure; otherwise it only fits."""
        return all(edit.known for edit in self.readings[0].edits)

    @property
    def sure(self) -> bool:
        """Whether the claim confirms the answer: it is not rounded, or a random number rounded so fits such an answer once in 100 times.

        An answer that is not sure is no reason: it is one of those that would fit.
        """
        asked = any(edit.asked for edit in self.readings[0].edits)
        return self.term == 0 or self.value is None or asked or self.chance < _SURE

    @property
    def words(self) -> str:
        """The sentence without the number."""
        said = [str(reading) for reading in self.readings]
        told = [words for number, words in enumerate(said) if not any(words in earlier for earlier in said[:number])]
        shown = "; or ".join(told[:_SHOWN])
        more = len(told) - _SHOWN
        shown += f"; and {more} more readings" if more > 1 else "; and one more reading" if more == 1 else ""
        return f"{'' if self.sure or not self.known else POSSIBLE}{shown}{self._caution}"

    @property
    def _caution(self) -> str:
        edits = self.readings[0].edits
        if len(edits) > 2:
            return f" (with {len(edits)} edits, expect {self.chance:.2g} such answers by chance)"
        if self.sure:
            return ""
        share = "nearly every number" if self.chance >= _ANY else f"one number in {round(1 / self.chance)}"
        return f" (rounded so, {share} fits an answer as simple by chance)"

    def __str__(self) -> str:
        if self.term == 0:
            return self.words
        if not isinstance(self.difference, int):
            return f"{written(self.term)}: {self.words}"
        value = f"{self.difference if self.value is None else self.value:+d}"
        spelled_out = isinstance(self.term, Integer) or not self.readings[0].edits  # the words contain the claim's own arithmetic
        term = "" if spelled_out else written(self.term)
        return f"{value} = {term}: {self.words}" if 0 < len(term) <= _LONGEST else f"{value}: {self.words}"

    def to_latex(self) -> str:
        """Return the difference and its term as LaTeX; they are about equal where the claim is rounded."""
        rounded = self.value not in {None, self.difference} or (self.term == 0) != (self.difference == 0)
        relation = r"\approx" if rounded else "="
        return f"{latex.expression(self.difference, PAPER)} {relation} {latex.expression(self.term, PAPER)}"


@dataclass(frozen=True)
class Reconciliation(Several[Answer]):
    """The answers, the simplest first; empty, and false, if no short explanation was found.

    ``counted`` is the count of the layer, ``claim`` the claimed number. ``undecided`` are equally simple answers that a rounded claim fits
    and does not tell apart, so that none of them is a reason.
    """

    subject: str
    counted: int | None
    claim: str
    answers: tuple[Answer, ...]
    undecided: tuple[Answer, ...] = ()

    def __str__(self) -> str:
        if self.answers:
            return "\n".join(str(answer) for answer in self.answers)
        if self.undecided:
            named = "; ".join(answer.readings[0].words for answer in self.undecided[:_SHOWN])
            more = len(self.undecided) - _SHOWN
            return (
                f"no one reason found for {self._against}: rounded so, a claim fits about {self.undecided[0].chance:.0f} such edits by"
                f" chance, and this one fits {len(self.undecided)} ({named}{f'; and {more} more' if more > 0 else ''})"
            )
        return f"no short explanation found for {self._against}"

    @property
    def _against(self) -> str:
        return self.claim + ("" if self.counted is None else f" against {self.counted:,}") + f" of {self.subject}"

    def table(self) -> Table:
        """Return the answers as a table: difference, term if one has letters, readings."""
        rows: list[tuple[Cell, ...]] = []
        lettered = not self.answers or any(not isinstance(answer.term, Integer) for answer in self.answers)
        for answer in self.answers:
            for place, reading in enumerate(answer.readings):
                cells = (answer.difference, answer.term) if place == 0 else (None, None)  # the same again
                rows.append((*cells[: 1 + lettered], f"{'' if answer.sure or not answer.known else POSSIBLE}{reading}"))
        header = ("difference", "term", "reading") if lettered else ("difference", "reading")
        return Table(header, tuple(rows), (), self._against, PAPER)

    def to_latex(self, **options: Any) -> str:
        """Return the table as LaTeX, and a sentence if there is no answer."""
        return super().to_latex(**options) if self.answers else latex.words(str(self))
