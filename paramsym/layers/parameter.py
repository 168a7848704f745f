"""A bare learned tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym.algebra.size import Dim, Width
from paramsym.core.layer import Layer, Tensor

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class Parameter(Layer):
    """One learned tensor that belongs to no layer: a gate, a class token, a table of positions.

    ``shape`` is its shape, axis by axis, or one size; ``name`` its name in the owner; ``role`` a word for readers (weight, bias, scale,
    table). A ``frozen`` one is stored and counted, but not trained. Parameters: the product of the axes. Reference: ``torch.nn.Parameter``.

    >>> from paramsym import Dense, H, P
    >>> Parameter((1, 1, H), "cls_token").shapes()
    {'cls_token': (1, 1, H)}
    >>> (Parameter((P, H), "positions", role="table") + Dense(H, H)).params
    H**2 + H*P + H
    """

    shape: Dim | tuple[Width, ...]
    name: str = "weight"
    role: str = "weight"
    frozen: bool = False

    def tensors(self) -> Iterator[Tensor]:
        shape = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        yield Tensor(self.name, shape, role=self.role, trainable=not self.frozen)

    def forward(self, own: Own) -> Value:
        return own[self.name]
