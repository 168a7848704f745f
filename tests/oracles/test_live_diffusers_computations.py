"""What diffusers' classes compute, beside the live networks: torch's counter at fresh sizes, and kept bytes of small networks."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amount import sample
from oracles.test_diffusers import diffusers

import paramsym as ps
from paramsym.atlas.computing import formed
from paramsym.atlas.diffusers import computed_by_diffusers
from paramsym.atlas.files import record_of
from paramsym.errors import ParamsymError
from paramsym.read.torch_watch import flat

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from atlas_builder.diffusers_reference import DiffusersReference  # noqa: E402 - it needs torch
from atlas_builder.inputs import STARTS, arrays  # noqa: E402 - it needs torch
from atlas_builder.networks import known  # noqa: E402 - it needs torch
from atlas_builder.passes import configuration  # noqa: E402 - it needs torch
from read.comparing import counted_on, kept  # noqa: E402 - it needs torch

FORMS = [(name, place) for name in computed_by_diffusers() for place, _ in enumerate(next(iter(known(name).values()))["forms"])]
_SMALL = (16, 32, 64)
_NUMBERS = 40_000_000


class Live:
    """One form beside diffusers' network: the configuration at which it was recorded."""

    def __init__(self, name: str, place: int) -> None:
        """Read the form."""
        diffusers()
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


@pytest.mark.parametrize(("name", "place"), sample(12, FORMS))
def test_the_counter(name: str, place: int) -> None:
    """FLOPs forward and both ways are those of torch's counter, for other inputs than the record was read with."""
    live, chance = Live(name, place), random.Random(f"{name} {place}")
    network = live.network("meta").eval()
    given, shapes = live.given(network, chance.choice((2, 6, 10)))
    try:
        found = tuple(ps.flops(live.model(), *shapes, way=way).total for way in ("forward", "both"))
    except ParamsymError as error:
        pytest.skip(str(error))
    assert found == counted_on(network, given), shapes


@pytest.mark.parametrize(("name", "place"), sample(12, FORMS))
def test_kept_bytes(name: str, place: int) -> None:
    """A pass in training keeps the bytes that autograd holds, or it is said that training is not known."""
    live = Live(name, place)
    live.shrink()
    model = live.model()
    if model.count > _NUMBERS:
        pytest.skip(f"{model.count:,} parameters take long")
    if any("." in one for one in live.inputs):
        pytest.skip("inputs in a dictionary")
    network = live.network("cpu").train()
    given, shapes = live.given(network, 0, "cpu")
    try:
        found = ps.activations(model, *shapes, convention="torch-sdpa-cpu", dtype="float32").total
    except ParamsymError as error:
        pytest.skip(str(error))
    assert found == kept(network, [], given)
