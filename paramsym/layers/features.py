"""Layers that work on the last axis: what they take and what comes out."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.errors import ShapeError
from paramsym.extents import View, Views, differ
from paramsym.layer import Layer
from paramsym.size import Axis, Dim, Shape, canonical, extent, product, text


class Featurewise(Layer):
    """What maps the last axis to another width, position by position."""

    @property
    def features(self) -> tuple[Axis, Axis]:
        """The widths of input and output."""
        raise NotImplementedError

    def output_shape(self, input_shape: Shape) -> Shape:
        """Positions are kept; the last axis takes the output's width."""
        taken, given = map(extent, self.features)
        return over_features(input_shape, (taken,), (given,))

    def reached(self, places: Shape) -> Shape:
        """The positions, and the width that is taken."""
        return (*places, extent(self.features[0]))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Every weight and bias is used once per position."""
        self.output_shape(input_shape)
        return {tensor.name: positions(input_shape) for tensor in self.own_tensors}

    def views(self) -> tuple[View, ...]:
        """Every output position sees its own input position, and all channels there."""
        return Views((), "channels_last")


def positions(input_shape: Shape, features: int = 1) -> Dim:
    """Return over how many positions a layer goes for one example: the product of the axes between batch and features.

    >>> from paramsym import B, H, S
    >>> positions((B, S, H)), positions((B, H))
    (S, 1)
    """
    return product(input_shape[1 : len(input_shape) - features])


def over_features(input_shape: Shape, taken: Sequence[Dim], given: Sequence[Dim] | None = None) -> Shape:
    """Return the shape after the trailing axes ``taken`` have become ``given`` (default: the same).

    Extents that cannot be equal are refused; what symbols will be is not known yet and passes.

    Raises:
        ShapeError: too few axes, or a trailing axis of another extent.

    >>> from paramsym import B, F, H, S
    >>> over_features((B, S, H), (H,), (F,))
    (B, S, F)
    """
    if len(input_shape) < len(taken):
        message = f"wanted at least {len(taken)} axes, the last of {taken[-1]}; found {len(input_shape)}."
        raise ShapeError(message)
    lead, trailing = input_shape[: len(input_shape) - len(taken)], input_shape[len(input_shape) - len(taken) :]
    for found, wanted in zip(trailing, taken, strict=True):
        if differ(found, wanted):
            message = f"the last axis has {found} entries; wanted {canonical(wanted)}, in {text(input_shape)}."
            raise ShapeError(message)
    return (*lead, *(trailing if given is None else given))
