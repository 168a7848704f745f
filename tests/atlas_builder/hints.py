"""What the reference's source says of a key: the words and types that it may have."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator, Sequence
from functools import cache
from types import UnionType
from typing import Any

from transformers.activations import ACT2FN
from transformers.configuration_utils import ALLOWED_LAYER_TYPES

_FIRST = "gelu"
ACTIVATION = re.compile(r"(^|_)act(_|$)|activation|nonlinear")
_WORD = re.compile(r"""["']([A-Za-z][\w\-]{0,40})["']""")


def kinds_of(hint: Any) -> frozenset[type]:
    """Return the plain types that a hint allows, None's included."""
    found: set[type] = set()
    if hint is None or hint is type(None):
        found.add(type(None))
    elif isinstance(hint, type):
        found.add(hint)
    elif typing.get_origin(hint) is typing.Literal:
        found |= {type(value) for value in typing.get_args(hint)}
    elif typing.get_origin(hint) in {typing.Union, UnionType}:
        for inner in typing.get_args(hint):
            found |= kinds_of(inner)
    elif isinstance(typing.get_origin(hint), type):
        found.add(typing.get_origin(hint))
    return frozenset(found)


def hints_of(config_class: type) -> dict[str, Any]:
    """Return the hints of a configuration class and of those inside it, with dotted keys; of those that cannot be read, none."""
    try:
        found = typing.get_type_hints(config_class)
    except Exception:  # noqa: BLE001 - somebody else's annotations
        found = {key: hint for base in config_class.__mro__ for key, hint in getattr(base, "__annotations__", {}).items()}
    inside = {name: one for name, one in getattr(config_class, "sub_configs", {}).items() if one is not config_class}
    return {**found, **{f"{name}.{key}": hint for name, one in inside.items() for key, hint in hints_of(one).items()}}


def literals(hint: Any) -> list[str]:
    """Return the words that a hint lists."""
    if typing.get_origin(hint) is typing.Literal:
        return [value for value in typing.get_args(hint) if isinstance(value, str)]
    return [word for inner in typing.get_args(hint) for word in literals(inner)]


@cache
def source_of(module: Any) -> str:
    """Return a module's source."""
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):
        return ""


def words_near(key: str, sources: Sequence[str]) -> list[str]:
    """Return the words that stand beside a key in the sources: those that it is compared with."""
    found: dict[str, None] = {}
    plain = re.escape(key)
    for source in sources:
        for line in source.splitlines():
            if re.search(rf"\b{plain}\b", line) and re.search(r"==|!=|\bin\b|\[", line):
                found |= dict.fromkeys(word for word in _WORD.findall(line) if word != key)
    if key == "position_embedding_type":
        found |= dict.fromkeys(("nope", "rope", "absolute", "relative_key"))  # published files have these
    return list(found)[:12]


@cache
def activations() -> list[str]:
    """Return the reference's activations: after a first one those that store tensors, which are then among the few that are tried alone."""
    return sorted(ACT2FN, key=lambda word: (word != _FIRST, _stores_nothing(word), word))


def _stores_nothing(word: str) -> bool:
    try:
        module = ACT2FN[word]
    except Exception:  # noqa: BLE001 - some need arguments
        return False
    return not (hasattr(module, "state_dict") and module.state_dict())


def layer_words(default: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Return the words that the entries of a list of layers may be."""
    said = {word for source in sources for word in _WORD.findall(source) if word in ALLOWED_LAYER_TYPES}
    return sorted({*default, *(said if set(default) & set(ALLOWED_LAYER_TYPES) else ())})


def numbers_near(default: int) -> Iterator[int]:
    """Yield divisors and multiples of a number."""
    for value in (default // 2, default * 2, default // 4, default // 3, 1, 2, 3, 4, 6, 8, default // 8):
        if value > 0 and value != default:
            yield value
