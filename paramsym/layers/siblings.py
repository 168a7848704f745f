"""Layers that exist in several variants: 1d, 2d and 3d, mean and maximum."""

from __future__ import annotations

from typing import Any

from paramsym.core.layer import Layer


class Sibling(Layer):
    """A layer whose class arguments state its differences from its siblings, as in ``class MaxPool2d(_MaxPool, rank=2)``."""

    def __init_subclass__(cls, **told: Any) -> None:
        """Store the class arguments as attributes of the class."""
        super().__init_subclass__()
        for name, value in told.items():
            setattr(cls, name, value)
