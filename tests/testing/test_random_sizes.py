"""Sizes drawn are sizes accepted."""

from __future__ import annotations

from typing import Any

import pytest
from amount import tries

import paramsym as ps
from paramsym import A, C, E, F, G, H, K, L, per
from paramsym.errors import ArgumentError, UnknownNameError

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import Phase, find, given, settings, strategies as st  # noqa: E402 - skipped above where it is not there

from paramsym.testing import layers, sizes  # noqa: E402

LAYERS = [
    ps.Dense(H, F),
    ps.MultiHeadAttention(H, A, kv_heads=G),
    ps.MultiHeadAttention(768, A),
    ps.MultiHeadAttention(H, A, kdim=K),
    ps.Conv2d(C, F, 3, groups=G),
    ps.MixtureOfExperts(H, F, E, K),
    ps.Dense(per(12, A * G), 1),
    ps.models.Bert(),
    ps.models.Gpt2(),
]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: repr(layer)[:60])
def test_every_draw_is_accepted_and_within_its_bound(layer: ps.Layer) -> None:
    """``at`` takes what is drawn, by symbol name, small by default."""

    @settings(max_examples=30, deadline=None)
    @given(sizes(layer))
    def check(found: dict[str, int]) -> None:
        assert set(found) == {symbol.name for symbol in layer.symbols}
        assert all(1 <= size <= 16 for size in found.values())
        assert layer.at(found).count > 0

    check()


@settings(max_examples=tries(60), deadline=None)
@given(st.data())
def test_sizes_fit_any_layer_or_composition(data: st.DataObject) -> None:
    """Random layers, random sizes, nothing refused."""
    layer = data.draw(layers())
    found = data.draw(sizes(layer))
    assert not layer.at(found).symbols


def test_large_sizes_on_request() -> None:
    """A bound for all, or by name."""
    layer = ps.MultiHeadAttention(H, A)
    drawn = settings(phases=[Phase.generate])  # the first one found, which is not shrunk
    found = find(sizes(layer, largest=10**6), lambda size: size["A"] > 100 and size["H"] > 10**5, settings=drawn)
    assert found["H"] % found["A"] == 0
    assert find(sizes(layer, largest={"H": 10**6}), lambda size: size["H"] > 10**5, settings=drawn)["A"] <= 16


def test_fixed_sizes_are_kept() -> None:
    """Twelve heads, and widths that twelve divides."""
    found = find(sizes(ps.MultiHeadAttention(H, A), largest=100, A=12), lambda size: size["H"] > 12)
    assert found == {"A": 12, "H": 24}
    with pytest.raises(UnknownNameError):
        sizes(ps.Dense(H, F), Z=3)


def test_draws_shrink_to_ones() -> None:
    """The smallest sizes there are."""
    assert find(sizes(ps.MultiHeadAttention(H, A)), lambda _: True) == {"A": 1, "H": 1}


def test_a_layer_without_symbols_has_one_draw() -> None:
    """Nothing to draw."""
    assert find(sizes(ps.Dense(3, 4)), lambda _: True) == {}


@pytest.mark.parametrize("largest", [0, -1, True, 1.5, "16", {"Z": 3}, {"H": 0}])
def test_bounds_are_checked(largest: Any) -> None:
    """A bound is a positive int, or one for a symbol there is."""
    with pytest.raises(ArgumentError, match="largest is"):
        sizes(ps.Dense(H, F), largest=largest)


def test_repeats_are_small() -> None:
    """A number of copies is a size like any other."""
    assert find(sizes(ps.Repeat(ps.Dense(H, H), L), largest={"L": 3}), lambda found: found["L"] == 3)["L"] == 3
