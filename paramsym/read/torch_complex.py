"""Torch's operators on complex numbers, and its Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from sympy import Pow, Rational

from paramsym.algebra.size import Count, canonical, product
from paramsym.program import Kept, Value, apply, join, region
from paramsym.program.spectra import AsComplex, AsReal, Form, fourier
from paramsym.program.tracing import record
from paramsym.read.operators import reshaped
from paramsym.read.torch_entries import TORCH

Given = Sequence[tuple[Count, ...]]


@TORCH("view_as_complex")
def _view_as_complex(self: Value) -> Value:
    return record(AsComplex(), self)


@TORCH("view_as_real")
def _view_as_real(self: Value) -> Value:
    return record(AsReal(), self)


@TORCH("complex")
def _complex(real: Value, imag: Value) -> Value:
    return region("complex", _paired, real, imag, keeps=(Kept("taken"), Kept("taken", 1)))  # torch reads only their number format


def _paired(real: Value, imag: Value) -> Value:
    return record(AsComplex(), join(*(reshaped(one, (*one.sizes, 1)) for one in (real, imag))))


@TORCH("polar")
def _polar(abs: Value, angle: Value) -> Value:
    return region("polar", lambda x, t: _paired(x * apply("cos", t), x * apply("sin", t)), abs, angle, keeps=(Kept("given"),))


@TORCH("_conj", "conj_physical")
def _conjugate(self: Value) -> Value:
    return apply("conjugate", self)


@TORCH("resolve_conj", "resolve_neg")
def _resolved(self: Value) -> Value:
    return self


@TORCH("_fft_r2c", ignored="onesided")
def _from_real(self: Value, dim: Sequence[int], normalization: int, *, given: Given) -> Value:
    return _transformed(self, "real to complex", dim, normalization, given)


@TORCH("_fft_c2c")
def _of_complex(self: Value, dim: Sequence[int], normalization: int, forward: bool, *, given: Given) -> Value:
    return _transformed(self, "complex", dim, normalization, given, inverse=not forward)


@TORCH("_fft_c2r", ignored="last_dim_size")
def _to_real(self: Value, dim: Sequence[int], normalization: int, *, given: Given) -> Value:
    return _transformed(self, "complex to real", dim, normalization, given, inverse=True)


def _transformed(x: Value, form: Form, dim: Sequence[int], normalization: int, given: Given, *, inverse: bool = False) -> Value:
    """Return a transform divided by nothing, the root of the number of entries, or this number."""
    axes = tuple(x.type.axis(one) for one in dim)
    y = fourier(x, form, axes, given[0][axes[-1]], inverse=inverse)
    if normalization == 0:
        return y
    entries = canonical(product((y if form == "complex to real" else x).sizes[axis] for axis in axes))
    power = -1 if normalization == _BY_NUMBER else Rational(-1, 2)
    return y * (float(entries**power) if isinstance(entries, int) else Pow(entries, power))


_BY_NUMBER = 2
