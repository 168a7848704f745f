"""Layers that exist in several variants: 1d, 2d and 3d, mean and maximum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any, ClassVar

from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError
from paramsym.layers.spatial import per_axis


class Sibling(Layer):
    """A layer whose class arguments state its differences from its siblings, as in ``class MaxPool2d(_MaxPool, rank=2)``."""

    def __init_subclass__(cls, **told: Any) -> None:
        super().__init_subclass__()
        for name, value in told.items():
            setattr(cls, name, value)

    def conditions(self) -> None:
        refused = next(iter(self._refused()), None)
        if refused is not None:
            raise ArgumentError(refused)

    def _refused(self) -> Iterable[str]:
        """Yield a message for each argument that the framework refuses; the first one is raised."""
        return ()


class Variant(Sibling):
    """A sibling that needs no decorator: with class arguments and without fields, a class is made a dataclass here."""

    def __init_subclass__(cls, **told: Any) -> None:
        super().__init_subclass__(**told)
        if told and hasattr(cls, "__dataclass_fields__") and not get_annotations(cls):
            dataclass(frozen=True)(cls)


class Spatial(Variant):
    """A layer over ``rank`` spatial axes."""

    rank: ClassVar[int]

    def _each(self, *names: str) -> tuple[tuple[Any, ...], ...]:
        """Return these fields with one entry per spatial axis; a tuple of another length is an error."""
        return tuple(per_axis(getattr(self, name), self.rank, name) for name in names)
