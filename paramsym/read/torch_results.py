"""Results that torch lays out in another way, or does not give, on the meta device."""

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


def without_values(torch: Any, tensor: Any) -> Any:
    """Return a tensor without values, laid out as another one."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
