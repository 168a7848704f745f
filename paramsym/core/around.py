"""Layers around one layer: they pass every question on to the layer inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from paramsym.algebra.convolution import View
from paramsym.algebra.size import Dim, Shape
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.program.inputs import Application


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
    in_order = _as_inner("in_order")
    per_token = _as_inner("per_token")
    computed_as = _as_inner("computed_as")  # pyright: ignore[reportIncompatibleMethodOverride] - a property, too
    computes = _as_inner("computes")  # pyright: ignore[reportIncompatibleMethodOverride] - a property, too
    by_hand = _as_inner("by_hand")  # pyright: ignore[reportIncompatibleMethodOverride] - a property, too

    def tensors(self) -> Iterator[Tensor]:
        """The inner layer's own tensors."""
        yield from self.layer.own_tensors

    def parts(self) -> Iterator[Part]:
        """The inner layer's own parts."""
        yield from self.layer.own_parts

    def ties(self) -> Mapping[str, str]:
        """The inner ties."""
        return self.layer.ties()

    def forward(self, own: Any, *along: Any) -> Any:
        """The inner layer's forward pass, with the tensors and parts of this layer."""
        return self.layer.forward(own, *along)

    def batch_axis(self, input_shape: Shape) -> int | None:
        """As the inner layer."""
        return self.layer.batch_axis(input_shape)

    def output_shape(self, input_shape: Shape) -> Shape:
        """From the program, or, without one, from the inner layer."""
        return super().output_shape(input_shape) if self.computes else self.layer.output_shape(input_shape)

    def applications(self, input_shape: Shape) -> Iterator[Application]:
        """From the program, or, without one, from the inner layer."""
        return super().applications(input_shape) if self.computes else iter(self.layer.applications(input_shape))

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """From the program, or, without one, from the inner layer."""
        return super().uses(input_shape) if self.computes else self.layer.uses(input_shape)

    def views(self) -> tuple[View, ...]:
        """From the program, or, without one, from the inner layer."""
        return super().views() if self.computes else self.layer.views()
