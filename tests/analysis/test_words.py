"""Answers, tables, LaTeX and explanations use the field's words: no name of an operation that only this package has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from amount import cases

import paramsym as ps

OWN = frozenset(
    ("contract", "convolve", "region", "segments", "rearrange", "normalise", "compact", "pick", "choose", "collect", "cumulate", "remember")
)
"""Names of operations inside programs, but for those that are words of the field or of plain English."""
MODELS: dict[str, tuple[Callable[[], ps.Layer], tuple[Any, ...]]] = {
    "gpt2": (lambda: ps.load("gpt2", architecture="GPT2LMHeadModel"), ()),
    "mixtral": (lambda: ps.load("mistralai/Mixtral-8x7B-v0.1"), ()),
    "gpt-oss": (lambda: ps.load("openai/gpt-oss-20b"), ()),
    "deepseek": (lambda: ps.load("deepseek-ai/DeepSeek-V3"), ()),
    "bert": (lambda: ps.load("bert-base-uncased"), ()),
    "mamba": (lambda: ps.load("state-spaces/mamba-130m-hf"), ()),
    "t5": (lambda: ps.load("t5-small"), ()),
    "resnet": (lambda: ps.load("resnet50"), ((1, 3, 224, 224),)),
    "lstm": (lambda: ps.LSTM(10, 20, 2, batch_first=True), ((5, 3, 10),)),
    "attention": (lambda: ps.MultiHeadAttention(ps.H, ps.A, kv_heads=ps.G, batch_first=True), ((ps.B, ps.S, ps.H),)),
}
QUESTIONS: tuple[Callable[..., Any], ...] = (ps.flops, ps.activations, ps.memory, ps.kv_cache, ps.traffic)


def written(model: ps.Layer, shapes: tuple[Any, ...]) -> Iterator[str]:
    """Yield what a user sees of each cost: its line, its table, LaTeX, why a letter cancels, and a reason for half of it."""
    for question in QUESTIONS:
        cost = question(model, *shapes)
        yield str(cost)
        yield str(cost.table())
        yield cost.to_latex()
        if ps.A in cost.origin[0].symbols:
            yield str(ps.explain(cost, "A"))
        if question is ps.flops and not cost.symbols:
            yield str(ps.reconcile(cost, cost.count // 2))


@cases(4)
@pytest.mark.parametrize("name", MODELS)
def test_no_operation_is_called_as_inside(name: str) -> None:
    """Parts have the names of the reference, whose own words may be among ours."""
    build, shapes = MODELS[name]
    model = build()
    for text in written(model, shapes):
        found = {*re.findall(r"[a-z]+", text)} & OWN
        assert not found, [line for line in text.splitlines() if any(word in line for word in found)][:3]
    modules = {step for path in model.shapes() for step in path.split(".")}
    for question in QUESTIONS:
        lasts = {str(line.path[-1]) for line in question(model, *shapes).lines}
        assert not any(last.isdigit() or last in {"drop", "axes", "as", "put", "take"} for last in lasts - modules)


def test_a_derived_form_is_written_as_its_count() -> None:
    """Its fields are in ``repr``."""
    assert str(ps.derive(lambda H, F: ps.Dense(H, F, bias=False))) == "Derived: F*H parameters"
