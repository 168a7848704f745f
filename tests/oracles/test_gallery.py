"""The gallery: every one of the 249 recorded claims is answered by a call into the library, or listed as outside with the reason."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import recorded
from amount import cases
from formulas import formula
from sympy import expand

import paramsym as ps


def _gallery() -> Any:
    """Load the page's own source, which stands outside every package."""
    folder = Path(__file__).parents[2] / "docs" / "gallery"
    spec = importlib.util.spec_from_file_location("gallery_build", folder / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


build = _gallery()
ITEMS = {item["id"]: item for item in recorded.document("seeds_audit")}
# A claim given as arithmetic, which is spelled out.
SPELLED_OUT = {"S0-05"}
# Recorded terms in numbers, or in letters of another layer than the right one; their values are compared all the same.
IN_NUMBERS = {"S4-08", "S4-09", "SUM-07", "SUM-13"}


def test_none_is_dropped() -> None:
    """Each claim has exactly one entry, and no entry is about nothing."""
    answered = [*build.COUNTS, *build.VALUES, *build.OUTSIDE, *build.QUESTIONS]
    assert len(answered) == len(set(answered))
    assert set(answered) == set(ITEMS)
    assert len(ITEMS) == 249


@pytest.mark.parametrize("name", build.COUNTS)
def test_counts(name: str) -> None:
    """The layer's count is the right value, and a claim that differs from it is explained by a term of the recorded value."""
    item = ITEMS[name]
    layer = build.sized(item, build.layer_of(item))
    assert layer.count == item["correct_value"]
    if item["claim_value"] in {None, layer.count}:
        return
    claim = build.claim_of(item)
    answers = ps.reconcile(layer, claim)
    assert answers, f"{name}: {item['explaining_term']}"
    if isinstance(claim, str) and name not in SPELLED_OUT:
        assert answers[0].term == 0
        return
    assert answers[0].difference == item["explaining_value"]
    if name not in IN_NUMBERS:
        letters = {symbol: ps.dims(symbol) for symbol in "VPTHFLACKkDYMN"}
        letters |= {"n": ps.P, "d": ps.H} if name.startswith("S2") else {}
        term = expand(formula(item["explaining_term"], letters))
        assert term in [expand(answer.term) for answer in answers[:3]]


@pytest.mark.parametrize("name", [*build.VALUES, *(name for name, (_, call) in build.OUTSIDE.items() if call)])
def test_values(name: str) -> None:
    """The call gives the recorded value: a shape, a number of neurons, a ratio."""
    call = build.VALUES[name] if name in build.VALUES else build.OUTSIDE[name][1]
    assert build.evaluate(call, ITEMS[name]) == _plain(ITEMS[name]["correct_value"])


@pytest.mark.parametrize("name", build.QUESTIONS)
def test_questions(name: str) -> None:
    """The computed value of a question is the recorded one, and its answer is filled in."""
    value, words = build.QUESTIONS[name]
    assert build.evaluate(value, ITEMS[name]) == _plain(ITEMS[name]["correct_value"])
    answer = build.answer(words, ITEMS[name])
    assert len(answer) > 40
    assert "{" not in re.sub(r"\$[^$]*\$", "", answer).replace("{0..L-1}", "")  # braces belong in formulas alone


@pytest.mark.parametrize("name", build.NETWORKS)
def test_networks(name: str) -> None:
    """The call about a convolutional network gives what the source outside has, and the words are filled in."""
    said = build.NETWORKS[name]
    assert build.evaluate(said.call, {"symbols": None}) == said.value
    assert said.verdict in build._VERDICTS.values()
    words = build.answer(said.words, {"symbols": None})
    assert "{" not in re.sub(r"\$[^$]*\$", "", words)


def test_outside_has_reasons() -> None:
    """Whatever is outside says why."""
    assert all(len(reason) > 20 for reason, _ in build.OUTSIDE.values())


@cases(0)
def test_page() -> None:
    """The page holds every claim under a topic, the call behind every answer, and none of the numbers that the record gives its claims."""
    page = build.page()
    entries = page.split("\n### ")[1:]
    assert len(entries) == len(ITEMS) + len(build.NETWORKS)
    assert not re.search(r"(?m)\b(S\d|SUM|Q)-\d\d\b", page)
    outside = page.index("## Outside the library")
    for entry in page[:outside].split("\n### ")[1:]:
        assert re.search(r"`(.*ps\..*|matlab_net\(.*|volumes\(.*|entries\(.*|alexnet\(.*|[\d*+()]+)`|```py", entry), entry


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, list) else value
