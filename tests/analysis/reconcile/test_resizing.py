"""Which sizes are believed to have been mistaken for others, on layers small enough to see why."""

from __future__ import annotations

import pytest
from sympy import Symbol

import paramsym as ps
from paramsym import A, C, D, F, G, H, K, L, P, S, T, V
from paramsym.analysis.claim import read
from paramsym.analysis.reconcile.resizing import by_size, roots
from paramsym.analysis.reconcile.subject import Subject


def sizes(layer: ps.Layer, claim: int | str) -> dict[str, float]:
    """Return the sizes that alone give a claim, with what it costs to believe them."""
    subject, stated = Subject(layer), read(claim).stated
    return {edit.words: edit.cost for edit in roots(subject, by_size(subject), stated.low, stated.high)}


def test_one_slip_is_as_easily_made_as_another() -> None:
    """Two digits exchanged, one too many, a width padded: said so, and all as likely."""
    matrix = ps.Dense(H, F, bias=False).at(H=768, F=5000)
    exchanged, padded = sizes(matrix, 786 * 5000), sizes(matrix, 1024 * 5000)
    doubled = sizes(ps.Embedding(V, H).at(V=100, H=77), 1000 * 77)
    assert [*exchanged, *padded, *doubled] == [
        "H = 786 in place of 768, digits exchanged",
        "H = 1,024 in place of 768, padded",
        "V = 1,000 in place of 100, digits mistyped",
    ]
    assert len({*exchanged.values(), *padded.values(), *doubled.values()}) == 1


def test_a_size_that_any_claim_has_is_none() -> None:
    """The count is off by 37*H, so another F gives it; so it would for every multiple of H. Five numbers beside change nothing in that."""
    layer = ps.Block(matrix=ps.Dense(H, F, bias=False), five=ps.Parameter((5,))).at(H=512, F=2000)
    assert sizes(layer, 2037 * 512 + 5) == {}


def test_a_rounded_claim_needs_large_steps() -> None:
    """1.10M leaves room for 10,000; one row of 100,000 stands out ten times, one of 91,666 does not."""
    assert list(sizes(ps.Embedding(V, H).at(V=12, H=100_000), "1.10M")) == ["no known habit; V = 11 in place of 12 would give it"]
    assert sizes(ps.Embedding(V, H).at(V=13, H=91_666), "1.10M") == {}


@pytest.mark.parametrize(("one", "other"), [(G, A), (F, H), (H, D), (A, D), (P, S), (P, H), (S, T), (C, K)])
def test_sizes_that_people_mistake(one: Symbol, other: Symbol) -> None:
    """Groups and heads, widths, positions of a table and of a text, channels and kernels: either way, and without doubt about the habit."""
    layer = ps.Block(a=ps.Embedding(one, 7), b=ps.Embedding(other, 13)).at({one: 60, other: 90})
    assert str(ps.reconcile(layer, (7 + 13) * 90)[0].readings[0]) == f"{other} in place of {one}"
    assert str(ps.reconcile(layer, (7 + 13) * 60)[0].readings[0]) == f"{one} in place of {other}"


def test_sizes_that_nobody_mistakes() -> None:
    """An answer says that no habit is known."""
    layer = ps.Block(a=ps.Embedding(V, 7), b=ps.Embedding(L, 13)).at(V=60, L=90)
    assert "no known habit" in str(ps.reconcile(layer, (7 + 13) * 90))
