"""The models in the documentation's explorer: for each family the structures of its published sizes, in letters, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import paramsym as ps
from paramsym.atlas.published import RECORDED
from paramsym.errors import ParamsymError
from paramsym.explorer.variant import Variant
from paramsym.loading import find
from paramsym.models import FAMILIES, family_of

HEADS = ("ForMaskedLM", "ForConditionalGeneration", "MTModel", "ForCausalLM", "LMHeadModel", "ForCTC", "ForImageClassification")
"""Endings of the classes that configurations usually name; for each model type the first one in the reference is used."""


@dataclass(frozen=True)
class Structure:
    """One structure of a family: its variant, and the configurations that build it, by their ``model_type``."""

    root: ps.Layer
    sizes: dict[str, dict[str, int]] = field(default_factory=dict, compare=False)
    configs: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False)

    @property
    def variant(self) -> Variant:
        """What the page shows."""
        return Variant(self.root, self._python, sizes=self.sizes)

    @property
    def _python(self) -> str:
        published = next((name for name in self.sizes if "(" not in name), None)
        if published is not None:
            return f"ps.load({published!r})"
        config = next(iter(self.configs.values()), None)
        return f"ps.models.{type(self.root).__name__}()" if config is None else f"ps.from_config({config!r})"


def structures_of(name: str) -> list[Structure]:
    """Return the structures of the family whose class has this name, the published ones first."""
    types = RECORDED[name][0] if name in RECORDED else next(types for classes, types in FAMILIES.values() if name in classes.split())
    model: type[ps.Layer] = getattr(ps.models, name)
    found = _published(model)
    for model_type in types.split():
        if family_of(model_type).model is model:
            _usual(model_type, found)
    return [*found.values()] or [Structure(model())]


def _published(model: type[ps.Layer]) -> dict[ps.Layer, Structure]:
    found: dict[ps.Layer, Structure] = {}
    published: Mapping[str, Any] = model.published
    for name in published:
        built, config = ps.load(name), find(name).config
        root, sizes = built.origin
        structure = found.setdefault(root, Structure(root))
        structure.sizes[name] = {symbol.name: int(size) for symbol, size in sizes.items()}
        if config is not None:
            structure.configs.setdefault(str(config["model_type"]), {**config, "architectures": [getattr(root, "architecture", "")]})
    return found


def _usual(model_type: str, found: dict[ps.Layer, Structure]) -> None:
    """Add the class that a configuration of this type usually names, with the reference's sizes, if no published size has that class."""
    reader = family_of(model_type)
    known = {structure.configs[model_type]["architectures"][0] for structure in found.values() if model_type in structure.configs}
    usual = next((name for end in HEADS for name in reader.architectures if name.endswith(end)), reader.architectures[0])
    for architecture in dict.fromkeys((usual, *(() if known else (reader.architectures[0],)))):
        config = {"model_type": model_type, "architectures": [architecture]}
        try:
            built = ps.from_config(config)
        except ParamsymError:  # a class whose configuration has no defaults
            continue
        root, sizes = built.origin
        structure = found.setdefault(root, Structure(root))
        structure.configs.setdefault(model_type, config)
        if not structure.sizes:
            structure.sizes[f"{model_type} (the reference's defaults)"] = {symbol.name: int(size) for symbol, size in sizes.items()}
