"""Faster, Mask and Keypoint R-CNN. Reference: ``torchvision.models.detection``; tensors as in its state dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from paramsym.algebra.size import Dim, Shape, canonical
from paramsym.algebra.symbols import C, F, N, W, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Block, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.convolution import Conv2d, ConvTranspose2d
from paramsym.layers.dense import Dense
from paramsym.layers.reshaping import Flatten
from paramsym.models.vision.blocks import RELU, Norm, Pictures, conv_norm, named, remembered
from paramsym.models.vision.detection import Backbone, head, plain, pyramid
from paramsym.program import Own, Value, axes, resample

_PROPOSALS, _DETECTIONS, _ANCHORS, _POINTS = dims("proposals detections a k")


class _RCNN(Pictures):
    """Two stages: regions of the image that may be objects, and the classes of those regions."""

    of_one_input: ClassVar[str] = "the first stage only, since no regions were given"
    """What a cost says if the regions of the second stage are left out."""

    usual = 64 * W
    backbone: Backbone
    num_classes: Dim
    out_channels: Dim
    representation_size: Dim
    num_anchors: Dim
    version: Literal[1, 2]
    norm_layer: Norm

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images, and the regions cut out of the pyramid: those proposed for all images together, 7x7 positions each."""
        return {**super().inputs, "regions": (_PROPOSALS, self.out_channels, 7, 7)}

    def parts(self) -> Iterator[Part]:
        width, second = self.out_channels, self.version == 2
        yield Part("backbone", pyramid(self.backbone, width, (1, 2, 3, 4), self.norm_layer, normed=second))
        yield Part("rpn", Block(head=head(plain(width, self.version), width, self.num_anchors, 1, cls_logits=1, bbox_pred=4)))
        wide, classes = self.representation_size, self.num_classes
        predictor = Block(cls_score=Dense(wide, classes), bbox_pred=Dense(wide, canonical(4 * classes)))
        yield Part("roi_heads", Block({"box_head": _box_head(width, wide, second), "box_predictor": predictor, **self._more()}))

    def _more(self) -> dict[str, Layer]:
        """Heads that read the detected regions."""
        return {}

    def _found(self, own: Own, x: Value, regions: Value | None) -> tuple[Value, ...]:
        proposed: tuple[Value, ...] = own["rpn.head"](*own.backbone(self.seen(x)))
        if regions is None:
            return proposed
        y = own["roi_heads.box_head"](self._cut(regions, 7))
        return (*proposed, own["roi_heads.box_predictor.cls_score"](y), own["roi_heads.box_predictor.bbox_pred"](y))

    def _cut(self, regions: Value, side: int) -> Value:
        return axes(regions, "regions channels height width", channels=self.out_channels, height=side, width=side)[0]


class _Detecting(_RCNN):
    """The common base of detectors that read the detected regions again, cut out with 14x14 positions each."""

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {**super().inputs, "detected": (_DETECTIONS, self.out_channels, 14, 14)}

    def forward(self, own: Own, x: Value, regions: Value | None = None, detected: Value | None = None) -> Any:
        found = self._found(own, x, regions)
        return found if detected is None else (*found, self._looked_at(own, self._cut(detected, 14)))

    def _looked_at(self, own: Own, detected: Value) -> Value:
        """Return the further head's output for the detected regions."""
        raise NotImplementedError


@dataclass(frozen=True)
class _Plain(_RCNN):
    """The arguments of Faster and Mask R-CNN; Keypoint R-CNN has one more between them."""

    backbone: Backbone = "resnet50"
    num_classes: Dim = N
    out_channels: Dim = C
    representation_size: Dim = F
    num_anchors: Dim = _ANCHORS
    version: Literal[1, 2] = 1
    norm_layer: Norm = "BatchNorm2d"


@named
@dataclass(frozen=True)
class FasterRCNN(_Plain):
    """A head that proposes regions at every position of a pyramid, and one that gives the class and the box of each region.

    The first stage gives for each of the ``num_anchors`` boxes of a position the score of an object, and four numbers that move the box.
    Which of them are used depends on the data: those of the best scores, without those that overlap a better one, at most 1000 of an image
    (2000 in training). Each is cut out of the level that fits its size, with 7x7 positions interpolated between those of the map. The
    second stage takes these regions as a separate input, ``regions``, of all images together; without it only the first stage runs. The
    second stage gives the scores of ``num_classes``, which include the background, and four numbers for each class.

    ``out_channels`` is the width of the pyramid, ``representation_size`` that of the second stage. ``version`` 2 adds norms to the pyramid,
    a second convolution to the first stage, and four to the second (Li et al. 2021). ``norm_layer`` "FrozenBatchNorm2d" has the norms of
    the backbone as buffers, as the published weights of version 1 do.

    Raises:
        ArgumentError: an unknown name.

    Source: Ren et al. 2015, "Faster R-CNN: Towards Real-Time Object Detection with Region Proposal Networks"; Lin et al. 2017, "Feature
    Pyramid Networks for Object Detection", section 4.

    >>> FasterRCNN("fasterrcnn_resnet50_fpn").params, FasterRCNN("fasterrcnn_resnet50_fpn", norm_layer="FrozenBatchNorm2d").params
    (41808406, 41755286)
    >>> FasterRCNN().part("rpn").params, FasterRCNN().part("roi_heads").params
    (9*C**2 + 5*C*a + C + 5*a, 49*C*F + F**2 + 5*F*N + 2*F + 5*N)
    """

    published, claims = published_in("vision.rcnn", "FasterRCNN")

    def forward(self, own: Own, x: Value, regions: Value | None = None) -> Any:
        """Per anchor: (batch, anchors, 1) and (batch, anchors, 4); per region: (regions, classes) and (regions, 4*classes)."""
        return self._found(own, x, regions)


@named
@dataclass(frozen=True)
class MaskRCNN(_Detecting, _Plain):
    """Faster R-CNN with one more head, which gives for each position of a detected region whether it belongs to the object.

    The detections are chosen from the second stage's output, at most 100 of an image; they are cut out of the pyramid again, with 14x14
    positions each. They are a third input, ``detected``; the masks have 28x28 positions, one mask for each class. The rest is as in
    ``FasterRCNN``.

    Source: He et al. 2017, "Mask R-CNN", section 3.

    >>> MaskRCNN("maskrcnn_resnet50_fpn").params, MaskRCNN("maskrcnn_resnet50_fpn_v2").params
    (44454513, 46359409)
    >>> MaskRCNN(out_channels=256).part("roi_heads.mask_predictor").params
    257*N + 262400
    """

    published, claims = published_in("vision.rcnn", "MaskRCNN")

    def _more(self) -> dict[str, Layer]:
        between = 256
        predictor = {
            "conv5_mask": ConvTranspose2d(between, between, 2, 2),
            "relu": RELU,
            "mask_fcn_logits": Conv2d(between, self.num_classes, 1),
        }
        return {"mask_head": _mask_head(self.out_channels, between, self.version == 2), "mask_predictor": Sequential(predictor)}

    def _looked_at(self, own: Own, detected: Value) -> Value:
        """Return the masks: (detections, classes, 28, 28)."""
        masks: Value = own["roi_heads.mask_predictor"](own["roi_heads.mask_head"](detected))
        return masks


@named
@dataclass(frozen=True)
class KeypointRCNN(_Detecting):
    """Faster R-CNN with one more head, which gives the position of every keypoint of a detected person in the region.

    ``detected`` are the detected regions, as in ``MaskRCNN``; the maps of the ``num_keypoints`` have 56x56 positions.

    Source: He et al. 2017, "Mask R-CNN", section 5.

    >>> KeypointRCNN("keypointrcnn_resnet50_fpn").params
    59190378
    >>> KeypointRCNN().part("roi_heads.keypoint_predictor").params
    8193*k
    """

    backbone: Backbone = "resnet50"
    num_classes: Dim = N
    num_keypoints: Dim = _POINTS
    out_channels: Dim = C
    representation_size: Dim = F
    num_anchors: Dim = _ANCHORS
    version: Literal[1, 2] = 1
    norm_layer: Norm = "BatchNorm2d"

    published, claims = published_in("vision.rcnn", "KeypointRCNN")

    def _more(self) -> dict[str, Layer]:
        predictor = Block(kps_score_lowres=ConvTranspose2d(512, self.num_keypoints, 4, 2, padding=1))
        return {"keypoint_head": _keypoint_head(self.out_channels, 512), "keypoint_predictor": predictor}

    def _looked_at(self, own: Own, detected: Value) -> Value:
        """Return the maps of keypoints: (detections, keypoints, 56, 56)."""
        maps = own["roi_heads.keypoint_predictor.kps_score_lowres"](own["roi_heads.keypoint_head"](detected))
        return resample("linear", maps, (56, 56), (2.0, 2.0))


@remembered
def _box_head(width: Dim, wide: Dim, second: bool) -> Sequential:
    flat = canonical(49 * width)
    if second:
        return Sequential(conv_norm(width, 256), *[conv_norm(256, 256)] * 3, Flatten(), Dense(49 * 256, wide), RELU)
    return Sequential({"flat": Flatten(), "fc6": Dense(flat, wide), "relu6": RELU, "fc7": Dense(wide, wide), "relu7": RELU})


@remembered
def _mask_head(width: Dim, between: int, second: bool) -> Sequential:
    if second:
        return Sequential(conv_norm(width, between), *[conv_norm(between, between)] * 3)
    return Sequential(*(Sequential(Conv2d(near, between, 3, padding=1), RELU) for near in (width, between, between, between)))


@remembered
def _keypoint_head(width: Dim, between: int) -> Sequential:
    return Sequential(*(layer for near in (width, *[between] * 7) for layer in (Conv2d(near, between, 3, padding=1), RELU)))
