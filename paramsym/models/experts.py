"""Mixtures of experts, in the storage of a reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from paramsym.algebra.size import Dim
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part
from paramsym.layers.experts import StackedExperts
from paramsym.models.activations import learned
from paramsym.models.blocks import activation
from paramsym.models.decoder import gated
from paramsym.program import Own, Value

Storage: TypeAlias = Literal["stacked", "separate"]
"""How experts are stored: *stacked* in two tensors, as transformers 5 holds them, or *separate*, one by one, as checkpoint files do."""


def experts(width: Dim, inner: Dim, stored: Dim, used: Dim | None, function: str, storage: Storage) -> Layer:
    """Return gated experts, of which a token uses ``used``; None counts all as used."""
    used = stored if used is None else used
    if storage == "separate":
        return Repeat(gated(width, inner, function), stored, used=used)
    return Experts(width, inner, stored, used, activation=function)


@dataclass(frozen=True)
class Experts(StackedExperts):
    """Stacked experts with an activation by its configuration name; an activation with parameters is stored once for all experts.

    >>> from paramsym import E, F, H, K
    >>> Experts(H, F, E, K, activation="prelu").params
    3*E*F*H + 1
    """

    def parts(self) -> Iterator[Part]:
        for name, layer in learned("act_fn", self.activation).items():
            yield Part(name, layer)

    def function(self, own: Own, y: Value) -> Value:
        return activation(own, self.activation, y)
