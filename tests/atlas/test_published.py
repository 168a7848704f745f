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


@pytest.mark.parametrize(
    ("name", "numbers", "full", "local"),
    [("google/gemma-3-4b-pt", 2 * 4 * 256, 5, 29), ("google/gemma-3-27b-pt", 2 * 16 * 128, 10, 52)],
)
def test_the_cache_of_gemma_3(name: str, numbers: int, full: int, local: int) -> None:
    """Every sixth layer keeps all positions, the others those of a window of 1024 without the newest (Gemma 3's report, table 1)."""
    assert ps.kv_cache(ps.load(name), (1, 4096), dtype="bfloat16").total == 2 * numbers * (full * 4096 + local * 1023)


def test_glm_4_by_hand() -> None:
    """GLM-4-9B at 4096 tokens: products of 40 layers and of the scores of tokens, and attention over all pairs, two FLOPs each."""
    width, inner, tokens, layers, heads, groups, words = 4096, 13696, 4096, 40, 32, 2, 151552
    attention = 2 * width**2 + 2 * width * groups * (width // heads)
    products = layers * (attention + 3 * width * inner) + width * words
    pairs = 2 * layers * tokens * width
    assert ps.flops(ps.load("THUDM/GLM-4-9B-0414"), (1, tokens)).total == 2 * tokens * (products + pairs)


def test_the_cache_of_command_r7b() -> None:
    """Of 32 layers every fourth keeps all positions, the others those of a window of 4096 without the newest; 8 groups of 128."""
    cache = ps.kv_cache(ps.load("CohereForAI/c4ai-command-r7b-12-2024"), (1, 8192), dtype="bfloat16")
    assert cache.total == 2 * 2 * 8 * 128 * (8 * 8192 + 24 * 4095)
