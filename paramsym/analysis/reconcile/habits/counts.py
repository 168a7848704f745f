"""Everyday edits of counts of parameters, and shares and layers of any count, as data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import takewhile

from sympy import Expr, Rational

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.edits import Edit, Habit, Structure, counted_as, fixed, resized, scaled
from paramsym.analysis.reconcile.in_eight_bits import numbers_in_eight_bits
from paramsym.analysis.reconcile.stated_bytes import in_formats, in_widths, per_parameter
from paramsym.core.ledger import Line
from paramsym.measure.cost import Cost
from paramsym.measure.formats import BYTES
from paramsym.measure.work_conventions import is_position

_VOCABULARY, _EXPERTS, _POSITIONS = (BY_NAME[name].symbol for name in "VEP")
_DEVICES = (2, 4, 8, 16, 32, 64)
_PADDINGS = (8, 16, 32, 64, 128, 256, 512, 1024)
_PREDECESSORS = {50_257: (40_478, "the first GPT, with which the paper's 117M, 345M, 762M and 1542M of GPT-2 agree")}
_LARGER = {32_000: {49_953: "Chinese-LLaMA", 49_954: "Chinese-Alpaca", 55_296: "Chinese-LLaMA-2 and Chinese-Alpaca-2"}}
_ADDED = 8  # the most special tokens that fine-tuning usually adds
_RANKS = (4, 8, 16, 32, 64, 128, 256)
_BEFORE, _FEWEST = 2, 64  # rows of fairseq's tables before that of the first position, and the fewest positions of its models
_NANOGPT = 64  # nanoGPT pads to it, trains without biases, and prints a count without positions
_FEW = {1: "one", 2: "two", 3: "three", 4: "four"}
_PACKED = (
    (Rational(1, 2), "two numbers of 4 bits to a byte"),
    (Rational(1, 8), "eight numbers of 4 bits to an integer of 32 bits"),
    (Rational(1, 4), "four numbers of 8 bits to an integer of 32 bits"),
    (Rational(1, 8) + Rational(1, 128) + Rational(1, 1024), "eight numbers of 4 bits to an integer, with a scale and a zero for each 128"),
    (Rational(1, 2) + Rational(1, 32), "two numbers of 4 bits to a byte, with a scale for each 32"),
)
_QUERIES_AND_VALUES = frozenset({"query", "q_proj", "q_lin", "q", "value", "v_proj", "v_lin", "v"})
_KEYS_AND_OUTPUTS = frozenset({"key", "k_proj", "k_lin", "k", "o_proj", "out_proj", "out_lin", "o"})
_WITH_HEAD, _FUSED = "every matrix of the blocks and the output matrix", "the fused matrix of queries, keys and values"
_ADAPTED = {
    _FUSED: frozenset[str](),
    "queries and values": _QUERIES_AND_VALUES,
    "queries, keys, values and outputs of attention": _QUERIES_AND_VALUES | _KEYS_AND_OUTPUTS,
    "every matrix of the blocks": frozenset[str](),
    _WITH_HEAD: frozenset[str](),
}
"""What LoRA usually adapts, by the names of the layers."""


# Parameters ---------------------------------------------------------------------------------------------------------------------


def _packed(structure: Structure) -> Iterator[Edit]:
    matrices = _matrices(structure)
    stacked = frozenset(i for i in matrices if _EXPERTS in structure.lines[i].factors)
    for place, (share, words) in enumerate(_PACKED):
        for chosen, what in ((matrices, "the matrices of the blocks"), (stacked, "the matrices of the experts")):
            if chosen and (chosen is matrices or stacked != matrices):
                yield scaled(
                    structure,
                    chosen,
                    share,
                    f"{what} packed, {words}, and each packed number counted as one",
                    0.96 + 0.18 * bool(place),
                    choice=bool(place),
                )


def _adapters(structure: Structure) -> Iterator[Edit]:
    """LoRA (Hu et al. 2022, arXiv:2106.09685): r rows and r columns beside each adapted matrix."""
    adapters = frozenset(i for i, path in enumerate(structure.paths) if any(step.startswith("lora_") for step in path))
    if adapters:
        rest = frozenset(range(len(structure.lines))) - adapters
        yield scaled(structure, adapters, 0, "the adapters merged into the weights", 0.9)
        yield scaled(structure, rest, 0, "only the adapters counted", 0.9)
        return
    matrices = structure.subject.total(sorted(_matrices(structure)))
    for words, term in _adapters_of(structure):
        yield fixed(structure.subject, term, f"{words} added", 1.15, alone=True, choice=True)
        yield counted_as(structure.subject, term, f"only {words} counted", 1.15, choice=True)
        packed = term - matrices * Polynomial.of(Rational(1, 2))
        both = f"{words} added, and the matrices of the blocks packed, two numbers of 4 bits to a byte, each packed number counted as one"
        yield fixed(structure.subject, packed, both, 1.2, alone=True, choice=True)


def _adapters_of(structure: Structure) -> Iterator[tuple[str, Polynomial]]:
    """Yield the usual adapters with the numbers that they add."""
    repeated = any(_loop(line) is not None for line in structure.lines)
    for what, names in _ADAPTED.items() if repeated else ():
        chosen = [i for i in _matrices(structure) if not names or {*structure.paths[i][-2:-1], structure.lines[i].label} & names]
        if what == _FUSED:
            chosen = [i for i in chosen if structure.lines[i].label]
        if what == _WITH_HEAD:
            head = _heads(structure)
            chosen = [*chosen, *head] if head else []
        sides = _sides([structure.lines[i] for i in chosen if len(structure.lines[i].axes) == 2], fused=not names)
        for rank in _RANKS if sides else ():
            yield f"adapters of rank {rank} for {what}", sides * Polynomial.of(rank)


def _padded(structure: Structure) -> Iterator[Edit]:
    subject = structure.subject
    size = subject.used.get(_VOCABULARY, 0)
    biases = total(line for line in structure.lines if line.role in {"bias", "shift"})
    positions = total(line for line in structure.lines if is_position(line))
    without = subject.formula - biases
    for multiple in _PADDINGS if size else ():
        padded = -(-size // multiple) * multiple
        if padded != size:
            words = f"V = {padded:,} in place of {size:,}, padded to a multiple of {multiple}"
            yield resized(subject, {_VOCABULARY: padded}, words, 1.07, choice=True)
            if biases and size in _PREDECESSORS and multiple == _NANOGPT:
                bare = without.put(_VOCABULARY, Polynomial.of(padded))
                yield counted_as(subject, bare, f"{words}, and without the biases", 0.97)
                yield counted_as(subject, bare - positions, f"{words}, without the biases, and without the table of positions", 0.98)


def _earlier(structure: Structure) -> Iterator[Edit]:
    subject = structure.subject
    before = _PREDECESSORS.get(subject.used.get(_VOCABULARY, 0))
    if before is not None:
        size, whose = before
        words = f"V = {size:,} in place of {subject.used[_VOCABULARY]:,}: the vocabulary of {whose}"
        yield resized(subject, {_VOCABULARY: size}, words, 0.97)


def _extended(structure: Structure) -> Iterator[Edit]:
    subject = structure.subject
    size = subject.used.get(_VOCABULARY, 0)
    for more in range(1, _ADDED + 1) if size else ():
        words = f"V = {size + more:,} in place of {size:,}: {_FEW.get(more, more)} token{'s' * (more > 1)} added, as fine-tuning does"
        yield resized(subject, {_VOCABULARY: size + more}, words, 1.14, choice=True)
    for larger, whose in _LARGER.get(size, {}).items():
        words = f"V = {larger:,} in place of {size:,}: the vocabulary of {whose}"
        yield resized(subject, {_VOCABULARY: larger}, words, 1.0)
        changed = subject.formula.put(_VOCABULARY, Polynomial.of(larger)) - subject.formula
        for adapters, term in _adapters_of(structure):
            yield fixed(subject, changed + term, f"{words}, and {adapters} added", 1.25, alone=True, choice=True)


def _first_rows(structure: Structure) -> Iterator[Edit]:
    """Fairseq numbers positions from the padding on, so that its tables have two rows more than positions, as RoBERTa's 514."""
    positions = structure.subject.used.get(_POSITIONS, 0) - _BEFORE
    if positions >= _FEWEST and positions.bit_count() == 1:
        words = f"P = {positions} in place of {positions + _BEFORE}, without the two rows before the first position"
        yield resized(structure.subject, {_POSITIONS: positions}, words, 0.97)


def _stored(structure: Structure) -> Iterator[Edit]:
    """The bytes of the numbers, or the numbers of the bytes."""
    subject = structure.subject
    everything = frozenset(range(len(structure.lines)))
    if subject.unit in {"parameters", "elements"}:
        yield from in_widths(subject)
    if subject.unit == "parameters":
        yield from in_formats(subject)
    yield from per_parameter(subject)
    root = subject.root
    if isinstance(root, Cost) and root.unit == "bytes" and root.chosen.get("dtype") in BYTES:
        width = BYTES[root.chosen["dtype"]]
        if width != 1:
            yield scaled(structure, everything, 1 / Rational(width), f"the numbers counted, not their bytes, {width} each", 0.95)


def _eight_bits(structure: Structure) -> Iterator[Edit]:
    yield from numbers_in_eight_bits(structure.subject)


# Shares -------------------------------------------------------------------------------------------------------------------------


def _equal_shares(structure: Structure) -> Iterator[Edit]:
    subject, everything = structure.subject, frozenset(range(len(structure.lines)))
    for place, number in enumerate(_DEVICES):
        cost = 1.3 + 0.01 * place
        share, rest = divmod(subject.count, number)
        if rest:
            term = Polynomial.of(share + 1 - subject.count)
            yield fixed(subject, term, f"one of {number} equal shares, rounded up", cost + 0.02, alone=True, choice=True)
        else:
            yield scaled(structure, everything, Rational(1, number), f"one of {number} equal shares", cost, choice=True)
        if isinstance(subject.root, Cost) and number <= 8:
            yield scaled(structure, everything, number, f"counted for {number} of them: devices, copies or steps", cost + 0.1, choice=True)


def _devices(structure: Structure) -> Iterator[Edit]:
    """What one device stores of a model that is split by its matrices, its experts or its layers."""
    if isinstance(structure.subject.root, Cost):
        return
    split = frozenset(i for i, line in enumerate(structure.lines) if line.role in {"weight", "table"} and len(line.shape) > 1)
    experts = frozenset(i for i, line in enumerate(structure.lines) if _EXPERTS in line.stored or _EXPERTS in line.factors[:1])
    repeated = frozenset(i for i, line in enumerate(structure.lines) if _loop(line) is not None)
    kinds = (
        (split, "matrices and tables split over {} devices, the rest on each of them"),
        (experts, "the experts split over {} devices, the rest on each of them"),
        (repeated, "the layers split over {} stages, the rest on each of them"),
    )
    for chosen, words in kinds:
        for place, number in enumerate(_DEVICES[:4] if chosen and len(chosen) < len(structure.lines) else ()):
            yield scaled(structure, chosen, Rational(1, number), f"one device: {words.format(number)}", 1.15 + 0.01 * place, choice=True)
    if not repeated:
        return
    subject = structure.subject
    before, after = range(min(repeated)), range(max(repeated) + 1, len(structure.lines))
    for rest, stage in (
        (before, "the first of {} stages, with what is before the layers"),
        (after, "the last of {} stages, with what is after them"),
    ):
        for number in _DEVICES[:4] if rest else ():
            share = subject.total(sorted(repeated)) * Polynomial.of(Rational(1, number)) + subject.total(rest)
            words = f"one device: an equal share of the layers, {stage.format(number)}"
            yield counted_as(subject, share, words, 1.19, choice=True)


def _layers(structure: Structure) -> Iterator[Edit]:
    """Some of the layers: left out, counted alone, or added."""
    subject = structure.subject
    loops = list(_loops(structure))
    for lines, count, number in loops:
        amount = sum(subject.values[i] for i in lines)
        if number < 2 or amount % number:
            continue
        one, names = amount // number, structure.named(lines)
        layer = subject.total(sorted(lines)) * Polynomial.of(1 / count if isinstance(count, Expr) else Rational(1, count))
        first = structure.lines[min(lines)]
        parent = ".".join(map(str, takewhile(lambda step: not isinstance(step, Numbers), first.path)))
        where, _, last = parent.rpartition(".")
        kind, where = ("layers", where) if re.fullmatch(r"layers?|h|blocks?", last) else ("repeated blocks", parent)
        kind += f" of {where}" if len(loops) > 1 and where else ""
        for some in range(1, number):
            cost = 1.1 if len(loops) > 1 else 0.98 if some == 1 else 1.04 if some == 2 else 1.13 + 0.005 * min(some, 30)
            few = _FEW.get(some, f"{some:,}")
            if some <= number // 2 or some == number - 1:
                words = f"{few} of the {number:,} {kind} left out"
                yield Edit(words, names, -some * one, cost, frozenset(lines), 1 - some / Rational(1) / count, choice=True)
            if some <= number // 2:
                term = layer * Polynomial.of(some) - subject.formula
                words = f"only {few} of the {number:,} {kind} counted"
                yield Edit(words, names, some * one - subject.count, cost, fixed=term, alone=True, choice=True)
            if some <= 2:
                yield Edit(
                    f"{few} more than the {number:,} {kind}",
                    names,
                    some * one,
                    cost + 0.02,
                    frozenset(lines),
                    1 + some / Rational(1) / count,
                    choice=True,
                )


OF_COUNTS: tuple[Habit, ...] = (
    Habit("packed numbers", "quantized files store several numbers in one, and counters of a file count what is stored", _packed),
    Habit(
        "scales of a file", "a file in 8 bits has a scale for each block of numbers, and counters of a file count them, too", _eight_bits
    ),
    Habit("some of the layers", "the depth is wrong, only a stage of a pipeline is counted, or only one layer", _layers),
    Habit("one of equal shares", "a total is divided by a number of devices, and a share of a file is rounded up", _equal_shares),
    Habit("one device", "a model is split, but not all of it: norms and biases are on every device", _devices),
    Habit("adapters", "fine-tuning stores adapters beside the weights, or merges them", _adapters),
    Habit("an earlier vocabulary", "a paper's count has the vocabulary of the model before", _earlier),
    Habit("a larger vocabulary", "fine-tuning adds a few tokens to a vocabulary, or the words of another language", _extended),
    Habit("a padded vocabulary", "tables are padded to a multiple, so that devices can split them", _padded),
    Habit("rows before the first position", "the tables of RoBERTa and its relatives have two rows more than positions", _first_rows),
    Habit("bytes and numbers", "a file's size is taken for its number of parameters, or the other way round", _stored),
)
"""The everyday edits of counts."""


# Parts of a subject -------------------------------------------------------------------------------------------------------------


def _matrices(structure: Structure) -> frozenset[int]:
    """The matrices of the repeated blocks; of a network without repeated blocks, all matrices but the last."""
    if isinstance(structure.subject.root, Cost):
        return frozenset()
    found = [i for i, line in enumerate(structure.lines) if line.role == "weight" and len(line.shape) > 1]
    repeated = [i for i in found if _loop(structure.lines[i]) is not None]
    return frozenset(repeated or found[:-1])


def _sides(lines: list[Line], *, fused: bool) -> Polynomial:
    """The rows and columns of matrices; the parts of a fused matrix have one input, which is the axis of all of them."""
    found = Polynomial.of(0)
    parts: dict[tuple[object, ...], list[Line]] = {}
    for line in lines:
        parts.setdefault((line.path, None if fused and line.label else line.label), []).append(line)
    for same in parts.values():
        axes = [Polynomial.product((*axis, *same[0].stored)) for line in same for axis in line.axes]
        shared = next((axis for axis in same[0].axes if all(axis in line.axes for line in same)), ())
        again = Polynomial.product((*shared, *same[0].stored)) * Polynomial.of(1 - len(same))
        found += Polynomial.total(axes) + again
    return found


def _heads(structure: Structure) -> list[int]:
    """The output matrix, if it is not that of the table."""
    return [i for i, line in enumerate(structure.lines) if line.role == "weight" and len(line.axes) == 2 and _VOCABULARY in line.factors]


def _loop(line: Line) -> Numbers | None:
    return next((step for step in line.path if isinstance(step, Numbers)), None)


def _loops(structure: Structure) -> Iterator[tuple[list[int], Dim, int]]:
    """Yield the lines of each repeated block, and how often it is repeated, in letters and as a number.

    Copies of one parent that store equally much are one block, such as layers with and without a window.
    """
    subject = structure.subject
    found: dict[tuple[object, ...], list[int]] = {}
    counts: dict[tuple[object, ...], Numbers] = {}
    for i, line in enumerate(structure.lines):
        loop = _loop(line)
        if loop is not None and loop.index is None:
            where = (*line.path[: line.path.index(loop)], str(loop))
            found.setdefault(where, []).append(i)
            counts[where] = loop
    merged: dict[tuple[object, ...], tuple[list[int], list[Numbers]]] = {}
    for key, lines in found.items():
        number = subject.value(Polynomial.of(counts[key].count))
        each = (*key[:-1], Fraction(sum(subject.values[i] for i in lines), number or 1))
        known = merged.setdefault(each, ([], []))
        known[0].extend(lines)
        known[1].append(counts[key])
    for lines, loops in merged.values():
        count = Polynomial.total(Polynomial.of(loop.count) for loop in loops).as_expr()
        yield lines, count, subject.value(Polynomial.of(count))
