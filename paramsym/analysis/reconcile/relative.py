"""Claims that are no count themselves: a percentage of the count, the time or the speed of a training run, numbers of neurons."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor
from typing import Any

from sympy import Integer

from paramsym.algebra.size import shown
from paramsym.analysis import claim as claims
from paramsym.analysis.claim import Stated
from paramsym.analysis.counted import Counted, title
from paramsym.analysis.reconcile.answers import Answer, Reading, Reconciliation
from paramsym.errors import SizeError
from paramsym.measure.cost import Cost
from paramsym.measure.neurons import connections, neurons
from paramsym.measure.training import Training

_NUMBER = r"\s*(?:about|~|\u2248)?\s*(?P<number>\d{1,3}(?:,\d{3}){1,4}|\d{1,9}(?:\.\d{1,12})?)\s*"
_PERCENT = re.compile(
    _NUMBER + r"(?:%|percent|per cent)\s*(?:(?P<less>fewer|less|smaller|lower|saved)|(?P<more>more|larger|bigger|higher))?[\w\s]{0,40}"
)
_SCALE = r"(?P<scale>k|thousand|M|million|B|billion)?\s*"
_NEURAL = re.compile(_NUMBER + _SCALE + r"(?P<unit>neurons?|units?|connections?)\s*")
_TIME = re.compile(_NUMBER + _SCALE + r"(?P<each>(?:GPU|device|[AHVB]\d{2,3})[\s-]*)?(?P<unit>second|minute|hour|day|week|month|year)s?\s*")
_SCALES = {"k": 10**3, "thousand": 10**3, "M": 10**6, "million": 10**6, "B": 10**9, "billion": 10**9}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 7 * 86_400, "month": 30 * 86_400, "year": 365 * 86_400}


def relative(sized: Counted, count: int, claim: Any) -> list[Stated]:
    """Return the counts that a claim may mean that is a percentage of it or, for a training run, a time; none for other claims.

    "1.19 %" is that share of the count, or of the count together with what is added, as peft prints it of adapters; "50 % fewer" and
    "20 % more" are what is left or becomes of it. Hours of a device are those of all devices together.
    """
    if not isinstance(claim, str):
        return []
    percent = _PERCENT.fullmatch(claim)
    if percent:
        start, sign = (1, -1) if percent["less"] else (1, 1) if percent["more"] else (0, 1)
        bounds = [start + sign * one / 100 for one in _rounded(percent["number"])]
        among = [one / (1 - one) for one in bounds] if not start and sign > 0 and max(bounds) < 1 and not percent["more"] else []
        return [_stated(claim, count, each, percent["number"]) for each in (bounds, among) if each and each[0] >= 0]
    time = _TIME.fullmatch(claim)
    if time and isinstance(sized, Training):
        speed = Fraction(sized.speed.p, sized.speed.q) * (1 if time["each"] else sized.devices)
        bounds = [one * _SCALES.get(time["scale"], 1) * _SECONDS[time["unit"]] * speed for one in _rounded(time["number"])]
        return [_stated(claim, 1, bounds, time["number"])]
    return []


def used_speed(sized: Counted, claim: Any) -> Reconciliation | None:
    """Compare a percentage with the share of the stated speed that a training run is to use (MFU); None for another claim."""
    percent = _PERCENT.fullmatch(claim) if isinstance(claim, str) else None
    if percent is None or percent["less"] or percent["more"] or not isinstance(sized, Training) or sized.days.free_symbols:
        return None
    value, low, high = _rounded(percent["number"])
    if not 0 < value <= 100:
        return None
    used = 100 * sized.utilisation
    days = _days(sized.days)
    if low <= used <= high:
        words = f"{claim.strip()} of the stated speed (MFU) is right: the run takes {days} at {_figures(used)} %"
    else:
        changed = _days(sized.days * used * value.denominator / value.numerator)
        words = (
            f"{claim.strip()} of the stated speed (MFU), in place of {_figures(used)} %: {changed} in place of {days}, for the same FLOPs"
        )
    return Reconciliation(title(sized), sized.count, claim.strip(), (Answer(Integer(0), 0, (Reading(words),)),))


def implied_speed(sized: Counted, claim: str, stated: Stated) -> tuple[Answer, ...]:
    """Return the share of the stated speed at which a training run would take a claimed time, which no other edit gives."""
    if not isinstance(sized, Training) or not _TIME.fullmatch(claim):
        return ()
    used = 100 * sized.utilisation
    implied = used * sized.count / stated.value
    if implied > 100:
        return ()
    words = (
        f"{claim.strip()} is right at {_figures(implied)} % of the stated speed (MFU), in place of {_figures(used)} %, for the same FLOPs"
    )
    difference = stated.value - sized.count
    return (Answer(Integer(difference), difference, (Reading(words),)),)


def _days(days: Any) -> str:
    return f"{float(days):.4g} days"


def _figures(value: Any) -> str:
    return f"{float(value):.3g}"


def neural(sized: Counted, claim: Any) -> Reconciliation | None:
    """Compare a number of neurons or connections with a layer, or with a cost, which has an input; None for another claim.

    Raises:
        SizeError: a number that has letters left; ask about a cost, such as ``macs(model, (1, 3, 224, 224))``, or put sizes in.
    """
    found = _NEURAL.fullmatch(claim) if isinstance(claim, str) else None
    if found is None:
        return None
    layer, inputs = (sized.layer, sized.inputs) if isinstance(sized, Cost) else (sized, ())
    said = claims.read(found["number"] + (found["scale"] or "")).stated
    said = claims.rounded(said.value) or said if said.exact else said
    if found["unit"].startswith("connection"):
        ways = {"connections": connections(layer, *inputs)}
    else:
        ways = {f"units of {what}": neurons(layer, *inputs, total=total) for what, total in (("all layers", True), ("the output", False))}
    counts = {words: count for words, count in ways.items() if isinstance(count, int)}
    if not counts:
        left = ", ".join(map(shown, ways.values()))
        raise SizeError(f"{title(sized)} has {left} of them; put sizes in, or give a cost with an input such as (1, 3, 224, 224).")
    right = [words for words, count in counts.items() if said.allows(count)]
    words, count = (right[0], counts[right[0]]) if right else next(iter(counts.items()))
    answer = Answer(Integer(0), said.value - count, (Reading(f"{claim.strip()} is right: {count:,} {words}"),))
    return Reconciliation(title(sized), count, claim.strip(), (answer,) if right else ())


def _rounded(number: str) -> tuple[Fraction, Fraction, Fraction]:
    """Return a number, and the least and the largest one that round to it."""
    half = Fraction(1, 2 * 10 ** len(number.partition(".")[2]))
    value = Fraction(number.replace(",", ""))
    return value, value - half, value + half


def _stated(claim: str, unit: int, bounds: list[Fraction], number: str) -> Stated:
    value, low, high = (bounds[0], *sorted(bounds[1:]))
    digits = len(re.sub(r"\D", "", number).lstrip("0")) or 1
    return Stated(f"{claim.strip()}, or {round(unit * value):,},", round(unit * value), ceil(unit * low), floor(unit * high), digits)
