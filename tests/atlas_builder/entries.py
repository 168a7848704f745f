"""Find the rules of arrays that a model computes from sizes alone: ``PYTHONPATH=tests python -m atlas_builder.entries glm4 TYPE``.

A class of the reference is recorded once more with the entries of its buffers, beside the record's computation. The rules of all arrays
that agree at two lengths are kept if ``ps.run`` then gives what the reference gives, with the same random tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from atlas_builder.inputs import FLOATS, STARTS
from atlas_builder.passes import configuration, model_at, recorded_like, rewritten
from atlas_builder.rates import Beside
from atlas_builder.reference import reference_of
from atlas_builder.words import arguments
from oracles.live_runs import agrees
from torch.overrides import TorchFunctionMode

from paramsym.atlas.computing import Computation, formed
from paramsym.atlas.files import record_of
from paramsym.read.made import Made


class _Weights(TorchFunctionMode):
    """Makes what is not filled on the meta device: weights, which need no entries here; buffers are computed."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in {torch.empty, torch.randn, torch.rand} and not kwargs.get("device"):
            kwargs["device"] = "meta"
        return func(*args, **kwargs)


def constants_at(model_type: str, name: str, computation: Computation, point: Mapping[str, Any], turn: int) -> dict[int, Any]:
    """Return the arrays of a recorded pass that are the constants of a computation, by their numbers there; None without entries."""
    reference = reference_of(model_type, name)
    with _Weights():
        filled = reference.model_class(reference.config_class(**reference.arguments(point)))
    entries = {one: _plain(tensor) for one, tensor in filled.named_buffers() if tensor.device.type != "meta"}
    model = model_at(model_type, name, point)
    given = arguments(model, computation, point)
    if turn and "S" in {axis for axes in computation.inputs.values() for axis in axes}:
        for one, axes in computation.inputs.items():
            shape = [STARTS["S"][0] + 3 if axis == "S" else size for axis, size in zip(axes, given[one].shape, strict=True)]
            given[one] = torch.zeros(shape, device="meta") if one in FLOATS else torch.zeros(shape, dtype=torch.long)
    again = recorded_like(computation, model, given, entries)
    beside = Beside(computation.recording, again)
    beside.places()
    return {number: again.constants[other].data for number, other in beside.constants.items()}


def _plain(tensor: Any) -> Any:
    return (tensor.float() if tensor.is_floating_point() else tensor).numpy()


def rules(entries: Any) -> Iterator[Made]:
    """Yield the rules that an array's entries follow."""
    array = np.asarray(entries)
    if (array == array.flat[0]).all() if array.size else True:
        yield Made("all", (array.flat[0].item() if array.size else 0,))
    if array.dtype.kind in "iu":
        for axis, size in enumerate(array.shape):
            made = Made("places", (axis, int(array.flat[0])))
            if size > 1 and (made.array(np, array.shape) == array).all():
                yield made
    if array.dtype.kind == "b" and array.ndim > 1:
        for most in (0, -1):
            if (Made("until", (most,)).array(np, array.shape) == array).all():
                yield Made("until", (most,))
    if array.dtype.kind == "f" and array.ndim == 1 and array.size > 1 and array[0] == 1:
        base = float(f"{math.exp(-math.log(float(array[-1])) * array.size / (array.size - 1)):.6g}")
        if np.allclose(Made("turns", (base,)).array(np, array.shape), array, rtol=2e-6):
            yield Made("turns", (base,))


def rooted(entries: Any, sizes: Sequence[Any], values: Mapping[str, int]) -> int | None:
    """Return the place of the size whose root a number is, within half a percent; None if it is no root."""
    if np.asarray(entries).size != 1:
        return None
    number = float(np.asarray(entries).flat[0])
    numbers = {place: values.get(size, 0) for place, size in enumerate(sizes) if isinstance(size, str)}
    return next((place for place, size in numbers.items() if size > 1 and abs(number - math.sqrt(size)) < math.sqrt(size) / 200), None)


def ruled(model_type: str, name: str, form: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[list[Any]] | str:
    """Return the constants of a form with their rules, as JSON; or why there are none."""
    computation = formed(inputs, form)
    base = configuration(form, record_of(model_type)["classes"][name]["keys"])
    first, second = (constants_at(model_type, name, computation, base, turn) for turn in (0, 1))
    found: list[list[Any]] = []
    for number in computation.recording.constants:
        one, other = first.get(number), second.get(number)
        if one is None or other is None:
            return f"no entries of array {number}, {computation.recording.constants[number]}"
        root = rooted(one, form["sizes"], form["base"])
        known = [*rules(other)]
        rule = next((made for made in rules(one) if made in known), None)
        if root is not None and one.dtype.kind == "f":
            found.append([number, "root", {"size": root}])
        elif rule is not None:
            found.append([number, rule.rule, *rule.numbers])
        else:
            return f"no rule of array {number}, {np.asarray(one).ravel()[:6]}"
    return found


def made(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Write the rules of constants into the forms of a type's classes; yield what was found."""
    for name, entry in classes.items():
        for form in entry["forms"]:
            form["recording"].pop("entries", None)
            try:
                found: Any = ruled(model_type, name, form, entry["inputs"])
                tried = {**form, "recording": form["recording"] | ({"entries": found} if found else {})}
                said = found if isinstance(found, str) else agrees(model_type, name, replace(formed(entry["inputs"], tried), dropout=()))
                form.update({} if said else tried)
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                said = f"{type(error).__name__}: {str(error)[:160]}"
            yield f"{model_type} {name} {form['held']}: {said or 'runs'}"


if __name__ == "__main__":
    rewritten(__doc__, made)
