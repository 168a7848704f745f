"""Images cut into patches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, divides, product, text
from paramsym.core.layer import Part
from paramsym.errors import ShapeError
from paramsym.layers.axes import spatial
from paramsym.layers.convolution import Conv2d
from paramsym.layers.siblings import Spatial

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class PatchEmbedding(Spatial, rank=2):
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
        """The number of patches in the image."""
        return product(self._tiles())

    def conditions(self) -> None:
        self._tiles()

    def parts(self) -> Iterator[Part]:
        (patch,) = self._each("patch_size")
        yield Part(self.name, Conv2d(self.num_channels, self.hidden_size, patch, stride=patch, bias=self.bias))

    def forward(self, own: Own, x: Value) -> Value:
        x, _ = spatial(x, 2, channels=self.num_channels, batched=True)
        if any(map(differ, x.sizes[2:], self._each("image_size")[0])):
            raise ShapeError(f"the image is {text(x.sizes[2:])}; wanted {text(self.image_size)}.")
        y = own[self.name](x)
        return ops.rearrange(ops.known(y, *y.shape[:2], *self._tiles()), "b c h w -> b (h w) c")

    def _tiles(self) -> tuple[Dim, ...]:
        """Return the numbers of rows and columns of patches."""
        patch, image = self._each("patch_size", "image_size")
        return tuple(divides(small, large, "patch_size", "image_size") for small, large in zip(patch, image, strict=True))
