"""Which pairs of queries and keys are counted: the closed form against the mask itself, pair by pair."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from sympy import prod

import paramsym as ps
from paramsym import B, H, L, S
from paramsym.program.masks import Mask, Pairs

xp: Any = pytest.importorskip("numpy")


@pytest.mark.parametrize(("causal", "window"), list(itertools.product([False, True], [None, 1, 2, 3, 5, 9])))
def test_seen_pairs_are_those_of_the_mask(causal: bool, window: int | None) -> None:
    """Queries at the end of the keys, fewer and as many."""
    mask = Mask(causal, window)
    for keys in range(1, 9):
        for queries in range(1, keys + 1):
            seen = mask.visible(xp, queries, keys).sum()
            assert prod(Pairs(queries, keys, mask).twice_seen) == 2 * seen, (queries, keys)


def test_windows_in_letters() -> None:
    """A window that is no longer than the keys: the first positions see fewer; behind a longer past each sees all of it."""
    W, P = ps.dims("W P")
    whole, step = Pairs(S, S, Mask(True, W)), Pairs(1, P + 1, Mask(True, W))
    assert [(prod(whole.twice_seen) / 2).subs({W: w, S: 9}) for w in (1, 4, 9)] == [9, 30, 45]
    assert (prod(step.twice_seen) / 2 - W).expand() == 0


def test_causal_convention() -> None:
    """S(S + 1)/2 pairs in place of S**2, for scores and values alike: the difference is 4*B*H*L*S*(S - 1)/2 FLOPs."""
    model = ps.models.Gpt2()
    difference = ps.flops(model).total - ps.flops(model, convention="causal").total
    assert (difference - 4 * B * H * L * S * (S - 1) / 2).expand() == 0


def test_a_mask_that_hides_nothing_is_false() -> None:
    """Either a direction or a window hides something."""
    assert [bool(mask) for mask in (Mask(), Mask(causal=True), Mask(window=3), Mask(causal=True, window=3))] == [False, True, True, True]
