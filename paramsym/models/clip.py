"""CLIP (Radford et al. 2021, arXiv:2103.00020). Reference: ``transformers.models.clip`` 5.23, names and shapes of its state dicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import ClassVar

from paramsym.algebra.size import Dim
from paramsym.core.compose import Sequential
from paramsym.core.layer import Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.models.blocks import Holder, at_position, tokens
from paramsym.models.family import Nested
from paramsym.models.images import no_labels
from paramsym.models.key_kinds import Function, Whole
from paramsym.models.model import classes, family, key
from paramsym.models.patches import whole_patches
from paramsym.models.towers import PROJECTED, SEEING, ReadingTower, SeeingTower, TwoTowers, inside
from paramsym.program import Mask, Own, Value, best, compare, constant, take, where

_PROJECTS = "WithProjection"


class ClipText(ReadingTower):
    """CLIP's tower for text, as the reference class ``architecture`` stores it.

    >>> ClipText().params
    2*F*H*L + F*L + 4*H**2*L + 9*H*L + H*P + H*V + 2*H
    """

    hidden_act: str = key(Function("quick_gelu"))
    projection_dim: Dim = key(PROJECTED, 512, only=(_PROJECTS,))
    architecture: str = classes({"CLIP": "TextModel TextModelWithProjection"})
    _: KW_ONLY
    eos_token_id: int | None = key(Whole(49407, least=0))

    def parts(self) -> Iterator[Part]:
        return _projected(self, "text_model", "text_projection")

    def tower(self) -> Sequential:
        return Sequential(embeddings=self.embeddings(), encoder=self.blocks(mask=Mask(causal=True)), final_layer_norm=self.norm())

    def forward(self, own: Own, input_ids: Value) -> Value:
        """(batch, positions, width), or the projection of the token at which each text ends."""
        ids = tokens(input_ids)
        x = own[self.own_parts[0].name](ids)
        return own.text_projection(self.ends(x, ids)) if "text_projection" in own else x

    def ends(self, x: Value, input_ids: Value) -> Value:
        """Return the vector of each text's last token: the first end token, or for ``eos_token_id`` 2 the token with the largest id."""
        if self.eos_token_id is not None and self.eos_token_id != 2:
            ending = compare(input_ids, "equal", self.eos_token_id)
            input_ids = where(ending, constant("full", (1,), 1), 0)
        return at_position(x, best(input_ids, 1)[1])


class ClipVision(SeeingTower):
    """CLIP's tower for images, as the reference class ``architecture`` stores it.

    A class token comes first; a normalisation precedes the blocks, and one follows them.

    >>> ClipVision().part("embeddings").params
    C*H*K**2 + 2*H + H*W**2/K**2
    """

    hidden_act: str = key(Function("quick_gelu"))
    projection_dim: Dim = key(PROJECTED, 512, only=(_PROJECTS,))
    architecture: str = classes({"CLIP": "VisionModel VisionModelWithProjection"})

    def parts(self) -> Iterator[Part]:
        return _projected(self, "vision_model", "visual_projection")

    def tower(self) -> ClipSeeing:
        layers = {"embeddings": self.embeddings(class_token=True), "pre_layrnorm": self.norm(), "encoder": self.blocks()}
        return ClipSeeing({**layers, "post_layernorm": self.norm()})

    def forward(self, own: Own, pixel_values: Value) -> Value:
        """(batch, tokens, width), or the projection of the class token."""
        x, pooled = own[self.own_parts[0].name](self.checked(pixel_values))
        return own.visual_projection(pooled) if "visual_projection" in own else x


def _projected(model: ClipText | ClipVision, name: str, projection: str) -> Iterator[Part]:
    projects = model.architecture.endswith(_PROJECTS)
    yield Part(name if projects else "", model.tower())
    if projects:
        yield Part(projection, Dense(model.hidden_size, model.projection_dim, bias=False))


class ClipSeeing(Holder):
    """``embeddings``, ``pre_layrnorm``, ``encoder``; and ``post_layernorm`` of the class token."""

    def forward(self, own: Own, pixel_values: Value) -> tuple[Value, Value]:
        """(batch, tokens, width), and (batch, width) of the class token."""
        x = own.encoder(own.pre_layrnorm(own.embeddings(pixel_values)))
        return x, own.post_layernorm(take(x, 1, 0))


_NARROW = {"vocab_size": 49408, "max_position_embeddings": 77, "hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 2048}
_TEXT = family("clip_text_model", ClipText, defaults=_NARROW)
_VISION = family("clip_vision_model", ClipVision, defaults={"patch_size": 32}, arrange=whole_patches)
_READS = Nested(inside(_TEXT, overruled="projection_dim"), overruled_by="text_config_dict", only=("CLIPModel",))
_SEES = Nested(inside(_VISION, SEEING, "projection_dim"), overruled_by="vision_config_dict")


class Clip(TwoTowers):
    """CLIP: a text tower and an image tower, both projected to one space; or the image tower with a classifier.

    ``text_config`` and ``vision_config`` are the towers, as in the reference's configuration; where both are letters, those of the image
    tower are H_v, L_v, A_v and F_v. Two projections have no bias, and one number scales the products.

    >>> Clip().at("openai/clip-vit-base-patch32").params
    151277313
    """

    text_config: ClipText = key(_READS)
    vision_config: ClipVision = key(_SEES)
    projection_dim: Dim = key(PROJECTED, 512, only=("CLIPModel",))
    architecture: str = classes({"CLIP": "Model ForImageClassification"})

    first_place: ClassVar[int] = 1  # after the class token
    by_power: ClassVar[bool] = True

    def tensors(self) -> Iterator[Tensor]:
        if self.compares:
            yield Tensor("logit_scale", (), role="scale")

    def parts(self) -> Iterator[Part]:
        yield from super().parts()
        if self.compares:
            yield Part("visual_projection", Dense(self.vision_config.hidden_size, self.projection_dim, bias=False))
            yield Part("text_projection", Dense(self.text_config.hidden_size, self.projection_dim, bias=False))

    def seen(self, own: Own, images: Value) -> Value:
        return own.visual_projection(own.vision_model(images)[1])

    def read(self, own: Own, input_ids: Value) -> Value:
        return own.text_projection(self.text_config.ends(own.text_model(input_ids), input_ids))


FAMILIES = (_TEXT, _VISION, family("clip", Clip, arrange=no_labels, ignored={"is where the scale begins": "logit_scale_init_value"}))
