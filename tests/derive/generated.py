"""Builds made by a generator: sizes in arguments, lists and configurations, words and flags, copies, counts, conditions and exceptions.

A build is Python source, so that what it does can be read in a failure; its arguments are put together here, apart from the library.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from math import prod
from types import SimpleNamespace
from typing import Any, TypeAlias

Put: TypeAlias = "tuple[str | int, ...]"
"""Where a size is: the argument, then entries of lists and fields of configurations."""
WORDS = (("q", "k", "v"), ("up", "down"), ("relu",), ("full", "linear", "full"))
FLAGS = ([True, False], [False, True, True], (True,))


@dataclass
class Generated:
    """A build with its source; ``sizes`` are the names of its sizes with their defaults, ``counts`` those that count copies."""

    source: str
    build: Callable[..., Any]
    sizes: dict[str, int]
    counts: set[str]
    put: dict[str, Put]
    flags: dict[str, bool]
    defaults: dict[str, Any]
    learnable: bool
    """Whether every condition is of a kind that is learnt, so that no size inside may be refused."""

    def arguments(self, sizes: Mapping[str, int], flags: Mapping[str, bool]) -> dict[str, Any]:
        """Return sizes and flags as the arguments of the build."""
        made: dict[str, Any] = {**self.defaults, **flags}
        for name, value in {**self.sizes, **sizes}.items():
            argument, *steps = self.put[name]
            made[argument] = _with(made[argument], steps, value)
        return made

    def draws(self, chance: random.Random, number: int) -> Iterator[tuple[dict[str, int], dict[str, bool]]]:
        """Yield sizes: small, large, equal, multiples of each other, and 0 where it is the default."""
        for position in range(number):
            top = (12, 90, 3000, 60_000)[position % 4]
            sizes = {name: chance.randint(1, 9 if name in self.counts else top) for name in self.sizes}
            for name in sizes:
                kind = chance.random()
                other = chance.choice(list(sizes))
                if name not in self.counts and kind < 0.45 and other not in self.counts:
                    sizes[name] = max(1, sizes[other]) * chance.choice((1, 1, 2, 3, 5, 8, 32))
                elif name not in self.counts and kind < 0.65:
                    sizes[name] *= chance.choice((2, 4, 8, 24))
                elif not self.sizes[name] and kind < 0.8:
                    sizes[name] = 0
            yield sizes, {name: chance.random() < 0.5 for name in self.flags}


def _with(whole: Any, steps: Sequence[str | int], value: int) -> Any:
    """Return an argument with one number in it changed: an entry of a list, a field of a configuration, or the argument itself."""
    if not steps:
        return value
    first, *rest = steps
    if isinstance(whole, list | tuple):
        return type(whole)([_with(entry, rest, value) if place == first else entry for place, entry in enumerate(whole)])
    old = dict(whole) if isinstance(whole, dict) else dict(vars(whole))
    old[str(first)] = _with(old[str(first)], rest, value)
    return old if isinstance(whole, dict) else type(whole)(**old)


@dataclass
class _Draft:
    chance: random.Random
    signature: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    spelled: dict[str, str] = field(default_factory=dict)
    """How the source writes each size."""
    sizes: dict[str, int] = field(default_factory=dict)
    counts: set[str] = field(default_factory=set)
    put: dict[str, Put] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    quotients: list[str] = field(default_factory=list)
    learnable: bool = True

    def size(self, name: str, put: Put, spelled: str, *, count: bool = False, off: bool = False) -> int:
        value = 0 if off else self.chance.choice((2, 3, 4)) if count else self.chance.choice((6, 8, 12, 16, 24, 32, 48, 64, 96))
        self.sizes[name], self.put[name], self.spelled[name] = value, put, spelled
        if count:
            self.counts.add(name)
        return value

    def argument(self, name: str, default: Any) -> None:
        self.signature.append(f"{name}={name.upper()}_DEFAULT")
        self.defaults[name] = default

    def wide(self) -> str:
        return self.spelled[self.chance.choice([name for name, value in self.sizes.items() if value and name not in self.counts])]

    def axis(self) -> str:
        one, other = self.wide(), self.wide()
        return self.chance.choice((one, one, f"{self.chance.choice((2, 3, 4))} * {one}", f"{one} + {other}", f"{one} * {other}",
            f"{one} + {self.chance.randint(1, 7)}", *self.quotients, *self.quotients))  # fmt: skip

    def shape(self) -> str:
        return "(" + "".join(f"{self.axis()}, " for _ in range(self.chance.randint(1, 3))) + ")"


def generated(seed: int) -> Generated:
    """Return the build of a number."""
    draft = _Draft(random.Random(seed))
    _arguments(draft)
    if draft.chance.random() < 0.5:
        _condition(draft)
    draft.lines.append(f"found['first'] = {draft.shape()}")
    for piece in range(draft.chance.randint(1, 4)):
        _piece(draft, f"p{piece}")
    if draft.chance.random() < 0.25:
        _exception(draft)
    counted = draft.chance.random() < 0.25
    end = "return sum(map(prod, found.values()))" if counted else "return found"
    body = "\n    ".join(["found = {}", *draft.lines, end])
    source = f"def build({', '.join(draft.signature)}):\n    {body}\n"
    scope: dict[str, Any] = {"prod": prod, **{f"{name.upper()}_DEFAULT": value for name, value in draft.defaults.items()}}
    exec(source, scope)  # noqa: S102 - made above
    return Generated(
        source, scope["build"], draft.sizes, draft.counts, draft.put, draft.flags, draft.defaults, draft.learnable
    )  # fmt: skip


def _arguments(draft: _Draft) -> None:
    chance = draft.chance
    for name in ("width", "inner", "heads")[: chance.randint(1, 3)]:
        draft.argument(name, draft.size(name, (name,), name))
    optional: Sequence[tuple[float, Callable[[], None]]] = (
        (0.7, lambda: draft.argument("depth", draft.size("depth", ("depth",), "depth", count=True))),
        (0.3, lambda: _list(draft)),
        (0.15, lambda: _stages(draft)),
        (0.4, lambda: draft.argument("names", chance.choice((list, tuple))(chance.choice(WORDS)))),
        (0.3, lambda: draft.argument("on", chance.choice(FLAGS))),
        (0.3, lambda: _flag(draft)),
        (0.2, lambda: draft.argument("act", chance.choice(("glu", "relu", None)))),
        (0.2, lambda: draft.argument("classes", draft.size("classes", ("classes",), "classes", off=True))),
        (0.2, lambda: draft.argument("ratio", chance.choice((2.0, 0.5, 4.0)))),
        (0.2, lambda: draft.argument("hidden", None)),
        (0.35, lambda: _configuration(draft)),
    )
    for likely, add in optional:
        if chance.random() < likely:
            add()


def _flag(draft: _Draft) -> None:
    draft.flags["bias"] = draft.chance.random() < 0.5
    draft.argument("bias", draft.flags["bias"])


def _list(draft: _Draft) -> None:
    values = [draft.size(f"widths_{place}", ("widths", place), f"widths[{place}]") for place in range(draft.chance.randint(1, 3))]
    draft.argument("widths", draft.chance.choice((list, tuple))(values))


def _stages(draft: _Draft) -> None:
    """A width, a number of copies and a word for each stage."""
    rows = []
    for stage in range(2):
        width = draft.size(f"stages_{stage}_0", ("stages", stage, 0), f"stages[{stage}][0]")
        copies = draft.size(f"stages_{stage}_1", ("stages", stage, 1), f"stages[{stage}][1]", count=True)
        rows.append((width, copies, "relu"))
    draft.argument("stages", tuple(rows))


def _configuration(draft: _Draft) -> None:
    """One configuration with a size, a number of copies and a list of words; or with two parts whose fields have the same names."""
    chance = draft.chance
    kind = chance.choice((SimpleNamespace, argparse.Namespace, dict, "dataclass", "class"))
    parts = ("text", "vision") if chance.random() < 0.4 else ()

    def made(values: dict[str, Any], called: str) -> Any:
        if kind == "dataclass":
            return make_dataclass(called, list(values))(**values)
        return _Plain(**values) if kind == "class" else kind(**values)

    def spelled(*steps: str) -> str:
        return "config" + "".join(f"[{step!r}]" if kind is dict else f".{step}" for step in steps)

    if parts:
        inside = {}
        for part in parts:
            width = draft.size(f"{part}_dim", ("config", part, "dim"), spelled(part, "dim"))
            inside[part] = made({"dim": width, "kinds": list(chance.choice(WORDS))}, part.title())
        config, kinds = made(inside, "Both"), spelled(parts[0], "kinds")
    else:
        values = {"dim": draft.size("dim", ("config", "dim"), spelled("dim"))}
        values["layers"] = draft.size("layers", ("config", "layers"), spelled("layers"), count=True)
        config, kinds = made(values | {"kinds": chance.choice(WORDS)}, "Config"), spelled("kinds")
    draft.argument("config", config)
    draft.lines += [f"for kind in {kinds}:", f"    found[f'kinds.{{kind}}'] = {draft.shape()}"]


class _Plain:
    """An object with attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def _condition(draft: _Draft) -> None:
    """What the build refuses everywhere: sizes that do not divide each other, are too large, or differ."""
    chance = draft.chance
    names = [name for name in draft.sizes if name not in draft.counts and draft.sizes[name]]
    kind = chance.random()
    if kind < 0.2 and len(names) > 2:
        one, other, large = chance.sample(names, 3)
        sign, times = chance.choice((("%", 2), ("%", 5), ("!=", 1)))
        for name, start in ((one, 2), (other, 3), (large, 6 * times)):
            _start(draft, name, start)
        product, whole = f"{draft.spelled[one]} * {draft.spelled[other]}", draft.spelled[large]
        draft.lines[:0] = [f"if {whole} {sign} ({product}):", f"    raise ValueError('{large} must be a multiple of {one} * {other}')"]
        draft.quotients.append(f"{whole} // ({product})")
    elif kind < 0.3 and len(names) > 1:
        small, large = chance.sample(names, 2)
        _start(draft, small, 8)
        _start(draft, large, chance.choice((2, 6, 10)))
        times = f"4 * {draft.spelled[large]}"
        draft.lines[:0] = [f"if {times} % {draft.spelled[small]}:", f"    raise ValueError('4 * {large} must be a multiple of {small}')"]
        draft.quotients.append(f"{times} // {draft.spelled[small]}")
    elif kind < 0.5 and len(names) > 1:
        small, large, *more = chance.sample(names, len(names))
        start = chance.choice((2, 3, 4, 8))
        _start(draft, small, start)
        for name in (large, *more[:1]) if chance.random() < 0.4 else (large,):
            _start(draft, name, start * chance.choice((2, 3, 6)))
            one, other = draft.spelled[small], draft.spelled[name]
            draft.lines[:0] = [f"if {other} % {one}:", f"    raise ValueError('{name} must be divisible by {small}')"]
            draft.quotients.append(f"{other} // {one}")
    elif kind < 0.75:
        name, number = chance.choice(names), chance.choice((2, 4, 8))
        _start(draft, name, number * chance.choice((3, 5, 8)))
        draft.lines[:0] = [f"assert {draft.spelled[name]} % {number} == 0, 'wanted a multiple of {number}'"]
        draft.quotients.append(f"{draft.spelled[name]} // {number}")
    elif len(names) > 1:
        small, large = chance.sample(names, 2)
        sign = chance.choice((">", ">=", "!="))
        _start(draft, small, 24 if sign == "!=" else 4)
        _start(draft, large, 24)
        draft.lines[:0] = [f"if {draft.spelled[small]} {sign} {draft.spelled[large]}:", "    raise RuntimeError('does not fit')"]


def _start(draft: _Draft, name: str, value: int) -> None:
    """Give a size another default."""
    argument, *steps = draft.put[name]
    draft.sizes[name] = value
    draft.defaults[argument] = _with(draft.defaults[argument], steps, value)


def _piece(draft: _Draft, name: str) -> None:
    chance, lines = draft.chance, draft.lines
    counts = [draft.spelled[count] for count in sorted(draft.counts)]
    special = ("names", "on", "act", "bias", "classes", "ratio", "hidden")
    kinds = ["tensor", "tensor", *(["copies"] * 3 if counts else []), *(one for one in special if one in draft.defaults)]
    kind = chance.choice(kinds)
    if kind == "copies":
        first = f"{draft.axis()} if i == 0 else {draft.axis()}" if chance.random() < 0.4 else draft.axis()
        lines += [f"for i in range({chance.choice(counts)}):", f"    found[f'{name}.{{i}}.w'] = ({draft.axis()}, {first})"]
        if "bias" in draft.flags and chance.random() < 0.5:
            lines += ["    if bias:", f"        found[f'{name}.{{i}}.b'] = ({draft.axis()},)"]
    elif kind == "names":
        lines += ["for name in names:", f"    found[f'{name}.{{name}}.weight'] = {draft.shape()}"]
    elif kind == "on":
        lines += ["for i, gate in enumerate(on):", "    if gate:", f"        found[f'{name}.gate{{i}}'] = {draft.shape()}"]
    elif kind == "act":
        lines += ["if act == 'glu':", f"    found['{name}.gate'] = {draft.shape()}"]
    elif kind == "bias":
        lines += ["if bias:", f"    found['{name}.bias'] = {draft.shape()}"]
    elif kind == "classes":
        lines += ["if classes:", f"    found['{name}.head'] = (classes, {draft.axis()})"]
        lines.append(f"found['{name}.pos'] = (1 + classes, {draft.axis()})")
    elif kind == "hidden":
        lines.append(f"found['{name}.mlp'] = (hidden or 4 * {draft.wide()}, {draft.axis()})")
    elif kind == "ratio":
        lines.append(f"found['{name}.mlp'] = (int({draft.wide()} * ratio), {draft.axis()})")
    else:
        lines.append(f"found['{name}.w'] = {draft.shape()}")


def _exception(draft: _Draft) -> None:
    """What the build refuses, or does otherwise, at some sizes only."""
    chance = draft.chance
    name, other = (chance.choice([one for one in draft.sizes if one not in draft.counts]) for _ in range(2))
    numbers = [number for number in (7, 13, 40, 100, 1000, 4096) if number not in draft.sizes.values()]
    one, two, number = draft.spelled[name], draft.spelled[other], chance.choice(numbers)
    kind = chance.randrange(6)
    draft.learnable = False
    if kind == 0:
        draft.lines[:0] = [f"if {one} == {number}:", f"    raise ValueError('not {number}')"]
    elif kind == 1:
        draft.lines[:0] = [f"if {one} > {number + 100}:", f"    raise RuntimeError('at most {number + 100}')"]
    elif kind == 2:
        draft.lines.append(f"found['last'] = ({one} + ({one} == {number}),)")
    elif kind == 3:
        draft.lines.append(f"found['last'] = ({two} if {one} < {number} else 2 * {two},)")
    elif kind == 4 and one != two:
        draft.lines += [f"if {one} != {two}:", f"    found['last'] = ({one}, {two})"]
    else:
        draft.lines.append(f"found['last'] = (max(1, {one} // {chance.choice((2, 4, 8))}),)")
