"""Which model is meant: a config file, a directory, standard input, a family, a published size; and the sizes put in."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from sympy import Symbol

from paramsym import grammar
from paramsym.config import LARGEST_FILE, from_config, parse_config, read_config, reader_of
from paramsym.errors import ArgumentError, ConfigError, UnknownNameError
from paramsym.layer import Layer
from paramsym.models import FAMILIES, family_of, model_types
from paramsym.models.family import Family
from paramsym.naming import meant, nearest
from paramsym.size import Dim
from paramsym.sizing import published_sizes

_LITERALS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Source:
    """What a name or a path stands for: a configuration, or a model class that has none.

    Of a ``symbolic`` one only the flags are meant; its sizes stay letters. ``size`` is a published size of the class, by argument.
    """

    name: str
    config: Mapping[str, Any] | None = None
    model: type[Layer] | None = None
    size: Mapping[str, Any] | None = None
    symbolic: bool = False
    architecture: str | None = None


def load(text: str, architecture: str | None = None, strict: bool = False, assignments: Sequence[str] = ()) -> Layer:
    """Return the model that the text means, with sizes put in as ``NAME=VALUE`` says.

    Raises:
        UnknownNameError: neither a file nor a name that is known; a size the model does not have.
        ParamsymError: whatever is wrong with the configuration or the sizes.

    >>> load("bert", assignments=["F=4*H", "H=768"]).sizes
    {F: 3072, H: 768}
    """
    found = find(text)
    given: dict[str, str] = {}
    for assigned in assignments:
        name, value = grammar.assignment(assigned)
        if given.setdefault(name, value) != value:
            message = f"--set: {name} is given twice, as {given[name][:40]} and {value[:40]}."
            raise ArgumentError(message)
    chosen = architecture if architecture is not None else found.architecture
    if found.config is not None:
        return _configured(found, found.config, chosen, given, strict=strict)
    return _constructed(found, chosen, given)


def is_source(text: str) -> bool:
    """Say whether the text is a path or a name that is known."""
    try:
        find(text)
    except (UnknownNameError, ConfigError):
        return False
    return True


def find(text: str) -> Source:
    """Return what the text stands for; a file goes before a name.

    Raises:
        UnknownNameError: nothing of that name; the message has those that are nearest.

    >>> find("bert").symbolic, find("bert-base-uncased").config["hidden_size"]
    (True, 768)
    """
    if text == "-":
        return Source("standard input", _standard_input())
    if _holds_config(text):
        return Source(text, read_config(text))
    family = _family(text)
    if family is not None:
        return family
    for name, model in published(text):
        if meant(text, [name]):
            return _sized(name, model)
    if _exists(text) or text.endswith(".json"):
        return Source(text, read_config(text))  # which says what is missing
    near = nearest(text, [*model_types(), *FAMILIES, *(name for name, _ in published(text))])
    hint = f"did you mean {' or '.join(near)}?" if near else "see `paramsym families`."
    message = f"there is no file, family or published size {text[:60]!a}; {hint}"
    raise UnknownNameError(message)


def published(like: str = "") -> Iterator[tuple[str, type[Layer]]]:
    """Yield every published size with its model class; the families whose names stand in ``like`` come first, so that few are loaded."""
    plain = re.sub(r"[^a-z0-9]", "", like.lower())
    homes = sorted(FAMILIES, key=lambda home: not any(re.sub(r"[^a-z0-9]", "", word.lower()) in plain for word in _words(home)))
    for home in homes:
        module = import_module(f"paramsym.models.{home}")
        for cls in FAMILIES[home][0].split():
            model: type[Layer] = getattr(module, cls)
            for name in model.published:
                yield name, model


def _words(home: str) -> list[str]:
    return [home, *FAMILIES[home][0].split(), *FAMILIES[home][1].split()]


# Where a model comes from -----------------------------------------------------------------------------------------------------


def _exists(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def _holds_config(text: str) -> bool:
    try:
        return Path(text).is_file() or (Path(text) / "config.json").is_file()
    except (OSError, ValueError):
        return False


def _standard_input() -> Mapping[str, Any]:
    if sys.stdin is None or sys.stdin.closed:
        message = "standard input is closed; give the path of a config.json."
        raise ConfigError(message)
    binary = getattr(sys.stdin, "buffer", None)
    content = binary.read(LARGEST_FILE + 1) if binary is not None else sys.stdin.read(LARGEST_FILE + 1).encode()
    return parse_config(content, "standard input")


def _family(text: str) -> Source | None:
    """Return a family by its class's name, its ``model_type`` or its file's name."""
    for home, (classes, _) in FAMILIES.items():
        if text in classes.split():
            return _of_class(text, home, text)
    lowered = text.lower()
    for model_type in model_types():
        if lowered in {model_type, model_type.replace("-", "_"), model_type.replace("_", "-")}:
            if text in family_of(model_type).model.published:  # "gpt2" is a family and its smallest size; the class's name is the family
                return _sized(text, family_of(model_type).model)
            return Source(model_type, {"model_type": model_type}, symbolic=True)
    for home, (classes, _) in FAMILIES.items():
        names = {cls.lower(): cls for cls in classes.split()}
        if lowered == home or lowered in names:
            return _of_class(text, home, names.get(lowered, classes.split()[0]))
    return None


def _of_class(text: str, home: str, cls: str) -> Source:
    reader = next((family_of(one) for one in FAMILIES[home][1].split() if family_of(one).model.__name__ == cls), None)
    if reader is not None:
        return Source(text, {"model_type": reader.model_type}, symbolic=True)
    return Source(text, model=getattr(import_module(f"paramsym.models.{home}"), cls), symbolic=True)


def _sized(name: str, model: type[Layer]) -> Source:
    """Return a published size; its class is the one that its first published count is about."""
    size = model.published[name]
    claims = getattr(model, "claims", ())
    counted = [claim.counts for claim in claims if claim.name == name and claim.counts.isidentifier()]
    for reader in _readers(model):
        if not size.keys() <= reader.keys.keys() or (counted and not any(one in reader.architectures for one in counted)):
            continue
        # How many labels a head has is no part of a published size, so that a head with labels is no answer.
        architecture = next((one for one in counted if one in reader.architectures and one not in reader.labelled), reader.architectures[0])
        config = {"model_type": reader.model_type, **{key: _listed(value) for key, value in size.items()}}
        if _is_built(config, architecture):
            return Source(name, config, architecture=architecture)
    return Source(name, model=model, size=size)


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _is_built(config: Mapping[str, Any], architecture: str) -> bool:
    """Say whether the size alone makes a configuration; some need keys that are no arguments of the model."""
    try:
        from_config(config, architecture)
    except ConfigError:
        return False
    return True


def _readers(model: type[Layer]) -> Iterator[Family]:
    for model_type in model_types():
        if model.__name__ in FAMILIES[_home(model_type)][0].split() and family_of(model_type).model is model:
            yield family_of(model_type)


def _home(model_type: str) -> str:
    return next(home for home, (_, types) in FAMILIES.items() if model_type in types.split())


# From there to a layer --------------------------------------------------------------------------------------------------------


def _configured(found: Source, config: Mapping[str, Any], architecture: str | None, given: Mapping[str, str], *, strict: bool) -> Layer:
    reader = reader_of(config, architecture)
    changed, letters = dict(config), dict[str, str]()
    for name, value in given.items():
        key = _key(reader, name)
        letter = getattr(reader.keys.get(key), "letter", None)
        if not key:
            letters[name] = value
        elif found.symbolic and isinstance(letter, Symbol) and value not in _LITERALS:
            letters[letter.name] = value
        else:
            changed[key] = _literal(name, value, changed)
    model = from_config(changed, architecture, strict)
    have = {symbol.name for symbol in model.origin[0].symbols}
    for key, one in reader.keys.items():
        letter = getattr(one, "letter", None)
        if isinstance(letter, Symbol) and letter.name in letters.keys() - have:  # a size that the reference works out where it is not given
            changed[key] = 1 if found.symbolic else _literal(letter.name, letters.pop(letter.name), _numbers(model))
    if changed != config:
        model = from_config(changed, architecture, strict)
    return _put_in(model.origin[0] if found.symbolic else model, letters)


def _key(reader: Family, name: str) -> str:
    """Return the configuration's key of that name, in the spelling that the family reads; empty where there is none."""
    key = reader.aliases.get(name, name)
    return key if key in reader.keys or key == "num_labels" else ""


def _literal(name: str, value: str, names: Mapping[str, Any]) -> Any:
    if value in _LITERALS:
        return _LITERALS[value]
    numbers = {key: number for key, number in names.items() if isinstance(number, int) and not isinstance(number, bool)}
    number = grammar.read(value, numbers)
    if not isinstance(number, int):
        message = f"--set: {name} is {number}; a key of the configuration takes a number, true, false or null."
        raise ArgumentError(message)
    return number


def _numbers(model: Layer) -> dict[str, Dim]:
    return {symbol.name: size for symbol, size in model.sizes.items()}


def _constructed(found: Source, architecture: str | None, given: Mapping[str, str]) -> Layer:
    """Build a model that no configuration describes, such as one of torchvision's."""
    model = found.model
    assert model is not None  # noqa: S101 - a source is a configuration or a class
    flags: dict[str, Any] = {}
    plain = model()
    if architecture is not None:
        if not hasattr(plain, "architecture"):
            message = f"{model.__name__} has one architecture only; leave --architecture out."
            raise ArgumentError(message)
        flags["architecture"] = architecture
    for argument, value in (found.size or {}).items():
        held = getattr(plain, argument)
        if not _has_symbols(held) and held != value:
            flags[argument] = value
    root = model(**flags)
    base = published_sizes(model.__name__, model.published, found.name, lambda argument: getattr(root, argument)) if found.size else {}
    return _put_in(root.at(base) if base else root, given)


def _has_symbols(held: object) -> bool:
    return isinstance(held, Symbol) or (isinstance(held, tuple) and any(map(_has_symbols, held)))


# Sizes ------------------------------------------------------------------------------------------------------------------------


def _put_in(model: Layer, given: Mapping[str, str]) -> Layer:
    """Return the model with other sizes: a name in a value means its new size, in its own value the one before."""
    if not given:
        return model
    root, before = model.origin
    symbols = {symbol.name: symbol for symbol in root.symbols}
    for name in given:
        if name not in symbols:
            has = f"it has {', '.join(sorted(symbols))}" if symbols else "it has none"
            keys = [field.name for field in fields(root)]  # type: ignore[arg-type]
            near = nearest(name, keys, cutoff=0.8, most=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            message = f"--set: {type(root).__name__} has no size {name[:60]!a}; {has}, and the keys of its configuration.{hint}"
            raise UnknownNameError(message)
    old: dict[str, Dim] = {name: before.get(symbol, symbol) for name, symbol in symbols.items()}
    new: dict[str, Dim] = {}
    waiting: list[str] = []

    def value(name: str) -> Dim:
        if name not in given:
            return old[name]
        if name not in new:
            if name in waiting:
                message = f"--set: {' and '.join(sorted(waiting))} are given in terms of each other."
                raise ArgumentError(message)
            waiting.append(name)
            others = {other: value(other) for other in grammar.mentioned(given[name]) & symbols.keys() if other != name}
            new[name] = grammar.read(given[name], {**old, **others})
            waiting.remove(name)
        return new[name]

    sizes = {symbols[name]: value(name) for name in given}
    return root.at({**before, **sizes})
