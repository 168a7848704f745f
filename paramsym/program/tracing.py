"""Tracing: a forward pass runs once on values that carry shapes, and every operation on them becomes a step of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

from sympy import Expr

from paramsym.algebra.size import Axis, Dim, shown
from paramsym.errors import StructureError
from paramsym.naming import described
from paramsym.program.arithmetic import Combine, Name, WithNumber
from paramsym.program.graph import Kept, Program, Region, Scan, Step
from paramsym.program.mistakes import refused, unknown
from paramsym.program.types import ArrayType

if TYPE_CHECKING:
    from paramsym.program.statement import Statement

_SEVERAL = (tuple, list)  # a tuple, because a union would be made again at every call


def _combined(name: Name, *, reflected: bool = False) -> Callable[[Value, object], Value]:
    """Return the method of an operator, which takes another array or a number."""
    combine = Combine(name)

    def combined(x: Value, other: object) -> Value:
        if isinstance(other, Value):
            return record(combine, x, other)
        if isinstance(other, int | float | Expr):
            return record(WithNumber(name, other, reflected), x)
        return NotImplemented

    return combined


class Value:
    """An array during tracing: it has a shape and no entries."""

    __slots__ = ("number", "tracer", "type")

    def __init__(self, tracer: Tracer, number: int, type_: ArrayType) -> None:
        self.tracer, self.number, self.type = tracer, number, type_

    @property
    def shape(self) -> tuple[Axis, ...]:
        """The axes with their factors."""
        return self.type.shape

    @property
    def sizes(self) -> tuple[Dim, ...]:
        """The sizes of the axes."""
        return self.type.sizes

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.type.shape)

    __add__ = __radd__ = _combined("add")
    __mul__ = __rmul__ = _combined("multiply")
    __sub__, __rsub__ = _combined("subtract"), _combined("subtract", reflected=True)
    __truediv__, __rtruediv__ = _combined("divide"), _combined("divide", reflected=True)
    __pow__ = _combined("power")

    def __neg__(self) -> Value:
        return self * -1

    __matmul__ = __rmatmul__ = refused("x @ y", 'contract("... i, o i -> ... o", x, own.weight)')
    __getitem__ = refused("x[...]", "take(x, axis, start, count) or segments(x)")
    __len__ = refused("len(x)", "x.sizes[0]")
    __call__ = refused("x(...)", "own.name(x) with the name of a part")
    __lt__ = __le__ = __gt__ = __ge__ = refused("a comparison of arrays", 'compare(x, "greater", 0)')
    __array__ = __array_ufunc__ = __array_function__ = refused("a function of NumPy", 'one of paramsym.program, such as apply("exp", x)')
    __torch_function__ = refused("a function of torch", 'one of paramsym.program, such as apply("exp", x)')
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | float | Expr):
            refused("a comparison of arrays", 'compare(x, "equal", 0)')()
        return self is other

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unknown(name)

    def __iter__(self) -> NoReturn:
        message = "a traced array cannot be iterated, because its sizes may be symbols; use segments(x), take(x, axis, i) or scan(...)."
        raise StructureError(message)

    def __bool__(self) -> NoReturn:
        message = "a forward pass cannot branch on the entries of an array, which are unknown during tracing; branch on the layer's fields."
        raise StructureError(message)

    def __repr__(self) -> str:
        return f"Value({shown(self.sizes)})"


class Tracer:
    """The recorder of one program."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.types: list[ArrayType] = []
        self.captured: dict[Value, int] = {}

    def value(self, type_: ArrayType) -> Value:
        """Return a new value of this program."""
        self.types.append(type_)
        return Value(self, len(self.types) - 1, type_)

    def number(self, value: Value) -> int:
        """Return the value's number in this program; a value of a surrounding program becomes one more input."""
        if value.tracer is self:
            return value.number
        if value not in self.captured:
            self.captured[value] = self.value(value.type).number
        return self.captured[value]

    def step(self, operation: Any, values: tuple[Value, ...]) -> tuple[int, tuple[ArrayType, ...]]:
        """Record one step; return the number of its first result and the types of all."""
        takes, taken = [], []
        try:
            for value in values:  # a loop, because comprehensions would cost a tenth of the time of a trace
                takes.append(value.number if value.tracer is self else self.number(value))
                taken.append(value.type)
        except AttributeError:
            given: tuple[object, ...] = values  # callers without a type checker
            other = next(value for value in given if not isinstance(value, Value))
            raise StructureError(f"{operation} takes traced arrays; found {described(other)}.") from None
        types = operation.gives(*taken)
        first = len(self.types)
        self.types.extend(types)
        gives = (first,) if len(types) == 1 else tuple(range(first, len(self.types)))
        self.steps.append(Step(operation, tuple(takes), gives))
        return first, types


_tracer: ContextVar[Tracer | None] = ContextVar("_tracer", default=None)


def record_all(operation: Any, *values: Value) -> tuple[Value, ...]:
    """Record an operation and return all of its results.

    Raises:
        StructureError: outside of a forward pass.
    """
    tracer = _tracer.get() or _outside(operation)
    first, types = tracer.step(operation, values)
    return tuple([Value(tracer, number, type_) for number, type_ in enumerate(types, first)])


def record(operation: Any, *values: Value) -> Value:
    """Record an operation that has one result, or whose first result is wanted."""
    tracer = _tracer.get() or _outside(operation)
    first, types = tracer.step(operation, values)
    return Value(tracer, first, types[0])


def _outside(operation: Any) -> NoReturn:
    message = f"{operation} was called outside of a forward pass; write it in forward(self, own, ...) and call trace or output_shape."
    raise StructureError(message)


def traced(layer: Statement | None, body: Callable[..., Any], types: tuple[ArrayType, ...]) -> tuple[Program, tuple[Value, ...]]:
    """Trace a function on arrays of these types.

    Return its program, and the values of the surrounding forward pass that it uses, which are the last inputs of the program.
    """
    tracer = Tracer()
    inputs = tuple([tracer.value(type_) for type_ in types])
    token = _tracer.set(tracer)
    try:
        result = body(*inputs)
    finally:
        _tracer.reset(token)
    several = not isinstance(result, Value)
    outputs = []
    for one in result if isinstance(result, _SEVERAL) else (result,):
        if not isinstance(one, Value):
            owner = "the function" if layer is None else f"{type(layer).__name__}.forward"
            raise StructureError(f"{owner} returned {described(one)}; wanted an array, or a tuple of arrays.")
        outputs.append(tracer.number(one))
    numbers = (*range(len(inputs)), *tracer.captured.values())
    return Program(layer, numbers, tuple(tracer.steps), tuple(outputs), tuple(tracer.types), several), tuple(tracer.captured)


def results_of(program: Program, values: tuple[Any, ...]) -> Any:
    """Return the results of a program in the form of its forward pass: one value or a tuple."""
    return values if program.several else values[0]


def region(name: str, body: Callable[..., Any], *values: Value, keeps: tuple[Kept, ...] | None = None) -> Any:
    """Trace a named section of a forward pass; ``keeps`` lists the kept arrays of torch's kernel for it, if there is one."""
    program, captured = traced(None, body, tuple(value.type for value in values))
    return results_of(program, record_all(Region(name, program, keeps), *values, *captured))


def scan(
    body: Callable[..., tuple[Value, ...]], carry: tuple[Value, ...], *over: Value, axis: int = 1, reverse: bool = False
) -> tuple[Value, ...]:
    """Apply ``body(*carry, *entries) -> (*carry, *outputs)`` at every position along ``axis``, as ``jax.lax.scan`` does.

    Return the last carry, then the outputs stacked along ``axis``.

    Raises:
        StructureError: a body that changes the shape of what it carries.
    """
    entries = tuple(one.type.with_axis(axis) for one in over)
    program, captured = traced(None, body, (*(one.type for one in carry), *entries))
    for before, after in zip(carry, program.output_types[: len(carry)], strict=True):
        if before.type.sizes != after.sizes:
            message = f"the body of a scan turns its state {shown(before.sizes)} into {shown(after.sizes)}; a state keeps its shape."
            raise StructureError(message)
    step = Scan(program, over[0].sizes[axis], len(carry), len(over), axis, reverse)
    return record_all(step, *carry, *over, *captured)


def each(values: Any) -> Iterator[Value]:
    """Yield one value, or the values of a tuple."""
    yield from values if isinstance(values, tuple) else (values,)
