"""Every Keras door, found by itself and built with symbols for sizes: a new door meets every law by existing.

What a door must be given is looked up by the name of the argument; a new name asks for a line here.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

from oracles.instances import placed

import paramsym as ps
from paramsym.errors import ParamsymError

c, u, v = ps.dims("c u v")
REQUIRED: dict[str, tuple[Any, ...]] = {
    "units": (u,),
    "filters": (u,),
    "kernel_size": (2,),
    "pool_size": (2,),
    "output_size": (2,),
    "input_dim": (v,),
    "output_dim": (u,),
    "num_heads": (v,),
    "key_dim": (u,),
    "head_dim": (u,),
    "num_query_heads": (4,),
    "num_key_value_heads": (2,),
    "layers": ([ps.keras.Dense(2)],),
    "layer": ("LSTM", "Dense"),
    "equation": ("...x,xy->...y",),
    "output_shape": (u,),
    "activation": ("relu",),
    "rate": (0.5,),
    "stddev": (0.5,),
    "scale": (2.0,),
    "n": (3,),
    "dims": ((2, 1),),
    "target_shape": ((-1,),),
}
"""Values for the arguments that doors cannot do without."""
SHAPES: tuple[Any, ...] = (
    (None, 6, c),
    (None, c),
    *((None, *(8,) * rank, c) for rank in (2, 3, 4)),
    *(([(None, 6, c)] * number) for number in (2, 3)),
)
"""Input shapes, channels last, and lists of them for layers of several inputs."""


@dataclass(frozen=True)
class Door:
    """One door, under the name that a test's id shows."""

    __name__: str

    @cached_property
    def signature(self) -> inspect.Signature:
        """What the door takes."""
        return inspect.signature(getattr(ps.keras, self.__name__))

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """The arguments that are true or false."""
        return tuple(name for name, argument in self.signature.parameters.items() if isinstance(argument.default, bool))

    def open(self, arguments: dict[str, Any]) -> ps.Layer:
        """Build the layer.

        Raises:
            ParamsymError: arguments that the door refuses.
        """
        layer = getattr(ps.keras, self.__name__)(**arguments)
        assert isinstance(layer, ps.Layer)
        return layer

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The first arguments with which the door opens."""
        for arguments in self._tries():
            try:
                self.open(arguments)
            except ParamsymError:
                continue
            return arguments
        message = f"keras.{self.__name__} opens for no input shape and no arguments of tests/doors.py."
        raise AssertionError(message)

    def _tries(self) -> Iterator[dict[str, Any]]:
        empty = inspect.Parameter.empty
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        required = [name for name, argument in self.signature.parameters.items() if argument.default is empty and argument.kind in kinds]
        for values in product(*(REQUIRED[name] for name in required)):
            given = dict(zip(required, values, strict=True))
            inner = {"layer_kwargs": {"units": u}} if "layer" in given else {}
            yield from ({**given, **inner, "input_shape": shape} for shape in SHAPES)


@cache
def doors() -> tuple[Door, ...]:
    """Return every door there is."""
    return tuple(Door(name) for name in sorted(set(dir(ps.keras)) - {"Input"}))  # an input is no layer


def numbered(arguments: dict[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """Put numbers in for the symbols in a door's arguments."""
    return {name: _numbered(value, sizes) for name, value in arguments.items()}


def _numbered(value: Any, sizes: Mapping[str, int]) -> Any:
    if isinstance(value, dict):
        return numbered(value, sizes)
    if isinstance(value, list):
        return [_numbered(item, sizes) for item in value]
    return placed({"": value}, sizes)[""]
