"""The existing rows of a record as a tree of levels, numbered copies and tensors, and this tree as a layer with the sizes of a model.

The tree depends on which rows exist, not on sizes, so that models of a class share it. Equal branches are one branch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, TypeVar

from paramsym.algebra.size import at_most
from paramsym.atlas.depth import Kind, Pattern, Patterns, Prefix
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.predicting import NUMBER, Choice, Existing, Factors, Row, Rows, contiguous
from paramsym.atlas.sizes import Sizes
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer
from paramsym.core.tied import Tied
from paramsym.derive.levels import EveryKth, Held, Level

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Leaf:
    """A tensor, with an expression and the factors of each axis."""

    step: str
    kind: str
    role: str
    axes: tuple[tuple[Any, Factors], ...]

    def layer(self, sizes: Sizes, made: dict[int, Layer]) -> Layer:
        """Return the tensor as a layer."""
        del made
        kind = "parameter" if self.kind == "frozen" else self.kind
        return Held(self.step, tuple([sizes.axis(*axis) for axis in self.axes]), kind, self.kind == "frozen", self.role)


@dataclass(frozen=True, eq=False)
class Copies:
    """Consecutive copies of a branch; ``count`` is an expression or a number."""

    branch: Branch
    count: Any
    start: int

    def layer(self, sizes: Sizes, made: dict[int, Layer]) -> Layer:
        """Return the copies as a layer."""
        return Repeat(_made(self.branch, sizes, made), sizes.size(self.count), start=self.start, name="{}")


@dataclass(frozen=True, eq=False)
class Following:
    """Copies that follow a pattern, as the branches of their kinds; ``bound`` is the expression of their number."""

    first: tuple[Branch, ...]
    period: tuple[Branch, ...]
    last: tuple[Branch, ...]
    bound: Any

    def layer(self, sizes: Sizes, made: dict[int, Layer]) -> Layer:
        """Return the copies as a layer."""
        first, period, last = ([_made(one, sizes, made) for one in some] for some in (self.first, self.period, self.last))
        between: Any = sizes.size(self.bound) - len(first) - len(last)
        at_most(0, between, "", "the number of copies that follow the pattern")
        start: Any = len(first)
        found = [*_runs(first, 0), _in_turn(period, between, start), *_runs(last, start + between)]
        return Level(tuple(("", one) for one in found))


def _runs(copies: Sequence[Layer], start: Any) -> Iterator[Layer]:
    """Yield copies with their numbers, equal neighbours as one run."""
    for _, run in groupby(copies, key=id):
        some = list(run)
        yield Repeat(some[0], len(some), start=start)
        start = start + len(some)


def _in_turn(period: Sequence[Layer], copies: Any, start: int) -> Layer:
    """Return copies that alternate."""
    if len(period) == 1:
        return Repeat(period[0], copies, start=start)
    times = Counter(map(id, period))
    own = next((one for one in period if times[id(one)] == 1), None)
    if own is None or len(times) > 2:
        return Repeat(tuple(period), copies, start=start)
    at = next(number for number, one in enumerate(period) if one is own)
    return EveryKth(own, period[at - 1], copies, start, start + at, len(period))


@dataclass(frozen=True, eq=False)
class Branch:
    """The tensors, copies and branches of a level with their names; copies and tensors have none."""

    below: tuple[tuple[str, Leaf | Copies | Following | Branch], ...]

    def layer(self, sizes: Sizes, made: dict[int, Layer]) -> Layer:
        """Return the level as a layer."""
        return Level(tuple([(step, _made(one, sizes, made)) for step, one in self.below]))


@dataclass(frozen=True, eq=False)
class Tree:
    """The root of the existing rows, and the first name of each tied tensor by its other name."""

    root: Branch
    ties: Mapping[str, str]

    def layer(self, sizes: Sizes) -> Layer:
        """Return the model in these sizes."""
        model = _made(self.root, sizes, {})
        return Tied(model, self.ties) if self.ties else model


def grown(rows: Rows, existing: Existing, patterns: Patterns = ()) -> Tree:
    """Return the tree of the rows that exist; levels with a pattern have it for any number of copies."""
    return Grower(rows.choices(existing), dict(patterns)).tree()


def _made(one: Leaf | Copies | Following | Branch, sizes: Sizes, made: dict[int, Layer]) -> Layer:
    """Return the layer of a part of the tree; each part is built once."""
    key = id(one)
    if key not in made:
        made[key] = one.layer(sizes, made)
    return made[key]


class Grower:
    """Grows the tree of the existing rows."""

    def __init__(self, found: Sequence[Choice], patterns: Mapping[Prefix, Pattern]) -> None:
        """Begin without a branch."""
        self.found, self.patterns = found, patterns
        self.ties: dict[str, str] = {}
        self.known: dict[tuple[Any, ...], Any] = {}

    def tree(self) -> Tree:
        """Return the whole tree."""
        return Tree(self._branch(self.found, 0, ""), self.ties)

    def _once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        if key not in self.known:
            self.known[key] = make()
        found: T = self.known[key]
        return found

    def _branch(self, found: Sequence[Choice], depth: int, path: str) -> Branch:
        """Return the branch of rows whose templates have the same steps before ``depth``."""
        leaves: dict[str, list[Choice]] = defaultdict(list)
        inner: dict[str, list[Choice]] = defaultdict(list)
        end = depth + 1
        for choice in found:
            template = choice.row.template
            (leaves if len(template) == end else inner)[template[depth]].append(choice)
        if NUMBER in leaves:
            leaves, inner = _written_out(leaves, depth), _written_out(inner, depth)
        elif NUMBER in inner and any(step.isdigit() for step in inner):
            inner = _joined(inner) or _written_out(inner, depth)
        below: list[tuple[str, Leaf | Copies | Following | Branch]] = [
            ("", self._leaf(choice.row, step, path)) for step, group in leaves.items() for choice in group
        ]
        for step, group in inner.items():
            if step == NUMBER:
                below.extend(("", one) for one in self._copies(group, depth, path))
            else:
                below.append((step, self._branch(group, end, f"{path}{step}.")))
        return self._level(below)

    def _level(self, below: Sequence[tuple[str, Leaf | Copies | Following | Branch]]) -> Branch:
        return self._once(tuple([(step, id(one)) for step, one in below]), lambda: Branch(tuple(below)))

    def _copies(self, group: Sequence[Choice], depth: int, path: str) -> Iterator[Copies | Following | Branch]:
        pattern = self.patterns.get(group[0].row.template[:depth])
        if pattern is not None:
            yield self._following(group, depth, path, pattern)
            return
        if all(choice.row.template[depth] == NUMBER and choice.row.sets[choice.place(depth)] == ["all"] for choice in group):
            bound = group[0].row.bounds[group[0].place(depth)]
            yield self._repeated(self._branch(group, depth + 1, f"{path}{{}}."), bound, 0)
            return
        kinds: dict[int, list[Choice]] = {}
        for choice in group:
            for index in choice.numbers(depth):
                kinds.setdefault(index, []).append(choice)
        runs: list[list[int]] = []
        for index in sorted(kinds):
            if runs and index == runs[-1][-1] + 1 and kinds[index] == kinds[runs[-1][0]]:
                runs[-1].append(index)
            else:
                runs.append([index])
        grown: list[tuple[list[Choice], Branch]] = []  # runs that alternate have equal copies
        for run in runs:
            inside = kinds[run[0]]
            if any(choice.row.kind == "tie" for choice in inside):  # the first name of a tie can have the number of the copy
                yield self._level([(str(index), self._branch(inside, depth + 1, f"{path}{index}.")) for index in run])
                continue
            branch = next((branch for one, branch in grown if one == inside), None)
            if branch is None:
                branch = self._branch(inside, depth + 1, f"{path}{{}}.")
                grown.append((inside, branch))
            yield self._repeated(branch, len(run), run[0])

    def _following(self, group: Sequence[Choice], depth: int, path: str, pattern: Pattern) -> Following:
        grown: dict[Kind, Branch] = {}
        for kind in (*pattern.first, *pattern.period, *pattern.last):
            if kind not in grown:
                inside = [choice for choice in group if (choice.law, choice.row.template[depth]) in kind]
                grown[kind] = self._branch(inside, depth + 1, f"{path}{{}}.")
        first, period, last = (tuple(grown[kind] for kind in kinds) for kinds in (pattern.first, pattern.period, pattern.last))
        bound = next(choice.row.bounds[choice.place(depth)] for choice in group if choice.row.template[depth] == NUMBER)
        return self._once(
            ("following", *map(id, (*first, *period, *last)), id(bound), len(first)), lambda: Following(first, period, last, bound)
        )

    def _repeated(self, branch: Branch, count: Any, start: int) -> Copies:
        return self._once(("copies", id(branch), id(count), start), lambda: Copies(branch, count, start))

    def _leaf(self, row: Row, step: str, path: str) -> Leaf:
        kind, role = row.kind, row.role
        if kind == "tie":
            self.ties[path + step] = _first(row.first, path)
            row, kind = self._row_of(row.first), "parameter"
        axes = tuple(zip(row.axes, row.factors, strict=True))
        return self._once((step, kind, role, *map(id, (*row.axes, *row.factors))), lambda: Leaf(step, kind, role, axes))

    @cached_property
    def stored(self) -> dict[str, Row]:
        """The rows that are not ties, by template."""
        found: dict[str, Row] = {}
        for choice in self.found:
            if choice.row.kind != "tie":
                found.setdefault(".".join(choice.row.template), choice.row)
        return found

    def _row_of(self, template: str) -> Row:
        """Return the row of the first name of a tie."""
        if template in self.stored:
            return self.stored[template]
        steps = template.split(".")
        for known, row in self.stored.items():
            others = known.split(".")
            if len(others) == len(steps) and all(
                one == other or ((NUMBER in {one, other} and (one + other).replace(NUMBER, "").isdigit()) or one == other == NUMBER)
                for one, other in zip(steps, others, strict=True)
            ):
                return row
        raise OutsideError(f"the tensor {template}, to which another is tied, does not exist.")


def _written_out(groups: Mapping[str, list[Choice]], depth: int) -> dict[str, list[Choice]]:
    """Return groups with the numbers of copies as plain names, in numeric order."""
    found: dict[str, list[Choice]] = {}
    for step, group in groups.items():
        for choice in group:
            for name in map(str, choice.numbers(depth)) if step == NUMBER else [step]:
                found.setdefault(name, []).append(choice)
    numbers = iter(sorted((step for step in found if step.isdigit()), key=int))
    order = [next(numbers) if step.isdigit() else step for step in found]
    return {step: found[step] for step in order}


def _joined(groups: Mapping[str, list[Choice]]) -> dict[str, list[Choice]] | None:
    """Return groups with the rows of single copies among those of all copies; None if other steps are between them."""
    if not contiguous(list(groups)):
        return None
    found: dict[str, list[Choice]] = {}
    for step, group in groups.items():
        found.setdefault(NUMBER if step.isdigit() else step, []).extend(group)
    return found


def _first(template: str, path: str) -> str:
    """Return the first name of a tie, with the numbers of the path for its own."""
    numbers = [one for one in path.split(".") if one == "{}" or one.isdigit()]
    steps = template.split(".")
    wanted = steps.count(NUMBER)
    found = iter(numbers[len(numbers) - wanted :])
    return ".".join(next(found) if one == NUMBER else one for one in steps)
