"""The forward pass of a recorded model: its class's recording, played with the model's sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from sympy import Integer, Symbol

from paramsym.algebra.size import Count, Shape, canonical, per
from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import classes_that_compute, computations_for, computes
from paramsym.atlas.letters import entries_of, name_of
from paramsym.atlas.losses import usual_loss
from paramsym.atlas.orders import DEEPER, Order
from paramsym.atlas.predicting import Choice
from paramsym.core.layer import Layer, unstated
from paramsym.core.names import Entry
from paramsym.errors import DivisibilityError, NotYetError, ShapeError
from paramsym.program import Value
from paramsym.program.lookups import unrun, untrained
from paramsym.program.state import past
from paramsym.read.asked import asked
from paramsym.read.computed import shown_as
from paramsym.read.derived import exactly, named_entries, templates_at
from paramsym.read.playing import Player
from paramsym.read.recording import Recording
from paramsym.read.stacks import InTurn, Order as Kinds
from paramsym.read.stating import Put

_DEEP = 256
"""A number of layers that no stack reaches, for the names of layers whose number is a letter."""
_LENGTH = "S"
"""The letter of the length of a text, which continues in a decoding step."""


class Forward(Layer):
    """A model that computes what its class was recorded to compute, if it was recorded."""

    model_type: str
    architecture: str
    values: tuple[tuple[str, object], ...]

    @cached_property
    def _settled(self) -> dict[str, Any]:
        """The values of the configuration, with this model's numbers."""
        raise NotImplementedError

    @property
    def _by_name(self) -> dict[str, Count]:
        """The sizes that may vary, by name."""
        raise NotImplementedError

    @property
    def _existing_rows(self) -> Sequence[Choice]:
        """The rows of the record that exist, with the numbers of their copies."""
        raise NotImplementedError

    def _deeper(self, key: str, number: int) -> tuple[Mapping[str, Any], Sequence[Choice]]:
        """Return the values of a configuration with another number of layers, and its rows."""
        raise NotImplementedError

    @property
    def _unstated(self) -> str:  # type: ignore[override]
        if others := classes_that_compute(self.model_type):
            return f"it is known what {', '.join(others)} of this type computes: write ps.load({self.model_type!r}, {others[0]!r})"
        return (
            "its record has tensors, not yet what it computes; ps.from_module(model) of the live model, on the meta device, has both, "
            "and so has every family of ps.models"
        )

    @property
    def computes(self) -> bool:
        """Whether it is known what the class computes."""
        return computes(self.model_type, self.architecture)

    @property
    def usual_loss(self) -> str:
        """The reference's loss for the scores of tokens, by its name in ``conventions("losses")``; "none" without scores."""
        return usual_loss(self.architecture)

    def returns_keys(self, inputs: Sequence[Shape]) -> bool | None:
        """Whether the keys and values of attention are kept for the next step; None if nothing is, False if it is not known."""
        return self._form(inputs)[0].caches(self._settled)

    def _kept_positions(self, form: Computation) -> dict[str, int]:
        """Return the most positions whose keys and values a layer keeps, by the layer's path; the empty path is that of all layers."""
        kept = form.kept_by(self._settled)
        found = {"": kept[None]} if None in kept else {}
        for order in form.orders if kept else ():
            kinds = self._kinds(order)
            first = (*kinds.first, *kinds.period) if isinstance(kinds, InTurn) else kinds
            found |= {f"{order.path}.{number}": kept[kind] for number, kind in enumerate(first) if kind in kept}
        return found

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The shapes of the inputs by name: the batch B, lengths S and T, and sizes of the configuration."""
        if not self.computes:
            return {}
        found = self._computation
        sizes = self._sizes_of_letters(found)
        return {name: tuple(sizes.get(axis, axis) for axis in shape) for name, shape in found.shapes.items()}

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs in order."""
        return tuple(self.inputs)

    def forward(self, own: Any, *given: Value) -> Any:
        """Play what the reference's class computes.

        Raises:
            NotYetError: a class that was not read, or a key with a value for which it computes something else.
            ShapeError: inputs of another form.
            DivisibilityError: heads that their groups do not divide.
        """
        if not self.computes:
            raise unstated(self)
        from paramsym.read.torch_source import TorchSource  # the table of operators, which a count does not need

        found, sizes = self._form([value.sizes for value in given])
        found.check(self._settled, _numbers(found, sizes))
        self._check_letters(found)
        cache = self._kept_positions(found) if found.caches(self._settled) else None
        if past() != 0 and not (found.step and cache is not None):
            raise NotYetError(f"what {self.architecture} computes after earlier positions is not known: give all positions, without past.")
        recording = found.recording_of({one.path: self._kinds(one) for one in found.orders}, self._settled)
        recording = found.running.with_entries(recording, self._settled, any_share=bool(found.rotated))
        entries = self._named_as(found, recording, tuple(own._layer.entries()), sizes)
        try:
            result = Player(recording, own._layer, TorchSource.operators, partial(shown_as, self), Put(sizes), entries, cache).play(given)
        except NotYetError as error:
            if not isinstance(error.__cause__, DivisibilityError):
                raise
            raise self._indivisible(error.__cause__, _numbers(found, sizes)) from None
        return self._as_known(result, found)

    def _as_known(self, result: Any, found: Computation) -> Any:
        """Return results with a refusal of what is not known of them: their entries, or what training keeps."""
        several = (result,) if isinstance(result, Value) else result
        if why := found.running.unknown(self._settled):
            why = f"what a run of {self.architecture} gives is not known: {why}; run ps.from_module(model) of the live model."
            several = tuple(unrun(one, why) for one in several)
        if why := found.untrained(dict[str, Any](self.values)):
            why = f"what {self.architecture} keeps in training is not known: {why}. Its tensors and its FLOPs are known."
            several = tuple(untrained(one, why) for one in several)
        return several[0] if isinstance(result, Value) else several

    def _check_letters(self, found: Computation) -> None:
        """Refuse letters for sizes of which the computation is known for one number only.

        Raises:
            NotYetError: such letters, with their numbers.
        """
        depths = {name_of(one.depth) for one in found.orders if isinstance(one.depth, str)}
        letters = {name: one for name, one in self._by_name.items() if isinstance(one, Symbol) and name not in {*found.base, *depths}}
        if letters:
            numbers = dict(one for key, value in self._settled.items() for one in entries_of(name_of(key), value))
            listed = ", ".join(f"{name} = {numbers[name]}" for name in letters)
            written = ", ".join(f"{letter}={numbers[name]}" for name, letter in letters.items())
            raise NotYetError(f"what {self.architecture} computes is known for {listed} only: write at({written}).")

    def _indivisible(self, error: DivisibilityError, numbers: Mapping[str, int]) -> DivisibilityError:
        """Return the error with the keys that have the numbers."""
        sizes = {number: name for name, number in numbers.items()}
        above, below = (f"{sizes[number]} {number}" if number in sizes else str(number) for number in (error.dividend, error.divisor))
        return DivisibilityError(
            f"{self.architecture} computes nothing, because {above} is not divisible by {below}. Its tensors are known."
        )

    def _form(self, inputs: Sequence[tuple[Any, ...]]) -> tuple[Computation, dict[Symbol, Any]]:
        """Return the computation for inputs of these shapes, and the sizes for its letters.

        Raises:
            ShapeError: inputs of another form.
        """
        found, refusals = [], list[ShapeError]()
        for known in self._computations:
            try:
                sizes = asked(list(known.shapes.values()), inputs, self._sizes_of_letters(known))
            except ShapeError as error:
                refusals.append(error)
                continue
            one_more = past() != 0 and _LENGTH in known.letters and sizes.get(known.letters[_LENGTH]) == 1
            one = known.as_step if one_more else known
            found.append((one, sizes))
            if one.answers(self._settled, _numbers(one, sizes)):
                return one, sizes
        if not found:
            raise refusals[0]
        nearest = (one for fits in (Computation.holds, Computation.reaches) for one in found if fits(one[0], self._settled, _numbers(*one)))
        return next(nearest, found[0])

    def _kinds(self, order: Order) -> Kinds:
        """Return the kind of each layer of a stack; their pattern if their number is a letter.

        Raises:
            NotYetError: a layer of another kind, or a number that is a letter and kinds without a pattern.
        """
        depth = self._by_name.get(name_of(order.depth), self._settled.get(order.depth)) if isinstance(order.depth, str) else order.depth
        if isinstance(depth, int):
            return order.kinds_of(self._settled, depth, self._existing_rows)
        key = str(order.depth)
        number: Any = self._settled.get(key)
        if number is None:
            raise NotYetError(f"{key} is not given; what the model computes is known for a given number. Its tensors are known.")
        pattern: Any = order.pattern((*self._deeper(key, number + more), number + more) for more in DEEPER)
        if pattern is None:
            raise NotYetError(
                f"the layers are of several kinds without a pattern, so {depth} must be a number for what they compute: "
                f"write at({depth}={number})."
            )
        return InTurn(pattern.first, pattern.period, depth)

    def _named_as(
        self, found: Computation, recording: Recording, entries: Sequence[Entry], sizes: Mapping[Symbol, Any]
    ) -> tuple[Entry, ...]:
        """Return the tensors under the names of the recording, which are those of the first copies."""
        letters = {size: name for name, size in reversed(self._by_name.items()) if isinstance(size, Symbol)}
        base = {letter: Integer(found.base.get(name, _DEEP)) for letter, name in letters.items()}
        names = templates_at(base, recording.stored, entries)
        divided = [(one, by) for one, _, by, _ in found.multiples if by is not None]
        divided += [(name_of(one), name_of(by)) for key, (one, by) in found.quotients.items() if self._is_exact(found, key)]
        divided += [(width, heads) for width, heads, _ in found.products]
        divisions = [(sizes.get(found.letters[one]), sizes.get(found.letters[by])) for one, by in divided]
        return tuple(exactly(named_entries(recording.stored, names, entries, Put(sizes)), divisions))

    @cached_property
    def _computations(self) -> tuple[Computation, ...]:
        """What the class computes for this configuration, for short and for long inputs."""
        return computations_for(self.model_type, self.architecture, self._settled)

    @property
    def _computation(self) -> Computation:
        return self._computations[0]

    def _sizes_of_letters(self, found: Computation) -> dict[Symbol, Any]:
        """The sizes of this model for the letters of the recording."""
        beside = {name_of(key): value for key, value in found.beside.items()}
        by_name = {**beside, **self._numbers_by_name, **self._by_name}
        for key, (dividend, divisor) in found.quotients.items():
            if self._settled.get(key) is None:
                size, parts = by_name[name_of(dividend)], by_name[name_of(divisor)]
                by_name[name_of(key)] = canonical(per(size, parts) if self._is_exact(found, key) else size // parts)
        for width, heads, each in found.products:
            if not all(isinstance(by_name[one], int) for one in (width, heads)):  # tensors have the width's letter
                by_name[each] = canonical(per(by_name[width], by_name[heads]))
        for one in found.rotated:
            by_name[one.letter] = one.size(self._settled, by_name, self._whole(found))
        return {found.letters[name]: by_name[name] for name in found.base if name in by_name}

    @property
    def _numbers_by_name(self) -> dict[str, Any]:
        """The whole numbers of the configuration."""
        return {name_of(key): value for key, value in self._settled.items() if type(value) is int}

    def _whole(self, found: Computation) -> dict[str, int]:
        """The whole numbers of the configuration by name, with the quotients that a null means."""
        numbers = self._numbers_by_name
        null = {key: of for key, of in found.quotients.items() if self._settled.get(key) is None}
        return numbers | {name_of(key): numbers[name_of(one)] // numbers[name_of(by)] for key, (one, by) in null.items()}

    def _is_exact(self, found: Computation, key: str) -> bool:
        """Whether a key is null in place of an exact quotient."""
        dividend, divisor = found.quotients[key]
        return self._settled.get(key) is None and self._settled[dividend] % self._settled[divisor] == 0


def _numbers(found: Computation, sizes: Mapping[Symbol, Any]) -> dict[str, int]:
    """Return the sizes that are numbers, by the names of their letters; the length of a text has the positions before it."""
    numbers = {name: sizes[letter] for name, letter in found.letters.items() if isinstance(sizes.get(letter), int)}
    if past() != 0 and _LENGTH in numbers:
        numbers[_LENGTH] = canonical(numbers[_LENGTH] + past())
    return {name: number for name, number in numbers.items() if isinstance(number, int)}
