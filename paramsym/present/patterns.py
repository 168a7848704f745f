"""A repeated pattern of numbered copies: the runs of equal copies under one name, so that a table shows them once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

from paramsym.algebra.line import Line
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial

_MOST = 10_000  # longer runs keep their names
_SPELT = 3  # more runs are written with dots between the first two and the last


def names_of_patterns(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """Return the steps of each line's path, with one name for all runs of copies that hold the same.

    Layers 0 to 4, 6 to 10 and 12 to 16 of one kind between layers 5 and 11 of another are ``{0..4,6..10,12..16}`` and ``{5,11}``.
    """
    runs: defaultdict[tuple[object, ...], defaultdict[Numbers, list[Hashable]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for i, step in enumerate(line.path):
            if isinstance(step, Numbers) and step.values:
                runs[line.path[:i], step.pattern][step].append(_inside(line, i, step))
    names: dict[tuple[object, ...], str] = {}
    for (above, _), held in runs.items():
        equal: defaultdict[Hashable, list[Numbers]] = defaultdict(list)
        for step, content in held.items():
            equal[tuple(content)].append(step)
        for steps in equal.values():
            if sum(step.count for step in steps) <= _MOST:  # the length of a range has a limit
                names.update(dict.fromkeys(((above, step) for step in steps), _name(steps)))
    return [tuple(names.get((line.path[:i], step), str(step)) for i, step in enumerate(line.path)) for line in lines]


def _inside(line: Line, place: int, step: Numbers) -> Hashable:
    """Return what one copy of a run has of a line; lines that change from copy to copy are equal to no other's."""
    each = line.polynomial() * Polynomial.of(step.count).inverse()
    differing = line.path if line.spans else ()
    return (line.path[place + 1 :], line.sizes, line.label, line.trainable, line.buffer, line.alias_of, each, differing)


def _name(steps: Sequence[Numbers]) -> str:
    """Write the numbers of several runs as one step of a path."""
    first = steps[0]
    if len(steps) == 1:
        return str(first)
    numbers = sorted(number for step in steps for number in step.values or ())
    apart = {later - earlier for earlier, later in pairwise(numbers)}
    if len(apart) == 1:
        return str(replace(first, count=len(numbers), start=numbers[0], step=apart.pop()))
    ends = [i for i, (earlier, later) in enumerate(pairwise(numbers), 1) if later != earlier + 1]
    runs = [numbers[i:k] for i, k in pairwise([0, *ends, len(numbers)])]
    written = [f"{run[0]}..{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    shown = written if len(written) <= _SPELT else [*written[:2], "...", written[-1]]
    return first.pattern.replace("{}", f"{{{','.join(shown)}}}")
