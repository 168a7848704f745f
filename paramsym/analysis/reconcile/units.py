"""Claims in the unit of what is counted: a multiply-add is two FLOPs."""

from __future__ import annotations

from dataclasses import replace

from paramsym.analysis.claim import Claim, Stated
from paramsym.analysis.reconcile.subject import Subject
from paramsym.errors import ArgumentError


def in_unit_of(subject: Subject, said: Claim) -> Claim:
    """Return a claim in the unit of the subject.

    Raises:
        ArgumentError: units that do not belong together.
    """
    if said.unit in {"", subject.unit} or (said.unit, subject.unit) == ("bytes", "parameters"):
        return said  # the bytes of a file are a habit of counting parameters
    if {said.unit, subject.unit} != {"FLOPs", "MACs"}:
        hint = " Count them in bytes, with dtype='bfloat16' or another format." if subject.unit == "elements" else ""
        raise ArgumentError(f"the claim {said.words} is in {said.unit}; the count of {subject.name} is in {subject.unit}.{hint}")
    if said.unit == "MACs":
        return replace(said, stated=said.stated.times(2, f"{said.words}, two FLOPs each,"))
    halved = Stated(f"half of {said.words}", said.stated.value // 2, -(-said.stated.low // 2), said.stated.high // 2, said.stated.digits)
    return replace(said, stated=halved)
