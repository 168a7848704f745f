"""ResNet (He et al. 2016, arXiv:1512.03385) as transformers stores it: version 1.5, with the stride in the middle of a bottleneck.

Reference: ``transformers.models.resnet`` 5.23, names and shapes of its state dict. ``paramsym.models.ResNet`` has torchvision's names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from paramsym.algebra.convolution import over
from paramsym.algebra.size import Dim, Shape, canonical, same, within
from paramsym.algebra.symbols import B, C, H, W
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.models.activations import learned
from paramsym.models.backbone import IGNORED, Backbone, settle_stages
from paramsym.models.blocks import Holder, activation
from paramsym.models.images import Classifying, convolved, no_labels
from paramsym.models.key_kinds import Flag, Function, Several, Sizes, Word
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value, axes, pool, reduce

REDUCTION = 4
"""The ratio of a bottleneck's outer width to its inner one."""


class ResNetV15(Classifying, Backbone):
    """ResNet, its classifier and its backbone, as the reference class ``architecture`` stores them.

    A convolution of 7 by 7 leads from C channels to H = ``embedding_size``. Stage i has the width H_i and L_i blocks. A *basic* block is
    two convolutions of 3 by 3. A *bottleneck* is convolutions of 1 by 1, 3 by 3 and 1 by 1, with a quarter of the width inside, rounded
    down. The first block of a stage has a shortcut of 1 by 1. The first stage has it only if H and H_1 differ, or with
    ``downsample_in_first_stage``. The letters H and H_1 differ; for equal widths write ``hidden_sizes=(H, ...)``.

    Raises:
        ArgumentError: a bottleneck narrower than 4, or no widths or depths, beside the errors of every model and backbone.

    >>> ResNetV15(architecture="ResNetForImageClassification").at("microsoft/resnet-50").params
    25557032
    """

    num_channels: Dim = key(C, 3)
    embedding_size: Dim = key(H, 64)
    hidden_sizes: tuple[Dim, ...] = key(Several("H", (256, 512, 1024, 2048)))
    depths: tuple[Dim, ...] = key(Several("L", (3, 4, 6, 3), least=0))
    layer_type: Literal["bottleneck", "basic"] = key(Word("bottleneck"))
    hidden_act: str = key(Function("relu"))
    downsample_in_first_stage: bool = key(Flag())
    downsample_in_bottleneck: bool = key(Flag())
    architecture: str = classes({"ResNet": "Model ForImageClassification Backbone"})

    def conditions(self) -> None:
        super().conditions()
        if not self.hidden_sizes or not self.depths:
            raise ArgumentError("hidden_sizes and depths need at least one entry each.")
        built = self.hidden_sizes[: len(self.depths)] if self.layer_type == "bottleneck" else ()
        if thin := [width for width in built if not within(REDUCTION, width)]:
            raise ArgumentError(f"hidden_sizes has {thin[0]}, of which a bottleneck takes a quarter; wanted {REDUCTION} or more.")

    def parts(self) -> Iterator[Part]:
        stem = convolved(self.num_channels, self.embedding_size, 7, self.hidden_act, stride=2)
        stages = Sequential({str(position): stage for position, stage in enumerate(self._stages())})
        layers = {"embedder": _Embedder({"embedder": stem}), "encoder": Sequential(stages=stages)}
        yield Part(self.base_name, _Base(layers, self.chosen if self.is_backbone else None))
        for head in self.classifier(self.hidden_sizes[-1]):
            yield Part(head.name, Sequential({"1": head.layer}))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images (batch, channels, height, width); with sides that all stages can halve, the formula has no floors."""
        side = canonical(2 ** (len(self.depths) + 1) * W)
        return {"pixel_values": (B, self.num_channels, side, side)}

    def forward(self, own: Own, pixel_values: Value) -> Any:
        """The last map, (batch, channels, height, width); the maps of the chosen stages; or labels, (batch, labels)."""
        x, _ = axes(pixel_values, "batch channels height width", channels=self.num_channels)
        x = own[self.base_name](x)
        if not self.task:
            return x
        mean = reduce("mean", x, 2, 3)
        return own.classifier(mean) if "classifier" in own else mean

    def _stages(self) -> Iterator[Layer]:
        near = self.embedding_size
        for position, (width, depth) in enumerate(zip(self.hidden_sizes, self.depths, strict=False)):
            moves = position > 0 or self.downsample_in_first_stage or not same(near, width)
            first = self._block(near, width, shortcut=moves, stride=2 if position > 0 or self.downsample_in_first_stage else 1)
            yield Sequential(layers=Repeat(self._block(width, width, shortcut=False), depth, first=first))
            near = width

    def _block(self, near: Dim, width: Dim, *, shortcut: bool, stride: int = 1) -> Layer:
        skips: dict[str, Layer] = {"shortcut": convolved(near, width, 1, "linear", stride=stride)} if shortcut else {}
        if self.layer_type == "basic":
            layers = [convolved(near, width, 3, stride=stride), convolved(width, width, 3, "linear")]
        else:
            inside = over(width, REDUCTION)
            early = stride if self.downsample_in_bottleneck else 1
            layers = [
                convolved(near, inside, 1, stride=early),
                convolved(inside, inside, 3, stride=stride // early),
                convolved(inside, width, 1, "linear"),
            ]
        body = Sequential({str(position): layer for position, layer in enumerate(layers)})
        return _Block({**skips, "layer": body, **learned("activation", self.hidden_act)}, self.hidden_act)


class _Block(Holder):
    """The convolutions ``layer``, added to the shortcut, or to its ``shortcut``; then the activation."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        passed = own.shortcut(x) if "shortcut" in own else x
        return activation(own, self.function, own.layer(x) + passed, "activation")


class _Embedder(Holder):
    """The stem: a convolution and a pooling; both halve the sides."""

    def forward(self, own: Own, x: Value) -> Value:
        return pool("max", own.embedder(x), (3, 3), (2, 2), ((1, 1), (1, 1)))


class _Base(Holder):
    """The stem and the stages; ``chosen`` are the numbers of the returned maps, 0 for the stem; the last one if it is None."""

    chosen: tuple[int, ...] | None

    def forward(self, own: Own, x: Value) -> Any:
        maps = [own.embedder(x)]
        for position in own["encoder.stages"].layer.own_parts:
            maps.append(own[f"encoder.stages.{position.name}"](maps[-1]))
        return maps[-1] if self.chosen is None else tuple(maps[number] for number in self.chosen)


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Equal widths at the beginning get one letter; a stage has at least its first block."""
    first, *others = arguments["hidden_sizes"]
    if sizes[first] == sizes[H]:
        arguments["hidden_sizes"] = (H, *others)
        del sizes[first]
    settle_stages(arguments, len(arguments["depths"]))
    for letter in arguments["depths"]:
        sizes[letter] = max(sizes[letter], 1)
    no_labels(arguments, sizes)


FAMILIES = (family("resnet", ResNetV15, arrange=_settle, ignored={**IGNORED, "lists the kinds of block": "layer_types"}),)
