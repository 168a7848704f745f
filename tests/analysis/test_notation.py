"""Formulas as papers write them, and what is none."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Rational

from paramsym import A, B, H, L, S, V
from paramsym.algebra.grammar import LONGEST
from paramsym.analysis.claim import read as claimed
from paramsym.analysis.notation import UnreadableError, read
from paramsym.errors import ArgumentError

NAMES = {symbol.name: symbol for symbol in (A, B, H, L, S, V)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("34sbh", 34 * S * B * H),
        ("5as²b", 5 * A * S**2 * B),
        ("5as^2 b", 5 * A * S**2 * B),
        ("sbh(34 + 5as/h)", 34 * S * B * H + 5 * A * S**2 * B),
        ("(2·s·a + 16h)·s·b", 2 * A * B * S**2 + 16 * B * H * S),
        ("96Bslh²(1 + s/6h + V/16lh)", 96 * B * S * L * H**2 + 16 * B * S**2 * L * H + 6 * B * S * H * V),
        ("s \u00d7 b \u00d7 h / 2", B * H * S * Rational(1, 2)),
        ("2.5 h - h", Rational(3, 2) * H),
        ("2h**3", 2 * H**3),
        ("(h + 1)²", H**2 + 2 * H + 1),
        ("12LH^2", 12 * L * H**2),
    ],
)
def test_reads(text: str, value: Any) -> None:
    """Side by side is a product, and binds closer than a stroke."""
    assert (read(text, NAMES).as_expr() - value).expand() == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12q",
        "h^",
        "h^10",
        "h^x",
        "(h",
        "h)",
        "h/(h - h)",
        "h +",
        "h " * 150,
        "(" * 30 + "h" + ")" * 30,
        "(a+b+h+l+s+v+1)^9" * 2,
        "12 ; h",
    ],
)
def test_refuses(text: str) -> None:
    """What is not a formula, an unknown letter, or beyond the limits."""
    with pytest.raises(UnreadableError, match="is not a formula in the model's letters"):
        read(text, NAMES)


@pytest.mark.parametrize(
    ("claim", "value", "unit"),
    [
        ("4.9 GB", 4_900_000_000, "bytes"),
        ("2 GiB", 2**31, "bytes"),
        ("15.5 GFLOPs", 15_500_000_000, "FLOPs"),
        ("3.14e23 FLOPs", 314 * 10**21, "FLOPs"),
        ("4.09 GMACs", 4_090_000_000, "MACs"),
        ("1024 bytes", 1024, "bytes"),
        ("1.2 PFLOPS", 12 * 10**14, "FLOPs"),
        ("300K elements", 300_000, "elements"),
        ("1.5B", 1_500_000_000, ""),  # of parameters, billions
    ],
)
def test_units(claim: str, value: int, unit: str) -> None:
    """A number with a unit of costs; a B alone is a billion."""
    found = claimed(claim)
    assert (found.stated.value, found.unit) == (value, unit)
    assert found.stated.allows(value)


def test_no_number() -> None:
    """A unit alone says nothing."""
    with pytest.raises(ArgumentError):
        claimed("GFLOPs")


def test_the_longest_formula_is_read() -> None:
    """And one with a sign more is not."""
    longest = f"{'h+' * (LONGEST // 2 - 1)}3h"
    assert len(longest) == LONGEST
    assert read(longest, NAMES).as_expr() == (LONGEST // 2 + 2) * H
    with pytest.raises(UnreadableError):
        read(f"{longest}h", NAMES)
