"""``from_module``: a live torch, Keras or Flax model as a layer, with its tensors and, for torch, what it computes."""

from __future__ import annotations

from typing import Any

from paramsym.core.layer import Layer
from paramsym.derive.observe import is_torch
from paramsym.derive.reading import from_module as tensors_of
from paramsym.errors import ArgumentError


def from_module(module: Any, *inputs: Any, **named: Any) -> Layer:
    """Return a live model as a layer.

    Raises:
        ArgumentError: something else.
    """
    if not is_torch(module):
        if named or len(inputs) > 1:
            raise ArgumentError("example inputs are taken for modules of torch only.")
        return tensors_of(module, *inputs)
    layer = tensors_of(module)
    if not inputs and not named and _of_torch_nn(module) and _computes(layer):
        return layer
    from paramsym.read.computed import model_class
    from paramsym.read.torch_source import TorchSource

    return model_class(type(module).__name__)(layer, TorchSource(module, inputs, named))


def _of_torch_nn(module: Any) -> bool:
    """Whether a module consists of classes of torch.nn alone, which have layers here."""
    return all(type(inner).__module__.startswith("torch.nn.modules") for inner in module.modules())


def _computes(layer: Layer) -> bool:
    return layer.computes and all(_computes(part.layer) for part in layer.own_parts)
