"""DINOv2 (Oquab et al. 2023, arXiv:2304.07193). Reference: ``transformers.models.dinov2`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from sympy import Rational, floor

from paramsym.compose import Block, Repeat, Sequential
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.axes import take_apart
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.features import Featurewise
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.between import ImageModel, OneOfEach, PatchTokens, refuse_maps
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Flag, Pair, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.vit import IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH, fitting, pair, whole_heads, whole_patches
from paramsym.program import Own, Value, features
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, C, D, H, K, L, N, W, dims

Architecture = Literal["Dinov2Model", "Dinov2ForImageClassification", "Dinov2Backbone"]
_LABELLED = frozenset({"Dinov2ForImageClassification"})
RATIO = dims("m")


def _size(hidden_size: int, layers: int, heads: int, *, swiglu: bool = False) -> dict[str, Any]:
    """All published sizes look at 518 by 518 pixels in patches of 14."""
    return {
        "image_size": 518,
        "patch_size": 14,
        "num_channels": 3,
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "mlp_ratio": 4,
        "use_swiglu_ffn": swiglu,
    }


@dataclass(frozen=True)
class Dinov2(ImageModel):
    """DINOv2 and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. An image of width W is cut into (W/K)**2 patches of K by K pixels in C
    channels; ``image_size`` and ``patch_size`` may each be a pair, height then width. The embeddings store a class and a mask token, one
    position per patch and one more, and the projection of a patch; then follow L blocks, whose two branches end in a scale of H each,
    and a normalisation. The feed-forward network has the width m*H, m = ``mlp_ratio``; with ``use_swiglu_ffn`` it has three matrices of
    two thirds of that, rounded up to a multiple of 8. ``num_labels`` is N where the architecture has labels and no number is given; the
    classifier reads the class token and the mean of the patches, 2*H; with 0 the reference stores none.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Dinov2().at("facebook/dinov2-base").params
    86580480
    >>> Dinov2().part("encoder.layer.0").params
    2*H**2*m + 4*H**2 + H*m + 11*H
    """

    image_size: Dim | tuple[Dim, Dim] = W
    patch_size: Dim | tuple[Dim, Dim] = K
    num_channels: Dim = C
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    mlp_ratio: Dim = RATIO
    hidden_act: str = "gelu"
    qkv_bias: bool = True
    head_dim: Dim | None = None
    use_swiglu_ffn: bool = False
    use_mask_token: bool = True
    num_labels: Count | None = None
    architecture: Architecture = "Dinov2Model"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "facebook/dinov2-small": _size(384, 12, 6),
        "facebook/dinov2-base": _size(768, 12, 12),
        "facebook/dinov2-large": _size(1024, 24, 16),
        "facebook/dinov2-giant": _size(1536, 40, 24, swiglu=True),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("facebook/dinov2-small", 22_056_576, RECALLED, counts="Dinov2Model"),
        Claim("facebook/dinov2-base", 86_580_480, RECALLED, counts="Dinov2Model"),
        Claim("facebook/dinov2-large", 304_368_640, RECALLED, counts="Dinov2Model"),
        Claim("facebook/dinov2-giant", 1_136_480_768, RECALLED, counts="Dinov2Model"),
        Claim("facebook/dinov2-giant", 1_000_000_000, "Oquab et al. 2023, abstract (1B)", counts="rounded down; 1,136,480,768"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Patches divide the image, heads the width."""
        self._patches()
        self._heads()
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The base model, under ``dinov2`` where a head follows, then the head."""
        labelled = self.architecture in _LABELLED
        yield Part("dinov2" if labelled else "", self._base())
        if labelled and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(2 * self.hidden_size, self.num_labels))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The base model; a classifier reads the class token and the mean of the patches side by side."""
        refuse_maps(self.architecture)
        (name, base), *classifier = ((part.name, part.layer) for part in self.own_parts)
        yield name, base
        if self.architecture in _LABELLED:
            yield from (("both", OneOfEach(2)), *classifier)

    def _check(self, input_shape: Shape) -> None:
        """The reference resizes its positions to whatever image it is given."""
        take_apart(input_shape, 2, channels=self.num_channels, batched=True)

    def _base(self) -> Sequential:
        width = self.hidden_size
        return Sequential(
            embeddings=Dinov2Embeddings(self._patches(), self.patch_size, self.num_channels, width, self.use_mask_token),
            encoder=Sequential(layer=Repeat(Stream(width, self._layer()), self.num_hidden_layers)),
            layernorm=LayerNorm(width),
        )

    def _layer(self) -> Block:
        width, sliced = self.hidden_size, self._heads()
        projection = Dense(width, sliced, bias=self.qkv_bias)
        scale = LayerScale(width)
        return Block(
            norm1=LayerNorm(width),
            attention=Block(q_proj=projection, k_proj=projection, v_proj=projection, o_proj=Dense(sliced, width)),
            layer_scale1=scale,
            norm2=LayerNorm(width),
            mlp=self._feed_forward(),
            layer_scale2=scale,
        )

    def _feed_forward(self) -> Block:
        width, inner = self.hidden_size, self.hidden_size * self.mlp_ratio
        if not self.use_swiglu_ffn:
            return Block(**learned("activation_fn", self.hidden_act), fc1=Dense(width, inner), fc2=Dense(inner, width))
        # Two thirds rounded down, then up to a multiple of 8: 8*floor((floor(2*inner/3) + 7)/8), in one floor.
        gated = 8 * floor((2 * inner + 21) * Rational(1, 24))
        return Block(gate_proj=Dense(width, gated), up_proj=Dense(width, gated), down_proj=Dense(gated, width))

    def _heads(self) -> tuple[Dim, Dim]:
        heads, width = self.num_attention_heads, self.hidden_size
        return heads, divides(heads, width, "num_attention_heads", "hidden_size") if self.head_dim is None else self.head_dim

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])


@dataclass(frozen=True)
class LayerScale(Featurewise):
    """The scale of a branch (Touvron et al. 2021): ``lambda1`` (H,).

    >>> LayerScale(H).params
    H
    """

    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The scale."""
        yield Tensor("lambda1", (self.width,), role="scale")

    @property
    def features(self) -> tuple[Dim, Dim]:
        """The width is kept."""
        return self.width, self.width

    def forward(self, own: Own, x: Value) -> Value:
        """Every feature times its scale."""
        return features(x, self.width) * own.lambda1


@dataclass(frozen=True)
class Dinov2Embeddings(PatchTokens):
    """Class token, mask token where there is one, positions, and the projection of a patch.

    ``patches`` are the numbers of patches down and across; a position is stored for each, and one for the class token.

    >>> Dinov2Embeddings((37, 37), 14, 3, H).params
    1961*H
    """

    patches: tuple[Dim, Dim]
    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    hidden_size: Dim
    use_mask_token: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The tokens, then the positions."""
        down, across = self.patches
        yield Tensor("cls_token", (1, 1, self.hidden_size), role="table")
        if self.use_mask_token:
            yield Tensor("mask_token", (1, self.hidden_size), role="table")
        yield Tensor("position_embeddings", (1, down * across + 1, self.hidden_size), role="table")

    def parts(self) -> Iterator[Part]:
        """The projection, a convolution that moves by whole patches."""
        yield Part(
            "patch_embeddings", Sequential(projection=Conv2d(self.num_channels, self.hidden_size, self.patch_size, stride=self.patch_size))
        )


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    whole_patches(arguments, sizes)
    whole_heads(arguments, sizes)
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


FAMILIES = (
    Family(
        model_type="dinov2",
        model=Dinov2,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "image_size": Pair(W, (IMAGE_HEIGHT, IMAGE_WIDTH), 224),
            "patch_size": Pair(K, (PATCH_HEIGHT, PATCH_WIDTH), 14),
            "num_channels": Size(C, 3),
            "hidden_size": Size(H, 768),
            "num_hidden_layers": Size(L, 12, least=0),
            "num_attention_heads": Size(A, 12),
            "mlp_ratio": Size(RATIO, 4),
            "hidden_act": Word("gelu"),
            "qkv_bias": Flag(default=True),
            "head_dim": Size(D, None),
            "use_swiglu_ffn": Flag(default=False),
            "use_mask_token": Flag(default=True),
        },
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob drop_path_rate",
            "keeps a quotient finite": "layer_norm_eps",
            "is where the scales begin": "layerscale_value",
            "chooses what a backbone returns": (
                "_out_features _out_indices out_features out_indices stage_names reshape_hidden_states apply_layernorm"
            ),
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
