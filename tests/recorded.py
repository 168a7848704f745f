"""The recorded facts: rows written by the frameworks themselves, and published claims; see ``facts/README.md`` for their sources."""

from __future__ import annotations

import gzip
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import paramsym as ps

FACTS = Path(__file__).parent / "facts"


@cache
def rows(name: str) -> list[dict[str, Any]]:
    """Return every row of one recorded file."""
    with gzip.open(FACTS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@cache
def document(name: str) -> Any:
    """Return one recorded JSON document."""
    with gzip.open(FACTS / f"{name}.json.gz", "rt", encoding="utf-8") as text:
        return json.load(text)


def parameters(row: dict[str, Any]) -> list[tuple[str, tuple[int, ...]]]:
    """Return names and shapes of the distinct parameters of a torch row, in storage order."""
    return [(name, tuple(shape)) for name, shape in row["params"]]


def persistent_buffers(row: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the buffers of a torch row that are in its state dict."""
    return {name: tuple(shape) for name, shape, _dtype, persistent in row["buffers"] if persistent}


def assert_reproduces(layer: Any, row: dict[str, Any], *, unsaved: bool = True) -> None:
    """Check names, shapes, order, buffers, ties and counts of a torch row; ``unsaved`` are the buffers that are in no file."""
    assert list(layer.shapes().items()) == parameters(row)
    assert layer.count == row["n_params"]
    assert layer.tied == row["tied"]
    counted, everything = layer.shapes(), layer.shapes(buffers=True)
    assert {name: shape for name, shape in everything.items() if name not in counted} == persistent_buffers(row)
    total = sum(layer.ledger(buffers=True).where(lambda line: line.buffer).polynomial().terms.values())
    assert total == (row["n_buffer_elems"] if unsaved else sum(map(math.prod, persistent_buffers(row).values())))


def torch_layer(row: dict[str, Any]) -> Any:
    """Build a row's layer; the encoder and decoder stacks describe their inner layer."""
    kwargs = dict(row["kwargs"])
    if row["layer"] in {"TransformerEncoder", "TransformerDecoder"}:
        if "layer_args" not in kwargs:  # the rows of costs: everything but the depth describes the inner layer
            depth = kwargs.pop("num_layers")
            return getattr(ps, row["layer"])(getattr(ps, row["layer"] + "Layer")(**kwargs), depth)
        inner = getattr(ps, row["layer"] + "Layer")(*kwargs.pop("layer_args"), **kwargs.pop("layer_kwargs"))
        norm = ps.LayerNorm(inner.d_model) if kwargs.pop("norm") else None
        return getattr(ps, row["layer"])(inner, kwargs.pop("num_layers"), norm=norm, **kwargs)
    return getattr(ps, row["layer"])(*row["args"], **kwargs)
