"""Programs as Python functions: SymPy's values, and nothing where something is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from strategies import any_layer, model_classes, plain, sized
from sympy import Integer, Max, Min, Mod, Symbol, ceiling, floor

import paramsym as ps
from paramsym import A, C, D, H, K, L, W, evaluate, per
from paramsym.analysis.bytecode import function_of
from paramsym.analysis.program import compiled
from paramsym.errors import ParamsymError

WIDE = st.integers(1, 2**70)


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_layers_agree_with_sympy(data: st.DataObject) -> None:
    """Any layer at any valid sizes: the polynomial with the numbers put in."""
    layer = data.draw(any_layer())
    numbers, _ = data.draw(sized(layer))
    program = compiled(layer)
    found = function_of(program)(*(numbers[symbol] for symbol in program.inputs))
    assert found == int(layer.params.subs(numbers))


@pytest.mark.parametrize("cls", model_classes(), ids=lambda cls: cls.__name__)
def test_models_agree_with_sympy(cls: Any) -> None:
    """Every model at sizes of which each divides the next, or where they do not fit the error of the first time again."""
    model = plain(cls)
    symbols = sorted(model.symbols, key=lambda symbol: symbol.name)
    sizes = {symbol: 2 ** (10 + place) for place, symbol in enumerate(symbols)}
    told: set[str] = set()
    for _ in range(3):
        try:
            told.add(str(evaluate(model, sizes)))
        except ParamsymError as error:
            told.add(str(error))
    assert len(told) == 1
    try:
        expected = str(model.at(sizes).count)
    except ParamsymError:
        assert not told.pop().isdigit()
    else:
        assert told == {expected} == {str(model.params.subs(sizes))}


@pytest.mark.parametrize(
    "expression",
    [
        3 * H**5 - 2 * W,
        floor((H - 7) / 2) + ceiling(H / (W + 3)) * 5,
        Max(H, W, 9) * Min(H, W, 70) - Mod(H, 13),
        Mod(H, W) + Max(H - W, W - H),
        H * (H + 1) / 2,
        Integer(12),
    ],
    ids=str,
)
@given(one=WIDE, other=WIDE)
@settings(max_examples=25, deadline=None)
def test_steps_agree_with_sympy(expression: Any, one: int, other: int) -> None:
    """Every kind of step, negative values between, beyond 64 bits."""
    program = compiled(expression)
    numbers = {H: one, W: other}
    assert function_of(program)(*(numbers[symbol] for symbol in program.inputs)) == int(expression.subs(numbers))


@pytest.mark.parametrize(
    ("subject", "sizes"),
    [
        (ps.MultiHeadAttention(H, A), {"A": 12, "H": 786}),
        (per(H, A) + H, {"A": 12, "H": 786}),
        (per(H, A - 4), {"A": 4, "H": 768}),
        (H * (H + 2) / 3, {"H": 2}),
        (floor(H / (W - 2)), {"H": 7, "W": 2}),
        (Mod(H, W - 2), {"H": 7, "W": 2}),
        (ps.MixtureOfExperts(H, 4, 8, K), {"H": 4, "K": 9}),
        (ps.models.Bert(), {"V": 1, "P": 1, "T": 1, "L": 1, "F": 0, "H": 12, "A": 12}),
        (ps.MultiHeadAttention(H, A), {"A": 12, "H": 768.0}),
        (ps.MultiHeadAttention(H, A), {"A": True, "H": 768}),
        (2 ** (H * W), {"H": 2**30, "W": 2**30}),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_every_time(subject: Any, sizes: dict[str, Any]) -> None:
    """The tenth call says what the first one says."""
    told: set[str] = set()
    for _ in range(3):
        with pytest.raises(ParamsymError) as caught:
            evaluate(subject, sizes)
        told.add(str(caught.value))
    assert len(told) == 1


def test_powers_as_long_as_may_be() -> None:
    """A million bits are written down; more are not, nor is what is no whole number."""
    count = function_of(compiled(2**H))
    assert count(10) == 1024
    assert count(500_000) == 2**500_000
    assert count(2**20) is None
    assert function_of(compiled(2 ** (H - W)))(3, 5) is None


def test_names_are_only_names() -> None:
    """A symbol may be called as a register or a function is, and as no Python name is."""
    one, two, three = (Symbol(name, integer=True, positive=True) for name in ("r3", "int", "import os"))
    expression = one * two - three**2 + C
    sizes = {one: 5, two: 7, three: 3, C: 2}
    assert [evaluate(expression, sizes) for _ in range(3)] == [28] * 3


def test_copies_may_still_be_zero() -> None:
    """What is 0 where it may be is counted, too."""
    assert [evaluate(ps.Repeat(ps.Dense(3, 5), L), L=0) for _ in range(3)] == [0] * 3
    assert [evaluate(D * L + 1, L=0, D=4) for _ in range(3)] == [1] * 3
