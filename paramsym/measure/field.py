"""What one output of a stack of layers sees of the input: its receptive field, and by how much that moves."""

from __future__ import annotations

from functools import reduce

from sympy import Integer, Max

from paramsym.compose import Residual
from paramsym.errors import NotYetError, StructureError
from paramsym.extents import View
from paramsym.layer import Layer, Part
from paramsym.size import Count, Dim, canonical


def receptive_field(layer: Layer) -> tuple[Dim, ...]:
    """Return how many input entries one output entry depends on, along each spatial axis: 1 + sum of (k - 1) times the strides before.

    The first layer counts most: a stride multiplies what every later kernel adds. Where paths are added the widest counts. The input's
    edge is left out of account. A layer that sees its own entry only gives ().

    Raises:
        NotYetError: a layer whose outputs do not all see the same, such as a transposed convolution, or one that does not say.
        StructureError: a symbolic number of blocks with a stride; paths of different strides that are added.

    Source: Araujo, Norris and Sim 2019, "Computing receptive fields of convolutional neural networks", equation 2.

    >>> from paramsym import Conv2d, K, L, MaxPool2d, Repeat, Sequential
    >>> receptive_field(Sequential(Conv2d(3, 8, 3), MaxPool2d(2), Conv2d(8, 8, 3)))
    (8, 8)
    >>> receptive_field(Repeat(Conv2d(8, 8, K, padding="same"), L))
    (K*L - L + 1, K*L - L + 1)
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
    if isinstance(layer, Residual):
        return _added([_through(part.layer) for part in layer.own_parts])
    if layer.in_order:
        return reduce(_then, (views for part in layer.own_parts for views in _part(part)), ())
    return layer.views()


def _part(part: Part) -> list[tuple[View, ...]]:
    """Return the views of a part, repeated as often as it is applied."""
    numbers, used = part.numbers, part.used
    if numbers is None and used is None:
        return [_through(part.layer)]
    times: Count = 1 if numbers is None else numbers.count
    if used is not None:
        times = used
    if numbers is not None and numbers.index is not None and numbers.index in part.layer.symbols and numbers.values is not None:
        return [_through(part.layer.substituted({numbers.index: Integer(number)})) for number in numbers.values]
    return [tuple(_repeated(view, times) for view in _through(part.layer))]


def _repeated(view: View, times: Count) -> View:
    """Return the view through ``times`` equal layers one after another."""
    if view.stride == 1:
        return View(canonical(1 + times * (view.size - 1)), 1)
    if not isinstance(times, int):
        message = f"a block with a stride of {view.stride} cannot be repeated a symbolic number of times."
        raise StructureError(message)
    return reduce(View.then, [view] * times, View())


def _then(earlier: tuple[View, ...], later: tuple[View, ...]) -> tuple[View, ...]:
    if not earlier or not later:
        return earlier or later
    if len(earlier) != len(later):
        message = f"a layer over {len(later)} spatial axes stands after one over {len(earlier)}."
        raise NotYetError(message)
    return tuple(one.then(other) for one, other in zip(earlier, later, strict=True))


def _added(paths: list[tuple[View, ...]]) -> tuple[View, ...]:
    wide = [views for views in paths if views]
    if not wide:
        return ()
    rank = len(wide[0])
    filled = [views or (View(),) * rank for views in paths]
    if len(paths) == 1:
        filled.append((View(),) * rank)  # the input itself is the other path
    result: list[View] = []
    for views in zip(*filled, strict=True):
        if len({view.stride for view in views}) > 1:
            message = f"paths with strides {', '.join(str(view.stride) for view in views)} cannot be added."
            raise StructureError(message)
        sizes = [view.size for view in views]
        widest = canonical(Max(*sizes))
        result.append(View(widest, views[0].stride))
    return tuple(result)
