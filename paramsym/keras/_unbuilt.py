"""A Keras layer that waits for its input shape, and the reading of input shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from paramsym.errors import ArgumentError, SizeError
from paramsym.layer import Layer
from paramsym.naming import quoted
from paramsym.size import Dim, size

Shape: TypeAlias = "Sequence[Dim | None]"


@dataclass(frozen=True)
class Unbuilt:
    """A layer without its input shape; ``build(input_shape)`` gives the layer, as Keras builds on first use.

    ``options`` are the arguments that a wrapper asks for, such as ``name`` and ``go_backwards``.

    >>> import paramsym as ps
    >>> waiting = ps.keras.Dense(4)
    >>> waiting.build((None, 3)).params
    16
    """

    name: str
    build: Callable[[Any], Layer]
    options: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<keras.{self.name} waiting for its input_shape>"

    def __getattr__(self, asked: str) -> Any:
        """Say what is missing before there is a count, a table or anything else that a layer has."""
        message = f"keras.{self.__dict__.get('name')} has no {asked!r} before its input shape is known: give it input_shape=(None, ...)."
        raise AttributeError(message)


def door(name: str, build: Callable[[Any], Layer], input_shape: Any, options: Mapping[str, Any] | None = None) -> Layer | Unbuilt:
    """Build at once where there is an input shape, else wait for one."""
    return Unbuilt(name, build, options or {}) if input_shape is None else build(input_shape)


def shape_of(input_shape: object, where: str, *, rank: int | None = None) -> tuple[Dim | None, ...]:
    """Return an input shape as a checked tuple; unknown extents are None."""
    if isinstance(input_shape, str | Mapping) or not isinstance(input_shape, Sequence):
        message = f"{where}: input_shape is {quoted(input_shape)}; wanted a tuple such as (None, 10, 16), batch first."
        raise ArgumentError(message)
    checked = tuple(None if extent is None else size(extent, f"{where}: input_shape[{i}]") for i, extent in enumerate(input_shape))
    if rank is not None and len(checked) != rank:
        message = f"{where}: input_shape {checked} has {len(checked)} axes; wanted {rank}, batch first."
        raise ArgumentError(message)
    return checked


def axis_size(shape: tuple[Dim | None, ...], axis: int, where: str) -> Dim:
    """Return the extent of an axis that the weights depend on; it must be known."""
    if not -len(shape) <= axis < len(shape):
        message = f"{where}: axis {axis} is outside the input shape {shape}."
        raise ArgumentError(message)
    extent = shape[axis]
    if extent is None:
        message = f"{where}: axis {axis} of the input shape {shape} is None, but the weights depend on it; give a size or a symbol."
        raise SizeError(message)
    return extent
