"""``conventions("work")`` and other topics: a list of named conventions, what each counts, its source and its known faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, get_args, overload

from paramsym.algebra.size import shown
from paramsym.analysis.several import Several
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.measure.activations import MEMORY
from paramsym.measure.communication import SHARINGS
from paramsym.measure.formats import BYTES, FORMATS
from paramsym.measure.losses import LOSSES
from paramsym.measure.machines import MACHINES
from paramsym.measure.optimizers import OPTIMIZERS
from paramsym.measure.work_conventions import CONVENTIONS
from paramsym.naming import quoted
from paramsym.render.printed import Printed
from paramsym.render.table import Table


class HasName(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=HasName)
_PROSE = 100
"""The width of a table of sentences, where it is not that of a terminal."""
Topic: TypeAlias = Literal["work", "activations", "optimizers", "formats", "losses", "sharings", "machines", "all"]


@dataclass(frozen=True)
class Known(Printed):
    """One convention: its ``topic`` and ``name``, what it ``counts``, its source, and where it is ``wrong``."""

    topic: Topic
    name: str
    counts: str
    source: str
    wrong: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.source}): {self.counts}" + (f"; but {self.wrong}" if self.wrong else "")


class ByName(Several[N]):
    """Conventions side by side, by number or by name; a subclass holds them as ``items``."""

    items: tuple[N, ...]
    _held = "items"

    @overload
    def __getitem__(self, index: int | str) -> N: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[N, ...]: ...
    def __getitem__(self, index: int | str | slice) -> N | tuple[N, ...]:
        if not isinstance(index, str):
            return self.items[index]
        if index in self.names:
            return self.items[self.names.index(index)]
        raise UnknownNameError(f"there is no convention {quoted(index)}; there are {', '.join(self.names)}.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(item.name for item in self.items)


@dataclass(frozen=True)
class Listing(ByName[Known]):
    """The known conventions; ``conventions("work")["kaplan"]`` gives one by its name."""

    items: tuple[Known, ...]

    def table(self) -> Table:
        rows = tuple((item.topic, item.name, item.counts, item.source, item.wrong) for item in self.items)
        return Table(("of", "name", "counts", "source", "known faults"), rows, (), "Conventions")

    def __str__(self) -> str:
        return self._fitted(_PROSE)

    def _fitted(self, width: int) -> str:
        return self.table()._fitted(width)


def listing(topic: Topic) -> Listing:
    """Return the named conventions of one topic, or of all.

    Raises:
        ArgumentError: an unknown topic.

    >>> print(listing("work")["torchvision"].counts)
    1 for each multiply-add of products and convolutions, in units of 10**9, called GFLOPS
    """
    known = get_args(Topic)
    if topic not in known:
        raise ArgumentError(f"topic is {quoted(topic)}; wanted a layer, a cost, or one of {', '.join(known)}.")
    return Listing(tuple(one for one in _all() if topic in {"all", one.topic}))


_ALONE = "scales of blocks and of tensors are not counted; other formats include them"


def _all() -> tuple[Known, ...]:
    return (
        *_known("work", CONVENTIONS, lambda one: one.counts),
        *_known("activations", MEMORY, lambda one: f"attention {one.attention}, numbers of {one.dtype}"),
        *_known("optimizers", OPTIMIZERS, lambda one: f"{one.states} number{'s' * (one.states != 1)} of {one.bytes} bytes per parameter"),
        *(
            Known("formats", name, f"{shown(width)} byte{'s' * (width != 1)} per number", "its definition", _ALONE)
            for name, width in BYTES.items()
        ),
        *_known("formats", FORMATS, lambda one: one.counts),
        *_known("losses", LOSSES, lambda one: one.counts),
        *_known("sharings", SHARINGS, lambda one: f"{one.times} times the {one.travels}: {one.words}"),
        *_known("machines", MACHINES, lambda one: f"{one.flops:,} FLOPs and {one.bandwidth:,} bytes per second"),
    )


def _known(topic: Topic, table: Mapping[str, Any], counts: Callable[[Any], str]) -> Iterator[Known]:
    return (Known(topic, one.name, counts(one), one.source, one.wrong) for one in table.values())
