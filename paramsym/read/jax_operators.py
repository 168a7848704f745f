"""JAX's primitives on single entries, and those that move entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.algebra.size import Count, canonical
from paramsym.errors import NotYetError
from paramsym.program import Value, apply, compare, constant, flip, join, lookup, pad, segments, take, where
from paramsym.program.arithmetic import Name
from paramsym.program.conditions import Check
from paramsym.program.conversions import cast
from paramsym.program.lookups import still
from paramsym.program.routing import at
from paramsym.program.slices import Take
from paramsym.program.tracing import record
from paramsym.program.types import Kind
from paramsym.read.operators import Operators, expanded, moved, reshaped
from paramsym.read.torch_entries import combined, filled

Given = Sequence[tuple[Count, ...]]

JAX = Operators()
"""The primitives of JAX by name. ``operands`` are traced arrays and numbers; other arguments are the primitive's parameters."""
IGNORED = frozenset(
    {
        *("sharding", "out_sharding", "precision", "preferred_element_type", "accuracy", "weak_type", "out_dtype", "inline", "unroll"),
        *("indices_are_sorted", "unique_indices", "fill_value", "linear", "_split_transpose", "dimensions_", "index_dtype", "is_stable"),
    }
)
"""Parameters that do not decide the result: where and how exactly it is computed."""


def array(x: Any, like: Value | None = None) -> Value:
    """Return a traced array; a number becomes one without axes, or one with the axes of another array."""
    if isinstance(x, Value):
        return x
    kind: Kind = "truth" if isinstance(x, bool) else "float" if isinstance(x, float) else "index"
    return filled(() if like is None else like.sizes, x, kind)


_PAIRS: Mapping[str, Name] = {
    "add": "add",
    "add_any": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "max": "maximum",
    "min": "minimum",
    "pow": "power",
    "rem": "fmod",
    "atan2": "arctan2",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_LOGIC: Mapping[str, tuple[Name, Name]] = {
    "and": ("logical_and", "bitwise_and"),
    "or": ("logical_or", "bitwise_or"),
    "xor": ("logical_xor", "bitwise_xor"),
}


def _pair(theirs: str, ours: Name) -> None:
    @JAX(theirs)
    def function(operands: Sequence[Any]) -> Value:
        one, other = operands
        if not isinstance(one, Value) and not isinstance(other, Value):
            one = array(one)
        if ours == "divide" and not any(_is_float(each) for each in (one, other)):
            return cast(apply("trunc", combined("divide", one, other)), "index")
        return combined(ours, one, other)


def _is_float(x: Any) -> bool:
    return x.type.kind == "float" if isinstance(x, Value) else isinstance(x, float)


def _logic(theirs: str, on_truths: Name, on_indices: Name) -> None:
    @JAX(theirs)
    def logic(operands: Sequence[Any]) -> Value:
        one, other = map(array, operands)
        return combined(on_truths if one.type.kind == "truth" else on_indices, one, other)


for _theirs, _ours in _PAIRS.items():
    _pair(_theirs, _ours)
for _theirs, (_truths, _indices) in _LOGIC.items():
    _logic(_theirs, _truths, _indices)

_SAME = (
    *("abs", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log1p", "rsqrt", "sign", "sin", "sinh"),
    *("sqrt", "square", "tan", "tanh"),
)
_NAMES = {"logistic": "sigmoid", **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")}}


def _function(theirs: str, ours: str) -> None:
    @JAX(theirs)
    def function(operands: Sequence[Any]) -> Value:
        return apply(ours, array(operands[0]))


for _theirs, _name in ({name: name for name in _SAME} | _NAMES).items():
    _function(_theirs, _name)


@JAX("neg")
def _neg(operands: Sequence[Any]) -> Value:
    return array(operands[0]) * -1


@JAX("round", ignored="rounding_method")
def _round(operands: Sequence[Any]) -> Value:
    return apply("round", array(operands[0]))


@JAX("not")
def _not(operands: Sequence[Any]) -> Value:
    x = array(operands[0])
    return compare(x, "equal", 0.0) if x.type.kind == "truth" else apply("invert", x)


@JAX("is_finite")
def _is_finite(operands: Sequence[Any]) -> Value:
    return record(Check("isfinite"), array(operands[0]))


@JAX("integer_pow")
def _integer_pow(operands: Sequence[Any], y: int) -> Value:
    x = array(operands[0])
    return apply("square", x) if y == 2 else x**y


@JAX("copy", "copy_p", "optimization_barrier", "reduce_precision", ignored="exponent_bits mantissa_bits")
def _copy(operands: Sequence[Any]) -> Any:
    return tuple(map(array, operands))


@JAX("stop_gradient")
def _stop(operands: Sequence[Any]) -> Value:
    return still(array(operands[0]))


@JAX("convert_element_type")
def _convert(operands: Sequence[Any], new_dtype: Kind) -> Value:
    return cast(array(operands[0]), new_dtype)


@JAX("select_n")
def _select(operands: Sequence[Any], *, given: Given) -> Value:
    chosen, *cases = operands
    if len(cases) != 2:
        raise NotYetError("a choice among more than two arrays is not known.")
    other, one = cases
    condition = array(chosen)
    one = one if isinstance(one, Value) else expanded(array(one), given[0])
    return where(condition, one, other if isinstance(other, Value) else float(other))


@JAX("clamp")
def _clamp(operands: Sequence[Any]) -> Value:
    low, x, high = operands
    return combined("minimum", combined("maximum", array(x), low), high)


# Entries moved -------------------------------------------------------------------------------------------------------------------


@JAX("broadcast_in_dim", ignored="shape")
def _broadcast(operands: Sequence[Any], broadcast_dimensions: Sequence[int], *, given: Given) -> Value:
    if not isinstance(operands[0], Value):
        kinds: Mapping[type, Kind] = {bool: "truth", int: "index", float: "float"}
        return filled(given[0], operands[0], kinds[type(operands[0])])
    x = array(operands[0])
    places = dict(zip(broadcast_dimensions, x.sizes, strict=True))
    return expanded(reshaped(x, [places.get(axis, 1) for axis in range(len(given[0]))]), given[0])


@JAX("reshape", "squeeze", "expand_dims", ignored="new_sizes dimensions")
def _reshape(operands: Sequence[Any], *, given: Given) -> Value:
    return reshaped(array(operands[0]), given[0])


@JAX("transpose")
def _transpose(operands: Sequence[Any], permutation: Sequence[int]) -> Value:
    return moved(array(operands[0]), permutation)


@JAX("concatenate")
def _concatenate(operands: Sequence[Any], dimension: int) -> Value:
    full = [array(one) for one in operands]
    return full[0] if len(full) == 1 else join(*full, axis=dimension)


@JAX("split", ignored="sizes")
def _split(operands: Sequence[Any], axis: int, *, given: Given) -> tuple[Value, ...]:
    return segments(array(operands[0]), *(shape[axis] for shape in given), axis=axis)


@JAX("slice", ignored="limit_indices")
def _slice(operands: Sequence[Any], start_indices: Sequence[Any], strides: Sequence[int] = (), *, given: Given) -> Value:
    x = array(operands[0])
    for axis, (start, count) in enumerate(zip(start_indices, given[0], strict=True)):
        step = strides[axis] if strides else 1
        if start != 0 or step != 1 or count != x.sizes[axis]:
            x = record(Take(axis, start, count, step), x)
    return x


@JAX("dynamic_slice", ignored="slice_sizes")
def _dynamic_slice(operands: Sequence[Any], *, given: Given) -> Value:
    x, *starts = operands
    for axis, (start, count) in enumerate(zip(starts, given[0], strict=True)):
        if count == x.sizes[axis]:
            continue
        if isinstance(start, Value):
            raise NotYetError("a slice whose start is computed from an input is not known.")
        x = take(x, axis, start, count)
    return x


@JAX("pad")
def _pad(operands: Sequence[Any], padding_config: Sequence[tuple[int, int, int]]) -> Value:
    x, fill = array(operands[0]), operands[1]
    if isinstance(fill, Value):
        raise NotYetError("a padding with a computed number is not known.")
    for axis, (_, _, gap) in enumerate(padding_config):
        if gap:  # each entry gets an axis of its own, which is padded; behind the last entry there is no gap
            before, count, behind = x.sizes[:axis], x.sizes[axis], x.sizes[axis + 1 :]
            apart = reshaped(x, (*before, count, 1, *behind))
            wider = pad(apart, [(0, gap if n == axis + 1 else 0) for n in range(apart.rank)], "constant", float(fill))
            joined = reshaped(wider, (*before, canonical(count * (1 + gap)), *behind))
            x = take(joined, axis, 0, canonical(count * (1 + gap) - gap))
    return pad(x, [(before, after) for before, after, _ in padding_config], "constant", float(fill))


@JAX("rev")
def _rev(operands: Sequence[Any], dimensions: Sequence[int]) -> Value:
    x = array(operands[0])
    for axis in dimensions:
        x = flip(x, axis)
    return x


@JAX("iota", ignored="shape")
def _iota(operands: Sequence[Any], dtype: Kind, dimension: int, *, given: Given) -> Value:  # noqa: ARG001 - it takes none
    shape = given[0]
    x = cast(constant("positions", (shape[dimension],), kind="index"), dtype)
    return expanded(reshaped(x, [size if axis == dimension else 1 for axis, size in enumerate(shape)]), shape)


@JAX("gather", ignored="slice_sizes mode")
def _gather(operands: Sequence[Any], dimension_numbers: Mapping[str, Any], *, given: Given) -> Value:
    """Rows at positions: the indexed axes leave, the others are taken whole."""
    x, index = array(operands[0]), array(operands[1])
    axes, gone = dimension_numbers["start_index_map"], dimension_numbers["collapsed_slice_dims"]
    rest = [axis for axis in range(x.rank) if axis not in axes]
    offsets = dimension_numbers["offset_dims"]
    whole = all(given[0][place] == x.sizes[axis] for place, axis in zip(offsets, rest, strict=False))
    if dimension_numbers["operand_batching_dims"] or sorted(axes) != sorted(gone) or not whole:
        raise NotYetError("gathering windows, or entries for each example, is not known.")
    positions = [reshaped(take(index, -1, place, 1), index.sizes[:-1]) for place in range(len(axes))]
    x = moved(x, [*axes, *rest])
    if len(axes) == 1 and x.type.kind == "float":
        y = lookup(x, positions[0])
    else:
        y = at(x, positions, range(len(axes)), (*index.sizes[:-1], *x.sizes[len(axes) :]))
    lead = index.rank - 1
    sources = {place: lead + number for number, place in enumerate(offsets)}
    left = iter(range(lead))
    return moved(y, [sources[axis] if axis in sources else next(left) for axis in range(y.rank)])
