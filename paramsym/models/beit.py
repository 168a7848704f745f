"""BEiT (Bao et al. 2022, arXiv:2106.08254). Reference: ``transformers.models.beit`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError, ConfigError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation
from paramsym.models.backbone import Staged, check_chosen, settle_stages, stage_number
from paramsym.models.blocks import Holder
from paramsym.models.family import Family
from paramsym.models.images import Attention, ImageModel, behind, feed_forward, in_row, masked as marked, mean_of_places, on_map, pair
from paramsym.models.keys import Flag, Listed, Pair, Real, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.models.upernet import LEVELS, fcn_head, pyramid_neck, uper_head
from paramsym.models.vit import IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH, fitting, whole_heads, whole_patches
from paramsym.program import Own, Value, constant, join, lookup, rearrange, resample, take
from paramsym.size import Count, Dim, canonical, divides
from paramsym.symbols import A, C, D, F, H, K, L, N, V, W, dims

Architecture = Literal[
    "BeitModel", "BeitForImageClassification", "BeitForMaskedImageModeling", "BeitForSemanticSegmentation", "BeitBackbone"
]
_LABELLED = frozenset({"BeitForImageClassification", "BeitForSemanticSegmentation"})
_SEGMENTS = ("BeitForSemanticSegmentation",)
_PYRAMID = ("BeitForSemanticSegmentation", "BeitBackbone")
AUXILIARY, CONVOLUTIONS = dims("C_a n_c")
"""The channels of the auxiliary head, and how many convolutions it has."""
_TIMM = "timm, beit_base_patch16_224"


@dataclass(frozen=True)
class Beit(ImageModel):
    """BEiT and its heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. An image of width W is cut into (W/K)**2 patches of K by K pixels in C
    channels; ``image_size`` and ``patch_size`` may each be a pair, height then width. The embeddings store a class token and the
    projection of a patch, and, where asked for, a mask token and positions. A block stores 4*H**2 + 2*F*H + 8*H + F, for its keys have no
    bias, and 2*H scales of its branches, unless ``layer_scale_init_value`` is 0. Relative positions are tables of
    ((2*W/K - 1)**2 + 3) rows for A heads, in every block or one for all. The last normalisation stands in the pooler with
    ``use_mean_pooling``, else before it. ``head_dim`` is H/A where it is None. ``num_labels`` is N where the architecture has labels and
    no number is given; with 0 the reference stores no classifier. Segmentation and, with ``add_fpn``, the backbone make a pyramid of four
    maps; segmentation labels pixels with UPerNet's head, which pools to one size for each of ``pool_scales``, and with
    ``use_auxiliary_head`` with one of ``auxiliary_num_convs`` convolutions of ``auxiliary_channels``. ``out_features`` are the stages whose
    maps are taken; the backbone's last one where it is None.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the width.
        ArgumentError: ``add_fpn`` for another architecture than the backbone; features that are no stages, or not four where a pyramid is
            made of them; an activation or architecture that the reference does not know.

    >>> Beit().part("layers.0").params
    2*F*H + F + 4*H**2 + 10*H
    >>> classifier = Beit(architecture="BeitForImageClassification", use_relative_position_bias=True)
    >>> classifier.at("microsoft/beit-base-patch16-224").at(N=1000).params
    86530984
    """

    vocab_size: Dim = V
    image_size: Dim | tuple[Dim, Dim] = W
    patch_size: Dim | tuple[Dim, Dim] = K
    num_channels: Dim = C
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    hidden_act: str = "gelu"
    head_dim: Dim | None = None
    use_mask_token: bool = False
    use_absolute_position_embeddings: bool = False
    use_relative_position_bias: bool = False
    use_shared_relative_position_bias: bool = False
    layer_scale_init_value: float = 0.1
    use_mean_pooling: bool = True
    num_labels: Count | None = None
    add_pooling_layer: bool = True
    add_fpn: bool = False
    pool_scales: tuple[int, ...] = (1, 2, 3, 6)
    use_auxiliary_head: bool = True
    auxiliary_channels: Dim = AUXILIARY
    auxiliary_num_convs: Count = CONVOLUTIONS
    auxiliary_concat_input: bool = False
    architecture: Architecture = "BeitModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-12
    out_features: tuple[str, ...] | None = None
    reshape_hidden_states: bool = True

    published, claims = published_in("beit")

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Patches divide the image, heads the width."""
        self._patches()
        self._heads()
        check_activation(self.hidden_act, "hidden_act")
        if self.add_fpn and self.architecture != "BeitBackbone":
            message = f"add_fpn is for BeitBackbone; {self.architecture} itself decides whether it has a pyramid."
            raise ArgumentError(message)
        check_chosen(self.out_features, self.num_hidden_layers, self.architecture, *_PYRAMID)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``beit`` where a head follows, then the head."""
        if self.architecture == "BeitModel":
            yield Part("", self._base(pooled=self.add_pooling_layer))
            return
        masked = self.architecture == "BeitForMaskedImageModeling"
        yield Part("beit", self._base(pooled=self.architecture == "BeitForImageClassification"))
        if self.architecture in _PYRAMID:
            yield from self._segmented()
        elif masked:
            yield Part("layernorm", LayerNorm(self.hidden_size, self.layer_norm_eps))
            yield Part("lm_head", Dense(self.hidden_size, self.vocab_size))
        elif self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(self.hidden_size, self.num_labels))

    def _segmented(self) -> Iterator[Part]:
        width = self.hidden_size
        if self.add_fpn or self.architecture in _SEGMENTS:
            yield Part("fpn", pyramid_neck(width))
        if self.architecture in _SEGMENTS and self.num_labels is not None:
            yield Part("decode_head", uper_head(width, self.pool_scales, self.num_labels))
            if self.use_auxiliary_head:
                head = fcn_head(
                    *(width, self.auxiliary_channels, self.num_labels, self.auxiliary_num_convs), concatenates=self.auxiliary_concat_input
                )
                yield Part("auxiliary_head", head)

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Any:
        """(batch, tokens, width), scores of labels or of visual words for every patch, labels of pixels, or the maps of a backbone.

        ``bool_masked_pos``, (batch, patches), is 1 where the mask token takes the place of a patch.
        """
        mask = () if bool_masked_pos is None else (bool_masked_pos,)
        x, *others = own["" if self.architecture == "BeitModel" else "beit"](self.checked(pixel_values), *mask)
        if self.architecture == "BeitForMaskedImageModeling":
            x = own.layernorm(x)
            return own.lm_head(take(x, 1, 1, canonical(x.sizes[1] - 1)))
        if self.architecture == "BeitForImageClassification":
            return own.classifier(others[0]) if "classifier" in own else others[0]
        return x if self.architecture == "BeitModel" else self._segmenting(own, others)

    def _segmenting(self, own: Own, found: list[Value]) -> Any:
        """Return the maps of a backbone, or labels of pixels."""
        maps = tuple(found)
        if self.reshape_hidden_states or self.architecture in _SEGMENTS:
            maps = tuple(on_map(take(x, 1, 1, canonical(x.sizes[1] - 1)), self._patches()) for x in found)
        if "fpn" in own:
            if len(maps) != LEVELS:
                message = f"out_features chooses {len(maps)} feature maps; wanted {LEVELS}."
                raise ArgumentError(message)
            maps = own.fpn(*maps)
        if "decode_head" not in own:
            return maps
        if "auxiliary_head" in own:
            own.auxiliary_head(*maps)
        return own.decode_head(*maps)

    def _stages(self) -> tuple[Count, ...]:
        """Return after how many blocks a map is taken; segmentation takes the one before a stage, and for the stem the last."""
        depth = self.num_hidden_layers
        numbers = (depth,) if self.out_features is None else tuple(map(stage_number, self.out_features))
        return tuple(number - 1 if number else depth for number in numbers) if self.architecture in _SEGMENTS else numbers

    def _base(self, *, pooled: bool) -> BeitBase:
        width, patches = self.hidden_size, self._patches()
        positions = patches if self.use_absolute_position_embeddings else None
        norm = LayerNorm(width, self.layer_norm_eps)
        layers: dict[str, Layer] = {
            "embeddings": BeitEmbeddings(positions, self.patch_size, self.num_channels, width, self.use_mask_token, patches),
        }
        if self.use_shared_relative_position_bias:
            layers["shared_position_bias"] = BeitPositionBias(patches, self.num_attention_heads)
        depth, block = self.num_hidden_layers, self._layer()
        layers["layers"] = Staged(block, depth, (depth, *self._stages())) if self.architecture in _PYRAMID else Repeat(block, depth)
        if not self.use_mean_pooling:
            layers["layernorm"] = norm
        elif pooled:
            layers["pooler"] = Sequential(layernorm=norm)
        return BeitBase(layers)

    def _layer(self) -> BeitBlock:
        width, sliced = self.hidden_size, self._heads()
        projection, norm = Dense(width, sliced), LayerNorm(width, self.layer_norm_eps)
        inward = {"q_proj": projection, "k_proj": Dense(width, sliced, bias=False), "v_proj": projection}
        layers: dict[str, Layer] = {
            "attention": Attention({**inward, "o_proj": Dense(sliced, width)}),
            "layernorm_before": norm,
            "layernorm_after": norm,
            "mlp": feed_forward(width, self.intermediate_size, self.hidden_act),
        }
        if self.use_relative_position_bias:
            layers["relative_position_bias"] = BeitPositionBias(self._patches(), self.num_attention_heads)
        return BeitBlock(layers, width if self.layer_scale_init_value > 0 else None)

    def _heads(self) -> tuple[Dim, Dim]:
        heads, width = self.num_attention_heads, self.hidden_size
        return heads, divides(heads, width, "num_attention_heads", "hidden_size") if self.head_dim is None else self.head_dim

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])


@dataclass(frozen=True)
class BeitBase(Holder):
    """The base model: ``embeddings``, the blocks ``layers``, ``layernorm`` or a ``pooler``, and a ``shared_position_bias``."""

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> tuple[Value, ...]:
        """(batch, tokens, width), then what has passed the chosen numbers of blocks, or else one vector of each image."""
        x = own.embeddings(pixel_values, *mask)
        x = own.layers(x, *((own.shared_position_bias(x),) if "shared_position_bias" in own else ()))
        x, *stages = x if isinstance(x, tuple) else (x,)
        x = own.layernorm(x) if "layernorm" in own else x
        if stages:
            return (x, *stages)
        return x, own.pooler(mean_of_places(x, 1)) if "pooler" in own else take(x, 1, 0)


@dataclass(frozen=True)
class BeitBlock(Holder):
    """A block whose two branches are scaled, each by a vector of its own (Touvron et al. 2021, LayerScale), where there is a ``width``.

    >>> BeitBlock({"mlp": Dense(H, F)}, H).params, BeitBlock({"mlp": Dense(H, F)}, None).params
    (F*H + F + 2*H, F*H + F)
    """

    width: Dim | None

    def tensors(self) -> Iterator[Tensor]:
        """The two scales."""
        if self.width is not None:
            yield Tensor("lambda_1", (self.width,), role="scale")
            yield Tensor("lambda_2", (self.width,), role="scale")

    def forward(self, own: Own, x: Value, *shared: Value) -> Value:
        """Attention with the biases of the positions, ``shared`` ones and the block's own; then the feed-forward network."""
        bias = shared
        if "relative_position_bias" in own:
            near = own.relative_position_bias(x)
            bias = (near + shared[0] if shared else near,)
        y = own.attention(own.layernorm_before(x), *bias)
        x = x + (y if self.width is None else y * own.lambda_1)
        y = own.mlp(own.layernorm_after(x))
        return x + (y if self.width is None else y * own.lambda_2)


@dataclass(frozen=True)
class BeitEmbeddings(Layer):
    """Class token, mask token and positions where there are any, and the projection of a patch.

    ``patches`` are the numbers of patches down and across that have a position, or None; ``extents`` are those numbers in any case.

    >>> BeitEmbeddings(None, 16, 3, H).params, BeitEmbeddings((14, 14), 16, 3, H).params
    (770*H, 967*H)
    """

    patches: tuple[Dim, Dim] | None
    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    hidden_size: Dim
    use_mask_token: bool = False
    extents: tuple[Dim, Dim] | None = None

    def tensors(self) -> Iterator[Tensor]:
        """The tokens, then the positions."""
        yield Tensor("cls_token", (1, 1, self.hidden_size), role="table")
        if self.use_mask_token:
            yield Tensor("mask_token", (1, 1, self.hidden_size), role="table")
        if self.patches is not None:
            down, across = self.patches
            yield Tensor("position_embeddings", (1, down * across + 1, self.hidden_size), role="table")

    def parts(self) -> Iterator[Part]:
        """The projection, a convolution that moves by whole patches."""
        yield Part(
            "patch_embeddings", Sequential(projection=Conv2d(self.num_channels, self.hidden_size, self.patch_size, stride=self.patch_size))
        )

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """Project, put the mask token where the ``mask`` says, put the class token in front, add positions."""
        x = in_row(own.patch_embeddings(pixel_values), *(self.extents or self.patches or ()))
        x = marked(x, own.mask_token, *mask) if mask else x
        x = behind(own.cls_token, x)
        return x if self.patches is None else x + own.position_embeddings


@dataclass(frozen=True)
class BeitPositionBias(Layer):
    """A bias per head for every distance between two patches, and three more rows for those from, to and at the class token.

    >>> BeitPositionBias((14, 14), A).params
    732*A
    """

    patches: tuple[Dim, Dim]
    num_attention_heads: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The table."""
        down, across = self.patches
        yield Tensor("relative_position_bias_table", ((2 * down - 1) * (2 * across - 1) + 3, self.num_attention_heads), role="table")

    def forward(self, own: Own, x: Value) -> Value:
        """What is added to the scores of (batch, tokens, width): (1, heads, tokens, tokens)."""
        down, across = map(canonical, self.patches)
        tokens, table = x.sizes[1], own.relative_position_bias_table
        if down != across:  # the reference takes the table for one of the turned map, and interpolates that
            high, wide = canonical(2 * down - 1), canonical(2 * across - 1)
            turned = rearrange(take(table, 0, 0, high * wide), "(w h) a -> a w h", w=wide, h=high)
            near = rearrange(resample("linear", turned, (high, wide), (None, None)), "a h w -> (h w) a")
            table = join(near, take(table, 0, high * wide, 3), axis=0)
        bias = lookup(table, constant("beit index", (tokens, tokens), down, across, kind="index"))
        return rearrange(bias, "q k a -> () a q k")


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    if "out_indices" in arguments:
        _check_maps(arguments, sizes)
    whole_patches(arguments, sizes)
    whole_heads(arguments, sizes)
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


def _check_maps(arguments: dict[str, Any], sizes: Sizes) -> None:
    """A pyramid is made of four maps; which four changes no tensor."""
    older = arguments.pop("segmentation_indices")
    arguments["out_indices"] = older if arguments["out_indices"] is None else arguments["out_indices"]
    settle_stages(arguments, sizes[L])
    maps = arguments["out_features"]
    if len(maps) != LEVELS and (arguments.get("add_fpn") or arguments["architecture"] in _SEGMENTS):
        message = f"out_indices chooses {len(maps)} feature maps; wanted {LEVELS}, as in [3, 5, 7, 11]."
        raise ConfigError(message)
    if not arguments.get("use_auxiliary_head", True):
        for name, letter in (("auxiliary_channels", AUXILIARY), ("auxiliary_num_convs", CONVOLUTIONS)):
            del arguments[name], sizes[letter]
    elif sizes.get(CONVOLUTIONS) == 0:
        arguments["auxiliary_num_convs"] = sizes.pop(CONVOLUTIONS)


FAMILIES = (
    Family(
        model_type="beit",
        model=Beit,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "vocab_size": Size(V, 8192, only=("BeitForMaskedImageModeling",)),
            "image_size": Pair(W, (IMAGE_HEIGHT, IMAGE_WIDTH), 224),
            "patch_size": Pair(K, (PATCH_HEIGHT, PATCH_WIDTH), 16),
            "num_channels": Size(C, 3),
            "hidden_size": Size(H, 768),
            "num_hidden_layers": Size(L, 12, least=0),
            "num_attention_heads": Size(A, 12),
            "intermediate_size": Size(F, 3072),
            "hidden_act": Word("gelu"),
            "layer_norm_eps": Real(1e-12),
            "head_dim": Size(D, None),
            "use_mask_token": Flag(default=False),
            "use_absolute_position_embeddings": Flag(default=False),
            "use_relative_position_bias": Flag(default=False),
            "use_shared_relative_position_bias": Flag(default=False),
            "layer_scale_init_value": Real(0.1),
            "use_mean_pooling": Flag(default=True),
            "out_features": Listed(str, only=_PYRAMID),
            "out_indices": Listed(int, only=_PYRAMID),
            "segmentation_indices": Listed(int, only=_PYRAMID),
            "reshape_hidden_states": Flag(default=True, only=("BeitBackbone",)),
            "add_fpn": Flag(default=False, only=("BeitBackbone",)),
            "pool_scales": Listed(int, (1, 2, 3, 6), only=_SEGMENTS),
            "use_auxiliary_head": Flag(default=True, only=_SEGMENTS),
            "auxiliary_channels": Size(AUXILIARY, 256, only=_SEGMENTS),
            "auxiliary_num_convs": Size(CONVOLUTIONS, 1, least=0, only=_SEGMENTS),
            "auxiliary_concat_input": Flag(default=False, only=_SEGMENTS),
        },
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob drop_path_rate",
            "weighs a loss": "auxiliary_loss_weight semantic_loss_ignore_index",
            "chooses what a backbone returns": "_out_features _out_indices stage_names",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
