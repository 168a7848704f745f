"""What timm's architectures compute, beside published counts of the same networks, and what is refused."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import B
from paramsym.errors import NotYetError

PUBLISHED = {
    "resnet18": 1.814,
    "resnet50": 4.089,
    "wide_resnet50_2": 11.398,
    "resnext50_32x4d": 4.23,
    "convnext_tiny": 4.456,
    "efficientnet_b0": 0.386,
    "swin_tiny_patch4_window7_224": 4.491,
    "vit_base_patch16_224": 17.564,
    "regnety_016": 1.612,
    "mobilenetv3_large_100": 0.217,
    "densenet121": 2.834,
    "vgg16": 15.47,
}
"""Billions of multiply-adds for an image of 224 x 224: ``_ops`` of torchvision 0.28's weights, for networks that both libraries have."""


@pytest.mark.parametrize(("name", "billions"), PUBLISHED.items())
def test_published_operations(name: str, billions: float) -> None:
    """The products of an image are those that torchvision published, to three digits after the point."""
    macs = ps.macs(ps.load(f"timm/{name}"), (1, 3, 224, 224)).total
    assert round(int(macs) / 1e9, 3) == pytest.approx(billions, abs=0.0011)


def test_an_image_in_letters() -> None:
    """Sides are letters, and a multiple of 32 leaves no floors: the stages of ConvNeXt are 1/4, 1/8, 1/16 and 1/32 of them."""
    h, w = ps.dims("h w")
    model = ps.load("timm/convnext_tiny")
    assert ps.output_shape(model, (B, 3, 32 * h, 32 * w)) == (B, 1000)
    found = ps.macs(model, (B, 3, 32 * h, 32 * w)).total
    assert found.subs({B: 1, h: 7, w: 7}) == ps.macs(model, (1, 3, 224, 224)).total
    assert found.diff(h).diff(h) == 0


def test_another_network_is_refused() -> None:
    """Keys with other operators refuse by name; the tensors keep their answers."""
    model = ps.load({"architecture": "resnet18", "model_args": {"output_stride": 8}})
    assert model.count == 11_689_512
    with pytest.raises(NotYetError, match="output_stride is 8"):
        ps.flops(model, (1, 3, 224, 224))
    with pytest.raises(NotYetError, match=r"drop_path_rate is 0\.1"):
        ps.activations(ps.load({"architecture": "convnext_tiny", "model_args": {"drop_path_rate": 0.1}}), (1, 3, 224, 224))
