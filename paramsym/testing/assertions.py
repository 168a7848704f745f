"""Assertions whose errors say what differs."""

from __future__ import annotations

from typing import Any, Literal

from paramsym.core.layer import Layer
from paramsym.errors import RefutedError
from paramsym.verify.match import match
from paramsym.verify.rename import Renaming


def assert_matches(layer: Layer, module_or_shapes: Any, *, rename: Renaming | None = None, by: Literal["name", "order"] = "name") -> None:
    """Fail unless every tensor of the layer exists with its shape and ties, and no others.

    The arguments are those of ``paramsym.match``.

    Raises:
        RefutedError: an ``AssertionError`` whose message is the report, tensor by tensor.

    >>> from paramsym import Dense, F, H
    >>> assert_matches(Dense(H, F), {"weight": (3072, 768), "bias": (3072,)})
    """
    __tracebackhide__ = True
    found = match(layer, module_or_shapes, rename=rename, by=by)
    if not found.ok:
        raise RefutedError(str(found))
