"""The law that joins the two statements: what a layer stores, its forward pass reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from laws.test_shapes import inputs
from strategies import layer_classes, layers

import paramsym as ps
from paramsym.program.graph import Call, Loop, Program, Route, bodies, label
from paramsym.program.lookups import Stored

OPAQUE = {"Block"}  # it states no forward pass
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


@pytest.mark.parametrize("cls", [cls for cls in layer_classes() if cls.__name__ not in OPAQUE], ids=lambda cls: cls.__name__)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_stored_parameter_is_read(cls: type[ps.Layer], data: st.DataObject) -> None:
    """A tensor that the forward pass forgets would be counted and never used."""
    layer = data.draw(layers(cls))
    shapes = inputs(layer)
    wanted = {_unnumbered(line.name) for line in layer.lines if not line.buffer} - UNREAD.get(cls.__name__, set())
    if not shapes:
        return
    read = {_unnumbered(path) for path in stored(ps.trace(layer, shapes[0]))}
    # torch's recurrent layers number the levels inside the names of the tensors, so that a level adds no name of its own.
    assert not {name for name in wanted if not any(path == name or path.endswith(f".{name}") for path in read)}
