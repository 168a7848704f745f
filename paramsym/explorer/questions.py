"""The questions that the explorer answers about a variant: for every choice the cost, its totals, terms and parts, as one program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import conditions_asked
from paramsym.analysis.counted import Counted, lines
from paramsym.core.layer import Layer
from paramsym.core.ledger import Line
from paramsym.errors import ParamsymError
from paramsym.explorer.variant import Variant
from paramsym.measure.activations import activations
from paramsym.measure.kv_cache import kv_cache
from paramsym.measure.memory import memory
from paramsym.measure.work import PAIRS, flops, macs
from paramsym.render import latex
from paramsym.render.order import ordered
from paramsym.render.table import Letters

MOST_PARTS, MOST_GATHERED = 10, 16
Inputs = tuple[Any, ...]
ATTENTION = {"eager": "torch-eager", "fused": "torch-sdpa"}


@dataclass(frozen=True)
class Question:
    """A tab: its name, its choices, and the library's answer for each of them."""

    name: str
    title: str
    unit: str
    choices: dict[str, tuple[str, ...]]
    ask: Callable[..., Counted]
    call: str
    """The Python that a reader writes for it, with the model, its inputs and the choices in braces."""


def _flops(layer: Layer, inputs: Inputs, run: str, count: str) -> Counted:
    way: Any = "both" if run == "training" else "forward"
    return macs(layer, *inputs, way=way) if count == "MACs" else flops(layer, *inputs, way=way)


@lru_cache(maxsize=8)
def _attends(layer: Layer, inputs: Inputs) -> bool:
    return any(line.role == PAIRS for line in lines(flops(layer, *inputs)))


def _training(layer: Layer, inputs: Inputs, precision: str, attention: str) -> Counted:
    return memory(layer, *inputs, dtype=precision, convention=ATTENTION[attention])


def _activations(layer: Layer, inputs: Inputs, precision: str, attention: str) -> Counted:
    return activations(layer, *inputs, dtype=precision, convention=ATTENTION[attention])


QUESTIONS = (
    Question("params", "Parameters", "parameters", {}, lambda layer, _: layer, "model"),
    Question(
        "flops",
        "FLOPs",
        "FLOPs",
        {"pass": ("forward", "training"), "count": ("FLOPs", "MACs")},
        _flops,
        "ps.{count}({model}, way={pass})",
    ),
    Question(
        "activations",
        "Activations",
        "bytes",
        {"precision": ("float32", "bfloat16"), "attention": ("eager", "fused")},
        _activations,
        "ps.activations({model}, dtype={precision}, convention={attention})",
    ),
    Question(
        "cache",
        "Cache",
        "bytes",
        {"precision": ("float32", "bfloat16")},
        lambda layer, inputs, precision: kv_cache(layer, *inputs, dtype=precision),
        "ps.kv_cache({model}, dtype={precision})",
    ),
    Question(
        "training",
        "Memory of training",
        "bytes",
        {"precision": ("float32", "bfloat16"), "attention": ("eager", "fused")},
        _training,
        "ps.memory({model}, dtype={precision}, convention={attention})",
    ),
    Question(
        "inference",
        "Memory of inference",
        "bytes",
        {"precision": ("float32", "bfloat16")},
        lambda layer, inputs, precision: memory(layer, *inputs, use="inference", dtype=precision, convention="torch-sdpa"),
        "ps.memory({model}, use='inference', dtype={precision}, convention='torch-sdpa')",
    ),
)


def choices(question: Question) -> Iterator[tuple[str, ...]]:
    """Yield every combination of a question's choices."""
    yield from product(*question.choices.values())


@dataclass(frozen=True)
class Answered:
    """One choice of one question: the cost, its terms as polynomials with their LaTeX, and its parts with their terms."""

    subject: Counted
    terms: tuple[tuple[str, Polynomial], ...]
    parts: tuple[tuple[str, Polynomial, tuple[int, ...]], ...]


class NoClosedForm(Exception):  # noqa: N818 - says why a tab is missing
    """A question that has no closed form for a model."""


def alike(variant: Variant, choice: tuple[str, ...]) -> tuple[str, ...]:
    """Return the choice that has the same answer and is asked: the attention of a model without attention is eager.

    Raises:
        NoClosedForm: a model that has no answer in letters.
    """
    try:
        with conditions_asked():
            fused = "fused" in choice and _attends(variant.root.built_again(), variant.inputs)
    except ParamsymError as error:
        raise NoClosedForm(str(error)) from None
    return choice if fused else tuple("eager" if one == "fused" else one for one in choice)


def answered(variant: Variant, question: Question, choice: tuple[str, ...], letters: Letters) -> Answered:
    """Ask the library.

    Raises:
        NoClosedForm: a model that has no answer in letters.
    """
    try:
        with conditions_asked():  # the page needs them, too: each program is walked once for the answer and its conditions
            subject = question.ask(variant.root.built_again(), variant.inputs, *choice)
        total = subject.polynomial
    except ParamsymError as error:
        raise NoClosedForm(str(error)) from None
    if not total.free_symbols <= subject.symbols:
        message = "the sum has no closed form in these letters."
        raise NoClosedForm(message)
    terms = tuple((latex.expression(term, letters), Polynomial.of(term)) for term in ordered(total.as_expr(), letters)) if total else ()
    places = {next(iter(polynomial.terms)): number for number, (_, polynomial) in enumerate(terms) if len(polynomial.terms) == 1}
    parts = []
    for name, members in divided(lines(subject), by_kind=question.name in {"training", "inference"}):
        amount = Polynomial.total(line.polynomial("stored" if isinstance(subject, Layer) else "used") for line in members)
        if amount:
            parts.append((name, amount, tuple(sorted(places[monomial] for monomial in amount.terms if monomial in places))))
    return Answered(subject, terms, tuple(parts))


def divided(listed: Iterable[Line], *, by_kind: bool) -> list[tuple[str, list[Line]]]:
    """Divide lines into a few parts by their modules; copies of one block are one part."""
    listed = tuple(listed)
    repeated = {line.path[:place] for line in listed for place, step in enumerate(line.path) if isinstance(step, Numbers)}
    paths = [
        tuple(str(step) for place, step in enumerate(line.path[:-1]) if line.path[:place] not in repeated and not isinstance(step, Numbers))
        for line in listed
    ]
    groups: dict[tuple[str, ...], list[Line]] = {}
    for level in range(1, 2 if by_kind else max(1, 1, *map(len, paths)) + 1):
        deeper: dict[tuple[str, ...], list[Line]] = {}
        for path, line in zip(paths, listed, strict=True):
            deeper.setdefault(path[:level], []).append(line)
        if groups and len(deeper) > MOST_PARTS:
            break
        groups = deeper
    if len(groups) > MOST_PARTS and not by_kind:
        return gathered([(".".join(path), members) for path, members in groups.items()])
    return [(".".join(path) or "(itself)", members) for path, members in groups.items()]


def gathered(parts: list[tuple[str, list[Line]]]) -> list[tuple[str, list[Line]]]:
    """Gather the many parts of a flat model, such as ``block1a_expand_conv``, by how their names begin: ``block1*``."""
    pieces = [re.findall(r"[^\W\d_]+|\d+|[\W_]+", name) for name, _ in parts]
    level = max((level for level in range(1, max(map(len, pieces)) + 1) if len({*_begun(pieces, level)}) <= MOST_GATHERED), default=1)
    groups: dict[str, list[tuple[str, list[Line]]]] = {}
    for begin, part in zip(_begun(pieces, level), parts, strict=True):
        groups.setdefault(begin, []).append(part)
    return [
        (begin.rstrip("._") + "*" if len(same) > 1 else same[0][0], [line for _, members in same for line in members])
        for begin, same in groups.items()
    ]


def _begun(pieces: list[list[str]], level: int) -> list[str]:
    return ["".join(name[:level]) for name in pieces]
