"""DINOv2 (Oquab et al. 2023, arXiv:2304.07193). Reference: ``transformers.models.dinov2`` 5.23, names and shapes of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

from sympy import Rational, floor

from paramsym.algebra.size import Dim, canonical
from paramsym.algebra.symbols import L, dims
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.declared import Declared
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.models.backbone import IGNORED, Backbone, Staged, settle_stages
from paramsym.models.blocks import Gated, Residual
from paramsym.models.images import feed_forward, mean_of_places, on_map, pair, patches_of
from paramsym.models.key_kinds import Flag, Real, Sizes
from paramsym.models.model import classes, family, key
from paramsym.models.patches import PatchBase, PatchTransformer, rounded
from paramsym.program import Own, Value, features, join, take

RATIO = dims("m")


class Dinov2(PatchTransformer, Backbone):
    """DINOv2 and its heads, as the reference class ``architecture`` stores them.

    The embeddings have a class and a mask token; a scale of H ends each sub-layer. The feed-forward network has the width m*H, m =
    ``mlp_ratio``; with ``use_swiglu_ffn`` it has three matrices of two thirds of that, rounded up to a multiple of 8. The classifier reads
    the class token and the mean of the patches, 2*H. A backbone normalises its outputs unless ``apply_layernorm`` is False, and returns
    maps (batch, width, height, width) unless ``reshape_hidden_states`` is False. Images may have any size: the positions are interpolated.

    >>> Dinov2().at("facebook/dinov2-base").params
    86580480
    >>> Dinov2().part("encoder.layer.0").params
    2*H**2*m + 4*H**2 + H*m + 11*H
    """

    mlp_ratio: Dim = key(RATIO, 4)
    qkv_bias: bool = key(Flag(default=True))
    use_swiglu_ffn: bool = key(Flag())
    use_mask_token: bool = key(Flag(default=True))
    architecture: str = classes({"Dinov2": "Model ForImageClassification Backbone"})
    _: KW_ONLY
    layer_norm_eps: float = key(Real(1e-6))
    apply_layernorm: bool = key(Flag(default=True, only=("Backbone",)))
    reshape_hidden_states: bool = key(Flag(default=True, only=("Backbone",)))

    def parts(self) -> Iterator[Part]:
        block, depth = self.block(), self.num_hidden_layers
        layers = {
            "embeddings": self.embeddings(use_mask_token=self.use_mask_token, any_size=True),
            "encoder": Sequential(layer=Staged(block, depth, self.chosen) if self.is_backbone else Repeat(block, depth)),
            "layernorm": self.norm(),
        }
        yield Part(self.base_name, PatchBase(layers, "encoder"))
        yield from self.classifier(2 * self.hidden_size)

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Any:
        """(batch, tokens, width) of the base model, (batch, labels) of a classifier, the maps of a backbone."""
        if self.is_backbone:
            images, mask = self.checked(pixel_values, any_size=True), () if bool_masked_pos is None else (bool_masked_pos,)
            extents = patches_of(images, pair(self.image_size), pair(self.patch_size))
            return tuple(self._map(own, x, extents) for x in own.encoder(own.embeddings(images, *mask)))
        x = self.encoded(own, pixel_values, bool_masked_pos, any_size=True)
        if not self.task:
            return x
        both = join(take(x, 1, 0), mean_of_places(x, 1))
        return own.classifier(both) if "classifier" in own else both

    def _map(self, own: Own, x: Value, extents: tuple[Dim, Dim]) -> Value:
        x = own.layernorm(x) if self.apply_layernorm else x
        return on_map(take(x, 1, 1, canonical(x.sizes[1] - 1)), extents) if self.reshape_hidden_states else x

    def block(self) -> Residual:
        norm, scale = self.norm(), LayerScale(self.hidden_size)
        first = {"norm1": norm, "attention": self.attention(bias=self.qkv_bias), "layer_scale1": scale}
        second = {"norm2": norm, "mlp": self._feed_forward(), "layer_scale2": scale}
        return Residual({**first, **second}, branches=(tuple(first), tuple(second)))

    def _feed_forward(self) -> Layer:
        width, inner = self.hidden_size, self.hidden_size * self.mlp_ratio
        if not self.use_swiglu_ffn:
            return feed_forward(width, inner, self.hidden_act)
        # Two thirds rounded down, then up to a multiple of 8: 8*floor((floor(2*inner/3) + 7)/8), in one floor.
        gated = 8 * floor((2 * inner + 21) * Rational(1, 24))
        return Gated({"gate_proj": Dense(width, gated), "up_proj": Dense(width, gated), "down_proj": Dense(gated, width)}, "silu")


class LayerScale(Declared):
    """The scale of a sub-layer (Touvron et al. 2021): ``lambda1`` (H,).

    >>> from paramsym.algebra.symbols import H
    >>> LayerScale(H).params
    H
    """

    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("lambda1", (self.width,), role="scale")

    def forward(self, own: Own, x: Value) -> Value:
        return features(x, self.width) * own.lambda1


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    rounded(arguments, sizes)
    settle_stages(arguments, sizes[L])


FAMILIES = (
    family(
        "dinov2",
        Dinov2,
        defaults={"patch_size": 14},
        arrange=_settle,
        ignored={**IGNORED, "drops branches while training": "drop_path_rate", "is the initial value of the scales": "layerscale_value"},
    ),
)
