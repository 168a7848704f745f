"""Columns of pandas and polars, and arrays of torch, jax, dask and the array API: what comes in goes out, and is as exact."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sympy import Expr, Max, Min, Mod, ceiling, floor

import paramsym as ps
from paramsym import F, H, K, L, W, as_function, evaluate
from paramsym.analysis.evaluate.frames import as_given, lazily
from paramsym.errors import ArgumentError, DivisibilityError, SizeError

SIZES = {"V": [32000, 100, 7], "H": [4096, 512, 64], "L": [32, 2, 1], "A": [32, 8, 4], "G": [8, 8, 2], "F": [14336, 1000, 7]}
COUNTS = [ps.models.Llama().at({name: column[row] for name, column in SIZES.items()}).count for row in range(3)]
STEPS = floor((W - K) / 2) + ceiling(W / 3) * K + Max(W, K) * Min(W, K, 4) + Mod(W, K) + 2**K


def test_a_data_frame_of_pandas() -> None:
    """A Series comes back, with the frame's index; nullable and narrow columns are whole numbers, too."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SIZES, index=list("abc"))
    for given in (frame, frame.astype("Int64"), frame.astype({"L": "uint8", "H": "int32"})):
        found = evaluate(ps.models.Llama(), given)
        assert isinstance(found, pandas.Series)
        assert (found.tolist(), list(found.index), found.name) == (COUNTS, list("abc"), "params")
    assert evaluate(ps.models.Llama(), frame.drop(columns="V"), V=7).iloc[2] == COUNTS[2]
    assert evaluate(ps.models.Llama(), frame.iloc[0]) == COUNTS[0]
    assert evaluate(H**3, H=pandas.Series([2**40, 2])).tolist() == [2**120, 8]
    rounded = evaluate(ps.models.Llama(), frame, floats=True)
    assert (rounded.values.tolist(), list(rounded.values.index)) == (COUNTS, list("abc"))
    assert evaluate(H + 1, H=pandas.Index([1, 2])).tolist() == [2, 3]


def test_what_pandas_cannot_hold_as_a_size() -> None:
    """Missing values, floats, flags, indexes that differ: each with one clear error."""
    pandas = pytest.importorskip("pandas")
    for wrong, words in (
        (pandas.Series([1, None], dtype="Int64"), "<NA>"),
        (pandas.Series([1.0, None]), "float"),
        (pandas.Series([True, False]), "bool"),
    ):
        with pytest.raises(SizeError, match=words):
            evaluate(H + 1, H=wrong)
    with pytest.raises(SizeError, match="different indexes"):
        evaluate(H * L, H=pandas.Series([1, 2]), L=pandas.Series([1, 2], index=[1, 0]))


def test_a_data_frame_of_polars() -> None:
    """A Series comes back; what is not computed yet is not computed behind one's back."""
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(SIZES)
    found = evaluate(ps.models.Llama(), frame)
    assert isinstance(found, polars.Series)
    assert (found.to_list(), found.name) == (COUNTS, "params")
    assert evaluate(ps.models.Llama(), frame, floats=True).values.to_list() == COUNTS
    with pytest.raises(SizeError, match="None"):
        evaluate(H + 1, H=polars.Series([1, None]))
    with pytest.raises(ArgumentError, match=r"call \.collect\(\) first"):
        evaluate(ps.models.Llama(), frame.lazy())


class Column:
    """What a Series of polars has, where polars is not installed: a name in front, ``to_numpy`` and ``to_arrow``, no index."""

    def __init__(self, name: str, values: Any) -> None:
        """Take a name and values, as polars.Series does."""
        self.name, self.values = name, values

    def to_numpy(self) -> Any:
        """Return the values."""
        return self.values

    def to_arrow(self) -> None:
        """Stand for what polars has and pandas has not."""


def test_a_column_without_an_index() -> None:
    """One column comes back as it came; what is no column cannot."""
    np = pytest.importorskip("numpy")
    found = as_given(np.array([3, 8]), [Column("H", np.array([1, 2]))])
    assert (type(found), found.name, found.values.tolist()) == (Column, "params", [3, 8])
    grid = np.ones((2, 2))
    assert as_given(grid, [Column("H", np.array([1, 2])), grid]) is grid


def test_dask_is_told_what_a_block_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no sample (``meta``) is given to ``map_blocks``, dask runs the function to see; so it gets one, of 64-bit integers."""
    np, told = pytest.importorskip("numpy"), SimpleNamespace()
    monkeypatch.setitem(sys.modules, "dask.array", SimpleNamespace(map_blocks=lambda *_, **keywords: told.__dict__.update(keywords)))
    lazily(lambda _: pytest.fail("nobody asked for values"), [H], [np.array([1])])
    assert told.dtype == told.meta.dtype == np.int64
    assert told.meta.size == 0


def test_dask_without_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that brings it, as ``pyproject.toml`` does."""
    monkeypatch.setitem(sys.modules, "dask.array", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ArgumentError, match=r"^computing with columns needs numpy, .*: pip install numpy \(or paramsym\[numpy\]\)\.$"):
        lazily(len, [H], [[1]])


def test_lazy_arrays_of_dask_stay_lazy() -> None:
    """Nothing is computed before it is asked for; then every block is checked."""
    arrays, np = pytest.importorskip("dask.array"), pytest.importorskip("numpy")
    columns = {name: arrays.from_array(np.array(column), chunks=2) for name, column in SIZES.items()}
    found = evaluate(ps.models.Llama(), columns)
    assert isinstance(found, arrays.Array)
    assert (found.compute().tolist(), found.dtype) == (COUNTS, np.int64)
    assert evaluate(ps.models.Llama(), columns | {"L": 1}).compute()[2] == COUNTS[2]
    wrong = evaluate(ps.MultiHeadAttention(H, 12), H=arrays.from_array(np.array([768, 786]), chunks=1))
    with pytest.raises(DivisibilityError, match="embed_dim 786 is not divisible by num_heads 12"):
        wrong.compute()
    with pytest.raises(SizeError, match="beyond 64 bits"):
        evaluate(H**3, H=arrays.from_array(np.array([2**40]))).compute()


@pytest.fixture(params=["numpy", "torch", "jax", "dask.array", "array_api_strict"])
def array(request: pytest.FixtureRequest) -> Iterator[Callable[[list[int]], Any]]:
    """What makes an array of a list, in one library after the other."""
    library = pytest.importorskip(request.param)
    if request.param == "torch":
        yield library.tensor
    elif request.param == "jax":
        with library.enable_x64(True):
            yield library.numpy.asarray
    elif request.param == "dask.array":
        yield lambda column: library.from_array(pytest.importorskip("numpy").array(column), chunks=2)
    else:
        yield library.asarray


def test_the_bare_function_runs_on_any_engine(array: Callable[[list[int]], Any]) -> None:
    """Arrays in, an array of the same library out, with the values that ``at`` counts; floors, maxima and powers too."""
    columns = {name: array(column) for name, column in SIZES.items()}
    found = as_function(ps.models.Llama())(**columns)
    assert type(found) is type(columns["H"])
    assert [int(value) for value in found] == COUNTS
    steps = {"W": [5, 7, 9], "K": [2, 3, 9]}
    found = as_function(STEPS)(**{name: array(column) for name, column in steps.items()})
    assert [int(value) for value in found] == _one_by_one(STEPS, **steps)
    assert [int(value) for value in as_function(ps.Dense(H, F))(H=array([2, 3]), F=5)] == [15, 20]


def _one_by_one(expression: Expr, **columns: list[int]) -> list[int]:
    rows = zip(*columns.values(), strict=True)
    return [int(expression.subs({ps.dims(name): size for name, size in zip(columns, row, strict=True)})) for row in rows]


def test_traced_by_jax() -> None:
    """The same function compiles and maps."""
    jax = pytest.importorskip("jax")
    function = as_function(ps.Dense(H, F))
    found = jax.jit(jax.vmap(lambda h, f: function(H=h, F=f)))(jax.numpy.arange(1, 4), jax.numpy.arange(4, 7))
    assert found.tolist() == [8, 15, 24]
