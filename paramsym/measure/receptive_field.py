"""The receptive field of one output of a stack of layers, and its stride."""

from __future__ import annotations

from typing import Any

from paramsym.algebra.convolution import View
from paramsym.algebra.size import Dim
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import NotYetError, ParamsymError
from paramsym.measure.dependence import views


def receptive_field(layer: Layer, input_shape: Any = None) -> tuple[Dim, ...]:
    """Return the receptive field of one output entry along each spatial axis, in entries: 1 + sum of (k - 1) times the strides before.

    A stride multiplies the contribution of every later kernel. If paths are added, as in a residual block, the largest field counts. The
    edge of the input is not considered. A layer that works at each position alone, such as ``Dense``, gives (). If a network flattens its
    last map, or pools it to one number per channel, the field is that of an entry of this map, because every later layer depends on the
    whole input.

    A module that was read takes inputs of certain sizes: ``input_shape`` says which, as in ``receptive_field(net, (B, 3, W, W))``. Read it
    in evaluation mode, because batch norm depends on all positions in training.

    Raises:
        ArgumentError: a module that was read, without its ``input_shape``.
        NotYetError: a layer whose outputs have different fields, such as a transposed convolution, or depend on everything, as with
            attention, statistics of the example (GroupNorm) or a mixture of all positions of an axis; a layer that states none.
        StructureError: a symbolic number of blocks with a stride; paths of different strides that are added.

    Source: Araujo, Norris and Sim 2019, "Computing receptive fields of convolutional neural networks", equation 2.

    >>> from paramsym import Conv2d, K, L, MaxPool2d, Repeat, Sequential
    >>> receptive_field(Sequential(Conv2d(3, 8, 3), MaxPool2d(2), Conv2d(8, 8, 3)))
    (8, 8)
    >>> receptive_field(Repeat(Conv2d(8, 8, K, padding="same"), L))
    (K*L - L + 1, K*L - L + 1)
    >>> from paramsym.models import ResNet
    >>> receptive_field(ResNet("resnet50")), effective_stride(ResNet("resnet50"))
    ((427, 427), (32, 32))
    """
    return tuple(view.size for view in _through(layer, input_shape))


def effective_stride(layer: Layer, input_shape: Any = None) -> tuple[Dim, ...]:
    """Return how far apart the fields of two neighbouring outputs begin, along each spatial axis: the product of the strides.

    Raises:
        NotYetError, StructureError: as ``receptive_field``.

    >>> from paramsym import Conv2d, MaxPool2d, Sequential
    >>> effective_stride(Sequential(Conv2d(3, 64, 7, stride=2, padding=3), MaxPool2d(3, 2, 1)))
    (4, 4)
    """
    return tuple(view.stride for view in _through(layer, input_shape))


def _through(layer: Layer, input_shape: Any) -> tuple[View, ...]:
    check_layer(layer)
    try:
        return views(layer, input_shape)
    except NotYetError as error:
        raise NotYetError(f"{type(layer).__name__} has no single receptive field: {error}{_of_part(layer)}") from None


def _of_part(layer: Layer) -> str:
    """Return the advice to ask for the first part, such as a classifier's features, if this part has a single receptive field."""
    first = next(iter(layer.own_parts), None)
    try:
        found = first is not None and first.name and first.layer.own_parts and views(first.layer)
    except ParamsymError:
        return ""
    return f" Its part {first.name!r} has one: receptive_field(model.part({first.name!r}))." if found and first else ""
