"""The argument ``own`` of a forward pass: the layer's tensors as values, its parts as functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sympy import Integer

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, canonical, recalled, shown
from paramsym.errors import NotYetError, ParamsymError, ShapeError, StructureError
from paramsym.program.constants import constant
from paramsym.program.graph import Call, Loop, Opaque, Program, Route
from paramsym.program.inputs import each_input, located, together
from paramsym.program.lookups import Stored
from paramsym.program.mistakes import explained
from paramsym.program.named_axes import Known, rearrange
from paramsym.program.signature import accepted, check_number
from paramsym.program.state import past
from paramsym.program.tracing import Value, each, record, record_all, results_of, traced
from paramsym.program.types import ArrayType, Open, opened

if TYPE_CHECKING:
    from paramsym.program.statement import StatedPart, Statement


class Own:
    """A layer's tensors and parts: ``own.weight`` is an array, ``own.dense(x)`` applies a part, ``"bias" in own`` tests for both.

    ``own["self.query"]`` and ``own["dense.weight"]`` reach into parts. The names inside a part without a name are used directly.
    """

    __slots__ = ("_inlined", "_layer", "_parts", "_tensors")

    def __init__(self, layer: Statement) -> None:
        self._layer = layer
        self._tensors = {tensor.name: Stored(tensor) for tensor in layer.own_tensors}
        single = [part for part in layer.own_parts if part.numbers is None]
        self._parts = {part.name: Applied(part) for part in reversed(single)}
        self._inlined = [part for part in single if not part.name]

    def __getitem__(self, name: str) -> Any:
        found = self._find(name)
        if found is None:
            kind = type(self._layer).__name__
            have = ", ".join((*self._tensors, *self._parts)) or "nothing"
            raise StructureError(f"{kind}.forward asks for {name!r}, which {kind} does not store; it has {have}.")
        return record(found) if isinstance(found, Stored) else found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __contains__(self, name: str) -> bool:
        return self._find(name) is not None

    def _find(self, name: str) -> Any:
        found = self._tensors.get(name) or self._parts.get(name)
        if found is not None:
            return found
        first, dot, rest = name.partition(".")
        if dot and first in self._parts:
            return within(self._parts[first].part, rest)
        return next((found for part in self._inlined if (found := within(part, name)) is not None), None)


class Lent(Own):
    """The argument ``own`` if another layer computes the layer's tensors."""

    __slots__ = ("_values",)

    def __init__(self, layer: Statement, values: Mapping[str, Value]) -> None:
        super().__init__(layer)
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name] if name in self._values else super().__getitem__(name)


class Numbered(Own):
    """The tensors of a cell under their names in a level: ``weight_ih`` is ``weight_ih_l0``."""

    __slots__ = ("_ending", "_level")

    def __init__(self, level: Own, ending: str) -> None:  # everything is the level's, so nothing is collected
        self._level, self._ending = level, ending

    def __getitem__(self, name: str) -> Any:
        return self._level[f"{name}{self._ending}"]


class Applied:
    """A part, ready to be applied to arrays."""

    __slots__ = ("part",)

    def __init__(self, part: StatedPart) -> None:
        self.part = part

    def __call__(self, *values: Value) -> Any:
        """Record the application; a part with several results gives a tuple."""
        part = self.part
        if part.used is not None:
            return through([(Numbers(part.used, pattern=""), part.layer)], values[:1], values[1:], shared=part.name)
        program = applied(part.name, part.layer, tuple([value.type for value in values]))
        return (record_all if program.several else record)(Call(part.name, program, part.frozen), *values)

    @property
    def layer(self) -> Statement:
        """The layer of the part, for its fields."""
        return self.part.layer


def within(part: StatedPart, name: str) -> Any:
    """Return a tensor or a part of a part, under its path from the outer layer; None if there is neither."""
    found = own_of(part.layer)._find(name)
    path = f"{part.name}." if part.name else ""
    if found is None:
        return None
    if isinstance(found, Applied):
        return Applied(replace(found.part, name=path + found.part.name, frozen=found.part.frozen or part.frozen))
    tensor = found.tensor
    return Stored(replace(tensor, name=path + tensor.name, trainable=tensor.trainable and not part.frozen))


def own_of(layer: Statement) -> Own:
    """Return the argument ``own`` for a layer; it is cached in the layer."""
    found: Own | None = layer.__dict__.get("_own")
    return layer.__dict__.setdefault("_own", Own(layer)) if found is None else found


def trace_layer(layer: Statement, *types: ArrayType) -> Program:
    """Return the program of a layer for inputs of these types; every layer caches its programs.

    Raises:
        NotYetError: a layer with neither a forward pass nor an output shape.
        ShapeError: inputs that it cannot take.
        StructureError: a forward pass with something other than the operations of the vocabulary.
    """
    known: dict[Any, Any] = layer.__dict__.get("_programs") or layer.__dict__.setdefault("_programs", {})
    return recalled(known, (types, past()), partial(_traced, layer, types))


def _traced(layer: Statement, types: tuple[ArrayType, ...]) -> Program:
    check_number(layer, len(types))
    body = partial(layer.forward, own_of(layer)) if layer.computes else partial(through_opaque, layer)
    try:
        program, captured = traced(layer, body, types)
    except (AttributeError, TypeError) as error:
        found = None if isinstance(error, ParamsymError) else explained(layer, error)
        if found is None:
            raise
        raise found from error
    if captured:
        raise StructureError(f"{type(layer).__name__}.forward uses an array of another layer's forward pass; pass it as an input.")
    return program


def through_opaque(layer: Statement, *values: Value) -> Any:
    """Record a layer with an output shape and without a forward pass.

    A size that it states as None gets a symbol of the layer's class and of the axis: copies in a loop then take what the copy before gives.
    """
    shapes = each_input(layer.output_shape(together(*(value.sizes for value in values))))
    who = type(layer).__name__
    types = [[opened(f"{who}{n}.{i}") if size is None else canonical(size) for i, size in enumerate(one)] for n, one in enumerate(shapes)]
    given = record_all(Opaque(layer, tuple(ArrayType(tuple(sizes)) for sizes in types)), *values)
    return given[0] if len(given) == 1 else given


def in_turn(own: Own, x: Any, *along: Value) -> Any:
    """Apply the parts one after another, numbered copies in the order of their numbers; each gets the inputs of ``along`` that it takes."""
    copies: list[StatedPart] = []
    for part in own._layer.own_parts:
        if part.numbers is not None:
            copies.append(part)
            continue
        if copies:
            x, copies = through_copies(copies, x, along), []
        x = Applied(part)(*_as_many((*each(x), *along), part.layer))
    return through_copies(copies, x, along) if copies else x


def _as_many(given: tuple[Value, ...], layer: Statement) -> tuple[Value, ...]:
    return given if len(given) == 1 else given[: accepted(layer)]


def routed(own: Own, x: Value, weights: Value | None = None, chosen: Value | None = None) -> Value:
    """Apply to every position the numbered copies that were chosen for it, and add up their weighted outputs.

    Without weights and numbers, the first copy is used instead of those that another layer would choose.
    """
    (part,) = own._layer.own_parts
    if part.numbers is None:
        raise StructureError(f"{type(own._layer).__name__} has no numbered copies to choose from.")
    program = applied(str(part.numbers), part.layer, (x.type,))
    used = part.numbers.count if part.used is None else part.used
    if weights is None or chosen is None:
        weights, chosen = unchosen(x, used)
    return record(Route(part.numbers, program, used), x, weights, chosen)


def unchosen(x: Value, used: Count) -> tuple[Value, Value]:
    """Return weights and numbers for positions for which nothing was chosen: the first copy, with the weight 1."""
    shape = (*x.sizes[:-1], used)
    return constant("full", shape, 1), constant("index zeros", shape, kind="index")


def through_copies(parts: list[StatedPart], x: Any, along: Sequence[Value]) -> Any:
    """Pass a value, or a tuple of values, through numbered copies."""
    partly = next((part for part in parts if part.numbers is not None and part.used not in {None, part.numbers.count}), None)
    if partly is not None:
        used = f"{partly.used} of {partly.numbers.count} copies are used"  # type: ignore[union-attr]
        raise NotYetError(f"{partly.numbers}: {used}; choose them in forward with routed(own, ...).")
    runs = [(part.numbers, part.layer) for part in parts if part.numbers is not None and part.numbers.count != 0]
    alternating = any(numbers.step > 1 for numbers, _ in runs)
    for group in [runs] if alternating else [[run] for run in runs]:
        if group:
            x = through(group, tuple(each(x)), tuple(along), several=isinstance(x, tuple))
    return x


def collected(own: Own, position: int, x: Value, *along: Value) -> tuple[Value, ...]:
    """Pass a value through the numbered copies at a position among the parts.

    Return it, and the other results of every copy, stacked along a new first axis.
    """
    part = own._layer.own_parts[position]
    x, *others = each(through_copies([part], x, along))
    if part.numbers is not None and part.numbers.count == 1:
        others = [rearrange(one, f"{names} -> () {names}") for one in others for names in [" ".join(f"a{n}" for n in range(one.rank))]]
    return (x, *others)


def through(
    copies: Sequence[tuple[Numbers, Statement]],
    carry: tuple[Value, ...],
    along: tuple[Value, ...],
    shared: str | None = None,
    *,
    several: bool = False,
) -> Any:
    """Pass values through copies: one loop if every copy keeps the shapes, otherwise one application per copy.

    Raises:
        ShapeError: a symbolic number of copies that change the shape.
    """
    known = all(numbers.values is not None for numbers, _ in copies)
    if known and (depends_on_number(copies) or (shared is None and [numbers.count for numbers, _ in copies] == [1])):
        return one_by_one(copies, carry, along, several=several)
    if shared is None and len(copies) == 1 and depends_on_number(copies):
        return growing(*copies[0], carry, along, several=several)
    sizes = after = [value.sizes for value in carry]
    programs = []
    for numbers, layer in copies:
        given = _as_many((*carry, *along), layer)
        name = shared if shared is not None else str(numbers) if numbers.values is None else numbers.name(numbers.values[0])
        programs.append((numbers, applied(name, layer, tuple(value.type for value in given))))
        after = [type_.sizes for type_ in programs[-1][1].output_types[: len(carry)]]
        if after != sizes:  # the other alternating blocks take another shape
            break
    if after != sizes and list(map(len, after)) == list(map(len, sizes)) and all(map(_open_or_equal, sizes, after)):
        refined = tuple(record(Known(type_), value) for value, type_ in zip(carry, programs[-1][1].output_types, strict=False))
        return through(copies, refined, along, shared, several=several)
    one_of = shared is None and [numbers.count for numbers, _ in copies] == [1]  # the number of copies is a symbol
    if after == sizes or one_of:
        taken = max(len(program.inputs) for _, program in programs)
        left = None if after == sizes else programs[0][1].output_types[: len(carry)]
        results = record_all(Loop(tuple(programs), len(carry), shared, left), *carry, *along[: taken - len(carry)])
        return results if several or programs[0][1].several else results[0]
    if known:
        return one_by_one(copies, carry, along, shared, several=several)
    where = f"{programs[-1][0]}: " if shared is None else f"{shared}: " if shared else ""
    raise ShapeError(f"{where}a block that turns {shown(sizes[0])} into {shown(after[0])} cannot be repeated a symbolic number of times.")


def growing(numbers: Numbers, layer: Statement, carry: tuple[Value, ...], along: tuple[Value, ...], *, several: bool) -> Any:
    """Pass values through a symbolic number of copies that depend on their number and may lengthen the values, all by the same amount.

    The first copy's growth determines the inputs of all others; it is checked that each copy returns what the next one takes.

    Raises:
        ShapeError: copies that change the shape in another way.
    """
    index: Any = numbers.index
    taken = (accepted(layer) or len(carry) + len(along)) - len(carry)
    first = tuple(one.type for one in carry)
    more = tuple(one.type for one in along[:taken])
    second = applied(
        str(numbers),
        layer.substituted({index: Integer(numbers.start) if isinstance(numbers.start, int) else numbers.start}),
        (*first, *more),
    ).output_types

    def at(number: Any) -> tuple[ArrayType, ...]:
        pairs = [zip(one.sizes, other.sizes, strict=True) for one, other in zip(first, second, strict=False)]
        return tuple(ArrayType(tuple(canonical(a + (number - numbers.start) * (b - a)) for a, b in sizes)) for sizes in pairs)

    program = applied(str(numbers), layer, (*at(index), *more))
    if [one.sizes for one in program.output_types[: len(carry)]] != [one.sizes for one in at(index + 1)]:
        shapes = f"{shown(first[0].sizes)} into {shown(second[0].sizes)}"
        message = f"{numbers}: a block that turns {shapes}, while other blocks do not, cannot be repeated a symbolic number of times."
        raise ShapeError(message)
    loop = Loop(((numbers, program),), len(carry), None, at(numbers.start + numbers.count))
    results = record_all(loop, *carry, *along[:taken])
    return results if several or program.several else results[0]


def _open_or_equal(before: tuple[Dim, ...], after: tuple[Dim, ...]) -> bool:
    """Return whether a block changes only open sizes, such as the channels of an input with only a known rank."""
    return all(one == other or isinstance(one, Open) for one, other in zip(before, after, strict=True))


def one_by_one(
    copies: Sequence[tuple[Numbers, Statement]],
    carry: tuple[Value, ...],
    along: tuple[Value, ...],
    shared: str | None = None,
    *,
    several: bool,
) -> Any:
    """Apply every copy separately, in the order of the numbers, with its number put in for the index."""
    placed = sorted(((number, numbers, layer) for numbers, layer in copies for number in numbers.values or ()), key=lambda one: one[0])
    x: Any = carry if several else carry[0]
    for number, numbers, layer in placed:
        copy = layer if numbers.index is None else layer.substituted({numbers.index: Integer(number)})
        given = _as_many((*each(x), *along), copy)
        name: str | Numbers = replace(numbers, count=1, start=number, step=1, index=None) if shared is None else shared
        program = applied(str(name), copy, tuple(value.type for value in given))
        x = results_of(program, record_all(Call(name, program), *given))
    return x


def depends_on_number(copies: Sequence[tuple[Numbers, Statement]]) -> bool:
    """Return whether any copy depends on its number."""
    return any(numbers.index is not None and numbers.index in layer.symbols for numbers, layer in copies)


def applied(name: str, layer: Statement, types: tuple[ArrayType, ...]) -> Program:
    """Return the program of a part; a wrong shape is reported with the whole path of the part and its input.

    A part with neither a forward pass nor an output shape is reported by its path.
    """
    try:
        return trace_layer(layer, *types)
    except NotYetError as error:
        path = ".".join(one for one in (name, getattr(error, "part", "")) if one)
        reason = getattr(error, "reason", str(error))
        found = NotYetError(f"{path}: {reason}" if path else reason)
        found.__dict__.update(part=path, reason=reason)
        raise found from None
    except ShapeError as error:
        shapes = (tuple(None if isinstance(size, Open) else size for size in one.sizes) for one in types)
        raise located(name, layer, together(*shapes), error, type(error)) from None
