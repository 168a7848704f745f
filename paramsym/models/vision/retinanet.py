"""RetinaNet and FCOS. Reference: ``torchvision.models.detection``; tensors as in its state dicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import C, N, W, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Block, Sequential
from paramsym.core.layer import Part
from paramsym.layers.convolution import Conv2d
from paramsym.layers.normalization import GroupNorm
from paramsym.models.vision.blocks import RELU, Norm, Pictures, named, remembered
from paramsym.models.vision.detection import Backbone, OneStage, head, plain, pyramid
from paramsym.program import Own, Value, apply

_ANCHORS: Dim = dims("a")
_STAGES = (2, 3, 4)
_GROUPS = 32


@named
@dataclass(frozen=True)
class RetinaNet(OneStage):
    """Two heads at every position of a pyramid of five levels: one scores the classes of every anchor, one moves the anchor.

    ``num_anchors`` are the boxes of a position, in three sizes and three shapes each. Which of them are objects depends on the data: those
    whose scores are above a threshold, without those that overlap a better one; this choice is not counted here. ``version`` 2 uses the
    backbone's last map for the two coarsest levels, and has norms of 32 groups in the heads. ``norm_layer`` "FrozenBatchNorm2d" has the
    norms of the backbone as buffers, as the published weights of version 1 do.

    Raises:
        ArgumentError: an unknown name.

    Source: Lin et al. 2017, "Focal Loss for Dense Object Detection", section 4.

    >>> RetinaNet("retinanet_resnet50_fpn").params, RetinaNet("retinanet_resnet50_fpn_v2").params
    (34068119, 38198935)
    >>> RetinaNet().part("head").params
    72*C**2 + 9*C*N*a + 36*C*a + 8*C + N*a + 4*a
    """

    usual = 128 * W

    backbone: Backbone = "resnet50"
    num_classes: Dim = N
    out_channels: Dim = C
    num_anchors: Dim = _ANCHORS
    version: Literal[1, 2] = 1
    norm_layer: Norm = "BatchNorm2d"

    published, claims = published_in("vision.retinanet", "RetinaNet")

    def parts(self) -> Iterator[Part]:
        width, second = self.out_channels, self.version == 2
        yield Part("backbone", pyramid(self.backbone, width, _STAGES, self.norm_layer, "c5" if second else "p5"))
        conv = _in_groups(width) if second else plain(width, 4)
        scores = head(conv, width, self.num_anchors, 3, cls_logits=self.num_classes)
        yield Part("head", Block(classification_head=scores, regression_head=head(conv, width, self.num_anchors, 3, bbox_reg=4)))


@named
@dataclass(frozen=True)
class FCOS(Pictures):
    """Two heads at every position of a pyramid of five levels, without anchors: classes, and the distances of the box's sides.

    A third output is how near a position is to the middle of its box. Which positions are objects depends on the data; this choice is not
    counted here. ``norm_layer`` "FrozenBatchNorm2d" has the norms of the backbone as buffers, as the published weights do.

    Raises:
        DivisibilityError: 32 groups that do not divide ``out_channels``.
        ArgumentError: an unknown name.

    Source: Tian et al. 2019, "FCOS: Fully Convolutional One-Stage Object Detection", section 3.

    >>> FCOS("fcos_resnet50_fpn").params
    32322720
    >>> FCOS().part("head").params
    72*C**2 + 9*C*N + 69*C + N + 5
    """

    usual = 128 * W

    backbone: Backbone = "resnet50"
    num_classes: Dim = N
    out_channels: Dim = C
    norm_layer: Norm = "BatchNorm2d"

    published, claims = published_in("vision.retinanet", "FCOS")

    def parts(self) -> Iterator[Part]:
        width = self.out_channels
        yield Part("backbone", pyramid(self.backbone, width, _STAGES, self.norm_layer, "p5"))
        conv = _with_bias(width)
        scores, boxes = head(conv, width, 1, 3, cls_logits=self.num_classes), head(conv, width, 1, 3, bbox_reg=4, bbox_ctrness=1)
        yield Part("head", Block(classification_head=scores, regression_head=boxes))

    def forward(self, own: Own, x: Value) -> tuple[Value, ...]:
        """Scores (batch, positions, classes), distances (batch, positions, 4), none below zero, and centredness (batch, positions, 1)."""
        maps = own.backbone(self.seen(x))
        boxes, centred = own["head.regression_head"](*maps)
        return own["head.classification_head"](*maps), apply("relu", boxes), centred


@remembered
def _in_groups(width: Dim) -> Sequential:
    return Sequential(*[Sequential(Conv2d(width, width, 3, padding=1, bias=False), GroupNorm(_GROUPS, width), RELU)] * 4)


@remembered
def _with_bias(width: Dim) -> Sequential:
    return Sequential(*(Conv2d(width, width, 3, padding=1), GroupNorm(_GROUPS, width), RELU) * 4)
