"""Functions of one number, applied to every entry: activations and elementary functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import erf, pi, sqrt
from typing import Any

from paramsym.algebra.convolution import exactly
from paramsym.errors import NotYetError
from paramsym.program.graph import Kept, Named, Operation, Work
from paramsym.program.mistakes import check_word
from paramsym.program.tracing import Value, record
from paramsym.program.types import ArrayType, flat


def _sigmoid(xp: Any, x: Any) -> Any:
    # The exponent is never positive, so nothing overflows.
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _softplus(xp: Any, x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return xp.where(x * beta > threshold, x, xp.logaddexp(x * beta, 0) / beta)


def _gelu_tanh(xp: Any, x: Any, slope: float = sqrt(2 / pi)) -> Any:
    return 0.5 * x * (1 + xp.tanh(slope * (x + 0.044715 * x**3)))


@cache
def _erf(xp: Any) -> Any:
    return xp.vectorize(erf, otypes=[float])


def _gelu(xp: Any, x: Any) -> Any:
    return x * 0.5 * (1 + _erf(xp)(x / sqrt(2)).astype(x.dtype))


def _elu(xp: Any, x: Any, alpha: float = 1.0) -> Any:
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0)))


def _of_numpy(name: str) -> Callable[[Any, Any], Any]:
    return lambda xp, x: getattr(xp, name)(x)


_OF_NUMPY = (
    *(
        "abs",
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctanh",
        "ceil",
        "conjugate",
        "cos",
        "cosh",
        "exp",
        "exp2",
        "expm1",
        "floor",
    ),
    *("invert", "log", "log10", "log1p", "log2", "round", "sign", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc"),
)
_NAMED: Mapping[str, Callable[..., Any]] = {
    **{name: _of_numpy(name) for name in _OF_NUMPY},
    "celu": lambda xp, x, alpha=1.0: xp.maximum(x, 0) + xp.minimum(0, alpha * xp.expm1(xp.minimum(x, 0) / alpha)),
    "clip": lambda xp, x, low, high: xp.clip(x, low, high),
    "elu": _elu,
    "erf": lambda xp, x: _erf(xp)(x).astype(x.dtype),
    "erfc": lambda xp, x: 1 - _erf(xp)(x),
    "frac": lambda xp, x: x - xp.trunc(x),
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_tanh": _gelu_tanh,
    "hardshrink": lambda xp, x, lambd=0.5: xp.where(xp.abs(x) > lambd, x, 0),
    "hardsigmoid": lambda xp, x: xp.clip(x / 6 + 0.5, 0, 1),
    "hardswish": lambda xp, x: x * xp.clip(x / 6 + 0.5, 0, 1),
    "laplace": lambda xp, x: 0.5 * (1 + _erf(xp)((x - 0.707107) / (0.282095 * sqrt(2))).astype(x.dtype)),
    "leaky_relu": lambda xp, x, slope=0.01: xp.where(x >= 0, x, slope * x),
    "logit": lambda xp, x: xp.log(x / (1 - x)),
    "logsigmoid": lambda xp, x: -_softplus(xp, -x, threshold=float("inf")),
    "mish": lambda xp, x: x * xp.tanh(_softplus(xp, x)),
    "nan_to_num": lambda xp, x, nan, above, below: xp.nan_to_num(x, nan=nan, posinf=above, neginf=below),
    "nonzero": lambda xp, x: xp.not_equal(x, 0),
    "quick_gelu": lambda xp, x: x * _sigmoid(xp, 1.702 * x),
    "reciprocal": lambda xp, x: xp.divide(1, x),
    "relu": lambda xp, x: xp.maximum(x, 0),
    "relu6": lambda xp, x: xp.clip(x, 0, 6),
    "relu_squared": lambda xp, x: xp.square(xp.maximum(x, 0)),
    "rsqrt": lambda xp, x: 1 / xp.sqrt(x),
    "selu": lambda xp, x: 1.0507009873554805 * _elu(xp, x, 1.6732632423543772),
    "sigmoid": _sigmoid,
    "silu": lambda xp, x: x * _sigmoid(xp, x),
    "softplus": _softplus,
    "softshrink": lambda xp, x, lambd=0.5: xp.where(x > lambd, x - lambd, xp.where(x < -lambd, x + lambd, 0)),
    "softsign": lambda xp, x: x / (1 + xp.abs(x)),
    "sparse_plus": lambda xp, x: xp.where(x < 1, xp.square(xp.maximum(x + 1, 0)) / 4, x),
    "tanhshrink": lambda xp, x: x - xp.tanh(x),
    "threshold": lambda xp, x, threshold, value: xp.where(x > threshold, x, value),
}
_FUNCTIONS = dict(sorted(_NAMED.items()))  # as errors list them


_KEEPS_OUTPUT = frozenset({"exp", "exp2", "expm1", "reciprocal", "relu", "rsqrt", "sigmoid", "sqrt", "tanh"})
"""Functions whose derivative torch computes from the output."""
_IN_PLACE_OUTPUT = frozenset({"celu", "elu", "leaky_relu", "selu"})
"""Functions whose derivative torch computes from the output if they work in place, and otherwise from the input."""
_KEEPS_NOTHING = frozenset({"ceil", "conjugate", "floor", "frac", "invert", "nonzero", "round", "sign", "trunc"})
_PYTHON: Mapping[str, int] = {"gelu_new": 3, "quick_gelu": 1, "softsign": 1, "tanhshrink": 1}
"""Functions that transformers or torch write in Python, and the number of arrays that they keep in addition to the input."""


@dataclass(frozen=True, slots=True)
class Apply(Named):
    """An elementwise function; ``settings`` are its constants.

    With ``inplace``, the result overwrites the input. If the derivative needs the input, a copy of it is kept.
    """

    name: str
    settings: tuple[float, ...] = ()
    inplace: bool = False

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        return (ArrayType(taken[0].shape),) if self.name == "abs" and taken[0].kind == "complex" else taken

    def keeps(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...], needs: tuple[bool, ...]) -> tuple[Kept, ...]:  # noqa: ARG002 - for all needs
        if self.name in _KEEPS_NOTHING:
            return ()
        like = Kept("own", factors=flat(taken[0].shape))
        own = (like,) * _PYTHON.get(self.name, 0)
        if self.name == "tanhshrink":  # x - tanh(x): the derivative follows from tanh(x)
            return own
        if self.name == "logsigmoid":
            own = (replace(like, kind="buffer"),)
        if self.name in _KEEPS_OUTPUT or (self.inplace and self.name in _IN_PLACE_OUTPUT):
            return (Kept("given"), *own)
        return (like if self.inplace else Kept("taken"), *own)

    def run(self, xp: Any, *arrays: Any) -> Any:
        y = _FUNCTIONS[self.name](xp, arrays[0], *self.settings)
        return y if arrays[0].dtype.kind == "c" else y.astype(arrays[0].dtype)

    def __str__(self) -> str:
        return " ".join((self.name, *map(str, self.settings)))


@dataclass(frozen=True, slots=True)
class Gate(Operation):
    """The first half of an axis times the sigmoid of the second half, in one kernel."""

    kept = (Kept("taken"),)

    axis: int

    def gives(self, *taken: ArrayType) -> tuple[ArrayType, ...]:
        (x,) = taken
        return (x.with_axis(self.axis, exactly(x.sizes[self.axis], 2, "the entries to halve")),)

    def work(self, taken: tuple[ArrayType, ...], given: tuple[ArrayType, ...]) -> tuple[Work, ...]:  # noqa: ARG002 - depends on the result
        return Work("sigmoid", flat(given[0].shape)), Work("multiply", flat(given[0].shape))

    def run(self, xp: Any, *arrays: Any) -> Any:
        one, gate = xp.split(arrays[0], 2, axis=self.axis)
        return one * _sigmoid(xp, gate)

    def __str__(self) -> str:
        return "glu"


@dataclass(frozen=True, slots=True)
class Unknown(Apply):
    """A function known only by its name: it keeps the shape, is evaluated once per entry, and cannot be run."""

    def run(self, xp: Any, *arrays: Any) -> Any:  # noqa: ARG002 - nothing can be computed
        raise NotYetError(f"{self.name!r} is known only by its name and cannot be run; write a layer whose forward pass computes it.")


def glu(x: Value, axis: int) -> Value:
    """Return the first half of an axis times the sigmoid of the second (Dauphin et al. 2017); the kernel keeps only its input."""
    return record(Gate(x.type.axis(axis)), x)


def unknown(name: str, x: Value) -> Value:
    """Apply a function known only by its name: its shape and its work are known, its values are not."""
    return record(Unknown(name), x)


def is_known(name: str) -> bool:
    """Return whether ``apply`` knows a function of this name without settings."""
    return name in _FUNCTIONS.keys() - {"clip", "nan_to_num", "threshold"}


def apply(name: str, x: Value, *settings: float, inplace: bool = False) -> Value:
    """Apply a function to every entry, by its name, such as "relu" or "exp"; with ``inplace``, the result overwrites the input.

    Raises:
        ArgumentError: an unknown name; the message lists the nearest.
    """
    check_word(name, _FUNCTIONS, "function")
    return record(Apply(name, settings, inplace), x)
