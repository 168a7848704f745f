"""Layers that are one thing in several forms: 1d, 2d and 3d, a mean and a maximum."""

from __future__ import annotations

from typing import Any

from paramsym.core.layer import Layer


class Sibling(Layer):
    """A layer whose class says in its first line what tells it from its siblings, as in ``class MaxPool2d(_MaxPool, rank=2)``."""

    def __init_subclass__(cls, **told: Any) -> None:
        """Keep what is told as attributes of the class."""
        super().__init_subclass__()
        for name, value in told.items():
            setattr(cls, name, value)
