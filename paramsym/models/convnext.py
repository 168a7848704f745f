"""ConvNeXt (Liu et al. 2022, arXiv:2201.03545). Reference: ``transformers.models.convnext`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any

from paramsym.algebra.size import Count, Dim, Shape, canonical
from paramsym.algebra.symbols import B, C, K, W, dims
from paramsym.core.compose import Block, Repeat, Sequential
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.spatial import per_axis
from paramsym.models.activations import learned
from paramsym.models.backbone import IGNORED, Backbone, settle_stages, stage_name
from paramsym.models.blocks import Holder, activation
from paramsym.models.images import ChannelsFirst, Classifying, no_labels
from paramsym.models.key_kinds import Function, Pair, Real, Several, Sizes, Whole
from paramsym.models.model import classes, family, key
from paramsym.program import Own, Value, axes, rearrange, reduce


class ConvNext(Classifying, Backbone):
    """ConvNeXt, its classifier and its backbone, as the reference class ``architecture`` stores them.

    A stage of width H_i has L_i blocks. Before it is a normalisation and a convolution of 2 by 2 from the width before; before the first,
    patches of K by K pixels in C channels. ``num_stages`` is the number of stages, all of them if it is None. A backbone has a
    normalisation for each of ``out_features``, and none at the end.

    Raises:
        ArgumentError: fewer depths or widths than stages, beside the errors of every model and backbone.

    >>> ConvNext(architecture="ConvNextForImageClassification").at("facebook/convnext-tiny-224").params
    28589128
    >>> ConvNext().part("encoder.stages.0.layers.0").params
    8*H_1**2 + 58*H_1
    """

    num_channels: Dim = key(C, 3)
    patch_size: Dim | tuple[Dim, Dim] = key(Pair(K, dims("K_h K_w"), 4))
    num_stages: int | None = key(Whole(4, least=0, null=False), argument=None)
    hidden_sizes: tuple[Dim, ...] = key(Several("H", (96, 192, 384, 768)))
    depths: tuple[Count, ...] = key(Several("L", (3, 3, 9, 3), least=0))
    hidden_act: str = key(Function("gelu"))
    layer_scale_init_value: float = key(Real(1e-6))
    architecture: str = classes({"ConvNext": "Model ForImageClassification Backbone"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-12))

    def conditions(self) -> None:
        super().conditions()
        depths, widths, stages = len(self.depths), len(self.hidden_sizes), self._built
        if not 0 <= stages <= min(depths, widths) or not widths:
            message = f"num_stages is {stages}, with {widths} hidden_sizes and {depths} depths; wanted one of each for every stage."
            raise ArgumentError(message)
        if self.is_backbone and widths < depths:
            raise ArgumentError(f"there are {depths} depths and {widths} hidden_sizes; wanted the same number for a backbone.")

    @property
    def _built(self) -> int:
        return len(self.depths) if self.num_stages is None else self.num_stages

    def parts(self) -> Iterator[Part]:
        first, last = self.hidden_sizes[0], self.hidden_sizes[-1]
        patches = Conv2d(self.num_channels, first, self.patch_size, stride=self.patch_size)
        layers: dict[str, Layer] = {
            "embeddings": Sequential(patch_embeddings=patches, layernorm=ChannelsFirst(first, 1e-6)),
            "encoder": Sequential(stages=Sequential({str(position): stage for position, stage in enumerate(self._stages())})),
        }
        if self.is_backbone:
            widths = (first, *self.hidden_sizes[: len(self.depths)])
            norms = {stage_name(number): ChannelsFirst(widths[number], 1e-6) for number in self.chosen}
            yield Part("", Block(layers, hidden_states_norms=Block(norms)))
            return
        layers["layernorm"] = LayerNorm(last, self.layer_norm_eps)
        yield Part(self.base_name, _Base(layers, pooled=bool(self.task)))
        yield from self.classifier(last)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images (batch, channels, height, width); with sides that patches and stages divide, the formula has no floors."""
        sides = (canonical(2 ** max(self._built - 1, 0) * size * W) for size in per_axis(self.patch_size, 2, "patch_size"))
        return {"pixel_values": (B, self.num_channels, *sides)}

    def forward(self, own: Own, pixel_values: Value) -> Any:
        """The last map, (batch, channels, height, width); the normalised maps of the chosen stages; or labels, (batch, labels)."""
        x, _ = axes(pixel_values, "batch channels height width", channels=self.num_channels)
        if self.is_backbone:
            return self._maps(own, x)
        x = own[self.base_name](x)
        return own.classifier(x) if "classifier" in own else x

    def _maps(self, own: Own, x: Value) -> tuple[Value, ...]:
        x, found = own.embeddings(x), []
        for position in range(len(own["encoder.stages"].layer.own_parts) + 1):
            x = own[f"encoder.stages.{position - 1}"](x) if position else x
            norm = f"hidden_states_norms.{stage_name(position)}"
            found += [own[norm](x)] if norm in own else []
        return tuple(found)

    def _stages(self) -> Iterator[Sequential]:
        near: Dim | None = None
        for width, depth in list(zip(self.hidden_sizes, self.depths, strict=False))[: self.num_stages]:
            narrows: dict[str, Layer] = {}
            if near is not None:
                narrows["downsampling_layer"] = Sequential(ChannelsFirst(near, 1e-6), Conv2d(near, width, 2, stride=2))
            block = ConvNextBlock(width, self.hidden_act, scaled=self.layer_scale_init_value > 0)
            yield Sequential(**narrows, layers=Repeat(block, depth))
            near = width


class _Base(Holder):
    """The patches, the stages, and the normalised mean of each channel, which is the output if it is ``pooled``."""

    pooled: bool

    def forward(self, own: Own, x: Value) -> Value:
        x = own.encoder(own.embeddings(x))
        vector = own.layernorm(reduce("mean", x, 2, 3))
        return vector if self.pooled else x


class ConvNextBlock(Declared):
    """A convolution per channel, a normalisation and two matrices, scaled where ``scaled``.

    >>> from paramsym.algebra.symbols import C
    >>> ConvNextBlock(C).params
    8*C**2 + 58*C
    """

    width: Dim
    hidden_act: str = "gelu"
    scaled: bool = True

    def tensors(self) -> Iterator[Tensor]:
        if self.scaled:
            yield Tensor("layer_scale_parameter", (self.width,), role="scale")

    def parts(self) -> Iterator[Part]:
        width = self.width
        yield Part("dwconv", Conv2d(width, width, 7, padding=3, groups=width))
        yield Part("layernorm", LayerNorm(width, 1e-6))
        yield Part("pwconv1", Dense(width, 4 * width))
        yield from (Part(name, layer) for name, layer in learned("act", self.hidden_act).items())
        yield Part("pwconv2", Dense(4 * width, width))

    def forward(self, own: Own, x: Value) -> Value:
        """The map plus the result of the block; the matrices work on the channels last."""
        y = own.layernorm(rearrange(own.dwconv(x), "b c h w -> b h w c"))
        y = own.pwconv2(activation(own, self.hidden_act, own.pwconv1(y), "act"))
        y = y * own.layer_scale_parameter if self.scaled else y
        return x + rearrange(y, "b h w c -> b c h w")


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    settle_stages(arguments, len(arguments["depths"]))
    no_labels(arguments, sizes)


FAMILIES = (
    family(
        "convnext",
        ConvNext,
        arrange=_settle,
        aliases={"num_hidden_layers": "num_stages"},
        ignored={**IGNORED, "drops branches while training": "drop_path_rate", "no position is stored": "image_size"},
    ),
)
