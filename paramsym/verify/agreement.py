"""One instance: a layer with its sizes put in, compared with another build at these sizes."""

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

_NAMED = 4  # the most tensors named for a difference of counts
_PRIMES = ((2, 3, 5, 7, 11, 13, 17, 19), (7, 5, 3, 2, 13, 11, 19, 17))  # sizes at which two tensors are unlikely to be equally large


@dataclass(frozen=True)
class Rival:
    """Another build of the layer: a function of sizes by symbol name, and the names of its tensors."""

    build: Callable[..., Any]
    rename: Renaming | None = None
    by: Literal["name", "order"] = "name"

    def check_call(self, layer: Layer) -> None:
        """Raise ``ArgumentError`` without a layer, or if ``build`` does not take its symbols by name."""
        check_layer(layer, "Pass the layer first, and the build second.")
        names = sorted(symbol.name for symbol in layer.symbols)
        if not callable(self.build):
            raise ArgumentError(f"build is {described(self.build)}; wanted a function of {', '.join(names) or 'nothing'}.")
        try:
            signature = inspect.signature(self.build)
        except (TypeError, ValueError):
            return
        try:
            signature.bind(**dict.fromkeys(names, 1))
        except TypeError as error:
            called = ", ".join(f"{name}=..." for name in names)
            raise ArgumentError(f"build{signature} cannot be called as build({called}): {error}.") from None

    def check(self, layer: Layer, sizes: Mapping[str, int]) -> Any:
        """Build at the sizes, compare, and return the built object.

        Raises:
            RefutedError: the two disagree, or ``build`` itself fails.
        """
        __tracebackhide__ = True
        sized = layer.at(sizes)
        try:
            built = self.build(**sizes)
        except Exception as error:
            raise RefutedError(f"{_at(layer, sizes)}, build raised {type(error).__name__}: {error}") from error
        try:
            words = disagreement(sized, built, rename=self.rename, by=self.by, elsewhere=lambda: self._elsewhere(layer))
        except ArgumentError as error:
            raise ArgumentError(f"{_at(layer, sizes)}, build returned neither a count (an int) nor tensors: {error}") from None
        if words:
            raise RefutedError(f"{_at(layer, sizes)}, {words}")
        return built

    def _elsewhere(self, layer: Layer) -> Iterator[tuple[Layer, int]]:
        """Yield the layer at other sizes, all different, and the difference of the counts there."""
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
    """Describe how a built object differs from a layer with its sizes put in; empty if it does not.

    ``elsewhere`` gives the layer at other sizes, and the difference of the counts there.
    """
    if hasattr(built, "__index__"):
        return _other_count(sized, int(built.__index__()), "build counts", elsewhere)
    found = match(sized, built, rename=rename, by=by)
    if not found.ok:
        return f"the tensors differ. {found}"
    # A torch module has its own count. A Keras layer on the torch backend is such a module, too, but its statistics are parameters there.
    if hasattr(built, "named_parameters") and not hasattr(built, "trainable_weights"):
        members: Iterable[Any] = built.parameters()
        return _other_count(sized, sum(int(member.numel()) for member in members), "the module has")
    return ""


def _other_count(sized: Layer, count: int, words: str, elsewhere: Callable[[], Iterable[tuple[Layer, int]]] = tuple) -> str:
    if count == sized.count:
        return ""
    difference = count - sized.count
    suspects = _as_many(sized, difference)
    # At the smallest sizes many tensors are equally large; a wrong tensor is as large as the difference at all sizes.
    for other, there in elsewhere() if len(suspects) > 1 else ():
        suspects = [name for name in suspects if name in _as_many(other, there)]
    hint = ""
    if suspects:
        more = f" and {len(suspects) - _NAMED} more" if len(suspects) > _NAMED else ""
        hint = f", as many as there are in {' or '.join(suspects[:_NAMED])}{more}"
    formula = "" if sized.formula == sized.params else f"{text(sized.formula)} = "
    return f"{words} {count:,} parameters; the layer has {formula}{sized.count:,} (difference {difference:+,}{hint})."


def _as_many(sized: Layer, difference: int) -> list[str]:
    """Return the tensors whose number of entries equals a difference."""
    amounts: Counter[str] = Counter()
    for line in sized.ledger():
        amounts[line.name] += int(line.polynomial().constant or 0)
    return [name for name, amount in amounts.items() if amount == abs(difference)]


def _at(layer: Layer, sizes: Mapping[str, int]) -> str:
    where = ", ".join(f"{name}={value}" for name, value in sizes.items())
    return f"{layer!r:.200}: at {where}" if where else f"{layer!r:.200}"
