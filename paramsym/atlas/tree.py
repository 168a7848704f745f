"""Names as a tree: the order in which nested modules store them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class Level:
    """The nodes below a name: steps in order, with ``""`` for a tensor of this node."""

    below: dict[str, Level] = field(default_factory=dict)

    def add(self, steps: list[str]) -> None:
        """Add a tensor."""
        node = self
        for step in steps:
            node = node.below.setdefault(step, Level())

    def steps(self) -> list[str]:
        """Return the steps, with tensors of this level first and numbers in order."""
        leaves = [step for step, node in self.below.items() if not node.below]
        inner = [step for step, node in self.below.items() if node.below]
        found = []
        for group in (leaves, inner):
            numbers = iter(sorted((step for step in group if step.isdigit()), key=int))
            found += [next(numbers) if step.isdigit() else step for step in group]
        return found

    def names(self, prefix: str = "") -> Iterator[str]:
        """Yield the names of the tensors."""
        for step in self.steps():
            node = self.below[step]
            if node.below:
                yield from node.names(f"{prefix}{step}.")
            else:
                yield prefix + step


def tree(names: Iterable[str]) -> Level:
    """Return the tree of names."""
    root = Level()
    for name in names:
        root.add(name.split("."))
    return root


def ordered(names: Iterable[str]) -> list[str]:
    """Return names in the order of nested modules: own tensors first, numbered ones by number.

    >>> ordered(["layers.1.w", "layers.0.w", "bias"])
    ['bias', 'layers.0.w', 'layers.1.w']
    """
    return list(tree(names).names())
