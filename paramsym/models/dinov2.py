"""DINOv2 (Oquab et al. 2023, arXiv:2304.07193). Reference: ``transformers.models.dinov2`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from sympy import Rational, floor

from paramsym.compose import Repeat, Sequential
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation
from paramsym.models.backbone import Staged, check_chosen, settle_stages, stage_number
from paramsym.models.blocks import Gated, Holder
from paramsym.models.family import Family
from paramsym.models.images import (
    Attention,
    ImageModel,
    behind,
    feed_forward,
    fitted,
    in_row,
    masked,
    mean_of_places,
    on_map,
    pair,
    patches_of,
)
from paramsym.models.keys import Flag, Listed, Pair, Real, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.models.vit import IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH, fitting, whole_heads, whole_patches
from paramsym.program import Own, Value, features, join, rearrange, take
from paramsym.size import Count, Dim, canonical, divides
from paramsym.symbols import A, C, D, H, K, L, N, W, dims

Architecture = Literal["Dinov2Model", "Dinov2ForImageClassification", "Dinov2Backbone"]
_LABELLED = frozenset({"Dinov2ForImageClassification"})
_BACKBONE = ("Dinov2Backbone",)
RATIO = dims("m")


@dataclass(frozen=True)
class Dinov2(ImageModel):
    """DINOv2 and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. An image of width W is cut into (W/K)**2 patches of K by K pixels in C
    channels; ``image_size`` and ``patch_size`` may each be a pair, height then width. The embeddings store a class and a mask token, one
    position per patch and one more, and the projection of a patch; then follow L blocks, whose two branches end in a scale of H each,
    and a normalisation. The feed-forward network has the width m*H, m = ``mlp_ratio``; with ``use_swiglu_ffn`` it has three matrices of
    two thirds of that, rounded up to a multiple of 8. ``num_labels`` is N where the architecture has labels and no number is given; the
    classifier reads the class token and the mean of the patches, 2*H; with 0 the reference stores none. A backbone gives what comes out of
    the stages ``out_features``, of the last block where it is None: normalised unless ``apply_layernorm`` is False, as maps (batch, width,
    height, width) unless ``reshape_hidden_states`` is False. Images may have any size: the positions are interpolated.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the width.
        ArgumentError: features that are no stages, or for another architecture than the backbone; an activation or architecture that the
            reference does not know.

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
    _: KW_ONLY
    layer_norm_eps: float = 1e-6
    out_features: tuple[str, ...] | None = None
    apply_layernorm: bool = True
    reshape_hidden_states: bool = True

    published, claims = published_in("dinov2")

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Patches divide the image, heads the width."""
        self._patches()
        self._heads()
        check_activation(self.hidden_act, "hidden_act")
        check_chosen(self.out_features, self.num_hidden_layers, self.architecture, "Dinov2Backbone")

    def parts(self) -> Iterator[Part]:
        """The base model, under ``dinov2`` where a head follows, then the head."""
        labelled = self.architecture in _LABELLED
        yield Part("dinov2" if labelled else "", self._base())
        if labelled and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(2 * self.hidden_size, self.num_labels))

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Any:
        """(batch, tokens, width) of the base model, (batch, labels) of a classifier, the maps of a backbone.

        ``bool_masked_pos``, (batch, patches), is 1 where the mask token takes the place of a patch.
        """
        images, mask = self.checked(pixel_values, any_size=True), () if bool_masked_pos is None else (bool_masked_pos,)
        if self.architecture in _BACKBONE:
            extents = patches_of(images, pair(self.image_size), pair(self.patch_size))
            return tuple(self._map(own, x, extents) for x in own.encoder(own.embeddings(images, *mask)))
        x = own["dinov2" if self.architecture in _LABELLED else ""](images, *mask)
        if self.architecture not in _LABELLED:
            return x
        both = join(take(x, 1, 0), mean_of_places(x, 1))
        return own.classifier(both) if "classifier" in own else both

    def _map(self, own: Own, x: Value, extents: tuple[Dim, Dim]) -> Value:
        x = own.layernorm(x) if self.apply_layernorm else x
        return on_map(take(x, 1, 1, canonical(x.sizes[1] - 1)), extents) if self.reshape_hidden_states else x

    def _base(self) -> Dinov2Base:
        width, depth = self.hidden_size, self.num_hidden_layers
        layers: Layer = Repeat(self._layer(), depth)
        if self.architecture in _BACKBONE:
            layers = Staged(self._layer(), depth, (depth,) if self.out_features is None else tuple(map(stage_number, self.out_features)))
        return Dinov2Base(
            {
                "embeddings": Dinov2Embeddings(
                    self._patches(), self.patch_size, self.num_channels, width, self.use_mask_token, self.image_size
                ),
                "encoder": Sequential(layer=layers),
                "layernorm": LayerNorm(width, self.layer_norm_eps),
            }
        )

    def _layer(self) -> Dinov2Layer:
        width, sliced = self.hidden_size, self._heads()
        projection = Dense(width, sliced, bias=self.qkv_bias)
        norm, scale = LayerNorm(width, self.layer_norm_eps), LayerScale(width)
        return Dinov2Layer(
            {
                "norm1": norm,
                "attention": Attention({"q_proj": projection, "k_proj": projection, "v_proj": projection, "o_proj": Dense(sliced, width)}),
                "layer_scale1": scale,
                "norm2": norm,
                "mlp": self._feed_forward(),
                "layer_scale2": scale,
            }
        )

    def _feed_forward(self) -> Layer:
        width, inner = self.hidden_size, self.hidden_size * self.mlp_ratio
        if not self.use_swiglu_ffn:
            return feed_forward(width, inner, self.hidden_act)
        # Two thirds rounded down, then up to a multiple of 8: 8*floor((floor(2*inner/3) + 7)/8), in one floor.
        gated = 8 * floor((2 * inner + 21) * Rational(1, 24))
        return Gated({"gate_proj": Dense(width, gated), "up_proj": Dense(width, gated), "down_proj": Dense(gated, width)}, "silu")

    def _heads(self) -> tuple[Dim, Dim]:
        heads, width = self.num_attention_heads, self.hidden_size
        return heads, divides(heads, width, "num_attention_heads", "hidden_size") if self.head_dim is None else self.head_dim

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])


@dataclass(frozen=True)
class Dinov2Base(Holder):
    """The base model: ``embeddings``, the blocks of ``encoder``, ``layernorm``."""

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """(batch, channels, height, width) to (batch, tokens, width)."""
        return own.layernorm(own.encoder(own.embeddings(pixel_values, *mask)))


@dataclass(frozen=True)
class Dinov2Layer(Holder):
    """A block of two branches, each of a norm, its body, and a scale."""

    def forward(self, own: Own, x: Value) -> Value:
        """Attention, then the feed-forward network, each added to what passes by."""
        x = x + own.layer_scale1(own.attention(own.norm1(x)))
        return x + own.layer_scale2(own.mlp(own.norm2(x)))


@dataclass(frozen=True)
class LayerScale(Layer):
    """The scale of a branch (Touvron et al. 2021): ``lambda1`` (H,).

    >>> LayerScale(H).params
    H
    """

    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The scale."""
        yield Tensor("lambda1", (self.width,), role="scale")

    def forward(self, own: Own, x: Value) -> Value:
        """Every feature times its scale."""
        return features(x, self.width) * own.lambda1


@dataclass(frozen=True)
class Dinov2Embeddings(Layer):
    """Class token, mask token where there is one, positions, and the projection of a patch.

    ``patches`` are the numbers of patches down and across; a position is stored for each, and one for the class token. Images of another
    size than ``image_size``, which is that of all patches where it is None, have interpolated positions.

    >>> Dinov2Embeddings((37, 37), 14, 3, H).params
    1961*H
    """

    patches: tuple[Dim, Dim]
    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    hidden_size: Dim
    use_mask_token: bool = True
    image_size: Dim | tuple[Dim, Dim] | None = None

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

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """Project, put the mask token where the ``mask`` says, put the class token in front, add positions."""
        patch = pair(self.patch_size)
        whole = (canonical(self.patches[0] * patch[0]), canonical(self.patches[1] * patch[1]))
        found = patches_of(pixel_values, whole if self.image_size is None else pair(self.image_size), patch)
        x = in_row(own.patch_embeddings(pixel_values), *found)
        x = masked(x, rearrange(own.mask_token, "one h -> one () h"), *mask) if mask else x
        return behind(own.cls_token, x) + fitted(own.position_embeddings, 1, self.patches, found)


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    whole_patches(arguments, sizes)
    whole_heads(arguments, sizes)
    if "out_features" in arguments:
        settle_stages(arguments, sizes[L])
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
            "layer_norm_eps": Real(1e-6),
            "qkv_bias": Flag(default=True),
            "head_dim": Size(D, None),
            "use_swiglu_ffn": Flag(default=False),
            "use_mask_token": Flag(default=True),
            "out_features": Listed(str, only=_BACKBONE),
            "out_indices": Listed(int, only=_BACKBONE),
            "apply_layernorm": Flag(default=True, only=_BACKBONE),
            "reshape_hidden_states": Flag(default=True, only=_BACKBONE),
        },
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob drop_path_rate",
            "is where the scales begin": "layerscale_value",
            "chooses what a backbone returns": "_out_features _out_indices stage_names",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
