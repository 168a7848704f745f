"""Arrays that follow from sizes alone, computed while a file is read: the entries may contain letters, and nothing is rounded.

A model computes the shape of a ``Reshape`` from the shapes of other arrays. Such arrays are NumPy's, with whole numbers and expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from sympy import Expr, Integer, Rational, ceiling, floor, sqrt

from paramsym.algebra.size import Count, canonical, per
from paramsym.errors import NotYetError
from paramsym.optional import needed
from paramsym.program.arithmetic import Name
from paramsym.program.types import Kind

MOST_ENTRIES = 1 << 16
"""The largest array that is computed."""

_MOST_LETTERED = 1 << 10
"""The largest one with letters."""
_MOST_TERMS = 1 << 8
_MOST_BITS = 256
_MOST_POWER = 8

Fold = Callable[..., Any]


def numpy() -> Any:
    """Return the namespace of arrays."""
    return needed("numpy", "reading an ONNX file", "onnx")


def is_known(x: Any) -> bool:
    """Whether something is an array with known entries."""
    return isinstance(x, numpy().ndarray)


def lettered(x: Any) -> bool:
    """Whether the entries of an array may contain letters."""
    return bool(x.dtype == object)


def settled(x: Any) -> Any:
    """Return an array of whole numbers, of Booleans or of expressions."""
    xp = numpy()
    array = xp.asarray(x, dtype=object)
    entries = [_plain(one) for one in array.ravel().tolist()]
    if all(isinstance(one, bool) for one in entries):
        return xp.asarray(entries, dtype=bool).reshape(array.shape)
    if all(isinstance(one, int) for one in entries):
        return xp.asarray(entries, dtype=object if any(abs(one) >> 62 for one in entries) else xp.int64).reshape(array.shape)
    found = xp.empty(len(entries), dtype=object)
    found[:] = entries
    return found.reshape(array.shape)


def _plain(one: Any) -> Any:
    """Return an entry as a number of Python or an expression.

    Raises:
        NotYetError: a number or a formula that no size of an array has.
    """
    if (isinstance(one, int) and one.bit_length() > _MOST_BITS) or (isinstance(one, Expr) and len(one.args) > _MOST_TERMS):
        raise NotYetError("a number that is computed from the sizes is too large for a size.")
    if isinstance(one, bool):
        return one
    if isinstance(one, float):
        return Rational(Fraction(one).numerator, Fraction(one).denominator)
    return int(one) if isinstance(one, Integer) else one


def kind_of(x: Any) -> Kind:
    """Return the kind of the entries of an array."""
    if lettered(x):
        return "index" if all(getattr(one, "is_integer", True) for one in x.ravel().tolist()) else "float"
    return {"b": "truth", "f": "float", "c": "complex"}.get(x.dtype.kind, "index")  # type: ignore[return-value]


def number(x: Any) -> Any:
    """Return the only entry of an array."""
    one = x.reshape(-1).tolist()[0]
    return int(one) if isinstance(one, Integer) else one


def sizes(x: Any) -> tuple[Any, ...]:
    """Return the entries of an array as sizes.

    Raises:
        NotYetError: entries that are unknown, because they depend on an input.
    """
    if not is_known(x):
        raise NotYetError("a shape is computed from the entries of an input, which are unknown; give the model sizes that are fixed.")
    return tuple(map(_plain, x.reshape(-1).tolist()))


def listed(entries: Sequence[Count]) -> Any:
    """Return sizes as an array."""
    return settled(list(entries) if entries else []) if entries else numpy().zeros(0, dtype=numpy().int64)


# Entries with letters --------------------------------------------------------------------------------------------------------------


def _truth(found: Any, asked: str) -> bool:
    """Return whether a relation of sizes holds.

    Raises:
        NotYetError: it holds for some sizes and not for others.
    """
    if found is None:
        raise NotYetError(f"the computation depends on whether {asked}, so there is no single formula; give numbers in place of letters.")
    return bool(found)


def _sign(difference: Any, asked: str, *signs: int) -> bool:
    """Return whether the sign of a difference is one of these: 0 or 1."""
    difference = canonical(difference)
    if not isinstance(difference, Expr):
        return (difference > 0) - (difference < 0) in signs
    if signs == (0,):
        return _truth(difference.is_zero, asked)
    return _truth(difference.is_positive if signs == (1,) else difference.is_nonnegative, asked)


def _divided(one: Any, other: Any) -> Any:
    """Return a quotient of whole numbers without its fraction; sizes are not negative."""
    if isinstance(one, int) and isinstance(other, int):
        return abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
    quotient = canonical(one / other)
    return quotient if getattr(quotient, "is_integer", True) else canonical(floor(quotient))


def _power(one: Any, other: Any) -> Any:
    if not isinstance(other, int | Rational) or abs(other) > _MOST_POWER:
        raise NotYetError(f"the power {other} of a size is not computed.")
    return canonical(one**other)


_PAIRS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: canonical(a + b),
    "Sub": lambda a, b: canonical(a - b),
    "Mul": lambda a, b: canonical(a * b),
    "Mod": lambda a, b: a % b if isinstance(a, int) and isinstance(b, int) else canonical(a - b * _divided(a, b)),
    "Pow": _power,
    "Max": lambda a, b: a if _sign(a - b, f"{a} is at least {b}", 0, 1) else b,
    "Min": lambda a, b: b if _sign(a - b, f"{a} is at least {b}", 0, 1) else a,
    "Equal": lambda a, b: _sign(a - b, f"{a} is {b}", 0),
    "Less": lambda a, b: _sign(b - a, f"{a} is less than {b}", 1),
    "LessOrEqual": lambda a, b: _sign(b - a, f"{a} is at most {b}", 0, 1),
    "Greater": lambda a, b: _sign(a - b, f"{a} is greater than {b}", 1),
    "GreaterOrEqual": lambda a, b: _sign(a - b, f"{a} is at least {b}", 0, 1),
}
_SINGLE: Mapping[str, Callable[[Any], Any]] = {
    "Neg": lambda a: canonical(-a),
    "Abs": lambda a: a if _sign(a, f"{a} is at least 0", 0, 1) else canonical(-a),
    "Floor": lambda a: a if isinstance(a, int) else canonical(floor(a)),
    "Ceil": lambda a: a if isinstance(a, int) else canonical(ceiling(a)),
    "Sqrt": sqrt,
}
PAIRS: Mapping[str, Name] = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Pow": "power",
    "Equal": "equal",
    "Less": "less",
    "Greater": "greater",
    "LessOrEqual": "less_equal",
    "GreaterOrEqual": "greater_equal",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
}
"""Operators of two arrays by their names in a program, which NumPy has, too."""
_NUMPY_PAIRS = {**PAIRS, "Max": "maximum", "Min": "minimum", "Mod": "mod"}
_NUMPY_SINGLE = {
    "Neg": "negative",
    "Abs": "abs",
    "Floor": "floor",
    "Ceil": "ceil",
    "Sqrt": "sqrt",
    "Exp": "exp",
    "Log": "log",
    "Sin": "sin",
    "Cos": "cos",
    "Not": "logical_not",
    "Round": "round",
    "Sign": "sign",
    "Tanh": "tanh",
    "Reciprocal": "reciprocal",
}


def _entries(x: Any) -> Any:
    """Return an array whose entries are Python's numbers and expressions."""
    found = numpy().empty(x.shape, dtype=object)
    found[...] = x.astype(object)
    return settled(found).astype(object)


def _pair(name: str) -> Fold:
    def fold(one: Any, other: Any, fmod: int = 0) -> Any:
        xp = numpy()
        if not lettered(one) and not lettered(other):
            with xp.errstate(all="ignore"):
                return xp.asarray(getattr(xp, "fmod" if name == "Mod" and fmod else _NUMPY_PAIRS[name])(one, other))
        if name not in _PAIRS:
            raise NotYetError("Booleans are not computed from sizes in letters.")
        return settled(xp.frompyfunc(_PAIRS[name], 2, 1)(_entries(one), _entries(other)))

    return fold


def _divide(one: Any, other: Any) -> Any:
    xp = numpy()
    whole = kind_of(one) == kind_of(other) == "index"
    if lettered(one) or lettered(other):
        return settled(xp.frompyfunc(_divided if whole else lambda a, b: canonical(a / b), 2, 1)(_entries(one), _entries(other)))
    if not whole:
        with xp.errstate(all="ignore"):
            return xp.asarray(one / other)
    if (other == 0).any():
        raise NotYetError("a size is divided by zero.")
    return xp.asarray(xp.sign(one) * xp.sign(other) * (abs(one) // abs(other)))


def _one(name: str) -> Fold:
    def fold(x: Any) -> Any:
        xp = numpy()
        if not lettered(x):
            with xp.errstate(all="ignore"):
                return xp.asarray(getattr(xp, _NUMPY_SINGLE[name])(x))
        if name not in _SINGLE:
            raise NotYetError(f"{name} is not computed of sizes in letters.")
        return settled(xp.frompyfunc(_SINGLE[name], 1, 1)(x))

    return fold


def _cast(x: Any, to: int = 1, saturate: int = 1) -> Any:
    if lettered(x):
        return x
    return x.astype({1: "float32", 9: "bool", 10: "float32", 11: "float64", 16: "float32"}.get(to, "int64"))


# Entries moved -------------------------------------------------------------------------------------------------------------------


def _gather(data: Any, indices: Any, axis: int = 0) -> Any:
    return numpy().asarray(numpy().take(data, indices.astype("int64"), axis=axis), dtype=data.dtype)


def _concat(inputs: Sequence[Any], axis: int = 0) -> Any:
    return numpy().concatenate(inputs, axis=axis)


def _slice(data: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    places = range(len(sizes(starts))) if axes is None else sizes(axes)
    by = (1,) * len(sizes(starts)) if steps is None else sizes(steps)
    where: list[Any] = [slice(None)] * data.ndim
    for axis, start, end, step in zip(places, sizes(starts), sizes(ends), by, strict=True):
        last: Any = None if step < 0 and isinstance(end, int) and end <= -(1 << 31) else end
        where[axis] = slice(start, last, step)
    return data[tuple(where)]


def shape_after(shape: Sequence[Any], old: Sequence[Any], allowzero: int = 0) -> tuple[Any, ...]:
    """Return the sizes that ``Reshape`` means: 0 is the old size, -1 what is left."""
    found = [old[place] if one == 0 and not allowzero and place < len(old) else one for place, one in enumerate(shape)]
    if -1 in found:
        rest, total = (_product(entries) for entries in ([one for one in found if one != -1], old))
        if rest == 0 or (isinstance(total, int) and isinstance(rest, int) and total % rest):
            raise NotYetError(f"{total} entries are not a multiple of {rest}.")
        found[found.index(-1)] = total // rest if isinstance(total, int) and isinstance(rest, int) else canonical(per(total, rest))
    return tuple(found)


def _product(entries: Sequence[Any]) -> Any:
    return canonical(prod(entries))


def _reshape(data: Any, shape: Any, allowzero: int = 0) -> Any:
    return data.reshape(shape_after(sizes(shape), data.shape, allowzero))


def _squeeze(data: Any, axes: Any = None) -> Any:
    return data.squeeze() if axes is None else data.squeeze(tuple(axes if isinstance(axes, tuple) else sizes(axes)))


def _unsqueeze(data: Any, axes: Any) -> Any:
    return numpy().expand_dims(data, tuple(axes if isinstance(axes, tuple) else sizes(axes)))


def _transpose(data: Any, perm: Sequence[int] | None = None) -> Any:
    return numpy().transpose(data, perm)


def _expand(input: Any, shape: Any) -> Any:
    xp = numpy()
    wanted = [int(one) for one in sizes(shape)]
    return xp.array(xp.broadcast_to(input, xp.broadcast_shapes(input.shape, tuple(wanted))))


def _tile(input: Any, repeats: Any) -> Any:
    return numpy().tile(input, sizes(repeats))


def _filled(input: Any, value: Any = None) -> Any:
    xp = numpy()
    shape = tuple(int(one) for one in sizes(input))
    return xp.full(shape, 0.0 if value is None else value.reshape(-1)[0], dtype=xp.float32 if value is None else value.dtype)


def _range(start: Any, limit: Any, delta: Any) -> Any:
    return numpy().arange(number(start), number(limit), number(delta))


def _where(condition: Any, one: Any, other: Any) -> Any:
    if lettered(one) or lettered(other):
        return settled(numpy().where(condition, _entries(one), _entries(other)))
    return numpy().where(condition, one, other)


def _reduce(name: str) -> Fold:
    def fold(data: Any, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Any:
        over = None if axes is None else tuple(axes if isinstance(axes, tuple) else sizes(axes))
        if not over and noop_with_empty_axes:
            return data
        if lettered(data) and name in {"max", "min"}:
            raise NotYetError("the largest of sizes in letters is not known.")
        found = getattr(data, name)(axis=over or None, keepdims=bool(keepdims))
        return settled(numpy().vectorize(canonical, otypes=[object])(found)) if lettered(data) else numpy().asarray(found)

    return fold


FOLDS: Mapping[str, Fold] = {
    **{name: _pair(name) for name in _NUMPY_PAIRS},
    **{name: _one(name) for name in _NUMPY_SINGLE},
    **{f"Reduce{name}": _reduce(name.lower()) for name in ("Sum", "Prod", "Max", "Min")},
    "Div": _divide,
    "Cast": _cast,
    "Identity": lambda x: x,
    "Gather": _gather,
    "Concat": _concat,
    "Slice": _slice,
    "Reshape": _reshape,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Expand": _expand,
    "Tile": _tile,
    "ConstantOfShape": _filled,
    "Range": _range,
    "Where": _where,
}
"""The operators that are computed if all that they take is known."""


_BY_POSITION = frozenset({"Gather", "Reshape", "Slice", "Squeeze", "Unsqueeze"})
"""Operators whose inputs after the first say which entries are taken, and how they are laid out; these are numbers."""


def can_fold(name: str, inputs: Sequence[Any]) -> bool:
    """Whether an operator is computed at once: what it takes is known, and it is not too large."""
    if name not in FOLDS or not all(
        is_known(one) and one.size <= (_MOST_LETTERED if lettered(one) else MOST_ENTRIES) for one in inputs if one is not None
    ):
        return False
    if name in _BY_POSITION and any(lettered(one) for one in inputs[1:] if one is not None):
        return False
    if name == "Range":
        return (
            all(isinstance(number(one), int) for one in inputs)
            and number(inputs[2]) != 0
            and (abs(number(inputs[1]) - number(inputs[0])) <= MOST_ENTRIES * abs(number(inputs[2])))
        )
    if name in {"Expand", "Tile", "ConstantOfShape"}:
        wanted = sizes(inputs[-1])
        return all(isinstance(one, int) for one in wanted) and prod(wanted) * inputs[0].size ** (name == "Tile") <= MOST_ENTRIES
    return True
