"""What diffusers' classes compute, beside counts of torch's counter that were recorded from diffusers 0.42.1, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym import B, S, T
from paramsym.errors import NotYetError, ShapeError

FLUX = {"_class_name": "FluxTransformer2DModel", "num_layers": 19, "num_single_layers": 38}
PICTURE = ((4096, 64), (512, 4096), (768,), ())
"""A picture of 1024 x 1024 pixels and a text of 512 tokens, without the batch."""
COUNTED: dict[str, tuple[dict[str, Any], tuple[tuple[int, ...], ...], int, int]] = {
    "FLUX.1-schnell": (
        FLUX,
        (*((1, *one) for one in PICTURE), (4096, 3), (512, 3)),
        74_384_632_971_264,
        223_139_397_107_712,
    ),
    "FLUX.1-dev": (
        {**FLUX, "guidance_embeds": True},
        (*((1, *one) for one in PICTURE), (4096, 3), (512, 3), (1,)),
        74_384_653_418_496,
        223_139_456_876_544,
    ),
}
"""By published name: the configuration, the shapes of the inputs, and the FLOPs of torch 2.13's counter, forward and both ways."""


@pytest.mark.parametrize("name", COUNTED)
def test_counted_operations(name: str) -> None:
    """FLOPs of published sizes are those that torch's counter finds in diffusers' network."""
    config, shapes, forward, both = COUNTED[name]
    model = ps.load(config)
    assert ps.flops(model, *shapes).total == forward
    assert ps.flops(model, *shapes, way="both").total == both


def test_a_batch_in_letters() -> None:
    """A formula holds for any batch, and for a batch of 1, which has a form of its own."""
    model = ps.load(FLUX)
    shapes = [(B, S, 64), (B, T, 4096), (B, 768), (B,), (S, 3), (T, 3)]
    assert [*model.inputs.values()] == shapes
    assert ps.output_shape(model, *shapes) == (B, S, 64)
    found = ps.flops(model, *shapes).total
    for batch in (1, 2):
        numbers = [(batch, 8, 64), (batch, 5, 4096), (batch, 768), (batch,), (8, 3), (5, 3)]
        assert ps.flops(model, *numbers).total == found.subs({B: batch, S: 8, T: 5})


def test_a_copy_keeps_its_bytes() -> None:
    """Two results of the last block are views of one array, and a copy to make the text contiguous is kept above a batch of 1 only.

    The bytes are those that autograd held in diffusers' network of these sizes.
    """
    small = {"_class_name": "FluxTransformer2DModel", "num_layers": 2, "num_single_layers": 2, "num_attention_heads": 2, "in_channels": 12}
    model = ps.load({**small, "joint_attention_dim": 40, "pooled_projection_dim": 24})
    shapes = [(2, 5, 12), (2, 7, 40), (2, 24), (2,), (5, 3), (7, 3)]
    assert ps.activations(model, *shapes, convention="torch-sdpa-cpu", dtype="float32").total == 2_432_464


def test_what_is_refused() -> None:
    """Another form of the inputs is refused with the form; keys with other operators refuse by name, and tensors keep their answers."""
    model = ps.load(FLUX)
    with pytest.raises(ShapeError, match="the form of the inputs is"):
        ps.flops(model, (1, 4096, 64))
    other = ps.load({**FLUX, "axes_dims_rope": [8, 28, 28], "attention_head_dim": 64})
    assert other.count
    with pytest.raises(NotYetError, match="attention_head_dim is 64"):
        ps.flops(other, *((1, *one) for one in PICTURE), (4096, 3), (512, 3))
