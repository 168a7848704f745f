"""Swin (Liu et al. 2021, arXiv:2103.14030). Reference: ``transformers.models.swin`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from paramsym.algebra.convolution import exact_ratio, over, scaled_length, up_over
from paramsym.algebra.size import Count, Dim, canonical, divides, same, text, within
from paramsym.algebra.symbols import H, dims
from paramsym.core.compose import Sequential
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, ConfigError, ShapeError
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.backbone import IGNORED, Backbone, feature_norms, settle_stages, stage_name
from paramsym.models.blocks import Holder, Ladder
from paramsym.models.images import Merging, feed_forward, filled, masked as marked, no_labels, pair
from paramsym.models.key_kinds import Flag, Function, Key, Real, Several, Sizes, Whole
from paramsym.models.model import classes, family, key
from paramsym.models.patches import PatchModel, pixels_again, whole_patches
from paramsym.program import Own, Value, attend, constant, copies, drop, heads, lookup, rearrange, reduce, roll, take

_MASKED = ("MaskedImageModeling",)
WINDOW, STRIDE = dims("M s")


class Swin(PatchModel, Backbone):
    """Swin and its heads, as the reference class ``architecture`` stores them.

    Patches become vectors of H = ``embed_dim``, normalised; with ``use_absolute_embeddings`` each has a stored position. Stage i has the
    width 2**i*H; each block has a table of (2*M - 1)**2 distances in a window of M by M patches for its heads. After every stage except the
    last, four patches are merged. A backbone has one more normalisation for each of ``out_features``.

    Raises:
        DivisibilityError: heads that do not divide a stage's width, or, if positions are stored, patches that do not divide the image.
        ArgumentError: fewer heads than depths, beside the errors of every model and backbone.
        ShapeError: a symbolic ``embed_dim`` with an ``mlp_ratio``, such as 2.3, whose floating-point products have no formula.

    >>> Swin(architecture="SwinForImageClassification").at("microsoft/swin-tiny-patch4-window7-224").params
    28288354
    >>> Swin().part("encoder.layers.0.downsample").params
    8*H**2 + 8*H
    """

    embed_dim: Dim = key(H, 96)
    depths: tuple[Count, ...] = key(Several("L", (2, 2, 6, 2), least=0))
    num_heads: tuple[Dim, ...] = key(Several("A", (3, 6, 12, 24)))
    window_size: Dim = key(WINDOW, 7)
    mlp_ratio: float = key(Real(4.0))
    qkv_bias: bool = key(Flag(default=True))
    hidden_act: str = key(Function("gelu"))
    use_absolute_embeddings: bool = key(Flag())
    encoder_stride: Dim = key(STRIDE, 32, only=_MASKED, argument=32)
    use_mask_token: bool = False
    architecture: str = classes({"Swin": "Model ForImageClassification ForMaskedImageModeling Backbone"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-5))
    hidden_dropout_prob: float = key(Real(0.0))
    attention_probs_dropout_prob: float = key(Real(0.0))

    reads: ClassVar[Mapping[str, Key]] = {**Backbone.reads, "num_layers": Whole(only=_MASKED)}

    def conditions(self) -> None:
        super().conditions()
        if not self.depths or len(self.num_heads) < len(self.depths):
            raise ArgumentError(f"num_heads has {len(self.num_heads)} entries and depths {len(self.depths)}; wanted heads for every stage.")
        if not 0 < self.mlp_ratio <= 2**16:
            raise ArgumentError(f"mlp_ratio is {self.mlp_ratio}; wanted a number above 0.")
        if self.use_mask_token and self.base_name:
            raise ArgumentError(f"use_mask_token is for SwinModel; in {self.architecture} it is fixed.")

    @property
    def base_name(self) -> str:
        return "" if self.architecture == "SwinModel" else "swin"

    def parts(self) -> Iterator[Part]:
        masked, widths = self.task in _MASKED, [2**position * self.embed_dim for position in range(len(self.depths))]
        patches = self.patches() if self.use_absolute_embeddings else None
        embeddings = SwinEmbeddings(
            self.patch_size, self.num_channels, self.embed_dim, patches, masked or self.use_mask_token, self.hidden_dropout_prob
        )
        base = SwinBase(
            {
                "embeddings": embeddings,
                "encoder": Sequential(layers=Sequential({str(position): stage for position, stage in enumerate(self._stages())})),
                "layernorm": LayerNorm(widths[-1], self.layer_norm_eps),
            }
        )
        yield Part(self.base_name, base)
        if masked:
            yield Part("decoder", pixels_again(widths[-1], self.encoder_stride, self.num_channels))
        if self.is_backbone:
            yield Part("hidden_states_norms", feature_norms(self.out_features, (self.embed_dim, *widths)))
        yield from self.classifier(widths[-1])

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Any:
        """(batch, positions, width) of the last stage, (batch, labels), the image again of a masked model, or the maps of a backbone."""
        x, *maps = self.encoded(own, pixel_values, bool_masked_pos, any_size=True)
        if self.is_backbone:
            norms = ((f"hidden_states_norms.{stage_name(number)}", one) for number, one in enumerate(maps))
            return tuple(rearrange(own[name](one), "b h w c -> b c h w") for name, one in norms if name in own)
        if self.task in _MASKED:
            return own.decoder(rearrange(x, "b h w c -> b c h w"))
        if not self.task:
            return rearrange(x, "b h w c -> b (h w) c")
        mean = reduce("mean", x, 1, 2)
        return own.classifier(mean) if "classifier" in own else mean

    def _stages(self) -> Iterator[Sequential]:
        for position, (depth, number) in enumerate(zip(self.depths, self.num_heads, strict=False)):
            width = 2**position * self.embed_dim
            layers: dict[str, Layer] = {"blocks": Ladder((self._block(width, number), self._block(width, number, shifted=True)), depth)}
            if position < len(self.depths) - 1:
                layers["downsample"] = Merging(width)
            yield Sequential(layers)

    def _block(self, width: Dim, number: Dim, *, shifted: bool = False) -> SwinBlock:
        sliced = (number, divides(number, width, "num_heads", "the stage's width"))
        projection, norm = Dense(width, sliced, bias=self.qkv_bias), LayerNorm(width, self.layer_norm_eps)
        inner = scaled_length(width, float(self.mlp_ratio), "mlp_ratio")
        attention: dict[str, Layer] = {
            "q_proj": projection,
            "k_proj": projection,
            "v_proj": projection,
            "o_proj": Dense(sliced, width),
            "relative_position_bias": SwinPositionBias(self.window_size, number),
        }
        layers: dict[str, Layer] = {
            "attention": SwinAttention(attention, window_size=self.window_size, dropout=self.attention_probs_dropout_prob),
            "layernorm_before": norm,
            "layernorm_after": norm,
            "mlp": feed_forward(width, inner, self.hidden_act),
        }
        shift = over(self.window_size, 2) if shifted else 0
        return SwinBlock(layers, window_size=self.window_size, shift=shift, always=self.is_backbone, dropped=self.hidden_dropout_prob)


class SwinBase(Holder):
    """The base model: ``embeddings``, the stages of ``encoder``, ``layernorm``. Maps are (batch, height, width, channels)."""

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> tuple[Value, ...]:
        """The last map, normalised; the first one; and the output of the blocks of every stage."""
        x = own.embeddings(pixel_values, *mask)
        maps = [x]
        for stage in own["encoder.layers"].layer.own_parts:
            path = f"encoder.layers.{stage.name}"
            maps.append(own[f"{path}.blocks"](x))
            x = own[f"{path}.downsample"](maps[-1]) if f"{path}.downsample" in own else maps[-1]
        return own.layernorm(x), *maps


class SwinBlock(Holder):
    """Attention within windows of a map, moved by a ``shift``, and a feed-forward network, each after a norm.

    A map not larger than a window is not shifted, unless windows are ``always`` cut.

    Raises:
        ShapeError: a map that is smaller than a window, to which the reference cannot apply the table of distances.
    """

    _: KW_ONLY
    window_size: Dim
    shift: Count = 0
    always: bool = False
    dropped: float = 0.0

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, height, width, channels), unchanged."""
        x = x + self._windowed(own, own.layernorm_before(x), self._shift(x))
        return x + drop(own.mlp(own.layernorm_after(x)), self.dropped)

    def _shift(self, x: Value) -> Count:
        """Return the shift of a map; a map with symbolic extents counts as larger than a window."""
        extents, window = x.sizes[1:3], self.window_size
        if self.always:
            return self.shift
        if not all(within(window, length) for length in extents):
            raise ShapeError(f"the map is {text(extents)}; wanted at least one window of {window}x{window}.")
        return 0 if self.shift != 0 and any(same(length, window) for length in extents) else self.shift

    def _windowed(self, own: Own, x: Value, shift: Count) -> Value:
        """Fill the map up to whole windows, shift it, attend within each, and go back."""
        window, (batch, high, wide) = self.window_size, x.sizes[:3]
        x = filled(x, (window, window))
        down, across = up_over(high, window), up_over(wide, window)
        x = roll(x, (-shift, -shift), (1, 2)) if shift != 0 else x
        regions: tuple[Value, ...] = ()
        if shift != 0:
            pairs = canonical(window**2)
            apart = constant("swin regions", (canonical(down * across), 1, pairs, pairs), x.sizes[1:3], window, shift)
            regions = (copies(apart, batch, axis=0, tiled=True),)
        y = drop(own.attention(x, *regions), self.dropped)
        y = roll(y, (shift, shift), (1, 2)) if shift != 0 else y
        return take(take(y, 1, 0, high), 2, 0, wide)


class SwinAttention(Holder):
    """Attention within the windows of a map, with the bias of the ``relative_position_bias``; projections of the whole map."""

    _: KW_ONLY
    window_size: Dim
    dropout: float = 0.0

    def forward(self, own: Own, x: Value, *regions: Value) -> Value:
        """(batch, height, width, channels) in whole windows; ``regions`` mask places that are neighbours only by the shift."""
        window, (_, high, wide, _) = self.window_size, x.sizes
        cut = "b (y i) (x j) a d -> (b y x) (i j) a d"
        q, k, v = (rearrange(heads(own[name](x)), cut, i=window, j=window) for name in ("q_proj", "k_proj", "v_proj"))
        near = own.relative_position_bias(q)
        y = attend(q, k, v, bias=near + regions[0] if regions else near, dropout=self.dropout)
        down, across = over(high, window), over(wide, window)
        return own.o_proj(rearrange(y, "(b y x) (i j) c -> b (y i) (x j) c", y=down, x=across, i=window, j=window))


class SwinEmbeddings(Declared):
    """The projection of a patch and its normalisation; a mask token and positions if there are any.

    ``patches`` are the numbers of patches with a position, down and across, or None.

    >>> SwinEmbeddings(4, 3, H).params, SwinEmbeddings(4, 3, H, (56, 56)).params
    (51*H, 3187*H)
    """

    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    embed_dim: Dim
    patches: tuple[Dim, Dim] | None = None
    use_mask_token: bool = False
    dropped: float = 0.0

    def tensors(self) -> Iterator[Tensor]:
        if self.use_mask_token:
            yield Tensor("mask_token", (1, 1, self.embed_dim), role="table")
        if self.patches is not None:
            yield Tensor("position_embeddings", (1, self.patches[0] * self.patches[1], self.embed_dim), role="table")

    def parts(self) -> Iterator[Part]:
        projection = Conv2d(self.num_channels, self.embed_dim, self.patch_size, stride=self.patch_size)
        yield Part("patch_embeddings", Sequential(projection=projection))
        yield Part("norm", LayerNorm(self.embed_dim))

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """Fill the image up to whole patches, project and normalise them: (batch, height, width, channels)."""
        whole = filled(rearrange(pixel_values, "b c h w -> b h w c"), pair(self.patch_size))
        x = own.norm(rearrange(own.patch_embeddings(rearrange(whole, "b h w c -> b c h w")), "b c h w -> b h w c"))
        down, across = x.sizes[1:3]
        if mask:
            row = marked(rearrange(x, "b h w c -> b (h w) c"), own.mask_token, *mask)
            x = rearrange(row, "b (h w) c -> b h w c", h=down, w=across)
        if self.patches is not None:
            x = x + rearrange(own.position_embeddings, "one (h w) c -> one h w c", h=down, w=across)
        return drop(x, self.dropped)


class SwinPositionBias(Declared):
    """A bias per head for every distance between two patches of a window; the index of the distances is in no state dict.

    >>> SwinPositionBias(7, 3).params
    507
    """

    window_size: Dim
    num_heads: Dim

    def tensors(self) -> Iterator[Tensor]:
        window = self.window_size
        yield Tensor("relative_position_bias_table", ((2 * window - 1) * (2 * window - 1), self.num_heads), role="table")
        yield Tensor("relative_position_index", (window**4,), role="statistic", buffer=True, persistent=False)

    def forward(self, own: Own, x: Value) -> Value:
        """The bias of the scores for (windows, places, heads, width): (1, heads, places, places)."""
        index = constant("swin index", (x.sizes[1], x.sizes[1]), self.window_size, self.window_size, kind="index", held=True)
        return rearrange(lookup(own.relative_position_bias_table, index), "q k a -> () a q k")


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Compare the keys for the number of stages; round the image down if positions are stored."""
    stages = len(arguments["depths"])
    said = arguments.pop("num_layers", None)
    if said not in {None, stages}:
        raise ConfigError(f"num_layers is {said}, and depths has {stages} entries; the decoder would not fit the last stage.")
    if arguments["use_absolute_embeddings"]:
        whole_patches(arguments, sizes)
    if exact_ratio(arguments["mlp_ratio"]) is None:  # the inner width is then known only for a number
        arguments["embed_dim"] = sizes.pop(H)
    settle_stages(arguments, stages)
    no_labels(arguments, sizes)


FAMILIES = (
    family(
        "swin",
        Swin,
        defaults={"patch_size": 4},
        arrange=_settle,
        aliases={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
        ignored={
            **IGNORED,
            "drops branches while training": "drop_path_rate",
            "follows from depths and embed_dim": "hidden_size",
            "was never read": "path_norm",
        },
    ),
)
