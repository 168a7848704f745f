"""What recorded classes compute, beside the reference with the same random tensors, at drawn configurations."""

from __future__ import annotations

from typing import Any

import pytest
from amount import sample

from paramsym.atlas import computing

pytest.importorskip("torch")
pytest.importorskip("transformers")

from oracles.live_runs import agrees

FORMS = [
    (model_type, name, number)
    for model_type in computing.computed_types()
    for name, entry in computing._classes_of(model_type).items()
    for number, form in enumerate(entry["forms"])
    if "entries" in form["recording"]
]


def test_many_run() -> None:
    """A good part of the recorded classes has the entries of all its arrays."""
    assert len({(model_type, name) for model_type, name, _ in FORMS}) >= 210


@pytest.mark.parametrize(("model_type", "name", "number"), sample(9, FORMS))
def test_the_reference_gives_the_same(model_type: str, name: str, number: int) -> None:
    """Within 1e-4 of the largest entry, at configurations that the builder of the records did not draw."""
    said = agrees(model_type, name, computing._forms_of(model_type, name)[number], seed=1)
    if said.startswith(("no drawn", "NotYetError")):
        pytest.skip(said)
    assert not said


@pytest.mark.parametrize(
    "keys",
    [
        {"rope_theta": 50_000.0},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 50_000.0}},
        {"rope_parameters": {"rope_type": "linear", "rope_theta": 50_000.0, "factor": 2.0}},
        {"rope_scaling": {"type": "linear", "factor": 2.0}},
        {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "attention_factor": 1.0}},
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 50_000.0,
                "factor": 8.0,
                "original_max_position_embeddings": 64,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
            }
        },
        {"rms_norm_eps": 0.2},
    ],
)
def test_other_keys(keys: dict[str, Any]) -> None:
    """Frequencies and numbers in arguments are those of the configuration."""
    assert not agrees("smollm3", "SmolLM3ForCausalLM", computing._forms_of("smollm3", "SmolLM3ForCausalLM")[0], **keys)


@pytest.mark.parametrize(
    "settings",
    [
        {"rope_type": "dynamic", "rope_theta": 50_000.0, "factor": 2.0},
        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
    ],
)
def test_frequencies_that_are_not_known(settings: dict[str, Any]) -> None:
    """Frequencies that follow the length of the text, or come with a factor of cosines, are refused."""
    form = computing._forms_of("smollm3", "SmolLM3ForCausalLM")[0]
    assert "not known for these" in agrees("smollm3", "SmolLM3ForCausalLM", form, rope_parameters=settings)
