"""The steps of a program give what SymPy gives; operands that are equal, zero, or only zero as far as bounds can tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from amount import cases
from hypothesis import HealthCheck, given, settings, strategies as st
from strategies import any_layer, distinct_models, plain, sized
from sympy import Integer, Max, Min, Mod, Symbol, ceiling, floor

import paramsym as ps
from paramsym import A, C, D, Dim, F, G, H, K, L, Layer, Tensor, W, evaluate, per
from paramsym.algebra.size import at_most, divides
from paramsym.analysis.evaluate.compiling import compiled
from paramsym.analysis.evaluate.straight_line import bound
from paramsym.errors import DivisibilityError, ParamsymError, SizeError

WIDE = st.integers(1, 2**70)


@dataclass(frozen=True)
class Share(Layer):
    """The channels of one of several groups; it asks for more than it need."""

    channels: Dim
    groups: Dim

    def conditions(self) -> None:
        """What divides a number is at most that number."""
        divides(self.groups, self.channels, "groups", "channels")
        at_most(self.groups, self.channels, "groups", "channels")

    def tensors(self) -> Iterator[Tensor]:
        """A vector."""
        yield Tensor("share", (per(self.channels, self.groups),))


def test_remainders() -> None:
    """Nothing is left of a number divided by itself; by zero nothing is divided."""
    assert evaluate(Mod(H, F), H=5, F=5) == 0
    assert evaluate(Mod(H, F), H=Integer(5), F=5) == 0  # SymPy's numbers go step by step
    with pytest.raises(SizeError, match=r"^the expression: 3 cannot be divided by zero"):
        evaluate(Mod(H, F - 5), H=3, F=5)


def test_no_power_is_one() -> None:
    """Two to the power of nothing."""
    assert evaluate(2 ** (K - 1), K=1) == 1


def test_a_divisor_that_looks_as_if_it_could_be_zero() -> None:
    """F is 3 or 5 and K 2 or 4: somewhere between the bounds they meet, but in no row."""
    pytest.importorskip("numpy")
    assert evaluate(floor(H / (F - K)), H=[7, 9], F=[3, 5], K=[2, 4]).tolist() == [7, 9]


def test_a_quotient_is_that_of_its_own_condition() -> None:
    """Another condition between the same two sizes gives no number."""
    assert evaluate(Share(A, G), A=12, G=4) == 3


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_layers_agree_with_sympy(data: st.DataObject) -> None:
    """Any layer at any valid sizes: the polynomial with the numbers put in."""
    layer = data.draw(any_layer())
    numbers, _ = data.draw(sized(layer))
    assert evaluate(layer, numbers) == int(layer.params.subs(numbers))


@cases(6)
@pytest.mark.parametrize("cls", distinct_models(), ids=lambda cls: cls.__name__)
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
    numbers = {symbol: {H: one, W: other}[symbol] for symbol in expression.free_symbols}
    assert evaluate(expression, numbers) == int(expression.subs(numbers))


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
    """A power of up to a million bits is computed; a longer one, and one that is not whole, are refused."""
    assert evaluate(2**H, H=10) == 1024
    assert evaluate(2**H, H=500_000) == 2**500_000
    with pytest.raises(SizeError, match="too long"):
        evaluate(2**H, H=2**20)
    with pytest.raises(DivisibilityError, match="1/4"):
        evaluate(2 ** (H - W), H=3, W=5)
    assert evaluate(12 * 2 ** (H - W), H=3, W=5) == 3


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


def test_terms_that_cancel_where_a_quotient_is_whole() -> None:
    """Where a divides b, floor(b/a) is b/a: of 6 and 3, a quotient of 2 and 6 + 1 - 2 inputs are 7."""
    a, b = ps.dims("a b")
    both = ps.Block(x=ps.Dense(per(b, a), 1, bias=False), y=ps.Dense(b + 1 - floor(b / a), 1, bias=False))
    for one, other in ((3, 6), (1, 1), (2, 8)):
        assert evaluate(both, a=one, b=other) == both.at(a=one, b=other).count == other + 1
    alone = ps.Block(x=ps.Dense(per(b, a), 1, bias=False), y=ps.Dense(2, 1 + b - floor(b / a), bias=False))
    assert evaluate(alone, a=3, b=6) == alone.at(a=3, b=6).count == 2 + 2 * 5


@cases(0)
def test_a_sum_of_more_than_a_thousand_quotients() -> None:
    """More copies than calls may be nested in Python, each of another width, count what Python's own floors sum to."""
    index, h = ps.index("i"), ps.dims("h")
    layer = ps.Repeat(ps.Dense(floor(h / (index + 1)) + 1, 2), 1100, index=index)
    assert [evaluate(layer, h=width) for width in (1, 7, 1999)] == [
        sum(2 * (width // (copy + 1) + 1) + 2 for copy in range(1100)) for width in (1, 7, 1999)
    ]


def test_remainders_of_a_divisor_of_any_sign_have_no_bounds() -> None:
    """1 % -2 is -1 in Python, which is no number from 0 to 2; divided by 1, 2 or 3, the remainder is 0, 1 or 2."""
    assert bound("mod", (1, 5), (-2, 3)) is None
    assert bound("mod", (1, 5), (1, 3)) == (0, 2)


def test_a_number_is_multiplied_once() -> None:
    """As one writes it by hand: 2*(H + G*D + 1) + 3*F has three products."""
    program = compiled(2 * H + 2 * G * D + 3 * F + 2)
    assert [op.kind for op in program.ops].count("mul") == 3
    assert program.apply([5, 7, 11, 13]) == 2 * (13 + 11 * 5 + 1) + 3 * 7
