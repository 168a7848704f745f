"""Several claims at once, such as the rows of a paper's table, explained by one term that fits all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from sympy import Expr, Integer

from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.claim import Stated
from paramsym.analysis.counted import Counted
from paramsym.analysis.reconcile.answers import Answer, Reading, Reconciliation
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.several import Several
from paramsym.analysis.wording import written
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, ParamsymError
from paramsym.present.tabulate import PAPER
from paramsym.render.table import Cell, Table

_MOST = 10
_LONGEST = 1000  # rows of a table
_RIGHT = Answer(Integer(0), 0, (Reading("the count is right"),))


@dataclass(frozen=True)
class Row:
    """One claim: its name, the counted layer or cost, the answers to this claim alone, and the stated number if the claim is a number."""

    name: str
    counted: Counted
    alone: Reconciliation
    stated: Stated | None = None


@dataclass(frozen=True)
class Together(Several[Answer]):
    """The answers that fit every one of several claims, the simplest first; empty and false if no answer does.

    ``rows`` are the claims, each with its own answers. The ``difference`` of an answer is its term. If the rows share a reading but have
    different terms (``by_reading``), the term is that of the first row.
    """

    rows: tuple[Row, ...]
    answers: tuple[Answer, ...]
    by_reading: bool = False

    def __str__(self) -> str:
        if self.answers:
            rows = "both rows" if len(self.rows) == 2 else f"all {len(self.rows)} rows"
            return "\n".join(f"in {rows}: {answer.words if self.by_reading else answer}" for answer in self.answers)
        return "\n".join([f"no one term fits all {len(self.rows)} claims; each alone:", *(f"{row.name}: {row.alone}" for row in self.rows)])

    def table(self) -> Table:
        """Return the claims as a table: the claimed number, the counted number, and the count plus the term of the first answer."""
        answer = self.answers[0] if self.answers and self.answers[0].term != 0 and not self.by_reading else None
        rows: list[tuple[Cell, ...]] = []
        for row in self.rows:
            count: Cell = row.counted.polynomial.as_expr() if row.alone.counted is None else row.alone.counted
            more = () if answer is None else (Subject(row.counted).count + Subject(row.counted).value(answer.term),)
            rows.append((row.name, row.alone.claim, count, *more))
        said = f": {self.answers[0].words}" if self.answers else ""
        header = ("row", "claim", "counted") if answer is None else ("row", "claim", "counted", f"with {written(answer.term)}")
        return Table(header, tuple(rows), (), f"{len(self.rows)} claims{said}", PAPER)


def rows_of(counted: Any, claim: Any, at: Any) -> list[tuple[str, Any, Any, Any]] | None:
    """Return name, counted layer or cost, claim and sizes of every row of several claims; None for one claim.

    Raises:
        ArgumentError: the numbers of layers, claims and sizes differ, or there are no claims, or too many.
    """
    named = isinstance(claim, Mapping) and claim and all(isinstance(one, int | str | Expr | Counted) for one in claim.values())
    if named and not _are_tensors(counted, claim):
        if at is not None:
            raise ArgumentError(f"at is {at!r}, but the claims are already named for {', '.join(map(str, claim))}; give one of them.")
        claims, sizes = list(claim.values()), list(claim)
    elif _is_list(claim):
        claims = _rows(claim, "claims")
        sizes = _rows(at, "sizes") if _is_list(at) else [at] * len(claims)
    elif _is_list(at):
        raise ArgumentError("several sizes with one claim; give a list with one claim for each of the sizes.")
    else:
        return None
    layers = _rows(counted, "layers") if _is_list(counted) else [counted] * len(claims)
    if not claims or not len(layers) == len(claims) == len(sizes):
        message = f"there are {len(claims)} claims for {len(layers)} layers and {len(sizes)} sizes; wanted equally many, at least one."
        raise ArgumentError(message)
    names = [str(size) if isinstance(size, str) else str(number) for number, size in enumerate(sizes, 1)]
    return list(zip(names, layers, claims, sizes, strict=True))


def _are_tensors(counted: object, claim: Mapping[Any, Any]) -> bool:
    """Whether a name among the claims is the name of a tensor: then the mapping is meant as shapes, and they are wrong."""
    return isinstance(counted, Layer) and not claim.keys().isdisjoint(counted.shapes())


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | Counted | Reconciliation)


def _rows(given: Iterable[Any], what: str) -> list[Any]:
    rows = list(islice(given, _LONGEST + 1))
    if len(rows) > _LONGEST:
        raise ArgumentError(f"there are more than {_LONGEST:,} {what}; give the rows of one table.")
    return rows


def together(rows: Sequence[Row], candidates: Callable[[Row], Sequence[Answer]]) -> Together:
    """Return the answers that fit all rows: the terms that one row suggests and all rows allow, or the readings that all rows share."""
    numbers = all(row.stated is not None for row in rows)
    same = len({row.counted.origin[0].polynomial for row in rows}) == 1
    found = _terms(rows, candidates) if numbers and same else _shared(rows, candidates)
    return Together(tuple(rows), tuple(found)[:_MOST], not (numbers and same))


def _terms(rows: Sequence[Row], candidates: Callable[[Row], Sequence[Answer]]) -> Iterator[Answer]:
    """Yield the terms in letters that give the claim of every row when its sizes are put in."""
    subjects = [Subject(row.counted) for row in rows]
    if all(row.alone and row.alone[0].term == 0 for row in rows):
        yield _RIGHT
        return
    seen: dict[Polynomial, list[tuple[int, Answer]]] = {}
    for row in sorted(rows, key=lambda row: row.stated is not None and not row.stated.exact):
        for place, answer in enumerate(candidates(row)):
            term = Polynomial.of(answer.term)
            if term and (term in seen or _fits(term, rows, subjects)):
                seen.setdefault(term, []).append((place, answer))
    for hits in sorted(seen.values(), key=lambda hits: (len(hits[0][1].readings[0].edits), -len(hits), min(place for place, _ in hits))):
        first = hits[0][1]
        yield replace(first, difference=first.term, chance=min(hit.chance for _, hit in hits), value=None)


def _fits(term: Polynomial, rows: Sequence[Row], subjects: Sequence[Subject]) -> bool:
    try:
        totals = [subject.count + subject.ratio(term) for subject in subjects]
    except ParamsymError:  # the term has a letter that this row does not have
        return False
    return all(row.stated is not None and row.stated.low <= total <= row.stated.high for row, total in zip(rows, totals, strict=True))


def _shared(rows: Sequence[Row], candidates: Callable[[Row], Sequence[Answer]]) -> Iterator[Answer]:
    """Yield the readings that every row has, by their words: for claims in letters, and models that differ in more than sizes."""
    answers = [candidates(row) for row in rows]
    told = [{reading.words for answer in each for reading in answer.readings} for each in answers]
    if all(each and each[0].term == 0 for each in answers):
        yield _RIGHT
        return
    for answer in answers[0]:
        readings = tuple(reading for reading in answer.readings if all(reading.words in words for words in told))
        if readings and answer.term != 0:
            yield replace(answer, difference=answer.term, readings=readings, value=None)
