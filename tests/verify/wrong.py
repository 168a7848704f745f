"""Layers that are wrong on purpose, and what is right: shared by the three ways to refute them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sympy import floor

import paramsym as ps
from paramsym import A, Dim, F, H, Layer, Tensor, V


@dataclass(frozen=True)
class OffByOne(Layer):
    """A dense layer whose bias is one too long."""

    width: Dim
    out: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The matrix and the wrong bias."""
        yield Tensor("weight", (self.out, self.width))
        yield Tensor("bias", (self.out + 1,), role="bias")


@dataclass(frozen=True)
class Floored(Layer):
    """Heads that share out a width by a floor: what is left over is lost, and no condition says that nothing is."""

    width: Dim
    heads: Dim

    def tensors(self) -> Iterator[Tensor]:
        """One projection."""
        share = self.width // self.heads if isinstance(self.width, int) and isinstance(self.heads, int) else floor(self.width / self.heads)
        yield Tensor("projection", (self.heads * share, self.width))


Case = tuple[Layer, Callable[..., Any], str]
LOOSE = ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False))

CASES: list[Case] = [
    (OffByOne(H, F), lambda F, H: {"weight": (F, H), "bias": (F,)}, "bias"),
    (LOOSE, lambda H, V: ps.Tied(LOOSE, {"head.weight": "wte.weight"}).at(H=H, V=V), r"head\.weight"),
    (Floored(H, A), lambda A, H: {"projection": (H, H)} if A else {}, "projection"),
]
"""The wrong layer, what builds the right tensors, and the tensor at fault."""
IDS = ["off-by-one bias", "missing tie", "floor for exact division"]
