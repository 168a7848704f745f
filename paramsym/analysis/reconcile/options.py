"""Edits of options: the layer with another flag, dialect or head on top, the cost asked with other options, which explain a claim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from inspect import Parameter, signature
from itertools import groupby
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from sympy import Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import Counted, holder, total, with_layer
from paramsym.analysis.reconcile.edits import Edit, fixed
from paramsym.analysis.reconcile.subject import Subject, cached
from paramsym.analysis.wording import listed
from paramsym.core.fields import hints_of
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError

_COST = 0.93
_LABELS = BY_NAME["N"].symbol
_CLASSES = {2: 0.07, 1000: 0.07, 3: 0.2, 9: 0.2, 10: 0.2, 100: 0.2, 21_841: 0.2, 21_843: 0.2}
"""Numbers of classes, of two, ImageNet, MNLI, CoNLL, CIFAR and ImageNet-21k, and their extra cost."""
_FAMILY = re.compile(r"(\w+?)(?:(?:LMHead|DoubleHeads|Encoder|Decoder|Text|Vision|MT)?Model\w*|Backbone|For[A-Z]\w*)")


def _changed(root: Layer, name: str, value: Any) -> Layer:
    """Build a layer again with another option; ``replace`` cannot build ``Runs``, which takes its parts one by one."""
    if signature(type(root)).parameters[name].default is Parameter.empty:
        return replace(root, **{name: value})  # type: ignore[type-var]
    arguments, named = root.arguments()
    return type(root)(*arguments, **{**named, name: value})


@dataclass(frozen=True)
class _Other:
    """A layer or a cost with another option: its formula, its letters, what it ties, and the tensors that differ."""

    option: str
    value: object
    now: object
    formula: Polynomial
    letters: frozenset[Symbol]
    tied: Polynomial
    changed: frozenset[str]


def optional(subject: Subject) -> Iterator[Edit]:
    """Yield edits that change one option of the layer, if the changed layer can be built and counted."""
    for _, others in groupby(_others(subject.root), lambda one: one.option):
        found: dict[tuple[Polynomial, str], tuple[list[_Other], float]] = {}
        for other in others:
            for more, term, extra in _differences(subject, other):
                found.setdefault((term, more), ([], extra))[0].append(other)
        for (term, more), ((first, *same), extra) in found.items():
            others_too = f" (or {listed([repr(one.value) for one in same])})" if same else ""
            words = f"built with {first.option}={first.value!r}{others_too} in place of {first.now!r}{more}"
            yield fixed(subject, term, words, _COST + extra, sorted(first.changed), alone=True)


@cached(32)
def _others(root: Counted) -> tuple[_Other, ...]:
    """Return what a layer or a cost is with each other option, whatever its sizes are."""
    layer, found = holder(root), []
    cls: type = type(layer)
    hints, names, tied = hints_of(cls), frozenset(line.name for line in root.lines), _tied(root)
    for field in fields(layer):  # type: ignore[arg-type]
        now = getattr(layer, field.name)
        for value in choices(hints.get(field.name), now) if field.init else ():
            if (value == now and type(value) is type(now)) or _family(value) != _family(now):
                continue
            try:
                built = with_layer(root, _changed(layer, field.name, value))
                formula = built.polynomial
            except ParamsymError:
                continue
            changed = names ^ frozenset(line.name for line in built.lines)
            found.append(_Other(field.name, value, now, formula, built.symbols, _tied(built) - tied, changed))
    return tuple(found)


@cached(8)
def with_modules(root: Counted) -> tuple[tuple[str, Counted], ...]:
    """Return a layer with each module that it can have and has not, such as one that predicts a further token, with the words for it."""
    layer, names = holder(root), frozenset(line.name for line in root.lines)
    cls: type = type(layer)
    found = []
    for field in fields(layer):  # type: ignore[arg-type]
        now = getattr(layer, field.name)
        if field.init and type(now) is int and now == 0 and choices(hints_of(cls).get(field.name), now) == (1,):
            try:
                built = with_layer(root, _changed(layer, field.name, 1))
            except ParamsymError:
                continue
            if names < frozenset(line.name for line in built.lines):
                found.append((f"built with {field.name}=1 in place of 0", built))
    return tuple(found)


def _differences(subject: Subject, other: _Other) -> Iterator[tuple[str, Polynomial, float]]:
    """Yield the contribution of another option, in words and in letters, with its extra cost.

    A head with labels is tried with the usual numbers of classes, a head with ties both as stored and as listed.
    """
    more = other.letters - set(subject.sizes)
    for number, extra in (_CLASSES if more == {_LABELS} else {} if more else {0: 0.0}).items():
        term = (other.formula.put(_LABELS, Polynomial.of(number)) if more else other.formula) - subject.formula
        if term:
            yield f", {_LABELS} = {number:,}" if more else "", term, extra
        if other.tied and not more and term + other.tied:
            yield ", what it ties counted under each name", term + other.tied, extra + 0.1


def _family(value: object) -> str:
    """Return the family of a class of a reference: another head is another way to count a model, and another family is another model."""
    found = _FAMILY.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else ""


def _tied(layer: Counted) -> Polynomial:
    return total(line for line in layer.lines if line.alias_of and not line.buffer)


def choices(hint: Any, now: Any = None) -> tuple[Any, ...]:
    """Return the values of a flag or of a closed choice, and 1 for a number that is 0 now; other fields have no finite list of values."""
    if hint is bool:
        return (False, True)
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) is Annotated:
        return (1,) if now == 0 else ()
    if get_origin(hint) in {Union, UnionType}:
        return tuple(value for part in get_args(hint) for value in choices(part, now))
    return ()
