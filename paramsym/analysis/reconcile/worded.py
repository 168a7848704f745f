"""From the hits of a search to answers in words, with a term in letters; and the answer if the count agrees with the claim."""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Integer, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.claim import Stated
from paramsym.analysis.reconcile.answers import Answer, Reading
from paramsym.analysis.reconcile.edits import Edit
from paramsym.analysis.reconcile.ranking import Hit
from paramsym.analysis.reconcile.resizing import impossible
from paramsym.analysis.reconcile.subject import Subject


def in_words(subject: Subject, hits: list[Hit], stated: Stated) -> list[Answer]:
    """Return the answers of hits, each term once with all its readings; hits with sizes that no layer has say why, or are left out."""
    found: dict[Polynomial, tuple[list[Reading], Hit]] = {}
    for hit in hits:
        note = ""
        changes = _changes(hit.edits)
        if changes:
            fault = impossible(subject, changes)
            if fault is None:
                continue
            note = f"impossible: {fault}" if fault else ""
        term = Polynomial.total(edit.term(subject) for edit in hit.edits)
        readings, _ = found.setdefault(term, ([], hit))
        total = total_with(subject, hit)
        if not readings and not stated.exact and not stated.allows(total):
            note = _how_rounded(stated, total, hit)
        words = ", and ".join(edit.words for edit in hit.edits)
        if not any(reading.words == words or (changes and _changes(reading.edits) == changes) for reading in readings):
            readings.append(Reading(words, hit.edits, note))
    difference = stated.value - subject.count
    return [
        Answer(term.as_expr(), difference, _once(readings), hit.chance, None if stated.exact else subject.value(term))
        for term, (readings, hit) in found.items()
    ]


def _once(readings: list[Reading]) -> tuple[Reading, ...]:
    """Leave out the option that ties a matrix beside the reading that names the matrix."""
    named = any(" tied to " in reading.words for reading in readings)
    return tuple(reading for reading in readings if not (named and reading.words.startswith("built with tie_word_embeddings=True")))


def _changes(edits: Iterable[Edit]) -> dict[Symbol, int]:
    return {symbol: value for edit in edits for symbol, value in edit.sizes}


def total_with(subject: Subject, hit: Hit) -> int:
    """Return the count with the edits of a hit."""
    return subject.count + sum(edit.value for edit in hit.edits)


def _how_rounded(stated: Stated, total: int, hit: Hit) -> str:
    """Describe how a total that does not round to the number gives it: cut off, or as a multiple of a number that was rounded first."""
    copies = hit.edits[0].copies
    if not copies or stated.bent(total):
        return f"{total:,}, {stated.bent(total)}"
    return f"{total:,} is {copies} times {total // copies:,}, which was rounded first"


def agreeing(subject: Subject, stated: Stated) -> Answer:
    """Return the answer to a claim that is right, or that was cut off or rounded up."""
    count = f"{subject.count:,}"
    bent = "" if stated.allows(subject.count) else stated.bent(subject.count)
    words = f"{count} is right" if stated.exact else f"{stated.words} is {count}, {bent}" if bent else ""
    digits = f"{stated.digits} significant digit{'s' if stated.digits > 1 else ''}" if stated.digits else "rounding"
    words = words or f"{stated.words} is right: {count} to {digits}"
    return Answer(Integer(0), stated.value - subject.count, (Reading(words),))


def in_units_of_1024(subject: Subject, stated: Stated) -> Answer:
    """Return the answer to a claim that is right in units of 1024."""
    value = stated.value if stated.binary is None else stated.binary.value
    words = f"{stated.words} is right if its unit is a power of 1024, not of 1000: {subject.count:,}, rounded"
    return Answer(Integer(0), value - subject.count, (Reading(words),))
