"""One instance: a layer with its sizes put in, and what somebody else built at those sizes."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Literal

from paramsym.algebra.size import text
from paramsym.core.layer import Layer, check_layer
from paramsym.errors import ArgumentError, RefutedError
from paramsym.naming import described
from paramsym.verify.lattice import lattice
from paramsym.verify.match import match
from paramsym.verify.rename import Renaming

_NAMED = 4  # tensors that a difference of counts is held against
_PRIMES = ((2, 3, 5, 7, 11, 13, 17, 19), (7, 5, 3, 2, 13, 11, 19, 17))  # sizes at which no two tensors are likely to be equally large


@dataclass(frozen=True)
class Rival:
    """Somebody else's way to build the layer: ``build`` by symbol name, and how its tensors are called."""

    build: Callable[..., Any]
    rename: Renaming | None = None
    by: Literal["name", "order"] = "name"

    def check_call(self, layer: Layer) -> None:
        """Raise ``ArgumentError`` where there is no layer, or ``build`` does not take its symbols by name."""
        check_layer(layer, "It comes first, and what builds the other one second.")
        names = sorted(symbol.name for symbol in layer.symbols)
        if not callable(self.build):
            message = f"build is {described(self.build)}; wanted a function of {', '.join(names) or 'nothing'}."  # type: ignore[unreachable]
            raise ArgumentError(message)
        try:
            signature = inspect.signature(self.build)
        except (TypeError, ValueError):
            return
        try:
            signature.bind(**dict.fromkeys(names, 1))
        except TypeError as error:
            called = ", ".join(f"{name}=..." for name in names)
            message = f"build{signature} cannot be called as build({called}): {error}."
            raise ArgumentError(message) from None

    def check(self, layer: Layer, sizes: Mapping[str, int]) -> Any:
        """Build at the sizes, compare, and return what was built.

        Raises:
            RefutedError: where the two disagree, or ``build`` itself fails.
        """
        __tracebackhide__ = True
        sized = layer.at(sizes)
        try:
            built = self.build(**sizes)
        except Exception as error:
            message = f"{_at(layer, sizes)}, build raised {type(error).__name__}: {error}"
            raise RefutedError(message) from error
        try:
            words = disagreement(sized, built, rename=self.rename, by=self.by, elsewhere=lambda: self._elsewhere(layer))
        except ArgumentError as error:
            message = f"{_at(layer, sizes)}, build gave no count (an int) and nothing that can be matched: {error}"
            raise ArgumentError(message) from None
        if words:
            message = f"{_at(layer, sizes)}, {words}"
            raise RefutedError(message)
        return built

    def _elsewhere(self, layer: Layer) -> Iterator[tuple[Layer, int]]:
        """Yield the layer at sizes that differ from each other, and the difference of the counts there."""
        points = lattice(layer)
        for primes in _PRIMES:
            pairs = zip(points.coordinates, cycle(primes), strict=False)
            sizes = points.sizes({c.symbol: c.choices[-1] if c.choices else prime for c, prime in pairs})
            try:
                sized = layer.at(sizes)
                difference = int(self.build(**sizes).__index__()) - sized.count
            except Exception:  # noqa: BLE001, S112 - somebody else's function, asked beyond what was to be compared
                continue
            yield sized, difference


def disagreement(
    sized: Layer,
    built: Any,
    *,
    rename: Renaming | None = None,
    by: Literal["name", "order"] = "name",
    elsewhere: Callable[[], Iterable[tuple[Layer, int]]] = tuple,
) -> str:
    """Say how something that was built differs from a layer with its sizes put in; empty where it does not.

    ``elsewhere`` gives the layer at other sizes, and the difference of the counts there.
    """
    if hasattr(built, "__index__"):
        return _other_count(sized, int(built.__index__()), "build counts", elsewhere)
    found = match(sized, built, rename=rename, by=by)
    if not found.ok:
        return f"the tensors differ. {found}"
    # A torch module counts itself; a Keras layer on the torch backend is one, too, but its statistics are parameters there.
    if hasattr(built, "named_parameters") and not hasattr(built, "trainable_weights"):
        members: Iterable[Any] = built.parameters()
        return _other_count(sized, sum(int(member.numel()) for member in members), "the module has")
    return ""


def _other_count(sized: Layer, count: int, words: str, elsewhere: Callable[[], Iterable[tuple[Layer, int]]] = tuple) -> str:
    if count == sized.count:
        return ""
    difference = count - sized.count
    suspects = _as_many(sized, difference)
    # At the smallest sizes many tensors are equally large; those at fault are as large as the difference everywhere.
    for other, there in elsewhere() if len(suspects) > 1 else ():
        suspects = [name for name in suspects if name in _as_many(other, there)]
    hint = ""
    if suspects:
        more = f" and {len(suspects) - _NAMED} more" if len(suspects) > _NAMED else ""
        hint = f", as many as there are in {' or '.join(suspects[:_NAMED])}{more}"
    formula = "" if sized.formula == sized.params else f"{text(sized.formula)} = "
    return f"{words} {count:,} parameters; the layer has {formula}{sized.count:,} (difference {difference:+,}{hint})."


def _as_many(sized: Layer, difference: int) -> list[str]:
    """Return the tensors that have as many entries as a difference is large."""
    amounts: Counter[str] = Counter()
    for line in sized.ledger():
        amounts[line.name] += int(line.polynomial().constant or 0)
    return [name for name, amount in amounts.items() if amount == abs(difference)]


def _at(layer: Layer, sizes: Mapping[str, int]) -> str:
    where = ", ".join(f"{name}={value}" for name, value in sizes.items())
    return f"{layer!r:.200}: at {where}" if where else f"{layer!r:.200}"
