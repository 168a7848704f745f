"""``from_module``: a live torch, Keras or Flax model as a layer of this library, from its classes and its tensors."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paramsym.core.compose import Block
from paramsym.core.layer import Layer
from paramsym.core.tied import Tied
from paramsym.derive.levels import Held, Level
from paramsym.derive.observe import Seen, is_torch, tensors_of
from paramsym.errors import ArgumentError, StructureError
from paramsym.layers.parameter import Parameter
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
        from paramsym.derive.reading_torch import from_torch

        return from_torch(module)
    if hasattr(module, "trainable_weights") and isinstance(getattr(module, "weights", None), list):
        from paramsym.derive.reading_keras import from_keras

        return from_keras(module)
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None and isinstance(module, nnx.Module):
        from paramsym.derive.reading_flax import from_nnx

        return from_nnx(module, nnx)
    linen = sys.modules.get("flax.linen")
    if linen is not None and isinstance(module, linen.Module):
        if variables is None:
            raise ArgumentError(
                f"a linen module such as {type(module).__name__} contains no parameters; give them as well:"
                " from_module(module, jax.eval_shape(module.init, key, *inputs))."
            )
        from paramsym.derive.reading_flax import from_linen

        return from_linen(variables)
    if isinstance(module, Mapping):
        return assembled(tensors_of(module), {})
    raise ArgumentError(f"{described(module)} is not a module; wanted one of torch, Keras or Flax, or a mapping of names to shapes.")


def assembled(seen: Sequence[Seen], known: Mapping[str, Layer]) -> Layer:
    """Return tensors as a layer; those below a path in ``known`` become the known layer."""
    tree: dict[str, Any] = {}
    for tensor in seen:
        steps = tensor.name.split(".")
        place, path = tree, ""
        for position, step in enumerate(steps):
            path = f"{path}.{step}" if path else step
            if path in known and position < len(steps) - 1:
                place[step] = known[path]
                break
            if position == len(steps) - 1:
                place[step] = single(tensor, step)
            else:
                place = place.setdefault(step, {})
                if not isinstance(place, dict):
                    raise StructureError(f"{path!r} is a tensor and has other tensors below it; no layer can hold both.")
    return tied(_nested(known.get("", tree)), seen)


def _nested(tree: Any) -> Layer:
    if isinstance(tree, Layer):
        return tree
    items = [(name, inner if isinstance(inner, Layer) else _nested(inner)) for name, inner in tree.items()]
    return levelled([("" if is_single(layer) else name, layer) for name, layer in items])


def levelled(items: Iterable[tuple[str, Layer]]) -> Layer:
    """Return named layers as a block, or as a level if some have no name."""
    listed = tuple(items)
    if all(name for name, _ in listed):
        return Block(dict(listed))
    return Level(listed)


def single(tensor: Seen, name: str) -> Layer:
    """Return one tensor as a layer: a parameter, or a buffer."""
    if tensor.kind == "parameter" and 0 not in tensor.shape:
        return Parameter(tensor.shape, name, role="bias" if name.startswith("bias") else "weight", frozen=not tensor.trainable)
    return Held(name, tensor.shape, tensor.kind, frozen=tensor.kind == "parameter" and not tensor.trainable)


def is_single(layer: Layer) -> bool:
    """Whether a layer is one tensor with its own name."""
    return isinstance(layer, Parameter | Held)


def tied(layer: Layer, seen: Iterable[Seen]) -> Layer:
    """Return the layer with the found ties."""
    ties = {tensor.name: tensor.alias_of for tensor in seen if tensor.alias_of}
    return Tied(layer, ties) if ties else layer


def holds_what_was_seen(layer: Layer, seen: Sequence[Seen], *, ordered: bool = True) -> bool:
    """Whether a layer has exactly the found tensors: names, shapes, kinds, frozen ones, ties; with ``ordered`` also the order."""
    ours = [
        (e.name, e.tensor.sizes, e.tensor.buffer, e.tensor.persistent, e.tensor.trainable and not e.tensor.buffer, e.alias_of)
        for e in layer.entries()
    ]
    theirs = [
        (
            s.name,
            s.shape,
            s.kind != "parameter",
            s.kind != "hidden",
            s.trainable and s.kind == "parameter",
            s.alias_of,
        )
        for s in seen
    ]
    return ours == theirs if ordered else sorted(ours) == sorted(theirs)
