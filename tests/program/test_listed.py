"""Entries taken by number, gated halves and made lengths: what they compute on NumPy, and what they keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import paramsym as ps
from paramsym.program import Own, Value, at_each, glu, listed, normalise, turn

xp: Any = pytest.importorskip("numpy")


@dataclass(frozen=True)
class Does(ps.Layer):
    """A layer of one operation behind a weight, so that its input needs a gradient."""

    operation: Callable[..., Value]

    def tensors(self) -> Iterator[ps.Tensor]:
        """One number."""
        yield ps.Tensor("weight", (1,))

    def forward(self, own: Own, x: Value, *more: Value) -> Value:
        """The operation on the weighted input."""
        return self.operation(x + own.weight, *more)


def ran(operation: Callable[..., Value], *arrays: Any) -> Any:
    """Return what an operation computes."""
    return ps.run(Does(operation), {"weight": xp.zeros(1)}, *arrays)


def kept(operation: Callable[..., Value], *shapes: Any) -> dict[str, int]:
    """Return the bytes that an operation keeps, by the name of the array."""
    return {str(line.path[-1]): int(line.polynomial("used").as_expr()) for line in ps.activations(Does(operation), *shapes).ledger}


def test_listed_entries_are_copies_with_an_index() -> None:
    """The entries in the order of the list; eight bytes for each number of it."""
    x = xp.arange(6.0).reshape(2, 3)
    assert xp.array_equal(ran(lambda x: listed(x, 1, 2, 0), x), x[:, [2, 0]])
    assert kept(lambda x: listed(x, 1, 2, 0), (2, 3)) == {"listed's index": 16}


def test_a_position_of_each_example() -> None:
    """``x[arange, index]``: two indices for each example."""
    x, index = xp.arange(24.0).reshape(2, 3, 4), xp.array([2, 0])
    assert xp.array_equal(ran(at_each, x, index), x[[0, 1], index])
    assert ps.output_shape(Does(at_each), ((5, 3, 4), (5,))) == (5, 4)


def test_turned_axes_are_views() -> None:
    """The first entry goes behind the last, and nothing is kept for it."""
    x = xp.arange(6.0).reshape(2, 3)
    assert xp.array_equal(ran(lambda x: turn(x, 1), x), x[:, [1, 2, 0]])
    assert kept(lambda x: turn(x, 1), (2, 3)) == {}


def test_gated_halves() -> None:
    """One half times the sigmoid of the other; the kernel keeps its input alone."""
    x = xp.array([[1.0, 2.0, 0.0, 3.0]])
    assert xp.allclose(ran(lambda x: glu(x, 1), x), [[0.5, 2 / (1 + xp.exp(-3.0))]])
    assert kept(lambda x: glu(x, 1), (1, 4)) == {"add": 16}
    with pytest.raises(ps.errors.ParamsymError, match="halve"):
        ps.output_shape(Does(lambda x: glu(x, 1)), (1, 3))


def test_lengths() -> None:
    """Rows divided by their Euclidean lengths."""
    assert xp.allclose(ran(lambda x: normalise(x, "length", -1), xp.array([[3.0, 4.0]])), [[0.6, 0.8]])
