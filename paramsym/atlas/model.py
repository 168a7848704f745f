"""A model of the atlas as an ordinary layer, made from the record of its model type and one configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from paramsym.algebra.size import Count
from paramsym.algebra.symbols import dims
from paramsym.atlas.expression import answer, tests_of
from paramsym.atlas.predicting import Row, rows_of
from paramsym.atlas.reading import values_of
from paramsym.atlas.record import record_of
from paramsym.atlas.structure import Builder, choices, letters_of
from paramsym.atlas.values import Value
from paramsym.core.layer import Layer, Part
from paramsym.errors import ConfigError, ParamsymError, StructureError


@dataclass(frozen=True)
class Recorded(Layer):
    """A model of which the atlas has the closed form: names, shapes, copies, ties, frozen tensors and buffers of the reference's class.

    ``values`` are the values of the configuration's keys, which decide which tensors exist. ``numbers`` are the sizes that may vary, in the
    order of ``names``: letters, named after the keys (a dot becomes an underscore, the entries of a list are numbered), or numbers. Forward
    passes are not recorded.

    Raises:
        StructureError: numbers for which other tensors would exist.
    """

    model_type: str
    architecture: str
    values: tuple[tuple[str, object], ...]
    names: tuple[str, ...] = ()
    numbers: tuple[Count, ...] = ()

    @property
    def certificate(self) -> Mapping[str, Any]:
        """The tests that the class passed before it was added to the atlas."""
        found: Mapping[str, Any] = record_of(self.model_type)["classes"][self.architecture]["certificate"]
        return found

    def conditions(self) -> None:
        """Check that the numbers do not change which tensors exist."""
        if len(self.names) != len(self.numbers):
            message = f"there are {len(self.numbers)} numbers for the names {', '.join(self.names)}."
            raise StructureError(message)
        given = {name: number for name, number in zip(self.names, self.numbers, strict=True) if isinstance(number, int)}
        if not given:
            return
        values: dict[str, Value] = dict(self.values)
        held = dict(pair for key, value in values.items() for pair in _entries(key.replace(".", "_"), value))
        changed = {name: number for name, number in given.items() if held.get(name) != number}
        if not changed:
            return
        now = _changed(values, changed)
        before, after = (_skeleton(self._rows, one) for one in (values, now))
        if before != after:
            listed = ", ".join(f"{name}={value}" for name, value in changed.items())
            message = f"with {listed} {self.architecture} stores other tensors; read a configuration with these values."
            raise StructureError(message)

    def parts(self) -> Iterator[Part]:
        """The model, without a prefix."""
        letters = dict(zip(self.names, self.numbers, strict=True))
        yield Part("", Builder(self._rows, dict(self.values), letters).layer())

    @property
    def _rows(self) -> tuple[Row, ...]:
        return _rows_of(self.model_type, self.architecture)


def _entries(name: str, value: Value) -> Iterator[tuple[str, Value]]:
    """Yield a value, or the entries of a list, under the names of their letters."""
    if isinstance(value, tuple):
        for place, one in enumerate(value):
            yield from _entries(f"{name}_{place}", one)
    else:
        yield name, value


def _changed(values: Mapping[str, Value], changed: Mapping[str, int]) -> dict[str, Value]:
    """Return values with other numbers for letters."""
    return {key: _entry(key.replace(".", "_"), value, changed) for key, value in values.items()}


def _entry(name: str, value: Value, changed: Mapping[str, int]) -> Value:
    if isinstance(value, tuple):
        return tuple(_entry(f"{name}_{place}", one, changed) for place, one in enumerate(value))
    return changed.get(name, value)


def _skeleton(rows: tuple[Row, ...], values: Mapping[str, Value]) -> Any:
    """Return the existing rows and the cases of their sizes, without the numbers of consecutive copies."""
    found = []
    for choice in choices(rows, values):
        row = choice.row
        sets = [one if law != ["all"] else () for one, law in zip(choice.sets, row.sets, strict=True)]
        cases = [[answer(values, test) for test in tests_of(what)] for what in (*row.axes, *row.bounds)]
        found.append((row.template, row.kind, sets, cases))
    return found


@lru_cache(maxsize=64)
def _rows_of(model_type: str, architecture: str) -> tuple[Row, ...]:
    entry = record_of(model_type)["classes"][architecture]
    return tuple(rows_of(entry["rows"], entry["expressions"]))


@lru_cache(maxsize=64)
def _in_letters(model_type: str, name: str, values: tuple[tuple[str, Value], ...], letters: tuple[str, ...], exactly: str) -> Recorded:
    del exactly  # distinguishes 1 and True, which are one key for the cache
    return Recorded(model_type, name, values, letters, tuple(dims(letter) for letter in letters))


def recorded(config: Mapping[str, Any], architecture: str | None) -> Layer:
    """Return the model for a configuration whose model type has a record.

    Raises:
        ConfigError: a class without a record, or a key or value for which the form was not verified.
    """
    model_type = config["model_type"]
    record = record_of(model_type)
    name = _class(record, config, architecture)
    try:
        values = values_of(config, record, record["classes"][name])
        rows = _rows_of(model_type, name)
        letters = letters_of(rows, values)
        known = tuple(sorted(values.items()))
        model = _in_letters(model_type, name, known, tuple(letters), repr(known))
        return model.at(dict(zip(model.numbers, letters.values(), strict=True))) if letters else model
    except ParamsymError as error:
        message = f"{name} of the model type {model_type}: {error}"
        raise ConfigError(message) from None


def _class(record: Mapping[str, Any], config: Mapping[str, Any], architecture: str | None) -> str:
    listed = config.get("architectures")
    name = architecture if architecture is not None else (listed[0] if isinstance(listed, list | tuple) and listed else None)
    if name is None:
        name = next(iter({**record["classes"], **record["refused"]}))
    if isinstance(name, str) and name in record["classes"]:
        return name
    if isinstance(name, str) and name in record["refused"]:
        message = f"{name} is not in the atlas: {record['refused'][name]}"
        raise ConfigError(message)
    known = ", ".join(record["classes"]) or "none"
    message = f"architecture {ascii(name)[:60]} is not among those of {record['type']} in the atlas, which are {known}."
    raise ConfigError(message)
