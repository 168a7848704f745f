"""Swin (Liu et al. 2021, arXiv:2103.14030). Reference: ``transformers.models.swin`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Block, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ArgumentError, ConfigError, ShapeError
from paramsym.extents import View, exact_ratio, scaled, share, up_over
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.axes import take_apart
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.resampling import PixelShuffle
from paramsym.layers.reshaping import Flatten, Permute
from paramsym.layers.stream import OverPositions, Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.backbone import feature_norms, settle_stages
from paramsym.models.between import OneOfEach, refuse_maps
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Flag, Listed, Number, Pair, Several, Size, Sizes, Word, numbered
from paramsym.models.labels import give_labels
from paramsym.models.vit import IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH, STRIDE, fitting, pair, whole_patches
from paramsym.size import Count, Dim, Shape, canonical, divides, product, text
from paramsym.symbols import C, H, K, N, W, dims

Architecture = Literal["SwinModel", "SwinForImageClassification", "SwinForMaskedImageModeling", "SwinBackbone"]
_LABELLED = frozenset({"SwinForImageClassification"})
_BACKBONE = ("SwinBackbone",)
_PAPER = "Liu et al. 2021, table 1"
WINDOW, STAGES = dims("M n_stages")


def _size(embed_dim: int, deep: int, heads: int, window: int = 7) -> dict[str, Any]:
    """All published sizes are deep in the third stage and double their heads from stage to stage."""
    return {
        "image_size": 384 if window == 12 else 224,
        "patch_size": 4,
        "num_channels": 3,
        "embed_dim": embed_dim,
        "depths": (2, 2, deep, 2),
        "num_heads": (heads, 2 * heads, 4 * heads, 8 * heads),
        "window_size": window,
    }


@dataclass(frozen=True)
class Swin(InTurn):
    """Swin and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. Patches of K by K pixels in C channels become vectors of H =
    ``embed_dim``, normalised; with ``use_absolute_embeddings`` one position is stored for each. Stage i has the width D = 2**i*H and
    blocks of 4*D**2 + 2*m*D**2 + (9 + m)*D, m = ``mlp_ratio``, each with a table of (2*M - 1)**2 distances in a window of M by M patches
    for its heads. After every stage but the last stands the merger of four patches, 8*D**2 + 8*D. ``num_labels`` is N where the
    architecture has labels and no number is given; with 0 the reference stores no classifier. A backbone has one more normalisation for
    each of ``out_features``, the last stage where it is None.

    Raises:
        DivisibilityError: heads that do not divide a stage's width, or patches the image, where positions are stored.
        ArgumentError: fewer heads than depths, features that are no stages; an activation or architecture that the reference does not know.
        ShapeError: a symbolic ``embed_dim`` with an ``mlp_ratio``, such as 2.3, whose products in floating point no formula gives.

    >>> Swin(architecture="SwinForImageClassification").at("microsoft/swin-tiny-patch4-window7-224").at(N=1000).params
    28288354
    >>> Swin().part("encoder.layers.0.downsample").params
    8*H**2 + 8*H
    """

    image_size: Dim | tuple[Dim, Dim] = W
    patch_size: Dim | tuple[Dim, Dim] = K
    num_channels: Dim = C
    embed_dim: Dim = H
    depths: tuple[Count, ...] = numbered("L", 4)
    num_heads: tuple[Dim, ...] = numbered("A", 4)
    window_size: Dim = WINDOW
    mlp_ratio: float = 4.0
    qkv_bias: bool = True
    hidden_act: str = "gelu"
    use_absolute_embeddings: bool = False
    encoder_stride: Dim = 32
    num_labels: Count | None = None
    use_mask_token: bool = False
    out_features: tuple[str, ...] | None = None
    architecture: Architecture = "SwinModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "microsoft/swin-tiny-patch4-window7-224": _size(96, 6, 3),
        "microsoft/swin-small-patch4-window7-224": _size(96, 18, 3),
        "microsoft/swin-base-patch4-window7-224": _size(128, 18, 4),
        "microsoft/swin-large-patch4-window7-224": _size(192, 18, 6),
        "microsoft/swin-base-patch4-window12-384": _size(128, 18, 4, 12),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("microsoft/swin-tiny-patch4-window7-224", 28_288_354, RECALLED, counts="SwinForImageClassification"),
        Claim("microsoft/swin-small-patch4-window7-224", 49_606_258, RECALLED, counts="SwinForImageClassification"),
        Claim("microsoft/swin-base-patch4-window7-224", 87_768_224, "torchvision, Swin_B_Weights", counts="SwinForImageClassification"),
        Claim("microsoft/swin-large-patch4-window7-224", 196_532_476, RECALLED, counts="SwinForImageClassification"),
        Claim("microsoft/swin-tiny-patch4-window7-224", 29_000_000, _PAPER, counts="rounded up; 28,288,354"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Every stage has heads; they divide its width; positions fit."""
        check_activation(self.hidden_act, "hidden_act")
        if not self.depths or len(self.num_heads) < len(self.depths):
            message = f"num_heads has {len(self.num_heads)} entries and depths {len(self.depths)}; wanted heads for every stage."
            raise ArgumentError(message)
        if not 0 < self.mlp_ratio <= 2**16:
            message = f"mlp_ratio is {self.mlp_ratio}; wanted a number above 0."
            raise ArgumentError(message)
        if self.use_mask_token and self.architecture != "SwinModel":
            message = f"use_mask_token is for SwinModel; {self.architecture} itself decides whether it has one."
            raise ArgumentError(message)
        if self.out_features is not None and self.architecture not in _BACKBONE:
            message = f"out_features is for SwinBackbone; {self.architecture} has none."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``swin`` where a head follows, then the head."""
        masked = self.architecture == "SwinForMaskedImageModeling"
        last = 2 ** (len(self.depths) - 1) * self.embed_dim
        patches = self._patches() if self.use_absolute_embeddings else None
        embeddings = SwinEmbeddings(self.patch_size, self.num_channels, self.embed_dim, patches, masked or self.use_mask_token)
        base = Sequential(
            embeddings=embeddings,
            encoder=Sequential(layers=Sequential({str(position): stage for position, stage in enumerate(self._stages())})),
            layernorm=LayerNorm(last),
        )
        yield Part("" if self.architecture == "SwinModel" else "swin", base)
        if masked:
            pixels = self.encoder_stride * self.encoder_stride * self.num_channels
            yield Part("decoder", Sequential({"0": Conv2d(last, pixels, 1)}))
        elif self.architecture in _BACKBONE:
            widths = (2**position * self.embed_dim for position in range(len(self.depths)))
            yield Part("hidden_states_norms", feature_norms(self.out_features, (self.embed_dim, *widths)))
        elif self.architecture in _LABELLED and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(last, self.num_labels))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model over a map of patches, which ends as a row of them, their mean, or the image again."""
        refuse_maps(self.architecture)
        (name, base), *head = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        if self.architecture == "SwinForMaskedImageModeling":
            yield from (("map", Permute((3, 1, 2))), *head, ("pixels", PixelShuffle(self.encoder_stride)))
        else:
            yield "row", Flatten(1, 2)
        if self.architecture in _LABELLED:
            yield from (("mean", OneOfEach()), *head)

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])

    def _stages(self) -> Iterator[Flow]:
        for position, (depth, heads) in enumerate(zip(self.depths, self.num_heads, strict=False)):
            width = 2**position * self.embed_dim
            merges: dict[str, Layer] = {}
            if position < len(self.depths) - 1:
                layers = {"reduction": Dense(4 * width, 2 * width, bias=False), "norm": LayerNorm(4 * width)}
                merges["downsample"] = Flow(layers, ("merge", Merge()), "norm", "reduction")
            blocks = Repeat(Stream(width, self._block(width, heads)), depth)
            yield Flow({"blocks": blocks, **merges}, ("windows", Windows(self.window_size)), "blocks", *merges)

    def _block(self, width: Dim, heads: Dim) -> Block:
        sliced = (heads, divides(heads, width, "num_heads", "the stage's width"))
        projection = Dense(width, sliced, bias=self.qkv_bias)
        inner = scaled(width, float(self.mlp_ratio), "mlp_ratio")
        attention = Block(
            q_proj=projection,
            k_proj=projection,
            v_proj=projection,
            o_proj=Dense(sliced, width),
            relative_position_bias=SwinPositionBias(self.window_size, heads),
        )
        return Block(
            attention=WindowAttention(width, self.window_size, attention),
            layernorm_before=LayerNorm(width),
            layernorm_after=LayerNorm(width),
            mlp=Block(**learned("activation_fn", self.hidden_act), fc1=Dense(width, inner), fc2=Dense(inner, width)),
        )


@dataclass(frozen=True)
class SwinEmbeddings(InTurn):
    """The projection of a patch and its normalisation; a mask token and positions where there are any.

    ``patches`` are the numbers of patches down and across that have a position, or None.

    >>> SwinEmbeddings(4, 3, H).params, SwinEmbeddings(4, 3, H, (56, 56)).params
    (51*H, 3187*H)
    """

    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    embed_dim: Dim
    patches: tuple[Dim, Dim] | None = None
    use_mask_token: bool = False

    def tensors(self) -> Iterator[Tensor]:
        """The mask token, then the positions."""
        if self.use_mask_token:
            yield Tensor("mask_token", (1, 1, self.embed_dim), role="table")
        if self.patches is not None:
            yield Tensor("position_embeddings", (1, self.patches[0] * self.patches[1], self.embed_dim), role="table")

    def parts(self) -> Iterator[Part]:
        """The projection, a convolution that moves by whole patches, then the normalisation."""
        projection = Conv2d(self.num_channels, self.embed_dim, self.patch_size, stride=self.patch_size)
        yield Part("patch_embeddings", Sequential(projection=projection))
        yield Part("norm", LayerNorm(self.embed_dim))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The reference fills the image up to whole patches."""
        (_, projection), (_, norm) = self.named().items()
        whole = WholePatches(pair(self.patch_size))
        yield from (("whole", whole), ("patch_embeddings", projection), ("last", Permute((2, 3, 1))), ("norm", norm))

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """Positions are used once; a mask token only where patches are masked."""
        del input_shape
        return {} if self.patches is None else {"position_embeddings": 1}


@dataclass(frozen=True)
class WholePatches(Layer):
    """An image filled up to a whole number of patches.

    >>> WholePatches((4, 4)).output_shape((1, 3, 30, 32))
    (1, 3, 32, 32)
    """

    patch_size: tuple[Dim, Dim]

    def output_shape(self, input_shape: Shape) -> Shape:
        """Rounded up to multiples of the patch."""
        axes = take_apart(input_shape, 2, batched=True)
        return axes.giving(axes.each(lambda length, patch: canonical(patch * up_over(length, patch)), self.patch_size))

    def views(self) -> tuple[View, ...]:
        """The edge is left out of account."""
        return ()


@dataclass(frozen=True)
class Windows(Layer):
    """A map cut into windows, each of which attends to itself; the reference fills the map up to whole windows and cuts that off again.

    Raises:
        ShapeError: a map that is smaller than a window, whose table of distances the reference then cannot apply.
    """

    window_size: Dim

    def output_shape(self, input_shape: Shape) -> Shape:
        """The map's shape."""
        for length in take_apart(input_shape, 2, "channels_last", batched=True).extents:
            if isinstance(length, int) and isinstance(self.window_size, int) and length < self.window_size:
                message = f"the map is {text(input_shape[1:-1])}; wanted at least one window of {self.window_size}x{self.window_size}."
                raise ShapeError(message)
        return input_shape

    def views(self) -> tuple[View, ...]:
        """The cut changes no entry."""
        return ()


@dataclass(frozen=True)
class Merge(Layer):
    """Four neighbours side by side, the map filled up to even extents.

    >>> Merge().output_shape((1, 7, 8, 96))
    (1, 4, 4, 384)
    """

    def output_shape(self, input_shape: Shape) -> Shape:
        """Half the extents, four times the width."""
        axes = take_apart(input_shape, 2, "channels_last", batched=True)
        return axes.giving(axes.each(up_over, (2, 2)), None if axes.channels is None else canonical(4 * axes.channels))


@dataclass(frozen=True)
class WindowAttention(OverPositions):
    """Attention within windows: its projections work on the map filled up to whole windows.

    >>> WindowAttention(96, 7, Block()).reached((1, 50, 56))
    (1, 56, 56, 96)
    """

    width: Dim
    window_size: Dim
    projections: Block

    def parts(self) -> Iterator[Part]:
        """The projections, on this layer's own level."""
        yield Part("", self.projections)

    def reached(self, places: Shape) -> Shape:
        """The map in whole windows."""
        window = self.window_size
        whole = (None if length is None else canonical(window * up_over(length, window)) for length in places[1:])
        return (*places[:1], *whole, self.width)


@dataclass(frozen=True)
class SwinPositionBias(Layer):
    """A bias per head for every distance between two patches of a window; the index of the distances is in no state dict.

    >>> SwinPositionBias(7, 3).params
    507
    """

    window_size: Dim
    num_heads: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The table, and for every two patches of a window their distance."""
        window = self.window_size
        yield Tensor("relative_position_bias_table", ((2 * window - 1) * (2 * window - 1), self.num_heads), role="table")
        yield Tensor("relative_position_index", (window**4,), role="statistic", buffer=True, persistent=False)

    def reached(self, places: Shape) -> Shape:
        """The distance between every two places of a window, for every window that covers the map."""
        windows = (None if length is None else up_over(length, self.window_size) for length in places[1:])
        return (*places[:1], *windows, canonical(self.window_size**2), canonical(self.window_size**2))

    def output_shape(self, input_shape: Shape) -> Shape:
        """A number for every head."""
        return (*input_shape, self.num_heads)

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """On average as often as there are pairs per row."""
        rows = canonical((2 * self.window_size - 1) ** 2)
        return {"relative_position_bias_table": share(product(input_shape[1:]), rows)}


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    stages = sizes.pop(STAGES, None)
    arguments.pop("num_layers", None)
    if stages not in {None, len(arguments["depths"])}:
        message = f"num_layers is {stages}, and depths has {len(arguments['depths'])} entries; the decoder would not fit the last stage."
        raise ConfigError(message)
    if arguments["use_absolute_embeddings"]:
        whole_patches(arguments, sizes)
    if exact_ratio(arguments["mlp_ratio"]) is None:  # the inner width is then known for a number only
        arguments["embed_dim"] = sizes.pop(H)
    if "out_features" in arguments:
        settle_stages(arguments, len(arguments["depths"]))
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


FAMILIES = (
    Family(
        model_type="swin",
        model=Swin,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "image_size": Pair(W, (IMAGE_HEIGHT, IMAGE_WIDTH), 224),
            "patch_size": Pair(K, (PATCH_HEIGHT, PATCH_WIDTH), 4),
            "num_channels": Size(C, 3),
            "embed_dim": Size(H, 96),
            "depths": Several("L", (2, 2, 6, 2), least=0),
            "num_heads": Several("A", (3, 6, 12, 24)),
            "window_size": Size(WINDOW, 7),
            "mlp_ratio": Number(4.0),
            "qkv_bias": Flag(default=True),
            "hidden_act": Word("gelu"),
            "use_absolute_embeddings": Flag(default=False),
            "encoder_stride": Size(STRIDE, 32, only=("SwinForMaskedImageModeling",)),
            "num_layers": Size(STAGES, None, only=("SwinForMaskedImageModeling",)),
            "out_features": Listed(str, only=_BACKBONE),
            "out_indices": Listed(int, only=_BACKBONE),
        },
        aliases={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob drop_path_rate",
            "keeps a quotient finite": "layer_norm_eps",
            "follows from depths and embed_dim": "hidden_size",
            "was never read": "path_norm",
            "chooses what a backbone returns": "_out_features _out_indices stage_names",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
