"""See whether records say what the reference computes for one more position: ``PYTHONPATH=tests python -m atlas_builder.steps glm4 TYPE``.

A class of the reference is recorded with a cache of earlier positions. If all conventions of FLOPs and the returned cache are those that
the record's computation gives after these positions, its form in the file says so. A form of inputs that are longer than a window says what
their pass leaves in the cache, if that is what the form of shorter inputs says of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import torch
from atlas_builder.passes import WORK, configuration, layer_at, layers_at, model_at, rewritten
from transformers import DynamicCache

import paramsym as ps
from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import formed
from paramsym.atlas.files import record_of
from paramsym.read.recording import Recording, refs
from paramsym.read.torch_recorder import recorded as recording_of

_BATCH, _EARLIER, _LONG = 2, (7, 22), (9, 22)
_WINDOW = 5
"""A window that is shorter than what came before."""


def kept(recording: Recording) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the names and the shapes of the arrays that a pass keeps for the next one, in order."""
    steps = [*recording.top.steps()]
    shapes = {array.number: array.shape for step in steps for array in step.results}
    for step in steps:
        if step.name == "remember":
            (number,) = refs(step.arguments)
            yield str(step.arguments["name"]), shapes[number]


def filled(model: Any, before: int) -> Any:
    """Return the reference's cache after so many positions, on the meta device."""
    texts = torch.zeros((_BATCH, 3), dtype=torch.long)
    found = [*kept(recording_of(model, (), {"input_ids": texts, "use_cache": True}))]
    cache = DynamicCache(config=model.config)
    keys, values = ([shape for name, shape in found if name == one] for one in ("keys", "values"))
    for layer, (key, value) in enumerate(zip(keys, values, strict=True)):
        made = (torch.zeros((*shape[:-2], before, shape[-1]), device="meta") for shape in (key, value))
        cache.update(*made, layer)
    return cache


def differing(model_type: str, name: str, computation: Computation, point: Mapping[str, Any], before: int) -> str:
    """Return how a computation's step differs from the reference's, at a configuration; nothing if it does not."""
    try:
        model = model_at(model_type, name, point)
        given = {"input_ids": torch.zeros((_BATCH, 1), dtype=torch.long), "past_key_values": filled(model, before), "use_cache": True}
        layer, other = layers_at(model_type, name, computation, point, model, given)
        shape = (_BATCH, 1)
        for convention in WORK:
            mine = ps.flops(layer, shape, past=before, convention=convention).total
            its = ps.flops(other, shape, convention=convention).total
            if mine != its:
                return f"{convention} {mine} and not {its} after {before}"
        mine = ps.kv_cache(layer, shape, past=before).total
        its = sum(torch.Size(one).numel() for _, one in kept(other.__dict__["recording"]))
    except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
        return f"{type(error).__name__}: {str(error)[:160]}"
    return "" if mine == its else f"the cache has {mine} and not {its} after {before}"


def points(form: Mapping[str, Any], keys: Mapping[str, Any], windows: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield configurations of a form: that at which it was recorded, and one with short windows."""
    base = configuration(form, keys)
    yield base
    if windows:
        yield base | dict.fromkeys(windows, _WINDOW)


def caches(form: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Collection[str]]]:
    """Yield what may be said of the cache, with the windows that may limit it.

    If it is not known yet, a cache has all keys and values, or of some layers as many as a window says.
    """
    if form["cache"] is not False:
        yield dict(form), {key for _, key, _, _ in form.get("kept", ())}
        return
    windows = {window[1]: window[2] for window in form.get("windows", ())}
    yield {**form, "cache": True}, windows
    kinds = [None, *(kind for order in form.get("layers", ()) for _, _, kind in order["kinds"])]
    yield from (({**form, "cache": True, "kept": [[kind, *one, -1]]}, windows) for one in windows.items() for kind in kinds)


def left(model_type: str, name: str, computation: Computation, point: Mapping[str, Any], length: int) -> str:
    """Return how the cache after one pass over a long text differs from the reference's; nothing if it does not."""
    try:
        model = model_at(model_type, name, point)
        with torch.no_grad():
            layers = model(torch.zeros((_BATCH, length), dtype=torch.long), use_cache=True).past_key_values.layers
        layer = layer_at(model_type, name, computation, point)
        mine = ps.kv_cache(layer, (_BATCH, length)).total
    except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
        return f"{type(error).__name__}: {str(error)[:160]}"
    its = sum(one.keys.numel() + one.values.numel() for one in layers)
    return "" if mine == its else f"{length} positions leave {mine} and not {its}"


def leaving(model_type: str, name: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Say in the forms of long texts what their pass leaves in the cache; yield what was found."""
    keys = record_of(model_type)["classes"][name]["keys"]
    known = next((one for one in entry["forms"] if one.get("step") and one.get("kept")), None)
    for form in entry["forms"]:
        windows = {key for _, key, _, _, _, beyond in form.get("windows", ()) if beyond}
        if known is None or form["cache"] is not False or not windows:
            continue
        one = {**form, "cache": True, "kept": known["kept"]}
        computation = formed(entry["inputs"], one)
        tried = product(points(form, keys, windows), _LONG)
        said = next((wrong for each in tried if (wrong := left(model_type, name, computation, *each))), "")
        if not said:
            form.update(one)
        yield f"{model_type} {name} {form['held']} beyond {windows}: {said or 'leaves what is said'}"


def stepped(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Say in the forms of a type's classes which of them have steps, and keep keys and values; yield what was found."""
    for name, entry in classes.items():
        keys = record_of(model_type)["classes"][name]["keys"]
        for form in entry["forms"]:
            form.pop("step", None)
            said = "not after one text"
            if [*entry["inputs"]] == ["input_ids"] and form["cache"] is not None and not any(one[-1] for one in form.get("windows", ())):
                earlier = _EARLIER if form is entry["forms"][0] else _EARLIER[:1]
                for one, windows in caches(form):
                    here = replace(formed(entry["inputs"], one), step=True, dropout=())
                    tried = product(points(one, keys, windows), earlier)
                    said = next((wrong for each in tried if (wrong := differing(model_type, name, here, *each))), "")
                    if not said:
                        form.update(one, step=True)
                        break
            yield f"{model_type} {name} {form['held']}: {said or 'steps'}"
        yield from leaving(model_type, name, entry)


if __name__ == "__main__":
    rewritten(__doc__, stepped)
