"""Exact values: one configuration, columns, grids; never a rounding, never a wrap-around."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sympy import Integer, Max, Min, Mod, Rational, ceiling, floor

import paramsym as ps
from paramsym import A, C, D, E, F, G, H, K, L, N, V, W, as_function, evaluate, per
from paramsym.errors import ArgumentError, DivisibilityError, SizeError, StructureError, UnknownNameError

LLAMA = {"V": 32000, "H": 4096, "L": 32, "A": 32, "G": 32, "F": 11008}
WIDE = st.integers(1, 2**40)


def test_published_counts() -> None:
    """A formula at published sizes is the published count."""
    assert evaluate(ps.models.Llama(architecture="LlamaForCausalLM"), LLAMA) == 6_738_415_616
    assert evaluate(ps.models.Bert(), V=30522, P=512, T=2, H=768, L=12, F=3072) == 109_482_240


def test_symbols_and_names_are_the_same() -> None:
    """Keys are symbols or their names; a sized model has nothing left to give."""
    assert evaluate(ps.Dense(H, F), {H: 3, "F": 5}) == evaluate(ps.Dense(H, F), H=3, F=Integer(5)) == 20
    assert evaluate(ps.Dense(3, 5)) == evaluate(20) == 20


@pytest.mark.parametrize(
    ("given_sizes", "error", "words"),
    [
        ({"H": 768, "A": 12, "L": 3}, UnknownNameError, "no symbol 'L'"),
        ({"A": 12}, UnknownNameError, "needs a size for H"),
        ({"H": 786, "A": 12}, DivisibilityError, "embed_dim 786 is not divisible by num_heads 12"),
        ({"H": 0, "A": 12}, SizeError, "embed_dim is 0; wanted a positive"),
        ({"H": 768.0}, SizeError, "whole number"),
        ({"H": True}, SizeError, "whole number"),
        ({"H": "768"}, SizeError, "whole number"),
        ({"H": None}, SizeError, "whole number"),
        ([1, 2], ArgumentError, "mapping"),
        ("base", ArgumentError, r"not 'base'; a published size is put in with \.at"),
    ],
)
def test_wrong_sizes(given_sizes: Any, error: type[Exception], words: str) -> None:
    """One clear error for each."""
    with pytest.raises(error, match=words):
        evaluate(ps.MultiHeadAttention(H, A), given_sizes)


def test_wrong_subjects() -> None:
    """Neither strings nor floats are formulas."""
    with pytest.raises(ArgumentError, match="a layer, a cost or an expression"):
        evaluate("H**2", H=3)  # type: ignore[arg-type]
    for question in (evaluate, as_function, ps.export):
        with pytest.raises(ArgumentError, match="a layer, a cost or an expression"):
            question({H} if question is ps.export else [H])
    with pytest.raises(SizeError, match="is given twice"):
        evaluate(H**2, {"H": 3}, H=4)
    with pytest.raises(ArgumentError, match="chunk"):
        evaluate(H**2, H=3, chunk=0)


def test_a_symbol_that_cancels_may_be_left_out() -> None:
    """It is in no term; where it is given, its condition is checked."""
    assert evaluate(ps.MultiHeadAttention(H, A), H=786) == 4 * 786**2 + 4 * 786


def test_copies_may_be_zero_and_sizes_may_not() -> None:
    """As the constructor has it."""
    model = ps.Repeat(ps.Dense(H, H), L)
    assert evaluate(model, H=4, L=0) == 0
    with pytest.raises(SizeError, match="in_features is 0"):
        evaluate(model, H=0, L=1)


def test_conditions_on_order() -> None:
    """A token cannot use more experts than there are."""
    model = ps.MixtureOfExperts(H, F, E, K)
    assert evaluate(model, H=4, F=8, E=8, K=2) == model.at(H=4, F=8, E=8, K=2).count
    with pytest.raises(SizeError, match="experts_per_token 9 is more than num_experts 8"):
        evaluate(model, H=4, F=8, E=8, K=9)


def test_sizes_that_change_which_tensors_exist() -> None:
    """ELECTRA projects its embeddings unless they are as wide as the blocks: one formula does not count both, in no row."""
    model, sizes = ps.models.Electra(), {"V": 100, "P": 16, "T": 2, "H": 24, "A": 4, "F": 48, "L": 2}
    assert evaluate(model, sizes | {"E": 12}) == model.at(sizes | {"E": 12}).count
    for wrong in (24, [12, 24]):
        pytest.importorskip("numpy")
        with pytest.raises(StructureError, match="change which tensors exist"):
            evaluate(model, sizes | {"E": wrong})
    assert ps.sweep(model, sizes | {"E": [12, 24, 48]})["E"] == (12, 48)
    code = ps.export(model).code
    assert "if E == H:" in code


def test_sizes_that_have_to_be_equal() -> None:
    """The heads of a Mamba-2 block share out its inner width."""
    model = ps.Mamba2(H, A, head_dim=D)
    assert evaluate(model, H=32, A=8, D=8) == model.at(H=32, A=8, D=8).count
    with pytest.raises(SizeError, match=r"4\*8 = 32, but expand \* hidden_size is 64"):
        evaluate(model, H=32, A=4, D=8)


@given(st.builds(dict, H=WIDE, F=WIDE, L=WIDE, V=WIDE), st.integers(1, 2**20), st.integers(1, 2**10))
@settings(max_examples=60, deadline=None)
def test_scalars_agree_with_sympy(sizes: dict[str, int], quotient: int, groups: int) -> None:
    """Python integers, whatever their size."""
    sizes |= {"A": groups * 3, "G": groups, "H": groups * 3 * quotient}
    model = ps.models.Llama()
    expected = model.params.xreplace({symbol: Integer(sizes[symbol.name]) for symbol in model.params.free_symbols})
    assert evaluate(model, sizes) == int(expected)


@given(st.lists(st.tuples(WIDE, WIDE, WIDE), min_size=1, max_size=40), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_columns_never_overflow(rows: list[tuple[int, int, int]], chunk: int) -> None:
    """Training FLOPs, 6 * parameters * tokens, at sizes up to 2**40: Python integers wherever int64 would wrap around."""
    np = pytest.importorskip("numpy")
    expression = 6 * (12 * L * H**2 + 13 * L * H) * D - 5 * H * D
    columns = {name: np.array([row[i] for row in rows], dtype=np.int64) for i, name in enumerate("LHD")}
    found = evaluate(expression, columns, chunk=chunk)
    assert [int(value) for value in found] == [6 * (12 * one * h * h + 13 * one * h) * d - 5 * h * d for one, h, d in rows]


EDGES = st.sampled_from([2**k + off for k in (0, 7, 8, 15, 16, 23, 24, 26, 31, 32, 40) for off in (-1, 0, 1) if 2**k + off > 0])
FLOPS = (
    6 * (12 * L * H**2 + 13 * L * H) * D - 5 * H * D,
    2 * L * D * (4 * H**2 + 2 * D * H) - L,
    floor(H / 3) * ceiling(D / 2) * L - H * H * H,
    Max(H, D) * Min(H, L, D) - Mod(D, L) * H,
    H * (H + 1) / 2 * L,
    H - D * L,
)
"""Products of sizes as operations are counted with, differences below zero, and steps."""


@given(
    st.sampled_from(FLOPS),
    st.lists(st.tuples(*[EDGES | WIDE] * 3), min_size=1, max_size=6),
    st.sampled_from(["int32", "uint32", "int64", "uint64", "object"]),
    st.integers(1, 7),
)
@settings(max_examples=60, deadline=None)
def test_every_width_of_numbers_is_exact(expression: Any, rows: list[tuple[int, int, int]], kind: str, chunk: int) -> None:
    """At the edges where a narrower kind of number would wrap around or round: column by column what SymPy gives row by row.

    Each row again on a grid, whose pieces are bounded for themselves.
    """
    np = pytest.importorskip("numpy")
    symbols = (L, H, D)
    columns: dict[Any, Any] = {}
    for position, symbol in enumerate(symbols):
        column = [row[position] for row in rows]
        columns[symbol] = np.array(column, dtype=kind if kind == "object" or max(column) <= np.iinfo(kind).max else "int64")
    expected = [int(expression.xreplace(dict(zip(symbols, map(Integer, row), strict=True)))) for row in rows]
    needed = {symbol: column for symbol, column in columns.items() if symbol in expression.free_symbols}
    assert [int(value) for value in evaluate(expression, needed, chunk=chunk)] == expected
    grid = {
        symbol: column.reshape([-1 if axis == other else 1 for other in range(3)]) for axis, (symbol, column) in enumerate(needed.items())
    }
    found = evaluate(expression, grid, chunk=chunk)
    assert [int(found[tuple(min(row, extent - 1) for extent in found.shape)]) for row in range(len(rows))] == expected


@pytest.mark.parametrize("limit", [2**24, 2**53, 2**62])
def test_quotients_at_the_limits_of_a_float_are_exact(limit: int) -> None:
    """A number just below the limit of a type is divisible by what Python says, also by divisors as large as itself."""
    np = pytest.importorskip("numpy")
    above = [limit - 1 - less for less in range(40)]
    below = [divisor for k in range(1, 9) for divisor in (k + 1, limit // k - 3, limit // k - 1, limit // (1000 * k) + 1)]
    rows = np.array([(one, other) for one in above for other in below if 0 < other <= one])
    whole = rows[:, 0] % rows[:, 1] == 0
    assert 0 < whole.sum() < len(rows)
    assert (evaluate(per(H, A), H=rows[whole, 0], A=rows[whole, 1]) == rows[whole, 0] // rows[whole, 1]).all()
    for one, other in rows[~whole].tolist():
        with pytest.raises(DivisibilityError, match="row 0"):
            evaluate(per(H, A), H=np.array([one, one]), A=np.array([other, other]))


@given(st.integers(1, 2**40), st.integers(1, 2**12), st.integers(-1, 1))
@settings(max_examples=150, deadline=None)
def test_divisibility_in_columns_is_exact(quotient: int, heads: int, off: int) -> None:
    """The quick test by floats and the remainder agree at every size."""
    np = pytest.importorskip("numpy")
    width = max(1, quotient * heads + off)
    columns = {"H": np.array([heads, width]), "A": np.array([heads, heads])}
    if width % heads:
        with pytest.raises(DivisibilityError, match=f"row 1: {width} is not divisible by {heads}"):
            evaluate(per(H, A) + 1, columns)
    else:
        assert evaluate(per(H, A) + 1, columns).tolist() == [2, width // heads + 1]


@pytest.mark.parametrize(
    "expression",
    [
        floor((W - K) / 2) + 1,
        ceiling(W / K) * C,
        Max(W, K) * Min(W, K, C) - 7,
        Mod(W, K) + C,
        2**D * C,
        floor(W / Integer(3)) * Rational(3, 1) + W**3,
        W * (W + 1) / 2,
        W * H / (H + K) + K * W / (H + K),
        -3 * W - C,
        Integer(7),
    ],
)
def test_atoms_in_columns_are_those_of_sympy(expression: Any) -> None:
    """Floors, ceilings, powers, sums that are not whole term by term: column by column what SymPy gives number by number."""
    np = pytest.importorskip("numpy")
    draw = np.random.default_rng(0)
    columns = {symbol.name: draw.integers(1, 13, 200) for symbol in expression.free_symbols} or {}
    if not columns:
        assert evaluate(expression) == int(expression)
        return
    found = evaluate(expression, columns, chunk=64)
    for row in range(200):
        assert found[row] == expression.xreplace({s: Integer(int(columns[s.name][row])) for s in expression.free_symbols})


def test_what_is_not_whole_is_refused() -> None:
    """A plain quotient has no exact integer where it does not divide."""
    with pytest.raises(DivisibilityError, match="15/2"):
        evaluate(H / A, H=15, A=2)
    with pytest.raises(SizeError, match=r"2\*\*1000000000000 is not a whole number, or is too long"):
        evaluate(2**L * H, L=10**12, H=3)
    np = pytest.importorskip("numpy")
    with pytest.raises(DivisibilityError, match="row 1: the value is 15/2"):
        evaluate(H / A, H=np.array([14, 15]), A=2)
    with pytest.raises(SizeError, match="zero"):
        evaluate(H / A, H=0, A=0)


def test_grids_broadcast() -> None:
    """Axes that do not vary are not written out; every piece is where it belongs."""
    np = pytest.importorskip("numpy")
    widths, depths, words = np.arange(1, 6)[:, None, None], np.arange(1, 8)[:, None], np.arange(1, 12)
    expected = depths * widths**2 + words * widths
    for chunk in (1, 3, 11, 50, 1000):
        assert (evaluate(L * H**2 + V * H, H=widths, L=depths, V=words, chunk=chunk) == expected).all()
    assert evaluate(L * H**2, H=widths, L=depths).shape == (5, 7, 1)
    with pytest.raises(SizeError, match="do not broadcast"):
        evaluate(L * H, H=[1, 2], L=[1, 2, 3])


def test_llama_columns() -> None:
    """Every row of a column is what ``at`` counts; the first wrong row is named."""
    np = pytest.importorskip("numpy")
    model, draw = ps.models.Llama(), np.random.default_rng(1)
    groups = draw.integers(1, 5, 30)
    heads = groups * draw.integers(1, 5, 30)
    sizes = {
        "V": draw.integers(1, 999, 30),
        "H": 2 * heads * draw.integers(1, 9, 30),
        "L": draw.integers(1, 9, 30),
        "A": heads,
        "G": groups,
    }
    sizes["F"] = draw.integers(1, 999, 30)
    found = evaluate(model, sizes)
    assert found.dtype == np.int64
    for row in range(30):
        assert found[row] == model.at({name: int(column[row]) for name, column in sizes.items()}).count
    sizes["G"] = np.where(np.arange(30) == 17, sizes["A"] + 1, sizes["G"])
    with pytest.raises(DivisibilityError, match="row 17"):
        evaluate(model, sizes, chunk=8)


def test_kinds_of_columns() -> None:
    """Narrow and unsigned integers, lists of large ones, ranges; no floats, no words, no missing values."""
    np = pytest.importorskip("numpy")
    assert evaluate(H * F, H=np.array([300, 2], dtype=np.int16), F=np.array([3000, 2], dtype=np.uint16)).tolist() == [900_000, 4]
    assert evaluate(H + 1, H=np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2**64]
    assert evaluate(H + 1, H=[2**70, 1, 2**63]).tolist() == [2**70 + 1, 2, 2**63 + 1]
    assert evaluate(H + 1, H=range(3)).tolist() == [1, 2, 3]
    assert evaluate(H + 1, H=np.int32(3)) == 4
    assert evaluate(H + 1, H=[]).shape == (0,)
    for wrong in (
        np.array([1.0]),
        [1.5],
        ["a"],
        [None],
        np.array([True]),
        [True, 2],
        [2, True],
        np.array([2, None]),
        float("nan"),
        [[1], [2, 3]],
        np.ma.array([1, 2], mask=[0, 1]),
    ):
        with pytest.raises(SizeError, match="H is"):
            evaluate(H + 1, H=wrong)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([1, 2])
    assert evaluate(H + 1, H=matrix).tolist() == [[2, 3]]
    with pytest.raises(SizeError, match="row 1: H is -1; wanted"):
        evaluate(ps.Dense(H, 1), H=[1, -1])


def test_floats_only_when_asked() -> None:
    """Then with their error stated."""
    found = evaluate(6 * H * D, H=405_000_000_000, D=15_600_000_000_001, floats=True)
    exact = 6 * 405_000_000_000 * 15_600_000_000_001
    assert abs(int(found.values) - exact) <= found.relative_error * exact
    assert "relative error" in str(found)
    with pytest.raises(SizeError, match="largest float"):
        evaluate(H**64, H=2**40, floats=True)


def test_the_bare_function_runs_on_any_array() -> None:
    """What knows the operators will do; nothing is left out and nothing is unknown."""
    np = pytest.importorskip("numpy")
    function = as_function(ps.models.Llama())
    sizes = {"V": 32000, "H": 512, "L": 4, "A": 8, "G": 4, "F": 1024}
    assert function(**sizes) == evaluate(ps.models.Llama(), sizes)
    assert function(**(sizes | {"L": np.array([4, 5])}))[0] == function(**sizes)
    with pytest.raises(UnknownNameError, match="F is missing"):
        as_function(ps.Dense(H, F))(H=3)
    with pytest.raises(UnknownNameError, match="N is unknown"):
        as_function(ps.Dense(H, F))(H=3, F=4, N=2)
    for expression in (Max(H, F, K) - 7, Min(H, F) * K, Mod(H, F) + floor(H / 2)):
        columns = {"H": np.array([1, 9, 9, 4]), "F": np.array([5, 2, 9, 3]), "K": np.array([3, 3, 12, 5])}
        given_sizes = {symbol.name: columns[symbol.name] for symbol in expression.free_symbols}
        assert as_function(expression)(**given_sizes).tolist() == evaluate(expression, given_sizes).tolist()


def test_depth_and_experts_cost_nothing() -> None:
    """The program of a model has one length, however many copies there are."""
    from paramsym.analysis.evaluate.compiling import compiled

    model = ps.Repeat(ps.MixtureOfExperts(H, F, E, K), L)
    lengths = {len(compiled(model.at(L=layers, E=experts)).ops) for layers, experts in ((2, 8), (2000, 8), (2, 8000))}
    assert len(lengths) == 1
    assert evaluate(model, H=2, F=3, E=4, K=1, L=10**9) == 10**9 * evaluate(model, H=2, F=3, E=4, K=1, L=1)


def test_the_program_of_a_convolution() -> None:
    """Groups divide both channels; nothing else is asked."""
    model = ps.Conv2d(C, N, K, groups=G)
    assert evaluate(model, C=6, N=9, K=3, G=3) == model.at(C=6, N=9, K=3, G=3).count
    with pytest.raises(DivisibilityError):
        evaluate(model, C=6, N=8, K=3, G=3)


def test_every_refusal_is_in_the_words_of_this_library() -> None:
    """Quotients by zero, remainders without end, numbers of thousands of digits, one column twice."""
    pytest.importorskip("numpy")
    layer = ps.Dense(floor(H / (F - 3)), 2)
    for question in ({"H": 3, "F": 3}, {"H": [3], "F": [3]}):
        with pytest.raises(SizeError, match="a quotient by zero is not a size"):
            evaluate(layer, question)
    with pytest.raises(SizeError, match="a quotient by zero is not a size"):
        ps.Dense(Mod(H, F - 3) + 1, 2).at(H=3, F=3)
    deep = H
    for number in range(300):
        deep = Mod(deep + number + 1, F + number, evaluate=False)
    for subject in (lambda: evaluate(deep, H=3, F=5), lambda: ps.Dense(deep + 1, 2)):
        with pytest.raises(SizeError, match=r"nested too deeply|nested functions"):
            subject()
    for size in (10**5000, [10**5000]):
        with pytest.raises(SizeError, match="H has 16610 bits"):
            evaluate(ps.Dense(H, F), H=size, F=1)
    with pytest.raises(SizeError, match="a number of 16610 bits cannot be divided by zero"):
        evaluate(Mod(H, F), H=10**5000, F=0)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(SizeError, match="H is given twice"):
        evaluate(ps.Dense(H, F), pandas.DataFrame([[1, 2, 3]], columns=["H", "H", "F"]))


def test_without_numpy_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single sizes need nothing; columns need NumPy, which the extra brings."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert ps.evaluate(ps.Dense(H, F), H=3, F=4) == 16
    with pytest.raises(ArgumentError, match=r"computing with columns needs numpy, .*: pip install numpy \(or paramsym\[numpy\]\)"):
        ps.evaluate(ps.Dense(H, F), H=[3, 5], F=4)
