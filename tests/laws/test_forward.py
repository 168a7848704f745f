"""The law that joins the two statements: what a layer stores, its forward pass reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amount import ALL, cases, sample
from hypothesis import HealthCheck, given, settings, strategies as st
from laws.test_shapes import inputs
from strategies import layer_classes, layers, model_classes

import paramsym as ps
from paramsym.atlas.published import RECORDED_TYPES
from paramsym.models import family_of, model_types
from paramsym.program.graph import Call, Loop, Program, Route, bodies, label
from paramsym.program.lookups import Stored

OPAQUE = {"Block"}  # it states no forward pass
MOST_LINES = 30
UNUSED = {
    r"(^|\.)mask(ed)?_(token|spec_embed)$": "stands in the place of what is masked, which training does",
    r"\.encoder_attn(_layer_norm)?\.": "reads an encoder; a decoder alone has none to read",
    r"^(aux#|AuxLogits)\.": "scores that are added to the loss while training",
    r"^objective\.": "part of the loss",
}
"""Tensors of models that evaluation does not use, and why."""
UNREAD = {
    "ReversibleEmbedding": {"reverse_embeddings"},  # read where hidden states are the input, not indices
    "FastFeedForward": {"depth", "node_usage", "leaf_usage"},  # a number and two counters that the reference keeps beside its weights
}


def stored(program: Program, prefix: str = "") -> Iterator[str]:
    """Yield the paths of the tensors that a program reads."""
    for step in program.steps:
        match step.operation:
            case Stored(tensor=tensor):
                yield prefix + tensor.name
            case Call(name=name, body=body):
                yield from stored(body, _below(prefix, label(name)))
            case Loop(bodies=copies, shared=shared):
                for numbers, body in copies:
                    yield from stored(body, _below(prefix, label(numbers) if shared is None else shared))
            case Route(numbers=numbers, body=body):
                yield from stored(body, _below(prefix, str(numbers)))
            case operation:
                for body in bodies(operation):
                    yield from stored(body, prefix)


def _below(prefix: str, name: str) -> str:
    return f"{prefix}{name}." if name else prefix


def _unnumbered(path: str) -> str:
    return re.sub(r"\{[^}]*\}|\d+", "#", path)


@cases(1000)
@pytest.mark.parametrize("cls", [cls for cls in layer_classes() if cls.__name__ not in OPAQUE], ids=lambda cls: cls.__name__)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_stored_parameter_is_read(cls: type[ps.Layer], data: st.DataObject) -> None:
    """A tensor that the forward pass forgets would be counted and never used."""
    layer = data.draw(layers(cls))
    shape = next(inputs(layer), None)
    wanted = {_unnumbered(line.name) for line in layer.lines if not line.buffer} - UNREAD.get(cls.__name__, set())
    if shape is None:
        return
    read = {_unnumbered(path) for path in stored(ps.trace(layer, shape))}
    # torch's recurrent layers number the levels inside the names of the tensors, so that a level adds no name of its own.
    assert not {name for name in wanted if not any(path == name or path.endswith(f".{name}") for path in read)}


def unused(model: ps.Layer) -> set[str]:
    """Return the parameters of a model that its program does not read, in evaluation of the inputs that it states."""
    aliases = {_unnumbered(alias): _unnumbered(first) for alias, first in model.tied.items()}
    read = {aliases.get(path, path) for path in map(_unnumbered, stored(ps.trace(model)))}
    wanted = {_unnumbered(line.name) for line in model.lines if not line.buffer and not line.alias_of}
    return wanted - read


def check(model: ps.Layer, met: set[str]) -> None:
    """Fail for a parameter that is not read and not listed; remember which reasons were met."""
    for name in unused(model):
        reasons = [pattern for pattern in UNUSED if re.search(pattern, name)]
        assert reasons, f"{model}: {name} is stored and not read"
        met.update(reasons)


def test_every_parameter_of_a_model_is_read() -> None:
    """In letters, for every class of every family; each reason for an exception is needed."""
    met: set[str] = set()
    for model_type, architecture in sample(
        30, [(one, name) for one in (*model_types(), *RECORDED_TYPES) for name in family_of(one).architectures]
    ):
        extra: dict[str, Any] = {"out_indices": [3, 5, 7, 11]} if architecture == "BeitForSemanticSegmentation" else {}
        if model_type in RECORDED_TYPES and architecture.endswith("SequenceClassification"):
            extra = {"pad_token_id": 0}  # without it the reference takes one text only, and the record refuses
        check(ps.from_config({"model_type": model_type, **extra}, architecture).origin[0], met)
    for cls in sample(12, model_classes()):
        check(cls(), met)
    assert met == set(UNUSED) or not ALL


def test_no_forward_pass_is_long() -> None:
    """What is long belongs into parts, or into functions over the vocabulary; docstrings count."""
    house = Path(ps.__file__).parent
    lines = {
        f"{path.relative_to(house)}:{node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
        for room in ("layers", "models", "keras")
        for path in (house / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "forward"
    }
    assert len(lines) > 100
    assert {place: length for place, length in lines.items() if length > MOST_LINES} == {}
