"""A model that was read from a live module: its tensors as a layer, and its computation, recorded for the inputs that are asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, ClassVar, Self

from paramsym.algebra.size import Dim, Shape
from paramsym.core.around import Around
from paramsym.core.layer import Layer
from paramsym.errors import NotYetError, ParamsymError
from paramsym.program import Value
from paramsym.program.types import Kind
from paramsym.read.loops import numbered
from paramsym.read.operators import Operators
from paramsym.read.playing import Player
from paramsym.read.recording import Recording
from paramsym.read.rolling import rolled
from paramsym.read.sizes import ON_A_LINE, ON_A_LONG_LINE, Laws, points, taken_above_one

_MOST_TRIES = 8


NO_CACHE = (
    "returns no cache, as an encoder does. Read a decoder with its cache: from_module(model, input_ids=tokens, use_cache=True) for one of"
    " transformers; a class of your own returns it in a dictionary or named tuple, under a name such as cache."
)
"""The message for a model that returns nothing under the name of a cache."""


class Source:
    """A live module, whose passes are recorded when its computation is needed."""

    operators: Operators
    kind: str
    """The name of the module's class."""
    kinds: tuple[Kind, ...] = ()
    """The kinds of the inputs, once they are found out."""

    def kinds_tried(self, number: int) -> Iterator[tuple[Kind, ...]]:
        """Yield the kinds to try for this number of inputs: those that were found, otherwise floating-point numbers before indices."""
        if len(self.kinds) == number:
            yield self.kinds
            return
        choices: tuple[Kind, ...] = ("float", "index")
        yield from islice(product(choices, repeat=number), _MOST_TRIES)

    def part(self, path: str) -> Source | None:
        """Return the source of a module inside; None if there is none at this path."""
        raise NotImplementedError

    def names(self) -> tuple[str, ...]:
        """Return the names of the inputs in order."""
        raise NotImplementedError

    def shapes(self) -> Mapping[str, Shape]:
        """Return the shapes of the example inputs by name; empty without examples."""
        raise NotImplementedError

    def recording(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        """Record one pass for inputs of these shapes."""
        raise NotImplementedError

    def recorded(self, shapes: Sequence[tuple[Dim, ...]], each: int = ON_A_LINE) -> tuple[Recording, Laws | None]:
        """Return a recording for inputs of these shapes, and the laws of the sizes in it if the shapes have letters.

        ``each`` is the number of sizes of one letter at which the module is recorded.
        """
        if all(isinstance(size, int) for shape in shapes for size in shape):
            return self.recording([tuple(map(int, shape)) for shape in shapes]), None
        taken_above_one(tuple(shapes))
        found = points(lambda sizes: numbered(rolled(self.recording(sizes))), shapes, each)
        return found.merged, Laws(found)


@dataclass(frozen=True)
class _Stated(Around):
    """A layer around the tensors of another one that states the computation itself."""

    layer: Layer

    @property
    def computed_as(self) -> Layer:
        """The layer itself."""
        return self

    @property
    def computes(self) -> bool:
        """What was read computes."""
        return True


@dataclass(frozen=True)
class Computed(_Stated):
    """A layer with the tensors of ``layer`` and the computation of a live module."""

    source: Source
    cache_advice: ClassVar[str] = NO_CACHE

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The shapes of the example inputs by name."""
        return self.source.shapes()

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs in order."""
        return self.source.names()

    @property
    def with_tensors_only(self) -> Layer:
        """The tensors without the computation, whose numbers are those of the live module."""
        return self.layer

    def forward(self, own: Any, *given: Value) -> Any:
        """Play the recording for inputs of these shapes; ``own`` has the tensors, some of which an edit may have frozen."""

        def played(recording: Recording, laws: Laws | None) -> Any:
            return Player(recording, own._layer, self.source.operators, self._part, laws).play(given)

        shapes = [value.sizes for value in given]
        recording, laws = self.source.recorded(shapes)
        try:
            return played(recording, laws)
        except NotYetError:
            if laws is None or not laws.unexplained:
                raise
        return played(*self.source.recorded(shapes, ON_A_LONG_LINE))  # a rounded quotient needs many sizes

    def part(self, path: str) -> Layer:
        """Return the part at a path; a module of the model computes, too."""
        found, source = super().part(path), self.source.part(path)
        return found if source is None or states_all(found) else named(Computed, source.kind)(found, source)

    def _part(self, path: str, kind: str) -> Layer:
        return shown_as(self.layer, path, kind)

    def __repr__(self) -> str:
        """Say what it is; no expression builds a live module."""
        return f"<{type(self).__name__}, read from a module: {self.layer.params} parameters>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the tensors alone: a pickle holds no live module."""
        return _same, (self.layer,)

    def __copy__(self) -> Self:
        """Return the layer itself, which does not change."""
        return self

    def __deepcopy__(self, _: Any) -> Self:
        """Return the layer itself, which does not change; the module stays the one that was read."""
        return self


def _same(layer: Layer) -> Layer:
    return layer


def states_all(layer: Layer) -> bool:
    """Whether a layer and all of its parts state what they compute."""
    return layer.computes and all(states_all(part.layer) for part in layer.own_parts)


@dataclass(frozen=True)
class _Nothing(Layer):
    """A module without tensors."""


@dataclass(frozen=True)
class _Module(_Stated):
    """A module inside a model that was read; its program is known for the inputs that it had there."""

    known_alone = True

    def forward(self, own: Any, *given: Value) -> Any:  # noqa: ARG002 - known programs only
        """Refuse inputs other than those that the module had inside the model."""
        raise NotYetError(f"{type(self).__name__} is known only for the inputs that it has inside its model; read the module by itself.")


def shown_as(layer: Layer, path: str, kind: str) -> Layer:
    """Return the layer that is shown for a module at a path in the program of a layer."""
    try:
        found = layer.part(path)
    except ParamsymError:
        return named(_Module, kind)(_Nothing())
    return found if states_all(found) else named(_Module, kind)(found)


@lru_cache(maxsize=1 << 10)
def named(base: type[Layer], kind: str) -> type[Any]:
    """Return a class of layers that are shown under the name of a module's class."""
    return dataclass(frozen=True)(type(kind, (base,), {"__doc__": f"A module of the class {kind}."}))
