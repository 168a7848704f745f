"""Structural edits as values: tensors and groups of them left out, counted twice, once per head, once per layer.

An edit knows what it adds to the count as a number at once, and as a term in letters when asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, groupby
from typing import Any

from sympy import Expr, Rational, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, text
from paramsym.analysis.counted import put
from paramsym.analysis.reconcile.subject import Subject, heads, widths
from paramsym.analysis.wording import ShortNames, each_of, listed, once_per, plain
from paramsym.core.ledger import Line

_LONGEST_RUN = 8
_BOTH = 1.44  # two mistakes in a layer with two tensors count as one idea
_LARGER = 0.1  # the cost of leaving out most of a model, or of counting only most of it
_TOPS, _TOP = frozenset({"fc", "classifier", "head", "heads"}), 0.05  # the parts that are left out first, and how much less they cost
_RUNS_UP_TO = 40  # the most tensors of one parent for which runs of equal neighbours are tried


@dataclass(frozen=True)
class Edit:
    """A small change of the count.

    ``words`` describe it, ``tensors`` are the names of changed tensors, ``value`` is its contribution. ``cost`` ranks it: a simple idea
    costs about one. ``lines`` are the numbers of changed tensors; two edits of one tensor do not combine. ``sizes`` are the changed sizes,
    ``letters`` the same as they are meant in letters. ``alone`` means that it builds another layer, and combines with no other edit.
    ``copies`` is the number of whole models in its count. ``asked`` means that the user named its sizes. An edit that is not ``known`` fits
    the claim, but nobody is known to make it. ``choice`` means that it has a number that could be another one, so that a rounded claim must
    rule the others out. ``unit`` is the unit of the result, if it is not that of the count.
    """

    words: str
    tensors: tuple[str, ...]
    value: int
    cost: float
    lines: frozenset[int] = frozenset()
    times: Dim = 0
    fixed: Polynomial | None = field(default=None, repr=False)
    sizes: tuple[tuple[Symbol, int], ...] = ()
    letters: tuple[tuple[Symbol, Dim], ...] = ()
    alone: bool = False
    copies: int = 0
    asked: bool = False
    known: bool = True
    choice: bool = False
    unit: str = ""

    def term(self, subject: Subject) -> Polynomial:
        """The contribution of the edit, in letters."""
        if self.fixed is not None:
            return self.fixed
        if self.sizes:
            return put(subject.formula, dict(self.letters or self.sizes)) - subject.formula
        return subject.total(sorted(self.lines)) * (Polynomial.of(self.times) - Polynomial.of(1))


def fixed(subject: Subject, term: Polynomial, words: str, cost: float, tensors: Sequence[str] = (), **more: Any) -> Edit:
    """Return the edit with a term in letters; ``more`` are further fields."""
    return Edit(words, tuple(tensors), subject.value(term), cost, fixed=term, **more)


def counted_as(subject: Subject, formula: Polynomial, words: str, cost: float, **more: Any) -> Edit:
    """Return the edit that counts another formula in place of the subject's; it combines with no other edit."""
    return fixed(subject, formula - subject.formula, words, cost, alone=True, **more)


def resized(subject: Subject, changes: Mapping[Symbol, int], words: str, cost: float, **more: Any) -> Edit:
    """Return the edit that builds the layer with other sizes; without effect if they give no whole number."""
    count = subject.value(subject.formula, {**subject.sizes, **changes})
    return Edit(words, (), count - subject.count if count else 0, cost, sizes=tuple(changes.items()), alone=True, **more)


def scaled(
    structure: Structure, lines: frozenset[int], times: Dim | Fraction | int, words: str, cost: float, *, choice: bool = False
) -> Edit:
    """Return the edit that counts some lines ``times`` times."""
    factor = structure.subject.ratio(Rational(times))
    value = sum(structure.subject.values[i] for i in lines) * (factor - 1)
    whole = int(value) if value.denominator == 1 else 0
    return Edit(words, structure.named(lines), whole, cost, lines, Rational(times), alone=True, choice=choice)


@dataclass(frozen=True)
class TensorGroup:
    """Tensors with a common description."""

    lines: frozenset[int]
    words: str
    cost: float
    plural: bool = False


class Structure:
    """The groups of a subject, and the edits of them."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.lines = subject.lines
        self.names = ShortNames(subject.root.lines)
        self.paths = [plain(line) for line in self.lines]
        self.full = [f"{line.name} [{line.label}]" if line.label else line.name for line in self.lines]
        scaled = {line.path[:-1] for line in self.lines if line.role == "scale"}
        self.kinds = [_kind(line, line.path[:-1] in scaled) for line in self.lines]
        self.heads = [heads(line) for line in self.lines]

    def edits(self) -> Iterator[Edit]:
        """Yield every edit of one idea."""
        for group in self.groups():
            yield from self._of(group)

    # Groups -------------------------------------------------------------------------------------------------------------------

    def groups(self) -> list[TensorGroup]:
        """Return the groups, each set of tensors once, under its simplest name."""
        found: dict[frozenset[int], TensorGroup] = {}
        families = (*self._everything(), *self._single(), *self._vocabularies(), *self._parts(), *self._labels())
        for group in (*families, *self._tails(), *self._runs(), *self._between_norms()):
            known = found.get(group.lines)
            if group.lines and (known is None or group.cost < known.cost):
                found[group.lines] = group
        return list(found.values())

    def _single(self) -> Iterator[TensorGroup]:
        for i, line in enumerate(self.lines):
            yield TensorGroup(frozenset({i}), self.names.tensor(line), 1.15 if line.label else 1.0 if line.role == "table" else 1.07)

    def _everything(self) -> Iterator[TensorGroup]:
        whole = frozenset(range(len(self.lines)))
        second = frozenset(i for i, line in enumerate(self.lines) if line.role == "bias" and self.paths[i][-1].startswith("bias_hh"))
        if second:  # torch's recurrent layers store two biases that are only added: one bias would be enough
            yield TensorGroup(second, "the second bias of every gate", 0.96)
        if len(whole) > 1:
            yield TensorGroup(whole, "everything", 1.1)
        yield from self._by_kind(whole, "", 1.0)

    def _parts(self) -> Iterator[TensorGroup]:
        inside: dict[tuple[str, ...], set[int]] = {}
        for i, path in enumerate(self.paths):
            for end in range(1, len(path)):
                inside.setdefault(path[:end], set()).add(i)
        for path, members in inside.items():
            name = self.names.short(path)
            lines = frozenset(members)
            depth = 0.02 * min(len(path), 10) - _TOP * (path[-1] in _TOPS)
            if len(lines) > 1:
                yield TensorGroup(lines, f"everything in {name}" if path[-1].startswith("{") else name, 1.0 + depth)
                yield from self._by_kind(lines, f" in {name}", 1.15 + depth)

    def _by_kind(self, lines: frozenset[int], where: str, cost: float) -> Iterator[TensorGroup]:
        kinds = {kind: frozenset(i for i in lines if self.kinds[i] == kind) for kind in ("bias", "norm", "table", "weight")}
        words = {"bias": "the biases", "norm": "the norms", "table": "the tables", "weight": "the matrices"}
        for kind, members in kinds.items():
            if len(members) > 1 and members != lines:
                yield TensorGroup(members, f"{words[kind]}{where}", cost, plural=True)
        both = kinds["bias"] | kinds["norm"]
        if kinds["bias"] and kinds["norm"] and both != lines:
            yield TensorGroup(both, f"the biases and norms{where}", cost + 0.03, plural=True)
        shifts = frozenset(i for i in lines if self.lines[i].role == "bias")
        if len(shifts) > 1 and shifts != kinds["bias"]:
            yield TensorGroup(shifts, f"the biases{where}, those of norms too", cost + 0.2, plural=True)

    def _vocabularies(self) -> Iterator[TensorGroup]:
        for members in self.alike():
            yield TensorGroup(frozenset(members), listed([self.names.tensor(self.lines[i]) for i in members]), 0.95)

    def alike(self) -> Iterator[list[int]]:
        """Yield tables with the matrices of their shape, which models often tie."""
        families: dict[tuple[object, ...], list[int]] = {}
        for i, line in enumerate(self.lines):
            if len(line.shape) == 2 and not line.stored and not line.spans and line.role in {"table", "weight"}:
                families.setdefault(tuple(sorted(map(str, line.sizes))), []).append(i)
        for members in families.values():
            if len(members) > 1 and any(self.lines[i].role == "table" for i in members):
                yield members

    def _labels(self) -> Iterator[TensorGroup]:
        """All segments of one label in one tensor or layer: a gate of a recurrent layer, the query of a fused projection."""
        found: dict[tuple[object, ...], set[int]] = {}
        for i, line in enumerate(self.lines):
            if line.label:
                found.setdefault((self.paths[i][:-1], line.label), set()).add(i)
        for (_, label), members in found.items():
            yield TensorGroup(frozenset(members), str(label), 1.15)

    def _tails(self) -> Iterator[TensorGroup]:
        """Tensors and parts of one name in several layers: every ``self_attn.q_proj``."""
        found: dict[tuple[str, ...], set[int]] = {}
        for i, path in enumerate(self.paths):
            for end in range(max(1, len(path) - 3), len(path) + 1):
                for start in range(max(0, end - 3), end):
                    tail = path[start:end]
                    if not any(step.startswith("{") or step.isdigit() for step in tail):
                        found.setdefault(tail, set()).add(i)
        for tail, members in found.items():
            if len(members) > 1 and tail not in {("weight",), ("bias",)}:
                yield TensorGroup(frozenset(members), f"every {'.'.join(tail)}", 1.25)

    def _runs(self) -> Iterator[TensorGroup]:
        """Neighbours of equal size and role under one parent: query, key and value."""
        families: dict[tuple[object, ...], list[int]] = {}
        for i, line in enumerate(self.lines):
            parent = self.paths[i][:-1] if line.label else self.paths[i][:-2]
            families.setdefault((parent, line.role, self.paths[i][-1], self.subject.values[i]), []).append(i)
        for members in families.values():
            if 1 < len(members) <= _RUNS_UP_TO:
                yield from self._run(members)

    def _between_norms(self) -> Iterator[TensorGroup]:
        """The layers of a repeated block between two norms: attention, and the feed-forward network, where they are no modules."""
        for (norm, block), members in groupby(range(len(self.lines)), lambda i: (self.kinds[i] == "norm", _block(self.paths[i]))):
            lines = frozenset(members)
            owners = dict.fromkeys(self.names.owner(self.lines[i]) for i in sorted(lines))
            if block and not norm and 1 < len(owners) <= _LONGEST_RUN:
                yield TensorGroup(lines, listed([*owners]), 1.17)

    def _run(self, members: list[int]) -> Iterator[TensorGroup]:
        for size in range(2, min(len(members), _LONGEST_RUN) + 1):
            for start in range(len(members) - size + 1):
                chosen = members[start : start + size]
                owners = listed([self.names.owner(self.lines[i]) for i in chosen])
                part = 0.0 if size == len(members) else 0.2
                what = {"bias": "the biases of ", "weight": "the matrices of ", "norm": "the norms "}.get(self.kinds[chosen[0]], "")
                yield TensorGroup(frozenset(chosen), what + owners, 1.2 + part, plural=True)
                both = self._with_their_biases(chosen)
                if len(both) > len(chosen):
                    yield TensorGroup(both, owners, 1.25 + part, plural=True)

    def _with_their_biases(self, chosen: list[int]) -> frozenset[int]:
        """Return all tensors of the layers that own some tensors; for a fused tensor, all segments with the same labels."""
        labels = {self.lines[i].label for i in chosen}
        parents = {self.paths[i][:-1] for i in chosen}
        return frozenset(i for i, line in enumerate(self.lines) if self.paths[i][:-1] in parents and line.label in labels)

    # Edits of a group ---------------------------------------------------------------------------------------------------------

    def _of(self, group: TensorGroup) -> Iterator[Edit]:
        total = sum(self.subject.values[i] for i in group.lines)
        others = sum(self.subject.values) - total
        whole = len(group.lines) == len(self.lines)
        # Who counts a part says "only" of the smaller one.
        if not whole:
            yield self._edit(group, 0, f"{group.words} left out", _LARGER * (total > others), total)
        # A table is usually counted twice because the output matrix is tied to it.
        table = all(self.kinds[i] == "table" for i in group.lines)
        matrix = all(self.kinds[i] in {"table", "weight"} for i in group.lines)
        yield self._edit(group, 2, f"{group.words} counted twice", 0.04 if table else 0.15, total)
        if not whole and not group.plural and group.cost < 1.2 and (len(group.lines) > 1 or (matrix and total < others)):
            rest = frozenset(range(len(self.lines))) - group.lines
            cost, alone = group.cost + (_LARGER if total > others else 0.01), len(group.lines) == 1
            yield Edit(f"only {group.words} counted", self.named(rest), -others, cost, rest, alone=alone)
        kinds = (self._without_factor_and_bias, self._once_per_head, self._once_per_copy, self._without_factor, self._once_per_input)
        yield from chain.from_iterable(kind(group, total) for kind in kinds)

    def _once_per_head(self, group: TensorGroup, total: int) -> Iterator[Edit]:
        shared = frozenset.intersection(*(self.heads[i] for i in group.lines))
        for slices in sorted(shared, key=str):
            full = {text(width) for i in group.lines for width in widths(self.lines[i])}
            width = f" at full width {full.pop()}" if len(full) == 1 else " at full width" if full else ""
            composite = all(slices in self.lines[i].factors for i in group.lines)
            words = f"counted {once_per(slices)}{width}" if composite else f"counted{width}, not at that of {_article(slices)}"
            # Biases at full width are the usual mistake: the bias of one head has H/A entries.
            usual = composite and all(self.kinds[i] == "bias" for i in group.lines)
            yield self._edit(group, slices, f"{group.words} {words}", -0.1 if usual else 0.1, total)
            if composite:
                share = 1 / Polynomial.of(slices).as_expr()
                yield self._edit(group, share, f"{group.words} counted for {_article(slices)} only", 0.3, total)

    def _once_per_copy(self, group: TensorGroup, total: int) -> Iterator[Edit]:
        copies = {count for line in self.lines for count in line.stored if isinstance(count, Symbol)}
        for count in sorted(copies, key=str):
            has = [count in self.lines[i].stored for i in group.lines]
            if all(has):
                yield self._edit(group, 1 / count, f"{group.words} counted for {_article(count)} only", 0.3, total)
                outside = frozenset(i for i, line in enumerate(self.lines) if count not in line.stored)
                if outside and len(has) == sum(count in line.stored for line in self.lines):
                    rest = sum(self.subject.values[i] for i in outside)
                    yield from self._side_by_side(TensorGroup(outside, f"everything outside {group.words}", 1.0), count, rest)
            elif not any(has) and group.cost < 1.2:
                yield self._edit(group, count, f"{group.words} counted {once_per(count)}", 0.5, total)

    def _side_by_side(self, outside: TensorGroup, count: Symbol, rest: int) -> Iterator[Edit]:
        """One whole model per copy, as in "8x7B": the parameters that the copies share are counted with each."""
        copies = int(self.subject.sizes.get(count, 0))
        words = f"{outside.words} counted {once_per(count)}"
        cost = 1.0 if each_of(count) == "expert" else 1.4
        shared = replace(self._edit(outside, count, words, 0.0, rest), cost=cost, copies=copies)
        yield shared
        routers = frozenset(i for i in outside.lines if count in self.lines[i].factors)
        if routers:
            term = shared.term(self.subject) - self.subject.total(routers) * Polynomial.of(count)
            words = f"{words}, without {listed([self.names.tensor(self.lines[i]) for i in sorted(routers)])}"
            yield replace(shared, words=words, value=self.subject.value(term), cost=cost + 0.1, fixed=term)

    def _without_factor(self, group: TensorGroup, total: int) -> Iterator[Edit]:
        if any(len(self.lines[i].shape) < 2 for i in group.lines):
            return  # a vector without its only factor is not a tensor
        first, *others = (self.lines[i] for i in group.lines)
        for factor in dict.fromkeys(first.factors):
            if factor == 1 or (isinstance(factor, Expr) and not isinstance(factor, Symbol)) or factor in heads(first):
                continue
            if all(factor in other.factors for other in others):
                words = f"{group.words} counted without the factor {text(factor)}"
                yield self._edit(group, 1 / Polynomial.of(factor).as_expr(), words, 0.4, total)

    def _without_factor_and_bias(self, group: TensorGroup, total: int) -> Iterator[Edit]:
        """Both mistakes at once for a layer with one matrix and one bias, as in "N filters of K by K have N*K*K weights"."""
        if len(self.lines) != 2 or len(group.lines) != 1 or {line.role for line in self.lines} != {"weight", "bias"}:
            return
        for edit in self._without_factor(group, total):
            (bias,) = frozenset(range(2)) - group.lines
            term = edit.term(self.subject) - self.subject.polynomials[bias]
            words = f"{edit.words}, and {self.names.tensor(self.lines[bias])} left out"
            yield fixed(self.subject, term, words, _BOTH, self.named(range(2)), lines=frozenset(range(2)))

    def _once_per_input(self, group: TensorGroup, total: int) -> Iterator[Edit]:
        """One bias for every slice of the weight: one per pair of input and output map, instead of one per output map."""
        if len(group.lines) > 1:
            return
        (i,) = group.lines
        if self.lines[i].role != "bias":
            return
        owner = self.paths[i][:-1]
        beside = [line for j, line in enumerate(self.lines) if self.paths[j][:-1] == owner and line.role == "weight"]
        for factor in dict.fromkeys(factor for line in beside for factor in line.factors):
            if factor not in self.lines[i].factors and factor != 1 and isinstance(factor, int | Symbol) and factor not in self.heads[i]:
                yield self._edit(group, factor, f"{group.words} counted once for each of {text(factor)}", 0.4, total)

    def _edit(self, group: TensorGroup, times: Dim | Expr, words: str, extra: float, total: int) -> Edit:
        factor = self.subject.ratio(times) if isinstance(times, Expr) else Fraction(times)
        value = total * (factor - 1)
        whole = int(value) if value.denominator == 1 else 0
        return Edit(words, self.named(group.lines), whole, group.cost + extra, group.lines, times)

    def named(self, lines: Iterable[int]) -> tuple[str, ...]:
        """Return the full names of some lines."""
        return tuple(self.full[i] for i in sorted(lines))


def _block(path: Sequence[str]) -> tuple[str, ...]:
    """Return the path of the repeated block that a tensor is in; empty for one outside."""
    return tuple(path[: next((place + 1 for place, step in enumerate(path) if step.startswith("{")), 0)])


def _article(size: Dim) -> str:
    one = each_of(size)
    return one if one.startswith("one of") else f"one {one}"


def _kind(line: Line, beside_scale: bool) -> str:
    if line.role in {"bias", "scale"} and beside_scale:
        return "norm"
    return {"bias": "bias", "table": "table", "scale": "norm"}.get(line.role, "weight")


@dataclass(frozen=True)
class Habit:
    """One everyday edit: its ``name``, ``why`` people count so, and the function that yields its edits of a subject."""

    name: str
    why: str
    edits: Callable[[Structure], Iterator[Edit]]
