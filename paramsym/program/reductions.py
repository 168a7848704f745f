"""Operations over whole axes: sums, means and maxima, softmax, and normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from paramsym.program.graph import Kept, Named, Operation, Work
from paramsym.program.mistakes import check_word
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, Kind, flat

Reduction: TypeAlias = Literal["sum", "mean", "max", "min", "amax", "amin", "prod", "any", "all"]
Statistic: TypeAlias = Literal["layer", "rms", "deviation", "given", "length"]
_STATISTICS = get_args(Statistic)


@dataclass(frozen=True, slots=True)
class Reduce(Operation):
    """The sum, mean, maximum or product over some axes; ``keep`` leaves them in place with size 1."""

    name: Reduction
    over: tuple[int, ...]
    keep: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        gone = {x.axis(axis) for axis in self.over}
        return (ArrayType(tuple(1 if n in gone else axis for n, axis in enumerate(x.shape) if self.keep or n not in gone), self.kind(x)),)

    def kind(self, x: ArrayType) -> Kind:
        """Return the kind of the result: a mean is a real number, a sum of Booleans their number."""
        if self.name in {"any", "all"}:
            return "truth"
        return "float" if self.name == "mean" else "index" if x.kind == "truth" else x.kind

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return (Work(self.name, flat(taken[0].shape)),)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all needs
        if self.name in {"max", "min"}:
            return (Kept("own", factors=given[0].sizes, kind="index"),)
        return (Kept("taken"), Kept("given")) if self.name in {"prod", "amax", "amin"} else ()

    def run(self, xp: Any, *arrays: Any) -> Any:
        return getattr(xp, self.name)(arrays[0], axis=self.over, keepdims=self.keep)

    def __str__(self) -> str:
        return f"{self.name} over {', '.join(map(str, self.over))}"


@dataclass(frozen=True, slots=True)
class Cumulate(Named):
    """The sum, or the product, of all entries up to each position along an axis."""

    axis: int = -1
    name: Literal["add", "multiply"] = "add"

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(taken[0].shape, "index") if taken[0].kind == "truth" else taken[0],)

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        return () if self.name == "add" else (Kept("taken"), Kept("given"))

    def run(self, xp: Any, *arrays: Any) -> Any:
        return getattr(xp, self.name).accumulate(arrays[0], axis=self.axis, dtype="int64" if arrays[0].dtype.kind == "b" else None)

    def __str__(self) -> str:
        return f"cumulate axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Softmax(Operation):
    """Exponentials divided by their sum over one axis; ``wide`` if the reference computes them in float32."""

    unit = "softmax"

    axis: int = -1
    log: bool = False
    wide: bool = False

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - always the same
        return (Kept("given", wide=self.wide),)

    def run(self, xp: Any, *arrays: Any) -> Any:
        (x,) = arrays
        if x.size == 0:
            return x
        # Relative to the maximum nothing overflows; a row with all entries hidden gives NaN, as in torch.
        shifted = x - x.max(self.axis, keepdims=True)
        total = xp.exp(shifted).sum(self.axis, keepdims=True)
        return shifted - xp.log(total) if self.log else xp.exp(shifted) / total

    def __str__(self) -> str:
        return "log softmax" if self.log else "softmax"


@dataclass(frozen=True, slots=True)
class Normalise(Operation):
    """Entries normalised over some axes.

    "layer" subtracts the mean and divides by the standard deviation. The others only divide: "deviation" by the standard deviation, "rms"
    by the root mean square, "length" by the root of the sum of squares. With "given" the statistics are two further inputs, mean and
    variance, as in batch normalisation in evaluation; with ``stored``, training is not meant, and only the input is kept. ``scaled`` and
    ``shifted`` say which of scale and shift are inputs; they are combined elementwise. Without ``eps`` it is the epsilon of the precision.
    "rms", and others with ``steps``, are computed by differences, powers and products in float32, each of which keeps arrays.
    """

    kind: Statistic
    over: tuple[int, ...]
    eps: float | None
    scaled: bool = False
    shifted: bool = False
    unbiased: bool = False
    steps: bool = False
    stored: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return taken[:1]

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the input
        return (Work(f"normalise {self.kind}" + ", scaled" * self.scaled, flat(taken[0].shape)),)

    def backward(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Work, ...]:
        return self.work(taken, given) if any(needs) else ()  # one kernel gives all gradients

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - depends on the input
        # The input, two statistics per position, and the scale; with steps also the scaled array and the differences.
        x = taken[0]
        over = {x.axis(axis) for axis in self.over}
        places = tuple(size for n, size in enumerate(x.sizes) if n not in over)
        if self.kind == "given":
            places = taken[1 + self.scaled + self.shifted].sizes
        statistic = Kept("own", factors=places, kind="statistic", wide=self.kind == "rms" or self.steps)
        like = Kept("own", factors=flat(x.shape))
        apart = self.kind == "rms" or self.steps  # a product of its own, which keeps the scale for the gradient of the other factor
        scale = (Kept("taken", 1),) if self.scaled and (needs[0] or not apart) else ()
        if self.stored:
            return (Kept("taken"), *scale, *(Kept("taken", len(taken) - n) for n in (2, 1)))
        if self.kind == "length":
            return (Kept("taken"), statistic, *scale)
        if not apart:
            return (Kept("taken"), statistic, statistic, *scale)
        normalised = (like,) if self.scaled and needs[1] else ()
        wide = replace(like, wide=True)
        centred = (Kept("taken", wide=True),) if self.kind == "rms" else (wide, wide)
        return (*centred, statistic, *scale, *normalised) if needs[0] else normalised

    def run(self, xp: Any, *arrays: Any) -> Any:
        x, *others = arrays
        scale = others.pop(0) if self.scaled else None
        shift = others.pop(0) if self.shifted else None
        eps = xp.finfo(x.dtype).eps if self.eps is None else self.eps
        if self.kind == "rms":
            y = x / xp.sqrt((x * x).mean(self.over, keepdims=True) + eps)
        elif self.kind == "length":
            y = x / xp.sqrt((x * x).sum(self.over, keepdims=True))
        elif self.kind == "given":
            y = (x - others[0]) / xp.sqrt(others[1] + eps)
        else:
            variance = x.var(self.over, keepdims=True, ddof=int(self.unbiased))
            mean = 0 if self.kind == "deviation" else x.mean(self.over, keepdims=True)
            y = (x - mean) / xp.sqrt(variance + eps)
        y = y if scale is None else y * scale
        return y if shift is None else y + shift

    def __str__(self) -> str:
        return f"normalise {self.kind}"


def reduce(name: Reduction, x: Value, *axes: int, keep: bool = False) -> Value:
    """Return the sum, mean, max or prod over axes, over the last one by default. Work: one operation per entry."""
    check_word(name, get_args(Reduction), "reduction")
    return record(Reduce(name, axes or (-1,), keep), x)


def cumulate(x: Value, axis: int = -1, name: Literal["add", "multiply"] = "add") -> Value:
    """Return the sums, or the products, up to each position along an axis. Work: one operation per entry."""
    return record(Cumulate(axis, name), x)


def softmax(x: Value, axis: int = -1, *, log: bool = False, wide: bool = False) -> Value:
    """Return exponentials divided by their sum over an axis, or its logarithm; ``wide`` if the reference computes in float32."""
    return record(Softmax(axis, log, wide), x)


def normalise(
    x: Value,
    kind: Statistic,
    *axes: int,
    eps: float | None = 1e-5,
    scale: Value | None = None,
    shift: Value | None = None,
    given: Sequence[Value] = (),
    unbiased: bool = False,
    steps: bool = False,
    stored: bool = False,
) -> Value:
    """Normalise entries over axes; then scale and shift. ``given`` are the mean and the variance for the kind "given".

    ``stored`` means that a model in evaluation mode was read: training is not meant, and no statistics of the input are kept.

    ``steps`` means that the reference uses elementary operations instead of one kernel, and so keeps more arrays.
    """
    check_word(kind, _STATISTICS, "normalisation")
    others = [one for one in (scale, shift) if one is not None]
    return record(Normalise(kind, axes, eps, scale is not None, shift is not None, unbiased, steps, stored), x, *others, *given)
