"""What a run of a recorded pass needs beside its operators: numbers of the configuration, in arguments and in entries of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from paramsym.atlas.numbers import Argument, arguments_of, other_numbers, with_numbers
from paramsym.atlas.turns import KEYS, Turns, turns_of
from paramsym.atlas.values import Value, recorded_value
from paramsym.read.made import Made
from paramsym.read.recording import Recording


@dataclass(frozen=True)
class Width:
    """A mask whose last number is that of a key, divided and rounded down, and a number more."""

    number: int
    rule: str
    numbers: tuple[int, ...]
    key: str
    default: int | None
    divisor: int
    more: int

    def made(self, values: Mapping[str, Value]) -> Made | None:
        """Return the rule for a configuration; None if its key is no whole number."""
        given = values.get(self.key, self.default)
        return Made(self.rule, (*self.numbers, given // self.divisor + self.more)) if type(given) is int else None


@dataclass(frozen=True)
class Running:
    """How the entries of a recorded pass follow a configuration.

    ``compared`` is false if no run was compared with the reference's. ``alone`` are keys of which one value is known.
    """

    compared: bool
    turns: tuple[Turns, ...]
    widths: tuple[Width, ...]
    arguments: tuple[Argument, ...]
    alone: Mapping[str, Value]

    @classmethod
    def of(cls, form: Mapping[str, Any]) -> Running:
        """Return what the form of a file states.

        ``turns`` and ``widths`` have the fields of each ``Turns`` and ``Width``. ``numbers`` are ``[key, default, function, [[array,
        argument], ...]]``: arguments, by the first array that the operator gives, that are a function of a key's number.
        """
        return cls(
            "entries" in form["recording"],
            turns_of(form.get("turns", ())),
            tuple(
                Width(number, str(rule), tuple(numbers), str(key), *rest) for number, rule, numbers, key, *rest in form.get("widths", ())
            ),
            arguments_of(form.get("numbers", ())),
            {str(key): recorded_value(value) for key, value in form.get("alone", {}).items()},
        )

    def unknown(self, values: Mapping[str, Value]) -> str:
        """Return why it is not known what a run gives; nothing if it is known."""
        if not self.compared:
            return "no run of it was compared with the reference"
        return other_numbers(self.arguments, self.alone, values)

    def numbers(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the numbers of keys that are arguments of operators."""
        return {one.key: values[one.key] for one in self.arguments if one.key in values}

    def with_numbers(self, recording: Recording, numbers: Mapping[str, Value]) -> Recording:
        """Return a recording with numbers of keys in its arguments."""
        return with_numbers(recording, self.arguments, numbers)

    def with_entries(self, recording: Recording, values: Mapping[str, Value], *, any_share: bool = False) -> Recording:
        """Return a recording with the entries that follow a configuration; those that are not known are left without."""
        ropes = {one.number: one.rope(values, any_share=any_share) for one in self.turns}
        made = {number: None if rope is None else Made("turns", (rope,)) for number, rope in ropes.items()}
        made |= {one.number: one.made(values) for one in self.widths}
        constants = {number: replace(one, data=made[number]) if number in made else one for number, one in recording.constants.items()}
        return replace(recording, constants=constants) if made else recording


def keys_of(form: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """Yield the keys on which what a run of a form gives depends, and no operator, with their defaults if these are known."""
    yield from ((str(key), default) for key, default, *_ in form.get("numbers", ()))
    yield from ((str(key), recorded_value(value)) for key, value in form.get("alone", {}).items())
    yield from ((str(key), default) for _, _, _, key, default, *_ in form.get("widths", ()))
    yield from ((inside + key, None) for _, inside, *_ in form.get("turns", ()) for key in KEYS)
