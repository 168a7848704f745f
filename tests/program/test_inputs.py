"""Shapes through parts: copies asked once, paths in errors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, repeat

import pytest

import paramsym as ps
from paramsym import B, Dense, H, L, MaxPool2d, dims
from paramsym.errors import ArgumentError, CheckpointError, ShapeError, SizeError, UnknownNameError
from paramsym.measure.walk import Visit, applied

i = dims("i")


def test_equal_copies_are_one_step() -> None:
    """However many, as long as they keep the shape."""
    for depth in (1, 12, 10**6, L):
        (step,) = applied(ps.Repeat(Dense(H, H), depth), (B, H))
        assert (step.used, step.stored) == (depth, depth)


def test_copies_that_change_the_shape_are_steps_of_their_own() -> None:
    """Each has its name; of a shared block the first is stored."""
    repeated = list(applied(ps.Repeat(MaxPool2d(2), 2), (1, 1, 8, 8)))
    assert repeated == [
        Visit("0", MaxPool2d(2), (1, 1, 8, 8), (1, 1, 4, 4)),
        Visit("1", MaxPool2d(2), (1, 1, 4, 4), (1, 1, 2, 2)),
    ]
    shared = list(applied(ps.Shared(MaxPool2d(2), 2), (1, 1, 8, 8)))
    assert [step.stored for step in shared] == [1, 0]


def test_copies_take_what_the_part_takes() -> None:
    """A Dense takes one input; copies that are chosen for each position also take weights and numbers."""
    with pytest.raises(ShapeError, match="wanted one shape, for one input; found 2"):
        ps.output_shape(ps.Repeat(Dense(3, 3), 4), ((1, 3), (1, 3)))
    assert ps.output_shape(ps.Repeat(Dense(3, 3), 4, used=2), ((1, 3), (1, 2), (1, 2))) == (1, 3)


def test_copies_by_number() -> None:
    """Blocks that depend on their number, alternate, or come in runs follow one another in order."""
    growing = ps.Repeat(Dense(i + 1, i + 2), 3, index=i)
    assert [step.left for step in applied(growing, (B, 1))] == [(B, 2), (B, 3), (B, 4)]
    alternating = ps.Repeat((Dense(2, 3), Dense(3, 2)), 4)
    assert [step.path for step in applied(alternating, (B, 2))] == ["0", "1", "2", "3"]
    runs = ps.Runs((Dense(2, 2), 3), (Dense(2, 3), 1))
    assert ps.output_shape(runs, (B, 2)) == (B, 3)
    first = ps.Repeat(Dense(3, 3), L, first=Dense(2, 3))
    assert ps.output_shape(first, (B, 2)) == (B, 3)
    assert ps.output_shape(ps.Repeat(Dense(2, 3), 0), (B, 5)) == (B, 5)


def test_errors_carry_the_path() -> None:
    """Through levels with and without names."""
    inner = ps.Sequential({"a": Dense(2, 2), "b": ps.Repeat(Dense(3, 3), 2)})
    with pytest.raises(ShapeError, match=r"^Sequential: x\.b\.0, a Dense, which was given \(1, 2\)"):
        ps.output_shape(ps.Sequential({"x": ps.Tied(inner, ())}), (1, 2))
    with pytest.raises(ShapeError, match=r"^Sequential: e, an Embedding"):
        ps.output_shape(ps.Sequential({"e": ps.EmbeddingBag(3, 4)}), (1, 2, 3))
    with pytest.raises(ShapeError, match=r"^Sequential: x\.\{0\.\.3\}, a Dense, which was given \(1, 2\)"):
        ps.output_shape(ps.Sequential({"x": ps.Repeat(Dense(3, 3), 4, used=2)}), (1, 2))


ENDLESS: dict[str, Callable[[], object]] = {
    "shape": lambda: ps.output_shape(Dense(H, 3), count(1)),
    "one of several": lambda: ps.output_shape(Dense(H, 3), ((1, 2), [1] * 65)),
    "trace": lambda: ps.trace(Dense(H, 3), count(1)),
    "flops": lambda: ps.flops(Dense(H, 3), range(10**12)),
    "memory": lambda: ps.memory(Dense(H, 3), range(1, 10**12)),
    "match": lambda: ps.match(Dense(H, 3), {"weight": count(1)}),
    "reconcile": lambda: ps.reconcile(Dense(2, 3), {"weight": range(10**12)}),
}


@pytest.mark.parametrize("question", ENDLESS.values(), ids=ENDLESS)
def test_a_shape_without_end_is_not_read_to_its_end(question: Callable[[], object]) -> None:
    """NumPy and torch have arrays of 64 axes at most."""
    with pytest.raises(ShapeError, match="has more than 64 axes"):
        question()


def test_other_lists_without_end() -> None:
    """Values to try are tried as far as the search goes; names are refused at the first that is not there; a column has to fit."""
    sized = Dense(H, 3).at(H=2)
    assert ps.reconcile(sized, 15, others={"H": count(1)})[0].term == ps.reconcile(sized, 15, others={"H": [4]})[0].term
    with pytest.raises(UnknownNameError, match="none of the models has a size for '0'"):
        ps.table({"one": sized}, map(str, count()))
    with pytest.raises(ArgumentError, match="the letter H is named twice"):
        ps.table({"one": sized}, repeat("H"))
    with pytest.raises(ArgumentError, match="the question 'parameters' is asked twice"):
        ps.table({"one": sized}, [], repeat("parameters"))
    pytest.importorskip("numpy")
    with pytest.raises(SizeError, match="does not fit in memory"):
        ps.evaluate(Dense(H, 3), H=range(10**15))


@pytest.mark.parametrize("shape", [(3, -1), (3, 2.5), (True, 3), (3, None)])
def test_a_measured_shape_that_is_none_is_shown(shape: tuple[object, ...]) -> None:
    """The error has the shape as it was given."""
    with pytest.raises(CheckpointError) as refused:
        ps.match(Dense(3, 4), {"weight": shape, "bias": (4,)})
    assert f"the shape of 'weight' is {shape}; wanted" in str(refused.value)
