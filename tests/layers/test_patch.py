"""Patches against live transformers."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import C, H, W
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError

p = ps.dims("p")


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_vit(hidden: int, channels: int, high: int, wide: int, rows: int, columns: int) -> None:
    """The projection and the number of patches are ViT's, for rectangles too."""
    vit = imported("transformers.models.vit.modeling_vit")
    sizes: dict[str, Any] = {"image_size": (rows * high, columns * wide), "patch_size": (high, wide), "num_channels": channels}
    ours = ps.PatchEmbedding(hidden, **sizes)
    config = imported("transformers").ViTConfig(hidden_size=hidden, **sizes)
    assert_same_as_torch(ours, lambda: vit.ViTPatchEmbeddings(config))
    assert ours.num_patches == vit.ViTPatchEmbeddings(config).num_patches == rows * columns


def test_formulas() -> None:
    """Dosovitskiy et al. 2021, section 3.1: N = HW/P**2 patches, each of P**2*C numbers mapped to D."""
    layer = ps.PatchEmbedding(H, W, p, C)
    assert layer.params == H * p**2 * C + H
    assert layer.num_patches == W**2 / p**2
    assert layer.at(H=768, W=224, p=16, C=3) == ps.PatchEmbedding(768)
    assert layer.at(H=768, W=224, p=16, C=3).num_patches == 196
    assert ps.PatchEmbedding(H, bias=False, name="proj").shapes() == {"proj.weight": (H, 3, 16, 16)}


def test_what_cannot_be() -> None:
    """Patches tile the image, also once numbers arrive."""
    with pytest.raises(DivisibilityError, match="image_size 225 is not divisible by patch_size 16"):
        ps.PatchEmbedding(768, 225)
    with pytest.raises(DivisibilityError, match="image_size 100"):
        ps.PatchEmbedding(H, W).at(W=100)
    with pytest.raises(ArgumentError, match="3 entries"):
        ps.PatchEmbedding(768, (224, 224, 3))  # type: ignore[arg-type]


def test_another_image_than_the_layer_was_made_for() -> None:
    """transformers: "Input image size (6*8) doesn't match model (8*8)", and channels likewise."""
    layer = ps.PatchEmbedding(16, (8, 8), 4, 3)
    assert layer.output_shape((2, 3, 8, 8)) == (2, 4, 16)
    with pytest.raises(ShapeError, match=r"the image is \(6, 8\); wanted \(8, 8\)"):
        layer.output_shape((2, 3, 6, 8))
    with pytest.raises(ShapeError, match=r"axis 1 \(channels\) is 1; wanted 3"):
        layer.output_shape((2, 1, 8, 8))
