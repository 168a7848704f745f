"""Dotted paths: which numbered copy a name means, and which tensor an alias is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from paramsym.errors import StructureError
from paramsym.ledger import Line, Numbers
from paramsym.size import extent

_LISTED = 12  # names shown in an error before it is cut short

_PLACE = re.compile(r"\{[^{}]*\}")  # where a number goes in a path: {} or {0..L-1}

ANY = -1
"""What ``number_in`` returns for ``{}``: every copy."""


def number_in(numbers: Numbers, name: str) -> int | None:
    """Return which copy a name means: its number, ``ANY`` for the pattern or template itself, None where it means none of them."""
    if not numbers.pattern:
        return None
    if name == numbers.pattern or ("{" in name and name == str(numbers)):
        return ANY
    before, after = numbers.pattern.split("{}", 1)
    digits = name[len(before) : len(name) - len(after) if after else None]
    if not (name.startswith(before) and name.endswith(after) and digits.isascii() and digits.isdigit()) or str(int(digits)) != digits:
        return None
    number = int(digits)
    values = numbers.values
    if values is not None:
        return number if number in values else None
    inside = not isinstance(numbers.start, int) or (number >= numbers.start and (number - numbers.start) % numbers.step == 0)
    return number if inside else None


def covers(path: str, name: str) -> bool:
    """Say whether a tensor's name is a path or stands below it; ``{}`` in the path stands for any number."""
    return re.fullmatch(rf"{_expression(path)}(\..*)?", name) is not None


def _expression(path: str) -> str:
    return r"(\d+|\{[^{}]*\})".join(re.escape(piece) for piece in _PLACE.split(path))


def every_copy(ties: Iterable[tuple[str, str]], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Write out ties with ``{}``, or a template's ``{0..L-1}``, in them: one for each name the alias stands for, numbers agreeing."""
    for alias, first in ties:
        if "{" not in alias or alias in names:
            yield alias, first
            continue
        places = _PLACE.findall(alias)
        found = [match for name in names if (match := re.fullmatch(_expression(alias), name)) and all(map(_among, match.groups(), places))]
        for match in found:
            yield match[0], _filled(first, match.groups())
        if not found:
            yield alias, first


def _filled(path: str, numbers: Iterable[str]) -> str:
    pieces, places = _PLACE.split(path), _PLACE.findall(path)
    filled = [*numbers][: len(places)]
    return "".join(piece + place for piece, place in zip(pieces, [*filled, *places[len(filled) :], ""], strict=True))


def _among(found: str, place: str) -> bool:
    """Say whether the number or template found is among those a place stands for; where a bound is a symbol, it may be."""
    inside, around = _span(found), _span(place)
    return inside is None or around is None or (inside[0] in around and inside[-1] in around)


def _span(place: str) -> range | None:
    if place.isdigit():
        return range(int(place), int(place) + 1)
    bounds = re.fullmatch(r"\{(\d+)(?:,(\d+))?\.\.(\d+)\}", place)
    if bounds is None:
        return None
    start, second, last = int(bounds[1]), int(bounds[2] or int(bounds[1]) + 1), int(bounds[3])
    return range(start, last + 1, second - start) or None


def resolve_ties(ties: Iterable[tuple[str, str]], names: list[str], *, written_out: bool = False) -> dict[str, str]:
    """Resolve ties to ``{alias: first name}``, where the first name is the first in storage order.

    Where copies are ``written_out`` there may be none of them, and a tie between those says nothing.

    Raises:
        StructureError: a tie that ends in no tensor.
    """
    position = {name: i for i, name in reversed(list(enumerate(names)))}
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        while name in leader:
            name = leader[name]
        return name

    for pair in every_copy(ties, names):
        if written_out and not all(name in position for name in pair):
            continue
        for name in pair:
            if name not in position:
                held = list(dict.fromkeys(names))  # a tensor of several segments has a line for each
                known = ", ".join(held[:_LISTED]) + (f", ... ({len(held)} in all)" if len(held) > _LISTED else "")
                message = f"there is no tensor {name!r} to tie; the layer has {known or 'none'}."
                raise StructureError(message)
        one, two = sorted({find(name) for name in pair}, key=position.__getitem__)[:2] if find(pair[0]) != find(pair[1]) else ("", "")
        if one:
            leader[two] = one
    return {name: find(name) for name in leader}


def check_tied_shapes(firsts: Mapping[str, str], lines: Mapping[str, Line]) -> None:
    """Raise ``StructureError`` where an alias and its first name differ in shape, or stand for different numbers of tensors."""
    tied = {name: lines[name] for name in (*firsts, *firsts.values())}
    sizes = {name: tuple(extent(stated) for stated in line.shape) for name, line in tied.items()}
    copies = {name: [step for step in line.path if isinstance(step, Numbers) and step.count != 1] for name, line in tied.items()}
    for alias, first in firsts.items():
        if sizes[alias] != sizes[first]:
            message = f"{alias!r} has shape {sizes[alias]} and {first!r} has {sizes[first]}; only equal shapes can be tied."
            raise StructureError(message)
        if copies[first] and copies[first] != copies[alias][: len(copies[first])]:
            message = f"{first!r} stands for many tensors and {alias!r} for others; tie them inside the repeated block, or name one copy."
            raise StructureError(message)
