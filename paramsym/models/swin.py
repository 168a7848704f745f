"""Swin (Liu et al. 2021, arXiv:2103.14030). Reference: ``transformers.models.swin`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from sympy import Rational, floor

from paramsym.compose import Block, Repeat
from paramsym.errors import ArgumentError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation, learned
from paramsym.models.backbone import feature_norms, settle_stages
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Flag, Listed, Number, Pair, Several, Size, Sizes, Word, numbered
from paramsym.models.labels import give_labels
from paramsym.models.vit import IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH, STRIDE, fitting, pair, whole_patches
from paramsym.size import Count, Dim, divides
from paramsym.symbols import C, H, K, N, W, dims

Architecture = Literal["SwinModel", "SwinForImageClassification", "SwinForMaskedImageModeling", "SwinBackbone"]
_LABELLED = frozenset({"SwinForImageClassification"})
_BACKBONE = ("SwinBackbone",)
_PAPER = "Liu et al. 2021, table 1"
WINDOW = dims("M")


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
class Swin(Layer):
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
        base = Block(
            embeddings=embeddings,
            encoder=Block(layers=Block({str(position): stage for position, stage in enumerate(self._stages())})),
            layernorm=LayerNorm(last),
        )
        yield Part("" if self.architecture == "SwinModel" else "swin", base)
        if masked:
            pixels = self.encoder_stride * self.encoder_stride * self.num_channels
            yield Part("decoder", Block({"0": Conv2d(last, pixels, 1)}))
        elif self.architecture in _BACKBONE:
            widths = (2**position * self.embed_dim for position in range(len(self.depths)))
            yield Part("hidden_states_norms", feature_norms(self.out_features, (self.embed_dim, *widths)))
        elif self.architecture in _LABELLED and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(last, self.num_labels))

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])

    def _stages(self) -> Iterator[Block]:
        for position, (depth, heads) in enumerate(zip(self.depths, self.num_heads, strict=False)):
            width = 2**position * self.embed_dim
            merges: dict[str, Layer] = {}
            if position < len(self.depths) - 1:
                merges["downsample"] = Block(reduction=Dense(4 * width, 2 * width, bias=False), norm=LayerNorm(4 * width))
            yield Block(blocks=Repeat(self._block(width, heads), depth), **merges)

    def _block(self, width: Dim, heads: Dim) -> Block:
        sliced = (heads, divides(heads, width, "num_heads", "the stage's width"))
        projection = Dense(width, sliced, bias=self.qkv_bias)
        ratio = Rational(*float(self.mlp_ratio).as_integer_ratio())
        inner = int(ratio) * width if ratio.is_Integer else floor(ratio * width)
        return Block(
            attention=Block(
                q_proj=projection,
                k_proj=projection,
                v_proj=projection,
                o_proj=Dense(sliced, width),
                relative_position_bias=SwinPositionBias(self.window_size, heads),
            ),
            layernorm_before=LayerNorm(width),
            layernorm_after=LayerNorm(width),
            mlp=Block(**learned("activation_fn", self.hidden_act), fc1=Dense(width, inner), fc2=Dense(inner, width)),
        )


@dataclass(frozen=True)
class SwinEmbeddings(Layer):
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
        yield Part("patch_embeddings", Block(projection=projection))
        yield Part("norm", LayerNorm(self.embed_dim))


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


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    if arguments["use_absolute_embeddings"]:
        whole_patches(arguments, sizes)
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
            "out_features": Listed(str, only=_BACKBONE),
            "out_indices": Listed(int, only=_BACKBONE),
        },
        aliases={"num_attention_heads": "num_heads"},
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob drop_path_rate",
            "keeps a quotient finite": "layer_norm_eps",
            "follows from depths and embed_dim": "num_layers num_hidden_layers hidden_size",
            "was never read": "path_norm",
            "chooses what a backbone returns": "_out_features _out_indices stage_names",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
