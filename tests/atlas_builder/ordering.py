"""Classes whose layers are of several kinds: how deep they are recorded, and which kind each layer is."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

from atlas_builder.reference import RefusedError

from paramsym.atlas.building import recorded
from paramsym.atlas.depth import Pattern, pattern_of
from paramsym.atlas.model import Recorded
from paramsym.atlas.orders import Order, tensors_of_copies
from paramsym.errors import ConfigError, NotYetError, ParamsymError
from paramsym.read.predicted import Predicted
from paramsym.read.recording import Recording
from paramsym.read.sizes import Laws
from paramsym.read.stacks import Stacked, stacked, written_out

DEPTHS = (2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 24)
_SEEN = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 24)
_TURNS, _AGREED, _DEEPER = 60, 8, 6
_OWN = ""


class UnorderedError(Exception):
    """Why the order of a class's layers is not known."""


@dataclass
class Ordering:
    """The order of the layers of one class, whose recordings are those of ``of``; ``depths`` are the keys of numbers of layers."""

    of: Any
    depths: tuple[str, ...]
    laws: Laws = field(init=False)
    merged: Stacked = field(init=False)
    written: list[Order] = field(init=False)

    def deep(self, depth: int) -> dict[str, Any]:
        """Return the keys of a model with so many layers."""
        return dict.fromkeys(self.depths, depth)

    def seen(self, numbers: Mapping[str, int], others: Mapping[str, Any]) -> Stacked:
        """Return the recording at numbers and other keys, with stacks."""
        return stacked(self.of.at(numbers, others))

    def least(self, numbers: Mapping[str, int]) -> int:
        """Return the least number of layers with which there are as many kinds as with many layers.

        Raises:
            UnorderedError: no number that was tried.
        """
        counts: dict[int, dict[str, int]] = {}
        for depth in DEPTHS:
            with suppress(RefusedError, NotYetError, ConfigError):  # few layers may not show what the first one takes
                self.model(numbers, deep := self.deep(depth))  # which is known for so many layers
                found = self.seen(numbers, deep)
                counts[depth] = {stack.path: len(stack.kinds) for stack in found.stacks}
        most = counts[max(counts)] if counts and self.depths else {}
        if not most:
            raise UnorderedError("layers of several kinds, and no stack of them")
        return next(depth for depth, found in counts.items() if found == most)

    def model(self, numbers: Mapping[str, int], others: Mapping[str, Any]) -> Recorded:
        """Return the record's model."""
        point = self.of.point(numbers, others)
        found, _, _ = recorded({"model_type": self.of.model_type, **self.of.reference.arguments(point)}, self.of.name)
        assert isinstance(found, Recorded)
        return found

    def resolved(self, others: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of all keys in the reference."""
        values: Mapping[str, Any] = self.of.reference.resolved(self.of.point({}, others))
        return values

    def orders(self, numbers: Mapping[str, int], others: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the order of each stack as JSON, without the kinds that were seen together.

        Raises:
            UnorderedError: kinds that nothing tells apart.
        """
        base = self.seen(numbers, others)
        deeper = {key: self.seen(numbers, {**others, key: self.resolved(others)[key] + 1}) for key in self.depths}
        found = []
        for place, (stack, order) in enumerate(zip(base.stacks, base.orders, strict=True)):
            longer = [key for key, one in deeper.items() if len(one.orders[place]) == len(order) + 1]
            if len(longer) > 1:
                raise UnorderedError(f"the number of layers of {stack.path} follows {longer}")
            key = longer[0] if longer else None
            found.append(self._order(numbers, others, place, stack.path, key))
        return found

    def _order(self, numbers: Mapping[str, int], others: Mapping[str, Any], place: int, path: str, key: str | None) -> dict[str, Any]:
        samples = []
        for depth in (None, *_SEEN) if key else (None,):
            here = {**others} if depth is None else {**others, str(key): depth}
            with suppress(RefusedError, ParamsymError):
                one = self.seen(numbers, here)
                samples.append((here, one.orders[place], self.model(numbers, here)))
        if not samples:
            raise UnorderedError(f"the record does not read the layers of {path}")
        tensors = [tensors_of_copies(model._existing_rows, path, len(order)) for _, order, model in samples]
        each = [one for layers in tensors for one in layers]
        rows = sorted(set().union(*each) - set.intersection(*each))
        lists = dict(self._lists(samples)) if key else {}
        for chosen in (lists, {**lists, _OWN: self._own([order for _, order, _ in samples])}):
            listed = {name: pattern for name, pattern in chosen.items() if pattern is not None}
            order = Order(path, key or len(samples[0][1]), tuple(rows), listed, {}, frozenset())
            kinds: dict[Any, set[int]] = {}
            for _, found, model in samples:
                with suppress(NotYetError):
                    for mark, kind in zip(order.marks(model._settled, len(found), model._existing_rows), found, strict=True):
                        kinds.setdefault(mark, set()).add(kind)
            told = {mark: one for mark, one in kinds.items() if len(one) == 1}
            if told == kinds and {kind for one in kinds.values() for kind in one} == set(samples[0][1]):
                empty = [name for name in listed if name and self.is_default(name, samples[0][0])]
                return {
                    "path": path,
                    "depth": order.depth,
                    "rows": rows,
                    "lists": {name: [one.first, one.period, one.last] for name, one in listed.items()},
                    **({"empty": empty} if empty else {}),
                    "kinds": [[*mark, next(iter(one))] for mark, one in kinds.items()],
                }
        raise UnorderedError(f"nothing tells the kinds of layers of {path} apart: {samples[0][1]}")

    def _lists(self, samples: Sequence[Any]) -> Iterator[tuple[str, Pattern | None]]:
        """Yield the keys with one entry for each layer, with the pattern of their default."""
        first = self.resolved(samples[0][0])
        for name in self.of.entry["keys"]:
            lengths = {len(order) for _, order, _ in samples}
            values = [(self._default(name, here), len(order)) for here, order, _ in samples]
            if (
                isinstance(first.get(name), tuple)
                and len(lengths) > 1
                and all(isinstance(one, tuple) and len(one) == n for one, n in values)
            ):
                pattern = pattern_of([one for one, _ in values])
                if pattern is not None and len(set(map(repr, first[name]))) > 1:
                    yield name, pattern

    def is_default(self, name: str, here: Mapping[str, Any]) -> bool:
        """Whether an empty list for each layer means the default."""
        with suppress(RefusedError):
            return bool(self.resolved({**here, name: ()}).get(name) == self._default(name, here))
        return False

    def _default(self, name: str, here: Mapping[str, Any]) -> Any:
        """Return the list of a configuration that does not give it."""
        point = {key: one for key, one in self.of.point({}, here).items() if key != name}
        with suppress(RefusedError):  # a list that must be given has no default
            return self.of.reference.resolved(point if self.of.mixed else self.of.point({}, here)).get(name)
        return None

    def _own(self, orders: Sequence[tuple[int, ...]]) -> Any:
        return pattern_of(orders)  # type: ignore[arg-type]

    def solved(self, laws: Laws, written: Sequence[Mapping[str, Any]]) -> None:
        """Learn the laws of the recording, and the order of each stack."""
        self.laws, self.merged = laws, stacked(laws.found.merged)
        self.written = [Order.of({**one, "together": [*_firsts_of(one)]}) for one in written]

    def order(self, numbers: Mapping[str, int], others: Mapping[str, Any]) -> Any:
        """Return the kinds of the layers of a deeper model with other keys; None if the record or the reference refuses it.

        Raises:
            UnorderedError: layers in this order compute something else.
        """
        deep = self.deep(max(_DEEPER, *(len(order) for order in self.merged.orders)))
        try:
            kinds, same = self._compared(numbers, {**deep, **others})
        except (ParamsymError, RefusedError):
            return None
        if not same:
            raise UnorderedError(f"other operators in the order {kinds} at {others}")
        return tuple(kinds.items())

    def tested(
        self,
        written: list[dict[str, Any]],
        points: Sequence[Mapping[str, int]],
        keys: Mapping[str, Sequence[Any]],
    ) -> int:
        """Add the kinds that were seen together to each order; return at how many other orders the recordings agree.

        ``keys`` have values that only put the layers in another order.

        Raises:
            UnorderedError: layers of all kinds in another order compute something else, or few orders were built.
        """
        chance = random.Random(19)
        together: list[dict[tuple[int, ...], bool]] = [{_firsts(order): True} for order in self.merged.orders]
        agreed = 0
        for turn in range(_TURNS):
            if agreed >= _AGREED:
                break
            here = {key: chance.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13)) for key in self.depths if chance.random() < 0.8}
            here |= {key: chance.choice(values) for key, values in keys.items() if chance.random() < 0.5}
            numbers = dict(points[turn % len(points)])
            if turn % 3:
                here |= self._listed(self.written, here, chance, single=turn % 3 == 1)
            try:
                kinds, same = self._compared(numbers, here)
            except (ParamsymError, RefusedError):
                continue
            sets = [_firsts(kinds[order.path]) for order in self.written]
            full = all(one == _firsts(order) for one, order in zip(sets, self.merged.orders, strict=True))
            if full and not same:
                raise UnorderedError(f"other operators in the order {kinds} at {here}")
            agreed += same
            for one, seen in zip(together, sets, strict=True):
                one[seen] = one.get(seen, True) and same
        if agreed < _AGREED // 2:
            raise UnorderedError(f"few other orders agree: {agreed}")
        for one, seen_together in zip(written, together, strict=True):
            one["together"] = [list(kinds) for kinds, same in seen_together.items() if same]
        return agreed

    def _compared(self, numbers: Mapping[str, int], here: Mapping[str, Any]) -> tuple[dict[str, tuple[int, ...]], bool]:
        """Return the kinds of the layers by path, and whether the recording is that of layers in this order."""
        model = self.model(numbers, here)
        kinds = {one.path: one.kinds_of(model._settled, self._depth(one, model), model._existing_rows) for one in self.written}
        return kinds, self._agrees(self.laws, self.merged.recording, kinds, numbers, self.of.at(numbers, here))

    def _depth(self, order: Order, model: Recorded) -> int:
        return order.depth if isinstance(order.depth, int) else int(model._settled[order.depth])  # type: ignore[call-overload]

    def _listed(self, orders: Sequence[Order], here: Mapping[str, Any], chance: random.Random, *, single: bool) -> dict[str, Any]:
        """Return lists of the words that layers have, in another order."""
        found: dict[str, Any] = {}
        for order in orders:
            depth = here.get(str(order.depth), self.resolved({}).get(str(order.depth)))
            if not isinstance(depth, int):
                continue
            words = [mark[1] for mark in order.kinds]
            drawn = [chance.choice(words)] * depth if single else [chance.choice(words) for _ in range(depth)]
            found |= {key: tuple(one[place] for one in drawn) for place, key in enumerate(order.lists) if key}
        return found

    def _agrees(
        self, laws: Laws, merged: Recording, kinds: Mapping[str, Sequence[int]], numbers: Mapping[str, int], recording: Recording
    ) -> bool:
        before = laws.found
        laws.found = replace(before, merged=written_out(merged, kinds))
        try:
            return Predicted(laws).agrees(numbers, recording)
        finally:
            laws.found = before


def _firsts(kinds: Sequence[int]) -> tuple[int, ...]:
    """Return the kinds in the order in which they first appear."""
    return tuple(dict.fromkeys(kinds))


def _firsts_of(one: Mapping[str, Any]) -> Iterator[tuple[int, ...]]:
    """Yield all orders in which kinds may first appear."""
    kinds = sorted({kind for _, _, kind in one["kinds"]})
    for count in range(1, len(kinds) + 1):
        yield from permutations(kinds, count)
