"""Keys that a configuration class does not declare: other spellings of keys, and those that the class may read.

``PYTHONPATH=tests python -m atlas_builder.mentions led qwen3_next`` writes them into the records; ``all`` names every record. A published
``config.json`` often has keys of an older release. The reference takes any key. A model class reads those that were written down when it
was derived, and a configuration class those that its source names. These are tried here; any other key has no effect.
"""

from __future__ import annotations

import argparse
import ast
import logging
import os
import random
import re
import string
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import Any

import transformers
from atlas_builder.__main__ import DATA, file_in, record_in
from atlas_builder.halving import that_hold
from atlas_builder.hints import hints_of, kinds_of
from atlas_builder.reference import RefusedError, config_class_of, owners_by_class, reference_of, require_published
from atlas_builder.starts import STARTS
from transformers.configuration_utils import _LEGACY_LAYER_TYPE_REMAP, PreTrainedConfig

from paramsym.atlas.common_keys import USUAL
from paramsym.atlas.computation import FULL, KINDS, SLIDING
from paramsym.atlas.domain import verified
from paramsym.atlas.files import recorded_types
from paramsym.atlas.reading import known_to_all
from paramsym.atlas.record import packed, parsed
from paramsym.atlas.values import Value, frozen_value, object_of

_HOME = Path(transformers.__file__).parent
_LINEAR = object_of({"rope_type": "linear", "factor": 2.0})
_LLAMA3 = object_of(
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
)
_OBJECTS: tuple[Value, ...] = (("{}",), _LINEAR, _LLAMA3)
_VALUES: tuple[Value, ...] = (
    *(None, True, False, 0, 1, 24, 40, 4096, 0.0, 0.25, 0.5, 1.0, "default"),
    *((), (24, 40), *_OBJECTS),
)
_MOST_LAYERS = 512
_NOTHING = "zz_no_such_key"
_WINDOW = re.compile(r"(window|window_size|local_attention|attention_chunk_size)$")
_WINDOWS = (1, 3, 16, 512, 4096)
_FEWEST = 4
_BUILT: tuple[Value, ...] = (None, True, False, 0, 3, 0.5)
_SHARED = ("configuration_utils.py", "modeling_rope_utils.py", "backbone_utils.py", "utils/backbone_utils.py")
_MODELS = ("modeling_utils.py", "modeling_layers.py", "modeling_rope_utils.py", "backbone_utils.py")
_BASE, _LARGEST_BASE = "rope_theta", 1e15
_ROTATION = (_BASE, "rope_parameters", "rope_scaling")
"""Keys of the frequencies of a rotation, on which no tensor in a file depends."""
_FOR_OBJECTS = (*_ROTATION, "quantization_config")
"""Keys that may have any object."""
_SAVED = (*_ROTATION, "ignore_keys_at_rope_validation")
"""Attributes of all configurations that a file may have."""
_PYTHON = {"self", "cls", "kwargs", "args"}


# What the source names ----------------------------------------------------------------------------------------------------------


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def named_in(file: Path) -> frozenset[str]:
    """Return every word of a file that can be a key: attributes, arguments and short strings."""
    found: set[str] = set()
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg | ast.keyword):
            found.add(node.arg or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return frozenset(word for word in found if word.isidentifier())


@cache
def read_in(file: Path) -> frozenset[str]:
    """Return the words of a file that are read from something called a configuration, or with ``getattr``."""
    found: set[str] = set()
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Attribute) and _is_config(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.Subscript) and _is_config(node.value) and isinstance(node.slice, ast.Constant):
            found.add(str(node.slice.value))
        elif isinstance(node, ast.Call) and (
            (isinstance(node.func, ast.Name) and node.func.id in {"getattr", "hasattr", "setattr"})
            or (isinstance(node.func, ast.Attribute) and node.func.attr in {"get", "pop"})
        ):
            found.update(one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return frozenset(word for word in found if word.isidentifier())


def _is_config(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if isinstance(node, ast.Call):
        return _is_config(node.func)
    return bool(re.search(r"config|cfg|args", name))


@cache
def guarded_in(file: Path) -> frozenset[str]:
    """Return the keys that a file asks of a configuration that may not have them: with ``getattr`` or ``hasattr``."""
    return frozenset(
        str(node.args[1].value)
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"getattr", "hasattr"} and len(node.args) > 1
        if _is_config(node.args[0]) and isinstance(node.args[1], ast.Constant)
    )


@cache
def excusing_in(file: Path) -> frozenset[str]:
    """Return the keys of which a file asks whether a configuration does not have them; a key that it has can turn off a check of sizes."""
    calls = (node.operand for node in ast.walk(_tree(file)) if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
    return frozenset(
        str(call.args[1].value)
        for call in calls
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "hasattr"
        if isinstance(call.args[1], ast.Constant) and _is_config(call.args[0]) and "generation" not in ast.unparse(call.args[0])
    )


@cache
def _common() -> frozenset[str]:
    """Return what the files read that all configurations share."""
    return frozenset().union(*(read_in(_HOME / name) for name in _SHARED if (_HOME / name).exists()))


def _files(classes: Iterable[type]) -> list[Path]:
    """Return the files of configuration classes and of what they inherit from."""
    files = (getattr(sys.modules[base.__module__], "__file__", None) for one in classes for base in one.__mro__)
    return list(dict.fromkeys(Path(file) for file in files if file and f"{os.sep}models{os.sep}" in file))


# What comes of a key --------------------------------------------------------------------------------------------------------------


def source_words(classes: Iterable[type]) -> frozenset[str]:
    """Return the words that the files of configurations and models read as keys, or name as words."""
    return frozenset().union(*(read_in(file) | guarded_in(file) for file in _files(classes)))


class Mentions:
    """The keys of one record beyond those that its configurations declare."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        """Build the default configuration of the first class.

        Raises:
            RefusedError: the reference does not build it.
        """
        self.record, model_type = record, record["type"]
        self.config_class = config_class_of(model_type)
        self.references = [reference_of(model_type, name) for name in record["classes"]]
        for one in self.references:
            one.first()  # which also prepares the reference for building without numbers
        self.first = self.references[0]
        self.first.start = {**STARTS.get(model_type, {}), **self.first.inner_types}
        config = self.config_class(**self.first.arguments(self.first.start))
        self.owners = {prefix: owner for owner, prefix in owners_by_class(config) if prefix.rstrip(".") in {"", *record["inside"]}}
        self.known = {key for one in record["classes"].values() for key in (*one["keys"], *one["free"])} | set(record["aliases"])
        self.soft = {key for key in self.known if all(_without_effect(one, key) for one in record["classes"].values())}
        self.alone = alone = {**self.first.start, **self.first.inner()}
        with_inner = {**alone, **{prefix + _NOTHING: 0 for prefix in self.owners}}
        self.bases = [with_inner, *([alone] if alone != self.first.start else ()), dict(self.first.start)]
        self.aliases: dict[str, str] = {}
        self.extra: dict[str, Any] = {}
        self.mentioned: dict[str, list[str]] = {}
        self.spelled: dict[str, list[Any]] = {}

    def find(self) -> None:
        """Try the keys that the source names."""
        for prefix, owner in self.owners.items():
            declaring = _files([owner, self.config_class])
            named = frozenset[str]().union(_common(), *map(named_in, declaring)) - fields_of(owner).keys()
            keys = [one for one in sorted(named) if prefix + one not in self.known and one not in _PYTHON and not known_to_all(one)]
            refused = [one for one in keys if hasattr(PreTrainedConfig, one) and one not in _SAVED]  # how all configurations work
            keys = [one for one in keys if one not in refused]
            quiet = that_hold(keys, lambda some, prefix=prefix: self._harmless([prefix + word for word in some]))
            for word in keys:
                if word in quiet:
                    continue
                if (built := self._built(prefix + word)) is not None:
                    self.extra[prefix + word] = built
                elif alias := self._alias(prefix + word):
                    self.aliases[prefix + word] = alias
                elif letters := self._letters(prefix + word):
                    self.spelled[prefix + word] = letters
                elif usual := self._usual(prefix + word, declaring):
                    self.extra[prefix + word] = {"words": usual}
                else:
                    refused.append(word)
            for key in self._effective(prefix + word for word in keys if word in quiet or prefix + word in self.extra):
                self.extra.pop(key, None)
                refused.append(key.removeprefix(prefix))
            self.mentioned[prefix.rstrip(".")] = refused
            self._accept_built(prefix, self._undecided(prefix, owner), fields_of(owner))
            self._accept_usual(prefix)
        self._find_guarded()
        for prefix in self.owners:
            self._accept_kinds(f"{prefix}{KINDS}", f"{prefix}num_hidden_layers")

    def _undecided(self, prefix: str, owner: type) -> list[str]:
        """Return the declared keys that no class of the record has."""
        return [word for word in sorted(fields_of(owner)) if prefix + word not in self.known and not known_to_all(word)]

    def _find_guarded(self) -> None:
        """Try the keys that model classes read if a configuration has them, in models."""
        homes = _files([*(one.model_class for one in self.references), *self.owners.values()])
        files = [file for home in dict.fromkeys(file.parent for file in homes) for file in sorted(home.glob("modeling_*.py"))]
        words = frozenset[str]().union(*map(guarded_in, [*files, *map(_HOME.joinpath, _MODELS)]))
        excusing = frozenset[str]().union(*map(excusing_in, files))
        for prefix, owner in self.owners.items():
            if any(not any(pair[0].startswith(prefix) for pair in one["needs"]) for one in self.record["classes"].values()):
                self.refuse(prefix, excusing - fields_of(owner).keys())
            new = words - fields_of(owner).keys() - {*self.mentioned[prefix.rstrip(".")]}
            keys = [prefix + word for word in sorted(new) if prefix + word not in self.known and not known_to_all(word)]
            if keys and not all(self._alike(keys, value) for value in _BUILT):
                self._accept_built(prefix, [key.rpartition(".")[2] for key in keys], {})

    def refuse(self, prefix: str, words: Iterable[str]) -> None:
        """Refuse keys, except those of the record and those that mean the same in all configurations."""
        for word in sorted(words):
            if prefix + word not in self.known and not known_to_all(word):
                self.extra.pop(prefix + word, None)
                self.mentioned[prefix.rstrip(".")].append(word)

    def _accept_usual(self, prefix: str) -> None:
        """Accept flags that most models do not read with both of their values, if these change nothing."""
        for key in [prefix + word for word, usual in USUAL.items() if usual == (False,)]:
            if key not in self.known and self._alike([key], True):
                self.extra[key] = {"words": [False, True]}

    def _accept_kinds(self, key: str, depth: str) -> None:
        """Accept any list of kinds of attention, if it changes no tensor."""
        number = (self._resolved({}, self.first.start) or {}).get(depth)
        if key in self.extra and isinstance(number, int):
            some = [FULL, SLIDING]
            by_turns = tuple(some[place % 2] for place in range(number))
            if all(self._alike([key], one) for one in (*((kind,) * number for kind in some), by_turns)):
                self.extra[key] |= {"entries": {"words": some}, "length": [0, _MOST_LAYERS]}

    def _accept_built(self, prefix: str, words: Sequence[str], defaults: Mapping[str, Value]) -> None:
        """Accept the values of keys with which every class is built as without them, and refuse the keys that have none.

        A key that a configuration declares is refused at other values; one that it does not declare has no effect if all values have none.
        """
        for word in words:
            key, tried = prefix + word, (*_BUILT, *([defaults[word]] if word in defaults else ()))
            alike = [value for value in tried if self._alike([key], value)]
            if alike and (word in defaults or len(alike) < len(_BUILT)):
                self.extra[key] = {"words": [value for at, value in enumerate(alike) if repr(value) not in map(repr, alike[:at])]}
            elif not alike:
                self.extra.pop(key, None)
                self.mentioned[prefix.rstrip(".")].append(word)

    def _effective(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that change a tensor, although the configuration without the model shows no effect; all are tried at once."""
        keys, found, plain = list(keys), dict[str, None](), self._tensors(self.bases[-1])
        for value in (3, True, _LINEAR) if plain is not None else ():
            tried = [key for key in keys if key not in self.extra or verified(self.extra[key], value)]
            alike = that_hold(tried, lambda some, value=value: self._tensors({**self.bases[-1], **dict.fromkeys(some, value)}) == plain)
            others = [key for key in tried if key not in alike]
            found |= dict.fromkeys(key for key in others if self._tensors({**self.bases[-1], key: value}) is not None)
        return list(found)

    def _alike(self, keys: Sequence[str], value: Value) -> bool:
        """Whether every class is built with a value for these keys, and has the same tensors as without them."""
        for base in self.bases:  # some references do not build an inner configuration that is given in part
            plain = self._tensors(base)
            if plain is not None:
                return plain == self._tensors({**base, **dict.fromkeys(keys, value)})
        return False

    def _tensors(self, point: Mapping[str, Value]) -> list[Any] | None:
        """Return the tensors of every class; None if one is not built."""
        with suppress(RefusedError):
            return [one.build(point).tensors for one in self.references]
        return None

    def widen(self) -> None:
        """Accept what certainly changes no tensor: frequencies of rotations, types of inner configurations, some of their missing keys."""
        fixed = [f"{prefix}model_type" for prefix in self.owners if prefix and self._ignores(f"{prefix}model_type")]
        before, after = (self._resolved({}, base) or {} for base in (self.first.start, self.bases[0]))
        completed = {key: value for key, value in before.items() if "." in key and repr(after.get(key)) == repr(value)}
        for one in self.record["classes"].values():
            held = one["certificate"].get("held")
            for key, domain in one["keys"].items():
                if domain.get("unused") and key.endswith(_BASE) and "number" in domain:
                    domain["number"] = [min(1.0, domain["number"][0]), _LARGEST_BASE]
                elif domain.get("unused") and key.endswith(_ROTATION):
                    domain["object"] = True
                elif key in fixed:
                    one["keys"][key] = {"any": True, "unused": True}
                elif held and key in completed:
                    domain["missing"] = ["is", completed[key]]

        self._open_windows()
        for key, hint in hints_of(self.config_class).items():
            if "." not in key and {int, list} <= kinds_of(hint) and self._listed(key):
                for one in self.record["classes"].values():
                    domain = one["keys"].get(key, {})
                    if domain.get("unused") and "whole" in domain:
                        domain |= {"entries": {"whole": domain["whole"]}, "length": [1, _MOST_LAYERS]}
        for prefix in self.owners:
            if self._follows(f"{prefix}out_indices", f"{prefix}out_features"):
                for one in self.record["classes"].values():
                    self._follow(one["keys"], f"{prefix}out_indices", f"{prefix}out_features")
        for one, reference in zip(self.record["classes"].values(), self.references, strict=True):
            require_published(one["keys"], reference, self.record["type"])

    def _open_windows(self) -> None:
        """Accept any window of attention in place of none, if every class has the same tensors with windows of several lengths."""
        for key, hint in hints_of(self.config_class).items():
            domains = [one["keys"][key] for one in self.record["classes"].values() if key in one["keys"]]
            if not _WINDOW.search(key) or int not in kinds_of(hint) or any(one != {"words": [None], "unused": True} for one in domains):
                continue
            if domains and all(self._alike([key], window) for window in _WINDOWS):
                for one in domains:
                    one["whole"] = [_WINDOWS[0], _WINDOWS[-1]]

    def _listed(self, key: str) -> bool:
        """Whether a number may be a list with an entry for each layer, and changes nothing then: a list of another length is refused."""
        plain = self._resolved({}, self.first.start) or {}
        number, depths = plain.get(key), [one for one, value in plain.items() if type(value) is int and one.endswith("layers")]
        if type(number) is not int:
            return False
        for depth in (2, 3, 5):
            start = {**self.first.start, **dict.fromkeys(depths, depth)}
            whole = self._tensors(start)
            if whole is None or any(self._tensors({**start, key: (one,) * depth}) != whole for one in (number, 2 * number)):
                return False
        return True

    def _follows(self, key: str, other: str) -> bool:
        """Whether the default's stages of a backbone may be given by their names alone: the numbers follow from them."""
        stages = {one: self.first.saved(self.first.start, one) for one in (key, other)}
        if not all(isinstance(value, tuple) and value for value in stages.values()):
            return False
        rest = {one: value for one, value in self.alone.items() if one not in stages}
        whole = self._tensors({**rest, **stages})
        return whole is not None and whole == self._tensors({**rest, other: stages[other]})

    @staticmethod
    def _follow(keys: Mapping[str, Any], key: str, other: str) -> None:
        if all(len(keys.get(one, {}).get("words", ())) == 1 and keys[one].keys() <= {"words", "absent", "unused"} for one in (key, other)):
            keys[key]["missing"] = ["cases", [["is", other]], [[[keys[other]["words"][0]], keys[key]["words"][0]]]]

    def _ignores(self, key: str) -> bool:
        """Whether the reference has one class for an inner configuration, whatever its type says."""
        found = self._changes({key: _NOTHING}, self.bases[0])
        return found is not None and found.keys() <= {key}

    def _resolved(self, given: Mapping[str, Value], base: Mapping[str, Value]) -> dict[str, Value] | None:
        with suppress(RefusedError):
            return self.first.resolved({**base, **given})
        return None

    def _changes(self, given: Mapping[str, Value], base: Mapping[str, Value]) -> dict[str, Value] | None:
        """Return the declared keys on which tensors may depend, and that have another value now; None if it is refused."""
        before, after = self._resolved({}, base), self._resolved(given, base)
        if before is None or after is None:
            return None
        changed = {key: after.get(key) for key in before.keys() - self.soft if repr(before[key]) != repr(after.get(key))}
        return {key: value for key, value in changed.items() if key not in given or key in self.known}

    def _bases(self, key: str) -> list[dict[str, Value]]:
        return self.bases[:1] if "." in key or len(self.owners) == 1 else self.bases

    def _harmless(self, keys: Sequence[str]) -> bool:
        """Whether these keys may have any value, and never change another key that a tensor can depend on."""
        bases = self._bases(keys[0])
        return all(self._changes(dict.fromkeys(keys, value), base) == {} for base in bases for value in _VALUES)

    def _built(self, key: str) -> dict[str, Any] | None:
        """Return the values that the configuration takes, if none of them changes another key; otherwise None."""
        taken: list[Value] = []
        for value in _VALUES:
            found = [self._changes({key: value}, base) for base in self._bases(key)]
            if any(found):
                return None
            taken += [value] if None not in found else []
        if not key.endswith(_FOR_OBJECTS):  # it may be another spelling of an inner configuration
            if all(value in (None, *_OBJECTS) for value in taken):
                return {"words": [None]} if None in taken else None
            taken = [value for value in taken if value not in {_LINEAR, _LLAMA3}]
        domain: dict[str, Any] = {"words": [value for value in taken if isinstance(value, bool | str | tuple) or value is None]}
        domain |= {"object": True} if {_LINEAR, _LLAMA3} & {*taken} else {}
        for kind, name in ((int, "whole"), (float, "number")):
            numbers = [value for value in taken if type(value) is kind]
            domain |= {name: [min(numbers), max(numbers)]} if numbers else {}
        return domain if len(taken) >= _FEWEST else None

    def _alias(self, key: str) -> str | None:
        """Return the declared key that this one is another spelling of; in an inner configuration, if that is not given."""
        found: set[str] = set()
        for base in self._bases(key):
            told: list[Value] = []
            for value in (True, False, 24, 40, 4096, 0.25, 0.5, "default", (24, 40)):
                changes = self._changes({key: value}, base)
                if not changes:
                    continue
                same = [one for one in changes if one in self.known and repr(changes[one]) == repr(value) and (not found or one in found)]
                effects = {one: self._changes({one: value}, base) for one in same}
                if same and None in effects.values():  # an attribute is checked less than an argument
                    continue
                same = [one for one in same if effects[one] == changes]
                if len(same) != 1:
                    return None
                found.update(same)
                told.append(value)
            elsewhere = base is not self._bases(key)[-1]  # a key of an inner configuration has no effect if this is given
            if not (len(told) > 1 or told in ([True], [False]) or (elsewhere and not told)):
                return None
        return found.pop() if len(found) == 1 else None

    def find_former(self) -> None:
        """Find the former words of lists, which the reference replaces."""
        values = self._resolved({}, self.bases[-1]) or {}
        for key in sorted({key for one in self.record["classes"].values() for key, domain in one["keys"].items() if "entries" in domain}):
            value, words = values.get(key), dict[str, str]()
            if isinstance(value, tuple) and value and all(isinstance(one, str) for one in value):
                for former, word in _LEGACY_LAYER_TYPE_REMAP.items():
                    given = (*value[:-1], former)
                    if (self._resolved({key: given}, self.bases[-1]) or {}).get(key) == (*value[:-1], word):
                        words[former] = word
            if words:
                self.spelled[key] = [key, words]

    def _letters(self, key: str) -> list[Any] | None:
        """Return the list of words that a key spells with one letter for each, and the word of each letter; a given list comes first."""
        found: dict[str, tuple[str, str]] = {}
        for letter in string.ascii_letters + string.punctuation:
            for one, value in (self._changes({key: letter}, self.bases[0]) or {}).items():
                if one in self.known and isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], str):
                    found[letter] = one, value[0]
        lists = {one for one, _ in found.values()}
        if len(lists) != 1 or len(found) < 2:  # one letter spells nothing
            return None
        spelled, words = lists.pop(), {letter: word for letter, (_, word) in found.items()}
        draws = random.Random(0)
        for length in (1, 2, 5, 31):
            text = "".join(draws.choices(list(words), k=length))
            given = {spelled: (words[text[0]],) * 3}
            value = (self._resolved({key: text}, self.bases[0]) or {}).get(spelled)
            if value != tuple(words[letter] for letter in text) or self._changes({key: text, **given}, self.bases[0]) != self._changes(
                given, self.bases[0]
            ):
                return None
        return [spelled, words]

    def _usual(self, key: str, declaring: Sequence[Path]) -> list[Value]:
        """Return the values with which the key changes nothing: null, its default in the source, and strings.

        Another number could change nothing by chance, as a period that is longer than the default has layers.
        """
        found: list[Value] = []
        for value in (None, True, False, *_defaults(declaring, key.rpartition(".")[2])):
            if not isinstance(value, str) or True not in found:  # a flag takes any word
                same = all(self._changes({key: value}, base) == {} for base in self._bases(key))
                found += [value] if same and repr(value) not in map(repr, found) else []
        return found


def fields_of(owner: type) -> dict[str, Value]:
    """Return the declared keys of a configuration class, with their defaults; null for those that have none."""
    return {one.name: None if one.default is MISSING else frozen_value(one.default) for one in fields(owner)}  # type: ignore[arg-type]


def _without_effect(one: Mapping[str, Any], key: str) -> bool:
    """Whether a class takes nearly any value of a key, and no tensor depends on it."""
    domain = one["keys"].get(key, {})
    wide = key.endswith(_ROTATION) or domain.get("any") or domain.get("object") or "number" in domain
    return key in one["free"] or key not in one["keys"] or bool(domain.get("unused") and wide)


def _defaults(declaring: Iterable[Path], word: str) -> Iterator[Value]:
    """Yield what the source has as default of a key, where it declares it or reads it from other arguments, and all its short strings."""
    for file in declaring:
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.Call) and len(node.args) == 2:
                key, value = node.args
                if isinstance(key, ast.Constant) and key.value == word and isinstance(value, ast.Constant):
                    yield value.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == word:
                if isinstance(node.value, ast.Constant):
                    yield node.value.value
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 30:
                yield node.value


def add(record: dict[str, Any]) -> str:
    """Put what is found into a record, and say how much it is."""
    found = Mentions(record)
    found.widen()
    found.find()
    record["aliases"] |= found.aliases
    record["extra"], record["mentioned"] = found.extra, found.mentioned
    found.find_former()
    record.pop("spelled", None)
    record |= {"spelled": found.spelled} if found.spelled else {}
    refused = sum(map(len, found.mentioned.values()))
    return f"{len(found.aliases)} spellings, {len(found.extra)} without effect, {refused} refused"


def main(arguments: Sequence[str] | None = None) -> None:
    """Look for the keys of the records that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m atlas_builder.mentions", description=__doc__)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--into", type=Path, default=DATA, help="the directory of the records")
    chosen = parser.parse_args(arguments)
    transformers.logging.set_verbosity(logging.CRITICAL)  # it reports each value that a property does not take
    for model_type in recorded_types() if chosen.types == ["all"] else chosen.types:
        file = file_in(chosen.into, model_type)
        record = record_in(file)
        if not record["classes"]:
            continue
        if os.fork() == 0:  # memory and changed settings of the reference end with the type
            try:
                said = add(record)
                content = packed(record)
                parsed(content)
                file.write_bytes(content)
            except Exception as error:  # noqa: BLE001 - the next type is tried all the same
                said = f"left as it is: {type(error).__name__}: {str(error)[:200]}"
            print(f"{model_type}: {said}", flush=True)
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
