"""A Keras layer or model as a layer: each layer is built with its function in ``paramsym.keras`` and checked against its weights."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import paramsym.keras as doors
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer
from paramsym.derive.assembling import assembled, holds_what_was_seen
from paramsym.derive.observe import Seen, tensors_of
from paramsym.errors import ArgumentError, ParamsymError

_LEFT_OUT = frozenset({"name", "dtype", "trainable", "batch_input_shape", "registered_name"})


def from_keras(layer: Any) -> Layer:
    """Return a built Keras layer or model as a layer."""
    if not getattr(layer, "built", True):
        raise ArgumentError(f"the Keras layer {layer.name!r} is not built; call layer.build(input_shape) first.")
    seen = tensors_of(layer)
    found = _door(layer)
    if found is not None:
        return found
    if type(layer).__name__ == "Sequential" and type(layer).__module__.startswith("keras"):
        parts = {inner.name: _door(inner) for inner in layer.layers}
        listed = {name: part for name, part in parts.items() if part is not None}
        sequence = Sequential(listed)
        if len(listed) == len(parts) and holds_what_was_seen(sequence, seen):
            return sequence
    known = {path: part for inner in _below(layer) for path, part in _placed(inner, layer, seen)}
    made = assembled(seen, known)
    if not holds_what_was_seen(made, seen):
        made = assembled(seen, {})
    if not holds_what_was_seen(made, seen):
        message = f"the Keras model {layer.name!r} cannot be written as a layer: its weights have names that contradict each other."
        raise ArgumentError(message)
    return made


def _below(layer: Any) -> Iterator[Any]:
    for inner in getattr(layer, "_layers", ()):
        yield inner
        if _door(inner) is None:
            yield from _below(inner)


def _placed(inner: Any, whole: Any, seen: tuple[Seen, ...]) -> Iterator[tuple[str, Layer]]:
    """Yield the known layers with the paths of their weights in the whole model."""
    made = _door(inner)
    if made is None or not inner.weights:
        return
    names = {id(weight): tensor.name for weight, tensor in zip(whole.weights, seen, strict=True)}
    own = [entry.name for entry in made.entries()]
    paths = {names.get(id(weight), "")[: -len(name) - 1] for weight, name in zip(inner.weights, own, strict=True)}
    full = [names.get(id(weight), "") for weight in inner.weights]
    if len(paths) == 1 and full == [f"{path}.{name}" for path in paths for name in own]:
        yield paths.pop(), made


def _door(layer: Any) -> Layer | None:
    """Return the layer for a Keras class if it stores exactly the same tensors."""
    cls = type(layer)
    if not cls.__module__.startswith("keras.") or cls.__name__ not in dir(doors) or not getattr(layer, "built", True):
        return None
    try:
        config = {name: _plain(name, value) for name, value in layer.get_config().items() if name not in _LEFT_OUT}
        shape = _input_shape(layer)
        door = getattr(doors, cls.__name__)
        made: Layer = door(**_taken(door, config), input_shape=shape)
        seen = tensors_of(layer)
        if not layer.trainable and any(tensor.kind == "parameter" for tensor in seen):
            made = made.freeze()
        return made if holds_what_was_seen(made, seen) else None
    except (ParamsymError, TypeError, AttributeError, ValueError, KeyError):
        return None


def _taken(door: Any, config: dict[str, Any]) -> dict[str, Any]:
    """Leave out arguments that the function does not take: initialisers and constraints of weights."""
    parameters = inspect.signature(door).parameters
    return {name: value for name, value in config.items() if name in parameters}


_PER_AXIS = frozenset({"kernel_size", "strides", "dilation_rate", "pool_size", "output_padding", "size"})


def _plain(name: str, value: Any) -> Any:
    """Return the shortest form of an argument: Keras repeats one number for every axis."""
    if not isinstance(value, list | tuple):
        return value
    if name in _PER_AXIS and len(set(value)) == 1:
        return value[0]
    return tuple(_plain("", entry) for entry in value)


def _input_shape(layer: Any) -> Any:
    """Return the shape that a layer was built for."""
    config = layer.get_build_config() or {}
    if "input_shape" in config:
        return tuple(config["input_shape"])
    if config.get("shapes_dict"):
        return [tuple(shape) for shape in config["shapes_dict"].values()]
    found = layer.input
    return tuple(found.shape) if hasattr(found, "shape") else [tuple(one.shape) for one in found]
