"""Write into records how the reference divides the axes of its tensors: ``PYTHONPATH=tests python -m atlas_builder.factoring led TYPE``.

A class is run at its default and with other numbers of heads. A factor that is always the number of one key, also where only this key is
another one, is that key; the last factor is what remains of the axis. Nothing else of a record changes: no law, no domain, no condition.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import torch
from atlas_builder.__main__ import DATA, file_in, record_in
from atlas_builder.passing import factors_in
from atlas_builder.reference import RefusedError, reference_of
from atlas_builder.slices import Factors, Segments

from paramsym.atlas.domain import verified
from paramsym.atlas.expression import OutsideError, chosen, evaluated
from paramsym.atlas.files import recorded_types
from paramsym.atlas.predicting import rows_of, sizes_of
from paramsym.atlas.reading import values_of
from paramsym.atlas.record import checked, packed, parsed
from paramsym.atlas.values import Value
from paramsym.errors import ConfigError

_DEPTH = re.compile(r"layers|depth|blocks|n_layer")
_HEADS = re.compile(r"head|group")
_MOST_KEYS = 6
_LONGEST = 120
Place = tuple[int, int]
"""The number of a row, and that of one of its axes."""


# Runs ----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observation:
    """One run: the values of the record's keys, and the factors of the axes of its rows."""

    values: Mapping[str, Value]
    factors: Mapping[Place, Factors]


class Observer:
    """Runs one class of the reference."""

    def __init__(self, model_type: str, name: str, record: Mapping[str, Any]) -> None:
        """Build the default.

        Raises:
            RefusedError: the reference does not build it.
        """
        self.record, self.entry = record, record["classes"][name]
        self.reference = reference_of(model_type, name)
        self.reference.first()
        self.rows = list(rows_of(self.entry["rows"], self.entry["expressions"]))
        self.patterns: dict[tuple[str, ...], list[int]] = {}
        for number, row in enumerate(self.rows):
            if row.kind != "tie":
                self.patterns.setdefault(row.template, []).append(number)
        self.start = self._shallow()
        self.points: list[Mapping[str, Value]] = [self.reference.start, self.start]

    def _shallow(self) -> dict[str, Value]:
        """Return the default with few layers, if they have all kinds of tensors."""
        start = dict(self.reference.start)
        whole = self.reference.build(start)
        kinds = {self._template(name) for name in whole.tensors}
        deep = [key for key, value in whole.values.items() if type(value) is int and value > 2 and _DEPTH.search(key)]
        deep = [key for key in deep if key in self.entry["keys"]]
        for depth in (2, 4):
            point = start | {key: depth for key in deep if verified(self.entry["keys"][key], depth)}
            with suppress(RefusedError, ConfigError):
                if {self._template(name) for name in self.reference.build(point).tensors} == kinds and self.values(point):
                    return point
        return start

    def values(self, point: Mapping[str, Value]) -> dict[str, Value]:
        """Return the values of the keys of a point: those of the record, beside those that the reference has."""
        found, *_ = values_of(self.reference.arguments(point), self.record, self.entry)
        return {**self.reference.resolved(point), **found}

    def observe(self, point: Mapping[str, Value]) -> Observation:
        """Run one configuration.

        Raises:
            RefusedError: the reference does not build it.
            ConfigError: the record does not read it.
        """
        values = self.values(point)
        self.points.append(point)
        config = self.reference.config_class(**self.reference.arguments(point))
        with torch.device("meta"):
            try:
                model = self.reference.model_class(config).eval()
            except Exception as error:
                raise RefusedError(str(error)) from error
        found: dict[Place, Factors | None] = {}
        for name, axes in factors_in(model).items():
            for place, factors in self._places(name, [_unpaired(one) for one in axes], values):
                known = found.setdefault(place, factors)
                if known is not None and known != factors:  # where one layer says nothing, the other does
                    found[place] = max(known, factors, key=_weight) if 1 in {_weight(known), _weight(factors)} else None
        return Observation(values, {place: factors for place, factors in found.items() if factors is not None})

    def _places(self, name: str, axes: Sequence[Factors], values: Mapping[str, Value]) -> Iterator[tuple[Place, Factors]]:
        steps, size = name.split("."), sizes_of(values)
        for number in self.patterns.get(self._template(name), ()):
            row = self.rows[number]
            with suppress(OutsideError, ZeroDivisionError):
                numbers = (int(steps[place]) for place in row.places)
                if len(axes) != len(row.axes) or not row.present(values):
                    continue
                if all(one in some for one, some in zip(numbers, row.numbers(values, size), strict=True)):
                    yield from (((number, at), factors) for at, factors in enumerate(axes))

    def _template(self, name: str) -> tuple[str, ...]:
        """Return the template of a row that a name has; the name without numbers if there is none."""
        steps = tuple(name.split("."))
        general = tuple("#" if step.isdigit() else step for step in steps)
        if general in self.patterns:
            return general
        fits = (one for one in self.patterns if len(one) == len(steps) and all(a in (b, "#") for a, b in zip(one, steps, strict=True)))
        return next((one for one in fits if all(b.isdigit() for a, b in zip(one, steps, strict=True) if a == "#")), general)

    def observations(self) -> Iterator[Observation]:
        """Yield the run of the default, one with other numbers of heads, and for keys that are still alike one with another number each."""
        first = self.observe(self.start)
        yield first
        seen = {size for factors in first.factors.values() for size in _sizes(factors)}
        keys = {_name(one): None for one, size in _atoms(first.values) if size in seen or (size == 1 and _HEADS.search(_name(one)))}
        heads = [key for key in keys if _HEADS.search(key.rpartition(".")[2]) and self._free(key)]
        other: dict[str, Value] = {}
        for key in heads:
            taken = [one for known, one in other.items() if first.values[known] == first.values[key]]
            other[key] = next((one for one in _others(first.values[key]) if one not in taken), first.values[key])
        together = self._changed(other)
        if together is not None:
            yield together
            both = [key for key in first.values if _HEADS.search(key) and key in together.values]
            pairs = Counter((first.values[key], together.values[key]) for key in both)
            heads = [key for key in heads if pairs[first.values[key], together.values[key]] > 1]
        others = [key for key in keys if not _HEADS.search(key.rpartition(".")[2]) and self._free(key)]
        others = [key for key in others if type(first.values[key]) is int]
        for key in [*heads, *others][:_MOST_KEYS]:
            alone = (self._changed({key: one}) for one in _others(first.values[key]))
            yield from (one for one in [next((one for one in alone if one is not None), None)] if one is not None)

    def _changed(self, changed: Mapping[str, Value]) -> Observation | None:
        """Return the run with other values of some keys; None if there is none, or nothing is divided."""
        with suppress(RefusedError, ConfigError):
            one = self.observe({**self.start, **changed})
            if all(one.values.get(key) == value for key, value in changed.items()):
                return one if any(_weight(each) > 1 for each in one.factors.values()) else None
        return None

    def _free(self, key: str) -> bool:
        """Whether the record takes several whole numbers for a key."""
        return key in self.entry["free"] or bool({"any", "whole", "entries"} & self.entry["keys"].get(key, {}).keys())


def _unpaired(factors: Factors) -> Factors:
    """Return factors without the last one if it is 2: pairs of entries that are rotated, or of coordinates, are no slices.

    >>> _unpaired((64, 64, 2)), _unpaired((3, 64, 128)), _unpaired((8, 2))
    ((64, 128), (3, 64, 128), (8, 2))
    """
    if len(factors) > 2 and factors[-1] == 2 and isinstance(factors[-2], int):
        return (*factors[:-2], 2 * factors[-2])
    return factors


Atom = str | list[Any]
"""A key, or an entry of a list."""


def _atoms(values: Mapping[str, Value]) -> Iterator[tuple[Atom, int]]:
    """Yield the whole numbers of a configuration."""
    for key, value in values.items():
        if type(value) is int:
            yield key, value
        elif isinstance(value, tuple):
            yield from ((["at", key, place], one) for place, one in enumerate(value) if type(one) is int)


def _name(one: Atom) -> str:
    return one if isinstance(one, str) else one[1]


def _others(value: Any) -> Iterator[Any]:
    """Yield other numbers, likely ones first: factors of the number, so that it still divides, and multiples.

    >>> list(_others(6))[:4], list(_others((1, 2)))[:2]
    ([3, 2, 12, 18], [(2, 4), (3, 6)])
    """
    if isinstance(value, tuple):
        yield from (tuple(factor * one for one in value) for factor in range(2, 9))
        return
    yield from (value // prime for prime in (2, 3, 5, 7) if value % prime == 0 and value > prime)
    yield from (factor * value for factor in range(2, 9))


def _weight(factors: Factors) -> int:
    return sum(sum(map(_weight, one.factors)) if isinstance(one, Segments) else 1 for one in factors)


def _sizes(factors: Factors) -> Iterator[int]:
    """Yield the factors of a divided axis, those of its segments included."""
    for one in factors if _weight(factors) > 1 else ():
        if isinstance(one, Segments):
            for inner in one.factors:
                yield from _sizes(inner)
        else:
            yield one


# From numbers to keys ------------------------------------------------------------------------------------------------------------


class Unexplained(Exception):  # noqa: N818 - no fault: the axis keeps its size
    """Factors that are not the numbers of keys."""


@dataclass(frozen=True)
class Explained:
    """The factors of the axes of one class as a record states them, and the keys in them."""

    entry: Mapping[str, Any]
    observations: Sequence[Observation]

    def axes(self) -> dict[Place, list[Any]]:
        """Return the factors of each axis that a number of heads divides."""
        found = {}
        for place in sorted({place for one in self.observations for place in one.factors}):
            some = [one for one in self.observations if place in one.factors]
            longest = max(len(one.factors[place]) for one in some)
            some = [one for one in some if len(one.factors[place]) == longest]  # a factor 1 is not seen
            if any(_weight(one.factors[place]) > 1 for one in some):
                with suppress(Unexplained, OutsideError):
                    number, at = place
                    axis = self.entry["rows"][number][2]["axes"][at]
                    whole = self.entry["expressions"][axis[0] if isinstance(axis, list) else axis]
                    found[place] = self._stated([one.factors[place] for one in some], whole, [one.values for one in some])
        return found

    def _stated(self, factors: Sequence[Factors], whole: Any, values: Sequence[Mapping[str, Value]]) -> list[Any]:
        shapes = {tuple(isinstance(one, Segments) for one in each) for each in factors}
        if len(shapes) != 1:
            raise Unexplained
        if next(iter(shapes)) == (True,):
            return [self._segments([one for (one,) in factors], whole, values)]  # type: ignore[misc]
        if any(next(iter(shapes))):
            raise Unexplained
        return self._product(factors, whole, values)

    def _product(self, factors: Sequence[Factors], whole: Any, values: Sequence[Mapping[str, Value]]) -> list[Any]:
        """Return a product: keys, constants, and what remains of the whole."""
        if len({len(each) for each in factors}) > 1 or any(isinstance(one, Segments) for each in factors for one in each):
            raise Unexplained
        columns = list(zip(*factors, strict=True))
        named = [self._key(column, values) for column in columns]
        if not any(named) or len(columns) < 2:
            raise Unexplained
        left = [at for at, key in enumerate(named) if key is None]
        constants = [at for at in left[:-1] if len(set(columns[at])) == 1]
        if len(left) > len(constants) + 1:
            raise Unexplained
        stated: list[Any] = [_of(key) if key else columns[at][0] for at, key in enumerate(named)]
        if left:
            stated[left[-1]] = _remainder(whole, prod(columns[at][0] for at in constants), [key for key in named if key])
        self._check(stated, [prod(each) for each in factors], values)  # type: ignore[arg-type]
        return stated

    def _segments(self, segments: Sequence[Segments], whole: Any, values: Sequence[Mapping[str, Value]]) -> list[Any]:
        """Return a concatenation: each segment is a part of a term of the whole."""
        if len({len(one.factors) for one in segments}) != 1:
            raise Unexplained
        found: list[Any] = []
        for at, role in enumerate(segments[0].roles):
            factors = [one.factors[at] for one in segments]
            if any(isinstance(one, Segments) for each in factors for one in each):
                raise Unexplained
            sizes = [prod(each) for each in factors]  # type: ignore[arg-type]
            part = next(self._parts(whole, sizes, values), None)
            if part is None:
                raise Unexplained
            divided = all(len(each) > 1 for each in factors)
            found.append([role or f"part_{at}", *(self._product(factors, part, values) if divided else [part])])
        labels = [label for label, *_ in found]
        if len(set(labels)) < len(labels):
            found = [[f"part_{at}", *factors] for at, (_, *factors) in enumerate(found)]
        return found

    @staticmethod
    def _parts(whole: Any, sizes: Sequence[int], values: Sequence[Mapping[str, Value]]) -> Iterator[Any]:
        """Yield multiples of the terms of a sum that have these sizes."""
        whole = whole if isinstance(whole, int) or whole[0] == "+" else chosen(values[0], whole[1], whole[2])
        for _, _, factors in () if isinstance(whole, int) else whole[1]:
            one = ["+", [[1, 1, factors]]]
            ratios = {Fraction(size, max(1, evaluated(each, one))) for size, each in zip(sizes, values, strict=True)}
            if len(ratios) == 1:
                ratio = next(iter(ratios))
                yield ["+", [[ratio.numerator, ratio.denominator, factors]]]

    def _key(self, column: Sequence[int], values: Sequence[Mapping[str, Value]]) -> Atom | None:
        """Return the key that always has these numbers, of which there is more than one; one for heads, if there are several."""
        if len(set(column)) < 2:
            return None
        rest = [{repr(one): size for one, size in _atoms(each)} for each in values[1:]]
        fit = [
            one
            for one, size in _atoms(values[0])
            if size == column[0] and all(each.get(repr(one)) == other for each, other in zip(rest, column[1:], strict=True))
        ]
        keys = self.entry["keys"]
        return min(fit, key=lambda one: (_name(one) not in keys, not _HEADS.search(_name(one)), len(_name(one))), default=None)

    @staticmethod
    def _check(stated: Sequence[Any], sizes: Sequence[int], values: Sequence[Mapping[str, Value]]) -> None:
        for size, each in zip(sizes, values, strict=True):
            if prod(evaluated(each, one) for one in stated) != size:
                raise Unexplained


def _of(key: Atom) -> Any:
    return ["+", [[1, 1, [[key, 1]]]]]


def _remainder(whole: Any, constant: int, keys: Sequence[Atom]) -> Any:
    """Return an expression divided by a number and by keys.

    >>> _remainder(["+", [[3, 1, [["hidden", 1]]]]], 3, ["heads"])
    ['+', [[1, 1, [[['//', 'hidden', 'heads'], 1]]]]]
    >>> _remainder(["+", [[1, 1, [["heads", 1], ["width", 1]]]]], 1, ["heads"])
    ['+', [[1, 1, [['width', 1]]]]]
    >>> _remainder(["+", [[1, 1, [["heads", 1], ["plain", 1]]], [1, 1, [["heads", 1], ["rotated", 1]]]]], 1, ["heads"])
    ['+', [[1, 1, [['plain', 1]]], [1, 1, [['rotated', 1]]]]]
    """
    if isinstance(whole, int):
        raise Unexplained
    if whole[0] == "?":
        return ["?", whole[1], [[answers, _remainder(inner, constant, keys)] for answers, inner in whole[2]]]
    if len(whole[1]) > 1:
        return ["+", [term for one in whole[1] for term in _remainder(["+", [one]], constant, keys)[1]]]
    ((above, below, factors),) = whole[1]
    ratio, left, keys = Fraction(above, below) / constant, [list(one) for one in factors], list(keys)
    for key in list(keys):
        held = next((one for one in left if one[0] == key), None)
        if held is not None:
            held[1] -= 1
            keys.remove(key)
            left = [one for one in left if one[1]]
    if keys:
        if not left:
            raise Unexplained
        (dividend, power), *others = left
        if power != 1:
            raise Unexplained
        while others:  # several sizes multiply to the width
            (other, power), *others = others
            dividend = ["*", dividend, other] if power == 1 else ["*", ["*", dividend, other], other]
        grows = any(isinstance(key, list) for key in keys)  # the width, from stage to stage
        if grows and ratio.denominator == 1 < ratio.numerator:
            dividend, ratio = ["*", ratio.numerator, dividend], Fraction(1)
        for key in keys:
            dividend = ["//", dividend, key]
        left = [[dividend, 1]]
    return ["+", [[ratio.numerator, ratio.denominator, left]]]


# Into the record -----------------------------------------------------------------------------------------------------------------


def factored(model_type: str, record: dict[str, Any]) -> Iterator[str]:
    """Put the factors of a type's tensors into its record, and yield what came of each class.

    What one class has by another name, a model inside of it, is divided as there.
    """
    known: dict[str, list[Known]] = {}
    for name, entry in record["classes"].items():
        _bare(entry)
        alike = {place: one for place in _places(entry) if (one := _alike(entry, place, known)) is not None}
        found = {place: one.stated for place, one in alike.items() if one.stated}
        new = {entry["rows"][row][0] for row, _ in _places(entry) - alike.keys()}
        some = any("head" in key for key in [*entry["keys"], *entry["free"]]) and not entry["certificate"].get("held")
        if some and any("att" in template for template in new):
            try:
                observer = Observer(model_type, name, checked(json.dumps(record).encode()))
                observations, own, divided = _explained(entry, observer)
            except (RefusedError, ConfigError, ZeroDivisionError) as error:  # a layer for the remainder by 0
                yield f"{model_type}:{name} not run: {type(error).__name__} {str(error)[:150]}"
                continue
            left = ", ".join(f"{entry['rows'][row][0]} at {at}" for row, at in sorted(divided - own.keys())[:4])
            said = f"{observations} runs, {len(own)} of {len(divided)} divided axes"
            yield f"{model_type}:{name} {said}{f'; not {left}' if left else ''}"
            found |= own
            for key in sorted({key for stated in own.values() for key in _keys_in(stated)}):
                _give_default(entry, observer, key)
        for place in _places(entry):
            template = entry["rows"][place[0]][0]
            known.setdefault(_end(template), []).append(Known(template, place[1], _whole(entry, *place), found.get(place, ())))
        _write(entry, found)


def _explained(entry: Mapping[str, Any], observer: Observer) -> tuple[int, dict[Place, list[Any]], set[Place]]:
    """Return the number of runs until all divided axes are explained, their factors, and all that are divided."""
    observations: list[Observation] = []
    own: dict[Place, list[Any]] = {}
    divided: set[Place] = set()
    for one in observer.observations():
        observations.append(one)
        own = Explained(entry, observations).axes()
        divided |= {place for place, factors in one.factors.items() if _weight(factors) > 1}
        if divided <= own.keys():
            break
    return len(observations), own, divided


@dataclass(frozen=True)
class Known:
    """An axis of one class: the template of its tensor, its place, its size and its factors."""

    template: str
    at: int
    whole: Any
    stated: Sequence[Any]


def _end(template: str) -> str:
    """Return the last steps of a name, which are the same inside of another model."""
    return ".".join(template.split(".")[-2:])


def _places(entry: Mapping[str, Any]) -> set[Place]:
    return {(row, at) for row, (_, kind, more) in enumerate(entry["rows"]) if kind != "tie" for at in range(len(more.get("axes", ())))}


def _bare(entry: Mapping[str, Any]) -> None:
    """Take factors out that were written before."""
    for _, _, more in entry["rows"]:
        if "axes" in more:
            more["axes"] = [axis[0] if isinstance(axis, list) else axis for axis in more["axes"]]


def _whole(entry: Mapping[str, Any], row: int, at: int) -> Any:
    axis = entry["rows"][row][2]["axes"][at]
    return entry["expressions"][axis[0] if isinstance(axis, list) else axis]


def _alike(entry: Mapping[str, Any], place: Place, known: Mapping[str, list[Known]]) -> Known | None:
    """Return an axis of another class, in a tensor of the same name, inside of another model or not, and of the same size."""
    row, at = place
    template, whole = entry["rows"][row][0], _whole(entry, row, at)
    for one in known.get(_end(template), ()):
        same = f".{template}".endswith(f".{one.template}") or f".{one.template}".endswith(f".{template}")
        if same and at == one.at and whole == one.whole:
            return one
    return None


def _keys_in(stated: Any) -> Iterator[str]:
    """Yield the keys in factors."""
    if isinstance(stated, list):
        if stated and stated[0] == "?":
            for _, inner in stated[2]:
                yield from _keys_in(inner)
        elif stated and stated[0] == "+":
            for _, _, factors in stated[1]:
                for one, _ in factors:
                    yield from _keys_of_atom(one)
        else:
            for one in stated:
                yield from _keys_in(one)


def _keys_of_atom(one: Any) -> Iterator[str]:
    if isinstance(one, str):
        yield one
    elif isinstance(one, list):
        for inner in one[1:]:
            yield from _keys_of_atom(inner)


def _give_default(entry: dict[str, Any], observer: Observer, key: str) -> None:
    """State the meaning of a missing key on which no tensor depended so far, if it has one."""
    domain = entry["keys"].get(key)
    if domain is None and key in entry["free"]:
        domain = {"any": True, "unused": True, "whole": [1, observer.values(observer.start)[key]]}
    held = bool(entry["certificate"].get("held"))
    if domain is None or "missing" in domain or domain.get("derived") or (held and "." in key):
        return
    above = key.rpartition(".")[0]
    points = [point for point in observer.points if key not in point]
    inside = [observer.reference.resolved(point) for point in points if not above or any(one.startswith(f"{above}.") for one in point)]
    outside = [observer.reference.resolved(point) for point in points if above and not any(one.startswith(f"{above}.") for one in point)]
    rule = _rule(key, inside or outside)
    if rule is None or (above and not inside):
        return
    for values in outside:
        given = values.get(rule[1]) if rule[0] == "same" else rule[1]
        if given != values.get(key):
            if {repr(one.get(key)) for one in outside} != {repr(values.get(key))}:
                return
            domain = {**domain, "absent": values[key]}
    entry["keys"][key] = {**domain, "missing": rule}
    entry["free"] = [one for one in entry["free"] if one != key]


def _rule(key: str, seen: Sequence[Mapping[str, Value]]) -> list[Any] | None:
    """Return what a missing key means: a number, or what another key is."""
    numbers = {one.get(key) for one in seen}
    if len(numbers) == 1 and type(next(iter(numbers))) is int:
        return ["is", next(iter(numbers))]
    same = [other for other in seen[0] if other != key and all(other in one and one[other] == one.get(key) for one in seen)] if seen else []
    same = [other for other in same if _HEADS.search(other)]
    return ["same", same[0]] if same and all(type(one) is int for one in numbers) else None


def _write(entry: dict[str, Any], found: Mapping[Place, list[Any]]) -> None:
    """Put factors into the rows of a class."""
    known = {json.dumps(one): number for number, one in enumerate(entry["expressions"])}

    def number(expression: Any) -> int:
        text = json.dumps(expression)
        if text not in known:
            known[text] = len(entry["expressions"])
            entry["expressions"].append(expression)
        return known[text]

    for (row, at), stated in found.items():
        axes = entry["rows"][row][2]["axes"]
        axes[at] = [axes[at], *([[label, *map(number, each)] for label, *each in one] if _is_cat(one) else number(one) for one in stated)]


def _is_cat(factor: Any) -> bool:
    """Whether a factor is a list of segments, and no expression."""
    return isinstance(factor, list) and isinstance(factor[0], list)


# The command ---------------------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Divide the axes of the types that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m atlas_builder.factoring", description=__doc__)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--into", type=Path, default=DATA, help="the directory of the records")
    parser.add_argument("--seconds", type=int, default=_LONGEST, help="processor time for each")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("K", "N"), help="every N-th type from K on")
    options = parser.parse_args(arguments)
    types = recorded_types() if options.types == ["all"] else options.types
    part, parts = options.part
    for model_type in types[part::parts]:
        if os.fork() == 0:  # memory, and changed settings of the reference, end with the type
            resource.setrlimit(resource.RLIMIT_CPU, (options.seconds, options.seconds))
            _rewrite(file_in(options.into, model_type), model_type)
            os._exit(0)
        _, status = os.wait()
        if status:
            print(f"{model_type} ended with {status}", flush=True)


def _rewrite(file: Path, model_type: str) -> None:
    began = time.monotonic()
    record = record_in(file)
    for line in factored(model_type, record):
        print(line, flush=True)
    content = packed(record)
    parsed(content)
    if content != file.read_bytes():
        file.write_bytes(content)
    print(f"{model_type} {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
