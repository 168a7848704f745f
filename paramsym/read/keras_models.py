"""Keras models, read through the backend that is running: as a module of torch, or as a function of JAX."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

from paramsym.derive.observe import tensors_of
from paramsym.optional import needed
from paramsym.read.computed import Source


def keras_source(model: Any, inputs: tuple[Any, ...]) -> Source | None:
    """Return the source of recordings of a Keras model in evaluation mode; None for a backend other than torch and JAX."""
    backend = sys.modules["keras"].config.backend()
    made = _SOURCES.get(backend)
    if made is None:
        return None
    source = made(model, inputs)
    source.kind = type(model).__name__
    return source


def _of_torch(model: Any, inputs: tuple[Any, ...]) -> Source:
    from paramsym.read.torch_source import TorchSource

    class KerasSource(TorchSource):
        """The source of a model; the layers inside of it are known only there."""

        def part(self, path: str) -> None:
            """Return None: a layer is known only inside the whole."""

    source = KerasSource(_as_module(model), inputs, {})
    source.parameters = _names(model)
    return source


def _of_jax(model: Any, inputs: tuple[Any, ...]) -> Source:
    from paramsym.read.jax_source import JaxSource

    jax = needed("jax", "from_module")
    variables = _variables(model)
    values = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one, _ in variables]
    return JaxSource(type(model).__name__, partial(_outputs, model), values, [name for _, name in variables], inputs)


_SOURCES: dict[str, Callable[[Any, tuple[Any, ...]], Any]] = {"torch": _of_torch, "jax": _of_jax}


def _variables(model: Any) -> list[tuple[Any, str]]:
    """Return the variables with the names under which they are stored; the states of random numbers have none."""
    names = {id(weight): tensor.name for weight, tensor in zip(model.weights, tensors_of(model), strict=True)}
    return [(one, names.get(id(one), "")) for one in (*model.trainable_variables, *model.non_trainable_variables)]


def _outputs(model: Any, values: Any, *given: Any) -> Any:
    """Return what a model gives for these values of its variables; a functional model takes several inputs as a list."""
    number = len(model.trainable_variables)
    inputs = [list(given)] if len(getattr(model, "inputs", None) or ()) > 1 else given
    return model.stateless_call(values[:number], values[number:], *inputs)[0]


def _names(model: Any) -> tuple[str, ...]:
    listed = inspect.signature(model.call).parameters.values()
    plain = [one.name for one in listed if one.kind is one.POSITIONAL_OR_KEYWORD]
    return tuple(name for name in plain if name not in {"training", "mask"})


def _as_module(model: Any) -> Any:
    """Return a module of torch with the model's variables under their names, which computes what the model computes."""
    torch, keras = needed("torch", "from_module"), sys.modules["keras"]

    class Part(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        """The variables of one layer; it is called when the layer is, so that operators are recorded under the layer's name."""

        def forward(self, call: Callable[[], Any]) -> Any:
            return call()

    class Whole(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def forward(self, *given: Any) -> Any:
            values = [attrgetter(name)(self) if name else one.value for one, name in variables]
            with _placed(torch.device("meta")), _calls(keras.Layer, parts):
                return _outputs(model, values, *given)

    variables, parts = _variables(model), dict[int, Any]()
    whole = type(type(model).__name__, (Whole,), {})()
    kinds = {id(one): (layer, type(layer).__name__) for layer in _layers(model) for one in _own(layer)}
    for one, name in variables:
        place, (*steps, last) = whole, name.split(".")
        for step in steps:
            if step not in place._modules:
                place.add_module(step, Part())
            place = place._modules[step]
        if steps and id(one) in kinds:
            layer, kind = kinds[id(one)]
            place.__class__ = type(kind, (Part,), {})
            parts[id(layer)] = place
        tensor = one.value.detach()
        if name and one.trainable:
            place.register_parameter(last, torch.nn.Parameter(tensor))
        elif name:
            place.register_buffer(last, tensor)
    return whole


def _layers(layer: Any) -> Iterator[Any]:
    yield layer
    for inner in getattr(layer, "_layers", ()):
        yield from _layers(inner)


def _own(layer: Any) -> tuple[Any, ...]:
    return (*getattr(layer, "_trainable_variables", ()), *getattr(layer, "_non_trainable_variables", ()))


@contextmanager
def _placed(device: Any) -> Generator[None]:
    """Let Keras take arrays on a device as they are; ``keras.device("meta")`` makes new arrays of them, because it compares with a name.

    Variables of other models that wait for their first values, as after a pass that failed, go on waiting: this device has no values.
    """
    state = import_module("keras.src.backend.common.global_state")
    inside = {"torch_device": device, "uninitialized_variables": []}
    before = {name: state.get_global_attribute(name, None) for name in inside}
    for name, value in inside.items():
        state.set_global_attribute(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            state.set_global_attribute(name, value)


@contextmanager
def _calls(cls: Any, parts: dict[int, Any]) -> Generator[None]:
    """Let the calls of layers go through the modules that have their variables."""
    before = cls.__call__

    def called(layer: Any, *args: Any, **kwargs: Any) -> Any:
        part, call = parts.get(id(layer)), partial(before, layer, *args, **kwargs)
        return call() if part is None else part(call)

    cls.__call__ = called
    try:
        yield
    finally:
        cls.__call__ = before
