"""The families as tables: all of them, and the classes and published sizes of one."""

from __future__ import annotations

from paramsym.atlas.computing import computed_networks, computed_types
from paramsym.atlas.files import diffusers_index, read_types, timm_index
from paramsym.atlas.published import RECORDED, RECORDED_TYPES, published_records
from paramsym.cli.source import find
from paramsym.config import architectures_of, is_recorded
from paramsym.errors import UnknownNameError
from paramsym.loading import published
from paramsym.models import FAMILIES, family_of, model_types
from paramsym.render.table import Table


def every_family() -> Table:
    """Return the families, the types of the atlas, and how many networks of timm there are."""
    rows = [(one, classes.replace(" ", ", "), "config.json") for classes, types in FAMILIES.values() for one in types.split()]
    rows += [(cls, cls, "by name only") for classes, types in FAMILIES.values() if not types for cls in classes.split()]
    rows += [(model_type, name, "config.json") for name, (model_type, _) in RECORDED.items()]
    rows.sort(key=lambda row: row[0].lower())
    only, whole = sorted({*read_types()} - {*model_types(), *RECORDED_TYPES}), {*computed_types()}
    atlas = [(one, "atlas" if one in whole else "tensors only: atlas", "config.json") for one in only]
    atlas += [(name, "tensors only: atlas", "config.json of diffusers") for name in sorted(diffusers_index()["classes"])]
    of_timm = f"timm/NAME for {len(timm_index()['modules'])} networks of timm ({len(computed_networks())} with forward passes)"
    caption = f"{len(rows)} families, {len(atlas)} more of the atlas ({len(whole.intersection(only))} with forward passes), and {of_timm}"
    return Table(("family", "model", "read from"), (*rows, *atlas), caption=caption)


def one_family(name: str) -> Table:
    """Return the classes and the published sizes of a family.

    Raises:
        UnknownNameError: a name that is no family.
    """
    found = find(name)
    if found.config is not None and is_recorded(found.config):
        rows = [("class", one) for one in architectures_of(found.config)]
        known, asked = published_records(), found.config.get("model_type")
        own = next((one for one, (its, _) in RECORDED.items() if its == asked), "")
        rows += [("published size", one) for one, published in known.items() if published.config["model_type"] == asked]
        return Table(("kind", "name"), tuple(rows), caption=f"{name}: {own or 'in the atlas'}")
    model_type = (found.config or {}).get("model_type")
    model = family_of(model_type).model if model_type in model_types() else found.model
    if model is None:
        raise UnknownNameError(f"{name[:60]!a} is not a family; see `paramsym families`.")
    rows = [("class", one) for one in family_of(model_type).architectures] if model_type in model_types() else []
    rows += [("published size", one) for one, its in published(name) if its is model]
    return Table(("kind", "name"), tuple(rows), caption=f"{name}: {model.__name__}")
