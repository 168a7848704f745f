"""Declarations of a family's model class: a field states a key of the configuration, its letter, and the reference's default."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, MISSING, Field, field, fields, replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from sympy import Symbol

from paramsym.algebra.size import Dim, at_most, divides, symbols_in
from paramsym.algebra.symbols import N
from paramsym.atlas.losses import TASKS
from paramsym.atlas.published import published_in
from paramsym.core.declared import Declared
from paramsym.core.fields import field_names
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError
from paramsym.layers.normalization import LayerNorm, RMSNorm
from paramsym.models.activations import check_activation
from paramsym.models.family import Family, Nested
from paramsym.models.key_kinds import Function, Key, Size, Sizes

LANGUAGE = "Model ForCausalLM ForSequenceClassification ForTokenClassification ForQuestionAnswering"
"""The classes that most decoder-only language models have, without their prefix."""
Ignored: TypeAlias = Mapping[str, str]
_NONE: Mapping[str, Any] = MappingProxyType({})
_EPSILONS = ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "rms_norm_eps")


def key(
    how: Symbol | Key,
    default: int | None = None,
    *,
    least: int = 1,
    null: bool = False,
    only: tuple[str, ...] = (),
    of: str = "",
    divides: str = "",
    at_most: str = "",
    argument: Any = MISSING,
) -> Any:
    """Return a field that a configuration's key of the same name fills: a size by its letter, anything else by its ``Key``.

    ``default`` is the reference's. The constructor's default is the letter, for other keys the key's default, or ``argument``. ``of`` are
    the prefixes of the classes that have the key, if not all do: other classes refuse another value. ``divides`` and ``at_most`` name the
    field that a size divides or does not exceed.
    """
    how = how if isinstance(how, Key) else Size(how, default, least, null=null, only=only)
    own = how.unset() if argument is MISSING else argument
    return field(default=own, metadata={"key": how, "of": frozenset(of.split()), "divides": divides, "at most": at_most})


def classes(names: Mapping[str, str]) -> Any:
    """Return the field ``architecture``, by default the first class; ``names`` maps prefixes to the rest of the classes' names.

    >>> classes({"Mpt Opt": "Model ForCausalLM"}).metadata["classes"]["Opt"]
    ('OptModel', 'OptForCausalLM')
    """
    found = {one: tuple(one + rest for rest in ends.split()) for prefixes, ends in names.items() for one in prefixes.split()}
    return field(default=next(iter(found.values()))[0], kw_only=True, metadata={"classes": found})


class Model(Declared):
    """A reference's model, abstract: its fields are the keys of the reference's configuration, ``architecture`` the reference's class.

    ``num_labels`` is N where the class has labels and no number is given; ``labelled`` are the ends of such classes' names. With
    ``tie_word_embeddings`` an output matrix is the table of words. A family's docstring says how its members differ, and which errors it
    adds to these:

    Raises:
        DivisibilityError: heads that do not divide the hidden size, or key/value heads that do not divide the heads.
        SizeError: more experts used than stored.
        ArgumentError: an activation or architecture that the reference does not know, or an argument that the class does not have.
    """

    _: KW_ONLY
    architecture: str = ""
    num_labels: Dim | None = None

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    claims: ClassVar[Any] = ()
    labelled: ClassVar[tuple[str, ...]] = ("Classification",)
    heads: ClassVar[tuple[str, str]] = ("num_attention_heads", "hidden_size")
    """The fields of the number of heads and of the hidden size."""
    depth: ClassVar[str] = "num_hidden_layers"
    """The field of the number of layers."""
    reads: ClassVar[Mapping[str, Key]] = {}
    """Keys that are no arguments; the family's ``arrange`` makes arguments of them."""
    ignored: ClassVar[Ignored] = {}
    usual: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    def __init_subclass__(cls) -> None:
        """Write the declared classes into the annotation, so that every reader of a layer's fields knows the choice.

        A family's published sizes and counts are in the data file of its name, unless the family or its base says where.
        """
        declared = vars(cls).get("architecture")
        if isinstance(declared, Field):
            names = tuple(name for names in declared.metadata["classes"].values() for name in names)
            cls.__annotations__["architecture"] = Literal[names]
            if cls.published is Model.published:
                keys = {name: one.metadata.get("key") for name, one in vars(cls).items() if isinstance(one, Field)}
                inside: dict[str, Any] = {name: one.reader.model for name, one in keys.items() if isinstance(one, Nested)}
                cls.published, cls.claims = published_in(cls.__module__.removeprefix("paramsym.models."), **inside)
        super().__init_subclass__()

    def __post_init__(self) -> None:
        name: Any = self.architecture  # not yet checked
        if self.num_labels is None and isinstance(name, str) and name.endswith(self.labelled):
            object.__setattr__(self, "num_labels", N)
        super().__post_init__()

    def conditions(self) -> None:
        cls: type = type(self)
        for one, how in _limited(cls):
            value: Any = getattr(self, one.name)
            rest = one.metadata
            for word, condition in (("divides", divides), ("at most", at_most)):
                if rest[word]:
                    condition(value, getattr(self, rest[word]), one.name, rest[word])
            if isinstance(how, Function) and isinstance(value, str):
                check_activation(value, one.name)
            if rest["of"] and value != one.default and self.kind not in rest["of"]:
                raise ArgumentError(f"{one.name}={value!r}: {self.architecture} has no {one.name}.")

    def _symbols(self) -> Iterable[Symbol]:
        cls: type = type(self)  # without the letters of keys that only other classes have: this class refuses them
        foreign = {one.name for one, _ in _limited(cls) if one.metadata["of"] and self.kind not in one.metadata["of"]}
        return symbols_in(tuple(getattr(self, name) for name in field_names(cls) if name not in foreign))

    @classmethod
    def prefixes(cls) -> Mapping[str, tuple[str, ...]]:
        """Return the reference's classes by their prefix."""
        found: Mapping[str, tuple[str, ...]] = cls.__dataclass_fields__["architecture"].metadata["classes"]
        return found

    @classmethod
    def aliases(cls) -> Mapping[str, str]:
        """Return the names of keys that every configuration understands and this family spells differently."""
        spelt = zip(("num_attention_heads", "hidden_size", "num_hidden_layers"), (*cls.heads, cls.depth), strict=True)
        return {alias: name for alias, name in spelt if alias != name}

    @property
    def kind(self) -> str:
        """The prefix of the class's name: ``Qwen2`` of ``Qwen2ForCausalLM``."""
        return next((prefix for prefix, names in self.prefixes().items() if self.architecture in names), "")

    @property
    def task(self) -> str:
        """The head's task; empty for the base model."""
        return self.architecture.partition("For")[2]

    @property
    def usual_loss(self) -> str:
        """The reference's loss for the scores of tokens, by its name in ``conventions("losses")``; "none" without scores."""
        return TASKS.get(self.task, "none")

    @property
    def width(self) -> Dim:
        """The hidden size, under the family's name."""
        width: Dim = getattr(self, self.heads[1])
        return width

    normalised: ClassVar[type[LayerNorm | RMSNorm]] = LayerNorm

    def norm(self) -> Layer:
        """Return one normalisation of the hidden size, with the epsilon of the configuration."""
        return self.normalised(self.width, next(getattr(self, name) for name in _EPSILONS if hasattr(self, name)))

    def head_width(self) -> Dim:
        """Return the head size: the hidden size divided by the number of heads, unless it is given."""
        given: Dim | None = getattr(self, "head_dim", None)
        return divides(getattr(self, self.heads[0]), self.width, *self.heads) if given is None else given


@cache
def _keyed(cls: type) -> tuple[tuple[Field[Any], Key], ...]:
    """Return the fields that a configuration fills, with their keys."""
    return tuple((one, one.metadata["key"]) for one in fields(cls) if "key" in one.metadata)


@cache
def _limited(cls: type) -> tuple[tuple[Field[Any], Key], ...]:
    """Return the fields with a condition; cached, because models are built often."""
    asked = ("divides", "at most", "of")
    return tuple((one, how) for one, how in _keyed(cls) if isinstance(how, Function) or any(one.metadata[word] for word in asked))


def family(
    model_type: str,
    model: type[Model],
    prefix: str = "",
    defaults: Mapping[str, Any] = _NONE,
    arrange: Callable[[dict[str, Any], Sizes], None] | None = None,
    *,
    without: str = "",
    ignored: str | Ignored = "",
    usual: Mapping[str, tuple[Any, ...]] = _NONE,
    **own: Any,
) -> Family:
    """Return the reader of one ``model_type``, from the fields that its model class declares.

    ``prefix`` are the prefixes of its classes; empty for all. ``defaults`` are the reference's if they differ from the fields', or another
    ``Key``, also for keys that are not arguments; a size may be given by its letter. ``without`` names fields that the type does not read.
    """
    chosen = prefix.split() or [*model.prefixes()]
    architectures = tuple(name for one in chosen for name in model.prefixes()[one])
    typed: type = model
    keys = {one.name: how for one, how in _keyed(typed) if not one.metadata["of"] or one.metadata["of"].intersection(chosen)}
    keys |= model.reads
    lettered = {how.letter.name: name for name, how in keys.items() if isinstance(how, Size)}
    for given, value in defaults.items():
        name = lettered.get(given, given)
        keys[name] = value if isinstance(value, Key) else replace(keys[name], default=value)  # type: ignore[call-arg]
    for name in without.split():
        del keys[name]
    extra = {"belongs to a similar family, and this family does not read it": ignored} if isinstance(ignored, str) else ignored
    aliases = {**model.aliases(), **own.pop("aliases", {})}
    handled = {*keys, *aliases}
    return Family(
        model_type=model_type,
        model=model,
        architectures=architectures,
        labelled=frozenset(name for name in architectures if name.endswith(model.labelled)),
        keys=keys,
        aliases=aliases,
        ignored={reason: " ".join(_others(names, handled)) for reason, names in {**model.ignored, **extra}.items()},
        usual={name: values for name, values in {**model.usual, **usual}.items() if name not in handled},
        arrange=arrange,
        **own,
    )


def _others(names: str, handled: set[str]) -> Iterator[str]:
    return (name for name in names.split() if name not in handled)
