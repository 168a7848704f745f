"""The argument ``rename=`` of a user: a table from stored names of tensors to the layer's names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from paramsym.errors import ArgumentError, CheckpointError, UnknownNameError

Renaming: TypeAlias = Mapping[str, "str | Sequence[str] | None"] | Literal["auto"]
"""``{stored name: name in the layer}``; ``{}`` matches any text, which replaces ``{}`` in the target.

Several targets mean one stored tensor that joins them along one axis: a fused query, key and value for a layer with three tensors. A
target ``name[label]`` is one segment of a fused tensor of the layer, for separate stored tensors; ``name[0]``, ``name[1]``, ...
(``name[{}]``) are slices of a tensor along its first axis, for stacked experts. ``None`` leaves the stored tensor out.

``"auto"`` reads the names of wrappers, older versions and transformers' files.
"""


@dataclass(frozen=True)
class Rule:
    """One line of a renaming table."""

    stored: str
    targets: tuple[str, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The stored name as a pattern: ``{}`` is one or more characters, the fewest that match."""
        return re.compile("(.+?)".join(re.escape(piece) for piece in self.stored.split("{}")))

    def applied(self, name: str) -> tuple[str, ...] | None:
        """Return the targets of a name, or None if the rule does not match."""
        found = self.pattern.fullmatch(name)
        return None if found is None else tuple(_filled(target, found.groups()) for target in self.targets)


def _rules_of(rename: Any) -> tuple[Rule, ...]:
    """Check a renaming table."""
    if not isinstance(rename, Mapping):
        raise ArgumentError(f"rename is {type(rename).__name__}; wanted a table such as {{'model.{{}}': '{{}}'}}, or 'auto'.")
    rules = []
    for stored, target in rename.items():
        targets = () if target is None else tuple(target) if isinstance(target, tuple | list) else (target,)
        if not isinstance(stored, str) or not all(isinstance(name, str) for name in targets):
            message = f"rename: {stored!r}: {target!r} is not a pair of names; wanted strings, a tuple of strings, or None to leave it out."
            raise ArgumentError(message)
        if any(name.count("{}") > stored.count("{}") for name in targets):
            raise ArgumentError(f"rename: {target!r} has more {{}} than {stored!r}.")
        rules.append(Rule(stored, targets))
    return tuple(rules)


def renamed(names: Sequence[str], rename: Renaming | None) -> dict[str, tuple[str, ...]]:
    """Return ``{stored name: names in the layer}``; the first rule that fits a name decides, and a name without a rule stays.

    Raises:
        ArgumentError: something that is not a table of names, or a target with more ``{}`` than its pattern.
        UnknownNameError: a rule without a matching name, which would hide a misspelling.
        CheckpointError: two stored tensors that would become one.
    """
    rules = _rules_of({} if rename is None else rename)
    found: dict[str, tuple[str, ...]] = {}
    used: set[Rule | None] = set()
    for name in names:
        fitting = ((rule, targets) for rule in rules if (targets := rule.applied(name)) is not None)
        rule, found[name] = next(fitting, (None, (name,)))
        used.add(rule)
    for rule in rules:
        if rule not in used:
            raise UnknownNameError(f"rename: no stored tensor is named {rule.stored!r}; there are {_some(names)}.")
    by_target: dict[str, str] = {}
    for name, targets in found.items():
        for target in targets:
            other = by_target.setdefault(target, name)
            if other != name:
                raise CheckpointError(f"rename: {other!r} and {name!r} would both be {target!r}.")
    return found


def _filled(target: str, texts: tuple[str, ...]) -> str:
    for text in texts:
        target = target.replace("{}", text, 1)
    return target


def _some(names: Sequence[str], limit: int = 6) -> str:
    shown = ", ".join(names[:limit])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > limit else shown or "none"
