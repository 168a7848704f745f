"""The conditions that a layer states about its sizes, collected while the layer is built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sympy import Dummy, Expr

from paramsym.algebra.size import Condition, add_condition, conditions_asked, per, substitute
from paramsym.core.layer import Layer


@lru_cache(maxsize=256)
def conditions_of(layer: Layer) -> tuple[Condition, ...]:
    """Return the conditions of a layer and of all layers inside it, each once.

    The index of a repeat is a separate letter in the conditions.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> [one for one in conditions_of(MultiHeadAttention(H, A)) if one.kind == "divides"]
    [Condition(kind='divides', small=A, large=H)]
    """
    with conditions_asked() as asked:
        lines = layer.built_again().lines
    written = (*((line.factors, line.stored, line.used, line.shape) for line in lines), *((one.small, one.large) for one in asked))
    for quotient in of_quotients(written):
        add_condition(asked, quotient)
    inside = {span.index: Dummy(integer=True, positive=True) for line in lines for span in line.spans if span.index is not None}
    found: dict[Condition, Condition] = {}
    for condition in asked.values():
        one = replace(condition, small=substitute(condition.small, inside), large=substitute(condition.large, inside))
        # A layer's check for zero decides nothing if another condition already asks for a larger size.
        needless = one.kind == "differ" and one.large == 0 and Condition("at most", 1, one.small) in found
        needless |= one.kind == "divides" and one.small in {1, one.large}
        if not needless:
            add_condition(found, one)
    return tuple(found.values())


def of_quotients(value: Any) -> Iterator[Condition]:
    """Yield the conditions of every ``per`` inside a value: both sides are positive, and one divides the other."""
    quotients = {quotient for size in set(_sizes(value)) for quotient in size.atoms(per)}
    for above, below in sorted((quotient.as_quotient() for quotient in quotients), key=str):
        yield Condition("divides", below, above)
        yield from (Condition("at most", 1, side) for side in (above, below))


def _sizes(value: Any) -> Iterator[Expr]:
    if isinstance(value, Expr):
        yield value
    for item in value if isinstance(value, tuple) else getattr(value, "segments", ()):
        yield from _sizes(item)
