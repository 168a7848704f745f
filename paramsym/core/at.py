"""The sizes that a user passes to ``at``, as a mapping from symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.line import Line
from paramsym.algebra.size import count, substitute, symbols_in, text
from paramsym.algebra.wanted import symbol_named
from paramsym.errors import ArgumentError, ParamsymError, SizeError, StructureError, UnknownNameError
from paramsym.naming import meant, nearest, quoted

LABELS = "num_labels"
"""The argument of a published size that only classes with a head for labels have."""
_SHOWN = 200  # characters of a constructor call that an error shows


def pairs_of(where: str, sizes: object) -> list[tuple[Any, Any]]:
    """Return the sizes of a mapping, or of None, as pairs; raise ``ArgumentError`` for anything else."""
    if sizes is None:
        return []
    if isinstance(sizes, Mapping):
        return list(sizes.items())
    raise ArgumentError(f"{where}.at() takes a mapping, the name of a published size, or keyword arguments, not {quoted(sizes)}.")


def mapping_from(
    where: str, given: Iterable[tuple[Any, Any]], symbols: frozenset[Symbol], why_not: Callable[[str], str] = lambda _: ""
) -> dict[Symbol, Expr]:
    """Return ``{symbol: expression}`` from pairs whose keys are symbols or names; ``why_not`` explains why a name is not among them.

    Raises:
        UnknownNameError: a key that is none of the layer's symbols; ``subs`` would silently do nothing.
        SizeError: a value that is not a size, or a symbol given twice.
        StructureError: a value with another symbol whose name the layer also has.
    """
    by_name = {symbol.name: symbol for symbol in symbols}
    mapping: dict[Symbol, Expr] = {}
    for key, value in given:
        symbol = symbol_named(where, key, by_name, why_not)
        checked = count(value, f"{where}.at(): {symbol.name}")
        if symbol in mapping and mapping[symbol] != checked:
            raise SizeError(f"{where}.at(): {symbol} is given twice, as {mapping[symbol]} and {checked}.")
        mapping[symbol] = Integer(checked) if isinstance(checked, int) else checked
    incoming = {symbol.name: symbol for value in mapping.values() for symbol in symbols_in(value)}
    for name, symbol in incoming.items():
        if name in by_name and by_name[name] != symbol and by_name[name] not in mapping:
            raise two_of_one_name(symbol, by_name[name], f"{where}.at()")
    return mapping


def changed_sizes(before: Mapping[Symbol, Any], changes: Mapping[Symbol, Expr]) -> dict[Symbol, Any]:
    """Return all sizes after some are changed. A letter in a value means its new size; in the value for the letter itself, the old size.

    Raises:
        SizeError: sizes that are defined by each other.

    >>> from paramsym import F, H
    >>> changed_sizes({H: 768, F: 3072}, {H: 2*H, F: 3*H})
    {H: 1536, F: 4608}
    """
    after = dict(before)
    waiting: list[Symbol] = []

    def settled(symbol: Symbol) -> Any:
        if symbol in waiting:
            raise SizeError(f"{' and '.join(sorted(map(str, waiting)))} are defined by each other; give one of them as a number.")
        waiting.append(symbol)
        letters = symbols_in(changes[symbol]) & before.keys()
        values = {one: settled(one) if one in changes and one != symbol else before[one] for one in letters}
        waiting.remove(symbol)
        return substitute(changes[symbol], {one: Integer(value) if isinstance(value, int) else value for one, value in values.items()})

    return after | {symbol: settled(symbol) for symbol in changes}


def published_sizes(
    where: str, published: Mapping[str, Mapping[str, Any]], name: str, held: Callable[[str], Any], instead: str = ""
) -> dict[Symbol, Any]:
    """Translate a published size, given by constructor argument, to the symbols that the arguments hold; ``instead`` ends the advice.

    Flags must agree, except the reference's class: ``check_class`` decides whether another class may have the same sizes.

    The organisation and upper or lower case may be left out if one size remains.

    Raises:
        UnknownNameError: no size of that name.
        StructureError: the layer was built with another value than the published one.
    """
    said, name = name, meant(name, published) or ""
    if not name:
        near = nearest(said, published)
        known = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(published)}." if published else "it has none."
        raise UnknownNameError(f"{where} has no published size {said!r}; {known}")
    found: dict[Symbol, Any] = {}
    size = {argument: value for argument, value in published[name].items() if argument != LABELS or held(argument) is not None}
    for argument, value in size.items():
        for symbol, number in _symbols_to_fill(held(argument), value):
            if found.setdefault(symbol, number) != number:
                raise SizeError(f"{where}: {name} needs {symbol} to be both {found[symbol]} and {number}.")
    given = {symbol: Integer(value) for symbol, value in found.items() if isinstance(value, int)}
    for argument, value in size.items():
        if substitute(held(argument), given) != value:
            raise StructureError(
                f"{where}: {name} has {argument}={quoted(value)}, but this layer was built with {argument}={text(held(argument))};"
                f" build it with {argument}={quoted(value)}{instead}."
            )
    return found


def published_class(model: type[Any], name: str) -> str:
    """Return the reference's class of a published size: the class of its first published count, otherwise the default."""
    default: str = getattr(model, "architecture", "")
    claims: Iterable[Any] = getattr(model, "claims", ()) if default else ()
    return next((claim.counts for claim in claims if claim.name == name and claim.counts.isidentifier()), default)


def check_class(layer: Any, name: str) -> None:
    """Refuse a published size for a layer of the default class if the published class stores other tensors.

    A class that the user asked for is accepted. A default class is not: its count would look like the published model's.

    Raises:
        StructureError: the published class stores other tensors.
    """
    while layer.published is not type(layer).published:  # a wrapper has the sizes of the layer inside it
        layer = layer.layer
    model = type(layer)
    name = meant(name, model.published) or name
    default, published = getattr(model, "architecture", ""), published_class(model, name)
    if published == default or layer.architecture != default:
        return
    try:
        if replace(layer, architecture=published).polynomial == layer.polynomial:
            return
    except ParamsymError:  # the published class does not take these flags
        pass
    raise StructureError(
        f"{model.__name__}: {name} was published as {published}, and this layer is {default}, which stores other tensors. Write"
        f" ps.load({name!r}) for the published model; its second argument asks for another class."
    )


def _symbols_to_fill(held: object, value: object) -> Iterator[tuple[Symbol, Any]]:
    """Pair the symbols that an argument holds, alone, in a tuple or in a layer, with the published numbers."""
    if isinstance(held, Symbol):
        yield held, value
    elif isinstance(held, tuple) and isinstance(value, tuple):
        for one, other in zip(held, value, strict=False):
            yield from _symbols_to_fill(one, other)
    elif type(held) is type(value) and is_dataclass(held):
        for field in fields(held):
            yield from _symbols_to_fill(getattr(held, field.name), getattr(value, field.name))


def two_of_one_name(one: Symbol, other: Symbol, where: str = "") -> StructureError:
    """Return the error for two symbols that print alike and are not equal."""
    prefix = f"{where}: " if where else ""
    return StructureError(
        f"{prefix}two different symbols are named {one.name!r} (assumptions: {_assumed(one)}; and {_assumed(other)}); use one throughout."
    )


def _assumed(symbol: Symbol) -> str:
    return ", ".join(f"{k}={v}" for k, v in symbol.assumptions0.items() if k in {"integer", "positive", "real"}) or "none"


def skeleton(lines: Iterable[Line]) -> dict[tuple[object, ...], set[bool]]:
    """Which tensors exist, and whether each is an alias, without sizes and numbers of copies.

    Some copies of a repeated tensor may be aliases and others not. Without copies, neither is recorded.
    """
    found: dict[tuple[object, ...], set[bool]] = {}
    for line in lines:
        known = found.setdefault((_pattern(line), line.label, len(line.shape), line.buffer), set())
        if not line.of_no_copies:
            known.add(bool(line.alias_of))
    return found


def keeps_structure(before: Mapping[tuple[object, ...], set[bool]], after: Mapping[tuple[object, ...], set[bool]]) -> bool:
    """Whether the same tensors exist, in the same order, after sizes were put in."""
    return [*before] == [*after] and all(after[tensor] <= aliases for tensor, aliases in before.items())


def with_copies(lines: Iterable[Line], mapping: Mapping[Symbol, Expr]) -> Iterator[Line]:
    """Yield the lines that still have copies after sizes are put in: a model that was read has no others."""
    for line in lines:
        if all(substitute(step.count, mapping) != 0 for step in line.path if not isinstance(step, str)):
            yield line


def restructured(where: str, before: Iterable[Line], after: Iterable[Line], built: str) -> StructureError:
    """Return the error for sizes that change which tensors exist; ``built`` is the constructor call to write instead."""
    old, new = ([_pattern(line) for line in lines] for lines in (before, after))
    lost = [name for name in old if name not in new]
    gained = [name for name in new if name not in old]
    changes = "; ".join(f"{word} {', '.join(dict.fromkeys(names))}" for word, names in (("without", lost), ("with", gained)) if names)
    shown = built if len(built) <= _SHOWN else built[: _SHOWN - 3] + "..."
    return StructureError(
        f"{where}.at(): these sizes change which tensors exist ({changes or 'they have another rank or order'});"
        f" build the layer with them instead: {shown}."
    )


def _pattern(line: Line) -> str:
    return ".".join([step if isinstance(step, str) else step.pattern for step in line.path])
