"""Edits of many parts at once: which paths a pattern means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from paramsym.core.around import Holder
from paramsym.core.edit import edited, frozen
from paramsym.core.names import layer_at
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.naming import nearest, quoted

if TYPE_CHECKING:
    from paramsym.core.layer import Layer

_SHOWN = 8  # the most paths that an error shows
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")  # a step of a path that is a number


def replaced(layer: Layer, path: str | Sequence[str], new: Layer | Callable[[Layer], Layer]) -> Layer:
    """Return a layer with the parts that ``path`` means replaced, as ``Layer.replace`` says."""
    several = _several(path)
    if not several:
        _check_path(layer, path)
    if not several and not (callable(new) and isinstance(path, str)):
        return edited(layer, path, new)  # type: ignore[arg-type]
    made: dict[str, list[tuple[str, Layer]]] = {}
    for one, template in paths_of(layer, path) if several else [(path, path)]:
        made.setdefault(one, []).append((template, _made(new, _held(layer, template)) if callable(new) else new))  # type: ignore[arg-type]
    for one, found in made.items():
        if all(other == found[0][1] for _, other in found):
            found = [(one, found[0][1])]  # noqa: PLW2901 - all copies alike: the path stays valid when their number is put in
        for template, other in found:
            layer = edited(layer, template, other)
    return layer


def _made(new: Callable[[Layer], Layer], old: Layer) -> Layer:
    try:
        return new(old)
    except TypeError as error:
        if not isinstance(new, type):  # the error of a user's own function is passed on
            raise
        raise ArgumentError(
            f"new is the class {new.__name__}, which does not take the part alone ({error}); wanted a layer, or a function of that part."
        ) from None


def frozen_at(layer: Layer, path: str | Sequence[str]) -> Layer:
    """Return a layer in which the parts that ``path`` matches are frozen; see ``Layer.freeze``."""
    if not _several(path):
        _check_path(layer, path)
        return frozen(layer, path)  # type: ignore[arg-type]
    for one in dict.fromkeys(one for one, _ in paths_of(layer, path)):
        layer = frozen(layer, one)
    return layer


def _check_path(layer: Layer, path: object) -> None:
    """Refuse a name that is no path but the last name of some parts; the error says that a list means all of them.

    Raises:
        UnknownNameError: no part has this path, and some paths end in this name.
    """
    if not isinstance(path, str):
        return
    try:
        _held(layer, path)
    except UnknownNameError:
        paths = [one for one, _, _ in _below(layer, numbered=False) if one.endswith(f".{path}")]
        if paths:
            message = f"{_name(layer)} has no part {path!r}; a list means every part of this name: [{path!r}] is {_first(paths)}."
            raise UnknownNameError(message) from None


def _held(layer: Layer, path: str) -> Layer:
    return layer.part(path) if layer.has_tied_or_frozen else layer_at(layer, path)


def _several(path: object) -> bool:
    return "*" in path if isinstance(path, str) else isinstance(path, list | tuple)


def paths_of(layer: Layer, pattern: str | Sequence[str]) -> list[tuple[str, str]]:
    """Return the paths that a pattern means, outermost parts only, each with ``{}`` for all copies, and with the numbers of these copies.

    ``*`` means any characters, including dots. A list of names means every part whose path ends in one of them.

    Raises:
        ArgumentError: something that is not a pattern.
        UnknownNameError: a pattern that fits no path.

    >>> from paramsym import Dense, H, L, Repeat
    >>> paths_of(Repeat(Dense(H, H), L, name="layer.{}"), "layer.*")
    [('layer.{}', 'layer.{0..L-1}')]
    """
    patterns = [pattern] if isinstance(pattern, str) else [*pattern]
    if not patterns or not all(isinstance(one, str) and one for one in cast("list[object]", patterns)):
        raise ArgumentError(
            f"{type(layer).__name__}.replace() takes a dotted path, such as 'encoder.layer.*.query', or a list of names,"
            f" such as ['query', 'value'], not {quoted(pattern)}."
        )
    before = "" if isinstance(pattern, str) else r"(.*\.)?"
    fits = [re.compile(before + ".*".join(map(re.escape, one.split("*")))) for one in patterns]
    numbered = any(_NUMBER.search(one) for one in patterns)
    for one, fit in zip(patterns, fits, strict=True):
        if next(_found(layer, [fit], numbered=numbered), None) is None:
            raise UnknownNameError(_unfit(layer, one))
    return list(_found(layer, fits, numbered=numbered))


def _unfit(layer: Layer, pattern: str) -> str:
    """Return the error for a pattern without a match, with the paths of similar parts."""
    paths = [path for path, _, _ in _below(layer, numbered=False)]
    names = nearest(pattern.rpartition(".")[2].strip("*"), dict.fromkeys(path.rpartition(".")[2] for path in paths))
    near = list(dict.fromkeys(path for path in paths if path.rpartition(".")[2] in names)) or _kinds(paths)
    return f"{_name(layer)} has no part that fits {pattern!r}; its parts are {_first(near) or 'none'}."


def _kinds(paths: Sequence[str]) -> list[str]:
    """Return one path for each last name, those of the innermost parts first: they are what is replaced most often."""
    by_name = {path.rpartition(".")[2]: path for path in paths if not path.endswith("}")}
    return sorted(by_name.values(), key=lambda path: -path.count("."))


def _first(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_SHOWN]) + (", ..." if len(paths) > _SHOWN else "")


def _name(layer: Layer) -> str:
    """Return the class's name, without the names of edits."""
    while isinstance(layer, Holder):
        layer = layer.layer
    return type(layer).__name__


def _found(layer: Layer, fits: Sequence[re.Pattern[str]], *, numbered: bool) -> Iterator[tuple[str, str]]:
    inside = ""
    for path, template, _ in _below(layer, numbered=numbered):
        if inside and template.startswith(inside):
            continue
        if any(fit.fullmatch(path) for fit in fits):
            inside = f"{template}."
            yield path, template


def _below(layer: Layer, path: str = "", template: str = "", *, numbered: bool) -> Iterator[tuple[str, str, Layer]]:
    """Yield every part with its path and its template; copies one by one if their numbers matter and are known."""
    for part in layer.own_parts:
        numbers = part.numbers
        if numbers is None:
            steps = [(part.name, part.name)]
        elif numbers.count == 0 or not numbers.pattern:
            continue
        elif numbered and numbers.values is not None:
            steps = [(name := numbers.pattern.replace("{}", str(number)), name) for number in numbers.values]
        else:
            steps = [(numbers.pattern, str(numbers))]
        for step, named in steps:
            inner = (f"{path}.{step}".strip("."), f"{template}.{named}".strip("."))
            if step:
                yield *inner, part.layer
            yield from _below(part.layer, *inner, numbered=numbered)
