"""ONNX's operators on single entries, such as Add and Clip, and those that make arrays, such as Range and Trilu; their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, get_args

from sympy import Expr, Rational, ceiling

from paramsym.algebra.size import Count, canonical
from paramsym.errors import NotYetError, ShapeError
from paramsym.program import (
    Value,
    apply,
    compare,
    constant,
    join,
    where,
)
from paramsym.program.arithmetic import Comparison, Name
from paramsym.program.conditions import Check
from paramsym.program.conversions import cast
from paramsym.program.tracing import record
from paramsym.program.types import Kind
from paramsym.read.onnx_from_sizes import PAIRS, is_known, kind_of, lettered, listed, number, sizes
from paramsym.read.operators import Operators, reshaped
from paramsym.read.torch_entries import TORCH, combined, filled
from paramsym.read.values import fixed

ONNX = Operators()
"""The operators of ONNX by name. Their functions take inputs in order or by name, then attributes by name.

An input is a traced array, or an array whose entries are known. Many operators are those of torch.
"""


def array(x: Any) -> Value:
    """Return a traced array; an array with known entries becomes a constant."""
    if isinstance(x, Value):
        return x
    kind = kind_of(x)
    if not lettered(x):
        return fixed(x.shape, kind, x)
    if x.size == 1:
        return constant("full", x.shape, number(x), kind=kind)
    if x.ndim != 1:
        return reshaped(array(x.reshape(-1)), x.shape)
    return join(*(array(x[place : place + 1]) for place in range(x.size)), axis=0)


def shape_of(x: Any) -> tuple[Count, ...]:
    """Return the sizes of an array."""
    return x.sizes if isinstance(x, Value) else x.shape


def scalar(x: Any) -> Any:
    """Return the number in a known array of one entry, otherwise the traced array."""
    return number(x) if is_known(x) and x.size == 1 else array(x)


def pair(name: Name, one: Any, other: Any) -> Value:
    """Combine two arrays entry by entry."""
    if is_known(one) and is_known(other):
        one = array(one)
    if is_known(other) and other.size == 1 and other.ndim <= len(shape_of(one)):
        return combined(name, one, _as(number(other), other))
    if is_known(one) and one.size == 1 and one.ndim <= len(shape_of(other)):
        return combined(name, _as(number(one), one), other)
    return combined(name, array(one), array(other))


def _as(one: Any, x: Any) -> Any:
    return one if isinstance(one, Expr) else float(one) if kind_of(x) == "float" else int(one)


def axis_in(x: Value, axis: int) -> int:
    """Return the position of an axis counted from the front.

    Raises:
        ShapeError: an axis that the array does not have.
    """
    if not -x.rank <= axis < x.rank:
        raise ShapeError(f"axis {axis} of {x.type} does not exist.")
    return x.type.axis(axis)


def axes_of(axes: Any) -> tuple[Any, ...] | None:
    """Return axes, which were an attribute in older versions and are an input in newer ones."""
    return axes if axes is None or isinstance(axes, tuple) else sizes(axes)


# Single entries ------------------------------------------------------------------------------------------------------------------

_COMPARED = frozenset(get_args(Comparison))


def _pairs(theirs: str, ours: Name) -> None:
    @ONNX(theirs)
    def function(A: Any, B: Any) -> Value:
        if ours in _COMPARED and isinstance(A, Value) and is_known(B) and B.size == 1 and B.ndim <= A.rank:
            comparison: Any = ours
            return compare(A, comparison, _as(number(B), B))
        return pair(ours, A, B)


def _several(theirs: str, ours: Name, mean: bool = False) -> None:
    @ONNX(theirs)
    def function(inputs: Sequence[Any]) -> Value:
        x = array(inputs[0])
        for other in inputs[1:]:
            x = pair(ours, x, other)
        return x / len(inputs) if mean else x


for _theirs, _ours in PAIRS.items():
    _pairs(_theirs, _ours)
_several("Max", "maximum")
_several("Min", "minimum")
_several("Sum", "add")
_several("Mean", "add", mean=True)


@ONNX("Div")
def _div(A: Any, B: Any) -> Value:
    if all(kind == "index" for kind in map(_kind, (A, B))):
        return TORCH.functions["div"](array(A), scalar(B) if is_known(B) and B.ndim == 0 else array(B), rounding_mode="trunc")
    return pair("divide", A, B)


def _kind(x: Any) -> Kind:
    return x.type.kind if isinstance(x, Value) else kind_of(x)


@ONNX("Mod")
def _mod(A: Any, B: Any, fmod: int = 0) -> Value:
    return pair("fmod" if fmod else "remainder", A, B)


_SAME = (
    *("Abs", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "HardSwish", "Log", "Mish", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign"),
    *("Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh"),
)
_NUMPYS = {f"A{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")}
_WITH_SLOPE: Mapping[str, tuple[str, float]] = {"Elu": ("elu", 1.0), "Celu": ("celu", 1.0), "LeakyRelu": ("leaky_relu", 0.01)}


def _function(theirs: str, ours: str) -> None:
    @ONNX(theirs)
    def function(X: Any) -> Value:
        return apply(ours, array(X))


def _with_slope(theirs: str, ours: str, usual: float) -> None:
    @ONNX(theirs)
    def function(X: Any, alpha: float = usual) -> Value:
        return apply(ours, array(X), alpha)


for _theirs, _name in ({name: name.lower() for name in _SAME} | _NUMPYS).items():
    _function(_theirs, _name)
for _theirs, (_name, _usual) in _WITH_SLOPE.items():
    _with_slope(_theirs, _name, _usual)


@ONNX("Neg")
def _neg(X: Any) -> Value:
    return array(X) * -1


@ONNX("Not")
def _not(X: Any) -> Value:
    return compare(array(X), "equal", 0.0)


@ONNX("BitwiseNot")
def _bitwise_not(X: Any) -> Value:
    return apply("invert", array(X))


@ONNX("Identity")
def _identity(input: Any) -> Any:
    return input


@ONNX("Selu")
def _selu(X: Any, alpha: float = 1.6732632, gamma: float = 1.0507010) -> Value:
    if abs(alpha - 1.6732632) > 1e-5 or abs(gamma - 1.0507010) > 1e-5:
        return apply("elu", array(X), alpha) * gamma
    return apply("selu", array(X))


@ONNX("HardSigmoid")
def _hardsigmoid(X: Any, alpha: float = 0.2, beta: float = 0.5) -> Value:
    if abs(alpha - 1 / 6) < 1e-6 and beta == 0.5:
        return apply("hardsigmoid", array(X))
    return apply("clip", array(X) * alpha + beta, 0.0, 1.0)


@ONNX("ThresholdedRelu")
def _thresholded(X: Any, alpha: float = 1.0) -> Value:
    return apply("threshold", array(X), alpha, 0.0)


@ONNX("Gelu")
def _gelu(X: Any, approximate: str = "none") -> Value:
    return apply("gelu" if approximate == "none" else "gelu_tanh", array(X))


@ONNX("PRelu")
def _prelu(X: Value, slope: Any) -> Value:
    return TORCH.functions["_prelu_kernel"](array(X), array(slope))


@ONNX("Clip")
def _clip(input: Any, min: Any = None, max: Any = None) -> Value:
    x = array(input)
    low, high = (None if one is None else one if isinstance(one, float) else scalar(one) for one in (min, max))
    if isinstance(low, Value) or isinstance(high, Value):
        x = x if low is None else combined("maximum", x, low)
        return x if high is None else combined("minimum", x, high)
    return apply("clip", x, -inf if low is None else low, inf if high is None else high)


def _check(theirs: str, ours: Any) -> None:
    @ONNX(theirs)
    def check(X: Any, detect_negative: int = 1, detect_positive: int = 1) -> Value:
        if not detect_negative or not detect_positive:
            raise NotYetError("a check for infinite entries of one sign is not known.")
        return record(Check(ours), array(X))


_check("IsNaN", "isnan")
_check("IsInf", "isinf")


@ONNX("Where")
def _where(condition: Any, X: Any, Y: Any) -> Value:
    one, other = array(X), scalar(Y)
    if isinstance(other, Expr):
        other = array(Y)
    if is_known(Y) and Y.ndim > len(shape_of(X)):
        other = array(Y)
    return where(array(condition), one, other if isinstance(other, Value) else float(other))


_KINDS: Mapping[int, Kind] = {
    **dict.fromkeys((1, 10, 11, 16), "float"),
    **dict.fromkeys((2, 3, 4, 5, 6, 7, 12, 13), "index"),
    9: "truth",
    **dict.fromkeys((14, 15), "complex"),
}


@ONNX("Cast", ignored="saturate round_mode")
def _cast(input: Any, to: int) -> Value:
    if to not in _KINDS:
        raise NotYetError("numbers of fewer than sixteen bits are not known.")
    return cast(array(input), _KINDS[to])


@ONNX("CastLike", ignored="saturate round_mode")
def _cast_like(input: Any, target_type: Any) -> Value:
    return cast(array(input), _kind(target_type))


@ONNX("Dropout", ignored="ratio seed is_test")
def _dropout(data: Any, training_mode: Any = None) -> Any:
    if training_mode is not None and (not is_known(training_mode) or number(training_mode)):
        raise NotYetError("dropout in training is not read; export the model in evaluation mode.")
    return data


# Sizes and constants ----------------------------------------------------------------------------------------------------------------


@ONNX("Shape")
def _shape(data: Any, start: int = 0, end: int | None = None) -> Any:
    return listed(shape_of(data)[start:end])


@ONNX("Size")
def _size(data: Any) -> Any:
    total: Count = 1
    for size in shape_of(data):
        total = canonical(total * size)
    return listed([total]).reshape(())


@ONNX("ConstantOfShape")
def _constant_of_shape(input: Any, value: Any = None) -> Value:
    return filled(checked(sizes(input)), 0.0 if value is None else number(value), "float" if value is None else kind_of(value))


def checked(shape: tuple[Any, ...]) -> tuple[Count, ...]:
    """Return sizes that may be a shape.

    Raises:
        ShapeError: a size below zero.
    """
    if any(isinstance(size, int) and size < 0 for size in shape):
        raise ShapeError(f"{shape} is no shape.")
    return shape


@ONNX("Range")
def _range(start: Any, limit: Any, delta: Any) -> Value:
    first, last, step = (number(one) if is_known(one) else None for one in (start, limit, delta))
    if first is None or last is None or step is None:
        raise NotYetError("the ends of a range depend on the entries of an input, which are unknown.")
    count: Any = canonical(ceiling((exact(last) - exact(first)) / exact(step)))
    x = cast(constant("positions", (max(count, 0) if isinstance(count, int) else count,), kind="index"), kind_of(delta))
    x = x if step == 1 else combined("multiply", x, step)
    return x if first == 0 else combined("add", x, first)


def exact(one: Any) -> Any:
    """Return a number without rounding; an expression is not changed."""
    return Rational(one) if isinstance(one, int | float) else one


@ONNX("OneHot")
def _one_hot(indices: Any, depth: Any, values: Any, axis: int = -1) -> Value:
    x = array(indices)
    if axis not in {-1, x.rank} or not is_known(values):
        raise NotYetError("a one-hot code along another axis than the last one, or with computed values, is not known.")
    column = reshaped(x, (*x.sizes, 1))
    found = combined("equal", column, constant("positions", (sizes(depth)[0],), kind="index"))
    off, on = values.reshape(-1).tolist()
    return where(found, filled((), on, kind_of(values)), float(off))


@ONNX("EyeLike")
def _eye_like(input: Any, dtype: int | None = None, k: int = 0) -> Value:
    rows, columns = array(input).sizes
    ones = compare(constant("distances", (rows, columns), kind="index"), "equal", rows - columns + k)
    return cast(ones, _kind(input) if dtype is None else _KINDS[dtype])


@ONNX("Trilu")
def _trilu(input: Any, k: Any = None, upper: int = 1) -> Value:
    return TORCH.functions["triu" if upper else "tril"](array(input), 0 if k is None else number(k))
