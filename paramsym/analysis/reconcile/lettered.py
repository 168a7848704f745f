"""A claim in letters against a count in letters: their difference, and what the claim may have counted instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sympy import Expr, Integer, Symbol, nextprime

from paramsym.algebra.polynomial import Monomial, Polynomial
from paramsym.algebra.size import Dim, substitute, symbols_in, with_quotients
from paramsym.analysis import claim as claims
from paramsym.analysis.claim import Stated, exactly
from paramsym.analysis.counted import Counted, numbers, put, title
from paramsym.analysis.evaluate.compiling import stated
from paramsym.analysis.reconcile.answers import Answer, Reading, Reconciliation
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.wording import listed, written
from paramsym.errors import ParamsymError

_FIRST = 200  # letters get primes above this as sizes, so that no two terms are equal by chance
_ROUNDS = 4  # for making sizes multiples of others
Search = Callable[[Subject, Stated], list[Answer]]


def in_letters(subject: Counted, claim: Any) -> bool:
    """Whether a claim must be compared with the formula, because there is no number."""
    return isinstance(claim, str | Expr) and subject.polynomial.constant is None


def against_formula(subject: Counted, claim: str | Expr, search: Search, names: Mapping[str, Dim] | None = None) -> Reconciliation:
    """Compare a claim in letters with the formula of a layer or a cost.

    The search for readings runs at prime sizes for the letters; an answer is accepted if its term is the difference in letters.

    Raises:
        SizeError: a number as the claim about a formula whose letters have no sizes.
    """
    sizes = _stand_ins(subject)
    known = numbers(subject.origin[1])
    said = claims.read(claim, known | sizes, names)
    if said.formula is None:
        subject.count  # noqa: B018 - raises, and says which letters have no sizes
        raise AssertionError  # pragma: no cover
    formula = put(said.formula, known)
    term = formula - subject.polynomial
    readings = _readings(subject, sizes, formula, search) if term else [Reading(f"{said.words} is right, letter by letter")]
    answer = Answer(term.as_expr(), term.as_expr(), tuple(readings) or (Reading(_between(subject, term)),))
    return Reconciliation(title(subject), None, said.words, (answer,))


def _readings(subject: Counted, sizes: Mapping[Symbol, int], formula: Polynomial, search: Search) -> list[Reading]:
    try:
        sized = Subject(subject.at(dict(sizes)))
        value, count = sized.ratio(formula), sized.count
    except ParamsymError:
        return []
    if value.denominator != 1 or value <= 0 or not all(isinstance(size, int) for size in sized.sizes.values()):
        return []
    term = formula - subject.polynomial
    found = search(sized, exactly(int(value))) if value != count else []
    same = [one for one in found if put(Polynomial.of(one.term), numbers(subject.origin[1])) == term]
    readings = (reading for answer in same for reading in answer.readings if len(reading.edits) == 1)
    return [replace(reading, edits=(), note="") for reading in readings]


def _stand_ins(subject: Counted) -> dict[Symbol, int]:
    """Return sizes for the letters: primes, and multiples where one size must divide another."""
    letters = sorted(subject.symbols, key=lambda symbol: (symbol.name == "P", symbol.name))  # position tables have rows for all positions
    sizes = {letter: int(nextprime(_FIRST, number)) for number, letter in enumerate(letters, 1)}
    for _ in range(_ROUNDS):
        for one in (one for one in stated(subject).conditions if one.kind == "divides"):
            values = [Integer(substitute(side, {s: Integer(v) for s, v in sizes.items()})) for side in _sides(one.small, one.large)]
            inside = [symbol for symbol in symbols_in(one.large) if symbol not in set(symbols_in(one.small))]
            if len(values) == 2 and values[1] % values[0] and inside:
                sizes[inside[0]] *= int(values[0])
    return sizes


def _sides(*sides: Any) -> tuple[Any, ...]:
    return tuple(with_quotients(side) if isinstance(side, Expr) else Integer(side) for side in sides)


def _between(subject: Counted, term: Polynomial) -> str:
    """Describe the terms that the claim leaves out, with their lines, and its extra terms."""
    missing = Polynomial({monomial: -c for monomial, c in term.terms.items() if c < 0})
    extra = Polynomial({monomial: c for monomial, c in term.terms.items() if c > 0})
    words = [f"it leaves out {written(missing.as_expr())}{_named(subject, missing)}"] if missing else []
    return "; ".join([*words, f"it has {written(extra.as_expr())} more"] if extra else words)


def _named(subject: Counted, missing: Polynomial) -> str:
    gone: set[Monomial] = {monomial for monomial, c in missing.terms.items() if subject.polynomial.terms.get(monomial) == c}
    names = [str(line.path[-1]) for line in subject.lines if gone and set(line.polynomial().terms) <= gone]
    where = Polynomial({monomial: missing.terms[monomial] for monomial in gone})
    if not names:
        return ""
    return f", {'' if where == missing else f'of which {written(where.as_expr())} is '}the whole of {listed(names)}"
