"""ResNet (He et al. 2016, arXiv:1512.03385) as transformers stores it: version 1.5, whose bottlenecks move by two in the middle.

Reference: ``transformers.models.resnet`` 5.23, names and shapes of its state dict. ``paramsym.models.ResNet`` has torchvision's names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from sympy import Symbol

from paramsym.compose import Aside, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.pooling import MaxPool2d
from paramsym.layers.reshaping import Flatten
from paramsym.models.activations import check_activation, learned
from paramsym.models.between import refuse_maps
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Flag, Several, Size, Sizes, Word, numbered
from paramsym.models.labels import give_labels
from paramsym.size import Count, Dim, per, same, within
from paramsym.symbols import C, H, N

Architecture = Literal["ResNetModel", "ResNetForImageClassification", "ResNetBackbone"]
REDUCTION = 4
"""How much narrower a bottleneck is inside."""
_LABELLED = frozenset({"ResNetForImageClassification"})


def _size(*depths: int, layer_type: str = "bottleneck") -> dict[str, Any]:
    """All published sizes begin with 64 channels and double them from stage to stage."""
    widths = (256, 512, 1024, 2048) if layer_type == "bottleneck" else (64, 128, 256, 512)
    return {"num_channels": 3, "embedding_size": 64, "hidden_sizes": widths, "depths": depths, "layer_type": layer_type}


@dataclass(frozen=True)
class ResNetV15(InTurn):
    """ResNet and its classifier, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. A convolution of 7 by 7 from C channels to H = ``embedding_size``; then
    stages of width H_i and L_i blocks: *basic*, two convolutions of 3 by 3, or *bottleneck*, 1 by 1, 3 by 3 and 1 by 1 with a quarter of
    the width inside. The first block of a stage has a shortcut of 1 by 1, in the first stage only where H and H_1 differ or with
    ``downsample_in_first_stage``; equal widths are decided on when the model is built (write ``hidden_sizes=(H, ...)``). Every convolution
    is without bias and normalised by batch. ``num_labels`` is N where the architecture has labels and no number is given; with 0 the
    reference stores no classifier.

    Raises:
        DivisibilityError: a width that 4 does not divide, in a bottleneck; the reference rounds numbers down.
        ArgumentError: fewer depths than widths; an activation or architecture that the reference does not know.

    >>> ResNetV15(architecture="ResNetForImageClassification").at("microsoft/resnet-50").at(N=1000).params
    25557032
    """

    num_channels: Dim = C
    embedding_size: Dim = H
    hidden_sizes: tuple[Dim, ...] = numbered("H", 4)
    depths: tuple[Dim, ...] = numbered("L", 4)
    layer_type: Literal["bottleneck", "basic"] = "bottleneck"
    hidden_act: str = "relu"
    downsample_in_first_stage: bool = False
    downsample_in_bottleneck: bool = False
    num_labels: Count | None = None
    architecture: Architecture = "ResNetModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "microsoft/resnet-18": _size(2, 2, 2, 2, layer_type="basic"),
        "microsoft/resnet-34": _size(3, 4, 6, 3, layer_type="basic"),
        "microsoft/resnet-50": _size(3, 4, 6, 3),
        "microsoft/resnet-101": _size(3, 4, 23, 3),
        "microsoft/resnet-152": _size(3, 8, 36, 3),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("microsoft/resnet-18", 11_689_512, "torchvision, ResNet18_Weights: num_params", counts="ResNetForImageClassification"),
        Claim("microsoft/resnet-34", 21_797_672, "torchvision, ResNet34_Weights: num_params", counts="ResNetForImageClassification"),
        Claim("microsoft/resnet-50", 25_557_032, "torchvision, ResNet50_Weights: num_params", counts="ResNetForImageClassification"),
        Claim("microsoft/resnet-101", 44_549_160, RECALLED, counts="ResNetForImageClassification"),
        Claim("microsoft/resnet-152", 60_192_808, RECALLED, counts="ResNetForImageClassification"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Every width has a depth."""
        check_activation(self.hidden_act, "hidden_act")
        if not self.hidden_sizes or not self.depths:
            message = "hidden_sizes and depths need at least one entry each."
            raise ArgumentError(message)
        bottlenecks = self.hidden_sizes[: len(self.depths)] if self.layer_type == "bottleneck" else ()
        thin = [width for width in bottlenecks if not within(REDUCTION, width)]
        if thin:
            message = f"hidden_sizes has {thin[0]}, of which a bottleneck takes a quarter; wanted {REDUCTION} or more."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``resnet`` where a classifier follows, then the classifier."""
        labelled = self.architecture in _LABELLED
        stem = convolved(self.num_channels, self.embedding_size, 7, self.hidden_act, stride=2)
        base = Sequential(
            embedder=Flow({"embedder": stem}, "embedder", ("pooler", MaxPool2d(3, 2, 1))),
            encoder=Sequential(stages=Sequential({str(position): stage for position, stage in enumerate(self._stages())})),
        )
        yield Part("resnet" if labelled else "", base)
        if labelled and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Sequential({"1": Dense(self.hidden_sizes[-1], self.num_labels)}))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model; a classifier reads the mean of each channel."""
        refuse_maps(self.architecture)
        (name, base), *classifier = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        if self.architecture in _LABELLED:
            yield from (("pooler", AdaptiveAvgPool2d(1)), ("flatten", Flatten()), *classifier)

    def _stages(self) -> Iterator[Layer]:
        near = self.embedding_size
        for position, (width, depth) in enumerate(zip(self.hidden_sizes, self.depths, strict=False)):
            moves = position > 0 or self.downsample_in_first_stage or not same(near, width)
            first = self._block(near, width, shortcut=moves, stride=2 if position > 0 or self.downsample_in_first_stage else 1)
            yield Sequential(layers=Repeat(self._block(width, width, shortcut=False), depth, first=first))
            near = width

    def _block(self, near: Dim, width: Dim, *, shortcut: bool, stride: int = 1) -> Flow:
        skips: dict[str, Layer] = {"shortcut": convolved(near, width, 1, stride=stride)} if shortcut else {}
        if self.layer_type == "basic":
            layers = [convolved(near, width, 3, stride=stride), convolved(width, width, 3)]
        else:
            inside = width // REDUCTION if isinstance(width, int) else per(width, REDUCTION)
            early = stride if self.downsample_in_bottleneck else 1
            layers = [
                convolved(near, inside, 1, stride=early),
                convolved(inside, inside, 3, stride=stride // early),
                convolved(inside, width, 1),
            ]
        body = Sequential({str(position): layer for position, layer in enumerate(layers)})
        act = learned("activation", self.hidden_act)
        return Flow({**skips, "layer": body, **act}, *((name, Aside(layer)) for name, layer in skips.items()), "layer", *act)


def convolved(near: Dim, far: Dim, kernel: int, hidden_act: str = "relu", *, stride: int = 1) -> Sequential:
    """Return a convolution without bias, its normalisation, and what its activation learns.

    >>> convolved(C, H, 3).params
    9*C*H + 2*H
    """
    convolution = Conv2d(near, far, kernel, stride=stride, padding=kernel // 2, bias=False)
    return Sequential(convolution=convolution, normalization=BatchNorm2d(far), **learned("activation", hidden_act))


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Equal widths are one letter; a width that 4 does not divide is a number; a stage has at least its first block."""
    widths: list[Symbol | int] = list(arguments["hidden_sizes"])
    for position, letter in enumerate(arguments["hidden_sizes"]):
        if position == 0 and sizes[letter] == sizes[H]:
            widths[0] = H
            del sizes[letter]
        elif sizes[letter] % 4 and arguments["layer_type"] == "bottleneck":
            widths[position] = sizes.pop(letter)
    if widths[0] == H and sizes[H] % 4 and arguments["layer_type"] == "bottleneck":
        arguments["embedding_size"] = widths[0] = sizes.pop(H)
    for letter in arguments["depths"]:
        sizes[letter] = max(sizes[letter], 1)
    arguments["hidden_sizes"] = tuple(widths)
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


FAMILIES = (
    Family(
        model_type="resnet",
        model=ResNetV15,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "num_channels": Size(C, 3),
            "embedding_size": Size(H, 64),
            "hidden_sizes": Several("H", (256, 512, 1024, 2048)),
            "depths": Several("L", (3, 4, 6, 3), least=0),
            "layer_type": Word("bottleneck"),
            "hidden_act": Word("relu"),
            "downsample_in_first_stage": Flag(default=False),
            "downsample_in_bottleneck": Flag(default=False),
        },
        ignored={
            "chooses what a backbone returns": "_out_features _out_indices out_features out_indices stage_names",
            "lists the kinds of block": "layer_types",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
