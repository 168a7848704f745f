"""The program of a layer for inputs that are given as shapes, in order or by the names of the reference."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from itertools import pairwise
from typing import Any

from paramsym.algebra.size import Count
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import ArgumentError, NotYetError
from paramsym.measure.derived import types_of
from paramsym.measure.walk import gated
from paramsym.program.graph import Program
from paramsym.program.own import accepted, trace_layer
from paramsym.program.state import after
from paramsym.program.types import ArrayType


def trace(layer: Layer, *inputs: Any, past: Count = 0, **named: Any) -> Program:
    """Return the program of a layer: every operation of its forward pass with the shapes of the results.

    ``inputs`` are shapes, in order or by name; left out, they are the model's own, in letters. ``past`` makes it one step after ``past``
    positions: give one position then.

    Raises:
        ShapeError: inputs that the layer cannot take.
        NotYetError: a layer that does not say what it computes.
        ArgumentError: more inputs than it takes, or a name that it does not have.

    >>> from paramsym import B, Dense, F, H
    >>> print(trace(Dense(H, F), (B, H)))
    Dense(%0 (B, H)) -> %4 (B, F)
      %1 (F, H) = weight()
      %2 (B, F) = contract '... i, o i -> ... o'(%0, %1)
      %3 (F,) = bias()
      %4 (B, F) = add(%2, %3)
    """
    check_layer(layer)
    types = types_for(layer, inputs, named)
    with after(past):
        return trace_layer(layer, *types)


def types_for(layer: Layer, shapes: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[ArrayType, ...]:
    """Return the types of the inputs of a layer.

    Raises:
        ArgumentError: more inputs than the layer takes, or a name that it does not have.
        NotYetError: a layer that does not say what it computes.
        ShapeError: what is no shape.
    """
    if not layer.computes or layer.by_hand:
        message = f"{type(layer).__name__} does not say what it computes; write forward(self, own, x)."
        raise NotYetError(message)
    names = [name for name in signature(type(layer.computed_as).forward).parameters if name not in {"self", "own", "along"}]
    unknown = [name for name in named if name not in names]
    if unknown:
        message = f"{type(layer).__name__} has no input {unknown[0]!r}; it takes {', '.join(names)}."
        raise ArgumentError(message)
    most = accepted(layer)
    if most is not None and len(shapes) + len(named) > most:
        message = f"{type(layer).__name__} takes {most} input{'s' if most != 1 else ''}; found {len(shapes) + len(named)} shapes."
        raise ArgumentError(message)
    if not shapes and not named:
        named = stated_inputs(layer)
    later = names[len(shapes) :]
    missing = next((name for name, behind in pairwise(later) if name not in named and behind in named), None)
    if missing is not None:
        message = f"{type(layer).__name__} is given no {missing!r}, which comes before {list(named)[-1]!r}; give its shape as well."
        raise ArgumentError(message)
    ordered = [*shapes, *(named[name] for name in later if name in named)]
    return types_of(gated(ordered) if len(ordered) > 1 else gated(ordered[0]))


def stated_inputs(layer: Layer) -> Mapping[str, Any]:
    """Return the inputs that a model states, name to shape in letters.

    Raises:
        ArgumentError: a layer that states none; users give the shapes then.
    """
    found: Any = getattr(layer.computed_as, "inputs", None)
    if not isinstance(found, Mapping):
        message = f"{type(layer).__name__} does not state its inputs; give their shapes, such as (B, S, H)."
        raise ArgumentError(message)
    return found
