"""Edits of options: the same layer built with another flag, another dialect, another head on top."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import fields, replace
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from paramsym.analysis.edits import Edit
from paramsym.analysis.subject import Subject
from paramsym.errors import ParamsymError

_COST = 0.95


def optional(subject: Subject) -> Iterator[Edit]:
    """Yield the edits that build the layer with one option changed, where that can be built and has a number."""
    root = subject.root
    cls: type = type(root)
    try:
        hints = typing.get_type_hints(cls)
    except (NameError, AttributeError, TypeError):
        return  # a class defined where its annotations cannot be looked up
    before = {line.name for line in root.lines}
    for field in fields(root):  # type: ignore[arg-type]
        now = getattr(root, field.name)
        for value in _choices(hints.get(field.name)) if field.init else ():
            if value == now:
                continue
            try:
                built = replace(root, **{field.name: value})  # type: ignore[type-var]
            except ParamsymError:
                continue
            if built.symbols <= set(subject.sizes) and built.polynomial != subject.formula:
                term = built.polynomial - subject.formula
                changed = tuple(sorted(before ^ {line.name for line in built.lines}))
                words = f"built with {field.name}={value!r} in place of {now!r}"
                yield Edit(words, changed, subject.value(term), _COST, fixed=term, alone=True)


def _choices(hint: Any) -> tuple[Any, ...]:
    """Return the values of a flag or of a closed choice; nothing else can be tried out."""
    if hint is bool:
        return (False, True)
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) in {Union, UnionType}:
        return tuple(value for part in get_args(hint) for value in _choices(part))
    return ()
