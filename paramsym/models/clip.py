"""CLIP (Radford et al. 2021, arXiv:2103.00020). Reference: ``transformers.models.clip`` 5.23, names and shapes of its state dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from sympy import Symbol, floor

from paramsym.compose import Aside, Block, Flow, InTurn, Repeat, Sequential
from paramsym.errors import ConfigError, ShapeError
from paramsym.extents import View
from paramsym.flow import Step, applied, each_input, together
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.embedding import Embedding
from paramsym.layers.normalization import LayerNorm
from paramsym.layers.position import LearnedPositions
from paramsym.layers.stream import Stream
from paramsym.models.activations import check_activation, learned
from paramsym.models.bart import attention
from paramsym.models.between import ImageModel, OneOfEach, PatchTokens, TokenModel
from paramsym.models.claims import RECALLED, Claim
from paramsym.models.family import Family, Key, Nested, Size, Sizes, Word
from paramsym.models.labels import give_labels
from paramsym.models.vit import fitting
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, C, F, H, K, L, N, P, V, W, dims

TextClass = Literal["CLIPTextModel", "CLIPTextModelWithProjection"]
VisionClass = Literal["CLIPVisionModel", "CLIPVisionModelWithProjection"]
Architecture = Literal["CLIPModel", "CLIPForImageClassification"]
_LABELLED = frozenset({"CLIPForImageClassification"})
VISION = dims("H_v L_v A_v F_v")
"""Width, depth, heads and feed-forward width of the tower that sees, where another reads."""
PLAIN = (H, L, A, F)
PROJECTED = dims("H_p")


def tower_block(width: Dim, heads: Dim, inner: Dim, hidden_act: str, *, norm_first: bool = False) -> Stream:
    """Return a block of CLIP's or SigLIP's towers; they differ in the order in which they store their parts.

    >>> tower_block(H, A, F, "gelu").params
    2*F*H + F + 4*H**2 + 9*H
    """
    norm, attends = LayerNorm(width), attention(width, heads)
    mlp = Block(**learned("activation_fn", hidden_act), fc1=Dense(width, inner), fc2=Dense(inner, width))
    if norm_first:
        return Stream(width, Block(layer_norm1=norm, self_attn=attends, layer_norm2=norm, mlp=mlp))
    return Stream(width, Block(self_attn=attends, layer_norm1=norm, mlp=mlp, layer_norm2=norm))


class TwoTowers(InTurn):
    """A tower that reads and one that sees, and the products of what they make of texts and images; or the second with a classifier.

    (batch, positions) of the texts and (batch, channels, height, width) of the images go in; what comes out are the scores of each image
    for each text, (images, texts), and the same as (texts, images). The classifier is given the images alone.
    """

    architecture: Any  # each family's own words

    @property
    def takes_several(self) -> bool:
        """Texts and images."""
        return self.architecture.endswith("Model")

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The tower that sees, the mean of its tokens, the classifier."""
        (name, tower), *classifier = ((part.name, part.layer) for part in self.own_parts)
        yield from ((name, tower), ("mean", OneOfEach()), *classifier)

    def output_shape(self, input_shape: Shape) -> Shape:
        """The scores, or those of the labels."""
        if not self.takes_several:
            return super().output_shape(input_shape)
        texts, images = self._both(input_shape)
        list(self.applications(input_shape))
        return together((images[0], texts[0]), (texts[0], images[0]))

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Either tower and its projection, where there is one."""
        if not self.takes_several:
            yield from super().applications(input_shape)
            return
        texts, images = self._both(input_shape)
        parts = self.named()
        for tower, given, projection in (("text_model", texts, "text_projection"), ("vision_model", images, "visual_projection")):
            left = applied(tower, parts[tower], given)
            yield Step(tower, parts[tower], given, left)
            if projection in parts:
                arrived = OneOfEach().output_shape(left)
                yield Step(projection, parts[projection], arrived, applied(projection, parts[projection], arrived))

    def views(self) -> tuple[View, ...]:
        """Attention sees everything, as the blocks of a tower say."""
        return self.own_parts[0].layer.views()

    def uses(self, input_shape: Shape) -> Mapping[str, Dim]:
        """Scale and shift of the products are used for every text that an image is compared with."""
        texts, _ = self._both(input_shape)
        return {tensor.name: 1 if texts[0] is None else texts[0] for tensor in self.own_tensors}

    def _both(self, input_shape: Shape) -> tuple[Shape, Shape]:
        found = each_input(input_shape)
        if len(found) != 2:
            message = "wanted two shapes, (batch, positions) of the texts and (batch, channels, height, width) of the images; found one."
            raise ShapeError(message)
        return found[0], found[1]


@dataclass(frozen=True)
class TextEmbeddings(InTurn):
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
        yield Part("position_embedding", LearnedPositions(self.max_position_embeddings, self.hidden_size))


@dataclass(frozen=True)
class PatchEmbeddings(PatchTokens):
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
        yield Part("position_embedding", LearnedPositions(self._positions, self.hidden_size))

    @property
    def extra(self) -> int:  # type: ignore[override]
        """The class token, where there is one."""
        return 1 if self.class_token else 0

    @property
    def _positions(self) -> Dim:
        return self.patches * self.patches + self.extra


@dataclass(frozen=True)
class ClipText(TokenModel):
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

    claims: ClassVar[tuple[Claim, ...]] = ()

    def conditions(self) -> None:
        """Heads divide the width."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The tower, under ``text_model`` where a projection follows."""
        width = self.hidden_size
        block = tower_block(width, self.num_attention_heads, self.intermediate_size, self.hidden_act)
        tower = Sequential(
            embeddings=TextEmbeddings(self.vocab_size, self.max_position_embeddings, width),
            encoder=Sequential(layers=Repeat(block, self.num_hidden_layers)),
            final_layer_norm=LayerNorm(width),
        )
        projects = self.architecture == "CLIPTextModelWithProjection"
        yield Part("text_model" if projects else "", tower)
        if projects:
            yield Part("text_projection", Dense(width, self.projection_dim, bias=False))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The tower, and the projection of its last token."""
        (name, tower), *projection = ((part.name, part.layer) for part in self.own_parts)
        yield from ((name, tower), ("last", OneOfEach()), *projection) if projection else ((name, tower),)


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

    claims: ClassVar[tuple[Claim, ...]] = ()

    def conditions(self) -> None:
        """Patches divide the image, heads the width."""
        fitting(self.image_size, self.patch_size)
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The tower, under ``vision_model`` where a projection follows."""
        width = self.hidden_size
        block = tower_block(width, self.num_attention_heads, self.intermediate_size, self.hidden_act)
        norm = LayerNorm(width)
        layers = {
            "embeddings": PatchEmbeddings(fitting(self.image_size, self.patch_size), self.patch_size, self.num_channels, width),
            "pre_layrnorm": norm,
            "encoder": Sequential(layers=Repeat(block, self.num_hidden_layers)),
            "post_layernorm": norm,
        }
        tower = Flow(layers, "embeddings", "pre_layrnorm", "encoder", ("post_layernorm", Aside(norm, OneOfEach())))
        projects = self.architecture == "CLIPVisionModelWithProjection"
        yield Part("vision_model" if projects else "", tower)
        if projects:
            yield Part("visual_projection", Dense(width, self.projection_dim, bias=False))

    def sequence(self) -> Iterator[tuple[str, Layer]]:
        """The tower, and the projection of its first token."""
        (name, tower), *projection = ((part.name, part.layer) for part in self.own_parts)
        yield from ((name, tower), ("first", OneOfEach()), *projection) if projection else ((name, tower),)


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
            yield Part("text_model", self.text_config)
            yield Part("vision_model", self.vision_config)
            yield Part("visual_projection", Dense(seen, self.projection_dim, bias=False))
            yield Part("text_projection", Dense(self.text_config.hidden_size, self.projection_dim, bias=False))
            return
        yield Part("vision_model", self.vision_config)
        if self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(seen, self.num_labels))


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


def text_keys(letters: Letters, defaults: tuple[int, int, int, int], words: int, positions: int, act: str) -> Mapping[str, Key]:
    """Return the keys of a tower that reads; ``defaults`` in the order of ``letters``: width, depth, heads, feed-forward width."""
    return {"vocab_size": Size(V, words), **tower_keys(letters, defaults, act), "max_position_embeddings": Size(P, positions)}


def vision_keys(letters: Letters, defaults: tuple[int, int, int, int], patch: int, act: str) -> Mapping[str, Key]:
    """Return the keys of a tower that sees."""
    return {**tower_keys(letters, defaults, act), "num_channels": Size(C, 3), "image_size": Size(W, 224), "patch_size": Size(K, patch)}


def tower_keys(letters: Letters, defaults: tuple[int, int, int, int], act: str) -> Mapping[str, Key]:
    """Return the keys that every tower has."""
    width, depth, heads, inner = letters
    return {
        "hidden_size": Size(width, defaults[0]),
        "num_hidden_layers": Size(depth, defaults[1], least=0),
        "num_attention_heads": Size(heads, defaults[2]),
        "intermediate_size": Size(inner, defaults[3]),
        "hidden_act": Word(act),
    }


IGNORED = {
    "drops values while training": "attention_dropout dropout",
    "keeps a quotient finite": "layer_norm_eps",
    "the output is no word": "tie_word_embeddings",
}
_INSIDE = {**IGNORED, "is overruled by the projection of the whole": "projection_dim"}
_TEXT, _VISION = (512, 12, 8, 2048), (768, 12, 12, 3072)
_ONE_TEXT = {"projection_dim": Size(PROJECTED, 512, only=("CLIPTextModelWithProjection",))}
_ONE_VISION = {"projection_dim": Size(PROJECTED, 512, only=("CLIPVisionModelWithProjection",))}

TEXT = Family(
    "clip_text_model", ClipText, get_args(TextClass), {**text_keys(PLAIN, _TEXT, 49408, 77, "quick_gelu"), **_ONE_TEXT}, ignored=IGNORED
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
                    text_keys(PLAIN, _TEXT, 49408, 77, "quick_gelu"),
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
