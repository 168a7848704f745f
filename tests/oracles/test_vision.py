"""The networks of ``paramsym/models/vision`` against torchvision: what it stores, what it computes, how much work that is."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from amount import cases
from frameworks import imported
from oracles.torchvision_live import built, detections
from recorded import assert_reproduces, rows

import paramsym as ps
from paramsym.core.layer import Layer
from paramsym.models import FAMILIES
from paramsym.testing.running import largest_difference

HOMES = {home: classes.split() for home, (classes, _) in FAMILIES.items() if home.startswith("vision.")}
CLASSES = [getattr(import_module(f"paramsym.models.{home}"), name) for home, names in HOMES.items() for name in names]
OF = {name: cls for cls in CLASSES for name in cls.published if not name.startswith("keras.")}
RECORDED = rows("torchvision")
STORED = [row for row in rows("cnn") if row["library"].startswith("torchvision") and row["model"].removeprefix("quantized_") in OF]
STORED += [row for row in RECORDED if "params" in row]
WORKED = [row for row in rows("costs/flops_cnn") if row["library"].startswith("torchvision") and row["model"] in OF and "flops" in row]
DETECTORS = {name for name, cls in OF.items() if cls.__module__.endswith(("rcnn", "retinanet", "ssd"))}
NO_ARGUMENTS = {"weights", "weights_backbone", "init_weights"}
"""What says which numbers are in the tensors, and not which tensors there are."""


def ours(name: str, **arguments: Any) -> Layer:
    """Return the network that torchvision's function of this name builds, which may have other auxiliary heads than the published one."""
    has = OF[name].__dataclass_fields__
    heads = {one: has[one].default for one in ("aux_logits", "aux_loss") if one in has}
    model: Layer = OF[name](name, **{**heads, **arguments})
    return model


@pytest.mark.parametrize("row", STORED, ids=lambda row: f"{row['model']}-{row['kwargs']}-{row.get('note', '')[:13]}")
def test_recorded(row: dict[str, Any]) -> None:
    """Names, shapes, order and totals, statistics included; a network to be quantized stores the same."""
    arguments = {name: value for name, value in row["kwargs"].items() if name not in NO_ARGUMENTS}
    if "FrozenBatchNorm2d" in row.get("note", ""):
        arguments["norm_layer"] = "FrozenBatchNorm2d"
    assert_reproduces(ours(row["model"].removeprefix("quantized_"), **arguments), row)


def measured(row: dict[str, Any], side: int) -> Layer:
    """Return the network that was measured at images of this side: positions are made for it, and an auxiliary classifier is run."""
    has = OF[row["model"]].__dataclass_fields__
    settings = {"image_size": side, "aux_loss": True}
    return ours(row["model"], **{name: value for name, value in settings.items() if name in has})


@cases(6)
@pytest.mark.parametrize("row", WORKED, ids=lambda row: row["model"])
def test_work(row: dict[str, Any]) -> None:
    """Torch's counter, in all recorded sizes of the image; of a detector these rows have the backbone with its pyramid."""
    model = measured(row, row["input"][-1])
    assert ps.flops(model.part("backbone") if row["kind"] == "detection" else model, tuple(row["input"])).total == row["flops"]
    for size, flops in row.get("flops_at_crop", {}).items():
        side = int(size)
        assert ps.flops(measured(row, side), (*row["input"][:-2], side, side)).total == flops


@cases(1000)
@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row["model"])
def test_work_of_all_inputs(row: dict[str, Any]) -> None:
    """Torch's counter again, of every network that the other rows leave out, and of detectors as a whole; and what comes out."""
    model, inputs = ours(row["model"]), tuple(map(tuple, row["inputs"]))
    assert ps.flops(model, *inputs).total == row["flops"]
    found = ps.output_shape(model, inputs if len(inputs) > 1 else inputs[0])
    assert (found if isinstance(found[0], tuple) else (found,))[: len(row["out"])] == tuple(map(tuple, row["out"]))


WHOLE = [row for row in WORKED if row.get("published") and row["kind"] != "detection"]


@pytest.mark.parametrize("row", WHOLE, ids=lambda row: row["model"])
def test_published_work_and_counts(row: dict[str, Any]) -> None:
    """Torchvision's own figures: parameters, and multiply-adds in thousands of millions, rounded to three digits behind the point."""
    for one in row["published"]:
        side = one.get("crop_size") or row["input"][-1]
        sides = (side, side) if isinstance(side, int) else tuple(side)
        model = measured(row, sides[-1])
        without = ours(row["model"], aux_logits=False) if row["model"] == "googlenet" else model
        assert one["num_params"] == without.count, one
        assert abs(ps.macs(model, (*row["input"][:-2], *sides)).total - one["gops"] * 10**9) <= 10**6, one


LOOKED_AT = {
    "FasterRCNN_ResNet50_FPN_Weights.COCO_V1": (1000, 0),
    "FasterRCNN_ResNet50_FPN_V2_Weights.COCO_V1": (1000, 0),
    "FasterRCNN_MobileNet_V3_Large_FPN_Weights.COCO_V1": (0, 0),
    "FasterRCNN_MobileNet_V3_Large_320_FPN_Weights.COCO_V1": (0, 0),
    "MaskRCNN_ResNet50_FPN_Weights.COCO_V1": (1000, 0),
    "MaskRCNN_ResNet50_FPN_V2_Weights.COCO_V1": (1000, 100),
    "KeypointRCNN_ResNet50_FPN_Weights.COCO_LEGACY": (1000, 0),
    "KeypointRCNN_ResNet50_FPN_Weights.COCO_V1": (1000, 1),
}
"""How many regions both stages looked at where a published figure was measured: the numbers that give it, which it does not say."""


@pytest.mark.parametrize("row", [row for row in RECORDED if row["model"] in DETECTORS], ids=lambda row: row["model"])
def test_published_work_of_detectors(row: dict[str, Any]) -> None:
    """Torchvision's figures of multiply-adds, to the third digit behind the point."""
    model = ours(row["model"])
    for one in row["published"]:
        numbers = LOOKED_AT.get(one["weights"], ())
        shapes = [(number, *shape[1:]) for number, shape in zip(numbers, row["inputs"][1:], strict=False) if number]
        assert abs(ps.macs(model, tuple(row["inputs"][0]), *shapes).total - one["gops"] * 10**9) <= 10**6, one


LIVE: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("alexnet", (2, 3, 70, 80), {"num_classes": 5}),
    ("vgg11", (1, 3, 40, 64), {"num_classes": 5}),
    ("vgg11_bn", (1, 3, 64, 32), {"num_classes": 7}),
    ("squeezenet1_0", (2, 3, 65, 70), {}),
    ("squeezenet1_1", (2, 3, 65, 70), {"num_classes": 3}),
    ("mobilenet_v2", (2, 3, 40, 64), {"num_classes": 5}),
    ("mobilenet_v2", (1, 3, 40, 64), {"num_classes": 5, "width_mult": Fraction(1, 10)}),
    ("mobilenet_v2", (1, 3, 40, 33), {"num_classes": 5, "width_mult": Fraction(7, 5), "round_nearest": 4}),
    ("mobilenet_v3_large", (2, 3, 64, 32), {"num_classes": 7}),
    ("mobilenet_v3_large", (1, 3, 64, 32), {"width_mult": Fraction(1, 4), "reduced_tail": True}),
    ("mobilenet_v3_small", (1, 3, 64, 80), {"width_mult": Fraction(3, 4), "dilated": True}),
    ("mnasnet0_5", (2, 3, 65, 70), {"num_classes": 5}),
    ("mnasnet1_3", (1, 3, 65, 40), {"num_classes": 5}),
    ("shufflenet_v2_x0_5", (2, 3, 65, 70), {"num_classes": 3}),
    ("efficientnet_b0", (1, 3, 64, 32), {"num_classes": 3}),
    ("efficientnet_b5", (1, 3, 32, 32), {"num_classes": 3}),
    ("efficientnet_v2_s", (1, 3, 64, 32), {"num_classes": 3}),
    ("googlenet", (2, 3, 64, 72), {"num_classes": 5}),
    ("googlenet", (2, 3, 64, 72), {"num_classes": 5, "transform_input": True, "aux_logits": False}),
    ("inception_v3", (1, 3, 80, 99), {"num_classes": 4}),
    ("regnet_y_400mf", (2, 3, 40, 65), {"num_classes": 5}),
    ("regnet_x_8gf", (1, 3, 40, 45), {}),
    ("convnext_tiny", (1, 3, 64, 70), {"num_classes": 5}),
    ("vit_b_32", (1, 3, 64, 64), {"image_size": 64, "num_classes": 4}),
    ("vit_b_32", (1, 3, 32, 32), {"image_size": 32, "num_classes": 4, "representation_size": 6}),
    ("r3d_18", (1, 3, 4, 32, 40), {"num_classes": 5}),
    ("mc3_18", (1, 3, 5, 32, 40), {"num_classes": 5}),
    ("r2plus1d_18", (1, 3, 4, 33, 40), {"num_classes": 5}),
    ("s3d", (1, 3, 14, 224, 224), {"num_classes": 5}),
    ("fcn_resnet50", (1, 3, 33, 47), {"num_classes": 5, "aux_loss": True}),
    ("deeplabv3_resnet50", (1, 3, 33, 40), {"num_classes": 4}),
    ("deeplabv3_mobilenet_v3_large", (1, 3, 65, 90), {"num_classes": 4, "aux_loss": True}),
    ("swin_t", (1, 3, 64, 100), {"num_classes": 5}),
    ("swin_t", (1, 3, 60, 23), {"num_classes": 5}),
    ("swin_v2_t", (1, 3, 90, 64), {"num_classes": 4}),
    ("lraspp_mobilenet_v3_large", (1, 3, 65, 90), {"num_classes": 4}),
    ("maxvit_t", (1, 3, 224, 224), {"num_classes": 5}),
    ("swin3d_t", (2, 3, 17, 61, 30), {"num_classes": 5}),
    ("swin3d_t", (1, 3, 19, 130, 30), {"num_classes": 5}),
    *(
        (name, (1, 3, frames, *sides), {"spatial_size": sides, "temporal_size": frames, "num_classes": 5, "residual_with_cls_embed": token})
        for name in ("mvit_v1_b", "mvit_v2_s")
        for frames, sides, token in ((4, (64, 96), False), (6, (72, 44), True))
    ),
)


def in_floats(value: Any) -> Any:
    """Return a multiplier as torchvision takes it."""
    return float(value) if isinstance(value, Fraction) else value


@pytest.mark.parametrize(("name", "size", "arguments"), LIVE, ids=[f"{name}-{size}-{arguments}" for name, size, arguments in LIVE])
def test_live(name: str, size: tuple[int, ...], arguments: dict[str, Any]) -> None:
    """The state dict, entry by entry, and the output on random weights, of torchvision's network with these arguments."""
    torch, xp = imported("torch"), imported("numpy")
    theirs, model = built(name, **{key: in_floats(value) for key, value in arguments.items()}), ours(name, **arguments)
    state = theirs.state_dict()
    assert list(model.shapes(buffers=True).items()) == [(name, tuple(tensor.shape)) for name, tensor in state.items()]
    x = torch.randn(size, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    with torch.no_grad():
        wanted = theirs(x)
    several = tuple(one.numpy() for one in wanted.values()) if isinstance(wanted, dict) else (wanted.numpy(),)
    wanted = several if len(several) > 1 else several[0]
    found = ps.run(model, {name: tensor.numpy() for name, tensor in state.items()}, x.numpy())
    largest_difference(xp, model, found, wanted, 1e-9)


SEEN: tuple[tuple[str, tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ("fasterrcnn_resnet50_fpn", (2, 3, 64, 90), (3,), {"num_classes": 5}),
    ("fasterrcnn_resnet50_fpn_v2", (1, 3, 70, 64), (3,), {"num_classes": 5}),
    ("fasterrcnn_mobilenet_v3_large_fpn", (1, 3, 70, 64), (2,), {"num_classes": 5}),
    ("maskrcnn_resnet50_fpn", (1, 3, 64, 64), (3, 2), {"num_classes": 4}),
    ("maskrcnn_resnet50_fpn_v2", (1, 3, 64, 64), (3, 2), {"num_classes": 4}),
    ("keypointrcnn_resnet50_fpn", (1, 3, 64, 64), (3, 2), {"num_keypoints": 3}),
    ("retinanet_resnet50_fpn", (2, 3, 64, 90), (), {"num_classes": 4}),
    ("retinanet_resnet50_fpn_v2", (2, 3, 64, 90), (), {"num_classes": 4}),
    ("fcos_resnet50_fpn", (2, 3, 64, 90), (), {"num_classes": 4}),
    ("ssd300_vgg16", (1, 3, 300, 300), (), {"num_classes": 4}),
    ("ssdlite320_mobilenet_v3_large", (1, 3, 320, 320), (), {"num_classes": 4}),
)


@pytest.mark.parametrize(("name", "size", "regions", "arguments"), SEEN, ids=[name for name, *_ in SEEN])
def test_live_detectors(name: str, size: tuple[int, ...], regions: tuple[int, ...], arguments: dict[str, Any]) -> None:
    """The state dict of torchvision's detector, and what it says of every box and of given regions, on random weights."""
    torch, xp = imported("torch"), imported("numpy")
    theirs, model = built(name, **arguments), ours(name, **arguments)
    state = theirs.state_dict()
    assert list(model.shapes(buffers=True).items()) == [(name, tuple(tensor.shape)) for name, tensor in state.items()]
    generator = torch.Generator().manual_seed(2)
    shapes = (size, *((number, 256, side, side) for number, side in zip(regions, (7, 14), strict=False)))
    inputs = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    with torch.no_grad():
        wanted = tuple(one.numpy() for one in detections(theirs, *inputs))
    found = ps.run(model, {name: tensor.numpy() for name, tensor in state.items()}, *(one.numpy() for one in inputs))
    largest_difference(xp, model, found, wanted, 1e-9)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_claims(cls: Any) -> None:
    """Every published count is the model's, apart from what the claim says it adds; every size has one."""
    for claim in cls.claims:
        assert cls(claim.name).count + claim.besides == claim.count, claim
    assert {claim.name for claim in cls.claims} == set(cls.published)
