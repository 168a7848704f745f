"""The models in the explorer: for each family the structures of its published sizes, in letters, and their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from sympy import Symbol

import paramsym as ps
from paramsym.algebra.symbols import BY_NAME
from paramsym.core.layer import class_name
from paramsym.errors import ParamsymError
from paramsym.loading import find
from paramsym.models import FAMILIES, family_of

HEADS = ("ForMaskedLM", "ForConditionalGeneration", "MTModel", "ForCausalLM", "LMHeadModel", "ForCTC", "ForImageClassification")
"""Endings of the classes that configurations usually name; for each model type the first one in the reference is used."""
MEANINGS = {
    "S": "sequence length",
    "S_d": "sequence length of the decoder",
    "B": "batch size",
    "B_v": "batch size of the images",
    "W": "width of an image or length of a signal",
}


@dataclass(frozen=True)
class Variant:
    """One structure, in letters: its named sizes, and the configurations that build it, by their ``model_type``."""

    root: ps.Layer
    sizes: dict[str, dict[str, int]] = field(default_factory=dict, compare=False)
    configs: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)

    @property
    def title(self) -> str:
        """The class's name, that of the reference if it has one."""
        return class_name(self.root)

    @cached_property
    def letters(self) -> tuple[Symbol, ...]:
        """The letters of the model, in the order of its arguments."""
        held = [symbol for one in fields(type(self.root)) for symbol in _symbols(getattr(self.root, one.name))]  # type: ignore[arg-type]
        rest = sorted(self.root.symbols, key=lambda symbol: symbol.name)
        return tuple(dict.fromkeys(symbol for symbol in (*held, *rest) if symbol in self.root.symbols))

    def argument(self, symbol: Symbol) -> str:
        """Return the argument with a letter, and the index in it if it has several; empty if none has it."""
        return next(_arguments(self.root, symbol), "")


def _arguments(layer: ps.Layer, symbol: Symbol) -> Iterator[str]:
    for one in fields(layer):  # type: ignore[arg-type]
        held = getattr(layer, one.name)
        if held == symbol:
            yield one.name
        elif isinstance(held, tuple) and symbol in held:
            yield f"{one.name}[{held.index(symbol)}]"
    for one in fields(layer):  # type: ignore[arg-type]
        held = getattr(layer, one.name)
        if isinstance(held, ps.Layer):
            yield from (f"{one.name}.{inner}" for inner in _arguments(held, symbol))


def _symbols(held: Any) -> Iterator[Symbol]:
    if isinstance(held, Symbol):
        yield held
    elif isinstance(held, tuple):
        for one in held:
            yield from _symbols(one)
    elif isinstance(held, ps.Layer):
        for one in fields(held):  # type: ignore[arg-type]
            yield from _symbols(getattr(held, one.name))


def meaning(name: str) -> str:
    """Return the library's meaning of a letter; empty for letters of only one model."""
    return MEANINGS.get(name) or (BY_NAME[name].meaning if name in BY_NAME else "")


def variants_of(name: str) -> list[Variant]:
    """Return the variants of the family whose class has this name, the published ones first."""
    types = next(types for classes, types in FAMILIES.values() if name in classes.split())
    model: type[ps.Layer] = getattr(ps.models, name)
    found = _published(model)
    for model_type in types.split():
        if family_of(model_type).model is model:
            _usual(model_type, found)
    return [*found.values()] or [Variant(model())]


def _published(model: type[ps.Layer]) -> dict[ps.Layer, Variant]:
    found: dict[ps.Layer, Variant] = {}
    published: Mapping[str, Any] = model.published
    for name in published:
        built, config = ps.load(name), find(name).config
        root, sizes = built.origin
        variant = found.setdefault(root, Variant(root))
        variant.sizes[name] = {symbol.name: int(size) for symbol, size in sizes.items()}
        if config is not None:
            variant.configs.setdefault(str(config["model_type"]), {**config, "architectures": [getattr(root, "architecture", "")]})
    return found


def _usual(model_type: str, found: dict[ps.Layer, Variant]) -> None:
    """Add the class that a configuration of this type usually names, with the reference's sizes, if no published size has that class."""
    reader = family_of(model_type)
    known = {variant.configs[model_type]["architectures"][0] for variant in found.values() if model_type in variant.configs}
    usual = next((name for end in HEADS for name in reader.architectures if name.endswith(end)), reader.architectures[0])
    for architecture in dict.fromkeys((usual, *(() if known else (reader.architectures[0],)))):
        config = {"model_type": model_type, "architectures": [architecture]}
        try:
            built = ps.from_config(config)
        except ParamsymError:  # a class whose configuration has no defaults
            continue
        root, sizes = built.origin
        variant = found.setdefault(root, Variant(root))
        variant.configs.setdefault(model_type, config)
        if not variant.sizes:
            variant.sizes[f"{model_type} (the reference's defaults)"] = {symbol.name: int(size) for symbol, size in sizes.items()}
