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
    """A node of the tree: at most one tensor, and the nodes below, in order."""

    below: dict[str, Node] = field(default_factory=dict)
    tensor: Seen | None = None
    _label: Label | None = None
    _whole: tuple[object, ...] | None = None

    def named(self) -> Iterator[tuple[str, Seen]]:
        """Yield every tensor at or below this node with its relative name."""
        if self.tensor is not None:
            yield "", self.tensor
        for step, inner in self.below.items():
            for name, tensor in inner.named():
                yield f"{step}.{name}" if name else step, tensor

    @property
    def tied(self) -> bool:
        """Whether a tensor in it has another first name."""
        return any(one[-1] for one in self.label)

    @property
    def label(self) -> Label:
        """The tensors, without sizes and numbers."""
        if self._label is None:
            self._label = frozenset(
                (blank(name), len(seen.shape), seen.kind, seen.trainable, blank(seen.alias_of)) for name, seen in self.named()
            )
        return self._label

    @property
    def whole(self) -> tuple[object, ...]:
        """The tensors with their sizes, without the first names of aliases."""
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
    """Return a name without its numbers.

    >>> blank("layer1.0.weight_ih_l2")
    'layer{}.{}.weight_ih_l{}'
    """
    return _NUMBER.sub("{}", name)


def numbers_in(name: str) -> tuple[int, ...]:
    """Return the numbers in a name, in order."""
    return tuple(int(found) for found in _NUMBER.findall(name))


def filled(pattern: str, numbers: Iterable[int | str]) -> str:
    """Return a pattern with numbers, or their placeholders, put in."""
    pieces = pattern.split("{}")
    values = [str(number) for number in numbers]
    return "".join(piece + value for piece, value in zip(pieces, [*values, *[""] * len(pieces)], strict=False))
