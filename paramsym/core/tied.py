"""Tying: several names of one tensor, stated for a layer from the outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from sympy import Expr, Symbol

from paramsym.algebra.size import substitute
from paramsym.core.around import Holder
from paramsym.core.edit import seen_at
from paramsym.core.layer import Layer, Part
from paramsym.core.split import split
from paramsym.errors import ArgumentError, StructureError
from paramsym.naming import described


@dataclass(frozen=True, init=False)
class Tied(Holder):
    """A layer in which some names mean the same tensor: ``{alias path: path}``, relative to the layer.

    A tied tensor is counted once; the alias is a row of the table and of ``tied``. The first name is the one that comes first in storage
    order. A tensor that is frozen under one name is frozen under both. The layer may be nested and repeated: each copy has its own tie.

    Raises:
        StructureError: a path without a tensor, or two tensors of different shape.

    >>> from paramsym import Block, Dense, Embedding, H, Tied, V
    >>> model = Block(wte=Embedding(V, H), head=Dense(H, V, bias=False))
    >>> model.params, Tied(model, {"head.weight": "wte.weight"}).params
    (2*H*V, H*V)
    """

    in_order = True

    layer: Layer
    pairs: tuple[tuple[str, str], ...]

    def __init__(self, layer: Layer, pairs: Mapping[str, str] | tuple[tuple[str, str], ...]) -> None:
        object.__setattr__(self, "layer", layer)
        try:
            paths = tuple(dict(pairs).items())
        except (TypeError, ValueError):
            paths = ((None, None),)  # type: ignore[assignment]
        if not all(isinstance(path, str) for pair in paths for path in pair):
            raise ArgumentError(f"Tied: {described(pairs)} is not a mapping of paths; write {{'head.weight': 'wte.weight'}}.")
        object.__setattr__(self, "pairs", paths)
        self.__post_init__()

    def conditions(self) -> None:
        for alias, first in self.pairs:
            if alias == first:
                raise StructureError(f"{alias!r} is tied to itself; wanted two names.")

    def parts(self) -> Iterator[Part]:
        """Yield the layer, under its own names. A copy that a tie names alone is separate from the other copies."""
        yield Part("", split(self.layer, (path for pair in self.pairs for path in pair), self.ties()))

    def ties(self) -> Mapping[str, str]:
        return dict(self.pairs)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.layer, dict(self.pairs)), {}

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        return type(self)(substitute(self.layer, mapping), self.pairs)


def found_at(layer: Layer, path: str) -> Layer:
    """Return the layer at a path, frozen and tied as the outer layer states."""
    inner, ties = seen_at(layer, path)
    return Tied(inner, ties) if ties else inner
