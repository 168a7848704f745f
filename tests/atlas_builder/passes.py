"""One pass of the reference beside the computation of a record, at the configuration at which a form of it was recorded."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from atlas_builder.computing import with_buffers_in_place
from atlas_builder.reference import reference_of

from paramsym.atlas.building import recorded
from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import computed_types, packed_computations, path_of
from paramsym.atlas.letters import name_of
from paramsym.atlas.model import Recorded
from paramsym.atlas.record import plain, unpacked
from paramsym.atlas.values import recorded_value
from paramsym.measure.work_conventions import CONVENTIONS
from paramsym.read.computed import shown_as
from paramsym.read.loops import folded, numbered, without_copies_of_saved
from paramsym.read.playing import Player
from paramsym.read.recording import Called, Recording, Repeated
from paramsym.read.rolling import rolled
from paramsym.read.stacks import stacked
from paramsym.read.torch_recorder import recorded as recording_of
from paramsym.read.torch_source import TorchSource

_WINDOW = 6
"""A window that is shorter than all inputs."""
_LAYERS = 8
"""The number of layers of several kinds."""
WORK = [one.name for one in CONVENTIONS.values() if not one.blocks and one.recompute == "none"]
"""Conventions, without those that count repeated blocks only, or again: the reference's pass is not folded."""


@dataclass(frozen=True)
class Played(Recorded):
    """The record's tensors with one recorded pass of the reference."""

    computes = True  # type: ignore[assignment]
    inputs: ClassVar[Mapping[str, Any]] = {}  # type: ignore[assignment,misc]

    def forward(self, own: Any, *given: Any) -> Any:
        """Play the pass."""
        entries = tuple(own._layer.entries())
        return Player(self.__dict__["recording"], own._layer, TorchSource.operators, partial(shown_as, self), None, entries).play(given)


def rewritten(about: str | None, said: Callable[[str, Mapping[str, Any]], Iterator[str]]) -> None:
    """Change the forms of the types that a command names, or of all, in their files, and print what is said of each form."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("types", nargs="*", default=computed_types())
    for model_type in parser.parse_args().types:
        path = path_of(model_type)
        classes = plain(unpacked(path.read_bytes()))["classes"]
        for line in said(model_type, classes):
            print(line, flush=True)
        path.write_bytes(packed_computations(model_type, classes))


def configuration(form: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of keys at which a form was recorded."""
    names = {name_of(key): key for key in keys}
    found = {names[name]: number for name, number in form["base"].items() if name in names}
    found |= {key: recorded_value(values[0]) for key, values in form["held"].items() if values[0] is not None} | dict.fromkeys(
        form.get("needed", ()), 0
    )
    found |= {key: _WINDOW for _, key, _, _, _, beyond in form.get("windows", ()) if beyond}
    return found | {order["depth"]: _LAYERS for order in form.get("layers", ()) if order["depth"] in keys}


def model_at(model_type: str, name: str, point: Mapping[str, Any]) -> Any:
    """Return the reference's model of a configuration, on the meta device."""
    reference = reference_of(model_type, name)
    with torch.device("meta"):
        return reference.model_class(reference.config_class(**reference.arguments(point))).eval()


def recorded_like(
    computation: Computation, model: Any, given: Mapping[str, Any], entries: Mapping[str, Any] = MappingProxyType({})
) -> Recording:
    """Return a pass of the reference's model with loops and layers as a computation has them, so that the two have the same items.

    ``entries`` are those of buffers by name, if they are known.
    """
    found = with_buffers_in_place(rolled(without_copies_of_saved(recording_of(model, (), given))), model, entries)
    if computation.orders:
        return stacked(numbered(found)).recording
    return folded(found) if _repeats(computation.recording.top) else numbered(found)


def _repeats(called: Called) -> bool:
    return any(isinstance(one, Repeated) or (isinstance(one, Called) and _repeats(one)) for one in called.items)


def layer_at(model_type: str, name: str, computation: Computation, point: Mapping[str, Any]) -> Recorded:
    """Return the record's model of a configuration, with a computation."""
    layer, _, _ = recorded(reference_of(model_type, name).configuration(model_type, point), name)
    assert isinstance(layer, Recorded)
    layer.__dict__["_computations"] = (computation,)
    return layer


def layers_at(
    model_type: str, name: str, computation: Computation, point: Mapping[str, Any], model: Any, given: Mapping[str, Any]
) -> tuple[Recorded, Played]:
    """Return the record's model with a computation, and with the reference's pass for some arguments."""
    recording = with_buffers_in_place(without_copies_of_saved(recording_of(model, (), given)), model)
    layer = layer_at(model_type, name, computation, point)
    other = Played(*(getattr(layer, one) for one in ("model_type", "architecture", "values", "names", "numbers", "following")))
    other.__dict__["recording"] = recording
    return layer, other
