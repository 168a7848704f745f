"""Swin (Liu et al. 2021, arXiv:2103.14030). Reference: ``transformers.models.swin`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from paramsym.compose import Sequential
from paramsym.errors import ArgumentError, ConfigError, ShapeError
from paramsym.extents import exact_ratio, over, scaled, up_over
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.resampling import PixelShuffle
from paramsym.models.activations import check_activation
from paramsym.models.backbone import feature_norms, settle_stages, stage_name
from paramsym.models.blocks import Holder, Ladder
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Flag, Listed, Number, Pair, Several, Size, Sizes, Word, numbered
from paramsym.models.images import ImageModel, feed_forward, masked as marked, pair
from paramsym.models.labels import give_labels
from paramsym.models.vit import IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH, STRIDE, fitting, whole_patches
from paramsym.program import Own, Value, attend, constant, copies, heads, lookup, pad, rearrange, reduce, roll, take
from paramsym.size import Count, Dim, canonical, divides, text
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
class Swin(ImageModel):
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
    _: KW_ONLY
    layer_norm_eps: float = 1e-5

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
        base = SwinBase(
            {
                "embeddings": embeddings,
                "encoder": Sequential(layers=Sequential({str(position): stage for position, stage in enumerate(self._stages())})),
                "layernorm": LayerNorm(last, self.layer_norm_eps),
            }
        )
        yield Part("" if self.architecture == "SwinModel" else "swin", base)
        if masked:
            pixels = self.encoder_stride * self.encoder_stride * self.num_channels
            yield Part("decoder", Sequential({"0": Conv2d(last, pixels, 1), "1": PixelShuffle(self.encoder_stride)}))
        elif self.architecture in _BACKBONE:
            widths = (2**position * self.embed_dim for position in range(len(self.depths)))
            yield Part("hidden_states_norms", feature_norms(self.out_features, (self.embed_dim, *widths)))
        elif self.architecture in _LABELLED and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(last, self.num_labels))

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Any:
        """(batch, places, width) of the last stage, (batch, labels), the image again of a masked model, or the maps of a backbone.

        ``bool_masked_pos``, (batch, patches), is 1 where the mask token takes the place of a patch.
        """
        mask = () if bool_masked_pos is None else (bool_masked_pos,)
        images = self.checked(pixel_values, any_size=True)
        x, *maps = own["" if self.architecture == "SwinModel" else "swin"](images, *mask)
        if self.architecture in _BACKBONE:
            norms = ((f"hidden_states_norms.{stage_name(number)}", one) for number, one in enumerate(maps))
            return tuple(rearrange(own[name](one), "b h w c -> b c h w") for name, one in norms if name in own)
        if self.architecture == "SwinForMaskedImageModeling":
            return own.decoder(rearrange(x, "b h w c -> b c h w"))
        if self.architecture == "SwinModel":
            return rearrange(x, "b h w c -> b (h w) c")
        mean = reduce("mean", x, 1, 2)
        return own.classifier(mean) if "classifier" in own else mean

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])

    def _stages(self) -> Iterator[Holder]:
        for position, (depth, number) in enumerate(zip(self.depths, self.num_heads, strict=False)):
            width = 2**position * self.embed_dim
            layers: dict[str, Layer] = {"blocks": Ladder((self._block(width, number), self._block(width, number, shifted=True)), depth)}
            if position < len(self.depths) - 1:
                merging = {"reduction": Dense(4 * width, 2 * width, bias=False), "norm": LayerNorm(4 * width)}
                layers["downsample"] = SwinMerging(merging)
            yield SwinStage(layers)

    def _block(self, width: Dim, number: Dim, *, shifted: bool = False) -> SwinBlock:
        sliced = (number, divides(number, width, "num_heads", "the stage's width"))
        projection, norm = Dense(width, sliced, bias=self.qkv_bias), LayerNorm(width, self.layer_norm_eps)
        inner = scaled(width, float(self.mlp_ratio), "mlp_ratio")
        attention: dict[str, Layer] = {
            "q_proj": projection,
            "k_proj": projection,
            "v_proj": projection,
            "o_proj": Dense(sliced, width),
            "relative_position_bias": SwinPositionBias(self.window_size, number),
        }
        layers: dict[str, Layer] = {
            "attention": SwinAttention(attention, window_size=self.window_size),
            "layernorm_before": norm,
            "layernorm_after": norm,
            "mlp": feed_forward(width, inner, self.hidden_act),
        }
        shift = over(self.window_size, 2) if shifted else 0
        return SwinBlock(layers, window_size=self.window_size, shift=shift, always=self.architecture in _BACKBONE)


@dataclass(frozen=True)
class SwinBase(Holder):
    """The base model: ``embeddings``, the stages of ``encoder``, ``layernorm``. Maps are (batch, height, width, channels)."""

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> tuple[Value, ...]:
        """The last map, normalised; the first one; and what comes out of the blocks of every stage."""
        x = own.embeddings(pixel_values, *mask)
        maps = [x]
        for stage in own["encoder.layers"].layer.own_parts:
            path = f"encoder.layers.{stage.name}"
            maps.append(own[f"{path}.blocks"](x))
            x = own[f"{path}.downsample"](maps[-1]) if f"{path}.downsample" in own else maps[-1]
        return own.layernorm(x), *maps


@dataclass(frozen=True)
class SwinStage(Holder):
    """The ``blocks`` of a stage, and where another stage follows ``downsample``."""

    def forward(self, own: Own, x: Value) -> Value:
        """The map for the next stage."""
        x = own.blocks(x)
        return own.downsample(x) if "downsample" in own else x


@dataclass(frozen=True)
class SwinMerging(Holder):
    """Four neighbours side by side, their ``norm``, and the ``reduction`` of their width by half."""

    def forward(self, own: Own, x: Value) -> Value:
        """Half the extents, rounded up: the map is filled up with zeros."""
        x = filled(x, (2, 2))
        return own.reduction(own.norm(rearrange(x, "b (h y) (w x) c -> b h w (x y c)", y=2, x=2)))


@dataclass(frozen=True)
class SwinBlock(Holder):
    """Attention within windows of a map, which a ``shift`` moves, and a feed-forward network, each behind a norm.

    A map that is no larger than a window is not shifted, unless windows are ``always`` cut.

    Raises:
        ShapeError: a map that is smaller than a window, whose table of distances the reference then cannot apply.
    """

    _: KW_ONLY
    window_size: Dim
    shift: Count = 0
    always: bool = False

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, height, width, channels), as it came."""
        x = x + self._windowed(own, own.layernorm_before(x), self._shift(x))
        return x + own.mlp(own.layernorm_after(x))

    def _shift(self, x: Value) -> Count:
        """Return by how much a map is shifted; one of symbolic extents is taken for one that is larger than a window."""
        extents = [length for length in x.sizes[1:3] if isinstance(length, int)]
        window = self.window_size
        if self.always or not isinstance(window, int) or all(length > window for length in extents):
            return self.shift
        if min(extents) < window:
            message = f"the map is {text(x.sizes[1:3])}; wanted at least one window of {window}x{window}."
            raise ShapeError(message)
        return 0

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
        y = own.attention(x, *regions)
        y = roll(y, (shift, shift), (1, 2)) if shift != 0 else y
        return take(take(y, 1, 0, high), 2, 0, wide)


@dataclass(frozen=True)
class SwinAttention(Holder):
    """Attention within the windows of a map, with the bias of the ``relative_position_bias``; projections see the whole map."""

    _: KW_ONLY
    window_size: Dim

    def forward(self, own: Own, x: Value, *regions: Value) -> Value:
        """(batch, height, width, channels) in whole windows; ``regions`` hide places that a shift has made neighbours."""
        window, (_, high, wide, _) = self.window_size, x.sizes
        cut = "b (y i) (x j) a d -> (b y x) (i j) a d"
        q, k, v = (rearrange(heads(own[name](x)), cut, i=window, j=window) for name in ("q_proj", "k_proj", "v_proj"))
        near = own.relative_position_bias(q)
        y = attend(q, k, v, bias=near + regions[0] if regions else near)
        down, across = over(high, window), over(wide, window)
        return own.o_proj(rearrange(y, "(b y x) (i j) c -> b (y i) (x j) c", y=down, x=across, i=window, j=window))


def filled(x: Value, parts: tuple[Dim, Dim]) -> Value:
    """Return maps (batch, height, width, channels) filled up with zeros to whole numbers of parts."""
    rest = ((0, canonical(size * up_over(length, size) - length)) for length, size in zip(x.sizes[1:3], parts, strict=True))
    return pad(x, (*rest, (0, 0)))


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
        return x if self.patches is None else x + rearrange(own.position_embeddings, "one (h w) c -> one h w c", h=down, w=across)


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

    def forward(self, own: Own, x: Value) -> Value:
        """What is added to the scores of (windows, places, heads, width): (1, heads, places, places)."""
        index = constant("swin index", (x.sizes[1], x.sizes[1]), self.window_size, self.window_size, kind="index", held=True)
        return rearrange(lookup(own.relative_position_bias_table, index), "q k a -> () a q k")


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
            "layer_norm_eps": Number(1e-5),
            "use_absolute_embeddings": Flag(default=False),
            "encoder_stride": Size(STRIDE, 32, only=("SwinForMaskedImageModeling",)),
            "num_layers": Size(STAGES, None, only=("SwinForMaskedImageModeling",)),
            "out_features": Listed(str, only=_BACKBONE),
            "out_indices": Listed(int, only=_BACKBONE),
        },
        aliases={"num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"},
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob drop_path_rate",
            "follows from depths and embed_dim": "hidden_size",
            "was never read": "path_norm",
            "chooses what a backbone returns": "_out_features _out_indices stage_names",
            "there is no word table": "tie_word_embeddings",
        },
        arrange=_as_the_reference_rounds,
    ),
)
