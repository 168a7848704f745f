"""The frameworks whose storage a layer can take, and the names that differ between them whatever the layer is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from paramsym.algebra.size import Axis
from paramsym.core.layer import Tensor
from paramsym.errors import ArgumentError

Dialect: TypeAlias = Literal["torch", "keras", "flax"]

AFFINE = {"torch": ("weight", "bias"), "keras": ("gamma", "beta"), "flax": ("scale", "bias")}
"""What a norm calls its scale and its shift."""


def check_scale(scale: bool, dialect: str) -> None:
    """Raise ``ArgumentError`` where torch is asked to shift without scaling."""
    if not scale and dialect == "torch":
        message = "scale=False is not torch's, which shifts only what it scales; write dialect='keras' or dialect='flax'."
        raise ArgumentError(message)


def affine_tensors(shape: tuple[Axis, ...], dialect: str, *, scale: bool, shift: bool) -> Iterator[Tensor]:
    """Yield the scale and the shift of a norm, where they are stored."""
    weight, bias = AFFINE[dialect]
    if scale:
        yield Tensor(weight, shape, role="scale")
    if shift:
        yield Tensor(bias, shape, role="bias")
