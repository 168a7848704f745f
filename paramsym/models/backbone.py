"""Backbones: vision models whose feature maps go on to another model, and which of their stages a configuration chooses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paramsym.compose import Block
from paramsym.errors import ArgumentError, ConfigError
from paramsym.layer import Layer, Part
from paramsym.layers.normalization import LayerNorm
from paramsym.ledger import Numbers
from paramsym.models.keys import shown
from paramsym.program import Own, Value
from paramsym.program.own import through
from paramsym.size import Count, Dim, canonical


def settle_stages(arguments: dict[str, Any], stages: int) -> None:
    """Make ``out_features`` of the two spellings, and of numbers that count from the end; the last stage, where neither is given.

    Raises:
        ConfigError: a number that is no stage's, or spellings that choose different stages.
        ArgumentError: as ``check_features``.

    >>> arguments = {"out_indices": (1, -1), "out_features": None}
    >>> settle_stages(arguments, 4)
    >>> arguments
    {'out_features': ('stage1', 'stage4')}
    """
    numbers, features = arguments.pop("out_indices"), arguments["out_features"]
    if numbers is not None:
        if any(not -stages <= number + 1 <= stages + 1 for number in numbers):
            message = f"out_indices is {shown(list(numbers))}; the stages are 0 to {stages}."
            raise ConfigError(message)
        chosen = tuple(stage_name(number % (stages + 1)) for number in numbers)
        if features not in {None, chosen}:
            message = f"out_features is {shown(list(features))}, but out_indices chooses {shown(list(chosen))}."
            raise ConfigError(message)
        features = chosen
    arguments["out_features"] = (stage_name(stages),) if features is None else features
    check_features(arguments["out_features"], tuple(map(stage_name, range(stages + 1))))


def check_features(features: tuple[str, ...], stages: tuple[str, ...]) -> None:
    """Raise ``ArgumentError`` for features that are no stages, stand twice, or are not in order."""
    if features != tuple(name for name in stages if name in features):
        message = f"out_features is {shown(list(features))}; wanted some of {', '.join(stages)}, in this order."
        raise ArgumentError(message)


def stage_name(number: int) -> str:
    """Return the reference's name of a stage: ``stem``, then ``stage1``, ``stage2``, ..."""
    return f"stage{number}" if number else "stem"


def check_chosen(features: tuple[str, ...] | None, depth: Count, architecture: str, *allowed: str) -> None:
    """Raise ``ArgumentError`` for features of an architecture that has none, or that are no stages of ``depth`` blocks, in order."""
    if features is None:
        return
    if architecture not in allowed:
        message = f"out_features is for {' and '.join(allowed)}; {architecture} has none."
        raise ArgumentError(message)
    stages = depth if isinstance(depth, int) else max(map(stage_number, features), default=0)
    check_features(features, tuple(map(stage_name, range(stages + 1))))


def stage_number(name: str) -> int:
    """Return the number of a stage.

    Raises:
        ArgumentError: a name that no stage has.

    >>> stage_number("stem"), stage_number("stage12")
    (0, 12)
    """
    number = 0 if name == "stem" else int(name[5:]) if name[:5] == "stage" and name[5:].isdecimal() and len(name) < 12 else -1
    if number < 0 or stage_name(number) != name:
        message = f"out_features has {shown(name)}; wanted stem, stage1, stage2, ..."
        raise ArgumentError(message)
    return number


@dataclass(frozen=True)
class Staged(Layer):
    """``depth`` numbered blocks; what has passed ``chosen`` numbers of them comes out, in the order of ``chosen``.

    >>> from paramsym import Dense, H, L
    >>> Staged(Dense(H, H), L, (0, L)).params
    H**2*L + H*L
    """

    block: Layer
    depth: Count
    chosen: tuple[Count, ...]

    def parts(self) -> Iterator[Part]:
        """All blocks."""
        yield Part("", self.block, Numbers(self.depth))

    def forward(self, own: Own, x: Value, *along: Value) -> tuple[Value, ...]:  # noqa: ARG002 - every copy stores what the first one does
        """Run after run of blocks, also those behind the last number that is chosen."""
        stops = sorted(number for number in self.chosen if isinstance(number, int))
        seen: dict[Count, Value] = {}
        at: Count = 0
        for stop in (*stops, canonical(self.depth)):
            count = canonical(stop - at)
            x = x if count == 0 else through([(Numbers(count, at), self.block)], (x,), along)
            seen[stop], at = x, stop
        return tuple(seen[canonical(number)] for number in self.chosen)


def feature_norms(features: tuple[str, ...] | None, widths: tuple[Dim, ...]) -> Block:
    """Return the normalisations of the feature maps that go on; ``widths`` are those of the stem and of every stage.

    Raises:
        ArgumentError: features that are no stages, twice, or not in order.

    >>> from paramsym.symbols import H
    >>> feature_norms(("stem", "stage2"), (H, H, 2 * H)).params
    6*H
    """
    known = {stage_name(number): width for number, width in enumerate(widths)}
    chosen = (stage_name(len(widths) - 1),) if features is None else features
    check_features(chosen, tuple(known))
    return Block({name: LayerNorm(known[name]) for name in chosen})
