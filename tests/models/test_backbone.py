"""Which stages a backbone hands on, in the reference's two spellings, and the heads that label pixels."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError, ConfigError
from paramsym.models import Beit, ConvNext, Swin

CONVNEXT = {"model_type": "convnext", "hidden_sizes": [2, 3, 5, 7], "depths": [1, 1, 1, 1]}
SWIN = {"model_type": "swin", "embed_dim": 4, "depths": [1, 1], "num_heads": [1, 2]}
BEIT = {"model_type": "beit", "hidden_size": 12, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 5}


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        ({}, ["stage4"]),
        ({"out_features": ["stem", "stage2"]}, ["stem", "stage2"]),
        ({"out_indices": [0, -1]}, ["stem", "stage4"]),
        ({"out_indices": [1, 2], "out_features": ["stage1", "stage2"]}, ["stage1", "stage2"]),
        ({"out_features": []}, []),
    ],
    ids=str,
)
def test_stages(chosen: dict[str, Any], names: list[str]) -> None:
    """Each stage that goes on has a normalisation of its width, under its name."""
    model = ps.from_config({**CONVNEXT, **chosen}, "ConvNextBackbone", strict=True)
    norms = {name: shape for name, shape in model.shapes().items() if name.startswith("hidden_states_norms.")}
    widths = {"stem": 2, "stage1": 2, "stage2": 3, "stage3": 5, "stage4": 7}
    assert norms == {f"hidden_states_norms.{name}.{kind}": (widths[name],) for name in names for kind in ("weight", "bias")}


@pytest.mark.parametrize(
    ("config", "architecture", "words"),
    [
        ({**CONVNEXT, "out_indices": [5]}, "ConvNextBackbone", r"out_indices is \[5\] .*; the stages are 0 to 4"),
        ({**CONVNEXT, "out_indices": [-6]}, "ConvNextBackbone", "the stages are 0 to 4"),
        ({**CONVNEXT, "out_indices": [2, 1]}, "ConvNextBackbone", "wanted some of stem, stage1, stage2, stage3, stage4, in this order"),
        ({**CONVNEXT, "out_features": ["stage1", "stage1"]}, "ConvNextBackbone", "in this order"),
        ({**CONVNEXT, "out_features": ["stage9"]}, "ConvNextBackbone", "wanted some of stem"),
        ({**CONVNEXT, "out_features": ["stage1"], "out_indices": [2]}, "ConvNextBackbone", "but out_indices chooses"),
        ({**CONVNEXT, "out_features": "stage1"}, "ConvNextBackbone", "wanted a list of words"),
        ({**CONVNEXT, "out_indices": [True]}, "ConvNextBackbone", "wanted a list of whole numbers"),
        ({**CONVNEXT, "depths": [1, 1, 1, 1, 1]}, "ConvNextBackbone", "wanted the same number"),
        ({**SWIN, "out_indices": [3]}, "SwinBackbone", "the stages are 0 to 2"),
        (BEIT, "BeitForSemanticSegmentation", "out_indices chooses 1 feature maps; wanted 4"),
        ({**BEIT, "add_fpn": True, "out_indices": [1, 2]}, "BeitBackbone", "chooses 2 feature maps; wanted 4"),
        ({"model_type": "resnet", "hidden_sizes": [2], "depths": [1]}, "ResNetModel", "of which a bottleneck takes a quarter"),
    ],
)
def test_wrong_stages(config: dict[str, Any], architecture: str, words: str) -> None:
    """Stages that are not there, twice, out of order, or said in two ways that differ."""
    with pytest.raises(ConfigError, match=words):
        ps.from_config(config, architecture)


@pytest.mark.parametrize(
    ("model", "arguments"),
    [(ConvNext, {"out_features": ("stem",)}), (Swin, {"out_features": ("stem",)}), (Beit, {"add_fpn": True})],
)
def test_only_backbones_have_them(model: Any, arguments: dict[str, Any]) -> None:
    """Other classes decide for themselves."""
    with pytest.raises(ArgumentError, match=f"{next(iter(arguments))} is for"):
        model(**arguments)


def test_segmentation() -> None:
    """The auxiliary head comes and goes with its flag, and its convolutions may be none."""
    config = {**BEIT, "segmentation_indices": [0, 1, 2, 3], "num_labels": 3, "auxiliary_channels": 5}
    model = ps.from_config(config, "BeitForSemanticSegmentation", strict=True)
    without = ps.from_config({**config, "use_auxiliary_head": False}, "BeitForSemanticSegmentation", strict=True)
    gone = {name: shape for name, shape in model.shapes().items() if name not in without.shapes()}
    assert set(gone) == {
        "auxiliary_head.convs.0.convolution.weight",
        "auxiliary_head.convs.0.normalization.weight",
        "auxiliary_head.convs.0.normalization.bias",
        "auxiliary_head.classifier.weight",
        "auxiliary_head.classifier.bias",
    }
    assert model.count - without.count == 5 * 12 * 9 + 2 * 5 + 3 * 5 + 3
    bare = ps.from_config({**config, "auxiliary_num_convs": 0}, "BeitForSemanticSegmentation", strict=True)
    assert bare.count - without.count == 3 * 5 + 3


def test_too_few_maps_in_letters() -> None:
    """A pyramid of the default, one map before the last of L blocks, is refused as with numbers."""
    with pytest.raises(ArgumentError, match="chooses 1 feature maps; wanted 4"):
        ps.trace(ps.models.Beit(architecture="BeitForSemanticSegmentation"))
