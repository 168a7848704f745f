"""A torch module as a layer: class by class, with every class checked against the module's tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from itertools import groupby
from typing import Any

import paramsym
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer
from paramsym.derive.assembling import holds_what_was_seen, is_single, levelled, single, tied
from paramsym.derive.observe import Seen, shape_of, tensors_of, torch_tensors
from paramsym.errors import ArgumentError, ParamsymError

_MANY = 2  # the fewest equal copies that are written as a repeat


def from_torch(module: Any) -> Layer:
    """Return a torch module as a layer."""
    seen = tensors_of(module)
    _check_state(module, seen)
    layer = tied(_read(module, {}), seen)
    if not holds_what_was_seen(layer, seen):
        raise ArgumentError(f"{type(module).__name__} cannot be written as a layer: its tensors have names that contradict each other.")
    return layer


def _check_state(module: Any, seen: tuple[Seen, ...]) -> None:
    """Refuse a module whose state dict has other names than its parameters and buffers: packed or sharded weights."""
    try:
        stated = set(module.state_dict())
    except Exception as error:  # noqa: BLE001 - a wrapper's own code, which may fail in any way
        message = f"the state dict of {type(module).__name__} cannot be read ({type(error).__name__}: {error}); gather or unpack it first."
        raise ArgumentError(message) from None
    found = {tensor.name for tensor in seen if tensor.kind != "hidden"}
    differing = sorted(stated ^ found)
    if differing:
        raise ArgumentError(
            f"the state dict of {type(module).__name__} does not contain its parameters and buffers unchanged ({differing[0]!r})."
            " Read a quantised or sharded module before it is converted or wrapped."
        )


def _read(module: Any, known: dict[int, Layer]) -> Layer:
    """Return one module; a module that occurs again is the same layer."""
    if id(module) not in known:
        made = _of_class(module)
        known[id(module)] = made if made is not None else _held(module, known)
    return known[id(module)]


def _of_class(module: Any) -> Layer | None:
    """Return the layer for a class of torch.nn if it stores exactly the module's tensors."""
    cls = type(module)
    if not cls.__module__.startswith("torch.nn.modules") or cls.__name__ in _CONTAINERS:
        return None
    ours = getattr(paramsym, _RENAMED.get(cls.__name__, cls.__name__), None)
    if not isinstance(ours, type) or not issubclass(ours, Layer):
        return None
    seen = tensors_of(module)
    try:
        layer = ours(**_arguments(module, ours))
        layer = _frozen(layer, seen)
        return layer if holds_what_was_seen(layer, seen) else None
    except (ParamsymError, AttributeError, TypeError):
        return None


_RENAMED = {"NonDynamicallyQuantizableLinear": "Dense"}
_CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Module"})


def _arguments(module: Any, ours: type[Layer]) -> dict[str, Any]:
    """Return our constructor's arguments, read from torch's attributes."""
    found = {}
    special = _SPECIAL.get(type(module).__name__, {})
    signature = inspect.signature(type(module).__init__).parameters
    stated = {*signature, *(vars(module) if "args" in signature else ())}  # recurrent layers pass all arguments to their base class
    for field in fields(ours):  # type: ignore[arg-type]
        if field.name in special:
            found[field.name] = special[field.name](module)
        elif field.name == "bias" and "bias" in stated and not isinstance(getattr(module, "bias", None), bool):
            held = {name.rpartition(".")[2] for name, _, _ in torch_tensors(module)}
            if held and ("weight" in held or not hasattr(module, "affine")):
                found["bias"] = any(name.startswith("bias") for name in held)
        elif field.name in stated and hasattr(module, field.name):
            found[field.name] = _plain(getattr(module, field.name), field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise AttributeError(field.name)
    return found


_PER_AXIS = frozenset({"kernel_size", "stride", "padding", "dilation", "output_padding"})


def _plain(value: Any, name: str) -> Any:
    """Return the shortest argument for an attribute: torch repeats one number for every axis."""
    if isinstance(value, tuple | list):
        alike = len(set(value)) == 1 and (name in _PER_AXIS or (name == "normalized_shape" and len(value) == 1))
        return value[0] if alike else tuple(value)
    return value


def _attention(name: str) -> Callable[[Any], Any]:
    return lambda module: getattr(module.self_attn, name)


def _alike(module: Any) -> Layer:
    """Return the block of a stack, whose blocks must all be equal."""
    blocks = {_read(inner, {}) for inner in module.layers}
    if len(blocks) != 1:
        raise AttributeError("the blocks differ")
    return blocks.pop()


def _width_of_scores(module: Any) -> int:
    """Return the width from which a loss computes its scores, unless it is for several losses, or computes them in chunks."""
    if module.out_features or module.options is not None:
        raise AttributeError("several losses at once, or options of the kernel")
    return int(module.linear.in_features)


_BLOCK: Mapping[str, Callable[[Any], Any]] = {
    "d_model": _attention("embed_dim"),
    "nhead": _attention("num_heads"),
    "dim_feedforward": lambda module: module.linear1.out_features,
    "dropout": lambda module: module.dropout.p,
    "batch_first": _attention("batch_first"),
    "layer_norm_eps": lambda module: module.norm1.eps,
    "bias": lambda module: module.linear1.bias is not None,
    "activation": lambda module: getattr(module.activation, "__name__", type(module.activation).__name__.lower()),
}
_POOL: Mapping[str, Callable[[Any], Any]] = {"stride": lambda module: None if module.stride == module.kernel_size else module.stride}
_SPECIAL: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "MultiheadAttention": {
        "bias": lambda module: module.in_proj_bias is not None,
        "add_bias_kv": lambda module: module.bias_k is not None,
        "kdim": lambda module: None if module.kdim == module.embed_dim else module.kdim,
        "vdim": lambda module: None if module.vdim == module.embed_dim else module.vdim,
    },
    "TransformerEncoderLayer": _BLOCK,
    "TransformerDecoderLayer": _BLOCK,
    "TransformerEncoder": {"encoder_layer": _alike, "norm": lambda module: None if module.norm is None else _read(module.norm, {})},
    "TransformerDecoder": {"decoder_layer": _alike, "norm": lambda module: None if module.norm is None else _read(module.norm, {})},
    "Transformer": {
        "num_encoder_layers": lambda module: len(module.encoder.layers),
        "num_decoder_layers": lambda module: len(module.decoder.layers),
        "dim_feedforward": lambda module: module.encoder.layers[0].linear1.out_features,
        "bias": lambda module: module.encoder.layers[0].linear1.bias is not None,
    },
    "AdaptiveLogSoftmaxWithLoss": {"cutoffs": lambda module: tuple(module.cutoffs[:-1])},
    "LinearCrossEntropyLoss": {
        "in_features": _width_of_scores,
        "bias": lambda module: module.linear.bias is not None,
        "ignore_index": lambda module: -100 if module.ignore_index is None else module.ignore_index,
    },
    "MaxPool1d": _POOL,
    "MaxPool2d": _POOL,
    "MaxPool3d": _POOL,
    "AvgPool2d": _POOL,
    "AvgPool3d": _POOL,
}


def _frozen(layer: Layer, seen: tuple[Seen, ...]) -> Layer:
    """Freeze the parameters that the module does not train."""
    parameters = [tensor for tensor in seen if tensor.kind == "parameter" and not tensor.alias_of]
    still = [tensor.name for tensor in parameters if not tensor.trainable]
    if still and len(still) == len(parameters):
        return layer.freeze()
    for name in still:
        layer = layer.freeze(name)
    return layer


def _held(module: Any, known: dict[int, Layer]) -> Layer:
    """Return a module of another class: its own tensors, then its children."""
    items: list[tuple[str, Layer]] = [("", single(tensor, tensor.name)) for tensor in _own(module)]
    children = [(name, _read(child, known)) for name, child in module._modules.items() if child is not None]
    if type(module).__module__.startswith("torch.nn.modules") and type(module).__name__ == "Sequential" and not items and children:
        return Sequential(dict(children))
    return levelled([*items, *_repeated(children)])


def _own(module: Any) -> Iterator[Seen]:
    for name, tensor in module._parameters.items():
        if tensor is not None:
            yield Seen(name, shape_of(tensor, name), "parameter", bool(tensor.requires_grad))
    for name, tensor in module._buffers.items():
        if tensor is not None:
            yield Seen(name, shape_of(tensor, name), "hidden" if name in module._non_persistent_buffers_set else "buffer")


def _repeated(children: list[tuple[str, Layer]]) -> Iterator[tuple[str, Layer]]:
    """Write consecutive equal numbered children as a repeat; a list of twelve blocks is one block and its number."""
    position = 0
    for layer, group in groupby(children, key=lambda child: child[1]):
        names = [name for name, _ in group]
        numbered = all(name == str(position + offset) for offset, name in enumerate(names))
        if numbered and len(names) >= _MANY and layer.lines and not is_single(layer):
            yield "", Repeat(layer, len(names), start=position)
        else:
            yield from ((name, layer) for name in names)
        position += len(names)
