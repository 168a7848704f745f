"""Forms of diffusers' classes beside the live networks, in a process of their own: the builder of the atlas changes torch and transformers.

``main`` takes what is compared and forms, and prints a line of JSON for each. Nothing of the builder is imported before, because pytest
looks into this module for examples.
"""

from __future__ import annotations

import json
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from operator import index
from typing import Any

import pytest

import paramsym as ps
from paramsym.atlas.computing import formed
from paramsym.atlas.files import record_of
from paramsym.errors import ParamsymError
from paramsym.read.torch_watch import flat

torch = pytest.importorskip("torch")

from read.comparing import counted_on, kept  # noqa: E402 - it needs torch

_SMALL = (16, 32, 64)
_NUMBERS = 40_000_000


class Live:
    """One form beside diffusers' network: the configuration at which it was recorded."""

    def __init__(self, name: str, place: int) -> None:
        """Read the form."""
        from atlas_builder.diffusers_reference import DiffusersReference
        from atlas_builder.networks import known
        from atlas_builder.passes import configuration

        (self.architecture,) = record_of(name)["classes"]
        (entry,) = known(name).values()
        form = entry["forms"][place]
        self.reference, self.inputs = DiffusersReference(name), formed(entry["inputs"], form).inputs
        self.point = configuration(form, record_of(name)["classes"][self.architecture]["keys"])
        self.letters, self.name = form["base"], name

    def model(self) -> Any:
        """Return the record's model."""
        return ps.from_config(self.reference.configuration(self.name, self.point))

    def network(self, device: str) -> Any:
        """Return diffusers' network."""
        with torch.device(device):
            return self.reference.model_class(self.reference.config_class(**self.reference.arguments(self.point)))

    def given(self, network: Any, more: int, device: str = "meta") -> tuple[dict[str, Any], list[tuple[int, ...]]]:
        """Return the arguments of a pass, and the shapes of the inputs."""
        from atlas_builder.inputs import STARTS, arrays

        sizes = {key.replace(".", "_"): value for key, value in self.point.items()}
        sizes |= {name: starts[0] + more for name, starts in STARTS.items() if name != "clip"} | {
            "clip": STARTS["clip"][0] + 4 * (more % 3)
        }
        given = arrays(network, dict(self.inputs), sizes, device)
        return given, [tuple(one.shape) for one in flat(given) if torch.is_tensor(one)]

    def shrink(self) -> None:
        """Make letters small where diffusers builds the network, and the record knows what it computes."""
        for key in [key for key in self.point if key.replace(".", "_") in self.letters]:
            before = self.point[key]
            for value in (one for one in _SMALL if one < before):
                self.point[key] = value
                try:
                    network = self.network("meta")
                    ps.flops(self.model(), *self.given(network, 0)[1])
                except Exception:  # noqa: BLE001 - somebody else's code may raise anything
                    self.point[key] = before
                else:
                    break


def counter(name: str, place: int) -> dict[str, Any]:
    """Compare FLOPs forward and both ways with torch's counter, for other inputs than the record was read with."""
    live, chance = Live(name, place), random.Random(f"{name} {place}")
    network = live.network("meta").eval()
    given, shapes = live.given(network, chance.choice((2, 6, 10)))
    try:
        found = [index(ps.flops(live.model(), *shapes, way=way).total) for way in ("forward", "both")]
    except ParamsymError as error:
        return {"refused": str(error)}
    return {"found": found, "wanted": [*counted_on(network, given)], "shapes": shapes}


def kept_bytes(name: str, place: int) -> dict[str, Any]:
    """Compare what a pass in training keeps with the bytes that autograd holds."""
    live = Live(name, place)
    live.shrink()
    model = live.model()
    if model.count > _NUMBERS:
        return {"skipped": f"{model.count:,} parameters take long"}
    if any("." in one for one in live.inputs):
        return {"skipped": "inputs in a dictionary"}
    network = live.network("cpu").train()
    given, shapes = live.given(network, 0, "cpu")
    try:
        found = index(ps.activations(model, *shapes, convention="torch-sdpa-cpu", dtype="float32").total)
    except ParamsymError as error:
        return {"refused": str(error)}
    return {"found": found, "wanted": kept(network, [], given), "shapes": shapes}


CHECKS: dict[str, Callable[[str, int], dict[str, Any]]] = {"counter": counter, "kept": kept_bytes}


def main(arguments: Sequence[str]) -> None:
    """Print what is found of each form and what is wanted, or why there is nothing to compare, or what failed."""
    from oracles.test_diffusers import diffusers

    check, *forms = arguments
    with redirect_stdout(sys.stderr):
        diffusers()
    for form in forms:
        name, _, place = form.rpartition(":")
        with redirect_stdout(sys.stderr):
            try:
                said = CHECKS[check](name, int(place))
            except Exception:  # noqa: BLE001 - the other forms are compared all the same
                said = {"failed": traceback.format_exc()}
        sys.stdout.write(json.dumps({"form": form, **said}) + "\n")
