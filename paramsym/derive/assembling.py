"""Tensors that were seen, assembled to a layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paramsym.core.compose import Block
from paramsym.core.layer import Layer
from paramsym.core.tied import Tied
from paramsym.derive.levels import Held, Level
from paramsym.derive.observe import Seen
from paramsym.errors import StructureError
from paramsym.layers.parameter import Parameter


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
