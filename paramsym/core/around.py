"""Layers around one layer: they pass every question on to the layer inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from paramsym.algebra.size import Shape
from paramsym.core.layer import Layer, Part, Tensor


def _as_inner(name: str) -> Any:
    return property(attrgetter(f"layer.{name}"))


class Holder(Layer):
    """A wrapper with the arguments and the published sizes of the layer inside."""

    layer: Layer
    published = _as_inner("published")

    def __getattr__(self, name: str) -> Any:
        """Read a constructor argument of the inner layer, so that a published size still finds its symbols."""
        if name.startswith("_") or "layer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.layer, name)


@dataclass(frozen=True)
class Around(Holder):
    """A wrapper that computes the same as the layer inside."""

    layer: Layer
    per_token = _as_inner("per_token")
    computed_as = _as_inner("computed_as")  # pyright: ignore[reportIncompatibleMethodOverride] - a property, too
    computes = _as_inner("computes")  # pyright: ignore[reportIncompatibleMethodOverride] - a property, too
    positions_lead = _as_inner("positions_lead")

    def tensors(self) -> Iterator[Tensor]:
        yield from self.layer.own_tensors

    def parts(self) -> Iterator[Part]:
        yield from self.layer.own_parts

    def ties(self) -> Mapping[str, str]:
        return self.layer.ties()

    def forward(self, own: Any, *along: Any) -> Any:
        return self.layer.forward(own, *along)

    def output_shape(self, input_shape: Shape) -> Shape:
        return super().output_shape(input_shape) if self.computes else self.layer.output_shape(input_shape)
