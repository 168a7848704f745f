"""Torch's operators on single entries: arithmetic, functions, comparisons, choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, pi
from typing import Any, get_args

from sympy import Expr

from paramsym.algebra.size import Count
from paramsym.errors import NotYetError
from paramsym.layers.activation import sloped
from paramsym.program import Kept, Value, apply, compare, constant, drop, glu, region, still, where
from paramsym.program.arithmetic import Combine, Comparison, Name, WithNumber
from paramsym.program.conditions import Check, Property
from paramsym.program.constants import noise
from paramsym.program.conversions import cast
from paramsym.program.losses import x_log_y
from paramsym.program.state import remember
from paramsym.program.tracing import record
from paramsym.program.types import Kind
from paramsym.read.operators import Operators, expanded

TORCH = Operators()
"""The operators of aten by name."""


def filled(shape: Sequence[Count], number: Any, kind: Kind = "float") -> Value:
    """Return an array with one number everywhere."""
    entry = {"truth": bool, "index": int, "float": float, "complex": complex}[kind](number)
    return constant("full", tuple(shape), entry, kind=kind)


def combined(name: Name, one: Any, other: Any) -> Value:
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
    if rounding_mode == "floor":
        return _floor_divide(self, other)
    y = combined("divide", self, other)
    return y if rounding_mode is None else cast(apply("trunc", y), _common(self, other))


@TORCH("floor_divide", "floor_divide_")
def _floor_divide(self: Any, other: Any) -> Value:
    if _common(self, other) == "index":
        return combined("floor_divide", self, other)
    return apply("floor", combined("divide", self, other))


def _common(*values: Any) -> Kind:
    """Return the kind of a result of arrays and numbers."""
    return "float" if any(isinstance(one, float) or (isinstance(one, Value) and one.type.kind == "float") for one in values) else "index"


@TORCH("pow", "pow_")
def _pow(self: Any, exponent: Any) -> Value:
    return combined("power", self, exponent)


@TORCH("maximum", "clamp_min", "clamp_min_")
def _maximum(self: Any, other: Any = None, min: Any = None) -> Value:
    return combined("maximum", self, other if min is None else min)


@TORCH("minimum", "clamp_max", "clamp_max_")
def _minimum(self: Any, other: Any = None, max: Any = None) -> Value:
    return combined("minimum", self, other if max is None else max)


_PAIRS: Mapping[str, Name] = {
    "atan2": "arctan2",
    "fmax": "fmax",
    "fmin": "fmin",
    "hypot": "hypot",
    "logaddexp": "logaddexp",
    "fmod": "fmod",
    "remainder": "remainder",
    "bitwise_left_shift": "left_shift",
    "__lshift__": "left_shift",
    "bitwise_right_shift": "right_shift",
    "__rshift__": "right_shift",
}


def _pair(theirs: str, ours: Name) -> None:
    @TORCH(theirs)
    def pair(self: Any, other: Any) -> Value:
        return combined(ours, self, other)


for _named, _name in _PAIRS.items():
    _pair(_named, _name)


@TORCH("clamp", "clamp_", "hardtanh", "hardtanh_")
def _clamp(self: Value, min: Any = None, max: Any = None, min_val: Any = None, max_val: Any = None, inplace: bool = False) -> Value:
    low, high = (one if other is None else other for one, other in ((min, min_val), (max, max_val)))
    if isinstance(low, Value) or isinstance(high, Value):
        if low is None or high is None:
            return combined("maximum", self, low) if high is None else combined("minimum", self, high)
        keeps = tuple(Kept("taken", n) for n in range(3))
        return region("clamp", lambda x, low, high: combined("minimum", combined("maximum", x, low), high), self, low, high, keeps=keeps)
    return apply("clip", self, -inf if low is None else low, inf if high is None else high, inplace=inplace)


@TORCH("addcmul", "addcmul_")
def _addcmul(self: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    product = tensor1 * tensor2
    return self + (product if value == 1 else product * value)


@TORCH("addcdiv", "addcdiv_")
def _addcdiv(self: Value, tensor1: Value, tensor2: Value, value: Any = 1) -> Value:
    quotient = tensor1 / tensor2
    return self + (quotient if value == 1 else quotient * value)


@TORCH("lerp", "lerp_")
def _lerp(self: Value, end: Value, weight: Any) -> Value:
    if not isinstance(weight, Value):
        return self + (end - self) * weight
    keeps = (Kept("taken", 2, wanted=(0, 1)), Kept("taken", wanted=(2,)), Kept("taken", 1, wanted=(2,)))
    return region("lerp", lambda x, y, part: x + (y - x) * part, self, end, weight, keeps=keeps)


_SAME = (
    *("abs", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "frac", "hardsigmoid", "hardswish", "log", "log10"),
    *("log1p", "log2", "mish", "reciprocal", "relu", "relu6", "rsqrt", "selu", "sigmoid", "sign", "silu", "sin", "sinc", "sinh"),
    *("sqrt", "square", "tan", "tanh", "trunc"),
)
_NUMPYS = {f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")}


def _function(theirs: str, ours: str) -> None:
    @TORCH(theirs, f"{theirs}_")
    def function(self: Value, inplace: bool = False) -> Value:
        return apply(ours, self, inplace=inplace)


for _theirs, _ours in ({name: name for name in _SAME} | _NUMPYS).items():
    _function(_theirs, _ours)


@TORCH("logit", "logit_")
def _logit(self: Value, eps: float | None = None) -> Value:
    if eps is None:
        return apply("logit", self)
    return region("logit", lambda x: apply("logit", apply("clip", x, eps, 1 - eps)), self, keeps=(Kept("taken"),))


@TORCH("xlogy")
def _xlogy(self: Any, other: Any) -> Value:
    if not isinstance(self, Value) or not isinstance(other, Value):
        raise NotYetError("x * log(y) with a number is not known.")
    return x_log_y(self, other)


@TORCH("rrelu_with_noise", ignored="noise")
def _rrelu(self: Value, lower: float, upper: float, training: bool = False) -> Value:
    def kernel(x: Value) -> Value:
        slope = (lower + upper) / 2
        return where(compare(x, "greater", 0.0), x, x * noise(x.sizes)) if training else apply("leaky_relu", x, slope)

    return region("rrelu", kernel, self, keeps=(Kept("taken"), Kept("own", factors=self.sizes)))


@TORCH("deg2rad")
def _deg2rad(self: Value) -> Value:
    return self * (pi / 180)


@TORCH("rad2deg")
def _rad2deg(self: Value) -> Value:
    return self * (180 / pi)


@TORCH("round", "round_")
def _round(self: Value, decimals: int = 0) -> Value:
    return apply("round", self) if decimals == 0 else apply("round", self * 10.0**decimals) / 10.0**decimals


@TORCH("nan_to_num", "nan_to_num_")
def _nan_to_num(self: Value, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Value:
    return apply("nan_to_num", self, nan or 0.0, _LARGEST if posinf is None else posinf, -_LARGEST if neginf is None else neginf)


_LARGEST = 3.4028234663852886e38
"""The largest number of float32."""


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
    """An exponential linear unit; SELU is one with two constants, CELU one with the slope of its exponent."""
    if (alpha, scale, input_scale) == _SELU:
        return apply("selu", self, inplace=inplace)
    if scale == 1 and input_scale in {1, 1 / alpha}:
        return apply("elu" if input_scale == 1 else "celu", self, alpha, inplace=inplace)
    raise NotYetError(f"an ELU scaled by {scale} outside and {input_scale} inside is not known.")


_SELU = (1.6732632423543772, 1.0507009873554805, 1.0)


@TORCH("celu", "celu_")
def _celu(self: Value, alpha: float = 1.0, inplace: bool = False) -> Value:
    return apply("celu", self, alpha, inplace=inplace)


@TORCH("hardshrink")
def _hardshrink(self: Value, lambd: float = 0.5) -> Value:
    return apply("hardshrink", self, lambd)


@TORCH("softshrink")
def _softshrink(self: Value, lambd: float = 0.5) -> Value:
    return apply("softshrink", self, lambd)


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


@TORCH("_prelu_kernel")
def _prelu(self: Value, weight: Value) -> Value:
    return sloped(self, weight)


_COMPARISONS: Mapping[str, Comparison] = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _comparison(theirs: str, ours: Comparison) -> None:
    @TORCH(theirs, f"{theirs}_", f"__{theirs}__")
    def comparison(self: Value, other: Any) -> Value:
        if isinstance(other, Value):
            return combined(ours, self, other)
        return compare(self, ours, other if isinstance(other, Expr) else float(other))


_LOGIC: Mapping[str, tuple[Name, Name]] = {
    "and": ("logical_and", "bitwise_and"),
    "or": ("logical_or", "bitwise_or"),
    "xor": ("logical_xor", "bitwise_xor"),
}


def _logic(theirs: str) -> None:
    on_truths, on_indices = _LOGIC[theirs]

    @TORCH(f"logical_{theirs}", f"logical_{theirs}_")
    def logic(self: Value, other: Value) -> Value:
        return combined(on_truths, self, other)

    @TORCH(f"bitwise_{theirs}", f"bitwise_{theirs}_", f"__{theirs}__", f"__i{theirs}__")
    def bits(self: Value, other: Any) -> Value:
        return combined(on_truths if self.type.kind == "truth" else on_indices, self, other)


for _theirs, _compared in _COMPARISONS.items():
    _comparison(_theirs, _compared)
for _theirs in _LOGIC:
    _logic(_theirs)


@TORCH("logical_not", "logical_not_")
def _logical_not(self: Value) -> Value:
    return compare(self, "equal", 0.0)


@TORCH("bitwise_not", "bitwise_not_")
def _bitwise_not(self: Value) -> Value:
    return compare(self, "equal", 0.0) if self.type.kind == "truth" else apply("invert", self)


def _check(name: Property) -> None:
    @TORCH(name)
    def check(self: Value) -> Value:
        return record(Check(name), self)


for _checked in get_args(Property):
    _check(_checked)


@TORCH("where")
def _where(condition: Value, self: Any, other: Any) -> Value:
    if not isinstance(self, Value):
        self = filled((), self, _common(self, other))
    return where(condition, self, other if isinstance(other, Value) else float(other))


@TORCH("masked_fill", "masked_fill_")
def _masked_fill(self: Value, mask: Value, value: Any) -> Value:
    return where(mask, value if isinstance(value, Value) else filled((), value, self.type.kind), self)


@TORCH("_to_copy")
def _to_copy(self: Value, dtype: Kind | None = None) -> Value:
    return self if dtype is None else cast(self, dtype)


@TORCH("dropout", "native_dropout")
def _dropout(input: Value, p: float, train: bool | None) -> Value:
    return drop(input, p) if train else input


@TORCH("feature_dropout", "feature_alpha_dropout")
def _dropout_of_channels(input: Value, p: float, train: bool) -> Value:
    return drop(input, p, over=(0, 1), kind="float") if train else input


@TORCH("alpha_dropout")
def _alpha_dropout(input: Value, p: float, train: bool) -> Value:
    return drop(input, p, kind="float") if train else input


@TORCH("detach", "detach_")
def _detach(self: Value) -> Value:
    return still(self)


TORCH("alias", "lift_fresh", "lift_fresh_copy")(lambda self: self)


@TORCH("copy", "copy_")
def _copy(self: Value, src: Value, *, given: Sequence[tuple[Count, ...]]) -> Value:
    return expanded(cast(src, self.type.kind), given[0])


@TORCH("remember")
def _remember(self: Value, name: str) -> tuple[Value, ...]:
    remember(name, self)
    return ()
