"""The vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929) and DeiT (Touvron et al. 2021, arXiv:2012.12877).

Reference: ``transformers.models.vit`` and ``transformers.models.deit`` 5.23.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from sympy import Symbol, floor

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ArgumentError, ConfigError, DivisibilityError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.resampling import PixelShuffle
from paramsym.models.activations import check_activation, learned
from paramsym.models.blocks import Holder, PreNorm, activation
from paramsym.models.family import Family
from paramsym.models.images import Attention, ImageModel, behind, feed_forward, in_row, masked as marked, on_map, pair
from paramsym.models.keys import Flag, Pair, Real, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.program import Own, Value, take
from paramsym.size import Count, Dim, divides
from paramsym.symbols import A, C, D, F, H, K, L, N, W, dims

VitClass = Literal["ViTModel", "ViTForImageClassification", "ViTForMaskedImageModeling"]
DeitClass = Literal["DeiTModel", "DeiTForImageClassification", "DeiTForImageClassificationWithTeacher", "DeiTForMaskedImageModeling"]
_BASES = ("ViTModel", "DeiTModel")
_MASKED = ("ViTForMaskedImageModeling", "DeiTForMaskedImageModeling")
_LABELLED = frozenset({"ViTForImageClassification", "DeiTForImageClassification", "DeiTForImageClassificationWithTeacher"})
_PAPER = "Dosovitskiy et al. 2021, table 1"
IMAGE_HEIGHT, IMAGE_WIDTH, PATCH_HEIGHT, PATCH_WIDTH = dims("W_h W_w K_h K_w")
POOLED, STRIDE = dims("H_p s")


@dataclass(frozen=True)
class Vit(ImageModel):
    """ViT, DeiT and their heads, as the reference class ``architecture`` stores them.

    The arguments are the keys of the reference's configuration. An image of width W is cut into (W/K)**2 patches of K by K pixels in C
    channels; ``image_size`` and ``patch_size`` may each be a pair, height then width. The embeddings store a class token, one position per
    patch and one more, and the projection of a patch; then follow L blocks of 4*H**2 + 2*F*H + 9*H + F, a normalisation, and for
    ``ViTModel`` a pooler of ``pooler_output_size`` (H where it is None). ``head_dim`` is H/A where it is None. ``num_labels`` is N where
    the architecture has labels and no number is given; with 0 the reference stores no classifier. DeiT has a distillation token, whose
    position is one more, and may have a second classifier for it.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the width. The reference drops what is left
            over; the message says which argument does the same.
        ArgumentError: a pooler or mask token asked of a class that decides this itself, or an unknown activation.

    >>> Vit(architecture="ViTForImageClassification").at("google/vit-base-patch16-224", N=1000).params
    86567656
    >>> Vit().part("embeddings").params
    C*H*K**2 + 3*H + H*W**2/K**2
    """

    image_size: Dim | tuple[Dim, Dim] = W
    patch_size: Dim | tuple[Dim, Dim] = K
    num_channels: Dim = C
    hidden_size: Dim = H
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    intermediate_size: Dim = F
    hidden_act: str = "gelu"
    qkv_bias: bool = True
    head_dim: Dim | None = None
    encoder_stride: Dim = 16
    pooler_output_size: Dim | None = None
    pooler_act: str = "tanh"
    num_labels: Count | None = None
    add_pooling_layer: bool = True
    use_mask_token: bool = False
    architecture: Literal[VitClass, DeitClass] = "ViTModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-12

    published, claims = published_in("vit")

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def conditions(self) -> None:
        """Patches divide the image, heads the width; the flags fit the architecture."""
        self._patches()
        self._heads()
        check_activation(self.hidden_act, "hidden_act")
        check_activation(self.pooler_act, "pooler_act")
        if self.architecture not in _BASES and (not self.add_pooling_layer or self.use_mask_token):
            message = f"add_pooling_layer and use_mask_token are for the base classes; {self.architecture} itself decides about both."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """The base model, under ``vit`` or ``deit`` where a head follows, then the head."""
        if self.architecture in _BASES:
            yield Part("", self._base(pooled=self.add_pooling_layer, masked=self.use_mask_token))
            return
        masked = self.architecture in _MASKED
        yield Part("deit" if self._distilled else "vit", self._base(pooled=False, masked=masked))
        if masked:
            pixels = self.encoder_stride * self.encoder_stride * self.num_channels
            yield Part("decoder", Sequential({"0": Conv2d(self.hidden_size, pixels, 1), "1": PixelShuffle(self.encoder_stride)}))
        elif self.num_labels is not None and self.num_labels != 0:
            teacher = self.architecture.endswith("WithTeacher")
            for name in ("cls_classifier", "distillation_classifier") if teacher else ("classifier",):
                yield Part(name, Dense(self.hidden_size, self.num_labels))

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Value:
        """(batch, tokens, width) of the base model, (batch, labels) of a classifier, the image again of a masked model.

        ``bool_masked_pos``, (batch, patches), is 1 where the mask token takes the place of a patch.
        """
        mask = () if bool_masked_pos is None else (bool_masked_pos,)
        x = own[self.own_parts[0].name](self.checked(pixel_values), *mask)
        if self.architecture in _BASES:
            return x
        if self.architecture in _MASKED:
            down, across = self._patches()
            return own.decoder(on_map(take(x, 1, 2 if self._distilled else 1, down * across), (down, across)))
        first = take(x, 1, 0)
        if "distillation_classifier" in own:
            return (own.cls_classifier(first) + own.distillation_classifier(take(x, 1, 1))) / 2
        if "classifier" in own:
            return own.classifier(first)
        return (first + take(x, 1, 1)) / 2 if self.architecture.endswith("WithTeacher") else first

    @property
    def _distilled(self) -> bool:
        return self.architecture.startswith("DeiT")

    def _base(self, *, pooled: bool, masked: bool) -> VitBase:
        width = self.hidden_size
        layers: dict[str, Layer] = {
            "embeddings": VitEmbeddings(
                self._patches(), self.patch_size, self.num_channels, width, use_mask_token=masked, distilled=self._distilled
            ),
            "layers": Repeat(self._layer(), self.num_hidden_layers),
            "layernorm": LayerNorm(width, self.layer_norm_eps),
        }
        if pooled:
            output = width if self.pooler_output_size is None else self.pooler_output_size
            layers["pooler"] = VitPooler({"dense": Dense(width, output), **learned("activation", self.pooler_act)}, self.pooler_act)
        return VitBase(layers)

    def _layer(self) -> PreNorm:
        width, sliced = self.hidden_size, self._heads()
        projection, norm = Dense(width, sliced, bias=self.qkv_bias), LayerNorm(width, self.layer_norm_eps)
        return PreNorm(
            {
                "attention": Attention({"q_proj": projection, "k_proj": projection, "v_proj": projection, "o_proj": Dense(sliced, width)}),
                "layernorm_before": norm,
                "layernorm_after": norm,
                "mlp": feed_forward(width, self.intermediate_size, self.hidden_act),
            },
            names=("layernorm_before", "attention", "layernorm_after", "mlp"),
        )

    def _heads(self) -> tuple[Dim, Dim]:
        heads, width = self.num_attention_heads, self.hidden_size
        if self.head_dim is not None:
            return heads, self.head_dim
        try:
            return heads, divides(heads, width, "num_attention_heads", "hidden_size")
        except DivisibilityError as error:
            numbers = isinstance(heads, int) and isinstance(width, int) and width > heads
            hint = f" Heads of the whole part, as the reference builds them, are head_dim={width // heads}." if numbers else ""
            message = f"{error}{hint}"
            raise DivisibilityError(message) from None

    def _patches(self) -> tuple[Dim, Dim]:
        image, patch = pair(self.image_size), pair(self.patch_size)
        return fitting(image[0], patch[0]), fitting(image[1], patch[1])


@dataclass(frozen=True)
class VitBase(Holder):
    """The base model: ``embeddings``, the blocks ``layers``, ``layernorm``, and a ``pooler`` whose result is not handed on."""

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """(batch, channels, height, width) to (batch, tokens, width)."""
        x = own.layernorm(own.layers(own.embeddings(pixel_values, *mask)))
        if "pooler" in own:
            own.pooler(x)
        return x


@dataclass(frozen=True)
class VitPooler(Holder):
    """The activated ``dense`` map of the first token."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        """(batch, tokens, width) to (batch, pooled width)."""
        return activation(own, self.function, own.dense(take(x, 1, 0)), "activation")


@dataclass(frozen=True)
class VitEmbeddings(Layer):
    """Class token, mask token where there is one, positions, and the projection of a patch.

    ``patches`` are the numbers of patches down and across; a position is stored for each, and one for the class token. A ``distilled``
    model has one token more, and its position.

    >>> VitEmbeddings((14, 14), 16, 3, H).params
    967*H
    """

    patches: tuple[Dim, Dim]
    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    hidden_size: Dim
    use_mask_token: bool = False
    distilled: bool = False

    def tensors(self) -> Iterator[Tensor]:
        """The tokens, then the positions, then the token of distillation."""
        down, across = self.patches
        yield Tensor("cls_token", (1, 1, self.hidden_size), role="table")
        if self.use_mask_token:
            yield Tensor("mask_token", (1, 1, self.hidden_size), role="table")
        yield Tensor("position_embeddings", (1, down * across + (2 if self.distilled else 1), self.hidden_size), role="table")
        if self.distilled:
            yield Tensor("distillation_token", (1, 1, self.hidden_size), role="table")

    def parts(self) -> Iterator[Part]:
        """The projection, a convolution that moves by whole patches."""
        yield Part(
            "patch_embeddings", Sequential(projection=Conv2d(self.num_channels, self.hidden_size, self.patch_size, stride=self.patch_size))
        )

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """Project, put the mask token where the ``mask`` says, put the other tokens in front, add positions."""
        x = in_row(own.patch_embeddings(pixel_values), *self.patches)
        x = marked(x, own.mask_token, *mask) if mask else x
        x = behind(own.distillation_token, x) if self.distilled else x
        return behind(own.cls_token, x) + own.position_embeddings


def fitting(image: Dim, patch: Dim) -> Dim:
    """Return how many patches fit along one direction."""
    try:
        return divides(patch, image, "patch_size", "image_size")
    except DivisibilityError as error:
        numbers = isinstance(image, int) and isinstance(patch, int) and image > patch
        hint = f" The reference drops what is left over, which is image_size={image - image % patch}." if numbers else ""
        message = f"{error}{hint}"
        raise DivisibilityError(message) from None


def whole_patches(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Leave out of the image what no whole patch covers, in the open: floors enter the formula where the sizes do not divide."""
    images: tuple[Symbol, Symbol] = pair(arguments["image_size"])
    patches: tuple[Symbol, Symbol] = pair(arguments["patch_size"])
    for image, patch in zip(images, patches, strict=True):
        if sizes[image] < sizes[patch]:
            message = (
                f"this configuration cannot be built. image_size {sizes[image]} is less than patch_size {sizes[patch]}; not one patch fits."
            )
            raise ConfigError(message)
    if any(sizes[image] % sizes[patch] for image, patch in zip(images, patches, strict=True)):
        covered = tuple(patch * floor(image / patch) for image, patch in zip(images, patches, strict=True))
        arguments["image_size"] = covered if covered[0] != covered[1] else covered[0]


def whole_heads(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Round the width of a head down where the reference does."""
    if arguments["head_dim"] is None and sizes[H] % sizes[A] and sizes[H] > sizes[A]:
        arguments["head_dim"] = floor(H / A)


def _as_the_reference_rounds(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Round down where the reference does; no pooled width, or the width itself, is the width."""
    whole_patches(arguments, sizes)
    whole_heads(arguments, sizes)
    if arguments.get("pooler_output_size") is not None and sizes[POOLED] in {0, sizes[H]}:
        arguments["pooler_output_size"] = None
        del sizes[POOLED]
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


FAMILIES = tuple(
    Family(
        model_type=model_type,
        model=Vit,
        architectures=architectures,
        labelled=_LABELLED.intersection(architectures),
        keys={
            "image_size": Pair(W, (IMAGE_HEIGHT, IMAGE_WIDTH), 224),
            "patch_size": Pair(K, (PATCH_HEIGHT, PATCH_WIDTH), 16),
            "num_channels": Size(C, 3),
            "hidden_size": Size(H, 768),
            "num_hidden_layers": Size(L, 12, least=0),
            "num_attention_heads": Size(A, 12),
            "intermediate_size": Size(F, 3072),
            "hidden_act": Word("gelu"),
            "layer_norm_eps": Real(1e-12),
            "qkv_bias": Flag(default=True),
            "head_dim": Size(D, None),
            "encoder_stride": Size(STRIDE, 16, only=_MASKED),
            "pooler_output_size": Size(POOLED, None, least=0, only=_BASES),
            "pooler_act": Word("tanh", only=_BASES),
        },
        ignored={
            "drops values while training": "hidden_dropout_prob attention_probs_dropout_prob",
            "there is no word table": "tie_word_embeddings",
            "resizes positions when called, not when stored": "interpolate_pos_encoding",
        },
        arrange=_as_the_reference_rounds,
    )
    for model_type, architectures in (("vit", get_args(VitClass)), ("deit", get_args(DeitClass)))
)
