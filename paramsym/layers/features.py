"""Layers that work on the last axis: what they take and what comes out."""

from __future__ import annotations

from collections.abc import Sequence

from paramsym.errors import ShapeError
from paramsym.polynomial import Polynomial
from paramsym.size import Dim, Shape


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
        if found is not None and (Polynomial.of(found) - Polynomial.of(wanted)).constant not in {0, None}:
            message = f"the last axis has {found} entries; wanted {wanted}."
            raise ShapeError(message)
    return (*lead, *(trailing if given is None else given))
