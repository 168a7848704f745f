"""Splitting an input shape into batch, channels and spatial axes, and joining the output's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from paramsym import program as ops
from paramsym.algebra.size import Dim, Shape, text, within
from paramsym.errors import RankError, ShapeError

if TYPE_CHECKING:
    from paramsym.program import Value

DataFormat: TypeAlias = Literal["channels_first", "channels_last"]
"""The axis of the channels, as the field of a layer."""
_SPATIAL = {0: (), 1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}
_LAYOUTS = {rank: (" ".join(("batch", "channels", *names)), " ".join(("batch", *names, "channels"))) for rank, names in _SPATIAL.items()}
"""The words for all axes, with the channels first and last."""
_TO_FIRST = {rank: f"{last} -> {first}" for rank, (first, last) in _LAYOUTS.items()}
_TO_LAST = {rank: f"{first} -> {last}" for rank, (first, last) in _LAYOUTS.items()}


def spatial(
    x: Value, rank: int, data_format: DataFormat = "channels_first", *, channels: Dim | None = None, batched: bool | None = None
) -> tuple[Value, Callable[[Value], Value]]:
    """Return an input as (batch, channels, *spatial), and a function that converts a result of this form to the form of the input.

    ``batched`` says whether a batch axis is required; None allows both if the channels come first, as in torch.

    Raises:
        ShapeError: a wrong number of axes or channels.
    """
    sizes = {} if channels is None else {"channels": channels}
    first, last = _LAYOUTS[rank]
    if data_format == "channels_last":
        x, _ = ops.axes(x, last, **sizes)
        return ops.rearrange(x, _TO_FIRST[rank]), lambda y: ops.rearrange(y, _TO_LAST[rank])
    return ops.axes(x, first if batched else f"[batch]{first.removeprefix('batch')}", **sizes)


def named(x: Value, rank: int) -> Value:
    """Name the axes of an input from the last one: spatial axes, channels, then all axes before them, with the batch first.

    Raises:
        RankError: fewer axes than spatial ones and channels.
    """
    names = ("channels", *_SPATIAL[rank])
    check_rank(x, x.rank >= len(names), f"at least {len(names)} axes, (..., {', '.join(names)})")
    lead = ("batch", *(f"lead{n}" for n in range(x.rank - len(names) - 1)))[: x.rank - len(names)]
    return ops.axes(x, " ".join((*lead, *names)))[0]


def per_channel(x: Value, rank: int) -> Value:
    """Reshape an array over channels for (batch, channels, *spatial)."""
    return ops.rearrange(x, "c -> c" + " ()" * rank)


def in_front(kernel: Value, rank: int, channels: str) -> Value:
    """Return a kernel (*extents, channels) with its channels in front, as in torch; ``channels`` is their order, such as "i o -> o i"."""
    extents = " ".join("xyz"[:rank])
    stored, _, wanted = channels.partition(" -> ")
    return ops.rearrange(kernel, f"{extents} {stored} -> {wanted} {extents}")


def widened(x: Value) -> Value:
    """Return an array with one more axis, of one entry, at its end."""
    return ops.rearrange(x, "... -> ... ()")


def check_rank(x: Value, fits: bool, wanted: str) -> None:
    """Raise ``RankError`` if the number of axes does not fit."""
    if not fits:
        raise RankError(f"wanted {wanted}; found {x.rank}, {text(x.sizes)}.")


def not_empty(shape: Shape, where: str = "an axis") -> None:
    """Raise ``ShapeError`` for an extent of zero that the framework refuses."""
    if not all(extent is None or within(1, extent) for extent in shape):
        raise ShapeError(f"{where} of {text(shape)} is empty; only a batch may be empty.")


def axis_of(dim: int, input_shape: Shape, where: str = "dim") -> int:
    """Return an axis number counted from the front.

    Raises:
        ShapeError: an axis that the shape does not have.
    """
    rank = len(input_shape)
    if not -rank <= dim < rank:
        raise ShapeError(f"{where} is {dim}; {text(input_shape)} has axes {-rank} to {rank - 1}.")
    return dim % rank
