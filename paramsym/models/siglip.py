"""SigLIP (Zhai et al. 2023, arXiv:2303.15343). Reference: ``transformers.models.siglip`` 5.23, names and shapes of its state dicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY

from paramsym.algebra.size import Dim
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import NotYetError
from paramsym.layers.attention import MultiHeadAttention
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Holder, last_position, tokens
from paramsym.models.family import Nested
from paramsym.models.images import feed_forward, no_labels
from paramsym.models.key_kinds import Flag, Function, Real
from paramsym.models.model import classes, family, key
from paramsym.models.patches import whole_patches
from paramsym.models.towers import PROJECTED, SEEING, ReadingTower, SeeingTower, TwoTowers, inside
from paramsym.program import Own, Value, compact, copies, take


class SiglipText(ReadingTower):
    """SigLIP's tower for text, as the reference stores it.

    The head has ``projection_size`` outputs, H if it is None.

    >>> SiglipText().params
    2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*V + 3*H
    """

    hidden_act: str = key(Function("gelu_pytorch_tanh"))
    projection_size: Dim | None = key(PROJECTED, None, argument=None)
    architecture: str = classes({"Siglip": "TextModel"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-6))

    def tower(self) -> SiglipReading:
        width = self.hidden_size
        layers = {"embeddings": self.embeddings(), "encoder": self.blocks(norm_first=True), "final_layer_norm": self.norm()}
        return SiglipReading({**layers, "head": Dense(width, width if self.projection_size is None else self.projection_size)})

    def forward(self, own: Own, input_ids: Value) -> Value:
        """(batch, positions, width)."""
        x, _ = own[""](tokens(input_ids))
        return x


class SiglipReading(Holder):
    """``embeddings``, ``encoder``, ``final_layer_norm``; and the ``head`` of the last position."""

    def forward(self, own: Own, input_ids: Value) -> tuple[Value, Value]:
        """(batch, positions, width), and (batch, projected width) of the last position."""
        x = own.final_layer_norm(own.encoder(own.embeddings(input_ids)))
        return x, own.head(last_position(x))


class SiglipVision(SeeingTower):
    """SigLIP's tower for images, as the reference class ``architecture`` stores it.

    The head pools by attention; with ``vision_use_head=False`` there is none.

    >>> SiglipVision().part("head").params
    2*F*H + F + 4*H**2 + 8*H
    """

    hidden_act: str = key(Function("gelu_pytorch_tanh"))
    vision_use_head: bool = key(Flag(default=True))
    architecture: str = classes({"Siglip": "VisionModel"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-6))

    def tower(self) -> SiglipSeeing:
        layers: dict[str, Layer] = {"embeddings": self.embeddings(class_token=False), "encoder": self.blocks(norm_first=True)}
        layers["post_layernorm"] = self.norm()
        if self.vision_use_head:
            sizes = (self.hidden_size, self.num_attention_heads, self.intermediate_size, self.hidden_act)
            layers["head"] = SiglipPooling(*sizes, layer_norm_eps=self.layer_norm_eps)
        return SiglipSeeing(layers)

    def forward(self, own: Own, pixel_values: Value) -> Value:
        """(batch, patches, width)."""
        return own[""](self.checked(pixel_values))[0]


class SiglipSeeing(Holder):
    """``embeddings``, ``encoder``, ``post_layernorm``; and the ``head`` that pools, if present."""

    def forward(self, own: Own, pixel_values: Value) -> tuple[Value, ...]:
        """(batch, patches, width), and (batch, width) from the head."""
        x = own.post_layernorm(own.encoder(own.embeddings(pixel_values)))
        return (x, own.head(x)) if "head" in own else (x,)


class SiglipPooling(Declared):
    """Pooling by attention (Lee et al. 2019, section 3.1): one learned probe attends to all patches, then a feed-forward network.

    >>> from paramsym.algebra.symbols import A, F, H
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
        yield Tensor("probe", (1, 1, self.hidden_size))

    def parts(self) -> Iterator[Part]:
        width, inner = self.hidden_size, self.intermediate_size
        yield Part("attention", MultiHeadAttention(width, self.num_attention_heads, batch_first=True, need_weights=True))
        yield Part("layernorm", LayerNorm(width, self.layer_norm_eps))
        yield Part("mlp", feed_forward(width, inner, self.hidden_act))

    def forward(self, own: Own, x: Value) -> Value:
        found = own.attention(compact(copies(own.probe, x.sizes[0], axis=0)), x)
        return take(found + own.mlp(own.layernorm(found)), 1, 0)


_TEXT = family("siglip_text_model", SiglipText)
_VISION = family("siglip_vision_model", SiglipVision, arrange=whole_patches)


class Siglip(TwoTowers):
    """SigLIP: a text tower and an image tower; or the image tower with a classifier.

    ``text_config`` and ``vision_config`` are the towers, as in the reference's configuration; if both are letters, those of the image tower
    are H_v, L_v, A_v and F_v. One number scales the products and one is added to them.

    >>> Siglip().at("google/siglip-base-patch16-224").params
    203155970
    """

    text_config: SiglipText = key(Nested(_TEXT, only=("SiglipModel",)))
    vision_config: SiglipVision = key(Nested(inside(_VISION, SEEING)))
    architecture: str = classes({"Siglip": "Model ForImageClassification"})

    def tensors(self) -> Iterator[Tensor]:
        if self.compares:
            yield Tensor("logit_scale", (1,), role="scale")
            yield Tensor("logit_bias", (1,), role="bias")

    def seen(self, own: Own, images: Value) -> Value:
        """The head's output for an image.

        Raises:
            NotYetError: the model has no pooling head.
        """
        if not self.vision_config.vision_use_head:
            raise NotYetError("vision_use_head is False; SiglipModel compares texts with the head's output for an image; wanted True.")
        return own.vision_model(images)[1]

    def read(self, own: Own, input_ids: Value) -> Value:
        return own.text_model(input_ids)[1]


FAMILIES = (_TEXT, _VISION, family("siglip", Siglip, arrange=no_labels))
