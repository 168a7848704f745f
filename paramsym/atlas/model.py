"""A model of the atlas as an ordinary layer, made from the record of its model type and one configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self, cast

from sympy import Symbol

from paramsym.algebra.size import Count, Dim, at_most, conditions_are_asked, divides, same
from paramsym.algebra.symbols import dims
from paramsym.atlas.depth import Patterns, follows
from paramsym.atlas.domain import check_verified, largest, relisted, thawed
from paramsym.atlas.expression import answer, tests_of
from paramsym.atlas.files import record_of
from paramsym.atlas.forward import Forward
from paramsym.atlas.letters import entries_of, letter_names, name_of
from paramsym.atlas.predicting import Choice, Existing, Rows, rows_of, sizes_of
from paramsym.atlas.reading import check_together
from paramsym.atlas.sizes import Division, Sizes, exact_divisions, followed_by, said
from paramsym.atlas.tree import Tree, grown
from paramsym.atlas.values import Value
from paramsym.core.layer import Layer, Part
from paramsym.errors import ParamsymError, StructureError


@dataclass(frozen=True, repr=False)
class Recorded(Forward):
    """A model of which the atlas has the closed form: names, shapes, copies, ties, frozen tensors and buffers of the reference's class.

    ``values`` are the values of the configuration's keys, which decide which tensors exist. ``numbers`` are the sizes that may vary, in the
    order of ``names``, the keys (a dot becomes an underscore, the entries of a list are numbered). Each is a number or a letter: for usual
    keys a shared one, otherwise one with the name of the key. ``following`` are names of keys that the configuration does not give, each
    with the name whose size it has: without a number of key/value heads, that of the heads. The forward pass is that of the reference in
    evaluation; after earlier positions it is known if the reference keeps the keys and values of its attention.

    Raises:
        StructureError: numbers for which other tensors would exist.
    """

    model_type: str
    architecture: str
    values: tuple[tuple[str, object], ...]
    names: tuple[str, ...] = ()
    numbers: tuple[Count, ...] = ()
    following: tuple[tuple[str, str], ...] = ()

    @property
    def _who(self) -> str:
        return self.architecture

    def __repr__(self) -> str:
        """The reference's class with its sizes and the other values of its keys, under their names."""
        sizes, values = self._by_name, {name_of(key): value for key, value in self.values}
        entries = {one for name, value in values.items() for one, _ in entries_of(name, value)} - values.keys()
        listed = {name: size for name, size in sizes.items() if name not in entries}  # entries of lists are shown in their lists
        listed |= {name: thawed(_entry(name, value, sizes)) for name, value in values.items() if name not in sizes}
        network = [repr(self.model_type)] if "/" in self.model_type else []  # of timm, where networks share a class
        return f"{self.architecture}({', '.join([*network, *(f'{name}={value!r}' for name, value in listed.items())])})"

    @property
    def _entry(self) -> Mapping[str, Any]:
        entry: Mapping[str, Any] = record_of(self.model_type)["classes"][self.architecture]
        return entry

    @property
    def certificate(self) -> Mapping[str, Any]:
        """The tests that the class passed before it was added to the atlas."""
        found: Mapping[str, Any] = self._entry["certificate"]
        return found

    def tried(self, key: str) -> int | None:
        """Return the largest number with which a key was tested; None without a test."""
        found: Sequence[int | None] = self._entry["keys"].get(key, {}).get("whole", (None,))
        return found[-1]

    def conditions(self) -> None:
        """Check that each size was verified, and that the sizes do not change which tensors exist."""
        if len(self.names) != len(self.numbers):
            raise StructureError(f"there are {len(self.numbers)} numbers for the names {', '.join(self.names)}.")
        given, values, entry = self._by_name, dict[str, Any](self.values), self._entry
        held = {name: (key, one) for key, value in values.items() for name, one in entries_of(name_of(key), value)}
        changed = {name: number for name, number in given.items() if name in held and held[name][1] != number}
        for name, number in changed.items():
            _check_size(name, entry["keys"][held[name][0]], number)
            if conditions_are_asked() and not isinstance(number, int) and self._other_without(name):
                same(number, 0)
        if changed:
            sizes = Sizes(self._settled, sizes_of(self._settled), given)
            for dividend, divisor in self._exact:
                divides(sizes.atom(divisor), sizes.atom(dividend), said(divisor), said(dividend))
        numbers = {name: number for name, number in changed.items() if isinstance(number, int)}
        if not numbers:
            return
        check_together(self._settled, entry)
        if self._stored(self._settled) != self._stored_as_read:
            listed = ", ".join(f"{name}={value}" for name, value in numbers.items())
            raise StructureError(f"with {listed} {self.architecture} stores other tensors; read a configuration with these values.")

    def _other_without(self, name: str) -> bool:
        """Whether other tensors are stored if a size is 0, such as a number of layers."""
        try:
            return bool(self._stored(_changed(dict(self.values), {name: 0})) != self._stored_as_read)
        except (ParamsymError, ZeroDivisionError):  # a size that others are divided by
            return True

    def _stored(self, values: Mapping[str, Value]) -> Any:
        """Return which tensors are stored for values of keys, to compare."""
        return _skeleton(self._rows, values, self._patterns)

    @cached_property
    def _stored_as_read(self) -> Any:
        return self._stored(dict(self.values))

    @cached_property
    def origin(self) -> tuple[Layer, dict[Symbol, Dim]]:
        """The model in letters, made when first asked for, and their sizes; a model with letters is its own."""
        if not self.numbers or not all(isinstance(number, int) for number in self.numbers):
            return self, {}
        shared = _shared(self._entry)
        letters = tuple(dims(shared.get(name, name)) for name in self.names)
        return replace(self, numbers=letters), dict(zip(letters, self.numbers, strict=True))

    def argument_of(self, symbol: Symbol) -> str:
        """Return the key of a letter; of a shared letter also if its key is a number in this model."""
        letters = {**self._by_name, **{one: dims(name) for one, name in _shared(self._entry).items()}}
        return next((name for name, letter in letters.items() if letter == symbol), "")

    def _why_not(self, name: str) -> str:
        letters = cast("Self", self.origin[0])
        held = letters._by_name.get(name)
        if isinstance(held, Symbol):
            return f"Its {name} is {held}: write at({held}=...)."
        key = next((key for key, letter in letter_names(self._entry["keys"]).items() if name in {letter, name_of(key)}), "")
        return f"Its {key} is not a letter: read a configuration with another value." if key else super()._why_not(name)

    def parts(self) -> Iterator[Part]:
        """The model, without a prefix."""
        number = sizes_of(self._settled)
        tree = _tree_of(self.model_type, self.architecture, self._rows.existing(self._settled, number), self._patterns)
        letters = {name: size for name, size in self._by_name.items() if not isinstance(size, int)}
        yield Part("", tree.layer(Sizes(self._settled, number, letters, self._exact)))

    @property
    def _by_name(self) -> dict[str, Count]:
        found = dict(zip(self.names, self.numbers, strict=True))
        return found | {name: found[other] for name, other in self.following}

    @cached_property
    def _settled(self) -> dict[str, Value]:
        """The values of the configuration; the numbers of this model replace those of the configuration."""
        values: dict[str, Any] = dict(self.values)
        changed = _changed(values, {name: size for name, size in self._by_name.items() if isinstance(size, int)})
        return changed if changed == values else dict(relisted(self._entry["keys"], values, changed))

    @cached_property
    def _exact(self) -> list[Division]:
        """The divisions that are exact for the configuration: those that the reference needs, and those of axes into slices.

        Other sizes must keep them exact.
        """
        values = dict[str, Any](self.values)
        needed = [(key, divisor) for divisor, key in self._entry["needs"]]
        return exact_divisions([*needed, *(one for one in self._rows.divisions(values) if one not in needed)], values)

    @cached_property
    def _patterns(self) -> Patterns:
        """The patterns of the copies whose number is among the names."""
        known = patterns_for(self.model_type, self.architecture, self.values, repr(self.values))
        return tuple(dict.fromkeys(one for name in self.names for one in known.get(name, ())))

    @property
    def _existing_rows(self) -> Sequence[Choice]:
        """The rows that exist, with the numbers of their copies."""
        return self._rows.choices(self._rows.existing(self._settled, sizes_of(self._settled)))

    def _deeper(self, key: str, number: int) -> tuple[Mapping[str, Value], Sequence[Choice]]:
        values = relisted(self._entry["keys"], self._settled, {**self._settled, key: number})
        return values, self._rows.choices(self._rows.existing(values, sizes_of(values)))

    @property
    def _rows(self) -> Rows:
        return rows_for(self.model_type, self.architecture)


def _shared(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the letter of each key of a class, by the key's name."""
    return {name_of(key): letter for key, letter in letter_names(entry["keys"]).items()}


def _check_size(name: str, domain: Mapping[str, Any], size: Count) -> None:
    """Check a number, or state the conditions of a letter: the form was verified between two sizes, or for multiples only."""
    while "whole" not in domain and "entries" in domain:
        domain = domain["entries"]
    if isinstance(size, int):
        check_verified(name, domain, size)
        return
    words = domain.get("words", ())
    tried = domain.get("whole") or [one for one in words if type(one) is int]
    entries = [one for word in words if isinstance(word, tuple) for _, one in entries_of("", word) if type(one) is int]
    low, high = min(tried or entries), max(tried or entries)
    at_most(low, size, "the least verified size", name)
    at_most(size, largest(low, high, domain) if tried else high, name, "the largest verified size")
    if "of" in domain:
        divides(domain["of"], size, "the unit of the verified sizes", name)


def _changed(values: Mapping[str, Value], changed: Mapping[str, int]) -> dict[str, Value]:
    """Return values with other numbers for letters."""
    return {key: _entry(name_of(key), value, changed) for key, value in values.items()}


def _entry(name: str, value: Value, changed: Mapping[str, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_entry(f"{name}_{place}", one, changed) for place, one in enumerate(value))
    return changed.get(name, value)


def _skeleton(rows: Rows, values: Mapping[str, Value], patterns: Patterns) -> Any:
    """Return the existing rows and the cases of their sizes, without the numbers of copies that are consecutive or follow a pattern."""
    size = sizes_of(values)
    existing = rows.existing(values, size)
    choices = rows.choices(existing)
    kept = {prefix for prefix, pattern in patterns if follows(choices, existing, prefix, pattern, size)}
    found: list[Any] = [kept]
    for choice in choices:
        row = choice.row
        free = [law == ["all"] or row.template[:place] in kept for place, law in zip(row.places, row.sets, strict=True)]
        sets = [() if one else numbers for one, numbers in zip(free, choice.sets, strict=True)]
        cases = [[answer(values, test) for test in tests_of(what)] for what in (*row.axes, *row.bounds)]
        found.append((row.template, row.kind, sets, cases))
    return found


@lru_cache(maxsize=64)
def rows_for(model_type: str, architecture: str) -> Rows:
    """Return the rows of a class."""
    entry = record_of(model_type)["classes"][architecture]
    return Rows(tuple(rows_of(entry["rows"], entry["expressions"])))


@lru_cache(maxsize=64)
def _tree_of(model_type: str, architecture: str, existing: Existing, patterns: Patterns) -> Tree:
    return grown(rows_for(model_type, architecture), existing, patterns)


@lru_cache(maxsize=64)
def patterns_for(model_type: str, architecture: str, values: tuple[tuple[str, Value], ...], exactly: str) -> Mapping[str, Patterns]:
    """Return the patterns of copies, by the name of their number; ``exactly`` distinguishes 1 and True."""
    del exactly
    return followed_by(rows_for(model_type, architecture), dict(values), record_of(model_type)["classes"][architecture]["keys"])
