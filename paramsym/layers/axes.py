"""Taking an input shape apart: batch, channels, spatial axes; and putting the output's together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from paramsym.errors import RankError, ShapeError
from paramsym.extents import differ, negative
from paramsym.layer import Layer
from paramsym.program import Value, axes, rearrange
from paramsym.size import Count, Dim, Shape, canonical, text

DataFormat: TypeAlias = Literal["channels_first", "channels_last"]
"""Where the channels stand, as a field of a layer says it."""
_SPATIAL = {0: (), 1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}


class Pointwise(Layer):
    """What works entry by entry: the output has the input's shape."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape."""
        return input_shape

    def views(self) -> tuple[Any, ...]:
        """Every output entry sees its own input entry."""
        return ()


def spatial(
    x: Value, rank: int, data_format: DataFormat = "channels_first", *, channels: Dim | None = None, batched: bool | None = None
) -> tuple[Value, Callable[[Value], Value]]:
    """Return an input as (batch, channels, *spatial), and the function that puts a result of that form back into the form of the input.

    ``batched`` says whether there has to be a batch axis; None allows both where the channels come first, as torch does.

    Raises:
        ShapeError: another number of axes, or of channels.
    """
    names = " ".join(_SPATIAL[rank])
    sizes = {} if channels is None else {"channels": channels}
    if data_format == "channels_last":
        x, _ = axes(x, f"batch {names} channels", **sizes)
        first, last = f"batch channels {names}", f"batch {names} channels"
        return rearrange(x, f"{last} -> {first}"), lambda y: rearrange(y, f"{first} -> {last}")
    return axes(x, f"{'batch' if batched else '[batch]'} channels {names}", **sizes)


def named(x: Value, rank: int) -> Value:
    """Name the axes of an input from the last one on: spatial axes, channels; what stands in front of them, the batch first.

    Raises:
        RankError: fewer axes than spatial ones and channels.
    """
    names = ("channels", *_SPATIAL[rank])
    if x.rank < len(names):
        message = f"wanted at least {len(names)} axes, (..., {', '.join(names)}); found {x.rank}, {text(x.sizes)}."
        raise RankError(message)
    lead = ("batch", *(f"lead{n}" for n in range(x.rank - len(names) - 1)))[: x.rank - len(names)]
    return axes(x, " ".join((*lead, *names)))[0]


def per_channel(x: Value, rank: int) -> Value:
    """Return an array over channels so that it fits (batch, channels, *spatial)."""
    return rearrange(x, "c -> c" + " ()" * rank)


def in_front(kernel: Value, rank: int, channels: str) -> Value:
    """Return a kernel (*extents, channels) with its channels in front, as torch has them; ``channels`` says how, as "i o -> o i"."""
    extents = " ".join("xyz"[:rank])
    stored, _, wanted = channels.partition(" -> ")
    return rearrange(kernel, f"{extents} {stored} -> {wanted} {extents}")


@dataclass(frozen=True)
class Axes:
    """An input shape taken apart. ``batch`` is empty where there is no batch axis."""

    batch: Shape
    channels: Count | None
    extents: tuple[Count | None, ...]
    data_format: DataFormat = "channels_first"

    def each(self, extents: Callable[..., Count], *settings: Sequence[Any]) -> tuple[Count | None, ...]:
        """Apply a function to each known extent, with that axis' entry of every setting; an error names the axis."""
        found: list[Count | None] = []
        for position, (length, *given) in enumerate(zip(self.extents, *settings, strict=True)):
            try:
                found.append(None if length is None else _possible(extents(length, *given), length))
            except ShapeError as error:
                named = _SPATIAL.get(len(self.extents), ())
                message = f"along the {named[position]}, {error}" if len(named) > 1 else str(error)
                raise ShapeError(message) from None
        return tuple(found)

    def giving(self, extents: Sequence[Count | None], channels: Count | None = None) -> Shape:
        """Return the shape with other extents, and other channels where they are given."""
        kept = self.channels if channels is None else channels
        return (*self.batch, *extents, kept) if self.data_format == "channels_last" else (*self.batch, kept, *extents)


def _possible(left: Count, length: Count) -> Count:
    if negative(left):
        message = f"{left} entries are left of {length}."
        raise ShapeError(message)
    return left


def take_apart(
    input_shape: Shape, rank: int, data_format: DataFormat = "channels_first", *, channels: Dim | None = None, batched: bool | None = None
) -> Axes:
    """Take a shape apart into batch, channels and ``rank`` spatial axes.

    ``batched`` says whether there has to be a batch axis; None allows both, as torch does, where the channels come first. A shape without
    one must have just the ``channels`` that are wanted: with others it is taken for a batch that lacks an axis.

    Raises:
        ShapeError: another number of axes, or channels that differ from ``channels``.

    >>> from paramsym import B, C, W
    >>> take_apart((B, C, W, W), 2).extents, take_apart((C, W, W), 2).batch, take_apart((B, W, W, C), 2, "channels_last").channels
    ((W, W), (), C)
    """
    last = data_format == "channels_last"
    lone = len(input_shape) == rank + 1 and (batched is False or (batched is None and not last and input_shape[0] is not None))
    if lone and channels is not None and input_shape[0] is not None and canonical(input_shape[0]) != canonical(channels):
        raise _wrong_axes(input_shape, rank, last=last, channels=channels, batched=batched)
    if not lone and (len(input_shape) != rank + 2 or batched is False):
        raise _wrong_axes(input_shape, rank, last=last, channels=channels, batched=batched)
    batch, rest = ((), input_shape) if lone else (input_shape[:1], input_shape[1:])
    found, extents = (rest[-1], rest[:-1]) if last else (rest[0], rest[1:])
    if channels is not None and differ(found, channels):
        position = len(input_shape) - 1 if last else len(batch)
        message = f"axis {position} holds {found} channels; wanted {canonical(channels)}."
        other = rest[0] if last else rest[-1]
        if other == channels:
            message += f" The shape looks like one with the channels {'first' if last else 'last'}."
        raise ShapeError(message)
    return Axes(batch, found, tuple(extents), data_format)


def not_empty(shape: Shape, where: str = "an axis") -> None:
    """Raise ``ShapeError`` where an extent is zero and the framework wants something to work on."""
    if any(extent == 0 for extent in shape):
        message = f"{where} of {text(shape)} is empty; only a batch may be."
        raise ShapeError(message)


def axis_of(dim: int, input_shape: Shape, where: str = "dim") -> int:
    """Return an axis number counted from the front.

    Raises:
        ShapeError: an axis that the shape does not have.
    """
    rank = len(input_shape)
    if not -rank <= dim < rank:
        message = f"{where} is {dim}; {text(input_shape)} has axes {-rank} to {rank - 1}."
        raise ShapeError(message)
    return dim % rank


def _wrong_axes(input_shape: Shape, rank: int, *, last: bool, channels: Dim | None, batched: bool | None) -> ShapeError:
    """Say which axes are wanted; where one is missing, ``rank`` rides along, so that the readings can be worked out."""
    spatial = _SPATIAL[rank]
    names = ("channels", *spatial) if batched is False else ("batch", *spatial, "channels") if last else ("batch", "channels", *spatial)
    alone = f", or ({', '.join(names[1:])}) without a batch" if batched is None and not last else ""
    wanted = "" if channels is None else f", with {canonical(channels)} channels"
    message = f"wanted ({', '.join(names)}){alone}{wanted}; found {len(input_shape)} axes, {text(input_shape)}."
    missing = len(input_shape) == rank + 1
    if missing:
        message += f" An axis is missing: {' or '.join(spatial[:1])} or channels."
    error = ShapeError(message)
    if missing:
        error.rank = rank  # type: ignore[attr-defined]
    return error
