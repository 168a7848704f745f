"""Flax models as layers: NNX modules by their classes, linen trees by linen's names.

Flax sorts its trees by name, so their order has no meaning; the tensors of a layer are in the order of the layer here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import paramsym
from paramsym.core.layer import Layer
from paramsym.derive.assembling import assembled, holds_what_was_seen
from paramsym.derive.observe import Seen, tensors_of
from paramsym.errors import ArgumentError, ParamsymError

_DIALECT: dict[str, Any] = {"dialect": "flax"}


def from_nnx(module: Any, nnx: Any) -> Layer:
    """Return an NNX module as a layer."""
    seen = tensors_of(module)
    known: dict[str, Layer] = {}
    for path, inner in nnx.iter_modules(module):
        at = ".".join(map(str, path))
        below = tuple(_under(at, seen))
        if type(inner).__module__.startswith("flax.nnx") and type(inner).__name__ in _CLASSES:
            made = _made(inner)
            if made is not None and holds_what_was_seen(made, below, ordered=False):
                known[at] = made
    return _checked(assembled(seen, known), seen, type(module).__name__)


def _under(path: str, seen: tuple[Seen, ...]) -> Iterator[Seen]:
    for tensor in seen:
        if not path or tensor.name.startswith(f"{path}."):
            yield Seen(tensor.name[len(path) + 1 :] if path else tensor.name, tensor.shape, tensor.kind, tensor.trainable)


def _made(module: Any) -> Layer | None:
    try:
        return _CLASSES[type(module).__name__](module)
    except (ParamsymError, AttributeError, TypeError, KeyError):
        return None


def _conv(module: Any) -> Layer:
    kernel = tuple(module.kernel_size)
    name = f"Conv{len(kernel)}d"
    made: Layer = getattr(paramsym, name)(
        module.in_features, module.out_features, kernel, groups=module.feature_group_count, bias=module.use_bias, **_DIALECT
    )
    return made


def _transposed(module: Any) -> Layer:
    kernel = tuple(module.kernel_size)
    made: Layer = getattr(paramsym, f"ConvTranspose{len(kernel)}d")(
        module.in_features, module.out_features, kernel, bias=module.use_bias, transpose_kernel=module.transpose_kernel, **_DIALECT
    )
    return made


def _attention(module: Any) -> Layer:
    qk_norm: dict[str, Any] = {"qk_norm": "layer"} if module.normalize_qk else {}
    return paramsym.MultiHeadAttention(
        module.in_features,
        module.num_heads,
        qkv_features=None if module.qkv_features == module.in_features else module.qkv_features,
        output_dim=None if module.out_features == module.in_features else module.out_features,
        bias=module.use_bias,
        **qk_norm,
        **_DIALECT,
    )


def _without_bias(module: Any) -> dict[str, Any]:
    return {**_DIALECT} if module.use_bias else {"bias": False, **_DIALECT}


def _flags(module: Any) -> dict[str, Any]:
    """Return whether a normalisation with a scale has a bias."""
    return {"bias": module.use_bias, **_DIALECT} if module.use_scale else {"elementwise_affine": False, **_DIALECT}


_CLASSES: Mapping[str, Callable[[Any], Layer]] = {
    "Linear": lambda m: paramsym.Dense(m.in_features, m.out_features, bias=m.use_bias, dialect="flax"),
    "LinearGeneral": lambda m: paramsym.HeadProjection(_tuple(m.in_features), _tuple(m.out_features), bias=m.use_bias),
    "LoRALinear": lambda m: paramsym.LoRA(
        paramsym.Dense(m.in_features, m.out_features, bias=m.use_bias, dialect="flax"), m.lora.lora_b.shape[0]
    ),
    "Embed": lambda m: paramsym.Embedding(m.num_embeddings, m.features, dialect="flax"),
    "LayerNorm": lambda m: paramsym.LayerNorm(m.num_features, **_flags(m)),
    "RMSNorm": lambda m: paramsym.RMSNorm(m.num_features, **_DIALECT),
    "GroupNorm": lambda m: paramsym.GroupNorm(m.num_groups, m.num_features, **_without_bias(m)),
    "PReLU": lambda _: paramsym.PReLU(**_DIALECT),
    "Dropout": lambda m: paramsym.Dropout(m.rate),
    "InstanceNorm": lambda m: paramsym.InstanceNorm2d(m.num_features, affine=True, bias=m.use_bias, **_DIALECT),
    "BatchNorm": lambda m: paramsym.BatchNorm2d(m.num_features, bias=m.use_bias, **_DIALECT),
    "Conv": _conv,
    "ConvTranspose": _transposed,
    "MultiHeadAttention": _attention,
    "SimpleCell": lambda m: paramsym.RNNCell(m.in_features, m.hidden_features, dialect="nnx"),
    "OptimizedLSTMCell": lambda m: paramsym.LSTMCell(m.in_features, m.hidden_features, dialect="nnx"),
    "GRUCell": lambda m: paramsym.GRUCell(m.in_features, m.hidden_features, dialect="nnx"),
}
"""The constructor for each class of NNX; a layer with other tensors is then read tensor by tensor."""


def _tuple(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def from_linen(variables: Any) -> Layer:
    """Return the tree of a linen module as a layer; linen's names show the classes, such as ``Dense_0``."""
    seen = tensors_of(variables)
    known: dict[str, Layer] = {}
    for path in dict.fromkeys(above for tensor in seen for above in _above(tensor.name)):
        below = tuple(_under(path, seen))
        made = _guessed(re.sub(r"_\d+$", "", path.rpartition(".")[2]), {tensor.name: tensor.shape for tensor in below})
        if made is not None and path and holds_what_was_seen(made, below, ordered=False):
            known[path] = made
    return _checked(assembled(seen, known), seen, "the linen module")


def _above(name: str) -> Iterator[str]:
    """Yield the paths above a name, the longest last."""
    steps = name.split(".")
    yield from (".".join(steps[:length]) for length in range(1, len(steps)))


def _guessed(kind: str, shapes: Mapping[str, tuple[int, ...]]) -> Layer | None:
    """Return the layer of a kind with these tensors; its sizes follow from the shapes."""
    kernel, bias = shapes.get("kernel", ()), "bias" in shapes
    try:
        if kind == "Dense" and len(kernel) == 2:
            return paramsym.Dense(*kernel, bias=bias, dialect="flax")
        if kind == "Conv" and len(kernel) in {3, 4, 5}:
            return getattr(paramsym, f"Conv{len(kernel) - 2}d")(*kernel[-2:], kernel[:-2], bias=bias, **_DIALECT)
        if kind in {"MultiHeadDotProductAttention", "SelfAttention", "MultiHeadAttention"}:
            width, heads, head = shapes["query.kernel"]
            out = shapes["out.kernel"][-1]
            named: dict[str, Any] = {"qkv_features": heads * head} if heads * head != width else {}
            named |= {"output_dim": out} if out != width else {}
            return paramsym.MultiHeadAttention(width, heads, bias="query.bias" in shapes, **named, **_DIALECT)
        if kind == "Embed":
            rows, width = shapes["embedding"]
            return paramsym.Embedding(rows, width, dialect="flax")
        if kind == "LayerNorm":
            (width,) = shapes["scale"]
            return paramsym.LayerNorm(width, bias=bias, dialect="flax")
        if kind == "RMSNorm":
            (width,) = shapes["scale"]
            return paramsym.RMSNorm(width, dialect="flax")
    except (ParamsymError, TypeError, KeyError, ValueError):
        pass
    return None


def _checked(layer: Layer, seen: tuple[Seen, ...], subject: str) -> Layer:
    if not holds_what_was_seen(layer, seen, ordered=False):
        layer = assembled(seen, {})
    if not holds_what_was_seen(layer, seen, ordered=False):
        raise ArgumentError(f"{subject} cannot be written as a layer: its parameters have contradictory names.")
    return layer
