"""Names and shapes of tensors in any source. A framework is recognised by its objects and never imported.

A caller who passes a module has loaded its framework, so only ``sys.modules`` is searched.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, CheckpointError, StructureError
from paramsym.naming import described
from paramsym.verify.packed import Setting, unpacked
from paramsym.verify.stored import Shape, Stored, shape

_DEEPEST = 64  # levels of a tree of parameters; real ones have fewer than ten
_COLLECTIONS = ("batch_stats", "params")


def read(source: Any, setting: Setting | None = None) -> Stored:
    """Return the tensors of a torch or Keras or Flax module, a state dict, a tree of arrays, a safetensors file or folder, or a layer.

    ``setting`` is what a configuration says of quantised weights in files.

    Raises:
        ArgumentError: something without tensors, or a layer in which symbols are left.
        CheckpointError: a file or dictionary that contradicts itself.
    """
    if isinstance(source, Stored):
        return source
    if isinstance(source, Layer):
        return _from_layer(source)
    if isinstance(source, str | os.PathLike):
        from paramsym.verify.safetensors import from_path

        return unpacked(from_path(source), setting)
    if isinstance(source, type):
        raise ArgumentError(f"{source.__name__} is a class; build it first, with its sizes.")
    # Keras comes before torch: on the torch backend its layers are torch modules, too, whose parameters have other names.
    if hasattr(source, "trainable_weights") and isinstance(getattr(source, "weights", None), list):
        return from_keras(source)
    if hasattr(source, "named_parameters") and hasattr(source, "named_buffers"):
        return unpacked(from_torch(source))
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None and isinstance(source, nnx.Module | nnx.State):
        return from_nnx(source, nnx)
    if isinstance(source, Mapping):
        return unpacked(from_tree(source))
    wanted = "wanted a torch, Keras or Flax module, a state dict, {name: shape}, a safetensors file or a folder of them, or a layer."
    if isinstance(source, list | tuple | Iterator):
        wanted = "tensors are compared by name: make a dictionary of the pairs, as in dict(module.named_parameters())."
    raise ArgumentError(f"there are no tensors in {described(source)}; {wanted}")


def _from_layer(layer: Layer) -> Stored:
    entries = [entry for entry in layer.entries() if entry.tensor.persistent or not entry.tensor.buffer]
    shapes: dict[str, Shape] = {}
    for entry in entries:
        if not all(isinstance(extent, int) for extent in entry.tensor.sizes):
            raise ArgumentError(f"{layer!r:.80} still has symbols; put its sizes in with .at(...) before the comparison.")
        shapes[entry.name] = shape(entry.tensor.sizes, entry.name)
    buffers = frozenset(entry.name for entry in entries if entry.tensor.buffer)
    return Stored(shapes, f"the layer {type(layer).__name__}", dict(layer.tied), buffers, complete=True, names_aliases=True, kinds=True)


def from_torch(module: Any) -> Stored:
    """Read a ``torch.nn.Module``: its parameters, its persistent buffers, and which names are one tensor."""
    try:
        persistent = set(module.state_dict())
    except RecursionError:
        raise StructureError(f"the module {type(module).__name__} contains itself; a module cannot be its own part.") from None
    parameters = dict(module.named_parameters(remove_duplicate=False))
    buffers = {name: tensor for name, tensor in module.named_buffers(remove_duplicate=False) if name in persistent}
    tensors = {**parameters, **buffers}
    for name, tensor in tensors.items():
        if type(tensor).__name__.startswith("Uninitialized"):
            raise ArgumentError(f"{name!r} has no shape yet; run the lazy module once before the comparison.")
    return Stored(
        {name: _shape_of(tensor, name) for name, tensor in tensors.items()},
        f"the module {type(module).__name__}",
        _second_names({name: id(tensor) for name, tensor in tensors.items()}),
        frozenset(buffers),
        complete=True,
        names_aliases=True,
        kinds=True,
        dtypes={name: str(getattr(tensor, "dtype", "")) for name, tensor in tensors.items()},
    )


def _second_names(keys: Mapping[str, object]) -> dict[str, str]:
    """Return ``{name: the first name of the same key}`` for every further name of a key."""
    firsts: dict[object, str] = {}
    return {name: first for name, key in keys.items() if (first := firsts.setdefault(key, name)) != name}


def from_keras(layer: Any) -> Stored:
    """Read a built Keras layer or model, in the order of its ``weights``; weights that are not trained count as buffers.

    Names are the variables' paths without the layer's own name, with dots.
    """
    trained = {id(variable) for variable in layer.trainable_weights}
    found: dict[str, Shape] = {}
    buffers = set()
    paths = [str(getattr(variable, "path", variable.name)).split("/") for variable in layer.weights]
    # A layer's own path comes first in those of its variables; a functional model's variables begin with the names of its layers.
    path_of_layer = str(getattr(layer, "path", None) or layer.name).split("/")
    own = len(path_of_layer) if all(path[: len(path_of_layer)] == path_of_layer for path in paths) else 0
    for path, variable in zip(paths, layer.weights, strict=True):
        name = ".".join(path[own:])
        if name in found:
            raise CheckpointError(f"the Keras layer {layer.name!r} has two weights named {name!r}; give its layers different names.")
        found[name] = _shape_of(variable, name)
        if id(variable) not in trained:
            buffers.add(name)
    if not found and not getattr(layer, "built", True):
        raise ArgumentError(f"the Keras layer {layer.name!r} has no weights yet; build it with layer.build(input_shape) first.")
    return Stored(found, f"the Keras layer {layer.name!r}", {}, frozenset(buffers), complete=True)


def from_nnx(module: Any, nnx: Any) -> Stored:
    """Read a Flax NNX module or its state: its parameters and its batch statistics, without random keys and counters."""
    found: dict[str, Shape] = {}
    buffers = set()
    state = nnx.state(module) if isinstance(module, nnx.Module) else module
    for path, leaf in nnx.to_flat_state(state):
        kind = getattr(leaf, "type", type(leaf))
        if not issubclass(kind, nnx.Param | nnx.BatchStat):
            continue
        name = ".".join(steps_of(path))
        found[name] = _shape_of(leaf, name)
        if issubclass(kind, nnx.BatchStat):
            buffers.add(name)
    return Stored(found, f"the module {type(module).__name__}", {}, frozenset(buffers), complete=True, kinds=True)


def steps_of(path: tuple[Any, ...]) -> Iterator[str]:
    """Yield the steps of a path; keys of an inner dictionary may be paths."""
    for step in path:
        yield from steps_of(step) if isinstance(step, tuple) else [str(step)]


def from_tree(tree: Mapping[Any, Any]) -> Stored:
    """Read ``{name: shape}``, a state dict, or a tree of arrays such as Flax's ``{"params": ..., "batch_stats": ...}``.

    The names of collections are left off; the steps of a path are joined with dots, and so are names with slashes in Flax' collections.
    """
    collections = any(name in tree for name in _COLLECTIONS) and all(isinstance(value, Mapping | list) for value in tree.values())
    leaves: dict[str, Any] = {}
    buffers = set()
    for key, value in tree.items():
        if collections and key not in _COLLECTIONS:
            continue
        for path, leaf in _leaves(value, "" if collections else str(key), 0):
            name = path.replace("/", ".") if collections else path
            if name in leaves:
                raise CheckpointError(f"the name {name!r} occurs twice in the tree.")
            leaves[name] = leaf
            if collections and key != "params":
                buffers.add(name)
    try:
        found = {name: _shape_of(leaf, name) for name, leaf in leaves.items()}
    except CheckpointError as error:
        hint = _hint(tree)
        if not hint:
            raise
        raise CheckpointError(f"{error} {hint}") from None
    dtypes = {name: str(leaf.dtype) for name, leaf in leaves.items() if hasattr(leaf, "dtype")}
    complete = collections and "batch_stats" in tree
    return Stored(found, tied=_one_storage(leaves), buffers=frozenset(buffers), complete=complete, dtypes=dtypes)


def _hint(tree: Mapping[Any, Any]) -> str:
    if {"state", "param_groups"} <= tree.keys():
        return "This is the state of an optimiser; pass that of the model."
    inner = [(key, value) for key, value in tree.items() if isinstance(value, Mapping) and value]
    keys = [f"source[{key!r}]" for key, value in inner if all(hasattr(item, "shape") for item in value.values())]
    return f"This is the state of a training run; pass {' or '.join(keys)}, which contains tensors." if keys else ""


def _leaves(value: Any, name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if depth > _DEEPEST:
        raise CheckpointError(f"the tree is more than {_DEEPEST} levels deep at {name[:80]!r}.")
    inner: Any = None
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list | tuple) and any(hasattr(item, "shape") or isinstance(item, Mapping) for item in value):
        inner = enumerate(value)
    if inner is None:
        yield name, value
        return
    for key, item in inner:
        yield from _leaves(item, f"{name}.{key}" if name else str(key), depth + 1)


def _shape_of(value: Any, name: str) -> Shape:
    return shape(getattr(value, "shape", value), name)


def _one_storage(leaves: Mapping[str, Any]) -> dict[str, str] | None:
    """Return which tensors of a state dict share memory; None if the values do not show it.

    Only whole tensors of one address and one shape count: views of each other, such as the slices of a flat buffer, are not tied.
    """
    if any(not hasattr(tensor, "data_ptr") or getattr(tensor, "is_meta", False) for tensor in leaves.values()):
        return None
    places = {name: (tensor.data_ptr(), tuple(tensor.shape), str(tensor.dtype)) for name, tensor in leaves.items()}
    return _second_names({name: place for name, place in places.items() if place[0]})
