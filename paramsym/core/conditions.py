"""What a layer asks of its sizes, as values: the one place that listens while a layer is built and stated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sympy import Dummy, Expr

from paramsym.algebra.size import Condition, conditions_asked, per, substitute
from paramsym.core.layer import Layer


@lru_cache(maxsize=256)
def conditions_of(layer: Layer) -> tuple[Condition, ...]:
    """Return what a layer and everything inside it asks of its sizes, every condition once.

    The index of a repeat is a letter of its own in them.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> [one for one in conditions_of(MultiHeadAttention(H, A)) if one.kind == "divides"]
    [Condition(kind='divides', small=A, large=H)]
    """
    with conditions_asked() as asked:
        lines = layer.substituted({}).lines  # built and stated anew, so that every size passes its gate again
    written = (*((line.factors, line.stored, line.used, line.shape) for line in lines), *((one.small, one.large) for one in asked))
    asked.extend(of_quotients(written))
    inside = {span.index: Dummy(integer=True, positive=True) for line in lines for span in line.spans if span.index is not None}
    found: dict[Condition, Condition] = {}
    for condition in asked:
        one = replace(condition, small=substitute(condition.small, inside), large=substitute(condition.large, inside))
        # A layer that looks whether a size is zero has nothing to decide where it was asked for more before.
        needless = one.kind == "differ" and one.large == 0 and Condition("at most", 1, one.small) in found
        if not needless and not any(found.setdefault(one, one).names):  # of several that ask the same, the first that has names for it
            found[one] = one
    return tuple(found.values())


def of_quotients(value: Any) -> Iterator[Condition]:
    """Yield what every ``per`` inside a value asks of numbers: both sides positive, and one a divisor of the other."""
    for above, below in sorted((quotient.as_quotient() for quotient in set(_quotients(value))), key=str):
        yield Condition("divides", below, above)
        yield from (Condition("at most", 1, side) for side in (above, below))


def _quotients(value: Any) -> Iterable[per]:
    if isinstance(value, Expr):
        return value.atoms(per)
    inner = value if isinstance(value, tuple) else getattr(value, "segments", ())
    return (quotient for item in inner for quotient in _quotients(item))
