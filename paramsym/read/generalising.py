"""``generalise``: letters in place of the numbers of a layer, or of a module that was read, in its tensors and in what it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import Count, Dim, Shape, per, shown, substitute
from paramsym.core.layer import Layer, check_layer
from paramsym.derive.generalising import in_letters
from paramsym.errors import ArgumentError, NotYetError
from paramsym.program import Value
from paramsym.program.own import trace_layer
from paramsym.program.statement import class_name
from paramsym.program.types import ArrayType
from paramsym.read.computed import Computed, named
from paramsym.read.derived import Placed
from paramsym.read.playing import Player
from paramsym.read.recording import Recording, Ref
from paramsym.read.sizes import Found, Laws

_NO_SIZES = ("dim", "ax", "perm", "dtype", "step", "stride", "diagonal", "index")
"""The beginnings of the names of arguments that are no sizes, such as the number of an axis."""


@dataclass(frozen=True)
class Meanings:
    """The letters of a module's numbers, and the numbers that these letters replace.

    ``counts`` are numbers that no tensor has, such as a number of heads; a width over one of them is the width of each.
    """

    letters: Mapping[int, Expr] = field(default_factory=dict)
    numbers: Mapping[Symbol, int] = field(default_factory=dict)
    counts: frozenset[int] = frozenset()

    def beside(self, letters: Mapping[tuple[str, int], Expr], counts: frozenset[int]) -> Meanings:
        """Return these meanings and more of them."""
        numbers = {letter: number for (_, number), letter in letters.items() if isinstance(letter, Symbol)}
        every = {**self.letters, **{number: letter for (_, number), letter in letters.items()}}
        return Meanings(every, {**self.numbers, **numbers}, self.counts | counts)

    def expressions(self) -> dict[int, Expr]:
        """Return the expression of every number, the widths of heads among them."""
        widths = {
            number // count: per(letter, self.letters[count])
            for count in sorted(self.counts)
            for number, letter in self.letters.items()
            if number not in self.counts and number % count == 0 and number // count > 1
        }
        return {**widths, **self.letters}


class _Meant(Laws):
    """The laws of a recording of which some whole numbers are letters."""

    def __init__(self, found: Found, meanings: Meanings) -> None:
        numbers = {symbol.name: number for symbol, number in meanings.numbers.items()}
        symbols = {**found.symbols, **{symbol.name: symbol for symbol in meanings.numbers}}
        super().__init__(Found(symbols, found.free, tuple({**point, **numbers} for point in found.at), found.merged))
        self.meant: dict[int, Count] = dict(meanings.expressions())
        self.met: set[int] = set()

    def learn(self, at: Any, size: Count) -> None:
        """Keep the expression of a number, also of one that is the same at all points, such as two widths side by side."""
        if isinstance(at, int) and not isinstance(size, int):
            self.meant.setdefault(at, size)
        super().learn(at, size)

    def value(self, number: Any) -> Any:
        """Return a number as an expression; tuples and mappings entry by entry, except for arguments that are no sizes."""
        if isinstance(number, int) and not isinstance(number, bool):
            self.met.add(number)
            return self.meant.get(number, number)
        if isinstance(number, Mapping):
            return {key: one if str(key).startswith(_NO_SIZES) else self.value(one) for key, one in number.items()}
        return number if isinstance(number, Ref) else super().value(number)


@dataclass(frozen=True)
class Generalised(Computed):
    """A layer with letters for the numbers of a module, with the computation of the module in these letters.

    ``taken`` are the letters, or the sizes that are put in for them. With ``in_copies`` a number of copies is a letter: the names of the
    tensors are not those of the module then, and the computation is not known.
    """

    meanings: Meanings
    taken: tuple[Dim, ...]
    in_copies: bool
    recordings: dict[tuple[ArrayType, ...], tuple[Recording, _Meant]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The shapes of the example inputs by name, in letters."""
        letters = self.meanings.letters
        return {
            name: substitute(tuple(letters.get(axis, axis) if isinstance(axis, int) else axis for axis in shape), self._put)
            for name, shape in super().inputs.items()
        }

    @property
    def _put(self) -> dict[Symbol, Any]:
        return {letter: size for letter, size in zip(self.meanings.numbers, self.taken, strict=True) if letter != size}

    def forward(self, own: Any, *given: Value) -> Any:
        """Play the recording of the module, its numbers in letters.

        Raises:
            NotYetError: an operator that does not fit these letters.
            ArgumentError: a number that is nowhere in the module.
        """
        if self.in_copies:
            raise NotYetError(
                f"{self.source.kind} has a letter for a number of copies; with it the tensors alone are known. Give the number."
            )
        shapes = [self._in_letters(value.sizes) for value in given]
        types = tuple(ArrayType(shape, value.type.kind) for shape, value in zip(shapes, given, strict=True))
        if self._put and types not in self.recordings:  # in letters first: it is seen which other numbers follow from them
            trace_layer(self.origin[0], *types)
        if types not in self.recordings:
            self.recordings[types] = self._recorded(shapes)
        recording, laws = self.recordings[types]
        placed = Placed(laws, self._put) if self._put else laws
        try:
            result = Player(recording, own._layer, self.source.operators, self._part, placed).play(given)
        except NotYetError as error:
            letters = ", ".join(map(str, self.meanings.numbers))
            said = f"{str(error).rstrip('.')}. The computation is not known with {letters} for its numbers; its tensors are."
            raise NotYetError(f"{said} Another number may need a letter, too, as in {{768: H, 12: A}}.") from None
        if nowhere := sorted(self.meanings.counts - laws.met):
            raise ArgumentError(f"{nowhere[0]} is nowhere in the tensors of {self.source.kind}, nor in what it computes.")
        return result

    def _in_letters(self, sizes: Sequence[Dim]) -> tuple[Dim, ...]:
        """Return an input's axes in the letters of the module; a size that was put in is the letter that it was put in for.

        Raises:
            ArgumentError: a number of entries that is a number of the module, too.
        """
        back = {substitute(letter, self._put): letter for letter in self.meanings.letters.values()}
        meant, found = self.meanings.expressions(), tuple(back.get(size, size) for size in sizes)
        for size in found:
            if isinstance(size, int) and size in meant:
                message = f"{size} is the size of an input's axis, and is {shown(meant[size])} in {self.source.kind}"
                raise ArgumentError(f"{message}; ask with a letter for the axis, and put {size} in afterwards: .at(S={size}).")
        return found

    def _recorded(self, shapes: Sequence[tuple[Dim, ...]]) -> tuple[Recording, _Meant]:
        numbers = {symbol: Integer(number) for symbol, number in self.meanings.numbers.items()}
        recording, laws = self.source.recorded([substitute(shape, numbers) for shape in shapes])
        return recording, _Meant(Found({}, (), ({},), recording) if laws is None else laws.found, self.meanings)

    def part(self, path: str) -> Layer:
        """Return the part at a path, in the same letters."""
        if self._put:
            part = self.origin[0].part(path)
            return part.at({letter: size for letter, size in self._put.items() if letter in part.symbols})
        found = super().part(path)
        return _generalised(found, found.layer, self.meanings) if isinstance(found, Computed) else found


def generalise(layer: Layer, letters: Mapping[Any, Any]) -> Layer:
    """Return the layer with letters put in for numbers.

    The mapping ``{768: H, 12: A, 3072: 4*H}`` says what each number means; a symbol may be given by its name, ``{768: "H"}``.

    A number is replaced in every field that holds it. If it has two meanings, such as 12 heads and 12 layers, a key says which:
    ``{("heads", 12): A, ("copies", 12): L}``. The other words are ``"width"``, which includes the rows of a table, ``"kernel"`` and
    ``"groups"``. Of a module that was read, the numbers in the computation are replaced, too: ``{96: H, 6: A}`` makes 16, the width of each
    of 6 heads, H/A. With a letter for a number of copies, such a module has its tensors in letters, but not its computation.

    Raises:
        StructureError: a number with two meanings, or a letter for two numbers.
        ArgumentError: a number that the layer does not contain.

    >>> from paramsym import Dense, F, H, Sequential
    >>> generalise(Sequential(Dense(768, 3072), Dense(3072, 768)), {768: H, 3072: F}).params
    2*F*H + F + H
    """
    check_layer(layer)
    if not isinstance(layer, Computed):
        return in_letters(layer, letters).layer
    before = layer.meanings if isinstance(layer, Generalised) else Meanings()
    found = in_letters(layer.with_tensors_only, letters, before.letters, class_name(layer))
    return _generalised(layer, found.layer, before.beside(found.letters, found.elsewhere))


def _generalised(read: Computed, layer: Layer, meanings: Meanings) -> Layer:
    in_copies = [entry.name for entry in layer.entries()] != [entry.name for entry in read.entries()]
    found: Layer = named(Generalised, read.source.kind)(layer, read.source, meanings, tuple(meanings.numbers), in_copies)
    return found
