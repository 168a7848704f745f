"""Numbered copies as separate parts, so that one of them can differ: the same tensors under the same names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sympy import Integer

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, canonical
from paramsym.core.around import Around
from paramsym.core.layer import Layer, Part
from paramsym.core.paths import ANY, number_in, prefixes
from paramsym.core.ties import beside
from paramsym.errors import StructureError


@dataclass(frozen=True)
class Split(Around):
    """A layer with some of its numbered copies as separate parts: the same tensors under the same names."""

    paths: tuple[str, ...]

    def parts(self) -> Iterator[Part]:
        return _split_parts(self.layer, self.paths)

    def __repr__(self) -> str:
        return repr(self.layer)


def split(layer: Layer, paths: Iterable[str], ties: Mapping[str, str] | None = None) -> Layer:
    """Return the same layer with the numbered copies that the paths name split off; also the copies that ``ties`` pair with them."""
    known = dict.fromkeys(paths)
    if not known:
        return layer
    pairs = [pair for pair in {**layer.ties(), **(ties or {})}.items() if "{" in pair[0]]
    waiting = [*known] if pairs else []
    while waiting:
        path = waiting.pop()
        for other in beside(path, pairs):
            if other not in known:
                known[other] = None
                waiting.append(other)
    parts = tuple(_split_parts(layer, known))
    if len(parts) == len(layer.own_parts) and all(part is own for part, own in zip(parts, layer.own_parts, strict=True)):
        return layer
    return Split(layer, tuple(known))


def _split_parts(layer: Layer, paths: Iterable[str]) -> Iterator[Part]:
    paths = [path for path in paths if path]
    inside: dict[str, list[str]] = {}
    for path in paths:
        for head, rest in prefixes(path):
            inside.setdefault(head, []).append(rest)
    for part in layer.own_parts:
        if part.numbers is not None:
            yield from _split_copies(part, part.numbers, inside)
        else:
            inner = split(part.layer, inside.get(part.name, ()) if part.name else paths)
            yield part if inner is part.layer else replace(part, layer=inner)


def _split_copies(part: Part, numbers: Numbers, inside: Mapping[str, list[str]]) -> Iterator[Part]:
    """Yield the runs of copies between the named ones, and each named copy alone."""
    every: list[str] = []
    alone: dict[int, list[str]] = {}
    for head, rests in inside.items():
        place = _place(part, numbers, head)
        if place == ANY:
            every.extend(rests)
        elif place is not None:
            alone.setdefault(place, []).extend(rests)
    if numbers.alone or (numbers.count == 1 and part.used is not None):
        every, alone = [*every, *(path for paths in alone.values() for path in paths)], {}
    inner = split(part.layer, every)
    rest = part if inner is part.layer else replace(part, layer=inner)
    if not alone:
        yield rest
        return
    if part.used is not None:
        message = f"a token uses {part.used} of the copies {numbers}, so one of them cannot differ; use {numbers.pattern} for all."
        raise StructureError(message)
    done = 0
    for place, paths in sorted(alone.items()):
        if place > done:
            yield replace(rest, numbers=_run(numbers, done, place - done))
        start = canonical(numbers.start + numbers.step * place)
        inner = rest.layer
        if numbers.index is not None and numbers.index in inner.symbols:
            inner = inner.substituted({numbers.index: Integer(start) if isinstance(start, int) else start})
        yield replace(rest, layer=split(inner, paths), numbers=Numbers(1, start, numbers.step, numbers.pattern, alone=True))
        done = place + 1
    # The part after the named copy stays even if it has no copies: a symbolic number of copies may become so small.
    yield replace(rest, numbers=_run(numbers, done, canonical(numbers.count - done)))


def _run(numbers: Numbers, done: int, count: Count) -> Numbers:
    return replace(numbers, count=count, start=canonical(numbers.start + numbers.step * done))


def _place(part: Part, numbers: Numbers, head: str) -> int | None:
    """Return the number of copies before the one that a step of a path names; ``ANY`` if it names all."""
    if not numbers.pattern:
        found = meant(part, head)
        number = None if found is None else found[1]
    elif not isinstance(numbers.start, int) and head == str(replace(numbers, count=1)):
        return 0
    else:
        number = number_in(numbers, head)
    if number is None or number == ANY:
        return number
    if not isinstance(numbers.start, int):
        raise StructureError(f"the copies {numbers} start at a symbol; put its size in before editing number {number}.")
    return (number - numbers.start) // numbers.step


def meant(part: Part, name: str) -> tuple[str, int] | None:
    """Return the tensor and the copy that a name means, if tensor names contain the numbers."""
    if part.numbers is None or part.numbers.pattern:
        return None
    for tensor in part.layer.own_tensors:
        number = number_in(replace(part.numbers, pattern=tensor.name), name)
        if number is not None:
            return tensor.name, number
    return None
