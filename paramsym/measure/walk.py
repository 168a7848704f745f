"""The applied layers of a composite, with their input and output shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, cast

from paramsym.algebra.size import Count, Dim, Shape, canonical, count, product
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, unstated
from paramsym.errors import NotYetError, ShapeError
from paramsym.measure.derived import named_axes
from paramsym.naming import quoted
from paramsym.program.inputs import checked_axes, each_input, together
from paramsym.program.signature import arranged, only_input, stated_inputs

_NUMBERED = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True)
class Visit:
    """One applied layer: its path, its shapes, the number of uses per example, and the number of stored copies.

    ``own`` means its own tensors only, because its parts have separate visits. ``batch_axis`` is the axis of the batch that the outer
    composite states.
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
    def batch_first(self) -> Shape:
        """The input shape with the batch first, for layers that do not know the axis of the batch."""
        if self.batch_axis == 0 or self.layer.batch_axis(self.arrived) != 0:
            return self.arrived
        if self.batch_axis is None:
            if "batch" in self._words:
                return self.arrived  # the composite added a batch of size 1
            return together(*((1, *shape) for shape in each_input(self.arrived)))
        return together(*((shape[1], shape[0], *shape[2:]) for shape in each_input(self.arrived)))

    @property
    def _words(self) -> tuple[str, ...]:
        """The words for the axes of the input, if the layer names them."""
        return named_axes(self.layer, self.arrived) if self.layer.computes and not self.layer.by_hand else ()


def checked_shape(input_shape: Iterable[Count | None]) -> Shape:
    """Return an input shape, or the shapes of several inputs, as checked tuples.

    Raises:
        ShapeError: something that is not a shape.
        SizeError: an extent that is not a size.

    >>> checked_shape([None, 3]), checked_shape([(2, 3), (2, 5)])
    ((None, 3), ((2, 3), (2, 5)))
    """
    if isinstance(input_shape, str | Mapping | AbstractSet) or not isinstance(input_shape, Iterable):
        message = f"input_shape is {quoted(input_shape)}; wanted a tuple such as (B, 3, W, W), batch first."
        raise ShapeError(message)
    given: tuple[object, ...] = checked_axes(input_shape, "input_shape")
    if given and all(isinstance(entry, tuple | list) for entry in given):
        return together(*(_extents(cast("Iterable[object]", entry), f"input_shape[{i}]") for i, entry in enumerate(given)))
    return _extents(given, "input_shape")


def inputs_asked(layer: Layer, input_shape: Iterable[Count | None] | None, named: Mapping[str, Any]) -> Shape:
    """Return the input shapes: one shape or a tuple of several, shapes by the names of the inputs, or a model's own.

    Raises:
        ArgumentError: an unknown name; no shape for a layer that states none.
        NotYetError: names, or no shape, for a layer without a forward pass.
        ShapeError: something that is not a shape.
    """
    if input_shape is not None and not named:
        return checked_shape(input_shape)
    if not layer.computes and not layer.by_hand:
        raise unstated(layer)
    given = () if input_shape is None else each_input(checked_shape(input_shape))
    return checked_shape(together(*arranged(layer, given, named or stated_inputs(layer))))


def _extents(given: Iterable[object], where: str) -> Shape:
    return tuple(None if extent is None else count(extent, f"{where}[{i}]") for i, extent in enumerate(checked_axes(given, where)))


def visits(layer: Layer, input_shape: Shape, depth: int | None = None) -> Iterator[Visit]:
    """Yield the applied layers in order: those without parts, or the parts down to a depth.

    A layer that does not state the inputs of its parts is not split.
    """
    only_input(layer, input_shape)
    left, batch_axis = layer.output_shape(input_shape), layer.batch_axis(input_shape)
    return _inside(Visit("", layer, input_shape, left, batch_axis=batch_axis), depth)


def within(visit: Visit) -> Iterator[Visit]:
    """Yield the layers inside one visit, like ``visits``, multiplied by the uses of that visit."""
    return _inside(visit, None)


def _inside(visit: Visit, depth: int | None) -> Iterator[Visit]:
    layer = visit.layer
    if depth == 0 or not layer.own_parts or layer.per_token:
        yield visit
        return
    try:
        steps = list(layer.applications(visit.arrived))
    except NotYetError:
        yield visit
        return
    if depth is not None and any(_levels(step.name) > depth for step in steps):
        yield visit
        return
    if any(not tensor.buffer for tensor in layer.own_tensors):
        yield replace(visit, own=True)
    batch_axis = 1 if layer.positions_lead and visit.batch_axis == 0 else visit.batch_axis
    for step in steps:
        path = ".".join(name for name in (visit.path, step.name) if name)
        used, stored = canonical(visit.used * step.used), canonical(visit.stored * step.stored)
        deeper = None if depth is None else depth - _levels(step.name)
        yield from _inside(Visit(path, step.layer, step.arrived, step.left, used, stored, batch_axis=batch_axis), deeper)


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
