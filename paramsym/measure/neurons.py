"""Numbers of neurons and of connections of a layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Count, Dim, Shape, canonical, product, shown
from paramsym.core.layer import Layer, check_layer, unstated
from paramsym.errors import NotYetError, ShapeError
from paramsym.measure.derived import meetings, uses
from paramsym.measure.shapes import layer_named
from paramsym.measure.walk import Visit, applied, applied_in, inputs_asked, units, visits, within
from paramsym.program.graph import Program, bodies
from paramsym.program.inputs import each_input, together
from paramsym.program.lookups import Stored
from paramsym.program.output import types_of
from paramsym.program.own import trace_layer
from paramsym.program.signature import accepted


def neurons(layer: Layer, *inputs: Iterable[Count | None] | None, total: bool = False, **named: Any) -> Dim:
    """Return the number of output units for one example: the product of the output shape without the batch axis.

    A unit sums over the depth of the input, so the depth is no factor. ``total=True`` adds up the units of all layers with weights, the
    meaning of "a network of 650,000 neurons".

    Raises:
        ShapeError: an input shape that the layer cannot take, or an output of unknown extent.

    >>> from paramsym import B, Conv2d
    >>> neurons(Conv2d(3, 96, 11, stride=4), (B, 3, 227, 227))  # 55 * 55 * 96
    290400
    >>> neurons(Conv2d(4, 4, 5, stride=2), (B, 4, 11, 11))  # neither 4 nor 12
    64
    """
    check_layer(layer)
    shape = inputs_asked(layer, inputs, named)
    with layer_named(layer, shape):
        found = visits(layer, shape, None if total else 0)
        return _sum(_known(visit) * visit.used for visit in found if not total or _stores(visit.layer))


def connections(layer: Layer, *inputs: Iterable[Count | None] | None, **named: Any) -> Dim:
    """Return the number of connections for one example: every weight and bias times the number of its uses.

    A convolution uses each of its weights once per output position; a locally connected layer, whose weights are not shared, once. A pooled
    or normalised unit has the connections of its scale and shift. Products with the padding count, as in the literature.

    Raises:
        ShapeError: an input shape that the layer cannot take.
        NotYetError: a layer that does not say how often its weights are used.

    >>> from paramsym import B, Conv2d, LocallyConnected2d
    >>> connections(Conv2d(6, 50, 5, stride=2), (B, 6, 13, 13))  # 25 positions times 7550 weights; not 32,500
    188750
    >>> shared, unshared = Conv2d(3, 96, 11, stride=4), LocallyConnected2d(3, 96, 11, input_size=227, stride=4)
    >>> shared.params, unshared.params, connections(shared, (B, 3, 227, 227)) == connections(unshared, (B, 227, 227, 3))
    (34944, 105705600, True)
    """
    check_layer(layer)
    shape = inputs_asked(layer, inputs, named)
    with layer_named(layer, shape):
        if read_program(layer, shape) is not None:  # its programs are known for the shapes inside this pass only
            one = together(*((1, *given[1:]) for given in each_input(shape)))
            return connections_of(Visit("", layer, one, ()))
        found = list(visits(layer, shape))
    return _sum(map(connections_of, found))


def read_program(layer: Layer, shape: Shape) -> Program | None:
    """Return a forward pass that was read from a framework; None for one that is stated.

    It has modules that are known inside it only, for their shapes there, or it uses tensors of parts itself.
    """
    if hasattr(layer, "known_alone"):
        found: Program = next(iter(layer.__dict__["_programs"].values()))
        return found
    if not layer.computes or layer.per_token:
        return None
    program = trace_layer(layer, *types_of(shape))
    alone = any(hasattr(body.layer, "known_alone") for step in program.steps for body in bodies(step.operation))
    used = {step.operation.tensor.name for step in program.steps if isinstance(step.operation, Stored)}
    return program if alone or used - {tensor.name for tensor in layer.own_tensors} else None


def connections_of(visit: Visit) -> Dim:
    """Return the connections of one visit with all its uses."""
    layer = visit.layer
    if (program := read_program(layer, visit.arrived)) is not None:
        inside = map(connections_of, applied_in(program, visit.arrived))
        own = (one.as_expr() for found in meetings(program).values() for one in found)
        return canonical(_sum((*inside, *own)) * visit.used)
    if layer.per_token and not visit.own:
        places = product(size for axis, size in enumerate(visit.arrived[:-1]) if axis != visit.batch)
        return canonical(places * layer.active * visit.used)
    if layer.own_parts and not visit.own:
        inner = list(within(visit))
        if any(one.layer is layer and not one.own for one in inner):
            list(applied(layer, visit.arrived))  # its error says why the layer cannot be split
            raise unstated(layer)
        return canonical(_sum(map(connections_of, inner)))
    if visit.path and visit.arrived == () and accepted(layer) and any(not tensor.buffer for tensor in layer.own_tensors):
        what = f"{visit.path} gets no array that depends on the input, as a table of positions does in a module that was read"
        raise NotYetError(f"{what}; how often one example uses its tensors is not known.")
    sizes = {tensor.name: product(tensor.sizes) for tensor in layer.own_tensors}
    return canonical(_sum(sizes[name] * times for name, times in uses(layer, visit.arrived, visit.batch).items()) * visit.used)


def _known(visit: Visit) -> Dim:
    found = units(visit.left, visit.batch_axis)
    if found is None:
        raise ShapeError(f"the units of {shown(visit.left)} cannot be counted; give a size or a symbol instead of None.")
    return found


def _stores(layer: Layer) -> bool:
    return any(not tensor.buffer for tensor in layer.own_tensors) or bool(layer.own_parts)


def _sum(amounts: Iterable[Dim]) -> Dim:
    return canonical(Polynomial.total(Polynomial.of(amount) for amount in amounts).as_expr())
