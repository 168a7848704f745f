"""From a configuration to the values of a record's keys: spellings, defaults, inner configurations; what is not verified is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from paramsym.atlas.common_keys import CENTRAL, COMMON, LEFT_OVER, USUAL, labels_of
from paramsym.atlas.domain import check_verified, default, thawed
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.values import Value, frozen_value, shown
from paramsym.naming import nearest

_NEVER_READ = frozenset(word for words in COMMON.values() for word in words.split()) | (CENTRAL - {"num_labels"})
_PASSES = 8


def known_to_all(word: str) -> bool:
    """Whether a key means the same in all configurations, or is read by none: some references save it with an underscore in front."""
    return word == "num_labels" or word in USUAL or word in _NEVER_READ or word.lstrip("_") in _NEVER_READ


def flattened(config: Mapping[str, Any], inside: frozenset[str], prefix: str = "") -> Iterator[tuple[str, Value]]:
    """Yield the keys of a configuration; those of inner configurations have the inner key in front."""
    for key, value in config.items():
        whole_key = prefix + key
        if whole_key in inside and isinstance(value, Mapping):
            yield whole_key, ("{}",)
            yield from flattened(value, inside, f"{whole_key}.")
        else:
            yield whole_key, frozen_value(value)


class Read(NamedTuple):
    """What a configuration says: the values of a class's keys, and the unknown keys, which the reference does not read.

    ``following`` has for keys that are not given the one whose value they have: without a number of key/value heads it is that of heads.
    """

    values: dict[str, Value]
    unknown: list[str]
    following: dict[str, str]


def values_of(config: Mapping[str, Any], record: Mapping[str, Any], of_class: Mapping[str, Any]) -> Read:
    """Return what a configuration says of a class.

    Raises:
        OutsideError: a key that the reference may read, or a value or a pair of values that was not verified.
    """
    keys: Mapping[str, Any] = of_class["keys"]
    inside = frozenset(record["inside"])
    given = dict(flattened(config, inside))
    for alias in record["aliases"].keys() & given.keys():
        _spell(given, alias, record["aliases"][alias], inside)
    for key, (listed, words) in record.get("spelled", {}).items():
        if key in given:
            _write_out(given, key, listed, words)
    labels = labels_of(config)
    given.pop("num_labels", None)
    if labels is not None:
        given["num_labels"] = labels
    known = [*keys, *of_class["free"]]
    others = given.keys() - known
    unknown = [key for key in given if key in others and is_unknown(key, given[key], record, inside, known)]
    if of_class["certificate"].get("held"):
        _check_whole(given, keys)
    _check_alone(given, keys)
    values, rules = _resolved(given, keys, inside)
    check_together(values, of_class)
    return Read(values, unknown, {key: other for key, rule in rules.items() if (other := _key_of_rule(rule)) in keys})


def _spell(given: dict[str, Value], alias: str, key: str, inside: frozenset[str]) -> None:
    """Write a key in its usual spelling; that of an inner configuration is not read if this configuration is given.

    Raises:
        OutsideError: two spellings of one key with different values.
    """
    value, above = given.pop(alias), key.rpartition(".")[0]
    if above in inside and above != alias.rpartition(".")[0] and above in given:
        return
    if key in given and not _is(given[key], value):
        raise OutsideError(f"{alias} is {shown(thawed(value))} and {key} is {shown(thawed(given[key]))}; they are one key.")
    given[key] = value


def _write_out(given: dict[str, Value], key: str, listed: str, words: Mapping[str, str]) -> None:
    """Replace earlier words of a list by the current ones, or a text by the words that its letters mean; a given list has priority.

    Raises:
        OutsideError: no text, or an unknown letter.
    """
    text = given.pop(key)
    if key == listed:
        given[key] = tuple(words.get(one, one) if isinstance(one, str) else one for one in text) if isinstance(text, tuple) else text
        return
    if not isinstance(text, str) or not words.keys() >= set(text):
        known = ", ".join(f"{letter} ({word})" for letter, word in words.items())
        raise OutsideError(f"{key} is {shown(thawed(text))}; wanted a text of the letters {known}.")
    if given.get(listed) is None:
        given[listed] = tuple(words[letter] for letter in text)


def _check_whole(given: Mapping[str, Value], keys: Mapping[str, Any]) -> None:
    """Refuse an inner configuration that is given in part: the reference may complete it with other values than its own default has.

    Raises:
        OutsideError: a missing key.
    """
    for key, domain in keys.items():
        outer, dot, rest = key.partition(".")
        if dot and outer in given and key not in given and not (domain.get("derived") or "missing" in domain):
            raise OutsideError(f"{outer} has no {rest}; only the default was verified: give all keys of {outer}, or omit it.")


def _check_alone(given: Mapping[str, Value], keys: Mapping[str, Any]) -> None:
    """Refuse two keys that say the same, because one of them has priority.

    Raises:
        OutsideError: both keys are given.
    """
    for key, domain in keys.items():
        for other in domain.get("without", ()):
            if given.get(key) is not None and given.get(other) is not None:
                raise OutsideError(f"{key} and {other} are both given; give one of them.")


def check_together(values: Mapping[str, Value], of_class: Mapping[str, Any]) -> None:
    """Refuse values that were not verified together.

    Raises:
        OutsideError: a size that does not divide another one, a number that must be less than another one, or two values that were never
            tried together.
    """
    for divisor, key in of_class["needs"]:
        one, other = values.get(divisor), values.get(key)
        if isinstance(one, int) and isinstance(other, int) and (one == 0 or other % one):
            raise OutsideError(f"{divisor} is {one} and {key} is {other}; {divisor} must divide {key}.")
    for key, larger in of_class.get("below", ()):
        one, other = values.get(key), values.get(larger)
        if isinstance(one, int) and isinstance(other, int) and one >= other:
            raise OutsideError(f"{key} is {one} and {larger} is {other}; {key} must be less than {larger}.")
    for one, first, other, second in of_class["unseen"]:
        if _is(values.get(one), first) and _is(values.get(other), second):
            raise OutsideError(f"{one} = {_word(first)} together with {other} = {_word(second)} was not verified.")


def is_unknown(key: str, value: Value, record: Mapping[str, Any], inside: frozenset[str], known: list[str]) -> bool:
    """Whether nothing is known of a key, and the reference does not read it; False if it is known to change no tensor.

    Raises:
        OutsideError: a key that the reference may read, or a value that may change a tensor.
    """
    above = max((one for one in inside if key.startswith(f"{one}.")), key=len, default="")
    last = key.removeprefix(f"{above}.")  # a key may have a dot itself
    if key in inside:
        if value != ("{}",):
            raise OutsideError(f"{key} is {shown(value)}; wanted an object of keys.")
        return False
    if known_to_all(last) and (last not in USUAL or any(_is(value, frozen_value(one)) for one in USUAL[last])):
        return False
    if key in record.get("extra", {}):
        check_verified(key, record["extra"][key], value)
        return False
    if key in LEFT_OVER.get(record.get("type", ""), "").split():
        return False
    of_another = any(key in one["keys"] or key in one["free"] for one in record.get("classes", {}).values())
    if of_another or last in USUAL or last in record.get("mentioned", {}).get(above, (last,)):
        raise OutsideError(f"the key {key[:60]!a} is not known{hint(key, known)}; its effect was not verified.")
    return True


def hint(key: str, known: Iterable[str]) -> str:
    """Return the known key that an unknown one may be a misspelling of, in brackets."""
    near = nearest(key, known, cutoff=0.85, most=1)
    return f" (did you mean {near[0]}?)" if near else ""


class _Partial(dict[str, Value]):
    """The values so far. A key that still waits for its default is not null: a law that reads it has to wait, too."""

    def __init__(self, waiting: Mapping[str, Any]) -> None:
        super().__init__()
        self._waiting = waiting

    def get(self, key: str, default: Any = None) -> Any:
        if key in self._waiting and key not in self:
            raise OutsideError(f"{key} is not known.")
        return super().get(key, default)


def _resolved(given: Mapping[str, Value], keys: Mapping[str, Any], inside: frozenset[str]) -> tuple[dict[str, Value], dict[str, Any]]:
    """Return the values of all keys, and the rules of those that are missing."""
    waiting: dict[str, Any] = {}
    values = _Partial(waiting)
    for key, domain in keys.items():
        if key in given and not (given[key] is None and "null" in domain) and not domain.get("derived"):
            check_verified(key, domain, given[key])
            values[key] = given[key]
            continue
        rule = _rule(key, domain, given, inside)
        if rule is not None:
            waiting[key] = rule
        elif key in given or not domain.get("unused"):
            raise OutsideError(f"{key} is not given and has no known default; give it.")
    rules = dict(waiting)
    for _ in range(_PASSES):
        for key, rule in list(waiting.items()):
            with suppress(OutsideError):
                values[key] = default(rule, values)
                del waiting[key]
        if not waiting:
            _check_derived(given, keys, values)
            return dict(values), rules
    raise OutsideError(f"{next(iter(waiting))} is not given, and its default does not follow from the other keys; give it.")


def _check_derived(given: Mapping[str, Value], keys: Mapping[str, Any], values: Mapping[str, Value]) -> None:
    """Refuse a given value that does not follow from the other keys; the reference replaces some of them."""
    for key in given.keys() & keys.keys():
        if keys[key].get("derived") and given[key] is not None and not _is(given[key], values[key]):
            at, value, other = _difference(thawed(given[key]), thawed(values[key]))
            raise OutsideError(
                f"{key}{at} is {shown(value)}, for which the form was not verified; the other keys give {shown(other)}: write that, or omit"
                f" {key}."
            )


def _difference(value: Any, other: Any) -> tuple[str, Any, Any]:
    """Return the place where two values first differ, with both entries: in lists of one length an entry, otherwise the whole value."""
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        for position, (one, another) in enumerate(zip(value, other, strict=True)):
            if not _is(one, another):
                at, *both = _difference(one, another)
                return f"[{position}]{at}", *both
    return "", value, other


def _rule(key: str, domain: Mapping[str, Any], given: Mapping[str, Value], inside: frozenset[str]) -> Any:
    """Return the meaning of a null or missing key."""
    if key in given and not domain.get("derived"):
        return domain["null"]
    above = key.rpartition(".")[0]
    if "absent" in domain and above in inside:
        if above not in given:
            return ["is", domain["absent"]]
        if not any(one.startswith(f"{above}.") for one in given):  # some references read an empty object as a missing one
            return None
    return domain.get("missing")


def _key_of_rule(rule: Any) -> str:
    """Return the key whose value a rule gives, or no text."""
    if not isinstance(rule, list | tuple) or len(rule) != 2 or rule[0] != "expression" or rule[1][0] != "+" or len(rule[1][1]) != 1:
        return ""
    ((numerator, denominator, factors),) = rule[1][1]
    ((one, power),) = factors if len(factors) == 1 else ((None, 0),)
    return one if isinstance(one, str) and numerator == denominator == power == 1 else ""


def _is(value: Value, other: Value) -> bool:
    return type(value) is type(other) and value == other


def _word(value: Value) -> str:
    return {None: "null", True: "true", False: "false"}.get(value, repr(value)) if not isinstance(value, tuple) else "a list"
