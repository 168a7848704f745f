"""The vision transformer as torchvision stores it. Reference: ``torchvision.models.vision_transformer``; ``Vit`` is transformers'."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paramsym.algebra.size import Dim, Shape, canonical, divides
from paramsym.algebra.symbols import A, B, F, H, K, L, N, W
from paramsym.atlas.published import published_in
from paramsym.core.compose import Repeat, Sequential
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.layers.activation import Tanh
from paramsym.layers.attention import MultiHeadAttention
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.normalization import LayerNorm
from paramsym.models.blocks import Holder, Residual
from paramsym.models.images import behind, in_row
from paramsym.models.vision.blocks import Coloured, check_extents, mlp, named, remembered
from paramsym.program import Own, Value, take

_EPS = 1e-6


@named
@dataclass(frozen=True)
class VisionTransformer(Coloured):
    """Patches of an image as tokens, a class token before them, and layers of a transformer's encoder with norms first.

    Sizes that are not given are letters: side W of the image and K of a patch, L layers, A heads, width H, inner width F, N classes.
    ``representation_size`` puts a matrix and a tanh before the classifier.

    Raises:
        DivisibilityError: patches that do not divide the image, heads that do not divide the hidden size.
        ArgumentError: an unknown name.

    Source: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.1 and table 1.

    >>> VisionTransformer("vit_b_16").params, VisionTransformer().at("vit_h_14").params
    (86567656, 632045800)
    >>> VisionTransformer().part("encoder.layers.encoder_layer_0").params
    2*F*H + F + 4*H**2 + 9*H
    """

    image_size: Dim = W
    patch_size: Dim = K
    num_layers: Dim = L
    num_heads: Dim = A
    hidden_dim: Dim = H
    mlp_dim: Dim = F
    dropout: float = 0.0
    attention_dropout: float = 0.0
    num_classes: Dim = N
    representation_size: Dim | None = None

    published, claims = published_in("vision.vision_transformer")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Images of the size for which positions are stored."""
        return {"x": (B, self.in_channels, self.image_size, self.image_size)}

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("class_token", (1, 1, self.hidden_dim), role="table")

    def parts(self) -> Iterator[Part]:
        width, settings = self.hidden_dim, (self.num_heads, self.mlp_dim, self.attention_dropout)
        places = canonical(divides(self.patch_size, self.image_size, "patch_size", "image_size") ** 2 + 1)
        yield Part("conv_proj", Conv2d(self.in_channels, width, self.patch_size, stride=self.patch_size))
        layers = Repeat(_layer(width, *settings), self.num_layers, name="encoder_layer_{}")
        yield Part("encoder", _Encoder({"layers": layers, "ln": LayerNorm(width, _EPS)}, (places, width)))
        wide = self.representation_size
        more: dict[str, Layer] = {} if wide is None else {"pre_logits": Dense(width, wide), "act": Tanh()}
        yield Part("heads", Sequential({**more, "head": Dense(width if wide is None else wide, self.num_classes)}))

    def forward(self, own: Own, x: Value) -> Value:
        x = self.seen(x)
        check_extents(x.sizes[2:], (self.image_size,) * 2, "the image is {}; wanted {}, for which there are positions.")
        patches = divides(self.patch_size, self.image_size, "patch_size", "image_size")
        return own.heads(take(own.encoder(behind(own.class_token, in_row(own.conv_proj(x), patches, patches))), 1, 0))


class _Encoder(Holder):
    """Positions, the ``layers``, and a last norm ``ln``; ``shape`` is (positions, width)."""

    shape: tuple[Dim, Dim]

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("pos_embedding", (1, *self.shape), role="table")

    def forward(self, own: Own, x: Value) -> Value:
        return own.ln(own.layers(x + own.pos_embedding))


@remembered
def _layer(width: Dim, heads: Dim, inner: Dim, dropout: float) -> Residual:
    # Reference: EncoderBlock.
    norm, attention = LayerNorm(width, _EPS), MultiHeadAttention(width, heads, dropout, batch_first=True)
    layers = {"ln_1": norm, "self_attention": attention, "ln_2": norm, "mlp": mlp(width, inner)}
    return Residual(layers, branches=(("ln_1", "self_attention"), ("ln_2", "mlp")))
