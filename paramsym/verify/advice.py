"""Advice about a failed comparison: other names for the same tensors, fused tensors, adapters, another framework.

Advice is given only if it was tried, or if the shapes show it; it changes no outcome.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from paramsym.core.layer import Layer
from paramsym.core.spelling import is_dropped_buffer, unwrapped
from paramsym.naming import some
from paramsym.verify.compare import TensorRow, seam, segments
from paramsym.verify.spelling import respelt
from paramsym.verify.stored import Shape, Stored

_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")
_ADAPTER = re.compile(r"(.*)\.lora_(?:A|embedding_A)(?:\..+)?")
_ELSEWHERE = frozenset({"kernel", "gamma", "beta", "embeddings", "embedding"})
"""The names of Keras and Flax for a tensor that torch calls weight or bias."""
_MOST_PARTS = 6  # the most tensors inside one


def advice(layer: Layer, names: Collection[str], stored: Stored, rows: Sequence[TensorRow]) -> Iterator[str]:
    """Yield sentences about changes with which more tensors would fit.

    ``names`` are the possible names of the layer's tensors, ``stored`` the compared tensors, ``rows`` the results.
    """
    missing = {row.name: row for row in rows if row.outcome == "missing"}
    unexpected = {row.name: row for row in rows if row.outcome == "unexpected" and row.name in stored.shapes}
    if not unexpected:
        yield from _frozen(layer, missing, rows)
        return
    same, said = respelt(stored, names) if missing else (stored, ())
    for note in said:
        yield f"{note}; rename='auto' reads such names."
    dropped = [name for name in unexpected if is_dropped_buffer(name)]
    if dropped:
        buffers = "a buffer that" if len(dropped) == 1 else "buffers that"
        yield f"{some(dropped)}: {buffers} older versions saved and the reference computes; rename='auto' leaves them out."
    before = [name for name in unexpected if ".original_module." in name]
    if before:
        yield f"{some(before)}: PEFT stores the original module as well as the copy that it trains (modules_to_save)."
    yield from _adapters({name: shape for name, shape in same.shapes.items() if name not in names})
    if missing:
        yield from _rules(_fused(missing, unexpected), "one stored tensor contains several of the layer")
        yield from _rules(_split(layer, missing, unexpected), "a tensor of the layer is stored in several parts")
        yield from _dialects(missing, unexpected)
    yield from _frozen(layer, missing, rows)


def _form(name: str) -> str:
    """Return a name with ``{}`` for each of its numbers, for a renaming table."""
    return _NUMBER.sub("{}", name)


def _adapters(others: dict[str, Shape]) -> Iterator[str]:
    found: dict[str, int] = {}
    for name, shape in others.items():
        inside = _ADAPTER.fullmatch(unwrapped(name))
        if inside is not None and shape:
            found.setdefault(_form(inside[1]), shape[0])
    for path, rank in list(found.items())[:2]:
        first = path.replace("{}", "0")
        yield f"there are low-rank adapters: put them in with layer.freeze().replace({path!r}, ps.LoRA(layer.part({first!r}), {rank}))."


def _frozen(layer: Layer, missing: dict[str, TensorRow], rows: Sequence[TensorRow]) -> Iterator[str]:
    """Explain missing tensors if they are exactly the frozen ones: a file may contain only trained tensors."""
    present = {row.name for row in rows if row.outcome == "equal"}
    if not missing or not present:
        return
    trained = {entry.name for entry in layer.entries() if entry.tensor.trainable}
    if not trained & missing.keys() and present <= trained:
        yield "all missing tensors are frozen in the layer: the source contains only trained tensors, as an adapter's file does."


def _rules(rules: Iterator[tuple[str, str | tuple[str, ...]]], words: str) -> Iterator[str]:
    """Write one renaming table, with one rule for all copies."""
    table = dict(rules)
    if table:
        yield f"{words}: write rename={table!r}."


def _scope(name: str, steps: int) -> str:
    return ".".join(name.split(".")[:-steps])


def _fused(missing: dict[str, TensorRow], unexpected: dict[str, TensorRow]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find stored tensors that join several missing ones of the same parent, in the layer's order."""
    groups: dict[tuple[str, str], list[TensorRow]] = {}
    for name, row in missing.items():
        groups.setdefault((_scope(name, 2), name.rpartition(".")[2]), []).append(row)
    for name, row in unexpected.items():
        group = groups.get((_scope(name, 2), name.rpartition(".")[2]), [])
        found = None if row.found is None else _together(group, row.found)
        if found:
            yield _form(name), tuple(_form(part.name) for part in found)


def _together(group: list[TensorRow], found: Shape) -> list[TensorRow]:
    for first in range(len(group)):
        for last in range(first + 2, min(len(group), first + _MOST_PARTS) + 1):
            parts = group[first:last]
            if seam([part.expected or () for part in parts], found) is not None:
                return parts
    return []


def _split(layer: Layer, missing: dict[str, TensorRow], unexpected: dict[str, TensorRow]) -> Iterator[tuple[str, str]]:
    """Find stored tensors that are the segments of a missing one: with the same shape, and named by the segment's first letter."""
    for entry in layer.entries():
        if entry.name not in missing:
            continue
        inside = dict(segments(entry))
        scope = _scope(entry.name, 1 if entry.name.rpartition(".")[2] not in {"weight", "bias"} else 2)
        around = [name for name in unexpected if not scope or name.startswith(f"{scope}.")]
        pairs = {
            label: [name for name in around if unexpected[name].found == shape and _called(name.removeprefix(scope).strip("."), label)]
            for label, shape in inside.items()
        }
        if pairs and all(len(names) == 1 for names in pairs.values()):
            yield from ((_form(names[0]), f"{_form(entry.name)}[{label}]") for label, names in pairs.items())


def _called(name: str, label: str) -> bool:
    return any(step.startswith((label, f"{label[0]}_")) or step == label[0] for step in name.split("."))


def _dialects(missing: dict[str, TensorRow], unexpected: dict[str, TensorRow]) -> Iterator[str]:
    there = dict.fromkeys(step for name in unexpected if (step := name.rpartition(".")[2]) in _ELSEWHERE)
    if there and not any(name.rpartition(".")[2] in _ELSEWHERE for name in missing):
        yield f"{', '.join(there)}: Keras and Flax call torch's weight or bias so; build the layer with dialect='keras' or 'flax'."
