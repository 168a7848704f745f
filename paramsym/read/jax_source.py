"""A function of JAX as the source of recordings: it is traced once for the shapes of its inputs, by JAX itself.

JAX writes what a function computes as a list of primitives (a jaxpr). Functions inside it, such as jitted ones and those with their own
derivatives, are written out; a scan stays one operator, with the primitives of its body.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paramsym.algebra.size import Shape
from paramsym.derive.deadline import Deadline, OutOfTime
from paramsym.errors import ArgumentError, NotYetError, ParamsymError
from paramsym.optional import needed
from paramsym.program.types import Kind

# These files fill the tables of operators when they are imported.
from paramsym.read import (
    jax_products as jax_products,
    torch_norms as torch_norms,
    torch_products as torch_products,
    torch_reductions as torch_reductions,
    torch_shapes as torch_shapes,
)
from paramsym.read.computed import Source
from paramsym.read.jax_operators import IGNORED, JAX
from paramsym.read.recording import Array, Called, Done, Recording, Ref

_MOST_STEPS = 50_000
_LONGEST = 120.0
"""The most seconds for a trace by JAX."""
_MOST_ENTRIES = 1 << 16
_INSIDE = ("jaxpr", "call_jaxpr", "fun_jaxpr")
"""The parameters that hold the jaxpr of a function that is written out."""
_WRITTEN_OUT = frozenset(
    {
        *("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "remat", "checkpoint"),
        *("remat2", "custom_lin", "name"),
    }
)


class JaxSource(Source):
    """A function of a tree of tensors and of further inputs. ``inputs`` are examples."""

    operators = JAX

    def __init__(self, kind: str, function: Callable[..., Any], tensors: Any, names: Sequence[str], inputs: Sequence[Any]) -> None:
        self.kind, self.function, self.tensors = kind, function, tensors
        self.jax = needed("jax", "from_module")
        self.stored, self.inputs = tuple(names), tuple(inputs)
        self.kinds: tuple[Kind, ...] = ()
        self.known: dict[Any, Recording] = {}

    def part(self, path: str) -> None:
        """Return None: a part is known only inside the whole."""

    def names(self) -> tuple[str, ...]:
        return tuple(self.shapes())

    def shapes(self) -> Mapping[str, Shape]:
        leaves = self.jax.tree_util.tree_flatten_with_path(self.inputs)[0]
        return {"input " + self.jax.tree_util.keystr(path).strip("[]"): tuple(leaf.shape) for path, leaf in leaves}

    def recording(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        """Trace the function; without examples, floating-point inputs are tried before whole numbers.

        Raises:
            ArgumentError: a function that takes no inputs of these shapes.
            NotYetError: a primitive that is not known.
        """
        key = tuple(shapes)
        if key not in self.known:
            self.known[key] = self._recorded(shapes)
        return self.known[key]

    def _recorded(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        if self.inputs:
            leaves, tree = self.jax.tree_util.tree_flatten(self.inputs)
            if len(leaves) != len(shapes):
                raise ArgumentError(f"the example inputs have {len(leaves)} arrays; found {len(shapes)} shapes.")
            made = [self.jax.ShapeDtypeStruct(shape, leaf.dtype) for leaf, shape in zip(leaves, shapes, strict=True)]
            return self._traced(self.jax.tree_util.tree_unflatten(tree, made))
        errors: list[ParamsymError] = []
        for kinds in self.kinds_tried(len(shapes)):
            words = {"float": "float32", "index": "int32"}
            try:
                found = self._traced([self.jax.ShapeDtypeStruct(one, words[kind]) for one, kind in zip(shapes, kinds, strict=True)])
            except NotYetError:
                raise
            except ParamsymError as error:
                errors.append(error)
                continue
            self.kinds = kinds
            return found
        raise errors[0]

    def _traced(self, inputs: Any) -> Recording:
        try:
            with Deadline(_LONGEST) as deadline, deadline.running():
                closed, shape = self.jax.make_jaxpr(self.function, return_shape=True)(self.tensors, *inputs)
        except OutOfTime:
            raise NotYetError(f"JAX did not trace {self.kind} within {_LONGEST:g} seconds; it cannot be read.") from None
        except Exception as error:
            reason = str(error).strip().partition("\n")[0].rstrip(".")[:300]
            raise ArgumentError(
                f"{self.kind} failed ({type(error).__name__}: {reason}). Give inputs of the shapes and kinds that it takes, or examples:"
                " from_module(net, tokens)."
            ) from error
        several = not hasattr(shape, "shape")
        return _Recorder(self.jax, self.stored, self.kind).recorded(closed, several=several)


class _Recorder:
    """The state of one recording: the variables of a jaxpr, as numbers of arrays or as known arrays."""

    def __init__(self, jax: Any, stored: Sequence[str], kind: str) -> None:
        self.jax, self.stored = jax, stored
        self.xp = needed("numpy", "from_module")
        self.constants: dict[int, Array] = {}
        self.count = self.steps = 0
        self.stack = [Called("", kind)]

    def recorded(self, closed: Any, *, several: bool) -> Recording:
        from jax.interpreters import partial_eval

        jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
        values: dict[Any, Any] = {}
        stored: dict[int, tuple[str, ...]] = {}
        inputs: list[Array] = []
        for place, variable in enumerate(jaxpr.invars):
            if place < len(self.stored) and not self.stored[place]:  # a key of random numbers
                continue
            array = self._array(values, variable)
            if place < len(self.stored):
                stored[array.number] = (self.stored[place],)
            else:
                inputs.append(array)
        top = self.stack[0]
        self._body(jaxpr, closed.consts, values)
        outputs = tuple(self._ref(self._value(one, values)).number for one in jaxpr.outvars)
        if not outputs:
            raise NotYetError("the function returned no array; its computation cannot be read.")
        return Recording(tuple(inputs), stored, self.constants, top, outputs, several)

    def _array(self, values: dict[Any, Any], variable: Any) -> Array:
        values[variable] = Ref(self.count)
        self.count += 1
        return Array(self.count - 1, tuple(map(int, variable.aval.shape)), self._kind(variable.aval))

    def _kind(self, aval: Any) -> Kind:
        return kind_of(self.jax, aval.dtype)

    def _body(self, jaxpr: Any, consts: Sequence[Any], values: dict[Any, Any]) -> None:
        values |= {variable: self.xp.asarray(one) for variable, one in zip(jaxpr.constvars, consts, strict=True)}
        for equation in jaxpr.eqns:
            self._equation(equation, values)

    def _value(self, atom: Any, values: Mapping[Any, Any]) -> Any:
        """Return the number of an array, or its entries if they are known."""
        if hasattr(atom, "val"):
            return self.xp.asarray(atom.val)
        if atom not in values:
            raise NotYetError("a key of random numbers, or a value that is not stored, decides what is computed; take the evaluation mode.")
        return values[atom]

    def _ref(self, value: Any) -> Ref:
        """Return the number of an array; one with known entries becomes a constant."""
        if isinstance(value, Ref):
            return value
        kind = kind_of(self.jax, value.dtype)
        self.constants[self.count] = Array(self.count, value.shape, kind, value.astype("float32") if kind == "float" else value)
        self.count += 1
        return Ref(self.count - 1)

    def _equation(self, equation: Any, values: dict[Any, Any]) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise NotYetError(f"the function has more than {_MOST_STEPS:,} operators; it cannot be read.")
        name, given = equation.primitive.name, [self._value(one, values) for one in equation.invars]
        if name in _WRITTEN_OUT:
            self._written_out(equation, given, values)
            return
        if name == "cond" and not isinstance(given[0], Ref):
            branch = equation.params["branches"][int(given[0])]
            self._inner(branch.jaxpr, branch.consts, given[1:], equation.outvars, values)
            return
        if self._is_known(equation, given):
            found = equation.primitive.bind(*given, **equation.params)
            results = found if equation.primitive.multiple_results else [found]
            values |= {variable: self.xp.asarray(one) for variable, one in zip(equation.outvars, results, strict=True)}
            return
        arguments = self._arguments(name, equation.params)
        operands = tuple(one if isinstance(one, Ref) else self._plain(one) for one in given)
        results = tuple(self._array(values, variable) for variable in equation.outvars)
        done = Done(name, {"operands": operands, **arguments}, results, _line(equation))
        self._called(str(equation.source_info.name_stack)).items.append(done)

    def _is_known(self, equation: Any, given: Sequence[Any]) -> bool:
        """Whether an operator depends on nothing and gives numbers or lists, so that it is computed at once.

        Masks are not: a limit on their entries would give a program other operators at other sizes.
        """
        if not given or any(isinstance(one, Ref) for one in given) or equation.effects or equation.primitive.name in {"scan", "while"}:
            return False
        return all(one.aval.ndim < 2 and one.aval.size <= _MOST_ENTRIES and self._kind(one.aval) != "complex" for one in equation.outvars)

    def _plain(self, known: Any) -> Any:
        """Return a known array as a number if it has no axes, otherwise as a constant."""
        if known.ndim or known.dtype.kind not in "fiub":
            return self._ref(known) if known.dtype.kind in "fiub" else self._ref(known.astype("float32"))
        return known.item()

    def _written_out(self, equation: Any, given: Sequence[Any], values: dict[Any, Any]) -> None:
        inner = next((equation.params[name] for name in _INSIDE if name in equation.params), None)
        if inner is None:
            values |= dict(zip(equation.outvars, given, strict=True))
            return
        self._inner(getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), given, equation.outvars, values)

    def _inner(self, jaxpr: Any, consts: Sequence[Any], given: Sequence[Any], outvars: Sequence[Any], values: dict[Any, Any]) -> None:
        inside = dict(zip(jaxpr.invars, given, strict=True))
        self._body(jaxpr, consts, inside)
        values |= {variable: self._value(one, inside) for variable, one in zip(outvars, jaxpr.outvars, strict=True)}

    # Arguments -------------------------------------------------------------------------------------------------------------------

    def _arguments(self, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        found = {key: self._frozen(one) for key, one in params.items() if key not in IGNORED and one is not None}
        if name == "scan":
            found["jaxpr"] = self._scanned(params["jaxpr"])
        return found

    def _frozen(self, one: Any) -> Any:
        """Return an argument as a value without JAX."""
        if hasattr(one, "_fields"):
            return {key: self._frozen(getattr(one, key)) for key in one._fields}
        if isinstance(one, tuple | list):
            return tuple(map(self._frozen, one))
        if hasattr(one, "dtype") and hasattr(one, "item"):
            return one.item()
        if hasattr(one, "__dataclass_fields__"):
            return {key: self._frozen(getattr(one, key)) for key in one.__dataclass_fields__}
        if isinstance(one, bool | int | float | str):
            return one
        try:
            return kind_of(self.jax, self.xp.dtype(one))
        except TypeError:
            return str(one)

    def _scanned(self, closed: Any) -> dict[str, Any]:
        """Return the body of a scan as names of arrays and operators, in plain values."""
        names: dict[Any, str] = {}

        def name(variable: Any) -> str:
            return names.setdefault(variable, f"%{len(names)}")

        def atom(one: Any, inside: Mapping[Any, Any]) -> Any:
            if hasattr(one, "val"):
                return self.xp.asarray(one.val).item()
            return inside[one] if one in inside else name(one)

        steps: list[Any] = []

        def walk(jaxpr: Any, consts: Sequence[Any], inside: dict[Any, Any]) -> None:
            if consts:
                raise NotYetError("a scan whose body has arrays of its own is not known.")
            for equation in jaxpr.eqns:
                given = tuple(atom(one, inside) for one in equation.invars)
                inner = next((equation.params[key] for key in _INSIDE if key in equation.params), None)
                if equation.primitive.name in _WRITTEN_OUT and inner is not None:
                    body = getattr(inner, "jaxpr", inner)
                    below = dict(zip(body.invars, given, strict=True))
                    walk(body, getattr(inner, "consts", ()), below)
                    inside |= {variable: atom(one, below) for variable, one in zip(equation.outvars, body.outvars, strict=True)}
                    continue
                shapes = tuple(tuple(map(int, one.aval.shape)) for one in equation.outvars)
                arguments = self._arguments(equation.primitive.name, equation.params)
                steps.append((equation.primitive.name, given, arguments, tuple(map(name, equation.outvars)), shapes))

        inputs = tuple(map(name, closed.jaxpr.invars))
        inside: dict[Any, Any] = {}
        walk(closed.jaxpr, closed.consts, inside)
        return {"inputs": inputs, "steps": tuple(steps), "outputs": tuple(atom(one, inside) for one in closed.jaxpr.outvars)}

    def _called(self, stack: str) -> Called:
        """Return the call to which an operator belongs; linen names the modules around each."""
        words = [word for word in stack.split("/")[1:] if word.isidentifier()]
        depth = 1
        while depth < len(self.stack) and depth <= len(words) and self.stack[depth].path == ".".join(words[:depth]):
            depth += 1
        del self.stack[depth:]
        for end in range(depth, len(words) + 1):
            called = Called(".".join(words[:end]), words[end - 1].rpartition("_")[0] or words[end - 1])
            self.stack[-1].items.append(called)
            self.stack.append(called)
        return self.stack[-1]


def kind_of(jax: Any, dtype: Any) -> Kind:
    """Return the kind of the entries of an array."""
    numbers = jax.numpy
    if numbers.issubdtype(dtype, numbers.bool_):
        return "truth"
    if numbers.issubdtype(dtype, numbers.complexfloating):
        return "complex"
    return "float" if numbers.issubdtype(dtype, numbers.floating) else "index"


def _line(equation: Any) -> str:
    """Return the line of the user's source that called an operator."""
    found = sys.modules.get("jax._src.source_info_util")
    try:
        return "" if found is None else str(found.summarize(equation.source_info)).partition(" (")[0].rpartition("/")[2]
    except (AttributeError, TypeError):
        return ""
