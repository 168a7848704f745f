"""The pairs of queries and keys that an attention computes or sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import Integer, Min

from paramsym.algebra.size import Count, Dim, canonical, reaches


@dataclass(frozen=True, slots=True)
class Mask:
    """Which keys a query sees: all of them, those up to its own position, or those nearer than ``window`` positions.

    With ``written`` the mask is an array even if a kernel could take a flag.
    """

    causal: bool = False
    window: Dim | None = None
    written: bool = False

    def visible(self, xp: Any, queries: int, keys: int) -> Any:
        """Return a Boolean array (queries, keys); the last query is at the last key."""
        ahead = xp.arange(keys)[None, :] - (xp.arange(queries)[:, None] + keys - queries)
        seen = ahead <= 0 if self.causal else xp.ones_like(ahead, dtype=bool)
        return seen if self.window is None else seen & (xp.abs(ahead) < int(self.window))

    def __bool__(self) -> bool:
        """Whether anything is hidden."""
        return self.causal or self.window is not None


ALL = Mask()


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of queries and keys as one factor: conventions count all of them, half of them, or only the visible ones."""

    queries: Dim
    keys: Dim
    mask: Mask = ALL

    @property
    def twice_seen(self) -> tuple[Dim, ...]:
        """The factors whose product is twice the number of visible pairs; the last query is at the last key.

        In letters a window is taken for no longer than the number of keys, or of earlier keys if there are some.

        >>> from paramsym import S
        >>> Pairs(S, S, Mask(causal=True)).twice_seen, Pairs(4, 4, Mask(causal=True)).twice_seen
        ((S, S + 1), (4, 5))
        """
        queries, keys, window = self.queries, self.keys, self.mask.window
        if window is None:
            return (queries, canonical(2 * keys - queries + 1)) if self.mask.causal else (2, queries, keys)
        first = canonical(keys - queries)  # keys before the first query
        seen = canonical(_within(keys, window) - _within(first, window))
        if not self.mask.causal:
            ahead = canonical(window - 1)
            seen = canonical(seen + _within(canonical(queries - 1), ahead))
        return (canonical(2 * seen),)

    @property
    def near(self) -> tuple[Dim, ...]:
        """The queries and the keys, at most a window of them.

        >>> from paramsym import S
        >>> Pairs(S, S, Mask(causal=True, window=128)).near, Pairs(64, 64, Mask(causal=True, window=128)).near
        ((S, Min(128, S)), (64, 64))
        """
        window = self.mask.window
        return (self.queries, self.keys if window is None else canonical(Min(self.keys, window)))

    @property
    def half_near(self) -> tuple[Dim, ...]:
        """The factors whose product is 2*S*W - W**2 for a window of W positions, and S**2 without one: twice the pairs below a diagonal.

        >>> from paramsym import S
        >>> Pairs(S, S, Mask(causal=True)).half_near, Pairs(8, 8, Mask(causal=True, window=4)).half_near
        ((S, S), (4, 12))
        """
        queries, keys, window = self.queries, self.keys, self.mask.window
        if window is None:
            return (queries, keys)
        near = canonical(Min(keys, window))
        share = (Integer(1) * queries) / (Integer(1) * keys)
        return (near, canonical(2 * queries - near * share))


def _within(positions: Count, window: Count) -> Any:
    """Return the sum of the smaller of n and a window, for n from 1 to the number of positions."""
    if positions == 0 or not reaches(positions, window - 1):
        window = positions
    triangle = window * (window + 1)
    return (triangle // 2 if isinstance(triangle, int) else triangle / 2) + window * (positions - window)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table as a factor: only conventions that count a look-up as a product with a one-hot matrix count them."""

    rows: Dim


def sizes_of(factor: Any) -> tuple[Dim, ...]:
    """Return the sizes of a factor of work: all pairs, and no rows."""
    if isinstance(factor, Pairs):
        return (factor.queries, factor.keys)
    return () if isinstance(factor, Rows) else (factor,)
