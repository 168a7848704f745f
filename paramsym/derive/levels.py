"""The parts of models that were read or derived: single tensors, and named layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Count
from paramsym.core.layer import Layer, Part, Tensor


@dataclass(frozen=True)
class Held(Layer):
    """One tensor of a model that was read or derived: a parameter, a buffer, or a buffer that is not in the state dict (hidden).

    >>> from paramsym import H
    >>> Held("running_mean", (H,), kind="buffer").shapes(buffers=True)
    {'running_mean': (H,)}
    """

    name: str
    shape: tuple[Count, ...]
    kind: str = "parameter"
    frozen: bool = False

    def tensors(self) -> Iterator[Tensor]:
        """The tensor."""
        buffer = self.kind != "parameter"
        role = "statistic" if buffer else "bias" if self.name.rpartition(".")[2].startswith("bias") else "weight"
        yield Tensor(self.name, self.shape, role=role, trainable=not self.frozen, buffer=buffer, persistent=self.kind != "hidden")


@dataclass(frozen=True)
class Level(Layer):
    """Named layers; with an empty name a layer has no prefix.

    >>> from paramsym import Dense
    >>> list(Level((("up", Dense(2, 3)), ("", Held("gate", (1,))))).shapes())
    ['up.weight', 'up.bias', 'gate']
    """

    items: tuple[tuple[str, Layer], ...] = ()

    def parts(self) -> Iterator[Part]:
        """One part per layer."""
        for name, layer in self.items:
            yield Part(name, layer)
