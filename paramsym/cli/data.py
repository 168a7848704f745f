"""Answers as plain data, for scripts: everything that the text contains, under stable names."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sympy import Integer

from paramsym.analysis.meaning import meaning
from paramsym.core.layer import Layer
from paramsym.core.ledger import Ledger

if TYPE_CHECKING:
    from paramsym.analysis.conventions import Conventions
    from paramsym.analysis.explain.explanation import Explanation
    from paramsym.analysis.reconcile.answers import Answer, Reconciliation
    from paramsym.analysis.reconcile.together import Together
    from paramsym.checking import Verdict

Data = dict[str, Any]


def of_model(model: Layer) -> Data:
    """Return a model's class, closed form, letters, sizes and counts."""
    root = model.origin[0]
    return {
        "model": type(model).__name__,
        "architecture": getattr(model, "architecture", None),
        "formula": in_letters(model).params,
        "sizes": model.sizes,
        "letters": {symbol.name: meaning(symbol, root) for symbol in sorted(root.symbols, key=str)},
        "count": model.params if isinstance(model.params, Integer) else None,
        "trainable": model.trainable,
        "active": model.active,
        "tied": {line.name: line.alias_of for line in model.lines if line.alias_of},
    }


def in_letters(subject: Any) -> Any:
    """Return a layer or a cost in letters if all its sizes were put in, otherwise with the sizes that were."""
    return subject if subject.polynomial.free_symbols else subject.origin[0]


def _picked(thing: object, names: str) -> Data:
    return {name: getattr(thing, name) for name in names.split()}


def of_ledger(ledger: Ledger) -> list[Data]:
    """Return one object per line: the factors whose product is one copy, and the number of copies."""
    return [
        {
            "name": line.name,
            "segment": line.label or None,
            "shape": line.sizes,
            **_picked(line, "role factors stored used"),
            "amount": None if line.alias_of or line.buffer else line.amount,
            **_picked(line, "trainable buffer"),
            "tied_to": line.alias_of or None,
        }
        for line in ledger
    ]


def of_explanation(why: Explanation) -> Data:
    """Return a derivation, step by step."""
    return {
        "subject": why.subject,
        "symbol": why.symbol.name,
        "meaning": why.meaning,
        **_picked(why, "cancels derivative"),
        "formula": why.params,
        "verdict": why.verdict,
        "steps": [{"words": step.words, "left": str(step.left), "right": step.right, "numbers": step.numbers} for step in why.steps],
        "tensors": [line.name for group in why.groups for line in group.lines],
        "sizes": dict(why.sizes),
    }


def of_reconciliation(found: Reconciliation) -> Data:
    """Return a claim and the answers, the simplest first."""
    return {
        **_picked(found, "subject counted claim"),
        "explained": bool(found),
        "answers": [_of_answer(answer) for answer in found],
    }


def of_together(found: Together) -> Data:
    """Return several claims, and the answers that fit all of them."""
    return {
        "rows": [{"row": row.name, **of_reconciliation(row.alone)} for row in found.rows],
        "explained": bool(found),
        "answers": [_of_answer(answer) for answer in found],
    }


def _of_answer(answer: Answer) -> Data:
    return {
        **_picked(answer, "difference term value chance"),
        "readings": [{"words": reading.words, "note": reading.note or None, "tensors": reading.tensors} for reading in answer.readings],
    }


def of_conventions(found: Conventions) -> Data:
    """Return every way to count, with its count and its difference."""
    return {
        "subject": found.subject,
        "conventions": [
            {"parameters" if field.name == "params" else field.name: getattr(item, field.name) for field in fields(item)} for item in found
        ],
    }


def of_verdict(verdict: Verdict) -> Data:
    """Return a verdict with every tensor that differs."""
    return {
        **_picked(verdict, "ok architecture count"),
        "tensors": len(verdict.match.rows),
        **_picked(verdict, "explained problems"),
        "wrong": [{**_picked(row, "name outcome expected found"), "note": row.note or None} for row in verdict.wrong],
    }
