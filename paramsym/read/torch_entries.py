"""Torch's operators on single entries: arithmetic, functions, comparisons, choices."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from sympy import Expr

from paramsym.algebra.size import Count
from paramsym.errors import NotYetError
from paramsym.program import Value, apply, constant, drop, glu, still, where
from paramsym.program.arithmetic import Combine, WithNumber
from paramsym.program.conditions import Compare
from paramsym.program.conversions import cast
from paramsym.program.tracing import record
from paramsym.read.operators import Operators, expanded

TORCH = Operators()
"""The operators of aten by name."""

_SELU = 1.0507009873554805


def combined(name: Any, one: Any, other: Any) -> Value:
    """Combine two arrays, or an array and a number, entry by entry."""
    if isinstance(one, Value) and isinstance(other, Value):
        return record(Combine(name), one, other)
    return record(WithNumber(name, other), one) if isinstance(one, Value) else record(WithNumber(name, one, reflected=True), other)


@TORCH("add", "add_")
def _add(self: Any, other: Any, alpha: Any = 1) -> Value:
    return combined("add", self, other if alpha == 1 else other * alpha)


@TORCH("sub", "sub_")
def _sub(self: Any, other: Any, alpha: Any = 1) -> Value:
    return combined("subtract", self, other if alpha == 1 else other * alpha)


@TORCH("rsub")
def _rsub(self: Any, other: Any, alpha: Any = 1) -> Value:
    return combined("subtract", other, self if alpha == 1 else self * alpha)


@TORCH("mul", "mul_")
def _mul(self: Any, other: Any) -> Value:
    return combined("multiply", self, other)


@TORCH("div", "div_")
def _div(self: Any, other: Any, rounding_mode: str | None = None) -> Value:
    y = combined("divide", self, other)
    return y if rounding_mode is None else apply("floor" if rounding_mode == "floor" else "trunc", y)


@TORCH("floor_divide", "floor_divide_")
def _floor_divide(self: Any, other: Any) -> Value:
    return combined("floor_divide", self, other)


@TORCH("remainder", "remainder_")
def _remainder(self: Any, other: Any) -> Value:
    return combined("remainder", self, other)


@TORCH("pow", "pow_")
def _pow(self: Any, exponent: Any) -> Value:
    return combined("power", self, exponent)


@TORCH("maximum", "clamp_min", "clamp_min_")
def _maximum(self: Any, other: Any = None, min: Any = None) -> Value:
    return combined("maximum", self, other if min is None else min)


@TORCH("minimum", "clamp_max", "clamp_max_")
def _minimum(self: Any, other: Any = None, max: Any = None) -> Value:
    return combined("minimum", self, other if max is None else max)


@TORCH("atan2")
def _atan2(self: Any, other: Any) -> Value:
    return combined("arctan2", self, other)


@TORCH("clamp", "clamp_", "hardtanh", "hardtanh_")
def _clamp(self: Value, min: Any = None, max: Any = None, min_val: Any = None, max_val: Any = None, inplace: bool = False) -> Value:
    low, high = (one if other is None else other for one, other in ((min, min_val), (max, max_val)))
    if isinstance(low, Value) or isinstance(high, Value):
        bounded = self if low is None else combined("maximum", self, low)
        return bounded if high is None else combined("minimum", bounded, high)
    return apply("clip", self, -inf if low is None else low, inf if high is None else high, inplace=inplace)


@TORCH("addcmul", "addcmul_")
def _addcmul(self: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    product = tensor1 * tensor2
    return self + (product if value == 1 else product * value)


@TORCH("lerp")
def _lerp(self: Value, end: Value, weight: Any) -> Value:
    return self + (end - self) * weight


_SAME = (
    *("abs", "ceil", "cos", "exp", "expm1", "floor", "log", "log1p", "log2", "round", "sign", "sin", "sqrt", "square", "tanh", "trunc"),
    *("erf", "mish", "reciprocal", "relu", "relu6", "rsqrt", "selu", "sigmoid", "silu", "hardsigmoid", "hardswish"),
    *("acos", "asin", "atan", "cosh", "sinh", "tan"),
)
_NUMPYS = {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}


def _function(name: str) -> None:
    @TORCH(name, f"{name}_")
    def function(self: Value, inplace: bool = False) -> Value:
        return apply(_NUMPYS.get(name, name), self, inplace=inplace)


for _name in _SAME:
    _function(_name)


@TORCH("neg", "neg_")
def _neg(self: Value) -> Value:
    return self * -1


@TORCH("gelu")
def _gelu(self: Value, approximate: str = "none") -> Value:
    return apply("gelu" if approximate == "none" else "gelu_tanh", self)


@TORCH("leaky_relu", "leaky_relu_")
def _leaky_relu(self: Value, negative_slope: float = 0.01, inplace: bool = False) -> Value:
    return apply("leaky_relu", self, negative_slope, inplace=inplace)


@TORCH("elu", "elu_")
def _elu(self: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0, inplace: bool = False) -> Value:
    if scale == input_scale == 1:
        return apply("elu", self, alpha, inplace=inplace)
    if input_scale == 1 and abs(scale - _SELU) < 1e-12:
        return apply("selu", self, inplace=inplace)
    raise NotYetError(f"elu with the scales {scale} and {input_scale} is not known.")


@TORCH("softplus")
def _softplus(self: Value, beta: float = 1.0, threshold: float = 20.0) -> Value:
    return apply("softplus", self, beta, threshold)


@TORCH("log_sigmoid_forward")
def _logsigmoid(self: Value) -> Value:
    return apply("logsigmoid", self)


@TORCH("glu")
def _glu(self: Value, dim: int = -1) -> Value:
    return glu(self, dim)


@TORCH("threshold", "threshold_")
def _threshold(self: Value, threshold: float, value: float, inplace: bool = False) -> Value:
    return apply("threshold", self, threshold, value, inplace=inplace)


@TORCH("prelu", "_prelu_kernel")
def _prelu(self: Value, weight: Value) -> Value:
    return where(record(Compare("greater", 0), self), self, self * weight)


_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
_LOGIC = {"logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor"}
_BITS = {"bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor"}


def _comparison(theirs: str, ours: Any) -> None:
    @TORCH(theirs, f"{theirs}_", f"__{theirs}__")
    def comparison(self: Value, other: Any) -> Value:
        if isinstance(other, Value):
            return combined(ours, self, other)
        return record(Compare(ours, other if isinstance(other, Expr) else float(other)), self)


for _theirs, _ours in (_COMPARISONS | _LOGIC | _BITS).items():
    _comparison(_theirs, _ours)
TORCH.functions |= {f"__{short}__": TORCH.functions[f"bitwise_{short}"] for short in ("and", "or", "xor")}


@TORCH("logical_not", "logical_not_", "bitwise_not", "bitwise_not_")
def _not(self: Value) -> Value:
    return record(Compare("equal", 0.0), self)


@TORCH("isnan")
def _isnan(self: Value) -> Value:
    return combined("not_equal", self, self)


@TORCH("isinf")
def _isinf(self: Value) -> Value:
    return record(Compare("equal", inf), apply("abs", self))


@TORCH("where")
def _where(condition: Value, self: Any, other: Any) -> Value:
    if not isinstance(self, Value):
        self = constant("full", (), float(self))
    return where(condition, self, other if isinstance(other, Value) else float(other))


@TORCH("masked_fill", "masked_fill_")
def _masked_fill(self: Value, mask: Value, value: Any) -> Value:
    return where(mask, value if isinstance(value, Value) else constant("full", (), float(value)), self)


@TORCH("_to_copy", "type_as", ignored="other")
def _to_copy(self: Value, dtype: str | None = None) -> Value:
    return cast(self, self.type.kind if dtype is None else dtype)  # type: ignore[arg-type]


@TORCH("dropout", "dropout_", "alpha_dropout", "feature_dropout")
def _dropout(input: Value, p: float, train: bool) -> Value:
    return drop(input, p) if train else input


@TORCH("native_dropout")
def _native_dropout(input: Value, p: float, train: bool | None) -> Value:
    return drop(input, p) if train else input


@TORCH("detach", "alias", "lift_fresh", "lift_fresh_copy")
def _detach(self: Value) -> Value:
    return still(self)


TORCH("alias", "lift_fresh", "lift_fresh_copy")(lambda self: self)


@TORCH("fill", "fill_", "zero", "zero_", "zeros_like", "ones_like", "full_like", "empty_like")
def _fill(self: Value, value: Any = None, fill_value: Any = None, dtype: str | None = None, *, given: Sequence[tuple[Count, ...]]) -> Value:
    number = value if value is not None else fill_value
    if isinstance(number, Value):
        return expanded(number, given[0])
    return constant("full", tuple(given[0]), 0 if number is None else number, kind=self.type.kind if dtype is None else dtype)  # type: ignore[arg-type]


@TORCH("ones_like")
def _ones(self: Value, dtype: str | None = None, *, given: Sequence[tuple[Count, ...]]) -> Value:
    return constant("full", tuple(given[0]), 1, kind=self.type.kind if dtype is None else dtype)  # type: ignore[arg-type]


@TORCH("copy", "copy_")
def _copy(self: Value, src: Value, *, given: Sequence[tuple[Count, ...]]) -> Value:
    return expanded(cast(src, self.type.kind), given[0])
