"""Every answer of ``evaluate``, ``sweep`` and ``solve`` is that of ``at``, and so is every refusal: one gate decides what a size may be."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from amount import cases, tries
from asked import answered, counted, drawn, varied
from hypothesis import HealthCheck, given, settings, strategies as st
from strategies import distinct_models, layers, storing_subjects
from sympy import Expr, Integer, Max, Min, Mod, Rational, Symbol, ceiling, floor

import paramsym as ps
from paramsym import per
from paramsym.errors import ParamsymError
from paramsym.testing.random_layers import layers as compositions

few = settings(max_examples=tries(25), deadline=None, suppress_health_check=list(HealthCheck))
FREE = ps.dims("a b c d")


def check(layer: ps.Layer, sizes: dict[str, int], draw: random.Random, large: int = 2**33) -> None:
    """Ask for one configuration, for columns with a wrong row in them or not, for a table, and for the sizes of a count."""
    expected = counted(layer, sizes)
    found = answered(lambda: ps.evaluate(layer, sizes))
    assert found == expected or type(found) is expected
    if not sizes:
        return
    rows = [sizes, *(varied(sizes, draw, large) for _ in range(4))]
    wanted = [counted(layer, row) for row in rows]
    for some in (rows, [row for row, count in zip(rows, wanted, strict=True) if isinstance(count, int)]):
        counts = [counted(layer, row) for row in some]
        found = answered(lambda some=some: ps.evaluate(layer, {name: [row[name] for row in some] for name in sizes})) if some else []
        wrong = next((place for place, count in enumerate(counts) if not isinstance(count, int)), None)
        if wrong is None:
            assert [int(value) for value in found] == counts
        else:
            assert (type(found), f"row {wrong}" in str(found)) == (counts[wrong], True)
    over = {name: [value] for name, value in sizes.items()}
    for name in draw.sample(sorted(sizes), min(len(sizes), 2)):
        over[name] = sorted({0, 1, sizes[name], sizes[name] + 1, 2 * sizes[name]})
    table = {row: counted(layer, dict(zip(over, row, strict=True))) for row in product(*over.values())}
    valid = {row: count for row, count in table.items() if isinstance(count, int)}
    swept = ps.sweep(layer, over)
    assert list(zip(*swept.columns.values(), strict=True)) == [(*row, count) for row, count in valid.items()]
    assert swept.left_out == len(table) - len(valid)
    if valid:
        target = draw.choice([*valid.values()])
        solutions = ps.solve(layer, target, over)
        assert sorted(tuple(size for _, size in one.sizes) for one in solutions) == sorted(row for row in valid if valid[row] == target)


@pytest.mark.parametrize("few_rows", [0, 1000], ids=["columns", "one by one"])
@given(data=st.data())
@few
def test_layers_and_compositions(few_rows: int, data: st.DataObject) -> None:
    """Any layer, any flags; in sequence, repeated, tied."""
    pytest.importorskip("numpy")
    layer = data.draw(st.one_of(st.sampled_from(storing_subjects()).flatmap(layers), compositions()))
    draw = random.Random(data.draw(st.integers(0, 2**32)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paramsym.analysis.sweep._FEW", few_rows)
        check(layer, drawn(layer, draw), draw)


@cases(6)
@pytest.mark.parametrize("cls", distinct_models(), ids=lambda cls: cls.__name__)
def test_families(cls: type[ps.Layer]) -> None:
    """Every family with its letters, from sizes that it takes."""
    pytest.importorskip("numpy")
    model, draw = cls(), random.Random(0)
    tries = (sizes for _ in range(500) if isinstance(counted(model, sizes := drawn(model, draw)), int))
    base = next(tries)
    for sizes in (base, varied(base, draw), drawn(model, draw)):
        check(model, sizes, draw)


def expression(draw: random.Random, depth: int) -> Expr:
    """Draw a size of the functions that sizes are made of."""
    if depth == 0:
        return draw.choice(FREE[:2]) if draw.random() < 0.75 else Integer(draw.choice((1, 2, 3, 4, 8)))
    one, other = (expression(draw, depth - 1) for _ in range(2))
    found: Expr = draw.choice(
        (
            lambda: one + other,
            lambda: one - other,
            lambda: one * other,
            lambda: floor(one / other),
            lambda: ceiling(one / other),
            lambda: Min(one, other),
            lambda: Max(one, other / 3),
            lambda: Mod(one, other + 1) + 1,
            lambda: 2 ** draw.choice(FREE[:2]),
            lambda: per(one, other),
            lambda: floor(one * Rational(2, 3)),
        )
    )()
    return found


@given(st.integers(0, 2**32))
@settings(max_examples=tries(40), deadline=None, suppress_health_check=list(HealthCheck))
def test_sizes_of_every_function(seed: int) -> None:
    """Floors, ceilings, extremes, remainders, powers and exact quotients, as widths and as numbers of copies."""
    pytest.importorskip("numpy")
    draw = random.Random(seed)
    try:
        one, other, third = (expression(draw, draw.choice((1, 2))) for _ in range(3))
    except (ParamsymError, ArithmeticError, ValueError, RecursionError):  # SymPy's own trouble with a quotient by zero or a remainder
        return
    try:
        kinds = (
            lambda: ps.Dense(one, other),
            lambda: ps.Repeat(ps.Dense(one, 2), other, first=ps.Dense(3, third)),
            lambda: ps.Runs((ps.Dense(one, 2), other), (ps.Dense(2, 2), third)),
            lambda: ps.Conv2d(one, other, third, groups=FREE[0]),
        )
        layer = draw.choice(kinds)()
    except ParamsymError:  # no size
        return
    check(layer, {symbol.name: draw.choice((0, 1, 2, 3, 4, 6, 8, 12)) for symbol in sorted(layer.symbols, key=str)}, draw, 9)


a, b = FREE[:2]
H, L, A, W, K = (Symbol(name, integer=True, positive=True) for name in "HLAWK")


@pytest.mark.parametrize(
    ("layer", "sizes", "expected"),
    [
        (ps.Dense(H - 4, 2, bias=False), {"H": 2}, None),
        (ps.Dense(H - 4, 2, bias=False), {"H": 6}, 4),
        (ps.Repeat(ps.Dense(2, 6, bias=False), L - 2), {"L": 1}, None),
        (ps.Repeat(ps.Dense(2, 6, bias=False), L - 2), {"L": 2}, 0),
        (ps.Runs((ps.Dense(2, 3, bias=False), 2), (ps.Dense(2, 2, bias=False), L - 2)), {"L": 1}, None),
        (ps.Dense(per(H - L, A), 2, bias=False), {"H": 2, "L": 8, "A": 3}, None),
        (ps.Dense(Max(8, b / a), 2, bias=False), {"a": 16, "b": 8}, 16),
        (ps.models.T5(), {"A": 4, "D": 8, "F": 8, "H": 8, "L": 0, "V": 8, "n_b": 8}, None),
        (ps.models.ClipVision(), {"A": 4, "C": 3, "F": 8, "H": 8, "K": 16, "L": 1, "W": 8}, None),
        (
            ps.models.Beit(architecture="BeitForSemanticSegmentation"),
            {"A": 8, "C": 3, "C_a": 8, "F": 8, "H": 8, "K": 8, "L": 8, "N": 0, "V": 8, "W": 8, "n_c": 8},
            None,
        ),
        (
            ps.models.MaxVit(),
            {"C": 7, "C_1": 3, "C_2": 7, "C_3": 1, "C_4": 5, "D": 1, "L_1": 7, "L_2": 5, "L_3": 2, "L_4": 5, "N": 4, "p": 6},
            None,
        ),
        (ps.from_config({"model_type": "olmo2"}).origin[0], {"A": 8, "F": 8, "H": 4, "L": 2, "V": 8}, None),
        (ps.ConvTranspose1d(1, 1, 7, stride=a, dilation=2, dialect="keras"), {"a": 24}, None),
        (ps.ConvTranspose1d(1, 1, 7, stride=a, dilation=2, dialect="keras"), {"a": 1}, 8),
        (ps.ConvLSTM2d(1, 1, 1, stride=(1, a), dilation=(b, 1)), {"a": 2, "b": 2}, None),
        (ps.ConvLSTM2d(1, 1, 1, stride=(1, a), dilation=(b, 1)), {"a": 2, "b": 1}, 12),
        (ps.GlobalAvgPool(a), {"a": 4}, None),
        (ps.MultiHeadAttention(a, 1, vdim=2), {"a": 2}, None),  # torch stores one matrix for vdim = embed_dim
        (ps.MultiHeadAttention(a, 1, vdim=2), {"a": 3}, 45),
        (ps.Repeat(ps.Dense(2 * floor(H / (b + 1)) + 2, 2), a, index=b), {"H": 8, "a": 3}, 74),  # no closed form while a is a symbol
    ],
    ids=str,
)
def test_sizes_that_only_the_layer_knows(layer: ps.Layer, sizes: dict[str, int], expected: int | None) -> None:
    """Widths and copies below zero, tensors that would not exist, a maximum of quotients; None if nothing can be built."""
    pytest.importorskip("numpy")
    if expected is None:
        for question in (sizes, {name: [size] for name, size in sizes.items()}):
            with pytest.raises(ParamsymError):
                ps.evaluate(layer, question)
        assert len(ps.sweep(layer, sizes)) == 0
    else:
        assert ps.evaluate(layer, sizes) == ps.evaluate(layer, {name: [size] for name, size in sizes.items()})[0] == expected
        assert ps.sweep(layer, sizes)["params"] == (expected,)
        assert len(ps.solve(layer, expected, sizes)) == 1


def test_a_model_without_layers() -> None:
    """DeepSeek with no layer and no dense one, which ``at`` takes."""
    model = ps.models.Deepseek()
    sizes = dict.fromkeys((symbol.name for symbol in model.symbols), 8) | {"L": 0, "k": 0}
    assert ps.evaluate(model, sizes) == model.at(sizes).count == 8 * 8 + 8


@pytest.mark.parametrize(("width", "expected"), [(5, None), (7, None), (6, 2 * 3 * (4 * 12 * 12 + 2 * 12 * 3) + 2 * 2 * 3 * 3 * 12)])
def test_heads_that_cannot_be_rotated(width: int, expected: int | None) -> None:
    """The reference stores heads of an odd width and cannot rotate them as a whole: they have a count, and their cost is refused."""
    model = ps.models.GptNeoX()
    sizes = {"V": 7, "H": 2 * width, "L": 1, "A": 2, "F": 3}
    cost, inputs = ps.flops(model), {"B": 1, "S": 3}
    scope: dict[str, Any] = {}
    exec(str(ps.export(cost)), scope)  # noqa: S102 - what we wrote
    ways = (
        lambda: ps.evaluate(cost, sizes | inputs),
        lambda: cost.at(sizes | inputs).count,
        lambda: ps.flops(model.at(sizes), (1, 3)).count,
        lambda: scope["cost"](**{symbol.name: (sizes | inputs)[symbol.name] for symbol in cost.symbols}),
    )
    assert ps.evaluate(model, sizes) == model.at(sizes).count
    assert len(ps.sweep(cost, sizes | inputs)) == len(ps.solve(cost, expected or 0, sizes | inputs)) == (expected is not None)
    for way in ways:
        if expected is None:
            with pytest.raises((ParamsymError, ValueError), match=r"wanted an even width|is not divisible by 2 "):
                way()
        else:
            assert way() == expected


def test_kept_blocks_are_asked_again() -> None:
    """MViT's blocks are kept from before; with one block a stage pools and widens in it, which ``at`` takes."""
    pytest.importorskip("numpy")
    model = ps.models.MViT()
    sizes = {"A": 1, "H": 2, "L_1": 2, "L_2": 1, "L_3": 8, "L_4": 16, "N": 16, "W": 16, "t": 7}
    for seed in range(3):
        check(model, sizes, random.Random(seed))
