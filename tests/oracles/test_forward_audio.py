"""What random configurations of wav2vec 2.0 leave out: the convolutions behind the encoder, which not every class can have."""

from __future__ import annotations

import random
from typing import Any

import pytest
from frameworks import imported
from oracles.computing import chosen
from oracles.runnable import TOKENS, config_of
from oracles.test_forward_models import TOLERANCE, outputs, randomised
from oracles.test_live_shapes import built

import paramsym as ps
from paramsym.models import family_of
from paramsym.testing.running import largest_difference


@pytest.mark.parametrize("output", [None, 24])
@pytest.mark.parametrize("architecture", ["Wav2Vec2Model", "Wav2Vec2ForCTC"])
def test_adapter(architecture: str, output: int | None) -> None:
    """Convolutions with gates, of the hidden size or, behind a projection, of another one."""
    torch, xp, draw = imported("torch"), imported("numpy"), random.Random(f"{architecture} {output}")
    family = family_of("wav2vec2")
    config: dict[str, Any] = {**config_of(family, draw), **chosen(family, draw), "add_adapter": True, "num_adapter_layers": 2}
    config |= {"adapter_kernel_size": 3, "adapter_stride": draw.choice([1, 2])} | ({} if output is None else {"output_hidden_size": output})
    model = ps.from_config({"model_type": "wav2vec2", **config, **TOKENS}, architecture)
    module = randomised(torch, built(imported("transformers"), "wav2vec2", architecture, config))
    signal = torch.randn(2, 700, dtype=torch.float64)
    with torch.no_grad():
        wanted = outputs(module(input_values=signal))
    tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    largest_difference(xp, model, ps.run(model, tensors, signal.numpy()), wanted, TOLERANCE)
