"""Every function takes every cost: for a small GPT-2, the answers agree with each other."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases
from sympy import diff

import paramsym as ps
from paramsym.measure.cost import Cost
from paramsym.models import Gpt2

SIZES = {"H": 12, "L": 2, "A": 3, "V": 50, "P": 32, "B": 2, "S": 8}
MODEL = Gpt2(architecture="GPT2LMHeadModel")
COSTS: dict[str, Cost] = {
    "flops": ps.flops(MODEL),
    "backward": ps.flops(MODEL, way="backward", convention="palm"),
    "macs": ps.macs(MODEL),
    "activations": ps.activations(MODEL),
    "cache": ps.kv_cache(MODEL),
    "training memory": ps.memory(MODEL),
    "inference memory": ps.memory(MODEL, use="inference"),
    "traffic": ps.traffic(MODEL),
    "communication": ps.communication(MODEL, devices=2),
    "training": ps.training(MODEL, tokens=1000),
}


@pytest.fixture(params=COSTS)
def cost(request: Any) -> Cost:
    """One cost in letters."""
    return COSTS[request.param]


def test_values(cost: Cost) -> None:
    """``at``, ``evaluate``, ``sweep`` and exported code give the same number."""
    wanted = cost.at(SIZES).count
    assert wanted > 0
    assert ps.evaluate(cost, SIZES) == wanted
    assert ps.sweep(cost, {name: [size] for name, size in SIZES.items()}).columns[cost.unit][0] == wanted
    space: dict[str, Any] = {}
    exec(str(ps.export(cost, "python")), space)  # noqa: S102 - the exported code is what is tested
    assert space["cost"](**{symbol.name: SIZES[symbol.name] for symbol in cost.symbols}) == wanted


def test_sizes_for_a_budget(cost: Cost) -> None:
    """``solve`` finds the width that gave the number."""
    ranges = {name: [size, 2 * size] if name == "H" else [size] for name, size in SIZES.items()}
    (found,) = ps.solve(cost, cost.at(SIZES).count, ranges).solutions
    assert dict(found.sizes)[ps.H] == 12


def test_growth(cost: Cost) -> None:
    """The sensitivity to the depth is the derivative; the cost grows linearly with it."""
    assert (ps.sensitivity(cost, "L").derivative - diff(cost.total, ps.L)).expand() == 0
    assert ps.asymptotics(cost, "L").degree == 1


def test_words(cost: Cost) -> None:
    """A letter cancels or stays; the explanation has a table and LaTeX."""
    assert ps.explain(cost, "A").cancels == (ps.A not in cost.total.free_symbols)
    assert cost.at(SIZES).table(1).footer[1] == cost.at(SIZES).count
    assert str(ps.L) in cost.to_latex()


@cases(2)
def test_against_others(cost: Cost) -> None:
    """Two depths differ by the cost of the layers between them; a claim of twice the number is explained by a term of the same size."""
    sized = cost.at(SIZES)
    found = ps.compare(sized, cost.at({**SIZES, "L": 3}))
    assert found.difference == cost.at({**SIZES, "L": 3}).total - sized.total
    term = ps.reconcile(sized, 2 * sized.count).answers[0].term
    assert term.subs({symbol: SIZES[symbol.name] for symbol in term.free_symbols}) == sized.count
