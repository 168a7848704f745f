"""Edits of options: the layer with another flag, dialect or head on top, the cost asked with other options, which explain a claim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from inspect import Parameter, signature
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import Counted, holder, total, with_layer
from paramsym.analysis.reconcile.edits import Edit, fixed
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.wording import listed
from paramsym.core.fields import hints_of
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError

_COST = 0.93
_LABELS = BY_NAME["N"].symbol
_CLASSES = {2: 0.07, 1000: 0.07, 10: 0.2, 100: 0.2, 21_841: 0.2}  # binary, ImageNet; CIFAR, ImageNet-21k; the extra cost of each


def _changed(root: Layer, name: str, value: Any) -> Layer:
    """Build a layer again with another option; ``replace`` cannot build ``Runs``, which takes its parts one by one."""
    if signature(type(root)).parameters[name].default is Parameter.empty:
        return replace(root, **{name: value})  # type: ignore[type-var]
    arguments, named = root.arguments()
    return type(root)(*arguments, **{**named, name: value})


def optional(subject: Subject) -> Iterator[Edit]:
    """Yield edits that change one option of the layer, if the changed layer can be built and counted."""
    root = holder(subject.root)
    cls: type = type(root)
    hints = hints_of(cls)
    for field in fields(root):  # type: ignore[arg-type]
        now = getattr(root, field.name)
        found: dict[tuple[Polynomial, str], tuple[list[str], frozenset[str], float]] = {}
        for value in choices(hints.get(field.name), now) if field.init else ():
            if value == now and type(value) is type(now):
                continue
            try:
                built = with_layer(subject.root, _changed(root, field.name, value))
            except ParamsymError:
                continue
            for more, term, extra in _differences(subject, built):
                changed = frozenset(line.name for line in subject.root.lines) ^ frozenset(line.name for line in built.lines)
                found.setdefault((term, more), ([], changed, extra))[0].append(repr(value))
        for (term, more), (values, changed, extra) in found.items():
            others = f" (or {listed(values[1:])})" if values[1:] else ""
            words = f"built with {field.name}={values[0]}{others} in place of {now!r}{more}"
            yield fixed(subject, term, words, _COST + extra, sorted(changed), alone=True)


def _differences(subject: Subject, built: Counted) -> Iterator[tuple[str, Polynomial, float]]:
    """Yield the contribution of another option, in words and in letters, with its extra cost.

    A head with labels is tried with the usual numbers of classes, a head with ties both as stored and as listed.
    """
    more = built.symbols - set(subject.sizes)
    tied = _tied(built) - _tied(subject.root)
    for number, extra in (_CLASSES if more == {_LABELS} else {} if more else {0: 0.0}).items():
        term = (built.polynomial.put(_LABELS, Polynomial.of(number)) if more else built.polynomial) - subject.formula
        if term:
            yield f", {_LABELS} = {number:,}" if more else "", term, extra
        if tied and not more and term + tied:
            yield ", what it ties counted under each name", term + tied, extra + 0.1


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
