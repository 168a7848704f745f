"""Depths of recorded models as letters: the kinds of their numbered copies follow one pattern for any number of copies."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import cast

import pytest
from amount import cases
from hypothesis import given, strategies as st
from nesting import nested

import paramsym as ps
from paramsym import dims
from paramsym.atlas.depth import Pattern, pattern_of
from paramsym.atlas.files import read_types, record_of
from paramsym.atlas.model import Recorded
from paramsym.errors import ConfigError, ParamsymError, StructureError

KINDS = st.integers(0, 2).map(lambda number: ((number, "#"),))
WORDS = {low: st.lists(KINDS, min_size=low, max_size=4).map(tuple) for low in (0, 1)}


@given(WORDS[0], WORDS[1], st.lists(KINDS, max_size=2).map(tuple), st.integers(0, 9))
def test_a_pattern_is_found_from_its_kinds(first: tuple, period: tuple, last: tuple, more: int) -> None:  # type: ignore[type-arg]
    """The found pattern has the same kinds for other numbers of copies, and is not longer."""
    pattern = Pattern(first, period, last)
    seen = [pattern.kinds(pattern.least + more + copies) for copies in range(17)]
    found = pattern_of(seen)
    assert found is not None
    assert len(found.period) <= len(period)
    for copies in range(pattern.least + more, 60):
        assert found.kinds(copies) == pattern.kinds(copies)


REFUSED = ("edgetam", "edgetam_video", "falcon_h1", "phi4_multimodal", "sam2", "sam2_video")
"""Types with a depth that is a letter, of which another number is refused."""


def _others(model: Recorded, depths: Collection[str]) -> dict[str, object]:
    """Return the values of a model besides depths and lists, which may have an entry for each layer."""
    return {key: value for key, value in model.values if key not in depths and not isinstance(value, tuple)}


@cases(6)
@pytest.mark.parametrize("model_type", read_types())
def test_another_depth_is_the_one_of_its_configuration(model_type: str) -> None:
    """In letters and then in numbers, a model has the tensors of the record for this configuration."""
    try:
        found = ps.from_config({"model_type": model_type})
    except ConfigError as error:
        pytest.skip(str(error))
    model = cast("Recorded", getattr(found, "record", found))  # a family is its record
    keys = {key.replace(".", "_"): key for key in record_of(model_type)["classes"][model.architecture]["keys"]}
    depths = {str(letter): size for letter, size in model.origin[1].items() if str(letter).split("_")[0] == "L"}
    for letter, depth in depths.items():
        flat = {keys[model.argument_of(dims(one))]: size for one, size in {**depths, letter: depth + 5}.items()}
        with suppress(ConfigError):
            other = ps.from_config(nested(flat, {"model_type": model_type}))
            wanted = cast("Recorded", getattr(other, "record", other))
            if _others(wanted, flat) != _others(model, flat):  # an inner configuration that is given in part has other defaults
                continue
            try:
                changed = model.at({letter: depth + 5})
            except StructureError:
                assert model_type in REFUSED
            else:
                assert list(changed.shapes().items()) == list(wanted.shapes().items())


@pytest.mark.parametrize(
    ("model_type", "sums"),
    [
        ("gpt_neox_japanese", "2*H**2*L*intermediate_multiple_size + 4*H**2*L + 4*H*L + H*V + 3*H"),
        ("mellum", "2*A*D*H*L + 2*D*G*H*L + 2*D*L + 3*E*F_e*H*L + E*H*L + 2*H*L + H*V + H"),
    ],
)
def test_depth_is_a_letter_of_formulas(model_type: str, sums: str) -> None:
    """The last layer alone has a bias; the list of the layers' kinds is the default of any depth."""
    assert str(ps.from_config({"model_type": model_type}).formula) == sums


def test_layers_in_turn_have_counts_of_the_depth() -> None:
    """Every third layer of RecurrentGemma is attention."""
    model = ps.from_config({"model_type": "recurrent_gemma", "num_key_value_heads": 1})
    assert "D*G*H*floor(L/3)" in str(model.formula)
    names = model.at(L=8).shapes()
    assert [number for number in range(8) if f"layers.{number}.temporal_block.q_proj.weight" in names] == [2, 5]


def test_fewer_layers_than_single_ones_are_refused() -> None:
    """SAM's encoder names the layers 2, 5, 8 and 11 as global."""
    model = ps.from_config({"model_type": "sam_vision_model"})
    assert model.at(L=20).count > model.count
    with pytest.raises(ParamsymError):
        model.at(L=9)
