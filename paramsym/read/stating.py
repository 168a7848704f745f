"""A recording whose numbers are expressions, and the sizes that are put in for its letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sympy import Expr, Symbol

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Count, substitute
from paramsym.read.merging import Path, Varying
from paramsym.read.recording import Array, Called, Done, Recording, Ref, Repeated


def stated(recording: Recording, value: Callable[[Any], Any]) -> Recording:
    """Return a recording with other numbers: ``value`` gives the replacement of each number, word or path step."""
    return _Rewriter(value).recording(recording)


class _Rewriter:
    def __init__(self, value: Callable[[Any], Any]) -> None:
        self.value = value

    def recording(self, one: Recording) -> Recording:
        stored = {number: tuple(map(self.path, names)) for number, names in one.stored.items()}
        constants = {number: self.array(array) for number, array in one.constants.items()}
        return replace(one, inputs=tuple(map(self.array, one.inputs)), stored=stored, constants=constants, top=self.called(one.top))

    def array(self, one: Array) -> Array:
        return replace(one, shape=tuple(map(self.number, one.shape)))

    def called(self, one: Called) -> Called:
        return Called(self.path(one.path), one.kind, [self.item(item) for item in one.items])

    def item(self, one: Done | Called | Repeated) -> Done | Called | Repeated:
        if isinstance(one, Called):
            return self.called(one)
        if isinstance(one, Repeated):
            return replace(one, calls=[self.called(called) for called in one.calls], count=self.number(one.count))
        arguments = {name: self.number(each) for name, each in one.arguments.items()}
        return replace(one, arguments=arguments, results=tuple(map(self.array, one.results)))

    def path(self, one: str) -> str:
        steps = getattr(one, "steps", None)
        return one if steps is None else Path.of(str(one), tuple(map(self.number, steps)))

    def number(self, one: Any) -> Any:
        if isinstance(one, Varying) or not isinstance(one, tuple | Mapping):
            return one if isinstance(one, Ref) else self.value(one)
        if isinstance(one, Ref):
            return one
        if isinstance(one, Mapping):
            return {name: self.number(each) for name, each in one.items()}
        return tuple(map(self.number, one))


class Put:
    """The sizes of a recording in letters: ``sizes`` has what is put in for each letter."""

    def __init__(self, sizes: Mapping[Symbol, Any]) -> None:
        self.sizes = sizes
        self._known: dict[Expr, Any] = {}

    def learn(self, at: Any, size: Count) -> None:
        """Learn nothing: all numbers are expressions."""

    def value(self, number: Any) -> Any:
        """Return a number with sizes put in; tuples and mappings entry by entry."""
        if isinstance(number, Expr):
            found = self._known.get(number)
            if found is None:
                found = self._known[number] = number_of(substitute(number, self.sizes))
            return found
        if isinstance(number, Mapping):
            return {name: self.value(each) for name, each in number.items()}
        return tuple(map(self.value, number)) if type(number) is tuple else number

    def agree(self, size: Count, at: Any) -> bool:
        """Whether an expression is a number of the recording."""
        return not differ(size, self.value(at))


def number_of(found: Any) -> Any:
    """Return the number of an expression without letters: a whole one, or one in floating point."""
    if isinstance(found, Expr) and not found.free_symbols:
        return int(found) if found.is_integer else float(found)
    return found
