"""Fresh random configurations of recorded classes, drawn by other rules than those of the search, against the reference.

``PYTHONPATH=.:tests python -m atlas_builder.sampling [--seconds 10] [--salt 1] [TYPE[:CLASS] ...]`` prints a line for each class, and each
configuration whose tensors the record has wrong. Every key may be drawn, those of inner configurations and lists included: its own value
changed, the value of another key, null, or several sizes multiplied together. Keys of other types are added now and then. In some
configurations all keys at once that are read as without effect have other values: an effect of one of them shows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from typing import Any

from atlas_builder.exploring import COMMON_KEYS
from atlas_builder.mentions import source_words
from atlas_builder.reference import RefusedError, reference_of

import paramsym as ps
from paramsym.atlas.domain import verified
from paramsym.atlas.files import plain_type, record_of, recorded_types
from paramsym.atlas.predicting import predicted
from paramsym.atlas.reading import is_unknown
from paramsym.atlas.values import Value, object_of
from paramsym.errors import ConfigError

_LONGEST = 6  # seconds for one model of the reference
_SIZES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 30, 32, 48, 60, 64, 96, 100, 128, 192, 256, 384)
_CHANGED = (1, 1, 1, 2, 2, 3, 4, 6, 9)
_DEEP = 6
_OBJECTS: tuple[Value, ...] = (object_of({"factor": 2.0}), object_of({"hidden_size": 48}))
_OTHER_VALUES: tuple[Value, ...] = (None, True, False, 0, 1, 3, 24, 100, 0.5, 2.0, "default", (2, 3), *_OBJECTS)


@cache
def _keys_of_all() -> tuple[str, ...]:
    """Return the keys of all records, and their other spellings."""
    found: dict[str, None] = {}
    for model_type in recorded_types():
        record = record_of(model_type)
        keys = [*record["aliases"], *record.get("extra", ()), *(word for words in record.get("mentioned", {}).values() for word in words)]
        for one in record["classes"].values():
            keys += [*one["keys"], *one["free"]]
        found |= dict.fromkeys(key.rpartition(".")[2] for key in keys)
    return tuple(sorted(found))


class Sampler:
    """Draws configurations of one class."""

    def __init__(self, model_type: str, name: str, salt: str) -> None:
        """Build the default.

        Raises:
            RefusedError: the reference does not build it.
        """
        self.model_type, self.name = model_type, name
        self.rng, self.why = random.Random(f"{salt} {model_type} {name}"), ""
        self.entry = record_of(model_type)["classes"][name]
        self.reference = reference_of(model_type, name)
        first = self.reference.first()
        self.inner = self.reference.inner()
        self.values = {**first.values, **{key: value for key, value in self.inner.items() if key not in first.values}}
        known = [key for key in self.values if key.rpartition(".")[2] not in COMMON_KEYS or key == "num_labels"]
        self.keys = [key for key in known if not key.endswith("model_type") and self.values[key] != ("{}",)]
        self.likely = [key for key in self.keys if key in self.entry["keys"] and not _one_value(self.entry["keys"][key])]
        self.deep = [key for key in self.likely if any(word in key for word in ("layers", "depth", "blocks", "n_layer"))]

    def point(self) -> dict[str, Value]:
        """Return changed keys."""
        rng = self.rng
        found: dict[str, Value] = dict(self.reference.start)
        if self.inner and rng.random() < 0.5:
            found |= self.inner
        for key in self.deep if rng.random() < 0.8 else ():
            if type(self.values[key]) is int:
                found[key] = rng.randint(1, _DEEP)
        for _ in range(rng.choice(_CHANGED)):
            key = rng.choice(self.likely if self.likely and rng.random() < 0.8 else self.keys)
            found[key] = self._drawn(key, found)
        if rng.random() < 0.3:
            factor = rng.choice((2, 3, 0.5, 0.25))
            for key in self.likely:
                value = found.get(key, self.values[key])
                if type(value) is int and value >= 16 and rng.random() < 0.7:
                    found[key] = max(1, int(value * factor))
        if rng.random() < 0.3:
            record = record_of(self.model_type)
            spelled = [*record["aliases"], *record.get("extra", ())]
            for _ in range(rng.choice((1, 2, 4))):
                prefix = rng.choice(("", *(f"{one}." for one in record["inside"])))
                key = rng.choice(spelled) if spelled and rng.random() < 0.3 else prefix + rng.choice(_keys_of_all())
                if key not in {*self.values, *record["inside"]} and key.rpartition(".")[2] not in COMMON_KEYS:
                    found[key] = rng.choice(_OTHER_VALUES)
        return found

    @cached_property
    def without_effect(self) -> list[str]:
        """The keys of the record on which no tensor depends, and words of the reference's source that are read as unknown keys."""
        record, keys = record_of(self.model_type), self.entry["keys"]
        known = [*keys, *self.entry["free"]]
        plain = {key for key, domain in keys.items() if domain.get("unused") and not domain.get("derived")}
        unused = [key for key in self.keys if key in {*self.entry["free"], *plain}]
        others = [key for key in record.get("extra", ()) if key not in known]
        names = source_words([self.reference.config_class, self.reference.model_class])
        inside = frozenset(record["inside"])
        for word in sorted(names - {*known, *others, *record["aliases"], *record.get("spelled", ()), *inside}):
            with suppress(ConfigError):
                others += [word] if is_unknown(word, 1, record, inside, known) else []
        return [*unused, *others]

    def joint(self) -> dict[str, Value]:
        """Return a configuration with other values for all keys at once that have no effect; fewer, if it is refused or not built."""
        point = next((one for one in (self.point() for _ in range(20)) if self.read(one) is not None), {})
        other = {key: value for key in self.without_effect if key not in point for value in self._other(key, point)}
        for _ in range(40):
            if self.read({**point, **other}) is None:
                named = [key for key in other if re.search(rf"(: |^|key '){re.escape(key)}\\b", self.why)]
                other = {key: value for key, value in other.items() if key not in named and (named or self.rng.random() < 0.7)}
            elif self.outcome({**point, **other}) == "not built":
                other = {key: value for key, value in other.items() if self.rng.random() < 0.7}
            else:
                break
        return {**point, **other}

    def _other(self, key: str, point: Mapping[str, Value]) -> Iterator[Value]:
        """Yield another value of a key that the record takes, if one is found."""
        domain, value = self.entry["keys"].get(key, record_of(self.model_type).get("extra", {}).get(key)), self.values.get(key)
        for _ in range(8):
            other = self._drawn(key, point) if key in self.values else self.rng.choice(_OTHER_VALUES)
            if repr(other) != repr(value) and (domain is None or verified(domain, other)):
                yield other
                return

    def _drawn(self, key: str, point: Mapping[str, Value]) -> Value:
        rng, value = self.rng, point.get(key, self.values[key])
        domain = self.entry["keys"].get(key, {})
        words = [one for one in domain.get("words", ()) if not isinstance(one, tuple)]
        roll = rng.random()
        if roll < 0.08:
            return None
        if words and roll < 0.35:
            return rng.choice(words)
        if value is None:
            value = rng.choice([*(one for one in words if one is not None), 2, 4, 16, 64, True])
        return self._changed(value, point)

    def _changed(self, value: Value, point: Mapping[str, Value]) -> Value:
        rng = self.rng
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            same = [one for one in {**self.values, **point}.values() if type(one) is int]
            choices = [
                value + 1,
                value - 1,
                2 * value,
                3 * value,
                value // 2,
                rng.choice(same),
                2 * rng.choice(same),
                *rng.choices(_SIZES, k=3),
            ]
            return max(0, rng.choice(choices))
        if isinstance(value, float):
            return rng.choice([0.0, 0.5, 1.0, 2.0, 4.0, value / 2, value * 2])
        if isinstance(value, tuple) and value[:1] != ("{}",):
            return self._list(value, point)
        return value

    def _list(self, value: tuple[Any, ...], point: Mapping[str, Value]) -> Value:
        rng = self.rng
        way = rng.randrange(6)
        if way == 0 and len(value) > 1:
            return value[: rng.randrange(1, len(value))]
        if way == 1 and value:
            return (*value, rng.choice(value))
        if way == 2:
            return tuple(rng.sample(value, len(value)))
        if way == 3 and value:
            lengths = [one for one in {**self.values, **point}.values() if type(one) is int and 0 < one <= 12]
            return tuple(rng.choice(value) for _ in range(rng.choice(lengths or [len(value)])))
        if way == 4 and value and isinstance(value[0], int):
            return (self._changed(value[0], point),) * len(value)
        return tuple(self._changed(one, point) if rng.random() < 0.4 else one for one in value)

    def default(self) -> str:
        """Say how the default comes out, as the reference saves it."""
        start = dict(self.reference.start)
        saved = self.reference.config_class(**self.reference.arguments(start)).to_json_string(use_diff=False)
        return self.outcome(start, json.loads(saved))

    def read(self, point: dict[str, Value], config: dict[str, Any] | None = None) -> Any:
        """Return the model of a configuration; None if it is refused."""
        config = self.reference.arguments(point) if config is None else config
        try:
            with warnings.catch_warnings(action="ignore"):
                return ps.from_config({**config, "model_type": plain_type(self.model_type)}, architecture=self.name)
        except ConfigError as error:
            self.why = str(error)
            return None

    def outcome(self, point: dict[str, Value], config: dict[str, Any] | None = None) -> str:
        """Say how one configuration comes out; without ``config``, it has the keys of the point alone."""
        config = self.reference.arguments(point) if config is None else config
        if config.get("num_labels") == 0:
            return "not built"
        ours = self.read(point, config)
        if ours is None:
            return "refused"
        signal.alarm(_LONGEST)
        try:
            theirs = self.reference.build(point)
        except RefusedError:
            return "not built"
        except TimeoutError:
            return "too long"
        finally:
            signal.alarm(0)
        listed, stored = ours.shapes(), {n: shape for n, (kind, shape) in theirs.tensors.items() if kind in {"parameter", "frozen"}}
        if predicted(ours._rows.rows, dict(ours.values)) != theirs.tensors or listed != stored:
            return "wrong"
        return "exact" if [*listed] == [*stored] else "wrong" if self.entry["certificate"]["ordered"] else "in another order"

    def reduced(self, point: Mapping[str, Value]) -> dict[str, Value]:
        """Return the fewest keys of a wrong configuration with which it is still wrong."""
        start, keys = dict(self.reference.start), [key for key in point if key not in self.reference.start]
        size = len(keys)
        while size := size // 2:
            at = 0
            while at < len(keys):
                rest = keys[:at] + keys[at + size :]
                if self.outcome({**start, **{key: point[key] for key in rest}}) == "wrong":
                    keys = rest
                else:
                    at += size
        return {**start, **{key: point[key] for key in keys}}


def _one_value(domain: Mapping[str, Any]) -> bool:
    return not domain.get("any") and not {"whole", "entries", "number"} & domain.keys() and len(domain.get("words", ())) < 2


def difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Say where two mappings of tensors differ first."""
    for name in [*theirs, *ours]:
        if ours.get(name) != theirs.get(name):
            return f"{name}: {ours.get(name)} for {theirs.get(name)}"
    return "the order"


def sampled(model_type: str, name: str, seconds: float, salt: str, draws: int = 4000, joint: float = 0.1) -> Iterator[str]:
    """Yield the wrong configurations of a class, and a line with the numbers of outcomes."""
    found = Counter[str]()
    try:
        sampler = Sampler(model_type, name, salt)
    except RefusedError as error:
        yield f"{model_type}:{name} default not built: {error}"
        return
    default = sampler.default()
    if default not in {"exact", "in another order"}:
        yield f"DEFAULT {model_type}:{name} {default} {sampler.why}"
    began, seen = time.process_time(), set[str]()
    while time.process_time() - began < seconds and sum(found.values()) < draws and found["exact"] + found["in another order"] < 400:
        point = sampler.joint() if sampler.rng.random() < joint else sampler.point()
        key = repr(sorted(point.items()))
        if key in seen:
            found["again"] += 1
            continue
        seen.add(key)
        try:
            what = sampler.outcome(point)
        except Exception as error:  # noqa: BLE001 - a fault is a finding
            what = f"{type(error).__name__}: {error}"[:200]
            yield f"FAULT {model_type}:{name} {json.dumps(sampler.reference.arguments(point), default=str)} {what}"
            what = "fault"
        found[what] += 1
        sampler.reference.cache.clear()
        if what == "wrong":
            point = sampler.reduced(point)
            model = ps.from_config({**sampler.reference.arguments(point), "model_type": plain_type(model_type)}, architecture=name)
            words = difference(predicted(model._rows.rows, dict(model.values)), sampler.reference.build(point).tensors)
            yield f"WRONG {model_type}:{name} {json.dumps(sampler.reference.arguments(point), default=str)} {words}"
            if found["wrong"] >= 6:
                break
    yield f"{model_type}:{name} {dict(found)} {time.process_time() - began:.1f}"


def _late(*_: object) -> None:
    raise TimeoutError


def main(arguments: list[str]) -> None:
    """Sample classes."""
    parser = argparse.ArgumentParser(prog="atlas_builder.sampling")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--draws", type=int, default=4000, help="configurations of each class")
    parser.add_argument("--salt", default="1")
    parser.add_argument("--joint", type=float, default=0.1, help="the share of configurations with all keys without effect changed")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("K", "N"), help="every N-th class from K on")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, _late)
    asked = [(one.partition(":")[0], one.partition(":")[2]) for one in options.names] or [(one, "") for one in recorded_types()]
    classes = [(one, name) for one, chosen in asked for name in record_of(one)["classes"] if chosen in {"", name}]
    part, parts = options.part
    _keys_of_all()  # before a process of each class needs them
    for one, name in classes[part::parts]:
        if os.fork() == 0:  # memory and changed settings of the reference end with the class
            for line in sampled(one, name, options.seconds, options.salt, options.draws, options.joint):
                print(line, flush=True)
            sys.stdout.flush()
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
