"""A property test in one call: what passes, what fails, and what the failure says."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, F, H
from paramsym.errors import ArgumentError, RefutedError

pytest.importorskip("hypothesis")

from paramsym.testing import check_against

ATTENTION = ps.MultiHeadAttention(H, A)


def test_counts_shapes_and_layers_pass() -> None:
    """Whatever the build gives is compared as far as it goes."""
    check_against(ATTENTION, lambda A, H: 4 * H * H + 4 * H + 0 * A)
    check_against(ATTENTION, lambda A, H: ATTENTION.at(A=A, H=H).shapes())
    check_against(ATTENTION, lambda A, H: ps.MultiHeadAttention(H, A))
    check_against(ps.Dense(3, 4), lambda: 16)


def test_a_failure_is_shrunk_and_readable() -> None:
    """The smallest sizes, both numbers, the formula, and the tensors of that size; none of the search's own words."""
    with pytest.raises(RefutedError) as caught:
        check_against(ATTENTION, lambda A, H: 4 * H * H + 3 * A * H + H)
    message = str(caught.value)
    assert "at A=2, H=2" in message
    assert "build counts 30 parameters" in message
    assert "4*H**2 + 4*H = 24" in message
    assert "in_proj_bias" in message
    assert len(message.splitlines()) == 1
    assert not getattr(caught.value, "__notes__", [])


def test_a_failure_is_an_assertion_that_names_the_tensor() -> None:
    """Any test runner shows it as a failed test."""
    with pytest.raises(AssertionError, match=r"bias .*axis 0 \(F\)"):
        check_against(ps.Dense(H, F), lambda F, H: {"weight": (F, H), "bias": (F + 1,)})


@cases(0)
def test_equally_large_tensors_are_told_apart() -> None:
    """At the smallest sizes all have one entry; elsewhere only one is as large as the difference."""
    layer = ps.Sequential(ps.Dense(H, F), ps.Dense(F, H))
    with pytest.raises(RefutedError) as caught:
        check_against(layer, lambda F, H: 2 * F * H + F)
    assert "at F=1, H=1" in str(caught.value)
    assert "as many as there are in 1.bias)" in str(caught.value)
    with pytest.raises(RefutedError) as caught:
        check_against(layer, lambda F, H: 2 * F * H + F + H - F * H if F == H == 1 else 0)
    assert "as many as" not in str(caught.value)  # the difference is no tensor's size elsewhere
    with pytest.raises(RefutedError, match="as many as there are in"):  # a counter that fails elsewhere tells nothing more
        check_against(layer, lambda F, H: 3 if F == H == 1 else {}[F])


@pytest.mark.parametrize("built", [None, 2.5, (1, 2), object()], ids=lambda built: type(built).__name__)
def test_a_build_that_gives_nothing_to_compare(built: Any) -> None:
    """What came, where, and what was wanted; none of the search's own words."""
    with pytest.raises(ArgumentError, match=r"at F=1, H=1, build returned neither a count \(an int\)") as caught:
        check_against(ps.Dense(H, F), lambda **_: built)
    assert not getattr(caught.value, "__notes__", [])


def test_the_layer_comes_first() -> None:
    """Something else in its place is told what it is."""
    calls: list[Any] = [check_against, ps.testing.certify, ps.testing.assert_matches, ps.match]
    for call in calls:
        with pytest.raises(ArgumentError, match="wanted a layer of paramsym"):
            call(lambda F, H: F * H, ps.Dense(H, F))
    with pytest.raises(ArgumentError, match="wanted a layer of paramsym"):
        ps.testing.sizes("Dense")  # type: ignore[arg-type]


def test_an_exception_of_the_build_is_shown_with_its_sizes() -> None:
    """And it stays the cause."""

    def build(A: int, H: int) -> int:
        return 4 * H * H // (A - 3)

    with pytest.raises(RefutedError, match="at A=3, H=3, build raised ZeroDivisionError") as caught:
        check_against(ps.MultiHeadAttention(H, A), lambda A, H: build(A, H) if A == 3 else 4 * H * H + 4 * H)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_names_may_be_translated() -> None:
    """A renaming table, or the order."""
    check_against(ps.Dense(H, F), lambda F, H: {"w": (F, H), "b": (F,)}, rename={"w": "weight", "b": "bias"})
    check_against(ps.Dense(H, F), lambda F, H: {"dense_7/w": (F, H), "dense_7/b": (F,)}, by="order")


def test_a_build_of_other_arguments_is_refused_at_once() -> None:
    """Before anything is drawn."""
    with pytest.raises(ArgumentError, match=r"cannot be called as build\(A=\.\.\., H=\.\.\.\)"):
        check_against(ATTENTION, lambda width, heads: width * heads)


def test_a_build_that_cannot_be_inspected_is_called() -> None:
    """Some callables have no signature."""
    check_against(ps.Dense(H, F, bias=False), lambda **found: found["F"] * found["H"])


def test_without_hypothesis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear error, and only where it is needed."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    calls: list[Any] = [lambda: check_against(ATTENTION, lambda A, H: A * H), lambda: ps.testing.sizes(ATTENTION), ps.testing.layers]
    for call in calls:
        with pytest.raises(ArgumentError, match="pip install hypothesis"):
            call()
    ps.testing.assert_matches(ps.Dense(2, 3, bias=False), {"weight": (3, 2)})
    assert ps.testing.certify(ps.Dense(H, F), lambda F, H: F * H + F).instances == 4
