"""``from_module``: a live torch, Keras or Flax model as a layer, with its tensors and, for torch, what it computes."""

from __future__ import annotations

from typing import Any

from paramsym.core.layer import Layer
from paramsym.derive.observe import is_torch
from paramsym.derive.reading import from_module as tensors_of
from paramsym.errors import ArgumentError
from paramsym.read.computed import model_class, states_all


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
    if not inputs and not named and _is_stated(module) and states_all(layer):
        return layer
    from paramsym.read.torch_source import TorchSource

    source = TorchSource(module, inputs, named)
    return model_class(source.kind)(layer, source)


def _is_stated(module: Any) -> bool:
    """Whether a module consists of classes of torch.nn alone, without hooks: the layers here state what these compute."""
    return all(type(inner).__module__.startswith("torch.nn.modules") and not _hooked(inner) for inner in module.modules())


def _hooked(module: Any) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)
