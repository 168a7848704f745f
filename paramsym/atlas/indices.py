"""The numbered copies of a row: sets of indices below a bound, as a record states them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paramsym.atlas.expression import OutsideError, Values, atom, chosen, evaluated

MOST_COPIES = 100_000


def indices(values: Values, what: Any, bound: int) -> Sequence[int]:
    """Return the indices of a set: ``all``, ``range``, ``where`` a law has one of some values, ``not`` in another set, or ``?``: by cases.

    >>> list(indices({"k": 2}, ["where", ["mod", "k", 1], [0]], 6))
    [1, 3, 5]
    """
    if bound > MOST_COPIES:
        raise OutsideError(f"there would be {bound} copies.")
    kind = what[0]
    if kind == "?":
        return indices(values, chosen(values, what[1], what[2]), bound)
    if kind == "all":
        return range(bound)
    if kind == "range":
        low, high = evaluated(values, what[1]), evaluated(values, what[2])
        if not low >= 0 or not high <= bound:
            raise OutsideError(f"a law needs the copies {low} to {high}, and there are {bound}.")
        return range(low, high)
    if kind == "not":
        without = set(indices(values, what[1], bound))
        return [index for index in range(bound) if index not in without]
    if kind == "both":
        second = set(indices(values, what[2], bound))
        return [index for index in indices(values, what[1], bound) if index in second]
    return [index for index in range(bound) if law(values, what[1], index, bound) in what[2]]  # "where"


def law(values: Values, what: Any, index: int, bound: int) -> Any:
    """Return the value of a law for one index: an entry of a list, a remainder, or whether it is a member, first or last."""
    kind, *operands = what
    if kind == "entry":
        held = values.get(operands[0])
        if not isinstance(held, tuple) or index >= len(held):
            raise OutsideError(f"{operands[0]} has no entry {index}.")
        return held[index]
    if kind == "member":
        held = values.get(operands[0])
        return isinstance(held, tuple) and (index in held or index - bound in held)
    if kind == "ends":
        return "first" if index == 0 else "last" if index == bound - 1 else "between"
    if kind == "last":
        return index == bound - 1
    modulus = atom(values, operands[0])
    if not isinstance(modulus, int) or modulus < 1:
        raise OutsideError(f"a period is {modulus}.")
    shift = atom(values, operands[1])
    return (index + shift) % modulus if kind == "mod" else (index - shift) % modulus  # "mod", "from"
