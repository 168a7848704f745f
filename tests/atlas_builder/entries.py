"""Find the rules of arrays that a model computes from sizes alone: ``PYTHONPATH=tests python -m atlas_builder.entries glm4 TYPE``.

A class of the reference is recorded once more with the entries of its buffers, beside the record's computation. The rules of all arrays
that agree at two lengths, and the arguments that are numbers of keys, are kept if ``ps.run`` then gives what the reference gives, with the
same random tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from atlas_builder import numbers, turning
from atlas_builder.passes import rewritten
from atlas_builder.seeing import Search, Seen
from oracles.live_runs import agrees

from paramsym.atlas.computing import formed
from paramsym.atlas.turns import KEYS
from paramsym.read.made import Made

_WIDER = 2
"""How much a window is wider to see what depends on it."""


class RuleError(Exception):
    """An array whose entries follow no rule."""


def rules(entries: Any) -> Iterator[Made]:
    """Yield the rules that an array's entries follow."""
    array = np.asarray(entries)
    if (array == array.flat[0]).all() if array.size else True:
        yield Made("all", (array.flat[0].item() if array.size else 0,))
    if array.dtype.kind in "iu":
        for axis, size in enumerate(array.shape):
            made = Made("places", (axis, int(array.flat[0])))
            if size > 1 and (made.array(np, array.shape) == array).all():
                yield made
    if array.ndim > 1 and min(array.shape[-2:]) > 1 and np.isin(array, (0, 1)).all():
        tried = [("band", (ahead, behind)) for ahead in (0, -1, None) for behind in (None, 0, -1) if (ahead, behind) != (None, None)]
        yield from (made for rule, held in tried if _gives(made := Made(rule, held), array))


def masks(entries: Any, window: int) -> Iterator[tuple[str, tuple[Any, ...], int, int]]:
    """Yield the rules of a mask by a window: their first numbers, and by what the window is divided, and a number more."""
    array = np.asarray(entries)
    if array.ndim > 1 and np.isin(array, (0, 1)).all():
        for rule, held in (("band", (0,)), ("near", ()), ("part", ())):
            for divisor in (1, 2):
                for more in (0, -1, 1):
                    last = window // divisor + more
                    if last > 0 and _gives(Made(rule, (*held, last)), array):
                        yield rule, held, divisor, more


def _gives(made: Made, array: Any) -> bool:
    return bool((made.array(np, array.shape) == array).all())


def rooted(entries: Any, sizes: Sequence[Any], values: Mapping[str, int]) -> int | None:
    """Return the place of the size whose root a number is, within half a percent; None if it is no root."""
    if np.asarray(entries).size != 1:
        return None
    number = float(np.asarray(entries).flat[0])
    known = {place: values.get(size, 0) for place, size in enumerate(sizes) if isinstance(size, str)}
    return next((place for place, size in known.items() if size > 1 and abs(number - math.sqrt(size)) < math.sqrt(size) / 200), None)


class Rules:
    """The search for the rules of one form."""

    def __init__(self, search: Search) -> None:
        """Begin without rules."""
        self.search, self.form = search, search.form
        self.entries: list[list[Any]] = []
        self.turns: list[list[Any]] = []
        self.widths: list[list[Any]] = []

    @cached_property
    def longer(self) -> Seen:
        """The pass of a longer text."""
        return self.search.seen(longer=True)

    @cached_property
    def windows(self) -> dict[str, tuple[int, Seen]]:
        """The windows that texts exceed, and a pass with each of them wider."""
        base = {key: self.search.resolved[key] for _, key, _, _, _, beyond in self.form.get("windows", ()) if beyond}
        return {key: (window, self.search.seen({key: window + _WIDER})) for key, window in base.items()}

    def found(self) -> dict[str, Any]:
        """Return what a form states besides its operators.

        Raises:
            RuleError: an array without a rule.
        """
        for number, constant in self.search.computation.recording.constants.items():
            one, other = self.search.first.entries.get(number), self.longer.entries.get(number)
            if one is None or other is None:
                raise RuleError(f"no entries of array {number}, {constant}")
            if not self._ruled(number, one, other):
                raise RuleError(f"no rule of array {number}, {np.shape(one)} {np.asarray(one).ravel()[:6]}")
        known = {inside + key for _, inside, *_ in self.turns for key in KEYS} | {key for _, _, _, key, *_ in self.widths}
        found, alone = numbers.found(self.search, frozenset(known))
        more = {"turns": self.turns, "widths": self.widths, "numbers": found, "alone": alone}
        return {"recording": {**self.form["recording"], "entries": self.entries}, **{key: value for key, value in more.items() if value}}

    def _ruled(self, number: int, one: Any, other: Any) -> bool:
        root = rooted(one, self.form["sizes"], self.form["base"])
        if root is not None and one.dtype.kind == "f":
            self.entries.append([number, "root", {"size": root}])
            return True
        if (turns := turning.found(self.search, number, one)) is not None:
            self.turns.append([number, turns.inside, turns.layers, dict(turns.settings), sorted(turns.verified)])
            return True
        for key, (window, wider) in self.windows.items():
            if not np.array_equal(one, wider.entries[number]):
                known = [*masks(other, window), *masks(wider.entries[number], window + _WIDER)]
                rule = next((rule for rule in masks(one, window) if known.count(rule) == _WIDER), None)
                if rule is not None:
                    name, held, *rest = rule
                    default = next(default for _, one, default, *_ in self.form["windows"] if one == key)
                    self.widths.append([number, name, list(held), key, default, *rest])
                return rule is not None
        known = [*rules(other)]
        made = next((made for made in rules(one) if made in known), None)
        if made is not None:
            self.entries.append([number, made.rule, *made.numbers])
        return made is not None


STATED = ("turns", "widths", "numbers", "alone")


def made(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Write the rules of constants into the forms of a type's classes; yield what was found."""
    for name, entry in classes.items():
        for form in entry["forms"]:
            form["recording"].pop("entries", None)
            for key in STATED:
                form.pop(key, None)
            try:
                tried = {**form, **Rules(Search(model_type, name, form, entry["inputs"])).found()}
                said = agrees(model_type, name, replace(formed(entry["inputs"], tried), dropout=()))
                form.update({} if said else tried)
            except RuleError as error:
                said = str(error)
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                said = f"{type(error).__name__}: {str(error)[:160]}"
            stated = {key: form[key] for key in ("numbers", "alone", "turns", "widths") if key in form}
            yield f"{model_type} {name} {form['held']}: {said or f'runs {stated}'}"


if __name__ == "__main__":
    rewritten(__doc__, made)
