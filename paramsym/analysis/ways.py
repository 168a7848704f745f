"""Every other way to count a given cost, tried for a claim: another convention, pass, share or format, or without some parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.counted import total
from paramsym.errors import ParamsymError
from paramsym.measure.activations import MEMORY
from paramsym.measure.cost import Cost
from paramsym.measure.formats import bytes_of
from paramsym.measure.memory import USES
from paramsym.measure.optimizers import OPTIMIZERS
from paramsym.measure.work import PAIRS, Share, Way, divisors_of, inside
from paramsym.measure.work_conventions import CONVENTIONS

_TRIED = ("float32", "float16", "float8", "int4")  # one format of each width
_PASSES = {"forward": "the forward pass alone", "backward": "the backward pass alone", "both": "the forward and the backward pass"}
_SHARES = {"batch": "all of the batch", "sequence": "one sequence", "token": "one token"}
_USES = {"training": "training", "inference": "inference"}
_ROLES = {
    "bias": "without the biases",
    "mask": "without the masks",
    "statistic": "without the statistics of norms",
    "index": "without the indices",
}
_AT_ONCE = 2  # the most options that say how something is counted, and differ at once
_CHEAP = 0.94
_STEP = 0.05  # the cost of one more change,
_SHARED = 0.1  # of a share,
_PART = 0.005  # and of a part: a convention is the nearer reason


@dataclass(frozen=True)
class Alternative:
    """A cost counted in another way: the total, a description, its source, and its cost in a ranking.

    ``of_convention`` means that only the convention was changed.
    """

    name: str
    words: str
    source: str
    total: Polynomial
    cost: float
    of_convention: bool = False


def ways(cost: Cost) -> Iterator[Alternative]:
    """Yield the other ways to count a cost, the nearest first, each total once.

    >>> from paramsym import B, Dense, F, H, flops
    >>> [way.words for way in ways(flops(Dense(H, F), (B, H))) if way.source == ''][:2]
    ['the forward and the backward pass', 'one sequence']
    """
    seen = {cost.polynomial}
    for way in sorted(_all(cost), key=lambda way: way.cost):
        if way.total not in seen:
            seen.add(way.total)
            yield way


def _all(cost: Cost) -> Iterator[Alternative]:
    known = {name: _known(name, now) for name, now in cost.chosen.items() if name != "per"}
    if "recompute" in known and "dtype" in known and cost.chosen.get("use") != "inference":
        known["dtype"] = tuple(one for one in known["dtype"] if one != "int4")  # nobody trains in 4 bits
    shares = list(_shares(cost))
    for values in product(*known.values()):
        choice = dict(zip(known, values, strict=True))
        changed = {name: value for name, value in choice.items() if value != cost.chosen[name]}
        if len(changed.keys() - {"way"}) > _AT_ONCE:
            continue
        try:
            found = cost if not changed else cost.ask(cost.layer, *cost.inputs, **changed)
        except ParamsymError:
            continue
        words = [_said(name, value) for name, value in changed.items()]
        rules = [CONVENTIONS[value] for value in changed.values() if value in CONVENTIONS]
        meaning, source = "".join(f" ({rule.counts})" for rule in rules), "".join(rule.source for rule in rules)
        totals = [(None, found.polynomial), *_without(found)]
        for share, factor in shares:
            named = [*changed.values(), *([share] if share else [])]
            for more, polynomial in totals:
                told = [*words, *([_SHARES[share]] if share else []), *([more] if more else [])]
                if told:
                    yield Alternative(
                        " ".join([", ".join(map(str, named)), *([more] if more else [])]).strip(),
                        ", ".join(told) + meaning,
                        source,
                        polynomial * factor,
                        _CHEAP + _STEP * len(told) + _SHARED * bool(share) + _PART * bool(more),
                        list(changed) == ["convention"] and not share and not more,
                    )


def _shares(cost: Cost) -> Iterator[tuple[str, Polynomial]]:
    """Yield the shares of a batch that a cost can be given for, with what each is of the cost: the cost's own, without a name, first."""
    yield "", Polynomial.of(1)
    now: Any = cost.chosen.get("per")
    for share in get_args(Share) if now else ():
        try:
            whole, part = (Polynomial.product(divisors_of(cost.layer, cost.inputs, one)) for one in (now, share))
        except ParamsymError:  # inputs without tokens
            continue
        if share != now:
            yield share, whole * part.inverse()


def _known(name: str, now: Any) -> tuple[Any, ...]:
    if name == "convention":
        return tuple(CONVENTIONS if now in CONVENTIONS else MEMORY)
    if name == "dtype":
        return tuple(dict.fromkeys((now, *(_TRIED if now is not None else ()))))  # numbers have no format
    known: Mapping[str, tuple[Any, ...]] = {"way": get_args(Way), "optimizer": tuple(OPTIMIZERS), "use": USES}
    return known.get(name, (now,))


def _said(name: str, value: Any) -> str:
    if name == "convention":
        return f"counted as {value}"
    if name == "dtype":
        return f"numbers in {value}"
    if name == "optimizer":
        return f"the optimizer {value}"
    return {**_PASSES, **_USES}[value]


def blocks_of(cost: Cost) -> Polynomial:
    """Return what the repeated blocks contribute to a cost.

    Of activations, the input of the first block belongs to the blocks, although something else made it. The first of p stages of a pipeline
    holds all that the blocks keep, p times what is kept before them, and nothing of what is kept after them (``Shares``).
    """
    if cost.chosen.get("pipeline") != 1 or "recompute" not in cost.chosen or "use" in cost.chosen or "way" in cost.chosen:
        return total(inside(list(cost.lines)))
    two, four = (cost.ask(cost.layer, *cost.inputs, pipeline=stages, loss=False).polynomial for stages in (2, 4))
    return two + two - four


def _without(cost: Cost) -> Iterator[tuple[str, Polynomial]]:
    """Yield the totals of some of the lines: only the blocks, without attention's pairs, without masks, ..."""
    blocks = inside(list(cost.lines))
    unpaired = [line for line in cost.lines if line.role != PAIRS]
    if len(blocks) < len(cost.lines):
        yield "the repeated blocks alone", blocks_of(cost)
    if len(unpaired) < len(cost.lines):
        yield "without the pairs of queries and keys, which fused attention hides from counters", total(unpaired)
        if len(blocks) < len(cost.lines):
            yield "the repeated blocks alone, without the pairs of queries and keys", total(line for line in blocks if line in unpaired)
    for role, words in _ROLES.items():
        rest = [line for line in cost.lines if line.role != role]
        if len(rest) < len(cost.lines):
            yield words, total(rest)
    if cost.chosen.get("convention") in MEMORY and "use" not in cost.chosen:
        numbers, width = total(line for line in cost.lines if line.role == "float"), Polynomial.of(bytes_of(cost.chosen["dtype"]))
        inputs = Polynomial.total(Polynomial.product(shape) for shape in cost.inputs)
        yield "with the inputs themselves", cost.polynomial + inputs * width
        for words, more in (("", Polynomial.of(0)), (", with the inputs themselves", inputs)):
            yield f"the numbers alone{words}", numbers + more * width
            yield f"in numbers, not bytes, without masks and statistics{words}", numbers * width.inverse() + more
