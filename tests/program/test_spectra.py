"""Discrete Fourier transforms by the sum that defines them, and numbers as pairs."""

from __future__ import annotations

import pytest
from frameworks import imported

from paramsym.program.spectra import AsComplex, AsReal, Fourier
from paramsym.program.types import ArrayType


@pytest.mark.parametrize("size", [5, 6])
def test_the_sum_that_defines_it(size: int) -> None:
    """The sum of x[n] * exp(-2j*pi*k*n/N) for every k, half of them for real numbers; the inverse has the other sign and no factor."""
    xp = imported("numpy")
    numbers = xp.arange(size)
    matrix = xp.exp(-2j * xp.pi * xp.outer(numbers, numbers) / size)
    chance = xp.random.default_rng(0)
    x, z = chance.standard_normal((3, size)), chance.standard_normal((3, size)) + 1j * chance.standard_normal((3, size))
    half = size // 2 + 1
    assert xp.allclose(Fourier("real to complex", (1,), half).run(xp, x), (x @ matrix)[:, :half])
    assert xp.allclose(Fourier("real to complex", (1,), size).run(xp, x), x @ matrix)
    assert xp.allclose(Fourier("complex", (1,), size).run(xp, z), z @ matrix)
    assert xp.allclose(Fourier("complex", (1,), size, inverse=True).run(xp, z), z @ matrix.conj())
    assert xp.allclose(Fourier("complex to real", (1,), size, inverse=True).run(xp, (x @ matrix)[:, :half]), size * x)
    assert Fourier("real to complex", (1,), half).run(xp, x.astype("float32")).dtype == "complex64"


def test_pairs() -> None:
    """Two numbers along the last axis are one complex number."""
    xp = imported("numpy")
    x = xp.random.default_rng(0).standard_normal((3, 4, 2))
    found = AsComplex().run(xp, x)
    assert xp.array_equal(found, x[..., 0] + 1j * x[..., 1])
    assert xp.array_equal(AsReal().run(xp, found), x)
    assert AsReal().gives(*AsComplex().gives(ArrayType((3, 4, 2)))) == (ArrayType((3, 4, 2)),)
