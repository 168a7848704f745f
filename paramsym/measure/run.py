"""Running a program on arrays, to test that a layer computes the same as its reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sympy import Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import shown, symbols_in
from paramsym.core.layer import Layer, check_layer, unstated
from paramsym.errors import ArgumentError, ShapeError, SizeError
from paramsym.measure.trace import telling
from paramsym.naming import described, quoted, some
from paramsym.optional import needed
from paramsym.program.graph import Call, Loop, Opaque, Program, Region, Route, Scan
from paramsym.program.lookups import Stored
from paramsym.program.own import trace_layer
from paramsym.program.signature import arranged, names_of
from paramsym.program.statement import class_name
from paramsym.program.tracing import results_of
from paramsym.program.types import ArrayType, Kind

_NAMED = 3  # the most tensors that an error names


def run(layer: Layer, tensors: Mapping[str, Any], *arrays: Any, **named: Any) -> Any:
    """Compute the layer's output in evaluation mode: an array, or a tuple of arrays.

    ``tensors`` are the stored tensors by their names, as NumPy arrays or anything that NumPy can convert. Buffers that the computation
    reads must be among them, other buffers may be. Arrays are given in order or by the names of the inputs: ``input_ids=...``. The
    precision is that of the arrays.

    Raises:
        ArgumentError: a tensor that is missing, that the layer does not store, or with a wrong shape; a missing or unknown input; indices
            of rows that a table does not have; whole numbers or Booleans for a function of real numbers.
        SizeError: a layer with symbols left.
        ShapeError: arrays that the layer cannot take.
        NotYetError: a layer without a forward pass.

    With ``pip install numpy``, ``run(Dense(2, 1), {"weight": [[1.0, 2.0]], "bias": [0.5]}, [[3.0, 4.0]])`` is an array of [[11.5]].
    """
    check_layer(layer)
    xp = needed("numpy", "ps.run")
    left = sorted(symbol.name for symbol in layer.symbols & _met(layer))
    if left:
        raise SizeError(f"{class_name(layer)} has no numbers for {', '.join(left)}; put sizes in with .at(...) before it runs.")
    ordered = arranged(layer, arrays, named)
    names = (*names_of(layer), *(f"input {n}" for n in range(len(ordered))))
    inputs = tuple(_array(xp, given, name) for given, name in zip(ordered, names, strict=False))
    with telling(layer, [array.shape for array in inputs]):
        program = trace_layer(layer, *(ArrayType(array.shape, _kind(array)) for array in inputs))
    return results_of(program, _Runner(xp, _checked(xp, layer, tensors)).program(program, "", inputs))


def _array(xp: Any, given: Any, name: str) -> Any:
    try:
        array = xp.asarray(given)
    except (TypeError, ValueError, MemoryError) as error:
        raise ArgumentError(f"{name} is not an array: {str(error).rstrip('.') or 'it does not fit in memory'}.") from None
    if array.dtype.kind not in "biufc":
        raise ArgumentError(f"{name} is {described(given)}; wanted an array of numbers.")
    return array


def _met(layer: Layer) -> set[Symbol] | frozenset[Symbol]:
    """Return the letters that a run needs: those of the parts, if any; the class may have sizes for a part that it lacks."""
    if not layer.own_parts:
        return layer.symbols
    return symbols_in(tuple((part.layer, part.numbers and part.numbers.count) for part in layer.own_parts)) | symbols_in(
        tuple(tensor.shape for tensor in layer.own_tensors)
    )


def _kind(array: Any) -> Kind:
    return {"i": "index", "u": "index", "b": "truth", "c": "complex"}.get(array.dtype.kind, "float")  # type: ignore[return-value]


def _checked(xp: Any, layer: Layer, tensors: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return a function that gives a tensor by its name, under any name of a tied tensor."""
    kind = class_name(layer)
    if not isinstance(tensors, Mapping):
        raise ArgumentError(f"the tensors are {described(tensors)}; wanted arrays by name, such as {{'weight': ...}}.")
    entries = {entry.name: entry.tensor for entry in layer.entries()}
    tied = layer.tied
    unexpected = [quoted(str(name)) for name in tensors if name not in entries and name not in tied]
    if unexpected:
        raise ArgumentError(f"{kind} does not store {some(unexpected, _NAMED)}; ps.match(layer, tensors) compares all names and shapes.")
    given = {tied.get(name, name) for name in tensors}
    missing = [quoted(name) for name, tensor in entries.items() if not tensor.buffer and tied.get(name, name) not in given]
    if missing:
        raise ArgumentError(f"{kind} is not given {some(missing, _NAMED)}; ps.match(layer, tensors) compares all names and shapes.")
    known: dict[str, Any] = {}

    def tensor(name: str) -> Any:
        if name not in known:
            shape = entries[name].sizes
            first = next((one for one in (name, tied.get(name, name)) if one in tensors), None)
            if first is None:
                raise ArgumentError(f"the buffer {name!r} of shape {shown(shape)} is missing; {kind} reads it.")
            array = _array(xp, tensors[first], f"the tensor {name!r}")
            if tuple(array.shape) != tuple(shape):
                order = ", its axes in another order" if sorted(array.shape) == sorted(map(int, shape)) else ""
                raise ArgumentError(f"the tensor {name!r} has shape {array.shape}; {kind} stores {shown(shape)}{order}.")
            known[name] = array
        return known[name]

    return tensor


class _Runner:
    """The state of a run: the namespace of arrays, and the tensors by name."""

    def __init__(self, xp: Any, tensor: Callable[[str], Any]) -> None:
        self.xp, self.tensor = xp, tensor

    def program(self, program: Program, above: str, arrays: tuple[Any, ...], number: int | None = None) -> tuple[Any, ...]:
        """Return the outputs of a program whose stored tensors have names that begin with ``above``.

        ``number`` is a copy's number if the tensor names contain it, as in ``weight_ih_l{}``.
        """
        at = dict(zip(program.inputs, arrays, strict=True))
        for step in program.steps:
            results = self.step(step.operation, above, tuple(at[taken] for taken in step.takes), number)
            for given, result in zip(step.gives, results, strict=True):
                if tuple(result.shape) != program.types[given].sizes:
                    raise ShapeError(f"{above}{step.operation} computed {result.shape}; the program states {program.types[given]}.")
                at[given] = result
        return tuple(at[given] for given in program.outputs)

    def step(self, operation: Any, above: str, arrays: tuple[Any, ...], number: int | None) -> tuple[Any, ...]:
        match operation:
            case Stored():
                name = operation.tensor.name
                return (self.tensor(above + (name if number is None else name.replace("{}", str(number)))),)
            case Region():
                return self.program(operation.body, above, arrays, number)
            case Call(name=str() as name):
                return self.program(operation.body, f"{above}{name}." if name else above, arrays, number)
            case Call(name=Numbers() as numbers):
                return self.copy(numbers, int(numbers.start), operation.body, above, arrays)
            case Loop():
                return self.loop(operation, above, arrays, number)
            case Scan():
                return self.scan(operation, above, arrays, number)
            case Route():
                return self.route(operation, above, *arrays)
            case Opaque():
                raise unstated(operation.layer, above.rstrip("."))
            case _:
                pass
        return self.computed(operation, above, arrays)

    def computed(self, operation: Any, above: str, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            results = operation.run(self.xp, *arrays)
        except ArgumentError as error:
            raise ArgumentError(f"{above}{operation}: {error}") from None
        except (TypeError, ValueError, OverflowError) as error:  # NumPy refuses some functions of whole numbers and of Booleans
            kinds = sorted({str(array.dtype) for array in arrays if array.dtype.kind in "biu"})
            if not kinds:
                raise
            what = f"{above}{operation} is not defined for entries of {' and '.join(kinds)}"
            raise ArgumentError(f"{what}: {str(error).rstrip('.')}. Write array.astype(float).") from None
        return results if isinstance(results, tuple) else (results,)

    def copy(self, numbers: Numbers, number: int, body: Program, above: str, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        if numbers.pattern:
            return self.program(body, f"{above}{numbers.name(number)}.", arrays)
        return self.program(body, above, arrays, number)

    def loop(self, loop: Loop, above: str, arrays: tuple[Any, ...], number: int | None) -> tuple[Any, ...]:
        carried, along = arrays[: loop.carry], arrays[loop.carry :]
        others: list[tuple[Any, ...]] = []
        for copy, numbers, body in _in_order(loop):
            taken = (*carried, *along)[: len(body.inputs)]
            if loop.shared is None:
                results = self.copy(numbers, copy, body, above, taken)
            else:
                results = self.program(body, f"{above}{loop.shared}." if loop.shared else above, taken, number)
            carried = results[: loop.carry]
            others.append(results[loop.carry :])
        return (*carried, *(self.xp.stack(stacked) for stacked in zip(*others, strict=True)))

    def scan(self, scan: Scan, above: str, arrays: tuple[Any, ...], number: int | None) -> tuple[Any, ...]:
        carried, over = arrays[: scan.carry], arrays[scan.carry : scan.carry + scan.scanned]
        seen = arrays[scan.carry + scan.scanned :]
        outputs: list[tuple[Any, ...]] = []
        positions = range(int(scan.length))
        for position in reversed(positions) if scan.reverse else positions:
            entries = (self.xp.take(array, position, axis=scan.axis) for array in over)
            results = self.program(scan.body, above, (*carried, *entries, *seen), number)
            carried = results[: scan.carry]
            outputs.append(results[scan.carry :])
        if scan.reverse:
            outputs.reverse()
        return (*carried, *(self.xp.stack(stacked, axis=scan.axis) for stacked in zip(*outputs, strict=True)))

    def route(self, route: Route, above: str, x: Any, weights: Any, chosen: Any) -> tuple[Any, ...]:
        total: Any = 0
        for number in route.numbers.values or ():
            (y,) = self.copy(route.numbers, number, route.body, above, (x,))
            total = total + y * (weights * (chosen == number)).sum(-1, keepdims=True).astype(y.dtype)
        return (total,)


def _in_order(loop: Loop) -> Iterator[tuple[int, Numbers, Program]]:
    placed = ((number, numbers, body) for numbers, body in loop.bodies for number in numbers.values or ())
    yield from sorted(placed, key=lambda one: one[0])
