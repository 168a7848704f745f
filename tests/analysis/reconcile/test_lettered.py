"""Claims in letters: the sizes at which readings are sought, and what a reading says about them."""

from __future__ import annotations

import re

import pytest
from amount import cases
from sympy import Symbol

import paramsym as ps
from paramsym import A, D, F, G, H, L, V
from paramsym.analysis.reconcile.lettered import _stand_ins

DIVIDED = {
    "heads in groups": ps.MultiHeadAttention(H, A, kv_heads=G),
    "a block": ps.load("llama"),
    "groups of channels": ps.Conv2d(H, F, 3, groups=G),
    "normed groups": ps.GroupNorm(G, H),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_the_sizes_tried_can_be_built(name: str) -> None:
    """No letter is left, and what must divide another size does."""
    layer = DIVIDED[name]
    sizes = _stand_ins(layer)
    assert {*sizes} == {*layer.symbols}
    built = layer.at(sizes)
    assert isinstance(built.count, int)
    assert built.count == layer.params.subs(sizes)


@cases(3)
@pytest.mark.parametrize(
    ("layer", "claim"),
    [
        (ps.MultiHeadAttention(H, A), "4*H**2"),
        (ps.MultiHeadAttention(H, A, kv_heads=G), "4*H**2"),
        (ps.Dense(H, F), "H*F"),
        (ps.load("bert"), "12*L*H**2 + V*H"),
    ],
)
def test_no_number_of_a_size_that_was_tried_is_shown(layer: ps.Layer, claim: str) -> None:
    """The sizes are an aid of the search: they are above 200, and neither claim nor formula has such a number."""
    readings = [reading for answer in ps.reconcile(layer, claim) for reading in answer.readings]
    assert readings
    for reading in readings:
        assert not reading.edits
        assert all(int(number.replace(",", "")) <= 200 for number in re.findall(r"\d[\d,]*", f"{reading} {reading.note}"))


def test_letters_that_do_not_occur_get_no_size() -> None:
    """Only those of the layer."""
    assert not {*_stand_ins(ps.Dense(H, F))} & {Symbol("x"), L, V, D}
