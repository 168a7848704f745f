"""Complex numbers, and discrete Fourier transforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from paramsym.algebra.size import Count
from paramsym.program.graph import Kept, Operation
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType

Form: TypeAlias = Literal["real to complex", "complex", "complex to real"]


@dataclass(frozen=True, slots=True)
class Fourier(Operation):
    """A discrete Fourier transform over some axes, the sums alone; ``length`` is the size of the last of these axes in the result.

    From real numbers only the first half of the frequencies is computed if ``length`` is that many; to real numbers, the half is completed.
    """

    unit = "fourier transform"

    form: Form
    axes: tuple[int, ...]
    length: Count
    inverse: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        shape = list(taken[0].shape)
        shape[self.axes[-1]] = self.length
        return (ArrayType(tuple(shape), "float" if self.form == "complex to real" else "complex"),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - depends on the form
        return (Kept("taken"),) if self.form == "real to complex" else ()  # torch reads only its shape

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        narrow = x.dtype.name in {"float32", "complex64"}
        if self.form == "complex to real":
            sizes = [x.shape[axis] for axis in self.axes[:-1]]
            y = xp.fft.irfftn(x, [*sizes, int(self.length)], self.axes, norm="forward")
            return y.astype("float32" if narrow else "float64")
        half = self.form == "real to complex" and int(self.length) != x.shape[self.axes[-1]]
        y = (
            (xp.fft.rfftn if half else xp.fft.fftn)(x, axes=self.axes)
            if not self.inverse
            else xp.fft.ifftn(x, axes=self.axes, norm="forward")
        )
        return y.astype("complex64" if narrow else "complex128")

    def __str__(self) -> str:
        return "fourier transform"


@dataclass(frozen=True, slots=True)
class AsComplex(Operation):
    """Pairs of numbers along the last axis as complex numbers."""

    view: ClassVar[bool] = True

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(taken[0].shape[:-1], "complex"),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        return xp.ascontiguousarray(x).view("complex64" if x.dtype.name == "float32" else "complex128")[..., 0]

    def __str__(self) -> str:
        return "as complex"


@dataclass(frozen=True, slots=True)
class AsReal(Operation):
    """Complex numbers as pairs of numbers along a new last axis."""

    view: ClassVar[bool] = True

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType((*taken[0].shape, 2)),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        return xp.stack([arrays[0].real, arrays[0].imag], -1)

    def __str__(self) -> str:
        return "as real"


def fourier(x: Value, form: Form, axes: tuple[int, ...], length: Count, *, inverse: bool = False) -> Value:
    """Return the sums of a discrete Fourier transform over axes; ``length`` is the size of the last of these axes in the result."""
    return record(Fourier(form, axes, length, inverse), x)
