"""Published configurations of recorded types: each name loads the class that was published, with the count that transformers builds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from amount import cases, sample
from frameworks import imported, on_meta

import paramsym as ps
from paramsym.atlas.published import published_records
from paramsym.cli import main
from paramsym.errors import UnknownNameError
from paramsym.models import model_types

NAMES = sorted(published_records())


def test_names_are_of_recorded_types() -> None:
    """No family by hand has these names twice."""
    assert len(NAMES) >= 55
    assert not {one.config["model_type"] for one in published_records().values()} & {*model_types()}


@cases(12)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_the_published_class(name: str, recwarn: pytest.WarningsRecorder) -> None:
    """With its organisation and without, in any capitals; no key is unknown."""
    one = published_records()[name]
    for typed in (name, name.rpartition("/")[2].upper()):
        model: Any = ps.load(typed)
        assert (model.architecture, model.count) == (one.counts, one.count)
    assert not list(recwarn)


@pytest.mark.parametrize("name", sample(4, NAMES))
def test_counts_are_those_of_transformers(name: str) -> None:
    """The reference builds the configuration, without memory for weights, and has so many distinct parameters."""
    transformers = imported("transformers")
    one = published_records()[name]
    keys = json.loads(json.dumps({key: value for key, value in one.config.items() if key != "model_type"}))
    config = transformers.AutoConfig.for_model(one.config["model_type"], **keys)
    module: Any = on_meta(lambda: getattr(transformers, one.counts)(config))
    assert sum({id(each): each.numel() for each in module.parameters()}.values()) == one.count


def test_a_near_name() -> None:
    """A name that is almost right is offered."""
    with pytest.raises(UnknownNameError, match="HuggingFaceTB/SmolLM3-3B"):
        ps.load("HuggingFaceTB/SmolLM3-3")


def test_a_type_lists_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    """The shell says which published configurations a type has."""
    assert main(["families", "m2m_100"]) == 0
    assert "published size  facebook/nllb-200-3.3B" in capsys.readouterr().out
