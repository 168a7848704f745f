"""Inputs that somebody asks about, beside the form that inputs have: the sizes of the letters in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sympy import Symbol

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, canonical, per, shown, substitute
from paramsym.errors import ShapeError


def asked(stated: Iterable[tuple[Any, ...]], given: Sequence[tuple[Dim, ...]], known: Mapping[Symbol, Any]) -> dict[Symbol, Any]:
    """Return the sizes of letters: the known ones, and those that inputs of these shapes have.

    Raises:
        ShapeError: inputs of another form.
    """
    sizes = dict(known)
    wanted = substitute(tuple(stated), sizes)
    form = shown(wanted[0]) if len(wanted) == 1 else ", ".join(map(shown, wanted))
    if [len(one) for one in given] != [len(one) for one in wanted]:
        raise ShapeError(f"the inputs are {', '.join(map(shown, given))}; the form of the inputs is {form}.")
    pairs = [pair for one, other in zip(given, wanted, strict=True) for pair in zip(one, other, strict=True)]
    for size, of_form in sorted(pairs, key=lambda pair: not isinstance(pair[1], Symbol)):
        here = substitute(of_form, sizes)  # with the letters found so far
        left = [symbol for symbol in getattr(of_form, "free_symbols", ()) if symbol not in sizes]
        if len(left) == 1:
            factor: Any = canonical(here / left[0])
            if not isinstance(factor, int) and left[0] in factor.free_symbols:
                raise ShapeError(f"no {left[0]} is found for {shown((size,))} from {here}.")
            if isinstance(size, int) and isinstance(factor, int) and size % factor:
                raise ShapeError(f"an input has {size} entries where {here} are wanted, and {factor} does not divide {size}.")
            sizes[left[0]] = canonical(per(size, factor))
        elif differ(size, here):
            raise ShapeError(f"the inputs are {', '.join(map(shown, given))}; the form of the inputs is {form}.")
    return sizes
