"""Shapes, uses and the batch axis of a layer, derived from the program of its forward pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sympy import Rational

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, Shape, canonical, product, shown
from paramsym.core.layer import Layer, unstated
from paramsym.errors import SizeError
from paramsym.program.arithmetic import Combine
from paramsym.program.graph import MULTIPLY_ADD, Operation, Program, Region, Scan, bodies
from paramsym.program.inputs import each_input, together
from paramsym.program.lookups import Stored
from paramsym.program.masks import sizes_of
from paramsym.program.named_axes import Named
from paramsym.program.output import types_of
from paramsym.program.own import trace_layer
from paramsym.program.reductions import Normalise
from paramsym.program.slices import Join
from paramsym.program.types import ArrayType, Open, flat


def batch_axis(layer: Layer, input_shape: Shape, otherwise: int | None = 0) -> int | None:
    """Return the batch axis of the inputs, None without a batch: as the layer names its axes, ``otherwise`` if it does not."""
    names = next(_names(trace_layer(layer, *types_of(input_shape))), ()) if layer.computes else ()
    return (names.index("batch") if "batch" in names else None) if names else otherwise


def _names(program: Program) -> Iterator[tuple[str, ...]]:
    """Yield the words for the axes, from the first layer that names its axes on."""
    for step in program.steps:
        if isinstance(step.operation, Named):
            yield step.operation.words
        for body in bodies(step.operation):
            yield from _names(body)


def uses(layer: Layer, input_shape: Shape, batch: int | None = 0) -> Mapping[str, Dim]:
    """Return how often one example uses each entry of the layer's own tensors: the number of products and sums with data that contain it.

    Raises:
        NotYetError: a layer that stores tensors and has no forward pass.
        SizeError: uses that depend on a size of None.
    """
    stored = [tensor for tensor in layer.own_tensors if not tensor.buffer]
    if not stored:
        return {}
    if not layer.computes:
        raise unstated(layer)
    shapes = [tuple(1 if n == batch else size for n, size in enumerate(shape)) for shape in each_input(input_shape)]
    totals = meetings(trace_layer(layer, *types_of(together(*shapes))))
    found: dict[str, Dim] = {}
    for tensor in stored:
        size = product(tensor.sizes)
        if totals.get(tensor.name):
            whole = Polynomial.total(totals[tensor.name]).as_expr()
            found[tensor.name] = canonical(whole * Rational(1, size) if isinstance(size, int) else whole / size) if size != 0 else 0
            if whole.atoms(Open):
                raise SizeError(f"the uses of {tensor.name} depend on a size of None in {shown(input_shape)}; give a size or a symbol.")
    return found


def meetings(program: Program) -> Mapping[str, Sequence[Polynomial]]:
    """Return the numbers of products and sums of a program's own tensors with data, by the tensors' names; parts are left out."""
    totals: dict[str, list[Polynomial]] = {}
    _collect(program, {}, (), totals)
    return totals


def _collect(program: Program, owners: Mapping[int, str], times: tuple[Dim, ...], totals: dict[str, list[Polynomial]]) -> None:
    """Add up the work with every own tensor; an array computed from tensors alone belongs to the first of them."""
    owner = dict(owners)
    for step in program.steps:
        operation = step.operation
        taken, held = program.taken(step), [owner.get(number) for number in step.takes]
        if isinstance(operation, Stored):
            owner[step.gives[0]] = operation.tensor.name
        elif isinstance(operation, Region | Scan):
            inner = {number: name for number, name in zip(operation.body.inputs, held, strict=True) if name is not None}
            more = (operation.length,) if isinstance(operation, Scan) else ()
            _collect(operation.body, inner, (*times, *more), totals)
        elif not isinstance(operation, Operation) or not any(held):
            continue
        elif isinstance(operation, Join) and not all(held):
            for name, one in zip(held, taken, strict=True):
                if name is not None:  # a tensor joined with data is used once
                    totals.setdefault(name, []).append(Polynomial.product((*flat(one.shape), *times)))
        elif all(held) or (operation.view and held[0]):
            owner.update(dict.fromkeys(step.gives, next(name for name in held if name)))
        else:
            for name in dict.fromkeys(name for name in held if name):
                totals.setdefault(name, []).extend(_meetings(operation, held, taken, program.given(step), times))


def _meetings(
    operation: Operation,
    held: list[str | None],
    taken: tuple[ArrayType, ...],
    given: tuple[ArrayType, ...],
    times: tuple[Dim, ...],
) -> list[Polynomial]:
    """Return how often one operation combines entries of a tensor with data."""
    works = [work.factors for work in operation.work(taken, given) if work.unit == MULTIPLY_ADD]
    if isinstance(operation, Join):
        works = [flat(one.shape) for one, name in zip(taken, held, strict=True) if name]  # each entry occurs once in the result
    elif not works:
        shape = taken[0].shape if isinstance(operation, Normalise) else given[0].shape
        works = [flat(shape)] if isinstance(operation, Normalise | Combine) or operation.work(taken, given) else []
    plain = ([size for factor in one for size in sizes_of(factor)] for one in works)
    return [Polynomial.product((*one, *times)) for one in plain]
