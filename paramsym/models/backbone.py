"""Backbones: vision models that pass feature maps to another model, and the stages that a configuration chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Count, Dim, canonical
from paramsym.atlas.values import shown
from paramsym.core.compose import Block
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError, ConfigError
from paramsym.layers.normalization import LayerNorm
from paramsym.models.key_kinds import Key, Listed
from paramsym.models.model import Model, key
from paramsym.program import Own, Value
from paramsym.program.own import through

_ONLY = ("Backbone",)
IGNORED = {"chooses what a backbone returns": "_out_features _out_indices stage_names"}
"""Keys of configurations of models with a backbone that no class reads."""


class Backbone(Model):
    """A vision model with a backbone class, abstract: the backbone returns the maps of ``out_features``, by default of the last stage.

    ``depths`` has an entry for each stage; without it, each block is a stage.

    Raises:
        ArgumentError: features that are not stages, or for an architecture that returns none.
    """

    _: KW_ONLY
    out_features: tuple[str, ...] | None = key(Listed(str, only=_ONLY))

    reads: ClassVar[Mapping[str, Key]] = {"out_indices": Listed(int, only=_ONLY)}

    def conditions(self) -> None:
        super().conditions()
        if self.out_features is None:
            return
        allowed = self.__dataclass_fields__["out_features"].metadata["key"].only
        if not self.architecture.endswith(allowed):
            wanted = [one for names in self.prefixes().values() for one in names if one.endswith(allowed)]
            raise ArgumentError(f"out_features is for {' and '.join(wanted)}; {self.architecture} has none.")
        depth = self.stages
        last = depth if isinstance(depth, int) else max(map(stage_number, self.out_features), default=0)
        check_features(self.out_features, tuple(map(stage_name, range(last + 1))))

    @property
    def is_backbone(self) -> bool:
        return self.architecture.endswith("Backbone")

    @property
    def stages(self) -> Count:
        depths: tuple[Count, ...] | None = getattr(self, "depths", None)
        return getattr(self, "num_hidden_layers", 0) if depths is None else len(depths)

    @property
    def chosen(self) -> tuple[Any, ...]:
        """The numbers of the returned stages; only the last may be symbolic, and the stem is 0."""
        return (self.stages,) if self.out_features is None else tuple(map(stage_number, self.out_features))


def settle_stages(arguments: dict[str, Any], stages: int) -> None:
    """Make ``out_features`` from the two keys, and from numbers that count from the end; by default the last stage.

    Classes without either key are not changed.

    Raises:
        ConfigError: a number without a stage, or keys that choose different stages.
        ArgumentError: as ``check_features``.

    >>> arguments = {"out_indices": (1, -1), "out_features": None}
    >>> settle_stages(arguments, 4)
    >>> arguments
    {'out_features': ('stage1', 'stage4')}
    """
    if "out_indices" not in arguments:
        return
    numbers, features = arguments.pop("out_indices"), arguments["out_features"]
    if numbers is not None:
        if any(not -stages <= number + 1 <= stages + 1 for number in numbers):
            raise ConfigError(f"out_indices is {shown(list(numbers))}; the stages are 0 to {stages}.")
        chosen = tuple(stage_name(number % (stages + 1)) for number in numbers)
        if features not in {None, chosen}:
            raise ConfigError(f"out_features is {shown(list(features))}, but out_indices chooses {shown(list(chosen))}.")
        features = chosen
    arguments["out_features"] = (stage_name(stages),) if features is None else features
    check_features(arguments["out_features"], tuple(map(stage_name, range(stages + 1))))


def check_features(features: tuple[str, ...], stages: tuple[str, ...]) -> None:
    """Raise ``ArgumentError`` for features that are not stages, occur twice, or are not in order."""
    if features != tuple(name for name in stages if name in features):
        raise ArgumentError(f"out_features is {shown(list(features))}; wanted some of {', '.join(stages)}, in this order.")


def stage_name(number: int) -> str:
    """Return the reference's name of a stage: ``stem``, then ``stage1``, ``stage2``, ..."""
    return f"stage{number}" if number else "stem"


def stage_number(name: str) -> int:
    """Return the number of a stage.

    Raises:
        ArgumentError: an unknown stage.

    >>> stage_number("stem"), stage_number("stage12")
    (0, 12)
    """
    number = 0 if name == "stem" else int(name[5:]) if name[:5] == "stage" and name[5:].isdecimal() and len(name) < 12 else -1
    if number < 0 or stage_name(number) != name:
        raise ArgumentError(f"out_features has {shown(name)}; wanted stem, stage1, stage2, ...")
    return number


class Staged(Declared):
    """``depth`` numbered blocks; the outputs after ``chosen`` numbers of blocks are returned, in the order of ``chosen``.

    >>> from paramsym import Dense, H, L
    >>> Staged(Dense(H, H), L, (0, L)).params
    H**2*L + H*L
    """

    block: Layer
    depth: Count
    chosen: tuple[Count, ...]

    def parts(self) -> Iterator[Part]:
        yield Part("", self.block, Numbers(self.depth))

    def forward(self, own: Own, x: Value, *along: Value) -> tuple[Value, ...]:  # noqa: ARG002 - every copy stores what the first one does
        """All runs of blocks, including those after the last chosen number."""
        stops = {canonical(number) for number in (*self.chosen, self.depth)}
        early = sorted(stop for stop in stops if isinstance(stop, int))
        seen: dict[Count, Value] = {}
        at: Count = 0
        for stop in (*early, *sorted(stops.difference(early), key=lambda stop: int(canonical(stop - self.depth)))):
            count = canonical(stop - at)
            x = x if count == 0 else through([(Numbers(count, at), self.block)], (x,), along)
            seen[stop], at = x, stop
        return tuple(seen[canonical(number)] for number in self.chosen)


def feature_norms(features: tuple[str, ...] | None, widths: tuple[Dim, ...]) -> Block:
    """Return the normalisations of the returned feature maps; ``widths`` are those of the stem and of every stage.

    Raises:
        ArgumentError: features that are not stages, twice, or not in order.

    >>> from paramsym.algebra.symbols import H
    >>> feature_norms(("stem", "stage2"), (H, H, 2 * H)).params
    6*H
    """
    known = {stage_name(number): width for number, width in enumerate(widths)}
    chosen = (stage_name(len(widths) - 1),) if features is None else features
    check_features(chosen, tuple(known))
    return Block({name: LayerNorm(known[name]) for name in chosen})
