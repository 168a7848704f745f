"""Images cut into patches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, canonical, divides, text
from paramsym.core.layer import Layer, Part
from paramsym.errors import ShapeError
from paramsym.layers.axes import spatial
from paramsym.layers.convolution import Conv2d
from paramsym.layers.spatial import per_axis
from paramsym.program import Own, Value, known, rearrange


@dataclass(frozen=True)
class PatchEmbedding(Layer):
    """A linear map of every square patch of an image to a vector (Dosovitskiy et al. 2021, section 3.1), written as a strided convolution.

    ``projection.weight`` is (hidden_size, num_channels, patch height, patch width); ``projection.bias``, if present,
    (hidden_size,). Parameters: hidden*channels*patch**2 + hidden; the size of the image changes only ``num_patches``. A class token and the
    positions belong to the model. ``name`` renames the projection (``conv_proj`` in torchvision, ``proj`` in timm).

    Raises:
        DivisibilityError: patches that do not tile the image.

    Reference: ``ViTPatchEmbeddings`` of transformers.

    >>> from paramsym import C, H, dims
    >>> p, w = dims("p w")
    >>> patches = PatchEmbedding(H, w, p, C)
    >>> patches.params, patches.num_patches
    (C*H*p**2 + H, w**2/p**2)
    >>> PatchEmbedding(768).params, PatchEmbedding(768).num_patches
    (590592, 196)
    """

    hidden_size: Dim
    image_size: Dim | tuple[Dim, Dim] = 224
    patch_size: Dim | tuple[Dim, Dim] = 16
    num_channels: Dim = 3
    bias: bool = True
    name: str = "projection"

    @property
    def num_patches(self) -> Dim:
        """The number of patches in the image: rows of patches times columns."""
        rows, columns = self._tiles()
        return canonical(rows * columns)

    def conditions(self) -> None:
        self._tiles()

    def parts(self) -> Iterator[Part]:
        patch = per_axis(self.patch_size, 2, "patch_size")
        yield Part(self.name, Conv2d(self.num_channels, self.hidden_size, patch, stride=patch, bias=self.bias))

    def forward(self, own: Own, x: Value) -> Value:
        """The projection of the whole image, flattened to (batch, patches, width)."""
        x, _ = spatial(x, 2, channels=self.num_channels, batched=True)
        if any(map(differ, x.sizes[2:], per_axis(self.image_size, 2, "image_size"))):
            message = f"the image is {text(x.sizes[2:])}; wanted {text(self.image_size)}."
            raise ShapeError(message)
        y = own[self.name](x)
        return rearrange(known(y, *y.shape[:2], *self._tiles()), "b c h w -> b (h w) c")

    def _tiles(self) -> tuple[Dim, Dim]:
        image, patch = per_axis(self.image_size, 2, "image_size"), per_axis(self.patch_size, 2, "patch_size")
        rows, columns = (divides(small, large, "patch_size", "image_size") for small, large in zip(patch, image, strict=True))
        return rows, columns
