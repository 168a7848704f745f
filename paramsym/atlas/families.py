"""Families of models whose architecture is a record: each is a class whose arguments are the keys of its configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, make_dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import Count as Count, Dim as Dim, Shape  # noqa: PLC0414 - annotations of arguments name two of them
from paramsym.atlas.building import recorded
from paramsym.atlas.computing import keys_beside
from paramsym.atlas.domain import thawed
from paramsym.atlas.files import record_of
from paramsym.atlas.letters import name_of
from paramsym.atlas.model import Recorded
from paramsym.atlas.published import RECORDED, PublishedRecord, published_records
from paramsym.atlas.reading import values_of
from paramsym.atlas.values import Value, frozen_value
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError, ConfigError, ParamsymError


class Family(Layer):
    """A model of a recorded family, abstract: its fields are the keys of the reference's configuration, of all its classes.

    ``architecture`` is the reference's class. A size that is not given is a letter, unless it follows another key; it is None then. Other
    keys have the reference's default, and None if no tensor depends on them.

    Raises:
        ArgumentError: a class that the reference does not have, or a value for which the record was not verified.
        SizeError, DivisibilityError: sizes that the model cannot have.
        StructureError: sizes for which other tensors would exist.
    """

    architecture: str
    model_type: ClassVar[str]
    keys: ClassVar[Mapping[str, str]]
    """The key of each argument; a dot becomes an underscore."""
    usual: ClassVar[Mapping[str, Any]]
    """The default of each argument."""
    claims: ClassVar[Sequence[PublishedRecord]]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # the fields of a class that is made when it is used

    def __post_init__(self) -> None:
        own = _sizes(_in_letters(self.model_type, self.architecture, (), ""))
        for name, usual in self.usual.items():
            value = getattr(self, name)
            if value is None and usual is None and name in own:  # a size that only some classes have, such as the number of labels
                object.__setattr__(self, name, own[name])
            elif isinstance(value, list | dict):
                object.__setattr__(self, name, frozen_value(value))
        super().__post_init__()

    def conditions(self) -> None:
        """Build the record's model, which checks the values."""
        self.record  # noqa: B018

    @cached_property
    def record(self) -> Recorded:
        """The same model as the atlas has it."""
        given = {name: value for name, usual in self.usual.items() if repr(value := getattr(self, name)) != repr(usual)}
        sizes = {name: size for name, size in given.items() if isinstance(size, int | Expr) and not isinstance(size, bool) and size != 0}
        flags = {name: value for name, value in given.items() if name not in sizes}
        model = self._with(flags)
        if others := sizes.keys() - _sizes(model).keys():
            values, follow = {name_of(key): value for key, value in model.values}, dict(model.following)
            free = {one for one in others if one in follow or isinstance(sizes[one], Expr)}
            numbers = {one: (values.get(one) or model.tried(self.keys[one])) if one in free else sizes[one] for one in others}
            model = self._with(flags | numbers)
        own = _sizes(model)
        if fixed := [name for name in sizes if isinstance(sizes[name], Expr) and name not in own]:
            raise ArgumentError(f"{fixed[0]} is {sizes[fixed[0]]}; it takes no letter.")
        changed = {letter: size for name, letter in own.items() if (size := getattr(self, name)) != letter}
        return model.substituted({letter: Integer(size) if isinstance(size, int) else size for letter, size in changed.items()})

    def _with(self, values: Mapping[str, Value]) -> Recorded:
        """Return the record's model in letters, with these values of keys."""
        known = tuple(sorted((self.keys[name], value) for name, value in values.items()))
        return _in_letters(self.model_type, self.architecture, known, repr(known))

    def _symbols(self) -> frozenset[Symbol]:
        return self.record.symbols

    def parts(self) -> Sequence[Part]:
        """The parts of the record's model."""
        return self.record.own_parts

    def ties(self) -> Mapping[str, str]:
        return self.record.ties()

    @property
    def certificate(self) -> Mapping[str, Any]:
        """The tests that the class passed before it was added to the atlas."""
        return self.record.certificate

    @property
    def computed_as(self) -> Layer:
        """The record's model, which has the inputs and the forward pass."""
        return self.record

    @property
    def computes(self) -> bool:
        """Whether it is known what the class computes."""
        return self.record.computes

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The shapes of the inputs by name."""
        return self.record.inputs

    def forward(self, own: Any, *given: Any) -> Any:
        """Play what the reference's class computes."""
        return self.record.forward(own, *given)


def _sizes(model: Recorded) -> dict[str, Any]:
    """Return the letters of a model by the names of their keys, without those that follow another key."""
    return dict(zip(model.names, model.numbers, strict=True))


@lru_cache(maxsize=256)
def _in_letters(model_type: str, architecture: str, values: tuple[tuple[str, Value], ...], exactly: str) -> Recorded:
    """Return a model in letters, with the values of some keys; ``exactly`` distinguishes 1 and True.

    Raises:
        ArgumentError: a class without a record, or a value that was not verified.
    """
    del exactly
    config: dict[str, Any] = {"model_type": model_type}
    for key, value in values:
        *outer, last = key.split(".")
        inside = config
        for one in outer:
            inside = inside.setdefault(one, {})
        inside[last] = thawed(value)
    try:
        model: Any = recorded(config, architecture)[0].origin[0]
    except ConfigError as error:
        raise ArgumentError(str(error)) from None
    found: Recorded = model
    return found


@cache
def family_named(name: str) -> type[Family]:
    """Return the class of a recorded family.

    >>> family_named("Starcoder2")(use_bias=False).params
    2*F*H*L + 2*H**2*L + 4*H*L + H*V + 2*H + 2*G*H**2*L/A
    """
    model_type, paper = RECORDED[name]
    record = record_of(model_type)
    classes: Mapping[str, Any] = record["classes"]
    first = _in_letters(model_type, next(iter(classes)), (), "")
    usual: dict[str, Any] = {**_sizes(first), **{one: None for one, _ in first.following}}
    keys, domains = dict.fromkeys(usual, ""), dict[str, Any]()
    for architecture, entry in classes.items():
        values: dict[str, Any] = {**keys_beside(model_type, architecture), **values_of({}, record, entry).values}
        for key in (*entry["keys"], *sorted(values.keys() - entry["keys"].keys())):
            one, value = name_of(key), values.get(key)
            keys[one], domains[one] = key, entry["keys"].get(key, {}) | domains.get(one, {})
            if usual.get(one) is None and one not in dict(first.following):  # a size of some classes only is a letter of theirs
                usual[one] = value if type(value) is not int or architecture == first.architecture else None
    stated: list[Any] = [("architecture", Literal[tuple(classes)], field(default=first.architecture, kw_only=True))]
    stated += [(one, _hint(domains[one], usual[one]), field(default=usual[one], kw_only=True)) for one in keys]
    known = {one: claim for one, claim in published_records().items() if claim.config["model_type"] == model_type}
    about = f"{paper} and its heads, as the class ``architecture`` of {record['reference']} stores them."
    rest = {"model_type": model_type, "keys": keys, "usual": usual, "published": Published(known), "claims": tuple(known.values())}
    return make_dataclass(name, stated, bases=(Family,), frozen=True, namespace={"__module__": __name__, "__doc__": about, **rest})


def _hint(domain: Mapping[str, Any], usual: Any) -> str:
    """Return the annotation of an argument."""
    if isinstance(usual, bool | str):
        return type(usual).__name__
    if "whole" not in domain or "entries" in domain or "number" in domain:
        return "object"
    kind = "Dim" if domain["whole"][0] else "Count"
    return kind if isinstance(usual, Symbol) and "null" not in domain and None not in domain.get("words", ()) else f"{kind} | None"


def __getattr__(name: str) -> object:
    """Return the class of a recorded family by its name."""
    if name in RECORDED:
        return family_named(name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


class Published(Mapping[str, Mapping[str, Any]]):
    """The arguments of each published name of a recorded family, read when they are first used."""

    def __init__(self, known: Mapping[str, PublishedRecord]) -> None:
        """Keep the published configurations."""
        self.known = known

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        one = self.known[name]
        given = member(recorded(one.config, one.counts)[0]).arguments()[1]
        return {argument: value for argument, value in given.items() if argument != "architecture"}

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def member(model: Layer) -> Layer:
    """Return a model that was read from a record as one of its family, if it has one; a model with other tensors stays as it is."""
    name = next((one for one, (model_type, _) in RECORDED.items() if model_type == getattr(model, "model_type", "")), "")
    if not name or not isinstance(model, Recorded):
        return model
    family, values, sizes = family_named(name), dict(model.values), model.origin[1]
    letters = dict(zip(model.names, sizes, strict=True))
    given: dict[str, Any] = {"architecture": model.architecture}
    for one, key in family.keys.items():
        value = None if one in dict(model.following) else letters.get(one, values.get(key))
        if (key in values or one in model.names) and repr(value) != repr(family.usual[one]):
            given[one] = value
    try:
        found = _built(name, tuple(given.items()), repr(given)).at(sizes)
    except ParamsymError:
        return model
    same = found.record._exact == model._exact and found.record._patterns == model._patterns
    return found if same else model


@lru_cache(maxsize=64)
def _built(name: str, given: tuple[tuple[str, Any], ...], exactly: str) -> Family:
    del exactly
    family: Callable[..., Family] = family_named(name)
    return family(**dict(given))
