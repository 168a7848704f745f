"""The rotated entries of a head in recorded computations: a letter without a tensor, from a share or a number of the configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paramsym.algebra.size import Count, canonical, per
from paramsym.atlas.domain import thawed
from paramsym.atlas.turns import PARAMETERS, SCALING, SHARE, Turns
from paramsym.atlas.values import Value
from paramsym.errors import NotYetError


@dataclass(frozen=True)
class Rotated:
    """How many entries of a head are rotated: fewer than the head has, or, with ``whole``, at most as many.

    Rotation takes pairs: with ``up`` the reference rounds an odd number up, without it, it takes no odd one. ``width`` are the letters of
    the head's width: one, or a dividend and a divisor. ``key`` is a number, or a share of the width, a whole number; ``default`` is its
    value if it is not given.
    """

    letter: str
    width: tuple[str, ...]
    key: str
    default: float
    whole: bool = False
    up: bool = False

    def stated(self, values: Mapping[str, Value]) -> Any:
        """Return the number or the share that a configuration says."""
        found = share_of(values, self.key) if self.key.endswith(SHARE) else values.get(self.key, self.default)
        return self.default if found is None and self.key.endswith(SHARE) else found

    def other_values(self, values: Mapping[str, Value]) -> Iterator[str]:
        """Yield why a configuration rotates something else; nothing if it does not."""
        found = self.stated(values)
        if found is None:
            yield f"{self.key} is null; what the model computes is known if it is given"
        elif self.key.endswith(SHARE) and not (0 <= found < 1 or (found == 1 and self.whole)):
            yield f"{self.key} is {found}; what the model computes is known {'up to' if self.whole else 'for shares below'} 1"

    def other_numbers(self, numbers: Mapping[str, int]) -> Iterator[str]:
        """Yield why numbers of letters are of another kind; nothing if they are not."""
        if {self.letter, *self.width} <= numbers.keys():
            width = numbers[self.width[0]] // (numbers[self.width[1]] if self.width[1:] else 1)
            if numbers[self.letter] > width or (numbers[self.letter] == width and not self.whole):
                known = f"{'at most' if self.whole else 'fewer than'} the {width} entries of a head"
                yield f"{self.letter} is {numbers[self.letter]}; what the model computes is known for {known}"

    def size(self, values: Mapping[str, Value], sizes: Mapping[str, Count], numbers: Mapping[str, Any]) -> Count:
        """Return the number of rotated entries; ``numbers`` are those of the configuration, which say whether a quotient is exact.

        Raises:
            NotYetError: a share of a width that is no whole number, as the reference computes it in floating-point numbers.
        """
        found = self._size(values, sizes, numbers)
        if isinstance(found, int):
            return found + found % 2 if self.up else found
        try:
            odd = self._size(values, numbers, numbers) % 2
        except NotYetError:  # the numbers of the configuration need not fit: others may be put in for the letters
            odd = 0
        if odd and not self.up:
            said = f"{self.key} is {self.stated(values)}, which gives an odd number of entries of a head"
            raise NotYetError(f"{said}; what the model computes is known for pairs.")
        return 2 * ((found + 1) // 2) if odd else found

    def _size(self, values: Mapping[str, Value], sizes: Mapping[str, Any], numbers: Mapping[str, Any]) -> Any:
        share = self.stated(values)
        if share is None or not self.key.endswith(SHARE):
            return int(share or 0)
        first, *by = self.width
        whole, width = numbers[first], sizes[first]
        for one in by:
            width = canonical(per(width, sizes[one]) if whole % numbers[one] == 0 else width // sizes[one])
            whole //= numbers[one]
        above, below = Fraction(str(share)).as_integer_ratio()
        if not isinstance(width, int):
            return per(width * above, below)
        if width * above % below or int(width * share) != width * above // below:
            raise NotYetError(f"{self.key} is {share}; what the model computes is known if this share of {width} is a whole number.")
        return width * above // below


def share_of(values: Mapping[str, Value], key: str) -> Any:
    """Return the rotated share that a configuration states in its settings of positions, or under its own key."""
    inside = key.removesuffix(SHARE)
    stated = thawed(values.get(inside + SCALING) or values.get(inside + PARAMETERS))
    found = stated.get(SHARE) if isinstance(stated, Mapping) else None
    return values.get(key) if found is None else found


def stated_as(values: Mapping[str, Value], key: str, held: Sequence[Value], turns: Sequence[Turns]) -> Any:
    """Return the value of a held key; a rotated share that is the default is null, as it is held."""
    if not key.endswith(SHARE):
        return values.get(key, held[0])
    found = share_of(values, key)
    usual = [one.settings.get(SHARE) for one in turns if one.inside + SHARE == key]
    return held[0] if found is None or (found in usual and None in held) else found
