"""The applied layers of a composite, with their input and output shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, cast

from paramsym.algebra.size import Count, Dim, Shape, canonical, count, product, shown
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, unstated
from paramsym.errors import NotYetError, ShapeError
from paramsym.measure.derived import batch_axis
from paramsym.naming import quoted
from paramsym.program.graph import Call, Loop, Program, Region, Route, Scan, label
from paramsym.program.inputs import checked_axes, each_input, together
from paramsym.program.output import Closing, output_shape
from paramsym.program.own import trace_layer
from paramsym.program.signature import accepted, arranged, stated_inputs

_NUMBERED = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True)
class Visit:
    """One application of a layer: its path, its shapes, the number of uses per example, and the number of stored copies.

    Equal copies that keep the shape are one visit. ``own`` means the layer's own tensors only, because its parts have separate visits.
    ``batch_axis`` is the axis of the batch in the outer composite.
    """

    path: str
    layer: Layer
    arrived: Shape
    left: Shape
    used: Count = 1
    stored: Count = 1
    own: bool = False
    batch_axis: int | None = 0

    @property
    def batch(self) -> int | None:
        """The axis of the batch in the input: as the layer itself names its axes, otherwise that of the composite."""
        return batch_axis(self.layer, self.arrived, self.batch_axis)


def checked_shape(input_shape: Iterable[Count | None]) -> Shape:
    """Return an input shape, or the shapes of several inputs, as checked tuples.

    Raises:
        ShapeError: something that is not a shape.
        SizeError: an extent that is not a size.

    >>> checked_shape([None, 3]), checked_shape([(2, 3), (2, 5)])
    ((None, 3), ((2, 3), (2, 5)))
    """
    extents: Any = getattr(input_shape, "shape", None)
    if extents is not None and hasattr(input_shape, "dtype"):
        raise ShapeError(f"input_shape is an array; wanted its shape, {shown(tuple(extents))}.")
    if isinstance(input_shape, str | Mapping | AbstractSet) or not isinstance(input_shape, Iterable):
        advice = "; shapes by name are given as x=(B, H)" if isinstance(input_shape, Mapping) else ""
        raise ShapeError(f"input_shape is {quoted(input_shape)}; wanted a tuple such as (B, 3, W, W), batch first{advice}.")
    given: tuple[object, ...] = checked_axes(input_shape, "input_shape")
    if given and all(isinstance(entry, tuple | list) for entry in given):
        return together(*(_extents(cast("Iterable[object]", entry), f"input_shape[{i}]") for i, entry in enumerate(given)))
    return _extents(given, "input_shape")


def inputs_asked(layer: Layer, inputs: Sequence[Iterable[Count | None] | None], named: Mapping[str, Any]) -> Shape:
    """Return the input shapes: shapes in order or in one tuple, shapes by the names of the inputs, or a model's own.

    Raises:
        ArgumentError: an unknown name; no shape for a layer that states none.
        NotYetError: names, or no shape, for a layer without a forward pass.
        ShapeError: something that is not a shape; several shapes for a layer that takes one input.
    """
    given = [one for shape in inputs if shape is not None for one in each_input(checked_shape(shape))]
    if not given or named:
        if not layer.computes:
            raise unstated(layer)
        given = [checked_shape(one) for one in arranged(layer, given, named or stated_inputs(layer))]
    shape, found = together(*given), len(given)
    if found > 1 and accepted(layer) == 1:
        raise ShapeError(f"{type(layer).__name__}: wanted one shape, for one input; found {found}, {shown(shape)}.")
    return shape


def _extents(given: Iterable[object], where: str) -> Shape:
    return tuple(None if extent is None else count(extent, f"{where}[{i}]") for i, extent in enumerate(checked_axes(given, where)))


def visits(layer: Layer, input_shape: Shape, depth: int | None = None) -> Iterator[Visit]:
    """Yield the applied layers in order: those without parts, or the parts down to a depth. An opaque layer is not split."""
    left = output_shape(layer, input_shape)
    return within(Visit("", layer, input_shape, left, batch_axis=batch_axis(layer, input_shape)), depth)


def within(visit: Visit, depth: int | None = None) -> Iterator[Visit]:
    """Yield the layers inside one visit, like ``visits``, multiplied by the uses of that visit."""
    layer = visit.layer
    if depth == 0 or not layer.own_parts or layer.per_token:
        yield visit
        return
    try:
        steps = list(applied(layer, visit.arrived))
    except NotYetError:
        yield visit
        return
    if depth is not None and any(_levels(step.path) > depth for step in steps):
        yield visit
        return
    if any(not tensor.buffer for tensor in layer.own_tensors):
        yield replace(visit, own=True)
    axis = 1 if layer.positions_lead and visit.batch_axis == 0 else visit.batch_axis
    for step in steps:
        path = ".".join(name for name in (visit.path, step.path) if name)
        used, stored = canonical(visit.used * step.used), canonical(visit.stored * step.stored)
        deeper = None if depth is None else depth - _levels(step.path)
        batch = axis if step.batch_axis is not None else None
        yield from within(replace(step, path=path, used=used, stored=stored, batch_axis=batch), deeper)


def applied(layer: Layer, input_shape: Shape) -> Iterator[Visit]:
    """Yield the parts that a layer applies, in order; ``stored`` is 0 if the part was applied before.

    Raises:
        NotYetError: a layer without a forward pass, or copies whose inputs grow from one to the next.
    """
    if not layer.computes:
        raise unstated(layer)
    shapes_of = Closing(input_shape)
    yield from _applied(trace_layer(layer, *shapes_of.types), shapes_of)


def applied_in(program: Program, input_shape: Shape) -> Iterator[Visit]:
    """Yield the parts that a program for inputs of this shape applies, in order."""
    return _applied(program, Closing(input_shape))


def _applied(program: Program, shapes_of: Closing) -> Iterator[Visit]:
    met: set[str] = set()
    following = _following(program)
    for step in program.steps:
        operation, taken, given = step.operation, program.taken(step), program.given(step)
        match operation:
            case Call(name=name, body=body) if isinstance(body.layer, Layer):
                path = label(name)
                batch = 0 if following.intersection(step.takes) else None  # a table of positions has no batch
                yield Visit(path, body.layer, shapes_of(taken), shapes_of(given), stored=0 if path in met else 1, batch_axis=batch)
                met.add(path)
            case Region(body=body):
                yield from _applied(body, shapes_of)
            case Scan(body=body, length=length):
                yield from (replace(one, used=canonical(one.used * length)) for one in _applied(body, shapes_of))
            case Loop(bodies=bodies, shared=shared, left=left):
                if left is not None and bodies[0][0].count != 1:
                    raise NotYetError(f"{bodies[0][0]}: layers whose inputs grow from one to the next cannot be listed.")
                for numbers, body in bodies:
                    if isinstance(body.layer, Layer):
                        behind = shapes_of(body.output_types)
                        name, stored = (label(numbers), numbers.count) if shared is None else (shared, 1)
                        yield Visit(name, body.layer, shapes_of(taken[: len(body.inputs)]), behind, numbers.count, stored)
            case Route(numbers=numbers, body=body, used=used) if isinstance(body.layer, Layer):
                yield Visit(str(numbers), body.layer, shapes_of(taken[:1]), shapes_of(given), used, numbers.count)
            case _:
                continue


def _following(program: Program) -> set[int]:
    """Return the values that depend on an input."""
    found = set(program.inputs)
    for step in program.steps:
        if found.intersection(step.takes):
            found.update(step.gives)
    return found


def _levels(name: str) -> int:
    """Return the number of levels of a name; the dots of ``{0..2}`` do not count."""
    return len(_NUMBERED.sub("", name).split(".")) if name else 0


def rebuilt(layer: Layer, path: str, new: Layer) -> Layer:
    """Return the layer with another part at a path; sequences are built again, other layers are edited."""
    if not path:
        return new
    if isinstance(layer, Sequential):
        name, _, rest = path.partition(".")
        return Sequential({key: rebuilt(part, rest, new) if key == name else part for key, part in layer.items})
    return layer.replace(path, new)


def units(shape: Shape, batch_axis: int | None) -> Dim | None:
    """Return the number of entries of one example; None if an extent is unknown.

    >>> from paramsym import B, H, W
    >>> units((B, 3, W, H), 0), units((3, W), None), units((B, None), 0)
    (3*H*W, 3*W, None)
    """
    output = each_input(shape)[0]  # of an output with states, only the output counts
    rest = [extent for axis, extent in enumerate(output) if axis != batch_axis]
    return None if None in rest else product(rest)
