"""ResNet, ResNeXt and wide ResNet as torchvision builds them.

Reference: ``torchvision.models.resnet``; tensor names, shapes and order are those of its state dict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import N
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.convolution import Conv2d
from paramsym.models.blocks import Holder
from paramsym.models.vision.blocks import BLOCKS, Averaged, Norm, norm_of, stem
from paramsym.models.vision.widths import down
from paramsym.program import Own, Value, apply

Block: TypeAlias = Literal["BasicBlock", "Bottleneck"]
Depths: TypeAlias = tuple[Dim, Dim, Dim, Dim]

_EXPANSION = {"BasicBlock": 1, "Bottleneck": 4}
_PLAIN = {"groups": 1, "width_per_group": 64}
"""The values of a plain network; if a published name has them, other values may be given with the name."""
_QUANTIZED = ("resnet18", "resnet50", "resnext101_32x8d", "resnext101_64x4d")


@dataclass(frozen=True, init=False)
class ResNet(Averaged):
    r"""A residual network for images (He et al. 2016), with torchvision's arguments in torchvision's order.

    As first argument, a torchvision name means that model's sizes, 1,000 classes included; other arguments change it, as they change
    ``torchvision.models.resnet18(num_classes=10)``. A *quantized* name means the same tensors before they are quantized. Otherwise
    ``block`` is "BasicBlock" or "Bottleneck" and ``layers`` the four depths; sizes that are not given are letters: depths n1 to n4, N
    classes.

    Stage s = 0, 1, 2, 3 has 64*2**s planes; a bottleneck has ``width_per_group``/64 * planes * ``groups`` channels inside (ResNeXt:
    many groups of few; wide ResNet: 128) and 4*planes outside. Its first block has a projection (``downsample``) if the number of channels
    changes. ``inplanes`` is the stem's width, 64 in torchvision; the stages follow it. ``norm_layer`` "FrozenBatchNorm2d" keeps scale and
    shift as buffers, as torchvision's detection models do. ``zero_init_residual`` and ``replace_stride_with_dilation`` do not change the
    count; the second one keeps larger maps in those of the last three stages for which it is true.

    Raises:
        ArgumentError: a BasicBlock with groups, with another width per group, or with dilation; an unknown name, or a name together with a
            size that it defines.

    Source: He et al. 2016, "Deep Residual Learning for Image Recognition", table 1; Xie et al. 2017; Zagoruyko and Komodakis 2016.

    >>> ResNet("resnet50").params, ResNet("resnet18", num_classes=10).params
    (25557032, 11181642)
    >>> ResNet().params
    2049*N + 70400*n1 + 280064*n2 + 1117184*n3 + 4462592*n4 + 2085696
    >>> ResNet().at("resnet152").params
    60192808
    """

    block: Block = "Bottleneck"
    layers: Depths = BLOCKS
    num_classes: Dim = N
    zero_init_residual: bool = False
    groups: Dim = 1
    width_per_group: Dim = 64
    replace_stride_with_dilation: tuple[bool, bool, bool] | None = None
    norm_layer: Norm = "BatchNorm2d"
    inplanes: Dim = 64

    published, claims = published_in("resnet")

    def __init__(
        self,
        block: str | type = "Bottleneck",
        layers: Depths | None = None,
        num_classes: Dim | None = None,
        zero_init_residual: bool = False,
        groups: Dim | None = None,
        width_per_group: Dim | None = None,
        replace_stride_with_dilation: tuple[bool, bool, bool] | None = None,
        norm_layer: str | type | None = "BatchNorm2d",
        *,
        inplanes: Dim = 64,
    ) -> None:
        """Take torchvision's arguments, or one of its names and the changes; None is the value of torchvision or of the name."""
        block = getattr(block, "__name__", block)
        given = {"layers": layers, "groups": groups, "width_per_group": width_per_group, "num_classes": num_classes}
        named = _named(block, {argument: value for argument, value in given.items() if value is not None})
        values = {
            "block": block,
            "zero_init_residual": zero_init_residual,
            "replace_stride_with_dilation": replace_stride_with_dilation,
            "norm_layer": "BatchNorm2d" if norm_layer is None else getattr(norm_layer, "__name__", norm_layer),
            "inplanes": inplanes,
            **named,
        }
        for argument, value in values.items():
            object.__setattr__(self, argument, value)
        self.__post_init__()

    def parts(self) -> Iterator[Part]:
        yield from map(Part, ("conv1", "bn1", "relu", "maxpool"), stem(self.inplanes, self.norm_layer))
        incoming, dilation = self.inplanes, 1
        for stage, (depth, dilated) in enumerate(zip(self.layers, (False, *self._replaced), strict=True)):
            planes = canonical(self.inplanes * 2**stage)
            outgoing = canonical(planes * _EXPANSION[self.block])
            stride = 1 if stage == 0 or dilated else 2
            before, dilation = dilation, 2 * dilation if dilated else dilation
            later = self._residual(outgoing, planes, 1, dilation)
            # torchvision compares the numbers of channels; they differ in every stage except a BasicBlock's first, for all letters.
            first = self._residual(incoming, planes, stride, before) if stage > 0 or self.block == "Bottleneck" else None
            yield Part(f"layer{stage + 1}", Repeat(later, depth, first=first))
            incoming = outgoing
        yield from self.ended(incoming)

    def _residual(self, incoming: Dim, planes: Dim, stride: int, dilation: int) -> Layer:
        if self.block == "BasicBlock":
            convolutions = [_plain(incoming, planes, 3, stride=stride, padding=1), _plain(planes, planes, 3, padding=1)]
        else:
            width = canonical(down(planes * self.width_per_group, 64) * self.groups)  # rounded down as in the reference
            middle = _plain(width, width, 3, stride=stride, padding=dilation, dilation=dilation, groups=self.groups)
            convolutions = [_plain(incoming, width, 1), middle, _plain(width, canonical(4 * planes), 1)]
        outgoing, layers = convolutions[-1].out_channels, dict[str, Layer]()
        for number, convolution in enumerate(convolutions, 1):
            layers |= {f"conv{number}": convolution, f"bn{number}": norm_of(self.norm_layer, convolution.out_channels)}
        if incoming != outgoing:
            layers["downsample"] = Sequential(_plain(incoming, outgoing, 1, stride=stride), norm_of(self.norm_layer, outgoing))
        return (_BasicBlock if self.block == "BasicBlock" else _Bottleneck)(layers)

    def conditions(self) -> None:
        if self.block == "BasicBlock":
            if self.groups != 1 or self.width_per_group != 64:
                raise ArgumentError(
                    f"groups is {self.groups} and width_per_group is {self.width_per_group}; a BasicBlock takes 1 and 64 only."
                    " For others use block='Bottleneck'."
                )
            if self._dilates():
                raise ArgumentError(
                    f"replace_stride_with_dilation is {self.replace_stride_with_dilation}; a BasicBlock cannot be dilated."
                    " Use block='Bottleneck'."
                )

    @property
    def _replaced(self) -> tuple[bool, bool, bool]:
        return self.replace_stride_with_dilation or (False, False, False)

    def _dilates(self) -> bool:
        """Whether any block is dilated, as blocks are after the first block of a stage whose stride was replaced."""
        earlier = False
        for gives_up, depth in zip(self._replaced, self.layers[1:], strict=True):
            if earlier or (gives_up and depth != 1):
                return True
            earlier = gives_up
        return False


def _named(block: object, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a torchvision name, changed by the given ones; without a name, the given ones and letters."""
    name = block.removeprefix("quantized_") if isinstance(block, str) else ""
    if name not in ResNet.published or (name != block and name not in _QUANTIZED):
        if isinstance(block, str) and block not in _EXPANSION:
            raise _located(f"block is {block!r}; wanted 'BasicBlock', 'Bottleneck' or one of {', '.join(ResNet.published)}.")
        return {"layers": BLOCKS, "num_classes": N, **_PLAIN, **given}
    sizes = ResNet.published[name]
    for argument, value in given.items():
        if argument == "layers" or value != sizes[argument] != _PLAIN.get(argument, sizes[argument]):
            raise _located(
                f"{block!r} means {argument}={sizes[argument]!r} already, and {argument}={value!r} was given;"
                f" write block={sizes['block']!r} and every size."
            )
    return {**sizes, **given}


def _located(message: str) -> ArgumentError:
    return ArgumentError(f"ResNet: {message}")


_plain = partial(Conv2d, bias=False)


class _Block(Holder):
    """Convolutions and norms in turn, added to the shortcut, which has a projection if the number of channels changes."""

    def forward(self, own: Own, x: Value) -> Value:
        """An activation follows every norm; after the last norm, it follows the sum."""
        y, number = own.bn1(own.conv1(x)), 2
        while f"conv{number}" in own:
            y, number = own[f"bn{number}"](own[f"conv{number}"](apply("relu", y))), number + 1
        return apply("relu", y + (own.downsample(x) if "downsample" in own else x))


class _BasicBlock(_Block):
    """Two convolutions of 3x3; a summary names it."""


class _Bottleneck(_Block):
    """A convolution of 3x3 between two of 1x1; a summary names it."""
