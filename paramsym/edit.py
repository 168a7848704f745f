"""Editing a layer by path: one part replaced, or frozen. An edit is itself a layer around the one it edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast

from sympy import Expr, Integer, Symbol

from paramsym.errors import NotYetError, StructureError, UnknownNameError
from paramsym.extents import View
from paramsym.flow import Step
from paramsym.layer import Layer, Part, Tensor
from paramsym.ledger import Numbers
from paramsym.paths import ANY, covers, every_copy, number_in
from paramsym.size import Dim, Shape, canonical


@dataclass(frozen=True)
class Edited(Layer):
    """A layer with the part at ``path`` replaced by ``new``; where ``new`` is None, with what stands there frozen.

    ``layer.replace(path, new)`` and ``layer.freeze(path)`` make it. Numbered copies are split, so that one copy can differ.

    >>> from paramsym import Dense, H, L, Repeat
    >>> Repeat(Dense(H, H), L).replace("0", Dense(H, 1)).params
    H**2*L - H**2 + H*L + 1
    """

    layer: Layer
    path: str
    new: Layer | None = None

    @property
    def published(self) -> Mapping[str, Mapping[str, Any]]:  # type: ignore[override]
        """The inner layer's named sizes."""
        return self.layer.published

    def __getattr__(self, name: str) -> Any:
        """Read a constructor argument of the inner layer, so that a published size still finds its symbols."""
        if name.startswith("_") or "layer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.layer, name)

    def tensors(self) -> Iterator[Tensor]:
        """The inner layer's own tensors, frozen where the path means them."""
        for tensor in self.layer.own_tensors:
            meant = self.new is None and self.path in {"", tensor.name}
            yield replace(tensor, trainable=False) if meant else tensor

    def parts(self) -> Iterator[Part]:
        """The inner layer's parts, the one on the path edited."""
        for part in self.layer.own_parts:
            yield from _edited_part(part, self.path, self.new)

    @property
    def in_order(self) -> bool:  # type: ignore[override]
        """Parts are applied one after another where the inner layer's are."""
        return self.layer.in_order

    def output_shape(self, input_shape: Shape) -> Shape:
        """Through the edited parts where they are applied in order; a frozen part changes no shape."""
        if self.new is None:
            return self.layer.output_shape(input_shape)
        if self.in_order:
            return super().output_shape(input_shape)
        message = f"{type(self.layer).__name__} does not say what shape comes out once {self.path!r} is replaced."
        raise NotYetError(message)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Through the edited parts, likewise."""
        return self.layer.applications(input_shape) if self.new is None else super().applications(input_shape)

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """A frozen weight is used as often as a trained one."""
        return self.layer.uses(input_shape)

    def views(self) -> tuple[View, ...]:
        """What the inner layer sees."""
        return self.layer.views()

    def ties(self) -> Mapping[str, str]:
        """The inner ties, without those that end inside a replaced layer."""
        return self._ties

    @cached_property
    def _ties(self) -> Mapping[str, str]:
        # Each edit of an edited layer asks the one below it, so that without the cache many edits would cost their square.
        ties = self.layer.ties()
        if self.new is None or not ties:
            return ties
        stated: tuple[Tensor | Part, ...] = (*self.own_tensors, *self.own_parts)
        names = [line.name for item in stated for line in item.lines()]
        return {
            alias: first for alias, first in every_copy(ties.items(), names) if not (covers(self.path, alias) or covers(self.path, first))
        }

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        """Put sizes in; the path must still exist, as number 3 does not among three copies."""
        layer = self.layer.substituted(mapping)
        rebuilt = frozen(layer, self.path) if self.new is None else edited(layer, self.path, self.new.substituted(mapping))
        return cast("Self", rebuilt)


def edited(layer: Layer, path: str, new: Layer) -> Layer:
    """Replace the layer at ``path``."""
    if not path:
        return new
    layer.part(path)
    return Edited(layer, path, new)


def frozen(layer: Layer, path: str) -> Layer:
    """Freeze the layer or the tensor at ``path``; everything where the path is empty."""
    if path:
        try:
            layer.part(path)
        except UnknownNameError:
            parent, _, last = path.rpartition(".")
            if not _stores(layer.part(parent), last):
                raise
    return Edited(layer, path)


def isolated(layer: Layer, path: str) -> Layer:
    """Return the same layer with the numbered copies on ``path`` split off, so that the path names one tensor."""
    for part in layer.own_parts:
        for head, rest in _heads(path):
            number = None if part.numbers is None else number_in(part.numbers, head)
            if part.numbers is not None and number not in {None, ANY}:
                inner = isolated(layer.part(head), rest)
                return layer if part.numbers.count == 1 and inner is part.layer else Edited(layer, head, inner)
            if number == ANY or (part.numbers is None and head == part.name):
                inner = isolated(part.layer, rest)
                return layer if inner is part.layer else Edited(layer, head, inner)
        if part.numbers is None and not part.name:
            inner = isolated(part.layer, path)
            if inner is not part.layer:
                return _Inlined(layer, part.layer, inner)
    return layer


@dataclass(frozen=True)
class _Inlined(Layer):
    """A layer with one of its unnamed parts exchanged."""

    layer: Layer
    old: Layer
    new: Layer

    def tensors(self) -> Iterator[Tensor]:
        yield from self.layer.own_tensors

    def parts(self) -> Iterator[Part]:
        for part in self.layer.own_parts:
            yield replace(part, layer=self.new) if part.layer is self.old or (not part.name and part.layer == self.old) else part

    def ties(self) -> Mapping[str, str]:
        return self.layer.ties()


def _edited_part(part: Part, path: str, new: Layer | None) -> Iterator[Part]:
    if not path:
        yield replace(part, frozen=True)
        return
    if part.numbers is None and not part.name:
        yield _changed(part, path, new) if _exists(part.layer, path) else part
        return
    if part.numbers is not None and not part.numbers.pattern:
        yield from _edited_inside(part, part.numbers, path)
        return
    for head, rest in _heads(path):
        if part.numbers is None:
            if head == part.name:
                yield _changed(part, rest, new)
                return
            continue
        number = number_in(part.numbers, head)
        if number == ANY:
            yield _changed(part, rest, new)
            return
        if number is not None:
            yield from _split(part, part.numbers, number, rest, new)
            return
    yield part


def _edited_inside(part: Part, numbers: Numbers, path: str) -> Iterator[Part]:
    """Freeze one tensor of copies whose numbers stand in the names of their tensors."""
    found = _meant(part, path)
    if found is None:
        yield part
    elif found[1] == ANY:
        yield _changed(part, found[0], None)
    else:
        yield from _split(part, numbers, found[1], found[0], None)


def _meant(part: Part, name: str) -> tuple[str, int] | None:
    """Return which tensor of which copy a name means, where the numbers stand in the names of the tensors."""
    if part.numbers is None or part.numbers.pattern:
        return None
    for tensor in part.layer.own_tensors:
        number = number_in(replace(part.numbers, pattern=tensor.name), name)
        if number is not None:
            return tensor.name, number
    return None


def _stores(layer: Layer, name: str) -> bool:
    if any(tensor.name == name for tensor in layer.own_tensors) or any(_meant(part, name) for part in layer.own_parts):
        return True
    return any(_stores(part.layer, name) for part in layer.own_parts if part.numbers is None and not part.name)


def _exists(layer: Layer, path: str) -> bool:
    try:
        layer.part(path)
    except UnknownNameError:
        parent, _, last = path.rpartition(".")
        try:
            return _stores(layer.part(parent), last)
        except UnknownNameError:
            return False
    return True


def _changed(part: Part, rest: str, new: Layer | None) -> Part:
    if new is not None and part.frozen:
        # Frozen is what was there; what takes its place is not.
        part = replace(part, frozen=False, layer=Edited(part.layer, ""))
    if not rest:
        return replace(part, frozen=True) if new is None else replace(part, layer=new)
    return replace(part, layer=Edited(part.layer, rest, new))


def _split(part: Part, numbers: Numbers, number: int, rest: str, new: Layer | None) -> Iterator[Part]:
    """Split numbered copies into those before, the one meant, and those after."""
    if part.used is not None:
        message = f"the copies {numbers} are used {part.used} at a time, so one of them cannot differ; use {numbers.pattern} for all."
        raise StructureError(message)
    if not isinstance(numbers.start, int):
        message = f"the copies {numbers} start at a symbol; put its size in before editing number {number}."
        raise StructureError(message)
    before = (number - numbers.start) // numbers.step
    if before:
        yield replace(part, numbers=replace(numbers, count=before))
    inner = part.layer
    if numbers.index is not None and numbers.index in inner.symbols:
        inner = inner.substituted({numbers.index: Integer(number)})
    yield _changed(replace(part, layer=inner, numbers=Numbers(1, number, numbers.step, numbers.pattern)), rest, new)
    # None may be left after it; their part stays, so that a symbolic number of copies can become the smallest that has the one meant.
    after = canonical(numbers.count - before - 1)
    yield replace(part, numbers=replace(numbers, count=after, start=number + numbers.step))


def _heads(path: str) -> Iterator[tuple[str, str]]:
    """Cut a path at each of its dots: ``("a", "b.c")``, ``("a.b", "c")``, ``("a.b.c", "")``."""
    steps = path.split(".")
    for taken in range(1, len(steps) + 1):
        yield ".".join(steps[:taken]), ".".join(steps[taken:])
