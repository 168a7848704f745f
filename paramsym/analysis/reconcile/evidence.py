"""What a rounded claim tells: one that many edits fit confirms none of them."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.analysis.reconcile.answers import Answer

_EXPECTED = 1  # from this number of hits by chance on, one hit is no evidence
_ANYTHING = 6  # from this number on, an edit of this kind gives nearly every claim
_RARE, _OFTEN = 0.1, 3  # below this number of hits, an answer is good evidence; one that is hit so many times as often is much weaker
_MOST = 3  # known answers to a rounded claim
_FEW = 2  # up to this number, the simplest hits are believed before others
_SEVERAL = 3  # the fewest of such differences that nothing tells apart
_ALIKE = 500  # nearly equal differences differ by less than this part,
_FARTHER = 1.5  # and the less simple one is hit by chance so many times more often


def told_apart(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Return the answers to keep, and those that a rounded claim fits without telling them apart, so that none of them is a reason.

    Of nearly equal differences the simplest is kept. What one expects by chance is left out beside a better answer, and another size
    without a known habit beside an answer that is as rare. Of several answers that one expects, the simplest are kept if few are as simple
    and give the claim without a number cut off.
    """
    if all(answer.value is None for answer in answers):
        return list(answers), []
    kept: list[Answer] = []
    for answer in answers:
        rare = answer.known or all(answer.chance < earlier.chance for earlier in kept)
        if rare and not any(_farther(answer, earlier) for earlier in kept):
            kept.append(answer)
    expected = [answer for answer in kept if _expected(answer)]
    better = [answer for answer in kept if answer not in expected]
    if better and better[0] is kept[0] and not _rounded_up(better[0]):
        return _first(better), []
    likely = [answer for answer in expected if answer.chance < _ANYTHING]
    if len(_apart(likely)) >= _SEVERAL:
        likely = [answer for answer in likely if not answer.readings[0].note and answer.chance <= min(_FEW, expected[0].chance)]
    if likely and len(_apart(likely)) < _SEVERAL:
        return _first([answer for answer in kept if answer in likely or answer in better]), []
    return [answer for answer in better if answer.known], expected


def _first(answers: list[Answer]) -> list[Answer]:
    """Return the first answers, without those that are hit by chance much more often than the first of them."""
    most = max(_RARE, _OFTEN * next((answer.chance for answer in answers if answer.term != 0), 0.0))
    near = [answer for answer in answers if answer.chance <= most or any(edit.asked for edit in answer.readings[0].edits)]
    return [*[answer for answer in near if answer.known][:_MOST], *(answer for answer in near if not answer.known)]


def _rounded_up(answer: Answer) -> bool:
    """Whether the count itself gives the claim if it was rounded up, which few people do."""
    return answer.term == 0 and isinstance(answer.difference, int) and answer.difference > 0


def _apart(answers: Sequence[Answer]) -> list[Answer]:
    """Return answers with differences of their own."""
    apart: list[Answer] = []
    for answer in answers:
        if not any(_near(answer, earlier) for earlier in apart):
            apart.append(answer)
    return apart


def _farther(one: Answer, other: Answer) -> bool:
    """Whether an answer is nearly another one, and less simple; files are told apart by their bytes."""
    own = any(edit.unit or edit.asked for edit in one.readings[0].edits)
    return not own and one.chance > _FARTHER * other.chance and _near(one, other)


def _near(one: Answer, other: Answer) -> bool:
    return one.value is not None and other.value is not None and abs(one.value - other.value) * _ALIKE <= abs(other.value)


def _expected(answer: Answer) -> bool:
    edits = answer.readings[0].edits
    return bool(edits) and not any(edit.asked for edit in edits) and answer.value is not None and answer.chance >= _EXPECTED
