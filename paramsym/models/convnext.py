"""ConvNeXt (Liu et al. 2022, arXiv:2201.03545). Reference: ``transformers.models.convnext`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Aside, Block, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ArgumentError
from paramsym.extents import View
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.adaptive_pooling import AdaptiveAvgPool2d
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.features import positions
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.reshaping import Flatten, Permute
from paramsym.layers.stream import OverPositions
from paramsym.models.activations import check_activation, learned
from paramsym.models.backbone import feature_norms, settle_stages
from paramsym.models.between import refuse_maps
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Listed, Number, Pair, Several, Size, Sizes, Word, numbered
from paramsym.models.labels import give_labels
from paramsym.models.vit import PATCH_HEIGHT, PATCH_WIDTH
from paramsym.size import Count, Dim, Shape
from paramsym.symbols import C, K, N, dims

Architecture = Literal["ConvNextModel", "ConvNextForImageClassification", "ConvNextBackbone"]
_LABELLED = frozenset({"ConvNextForImageClassification"})
_README = "facebookresearch/ConvNeXt, README"
_BACKBONE = ("ConvNextBackbone",)
STAGES = dims("n_s")


def _size(width: int, deep: int = 27) -> dict[str, Any]:
    """All published sizes double their width from stage to stage, and are deep in the third."""
    return {
        "num_channels": 3,
        "patch_size": 4,
        "hidden_sizes": (width, 2 * width, 4 * width, 8 * width),
        "depths": (3, 3, deep, 3),
    }


_FIRST, _LAST = ("channels_first", Permute((3, 1, 2))), ("channels_last", Permute((2, 3, 1)))
"""Normalisations and matrices work on the channels last."""


@dataclass(frozen=True)
class ConvNext(InTurn):
    """ConvNeXt, its classifier and its backbone, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. A stage of width H_i has L_i blocks: a convolution of 7 by 7 per channel,
    49*H_i + H_i, a normalisation, two matrices of 4*H_i**2, and a scale of H_i, unless ``layer_scale_init_value`` is 0: 8*H_i**2 + 58*H_i.
    Before it stands a normalisation and a convolution of 2 by 2 from the width before; before the first, patches of K by K pixels in C
    channels. ``num_stages`` is the number of stages, all of them where it is None. ``num_labels`` is N where the architecture has labels
    and no number is given; with 0 the reference stores no classifier. A backbone has a normalisation for each of ``out_features``, the
    last stage where it is None, and none at the end.

    Raises:
        ArgumentError: fewer depths or widths than stages, features that are no stages; an activation or architecture that the reference
            does not know.

    >>> ConvNext(architecture="ConvNextForImageClassification").at("facebook/convnext-tiny-224").at(N=1000).params
    28589128
    >>> ConvNext().part("encoder.stages.0.layers.0").params
    8*H_1**2 + 58*H_1
    """

    num_channels: Dim = C
    patch_size: Dim | tuple[Dim, Dim] = K
    num_stages: int | None = None
    hidden_sizes: tuple[Dim, ...] = numbered("H", 4)
    depths: tuple[Count, ...] = numbered("L", 4)
    hidden_act: str = "gelu"
    layer_scale_init_value: float = 1e-6
    num_labels: Count | None = None
    out_features: tuple[str, ...] | None = None
    architecture: Architecture = "ConvNextModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "facebook/convnext-tiny-224": _size(96, 9),
        "facebook/convnext-small-224": _size(96),
        "facebook/convnext-base-224": _size(128),
        "facebook/convnext-large-224": _size(192),
        "facebook/convnext-xlarge-224-22k": _size(256),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("facebook/convnext-tiny-224", 28_589_128, "torchvision, ConvNeXt_Tiny_Weights: num_params", "ConvNextForImageClassification"),
        Claim("facebook/convnext-small-224", 50_223_688, RECALLED, counts="ConvNextForImageClassification"),
        Claim("facebook/convnext-base-224", 88_591_464, RECALLED, counts="ConvNextForImageClassification"),
        Claim("facebook/convnext-large-224", 197_767_336, RECALLED, counts="ConvNextForImageClassification"),
        Claim("facebook/convnext-tiny-224", 28_000_000, f"{_README}, trained on ImageNet-1K (28M)", counts="rounded down; 28,589,128"),
        Claim("facebook/convnext-tiny-224", 29_000_000, f"{_README}, trained on ImageNet-22K (29M)", counts="rounded; 28,589,128"),
        Claim("facebook/convnext-large-224", 198_000_000, f"{_README} (198M)", counts="rounded; 197,767,336"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Every stage has a width and a depth."""
        check_activation(self.hidden_act, "hidden_act")
        stages = len(self.depths) if self.num_stages is None else self.num_stages
        if not 0 <= stages <= min(len(self.depths), len(self.hidden_sizes)) or not self.hidden_sizes:
            message = (
                f"num_stages is {stages}, with {len(self.hidden_sizes)} hidden_sizes and {len(self.depths)} depths; wanted one of each for"
                " every stage."
            )
            raise ArgumentError(message)
        if self.architecture in _BACKBONE and len(self.hidden_sizes) < len(self.depths):
            message = f"there are {len(self.depths)} depths and {len(self.hidden_sizes)} hidden_sizes; a backbone has as many widths."
            raise ArgumentError(message)
        if self.out_features is not None and self.architecture not in _BACKBONE:
            message = f"out_features is for ConvNextBackbone; {self.architecture} has none."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``convnext`` where a classifier follows, then the classifier."""
        first, last = self.hidden_sizes[0], self.hidden_sizes[-1]
        labelled = self.architecture in _LABELLED
        patches = Conv2d(self.num_channels, first, self.patch_size, stride=self.patch_size)
        embeddings = Flow({"patch_embeddings": patches, "layernorm": LayerNorm(first)}, "patch_embeddings", _LAST, "layernorm")
        encoder = Sequential(stages=Sequential({str(position): stage for position, stage in enumerate(self._stages())}))
        if self.architecture in _BACKBONE:
            norms = feature_norms(self.out_features, (first, *self.hidden_sizes[: len(self.depths)]))
            yield Part("", Block(embeddings=embeddings, encoder=encoder, hidden_states_norms=norms))
            return
        norm, mean = LayerNorm(last), Sequential(AdaptiveAvgPool2d(1), Flatten())
        end = (("mean", mean), "layernorm") if labelled else (("layernorm", Aside(norm, mean)),)
        layers = {"embeddings": embeddings, "encoder": encoder, "layernorm": norm}
        base = Flow(layers, "embeddings", "encoder", _FIRST, *end)
        yield Part("convnext" if labelled else "", base)
        if labelled and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(last, self.num_labels))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model, then the classifier."""
        refuse_maps(self.architecture)
        yield from super().sequence()

    def _stages(self) -> Iterator[Sequential]:
        near: Dim | None = None
        for width, depth in list(zip(self.hidden_sizes, self.depths, strict=False))[: self.num_stages]:
            narrows: dict[str, Layer] = {}
            if near is not None:
                layers = {"0": LayerNorm(near), "1": Conv2d(near, width, 2, stride=2)}
                narrows["downsampling_layer"] = Flow(layers, "0", _FIRST, "1", _LAST)
            block = ConvNextBlock(width, self.hidden_act, scaled=self.layer_scale_init_value > 0)
            yield Sequential(**narrows, layers=Repeat(block, depth))
            near = width


@dataclass(frozen=True)
class ConvNextBlock(OverPositions):
    """A convolution per channel, a normalisation and two matrices, scaled where ``scaled``.

    >>> ConvNextBlock(C).params
    8*C**2 + 58*C
    """

    width: Dim
    hidden_act: str = "gelu"
    scaled: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The scale."""
        if self.scaled:
            yield Tensor("layer_scale_parameter", (self.width,), role="scale")

    def parts(self) -> Iterator[Part]:
        """Convolution, normalisation, matrices."""
        width = self.width
        yield Part("dwconv", Conv2d(width, width, 7, padding=3, groups=width))
        yield Part("layernorm", LayerNorm(width))
        yield Part("pwconv1", Dense(width, 4 * width))
        yield from (Part(name, layer) for name, layer in learned("act", self.hidden_act).items())
        yield Part("pwconv2", Dense(4 * width, width))

    def views(self) -> tuple[View, ...]:
        """What the convolution sees; the map comes and goes with its channels last."""
        return self.part("dwconv").views()

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """The scale is used once per place."""
        return {"layer_scale_parameter": positions(input_shape)}


def _stages_are_no_letter(arguments: dict[str, Any], sizes: Sizes) -> None:
    """How many stages there are is structure; and without labels the reference stores no classifier."""
    if STAGES in sizes:
        arguments["num_stages"] = sizes.pop(STAGES)
    if "out_features" in arguments:
        settle_stages(arguments, len(arguments["depths"]))
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


FAMILIES = (
    Family(
        model_type="convnext",
        model=ConvNext,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "num_channels": Size(C, 3),
            "patch_size": Pair(K, (PATCH_HEIGHT, PATCH_WIDTH), 4),
            "num_stages": Size(STAGES, 4, least=0),
            "hidden_sizes": Several("H", (96, 192, 384, 768)),
            "depths": Several("L", (3, 3, 9, 3), least=0),
            "hidden_act": Word("gelu"),
            "layer_scale_init_value": Number(1e-6),
            "out_features": Listed(str, only=_BACKBONE),
            "out_indices": Listed(int, only=_BACKBONE),
        },
        aliases={"num_hidden_layers": "num_stages"},
        ignored={
            "drops values while training": "drop_path_rate",
            "keeps a quotient finite": "layer_norm_eps",
            "no position is stored": "image_size",
            "chooses what a backbone returns": "_out_features _out_indices stage_names",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_stages_are_no_letter,
    ),
)
