"""Claims that are no count themselves: a percentage of the count, or the time of a training run."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil, floor
from typing import Any

from paramsym.analysis.claim import Stated
from paramsym.analysis.counted import Counted
from paramsym.measure.training import Training

_NUMBER = r"\s*(?:about|~|\u2248)?\s*(?P<number>\d{1,3}(?:,\d{3}){1,4}|\d{1,9}(?:\.\d{1,12})?)\s*"
_PERCENT = re.compile(
    _NUMBER + r"(?:%|percent|per cent)\s*(?:(?P<less>fewer|less|smaller|lower|saved)|(?P<more>more|larger|bigger|higher))?[\w\s]{0,40}"
)
_TIME = re.compile(_NUMBER + r"(?P<each>(?:GPU|device|[AHVB]\d{2,3})[\s-]*)?(?P<unit>second|minute|hour|day|week|month|year)s?\s*")
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
        bounds = [one * _SECONDS[time["unit"]] * speed for one in _rounded(time["number"])]
        return [_stated(claim, 1, bounds, time["number"])]
    return []


def _rounded(number: str) -> tuple[Fraction, Fraction, Fraction]:
    """Return a number, and the least and the largest one that round to it."""
    half = Fraction(1, 2 * 10 ** len(number.partition(".")[2]))
    value = Fraction(number.replace(",", ""))
    return value, value - half, value + half


def _stated(claim: str, unit: int, bounds: list[Fraction], number: str) -> Stated:
    value, low, high = (bounds[0], *sorted(bounds[1:]))
    digits = len(re.sub(r"\D", "", number).lstrip("0")) or 1
    return Stated(f"{claim.strip()}, or {round(unit * value):,},", round(unit * value), ceil(unit * low), floor(unit * high), digits)
