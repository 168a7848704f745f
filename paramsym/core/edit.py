"""Editing a layer by path: one part replaced, or frozen. An edit is itself a layer around the one it edits.

A tie is a property of the tensor: an edit of a tensor under one of its names holds under all of them. So an edit first splits the numbered
copies that its path names, until every name of a tensor is either on the path or not. Then it looks for tensors with names of both kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, cast

from sympy import Expr, Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Shape
from paramsym.core.around import Around
from paramsym.core.layer import Layer, Part, Tensor, check_layer
from paramsym.core.ledger import Line
from paramsym.core.names import layer_at
from paramsym.core.paths import below, covers, number_in, prefixes
from paramsym.core.split import Split, meant, split
from paramsym.errors import ArgumentError, NotYetError, UnknownNameError
from paramsym.naming import quoted


@dataclass(frozen=True)
class Edited(Around):
    """A layer with the part at ``path`` replaced by ``new``, or frozen if ``new`` is None.

    ``layer.replace(path, new)`` and ``layer.freeze(path)`` make it. Numbered copies are split, so that one copy can differ.

    >>> from paramsym import Dense, H, L, Repeat
    >>> Repeat(Dense(H, H), L).replace("0", Dense(H, 1)).params
    H**2*L - H**2 + H*L + 1
    """

    path: str
    new: Layer | None = None

    def tensors(self) -> Iterator[Tensor]:
        for tensor in self.layer.own_tensors:
            meant = self.new is None and self.path in {"", tensor.name}
            yield replace(tensor, trainable=False) if meant or tensor.name in self._kept_frozen else tensor

    def parts(self) -> Iterator[Part]:
        for part in self._before.own_parts:
            edited_part = _edited(part, self.path, self.new)
            for name in self._kept_frozen:
                edited_part = _edited(edited_part, name, None)
            yield edited_part

    def output_shape(self, input_shape: Shape) -> Shape:
        """Through the edited parts; a frozen part changes no shape."""
        if self.new is None or self.computes:
            return super().output_shape(input_shape)
        raise NotYetError(f"{type(self.layer).__name__} states no output shape with {self.path!r} replaced; write forward(self, own, x).")

    def ties(self) -> Mapping[str, str]:
        """The ties inside; a tensor that also had a name inside a replaced layer keeps its other names."""
        return self._ties

    @cached_property
    def _before(self) -> Layer:
        return self._seen[0]

    @cached_property
    def _seen(self) -> tuple[Layer, tuple[_Tied, ...]]:
        if self.new is None or not self.layer.ties():
            return split(self.layer, (self.path,)), ()
        return _with_names(self.layer, self.path, lambda name: not covers(self.path, name))

    @cached_property
    def _kept_frozen(self) -> frozenset[str]:
        """The tensors that are frozen because one of their names was replaced."""
        lost = (tensor for tensor in self._seen[1] if tensor.lost and not tensor.first.buffer)
        return frozenset(tensor.left[0].name for tensor in lost if not tensor.first.trainable)

    @cached_property
    def _ties(self) -> Mapping[str, str]:
        # Each edit asks the edit below it; without the cache, the time would grow with the square of the number of edits.
        if self.new is None:
            return self._before.ties()
        return {other.name: tensor.left[0].name for tensor in self._seen[1] for other in tensor.left[1:]}

    def substituted(self, mapping: Mapping[Symbol, Expr]) -> Self:
        """Put sizes in; the path must still exist (copy 3 of three copies does not)."""
        layer = self.layer.substituted(mapping)
        rebuilt = frozen(layer, self.path) if self.new is None else edited(layer, self.path, self.new.substituted(mapping))
        return cast("Self", rebuilt)

    def __repr__(self) -> str:
        if self.new is None:
            return f"{self.layer!r}.freeze({self.path!r})" if self.path else f"{self.layer!r}.freeze()"
        return f"{self.layer!r}.replace({self.path!r}, {self.new!r})"


@dataclass(frozen=True)
class _Tied:
    """A tensor with several names: the line of the first, the lines of the inspected names, and whether there are others."""

    first: Line
    left: tuple[Line, ...]
    lost: bool


def _with_names(layer: Layer, path: str, keep: Callable[[str], bool]) -> tuple[Layer, tuple[_Tied, ...]]:
    """Return the layer with copies split off until no template has names both on and off the path, and the tied tensors that keep names.

    A template may be one tensor under many names, such as a table that every copy shares. If the name outside the copies is not kept, one
    of the copies becomes the first name, and is split off.
    """
    layer = split(layer, (path,))
    while True:
        tensors = tuple(_tied(layer, keep))
        many = [name for tensor in tensors if (name := _one_of_many(tensor.left[0], tensor.first))]
        if not many:
            return layer, tensors
        layer = split(layer, many)


def _tied(layer: Layer, keep: Callable[[str], bool]) -> Iterator[_Tied]:
    names: dict[str, dict[str, Line]] = {}
    for line in layer.lines:
        names.setdefault(line.alias_of or line.name, {}).setdefault(line.name, line)
    for first, lines in names.items():
        left = [line for name, line in lines.items() if keep(name)] if len(lines) > 1 else []
        if left:
            yield _Tied(lines[first], tuple(sorted(left, key=lambda line: line.of_no_copies)), len(left) < len(lines))


def edited(layer: Layer, path: str, new: Layer) -> Layer:
    """Replace the layer at ``path``."""
    _check_path(layer, path, "replace")
    check_layer(new)
    if not path:
        return new
    layer_at(layer, path)
    return Edited(layer, path, new)


def frozen(layer: Layer, path: str) -> Layer:
    """Freeze the layer or the tensor at ``path``; with an empty path everything."""
    _check_path(layer, path, "freeze")
    if path:
        try:
            layer_at(layer, path)
        except UnknownNameError:
            parent, _, last = path.rpartition(".")
            if not _stores(layer_at(layer, parent), last):
                raise
    return Edited(layer, path)


def _check_path(layer: Layer, path: object, method: str) -> None:
    if not isinstance(path, str):
        raise ArgumentError(f"{type(layer).__name__}.{method}() takes a dotted path, such as 'encoder.layer.3', not {quoted(path)}.")


def thawed(layer: Layer) -> Layer:
    """Return the layer inside wrappers that only freeze it."""
    while isinstance(layer, Edited) and layer.new is None:
        layer = layer.layer
    return layer


def seen_at(layer: Layer, path: str) -> tuple[Layer, dict[str, str]]:
    """Return the layer at a path, frozen as the outer layer states, and the ties between its tensors that only the outer layer states."""
    inner = layer_at(layer, path)
    if not path or not layer.has_tied_or_frozen:
        return _unsplit(inner), {}
    whole, tensors = _with_names(layer, path, lambda name: covers(path, name))
    trained: dict[str, bool] = {}
    for line in whole.lines:
        rest = below(path, line.name)
        if rest and not line.buffer:
            trained[rest] = trained.get(rest, False) or line.trainable
    lines = {line.name: line.trainable for line in inner.lines if not line.buffer}
    firsts = {line.name: line.alias_of or line.name for line in inner.lines}
    pairs = [(below(path, other.name) or "", below(path, tensor.left[0].name) or "") for tensor in tensors for other in tensor.left[1:]]
    ties = {alias: first for alias, first in pairs if alias != first and firsts.get(alias, alias) != firsts.get(first, first)}
    wrong = [name for name, trainable in lines.items() if trainable and not trained.get(name, True)]
    plain = _unsplit(inner)
    if {*wrong, *ties, *ties.values()} <= {line.name for line in plain.lines}:
        inner = plain
    for name in [""] if wrong and len(wrong) == sum(lines.values()) else wrong:
        inner = Edited(inner, name)
    return inner, ties


def _unsplit(layer: Layer) -> Layer:
    if isinstance(layer, Split):
        return _unsplit(layer.layer)
    if isinstance(layer, Edited):
        inner = _unsplit(layer.layer)
        return layer if inner is layer.layer else replace(layer, layer=inner)
    return layer


def _one_of_many(line: Line, first: Line) -> str:
    """Return the name of the first copy if a line names more copies than there are tensors; otherwise nothing."""
    tensors = sum(1 for step in first.path if _several(step))
    steps: list[str] = []
    for step in line.path:
        if isinstance(step, Numbers) and _several(step):
            tensors -= 1
            steps.append(str(step) if tensors >= 0 else str(replace(step, count=1)))
        else:
            steps.append(str(step))
    return ".".join(steps) if tensors < 0 else ""


def _several(step: str | Numbers) -> bool:
    return isinstance(step, Numbers) and not step.alone


def _edited(part: Part, path: str, new: Layer | None) -> Part:
    """Return a part of a layer that was split for the path, after the edit."""
    if not path:
        return replace(part, frozen=True)
    if part.numbers is None and not part.name:
        return _changed(part, path, new) if _exists(part.layer, path) else part
    if part.numbers is not None and not part.numbers.pattern:
        found = meant(part, path)
        return part if found is None or new is not None else _changed(part, found[0], None)
    for head, rest in prefixes(path):
        if (head == part.name) if part.numbers is None else number_in(part.numbers, head) is not None:
            return _changed(part, rest, new)
    return part


def _stores(layer: Layer, name: str) -> bool:
    if any(tensor.name == name for tensor in layer.own_tensors) or any(meant(part, name) for part in layer.own_parts):
        return True
    return any(_stores(part.layer, name) for part in layer.own_parts if part.numbers is None and not part.name)


def _exists(layer: Layer, path: str) -> bool:
    try:
        layer_at(layer, path)
    except UnknownNameError:
        parent, _, last = path.rpartition(".")
        try:
            return _stores(layer_at(layer, parent), last)
        except UnknownNameError:
            return False
    return True


def _changed(part: Part, rest: str, new: Layer | None) -> Part:
    if new is not None and part.frozen:
        # The replaced tensors were frozen; the new ones are not.
        part = replace(part, frozen=False, layer=Edited(part.layer, ""))
    if not rest:
        return replace(part, frozen=True) if new is None else replace(part, layer=new)
    return replace(part, layer=Edited(part.layer, rest, new))
