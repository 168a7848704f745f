"""Which keys change what a class stores, and samples of it: each key alone, from several bases, pairs made equal, at random."""

from __future__ import annotations

import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from atlas_builder.fitting import is_whole
from atlas_builder.halving import that_hold
from atlas_builder.hints import (
    ACTIVATION,
    activations,
    hints_of,
    kinds_of,
    layer_words,
    literals,
    numbers_near,
    source_of,
    words_near,
)
from atlas_builder.limiting import limited
from atlas_builder.reference import PROPERTIES, Reference, RefusedError, Seen
from atlas_builder.rows import template_of
from atlas_builder.told import Told, told_of

from paramsym.atlas.common_keys import CENTRAL, COMMON
from paramsym.atlas.values import Value, object_of

Point = dict[str, Value]
_ABSENT = "(absent)"

_DEPTH = re.compile(r"^(?!.*channels).*(layers?|blocks?|depths?|n_layer|repeats|experts?|num_stacks?)(_\w+)?$")
_STAGES = re.compile(r"stage|level|scale")
_SIZE = re.compile(r"dim|size|width|num_|heads|layers|length|rank")
_PLACE = re.compile(r"divis|multiple|_(start|end|index|offset|period|interval|freq\w*|step)$")
_HEADS = re.compile(r"head|group")
_LARGE = re.compile(r"hidden|embed|channels$|vocab|d_model|inter")
_SMALL = 64
_MOST_INDICES = 200
_INDICES = re.compile(r"ind(ic|ex)es$|_ids$|_layers$|_idx$")
_FAR = 8  # values of a number
_LARGEST_WIDTH = 8192
_MOST_KEPT = 80
_NOTHING = Told()
_ENOUGH_BUILT = 3
_LEAST_EQUAL = 8
_OFTEN_NONE = 0.15  # often no number means another key, for which few samples would be left
_LONGEST = 4.0  # seconds of processor time for one build, if four times that of the default is not longer
_TOKEN = re.compile(r"token_id|token_index|_token_?idx|(^|_)idx$|token_ids$|_ids$|^seed$|num_labels$")
COMMON_KEYS = (
    frozenset(word for words in COMMON.values() for word in words.split()) | (CENTRAL - {"num_labels"}) | {"id2label", "use_cache"}
)
INNER = frozenset(["decoder", "generator", "text_encoder", "text_config", "audio_config", "vision_config", "encoder", "audio_encoder"])
_NEVER = INNER | frozenset(
    [
        "quantization_config",
        "name_or_path",
        "sub_configs",
        "per_layer_config",
        "is_heterogeneous",
        "base_model_prefix",
        "attribute_map",
        "model_type",
    ]
)


@dataclass
class Field:
    """What is known of one key: the value at the base, others that were built, and how it may be drawn."""

    key: str
    base: Value
    kind: str = "untried"  # width, count, divisor, flag, word, rate, list, free, rigid
    pool: list[Value] = field(default_factory=list)
    step: int = 1
    active: bool = False
    later: Sequence[Value] = ()  # untried values that are drawn as well
    turn: int = 0
    moves: bool = False  # other keys resolve to other values
    alphabet: tuple[str, ...] = ()
    last: tuple[str, ...] = ()  # the words that the configuration keeps at the end of a list
    depths: tuple[str, ...] = ()  # the keys of the number of layers, for a list of their indices
    any_length: bool = False  # of a list of words, which then gives the number of layers

    def draw(self, rng: random.Random, point: Mapping[str, Value], values: Mapping[str, Value], big: bool = False) -> Value:
        """Return a value; for lists one of changed entries or of other length."""
        if self.alphabet:
            length = next((point.get(k, values.get(k)) for k in self.pool if is_whole(point.get(k, values.get(k)))), len(self.base))
            if self.any_length:
                length = rng.randint(1, 2 * length)
            word = rng.choice(self.alphabet) if rng.random() < 0.2 else None
            drawn = [word or rng.choice(self.alphabet) for _ in range(length)]
            if drawn and drawn[-1] not in self.last:
                drawn[-1] = rng.choice(self.last)
            return tuple(drawn)
        if None in self.pool and self.base is not None and rng.random() < _OFTEN_NONE:
            return None
        if self.kind == "indices" and rng.random() < 0.8:
            depth = next(filter(is_whole, (point.get(key, values.get(key)) for key in self.depths)), 2)
            return tuple(sorted(rng.sample(range(depth), rng.randint(0, depth)))) if 0 < depth < _MOST_INDICES else ()
        if self.kind == "numbers" and rng.random() < 0.7:
            value = _mutated(rng.choice(self.pool), rng)
            return tuple(rng.sample(value, len(value))) if isinstance(value, tuple) and rng.random() < 0.2 else value
        if self.kind == "width" and big and rng.random() < 0.6:
            return rng.choice([one for one in self.pool if is_whole(one)]) + self.step * rng.randint(50, 6000)
        if self.later and rng.random() < 0.8:
            self.turn += 1
            return self.later[self.turn % len(self.later)]
        return rng.choice(self.pool)


def _mutated(value: Value, rng: random.Random) -> Value:
    if isinstance(value, tuple):
        return tuple(_mutated(one, rng) for one in value)
    if not is_whole(value) or rng.random() < 0.5:
        return value
    choices = [value, value + 1, max(1, value - 1), value * 2, max(1, value // 2), value + 8, value * 3, 1]
    return rng.choice(choices)


class Explorer:
    """Explores one class of the reference."""

    def __init__(self, reference: Reference, seconds: float, seed: int = 0, told: Told = _NOTHING, *, held: bool = False) -> None:
        """Start at the defaults; ``held`` fixes every key there that can change a tensor."""
        self.reference, self.rng, self.held = reference, random.Random(seed), held
        self.ends = time.process_time() + seconds
        self.begun, self.seconds = time.process_time(), seconds
        self.fields: dict[str, Field] = {}
        self.samples: list[Seen] = []
        self.lines: list[tuple[int, int, str]] = []
        self.longest = _LONGEST
        self.refusals: Counter[str] = Counter()
        self.refused: list[Point] = []
        self.base: Point = {}
        self.inner: Point = {}
        self.fixed: Point = {}
        self.hints = hints_of(reference.config_class)
        self.told = told
        modules = {sys.modules[reference.model_class.__module__], sys.modules[reference.config_class.__module__]}
        self.sources = [source_of(module) for module in modules]

    def spent(self, share: float) -> bool:
        """Whether more than this share of the time is gone."""
        return time.process_time() - self.begun > self.seconds * share

    def tried(self, point: Point) -> Seen | None:
        """Return what is built from a point; None if the reference refuses it."""
        point = {**point, **{second: point[first] for first, second in self.told.together if first in point}}
        if any(is_whole(point.get(key)) and point[key] < 1 for key in self.told.positive):
            return None
        try:
            with limited(self.longest):
                seen = self.reference.build({**self.reference.start, **point})
            return seen if self._is_below(seen) else None
        except (RefusedError, TimeoutError) as error:
            self.refusals[re.sub(r"\d+", "N", str(error))[:90]] += 1
            if len(self.refused) < 400:
                self.refused.append(dict(point))
            return None

    def add(self, seen: Seen) -> int:
        """Keep a sample; probe keys that no sample before had read."""
        self.samples.append(seen)
        return len(self.samples) - 1

    def relevant(self, seen: Seen) -> Iterable[str]:
        """Yield the keys that were read, declared or not, except those that change no tensor of any model."""
        for key in sorted({*seen.read, *self.told.read}):
            last = key.rpartition(".")[2]
            inside = any(other.startswith(f"{key}.") for other in seen.values)
            if last in COMMON_KEYS or last in _NEVER or last.startswith("base_model_") or inside or last[:1] == "_":
                continue
            if (
                key in seen.values
                or key == "num_labels"
                or ("." not in key and not hasattr(self.reference.config_class, last) and self._asked_for(last))
            ):
                yield key

    def _asked_for(self, key: str) -> bool:
        return any(re.search(rf"""config,\s*["']{re.escape(key)}["']""", source) for source in self.sources)

    # Probing ------------------------------------------------------------------------------------------------------------------

    def explore(self) -> None:
        """Find the fields and take samples.

        Raises:
            RefusedError: the reference does not build the defaults.
        """
        began = time.process_time()
        self.default = default = self.reference.first()
        self.longest = max(_LONGEST, 4 * (time.process_time() - began))
        self.base = self.inner = {} if self.held else self.reference.inner()
        self.told = told_of(self.reference.config_class.model_type, default.values).plus(self.told)
        if not self.held:
            self._shrink(default)
            self.base = {**self.base, **dict(self.told.base)}
        self.base = {**self.reference.start, **self.base}
        self.origin = self.reference.build(self.base)
        self.resolved = {**default.values, **self.origin.values}  # without a given inner configuration, the reference resolves other keys
        self.add(self.origin)
        if self.base:
            self.add(default)
        self._influences()
        if self.held:
            self._hold()
            return
        first = sorted(self.relevant(self.origin), key=lambda key: (key not in self.base, not _DEPTH.search(key)))
        self._probe(first, 0)  # a lowered depth that is not probed leaves the default without a law
        self._legacy()
        self._loosen()
        self._more_bases()
        self._equals()
        self._generic()
        self.draw_samples(40, 0.72)
        self.refresh()

    def _hold(self) -> None:
        """Fix every key that can change a tensor, except the numbers of tokens and of labels."""
        values = self.origin.values
        keys = {*self.relevant(self.origin), *self.relevant(self.default), *self.influencing, *self.unclear}
        varied = {key for key in keys if key.rpartition(".")[2] in {"vocab_size", "num_labels"}}
        others = sorted(keys - varied - {*self.told.fixed, *self.told.inert})
        self.told = self.told.plus(Told(inert=tuple(self._without_effect(others))))
        inert = [key for key in keys if isinstance(values.get(key), float) or key in self.told.inert or self._is_activation(key)]
        self.told = self.told.plus(Told(fixed=tuple(sorted(keys.difference(inert, varied)))))
        self._probe(sorted(keys), 0)
        for one in [one for one in self.fields.values() if (one.active or one.moves) and one.key not in varied]:
            self.fix(one.key)
        self.draw_samples(40, 0.9)

    def _without_effect(self, keys: Sequence[str]) -> list[str]:
        """Return the keys of numbers and flags that change no tensor and no other key, also with far values and all at once."""
        far = {key: _far(self.origin.values.get(key)) for key in keys}
        found = [key for key in keys if far[key] and self._ineffective({key: far[key][0]})]
        for turn in range(_FAR):
            point = {key: far[key][turn % len(far[key])] for key in found}
            found = that_hold(found, lambda some, point=point: self._ineffective({key: point[key] for key in some}))
        return found

    def _ineffective(self, point: Point) -> bool:
        seen = self.tried({**self.base, **point})
        return seen is not None and seen.tensors == self.origin.tensors and seen.values == {**self.origin.values, **point}

    def _is_activation(self, key: str) -> bool:
        return isinstance(self.origin.values.get(key), str) and bool(ACTIVATION.search(key.rpartition(".")[2]))

    def _shrink(self, default: Seen) -> None:
        """Lower depths while the same templates remain, if possible with the same shapes."""
        wanted = _templates(default)
        now = default
        deep = [key for key, value in default.values.items() if self._is_depth(key, value) and self._alone(key, value, default)]
        deep = [key for key in deep if key not in self.told.fixed]
        for facts, depth in product((_shapes, _templates), (2, 3, 4) if deep else ()):
            point = {key: depth for key in deep if depth < default.values[key]}
            seen = self.tried({**self.inner, **point})
            if seen is not None and facts(seen) == facts(default):
                self.base = {**self.inner, **{key: value for key, value in point.items() if key in default.read}}
                again = self.tried(self.base)
                if again is not None and facts(again) == facts(default):
                    return
                self.base = self.inner
        for key in deep:
            value = default.values[key]
            if key not in default.read or self.spent(0.3):
                continue
            for depth in (2, 3, 4, 5, 6, 8, 12):
                if depth >= value:
                    break
                seen = self.tried({**self.base, key: depth})
                if seen is not None and _templates(seen) == wanted:
                    if len(seen.tensors) < len(now.tensors) or seen.tensors != now.tensors:
                        self.base, now = {**self.base, key: depth}, seen
                    break

    def _alone(self, key: str, value: Value, default: Seen) -> bool:
        """Whether a depth can be lowered alone: the lists with an entry for each layer, if any, follow it."""
        inside = key.rpartition(".")[0]
        same = [other for other in default.values if other.rpartition(".")[0] == inside and isinstance(default.values[other], tuple)]
        lists = [other for other in same if len(default.values[other]) == value]
        try:
            lower = self.reference.resolved({**self.reference.start, key: 2}) if lists else {}
        except RefusedError:
            return False
        return all(isinstance(lower.get(other), tuple) and len(lower[other]) == 2 for other in lists)

    @staticmethod
    def _is_depth(key: str, value: Value) -> bool:
        last = key.rpartition(".")[2]
        return is_whole(value) and value > 2 and bool(_DEPTH.search(last)) and not _STAGES.search(last) and not _TOKEN.search(last)

    def _influences(self) -> None:
        """Find the keys that the class does not read and that still change what the keys which it reads resolve to."""
        read = set(self.relevant(self.origin))
        self.influencing: set[str] = set()
        self.unclear: set[str] = set()
        plain = [(base, self.reference.resolved(base)) for base in (self.reference.start, self.base)]
        for key, value in self.resolved.items():
            last = key.rpartition(".")[2]
            if key in read or last in COMMON_KEYS or last in _NEVER or last.endswith("model_type"):
                continue
            worked = 0
            for (base, before), other in product(plain, _others(value, self.hints.get(key))):
                try:
                    changed = self.reference.resolved({**base, key: other})
                except RefusedError:
                    continue
                worked += 1
                if any(changed.get(one) != before.get(one) for one in read):
                    self.influencing.add(key)
                    break
            if key not in self.influencing and (not worked or value is None) and self._used_by_config(last):
                self.unclear.add(key)

    def _used_by_config(self, key: str) -> bool:
        """Whether the configuration's own code reads a key."""
        return any(re.search(rf"""self\.{key}\b|["']{key}["']""", source) for source in self.sources)

    def _probe(self, keys: Iterable[str], base: int, share: float = 0.5) -> None:
        keys = list(keys)
        self._probe_together(keys, base)
        for key in [*keys, *sorted(self.influencing)]:
            if key in self.fields or self.spent(share):
                continue
            found = Field(key, self.origin.values.get(key))
            self.fields[key] = found
            if key in self.told.fixed:
                found.kind, found.pool, self.fixed[key] = "rigid", [found.base], found.base
            elif key in self.told.derived:
                found.kind = "rigid"
            else:
                self._probe_one(found, base)

    def _probe_together(self, keys: Iterable[str], base: int) -> None:
        """Change all rates and inert keys at once, and all activations: where nothing else is stored, none needs models of its own."""
        values = self.origin.values
        mine = [key for key in keys if key not in self.fields and key not in self.told.fixed + self.told.derived]
        self._together(
            {
                key: _rates(values[key]) if isinstance(values[key], float) else _others(values[key], None)
                for key in mine
                if isinstance(values.get(key), float) or key in self.told.inert
            },
            base,
        )
        words = {key: activations() for key in mine if self._is_activation(key)}
        self._together({key: [word for word in known if word != values[key]] for key, known in words.items()}, base)

    def _together(self, others: Mapping[str, Sequence[Value]], base: int) -> None:
        """Change keys at once, each to its next value; know them as inert if no tensor and no other key changes."""
        at, values = self.samples[base], self.origin.values
        others = {key: other for key, other in others.items() if other}
        built: dict[str, list[Value]] = {key: [] for key in others}
        for turn in range(max(map(len, others.values())) if len(others) > 1 else 0):
            point = {key: other[turn % len(other)] for key, other in others.items()}
            seen = self.tried({**at.point, **point})
            if seen is None:
                continue
            if seen.tensors != at.tensors or seen.values != {**at.values, **point}:
                return
            for key, value in point.items():
                built[key].append(value)
        for key, found in built.items():
            if len(found) >= _ENOUGH_BUILT:
                kind = {float: "rate", bool: "flag", int: "free"}.get(type(values[key]), "word")
                self.fields[key] = Field(key, values[key], kind, list(dict.fromkeys([values[key], *found])))

    def _probe_one(self, found: Field, base: int) -> None:
        value, last = found.base, found.key.rpartition(".")[2]
        if last.endswith("model_type"):
            found.kind = "rigid"
        elif isinstance(value, bool):
            self._try(found, "flag", [not value], base)
        elif is_whole(value):
            if _TOKEN.search(last) and last != "num_labels":
                self._try(found, "free", [value + 1, 1, 0], base)
            else:
                self._probe_number(found, base)
        elif isinstance(value, float):
            self._try(found, "rate", _rates(value), base)
        elif isinstance(value, str):
            self._try(found, "word", self._words(found, value), base)
        elif value is None:
            self._probe_none(found, base)
        elif isinstance(value, tuple):
            self._probe_list(found, value, base)
        kinds = kinds_of(self.hints.get(found.key))
        if found.kind != "rigid" and type(None) in kinds and value is not None:
            self._try(found, found.kind, [None], base)
            if None not in found.pool:
                self._try_beside(found, base)

    def _try_beside(self, found: Field, base: int) -> None:
        """Try null beside the kinds of layers, if these follow from the key: the reference then needs them in the configuration."""
        at, above = self.samples[base], found.key.rpartition(".")[0]
        lists = {key: value for key, value in at.values.items() if isinstance(value, tuple) and value and isinstance(value[0], str)}
        kinds = {key: value for key, value in lists.items() if value[0] != "{}" and key.rpartition(".")[0] == above and key not in at.point}
        beside = self.tried({**at.point, **kinds}) if kinds else None
        seen = self.tried({**beside.point, found.key: None}) if beside is not None else None
        if beside is not None and seen is not None:
            found.pool.append(None)
            found.moves = True
            if seen.tensors != beside.tensors:
                found.active = True
                self.lines.append((self.add(beside), self.add(seen), found.key))

    def _legacy(self) -> None:
        """Try the older spellings of the settings of rotary positions."""
        for key in [one for one in self.fields if one.rpartition(".")[2] == "rope_parameters" and one not in self.told.fixed]:
            prefix = key[: -len("rope_parameters")]
            for old, others in (
                ("rope_theta", [1e6, 10000, 5e5, 1e4]),
                ("rope_scaling", [None, *(object_of({word: "linear", "factor": 2.0}) for word in ("rope_type", "type"))]),
                ("partial_rotary_factor", [0.5, 1.0, 0.25]),
            ):
                if prefix + old not in self.origin.values:
                    found = self.fields[prefix + old] = Field(prefix + old, _ABSENT)
                    self._try(found, "rate", others, 0)
                    found.pool = [one for one in found.pool if one != _ABSENT] or [_ABSENT]
                    if found.pool == [_ABSENT]:
                        del self.fields[prefix + old]

    def _loosen(self) -> None:
        """Try flags and choices that could not be moved alone beside another flag."""
        flags = [one for one in self.fields.values() if one.kind == "flag"]
        held = {*self.fixed, *self.told.derived}
        rigid = [one for one in self.fields.values() if one.kind == "rigid" and one.key not in held]
        for found in [one for one in rigid if one.base is None or isinstance(one.base, bool)]:
            for flag in flags:
                if self.spent(0.5) or found.kind != "rigid":
                    break
                beside = self.tried({**self.base, flag.key: not flag.base})
                if beside is None:
                    continue
                self.samples.append(beside)
                found.pool = []
                self._probe_one(found, len(self.samples) - 1)
                if found.kind == "rigid":
                    self.samples.pop()
                else:
                    flag.moves = found.moves = True

    def _words(self, found: Field, value: str) -> list[str]:
        last = found.key.rpartition(".")[2]
        if ACTIVATION.search(last):
            words = [word for word in activations() if word != value]
            found.later = words[3:]
            return words[:3]
        words = [*literals(self.hints.get(found.key)), *words_near(last, self.sources)]
        return [word for word in dict.fromkeys(words) if word != value][:10]

    def _try(self, found: Field, kind: str, others: Sequence[Value], base: int) -> None:
        """Build with other values of one key; keep those that work."""
        at = self.samples[base]
        found.kind = kind
        if not found.pool:
            found.pool = [found.base]
        lined = 0
        for other in others:
            seen = self.tried({**at.point, found.key: other})
            if seen is None:
                continue
            found.pool.append(other)
            found.moves |= _moves(found.key, seen.values, at.values)
            if seen.tensors != at.tensors:
                found.active = True
                if lined < 4:
                    self.lines.append((base, self.add(seen), found.key))
                    lined += 1
            elif not {*self.relevant(seen)} <= self.fields.keys() | {*self.relevant(at)}:  # keys that are only read with this value
                self.add(seen)
        if len(found.pool) == 1 and not found.alphabet:  # the pool of a list of words names its length
            found.kind = "rigid"

    def _probe_none(self, found: Field, base: int) -> None:
        kinds = kinds_of(self.hints.get(found.key))
        others: list[Value] = []
        if bool in kinds:
            others += [True, False]
        if int in kinds or not kinds - {type(None)}:
            others += [16, 4, 2, 1, 48, 96, 3]
        if float in kinds:
            others += _rates(0.5)
        if str in kinds:
            last = found.key.rpartition(".")[2]
            others += (
                activations()[:6] if ACTIVATION.search(last) else [*literals(self.hints.get(found.key)), *words_near(last, self.sources)]
            )
        if list in kinds or tuple in kinds:
            others += [(), (0,), (1,)]
            depths = self._depths_beside(found.key, base)
            if depths and _INDICES.search(found.key):
                found.depths = tuple(depths)
                self._try(found, "indices", [*others, (0, 1), (0, 2)], base)
                return
        self._try(found, "option", others, base)
        if not kinds - {type(None)} and not found.active and not _SIZE.search(found.key):  # nothing is said of its type
            self._try(found, "option", [True], base)

    def _probe_list(self, found: Field, value: tuple[Any, ...], base: int) -> None:
        if value[:1] == ("{}",):
            self._probe_object(found, value, base)
        elif value and all(isinstance(one, str) for one in value):
            self._probe_words(found, value, base)
        elif value and all(is_whole(one) for one in value):
            found.kind = "numbers"
            others = [
                tuple(one * 2 for one in value),
                tuple(one + 1 for one in value),
                tuple(one + 8 for one in value),
                value[:-1] or value,
            ]
            for place in range(min(len(value), 6)):
                others += [(*value[:place], value[place] + more, *value[place + 1 :]) for more in (1, value[place] or 1, 7)]
            self._try(found, "numbers", others, base)
        elif not value:
            self._try(found, "option", [(0,), (1,), (0, 1)], base)
        elif all(isinstance(one, tuple) for one in value):
            others = [tuple(tuple(_plus(v, more) for v in one) for one in value) for more in (1, 8)] + [value[:-1] or value]
            self._try(found, "numbers", others, base)
        elif all(isinstance(one, float) for one in value):
            rates = [(rate,) * len(value) for rate in (0.0, 1e-12, 0.37, 64.0)]
            self._try(found, "option", [*rates, tuple(2 * one for one in value)], base)
        elif all(isinstance(one, bool) for one in value):
            others = [tuple(not one for one in value)]
            others += [(*value[:place], not value[place], *value[place + 1 :]) for place in range(len(value))]
            self._try(found, "option", others, base)
        else:
            self._try(found, "option", [value[:-1] or value], base)

    def _probe_object(self, found: Field, value: tuple[Any, ...], base: int) -> None:
        given = dict(value[1:])
        others: list[Value] = []
        if "rope_type" in given:
            more = {"factor": 2.0, "original_max_position_embeddings": 1024}
            others += [object_of({**given, **more, "rope_type": word}) for word in ("linear", "dynamic", "yarn")]
            others.append(object_of({**given, "rope_theta": 5e5}))
        else:
            others += [None, object_of({})]
            others += [object_of({k: _plus(v, 1) for k, v in given.items()})]
        self._try(found, "object", others, base)
        found.pool.append(value)

    def _probe_words(self, found: Field, value: tuple[str, ...], base: int) -> None:
        at = self.samples[base]
        alphabet = tuple(layer_words(value, self.sources))
        depth = [key for key in self._depths_beside(found.key, base) if at.values[key] == len(value)]
        found.pool = list(depth)
        works = []
        last = [value[-1]]
        for word in alphabet:
            for place in (0, len(value) - 1):
                one = self.tried({**at.point, found.key: tuple(word if i == place else one for i, one in enumerate(value))})
                if one is not None and one.values.get(found.key) == one.point[found.key]:
                    works.append(word)
                    if place == len(value) - 1:
                        last.append(word)
                    if one.tensors != at.tensors:
                        found.active = True
                        self.lines.append((base, self.add(one), found.key))
        found.kind, found.alphabet = ("words", tuple(dict.fromkeys(works))) if works else ("rigid", ())
        found.last = tuple(dict.fromkeys(last))
        if works and not depth:
            other = [self.tried({**at.point, found.key: one}) for one in ((*value, value[0]), value[:-1] or value)]
            found.any_length = all(one is not None and one.values.get(found.key) == one.point[found.key] for one in other)
        if not works:
            found.pool = [value]

    def _depths_beside(self, key: str, base: int) -> list[str]:
        """Return the numbers of layers in the same configuration as a key."""
        above, values = key.rpartition(".")[0], self.samples[base].values
        return [one for one, value in values.items() if is_whole(value) and one.rpartition(".")[0] == above and _DEPTH.search(one)]

    def _probe_number(self, found: Field, base: int) -> None:
        at, key, value = self.samples[base], found.key, found.base
        heads = {v for k, v in at.values.items() if is_whole(v) and 2 <= v <= 128 and _HEADS.search(k)}
        steps = sorted({1, 2, 3, 4, 8, 16, 32, 64, 128, *heads, abs(value) or 1, *(64 * one for one in heads)})
        step = next((s for s in steps if s <= 4 * max(abs(value), 4) and self.tried({**at.point, key: value + s}) is not None), None)
        if step is None:
            others = [0, *numbers_near(value)] if 0 < value <= 4 and "offset" in key else numbers_near(value)
            good = [other for other in others if self.tried({**at.point, key: other}) is not None]
            self._try(found, "divisor", good, base)
            return
        probes = [value + step, value + 3 * step, value + 8 * step]
        lower = [other for other in (value // 2, value - step, 1) if 0 < other < value]
        self._try(found, "width", [*probes, *lower], base)
        if not found.active and not _DEPTH.search(key.rpartition(".")[2]):  # a least width has no effect below another size
            self._try(found, "width", [value + step * -(-2 * max(self.sizes) // step)], base)
        if key in self.told.zero:
            self._try(found, "width", [0], base)
        found.step = step
        if not found.active:
            return
        named = any(set(self.samples[j].tensors) != set(at.tensors) for i, j, k in self.lines if k == key and i == base)
        if named and (value <= 12 or _DEPTH.search(key.rpartition(".")[2])):
            found.kind = "count"
            self._try(found, "count", [0], base)  # of a size, 0 often means that another key is read
            found.pool += [one for one in range(max(1, value - 2), value + 6) if one % step == value % step]
        elif _HEADS.search(key.rpartition(".")[2]) and value <= 128 and "dim" not in key:
            found.kind = "divisor"
            found.pool += [one for one in (1, 2, 3, 4, 6, 8, 12, 16) if one not in found.pool]
        else:
            low = value % step
            tens = max(1, value // (step * 6))
            found.pool += [low + step * tens * j for j in range(1, 18) if low + step * tens * j > 0]
            found.pool += [one for one in (64, 96, 128, 192, 256, 384, 512, 768, 1024) if step == 1 or one % step == low]

    # Samples ------------------------------------------------------------------------------------------------------------------

    def _more_bases(self) -> None:
        """Move each key from each sample that brought new templates."""
        known = set(_templates(self.origin))
        seen: set[frozenset[str]] = set()
        bases = 0
        for _i, j, key in list(self.lines):
            new = frozenset(_templates(self.samples[j]) - known)
            if not new or new in seen or bases >= 8 or self.spent(0.55):
                continue
            seen.add(new)
            bases += 1
            here = self.samples[j]
            fresh = [one for one in self.relevant(here) if one not in self.fields]
            self._probe(fresh, j)
            for other in list(self.fields.values()):
                if other.key == key or other.kind in {"rigid", "free"} or self.spent(0.58):
                    continue
                changed = self._moved(other, here)
                if changed is not None and changed.tensors != here.tensors:
                    if not other.active:
                        other.active = True
                        again = self._moved(other, here, 3)
                        if again is not None:
                            self.lines.append((j, self.add(again), other.key))
                    self.lines.append((j, self.add(changed), other.key))

    def _moved(self, one: Field, here: Seen, times: int = 1) -> Seen | None:
        value = here.values.get(one.key)
        if one.kind == "width" and is_whole(value):
            return self.tried({**here.point, one.key: value + times * one.step})
        others = [other for other in one.pool if other != value] if not one.alphabet else [one.draw(self.rng, here.point, here.values)]
        return self.tried({**here.point, one.key: self.rng.choice(others)}) if others else None

    def _equals(self) -> None:
        """Make pairs of widths equal; keep those where other tensors are stored."""
        widths = [
            one for one in self.fields.values() if one.active and one.kind == "width" and is_whole(one.base) and one.base > _LEAST_EQUAL
        ]
        for one, other in combinations(widths, 2):
            if self.spent(0.62) or one.base == other.base or one.key.rpartition(".")[0] != other.key.rpartition(".")[0]:
                continue
            seen = self.tried({**self.base, one.key: other.base}) or self.tried({**self.base, other.key: one.base})
            self._add_equal(seen, one.key, lambda point, other=other: point.values.get(other.key))
        held = [one.base for one in self.fields.values() if not one.active and isinstance(one.base, tuple)]
        for one, number in product(widths, sorted({entry for base in held for entry in base if is_whole(entry) and entry > _LEAST_EQUAL})):
            if not self.spent(0.62) and one.base != number:  # a layer between two widths is often left out if they are equal
                seen = self.tried({**self.base, one.key: number}) or self.tried(self._divided(one, number))
                if self._add_equal(seen, one.key, lambda _, number=number: number):
                    self.told = self.told.plus(Told(tests=(("equal", one.key, number),)))

    def _divided(self, one: Field, size: int) -> Point:
        """Return a point with a size, and numbers that divide the base's size lowered until they divide this one."""
        numbers = {other.key: other.base for other in self.fields.values() if is_whole(other.base) and other.base > 1}
        divisors = {key: number for key, number in numbers.items() if one.base % number == 0 and size % number and key != one.key}
        return {**self.base, **{key: math.gcd(number, size) for key, number in divisors.items()}, one.key: size}

    def _add_equal(self, seen: Seen | None, key: str, other: Callable[[Seen], Value]) -> bool:
        """Keep a sample with two equal widths, and others like it, if other tensors are stored; return whether they are."""
        if seen is None or set(seen.tensors) == set(self.origin.tensors):
            return False
        self.add(seen)
        changed = {one: value for one, value in seen.point.items() if self.base.get(one) != value}
        for _ in range(6):
            point = self.drawn(0.4)
            again = self.tried({**point.point, **changed, key: other(point)}) if point is not None else None
            if again is not None:
                self.add(again)
        return True

    def _generic(self) -> None:
        """Move each key from a point where all are unusual."""
        for _ in range(2):
            seen = self.drawn(0.9)
            if seen is None:
                continue
            here = self.add(seen)
            for one in self.fields.values():
                if one.kind in {"rigid", "free"} or self.spent(0.66):
                    continue
                other = self.tried({**seen.point, one.key: one.draw(self.rng, seen.point, seen.values)})
                if other is not None and (one.active or other.tensors != seen.tensors):
                    one.active = True
                    self.lines.append((here, self.add(other), one.key))

    def draw_samples(self, count: int, share: float) -> None:
        """Add random samples."""
        for turn in range(count):
            if self.spent(share):
                return
            seen = self.drawn((0.3, 0.7, 0.97)[turn % 3], big=turn % 5 == 4)
            if seen is not None:
                self.add(seen)

    def tried_together(self, pairs: Iterable[Sequence[Any]]) -> None:
        """Build models with two values that were never seen together, beside the base and beside the defaults."""
        for (one, first, other, second), point in product(pairs, (self.base, self.default.point)):
            self.tried({**point, one: first, other: second})

    def draw_like(self, templates: set[str], count: int) -> None:
        """Add samples that store some templates: from those that do, with other keys changed."""
        held = [seen for seen in self.samples if templates & _templates(seen)]
        for _ in range(count if held else 0):
            seen, share = self.rng.choice(held), self.rng.choice((0.1, 0.3, 0.5))  # of many changes, some are refused
            point = dict(seen.point)
            for one in self.fields.values():
                if one.kind != "rigid" and (one.active or one.moves) and not isinstance(one.base, bool | str) and self.rng.random() < share:
                    point[one.key] = one.draw(self.rng, point, seen.values)
            other = self.tried(point)
            if other is not None and self.keeps(other):
                self.add(other)

    def drawn(self, share: float, *, big: bool = False, inert: float = 0.15, rng: random.Random | None = None) -> Seen | None:
        """Return a random sample: a share of the active keys changed, some of the others; less of them until it can be built."""
        rng = rng or self.rng
        point = dict(self.base)
        if self.inner and rng.random() < 0.2:  # the inner configuration with its own defaults
            point = {key: value for key, value in point.items() if key not in self.inner or key.rpartition(".")[2] in PROPERTIES}
        changed: list[str] = []
        for one in self.fields.values():
            if one.kind == "rigid" or rng.random() > (share if one.active or one.moves else 0.6 if one.later else inert):
                continue
            point[one.key] = one.draw(rng, point, self.origin.values, big)
            changed.append(one.key)
        seen = self.tried(point)
        for _ in range(6):
            if seen is not None or not changed:
                break
            for key in [key for key in changed if rng.random() < 0.4] or changed[:1]:
                changed.remove(key)
                if key in self.base:
                    point[key] = self.base[key]
                else:
                    point.pop(key, None)
            seen = self.tried(point)
        return seen if changed and (seen is None or self.keeps(seen)) else None

    def may_be_fixed(self, key: str) -> bool:
        """Whether a key has its default in the base."""
        value = self.origin.values.get(key)
        return (key in self.origin.values) == (key in self.default.values) and self.default.values.get(key) == value

    def cost(self, key: str) -> tuple[int, str]:
        """Return the loss if a key is fixed: rates lose least, then lists and words, small numbers, numbers of heads, widths and depths."""
        value, last = self.origin.values.get(key), key.rpartition(".")[2]
        if is_whole(value):
            if not _PLACE.search(last) and (_DEPTH.search(last) or _LARGE.search(last)):
                return (4, key)
            return (2 if value <= _SMALL and not _HEADS.search(last) else 3, key)
        return (0 if isinstance(value, float) else 1, key)

    def fix(self, key: str) -> None:
        """Fix a key at its default, and forget the samples that were built with other values."""
        found = self.fields[key]
        found.kind, found.active, found.moves, found.pool, found.alphabet = "rigid", False, False, [found.base], ()
        self.fixed[key] = self.origin.values.get(key)
        kept = {i: position for position, i in enumerate(i for i, seen in enumerate(self.samples) if self.keeps(seen))}
        self.lines = [(kept[i], kept[j], other) for i, j, other in self.lines if i in kept and j in kept]
        self.samples = [seen for seen in self.samples if self.keeps(seen)]
        known = {id(seen) for seen in self.samples}
        built = (seen for seen in self.reference.cache.values() if isinstance(seen, Seen) and id(seen) not in known)
        self.samples.extend([seen for seen in built if self.keeps(seen)][:_MOST_KEPT])
        self.draw_samples(24, math.inf)

    def keeps(self, seen: Seen) -> bool:
        """Whether a sample has the fixed keys at their defaults, and none that must be less than another one is not."""
        return self._is_below(seen) and all(same(seen.values.get(key), value) for key, value in self.fixed.items())

    def _is_below(self, seen: Seen) -> bool:
        """Whether each number that must be less than another one is, such as the layers with shared keys than all layers."""
        pairs = [(seen.values.get(one), seen.values.get(other)) for one, other in self.told.below]
        return all(one < other for one, other in pairs if is_whole(one) and is_whole(other))

    @property
    def sizes(self) -> list[int]:
        """The sizes of the base, except those of vocabularies."""
        return [value for value in self.origin.values.values() if is_whole(value) and 0 < value <= _LARGEST_WIDTH] or [1]

    @property
    def telling(self) -> list[str]:
        """The keys that laws may be about, those that change something by themselves first."""
        found = sorted(self.fields.values(), key=lambda one: (not one.active, not one.moves))
        return [
            one.key for one in found if one.active or one.moves or one.key in self.influencing or one.kind in {"width", "divisor", "count"}
        ]

    def probe_read(self, keys: Iterable[str], seen: Seen) -> None:
        """Probe keys of which no read was seen, from a sample in which they have an effect."""
        self.told = self.told.plus(Told(read=tuple(keys)))
        base = self.add(seen)
        for key in keys:
            self.fields[key] = Field(key, self.origin.values.get(key))
            self._probe_one(self.fields[key], base)

    def refresh(self) -> None:
        """Probe the keys that only later samples read."""
        for position, seen in enumerate(self.samples):
            fresh = [key for key in self.relevant(seen) if key not in self.fields]
            if fresh:
                self._probe(fresh, position, 0.8)


def _moves(key: str, values: Mapping[str, Value], before: Mapping[str, Value]) -> bool:
    return any(values.get(other) != value for other, value in before.items() if other != key and not other.startswith("id2label"))


def _templates(seen: Seen) -> frozenset[str]:
    return frozenset(template_of(name)[0] for name in seen.tensors)


def _shapes(seen: Seen) -> frozenset[tuple[str, Any]]:
    return frozenset((template_of(name)[0], fact) for name, fact in seen.tensors.items() if fact[0] != "tie")


def same(value: Value, other: Value) -> bool:
    """Whether two values are the same; 1 and True are different."""
    return type(value) is type(other) and value == other


def _plus(value: Value, more: int) -> Value:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return value + more


def _far(value: Value) -> list[Value]:
    """Return other values of a flag or a number, near ones and far ones."""
    if isinstance(value, bool):
        return [not value]
    return [value + 1, 0, 64 * value, 1, max(0, value - 1), 3 * value + 2, 4096 * value, 2] if is_whole(value) and value >= 0 else []


def _rates(value: float) -> list[Value]:
    """Return other values of a rate."""
    return [value * 2, value / 2, 0.0, 1.0, value * 1.37, value * 0.73, value * 1.9, 1e-12]


def _others(value: Value, hint: Any) -> list[Value]:
    """Return a few other values, for keys that only the configuration itself reads."""
    if isinstance(value, bool):
        return [not value]
    if is_whole(value):
        return [value + 1, max(1, value - 1), 2 * value or 1]
    if isinstance(value, float):
        return [value / 2, value * 2]
    if isinstance(value, str):
        return literals(hint)[:3]
    if value is None:
        kinds = kinds_of(hint)
        return [*([True] if bool in kinds else []), *([2, 4] if int in kinds else [])]
    return []
