"""What a plain prompt shows of an answer is its text, and never a list of fields."""

from __future__ import annotations

from functools import cache
from typing import Any

from sympy import Expr

import paramsym as ps
from paramsym import A, F, H
from paramsym.render.printed import Printed

BERT = ps.models.Bert()
BASE = BERT.at("bert-base-uncased")
CHOICES = {H: range(1, 5), F: range(1, 5)}


@cache
def answers() -> dict[str, Any]:
    """Return one answer to every kind of question, and what it is made of."""
    compared = ps.compare(ps.Dense(H, F), ps.Dense(F, H))
    explained = ps.explain(BERT, A)
    reconciled = ps.reconcile(BASE, 109_786_368)
    solved = ps.solve(ps.Dense(H, F), 12, CHOICES)
    counted = ps.conventions(BASE)
    return {
        "table": BASE.table(1),
        "ledger": ps.Dense(H, F).ledger(),
        "summary": ps.summary(ps.Sequential(ps.Dense(3, 4)), (1, 3)),
        "explanation": explained,
        "step": explained.steps[0],
        "match": ps.match(ps.Dense(H, F), {"weight": (3, 2), "bias": (3,)}),
        "reconciliation": reconciled,
        "answer": reconciled[0],
        "reading": reconciled[0].readings[0],
        "comparison": compared,
        "crossover": compared.crossovers[0],
        "conventions": counted,
        "convention": counted[0],
        "sensitivity": ps.sensitivity(BERT, "L"),
        "asymptotics": ps.asymptotics(BASE, "H"),
        "solutions": solved,
        "solution": solved[0],
        "sweep": ps.sweep(ps.Dense(H, F), {"H": [1, 2], "F": [3]}),
        "export": ps.export(ps.Dense(H, F), "c"),
    }


def test_a_prompt_shows_what_print_does() -> None:
    """And no constructor's name in front of fields."""
    for kind, answer in answers().items():
        assert repr(answer) == str(answer), kind
        assert not repr(answer).startswith(f"{type(answer).__name__}("), kind


def test_every_public_class_with_a_text_shows_it() -> None:
    """A new answer joins by having a text; layers keep the call that builds them."""
    named = {getattr(ps, name) for name in dir(ps) if isinstance(getattr(ps, name), type)}
    named |= {type(answer) for answer in answers().values()}
    classes = {cls for cls in named if cls.__module__.startswith("paramsym") and not issubclass(cls, ps.Layer | Exception | Expr)}
    written = {cls for cls in classes if cls.__str__ is not object.__str__}
    assert {"Match", "Explanation", "Ledger"} <= {cls.__name__ for cls in written}
    assert {cls.__name__ for cls in written if cls.__repr__ is not Printed.__repr__} == {"Numbers"}  # part of a layer's repr
    layer = ps.Sequential(ps.Dense(H, F))
    assert eval(repr(layer), {"H": H, "F": F, "Dense": ps.Dense, "Sequential": ps.Sequential}) == layer
