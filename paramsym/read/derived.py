"""The closed form of a build that computes: its tensors, and one recording whose numbers are in the build's letters and the inputs'."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from sympy import Expr, Integer, Symbol, floor

from paramsym.algebra.grammar import read
from paramsym.algebra.size import Condition, Dim, Shape, canonical, equal, per, same, shown, substitute, symbols_in, within
from paramsym.core.layer import Layer
from paramsym.core.names import Entry
from paramsym.derive.certificate import Computation
from paramsym.derive.deadline import OutOfTime
from paramsym.derive.domain import Demand, Either
from paramsym.derive.modelled import Derived
from paramsym.derive.points import Numbers
from paramsym.derive.search import Search
from paramsym.errors import ArgumentError, NotYetError
from paramsym.program import Value
from paramsym.read.asked import asked
from paramsym.read.computed import NO_CACHE, shown_as
from paramsym.read.loops import without_copies_of_saved
from paramsym.read.playing import Player
from paramsym.read.recording import Recording
from paramsym.read.sizes import Laws, at_sizes, taken_above_one
from paramsym.read.stating import Put

_ROUNDED = re.compile(r"(?P<way>floor|ceiling)\((?P<size>[^()]+)\)")
_TERM = re.compile(r"(?P<sign>[+-]?)(?:(?P<times>\d+)\*)?(?P<word>\w+)(?:/(?P<part>\d+))?")
_NUMBERED = re.compile(r"\{([^{}]*)\}")
_OTHERS, _ENDLESS = "others than ", 256


@dataclass(frozen=True)
class Inputs:
    """The inputs of a module: their shapes in letters, and their names if they are given by name."""

    shapes: tuple[tuple[Dim, ...], ...]
    names: tuple[str, ...] = ()


class Read:
    """Records the modules of a build at sizes of the build and of the inputs."""

    def __init__(self, search: Search, inputs: Inputs) -> None:
        self.search, self.inputs = search, inputs
        self.kinds: tuple[Any, ...] = ()
        self.kind = ""
        self.parameters: tuple[str, ...] = ()

    def at(self, numbers: Numbers) -> Recording:
        """Record one pass.

        Raises:
            ArgumentError: a build or a forward pass that fails at these sizes.
        """
        from paramsym.read.torch_source import TorchSource

        try:
            module = self.search.builder.filled(self.search.call.arguments(numbers, self.search.stratum))
        except OutOfTime:
            raise
        except Exception as error:  # noqa: BLE001 - somebody else's build may refuse sizes in any way
            raise ArgumentError(f"build fails ({type(error).__name__}: {error}).") from None
        source = TorchSource(module, (), {}, self.inputs.names)
        source.kinds, shapes = self.kinds, at_sizes(self.inputs.shapes, numbers)
        source.advice = f"Its inputs were {', '.join(map(shown, shapes))}; state with inputs=... the shapes that it takes{self._meant}."
        recording = source.recording(shapes)
        self.kinds, self.kind, self.parameters = source.kinds, source.kind, source.names()
        return without_copies_of_saved(recording)

    @property
    def _meant(self) -> str:
        """The shapes with names in the place of numbers from which sizes of the build start, in words."""
        named: dict[Any, str] = {}
        for variable in self.search.domain.variables:
            if variable.start is not None:
                named[variable.start] = "" if variable.start in named else variable.name
        shapes = [tuple(named.get(size) or size for size in shape) for shape in self.inputs.shapes]
        if shapes == list(self.inputs.shapes):
            return ""
        words = [tuple(size if isinstance(size, int) else str(size) for size in shape) for shape in shapes]
        return f", as in inputs={words[0] if len(words) == 1 else words} if a size of the build is meant"

    def of(self, laws: Laws, form: Derived) -> Play:
        """Return what is played for any sizes of a form."""
        from paramsym.read.torch_entries import TORCH

        return Play(self, laws, TORCH, templates(laws, tuple(form.entries())))


@dataclass(frozen=True)
class Play:
    """The computation of a build: the laws of one recording, and the recorder for sizes at which entries must be known."""

    source: Read
    laws: Laws
    operators: Any
    names: Mapping[str, str]
    demands: tuple[Demand | Either, ...] = ()

    @property
    def unknown(self) -> bool:
        """Whether an array that the model computes from its sizes has other entries at other sizes."""
        return any(array.data is None for array in self.laws.found.merged.constants.values())

    def at(self, sizes: Mapping[Symbol, int]) -> Recording:
        """Record the module itself."""
        return self.source.at({name: int(sizes[symbol]) for name, symbol in self.laws.letters.items()})


class Placed(Put):
    """Laws with sizes put in for their letters."""

    def __init__(self, laws: Laws, sizes: Mapping[Symbol, Any]) -> None:
        super().__init__(sizes)
        self.laws = laws

    def value(self, number: Any) -> Any:
        """Return a number with its law, and sizes put in; tuples and mappings entry by entry."""
        return super().value(self.laws.value(number))


@dataclass(frozen=True)
class DerivedModule(Derived):
    """The closed form of a build that returns a module of torch, with what the module computes."""

    play: Play | None = field(default=None, compare=False, repr=False)
    cache_advice: ClassVar[str] = NO_CACHE

    @property
    def computed_as(self) -> Layer:
        """The form itself."""
        return self

    @property
    def computes(self) -> bool:
        """What was read computes."""
        return True

    @property
    def computed_where(self) -> str:
        """The conditions on the form's letters and the inputs' that its sizes do not decide, in words."""
        play, sizes = self._played, self._own_sizes
        demands = ((one, one.conditions(play.laws.found.symbols)) for one in play.demands)
        open_ones = (one for one, stated in demands if stated[0].kind != "divides" and not any(_met(each, sizes) for each in stated))
        return " and ".join(map(str, open_ones))

    @property
    def _played(self) -> Play:
        assert self.play is not None  # noqa: S101 - for the type checker
        return self.play

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The shapes of the inputs by name, in the form's sizes."""
        return dict(zip(self.input_names, substitute(self._played.source.inputs.shapes, self._own_sizes), strict=False))

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs in order."""
        source = self._played.source
        return source.inputs.names or source.parameters[: len(source.inputs.shapes)]

    @property
    def _own_sizes(self) -> dict[Symbol, Any]:
        letters = self._played.laws.letters
        listed = (*self.sizes_taken, *self.follows)
        return {letters[name]: size for name, size in listed if name in letters}

    def forward(self, own: Any, *given: Value) -> Any:
        """Play the recording for inputs of these shapes, in letters or numbers.

        Raises:
            ShapeError: inputs that do not have the stated form.
        """
        play = self._played
        sizes = asked(play.source.inputs.shapes, [value.sizes for value in given], self._own_sizes)
        laws: Any = play.laws if all(symbol == size for symbol, size in sizes.items()) else Placed(play.laws, sizes)
        recording, entries = play.laws.found.merged, tuple(own._layer.entries())
        broken = self._broken(sizes)
        if all(isinstance(size, int) for size in sizes.values()):
            if play.unknown or broken is not None:  # the entries of arrays, or the operators, are those at these sizes
                return Player(play.at(sizes), own._layer, play.operators, self._shown).play(given)
        elif broken is not None:
            left = ", ".join(sorted(map(str, symbols_in(tuple(sizes.values())))))
            raise NotYetError(
                f"the computation in letters holds for {broken}, and not for these sizes. Put in numbers for all letters, also for {left},"
                " and the module itself is recorded; or derive its build for these sizes, with held={...}."
            )
        taken_above_one(tuple(sizes.values()))
        entries = tuple(named_entries(recording.stored, play.names, entries, laws))
        return Player(recording, own._layer, play.operators, self._shown, laws, entries).play(given)

    def _broken(self, sizes: Mapping[Symbol, Any]) -> Demand | Either | None:
        """Return a condition of the computation that these sizes cannot meet; what depends on letters becomes a condition of the answer."""
        symbols = self._played.laws.found.symbols
        for demand in self._played.demands:
            if not any(_possible(one, sizes) for one in demand.conditions(symbols)):
                return demand
        return None

    def _shown(self, path: str, kind: str) -> Layer:
        return shown_as(self, path, kind)

    def check(self) -> None:
        """Trace the form in letters, so that every number has its law.

        Raises:
            NotYetError: an operator that is not known, or a number without a law.
        """
        from paramsym.program.own import trace_layer
        from paramsym.program.types import ArrayType

        inputs = zip(self._played.source.inputs.shapes, self._played.laws.found.merged.inputs, strict=True)
        trace_layer(self, *(ArrayType(shape, array.kind) for shape, array in inputs))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the tensors alone: a pickle holds no build."""
        return Derived, (self.model, self.sizes_taken, self.demands, self.certificate, self.follows)

    def __copy__(self) -> Self:
        """Return the form itself, which does not change."""
        return self

    def __deepcopy__(self, _: Any) -> Self:
        """Return the form itself, which does not change."""
        return self

    def certified(self, computation: Computation, demands: Sequence[Demand | Either]) -> Self:
        """Return the form with what is known about its computation, and the conditions under which it holds."""
        certificate = self.certificate
        assert certificate is not None  # noqa: S101 - a derived form has one
        play = replace(self._played, demands=tuple(demands))
        return replace(self, certificate=replace(certificate, computation=computation), play=play)


def _possible(condition: Condition, sizes: Mapping[Symbol, Any]) -> bool:
    """Whether sizes can meet a condition; if it depends on letters, it becomes a condition of the answer."""
    small, large = substitute((condition.small, condition.large), sizes)
    if condition.kind == "divides":
        return not isinstance(small, int) or not isinstance(large, int) or large % small == 0
    known = {"at most": within, "equal": equal, "differ": lambda *pair: not same(*pair)}
    return known[condition.kind](small, large)


def _met(condition: Condition, sizes: Mapping[Symbol, Any]) -> bool:
    """Whether sizes are known to meet a condition."""
    return not symbols_in(substitute((condition.small, condition.large), sizes)) and _possible(condition, sizes)


def named_entries(
    stored: Mapping[int, tuple[str, ...]], templates: Mapping[str, str], entries: Sequence[Entry], laws: Any
) -> Iterator[Entry]:
    """Yield the tensors of a layer under the names of a recording, which are those of the first copies.

    ``templates`` gives for a name the one that the layer in letters has for it.
    """
    known = {entry.name: entry for entry in entries}
    for name in (name for names in stored.values() for name in names):
        steps = getattr(name, "steps", None)
        here = str(name) if steps is None else ".".join(str(laws.value(step)) for step in steps)
        entry = known.get(here) or known.get(templates.get(name, ""))
        if entry is not None:
            first = known.get(entry.alias_of, entry)
            yield Entry(name, replace(entry.tensor, trainable=first.tensor.trainable))


def exactly(entries: Iterable[Entry], divisions: Iterable[tuple[Any, Any]]) -> Iterator[Entry]:
    """Yield tensors with an exact quotient of two letters wherever it is rounded down: a computation may need what its tensors do not."""
    put = {floor(one / other): per(one, other) for one, other in divisions if isinstance(one, Expr) and isinstance(other, Expr)}

    def axis(one: Any) -> Any:
        if isinstance(one, tuple):
            return tuple(map(axis, one))
        exact: Any = one.xreplace(put) if isinstance(one, Expr) else one
        return canonical(exact)

    for entry in entries:
        rounded = put and any(isinstance(size, Expr) and size.has(floor) for size in entry.tensor.sizes)
        yield replace(entry, tensor=replace(entry.tensor, shape=axis(entry.tensor.shape))) if rounded else entry


def templates(laws: Laws, entries: Sequence[Entry]) -> dict[str, str]:
    """Return for every name of the recording the name that the form in letters has for it, such as ``h.{0..depth-1}.weight``."""
    base = {symbol: Integer(laws.found.at[0][name]) for name, symbol in laws.letters.items()}
    return templates_at(base, laws.found.merged.stored, entries)


def templates_at(base: Mapping[Symbol, Expr], stored: Mapping[int, tuple[str, ...]], entries: Sequence[Entry]) -> dict[str, str]:
    """Return for every stored name the template that a layer has for it; ``base`` are the sizes at which the names were recorded."""
    listed = [(entry.name, _pattern(entry.name, base)) for entry in entries]
    names = [name for names in stored.values() for name in names]
    return {name: template for name in names for template, matches in reversed(listed) if matches(name)}  # the first one that matches


def _pattern(template: str, base: Mapping[Symbol, Expr]) -> Callable[[str], bool]:
    """Return whether a name is one of a template's, at the first point."""
    words = _NUMBERED.split(template)
    pattern = re.compile("".join(r"(\d+)" if place % 2 else re.escape(word) for place, word in enumerate(words)))
    ranges = [_range(word, base) for word in words[1::2]]

    def matches(name: str) -> bool:
        found = pattern.fullmatch(name)
        return found is not None and all(int(number) in one for number, one in zip(found.groups(), ranges, strict=True))

    return matches


def _range(word: str, base: Mapping[Symbol, Expr]) -> Collection[int]:
    """Return the numbers that are written as ``0..L-1``, ``1,3..L-1`` or ``2*L``; those of ``3,7..`` and ``others than 3,7..`` to 255."""
    if word.startswith(_OTHERS):
        return frozenset(range(_ENDLESS)).difference(_range(word.removeprefix(_OTHERS), base))
    starts, through, last = word.partition("..")
    first, *following = (_at(one, base) for one in starts.split(","))
    end = _at(last, base) + 1 if last else _ENDLESS if through else first + 1
    return range(first, end, following[0] - first if following else 1)


def _at(text: str, base: Mapping[Symbol, Expr]) -> int:
    by_name = {symbol.name: number for symbol, number in base.items()}

    def rounded(found: re.Match[str]) -> str:
        terms = [one.groupdict() for one in _TERM.finditer(found["size"].replace(" ", ""))]
        size = sum(
            Fraction(int(f"{one['sign']}1") * int(one["times"] or 1) * _at(one["word"], base), int(one["part"] or 1)) for one in terms
        )
        return str(math.floor(size) if found["way"] == "floor" else math.ceil(size))

    found = read(_ROUNDED.sub(rounded, text))
    return int(substitute(found, {symbol: by_name[symbol.name] for symbol in symbols_in(found)}))
