"""One form of what a class computes: the keys and sizes for which it answers, and the messages that refuse others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Symbol

from paramsym.atlas.activations import WORDS, with_activation
from paramsym.atlas.domain import thawed
from paramsym.atlas.dropout import Dropout, with_dropout
from paramsym.atlas.letters import size_of
from paramsym.atlas.orders import Order
from paramsym.atlas.rotated import Rotated, stated_as
from paramsym.atlas.running import Running
from paramsym.atlas.values import Value, shown
from paramsym.atlas.windows import Window
from paramsym.errors import NotYetError, ShapeError
from paramsym.read.recording import Recording
from paramsym.read.stacks import Order as Kinds, written_out

KINDS, FULL, SLIDING = "layer_types", "full_attention", "sliding_attention"
"""The key with the kind of each layer, and usual kinds. If no operator depends on it, the reference's cache still does."""


@dataclass(frozen=True)
class Computation:
    """What one class computes under some conditions; ``letters`` are the letters of the recording by their names."""

    inputs: Mapping[str, tuple[str | int, ...]]
    base: Mapping[str, int]
    held: Mapping[str, tuple[Value, ...]]
    excluded: Mapping[str, tuple[Value, ...]]
    above: Mapping[str, int]
    most: Mapping[str, int]
    loops: Mapping[str, int]
    multiples: tuple[tuple[str, int, str | None, int], ...]
    within: tuple[tuple[str, str, int], ...]
    windows: tuple[Window, ...]
    equal: tuple[tuple[str, str, bool], ...]
    products: tuple[tuple[str, str, str], ...]
    same: Mapping[str, tuple[str, int]]
    quotients: Mapping[str, tuple[str, str]]
    rotated: tuple[Rotated, ...]
    needed: Mapping[str, Value]
    beside: Mapping[str, int]
    kept: tuple[tuple[int | None, str, int | None, int], ...]
    letters: Mapping[str, Symbol]
    recording: Recording
    orders: tuple[Order, ...]
    cache: bool | None
    step: bool
    activations: Mapping[str, tuple[str, ...]]
    dropout: tuple[Dropout, ...] | None
    undropped: Mapping[str, Value]
    running: Running
    certificate: Mapping[str, Any]
    _written: dict[Any, Recording] = field(default_factory=dict, compare=False, repr=False)

    def recording_of(self, kinds: Mapping[str, Kinds], values: Mapping[str, Value]) -> Recording:
        """Return the recording with all layers of its stacks, of these kinds in order, with a configuration's activations and dropout."""
        words = {key: word for key, word in ((one, values.get(one)) for one in self.activations) if word not in (None, self.held[key][0])}
        rates = {one: rate for one in self.dropout or () if (rate := one.rate(values)) != 0}
        numbers = self.running.numbers(values)
        if not kinds and not words and not rates and not numbers:
            return self.recording
        key = (tuple(sorted(kinds.items())), tuple(words.items()), tuple(rates.items()), tuple(numbers.items()))
        if key not in self._written:
            self._written.clear()  # the last one is kept: several questions about one model
            found = with_dropout(self.running.with_numbers(self.recording, numbers), rates)
            found = written_out(found, kinds) if kinds else found
            for name, word in words.items():
                found = with_activation(found, str(self.held[name][0]), str(word), self.activations[name])
            self._written[key] = found
        return self._written[key]

    @property
    def as_step(self) -> Computation:
        """The computation of one position after others: windows only limit what is kept, and masks hide nothing."""
        limits = {key for _, key, _, _ in self.kept}
        return replace(self, windows=tuple(one for one in self.windows if one.key not in limits))

    def caches(self, values: Mapping[str, Value]) -> bool | None:
        """Whether the class returns the keys and values of its attention, in which all layers keep as many positions; otherwise False."""
        kinds = self._listed(values)
        return self.cache and (len(kinds) == 0 or kinds == {FULL} or (kinds == {SLIDING} and bool(self.kept_by(values))))

    def kept_by(self, values: Mapping[str, Value]) -> dict[int | None, int]:
        """Return the most positions whose keys and values a layer keeps, by the kind of layers; None is every kind."""
        found = [(kind, values.get(key, default), more) for kind, key, default, more in self.kept]
        return {kind: most + more for kind, most, more in found if isinstance(most, int) and self._listed(values) != {FULL}}

    def _listed(self, values: Mapping[str, Value]) -> set[Value]:
        """The kinds of attention in a list on which no operator depends, but the cache."""
        kinds = values.get(KINDS)
        every = any(kind is None for kind, _, _, _ in self.kept)
        return set(kinds) if every and isinstance(kinds, tuple) and {*kinds} <= {FULL, SLIDING} else set()

    def untrained(self, values: Mapping[str, Value]) -> str:
        """Return why it is not known what a pass in training keeps; nothing if it is known."""
        if self.dropout is None:
            return "training computes something else than evaluation, which was read"
        rates = ((key, values.get(key, default)) for key, default in self.undropped.items())
        return next((f"{key} is {shown(thawed(rate))}; it is known for 0" for key, rate in rates if rate not in (None, 0)), "")

    @property
    def shapes(self) -> Mapping[str, tuple[Any, ...]]:
        """The shapes of the inputs in letters, by name."""
        return {
            name: tuple(axis if isinstance(axis, int) else size_of(axis, self.letters) for axis in axes)
            for name, axes in self.inputs.items()
        }

    def fits(self, values: Mapping[str, Value]) -> bool:
        """Whether the keys have values at which the operators are these."""
        return not [*self._other_values(values)]

    def holds(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether equal sizes, products and lengths within windows of attention are those of the recording."""
        return not [*self._other_windows(values, numbers), *self._other_pairs(numbers)]

    def answers(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether the sizes are also among those of the recording."""
        return self.holds(values, numbers) and not [*self._other_numbers(numbers)]

    def reaches(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether each length is within its window of attention, or beyond it, as in the recording."""
        return not [*self._other_windows(values, numbers)]

    def check(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> None:
        """Refuse values of keys, and numbers of letters, for which the class computes something else.

        Raises:
            NotYetError: the first of them, by its name, or a letter for a length that must be a number.
            ShapeError: more positions than the model has.
        """
        beside = (*self._other_windows(values, numbers), *self._other_pairs(numbers), *self._unlike(values, numbers))
        for words in (*self._other_values(values), *beside, *self._other_numbers(numbers)):
            raise NotYetError(f"{words}. Its tensors are known.")
        self._check_loops(numbers)
        for name, other, less in self.within:
            length, positions = numbers.get(name, 0), numbers.get(other)
            if positions is not None and length > positions - less:
                raise ShapeError(f"{name} is {length}; the model has positions for {positions - less} ({other} is {positions}).")

    def _check_loops(self, numbers: Mapping[str, int]) -> None:
        """Refuse lengths of inputs for which a loop over positions has other operators, and letters for such lengths.

        Raises:
            NotYetError: the first of them.
        """
        for name, most in self.loops.items():
            if numbers.get(name, most + 1) > most:
                found = f"{name} is {numbers[name]}; w" if name in numbers else "W"
                more = "" if name in numbers else "; give a number for it"
                raise NotYetError(f"{found}hat the model computes is known for {name} up to {most}{more}. Its tensors are known.")

    def _other_values(self, values: Mapping[str, Value]) -> Iterator[str]:
        for key, held in self.held.items():
            value = stated_as(values, key, held, self.running.turns)
            if not any(_same(value, one) for one in held) and not (key in self.activations and value in WORDS):
                known = " or ".join(shown(thawed(one)) for one in held)
                yield f"{key} is {shown(thawed(value))}; what the model computes is known for {known}"
        yield from (words for one in self.rotated for words in one.other_values(values))
        for key, default in self.needed.items():
            if values.get(key, default) is None:
                yield f"{key} is null; what the model computes is known if it is given"
        for key, others in self.excluded.items():
            if key in values and values[key] in others:
                known = " and ".join(shown(thawed(one)) for one in others)
                yield f"{key} is {shown(thawed(values[key]))}; what the model computes is known for other values than {known}"

    def _other_windows(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> Iterator[str]:
        for window in self.windows:
            if not window.holds(values, numbers):
                known = "above" if window.beyond else "up to"
                share = f"{window.key}/{window.divisor}" if window.divisor > 1 else window.key
                more = f" + {window.more}" if window.more > 0 else f" - {-window.more}" if window.more else ""
                yield f"{window.length} is {numbers.get(window.length)}; what the model computes is known for lengths {known} {share}{more}"

    def _other_pairs(self, numbers: Mapping[str, int]) -> Iterator[str]:
        for name, other, equal in self.equal:
            if name in numbers and other in numbers and (numbers[name] == numbers[other]) != equal:
                known = "equal ones" if equal else "different ones"
                yield f"{name} is {numbers[name]} and {other} is {numbers[other]}; what the model computes is known for {known}"
        for width, heads, each in self.products:
            wanted = numbers.get(heads, 0) * numbers.get(each, 0)
            if wanted and numbers.get(width, wanted) != wanted:
                yield f"{width} is {numbers[width]}; what the model computes is known for {wanted}, the product of {heads} and {each}"

    def _unlike(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> Iterator[str]:
        for key, (name, default) in self.same.items():
            value = values.get(key, default)
            if value is not None and value != numbers.get(name, value):
                yield f"{key} is {value}; what the model computes is known for that of {name}, {numbers[name]}"

    def _other_numbers(self, numbers: Mapping[str, int]) -> Iterator[str]:
        for name, number in numbers.items():
            if number <= (below := self.above.get(name, 0)):
                yield f"{name} is {number}; what the model computes is known above {below}"
            if number > self.most.get(name, number):
                yield f"{name} is {number}; what the model computes is known up to {self.most[name]}"
        yield from (words for one in self.rotated for words in one.other_numbers(numbers))
        for name, unit, divisor, largest in self.multiples:
            number, other = numbers.get(name, 0), 1 if divisor is None else numbers.get(divisor, 0)
            if other and (number % (unit * other) or number > largest * other):
                wanted = f"multiples of {unit * other} up to {largest * other}"
                more = "" if divisor is None else f" ({divisor} is {other})"
                yield f"{name} is {number}{more}; what the model computes is known for {wanted}"


def _same(value: Value, known: Value) -> bool:
    """Whether two values mean the same; of lists whose entries are all equal the length is the model's depth."""
    if isinstance(value, tuple) and isinstance(known, tuple) and len(set(map(repr, value))) == len(set(map(repr, known))) == 1:
        return _same(value[0], known[0])
    return type(value) is type(known) and value == known
