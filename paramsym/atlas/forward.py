"""The forward pass of a recorded model: its class's recording, played with the model's sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from sympy import Integer, Symbol

from paramsym.algebra.size import Count, Shape
from paramsym.atlas.computing import Computation, computation_for, computes
from paramsym.core.layer import Entry, Layer, unstated
from paramsym.errors import DivisibilityError, NotYetError
from paramsym.program import Value
from paramsym.read.asked import asked
from paramsym.read.computed import shown_as
from paramsym.read.derived import named_entries, templates_at
from paramsym.read.playing import Player
from paramsym.read.stating import Put


class Forward(Layer):
    """A model that computes what its class was recorded to compute, if it was recorded."""

    _unstated = (
        "its record has tensors, not yet what it computes; ps.from_module(model) of the live model, on the meta device, has both, "
        "and so has every family of ps.models"
    )
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
    def computes(self) -> bool:
        """Whether it is known what the class computes."""
        return computes(self.model_type, self.architecture)

    @property
    def returns_keys(self) -> bool | None:
        """Whether it returns the keys and values of its attention; None if it returns nothing, False if this is unknown."""
        return self._computation.cache if self.computes else None

    @property
    def cache_advice(self) -> str:
        """The second half of the error for a cache that is not known; empty if it is."""
        return "keeps for its next step what is not known; its other costs are." if self.returns_keys is False else ""

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The shapes of the inputs by name: the batch B, lengths S and T, and sizes of the configuration."""
        if not self.computes:
            return {}
        found = self._computation
        sizes = self._sizes_of_letters
        return {name: tuple(sizes.get(found.letters[axis], found.letters[axis]) for axis in axes) for name, axes in found.inputs.items()}

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

        found = self._computation
        form = [tuple(found.letters[axis] for axis in axes) for axes in found.inputs.values()]
        sizes = asked(form, [value.sizes for value in given], self._sizes_of_letters)
        found.check(
            dict[str, Any](self.values),
            {name: sizes[letter] for name, letter in found.letters.items() if isinstance(sizes.get(letter), int)},
        )
        entries = self._named_as(found, tuple(own._layer.entries()), sizes)
        try:
            return Player(found.recording, own._layer, TorchSource.operators, partial(shown_as, self), Put(sizes), entries).play(given)
        except NotYetError as error:
            if not isinstance(error.__cause__, DivisibilityError):
                raise
            raise self._indivisible(error.__cause__) from None

    def _indivisible(self, error: DivisibilityError) -> DivisibilityError:
        """Return the error with the keys that have the numbers."""
        found = self._computation.letters
        sizes = {number: name for name, letter in found.items() if isinstance(number := self._sizes_of_letters.get(letter), int)}
        above, below = (f"{sizes[number]} {number}" if number in sizes else str(number) for number in (error.dividend, error.divisor))
        return DivisibilityError(
            f"{self.architecture} computes nothing, because {above} is not divisible by {below}. Its tensors are known."
        )

    def _named_as(self, found: Computation, entries: Sequence[Entry], sizes: Mapping[Symbol, Any]) -> tuple[Entry, ...]:
        """Return the tensors under the names of the recording, which are those of the first copies."""
        letters = {size: name for name, size in self._by_name.items() if isinstance(size, Symbol)}
        base = {letter: Integer(found.base[name]) for letter, name in letters.items() if name in found.base}
        names = templates_at(base, found.recording.stored, entries)
        return tuple(named_entries(found.recording.stored, names, entries, Put(sizes)))

    @cached_property
    def _computation(self) -> Computation:
        return computation_for(self.model_type, self.architecture, dict[str, Any](self.values))

    @property
    def _sizes_of_letters(self) -> dict[Symbol, Any]:
        """The sizes of this model for the letters of the recording."""
        found = self._computation
        by_name = {**{key.replace(".", "_"): value for key, value in self._settled.items() if type(value) is int}, **self._by_name}
        return {found.letters[name]: by_name[name] for name in found.base if name in by_name}
