"""Settings of rotations in configurations, beside those of a record's default; the rules are those of transformers' ``RoPE``."""

from __future__ import annotations

from typing import Any

import pytest

from paramsym.atlas.turns import Turns
from paramsym.atlas.values import frozen_value
from paramsym.program import Rope

DEFAULT = {"rope_type": "default", "rope_theta": 500.0}
LINEAR = {"rope_type": "linear", "rope_theta": 90.0, "factor": 4.0}
SEEN = frozenset({"default", "linear", "rope_theta", "yarn"})


def rope(values: dict[str, Any], settings: dict[str, Any] = DEFAULT, inside: str = "", layers: str | None = None) -> Rope | None:
    """Return the settings of a configuration."""
    return Turns(3, inside, layers, settings, SEEN).rope({key: frozen_value(value) for key, value in values.items()})


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({}, Rope(500.0)),
        ({"rope_theta": 90.0}, Rope(90.0)),
        ({"rope_parameters": DEFAULT}, Rope(500.0)),
        ({"rope_parameters": LINEAR}, Rope(90.0, "linear", factor=4.0)),
        ({"rope_parameters": {"type": "linear", "rope_theta": 90.0, "factor": 4.0}}, Rope(90.0, "linear", factor=4.0)),
    ],
)
def test_given(values: dict[str, Any], found: Rope) -> None:
    """The base and the kind are those of the configuration, the default's if it has none."""
    assert rope(values) == found


@pytest.mark.parametrize(
    "settings",
    [
        {"rope_type": "dynamic", "rope_theta": 90.0, "factor": 4.0},
        {"rope_type": "llama3", "rope_theta": 90.0},
        {"rope_type": "linear", "rope_theta": 90.0},
        {"rope_type": "linear", "factor": 4.0},
        {**LINEAR, "partial_rotary_factor": 0.5},
        {**LINEAR, "mrope_section": [1, 2, 3]},
        {"rope_type": ["linear"], "rope_theta": 90.0},
        {"rope_type": "linear", "rope_theta": "much", "factor": 4.0},
        {"rope_type": "yarn", "rope_theta": 90.0, "factor": 4.0, "original_max_position_embeddings": 64},
        {"full_attention": LINEAR},
    ],
)
def test_not_known(settings: dict[str, Any]) -> None:
    """A kind that follows the length, one that was not verified, a missing number, another share, an unknown setting, another amplitude."""
    assert rope({"rope_parameters": settings}) is None


def test_other_settings_than_formulas_must_stay() -> None:
    """A setting that also scales attention may not change, the base may."""
    settings = {**LINEAR, "llama_4_scaling_beta": 0.1}
    assert rope({"rope_parameters": {**settings, "rope_theta": 70.0}}, settings) == Rope(70.0, "linear", factor=4.0)
    assert rope({"rope_parameters": {**settings, "factor": 8.0}}, settings) is None
    assert rope({"rope_parameters": {**settings, "llama_4_scaling_beta": 0.2}}, settings) is None


def test_an_inner_configuration_and_a_kind_of_layers() -> None:
    """The settings are those of the inner configuration, and of the kind of layers."""
    values = {"rope_parameters": DEFAULT, "text_config.rope_parameters": {"full_attention": LINEAR, "sliding_attention": DEFAULT}}
    assert rope(values, inside="text_config.", layers="full_attention") == Rope(90.0, "linear", factor=4.0)
    assert rope(values, inside="text_config.", layers="sliding_attention") == Rope(500.0)
    assert rope(values, inside="text_config.") is None
