"""CLIP (Radford et al. 2021, arXiv:2103.00020). Reference: ``transformers.models.clip`` 5.23, names and shapes of its state dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, get_args

from sympy import Symbol, floor

from paramsym.compose import Repeat, Sequential
from paramsym.errors import ConfigError, ShapeError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Holder, PreNorm, tokens
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.decoder import OptionalWhole
from paramsym.models.family import Family, Key, Nested, Number, Size, Sizes, Word
from paramsym.models.images import Attention, ImageModel, behind, feed_forward, in_row, mean_of_places
from paramsym.models.labels import give_labels
from paramsym.models.vit import fitting
from paramsym.program import ALL, Mask, Own, Value, apply, best, compare, constant, contract, copies, pick, rearrange, reduce, take, where
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, B, C, F, H, K, L, N, P, S, V, W, dims

TextClass = Literal["CLIPTextModel", "CLIPTextModelWithProjection"]
VisionClass = Literal["CLIPVisionModel", "CLIPVisionModelWithProjection"]
Architecture = Literal["CLIPModel", "CLIPForImageClassification"]
_LABELLED = frozenset({"CLIPForImageClassification"})
VISION = dims("H_v L_v A_v F_v")
"""Width, depth, heads and feed-forward width of the tower that sees, where another reads."""
PLAIN = (H, L, A, F)
PROJECTED = dims("H_p")


def tower_blocks(config: Any, *, norm_first: bool = False, mask: Mask = ALL) -> Sequential:
    """Return the blocks of a tower, CLIP's or SigLIP's; they differ in the order in which they store their parts.

    >>> tower_blocks(ClipText()).params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L
    """
    width, heads = config.hidden_size, config.num_attention_heads
    norm, sliced = LayerNorm(width, config.layer_norm_eps), (heads, divides(heads, width, "num_attention_heads", "hidden_size"))
    inward = Dense(width, sliced)
    layers = {"k_proj": inward, "v_proj": inward, "q_proj": inward, "out_proj": Dense(sliced, width)}
    parts: dict[str, Layer] = {
        "self_attn": Attention(layers, output="out_proj", mask=mask),
        "layer_norm1": norm,
        "mlp": feed_forward(width, config.intermediate_size, config.hidden_act),
        "layer_norm2": norm,
    }
    order = ("layer_norm1", "self_attn", "layer_norm2", "mlp")
    block = PreNorm({name: parts[name] for name in order} if norm_first else parts, names=order)
    return Sequential(layers=Repeat(block, config.num_hidden_layers))


class TwoTowers(Layer):
    """A tower that reads and one that sees, and the products of what they make of texts and images; or the second with a classifier.

    (batch, positions) of the texts and (batch, channels, height, width) of the images go in; what comes out are the scores of each image
    for each text, (images, texts), and the same as (texts, images). The classifier is given the images alone.
    """

    architecture: Any  # each family's own words
    text_config: Any
    vision_config: Any

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The texts and the images, each as many as there are; a classifier has the images alone."""
        (name, seen), *_ = self.vision_config.inputs.items()
        return {"input_ids": (B, S), name: (dims("B_v"), *seen[1:])} if self.compares else {name: seen}

    @property
    def compares(self) -> bool:
        """Whether texts are compared with images."""
        return bool(self.architecture.endswith("Model"))

    def both(self, input_ids: Value, pixel_values: Value | None) -> tuple[Value, Value]:
        """Return the texts and the images, after a check.

        Raises:
            ShapeError: one of them is missing.
        """
        if pixel_values is None:
            message = "wanted two shapes, (batch, positions) of the texts and (batch, channels, height, width) of the images; found one."
            raise ShapeError(message)
        return tokens(input_ids), self.vision_config.checked(pixel_values)

    def images(self, only: Value, other: Value | None) -> Value:
        """Return the images that a classifier is given, after a check.

        Raises:
            ShapeError: texts beside them.
        """
        if other is not None:
            message = f"wanted one shape, (batch, channels, height, width) of the images; {self.architecture} reads no texts."
            raise ShapeError(message)
        checked: Value = self.vision_config.checked(only)
        return checked


def unit(x: Value) -> Value:
    """Return vectors divided by their length."""
    return x / apply("sqrt", reduce("sum", x * x, -1, keep=True))


@dataclass(frozen=True)
class TextEmbeddings(Layer):
    """Word and position tables: (V + P)*H. The index buffer is in no state dict.

    >>> TextEmbeddings(V, P, H).params
    H*P + H*V
    """

    vocab_size: Dim
    max_position_embeddings: Dim
    hidden_size: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The indices of positions, which the reference computes and does not save."""
        yield Tensor("position_ids", (1, self.max_position_embeddings), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """Two tables."""
        yield Part("token_embedding", Embedding(self.vocab_size, self.hidden_size))
        yield Part("position_embedding", LearnedPositions(self.max_position_embeddings, self.hidden_size, counted="buffer"))

    def forward(self, own: Own, input_ids: Value) -> Value:
        """A row for every token, and one for its position."""
        return own.position_embedding(own.token_embedding(input_ids))


@dataclass(frozen=True)
class PatchEmbeddings(Layer):
    """The projection of a patch and a position per patch; ``class_token`` is one more vector with a position, and there is no bias then.

    ``patches`` is their number along one side. The index buffer is in no state dict.

    >>> PatchEmbeddings(7, 32, 3, H).params, PatchEmbeddings(7, 32, 3, H, class_token=False).params
    (3123*H, 3122*H)
    """

    patches: Dim
    patch_size: Dim
    num_channels: Dim
    hidden_size: Dim
    class_token: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The class token, and the indices of positions, which the reference computes and does not save."""
        if self.class_token:
            yield Tensor("class_embedding", (self.hidden_size,), role="table")
        yield Tensor("position_ids", (1, self._positions), role="statistic", buffer=True, persistent=False)

    def parts(self) -> Iterator[Part]:
        """The projection, a convolution that moves by whole patches, then the positions."""
        patch = self.patch_size
        projection = Conv2d(self.num_channels, self.hidden_size, patch, stride=patch, bias=not self.class_token)
        yield Part("patch_embedding", projection)
        yield Part("position_embedding", LearnedPositions(self._positions, self.hidden_size, counted="buffer"))

    def forward(self, own: Own, pixel_values: Value) -> Value:
        """Project, put the class token in front, add positions."""
        x = in_row(own.patch_embedding(pixel_values), self.patches, self.patches)
        if self.class_token:
            x = behind(rearrange(own.class_embedding, "h -> () () h"), x)
        return own.position_embedding(x)

    @property
    def _positions(self) -> Dim:
        return self.patches * self.patches + (1 if self.class_token else 0)


@dataclass(frozen=True)
class ClipText(Layer):
    """CLIP's tower that reads, as the reference class ``architecture`` stores it.

    The arguments are the keys of the reference's configuration. Two tables, V words and P positions of H; L blocks of
    4*H**2 + 2*F*H + 9*H + F; a normalisation; and, with projection, H*H_p.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> ClipText().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 2*H
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    intermediate_size: Dim = F
    projection_dim: Dim = PROJECTED
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    max_position_embeddings: Dim = P
    hidden_act: str = "quick_gelu"
    architecture: TextClass = "CLIPTextModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-5
    eos_token_id: int | None = 49407

    claims: ClassVar[tuple[Claim, ...]] = ()

    def conditions(self) -> None:
        """Heads divide the width."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The tower, under ``text_model`` where a projection follows."""
        projects = self.architecture == "CLIPTextModelWithProjection"
        yield Part("text_model" if projects else "", self.tower())
        if projects:
            yield Part("text_projection", Dense(self.hidden_size, self.projection_dim, bias=False))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The numbers of tokens."""
        return {"input_ids": (B, S)}

    def tower(self) -> Sequential:
        """Return the tables, the blocks and the normalisation."""
        return Sequential(
            embeddings=TextEmbeddings(self.vocab_size, self.max_position_embeddings, self.hidden_size),
            encoder=tower_blocks(self, mask=Mask(causal=True)),
            final_layer_norm=LayerNorm(self.hidden_size, self.layer_norm_eps),
        )

    def forward(self, own: Own, input_ids: Value) -> Value:
        """(batch, positions, width), or the projection of the token at which each text ends."""
        ids = tokens(input_ids)
        x = own[self.own_parts[0].name](ids)
        return own.text_projection(self.ends(x, ids)) if "text_projection" in own else x

    def ends(self, x: Value, input_ids: Value) -> Value:
        """Return the vector of the token that ends each text: the first of its kind, or of the greatest number for ``eos_token_id`` 2."""
        if self.eos_token_id is not None and self.eos_token_id != 2:
            ending = compare(input_ids, "equal", self.eos_token_id)
            input_ids = where(ending, constant("full", (1,), 1), 0)
        _, position = best(input_ids, 1)
        index = copies(rearrange(position, "b one -> b () one"), x.sizes[2], axis=1)
        return take(pick(rearrange(x, "b s h -> b h s"), index), 2, 0)


@dataclass(frozen=True)
class ClipVision(ImageModel):
    """CLIP's tower that sees, as the reference class ``architecture`` stores it.

    The arguments are the keys of the reference's configuration. An image of width W is cut into (W/K)**2 patches of K by K pixels in C
    channels. A class token, the projection of a patch without bias, a position per patch and one more; L blocks of
    4*H**2 + 2*F*H + 9*H + F; a normalisation before them and one after; and, with projection, H*H_p.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> ClipVision().part("embeddings").params
    C*H*K**2 + 2*H + H*W**2/K**2
    """

    hidden_size: Dim = H
    intermediate_size: Dim = F
    projection_dim: Dim = PROJECTED
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_channels: Dim = C
    image_size: Dim = W
    patch_size: Dim = K
    hidden_act: str = "quick_gelu"
    architecture: VisionClass = "CLIPVisionModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-5

    claims: ClassVar[tuple[Claim, ...]] = ()

    def conditions(self) -> None:
        """Patches divide the image, heads the width."""
        fitting(self.image_size, self.patch_size)
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The tower, under ``vision_model`` where a projection follows."""
        projects = self.architecture == "CLIPVisionModelWithProjection"
        yield Part("vision_model" if projects else "", self.tower())
        if projects:
            yield Part("visual_projection", Dense(self.hidden_size, self.projection_dim, bias=False))

    def tower(self) -> ClipSeeing:
        """Return the embeddings, the blocks, and the normalisations around them."""
        width, patches = self.hidden_size, fitting(self.image_size, self.patch_size)
        norm = LayerNorm(width, self.layer_norm_eps)
        return ClipSeeing(
            {
                "embeddings": PatchEmbeddings(patches, self.patch_size, self.num_channels, width),
                "pre_layrnorm": norm,
                "encoder": tower_blocks(self),
                "post_layernorm": norm,
            }
        )

    def forward(self, own: Own, pixel_values: Value) -> Value:
        """(batch, tokens, width), or the projection of the class token."""
        x, pooled = own[self.own_parts[0].name](self.checked(pixel_values))
        return own.visual_projection(pooled) if "visual_projection" in own else x


@dataclass(frozen=True)
class ClipSeeing(Holder):
    """``embeddings``, ``pre_layrnorm``, ``encoder``; and ``post_layernorm`` of the class token."""

    def forward(self, own: Own, pixel_values: Value) -> tuple[Value, Value]:
        """(batch, tokens, width), and (batch, width) of the class token."""
        x = own.encoder(own.pre_layrnorm(own.embeddings(pixel_values)))
        return x, own.post_layernorm(take(x, 1, 0))


def _size(text: int, text_layers: int, vision: int, layers: int, patch: int, projected: int, image: int = 224) -> dict[str, Any]:
    """All published sizes have heads of 64, but for the largest tower that sees: its heads have 80, and its activation is another."""
    largest = vision == 1280
    act = "gelu" if largest else "quick_gelu"
    heads = vision // (80 if largest else 64)
    return {
        "text_config": ClipText(49408, text, 4 * text, projected, text_layers, text // 64, 77, hidden_act=act),
        "vision_config": ClipVision(vision, 4 * vision, projected, layers, heads, 3, image, patch, hidden_act=act),
        "projection_dim": projected,
    }


@dataclass(frozen=True)
class Clip(TwoTowers):
    """CLIP: a tower that reads and one that sees, both projected to one space; or the second with a classifier.

    ``text_config`` and ``vision_config`` are the towers, as in the reference's configuration; where both are letters, those of the tower
    that sees are H_v, L_v, A_v and F_v. Two projections without bias, H*H_p and H_v*H_p, and the one number that scales the products.
    ``num_labels`` is N where the architecture has labels and no number is given; with 0 the reference stores no classifier.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide a width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Clip().at("openai/clip-vit-base-patch32").params
    151277313
    """

    text_config: ClipText = ClipText()
    vision_config: ClipVision = ClipVision(VISION[0], VISION[3], PROJECTED, VISION[1], VISION[2])
    projection_dim: Dim = PROJECTED
    num_labels: Count | None = None
    architecture: Architecture = "CLIPModel"

    published: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "openai/clip-vit-base-patch32": _size(512, 12, 768, 12, 32, 512),
        "openai/clip-vit-base-patch16": _size(512, 12, 768, 12, 16, 512),
        "openai/clip-vit-large-patch14": _size(768, 12, 1024, 24, 14, 768),
        "openai/clip-vit-large-patch14-336": _size(768, 12, 1024, 24, 14, 768, 336),
        "laion/CLIP-ViT-H-14-laion2B-s32B-b79K": _size(1024, 24, 1280, 32, 14, 1024),
    }
    claims: ClassVar[tuple[Claim, ...]] = (
        Claim("openai/clip-vit-base-patch32", 151_277_313, RECALLED, counts="CLIPModel"),
        Claim("openai/clip-vit-base-patch16", 149_620_737, RECALLED, counts="CLIPModel"),
        Claim("openai/clip-vit-large-patch14", 427_616_513, RECALLED, counts="CLIPModel"),
        Claim("openai/clip-vit-large-patch14-336", 427_944_193, RECALLED, counts="CLIPModel"),
        Claim("laion/CLIP-ViT-H-14-laion2B-s32B-b79K", 986_109_441, RECALLED, counts="CLIPModel"),
    )

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def tensors(self) -> Iterator[Tensor]:
        """The scale of the products."""
        if self.architecture == "CLIPModel":
            yield Tensor("logit_scale", (), role="scale")

    def parts(self) -> Iterator[Part]:
        """The towers and their projections, or the one that sees and a classifier."""
        seen = self.vision_config.hidden_size
        if self.architecture == "CLIPModel":
            yield Part("text_model", self.text_config.tower())
            yield Part("vision_model", self.vision_config.tower())
            yield Part("visual_projection", Dense(seen, self.projection_dim, bias=False))
            yield Part("text_projection", Dense(self.text_config.hidden_size, self.projection_dim, bias=False))
            return
        yield Part("vision_model", self.vision_config.tower())
        if self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(seen, self.num_labels))

    def forward(self, own: Own, input_ids: Value, pixel_values: Value | None = None) -> Any:
        """The scaled products of images with texts, and of texts with images; or the scores of labels, from the mean of the patches."""
        if not self.compares:
            x, _ = own.vision_model(self.images(input_ids, pixel_values))
            return own.classifier(mean_of_places(x, 1)) if "classifier" in own else mean_of_places(x, 1)
        ids, images = self.both(input_ids, pixel_values)
        seen = unit(own.visual_projection(own.vision_model(images)[1]))
        read = unit(own.text_projection(self.text_config.ends(own.text_model(ids), ids)))
        per_text = contract("t p, i p -> t i", read, seen) * apply("exp", own.logit_scale)
        return rearrange(per_text, "t i -> i t"), per_text


def whole_square(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Leave out of the image what no whole patch covers, as the reference does: a floor enters the formula."""
    image, patch = sizes[W], sizes[K]
    if image < patch:
        message = f"this configuration cannot be built. image_size {image} is less than patch_size {patch}; not one patch fits."
        raise ConfigError(message)
    if image % patch:
        arguments["image_size"] = K * floor(W / K)


def no_labels(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Without labels the reference stores no classifier."""
    if sizes.get(N) == 0:
        arguments["num_labels"] = sizes.pop(N)


Letters = tuple[Symbol, Symbol, Symbol, Symbol]


def text_keys(
    letters: Letters, defaults: tuple[int, int, int, int], words: int, positions: int, act: str, eps: float = 1e-5
) -> Mapping[str, Key]:
    """Return the keys of a tower that reads; ``defaults`` in the order of ``letters``: width, depth, heads, feed-forward width."""
    return {"vocab_size": Size(V, words), **tower_keys(letters, defaults, act, eps), "max_position_embeddings": Size(P, positions)}


def vision_keys(letters: Letters, defaults: tuple[int, int, int, int], patch: int, act: str, eps: float = 1e-5) -> Mapping[str, Key]:
    """Return the keys of a tower that sees."""
    return {**tower_keys(letters, defaults, act, eps), "num_channels": Size(C, 3), "image_size": Size(W, 224), "patch_size": Size(K, patch)}


def tower_keys(letters: Letters, defaults: tuple[int, int, int, int], act: str, eps: float) -> Mapping[str, Key]:
    """Return the keys that every tower has."""
    width, depth, heads, inner = letters
    return {
        "hidden_size": Size(width, defaults[0]),
        "num_hidden_layers": Size(depth, defaults[1], least=0),
        "num_attention_heads": Size(heads, defaults[2]),
        "intermediate_size": Size(inner, defaults[3]),
        "hidden_act": Word(act),
        "layer_norm_eps": Number(eps),
    }


IGNORED = {
    "drops values while training": "attention_dropout dropout",
    "the output is no word": "tie_word_embeddings",
}
_INSIDE = {**IGNORED, "is overruled by the projection of the whole": "projection_dim"}
_ENDS = {"eos_token_id": OptionalWhole(49407, least=0)}
_TEXT, _VISION = (512, 12, 8, 2048), (768, 12, 12, 3072)
_ONE_TEXT = {"projection_dim": Size(PROJECTED, 512, only=("CLIPTextModelWithProjection",))}
_ONE_VISION = {"projection_dim": Size(PROJECTED, 512, only=("CLIPVisionModelWithProjection",))}

TEXT = Family(
    "clip_text_model",
    ClipText,
    get_args(TextClass),
    {**text_keys(PLAIN, _TEXT, 49408, 77, "quick_gelu"), **_ENDS, **_ONE_TEXT},
    ignored=IGNORED,
)
SEES = Family(
    "clip_vision_model",
    ClipVision,
    get_args(VisionClass),
    {**vision_keys(PLAIN, _VISION, 32, "quick_gelu"), **_ONE_VISION},
    ignored=IGNORED,
    arrange=whole_square,
)
FAMILIES = (
    TEXT,
    SEES,
    Family(
        model_type="clip",
        model=Clip,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={
            "text_config": Nested(
                Family(
                    "clip_text_model",
                    ClipText,
                    get_args(TextClass),
                    {**text_keys(PLAIN, _TEXT, 49408, 77, "quick_gelu"), **_ENDS},
                    ignored=_INSIDE,
                ),
                only=("CLIPModel",),
                overruled_by="text_config_dict",
            ),
            "vision_config": Nested(
                Family(
                    "clip_vision_model",
                    ClipVision,
                    get_args(VisionClass),
                    vision_keys(VISION, _VISION, 32, "quick_gelu"),
                    ignored=_INSIDE,
                    arrange=whole_square,
                ),
                overruled_by="vision_config_dict",
            ),
            "projection_dim": Size(PROJECTED, 512, only=("CLIPModel",)),
        },
        ignored={
            "is where the scale begins": "logit_scale_init_value",
            "the output is no word": "tie_word_embeddings",
        },
        arrange=no_labels,
    ),
)
