"""Names as a tree, and the numbers in them: ``h.0.weight`` is the weight in copy 0 of h."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from paramsym.derive.observe import Seen

_NUMBER = re.compile(r"(?<![0-9])(?:0|[1-9][0-9]{0,8})(?![0-9])")
Label: TypeAlias = "frozenset[tuple[object, ...]]"


@dataclass(eq=False)
class Node:
    """What is under one name: at most one tensor, and what stands below, in order."""

    below: dict[str, Node] = field(default_factory=dict)
    tensor: Seen | None = None
    _label: Label | None = None
    _whole: tuple[object, ...] | None = None

    def named(self) -> Iterator[tuple[str, Seen]]:
        """Yield every tensor at or below this place under its name seen from here."""
        if self.tensor is not None:
            yield "", self.tensor
        for step, inner in self.below.items():
            for name, tensor in inner.named():
                yield f"{step}.{name}" if name else step, tensor

    @property
    def label(self) -> Label:
        """Which tensors there are, without sizes and numbers."""
        if self._label is None:
            self._label = frozenset(
                (blank(name), len(seen.shape), seen.kind, seen.trainable, blank(seen.alias_of)) for name, seen in self.named()
            )
        return self._label

    @property
    def whole(self) -> tuple[object, ...]:
        """Which tensors there are, with their sizes; the names that aliases mean are left out."""
        if self._whole is None:
            self._whole = tuple((name, seen.shape, seen.kind, bool(seen.alias_of)) for name, seen in self.named())
        return self._whole


def tree(seen: Iterable[Seen]) -> Node:
    """Return the names as a tree."""
    root = Node()
    for tensor in seen:
        node = root
        for step in tensor.name.split(".") if tensor.name else ():
            node = node.below.setdefault(step, Node())
        node.tensor = tensor
    return root


def blank(name: str) -> str:
    """Return a name with every number left out.

    >>> blank("layer1.0.weight_ih_l2")
    'layer{}.{}.weight_ih_l{}'
    """
    return _NUMBER.sub("{}", name)


def numbers_in(name: str) -> tuple[int, ...]:
    """Return the numbers in a name, in order."""
    return tuple(int(found) for found in _NUMBER.findall(name))


def filled(pattern: str, numbers: Iterable[int | str]) -> str:
    """Return a pattern with numbers, or what means them, in its places."""
    pieces = pattern.split("{}")
    values = [str(number) for number in numbers]
    return "".join(piece + value for piece, value in zip(pieces, [*values, *[""] * len(pieces)], strict=False))
