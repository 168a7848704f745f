"""Operations of the vocabulary against NumPy and hand-made numbers: shapes and entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import A, B, D, H, S, W
from paramsym.core.layer import Layer
from paramsym.errors import ShapeError
from paramsym.program import (
    Own,
    Value,
    apply,
    best,
    copies,
    cumulate,
    flip,
    heads,
    join,
    lookup,
    normalise,
    pad,
    pick,
    rearrange,
    reduce,
    roll,
    segments,
    softmax,
    solve,
    take,
)
from paramsym.program.arithmetic import Combine
from paramsym.program.graph import Work
from paramsym.program.types import ArrayType


def layer(forward: Callable[..., Any]) -> Layer:
    """Return a layer that applies a function to its inputs."""

    @dataclass(frozen=True)
    class Function(Layer):
        def forward(self, own: Own, *inputs: Value) -> Any:  # noqa: ARG002 - it stores nothing
            return forward(*inputs)

    return Function()


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "rearrange": (
        lambda x: rearrange(x, "a (b c) d -> d (a c) b", b=2),
        lambda _, x: x.reshape(2, 2, 3, 4).transpose(3, 0, 2, 1).reshape(4, 6, 2),
    ),
    "rearrange with dots": (lambda x: rearrange(x, "... (b c) -> ... c b", b=2), lambda _, x: x.reshape(2, 6, 2, 2).swapaxes(-1, -2)),
    "an axis of one": (lambda x: rearrange(x, "a b c -> a () b c"), lambda _, x: x[:, None]),
    "segments": (lambda x: segments(x, 1, 3), lambda _, x: (x[..., :1], x[..., 1:])),
    "take one": (lambda x: take(x, 1, -1), lambda _, x: x[:, -1]),
    "take several": (lambda x: take(x, 1, 1, 2, 3), lambda _, x: x[:, 1:7:3]),
    "join": (lambda x: join(x, x, axis=1), lambda xp, x: xp.concatenate([x, x], 1)),
    "copies": (lambda x: copies(x, 2, 1), lambda xp, x: xp.repeat(x, 2, 1)),
    "tiles": (lambda x: copies(x, 2, 1, tiled=True), lambda xp, x: xp.tile(x, (1, 2, 1))),
    "pad": (lambda x: pad(x, ((1, 2),), value=3.0), lambda xp, x: xp.pad(x, ((0, 0), (0, 0), (1, 2)), constant_values=3.0)),
    "crop": (lambda x: pad(x, ((-1, -1),)), lambda _, x: x[..., 1:-1]),
    "reflect": (lambda x: pad(x, ((2, 1),), "reflect"), lambda xp, x: xp.pad(x, ((0, 0), (0, 0), (2, 1)), mode="reflect")),
    "roll": (lambda x: roll(x, (1, -2), (1, 2)), lambda xp, x: xp.roll(x, (1, -2), (1, 2))),
    "flip": (lambda x: flip(x, 1), lambda _, x: x[:, ::-1]),
    "reduce": (lambda x: reduce("mean", x, 0, 2, keep=True), lambda _, x: x.mean((0, 2), keepdims=True)),
    "cumulate": (lambda x: cumulate(x, 1), lambda _, x: x.cumsum(1)),
    "softmax": (lambda x: softmax(x, 1), lambda xp, x: xp.exp(x) / xp.exp(x).sum(1, keepdims=True)),
    "root mean square": (lambda x: normalise(x, "rms", -1, eps=0.5), lambda xp, x: x / xp.sqrt((x**2).mean(-1, keepdims=True) + 0.5)),
    "squared relu": (lambda x: apply("relu_squared", x), lambda xp, x: xp.where(x > 0, x * x, 0)),
    "arithmetic": (lambda x: (1 - x) / 2 + x * x - 3 * -x, lambda _, x: (1 - x) / 2 + x * x + 3 * x),
    "best": (lambda x: best(x, 2), lambda xp, x: (-xp.sort(-x, -1)[..., :2], xp.argsort(-x, -1)[..., :2])),
}


@pytest.mark.parametrize("name", CASES)
def test_entries(name: str) -> None:
    """Random entries, and a run checks every shape that the program states."""
    xp = imported("numpy")
    ours, theirs = CASES[name]
    x = xp.random.default_rng(0).standard_normal((2, 6, 4))
    found, wanted = ps.run(layer(ours), {}, x), theirs(xp, x)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    assert all(xp.allclose(one, other, rtol=1e-12) for one, other in pairs)


@pytest.mark.parametrize(("upper", "ones"), [(False, False), (True, False), (False, True)])
def test_a_triangular_system(upper: bool, ones: bool) -> None:
    """The solution, of which the other triangle and a diagonal of ones are no part."""
    xp = imported("numpy")
    rng = xp.random.default_rng(0)
    matrix, right = rng.standard_normal((2, 3, 3)), rng.standard_normal((2, 3, 5))
    read = (xp.triu if upper else xp.tril)(matrix, 1 if upper and ones else -1 if ones else 0) + (xp.eye(3) if ones else 0)
    found = ps.run(layer(lambda a, b: solve(a, b, upper=upper, ones=ones)), {}, matrix, right)
    assert xp.allclose(read @ found, right)
    with pytest.raises(ps.errors.ShapeError, match="takes a square matrix and columns of its length"):
        ps.flops(layer(solve), (2, 3, 3), (2, 4, 5))


def test_lookups() -> None:
    """Rows of a table, and entries along the last axis."""
    xp = imported("numpy")
    table, index = xp.arange(12.0).reshape(4, 3), xp.array([[3, 0], [1, 1]])
    assert xp.array_equal(ps.run(layer(lookup), {}, table, index), table[index])
    columns = xp.array([[2, 0], [1, 1]])
    assert xp.array_equal(ps.run(layer(pick), {}, table[:2], columns), xp.array([[2.0, 0.0], [4.0, 4.0]]))


def test_factors_are_kept() -> None:
    """Heads come off an axis as the projection stores them, so that a product shows where the number of heads went."""
    projection = ps.Dense(H, (A, D))

    @dataclass(frozen=True)
    class Heads(Layer):
        def parts(self) -> Any:
            yield ps.Part("q", projection)

        def forward(self, own: Own, x: Value) -> Value:
            return heads(own.q(x))

    assert ps.trace(Heads(), (B, S, H)).output_types[0].shape == (B, S, A, D)


def test_what_does_not_fit() -> None:
    """Shapes that contradict each other are refused, with both of them."""
    for wrong in (
        lambda x: rearrange(x, "a b -> b a"),
        lambda x: rearrange(x, "a (b c) d -> a b c d", b=4),
        lambda x: segments(x, 1, 2),
        lambda x: join(x, take(x, 1, 0, 2), axis=0),
        lambda x: x + take(x, 1, 0, 2),
        lambda x: pad(x, ((-3, -3),)),
    ):
        with pytest.raises(ShapeError):
            ps.trace(layer(wrong), (2, 6, 4))
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(2, 4\) cannot be joined along axis 0"):
        ps.trace(layer(lambda x, y: join(x, y, axis=0)), (2, 3), (2, 4))
    assert ps.output_shape(layer(lambda x: pad(x, ((1, W),))), (B, S)) == (B, S + W + 1)


def test_a_softmax_of_large_numbers() -> None:
    """exp(1000) is no float; two equal numbers still have one half each."""
    xp = imported("numpy")
    assert ps.run(layer(softmax), {}, xp.array([1000.0, 1000.0, 0.0])).tolist() == [0.5, 0.5, 0]


def test_the_work_of_a_sum_has_its_name() -> None:
    """Conventions choose by name and count entries: here 2 * 3 additions."""
    matrix = ArrayType((2, 3))
    assert Combine("add").work((matrix, matrix), (matrix,)) == (Work("add", (2, 3)),)
