"""What diffusers' classes compute, beside counts of torch's counter that were recorded from diffusers 0.42.1, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym import B, S, T
from paramsym.atlas.model import Recorded
from paramsym.errors import NotYetError, ShapeError

FLUX = {"_class_name": "FluxTransformer2DModel", "num_layers": 19, "num_single_layers": 38}
DIT = {"_class_name": "DiTTransformer2DModel", "out_channels": 8}
DDPM = {
    "_class_name": "UNet2DModel",
    "attention_head_dim": None,
    "block_out_channels": [128, 256, 256, 256],
    "down_block_types": ["DownBlock2D", "AttnDownBlock2D", "DownBlock2D", "DownBlock2D"],
    "downsample_padding": 0,
    "flip_sin_to_cos": False,
    "freq_shift": 1,
    "norm_eps": 1e-6,
    "sample_size": 32,
    "up_block_types": ["UpBlock2D", "UpBlock2D", "AttnUpBlock2D", "UpBlock2D"],
}
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
    "stable-diffusion-3-medium": (
        {
            "_class_name": "SD3Transformer2DModel",
            "num_layers": 24,
            "num_attention_heads": 24,
            "caption_projection_dim": 1536,
            "pos_embed_max_size": 192,
        },
        ((1, 16, 128, 128), (1, 333, 4096), (1, 2048), (1,)),
        8_904_337_539_072,
        26_708_010_123_264,
    ),
    "DiT-XL-2-256": (DIT, ((1, 4, 32, 32), (1,), (1,)), 237_333_676_032, 711_974_486_016),
    "taesd": ({"_class_name": "AutoencoderTiny"}, ((1, 3, 512, 512),), 263_674_920_960, 546_356_330_496),
    "ddpm-cifar10-32": (DDPM, ((1, 3, 32, 32), (1,)), 12_443_713_536, 37_323_931_648),
}
"""By published name: the configuration, the shapes of the inputs, and the FLOPs of torch 2.13's counter, forward and both ways."""


@pytest.mark.parametrize("name", COUNTED)
def test_counted_operations(name: str) -> None:
    """FLOPs of published sizes are those that torch's counter finds in diffusers' network."""
    config, shapes, forward, both = COUNTED[name]
    model = ps.load(config)
    assert ps.flops(model, *shapes).total == forward
    assert ps.flops(model, *shapes, way="both").total == both


def test_published_operations() -> None:
    """The paper of DiT counts 118.64 billion multiply-adds for DiT-XL/2 and 256 x 256 pixels (Peebles and Xie, 2022, table 4).

    diffusers embeds the step of time in each of the 28 blocks, the paper once.
    """
    macs = ps.macs(ps.load(DIT), (1, 4, 32, 32), (1,), (1,)).total
    assert round((int(macs) - 27 * (256 + 1152) * 1152) / 1e9, 2) == pytest.approx(118.64, abs=0.02)


def test_a_batch_in_letters() -> None:
    """A formula holds for any batch, and for a batch of 1, which has a form of its own."""
    model = ps.load(FLUX)
    assert isinstance(model, Recorded)
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
        ps.flops(model, (1, 64, 64, 64), *((1, *one) for one in PICTURE[1:]), (4096, 3), (512, 3))
    other = ps.load({**FLUX, "axes_dims_rope": [8, 28, 28], "attention_head_dim": 64})
    assert other.count
    with pytest.raises(NotYetError, match="attention_head_dim is 64"):
        ps.flops(other, *((1, *one) for one in PICTURE), (4096, 3), (512, 3))
