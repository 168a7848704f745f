"""Results without values: those that torch lays out in another way on the meta device, and those that are known from an equal call.

Torch derives the layout of many results in Python: a batch norm takes a millisecond. A model calls an operator with the same shapes in
each of its blocks, so that a layout is derived once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def _fused_attention(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the result of a fused attention, whose kernels lay it out as the queries; None for other ranks."""
    query, value = arguments["query"], arguments["value"]
    if query.dim() != 4 or query.device.type != "meta":
        return None
    made = torch.empty_like(query.detach().transpose(1, 2)).transpose(1, 2)
    if query.shape[-1] != value.shape[-1]:
        made = made[..., :1].expand(*query.shape[:-1], value.shape[-1]).clone(memory_format=torch.contiguous_format)
    return made.requires_grad_() if query.requires_grad and torch.is_grad_enabled() else made


def _grouped_product(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the result of rows times the matrix of their group; the kernel itself has no shape for every number format."""
    rows, matrices = arguments["self"], arguments["mat2"]
    return torch.empty(*rows.shape[:-1], matrices.shape[-1], dtype=rows.dtype, device="meta")


def _largest(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return largest entries without values, and positions with values: entry k is at position k.

    Positions that are sent to experts are then sent to the first k, as many as in any routing, so the work is that of every routing.
    """
    x, k = arguments["self"], arguments["k"]
    if x.device.type != "meta":
        return None
    axis = arguments["dim"] % max(x.dim(), 1)
    shape = [k if n == axis else size for n, size in enumerate(x.shape)]
    ladder = [k if n == axis else 1 for n in range(x.dim())]
    return torch.empty(shape, dtype=x.dtype, device="meta"), torch.arange(k).view(ladder).expand(shape).clone()


def _histogram(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return how often each whole number occurs; the kernel for CPUs takes no whole numbers."""
    x, bins = arguments["self"], arguments["bins"]
    if x.device.type == "meta":
        return torch.empty(bins, dtype=x.dtype, device="meta")
    return torch.bincount(x.flatten().long(), minlength=bins)[:bins].to(x.dtype)


def _recurrent(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the states of all steps and the last ones of every level; torch itself takes every step on the meta device."""
    if "input" not in arguments or arguments["input"].device.type != "meta" or arguments["input"].dim() != 3:
        return None
    x, hx = arguments["input"], arguments["hx"]
    states = hx if isinstance(hx, list | tuple) else (hx,)
    steps, batch = x.shape[:2][:: -1 if arguments["batch_first"] else 1]
    wanted = torch.is_grad_enabled() and any(one.requires_grad for one in (x, *states, *arguments["params"]))
    width = states[0].shape[-1] * (2 if arguments["bidirectional"] else 1)
    output = torch.empty(steps, batch, width, dtype=x.dtype, device="meta", requires_grad=wanted)
    last = (torch.empty(one.shape, dtype=x.dtype, device="meta", requires_grad=wanted) for one in states)
    return (output.transpose(0, 1) if arguments["batch_first"] else output, *last)


RESULTS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "scaled_dot_product_attention": _fused_attention,
    "_grouped_mm": _grouped_product,
    "topk": _largest,
    "histc": _histogram,
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), _recurrent),
}
"""The results by operator; None if torch itself computes the result."""


_MOST_LAYOUTS = 1 << 14
_layouts: dict[Any, list[Any]] = {}


def laid_out(torch: Any, func: Any, arguments: Mapping[str, Any], *, graded: bool) -> Any:
    """Return the result of an operator on tensors without values, from an equal call if there was one.

    A ``graded`` function is one that torch has not split into operators; its result is part of the graph of gradients, and is computed.
    """
    taken = [one for one in arguments.values() if isinstance(one, torch.Tensor)]
    in_graph = graded and torch.is_grad_enabled() and any(one.requires_grad for one in taken)
    try:
        known = taken and not in_graph and _is_fresh(func)
        key = (func, *(_described(torch, pair) for pair in arguments.items())) if known else None
    except TypeError:  # an argument that is no number, word or tensor without values
        key = None
    if key in _layouts:
        made = tuple(torch.empty_strided(shape, stride, dtype=dtype, device="meta") for shape, stride, dtype in _layouts[key])
        return made if len(func._schema.returns) > 1 else made[0]
    result = func(**arguments)
    made = result if isinstance(result, tuple) else (result,)
    plain = all(isinstance(one, torch.Tensor) and one.device.type == "meta" for one in made)
    if key is not None and plain and not any(one is other for one in made for other in taken):
        if len(_layouts) >= _MOST_LAYOUTS:
            _layouts.clear()
        _layouts[key] = [(one.shape, one.stride(), one.dtype) for one in made]
    return result


def _is_fresh(func: Any) -> bool:
    """Whether an operator returns new tensors, and no views."""
    schema = getattr(func, "_schema", None)
    return schema is not None and all(str(one.type) == "Tensor" and one.alias_info is None for one in schema.returns)


def _described(torch: Any, one: Any) -> Any:
    """Return what decides the layout of a result: of a tensor its shape, strides and number format, of other arguments their value.

    Raises:
        TypeError: an argument of another kind, or a tensor with values.
    """
    if isinstance(one, torch.Tensor) and one.device.type == "meta":
        return torch.Tensor, one.shape, one.stride(), one.dtype
    if isinstance(one, tuple | list):
        return tuple(_described(torch, each) for each in one)
    if one is None or type(one) in {bool, int, float, str, torch.dtype, torch.device, torch.layout, torch.memory_format}:
        return type(one), one
    raise TypeError


def without_values(torch: Any, tensor: Any) -> Any:
    """Return a tensor without values, laid out as another one."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
