"""Keras' arguments: their names here, the readers of their values, and the common ones.

A reader takes a value, and the name of its argument for errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any, TypeAlias

from paramsym.algebra.size import size
from paramsym.errors import ArgumentError
from paramsym.keras._activations import activation_of
from paramsym.naming import quoted

Reader: TypeAlias = Callable[[Any, str], Any]

CALLED = {
    "axis": ("dim", "axis"),
    "center": ("bias",),
    "dilation_rate": ("dilation",),
    "dims": ("order",),
    "epsilon": ("eps",),
    "filters": ("out_channels",),
    "groups": ("num_groups", "groups"),
    "input_dim": ("num_embeddings", "input_dim"),
    "interpolation": ("mode",),
    "key_dim": ("head_dim",),
    "n": ("times",),
    "num_key_value_heads": ("kv_heads",),
    "num_query_heads": ("num_heads",),
    "output_dim": ("embedding_dim", "output_dim"),
    "output_shape": ("output_dim",),
    "pool_size": ("kernel_size",),
    "rate": ("p", "rate"),
    "size": ("scale_factor",),
    "sliding_window": ("window",),
    "strides": ("stride",),
    "units": ("out_features", "hidden_size"),
    "use_bias": ("bias",),
    "use_gate": ("gate",),
    "value_dim": ("value_head_dim",),
}
"""The layer's field for an argument of Keras with another name: the first of these that the layer has."""

_FIRST_VALUES = {"beta": "zeros", "bias": "zeros", "embeddings": "uniform", "gamma": "ones", "recurrent": "orthogonal"}


def takes(*asked: str, **defaults: Any) -> dict[str, Any]:
    """Return arguments with their defaults; required ones have none."""
    return {**dict.fromkeys(asked, Parameter.empty), **defaults}


def weights(*names: str, activity: bool = False, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return Keras' arguments for each weight that change no stored tensor: initialisers, regularisers and constraints.

    ``more`` are arguments after the initialisers.
    """
    regularised = [*names, *["activity"] * activity]
    return {
        **{f"{name}_initializer": _FIRST_VALUES.get(name, "glorot_uniform") for name in names},
        **(more or {}),
        **{f"{name}_regularizer": None for name in regularised},
        **{f"{name}_constraint": None for name in names},
    }


def wrong(value: object, name: str, wanted: str) -> ArgumentError:
    """Return the error for the value of an argument."""
    return ArgumentError(f"{name} is {quoted(value)}; wanted {wanted}.")


_MOST = 1000  # more entries than an argument has; a range may have any number


def optional(reader: Reader) -> Reader:
    """Return a reader that accepts None."""
    return lambda value, name: None if value is None else reader(value, name)


def one_of(*options: str) -> Reader:
    """Return a reader of words, in upper or lower case."""

    def read(value: Any, name: str) -> str:
        lowered = value.lower() if isinstance(value, str) else value
        if lowered not in options:
            raise wrong(value, name, f"one of {', '.join(map(repr, options))}")
        return str(lowered)

    return read


def entries(value: Any, rank: int, name: str) -> Any:
    """Return an argument of one entry per spatial axis as a tuple, or a single number unchanged."""
    found = tupled(value, name)
    if isinstance(found, tuple) and len(found) != rank:
        raise wrong(value, name, f"one number or {rank} of them")
    return found


def tupled(value: Any, name: str) -> Any:
    """Return a list as a tuple, anything else unchanged."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return value
    if isinstance(value, range) and value[_MOST:]:
        raise wrong(value, name, f"at most {_MOST} entries")
    return tuple(value)


def listed(value: Any, name: str) -> tuple[Any, ...]:
    """Return a list as a tuple; refuse anything else."""
    found = tupled(value, name)
    if not isinstance(found, tuple):
        raise wrong(value, name, "a tuple")
    return found


def axes_of(value: Any, name: str) -> tuple[int, ...]:
    """Return one axis, or several, in Keras' order: sorted as numbers, so -1 comes before 1."""
    found = tupled(value, name)
    axes: tuple[Any, ...] = found if isinstance(found, tuple) else (found,)
    if any(not isinstance(axis, int) or isinstance(axis, bool) for axis in axes):
        raise wrong(value, name, "a whole number, or several")
    return tuple(sorted(axes))


def any_axes(value: Any, name: str) -> tuple[int, ...]:
    """Return axes as ``axes_of``, or none of them."""
    return () if value is None else axes_of(value, name)


def number(value: Any, name: str) -> float:
    """Return a number that is not negative."""
    if not isinstance(value, int | float) or value < 0:
        raise wrong(value, name, "a number that is not negative")
    return value


def _cudnn(value: Any, name: str) -> Any:
    if not isinstance(value, str | int) or value not in {"auto", True, False}:
        raise wrong(value, name, "'auto', True or False")
    return value


def _wanted(value: Any, name: str) -> Any:
    if value is None:
        raise wrong(None, name, "a size, or one per spatial axis")
    return value


_data_format = one_of("channels_first", "channels_last")

PER_AXIS = frozenset({"dilation_rate", "kernel_size", "output_padding", "output_size", "pool_size", "strides"})
READ: dict[str, Reader] = {
    **dict.fromkeys(
        ("head_dim", "input_dim", "key_dim", "num_heads", "num_key_value_heads", "num_query_heads", "output_dim", "units"), size
    ),
    **dict.fromkeys(("sliding_window", "value_dim"), optional(size)),
    **dict.fromkeys(("activation", "recurrent_activation"), activation_of),
    "attention_axes": optional(axes_of),
    "axis": axes_of,
    "data_format": lambda value, name: _data_format("channels_last" if value is None else value, name),
    "output_shape": tupled,
    "output_size": _wanted,
    "padding": one_of("valid", "same"),
    "shared_axes": any_axes,
    "use_cudnn": _cudnn,
}
"""The default readers of values: these arguments have the same meaning in all Keras layers."""
