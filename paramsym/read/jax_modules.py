"""Flax modules and functions of a tree of tensors, as functions of JAX with names for their tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from paramsym.optional import needed
from paramsym.read.jax_source import JaxSource
from paramsym.verify.readers import steps_of

_COLLECTIONS = ("batch_stats", "params")


def _of_nnx(module: Any, inputs: tuple[Any, ...]) -> JaxSource:
    nnx = sys.modules["flax.nnx"]
    definition, state = nnx.split(module)
    names = []
    for path, leaf in nnx.to_flat_state(state):
        stored = issubclass(getattr(leaf, "type", type(leaf)), nnx.Param | nnx.BatchStat)
        names.append(".".join(steps_of(path)) if stored else "")

    def function(state: Any, *given: Any) -> Any:
        return nnx.merge(definition, state)(*given)

    return JaxSource(type(module).__name__, function, _shapes(state), names, inputs)


def _of_linen(module: Any, inputs: tuple[Any, ...]) -> JaxSource:
    variables, *given = inputs
    return JaxSource(type(module).__name__, module.apply, _shapes(variables), _names(variables), given)


def _of_function(function: Any, inputs: tuple[Any, ...]) -> JaxSource:
    tree, *given = inputs
    return JaxSource(function.__name__, function, _shapes(tree), _names(tree), given)


SOURCES: Mapping[str, Callable[[Any, tuple[Any, ...]], JaxSource]] = {"nnx": _of_nnx, "linen": _of_linen, "function": _of_function}
"""The source of a module or function, by its kind."""


def _shapes(tree: Any) -> Any:
    """Return a tree with shapes in the place of arrays."""
    jax = needed("jax", "from_module")
    return jax.tree_util.tree_map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tree)


def _names(tree: Any) -> list[str]:
    """Return the names of the arrays of a tree in JAX's order, without the names of Flax' collections; others are not stored."""
    jax = needed("jax", "from_module")
    collections = any(name in tree for name in _COLLECTIONS)
    names = []
    for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]:
        steps = [str(getattr(one, "key", getattr(one, "idx", getattr(one, "name", one)))) for one in path]
        names.append(".".join(steps[1:] if steps[0] in _COLLECTIONS else ()) if collections else ".".join(steps))
    return names
