"""Torch's operators that make arrays from sizes and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.algebra.size import Count
from paramsym.program import Value, compare, constant, contract, join, rearrange, region
from paramsym.program.constants import noise
from paramsym.program.conversions import cast
from paramsym.program.types import Kind
from paramsym.read.operators import expanded, reshaped
from paramsym.read.torch_entries import TORCH, combined, filled

Given = Sequence[tuple[Count, ...]]


def _kind(like: Value | None, dtype: Kind | None) -> Kind:
    return dtype or ("float" if like is None else like.type.kind)


def _same(number: int, *names: str) -> None:
    @TORCH(*names, ignored="size stride")
    def same(self: Value | None = None, dtype: Kind | None = None, *, given: Given) -> Value:
        return filled(given[0], number, _kind(self, dtype))


_same(0, "zeros", "new_zeros", "zeros_like", "zero", "zero_")
_same(0, "empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided")
_same(1, "ones", "new_ones", "ones_like")


@TORCH("full", "new_full", "full_like", "scalar_tensor", "fill", "fill_", ignored="size")
def _full(
    self: Value | None = None,
    fill_value: Any = None,
    s: Any = None,
    value: Any = None,
    dtype: Kind | None = None,
    *,
    given: Given,
) -> Value:
    number = next(one for one in (fill_value, s, value) if one is not None)
    if isinstance(number, Value):
        return expanded(number, given[0])
    return filled(given[0], number, _kind(self, dtype or ("complex" if isinstance(number, complex) else None)))


@TORCH("arange")
def _arange(end: Any, start: Any = 0, step: Any = 1, dtype: Kind | None = None, *, given: Given) -> Value:
    kind: Kind = dtype or ("float" if isinstance(start, float) or isinstance(step, float) or isinstance(end, float) else "index")
    return _spaced(given[0], start, step, kind)


@TORCH("linspace")
def _linspace(start: Any, end: Any, steps: Any, dtype: Kind | None = None, *, given: Given) -> Value:
    return _spaced(given[0], start, (end - start) / (steps - 1) if steps != 1 else 0, dtype or "float")


@TORCH("affine_grid_generator", ignored="size")
def _affine_grid(theta: Value, align_corners: bool, *, given: Given) -> Value:
    """Return where each entry of an image is taken from: the matrix of the image times its position, from -1 to 1, and one."""
    spatial = given[0][1:-1]

    def place(axis: int) -> Value:
        size = spatial[axis]
        step = 2 / (size - 1) if align_corners and size != 1 else 2 / size
        line = _spaced((size,), -1 if align_corners and size != 1 else step / 2 - 1, step, "float")
        stretched = reshaped(line, [size if n == axis else 1 for n in range(len(spatial))])
        return reshaped(expanded(stretched, spatial), (*spatial, 1))

    def kernel(matrix: Value) -> Value:
        places = [place(axis) for axis in reversed(range(len(spatial)))]  # the last axis is x
        words = " ".join("hwd"[: len(spatial)])
        return contract(f"{words} i, b o i -> b {words} o", join(*places, filled((*spatial, 1), 1)), matrix)

    return region("affine grid", kernel, theta, keeps=())


def _spaced(shape: tuple[Count, ...], start: Any, step: Any, kind: Kind) -> Value:
    """Return the numbers ``start + step * n``."""
    x = cast(constant("positions", shape, kind="index"), kind)
    x = x if step == 1 else combined("multiply", x, step)
    return x if start == 0 else combined("add", x, start)


@TORCH("eye", ignored="n m")
def _eye(dtype: Kind | None = None, *, given: Given) -> Value:
    shape = given[0]
    return cast(compare(constant("distances", shape, kind="index"), "equal", shape[0] - shape[1]), dtype or "float")


@TORCH("one_hot", ignored="num_classes")
def _one_hot(self: Value, *, given: Given) -> Value:
    words = " ".join(f"a{n}" for n in range(self.rank))
    return cast(combined("equal", rearrange(self, f"{words} -> {words} ()"), constant("positions", given[0][-1:], kind="index")), "index")


@TORCH("rand", "randn", "rand_like", "randn_like", ignored="self size low high")
def _random(dtype: Kind | None = None, *, given: Given) -> Value:
    return noise(given[0], dtype or "float")


@TORCH("randint", "randint_like", "randperm", ignored="self size low high n")
def _random_indices(dtype: Kind | None = None, *, given: Given) -> Value:
    return noise(given[0], dtype or "index")


@TORCH(
    "bernoulli", "normal", "uniform", "exponential", "bernoulli_", "normal_", "uniform_", "exponential_", ignored="p mean std lambd from to"
)
def _drawn(self: Value, *, given: Given) -> Value:
    return noise(given[0], self.type.kind)
