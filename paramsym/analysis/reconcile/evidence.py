"""What a rounded claim tells: one that many edits fit confirms none of them."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.analysis.reconcile.answers import Answer

_EXPECTED = 1  # from this number of hits by chance on, one hit is no evidence
_SEVERAL = 3  # the fewest of such hits that nothing tells apart
_ALIKE = 20  # differences are told apart by this part of them


def told_apart(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Return the answers to keep, and those that a rounded claim fits without telling them apart, so that none of them is a reason.

    Of nearly equal differences the simplest is kept. What one expects by chance is left out beside a better answer, and another size
    without a known habit beside any.
    """
    if all(answer.value is None for answer in answers):
        return list(answers), []
    kept: list[Answer] = []
    for answer in answers:
        if answer.known and not any(_same(answer, earlier) for earlier in kept):
            kept.append(answer)
    expected = [answer for answer in kept if _expected(answer)]
    if not expected or expected[0] is not kept[0]:
        return [answer for answer in kept if answer not in expected] or list(answers[:1]), []
    if len(expected) < _SEVERAL:
        return kept, []
    return [answer for answer in kept if answer not in expected], expected


def _same(one: Answer, other: Answer) -> bool:
    """Whether a rounded claim cannot tell two answers apart; files are told apart by their bytes."""
    values = one.value, other.value
    files = any(edit.unit for answer in (one, other) for edit in answer.readings[0].edits)
    return None not in values and not files and abs(values[0] - values[1]) * _ALIKE < abs(values[1])


def _expected(answer: Answer) -> bool:
    edits = answer.readings[0].edits
    named = any(edit.asked or edit.copies for edit in edits)  # by the user, or by a product such as 8x7B
    return bool(edits) and not named and answer.value is not None and answer.chance >= _EXPECTED
