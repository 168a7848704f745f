"""What one output of a stack of layers sees of the input: its receptive field, and by how much that moves."""

from __future__ import annotations

from paramsym.algebra.convolution import View
from paramsym.algebra.size import Dim
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import NotYetError, ParamsymError


def receptive_field(layer: Layer) -> tuple[Dim, ...]:
    """Return how many input entries one output entry depends on, along each spatial axis: 1 + sum of (k - 1) times the strides before.

    The first layer counts most: a stride multiplies what every later kernel adds. Where paths are added the widest counts. The input's
    edge is left out of account. A layer that sees its own entry only gives (). In a network that flattens its last map, or pools it into
    one number for each channel, it is an entry of that map that is asked about: what comes after it sees everything.

    Raises:
        NotYetError: a layer whose outputs do not all see the same, such as a transposed convolution, or see everything, as through
            attention, statistics of the example (GroupNorm) or a mixture of all places of an axis; one that does not say.
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
    return tuple(view.size for view in _through(layer))


def effective_stride(layer: Layer) -> tuple[Dim, ...]:
    """Return by how many input entries the views of neighbouring outputs differ, along each spatial axis: the product of the strides.

    Raises:
        NotYetError, StructureError: as ``receptive_field``.

    >>> from paramsym import Conv2d, MaxPool2d, Sequential
    >>> effective_stride(Sequential(Conv2d(3, 64, 7, stride=2, padding=3), MaxPool2d(3, 2, 1)))
    (4, 4)
    """
    return tuple(view.stride for view in _through(layer))


def _through(layer: Layer) -> tuple[View, ...]:
    check_layer(layer)
    try:
        return layer.views()
    except NotYetError as error:
        message = f"{type(layer).__name__} has no one receptive field: {error}{_of_part(layer)}"
        raise NotYetError(message) from None


def _of_part(layer: Layer) -> str:
    """Return that the first part can be asked for instead, such as the features of a classifier, where its outputs all see the same."""
    first = next(iter(layer.own_parts), None)
    try:
        found = first is not None and first.name and first.layer.own_parts and first.layer.views()
    except ParamsymError:
        return ""
    return f" Its part {first.name!r} has one: receptive_field(model.part({first.name!r}))." if found and first else ""
