"""timm's classes: the arguments of a constructor, read when a configuration changes more of an architecture than its input and its head.

``classes/names.json.gz`` has, for each class, the defaults of its constructor, the keys that take one value for all entries of a list, and
the lengths of its lists for which there is a record, for each style; and of each architecture its class, its style, the arguments that
timm's function passes, and those for which the function takes no other value. A style is a set of layers, such as the kind of block, which
JSON cannot state::

    {"format": 1, "reference": "timm 1.0.31",
     "classes": {class: {"defaults": {key: value}, "spread": [key, ...], "styles": {style: {label: {key: length}}}}},
     "names": {name: [class, style, {key: value}, [key, ...]]}, "refused": {class: reason}}

The type of a record is ``timm/CLASS/LABEL``; those of a class are in one file, one a line. Each entry of a list is a key of its own in a
record, ``depths_0``, and the sides of the image are ``img_height`` and ``img_width``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from paramsym.atlas.expression import OutsideError
from paramsym.atlas.files import TIMM, index_of, record_of
from paramsym.atlas.record import RecordError
from paramsym.atlas.timm import SIDES, timm_arguments
from paramsym.atlas.values import shown

SIZE = "img_size"


@cache
def timm_classes_index() -> Mapping[str, Any]:
    """Return the classes and the architectures that are read by them.

    Raises:
        RecordError: the file is damaged.
    """
    index = index_of("timm/classes/names.json.gz", "classes", "names", "refused")
    for name, entry in index["names"].items():
        if not (isinstance(entry, list) and len(entry) == 4 and entry[1] in index["classes"].get(entry[0], {"styles": ()})["styles"]):
            raise RecordError(f"the index of timm's classes has an unknown class for {name!a}; install the library again.")
    return index


def class_type(config: Mapping[str, Any], name_type: str) -> str | None:
    """Return the type of the record of the class if a configuration has other arguments than the record of its architecture.

    None without such an argument, or for an architecture whose class has no record.

    Raises:
        RecordError: lists of lengths that were not verified.

    >>> class_type({"architecture": "vit_tiny_patch16_224", "model_args": {"depth": 8}}, "timm/vit_tiny_patch16_224")
    'timm/VisionTransformer/0'
    """
    arguments, name = config.get("model_args"), name_type.removeprefix(TIMM)
    index = timm_classes_index()
    if not isinstance(arguments, Mapping) or name not in index["names"]:
        return None
    (of_name,) = record_of(name_type)["classes"].values()
    if all(key == SIZE or key in of_name["keys"] for key, value in arguments.items() if value is not None):
        return None
    named, style, passed, _ = index["names"][name]
    of_class = index["classes"][named]
    given = {**of_class["defaults"], **passed, **{key: value for key, value in arguments.items() if value is not None}}
    lists = {key: len(value) for key, value in given.items() if isinstance(value, list | tuple) and key != SIZE}
    labels = of_class["styles"][style]
    for label, lengths in labels.items():
        if all(lengths.get(key) == length for key, length in lists.items()):
            return f"{TIMM}{named}/{label}"
    known = [{key: length for key, length in lengths.items() if key != SIZE} for lengths in labels.values()]
    said = " or ".join(", ".join(f"{key} {length}" for key, length in one.items()) or "none" for one in known)
    got = ", ".join(f"{key} {length}" for key, length in lists.items())
    raise RecordError(f"the lists of {name} have these lengths: {got}; verified are {said}.")


def class_keys(config: Mapping[str, Any], name_type: str, record: Mapping[str, Any], of_names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a record's keys: the class's defaults, then what timm's function passes, then what the configuration gives.

    Raises:
        OutsideError: a key that timm's configurations do not have, or a value of another kind.
    """
    name = name_type.removeprefix(TIMM)
    named, _, passed, closed = timm_classes_index()["names"][name]
    of_class = timm_classes_index()["classes"][named]
    label = record["type"].rpartition("/")[2]
    lengths = next(styles[label] for styles in of_class["styles"].values() if label in styles)
    given, sides = timm_arguments(config, of_names)
    taken = next((key for key in given if key in closed), None)
    if taken is not None:
        raise OutsideError(f"timm's function for {name} gives {taken} itself, and takes no other value.")
    given = {**of_class["defaults"], **({} if sides is None else {SIZE: sides}), **passed, **given}
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key in lengths:
            found |= dict(_entries(key, _listed(key, value, lengths[key], of_class["spread"])))
        else:
            found[key] = value
    return found


def _listed(key: str, value: Any, length: int, spread: list[str]) -> list[Any]:
    if isinstance(value, list | tuple) and len(value) == length:
        return list(value)
    if isinstance(value, list | tuple | None) or key not in spread:
        raise OutsideError(f"{key} is {shown(value)}; wanted a list of {length}.")
    return [value] * length


def _entries(key: str, values: list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys of the entries of a list, with their values."""
    if key == SIZE:
        return zip(SIDES, values, strict=True)
    return ((f"{key}_{place}", value) for place, value in enumerate(values))
