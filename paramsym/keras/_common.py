"""What the doors share: the arguments of every Keras layer, data formats, and windows that must fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramsym.errors import ArgumentError, ShapeError
from paramsym.extents import windows
from paramsym.layer import Layer
from paramsym.naming import quoted
from paramsym.size import Dim

_EVERY_LAYER = frozenset({"activity_regularizer", "autocast", "dtype", "name", "trainable"})


def finished(layer: Layer, base: Mapping[str, Any], where: str) -> Layer:
    """Heed the arguments that every Keras layer has; of these, only ``trainable`` changes what is stored.

    Raises:
        ArgumentError: an argument that the layer does not have.
    """
    unknown = sorted(set(base) - _EVERY_LAYER)
    if unknown:
        message = f"{where} has no argument {unknown[0]!r}."
        raise ArgumentError(message)
    trainable = base.get("trainable", True)
    if not isinstance(trainable, bool):
        message = f"{where}: trainable is {quoted(trainable)}; wanted True or False."
        raise ArgumentError(message)
    return layer if trainable else layer.freeze()


def channel_axis(data_format: object, where: str) -> int:
    """Return the axis of the channels: the last one, unless ``data_format`` says first."""
    known = {"none": -1, "channels_last": -1, "channels_first": 1}
    axis = -1 if data_format is None else known.get(data_format.lower()) if isinstance(data_format, str) else None
    if axis is None:
        message = f"{where}: data_format is {quoted(data_format)}; wanted 'channels_last', 'channels_first' or None."
        raise ArgumentError(message)
    return axis


def padding_word(padding: object, where: str, *, causal: bool = False) -> Any:  # the field's own check takes it from here
    """Return the padding in lower case, as Keras does, or raise."""
    known = ("valid", "same", "causal") if causal else ("valid", "same")
    word = padding.lower() if isinstance(padding, str) else padding
    if word not in known:
        message = f"{where}: padding is {quoted(padding)}; wanted one of {', '.join(map(repr, known))}."
        raise ArgumentError(message)
    return word


def per_axis_argument(value: Any, rank: int, name: str, where: str) -> Any:
    """Return an argument of one entry per spatial axis as a tuple, or the one number as it is.

    Raises:
        ArgumentError: another number of entries.
    """
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    if len(value) != rank:
        message = f"{where}: {name} is {quoted(value)}; wanted one number or {rank} of them."
        raise ArgumentError(message)
    return tuple(value)


def check_window(shape: tuple[Dim | None, ...], axis: int, layer: Any, where: str) -> None:
    """Raise where a window with padding "valid" is larger than the known part of the input."""
    spatial = shape[1:-1] if axis == -1 else shape[2:]
    sizes = [value if isinstance(value, tuple) else (value,) * len(spatial) for value in (layer.kernel_size, layer.stride, layer.dilation)]
    for length, kernel, stride, dilation in zip(spatial, *sizes, strict=True):
        if length is None or layer.padding != "valid":
            continue
        try:
            windows(length, kernel, stride, 0, dilation)
        except ShapeError as error:
            message = f"{where}: {error} The input shape is {shape}."
            raise ShapeError(message) from None


def recurrent_options(
    base: Mapping[str, Any], return_sequences: bool, return_state: bool, go_backwards: bool, stateful: bool
) -> dict[str, Any]:
    """Return what ``Bidirectional`` compares between its two directions."""
    compared = {"return_sequences": return_sequences, "return_state": return_state, "stateful": stateful}
    return {**base, **compared, "go_backwards": go_backwards}


def what_is_returned(return_sequences: bool, return_state: bool) -> dict[str, Any]:
    """Return the two flags as our layers take them: Keras' own choice, the last step only, is None."""
    return {"return_sequences": True if return_sequences else None, "return_state": bool(return_state)}
