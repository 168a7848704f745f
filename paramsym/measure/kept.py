"""Computes which arrays a forward pass keeps for the backward pass; views of one storage count once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sympy import Integer

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import canonical, substitute
from paramsym.core.ledger import Line
from paramsym.measure.attention import by_steps, fused, is_scores, runs_fused
from paramsym.measure.gradients import first_apart, gradients, later_gradients
from paramsym.measure.keeping import Keeping, Reading, Result, Stage, Way, line_of, role_of, stage_of, staged
from paramsym.measure.layout import ENTRY_BY_ENTRY, Layout, Layouts, like, mergeable, padded, plain, viewed
from paramsym.measure.once import once
from paramsym.measure.passes import looped, shown, times, word
from paramsym.program.arithmetic import Combine
from paramsym.program.graph import Call, Kept, Loop, Program, Region, Route, Scan, Step
from paramsym.program.lookups import Best, Lookup, Stored
from paramsym.program.products import Contract
from paramsym.program.routing import Weights
from paramsym.program.slices import Pad, Segments
from paramsym.program.types import ArrayType, flat

_KINDS = {"float": "numbers", "statistic": "statistics"}
"""The words for what a kernel keeps beside its inputs and results."""


def keeping(
    program: Program,
    needs: tuple[bool, ...],
    way: Way,
    *,
    frozen: bool = False,
    stored: tuple[bool, ...] = (),
    layouts: tuple[Layout, ...] | None = None,
    split: tuple[bool, ...] = (),
) -> Keeping:
    """Return the kept arrays of a program; ``needs`` marks the inputs that need a gradient, ``stored`` those that are stored tensors.

    ``layouts`` are the layouts of the inputs in their storages; without them, inputs are new arrays. ``split`` marks the inputs that tensor
    sharing splits over the devices: the output of a matrix is split until the next matrix sums over it (Shoeybi et al. 2019, section 3).

    Raises:
        NotYetError: a part without a forward pass.
    """
    given = (needs, frozen, stored, tuple(map(plain, program.input_types)) if layouts is None else layouts, split)
    ways: dict[Way, frozenset[str]] = once(program, ("ways", given), dict)  # those asked before, and what of them mattered
    alike = next((one for one, read in ways.items() if all(getattr(one, name) == getattr(way, name) for name in read)), way)
    kept = once(program, ("kept", alike, given), lambda: _Keeper(program, alike, *given).found())
    ways[alike] = kept.read
    return kept


class _Keeper:
    """One program with the gradients, storages and layouts of its values; the flags and layouts are those of ``keeping``."""

    def __init__(
        self,
        program: Program,
        way: Way,
        needs: tuple[bool, ...],
        frozen: bool,
        stored: tuple[bool, ...],
        layouts: tuple[Layout, ...],
        split: tuple[bool, ...],
    ) -> None:
        self.program, self.frozen = program, frozen
        self.way: Any = Reading(way)
        self.flags = gradients(program, needs, frozen=frozen)
        self.root = {number: number for number in range(len(program.types))}
        self.storage = dict(enumerate(program.types))
        self.layout = Layouts(program.types, zip(program.inputs, layouts, strict=True))
        self.stored = {number for number, one in zip(program.inputs, stored, strict=False) if one}
        self.split = {number for number, one in zip(program.inputs, split, strict=False) if one}
        self.mixed = False
        self.values: dict[int, None] = {}
        self.ends: set[int] = set()
        self.lines: list[Line] = []
        self.labels: dict[int, tuple[Any, ...]] = {}
        self.made: dict[int, int] = {}
        self.blocks: list[int] = []
        self.entered: set[int] = set()

    def found(self) -> Keeping:
        places: list[int] = []  # of the steps that add the lines
        for place, step in enumerate(self.program.steps):
            for number in step.gives:
                self.labels[number] = (word(step.operation),)
                self.made[number] = place
            self._step(step)
            places += [place] * (len(self.lines) - len(places))
        inputs = self.program.inputs
        roots = [self.root[number] for number in self.program.outputs]
        given = {n for n, root in enumerate(roots) if root in self.values and root not in inputs and roots.index(root) == n}
        inside = [number for number in sorted(self.values) if number in self.ends or (number not in inputs and number not in roots)]
        values = (staged(self._line_of(number), self._stage_of_value(number)) for number in inside)
        lines = [*map(self._line_at, self.lines, places), *values]
        kept = {n for n, number in enumerate(inputs) if number in self.values and number not in self.ends}
        entered = {n for n, number in enumerate(inputs) if number in self.entered}
        results, read = tuple(map(self._result, self.program.outputs)), frozenset(self.way.read)
        return Keeping(kept, given, lines, results, self.mixed, bool(self.blocks), entered, read)

    def _line_of(self, number: int) -> Line:
        """Return the line of a value that is kept."""
        line = line_of(self.labels.get(number, ()), self.storage[number], number in self.split)
        return line.but(role="ends") if number in self.ends else line

    def _line_at(self, line: Line, place: int) -> Line:
        """Return the line of a step with its place among the blocks; a step with blocks inside knows it of its own."""
        if not self.blocks:
            return line
        first, last = self.blocks[0], self.blocks[-1]
        if place not in self.blocks:
            return staged(line, "before" if place < first else "after" if place > last else "")
        stage, role = stage_of(line)
        between = (stage == "before" and place != first) or (stage == "after" and place != last)
        return line.but(role=role) if between else line

    def _stage_of_value(self, number: int) -> Stage:
        if not self.blocks:
            return ""
        if number in self.entered:
            return "entered"
        place = self.made[number]
        return "before" if place < self.blocks[0] else "after" if place >= self.blocks[-1] else ""

    def _enter(self, step: Step, inputs: Iterable[int]) -> None:
        """Note a step with repeated blocks inside, and the values that the first of them takes."""
        self.blocks.append(self.made[step.gives[0]])
        self.entered.update(self.root[step.takes[number]] for number in inputs)

    def keep(self, number: int, merged: tuple[tuple[int, ...], ...] = ()) -> None:
        """Keep the storage of a value, or a copy if its axes must be merged; stored tensors are in memory anyway."""
        root, kind = self.root[number], self.program.types[number]
        if all(mergeable(kind, self.layout[number], axes) for axes in merged):
            if root not in self.stored:
                self.values.setdefault(root)
        else:
            self.lines.append(line_of((*self.labels.get(number, ()), "copy"), kind, number in self.split))

    def _result(self, number: int) -> Result:
        root = self.root[number]
        taken = self.program.inputs.index(root) if root in self.program.inputs else None
        return Result(self.layout[number], self.storage[root], root, taken, root in self.stored, number in self.split)

    def _step(self, step: Step) -> None:
        operation = step.operation
        needs = tuple(self.flags[number] for number in step.takes)
        match operation:
            case Call(name=name, body=body, frozen=within):
                kept = self._kept(step, body, needs, frozen=within)
                again = isinstance(name, Numbers) and self.way.blocks
                self._inside(step, _given(body, kept, needs) if again else kept, name)
            case Region():
                self._inside(step, self._region(step, operation, needs), "")
                if any(self.flags[number] for number in step.gives):
                    self._listed(step, operation.keeps or (), needs)
            case Loop():
                self._loop(step, operation, needs)
            case Scan():
                self._scan(step, operation, later_gradients(operation, needs, frozen=self.frozen))
            case Route():
                self._route(step, operation, needs)
            case _:
                self._lay(step)
                if any(self.flags[number] for number in step.gives) and not isinstance(operation, Stored):
                    self._listed(step, operation.keeps(self.program.taken(step), self.program.given(step), needs), needs)

    def _region(self, step: Step, region: Region, needs: tuple[bool, ...]) -> Keeping:
        """Return what a section keeps: torch's attention is one function, and every other kernel lists its kept arrays."""
        body, way, attends = region.body, self.way, region.name == "attention" and any(needs)
        if attends and way.attention == "fused" and runs_fused(way, body, needs):
            layouts = tuple(self.layout[number] for number in step.takes)
            return fused(body, layouts, split=step.takes[0] in self.split, cpu=self.way.cpu)
        if attends and way.attention == "fused":
            kept = self._kept(step, body, needs, way=replace(way.way, apart=True))
            return by_steps(body, kept, biased=any(needs[3:]), narrow=way.narrow)
        kept = self._kept(step, body, needs)
        if region.keeps is not None:
            return Keeping(results=kept.results, mixed=kept.mixed)
        return _given(body, kept, needs) if attends and way.attention == "recomputed" else kept

    def _lay(self, step: Step) -> None:
        """Find the storages of an operation's results, and which are split."""
        operation, taken, given = step.operation, self.program.taken(step), self.program.given(step)
        self._share(step, taken)
        if operation.held:
            self.stored.update(step.gives)
        elif step.takes:
            first = step.takes[0]
            found = viewed(operation, taken[0], given, self.layout[first])
            if found is not None:
                for number, layout in zip(step.gives, found, strict=True):
                    self.layout[number], self.root[number] = layout, self.root[first]
            elif isinstance(operation, Segments):
                self.root.update(dict.fromkeys(step.gives, step.gives[0]))
                self.storage[step.gives[0]] = taken[0]
            elif isinstance(operation, Pad):
                self.layout[step.gives[0]] = padded(given[0], self.layout[first])
            elif isinstance(operation, ENTRY_BY_ENTRY):
                self.layout[step.gives[0]] = like(given[0], *zip(taken, (self.layout[number] for number in step.takes), strict=True))

    def _share(self, step: Step, taken: tuple[ArrayType, ...]) -> None:
        """The output of a matrix with a whole input is split; with a split input it is whole."""
        arrays = [number for number in step.takes if self.root[number] not in self.stored]
        split = [number in self.split for number in arrays]
        if isinstance(step.operation, Contract) and len(arrays) < len(taken):
            split = [not any(split)]
        elif isinstance(step.operation, Combine) and len({*split}) == len(arrays) == 2 and taken[0].sizes == taken[1].sizes:
            self.mixed = True
        if any(split) and not isinstance(step.operation, Best | Lookup | Weights):
            self.split.update(step.gives)

    def _listed(self, step: Step, kept: tuple[Kept, ...], needs: tuple[bool, ...]) -> None:
        """Keep the arrays that an operation lists, or a kernel that replaces several operations."""
        for one in kept:
            if one.wanted and not any(needs[number] for number in one.wanted):
                continue
            if self.way.apart and is_scores(step.operation):
                self.lines.append(line_of(("scaled",), self.program.types[step.takes[one.number]], step.gives[0] in self.split))
            elif one.source == "own" or (one.wide and self.way.narrow):
                name = f"{self.labels[step.gives[0]][0]}'s {_KINDS.get(one.kind, one.kind)}"
                kind = self.program.types[step.takes[one.number] if one.source == "taken" else step.gives[one.number]]
                factors = one.factors if one.source == "own" else flat(kind.shape)
                self.lines.append(
                    Line((name,), factors, role=role_of(f"wide {one.kind}" if one.wide else one.kind, step.gives[0] in self.split))
                )
            else:
                number = (step.takes if one.source == "taken" else step.gives)[one.number]
                self.keep(number, one.merged)
                if one.kind == "ends":
                    self.ends.add(self.root[number])

    def _kept(
        self,
        step: Step,
        body: Program,
        needs: tuple[bool, ...],
        *,
        frozen: bool = False,
        way: Way | None = None,
        carried: Sequence[Result] = (),
    ) -> Keeping:
        """Return the kept arrays of an inner program, for the inputs that a step passes on; ``carried`` takes the place of the first."""
        takes = step.takes[len(carried) : len(body.inputs)]
        stored = (*(one.stored for one in carried), *(self.root[number] in self.stored for number in takes))
        layouts = (*(one.layout for one in carried), *(self.layout[number] for number in takes))
        split = (*(one.split for one in carried), *(number in self.split for number in takes))
        given = {"frozen": self.frozen or frozen, "stored": stored, "layouts": layouts, "split": split}
        return self._keeping(body, needs[: len(stored)], way, **given)

    def _keeping(self, body: Program, needs: tuple[bool, ...], way: Way | None = None, **given: Any) -> Keeping:
        """Return the kept arrays of an inner program; what is read of the way there is read here."""
        kept = keeping(body, needs, way or self.way.way, **given)
        self.way.read.update(kept.read)
        return kept

    def _inside(self, step: Step, kept: Keeping, name: str | Numbers) -> None:
        """Add the kept arrays of an inner program, and the storages of its results."""
        own: dict[int, int] = {}
        self.mixed |= kept.mixed
        if kept.blocks or isinstance(name, Numbers):
            self._enter(step, kept.entered if kept.blocks else (0,))
        for number, result in zip(step.gives, kept.results, strict=True):
            self.layout[number] = result.layout
            self.labels[number] = (shown(name), *self.labels[number]) if name else self.labels[number]
            if result.split:
                self.split.add(number)
            if result.stored:
                self.stored.add(number)
            elif result.taken is not None:
                self.root[number] = self.root[step.takes[result.taken]]
            else:
                self.root[number] = own.setdefault(result.number, number)
                self.storage[self.root[number]] = result.storage
        self._ends(step, kept)
        above = shown(name) if name else ""
        self.lines += [line.within(above) for line in kept.lines] if above else kept.lines

    def _loop(self, step: Step, loop: Loop, needs: tuple[bool, ...]) -> None:
        """All copies: an array carried from one to the next is kept once, if the copy before or the one after keeps it.

        The first copy is apart if it keeps other arrays, because its input needs no gradient or lies in memory in another order.
        """
        if loop.shared is None:
            self._enter(step, range(loop.carry))
        later = later_gradients(loop, needs, frozen=self.frozen)
        first = self._copy(step, loop.bodies[0][1], needs)
        passed, ring = first.results[: loop.carry], list[Keeping]()
        for _, body in (*loop.bodies[1:], *loop.bodies):
            ring.append(self._copy(step, body, later, passed))
            passed = ring[-1].results[: loop.carry]
        ring = ring[len(loop.bodies) - 1 :]
        in_memory = {n for n in ring[0].inputs if self.root[step.takes[n]] in self.stored}
        first = replace(first, results=ring[0].results, inputs=first.inputs | in_memory)
        copies = list(zip([numbers for numbers, _ in loop.bodies], ring, strict=True))
        if first != ring[0]:
            one, rest = first_apart(loop.bodies[0][0])
            copies = [(one, first), *copies[1:], *([(rest, ring[0])] if rest.count != 0 else [])]
        for numbers, kept in copies:
            self.mixed |= kept.mixed
            self.lines += [looped(line, numbers, loop.shared) for line in kept.lines]
        for position, (numbers, body) in enumerate(loop.bodies):
            between = _after_first(numbers) if position == 0 else numbers
            before = ring[position - 1]
            for n in range(loop.carry if between.count != 0 else 0):
                same = before.results[n].taken == n  # a copy passes its input on, in the same storage
                if not same and (n in before.outputs or _takes(n, [*ring[position:], *ring[:position]])):
                    self.lines.append(looped(line_of(("carried",), body.input_types[n]), between, loop.shared))
        own: dict[int, int] = {}
        for number, result in zip(step.gives[: loop.carry], ring[-1].results, strict=False):  # the others are stacked
            self.layout[number] = result.layout
            if result.taken is None and not result.stored:
                self.root[number] = own.setdefault(result.number, number)
                self.storage[self.root[number]] = _in_last(result.storage, loop.bodies[-1][0])
        inputs = {n for n in range(loop.carry) if _takes(n, [kept for _, kept in copies])}
        along = {n for _, kept in copies for n in kept.inputs if n >= loop.carry}
        self._ends(step, replace(ring[-1] if len(ring) > 1 else copies[-1][1], inputs=inputs | along))

    def _copy(self, step: Step, body: Program, needs: tuple[bool, ...], carried: Sequence[Result] = ()) -> Keeping:
        """Return the kept arrays of one copy, for what the copy before passes on."""
        kept = self._kept(step, body, needs, carried=carried)
        return _given(body, kept, needs) if self.way.blocks else kept

    def _scan(self, step: Step, scan: Scan, needs: tuple[bool, ...]) -> None:
        """All positions; slices of the scanned arrays are views of these."""
        stored = tuple(self.root[number] in self.stored for number in step.takes)
        split = tuple(number in self.split for number in step.takes)
        kept = self._keeping(scan.body, needs, frozen=self.frozen, stored=stored, split=split)
        self.split.update(number for number in step.gives if any(split))
        self.lines += [times(line, scan.length) for line in kept.lines]
        for n in range(scan.carry):
            if n in kept.inputs or n in kept.outputs:
                carried = line_of(("carried",), self.program.types[step.takes[n]])
                self.lines.append(times(carried, canonical(scan.length - 1)))
        self._ends(step, kept)

    def _route(self, step: Step, route: Route, needs: tuple[bool, ...]) -> None:
        """All chosen copies, one after another: each takes the rows of its positions, and adds its weighted results to them."""
        if not self.flags[step.gives[0]]:
            return
        x, weights, _ = self.program.taken(step)
        behind = (*weights.shape, route.body.output_types[0].shape[-1])
        kept = self._keeping(route.body, needs[:1], frozen=self.frozen)
        weighed = gradients(route.body, needs[:1], frozen=self.frozen)[route.body.outputs[0]]
        lines = [Line(("places",), (2, *flat(weights.shape)), role="index"), Line(("added",), flat(behind), role="float")]
        lines += [Line(("rows",), flat((*weights.shape, x.shape[-1])), role="float")] if kept.inputs else []
        lines += [Line(("output",), flat(behind), role="float")] if needs[1] or kept.outputs else []
        lines += [Line(("weights",), flat(weights.shape), role="float")] if weighed else []
        label = self.labels[step.gives[0]][0]
        self.lines += [line.but(path=(label, *line.path)) for line in lines]
        self.lines += [line.within(route.numbers, route.used) for line in kept.lines]

    def _ends(self, step: Step, kept: Keeping) -> None:
        """Keep the inputs of the first round and the outputs of the last one."""
        for number in kept.inputs:
            self.keep(step.takes[number])
        for number in kept.outputs:
            self.keep(step.gives[number])


def _after_first(copies: Numbers) -> Numbers:
    """Return the copies whose inputs are carried to them from another copy."""
    _, others = first_apart(copies)
    return replace(others, start=copies.start) if copies.index is None else others  # equal copies keep the name of the first


def _in_last(kind: ArrayType, copies: Numbers) -> ArrayType:
    """Return the type that an array of a copy has in the last copy."""
    last = {} if copies.index is None else {copies.index: Integer(1) * canonical(copies.start + (copies.count - 1) * copies.step)}
    return replace(kind, shape=substitute(kind.shape, last))


def _takes(n: int, copies: Sequence[Keeping]) -> bool:
    """Whether copies keep the array that the first of them takes; one that passes the array on leaves that to the next one."""
    for kept in copies:
        if n in kept.inputs:
            return True
        if kept.results[n].taken != n:
            return False
    return False


def _given(body: Program, kept: Keeping, needs: tuple[bool, ...]) -> Keeping:
    """The kept arrays of a program that the backward pass computes again: its inputs."""
    if not any(needs) and not kept.lines and not kept.inputs:
        return kept
    taken = {n for n, one in enumerate(body.input_types) if one.kind == "float"}
    return Keeping(taken, set(), [], kept.results, kept.mixed)


def of_outputs(program: Program, kept: Keeping) -> Iterator[Line]:
    """Yield lines for the outputs that are kept; inputs are the caller's."""
    for number in sorted(kept.outputs):
        line = line_of(("output",), program.output_types[number], kept.results[number].split)
        yield staged(line, "after" if kept.blocks else "")
