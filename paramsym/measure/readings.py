"""Readings of an input that lacks an axis: every way to insert an axis of size 1, and the network that results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from sympy import Expr

from paramsym.algebra.size import Count, Shape, canonical, shown
from paramsym.core.layer import Layer, check_layer
from paramsym.core.names import layer_at
from paramsym.errors import ParamsymError, ShapeError
from paramsym.measure.inferring import with_widths
from paramsym.measure.walk import checked_shape, rebuilt
from paramsym.program.output import output_shape
from paramsym.render.printed import Printed


@dataclass(frozen=True)
class InputReading(Printed):
    """One reading of an input: the shape with the missing axis, its meaning, and the resulting network.

    ``layer`` is the network for this reading, with its first layer built for the channels of the reading and its lazy widths inferred. If
    the reading does not work, ``layer`` is None and ``reason`` says why.
    """

    input_shape: Shape
    meaning: str
    layer: Layer | None = None
    output_shape: Shape | None = None
    reason: str = ""

    @property
    def works(self) -> bool:
        """Whether the reading works."""
        return self.layer is not None

    @property
    def params(self) -> Expr | None:
        """The number of parameters under this reading."""
        return None if self.layer is None else self.layer.params

    def __str__(self) -> str:
        head = f"{shown(self.input_shape)}, {self.meaning}"
        if self.layer is None:
            return f"{head}, does not work: {self.reason}"
        return f"{head}, gives {shown(self.output_shape)} with {shown(self.params)} parameters"


def readings(layer: Layer, input_shape: Iterable[Count | None]) -> tuple[InputReading, ...]:
    """Return the readings of an input that lacks an axis; empty if the layer takes the input, or no axis is missing.

    A MATLAB network that feeds 512 features to a convolution over sequences has two readings: 512 positions of one channel, or one position
    of 512 channels.

    >>> from paramsym import AvgPool1d, Conv1d, Flatten, LazyDense, Sequential
    >>> net = Sequential(Conv1d(1, 20, 3), AvgPool1d(2), Conv1d(20, 10, 3), AvgPool1d(2), Flatten(), LazyDense(3))
    >>> for reading in readings(net, (None, 512)):
    ...     print(reading)
    (None, 1, 512), 512 positions of 1 channel, gives (None, 3) with 4473 parameters
    (None, 512, 1), 1 position of 512 channels, does not work: 0, a Conv1d, which was given (None, 512, 1): the padded length 1 is shorter \
than the kernel, which spans 3 entries.
    """
    check_layer(layer)
    shape = checked_shape(input_shape)
    try:
        output_shape(layer, shape)
    except ShapeError as error:
        return _read(layer, shape, error)
    return ()


def with_readings(layer: Layer, input_shape: Shape, error: ShapeError) -> str:
    """Return the readings as a sentence for an error; empty if no axis is missing."""
    found = _read(layer, input_shape, error)
    return f" It can be read as: {'; '.join(str(reading).rstrip('.') for reading in found)}." if found else ""


def _read(layer: Layer, input_shape: Shape, error: ShapeError) -> tuple[InputReading, ...]:
    path, rank = getattr(error, "part", ""), getattr(error, "rank", None)
    if rank is None or len(input_shape) != rank + 1:
        return ()
    first = layer_at(layer, path)
    if not any(field.name == "in_channels" for field in fields(first)):  # type: ignore[arg-type]
        return ()
    last = getattr(first, "data_format", None) == "channels_last" or (
        getattr(first, "dialect", "torch") != "torch" and getattr(first, "data_format", None) is None
    )
    candidates = dict.fromkeys((*input_shape[:place], 1, *input_shape[place:]) for place in range(1, len(input_shape) + 1))
    return tuple(_tried(layer, path, first, candidate, last=last) for candidate in candidates)


def _tried(layer: Layer, path: str, first: Layer, candidate: Shape, *, last: bool) -> InputReading:
    channels, extents = (candidate[-1], candidate[1:-1]) if last else (candidate[1], candidate[2:])
    meaning = f"{_times(extents)} of {_counted(channels, 'channel')}"
    if channels is None:
        return InputReading(candidate, meaning, reason="the weights need the number of channels.")
    try:
        fitted = first if getattr(first, "in_channels", None) == channels else replace(first, in_channels=channels)  # type: ignore[type-var]
        whole = with_widths(rebuilt(layer, path, fitted), candidate)
        return InputReading(candidate, meaning, whole, tuple(output_shape(whole, candidate)))
    except ParamsymError as error:
        return InputReading(candidate, meaning, reason=str(error).removeprefix(f"{type(layer).__name__}: "))


def _times(extents: Shape) -> str:
    if len(extents) == 1:
        return _counted(extents[0], "position")
    return " x ".join(str(extent) for extent in extents) + " positions"


def _counted(amount: Count | None, noun: str) -> str:
    shown = "?" if amount is None else str(canonical(amount))
    return f"{shown} {noun}{'' if amount == 1 else 's'}"
