"""Single cases that once gave a wrong answer or an error of another library; each value is by hand, by fractions or by brute force."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from math import prod
from typing import Any

import pytest
from amount import cases
from sympy import Eq, Integer, Max, Mod, floor

import paramsym as ps
import paramsym.testing
from paramsym import A, F, H, K, L, per
from paramsym.errors import ArgumentError, ParamsymError, SizeError

i = ps.index("i")


def test_a_floor_of_a_power_stays_a_floor() -> None:
    """2*floor(H/2**L) is not 2*H/2**L: at H = 7 and L = 1 it is 6, not 7."""
    layer = ps.Dense(2 * floor(H / 2**L), 1, bias=False)
    assert layer.params == 2 * floor(H / 2**L)
    for height in range(4, 40):
        assert layer.at(H=height, L=2).count == 2 * (height // 4)
    found = ps.sweep(ps.Dense(floor(H / 2**L), 1, bias=False), {"H": range(1, 30), "L": [1, 2]})
    assert found["params"] == tuple(h // 2**power for h in range(1, 30) for power in (1, 2) if h // 2**power)


@pytest.mark.parametrize("dense", [1, 2, 3])
def test_deepseek_matches_its_own_shapes(dense: int) -> None:
    """If some layers are dense (0 < k < L), the first layer with experts is not number 0."""
    model = ps.models.Deepseek()
    sizes = dict.fromkeys((symbol.name for symbol in model.symbols), 4) | {"L": 4, "k": dense}
    assert ps.match(model, model.at(sizes).shapes()).ok
    first = ps.Repeat(ps.Dense(H, H), L, first=ps.Dense(3, H))
    for depth in (1, 2):
        assert ps.match(first, first.at(H=2, L=depth).shapes()).ok


def test_a_leading_term_that_vanishes_has_no_range() -> None:
    """At A = 1 the leading terms A*H - H of A*H - H + 8 are 0 for every H: so they are not within 1 % of the count from any width on."""
    said = str(ps.asymptotics(H * A - H + 8, H, at={"A": 1}))
    assert "the leading terms are 0 there" in said
    assert "from H" not in said


def test_a_quarter_of_a_width_is_rounded_everywhere() -> None:
    """ResNet v1.5 shrinks each stage to ``hidden_size // 4``: for a width of 7 this is 1, not 7/4, and the formula gives the count."""
    model = ps.models.ResNetV15()
    for width in (5, 6, 7, 8, 9):
        sizes = {"C": 3, "H": width, **{f"H_{n}": width + n for n in range(1, 5)}, **{f"L_{n}": 2 for n in range(1, 5)}}
        given = model.at(sizes)
        formula = given.formula.xreplace({symbol: given.sizes[symbol] for symbol in given.formula.free_symbols})
        assert Fraction(int(formula.p), int(formula.q)) == given.count == sum(prod(shape) for shape in given.shapes().values())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ps.reconcile(ps.models.Bert(), {"x": (3,)}), "are symbols"),
        (lambda: ps.sweep(ps.Dense(H, F), {H: [1], "H": [2], F: [1]}), "H is given twice"),
        (lambda: ps.evaluate(ps.Dense(H, F), {H: [1], "H": [2], F: [1]}), "H is given twice"),
        (lambda: ps.solve(ps.Dense(H, F), 6, {H: [1], "H": [2], F: [1]}), "H is given twice"),
        (lambda: ps.TransformerEncoderLayer(8, 2, activation=ps.ReLU), r"activation is the class ReLU; give an instance"),
        (lambda: per(H, 0), "the denominator is 0"),
        (lambda: ps.Dense(H, floor(H / (A - A))), "cannot be a size"),
        (lambda: ps.reconcile(ps.models.Bert(), 109_786_369, at="bert-base-uncased", others={1: 2}), r"others has the key 1 \(int\)"),
        (lambda: ps.sweep(ps.Dense(H, F), {H: range(1, 10**500, 10**400), F: [1]}), "more sizes than fit in memory"),
        (lambda: ps.asymptotics(ps.Dense(2**L, H), L), r"L is inside 2\*\*L, which has no degree"),
        (lambda: ps.evaluate(ps.models.Mpt(), dict.fromkeys("VHL", 4) | {"A": 10}), "d_model 4 is not divisible by n_heads 10"),
        (lambda: ps.sweep(ps.Dense(H, 2), {H: (3, "4")}), "whole number"),
        (lambda: ps.models.KerasMobileNetV2(alpha=-(10**5000)), "alpha is something too long to write; wanted more than zero"),
        (lambda: ps.Tied(ps.Dense(2, 3), 10**5000), "is not a mapping of paths"),  # type: ignore[arg-type]
        (lambda: ps.export(L, name=10**5000), "is not a name in python"),  # type: ignore[arg-type]
        (lambda: ps.intensity(ps.Embedding(4, 2), (0, 1)), "moves no bytes"),
        (lambda: ps.evaluate(per(H - L, A), H=2, L=8, A=3), "H - L is -6; wanted a positive whole number"),
        (lambda: ps.asymptotics(2**L, L), r"ps\.sensitivity gives the change for one more"),
    ],
    ids=count(),
)
def test_errors_are_this_librarys(call: Callable[[], Any], said: str) -> None:
    """A symbolic model against shapes, sizes given twice, classes instead of instances, divisions by zero, keys that are not letters."""
    with pytest.raises(ParamsymError, match=said):
        call()


def test_one_relation_needs_no_list() -> None:
    """``where=H > F`` is the same as ``where=[H > F]``: of 1*3 and 3*1 only the second has a larger H."""
    over = {H: [1, 2, 3], F: [1, 2, 3]}
    for where in (H > F, [H > F], (H > F,)):
        assert [(one[H], one[F]) for one in ps.solve(ps.Dense(H, F, bias=False), 3, over, where=where)] == [(3, 1)]


def test_a_search_leaves_out_what_cannot_be() -> None:
    """A = 0 is impossible, A = 1 gives the count 8, and A = 2 gives the count 4."""
    found = ps.solve(ps.Dense(per(H, A), 1, bias=False), 4, {A: range(3), H: [8]})
    assert [one[A] for one in found] == [2]
    assert [*ps.sweep(ps.Dense(per(H, A), 1, bias=False), {A: range(3), H: [8]})["params"]] == [8, 4]


def test_a_step_in_an_exponent_is_no_floor() -> None:
    """One more of L doubles 2**L; the message does not blame a floor, and shows none of SymPy's internal names."""
    for subject, at, marginal in ((2**L, {"L": 3}, 8), (ps.Dense(2**L, 1, bias=False), {"L": 5}, 32)):
        found = ps.sensitivity(subject, L, at=at)
        assert found.marginal == marginal
        assert "exponent" in str(found)
        assert not any(word in str(found) for word in ("floor", "Subs", "xi", "log"))


@cases(2)
@pytest.mark.parametrize(
    ("build", "seconds"),
    [
        (lambda: ps.Block({f"x{n}": ps.Dense(per(H, A + n), 1, bias=False) for n in range(1, 200)}).polynomial, 4),
        (lambda: ps.Repeat(ps.Dense(floor((H + i) / 3), 1, bias=False), 10_000, index=i).params, 2),
        (lambda: ps.Repeat(ps.Dense(floor(H / (i + 1)) + Mod(H, i + 2) + 1, 1, bias=False), 1000, index=i).polynomial, 6),
        (lambda: ps.match(_shared(), {"first.weight": (2, 2)}), 12),
        (lambda: _shared().tied, 6),
    ],
    ids=["quotients", "floors that repeat", "floors that do not", "match", "tied"],
)
def test_what_is_long_takes_linear_time(build: Callable[[], Any], seconds: float) -> None:
    """Two hundred distinct denominators, ten thousand copies, one tie over thirty thousand layers, in processor time."""
    began = time.process_time()
    assert build()
    assert time.process_time() - began < seconds


def _shared() -> ps.Layer:
    dense = ps.Dense(2, 2, bias=False)
    return ps.Tied(ps.Block(first=dense, blocks=ps.Repeat(dense, 30_000)), {"blocks.{}.weight": "first.weight"})


def test_a_number_of_copies_may_be_one_more_than_none() -> None:
    """A repeat of Max(1, n) copies has one copy at n = 0."""
    n = ps.dims("n")
    layer = ps.Block(a=ps.Repeat(ps.Dense(K, 2, bias=False), Max(1, n, evaluate=False)), b=ps.Repeat(ps.Dense(3, 3, bias=False), n))
    assert [layer.at(K=5, n=copies).count for copies in (0, 1, 3)] == [10, 10 + 9, 30 + 27]


def test_a_claim_with_a_decimal_comma_is_refused() -> None:
    """1,3B is 1.3 billion where commas are decimal, and never 13 billion."""
    with pytest.raises(ArgumentError, match="A comma separates thousands"):
        ps.reconcile(ps.models.Bert(), "1,3B", at="bert-base-uncased")
    with pytest.raises(SizeError, match="out_features is 0"):
        ps.Dense(2, 0)


def test_where_designs_are_equal_copies_may_be_none() -> None:
    """Max(1, n) is 1 at n = 0, not n; at the width of the crossover, both designs have the same count."""
    n = ps.dims("n")
    one = ps.Block(w=ps.Dense(Max(1, n, evaluate=False), H, bias=False), r=ps.Repeat(ps.Dense(H, 2, bias=False), n))
    two = ps.Block(w=ps.Dense(Max(1, n, evaluate=False), 6))
    (crossing,) = [each for each in ps.compare(one, two).crossovers if each.symbol == H]
    for copies, width in ((0, 12), (1, 4), (2, 3)):
        assert crossing.at.xreplace({n: Integer(copies)}) == width
        assert one.at(n=copies, H=width).count == two.at(n=copies).count
    assert [str(each.symbol) for each in ps.compare(ps.Dense(H, floor(F / 2)), ps.Dense(H, A)).crossovers] == ["A"]


def test_a_claim_against_a_size_that_divides() -> None:
    """One more head changes a count by less than one, or makes it smaller; the search for sizes raises no foreign error."""
    n = ps.dims("n")
    wide = ps.Dense(Max(1, n, evaluate=False), per(H, A), bias=False)
    sized = ps.Block(wide=wide, deep=ps.Repeat(ps.Dense(H, 2, bias=False), n)).at(n=0, H=6, A=2)
    assert ps.reconcile(sized, 6)[0].difference == 3
    for claim in range(1, 40):
        found = ps.reconcile(sized, claim)
        assert all(answer.difference == claim - 3 for answer in found)


class Unprintable:
    """An object whose ``repr`` fails."""

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ps.Dense(H, 2).to_latex("factored", by=Unprintable()), "by is something; wanted one term"),
        (lambda: ps.Dense(H, 2).at({Unprintable(): 3}), "has no symbol something; it has H"),
        (lambda: ps.Dense(H, 2).to_latex(width=Unprintable()), "width is something; wanted a number of characters"),
        (lambda: ps.keras.UnitNormalization(input_shape=(None, 6, 3), axis=range(10**30)), "wanted at most 1000 entries"),
        (lambda: ps.keras.Conv2D(3, range(10**30), input_shape=(None, 8, 8, 3)), "wanted at most 1000 entries"),
        (lambda: ps.memory(ps.Dense(4, 6), (1, 4), use="inference", weights=Eq(H, F)), "weights is Eq"),
        (lambda: ps.flops(ps.Dense(4, 6), (1, 4), past={"a"}), "past is {'a'}"),
        (lambda: ps.sweep(ps.Dense(H, 2), {H: [1]}, parts=H > F), "parts is H > F; wanted True, False or a depth"),
        (lambda: ps.export(ps.Dense(H, 2), [1, 2]), "language is"),
        (lambda: ps.Dense(H, 2).to_latex({"a"}), "form is {'a'}"),
        (lambda: ps.load("gpt2", Unprintable()), "architecture"),
        (lambda: ps.Block(a=ps.Dense(H, H)).replace({"a"}, ps.Residual), "takes a dotted path"),
        (lambda: ps.testing.sizes(ps.Dense(H, 2), largest=Unprintable()), "largest is something"),
        (lambda: ps.Block(a=ps.Dense(H, H)).replace("a", ps.Dense), "new is the class Dense, which does not take the part alone"),
    ],
    ids=count(),
)
def test_what_nobody_means_is_named(call: Callable[[], Any], said: str) -> None:
    """Objects that cannot be printed, ranges that are too long, a class instead of a layer."""
    with pytest.raises(ParamsymError, match=said):
        call()
    assert ps.Block(a=ps.Dense(H, H)).replace("a", ps.Residual).part("a") == ps.Residual(ps.Dense(H, H))


def test_an_axis_without_end_is_no_array() -> None:
    """A range is not read entry by entry."""
    pytest.importorskip("numpy")
    with pytest.raises(ParamsymError, match="x is not an array"):
        ps.run(ps.ReLU(), {}, range(10**14))
