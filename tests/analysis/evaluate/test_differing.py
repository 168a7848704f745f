"""Sizes at which a formula may not hold."""

from __future__ import annotations

import pytest
from amount import cases
from sympy import Integer

import paramsym as ps
from paramsym import A, H, L
from paramsym.analysis.evaluate.differing import _equated, conditions_of_cost
from paramsym.core.conditions import conditions_of


def test_a_letter_that_makes_two_sizes_equal() -> None:
    """H/A is 3 where H is 3 A; H**2 and H*L leave no letter alone."""
    assert _equated(H / A, Integer(3)) == {H: 3 * A}
    assert _equated(H**2, H * L + H) is None


@cases(1)
@pytest.mark.parametrize("name", ["Bert", "MambaLM", "SqueezeNet"])
def test_conditions_do_not_depend_on_earlier_questions(name: str) -> None:
    """The costs of a layer share its programs, and each program keeps its conditions."""
    build = getattr(ps.models, name)
    shared = build()
    for question in (ps.flops, ps.activations, ps.memory, lambda model: ps.memory(model, use="inference")):
        asked = conditions_of_cost(question(shared))
        conditions_of.cache_clear()
        assert conditions_of_cost(question(build())) == asked
