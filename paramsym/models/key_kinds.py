"""The kinds of keys of a ``config.json``: allowed values, the constructor's argument, and the reference's default.

A key that holds a size becomes a letter, and the number goes into ``sizes``; other keys become their values. ``only`` are the ends of the
names of the reference's classes whose tensors depend on the key; empty for all. ``null`` means that a key may be null for any default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias, dataclass_transform

from sympy import Symbol

from paramsym.algebra.symbols import dims
from paramsym.atlas.values import LARGEST, refused, shown, whole
from paramsym.errors import ConfigError

Sizes: TypeAlias = "dict[Symbol, int]"


class _Defaults:
    """Defaults of attributes; not a dataclass, so that a subclass may have them as fields in any order."""

    default: Any = None
    nothing: Any = None  # the value for null


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True)
class Key(_Defaults):
    """A key of a configuration, abstract; a subclass is a frozen dataclass without a decorator."""

    _: KW_ONLY
    only: tuple[str, ...] = ()
    null: bool = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True)(cls)

    def read(self, value: Any, where: str, sizes: Sizes, /) -> Any:
        """Check a value, put its sizes in, and return the constructor's argument.

        Raises:
            ConfigError: an impossible value.
        """
        return self.nothing if value is None and self.may_be_null else self.check(value, where, sizes)

    def check(self, value: Any, where: str, sizes: Sizes, /) -> Any:
        """Read a value that is not an allowed null."""
        raise NotImplementedError

    def missing(self, sizes: Sizes, /) -> Any:
        """Return the argument for a missing key: the reference's default."""
        return self.read(self.default, "the default", sizes)

    def unset(self) -> Any:
        """Return the constructor's default: letters for sizes."""
        return self.default

    @property
    def may_be_null(self) -> bool:
        """Whether null is allowed: always if null is the default."""
        return self.null or self.default is None


class Size(Key):
    """A size: the letter it becomes, and the reference's default."""

    letter: Symbol
    default: int | None
    least: int = 1

    def unset(self) -> Symbol:
        return self.letter

    def check(self, value: Any, where: str, sizes: Sizes, /) -> Symbol:
        sizes[self.letter] = whole(value, where, self.least)
        return self.letter


class Pair(Key):
    """One size for both directions, or a list of two: height, then width."""

    letter: Symbol
    letters: tuple[Symbol, Symbol]
    default: int

    def unset(self) -> Symbol:
        return self.letter

    def check(self, value: Any, where: str, sizes: Sizes, /) -> Symbol | tuple[Symbol, Symbol]:
        if not isinstance(value, list | tuple):
            sizes[self.letter] = whole(value, where, 1)
            return self.letter
        if len(value) != 2:
            raise ConfigError(f"{where} has {len(value)} entries; wanted a whole number or two of them, height and width.")
        for position, (letter, entry) in enumerate(zip(self.letters, value, strict=True)):
            sizes[letter] = whole(entry, f"{where}[{position}]", 1)
        return self.letters


class Limit(Key):
    """A size, or zero or less (-1, usually) if there is none."""

    letter: Symbol
    default: int = -1

    def check(self, value: Any, where: str, sizes: Sizes, /) -> Symbol | None:
        if isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value <= 0:
            return None
        sizes[self.letter] = whole(value, where, 1)
        return self.letter


class Several(Key):
    """A list of sizes, one letter each, numbered from 1: ``C_1``, ``C_2``, ..."""

    letter: str
    default: tuple[int, ...]
    least: int = 1

    def unset(self) -> tuple[Symbol, ...]:
        return numbered(self.letter, len(self.default))

    def check(self, value: Any, where: str, sizes: Sizes, /) -> tuple[Symbol, ...]:
        if not isinstance(value, list | tuple) or not 0 < len(value) <= 64:
            raise refused(value, where, "a list of 1 to 64 whole numbers")
        letters = numbered(self.letter, len(value))
        for position, (letter, entry) in enumerate(zip(letters, value, strict=True)):
            sizes[letter] = whole(entry, f"{where}[{position}]", self.least)
        return letters


class Whole(Key):
    """A whole number or null without a letter: a window, or another name of a size."""

    default: int | None = None
    least: int = 1
    null: bool = field(default=True, kw_only=True)

    def check(self, value: Any, where: str, _: Sizes, /) -> int:
        return whole(value, where, self.least)


class Fixed(Key):
    """A number from ``least`` to ``most`` that decides which tensors exist, and so has no letter."""

    default: int
    least: int = 1
    most: int = 256

    def check(self, value: Any, where: str, _: Sizes, /) -> int:
        if (found := whole(value, where, self.least)) > self.most:
            raise ConfigError(f"{where} is {shown(value)}; at most {self.most} can be built.")
        return found


class Flag(Key):
    """True or false; null, if allowed, is false. The default is None if the reference computes the value for a missing key."""

    default: bool | None = False

    nothing = False

    @property
    def may_be_null(self) -> bool:
        return self.null

    def check(self, value: Any, where: str, _: Sizes, /) -> bool:
        if not isinstance(value, bool):
            raise refused(value, where, f"true{', false or null' if self.null else ' or false'}")
        return value

    def missing(self, _: Sizes, /) -> bool | None:
        return self.default


class Real(Key):
    """A number that is not a size: a rate, a limit, a scale, or an initial value that decides whether a tensor exists."""

    default: float | None = None

    def check(self, value: Any, where: str, _: Sizes, /) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            raise refused(value, where, "a number")
        return float(value)


class Word(Key):
    """A word; the model's constructor checks it."""

    default: str | None = None

    def check(self, value: Any, where: str, _: Sizes, /) -> str:
        if not isinstance(value, str):
            raise refused(value, where, "a string")
        return value


class Function(Word):
    """The name of an activation; a model refuses one that the reference does not know."""


class Words(Key):
    """A list of words, or one string of words separated by bars; null is an empty list."""

    nothing = ()

    def check(self, value: Any, where: str, _: Sizes, /) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(word.strip() for word in value.lower().split("|"))
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            raise refused(value, where, "a list of strings")
        return tuple(value)


class Listed(Key):
    """A list of numbers or words that are not sizes, such as the stages that a backbone returns; null is the default."""

    of: type[int | str]
    default: tuple[Any, ...] | None = None

    def read(self, value: Any, where: str, _: Sizes, /) -> tuple[Any, ...] | None:
        if value is None or value is self.default:
            return self.default
        if not isinstance(value, list | tuple) or len(value) > 1000 or not all(type(one) is self.of for one in value):
            raise refused(value, where, f"a list of {'whole numbers' if self.of is int else 'words'}")
        return tuple(value)


class Names(Key):
    """A list of words from a small vocabulary, one per layer, or null."""

    known: frozenset[str]

    def check(self, value: Any, where: str, _: Sizes, /) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise refused(value, where, "a list of words, one per layer")
        for position, word in enumerate(value):
            if not isinstance(word, str) or word not in self.known:
                raise refused(word, f"{where}[{position}]", ", ".join(sorted(self.known)))
        return tuple(value)


def left_out(other: Symbol, instead: Symbol | None = None, **letters: Symbol) -> Callable[[dict[str, Any], Sizes], None]:
    """Return the function with which a family leaves out sizes that are 0 or equal to another size; the argument becomes ``instead``.

    >>> from paramsym.algebra.symbols import E, H
    >>> arguments, sizes = {"embedding_size": E}, {E: 768, H: 768}
    >>> left_out(H, embedding_size=E)(arguments, sizes)
    >>> arguments, sizes
    ({'embedding_size': None}, {H: 768})
    """

    def arrange(arguments: dict[str, Any], sizes: Sizes) -> None:
        for name, letter in letters.items():
            if sizes.get(letter) in {0, sizes[other]}:
                arguments[name] = instead
                del sizes[letter]

    return arrange


def as_numbers(arguments: dict[str, Any], sizes: Sizes, most: int = 0, **letters: Symbol) -> None:
    """Keep sizes up to ``most`` as numbers, because a letter for them would say that there are more."""
    for name, letter in letters.items():
        if sizes.get(letter, most + 1) <= most:
            arguments[name] = sizes.pop(letter)


def numbered(letter: str, count: int) -> tuple[Symbol, ...]:
    """Return a letter with the numbers from 1 on.

    >>> numbered("C", 2)
    (C_1, C_2)
    """
    letters: tuple[Symbol, ...] = dims(" ".join(f"{letter}_{number}" for number in range(1, count + 1)) + ",")
    return letters
