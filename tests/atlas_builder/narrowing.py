"""A class is read for no other values than the base class of its type: a law that was found wrong there is wrong here, too.

The search of a head is as short as that of its base, and can miss what the draws of the base found. So a key that both read has at most the
verified values of the base, and two values that were never seen together in the base are not read together in the head.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paramsym.atlas.domain import verified
from paramsym.atlas.values import Value

_KINDS = ("any", "whole", "of", "number", "entries", "length", "last", "object")


def base_of(others: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the class that bounds a new one: the first of the others, the base class first, with more than its default."""
    return next((name for name, entry in others.items() if not is_held(entry)), None)


def is_held(entry: Mapping[str, Any]) -> bool:
    """Whether a record has the default of a class alone."""
    return bool(entry["certificate"].get("held"))


def fixed_in(entry: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the keys that an entry has with their defaults only, because no law was right for other values; they stay so."""
    return () if entry is None else tuple(entry["certificate"].get("fixed", ()))


def stays_held(name: str, entries: Mapping[str, Mapping[str, Any]], order: Sequence[str]) -> bool:
    """Whether only the default of a class is recorded: its record has no more, or that of the base class. An empty directory has none."""
    first = next((one for one in order if one in entries), name)
    return any(is_held(entries[one]) for one in (name, first) if one in entries)


def narrow(entry: dict[str, Any], base: Mapping[str, Any], defaults: Mapping[str, Value]) -> None:
    """Take from the domains of an entry the values that the base was not verified for; the defaults stay."""
    fixed = frozenset(fixed_in(base))
    for key, domain in entry["keys"].items():
        other = base["keys"].get(key)
        if other is None or domain.get("derived") or not _bounds(key, domain, other, fixed):
            continue
        kept = {which: what for which, what in domain.items() if which not in (*_KINDS, "words")}
        if "null" not in other and not verified(other, None):
            kept.pop("null", None)
        narrowed = kept | common(domain, other)
        if key in defaults and not verified(narrowed, defaults[key]):
            narrowed["words"] = [*narrowed.get("words", ()), defaults[key]]
        entry["keys"][key] = narrowed
    known = entry["unseen"]
    entry["unseen"] = [*known, *(pair for pair in base["unseen"] if pair not in known and {pair[0], pair[2]} <= entry["keys"].keys())]


def _bounds(key: str, domain: Mapping[str, Any], other: Mapping[str, Any], fixed: frozenset[str]) -> bool:
    """Whether the domain of the base says something of that of the class.

    A key without effect on the tensors of both has the values that were tried. A key that only this class has a law for was held in the
    base because the base does not read it, if it was not fixed there.
    """
    if not other.get("unused"):
        return True
    return key in fixed or (bool(domain.get("unused")) and one_value(other))


def one_value(domain: Mapping[str, Any]) -> bool:
    """Whether a domain has one value at most."""
    return not any(domain.get(which) for which in _KINDS) and len(domain.get("words", ())) < 2


def common(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the domain of the values in both of two domains; less if their numbers have different steps."""
    if one.get("any") or other.get("any"):
        rest = other if one.get("any") else one
        return {which: rest[which] for which in (*_KINDS, "words") if which in rest}
    found: dict[str, Any] = {}
    words = list(_words(one, other))
    for which in ("whole", "number"):
        if which in one and which in other:
            low, high = max(one[which][0], other[which][0]), min(one[which][1], other[which][1])
            if low <= high:
                found[which] = [low, high]
    steps = {domain["of"] for domain in (one, other) if "of" in domain}
    if "whole" in found and steps:
        found["of"] = max(steps)
        if any(max(steps) % step for step in steps):
            del found["whole"], found["of"]
    if one.get("object") and other.get("object"):
        found["object"] = True
    if "entries" in one and "entries" in other:
        low, high = max(one["length"][0], other["length"][0]), min(one["length"][1], other["length"][1])
        if low <= high:
            found["entries"], found["length"] = common(one["entries"], other["entries"]), [low, high]
            lasts = [domain["last"] for domain in (one, other) if "last" in domain]
            found |= {"last": common(lasts[0], lasts[-1])} if lasts else {}
    return {**found, "words": words} if words else found


def _words(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Value]:
    """Yield the single values that both domains have."""
    found: list[Value] = []
    for word in (*one.get("words", ()), *other.get("words", ())):
        known = any(type(word) is type(before) and word == before for before in found)
        if not known and verified(one, word) and verified(other, word):
            found.append(word)
            yield word
