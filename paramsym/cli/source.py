"""The model that the command line names: what ``paramsym.load`` takes, or standard input; and the sizes put in with ``--set``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sympy import Symbol

from paramsym import loading
from paramsym.algebra import grammar
from paramsym.algebra.size import Dim
from paramsym.atlas.config_file import LARGEST_FILE, parse_config
from paramsym.atlas.timm import timm_type
from paramsym.config import from_config, in_letters_of, is_recorded, reader_of
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, ConfigError, UnknownNameError
from paramsym.loading import Found, constructed
from paramsym.models.family import Family
from paramsym.naming import nearest
from paramsym.program.statement import class_name

_LITERALS = {"true": True, "false": False, "null": None}


def load(text: str, architecture: str | None = None, strict: bool = False, assignments: Sequence[str] = ()) -> Layer:
    """Return the model that the text names, with the sizes of ``NAME=VALUE`` put in.

    Raises:
        UnknownNameError: neither a file nor a known name; a size that the model does not have.
        ParamsymError: any fault of the configuration or the sizes.

    >>> load("bert", assignments=["F=4*H", "H=768"]).sizes
    {F: 3072, H: 768}
    """
    found = find(text)
    given: dict[str, str] = {}
    for assigned in assignments:
        name, value = grammar.assignment(assigned)
        if given.setdefault(name, value) != value:
            raise ArgumentError(f"--set: {name} is given twice, as {given[name][:40]} and {value[:40]}.")
    chosen = architecture if architecture is not None else found.architecture
    if found.config is not None and is_recorded(found.config):
        return _recorded(found, found.config, chosen, given)
    if found.config is not None:
        return _configured(found, found.config, chosen, given, strict=strict)
    return _put_in(constructed(found, chosen), given)


def is_source(text: str) -> bool:
    """Whether the text is a path or a known name."""
    try:
        find(text)
    except (UnknownNameError, ConfigError):
        return False
    return True


def find(text: str) -> Found:
    """Return the model of a text: standard input for a dash, otherwise what ``paramsym.load`` takes.

    Raises:
        UnknownNameError: an unknown name; the message has the nearest ones.
    """
    return Found("standard input", _standard_input()) if text == "-" else loading.find(text)


def _standard_input() -> Mapping[str, Any]:
    if sys.stdin is None or sys.stdin.closed:
        raise ConfigError("standard input is closed; give the path of a config.json.")
    binary = getattr(sys.stdin, "buffer", None)
    content = binary.read(LARGEST_FILE + 1) if binary is not None else sys.stdin.read(LARGEST_FILE + 1).encode()
    return parse_config(content, "standard input")


# From there to a layer --------------------------------------------------------------------------------------------------------


def _configured(found: Found, config: Mapping[str, Any], architecture: str | None, given: Mapping[str, str], *, strict: bool) -> Layer:
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
        if isinstance(letter, Symbol) and letter.name in letters.keys() - have:  # a size that the reference computes if it is not given
            changed[key] = 1 if found.symbolic else _literal(letter.name, letters.pop(letter.name), _numbers(model))
    if changed != config:
        model = from_config(changed, architecture, strict)
    return _put_in(model.origin[0] if found.symbolic else model, letters)


def _recorded(found: Found, config: Mapping[str, Any], architecture: str | None, given: Mapping[str, str]) -> Layer:
    """Return a model of the atlas; a size may be given by its letter or by the key of the configuration."""
    root: Any = in_letters_of(config, architecture)
    letters = {symbol.name: symbol.name for symbol in root.symbols}
    if found.symbolic:
        letters |= {root.argument_of(symbol): symbol.name for symbol in root.symbols}
    changed = {name: _literal(name, value, config) for name, value in given.items() if name not in letters}
    if timm_type(config) and isinstance(config.get("model_args") or {}, Mapping):
        changed = {"model_args": {**(config.get("model_args") or {}), **changed}}
    model = (in_letters_of if found.symbolic else from_config)({**config, **changed}, architecture)
    return _put_in(model, {letters[name]: value for name, value in given.items() if name in letters})


def _key(reader: Family, name: str) -> str:
    """Return the configuration's key of that name, in the spelling that the family reads; empty if there is none."""
    key = reader.aliases.get(name, name)
    return key if key in reader.keys or key == "num_labels" else ""


def _literal(name: str, value: str, names: Mapping[str, Any]) -> Any:
    if value in _LITERALS:
        return _LITERALS[value]
    numbers = {key: number for key, number in names.items() if isinstance(number, int) and not isinstance(number, bool)}
    number = grammar.read(value, numbers)
    if not isinstance(number, int):
        raise ArgumentError(f"--set: {name} is {number}; a key of the configuration takes a number, true, false or null.")
    return number


def _numbers(model: Layer) -> dict[str, Dim]:
    return {symbol.name: size for symbol, size in model.sizes.items()}


# Sizes ------------------------------------------------------------------------------------------------------------------------


def _put_in(model: Layer, given: Mapping[str, str]) -> Layer:
    """Return the model with other sizes. A name in a value means its new size; in the value for that name itself, the old size."""
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
            message = f"--set: {class_name(root)} has no size {name[:60]!a}; {has}, and the keys of its configuration.{hint}"
            raise UnknownNameError(message)
    old: dict[str, Dim] = {name: before.get(symbol, symbol) for name, symbol in symbols.items()}
    needs = {name: (grammar.mentioned(text) & given.keys()) - {name} for name, text in given.items()}
    new: dict[str, Dim] = {}
    try:
        for name in TopologicalSorter(needs).static_order():
            new[name] = grammar.read(given[name], {**old, **new})
    except CycleError as error:
        message = f"--set: {' and '.join(sorted({*error.args[1]}))} are defined by each other; give one of them as a number."
        raise ArgumentError(message) from None
    return root.at({**before, **{symbols[name]: new[name] for name in given}})
