"""Layers that need no decorator."""

from __future__ import annotations

from dataclasses import Field, dataclass
from typing import Any, ClassVar, dataclass_transform

from paramsym.core.layer import Layer


@dataclass_transform(frozen_default=True)
class Declared(Layer):
    """A layer whose subclasses are frozen dataclasses without a decorator: a subclass only lists its fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True)(cls)
