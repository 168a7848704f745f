"""The frameworks whose storage a layer can have, and the names that differ between them in every layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from paramsym.algebra.size import Axis
from paramsym.core.layer import Tensor

Dialect: TypeAlias = Literal["torch", "keras", "flax"]

AFFINE = {"torch": ("weight", "bias"), "keras": ("gamma", "beta"), "flax": ("scale", "bias")}
"""The names of a norm's scale and shift."""
SHIFT_ALONE = "scale=False: torch has no shift without a scale; write dialect='keras' or dialect='flax'."
"""The error for it."""


def affine_tensors(shape: tuple[Axis, ...], dialect: str, *, scale: bool, shift: bool) -> Iterator[Tensor]:
    """Yield the scale and the shift of a norm, if they are stored."""
    weight, bias = AFFINE[dialect]
    if scale:
        yield Tensor(weight, shape, role="scale")
    if shift:
        yield Tensor(bias, shape, role="bias")
