"""Ties: which names mean one tensor, and what tied tensors must have in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from paramsym.algebra.line import Line
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import extent
from paramsym.core.paths import PLACE, expression_of
from paramsym.errors import StructureError

_LISTED = 12  # the most names that an error shows


def beside(path: str, ties: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the tensors that ties of many copies pair with the copies on a path, their numbers filled in."""
    for pair in ties:
        for side, other in (pair, pair[::-1]):
            numbers = _numbers_shared(_tokens(path), _tokens(side))
            if numbers and PLACE.search(other):
                yield _filled(other, numbers)


@lru_cache(maxsize=1 << 10)
def _tokens(path: str) -> list[str]:
    """Split a path before and after each number and each template."""
    return re.split(r"(\d+|\{[^{}]*\})", path)


def _numbers_shared(path: list[str], side: list[str]) -> list[str]:
    """Return the numbers of a path at the templates of a tie, as far as both name the same copies."""
    shared: list[str] = []
    for position, (here, there) in enumerate(zip(path, side, strict=False)):
        if position % 2 == 0:
            if here != there:
                in_one_step = any(literal and not literal.startswith(".") for literal in (here, there))
                return shared[:-1] if in_one_step and position and "{" in side[position - 1] else shared
        elif not (_among(here, there) or _among(there, here)):
            return shared
        elif "{" in there:
            shared.append(there if here == "{}" else here)
    return shared


def every_copy(ties: Iterable[tuple[str, str]], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Write out ties with ``{}`` or a template ``{0..L-1}``: one tie for each name of the alias, with equal numbers."""
    for alias, first in ties:
        if "{" not in alias or alias in names:
            yield alias, first
            continue
        places, expression = PLACE.findall(alias), expression_of(alias)
        found = [match for name in names if (match := expression.fullmatch(name)) and all(map(_among, match.groups(), places))]
        for match in found:
            yield match[0], _filled(first, _at_places(alias, first, match.groups()))
        if not found:
            yield alias, first


def _at_places(alias: str, first: str, numbers: tuple[str, ...]) -> list[str]:
    """Return the numbers for the templates of the first name: those at the same places of the alias, if both have the same steps."""
    here, there = _tokens(alias), _tokens(first)
    if len(here) != len(there) or here[::2] != there[::2]:
        return [*numbers]
    given = iter(numbers)
    taken = [next(given) if "{" in one else one for one in here[1::2]]
    return [number for number, place in zip(taken, there[1::2], strict=True) if "{" in place]


def _filled(path: str, numbers: Iterable[str]) -> str:
    pieces, places = PLACE.split(path), PLACE.findall(path)
    filled = [*numbers][: len(places)]
    return "".join(piece + place for piece, place in zip(pieces, [*filled, *places[len(filled) :], ""], strict=True))


def _among(found: str, place: str) -> bool:
    """Whether a number or template is inside a template; if a bound is a symbol, it is assumed to be."""
    inside, around = _span(found), _span(place)
    if found == place or inside is None or around is None:
        return True
    (start, _, last), (least, step, most) = inside, around
    # An empty template comes after the last copy that was split off.
    through = start if last is None else max(last, start - step)
    return start >= least and (start - least) % step == 0 and (most is None or through <= most)


def _span(place: str) -> tuple[int, int, int | None] | None:
    """Return the first number of a template, its step and the last number, which is None for a symbol."""
    if place.isdigit():
        return int(place), 1, int(place)
    bounds = re.fullmatch(r"\{(\d+)(?:,(\d+))?\.\.(.*)\}", place)
    if bounds is None:
        return None
    start, last = int(bounds[1]), int(bounds[3]) if re.fullmatch(r"-?\d+", bounds[3]) else None
    return start, int(bounds[2] or start + 1) - start, last


def tied_lines(lines: Sequence[Line], ties: Mapping[str, str]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return the lines of a layer with its ties, and those that are aliases by these ties."""
    names = [line.name for line in lines]
    known = [(name, line.alias_of) for name, line in zip(names, lines, strict=True) if line.alias_of]
    firsts = resolve_ties([*known, *ties.items()], names)
    check_tied_shapes(firsts, dict(zip(names, lines, strict=True)))
    frozen = frozen_under_any(firsts, (line.name for line in lines if not line.trainable and not line.buffer))
    tied = [
        replace(line, alias_of=firsts.get(name, ""), trainable=line.trainable and name not in frozen)
        if name in firsts or name in frozen
        else line
        for name, line in zip(names, lines, strict=True)
    ]
    return tuple(tied), tuple(line for name, line in zip(names, lines, strict=True) if name in firsts and not line.alias_of)


def resolve_ties(ties: Iterable[tuple[str, str]], names: list[str], *, written_out: bool = False) -> dict[str, str]:
    """Resolve ties to ``{alias: first name}``, where the first name is the first in storage order.

    If copies are ``written_out``, there may be no copies; a tie between them is then skipped.

    Raises:
        StructureError: a tie to a missing tensor.
    """
    position: dict[str, int] = {}
    for name in names:
        position.setdefault(name, len(position))
    leader: dict[str, str] = {}

    def find(name: str) -> str:
        found = name
        while found in leader:
            found = leader[found]
        while name != found:  # shorten the way for the next lookup
            leader[name], name = found, leader[name]
        return found

    for pair in every_copy(ties, position):
        if written_out and not all(name in position for name in pair):
            continue
        for name in pair:
            if name not in position:
                known = ", ".join([*position][:_LISTED]) + (f", ... ({len(position)} in all)" if len(position) > _LISTED else "")
                raise StructureError(f"there is no tensor {name!r} to tie; the layer has {known or 'none'}.")
        one, two = sorted(map(find, pair), key=position.__getitem__)
        if one != two:
            leader[two] = one
    return {name: find(name) for name in leader}


def frozen_under_any(firsts: Mapping[str, str], frozen: Iterable[str]) -> frozenset[str]:
    """Return every name of the tied tensors that are frozen under one of their names."""
    tensors = {firsts.get(name, name) for name in frozen} if firsts else set[str]()
    return frozenset(name for pair in firsts.items() if pair[1] in tensors for name in pair)


def check_tied_shapes(firsts: Mapping[str, str], lines: Mapping[str, Line]) -> None:
    """Raise ``StructureError`` where an alias and its first name differ in shape, or mean different numbers of tensors."""
    tied = {name: lines[name] for name in (*firsts, *firsts.values())}
    sizes = {name: tuple(extent(stated) for stated in line.shape) for name, line in tied.items()}
    copies = {name: [step for step in line.path if isinstance(step, Numbers) and step.count != 1] for name, line in tied.items()}
    for alias, first in firsts.items():
        if sizes[alias] != sizes[first]:
            raise StructureError(f"{alias!r} has shape {sizes[alias]} and {first!r} has {sizes[first]}; only equal shapes can be tied.")
        listed = any(step.label for step in copies[alias])  # the layer itself says which copies are one
        if copies[first] and not listed and copies[first] != copies[alias][: len(copies[first])]:
            message = f"{first!r} and {alias!r} mean different numbers of tensors; tie them inside the repeated block, or name one copy."
            raise StructureError(message)
