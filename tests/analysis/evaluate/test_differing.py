"""Sizes at which a formula may not hold."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from amount import cases
from sympy import Integer

import paramsym as ps
from paramsym import A, H, L
from paramsym.analysis.evaluate.differing import _equated, conditions_of_costs
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
        asked = conditions_of_costs(question(shared))
        conditions_of.cache_clear()
        assert conditions_of_costs(question(build())) == asked


def test_costs_that_are_computed_together_hold_wherever_they_answer() -> None:
    """Training and inference need different conditions; together they refuse the sizes of either, or give what each gives for them."""
    model = ps.models.Llama()
    costs = [ps.memory(model, dtype="bfloat16"), ps.memory(model, use="inference", dtype="bfloat16", convention="torch-sdpa")]
    scope: dict[str, Any] = {}
    exec(ps.export(costs, "python", name="both").code, scope)  # noqa: S102 - the library's own text
    answered = 0
    for batch, positions, heads, groups, head in product((1, 2), (1, 2), (2, 4), (1, 2), (2, 4)):
        sizes = {"B": batch, "S": positions, "A": heads, "G": groups, "H": heads * head, "F": 24, "L": 3, "V": 50}
        try:
            found = scope["both"](**sizes)
        except ValueError:
            continue
        answered += 1
        assert found == [cost.at(**sizes).total for cost in costs], sizes
    assert answered > 8
