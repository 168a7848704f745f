"""Networks of torchvision, read from their modules, against torch's counter; and images in letters."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym import B, H, W

torch = pytest.importorskip("torch")

from oracles.torchvision_live import torchvision  # noqa: E402 - it is imported after torch was asked for
from read.comparing import counted_on  # noqa: E402 - it needs torch

IMAGE, FILM = (2, 3, 224, 224), (1, 3, 16, 112, 112)
NETWORKS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("alexnet", "vgg11", "resnet18", "resnet50", "resnext50_32x4d", "densenet121", "squeezenet1_0", "googlenet"), IMAGE),
    **dict.fromkeys(("mobilenet_v2", "mobilenet_v3_small", "mnasnet1_0", "shufflenet_v2_x1_0", "efficientnet_b0", "regnet_y_400mf"), IMAGE),
    **dict.fromkeys(("convnext_tiny", "vit_b_16", "swin_t", "swin_v2_t", "maxvit_t"), IMAGE),
    "inception_v3": (2, 3, 299, 299),
    **dict.fromkeys(("segmentation.fcn_resnet50", "segmentation.deeplabv3_resnet50", "segmentation.lraspp_mobilenet_v3_large"), IMAGE),
    **dict.fromkeys(("video.r3d_18", "video.r2plus1d_18"), FILM),
    "video.swin3d_t": (1, 3, 16, 224, 224),
}


def network(name: str) -> Any:
    """Return a network in evaluation mode, on the meta device."""
    room = torchvision()
    *rooms, function = name.split(".")
    for one in rooms:
        room = getattr(room, one)
    more = (
        {"init_weights": False}
        if name in {"googlenet", "inception_v3"}
        else {"weights_backbone": None}
        if rooms == ["segmentation"]
        else {}
    )
    return getattr(room, function)(**more).eval().to("meta")


@pytest.mark.parametrize("name", NETWORKS)
def test_the_counter(name: str) -> None:
    """FLOPs forward and both ways."""
    net = network(name)
    layer = ps.from_module(net)
    found = ps.flops(layer, NETWORKS[name]).total, ps.flops(layer, NETWORKS[name], way="both").total
    assert found == counted_on(net, {}, torch.empty(NETWORKS[name], device="meta"))


@pytest.mark.parametrize("name", ["resnet18", "mobilenet_v2", "segmentation.fcn_resnet50"])
def test_images_in_letters(name: str) -> None:
    """A formula in the sides of an image that are multiples of 32."""
    layer = ps.from_module(network(name))
    formula = ps.flops(layer, (B, 3, 32 * H, 32 * W))
    for batch, height, width in ((1, 7, 7), (3, 4, 6), (2, 12, 5)):
        assert formula.at(B=batch, H=height, W=width).total == ps.flops(layer, (batch, 3, 32 * height, 32 * width)).total
