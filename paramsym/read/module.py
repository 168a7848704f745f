"""``from_module`` as a user calls it: a live torch, Keras or Flax model as a layer, with its tensors and what it computes."""

from __future__ import annotations

import sys
from inspect import isfunction
from typing import Any

from paramsym.core.layer import Layer
from paramsym.derive.observe import is_torch
from paramsym.derive.reading import from_module as with_tensors
from paramsym.errors import ArgumentError
from paramsym.read.computed import Computed, named as class_named, states_all


def from_module(module: Any, *inputs: Any, **named: Any) -> Layer:
    """Return a live model as a layer: the same names, order, shapes, ties, frozen parameters and buffers as in its state dict.

    A class that has a layer here becomes that layer with all its arguments; a class that only contains others becomes a block; a single
    parameter becomes a parameter. ``module`` is of torch, Keras or Flax (NNX), or a mapping of names to shapes; for a linen module pass the
    tree of ``init`` or ``jax.eval_shape`` as well: ``from_module(module, variables)``. A function of JAX is given with the tree of its
    tensors, which is its first argument: ``from_module(function, tree)``. No framework is imported, because the caller has loaded it.

    A module of torch also computes: ``flops``, ``activations``, ``memory``, ``run`` and the other questions answer for its forward pass, in
    its training or evaluation mode, for inputs in letters or numbers. One pass is recorded on torch's meta device when a question
    is asked, so nothing is computed and the weights are not copied. Without ``inputs``, floating-point inputs are tried before indices;
    examples of the inputs, in order or by name, say what the module takes: ``from_module(net, tokens)``,
    ``from_module(net, input_ids=tokens, use_cache=False)``. Arrays outside of tensors, such as positions, are those of the recorded pass.
    A pickle keeps the tensors, and not the module.

    A module of Flax and a function of JAX compute, too, as ``jax.make_jaxpr`` writes them: ``from_module(net)``,
    ``from_module(net, variables, tokens)`` with an example of the inputs, ``from_module(function, tree, tokens)``. So does a model of Keras
    whose backend is torch or JAX, in its evaluation mode.

    Raises:
        ArgumentError: something else, a lazy module without shapes, or one whose state dict contains more than parameters and buffers.
        StructureError: a module that contains itself.

    >>> from_module({"up.weight": (8, 4), "down.weight": (4, 8)}).params
    64

    With torch, ``flops(from_module(net), (B, S))`` is a formula in the batch and the length; docs/how-to/own-module.md shows one.
    """
    if not is_torch(module):
        inputs = (named.pop("variables"), *inputs) if "variables" in named else inputs
        if named:
            raise ArgumentError("example inputs by name are only taken with a module of torch; give them in order.")
        return _of_jax(module, inputs)
    layer = with_tensors(module)
    if not inputs and not named and _is_stated(module) and states_all(layer):
        return layer
    from paramsym.read.torch_source import TorchSource

    source = TorchSource(module, inputs, named)
    return class_named(Computed, source.kind)(layer, source)


def _of_jax(module: Any, inputs: tuple[Any, ...]) -> Layer:
    """Return a module of Flax, or a function of a tree of tensors, with what it computes; anything else with its tensors."""
    nnx, linen = sys.modules.get("flax.nnx"), sys.modules.get("flax.linen")
    plain = isfunction(module) and "jax" in sys.modules and bool(inputs)
    if nnx is not None and isinstance(module, nnx.Module):
        layer, found = with_tensors(module), "nnx"
    elif (linen is not None and isinstance(module, linen.Module) and inputs) or plain:
        layer, found = with_tensors(inputs[0]) if plain else with_tensors(module, inputs[0]), "function" if plain else "linen"
    elif hasattr(module, "trainable_weights") and isinstance(getattr(module, "weights", None), list):
        return _of_keras(module, inputs)
    elif len(inputs) > 1:
        raise ArgumentError("example inputs are only taken with a module of torch or Flax, or a function of JAX.")
    else:
        return with_tensors(module, *inputs)
    if found == "nnx" and not inputs and states_all(layer):
        return layer
    from paramsym.read.jax_modules import SOURCES

    source = SOURCES[found](module, inputs)
    return class_named(Computed, source.kind)(layer, source)


def _of_keras(model: Any, inputs: tuple[Any, ...]) -> Layer:
    """Return a model of Keras with what it computes, if its backend is torch or JAX."""
    from paramsym.read.keras_models import keras_source

    layer = with_tensors(model)
    if not inputs and states_all(layer):
        return layer
    source = keras_source(model, inputs)
    if source is None and inputs:
        raise ArgumentError("example inputs are only taken with a Keras model whose backend is torch or JAX.")
    return layer if source is None else class_named(Computed, source.kind)(layer, source)


def _is_stated(module: Any) -> bool:
    """Whether a module consists of classes of torch.nn alone, without hooks: the layers here state what these compute."""
    return all(type(inner).__module__.startswith("torch.nn.modules") and not _hooked(inner) for inner in module.modules())


def _hooked(module: Any) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)
