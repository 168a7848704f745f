"""A recording played as a forward pass: every operator on traced arrays, every call of a module as a part applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Protocol

from paramsym.algebra.convolution import differ
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, shown
from paramsym.core.layer import Layer
from paramsym.core.names import Entry
from paramsym.errors import NotYetError, ParamsymError
from paramsym.program import Value, scan, still, take
from paramsym.program.graph import Call, Loop, Program
from paramsym.program.lookups import Stored
from paramsym.program.named_axes import Known
from paramsym.program.state import past, remember
from paramsym.program.tracing import record, record_all, traced
from paramsym.program.types import ArrayType
from paramsym.read.folding import folded
from paramsym.read.operators import Operators, moved
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated, named_at, refs, repeated_from
from paramsym.read.rolling import LOOP
from paramsym.read.values import fixed


@dataclass(frozen=True, slots=True)
class _Span:
    """The operators of one call as a range, and the arrays from inside that are used after it."""

    begin: int
    end: int
    outputs: tuple[int, ...]
    stored: tuple[int, ...]


class Sizes(Protocol):
    """The sizes of a recording whose numbers vary, in letters."""

    def learn(self, at: Any, size: Count) -> None:
        """Keep the expression of a number."""

    def value(self, number: Any) -> Any:
        """Return a number of the recording as an expression; tuples and mappings entry by entry."""

    def agree(self, size: Count, at: Any) -> bool:
        """Whether an expression is a number of the recording."""
        ...


class Player:
    """Plays one recording. ``layer_at`` gives the layer of a part by its path and the name of its class.

    ``entries`` are the tensors under the names of the recording; without them, those of ``layer``. With ``cache``, attention keeps its keys
    and values for the next step: ``cache`` limits their positions, as ``limit_at`` reads it.
    """

    def __init__(
        self,
        recording: Recording,
        layer: Layer,
        operators: Operators,
        layer_at: Callable[[str, str], Layer | None],
        laws: Sizes | None = None,
        entries: Sequence[Entry] | None = None,
        cache: Mapping[str, int] | None = None,
    ) -> None:
        self.laws, self.cache = laws, cache
        self.recording, self.operators, self.layer_at = recording, operators, layer_at
        listed = tuple(layer.entries()) if entries is None else entries
        self.tensors = {entry.name: entry.tensor for entry in listed}
        tied = {entry.name: entry.alias_of for entry in listed if entry.alias_of}
        self.trained = {alias: self.tensors[first].trainable for alias, first in tied.items() if first in self.tensors}
        self.spans: dict[int, _Span] = {}
        self.live: set[int] = set()
        self._measure()

    def play(self, inputs: Sequence[Value]) -> Any:
        """Return the values that the model returns.

        Raises:
            NotYetError: positions before the inputs, or an operator that is not read.
        """
        if past() != 0 and self.cache is None:
            raise NotYetError("a model that was read takes no past=...; give the number of all positions in the inputs' shapes.")
        env: dict[int, Value] = {}
        for array, value in zip(self.recording.inputs, inputs, strict=True):
            self._learn(array, value)
            env[array.number] = _as_kind(value, array)

        def body() -> tuple[Value, ...]:
            self._items(self.recording.top, "", env)
            return tuple(self._value(number, "", env) for number in self.recording.outputs)

        program, captured = traced(None, body, ())
        outputs = _played(folded(program), captured)
        return outputs if self.recording.several else outputs[0]

    # What is used where --------------------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        """Find for every call its outputs and the stored tensors that it uses, and the operators on which the model's results depend.

        No gradient passes back through whole numbers, and through arrays that are detached: nothing is kept of what only these depend on,
        such as the distances to the nearest code.
        """
        steps = list(self.recording.top.steps())
        last = {number: place for place, step in enumerate(steps) for number in refs(step.arguments)}
        last |= dict.fromkeys(self.recording.outputs, len(steps))
        self.used = last
        self.made = {array.number: step for step in steps for array in step.results}
        needed = {*self.recording.outputs, *_carried(self.recording.top)}
        for step in reversed(steps):
            if not step.results or any(array.number in needed and array.kind in {"float", "complex"} for array in step.results):
                self.live.add(id(step))
                if step.graded and step.name not in _DETACHING:
                    needed.update(refs(step.arguments))

        def measure(called: Called, begin: int) -> int:
            end = begin
            for item in called.items:
                if isinstance(item, Repeated):
                    for one, pairs in zip(item.calls, item.carried, strict=True):
                        last.update({b: max(last.get(b, -1), end + sum(1 for _ in one.steps())) for _, b in pairs})
                        end = measure(one, end)
                else:
                    end = end + 1 if isinstance(item, Done) else measure(item, end)
            inside = [array.number for step in steps[begin:end] for array in step.results]
            outputs = tuple(number for number in inside if last.get(number, -1) >= end)
            if not outputs and inside:  # nothing uses its result, which torch computes all the same
                outputs = (next(step.results[0].number for step in reversed(steps[begin:end]) if step.results),)
                last[outputs[0]] = end
            stored = dict.fromkeys(n for step in steps[begin:end] for n in refs(step.arguments) if n in self.recording.stored)
            self.spans[id(called)] = _Span(begin, end, outputs, tuple(stored))
            return end

        measure(self.recording.top, 0)

    # Playing --------------------------------------------------------------------------------------------------------------------

    def _items(self, called: Called, path: str, env: dict[int, Value]) -> None:
        for item in called.items:
            if isinstance(item, Done):
                self._step(item, path, env)
            elif isinstance(item, Repeated):
                self._repeated(item, path, env)
            elif item.kind == LOOP:
                self._each(item, path, env)
            else:
                self._call(item, path, env)

    def _call(self, called: Called, path: str, env: dict[int, Value]) -> None:
        span = self.spans[id(called)]
        prefix = f"{path}." if path else ""
        if span.begin == span.end:
            return
        if not called.path.startswith(prefix):  # a module of another part: its operators become the caller's
            self._items(called, path, env)
            return
        program, captured = self._traced(called, path, env, span.outputs)
        name = self._place(called.path, prefix)
        results = record_all(Call(name, program), *captured)
        env.update(zip(span.outputs, results, strict=True))

    def _traced(self, called: Called, path: str, env: dict[int, Value], outputs: Sequence[int]) -> tuple[Program, tuple[Value, ...]]:
        """Return the program of a module, and the values that it takes."""
        for number in self.spans[id(called)].stored:  # tensors of outer modules are values of the outer program
            if number not in env and self._name(number, called.path) is None:
                env[number] = self._value(number, path, env)
        inner: dict[int, Value] = {}

        def body() -> tuple[Value, ...]:
            inner.update(env)
            self._items(called, called.path, inner)
            return tuple(self._value(number, called.path, inner) for number in outputs)

        layer = self.layer_at(called.path, called.kind)
        program, captured = traced(layer, body, ())
        program = folded(replace(program, several=len(outputs) > 1))
        if hasattr(layer, "known_alone"):
            layer.__dict__["_programs"] = {(program.input_types, 0): program}  # for questions about parts
        return program, captured

    def _repeated(self, repeated: Repeated, path: str, env: dict[int, Value]) -> None:
        """Apply numbered copies one after another."""
        prefix = f"{path}." if path else ""
        carried = [env[a] for a, _ in repeated.carried[0]]
        along: dict[Value, None] = {}
        traced: list[tuple[Numbers, Program, dict[Value, int]]] = []
        for called, pairs in zip(repeated.calls, repeated.carried, strict=True):
            env.update({a: value for (a, _), value in zip(pairs, carried, strict=True)})
            program, captured = self._traced(called, path, env, [b for _, b in pairs])
            taken = dict(zip(captured, program.inputs, strict=True))
            if not all(value in taken for value in carried) or [one.sizes for one in program.output_types] != [v.sizes for v in carried]:
                raise NotYetError(f"the copies of {called.path} do not give what the next one takes; their number cannot be a letter.")
            along |= dict.fromkeys(value for value in captured if value not in carried)
            traced.append((self._copies(called.path, prefix, repeated), program, taken))
        bodies = [(numbers, _taking(program, taken, (*carried, *along))) for numbers, program, taken in traced]
        results = record_all(Loop(tuple(bodies), len(carried)), *carried, *along)
        env.update(zip([b for _, b in repeated.carried[-1]], results, strict=True))

    def _each(self, called: Called, path: str, env: dict[int, Value]) -> None:
        """Apply a loop over the entries of arrays, besides the last ones."""
        first, *inside, last = list[Any](called.items)
        length, starts = self._number(first.arguments["length"]), self._number(first.arguments.get("start", 0))
        states = tuple(self._value(one.number, path, env) for one in first.arguments["carry"])
        over = []
        for place, (one, dim) in enumerate(zip(first.arguments["over"], first.arguments["axes"], strict=True)):
            start = starts[place] if isinstance(starts, tuple) else starts
            value = self._value(one.number, path, env)
            axis = value.type.axis(dim)
            over.append(moved(take(value, axis, start, length), [axis, *(n for n in range(value.rank) if n != axis)]))
        for step in called.steps():  # tensors are values of the program around the loop
            for number in refs(step.arguments):
                if number in self.recording.stored:
                    self._value(number, path, env)

        def body(*given: Value) -> tuple[Value, ...]:
            here = {**env, **dict(zip((array.number for array in first.results), given, strict=True))}
            self._items(Called(called.path, LOOP, inside), path, here)
            return tuple(self._value(one.number, path, here) for one in (*last.arguments["carry"], *last.arguments["out"]))

        found = list(scan(body, states, *over, axis=0, reverse=first.arguments.get("reverse", False)))
        for place, dim in enumerate(last.arguments["axes"], len(states)):
            value = found[place]
            axis = dim % value.rank
            found[place] = moved(value, [*range(1, axis + 1), 0, *range(axis + 1, value.rank)])
        for array, value in zip(last.results, found, strict=True):
            self._learn(array, value)
            env[array.number] = value

    def _copies(self, path: str, prefix: str, repeated: Repeated) -> Numbers:
        """Return the numbers of copies, whose path has the number at the same place."""
        steps = getattr(path, "steps", tuple(path.split(".")))
        count, start = self._number(repeated.count), self._number(steps[repeated.place])
        words = path.removeprefix(prefix).split(".")
        words[repeated.place - prefix.count(".")] = "{}"
        return Numbers(count, start, len(repeated.calls), ".".join(words), label=repeated.label)

    def _place(self, path: str, prefix: str) -> str | Numbers:
        """Return the path of a part from the part around it; a number in it may be an expression."""
        steps = getattr(path, "steps", ())
        words = path.removeprefix(prefix).split(".")
        moving = [place for place in range(prefix.count("."), len(steps)) if not isinstance(steps[place], int | str)]
        if not moving:
            return ".".join(words)
        if len(moving) > 1:
            raise NotYetError(f"two numbers in the name of {path} change with the sizes; give numbers in place of letters.")
        words[moving[0] - prefix.count(".")] = "{}"
        return Numbers(1, self._number(steps[moving[0]]), 1, ".".join(words))

    def _number(self, number: Any) -> Any:
        number = int(number) if isinstance(number, str) else number
        return number if self.laws is None else self.laws.value(number)

    def _step(self, step: Done, path: str, env: dict[int, Value]) -> None:
        if step.name in _WITHOUT_WORK and not any(array.number in self.used for array in step.results):
            return
        where = f" in {path or 'the forward pass'}" + (f" ({step.line})" if step.line else "")
        try:
            stated = step.arguments if self.laws is None else self.laws.value(step.arguments)
            arguments = {name: self._argument(one, path, env) for name, one in stated.items()}
            arguments = arguments if step.graded and id(step) in self.live else _without_gradients(arguments)
            if self.cache is not None and step.name == _ATTENTION and not self._remember_groups(step, path, env):
                arguments |= self._remembered(arguments, path)
            shapes = lambda: [self._shape(array) for array in step.results]  # noqa: E731 - only some operators ask for them
            values = self.operators.apply(named_at(step, self.made, arguments), arguments, shapes, where, keeping=step.graded != "within")
        except NotYetError as error:
            raise NotYetError(str(error) if where in str(error) else f"{str(error).rstrip('.')}{where}.") from None
        except ParamsymError as error:
            raise NotYetError(f"the operator {step.name}{where} cannot be read yet: {error}") from error
        for array, value in zip(step.results, values, strict=False):
            self._learn(array, value)
            if not self._agrees(array, value):
                message = f"the operator {step.name}{where} gave {shown(array.shape)}, and was read as {shown(value.sizes)}"
                raise NotYetError(f"{message}; this form of it is not known.")
            env[array.number] = value

    def _remembered(self, arguments: Mapping[str, Value], path: str) -> dict[str, Value]:
        """Return the keys and values of attention, which are kept for the next step, after those of the steps before."""
        limit = limit_at(path.split("."), self.cache or {})
        return {name: remember(name, arguments[name], axis=-2, at_most=limit) for name in _KEPT}

    def _remember_groups(self, step: Done, path: str, env: dict[int, Value]) -> bool:
        """Keep the keys and values of groups that the pass repeats for their heads; return whether it does so."""
        groups = {name: repeated_from(self.made, step.arguments[name].number) for name in _KEPT}
        if past() != 0 or None in groups.values():
            return False
        limit = limit_at(path.split("."), self.cache or {})
        for name, number in groups.items():
            remember(name, env[number], axis=-2, at_most=limit)  # type: ignore[index]
        return True

    def _shape(self, array: Array) -> tuple[Any, ...]:
        return array.shape if self.laws is None else self.laws.value(array.shape)

    def _agrees(self, array: Array, value: Value) -> bool:
        """Return whether a value has the recorded sizes, in letters at every point."""
        if len(value.sizes) != len(array.shape):
            return False
        if self.laws is None:
            return not any(map(differ, value.sizes, array.shape))
        return all(map(self.laws.agree, value.sizes, array.shape))

    def _learn(self, array: Array, value: Value) -> None:
        """Tell the laws what a value's axes are in letters."""
        if self.laws is not None:
            for at, size in zip(array.shape, value.sizes, strict=False):
                self.laws.learn(at, size)

    def _argument(self, one: Any, path: str, env: dict[int, Value]) -> Any:
        if isinstance(one, Ref):
            return self._value(one.number, path, env)
        if isinstance(one, Mapping):
            return {name: self._argument(each, path, env) for name, each in one.items()}
        return tuple(self._argument(each, path, env) for each in one) if isinstance(one, tuple) else one

    def _value(self, number: int, path: str, env: dict[int, Value]) -> Value:
        if number not in env:
            constant = self.recording.constants.get(number)
            if constant is not None:
                env[number] = fixed(self._shape(constant), constant.kind, constant.data, self.laws, held=constant.held)
            elif number in self.recording.stored:
                env[number] = self._stored(number, path)
            else:
                raise NotYetError("a result of an operator that is not read is used; the computation cannot be counted.")
        return env[number]

    def _stored(self, number: int, path: str) -> Value:
        name = self._name(number, path) or self.recording.stored[number][0]
        if name not in self.tensors:
            raise NotYetError(f"the computation uses {name}, which the edited model does not store; edit the module, and read it again.")
        tensor = self.tensors[name]
        prefix = f"{path}." if path else ""
        if name in self.trained:
            tensor = replace(tensor, trainable=self.trained[name])
        return record(Stored(replace(tensor, name=name.removeprefix(prefix))))

    def _name(self, number: int, path: str) -> str | None:
        """Return the name of a tensor below a path; None if it is a tensor of an outer module."""
        prefix = f"{path}." if path else ""
        return next((name for name in self.recording.stored[number] if name.startswith(prefix) and name in self.tensors), None)


def limit_at(steps: Iterable[str], most: Mapping[str, int]) -> int | None:
    """Return the most positions that the layer with a module keeps, by the steps of the module's path; None without a limit.

    ``most`` has them by the path of a layer, such as ``model.layers.0``; the empty path is that of all layers.
    """
    paths = accumulate(steps, "{}.{}".format)
    return next((most[path] for path in paths if path in most), most.get(""))


def _taking(program: Program, taken: Mapping[Value, int], values: Sequence[Value]) -> Program:
    """Return a program that takes these values in order, of which it may not use some; ``taken`` has the numbers of those that it uses."""
    unused = [value for value in values if value not in taken]
    numbers = {**taken, **{value: len(program.types) + place for place, value in enumerate(unused)}}
    types = (*program.types, *(value.type for value in unused))
    return replace(program, inputs=tuple(numbers[value] for value in values), types=types)


_DETACHING = frozenset({"detach", "detach_"})
_ATTENTION = "scaled_dot_product_attention"
_KEPT = ("key", "value")
_WITHOUT_WORK = frozenset({"detach", "alias", "view", "_to_copy", "clone", "put back", "expand", "slice", "select", "t", "transpose"})
"""Operators that are left out if nothing uses their results; torch itself detaches what it saves."""


def _carried(called: Called) -> Iterator[int]:
    """Yield the arrays that copies pass on."""
    for item in called.items:
        inside = item.calls if isinstance(item, Repeated) else [item] if isinstance(item, Called) else []
        for one in inside:
            yield from _carried(one)
        if isinstance(item, Repeated):
            yield from (b for pairs in item.carried for _, b in pairs)


def _without_gradients(arguments: Any) -> Any:
    """Return arguments through which no gradient passes back."""
    if isinstance(arguments, Value):
        return still(arguments) if arguments.type.kind in {"float", "complex"} else arguments
    if isinstance(arguments, dict):
        return {name: _without_gradients(one) for name, one in arguments.items()}
    return tuple(map(_without_gradients, arguments)) if isinstance(arguments, tuple) else arguments


def _played(program: Program, inputs: Sequence[Value]) -> tuple[Value, ...]:
    """Record the steps of a program in the program that is being traced."""
    values = dict(zip(program.inputs, inputs, strict=True))
    for step in program.steps:
        values.update(zip(step.gives, record_all(step.operation, *(values[number] for number in step.takes)), strict=True))
    return tuple(values[number] for number in program.outputs)


def _as_kind(value: Value, array: Array) -> Value:
    return value if value.type.kind == array.kind else record(Known(ArrayType(value.shape, array.kind)), value)
