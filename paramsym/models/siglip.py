"""SigLIP (Zhai et al. 2023, arXiv:2303.15343). Reference: ``transformers.models.siglip`` 5.23, names and shapes of its state dicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from paramsym.errors import NotYetError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.attention import MultiHeadAttention
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.activations import check_activation
from paramsym.models.blocks import Holder, last_position, tokens
from paramsym.models.clip import (
    IGNORED,
    PLAIN,
    PROJECTED,
    VISION,
    PatchEmbeddings,
    TextEmbeddings,
    TwoTowers,
    no_labels,
    text_keys,
    tower_blocks,
    unit,
    vision_keys,
    whole_square,
)
from paramsym.models.family import Family, Nested
from paramsym.models.images import ImageModel, feed_forward, mean_of_places
from paramsym.models.keys import Flag, Size
from paramsym.models.labels import give_labels
from paramsym.models.published import published_in
from paramsym.models.vit import fitting
from paramsym.program import Own, Value, apply, contract, copies, rearrange, take
from paramsym.size import Count, Dim, Shape, divides
from paramsym.symbols import A, B, C, F, H, K, L, P, S, V, W

Architecture = Literal["SiglipModel", "SiglipForImageClassification"]
_LABELLED = frozenset({"SiglipForImageClassification"})


@dataclass(frozen=True)
class SiglipText(Layer):
    """SigLIP's tower that reads, as the reference stores it.

    The arguments are the keys of the reference's configuration. Two tables, V words and P positions of H; L blocks of
    4*H**2 + 2*F*H + 9*H + F; a normalisation; and a head of ``projection_size``, which is H where it is None.

    Raises:
        DivisibilityError: heads that do not divide the width.
        ArgumentError: an activation that the reference does not know.

    >>> SiglipText().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*V + 3*H
    """

    vocab_size: Dim = V
    hidden_size: Dim = H
    intermediate_size: Dim = F
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    max_position_embeddings: Dim = P
    hidden_act: str = "gelu_pytorch_tanh"
    projection_size: Dim | None = None
    architecture: Literal["SiglipTextModel"] = "SiglipTextModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-6

    claims = ()

    def conditions(self) -> None:
        """Heads divide the width."""
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The tower."""
        yield Part("", self.tower())

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """The numbers of tokens."""
        return {"input_ids": (B, S)}

    def tower(self) -> SiglipReading:
        """Return embeddings, blocks, normalisation, head."""
        width = self.hidden_size
        return SiglipReading(
            {
                "embeddings": TextEmbeddings(self.vocab_size, self.max_position_embeddings, width),
                "encoder": tower_blocks(self, norm_first=True),
                "final_layer_norm": LayerNorm(width, self.layer_norm_eps),
                "head": Dense(width, width if self.projection_size is None else self.projection_size),
            }
        )

    def forward(self, own: Own, input_ids: Value) -> Value:
        """(batch, positions, width)."""
        x, _ = own[""](tokens(input_ids))
        return x


@dataclass(frozen=True)
class SiglipReading(Holder):
    """``embeddings``, ``encoder``, ``final_layer_norm``; and the ``head`` of the last position."""

    def forward(self, own: Own, input_ids: Value) -> tuple[Value, Value]:
        """(batch, positions, width), and (batch, projected width) of the last position."""
        x = own.final_layer_norm(own.encoder(own.embeddings(input_ids)))
        return x, own.head(last_position(x))


@dataclass(frozen=True)
class SiglipVision(ImageModel):
    """SigLIP's tower that sees, as the reference class ``architecture`` stores it.

    The arguments are the keys of the reference's configuration. An image of width W is cut into (W/K)**2 patches of K by K pixels in C
    channels. The projection of a patch and a position per patch; L blocks of 4*H**2 + 2*F*H + 9*H + F; a normalisation; and a head that
    pools by attention, 4*H**2 + 2*F*H + 8*H + F with its probe, unless ``vision_use_head`` is False.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the width.
        ArgumentError: an activation that the reference does not know.

    >>> SiglipVision().part("head").params
    2*F*H + F + 4*H**2 + 8*H
    """

    hidden_size: Dim = H
    intermediate_size: Dim = F
    num_hidden_layers: Count = L
    num_attention_heads: Dim = A
    num_channels: Dim = C
    image_size: Dim = W
    patch_size: Dim = K
    hidden_act: str = "gelu_pytorch_tanh"
    vision_use_head: bool = True
    architecture: Literal["SiglipVisionModel"] = "SiglipVisionModel"
    _: KW_ONLY
    layer_norm_eps: float = 1e-6

    claims = ()

    def conditions(self) -> None:
        """Patches divide the image, heads the width."""
        fitting(self.image_size, self.patch_size)
        divides(self.num_attention_heads, self.hidden_size, "num_attention_heads", "hidden_size")
        check_activation(self.hidden_act, "hidden_act")

    def parts(self) -> Iterator[Part]:
        """The tower."""
        yield Part("", self.tower())

    def tower(self) -> SiglipSeeing:
        """Return embeddings, blocks, normalisation, head."""
        width, patches = self.hidden_size, fitting(self.image_size, self.patch_size)
        layers: dict[str, Layer] = {
            "embeddings": PatchEmbeddings(patches, self.patch_size, self.num_channels, width, class_token=False),
            "encoder": tower_blocks(self, norm_first=True),
            "post_layernorm": LayerNorm(width, self.layer_norm_eps),
        }
        if self.vision_use_head:
            sizes = (width, self.num_attention_heads, self.intermediate_size, self.hidden_act)
            layers["head"] = SiglipPooling(*sizes, layer_norm_eps=self.layer_norm_eps)
        return SiglipSeeing(layers)

    def forward(self, own: Own, pixel_values: Value) -> Value:
        """(batch, patches, width)."""
        return own[""](self.checked(pixel_values))[0]


@dataclass(frozen=True)
class SiglipSeeing(Holder):
    """``embeddings``, ``encoder``, ``post_layernorm``; and the ``head`` that pools, where there is one."""

    def forward(self, own: Own, pixel_values: Value) -> tuple[Value, ...]:
        """(batch, patches, width), and (batch, width) from the head."""
        x = own.post_layernorm(own.encoder(own.embeddings(pixel_values)))
        return (x, own.head(x)) if "head" in own else (x,)


@dataclass(frozen=True)
class SiglipPooling(Layer):
    """Pooling by attention (Lee et al. 2019, section 3.1): one learned probe asks all patches, then a feed-forward network.

    >>> SiglipPooling(H, A, F).params
    2*F*H + F + 4*H**2 + 8*H
    """

    hidden_size: Dim
    num_attention_heads: Dim
    intermediate_size: Dim
    hidden_act: str = "gelu_pytorch_tanh"
    _: KW_ONLY
    layer_norm_eps: float = 1e-6

    def tensors(self) -> Iterator[Tensor]:
        """The probe."""
        yield Tensor("probe", (1, 1, self.hidden_size))

    def parts(self) -> Iterator[Part]:
        """Attention, normalisation, feed-forward network."""
        width, inner = self.hidden_size, self.intermediate_size
        yield Part("attention", MultiHeadAttention(width, self.num_attention_heads, batch_first=True))
        yield Part("layernorm", LayerNorm(width, self.layer_norm_eps))
        yield Part("mlp", feed_forward(width, inner, self.hidden_act))

    def forward(self, own: Own, x: Value) -> Value:
        """The probe asks, what it finds goes through the network: (batch, patches, width) to (batch, width)."""
        found = own.attention(copies(own.probe, x.sizes[0], axis=0), x)
        return take(found + own.mlp(own.layernorm(found)), 1, 0)


@dataclass(frozen=True)
class Siglip(TwoTowers):
    """SigLIP: a tower that reads and one that sees; or the second with a classifier.

    ``text_config`` and ``vision_config`` are the towers, as in the reference's configuration; where both are letters, those of the tower
    that sees are H_v, L_v, A_v and F_v. One number scales the products and one is added to them. ``num_labels`` is N where the
    architecture has labels and no number is given; with 0 the reference stores no classifier.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide a width.
        ArgumentError: an activation or architecture that the reference does not know.

    >>> Siglip().at("google/siglip-base-patch16-224").params
    203155970
    """

    text_config: SiglipText = SiglipText()
    vision_config: SiglipVision = SiglipVision(VISION[0], VISION[3], VISION[1], VISION[2])
    num_labels: Count | None = None
    architecture: Architecture = "SiglipModel"

    published, claims = published_in("siglip", text_config=SiglipText, vision_config=SiglipVision)

    def __post_init__(self) -> None:
        """Give the labels their letter where there are labels and no number."""
        give_labels(self, _LABELLED)
        super().__post_init__()

    def tensors(self) -> Iterator[Tensor]:
        """What scales the products, and what is added to them."""
        if self.architecture == "SiglipModel":
            yield Tensor("logit_scale", (1,), role="scale")
            yield Tensor("logit_bias", (1,), role="bias")

    def parts(self) -> Iterator[Part]:
        """The towers, or the one that sees and a classifier."""
        if self.architecture == "SiglipModel":
            yield Part("text_model", self.text_config.tower())
        yield Part("vision_model", self.vision_config.tower())
        if self.architecture in _LABELLED and self.num_labels is not None and self.num_labels != 0:
            yield Part("classifier", Dense(self.vision_config.hidden_size, self.num_labels))

    def forward(self, own: Own, input_ids: Value, pixel_values: Value | None = None) -> Any:
        """The products of images with texts, scaled and shifted, and of texts with images; or the scores of labels.

        Raises:
            NotYetError: images that are compared with texts, and no head that pools them.
        """
        if not self.compares:
            x, *_ = own.vision_model(self.images(input_ids, pixel_values))
            return own.classifier(mean_of_places(x, 0)) if "classifier" in own else mean_of_places(x, 0)
        if not self.vision_config.vision_use_head:
            message = "vision_use_head is False; SiglipModel compares texts with what the head makes of an image, and wants one."
            raise NotYetError(message)
        ids, images = self.both(input_ids, pixel_values)
        seen, read = unit(own.vision_model(images)[1]), unit(own.text_model(ids)[1])
        per_text = contract("t p, i p -> t i", read, seen) * apply("exp", own.logit_scale) + own.logit_bias
        return rearrange(per_text, "t i -> i t"), per_text


_TOWER = (768, 12, 12, 3072)
_PROJECTION = {"projection_size": Size(PROJECTED, None)}
_HEAD = {"vision_use_head": Flag(default=True)}
_TEXT = Family(
    "siglip_text_model",
    SiglipText,
    ("SiglipTextModel",),
    {**text_keys(PLAIN, _TOWER, 32000, 64, "gelu_pytorch_tanh", 1e-6), **_PROJECTION},
    ignored=IGNORED,
)
_INSIDE = Family(
    "siglip_vision_model",
    SiglipVision,
    ("SiglipVisionModel",),
    {**vision_keys(VISION, _TOWER, 16, "gelu_pytorch_tanh", 1e-6), **_HEAD},
    ignored=IGNORED,
    arrange=whole_square,
)
FAMILIES = (
    _TEXT,
    Family(
        "siglip_vision_model",
        SiglipVision,
        ("SiglipVisionModel",),
        {**vision_keys(PLAIN, _TOWER, 16, "gelu_pytorch_tanh", 1e-6), **_HEAD},
        ignored=IGNORED,
        arrange=whole_square,
    ),
    Family(
        model_type="siglip",
        model=Siglip,
        architectures=get_args(Architecture),
        labelled=_LABELLED,
        keys={"text_config": Nested(_TEXT, only=("SiglipModel",)), "vision_config": Nested(_INSIDE)},
        ignored={"the output is no word": "tie_word_embeddings"},
        arrange=no_labels,
    ),
)
