"""Names written out: tensors under their full names, copies in index order, and the layer at a path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from sympy import Integer, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.core.paths import ANY, number_in
from paramsym.core.tensor import Tensor
from paramsym.core.ties import frozen_under_any, resolve_ties
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.naming import digits, quoted

if TYPE_CHECKING:
    from paramsym.core.layer import Layer, Part

MOST_TENSORS = 1_000_000
"""The most tensors that are written out one by one; the largest published mixture of experts has a twentieth of this."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A tensor under its full name; an alias also has the first name of its tensor."""

    name: str
    tensor: Tensor
    alias_of: str = ""

    @property
    def frozen(self) -> bool:
        """Whether it is a frozen parameter."""
        return not self.tensor.trainable and not self.tensor.buffer


def numbered_groups(parts: tuple[Part, ...]) -> Iterator[list[Part]]:
    """Group neighbouring numbered parts of one pattern, so that copies can be written out in index order."""
    group: list[Part] = []
    for part in parts:
        if group and part.numbers is not None and group[0].numbers is not None and part.numbers.pattern == group[0].numbers.pattern:
            group.append(part)
            continue
        if group:
            yield group
        group = [part]
    if group:
        yield group


def all_entries(layer: Layer) -> tuple[Entry, ...]:
    """Return all entries of a layer, with the ties that it states itself."""
    found, ties = stated_entries(layer), layer.ties()
    if not ties:
        return tuple(found)
    known = [(entry.name, entry.alias_of) for entry in found if entry.alias_of]
    firsts = resolve_ties([*known, *ties.items()], [entry.name for entry in found], written_out=True)
    frozen = frozen_under_any(firsts, (entry.name for entry in found if entry.frozen))
    return tuple(
        Entry(entry.name, _held(entry.tensor, frozen=entry.name in frozen), firsts.get(entry.name, entry.alias_of)) for entry in found
    )


def stated_entries(layer: Layer, above: str = "", *, frozen: bool = False) -> list[Entry]:
    """Return the entries of a layer's own tensors and parts, without the ties of its own level; ``above`` begins every name.

    A name is made once, with all that begins it, and not again on every level.
    """
    found = [Entry(above + tensor.name, _held(tensor, frozen=frozen)) for tensor in layer.own_tensors]
    for group in numbered_groups(layer.own_parts):
        found.extend(_written_out(group, above, frozen=frozen))
    return found


def _entries_under(layer: Layer, above: str, *, frozen: bool) -> Iterable[Entry]:
    return _renamed(above.__add__, layer.entries(), frozen=frozen) if layer.ties() else stated_entries(layer, above, frozen=frozen)


def _written_out(group: list[Part], above: str, *, frozen: bool) -> Iterator[Entry]:
    """Yield the entries of a part, or of neighbouring numbered parts in index order."""
    if any(part.numbers is None or part.numbers.values is None for part in group):
        for part in group:
            if part.numbers is None:
                yield from _entries_under(part.layer, f"{above}{part.name}." if part.name else above, frozen=frozen or part.frozen)
            elif part.numbers.count != 0:  # a single copy that was split off leaves the empty template {1..0}
                yield from _copy(part.numbers, None, part.layer.entries(), above, frozen=frozen or part.frozen)
        return
    copies: list[tuple[int, Part, Numbers, tuple[Entry, ...] | None]] = []
    for part in group:
        numbers = part.numbers
        assert numbers is not None  # noqa: S101 - for the type checker; the branch above took the others
        assert numbers.values is not None  # noqa: S101 - likewise
        depends = numbers.index is not None and numbers.index in part.layer.symbols
        entries = None if depends else part.layer.entries()
        _check_number(cast("int", numbers.count), 1 if entries is None else len(entries))
        copies.extend((number, part, numbers, entries) for number in numbers.values)
    for number, part, numbers, entries in sorted(copies, key=lambda copy: copy[0]):
        if entries is None:
            entries = part.layer.substituted({cast("Symbol", numbers.index): Integer(number)}).entries()  # noqa: PLW2901
        yield from _copy(numbers, number, entries, above, frozen=frozen or part.frozen)


def _copy(numbers: Numbers, number: int | None, entries: Iterable[Entry], above: str, *, frozen: bool) -> Iterator[Entry]:
    """Yield the entries of one copy, or of the template for all copies."""
    if numbers.pattern:
        label = str(numbers) if number is None else numbers.name(number)
        return _renamed(f"{above}{label}.".__add__, entries, frozen=frozen)
    return _renamed(lambda name: above + numbers.inside(name, number), entries, frozen=frozen)


def _check_number(copies: int, tensors: int) -> None:
    if copies * tensors > MOST_TENSORS:
        raise SizeError(
            f"{digits(copies)} copies of {tensors} tensor{'s' * (tensors != 1)} are too many to write their names out; "
            f"{MOST_TENSORS:,} tensors are the limit. Counts, ledgers and tables take any number of copies."
        )


def _renamed(rename: Callable[[str], str], entries: Iterable[Entry], *, frozen: bool) -> Iterator[Entry]:
    for entry in entries:
        yield Entry(rename(entry.name), _held(entry.tensor, frozen=frozen), rename(entry.alias_of) if entry.alias_of else "")


def _held(tensor: Tensor, *, frozen: bool) -> Tensor:
    return replace(tensor, trainable=False) if frozen and tensor.trainable else tensor


def layer_at(layer: Layer, path: str) -> Layer:
    """Return the layer at a dotted path, as its parent states it.

    Raises:
        UnknownNameError: a path that does not exist.
        ArgumentError: something that is not a path.
    """
    if not isinstance(path, str):
        raise ArgumentError(f"{type(layer).__name__}.part() takes a dotted path, such as 'encoder.layer.3', not {quoted(path)}.")
    return descend(layer, path.split(".") if path else [])


def descend(layer: Layer, steps: list[str]) -> Layer:
    """Return the layer at the steps of a path.

    Raises:
        UnknownNameError: an unknown step; the message lists the known ones.
    """
    if not steps:
        return layer
    refused: UnknownNameError | None = None
    for part in layer.own_parts:
        for inner, rest in _into(part, steps):
            try:
                return descend(inner, rest)
            except UnknownNameError as error:
                if rest is not steps:  # another part may have a longer name: "model.layers" beside "model"
                    refused = refused or error
    if refused is not None:
        raise refused
    names = ", ".join(str(part.step) for part in _visible(layer) if str(part.step)) or "no parts"
    raise UnknownNameError(f"{layer._who} has no part {'.'.join(steps)!r}; it has {names}.")


def _into(part: Part, steps: list[str]) -> Iterator[tuple[Layer, list[str]]]:
    """Yield the layers inside a part that a path may mean, each with the remaining steps."""
    if part.numbers is None and not part.name:
        yield part.layer, steps
        return
    for taken in range(1, len(steps) + 1):
        head = ".".join(steps[:taken])
        if part.numbers is None:
            if head == part.name:
                yield part.layer, steps[taken:]
            continue
        found = number_in(part.numbers, head)
        if found is not None:
            inner = part.layer
            if found != ANY and part.numbers.index is not None and part.numbers.index in inner.symbols:
                inner = inner.substituted({part.numbers.index: Integer(found)})
            yield inner, steps[taken:]


def _visible(layer: Layer) -> Iterator[Part]:
    for part in layer.own_parts:
        if part.numbers is None and not part.name:
            yield from _visible(part.layer)
        elif part.numbers is None or part.numbers.count != 0:
            yield part
