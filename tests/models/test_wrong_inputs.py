"""Inputs that a model cannot take: the error has the model, the path and kind of the part, the shape that it got, and the wanted shape."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError, ParamsymError, RankError, ShapeError

CASES: list[tuple[str, tuple[Any, ...], type[ParamsymError], tuple[str, ...]]] = [
    ("resnet50", ((1, 4, 224, 224),), ShapeError, ("ResNet", "axis 1 (channels) is 4", "wanted 3")),
    ("resnet50", ((1, 224, 224, 3),), ShapeError, ("ResNet", "looks like one with the channels last")),
    ("resnet50", ((1, 3, 224, 224), (1, 2)), ArgumentError, ("ResNet", "wanted 1 input (x)", "found 2")),
    ("VGG16", ((1, 200, 224, 3),), ShapeError, ("KerasVGG: fc1,", "given (1, 21504)", "wanted 25088")),
    ("alexnet", ((1, 3, 30, 30),), ShapeError, ("features.5, a MaxPool2d", "given (1, 192, 2, 2)", "along the height", "spans 3")),
    ("inception_v3", ((1, 3, 60, 60),), ShapeError, ("Mixed_7a.branch3x3_2.conv, a Conv2d", "given (1, 192, 2, 2)", "spans 3")),
    ("vit_b_16", ((1, 3, 225, 224),), ShapeError, ("VisionTransformer", "(225, 224)", "wanted (224, 224)")),
    ("mvit_v1_b", ((1, 3, 8, 224, 224),), ShapeError, ("MViT", "(4, 56, 56) patches", "wanted (8, 56, 56)")),
    ("s3d", ((1, 3, 8, 100, 100),), ShapeError, ("avgpool, an AvgPool3d", "given (1, 1024, 1, 3, 3)", "window (2, 7, 7)")),
    ("unet_carvana", ((1, 3, 8, 8),), ShapeError, ("down4.maxpool_conv.0, a MaxPool2d", "given (1, 512, 1, 1)", "spans 2")),
    ("ssd300_vgg16", ((1, 3, 64, 64),), ShapeError, ("backbone.extra.3.2, a Conv2d", "given (1, 128, 1, 1)", "spans 3")),
    (
        "fasterrcnn_resnet50_fpn",
        ((1, 3, 128, 128), (5, 256, 6, 7)),
        ShapeError,
        ("given x (1, 3, 128, 128), regions (5, 256, 6, 7)", "axis 2 (height) is 6", "wanted 7"),
    ),
    ("bert-base-uncased", ((1, 600),), ShapeError, ("embeddings.position_embeddings", "600 positions", "rows for 512")),
    ("meta-llama/Meta-Llama-3-8B", ((1, 6, 7),), RankError, ("LlamaForCausalLM", "wanted (batch, positions)", "found 3 axes")),
]


@pytest.mark.parametrize(("name", "shapes", "error", "words"), CASES, ids=[f"{name}-{shapes}" for name, shapes, *_ in CASES])
def test_wrong_input(name: str, shapes: tuple[Any, ...], error: type[ParamsymError], words: tuple[str, ...]) -> None:
    """The message contains every one of the words."""
    with pytest.raises(error) as found:
        ps.trace(ps.load(name), *shapes)
    assert [word for word in words if word not in str(found.value)] == []
