"""``from_module`` for tensors: a live torch, Keras or Flax model as a layer, from its classes and its tensors."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import isroutine
from os import PathLike
from typing import Any

from paramsym.core.layer import Layer
from paramsym.derive.assembling import assembled
from paramsym.derive.observe import is_torch, tensors_of
from paramsym.derive.reading_flax import from_linen, from_nnx
from paramsym.derive.reading_keras import from_keras
from paramsym.derive.reading_torch import from_torch
from paramsym.errors import ArgumentError
from paramsym.naming import described


def from_module(module: Any, variables: Any = None) -> Layer:
    """Return the tensors of a live model as a layer; ``read.module.from_module`` says more.

    Raises:
        ArgumentError: something else, a lazy module without shapes, or one whose state dict contains more than parameters and buffers.
        StructureError: a module that contains itself.
    """
    if isinstance(module, type):
        raise ArgumentError(f"{module.__name__} is a class; build it first, with its sizes.")
    if is_torch(module):
        return from_torch(module)
    if hasattr(module, "trainable_weights") and isinstance(getattr(module, "weights", None), list):
        return from_keras(module)
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None and isinstance(module, nnx.Module):
        return from_nnx(module, nnx)
    linen = sys.modules.get("flax.linen")
    if linen is not None and isinstance(module, linen.Module):
        if variables is None:
            raise ArgumentError(
                f"a linen module such as {type(module).__name__} contains no parameters; give them as well:"
                " from_module(module, jax.eval_shape(module.init, key, *inputs))."
            )
        return from_linen(variables)
    if isinstance(module, Mapping):
        return assembled(tensors_of(module), {})
    wanted = "wanted one of torch, Keras or Flax, or a mapping of names to shapes"
    raise ArgumentError(f"{described(module)} is not a module; {wanted}.{_advice(module)}")


def _advice(thing: Any) -> str:
    """Return which function reads something that is no module."""
    if isinstance(thing, str | PathLike):
        return " A name or a file is read by ps.load."
    if hasattr(thing, "graph_module") and callable(getattr(thing, "module", None)):  # an exported program of torch
        return " It has one: from_module(program.module())."
    if isroutine(thing):
        return " A function that builds a module is read by ps.derive, one of JAX together with its tensors: from_module(function, tree)."
    return ""
