"""Find where classes drop entries in training, and by which keys' rates: ``PYTHONPATH=tests python -m atlas_builder.rates glm4 TYPE``.

A class of the reference is recorded in training, with another rate for each key of one. Beside the record's computation, which is that of
evaluation, its operators of dropout show their places, and their rates show the keys. Norms that take the statistics of the batch in
training are marked. If the kept bytes of all conventions are those of that pass, the form in the file says so.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast
from unittest import mock

import torch
from atlas_builder.passes import configuration, layers_at, model_at, recorded_like, rewritten
from atlas_builder.reference import reference_of
from atlas_builder.words import KEPT, arguments

import paramsym as ps
from paramsym.atlas.computation import Computation
from paramsym.atlas.computing import formed
from paramsym.atlas.domain import verified
from paramsym.atlas.dropout import Dropout
from paramsym.atlas.files import record_of
from paramsym.read.recording import Called, Done, Recording, Ref, Repeated
from paramsym.read.stacks import Stack
from paramsym.read.torch_watch import flat

_RATE, _SKIPPED, _PATHS = re.compile(r"drop"), re.compile(r"layer_?drop"), re.compile(r"drop_?(path|block)|patch_drop")
_ATTENTION, _NORM = "scaled_dot_product_attention", "native_batch_norm"
_FIRST, _STEP, _ALONE = 1 / 64, 1 / 128, 0.5
"""The rates of keys that a record takes at any number, each another one, and the rate of a key that it takes at few."""


class DifferentError(Exception):
    """How a pass in training differs from one in evaluation besides dropout."""


@dataclass
class Beside:
    """A recording in training beside one in evaluation: ``found`` are the places of dropout, with their rates.

    ``same`` are the arrays of training by number, ``constants`` those of evaluation: one of training may be several, one for each kind of
    layers. ``trained`` has whether norms take the statistics of the batch.
    """

    of: Recording
    training: Recording
    same: dict[int, int] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    found: list[tuple[Dropout, float]] = field(default_factory=list)
    trained: set[bool] = field(default_factory=set)

    def places(self) -> list[tuple[Dropout, float]]:
        """Return the places of dropout.

        Raises:
            DifferentError: other differences.
        """
        for one, other in zip(self.of.inputs, self.training.inputs, strict=True):
            self.same[other.number] = one.number
        self._called(self.of.top, self.training.top)
        if [self._number(one) for one in self.training.outputs] != [*self.of.outputs]:
            raise DifferentError("other outputs")
        if len(self.trained) > 1:
            raise DifferentError("some norms take the statistics of the batch")
        return self.found

    def _called(self, one: Called, other: Called) -> None:
        items, at = [item for item in one.items if not _empty(item)], 0
        index = {id(item): place for place, item in enumerate(one.items)}
        for item in _items(other):
            if isinstance(item, Done) and item.name == "dropout":
                number, (array,) = self._number(item.arguments["input"].number), item.results
                self.dropped.add(item.arguments["input"].number)
                self.same[array.number] = number
                before = index[id(items[at])] if at < len(items) else len(one.items)
                self.found.append((Dropout(one.path, before, number, (), 0.0), item.arguments["p"]))
                continue
            if isinstance(item, Done) and item.name == "add_" and _counts(self.training, item):
                continue
            if at == len(items) or type(items[at]) is not type(item):
                raise DifferentError(f"other operators in {one.path or 'the model'}")
            self._item(items[at], item)
            at += 1
        if at < len(items):
            raise DifferentError(f"fewer operators in {one.path or 'the model'}")

    def _item(self, one: Any, other: Any) -> None:
        if isinstance(one, Called):
            self._called(one, other)
        elif isinstance(one, Repeated):
            if len(one.calls) != len(other.calls):
                raise DifferentError("other copies")
            for mine, its in zip(one.calls, other.calls, strict=True):
                self._called(mine, its)
            for mine, its in zip(one.carried, other.carried, strict=True):
                if [*mine] != [(self._number(a), self._number(b)) for a, b in its]:
                    raise DifferentError("other arrays from copy to copy")
        elif isinstance(one, Stack):
            if len(one.kinds) != len(other.kinds):
                raise DifferentError("other kinds of layers")
            for mine, its in zip(one.kinds, other.kinds, strict=True):
                self._called(mine, its)
        else:
            self._done(one, other)

    def _done(self, one: Done, other: Done) -> None:
        if one.name != other.name or len(one.results) != len(other.results):
            raise DifferentError(f"{other.name} in place of {one.name}")
        self._arguments(dict(one.arguments), dict(other.arguments))
        if one.name == _NORM:
            self.trained.add(bool(other.arguments["training"]))
        for mine, its in zip(one.results, other.results, strict=True):
            self.same[its.number] = mine.number
        if one.name == _ATTENTION and other.arguments["dropout_p"]:
            self.found.append((Dropout(None, 0, one.results[0].number, (), 0.0), other.arguments["dropout_p"]))

    def _arguments(self, one: Any, other: Any) -> None:
        if isinstance(one, Ref) and isinstance(other, Ref):
            if one.number in self.of.constants and other.number in self.training.constants:
                if self.constants.setdefault(one.number, other.number) != other.number:
                    raise DifferentError("other constants")
                return
            if other.number not in self.same:  # a tensor
                self.same[other.number] = one.number
            if self._number(other.number) != one.number:
                raise DifferentError("other arrays")
        elif isinstance(one, Ref) or isinstance(other, Ref):
            raise DifferentError("other arguments")
        elif isinstance(one, Mapping):
            for name in one.keys() | other.keys():
                self._arguments(one.get(name), other.get(name))
        elif isinstance(one, tuple) and isinstance(other, tuple):
            if len(one) != len(other):
                raise DifferentError("other arguments")
            for mine, its in zip(one, other, strict=True):
                self._arguments(mine, its)

    def _number(self, number: int) -> int:
        if number in self.dropped:
            raise DifferentError("an array is used before and after dropout")
        return self.same[number]


def _empty(item: Any) -> bool:
    return isinstance(item, Called) and all(map(_empty, item.items))


def _counts(recording: Recording, step: Done) -> bool:
    """Whether an operator counts the batches of a norm, which only training does."""
    number = step.arguments["self"].number
    return any(name.endswith("num_batches_tracked") for name in recording.stored.get(number, ()))


def _items(called: Called) -> Iterator[Any]:
    """Yield the items of a module; of modules of dropout alone, what they do."""
    for item in called.items:
        inner = [*item.steps()] if isinstance(item, Called) else [item]
        if all(isinstance(one, Done) and one.name == "dropout" for one in inner):
            yield from inner
        else:
            yield item


@contextmanager
def _only_operators() -> Generator[None]:
    """Refuse functions with a backward pass of their own: these keep what they say, and not what their operators would.

    Raises:
        DifferentError: such a function.
    """

    def apply(kind: Any, *_: Any, **__: Any) -> Any:
        raise DifferentError(f"{kind.__name__} has a backward pass of its own")

    with mock.patch.object(torch.autograd.Function, "apply", classmethod(apply)):
        yield


@dataclass
class Rates:
    """The search for the rates of one form of a class."""

    model_type: str
    name: str
    form: Mapping[str, Any]
    computation: Computation
    undropped: Sequence[str] = ()
    trained: bool = False

    def __post_init__(self) -> None:
        record = record_of(self.model_type)
        self.domains = {**record.get("extra", {}), **record["classes"][self.name]["keys"]}
        self.base = configuration(self.form, record["classes"][self.name]["keys"])
        rates = [key for key in self.domains if _RATE.search(key) and key not in self.form["held"]]
        skipped = [key for key in rates if _SKIPPED.search(key) or key in self.undropped]
        self.keys = [key for key in rates if key not in skipped]
        self.base |= {key: 0.0 for key in skipped if verified(self.domains[key], 0.0)}
        numbers = {key: _FIRST + place * _STEP for place, key in enumerate(self.keys)}
        self.rates = {key: number for key, number in numbers.items() if verified(self.domains[key], number)}

    def model(self, rates: Mapping[str, float]) -> Any:
        """Return the reference's model in training."""
        return model_at(self.model_type, self.name, {**self.base, **rates}).train()

    def places(self, rates: Mapping[str, float]) -> dict[Dropout, float]:
        """Return the places of dropout with the rate at each."""
        model = self.model(rates)
        with _only_operators():
            training = recorded_like(self.computation, model, self.arguments(model))
        beside = Beside(self.computation.recording, training)
        found = dict(beside.places())
        self.trained = beside.trained == {True}
        return found

    def arguments(self, model: Any) -> dict[str, Any]:
        """Return the arguments of a pass."""
        return arguments(model, self.computation, self.base)

    def found(self) -> list[Dropout]:
        """Return the places of dropout with the keys of their rates."""
        usual = self.places({})
        every = self.places(self.rates) | {}
        by_rate = {number: key for key, number in self.rates.items()}
        keys: dict[Dropout, list[str]] = {one: [by_rate[rate]] if rate in by_rate else [] for one, rate in every.items()}
        for key in (one for one in self.keys if one not in self.rates and verified(self.domains[one], _ALONE)):
            changed = self.places({**self.rates, key: _ALONE})
            for one in [one for one, rate in changed.items() if rate == _ALONE and every.get(one) != _ALONE]:
                keys.setdefault(one, []).append(key)
        return [replace(one, keys=tuple(listed), default=usual.get(one, 0.0)) for one, listed in keys.items()]

    def differing(self, found: Sequence[Dropout], rates: Mapping[str, float]) -> str:
        """Return how a computation with dropout differs from the reference's in training; nothing if it does not."""
        computation, point = replace(self.computation, dropout=tuple(found)), {**self.base, **rates}
        model = self.model(rates)
        layer, other = layers_at(self.model_type, self.name, computation, point, model, self.arguments(model))
        shapes = [tuple(one.shape) for one in flat(self.arguments(model)) if torch.is_tensor(one)]
        for convention in KEPT:
            mine, its = (ps.activations(one, *shapes, convention=convention, dtype="float32").total for one in (layer, other))
            if mine != its:
                return f"{convention} keeps {mine} and not {its}"
        return ""


def with_norms(recording: Any, *, trained: bool) -> Any:
    """Return a recording of a file with batch norms marked as trained, or none of them."""
    if isinstance(recording, dict):
        return {key: with_norms(one, trained=trained) for key, one in recording.items()}
    if not isinstance(recording, list):
        return recording
    if recording[:1] == [_NORM]:
        name, arguments, *rest = recording
        arguments = {key: one for key, one in arguments.items() if key != "trained"}
        return [name, {**arguments, "trained": True} if trained and not arguments["training"] else arguments, *rest]
    return [with_norms(one, trained=trained) for one in recording]


def rated(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Say in the forms of a type's classes where training drops entries; yield what was found.

    A rate of whole paths may be another one for each layer, so that no loop has them: if need be, it is left at 0.
    """
    default = reference_of(model_type, next(iter(classes))).config_class()
    for name, entry in classes.items():
        for form in entry["forms"]:
            for key in ("dropout", "undropped"):
                form.pop(key, None)
            form["recording"] = with_norms(form["recording"], trained=False)
            domains = {**record_of(model_type).get("extra", {}), **record_of(model_type)["classes"][name]["keys"]}
            paths = [key for key in domains if _PATHS.search(key) and key not in form["held"] and hasattr(default, key)]
            said = _said(Rates(model_type, name, form, formed(entry["inputs"], form)), entry["inputs"])
            if said and paths:
                said = _said(Rates(model_type, name, form, formed(entry["inputs"], form), paths), entry["inputs"])
                form.update({} if said else {"undropped": {key: getattr(default, key) for key in paths}})
            without = f", without {', '.join(form['undropped'])}" if "undropped" in form else ""
            yield f"{model_type} {name} {form['held']}: {said or form['dropout']}{without}"


def _said(search: Rates, inputs: Mapping[str, Any]) -> str:
    """Say in a form what a search found; return why it says nothing."""
    form = cast("dict[str, Any]", search.form)
    try:
        found = search.found()
        recording = with_norms(form["recording"], trained=search.trained)
        search.computation = formed(inputs, {**form, "recording": recording})
        tried: list[Mapping[str, float]] = [{}, search.rates, *({key: rate} for key, rate in search.rates.items())]
        if wrong := next((wrong for one in tried if (wrong := search.differing(found, one))), ""):
            return wrong
    except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
        return f"{type(error).__name__}: {str(error)[:160]}"
    form["recording"] = recording
    form["dropout"] = [[one.path, one.index, one.number, list(one.keys), one.default] for one in found]
    return ""


if __name__ == "__main__":
    rewritten(__doc__, rated)
