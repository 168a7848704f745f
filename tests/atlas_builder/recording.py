"""From samples of a class to its entry in a record, and the tests that it must pass before it gets in."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from atlas_builder.exploring import _ABSENT, _DEPTH, _TOKEN, COMMON_KEYS, INNER, Explorer, Point, _others
from atlas_builder.fitting import Fitter, NoFitError, is_whole, listed, told_apart
from atlas_builder.narrowing import base_of, fixed_in, narrow
from atlas_builder.reference import PROPERTIES, Reference, RefusedError, Seen, reference_of, require_published, unresolved
from atlas_builder.rows import Ledger, Rows, template_of
from atlas_builder.saving import accept_saved
from atlas_builder.sets import set_law
from atlas_builder.told import Told, told_by

from paramsym.atlas import predicting
from paramsym.atlas.domain import default
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.predicting import Row, predicted, rows_of, sizes_of
from paramsym.atlas.reading import values_of
from paramsym.atlas.sizes import Sizes
from paramsym.atlas.tree import grown
from paramsym.atlas.values import Value

ADVERSARIAL = 200
_FEWEST = 50
_ROUNDS = 6
_TRIES = 2  # rounds of more samples, before a key is fixed
_MOST_FIXED = 24
_ENOUGH = 8  # wrong answers, to look for a better law
_MOST_PAIRS = 3000
_JOINTLY = 0.1  # the share of exact configurations that are tried again with other values for all keys without effect


class NotAdmittedError(Exception):
    """A class that gets no entry, and why."""


@dataclass
class Entry:
    """A class being recorded."""

    model_type: str
    explorer: Explorer
    ledger: Ledger = field(default_factory=Ledger)
    seconds: float = 30
    base: tuple[str, Mapping[str, Any]] | None = None
    longest_fit: float = 8

    @property
    def reference(self) -> Reference:
        """The class."""
        return self.explorer.reference

    def derive(self) -> dict[str, Any]:
        """Return the entry.

        Raises:
            NotAdmittedError: with the reason.
        """
        ends = time.process_time() + self.seconds
        try:
            self.explorer.explore()
        except RefusedError as error:
            message = f"the defaults are not built: {error}"
            raise NotAdmittedError(message) from None
        self._explain(ends)
        entry = self._entry()
        for turn in range(_ROUNDS + _MOST_FIXED):
            outcome, wrong = self._attack(entry, turn)
            if not wrong:
                self.explorer.tried_together(entry["unseen"])
                return self._certified(self._entry(), outcome)  # which has also seen what the attack built
            late = turn >= _ROUNDS or time.process_time() > ends
            if late and not self._fix_one(self._changed_in_most(wrong)):
                break
            self.explorer.samples.extend(one for one in wrong if self.explorer.keeps(one))
            self._more(10)
            self._explain(ends)
            entry = self._entry()
        message = f"{len(wrong)} of {ADVERSARIAL} configurations come out wrong, such as {wrong[0].point}"
        raise NotAdmittedError(message[:400])

    def _explain(self, ends: float) -> None:
        """Find laws that all samples so far follow; for a tensor without a law, fix a key at its default.

        Raises:
            NotAdmittedError: a tensor has no law even so.
        """
        for turn in range(_ROUNDS + _MOST_FIXED):
            self._fit()
            late = turn >= _ROUNDS or time.process_time() > ends
            if not self.ledger.unexplained:
                if not self._counterexamples() or late:
                    return
            elif turn < _TRIES and not late:
                self._more(20)
                self.explorer.draw_like({template for template, _ in self.ledger.unexplained}, 24)
            elif not self._fix_a_key():
                break
        if self.ledger.unexplained:
            template, why = self.ledger.unexplained[0]
            message = f"no law for {template}: {why}"
            raise NotAdmittedError(message[:400])

    def _fix_a_key(self) -> bool:
        """Fix one of the keys that change a tensor without a law at its default; return whether there was such a key."""
        template = template_of(self.ledger.unexplained[0][0])[0]
        explorer = self.explorer
        stored = [{name: fact for name, fact in seen.tensors.items() if template_of(name)[0] == template} for seen in explorer.samples]
        return self._fix_one({key for i, j, key in explorer.lines if stored[i] != stored[j]})

    def _changed_in_most(self, wrong: Sequence[Seen]) -> set[str]:
        """Return the keys that change tensors, may be fixed, and differ from the base in most of what came out wrong (half at least)."""
        explorer, base = self.explorer, self.explorer.origin.values
        keys = [key for key in explorer.telling if key in explorer.fields and explorer.may_be_fixed(key)]
        changed = {key: sum(seen.values.get(key) != base.get(key) for seen in wrong) for key in keys}
        most = max(changed.values(), default=0)
        return {key for key, times in changed.items() if times == most and 2 * times >= len(wrong)}

    def _fix_one(self, causes: set[str]) -> bool:
        """Fix the key that loses least at its default; return whether there was such a key."""
        explorer = self.explorer
        keys = sorted(key for key in causes if key in explorer.fields and explorer.may_be_fixed(key))
        if not keys or len(explorer.fixed.keys() - set(explorer.told.fixed)) >= _MOST_FIXED:
            return False
        explorer.fix(min(keys, key=explorer.cost))
        return True

    def _more(self, count: int) -> None:
        self.explorer.refresh()
        self.explorer.draw_samples(count, 9.0)

    def _fit(self) -> None:
        explorer = self.explorer
        unique: dict[int, Seen] = {}
        for seen in explorer.samples:
            unique.setdefault(id(seen), seen)
        self.fitter = Fitter([seen.values for seen in explorer.samples], explorer.telling, explorer.lines, explorer.told)
        self.fitter.ends = time.process_time() + min(self.longest_fit, self.seconds / 3)
        self.ledger = Rows(self.fitter, [seen.tensors for seen in explorer.samples]).explain()

    def _agrees(self, seen: Seen) -> bool | None:
        """Whether the rows give what was built; None if they refuse."""
        try:
            return predicted(self.ledger.rows, seen.values) == seen.tensors
        except OutsideError:
            return None

    def _counterexamples(self) -> bool:
        """Add what was built and does not come out; say whether there was any."""
        explorer = self.explorer
        for _ in range(24):
            explorer.drawn(explorer.rng.choice((0.3, 0.7, 0.97)), big=explorer.rng.random() < 0.3)
        known = {id(seen) for seen in explorer.samples}
        odd = [seen for seen in self._all() if id(seen) not in known and self._agrees(seen) is not True]
        explorer.samples.extend(odd[:60])
        if odd:
            explorer.refresh()
            explorer.draw_samples(6, 9.0)
        return bool(odd)

    def _all(self) -> list[Seen]:
        return [seen for seen in self.reference.cache.values() if isinstance(seen, Seen) and self.explorer.keeps(seen)]

    # The entry ----------------------------------------------------------------------------------------------------------------

    def _entry(self) -> dict[str, Any]:
        """Return the entry of what is known so far, within that of the base class."""
        entry = self._unbounded_entry()
        if self.base is not None:
            narrow(entry, self.base[1], self.explorer.default.values)
        return entry

    def _unbounded_entry(self) -> dict[str, Any]:
        good = [seen for seen in self._all() if self._agrees(seen)]
        explorer = self.explorer
        telling = [key for key in explorer.telling if key in explorer.fields]
        self.good = Fitter([seen.values for seen in good], telling, [], explorer.told)
        self.good_seen = good
        keys: dict[str, dict[str, Any]] = {}
        used = _keys_in(self.ledger.rows) | (set(explorer.told.derived) & explorer.fields.keys())
        names = {*explorer.fields, *explorer.influencing, *explorer.unclear}
        for key in sorted(names):
            keys[key] = self._domain(key, good)
        waiting = sorted(used)
        done: set[str] = set()
        while waiting:
            key = waiting.pop()
            if key in done:
                continue
            done.add(key)
            found = keys.setdefault(key, self._domain(key, good))
            rules = self._rules(key, good)
            found |= rules
            if "null" in found and not self._holds(key, found["null"], {key: None}):
                del found["null"]
                found["words"] = [word for word in found.get("words", ()) if word is not None]
            if "missing" in found and not self._holds(key, found["missing"], {}, found.get("absent")):
                del found["missing"]
            replaced = self._replaced(key)
            if "whole" in found and replaced and not any(replaced):  # 0 has the same meaning as null
                found["whole"][0] = max(1, found["whole"][0])
            elif any(replaced):
                found["derived"] = True
            waiting.extend(_keys_of_rule(rules.get("missing")) - done)
        needs = self._needs(good)
        for key in keys.keys() - done:
            keys[key] |= self._unused(key, needs, good)
        for key, value in unresolved(self.reference.config_class, self.reference.arguments(self.reference.start)):
            if key.rpartition(".")[2] not in COMMON_KEYS:
                keys.setdefault(key, {"words": [value], "unused": True})  # only the default
        keys |= self.reference.settings_of_layers([seen.point for seen in good[:40]])
        for key in keys.keys() & set(explorer.told.derived):
            keys[key]["derived"] = True
        expressions: dict[str, int] = {}
        rows = [_stated(row, expressions) for row in self.ledger.rows]
        free = [
            key
            for key in explorer.resolved
            if key not in keys and key.rpartition(".")[2] not in COMMON_KEYS and not key.endswith("model_type")
        ]
        read = set().union(*(seen.read for seen in good))
        for key in self._unprobed(good).intersection(free):
            free.remove(key)
            keys[key] = {"words": [explorer.resolved[key]], "unused": True}
        for key, domain in self.reference.properties():  # a backbone may have layers for some of its stages only
            if key in read and not self.reference.indifferent(key):
                keys.setdefault(key, domain)
            elif key not in {*keys, *free}:
                free.append(key)
        checks = {key for seen in good for key in seen.values if key.endswith(".ignore_keys_at_rope_validation")}
        free += sorted(checks - keys.keys() - read - set(free))
        for key, value in explorer.resolved.items():
            if key.endswith(".model_type"):
                keys[key] = {"words": [value], "unused": True}
        return {
            "keys": keys,
            "free": free,
            "expressions": [json.loads(one) for one in expressions],
            "rows": rows,
            "unseen": [*self._unseen(good, done), *self._joint(keys)],
            "needs": needs,
            **({"below": [list(pair) for pair in explorer.told.below]} if explorer.told.below else {}),
            "certificate": {},
        }

    def _unused(self, key: str, needs: Sequence[Sequence[str]], good: Sequence[Seen]) -> dict[str, Any]:
        """Return what a record has of a key without effect: its default, too, if another size must divide it or be divided by it."""
        rule = self._rules(key, good).get("missing") if any(key in pair for pair in needs) else None
        plain = rule is not None and rule[0] == "is" and self._holds(key, rule, {})
        return {"unused": True, **({"missing": rule} if plain else {})}

    def _unprobed(self, good: Sequence[Seen]) -> set[str]:
        """Return keys that a few samples read and that were not probed for lack of time, and those of optional models inside."""
        values = self.explorer.resolved
        optional = {
            key
            for seen in good
            for key in seen.read
            if (key.endswith("_config") or key.rpartition(".")[2] in INNER) and key in values and values[key] is None
        }
        return optional.union(*(self.explorer.relevant(seen) for seen in {seen.read: seen for seen in good}.values()))

    def _joint(self, keys: dict[str, dict[str, Any]]) -> Iterator[list[Any]]:
        """Allow the defaults of joint keys only; yield the pairs in which the first is given without the second."""
        for pair in self.explorer.told.joint:
            first, second = (self.reference.saved(self.explorer.default.point, key) for key in pair)
            keys[pair[0]] = {"words": [None, first], "missing": ["is", None], "unused": True}
            keys[pair[1]] = {"words": [second], "missing": ["is", None], "unused": True}  # null may mean that there are no settings
            yield [pair[0], first, pair[1], None]

    def _domain(self, key: str, good: Sequence[Seen]) -> dict[str, Any]:
        values = [seen.values[key] for seen in good if key in seen.values] + [seen.point[key] for seen in good if key in seen.point]
        domain = _covering(values)
        one = self.explorer.fields.get(key)
        if (
            one is not None
            and one.kind == "free"
            and not one.active
            and all(is_whole(value) or value is None for value in domain.get("words", ()))
        ):
            domain["whole"] = [min(0, *domain.get("whole", [0])), 2**40]
        if one is not None and "entries" in domain:
            kept = [seen.values[key][-1] for seen in good if isinstance(seen.values.get(key), tuple) and seen.values[key]]
            last = dict.fromkeys((*one.last, *kept))
            if not last.keys() >= set(one.alphabet):
                domain["last"] = {"words": list(last)}
        if one is not None and not one.active and "number" in domain and one.kind == "rate":
            domain["number"] = [domain["number"][0], max(domain["number"][1], 1e9 if key.endswith("theta") else 64.0)]
        if key.rpartition(".")[2] in {"rope_parameters", "rope_scaling"} and one is not None and not one.active and one.kind != "rigid":
            domain["object"] = True
        return domain

    def _holds(self, key: str, rule: Any, given: Point, absent: Value = None) -> bool:
        """Whether a rule gives the value that the configuration resolves to, while each other key is changed; no model is built.

        ``absent`` is the value if the configuration that contains the key is missing as a whole and the rule does not give it.
        """
        above = key.rpartition(".")[0]
        for other in self.explorer.fields.values():
            for value in other.pool[:6] if other.key != key else ():
                with suppress(RefusedError, OutsideError):
                    point = {**self.reference.start, **given, other.key: value}
                    values = self.reference.resolved(point)
                    whole = absent is not None and not any(one.startswith(f"{above}.") for one in point)
                    if key in values and (absent if whole else default(rule, values)) != values[key]:
                        return False
        return True

    def _replaced(self, key: str) -> list[Value]:
        """Return the values of a key that its configuration replaces, for example because it computes the key from others."""
        one, reference = self.explorer.fields.get(key), self.reference
        base = self.explorer.origin.values.get(key)
        pool = [] if one is None or one.alphabet else one.pool[:8]
        tried = [*pool, *([0, base + 1, 2 * base, base // 2] if is_whole(base) else _others(base, None))]
        found = []
        for value in tried:
            with suppress(RefusedError):
                if value not in (None, _ABSENT) and reference.resolved({**reference.start, key: value}).get(key) != value:
                    found.append(value)
        return found

    def _rules(self, key: str, good: Sequence[Seen]) -> dict[str, Any]:
        """Return what a missing key means, and null."""
        above = key.rpartition(".")[0]
        missing = {i: seen.values.get(key) for i, seen in enumerate(good) if key not in seen.point}
        inside = {i: value for i, value in missing.items() if not above or any(one.startswith(f"{above}.") for one in good[i].point)}
        outside = {i: value for i, value in missing.items() if i not in inside}
        found: dict[str, Any] = {}
        rule = self._rule(key, inside or missing) if inside or not above else self._rule_beside(key, above, missing)
        if rule is not None:
            found["missing"] = rule
        if outside and rule is not None and any(not self._gives(rule, i, value) for i, value in outside.items()):
            if len(set(outside.values())) > 1:
                del found["missing"]
            else:
                found["absent"] = next(iter(outside.values()))
        nulls = {i: seen.values.get(key) for i, seen in enumerate(good) if key in seen.point and seen.point[key] is None}
        if nulls and any(value is not None for value in nulls.values()):
            if rule is not None and all(self._gives(rule, i, value) for i, value in nulls.items()):
                found["null"] = rule
            else:
                other = self._rule(key, nulls)
                if other is not None:
                    found["null"] = other
        return found

    def _rule_beside(self, key: str, above: str, missing: Mapping[int, Value]) -> Any:
        """Return the meaning of a key that no sample leaves out alone: its resolved value beside another key of its configuration."""
        for other, value in self.explorer.origin.values.items():
            if other.startswith(f"{above}.") and other != key and not other.endswith(".model_type"):
                with suppress(RefusedError):
                    values = self.reference.resolved({**self.reference.start, other: value})
                    return ["is", values[key]] if key in values else None
        return self._rule(key, missing)

    def _gives(self, rule: Any, i: int, value: Value) -> bool:
        try:
            return bool(default(rule, self.good_seen[i].values) == value)
        except OutsideError:
            return False

    def _rule(self, key: str, results: Mapping[int, Value]) -> Any:
        if not results:
            return None
        distinct = set(results.values())
        if len(distinct) == 1:
            return ["is", next(iter(distinct))]
        held = {name: self.good.columns.pop(name) for name in list(self.good.columns) if key in _keys_of_atom(listed(name))}
        tests, lists, told = self.good.tests, self.good.lists, self.good.told
        self.good.tests = [test for test in tests if key not in test[1:]]
        self.good.lists = [one for one in lists if one != key]
        sets, laws = (one for one in told.sets if key not in _keys_of_set(one)), (one for one in told.laws if key not in _keys_of(one))
        self.good.told = replace(told, sets=tuple(sets), laws=tuple(laws))
        self.good.forget()
        self.good.ends = time.process_time() + 4
        try:
            if all(is_whole(value) for value in distinct):
                return ["expression", self.good.fit(dict(results))]  # type: ignore[arg-type]
            if all(isinstance(value, tuple) for value in distinct):
                return self._list_rule(results)
            for other in self.explorer.telling:
                if other != key and all(self.good_seen[i].values.get(other) == value for i, value in results.items()):
                    return ["same", other]
            return ["cases", *told_apart(self.good, results, key)]
        except (NoFitError, TypeError):
            return None
        finally:
            self.good.columns |= held
            self.good.tests, self.good.lists, self.good.told = tests, lists, told
            self.good.forget()

    def _list_rule(self, results: Mapping[int, Value]) -> Any:
        lengths = {i: len(value) for i, value in results.items()}
        entries = sorted({entry for value in results.values() for entry in value}, key=str)
        if all(is_whole(entry) for entry in entries) and all(list(value) == sorted(set(value)) for value in results.values()):
            with suppress(NoFitError):
                return self._numbers_rule(results)
        if len(entries) > 8:
            message = "too many entries"
            raise NoFitError(message)
        length = self.good.fit(lengths)
        laws = []
        for entry in entries:
            where = {i: frozenset(k for k, one in enumerate(value) if one == entry) for i, value in results.items()}
            laws.append([entry, set_law(self.good, where, lengths)])
        return ["list", length, laws]

    def _numbers_rule(self, results: Mapping[int, Value]) -> Any:
        """Return the rule of a list that contains the numbers of copies: a law, and the number of all copies."""
        for bound, column in self.good.columns.items():
            if not isinstance(bound, str) or not all(
                is_whole(column[i]) and column[i] > max(value, default=-1) for i, value in results.items()
            ):
                continue
            with suppress(NoFitError):
                law = set_law(self.good, {i: frozenset(value) for i, value in results.items()}, {i: column[i] for i in results})
                return ["numbers", law, ["+", [[1, 1, [[bound, 1]]]]]]
        message = "no law gives the entries"
        raise NoFitError(message)

    def _unseen(self, good: Sequence[Seen], used: set[str]) -> list[list[Any]]:
        """Return the pairs of discrete values that were never seen together."""
        discrete: dict[str, list[Value]] = {}
        for key in sorted(used):
            values = {seen.values.get(key) for seen in good}
            plain = {value for value in values if value is None or isinstance(value, bool | str)}
            if plain and len(values) > 1 and len(plain) <= 8:
                discrete[key] = sorted(plain, key=str)
        pairs = []
        for one, other in combinations(discrete, 2):
            together = {(seen.values.get(one), seen.values.get(other)) for seen in good}
            for first in discrete[one]:
                pairs += [[one, first, other, second] for second in discrete[other] if (first, second) not in together]
        if len(pairs) > _MOST_PAIRS:
            message = f"{len(pairs)} pairs of flags were never seen together"
            raise NotAdmittedError(message)
        return pairs

    def _needs(self, good: Sequence[Seen]) -> list[list[str]]:
        """Return the pairs of which one divides the other wherever the reference builds, and does not somewhere that it refuses."""
        base = self.explorer.origin.values
        refused = [{**base, **point} for point in self.explorer.refused]
        numbers = [key for key in self.explorer.fields if is_whole(base.get(key)) and base[key] > 1]
        counts = [key for key, one in self.explorer.fields.items() if one.kind == "count"]
        good = [seen for seen in good if not any(seen.values.get(key) == 0 for key in counts)]  # no layers: nothing to be divided
        found = []
        for divisor in numbers:
            for key in numbers:
                if divisor == key or base[key] % base[divisor]:
                    continue
                points = [(seen.values.get(divisor), seen.values.get(key)) for seen in good]
                whole = [(a, b) for a, b in points if is_whole(a) and is_whole(b)]
                if len({a for a, _ in whole}) < 3 or any(a == 0 or b % a for a, b in whole):
                    continue
                others = [(one.get(divisor), one.get(key)) for one in refused]
                if any(is_whole(a) and is_whole(b) and (a == 0 or b % a) for a, b in others):
                    found.append([divisor, key])
        return found

    # The attack ---------------------------------------------------------------------------------------------------------------

    def _attack(self, entry: Mapping[str, Any], turn: int) -> tuple[Counter[str], list[Seen]]:
        """Return how configurations drawn against the entry come out, and what came out wrong."""
        record = self._record(entry)
        rng = random.Random(1000 + turn)
        outcome: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        wrong: list[Seen] = []
        exact: set[int] = set()  # a configuration that is drawn twice gives the same object
        rows = list(rows_of(entry["rows"], entry["expressions"]))
        origin = self.explorer.default
        for seen in (origin, self.explorer.origin):  # in both, the fixed keys have their defaults
            for full in (False, True):
                found = self._outcome(seen, record, entry, rows, full=full)
                refused = found.startswith("refused")
                if found == "exact" or (refused and turn and not full):  # a saved configuration has every key
                    continue
                if refused and self.base is not None and seen is not origin:  # smaller than what the base was verified for
                    continue
                if refused and turn >= 2:
                    message = f"the defaults come out {found}"
                    raise NotAdmittedError(message)
                wrong.append(seen)
        for drawing in range(0 if wrong else ADVERSARIAL if self.explorer.held else 3 * ADVERSARIAL):
            if drawing >= ADVERSARIAL and len(exact) >= _FEWEST:  # a class that refuses many is drawn for longer
                break
            drawn = self._odd(rng)
            if drawn is None:
                outcome["not built"] += 1
                continue
            full = rng.random() < 0.4
            found = self._outcome(drawn, record, entry, rows, full=full)
            if found == "exact" and rng.random() < _JOINTLY:
                drawn, found = self._jointly(drawn, record, entry, rows, rng)
            outcome[found.partition(":")[0]] += 1
            reasons[found] += found.startswith("refused")
            if found == "exact":
                exact.add(id(drawn))
            if found == "wrong":
                wrong.append(drawn)
                if len(wrong) >= _ENOUGH:
                    break
        if not wrong and len(exact) < _FEWEST and not self.explorer.held:
            often = "".join(f", such as {reason}" for reason, _ in reasons.most_common(1))
            message = f"only {len(exact)} different ones of {ADVERSARIAL} configurations come out: {dict(outcome)}{often}"
            raise NotAdmittedError(message)
        return outcome, wrong

    def _jointly(self, seen: Seen, record: Any, entry: Any, rows: Sequence[Row], rng: random.Random) -> tuple[Seen, str]:
        """Change all keys without effect at once, and say how the configuration comes out; a key that has an effect is probed."""
        values = seen.values
        others = {key: _others(values[key], None) for key in entry["free"] if values.get(key) is not None}
        point = {key: rng.choice(other) for key, other in others.items() if other}
        found = self.explorer.tried({**seen.point, **point}) if point else None
        if found is None or self._outcome(found, record, entry, rows, full=False) != "wrong":
            return seen, "exact"
        while len(point) > 1:
            half = dict(rng.sample(sorted(point.items()), len(point) // 2))
            one = self.explorer.tried({**seen.point, **half})
            effective = one is not None and self._outcome(one, record, entry, rows, full=False) == "wrong"
            point = half if effective else {key: value for key, value in point.items() if key not in half}
        self.explorer.probe_read(point, seen)
        return self.explorer.tried({**seen.point, **point}) or found, "wrong"

    def _outcome(self, seen: Seen, record: Mapping[str, Any], entry: Mapping[str, Any], rows: Sequence[Row], *, full: bool) -> str:
        flat = self.reference.whole(seen) if full else dict(seen.point)
        flat |= {second: self.reference.saved(seen.point, second) for _, second in self.explorer.told.joint if full}
        flat.pop("num_labels", None)
        if "num_labels" in seen.values:
            flat |= {"num_labels": seen.values["num_labels"]} if full or "num_labels" in seen.point else {}
        try:
            found = predicted(rows, self._values(flat, record, entry))
        except OutsideError as error:
            self.last = str(error)
            return f"refused: {error}"
        if found != seen.tensors:
            return "wrong"
        return "exact"

    def _values(self, flat: Point, record: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Value]:
        """Return the values of the keys of a configuration, as the library reads it."""
        return values_of({"model_type": self.model_type, **self.reference.arguments(flat)}, record, entry)[0]

    def _record(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        aliases = getattr(self.reference.config_class, "attribute_map", {})
        return {
            "aliases": dict(aliases),
            "inside": [key[: -len(".model_type")] for key in self.explorer.origin.values if key.endswith(".model_type")],
            "classes": {"": entry},
        }

    def _odd(self, rng: random.Random) -> Seen | None:
        """Return what is built from values that no sample was drawn from: small, odd, zero, null; flags and inert keys too."""
        explorer = self.explorer
        point: Point = dict(explorer.base) if rng.random() < 0.8 or len(explorer.default.tensors) > 1500 else {}
        changed = []
        for one in explorer.fields.values():
            chance = rng.random()
            if one.kind == "rigid" or chance > (0.55 if one.active or one.moves or one.later else 0.2):
                continue
            value = one.base
            sized = is_whole(value) and one.kind in {"width", "count", "divisor", "pool"}
            if sized and not _DEPTH.search(one.key) and rng.random() < 0.15:  # beyond a size that hides it, as a least width is
                value = rng.choice((1, 2)) * rng.choice(explorer.sizes)
            elif sized and rng.random() < 0.55:
                grain = rng.choice([1, 1, 2, 4, 8, 16, one.step])
                value = grain * rng.randint(0 if one.kind == "count" and rng.random() < 0.1 else 1, max(2, 3 * max(value, 4) // grain))
                if (one.kind == "count" or _DEPTH.search(one.key)) and value > 12 and not _TOKEN.search(one.key):
                    value = value % 12 + 1
            elif isinstance(value, float) and one.active and rng.random() < 0.5:
                value = value * rng.uniform(0.3, 2)
            else:
                value = one.draw(rng, point, explorer.origin.values, rng.random() < 0.2)
            point[one.key] = value
            changed.append(one.key)
        held = [one.key for one in explorer.fields.values() if one.kind == "rigid"]
        # A default that is written out stays, if it follows from another key.
        for key in sorted({*held, *explorer.unclear}) if changed else ():
            if rng.random() < 0.08 and explorer.default.values.get(key) is not None:
                point[key] = explorer.default.values[key]
                changed.append(key)
        for key, value in explorer.inner.items():  # a backbone that is given in part keeps its stages
            if key.rpartition(".")[2] in PROPERTIES and any(one.startswith(f"{key.rpartition('.')[0]}.") for one in changed):
                point[key] = value
        seen = explorer.tried(point)
        for _ in range(7):
            if seen is not None or not changed:
                break
            for key in [key for key in changed if rng.random() < 0.45]:
                changed.remove(key)
                if key in explorer.base and rng.random() < 0.8:
                    point[key] = explorer.base[key]
                else:
                    point.pop(key, None)
            seen = explorer.tried(point)
        return seen if changed else None

    def _in_order(self, seen: Seen) -> bool | None:
        """Whether the layer lists parameters in the reference's order; None if the rows refuse."""
        try:
            laws, size = predicting.Rows(tuple(self.ledger.rows)), sizes_of(seen.values)
            layer = grown(laws, laws.existing(seen.values, size)).layer(Sizes(seen.values, size, {}))
        except OutsideError:
            return None
        return list(layer.shapes()) == [name for name, (kind, _) in seen.tensors.items() if kind in {"parameter", "frozen"}]

    def _certified(self, entry: dict[str, Any], outcome: Counter[str]) -> dict[str, Any]:
        entry["certificate"] = {
            "samples": len(self.explorer.samples),
            "built": self.reference.built,
            "exact": outcome["exact"],
            "refused": outcome["refused"],
            "ordered": all(self._in_order(seen) is not False for seen in self.explorer.samples),
            **({"held": True} if self.explorer.held else {}),
            **({"within": self.base[0]} if self.base is not None else {}),
            **({"fixed": sorted(self.explorer.fixed)} if self.explorer.fixed else {}),
        }
        return entry


def _covering(values: Sequence[Value]) -> dict[str, Any]:
    """Return the domain that holds values."""
    domain: dict[str, Any] = {}
    words = [value for value in dict.fromkeys(values) if value is None or isinstance(value, bool | str) or value == ("{}",)]
    whole = [value for value in values if is_whole(value)]
    rates = [value for value in values if isinstance(value, float)]
    lists = [value for value in values if isinstance(value, tuple) and value[:1] != ("{}",)]
    objects = list(dict.fromkeys(value for value in values if isinstance(value, tuple) and value[:1] == ("{}",)))
    if words or objects:
        domain["words"] = [*words, *objects[:20]]
    if whole:
        domain["whole"] = [min(whole), max(whole)]
    if rates:
        domain["number"] = [min(rates), max(rates)]
    if len(set(lists)) == 1:
        domain.setdefault("words", []).append(lists[0])
    elif lists:
        domain["entries"] = _covering([entry for value in lists for entry in value])
        domain["length"] = [min(map(len, lists)), max(map(len, lists))]
        if all(isinstance(entry, str) for value in lists for entry in value):
            domain["length"][1] *= 64
    return domain


def _keys_in(rows: Sequence[Row]) -> set[str]:
    found: set[str] = set()
    for row in rows:
        for what in (*row.axes, *row.bounds):
            found |= _keys_of(what)
        for what in row.sets:
            found |= _keys_of_set(what)
        if row.presence is not None:
            found |= {word for test in row.presence[0] for word in test[1:3] if isinstance(word, str)}
    return found


def _keys_of(what: Any) -> set[str]:
    """Return the keys of an expression."""
    if not isinstance(what, list):
        return set()
    if what[0] == "+":
        return {key for _, _, factors in what[1] for one, _ in factors for key in _keys_of_atom(one)}
    found = {word for test in what[1] for word in test[1:3] if isinstance(word, str)}
    return found.union(*(_keys_of(inner) for _, inner in what[2]))


def _keys_of_atom(what: Any) -> set[str]:
    if isinstance(what, str):
        return {what}
    if not isinstance(what, list):
        return set()
    if what[0] in {"at", "len"}:
        return {what[1]}
    return set().union(*map(_keys_of_atom, what[1:]))


def _keys_of_set(what: Any) -> set[str]:
    if what[0] == "range":
        return _keys_of(what[1]) | _keys_of(what[2])
    if what[0] == "?":
        return {word for test in what[1] for word in test[1:3] if isinstance(word, str)}.union(*(_keys_of_set(one) for _, one in what[2]))
    if what[0] in {"not", "both"}:
        return set().union(*map(_keys_of_set, what[1:]))
    if what[0] == "where":
        return set().union(*map(_keys_of_atom, what[1][1:]))
    return set()


def _keys_of_rule(rule: Any) -> set[str]:
    if rule is None or rule[0] == "is":
        return set()
    if rule[0] == "same":
        return {rule[1]}
    if rule[0] == "expression":
        return _keys_of(rule[1])
    if rule[0] == "cases":
        return {word for test in rule[1] for word in test[1:3] if isinstance(word, str)}
    if rule[0] == "numbers":
        return _keys_of_set(rule[1]) | _keys_of(rule[2])
    return _keys_of(rule[1]).union(*(_keys_of_set(where) for _, where in rule[2]))


def _stated(row: Row, expressions: dict[str, int]) -> list[Any]:
    def number(what: Any) -> int:
        return expressions.setdefault(json.dumps(what), len(expressions))

    more: dict[str, Any] = {}
    if row.axes:
        more["axes"] = [number(axis) for axis in row.axes]
    if row.sets:
        more["bounds"] = [number(bound) for bound in row.bounds]
        more["sets"] = list(row.sets)
    if row.presence is not None:
        more["if"] = row.presence
    if row.first:
        more["first"] = row.first
    return [".".join(row.template), row.kind, more]


def entry_of(
    model_type: str,
    name: str,
    seconds: float,
    others: Mapping[str, Any] | None = None,
    fixed: Sequence[str] = (),
    *,
    held: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Return the entry of one class, and the keys that hold configurations.

    ``others`` are the entries of other classes, the base first; ``fixed`` are keys with their defaults only, besides those of the base.

    ``held`` records the default alone: every key that can change a tensor is fixed there.

    Raises:
        NotAdmittedError: with the reason.
    """
    reference = reference_of(model_type, name)
    others = {} if held or others is None else others
    base = base_of(others)
    told = told_by(others.values()).plus(Told(fixed=(*fixed, *fixed_in(others[base] if base else None))))
    explorer = Explorer(reference, seconds * 0.6, told=told, held=held)
    found = Entry(model_type, explorer, seconds=seconds, base=(base, others[base]) if base else None)
    entry = found.derive()
    inside = found._record(entry)["inside"]
    accept_saved(entry, reference, inside)
    require_published(entry["keys"], reference, model_type)
    return entry, inside
