"""The keys of a recorded family as a reader of configurations states them, for whoever describes them: the explorer and its rules."""

from __future__ import annotations

from typing import Any

from sympy import Symbol

from paramsym.algebra.symbols import dims
from paramsym.atlas.building import recorded
from paramsym.atlas.families import family_named
from paramsym.atlas.files import record_of
from paramsym.atlas.letters import letter_names
from paramsym.atlas.published import RECORDED
from paramsym.models.family import Family
from paramsym.models.key_kinds import Flag, Key, Real, Size, Sizes, Whole


class Told(Key):
    """A key with a value that is no size; the record says which values it may have."""

    default: Any = None

    def check(self, value: Any, where: str, sizes: Sizes, /) -> Any:
        del where, sizes
        return value


def reader_of(model_type: str) -> Family:
    """Return the keys of a recorded family.

    >>> reader_of("starcoder2").keys["hidden_size"].letter
    H
    """
    model = family_named(next(name for name, (its, _) in RECORDED.items() if its == model_type))
    record = record_of(model_type)
    classes: dict[str, Any] = record["classes"]
    domains = {key: domain for entry in reversed(classes.values()) for key, domain in entry["keys"].items()}
    letters = letter_names(domains)
    numbers: Any = dict(recorded({"model_type": model_type}, None)[0].values)  # type: ignore[attr-defined]
    keys: dict[str, Key] = {}
    for name, key in model.keys.items():
        usual, domain = model.usual[name], domains.get(key, {})
        if isinstance(usual, Symbol):
            keys[key] = Size(usual, numbers[key], domain["whole"][0])
        elif isinstance(usual, bool):
            keys[key] = Flag(default=usual)
        elif "number" in domain or "drop" in key:
            keys[key] = Real(0.0 if "drop" in key else 1.0)
        elif "whole" in domain:
            keys[key] = Whole(domain["whole"][1]) if domain.get("unused") else Size(dims(letters[key]), None)
        else:
            keys[key] = Told(default=usual)
    labelled = frozenset(name for name, entry in classes.items() if "num_labels" in entry["keys"])
    keys.pop("num_labels", None)
    return Family(model_type, model, tuple(classes), keys, labelled=labelled, aliases=record["aliases"])
