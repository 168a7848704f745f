"""Passes of the reference beside the recorded pass of a form, with the entries of arrays, at changed configurations."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from atlas_builder.inputs import FLOATS, STARTS
from atlas_builder.passes import configuration, model_at, recorded_like
from atlas_builder.rates import Beside, DifferentError
from atlas_builder.reference import flat, reference_of
from atlas_builder.words import arguments
from torch.overrides import TorchFunctionMode
from transformers.configuration_utils import PreTrainedConfig

from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import formed
from paramsym.atlas.files import record_of
from paramsym.atlas.values import Value
from paramsym.read.recording import Done


class _Weights(TorchFunctionMode):
    """Makes what is not filled on the meta device: weights, which need no entries here; buffers are computed."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in {torch.empty, torch.randn, torch.rand} and not kwargs.get("device"):
            kwargs["device"] = "meta"
        return func(*args, **kwargs)


@dataclass(frozen=True)
class Seen:
    """One pass: ``entries`` of constants, and ``steps``, both by the numbers of the form's recording; none without entries."""

    entries: Mapping[int, Any]
    steps: Mapping[int, Done]


class Search:
    """One form of a class, and the reference's passes beside it."""

    def __init__(self, model_type: str, name: str, form: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
        """Read the form of a file, and the class of the reference."""
        record = record_of(model_type)
        self.model_type, self.name, self.form = model_type, name, form
        self.computation: Computation = formed(inputs, form)
        self.keys: Mapping[str, Any] = {**record["extra"], **record["classes"][name]["keys"]}
        self.base = configuration(form, record["classes"][name]["keys"])
        self.reference = reference_of(model_type, name)

    def config(self, changed: Mapping[str, Value] | None = None) -> Any:
        """Return the reference's configuration."""
        return self.reference.config_class(**self.reference.arguments({**self.base, **(changed or {})}))

    @cached_property
    def resolved(self) -> dict[str, Value]:
        """The values of the configuration of the form."""
        return dict(flat(self.config()))

    @cached_property
    def first(self) -> Seen:
        """The pass of the form's configuration."""
        return self.seen()

    def buffers(self, changed: Mapping[str, Value] | None = None) -> dict[str, Any]:
        """Return the entries of what the model holds as buffers, by name."""
        with _Weights():
            filled = self.reference.model_class(self.config(changed))
        return {one: _plain(tensor) for one, tensor in filled.named_buffers() if tensor.device.type != "meta"}

    def seen(self, changed: Mapping[str, Value] | None = None, *, longer: bool = False) -> Seen:
        """Return the pass of a changed configuration, or of a longer text.

        Raises:
            DifferentError: other operators than those of the form.
        """
        for reverse in (None, False, True):
            with _in_order(sys.modules[self.reference.model_class.__module__], reverse), suppress(DifferentError):
                return self._seen(changed, longer=longer)
        return self._seen(changed, longer=longer)

    def _seen(self, changed: Mapping[str, Value] | None, *, longer: bool) -> Seen:
        point = {**self.base, **(changed or {})}
        model = model_at(self.model_type, self.name, point)
        given = arguments(model, self.computation, point)
        if longer and "S" in {axis for axes in self.computation.inputs.values() for axis in axes}:
            for one, axes in self.computation.inputs.items():
                shape = [STARTS["S"][0] + 3 if axis == "S" else size for axis, size in zip(axes, given[one].shape, strict=True)]
                given[one] = torch.zeros(shape, device="meta") if one in FLOATS else torch.zeros(shape, dtype=torch.long)
        again = recorded_like(self.computation, model, given, self.buffers(changed))
        beside = Beside(self.computation.recording, again)
        beside.places()
        steps = {
            beside.same[step.results[0].number]: step
            for step in again.top.steps()
            if step.results and step.results[0].number in beside.same
        }
        return Seen({number: again.constants[other].data for number, other in beside.constants.items()}, steps)

    def prefixes(self) -> Iterator[tuple[Any, str]]:
        """Yield the configurations inside that of the form, itself first, with what stands before their keys."""
        yield from _inside(self.config())


@contextmanager
def _in_order(module: Any, reverse: bool | None) -> Generator[None]:
    """Let a module of the reference go through sets in this order: that of the kinds of layers is another one in each process."""
    if reverse is None:
        yield
        return
    module.set = lambda given=(): sorted({*given}, reverse=reverse)
    try:
        yield
    finally:
        del module.set


def _inside(config: Any, prefix: str = "") -> Iterator[tuple[Any, str]]:
    yield config, prefix
    for key, value in vars(config).items():
        if isinstance(value, PreTrainedConfig):
            yield from _inside(value, f"{prefix}{key}.")


def _plain(tensor: Any) -> Any:
    return (tensor.float() if tensor.is_floating_point() else tensor).numpy()
