"""Keras' preprocessing of inputs with constants. It stores nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from paramsym import program as ops
from paramsym.core.layer import Layer

if TYPE_CHECKING:
    from paramsym.program import Own, Value

Constant: TypeAlias = float | tuple[float, ...]
"""One number, or one for each entry of the last axis."""


@dataclass(frozen=True)
class Rescaling(Layer):
    """Every entry times a constant, plus another one. Reference: Keras ``Rescaling``."""

    scale: Constant
    offset: Constant = 0.0

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        return x * _entries(self.scale) + _entries(self.offset)


def _entries(value: Constant) -> float | Value:
    return ops.constant("full", (len(value),), value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Masking(Layer):
    """Zeros for every step whose entries are all ``mask_value``. Reference: Keras ``Masking``."""

    mask_value: float = 0.0

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - it stores nothing
        return x * ops.reduce("max", ops.apply("nonzero", x - self.mask_value), -1, keep=True)
