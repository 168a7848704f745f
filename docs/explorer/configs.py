"""The keys and values of a ``config.json`` that the library reads as a given variant, found by calling the library key by key.

A key is a size, has one of the tried values, or changes nothing that the page shows; the page refuses everything else. The name of a key
inside another configuration begins with the outer key: ``text_config.hidden_size``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from families import Structure
from sympy import Symbol

import paramsym as ps
from paramsym import A, H, L
from paramsym.atlas.common_keys import CENTRAL, COMMON, USUAL
from paramsym.errors import ParamsymError
from paramsym.measure.cost import Cost
from paramsym.models import family_of
from paramsym.models.family import Family, Nested
from paramsym.models.gpt_neo import AttentionTypes
from paramsym.models.key_kinds import Key, Limit, Pair, Real, Several, Size, Whole

ROPE: Mapping[str, dict[str, Any]] = {
    "default": {"rope_type": "default"},
    "linear": {"type": "linear", "factor": 2.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
}
"""Settings of rotations as configurations have them."""
Lettered = Size | Pair | Limit
"""Keys that become a letter."""
_NOT_THERE = object()
_FAR = 1000.5
"""A number that is far from usual ones."""
_SHARED = 20
"""The factor by which heads are widened, so that every tried fraction of a head is a whole number."""


class Rules:
    """The rules of one variant for one ``model_type``."""

    def __init__(self, structure: Structure, model_type: str) -> None:
        """Start from the variant's own configuration."""
        self.root, self.config = structure.root, dict(_flat({**structure.configs[model_type], "model_type": model_type}))
        self.reader: Family = family_of(model_type)
        self.keys = dict(_keys(self.reader))
        self.sizes = self._read({}) or {}

    def _read(self, changed: Mapping[str, Any]) -> dict[Symbol, int] | None:
        """Return the sizes that the configuration has with some keys changed; None if it is another structure, or refused."""
        try:
            model = ps.from_config(self._config(changed), strict=True)
        except ParamsymError:
            return None
        root, sizes = model.origin
        return {symbol: int(size) for symbol, size in sizes.items()} if root == self.root else None

    def _config(self, changed: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configuration with some keys changed; a list of kinds of attention gets one entry for each layer."""
        config = {key: value for key, value in {**self._patterned(changed), **changed}.items() if value is not _NOT_THERE}
        found: dict[str, Any] = {}
        for name, value in config.items():
            outer, _, inner = name.rpartition(".")
            (found.setdefault(outer, {}) if outer else found)[inner] = value
        return found

    def _patterned(self, changed: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(self.config)
        for name, (kinds, layers) in self._patterns.items():
            number = {**found, **changed}.get(layers)
            found[name] = [[kinds, (number if isinstance(number, int) else self.keys[layers].default) // len(kinds)]]
        return found

    @cached_property
    def _patterns(self) -> dict[str, tuple[list[str], str]]:
        """The keys that list the kind of attention of every layer, each with the repeated pattern and the key of the number of layers."""
        depth = next((name for name, key in self.keys.items() if isinstance(key, Lettered) and key.letter == L), "")
        return {name: ([*self.root.attention_layers], depth) for name, key in self.keys.items() if isinstance(key, AttentionTypes)}  # type: ignore[attr-defined]

    def written(self) -> dict[str, Any] | None:
        """Return the rules as data; None if the library does not read the variant in its configuration."""
        if not self.sizes and self.root.symbols:
            return None
        architecture = self.config["architectures"][0]
        found: dict[str, Any] = {
            "architectures": [architecture, *(old for old, new in self.reader.former.items() if new == architecture)],
            "first": architecture == self.reader.architectures[0],
            "sizes": {},
            "lists": {},
            "equal": {},
            "shares": {letter.name: share for letter, share in self._shares.items()},
            "fixed": {},
            "patterns": {name: [kinds, self.keys[layers].letter.name] for name, (kinds, layers) in self._patterns.items()},
            "free": [key for key in self._unlike if self._free(key)],
            "whole": [key for key in self._unlike if isinstance(self.keys[key], Whole)],
        }
        if architecture in self.reader.labelled:
            found["labels"] = self.reader.labels
        for name, key in self.keys.items():
            if isinstance(key, Lettered) and key.letter in self.sizes:
                found["sizes"][name] = self._size(name, key)
            elif isinstance(key, Several) and (listed := self._list(name, key)):
                found["lists"][name] = listed
            elif name not in {*found["free"], *self._patterns} and not any(name == share[0] for share in self._shares.values()):
                found["fixed"][name] = [*self._values(name, key)]
        for name, source in self.reader.follows.items():
            if found["fixed"].get(name) and source in found["sizes"] and self._follows(name, self.keys[source]):
                found["equal"][name] = source
        for name, source in self._twins.items():
            found["equal"][name], found["fixed"][name] = source, []
        return found

    def _size(self, name: str, key: Lettered) -> list[Any]:
        """Return the letter, the least size, the meanings of a missing key and of null, and the only readable size (None for any)."""
        value, least = self.sizes[key.letter], getattr(key, "least", 1)
        rule = [key.letter.name, least, self._missing(name, key, _NOT_THERE), self._missing(name, key, None)]
        twins = [twin for twin, source in self._twins.items() if source == name]
        for other in (2 * value, 3 * value, value // 2, value + 1, value - 1):
            sizes = self._read(dict.fromkeys((name, *twins), other)) if other >= least and other != value else None
            if sizes is not None:
                free = all(
                    size == (other if letter == key.letter else self.sizes[letter])
                    for letter, size in sizes.items()
                    if letter not in self._shares
                )
                return [*rule, None if free else value]
        return [*rule, value]

    @cached_property
    def _twins(self) -> dict[str, str]:
        """The keys that must have the same size as another key, with that key; for other sizes the reference builds another structure."""
        found = {}
        for name, key in self.keys.items():
            if not isinstance(key, Lettered) or key.letter in self.sizes:
                continue
            value = self.config.get(name, key.default)
            for source, other in self.keys.items():
                if (
                    isinstance(other, Lettered)
                    and other.letter in self.sizes
                    and self.sizes[other.letter] == value
                    and isinstance(value, int)
                ):
                    both = self._read({name: 2 * value, source: 2 * value})
                    if both is not None and both[other.letter] == 2 * value and self._read({source: 2 * value}) is None:
                        found[name] = source
        return found

    @cached_property
    def _unkeyed(self) -> list[Symbol]:
        """The letters that no key of the configuration stands for."""
        given = {key.letter for key in self.keys.values() if isinstance(key, Lettered)}
        return [letter for letter in self.sizes if letter not in given and letter.name != "N"]

    @cached_property
    def _shares(self) -> dict[Symbol, list[Any]]:
        return {letter: share for letter in self._unkeyed if (share := self._share(letter))}

    def _share(self, letter: Symbol) -> list[Any] | None:
        """Return the key of a fraction of a head, the letters of hidden size and heads, and each readable value with its exact fraction."""
        width, heads = (
            next((name for name, key in self.keys.items() if isinstance(key, Lettered) and key.letter == one), "") for one in (H, A)
        )
        head = self.sizes.get(H, 0) // (self.sizes.get(A, 0) or 1)
        fraction = next((name for name in ("partial_rotary_factor", "rotary_pct") if name in self.keys), "")
        if not (width and heads and head and fraction):
            return None
        known = []
        for value in dict.fromkeys((None, self.config.get(fraction), 0.25, 0.4, 0.5, 0.75, 1.0)):
            given = {fraction: _NOT_THERE if value is None else value, width: _SHARED * self.sizes[H]}
            one, two = self._read(given), self._read({**given, heads: 2 * self.sizes[A]})
            if one and two and one[letter] == 2 * two[letter]:
                share = Fraction(one[letter], _SHARED * head)
                known.append([value, share.numerator, share.denominator])
        return [fraction, H.name, A.name, known] if known else None

    def _list(self, name: str, key: Several) -> list[Any] | None:
        """Return the letters of a list, the least size, and the list for a missing key."""
        letters = getattr(self.root, name, ())
        if not letters or not all(isinstance(one, Symbol) and one in self.sizes for one in letters) or len({*letters}) < len(letters):
            return None
        values = [self.sizes[one] for one in letters]
        if self._read({name: [*values[:-1], 2 * values[-1]]}) != {**self.sizes, letters[-1]: 2 * values[-1]}:
            return None
        missing = self._read({name: _NOT_THERE})
        return [[one.name for one in letters], key.least, [*key.default] if missing and len(key.default) == len(letters) else None]

    def _follows(self, name: str, source: Any) -> bool:
        """Whether a key that is no letter of the variant's may state what it follows."""
        value = self.sizes[source.letter]
        source_name = next(one for one, how in self.keys.items() if how is source)
        other = self._read({name: 2 * value, source_name: 2 * value})
        return self._read({name: value}) == self.sizes and other == {**self.sizes, source.letter: 2 * value}

    def _missing(self, name: str, key: Lettered, nothing: object) -> Any:
        """Return the number of a missing key, or the letter that it is equal to; None if the key is required."""
        sizes = self._read({name: nothing})
        if sizes is None:
            return None
        if sizes[key.letter] == key.default:
            return key.default
        for letter, value in self.sizes.items():
            source = next((one for one, how in self.keys.items() if isinstance(how, Lettered) and how.letter == letter), "")
            other = self._read({name: nothing, source: 2 * value}) if source and letter != key.letter else None
            if other is not None and sizes[key.letter] == value and other[key.letter] == 2 * value:
                return letter.name
        return None

    def _values(self, name: str, key: Key) -> Iterator[Any]:
        """Yield the values that do not change the variant; ``[]`` for a missing key."""
        default = key.default if not isinstance(key.default, tuple) else [*key.default]
        tried = [_NOT_THERE, None, self.config.get(name, default), default]
        if name in {"rope_parameters", "rope_scaling"}:
            tried += ROPE.values()
        seen: list[Any] = []
        for value in tried:
            if any(value is one or (type(value) is type(one) and value == one) for one in seen):
                continue
            seen.append(value)
            if self._read({name: value}) == self.sizes or (isinstance(value, dict) and self._changes_nothing({name: value})):
                yield [] if value is _NOT_THERE else [value]

    @cached_property
    def _unlike(self) -> list[str]:
        """The keys with numbers that are not sizes, such as the constant added to a variance."""
        return [name for name, key in self.keys.items() if isinstance(key, Real | Whole) and self._other(name) is not None]

    def _other(self, name: str) -> Any:
        value = self.config.get(name, self.keys[name].default)
        return 2 * value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None

    def _free(self, name: str) -> bool:
        """Whether a number changes nothing that the page shows; first tried for all of them at once."""
        return self._all_free or all(self._changes_nothing({name: other}) for other in (self._other(name), self._far(name)))

    @cached_property
    def _all_free(self) -> bool:
        return all(self._changes_nothing({name: other(name) for name in self._unlike}) for other in (self._other, self._far))

    def _far(self, name: str) -> Any:
        """Return a number that is far from usual ones: the records of the atlas know numbers up to a largest one."""
        return _FAR if isinstance(self.keys[name], Real) else self._other(name)

    def _changes_nothing(self, changed: Mapping[str, Any]) -> bool:
        try:
            model = ps.from_config(self._config(changed), strict=True)
        except ParamsymError:
            return False
        root, sizes = model.origin
        same = {symbol.name: int(size) for symbol, size in sizes.items()} == {symbol.name: size for symbol, size in self.sizes.items()}
        return same and (root == self.root or _shown(root) == self._own)

    @cached_property
    def _own(self) -> list[Any]:
        return _shown(self.root)


def _flat(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a configuration and of the configurations inside it, with their values."""
    for name, value in config.items():
        if name.endswith("_config") and isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", held) for inner, held in value.items())
        else:
            yield name, value


def _keys(reader: Family) -> Iterator[tuple[str, Any]]:
    """Yield the keys of a family and of the configurations inside its own, with how each is read."""
    for name, key in reader.keys.items():
        if isinstance(key, Nested):
            yield from ((f"{name}.{inner}", one) for inner, one in _keys(key.reader))
        else:
            yield name, key


def _shown(root: ps.Layer) -> list[Any]:
    """Return the page's content for a model, as polynomials."""
    found: list[Any] = [root.polynomial]
    asks: tuple[Callable[[ps.Layer], Cost], ...] = (
        ps.flops,
        ps.kv_cache,
        partial(ps.memory, dtype="bfloat16", convention="torch-eager"),
        partial(ps.memory, dtype="bfloat16", convention="torch-sdpa"),
        partial(ps.memory, use="inference", convention="torch-sdpa"),
    )
    for ask in asks:
        try:
            found.append(ask(root).polynomial)
        except ParamsymError as error:
            found.append(type(error))
    return found


def of_structure(structure: Structure) -> dict[str, Any]:
    """Return the rules of a variant by ``model_type``."""
    written = {model_type: Rules(structure, model_type).written() for model_type in structure.configs}
    return {model_type: rules for model_type, rules in written.items() if rules is not None}


def of_type(model_type: str) -> dict[str, Any]:
    """Return the common rules of a type's configurations: other spellings of keys, keys that change nothing, configurations inside."""
    found = _of_reader(family_of(model_type), "")
    inside = {name: key for name, key in family_of(model_type).keys.items() if isinstance(key, Nested)}
    for name, key in inside.items():
        for part, more in _of_reader(key.reader, f"{name}.").items():
            found[part] |= more
    return {**found, "ignored": [*found["ignored"]], "inside": {name: key.overruled_by for name, key in inside.items()}}


def _of_reader(reader: Family, path: str) -> dict[str, dict[str, Any]]:
    return {
        "aliases": {f"{path}{alias}": f"{path}{name}" for alias, name in reader.aliases.items()},
        "ignored": {f"{path}{word}": 1 for names in reader.ignored.values() for word in sorted(names.split())},
        "usual": {f"{path}{name}": [*values] for name, values in reader.usual.items()},
    }


def of_all() -> dict[str, Any]:
    """Return the common rules of all types: keys that change nothing, and those that change nothing at some values."""
    common = sorted({word for names in COMMON.values() for word in names.split()} | CENTRAL)
    return {"ignored": common, "usual": {name: [*values] for name, values in USUAL.items()}}
