"""Claims in the unit of what is counted: a multiply-add is two FLOPs, but many papers call it one."""

from __future__ import annotations

from dataclasses import replace

from paramsym.analysis.claim import Claim, Stated
from paramsym.analysis.reconcile.subject import Subject
from paramsym.errors import ArgumentError


def in_unit_of(subject: Subject, said: Claim) -> list[Claim]:
    """Return a claim in the unit of the subject: of FLOPs and MACs, also as it is if the two units were mistaken for each other.

    Raises:
        ArgumentError: units that do not belong together.
    """
    if said.unit in {"", subject.unit} or (said.unit, subject.unit) == ("bytes", "parameters"):
        return [said]  # the bytes of a file are a habit of counting parameters
    if {said.unit, subject.unit} != {"FLOPs", "MACs"}:
        hint = " Count them in bytes, with dtype='bfloat16' or another format." if subject.unit == "elements" else ""
        raise ArgumentError(f"the claim {said.words} is in {said.unit}; the count of {subject.name} is in {subject.unit}.{hint}")
    stated = said.stated
    if said.unit == "MACs":
        return [
            replace(said, stated=stated.times(2, f"{said.words}, two FLOPs each,")),
            replace(said, stated=stated.times(1, f"{said.words}, called so but FLOPs,")),
        ]
    halved = Stated(f"half of {said.words}", stated.value // 2, -(-stated.low // 2), stated.high // 2, stated.digits)
    return [replace(said, stated=halved), replace(said, stated=stated.times(1, f"{said.words}, with a multiply-add as one FLOP,"))]
