"""Find the rules of arrays that a model computes from sizes alone: ``PYTHONPATH=tests python -m atlas_builder.entries glm4 TYPE``.

A class of the reference is recorded once more with the entries of its buffers, beside the record's computation. The rules of all arrays
that agree at two lengths are kept if ``ps.run`` then gives what the reference gives, with the same random tensors.
"""

from __future__ import annotations

import math
import random
import warnings
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
from oracles.test_live_computations import class_of, drawn, small
from torch.overrides import TorchFunctionMode

import paramsym as ps
from paramsym.atlas.computing import Computation, formed
from paramsym.atlas.files import record_of
from paramsym.errors import NotYetError
from paramsym.read.made import Made

_NEAR = 1e-4
_DRAWS = 7
_MOST = 60_000_000
_SEEDS = 2


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


def rooted(entries: Any, sizes: Sequence[Any], values: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the places of sizes whose root a number is."""
    if np.asarray(entries).size == 1:
        for place, size in enumerate(sizes):
            number = values.get(size) if isinstance(size, str) else None
            if (
                number is not None
                and number > 1
                and abs(float(np.asarray(entries).flat[0]) - math.sqrt(number)) < 1e-2 * math.sqrt(number) / 2
            ):
                yield "root", place


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
        root = next(rooted(one, form["sizes"], form["base"]), None)
        known = [*rules(other)]
        rule = next((made for made in rules(one) if made in known), None)
        if root is not None and one.dtype.kind == "f":
            found.append([number, root[0], {"size": root[1]}])
        elif rule is not None:
            found.append([number, rule.rule, *rule.numbers])
        else:
            return f"no rule of array {number}, {np.asarray(one).ravel()[:6]}"
    return found


def agrees(model_type: str, name: str, computation: Computation, seed: int = 0, **given_keys: Any) -> str:
    """Return how ``ps.run`` differs from the reference at a drawn configuration with random tensors; nothing if it does not."""
    default = class_default(model_type)
    flags = {key: values[0] for key, values in computation.held.items() if isinstance(values[0], bool) and "." not in key}
    said, agreed = "no drawn configuration is known and small", 0
    for turn in range(_DRAWS):
        chance = random.Random(f"{model_type} {name} entries {seed} {turn}")
        keys = drawn(default, chance, turn) | (small(default, chance) if turn % 2 else {}) | flags | given_keys
        try:
            config = type(default)(**{**keys, "use_cache": False})
            made = class_of(default, name)
            with torch.device("meta"):
                if sum(one.numel() for one in made(config).parameters()) > _MOST:
                    continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                layer: Any = ps.from_config({"model_type": model_type, **keys}, name)
            if not computation.fits(layer._settled):
                continue
            layer.__dict__["_computations"] = (computation,)
            module = made(config).eval()
        except Exception:  # noqa: BLE001, S112 - one of the two does not take these
            continue
        torch.manual_seed(turn)
        with torch.no_grad():
            for tensor in module.parameters():
                tensor.uniform_(-0.3, 0.3) if tensor.ndim > 1 else tensor.uniform_(0.5, 1.5)
        tensors = {one: value.detach().numpy() for one, value in module.state_dict().items()}
        sizes = {"B": 2, "S": 7, "T": 5}
        shapes = {
            one: tuple(axis if isinstance(axis, int) else sizes.get(str(axis), 0) for axis in shape) for one, shape in layer.inputs.items()
        }
        if any(0 in shape for shape in shapes.values()):
            shapes = {one: tuple(size or 64 for size in shape) for one, shape in shapes.items()}
        given = {one: torch.rand(shape) if one in FLOATS else torch.randint(5, 60, shape) for one, shape in shapes.items()}
        try:
            mine = ps.run(
                layer,
                {one: value for one, value in tensors.items() if one in known_names(layer)},
                **{one: value.numpy() for one, value in given.items()},
            )
        except NotYetError as error:
            said = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        except Exception as error:  # noqa: BLE001 - an operator that NumPy refuses
            return f"{type(error).__name__}: {str(error)[:200]}"
        with torch.no_grad():
            its = module(**given)
        its = next(one for one in (its.to_tuple() if hasattr(its, "to_tuple") else its) if torch.is_tensor(one)).numpy()
        first = mine[0] if isinstance(mine, tuple) else mine
        if first.shape != its.shape:
            return f"shapes {first.shape} and not {its.shape}"
        difference = float(np.abs(first - its).max() / max(1.0, np.abs(its).max()))
        if not difference < _NEAR:
            return f"differs by {difference:.2g} at {keys}"
        agreed += 1
        if agreed == _SEEDS:
            return ""
    return "" if agreed else said


def known_names(layer: Any) -> set[str]:
    """Return the names of a layer's tensors, those of tied ones too."""
    return {entry.name for entry in layer.entries()} | {*layer.tied}


def class_default(model_type: str) -> Any:
    """Return the reference's default configuration."""
    from transformers import AutoConfig

    return AutoConfig.for_model(model_type)


def made(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Write the rules of constants into the forms of a type's classes; yield what was found."""
    for name, entry in classes.items():
        for form in entry["forms"]:
            form["recording"].pop("entries", None)
            try:
                found: Any = ruled(model_type, name, form, entry["inputs"])
                said = found
                if not isinstance(found, str):
                    form["recording"] |= {"entries": found} if found else {}
                    said = agrees(model_type, name, replace(formed(entry["inputs"], form), dropout=()))
                    if said:
                        form["recording"].pop("entries", None)
            except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                said = f"{type(error).__name__}: {str(error)[:160]}"
                form["recording"].pop("entries", None)
            yield f"{model_type} {name} {form['held']}: {said or 'runs'}"


if __name__ == "__main__":
    rewritten(__doc__, made)
