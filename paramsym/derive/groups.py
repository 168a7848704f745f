"""Steps of names that differ in one number: which of them are numbered copies, and which are fixed names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paramsym.derive.names import Node, blank, filled, numbers_in
from paramsym.derive.points import Numbers


@dataclass(frozen=True)
class Pattern:
    """Steps that differ in one number: {} in the step; an empty ``name`` means that tensor names end with the number."""

    name: str
    members: Mapping[str, tuple[str, int]]
    """Each step with its inner name (empty except for tensors of an unnamed pattern) and its number."""

    def entries(self, node: Node) -> dict[int, Node]:
        """Return the node of each number."""
        found: dict[int, Node] = {}
        for step, inner in node.below.items():
            if step not in self.members:
                continue
            name, number = self.members[step]
            if self.name:
                found[number] = inner
            else:
                found.setdefault(number, Node()).below[name] = inner
        return dict(sorted(found.items()))


def groups(cases: Sequence[tuple[Numbers, Node]]) -> list[tuple[Pattern | None, list[str]]]:
    """Group the steps below into literal ones and numbered copies, in the order of the largest tree."""
    order: dict[str, None] = {}
    for _, node in sorted(cases, key=lambda case: -len(case[1].below)):
        order.update(dict.fromkeys(node.below))
    by_pattern: dict[str, list[str]] = {}
    for step in order:
        by_pattern.setdefault(blank(step) if numbers_in(step) else step, []).append(step)
    varying: dict[str, Pattern] = {}
    for general, steps in by_pattern.items():
        if "{}" in general and len({frozenset(step for step in steps if step in node.below) for _, node in cases}) > 1:
            for pattern in _numbered(steps, cases):
                varying |= dict.fromkeys(pattern.members, pattern)
    tensors = {step: pattern for step, pattern in varying.items() if all(_is_leaf(node.below.get(step)) for _, node in cases)}
    if tensors:
        varying |= _joined(tensors)
    found: list[tuple[Pattern | None, list[str]]] = []
    done: set[int] = set()
    for step in order:
        known = varying.get(step)
        if known is None:
            found.append((None, [step]))
        elif id(known) not in done:
            done.add(id(known))
            found.append((known, list(known.members)))
    return found


def _is_leaf(node: Node | None) -> bool:
    return node is None or not node.below


def _numbered(steps: Sequence[str], cases: Sequence[tuple[Numbers, Node]]) -> Iterator[Pattern]:
    """Yield the patterns of steps that differ only in their numbers, with {} for the varying number."""
    width = len(numbers_in(steps[0]))
    place = width - 1
    if width > 1:
        sets = [[{numbers_in(step)[k] for step in steps if step in node.below} for _, node in cases] for k in range(width)]
        moving = [k for k in range(width) if any(one != sets[k][0] for one in sets[k])]
        place = moving[-1] if moving else place
    by_name: dict[str, dict[str, tuple[str, int]]] = {}
    for step in steps:
        numbers = list(numbers_in(step))
        number = numbers[place]
        shown: list[int | str] = [*numbers[:place], "{}", *numbers[place + 1 :]]
        by_name.setdefault(filled(blank(step), shown), {})[step] = ("", number)
    for name, members in by_name.items():
        if len({frozenset(step for step in members if step in node.below) for _, node in cases}) > 1:
            yield Pattern(name, members)


def _joined(tensors: Mapping[str, Pattern]) -> dict[str, Pattern]:
    """Join tensors with numbers at the ends of their names, such as torch's ``weight_ih_l0``, into copies of several tensors each."""
    if len({id(pattern) for pattern in tensors.values()}) < 2:
        return {}
    joined = Pattern("", {step: (pattern.name, pattern.members[step][1]) for step, pattern in tensors.items()})
    return dict.fromkeys(tensors, joined)
