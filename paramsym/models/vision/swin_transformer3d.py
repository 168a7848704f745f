"""Video Swin. Reference: ``torchvision.models.video.swin_transformer``; names, shapes and order are those of its state dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Block
from paramsym.core.layer import Part
from paramsym.layers.convolution import Conv3d
from paramsym.layers.normalization import LayerNorm
from paramsym.models.images import filled
from paramsym.models.vision.blocks import Videos, named
from paramsym.models.vision.swin_transformer import SwinStages
from paramsym.program import Own, Value, rearrange, reduce

_WINDOW: tuple[Dim, Dim, Dim] = dims("w_1 w_2 w_3")


@named
@dataclass(frozen=True)
class SwinTransformer3d(SwinStages, Videos):
    """Swin for videos: attention within windows of frames, rows and columns, shifted in every second block.

    ``patch_size`` and ``window_size`` are frames, height and width. If a video is not longer than a window along an axis, the window
    shrinks to it. Between the stages four neighbours of a frame become one position; the number of frames stays. Sizes that are not given
    are letters.

    Raises:
        DivisibilityError: heads that do not divide the hidden size of their stage.
        ArgumentError: another number of heads than of depths, or an unknown name.

    Source: Liu et al. 2022, "Video Swin Transformer", section 3.

    >>> SwinTransformer3d("swin3d_t").params
    28158070
    >>> SwinTransformer3d(window_size=(8, 7, 7)).part("features.0.0.attn").params
    2535*A_1 + 4*H**2 + 4*H
    """

    patch_size: tuple[Dim, Dim, Dim] = (2, 4, 4)
    window_size: tuple[Dim, Dim, Dim] = _WINDOW

    published, claims = published_in("vision.swin_transformer3d")

    def parts(self) -> Iterator[Part]:
        width = self.embed_dim
        projection = Conv3d(self.in_channels, width, self.patch_size, stride=self.patch_size)
        yield Part("patch_embed", Block(proj=projection, norm=LayerNorm(width)))
        yield from self.stages(self.window_size)

    def forward(self, own: Own, x: Value) -> Value:
        x = filled(rearrange(self.seen(x), "b c t h w -> b t h w c"), self.patch_size)
        x = own["patch_embed.proj"](rearrange(x, "b t h w c -> b c t h w"))
        x = own.features(own["patch_embed.norm"](rearrange(x, "b c t h w -> b t h w c")))
        return own.head(reduce("mean", own.norm(x), 1, 2, 3))
