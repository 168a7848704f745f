"""The questions that the explorer answers about a variant: for every choice the cost, its terms and its parts, as one program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

from sympy import Expr

import paramsym as ps
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.counted import Counted, lines
from paramsym.core.ledger import Ledger, Line
from paramsym.errors import ParamsymError
from paramsym.measure.work import PAIRS
from paramsym.render import latex
from paramsym.render.table import Letters

MOST_PARTS = 10
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
    """The Python that a reader writes for it, with the choices in braces."""


def _flops(layer: ps.Layer, run: str, count: str) -> Counted:
    way: Any = "both" if run == "training" else "forward"
    return ps.macs(layer, way=way) if count == "MACs" else ps.flops(layer, way=way)


@lru_cache(maxsize=8)
def _training(layer: ps.Layer, precision: str, attention: str) -> ps.Cost:
    if attention == "fused" and not any(line.role == PAIRS for line in lines(ps.flops(layer))):
        return _training(layer, precision, "eager")
    return ps.memory(layer, dtype=precision, convention=ATTENTION[attention])


def _activations(layer: ps.Layer, precision: str, attention: str) -> Counted:
    """Take the activations out of the memory of training, which contains them, instead of computing them again."""
    whole = _training(layer, precision, attention)
    kept = (replace(line, path=line.path[1:]) for line in whole.ledger if line.path[0] == "activations")
    return replace(whole, ledger=Ledger(tuple(kept)))


QUESTIONS = (
    Question("params", "Parameters", "parameters", {}, lambda layer: layer, "model"),
    Question(
        "flops",
        "FLOPs",
        "FLOPs",
        {"pass": ("forward", "training"), "count": ("FLOPs", "MACs")},
        _flops,
        "ps.{count}(model, way={pass})",
    ),
    Question(
        "activations",
        "Activations",
        "bytes",
        {"precision": ("float32", "bfloat16"), "attention": ("eager", "fused")},
        _activations,
        "ps.activations(model, dtype={precision}, convention={attention})",
    ),
    Question(
        "cache",
        "Cache",
        "bytes",
        {"precision": ("float32", "bfloat16")},
        lambda layer, precision: ps.kv_cache(layer, dtype=precision),
        "ps.kv_cache(model, dtype={precision})",
    ),
    Question(
        "training",
        "Memory of training",
        "bytes",
        {"precision": ("float32", "bfloat16"), "attention": ("eager", "fused")},
        _training,
        "ps.memory(model, dtype={precision}, convention={attention})",
    ),
    Question(
        "inference",
        "Memory of inference",
        "bytes",
        {"precision": ("float32", "bfloat16")},
        lambda layer, precision: ps.memory(layer, use="inference", dtype=precision, convention="torch-sdpa"),
        "ps.memory(model, use='inference', dtype={precision}, convention='torch-sdpa')",
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


def answered(root: ps.Layer, question: Question, choice: tuple[str, ...], letters: Letters) -> Answered:
    """Ask the library.

    Raises:
        NoClosedForm: a model that has no answer in letters.
    """
    try:
        subject = question.ask(root, *choice)
        total = subject.polynomial
    except ParamsymError as error:
        raise NoClosedForm(str(error)) from None
    if not total.free_symbols <= subject.symbols:
        message = "the sum has no closed form in these letters."
        raise NoClosedForm(message)
    terms = tuple((written(term, letters), Polynomial.of(term)) for term in latex.ordered(total.as_expr(), letters)) if total else ()
    places = {next(iter(polynomial.terms)): number for number, (_, polynomial) in enumerate(terms) if len(polynomial.terms) == 1}
    parts = []
    for name, members in divided(lines(subject), by_kind=question.name in {"training", "inference"}):
        amount = Polynomial.total(line.polynomial("stored" if subject is root else "used") for line in members)
        if amount:
            parts.append((name, amount, tuple(sorted(places[monomial] for monomial in amount.terms if monomial in places))))
    return Answered(subject, terms, tuple(parts))


@lru_cache(maxsize=1024)
def written(term: Expr, letters: Letters) -> str:
    """Return a term as LaTeX; the terms of one choice are often those of another."""
    return latex.expression(term, letters)


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
    return [(".".join(path) or "(itself)", members) for path, members in groups.items()]
