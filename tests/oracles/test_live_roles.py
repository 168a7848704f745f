"""The count without embeddings of recorded types, beside the reference's own: ``num_parameters(exclude_embeddings=True)``."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from amount import sample
from frameworks import imported, on_meta

import paramsym as ps
from paramsym.atlas.files import read_types, record_of
from paramsym.errors import ConfigError

transformers = imported("transformers")


@pytest.mark.parametrize("model_type", sample(3, read_types()[3::8]))
def test_without_embeddings(model_type: str) -> None:
    """The default of a type has as many parameters outside of its embeddings as the reference counts."""
    name = next(iter(record_of(model_type)["classes"]))
    try:
        layer = ps.from_config({"model_type": model_type}, name)
        config = transformers.AutoConfig.for_model(model_type)
        home = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
        model: Any = on_meta(lambda: getattr(home, name)(config))
    except (ConfigError, ImportError) as error:  # a key that has no default, or a library that the reference's class needs
        pytest.skip(str(error)[:80])
    assert ps.conventions(layer)["non-embedding (Hugging Face)"].params == model.num_parameters(exclude_embeddings=True)
