"""Models in Keras' spelling: an input, and layers one after another, named as Keras names them: dense, dense_1."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from paramsym.core import compose
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, StructureError
from paramsym.keras._arguments import takes, wrong
from paramsym.keras._door import Given, Shape, Unbuilt, door, shape_of
from paramsym.layers.wrappers import keras_name
from paramsym.measure.shapes import output_shape
from paramsym.naming import described


@dataclass(frozen=True)
class InputShape:
    """The shape that a sequence begins with, batch first."""

    shape: Shape


def Input(shape: Any = None, batch_size: Any = None, *, batch_shape: Any = None, dtype: Any = None, name: Any = None) -> InputShape:
    """Return the shape that a ``Sequential`` begins with: ``shape`` is without the batch, ``batch_shape`` with it.

    ``dtype`` and ``name`` change nothing.

    Raises:
        ArgumentError: neither of the two shapes, or both.

    >>> Input((28, 28, 1)).shape
    (None, 28, 28, 1)
    """
    if (shape is None) == (batch_shape is None):
        message = f"keras.Input takes shape or batch_shape, not {'neither' if shape is None else 'both'}; write keras.Input((28, 28, 1))."
        raise ArgumentError(message)
    if batch_shape is not None:
        return InputShape(shape_of(batch_shape, name="batch_shape"))
    return InputShape(shape_of((batch_size, *shape_of(shape, name="shape"))))


def _starts_by_itself(given: Given) -> bool:
    layers = _listed(given.layers)
    return isinstance(layers[0], InputShape) or all(isinstance(layer, Layer) for layer in layers)


@door(takes("layers"), complete=_starts_by_itself)
def Sequential(given: Given, shape: Any) -> Layer:
    """Return ``paramsym.Sequential`` of a list that may begin with ``keras.Input``; each layer gets the output shape of the one before.

    Layers are named by their ``name``, or by their class with a number as in a new Keras session. A layer is immutable, so there is no
    ``add``; pass the whole list.

    >>> Sequential([Input((28, 28, 1)), Conv2D(32, 3), MaxPooling2D(), Flatten(), Dense(10)]).params
    54410
    """
    layers = _listed(given.layers)
    if isinstance(layers[0], InputShape):
        shape = layers.pop(0).shape if shape is None else shape
    found: dict[str, Layer] = {}
    seen: Counter[str] = Counter()
    waiting = sum(isinstance(layer, Unbuilt) for layer in layers)
    for layer in layers:
        name = _name(layer, seen)
        if name in found:
            raise StructureError(f"two layers are called {name!r}; give them different names.")
        found[name] = layer if isinstance(layer, Layer) else layer.build(shape)
        waiting -= isinstance(layer, Unbuilt)
        if waiting:
            shape = output_shape(found[name], shape)
    return compose.Sequential(found)


def _listed(layers: Any) -> list[Any]:
    if not isinstance(layers, list | tuple) or not layers:
        raise wrong(layers, "layers", "a list such as [keras.Input((4,)), keras.Dense(3)]")
    for position, layer in enumerate(layers):
        if not isinstance(layer, Layer | Unbuilt | InputShape) or (position and isinstance(layer, InputShape)):
            wanted = "a layer such as keras.Dense(3)" if position else "keras.Input(shape) or a layer such as keras.Dense(3)"
            raise ArgumentError(f"layers[{position}] is {described(layer)}; wanted {wanted}.")
    if len(layers) == 1 and isinstance(layers[0], InputShape):
        raise ArgumentError("layers has an input and no layer after it; add a layer.")
    return [*layers]


def _name(layer: Layer | Unbuilt, seen: Counter[str]) -> str:
    options = layer.options if isinstance(layer, Unbuilt) else {}
    if isinstance(options.get("layer"), Unbuilt):
        _name(options["layer"], seen)  # the wrapped layer was made first and has used up its name
    if options.get("name") is not None:
        return str(options["name"])
    name = keras_name(layer if isinstance(layer, Layer) else layer.name)
    number = seen[name]
    seen[name] += 1
    return f"{name}_{number}" if number else name
