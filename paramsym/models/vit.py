"""The vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929) and DeiT (Touvron et al. 2021, arXiv:2012.12877).

Reference: ``transformers.models.vit`` and ``transformers.models.deit`` 5.23.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import F, H, dims
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.dense import Dense
from paramsym.models.activations import learned
from paramsym.models.blocks import Holder, PreNorm, activation
from paramsym.models.images import feed_forward, on_map
from paramsym.models.key_kinds import Flag, Function, Sizes, left_out
from paramsym.models.model import classes, family, key
from paramsym.models.patches import PatchBase, PatchTransformer, pixels_again, rounded
from paramsym.program import Own, Value, take

POOLED, STRIDE = dims("H_p s")


class Vit(PatchTransformer):
    """ViT, DeiT and their heads, as the reference class ``architecture`` stores them.

    The embeddings have a class token, DeiT's also a distillation token, each with a position; DeiT may have a second classifier for it.
    ``ViTModel`` has a pooler of ``pooler_output_size``, H if it is None.

    Raises:
        ArgumentError: a pooler or mask token for a class in which this is fixed, beside the errors of every model.

    >>> Vit(architecture="ViTForImageClassification").at("google/vit-base-patch16-224").params
    86567656
    >>> Vit().part("embeddings").params
    C*H*K**2 + 3*H + H*W**2/K**2
    """

    intermediate_size: Dim = key(F, 3072)
    qkv_bias: bool = key(Flag(default=True))
    encoder_stride: Dim = key(STRIDE, 16, only=("MaskedImageModeling",), argument=16)
    pooler_output_size: Dim | None = key(POOLED, None, least=0, only=("Model",), argument=None)
    pooler_act: str = key(Function("tanh", only=("Model",)))
    add_pooling_layer: bool = True
    use_mask_token: bool = False
    architecture: str = classes(
        {
            "ViT": "Model ForImageClassification ForMaskedImageModeling",
            "DeiT": "Model ForImageClassification ForImageClassificationWithTeacher ForMaskedImageModeling",
        }
    )

    labelled: ClassVar[tuple[str, ...]] = ("Classification", "WithTeacher")

    def conditions(self) -> None:
        super().conditions()
        if self.task and (not self.add_pooling_layer or self.use_mask_token):
            raise ArgumentError(f"add_pooling_layer and use_mask_token are for the base classes; in {self.architecture} both are fixed.")

    def parts(self) -> Iterator[Part]:
        masked = self.task == "MaskedImageModeling"
        width, distilled = self.hidden_size, self.kind == "DeiT"
        layers: dict[str, Layer] = {
            "embeddings": self.embeddings(use_mask_token=masked or self.use_mask_token, distilled=distilled),
            "layers": Repeat(self.block(), self.num_hidden_layers),
            "layernorm": self.norm(),
        }
        if not self.task and self.add_pooling_layer:
            output = width if self.pooler_output_size is None else self.pooler_output_size
            layers["pooler"] = VitPooler({"dense": Dense(width, output), **learned("activation", self.pooler_act)}, self.pooler_act)
        yield Part(self.base_name, PatchBase(layers))
        if masked:
            yield Part("decoder", pixels_again(width, self.encoder_stride, self.num_channels))
        yield from self.classifier(width, *(("cls_classifier", "distillation_classifier") if self._teacher else ()))

    def block(self) -> PreNorm:
        norm = self.norm()
        layers = {
            "attention": self.attention(bias=self.qkv_bias),
            "layernorm_before": norm,
            "layernorm_after": norm,
            "mlp": feed_forward(self.hidden_size, self.intermediate_size, self.hidden_act),
        }
        rate = self.hidden_dropout_prob
        return PreNorm(layers, names=("layernorm_before", "attention", "layernorm_after", "mlp"), dropped=(rate, rate))

    @property
    def _teacher(self) -> bool:
        return self.architecture.endswith("WithTeacher")

    def forward(self, own: Own, pixel_values: Value, bool_masked_pos: Value | None = None) -> Value:
        """(batch, tokens, width) of the base model, (batch, labels) of a classifier, the reconstructed image of a masked model."""
        x = self.encoded(own, pixel_values, bool_masked_pos)
        if not self.task:
            return x
        if self.task == "MaskedImageModeling":
            down, across = self.patches()
            return own.decoder(on_map(take(x, 1, 2 if self.kind == "DeiT" else 1, down * across), (down, across)))
        first = take(x, 1, 0)
        if "distillation_classifier" in own:
            return (own.cls_classifier(first) + own.distillation_classifier(take(x, 1, 1))) / 2
        if "classifier" in own:
            return own.classifier(first)
        return (first + take(x, 1, 1)) / 2 if self._teacher else first


class VitPooler(Holder):
    """The activated ``dense`` map of the first token."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:
        return activation(own, self.function, own.dense(take(x, 1, 0)), "activation")


def _settle(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Round down where the reference does; a pooled width that is missing or equal to the width is the width."""
    rounded(arguments, sizes)
    left_out(H, pooler_output_size=POOLED)(arguments, sizes)


_IGNORED = {"resizes positions when called, not when stored": "interpolate_pos_encoding"}
FAMILIES = (
    family("vit", Vit, "ViT", arrange=_settle, ignored=_IGNORED),
    family("deit", Vit, "DeiT", arrange=_settle, ignored=_IGNORED),
)
