"""What layers that slide a window share: one number per spatial axis, and how many places a window has."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Integer, floor

from paramsym.errors import ArgumentError, SizeError
from paramsym.size import Count, Dim, canonical


def spread(value: Any, rank: int, where: str) -> tuple[Any, ...]:
    """Return one entry per spatial axis: a tuple as it is, anything else ``rank`` times.

    Raises:
        ArgumentError: a tuple of another length.

    >>> spread(3, 2, "kernel_size"), spread((3, 5), 2, "kernel_size")
    ((3, 3), (3, 5))
    """
    if not isinstance(value, tuple):
        return (value,) * rank
    if len(value) != rank:
        message = f"{where} is {value}, {len(value)} entries; wanted one size or a tuple of {rank}, one per spatial axis."
        raise ArgumentError(message)
    return value


def exceeds_one(values: tuple[Dim, ...]) -> bool:
    """Say whether any known entry is above one; a symbol may still be one."""
    return any(isinstance(value, int) and value > 1 for value in values)


def window_places(length: Dim, kernel: Dim, stride: Dim = 1, padding: Count = 0, dilation: Dim = 1) -> Dim:
    """Return at how many places a window fits: floor((length + 2*padding - dilation*(kernel - 1) - 1)/stride) + 1.

    ``padding`` is what is added on each side. Source: Dumoulin and Visin 2016, "A guide to convolution arithmetic", relationship 6 and
    section 5.1.

    Raises:
        SizeError: where the window is larger than the padded input.

    >>> from paramsym import K, W
    >>> window_places(28, 5, 2), window_places(W, K), window_places(W, 3, 2)
    (12, -K + W + 1, floor(W/2 - 1/2))
    """
    room = length + 2 * padding - dilation * (kernel - 1) - 1
    if isinstance(room, int) and room < 0:
        message = f"a window of {dilation * (kernel - 1) + 1} does not fit into a length of {length + 2 * padding}."
        raise SizeError(message)
    if isinstance(room, int) and isinstance(stride, int):
        return room // stride + 1
    steps: Expr = (room + stride) / (Integer(stride) if isinstance(stride, int) else stride)
    return canonical(floor(steps))
