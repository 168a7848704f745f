"""Backbones: vision models whose feature maps go on to another model, and which of their stages a configuration chooses."""

from __future__ import annotations

from typing import Any

from paramsym.compose import Block
from paramsym.errors import ArgumentError, ConfigError
from paramsym.layers.normalization import LayerNorm
from paramsym.models.family import shown
from paramsym.size import Dim


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
