"""BEiT (Bao et al. 2022, arXiv:2106.08254). Reference: ``transformers.models.beit`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.size import Count, Dim, canonical
from paramsym.algebra.symbols import F, L, V, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ConfigError
from paramsym.layers.dense import Dense
from paramsym.models.backbone import IGNORED, Backbone, Staged, settle_stages
from paramsym.models.blocks import Holder
from paramsym.models.images import feed_forward, mean_of_places, on_map
from paramsym.models.key_kinds import Flag, Key, Listed, Real, Sizes, as_numbers
from paramsym.models.model import classes, family, key
from paramsym.models.patches import PatchTransformer, rounded
from paramsym.models.upernet import LEVELS, fcn_head, pyramid_neck, uper_head
from paramsym.program import Own, Value, constant, drop, join, lookup, rearrange, resample, take

_SEGMENTS = ("SemanticSegmentation",)
_PYRAMID = ("SemanticSegmentation", "Backbone")
AUXILIARY, CONVOLUTIONS = dims("C_a n_c")
"""The channels of the auxiliary head, and how many convolutions it has."""


class Beit(PatchTransformer, Backbone):
    """BEiT and its heads, as the reference class ``architecture`` stores them.

    The embeddings have a class token, and optionally a mask token and positions. Keys have no bias. A block has scales of its sub-layers,
    unless ``layer_scale_init_value`` is 0. Relative positions are tables of ((2*W/K - 1)**2 + 3) rows for A heads, in every block or one
    for all. The last normalisation is in the pooler with ``use_mean_pooling``, else before it. Segmentation and, with ``add_fpn``, the
    backbone make a pyramid of four maps; segmentation labels pixels with UPerNet's head, which pools to one size for each of
    ``pool_scales``, and with ``use_auxiliary_head`` with one of ``auxiliary_num_convs`` convolutions of ``auxiliary_channels``.

    Raises:
        ArgumentError: ``add_fpn`` for another architecture than the backbone, or not four features if a pyramid is made of them, beside the
            errors of every model and backbone.

    >>> Beit().part("layers.0").params
    2*F*H + F + 4*H**2 + 10*H
    >>> classifier = Beit(architecture="BeitForImageClassification", use_relative_position_bias=True)
    >>> classifier.at("microsoft/beit-base-patch16-224").params
    86530984
    """

    vocab_size: Dim = key(V, 8192, only=("MaskedImageModeling",))
    intermediate_size: Dim = key(F, 3072)
    use_mask_token: bool = key(Flag())
    use_absolute_position_embeddings: bool = key(Flag())
    use_relative_position_bias: bool = key(Flag())
    use_shared_relative_position_bias: bool = key(Flag())
    layer_scale_init_value: float = key(Real(0.1))
    use_mean_pooling: bool = key(Flag(default=True))
    add_pooling_layer: bool = True
    add_fpn: bool = key(Flag(only=("Backbone",)))
    pool_scales: tuple[int, ...] = key(Listed(int, (1, 2, 3, 6), only=_SEGMENTS))
    use_auxiliary_head: bool = key(Flag(default=True, only=_SEGMENTS))
    auxiliary_channels: Dim = key(AUXILIARY, 256, only=_SEGMENTS)
    auxiliary_num_convs: Count = key(CONVOLUTIONS, 1, least=0, only=_SEGMENTS)
    auxiliary_concat_input: bool = key(Flag(only=_SEGMENTS))
    architecture: str = classes({"Beit": "Model ForImageClassification ForMaskedImageModeling ForSemanticSegmentation Backbone"})
    _: KW_ONLY
    out_features: tuple[str, ...] | None = key(Listed(str, only=_PYRAMID))
    reshape_hidden_states: bool = key(Flag(default=True, only=("Backbone",)))

    reads: ClassVar[Mapping[str, Key]] = {"out_indices": Listed(int, only=_PYRAMID), "segmentation_indices": Listed(int, only=_PYRAMID)}
    labelled: ClassVar[tuple[str, ...]] = ("Classification", "Segmentation")

    def conditions(self) -> None:
        super().conditions()
        if self.add_fpn and not self.is_backbone:
            raise ArgumentError(f"add_fpn is for BeitBackbone; in {self.architecture} it is fixed whether there is a pyramid.")

    @property
    def base_name(self) -> str:
        return "" if self.architecture == "BeitModel" else "beit"

    def parts(self) -> Iterator[Part]:
        width, labels = self.hidden_size, self.num_labels
        yield Part(self.base_name, self._base(pooled=self.task == "ImageClassification" or (not self.base_name and self.add_pooling_layer)))
        if self.add_fpn or self.task in _SEGMENTS:
            yield Part("fpn", pyramid_neck(width))
        if self.task == "MaskedImageModeling":
            yield Part("layernorm", self.norm())
            yield Part("lm_head", Dense(width, self.vocab_size))
        if self.task not in _SEGMENTS:
            yield from self.classifier(width)
        elif labels is not None:
            yield Part("decode_head", uper_head(width, self.pool_scales, labels))
            if self.use_auxiliary_head:
                sizes = (width, self.auxiliary_channels, labels, self.auxiliary_num_convs)
                yield Part("auxiliary_head", fcn_head(*sizes, concatenates=self.auxiliary_concat_input))

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Any:
        """(batch, tokens, width), scores of labels or of visual words for every patch, labels of pixels, or the maps of a backbone."""
        x, *others = self.encoded(own, pixel_values, bool_masked_pos)
        if self.task == "MaskedImageModeling":
            x = own.layernorm(x)
            return own.lm_head(take(x, 1, 1, canonical(x.sizes[1] - 1)))
        if self.task == "ImageClassification":
            return own.classifier(others[0]) if "classifier" in own else others[0]
        return self._segmenting(own, others) if self.base_name else x

    def _segmenting(self, own: Own, found: list[Value]) -> Any:
        maps = tuple(found)
        if self.reshape_hidden_states or self.task in _SEGMENTS:
            maps = tuple(on_map(take(x, 1, 1, canonical(x.sizes[1] - 1)), self.patches()) for x in found)
        if "fpn" in own:
            if len(maps) != LEVELS:
                raise ArgumentError(f"out_features chooses {len(maps)} feature maps; wanted {LEVELS}.")
            maps = own.fpn(*maps)
        if "decode_head" not in own:
            return maps
        if "auxiliary_head" in own:
            own.auxiliary_head(*maps)
        return own.decode_head(*maps)

    def _base(self, *, pooled: bool) -> BeitBase:
        layers: dict[str, Layer] = {
            "embeddings": self.embeddings(use_mask_token=self.use_mask_token, located=self.use_absolute_position_embeddings)
        }
        if self.use_shared_relative_position_bias:
            layers["shared_position_bias"] = BeitPositionBias(self.patches(), self.num_attention_heads)
        depth, block = self.num_hidden_layers, self.block()
        taken = self.chosen
        if self.task in _SEGMENTS:  # the map before a stage, and for the stem the last
            taken = tuple(number - 1 if number else depth for number in taken)
        layers["layers"] = Staged(block, depth, (depth, *taken)) if self.architecture.endswith(_PYRAMID) else Repeat(block, depth)
        if not self.use_mean_pooling:
            layers["layernorm"] = self.norm()
        elif pooled:
            layers["pooler"] = Sequential(layernorm=self.norm())
        near = self.use_relative_position_bias or self.use_shared_relative_position_bias
        return BeitBase(layers, self.patches() if near else None)

    def block(self) -> BeitBlock:
        layers: dict[str, Layer] = {
            "attention": self.attention(key_bias=False),
            "layernorm_before": self.norm(),
            "layernorm_after": self.norm(),
            "mlp": feed_forward(self.hidden_size, self.intermediate_size, self.hidden_act),
        }
        if self.use_relative_position_bias:
            layers["relative_position_bias"] = BeitPositionBias(self.patches(), self.num_attention_heads)
        return BeitBlock(layers, self.hidden_size if self.layer_scale_init_value > 0 else None, self.hidden_dropout_prob)


class BeitBase(Holder):
    """The base model: ``embeddings``, the blocks ``layers``, ``layernorm`` or a ``pooler``, and an optional ``shared_position_bias``.

    ``patches`` are given for relative positions: all tables are read with one index.
    """

    patches: tuple[Dim, Dim] | None = None

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> tuple[Value, ...]:
        """(batch, tokens, width), then the outputs after the chosen numbers of blocks, or else one vector of each image."""
        x = own.embeddings(pixel_values, *mask)
        located = () if self.patches is None else (position_index(x.sizes[1], self.patches),)
        shared = (own.shared_position_bias(x, *located),) if "shared_position_bias" in own else ()
        x = own.layers(x, *located, *shared)
        x, *stages = x if isinstance(x, tuple) else (x,)
        x = own.layernorm(x) if "layernorm" in own else x
        if stages:
            return (x, *stages)
        return x, own.pooler(mean_of_places(x, 1)) if "pooler" in own else take(x, 1, 0)


class BeitBlock(Holder):
    """A block whose two sub-layers are scaled, each by a vector (Touvron et al. 2021, LayerScale), if there is a ``width``.

    >>> from paramsym.algebra.symbols import F, H
    >>> BeitBlock({"mlp": Dense(H, F)}, H).params, BeitBlock({"mlp": Dense(H, F)}, None).params
    (F*H + F + 2*H, F*H + F)
    """

    width: Dim | None
    dropped: float = 0.0

    def tensors(self) -> Iterator[Tensor]:
        if self.width is not None:
            yield Tensor("lambda_1", (self.width,), role="scale")
            yield Tensor("lambda_2", (self.width,), role="scale")

    def forward(self, own: Own, x: Value, *located: Value) -> Value:
        """Attention with the biases of the positions, then the feed-forward network.

        ``located`` are the index of the block's own biases, and shared biases; none without relative positions.
        """
        bias = located[1:]
        if "relative_position_bias" in own:
            near = own.relative_position_bias(x, *located[:1])
            bias = (near + bias[0] if bias else near,)
        y = drop(own.attention(own.layernorm_before(x), *bias), self.dropped)
        x = x + (y if self.width is None else y * own.lambda_1)
        y = drop(own.mlp(own.layernorm_after(x)), self.dropped)
        return x + (y if self.width is None else y * own.lambda_2)


class BeitPositionBias(Declared):
    """A bias per head for every distance between two patches, and three more rows for those from, to and at the class token.

    >>> from paramsym.algebra.symbols import A
    >>> BeitPositionBias((14, 14), A).params
    732*A
    """

    patches: tuple[Dim, Dim]
    num_attention_heads: Dim

    def tensors(self) -> Iterator[Tensor]:
        down, across = self.patches
        yield Tensor("relative_position_bias_table", ((2 * down - 1) * (2 * across - 1) + 3, self.num_attention_heads), role="table")

    def forward(self, own: Own, x: Value, index: Value | None = None) -> Value:
        """The bias of the scores of (batch, tokens, width): (1, heads, tokens, tokens); the ``index`` may be given."""
        down, across = map(canonical, self.patches)
        table = own.relative_position_bias_table
        if down != across:  # the reference reads the table as that of the transposed map, and interpolates it
            high, wide = canonical(2 * down - 1), canonical(2 * across - 1)
            turned = rearrange(take(table, 0, 0, high * wide), "(w h) a -> a w h", w=wide, h=high)
            near = rearrange(resample("linear", turned, (high, wide), (None, None)), "a h w -> (h w) a")
            table = join(near, take(table, 0, high * wide, 3), axis=0)
        bias = lookup(table, position_index(x.sizes[1], self.patches) if index is None else index)
        return rearrange(bias, "q k a -> () a q k")


def position_index(tokens: Dim, patches: tuple[Dim, Dim]) -> Value:
    """Return the row of the table for every pair of tokens: (tokens, tokens)."""
    return constant("beit index", (tokens, tokens), *map(canonical, patches), kind="index")


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Find the chosen maps; a pyramid needs four, and the choice changes no tensor."""
    rounded(arguments, sizes)
    if "out_indices" not in arguments:
        return
    older = arguments.pop("segmentation_indices")
    arguments["out_indices"] = older if arguments["out_indices"] is None else arguments["out_indices"]
    settle_stages(arguments, sizes[L])
    maps = arguments["out_features"]
    if len(maps) != LEVELS and (arguments.get("add_fpn") or arguments["architecture"].endswith(_SEGMENTS)):
        raise ConfigError(f"out_indices chooses {len(maps)} feature maps; wanted {LEVELS}, as in [3, 5, 7, 11].")
    if not arguments.get("use_auxiliary_head", True):
        for name, letter in (("auxiliary_channels", AUXILIARY), ("auxiliary_num_convs", CONVOLUTIONS)):
            del arguments[name], sizes[letter]
    as_numbers(arguments, sizes, auxiliary_num_convs=CONVOLUTIONS)


FAMILIES = (
    family(
        "beit",
        Beit,
        arrange=_settle,
        ignored={
            **IGNORED,
            "drops branches while training": "drop_path_rate",
            "weighs a loss": "auxiliary_loss_weight semantic_loss_ignore_index",
        },
    ),
)
