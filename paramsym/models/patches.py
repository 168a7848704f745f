"""Models that cut images into patches: the number of patches, their tokens and positions, and transformers over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Any

from sympy import Symbol, floor

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Count, Dim, Shape, canonical, divides, text
from paramsym.algebra.symbols import A, B, C, D, H, K, L, W, dims
from paramsym.core.compose import Sequential
from paramsym.core.declared import Declared
from paramsym.core.layer import Part, Tensor
from paramsym.errors import ConfigError, DivisibilityError, ShapeError
from paramsym.layers.axes import spatial
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.layers.resampling import PixelShuffle
from paramsym.models.blocks import Attention, Holder
from paramsym.models.images import Classifying, behind, fitted, in_row, masked, no_labels, pair, patches_of
from paramsym.models.key_kinds import Function, Pair, Real, Sizes
from paramsym.models.model import key
from paramsym.program import Own, Value, drop, rearrange


class PatchModel(Classifying):
    """A model that cuts images of width W into (W/K)**2 patches of K by K pixels, abstract.

    ``image_size`` and ``patch_size`` may each be a pair, height then width.

    Raises:
        DivisibilityError: patches that do not divide the image, or heads that do not divide the hidden size. The reference drops the rest;
            the message names the argument that gives the same.
    """

    image_size: Dim | tuple[Dim, Dim] = key(Pair(W, dims("W_h W_w"), 224))
    patch_size: Dim | tuple[Dim, Dim] = key(Pair(K, dims("K_h K_w"), 16))
    num_channels: Dim = key(C, 3)

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"pixel_values": (B, self.num_channels, *pair(self.image_size))}

    def checked(self, pixel_values: Value, *, any_size: bool = False) -> Value:
        """Return the images, after a check of their axes.

        Raises:
            ShapeError: other axes or channels, or another size, unless ``any_size`` is set.
        """
        x, _ = spatial(pixel_values, 2, channels=self.num_channels, batched=True)
        if not any_size and any(map(differ, x.sizes[2:], pair(self.image_size))):
            raise ShapeError(f"the image is {text(x.sizes[2:])}; wanted {text(self.image_size)}.")
        return x

    def encoded(self, own: Own, pixel_values: Value, mask: Value | None, *, any_size: bool = False) -> Any:
        """Return the output of the base model; ``mask``, (batch, patches), is 1 if the mask token replaces the patch."""
        return own[self.base_name](self.checked(pixel_values, any_size=any_size), *(() if mask is None else (mask,)))

    def patches(self) -> tuple[Dim, Dim]:
        """Return the numbers of patches down and across.

        Raises:
            DivisibilityError: patches that do not divide the image. The reference drops the rest; the message says which
                argument does the same.
        """
        (height, width), (down, across) = pair(self.image_size), pair(self.patch_size)
        return _fitting(height, down), _fitting(width, across)


def _fitting(image: Dim, patch: Dim) -> Dim:
    try:
        return divides(patch, image, "patch_size", "image_size")
    except DivisibilityError as error:
        numbers = isinstance(image, int) and isinstance(patch, int) and image > patch
        hint = f" The reference drops the rest, which is image_size={image - image % patch}." if numbers else ""
        raise DivisibilityError(f"{error}{hint}") from None


class PatchTransformer(PatchModel):
    """A transformer over the patches of an image, abstract; ``head_dim`` is H/A if it is None."""

    hidden_size: Dim = key(H, 768)
    num_hidden_layers: Count = key(L, 12, least=0)
    num_attention_heads: Dim = key(A, 12)
    _: KW_ONLY
    hidden_act: str = key(Function("gelu"))
    head_dim: Dim | None = key(D, None, argument=None)
    layer_norm_eps: float = key(Real(1e-12))
    hidden_dropout_prob: float = key(Real(0.0))
    attention_probs_dropout_prob: float = key(Real(0.0))

    def conditions(self) -> None:
        super().conditions()
        self.patches()
        self.head_width()

    def head_width(self) -> Dim:
        """Return the width of a head; if heads do not divide the hidden size, the error says how the reference rounds."""
        try:
            return super().head_width()
        except DivisibilityError as error:
            heads, width = self.num_attention_heads, self.hidden_size
            numbers = isinstance(heads, int) and isinstance(width, int) and width > heads
            hint = f" The reference rounds down to head_dim={width // heads}." if numbers else ""
            raise DivisibilityError(f"{error}{hint}") from None

    def embeddings(self, **flags: Any) -> Embeddings:
        """Return the tokens, the positions and the projection of a patch."""
        sizes = (self.patches(), self.patch_size, self.num_channels, self.hidden_size)
        return Embeddings(*sizes, dropped=self.hidden_dropout_prob, **flags)

    def attention(self, *, bias: bool = True, key_bias: bool = True) -> Attention:
        """Return the four matrices of attention; ``bias`` is that of queries, keys and values."""
        width, sliced = self.hidden_size, (self.num_attention_heads, self.head_width())
        inward = Dense(width, sliced, bias)
        layers = {"q_proj": inward, "k_proj": inward if key_bias else Dense(width, sliced, bias=False), "v_proj": inward}
        return Attention({**layers, "o_proj": Dense(sliced, width)}, dropout=self.attention_probs_dropout_prob)


class Embeddings(Declared):
    """The class token; optionally mask token, positions and distillation token; the projection of a patch.

    ``patches`` are the numbers of patches down and across. With ``located`` each patch has a position, and each other token except the mask
    token. With ``any_size``, as in DINOv2, images of another size have interpolated positions, and the mask token is stored without the
    axis of positions.

    >>> Embeddings((14, 14), 16, 3, H).params, Embeddings((14, 14), 16, 3, H, located=False).params
    (967*H, 770*H)
    """

    patches: tuple[Dim, Dim]
    patch_size: Dim | tuple[Dim, Dim]
    num_channels: Dim
    hidden_size: Dim
    use_mask_token: bool = False
    located: bool = True
    distilled: bool = False
    any_size: bool = False
    dropped: float = 0.0

    def tensors(self) -> Iterator[Tensor]:
        (down, across), width = self.patches, self.hidden_size
        yield Tensor("cls_token", (1, 1, width), role="table")
        if self.use_mask_token:
            yield Tensor("mask_token", (1, width) if self.any_size else (1, 1, width), role="table")
        if self.located:
            yield Tensor("position_embeddings", (1, down * across + (2 if self.distilled else 1), width), role="table")
        if self.distilled:
            yield Tensor("distillation_token", (1, 1, width), role="table")

    def parts(self) -> Iterator[Part]:
        projection = Conv2d(self.num_channels, self.hidden_size, self.patch_size, stride=self.patch_size)
        yield Part("patch_embeddings", Sequential(projection=projection))

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        found, positions = self.patches, own.position_embeddings if self.located else None
        if self.any_size and positions is not None:
            (down, across), (high, wide) = self.patches, pair(self.patch_size)
            found = patches_of(pixel_values, (canonical(down * high), canonical(across * wide)), (high, wide))
            positions = fitted(positions, 2 if self.distilled else 1, self.patches, found)
        x = in_row(own.patch_embeddings(pixel_values), *found)
        if mask:
            x = masked(x, rearrange(own.mask_token, "one h -> one () h") if self.any_size else own.mask_token, *mask)
        x = behind(own.cls_token, behind(own.distillation_token, x) if self.distilled else x)
        return drop(x if positions is None else x + positions, self.dropped)


class PatchBase(Holder):
    """The base model: ``embeddings``, the ``blocks``, ``layernorm``, and a ``pooler`` whose result is not used, if present."""

    blocks: str = "layers"

    def forward(self, own: Own, pixel_values: Value, *mask: Value) -> Value:
        """(batch, channels, height, width) to (batch, tokens, width)."""
        x = own.layernorm(own[self.blocks](own.embeddings(pixel_values, *mask)))
        if "pooler" in own:
            own.pooler(x)
        return x


def pixels_again(width: Dim, stride: Dim, channels: Dim) -> Sequential:
    """Return the layers that turn a map of vectors into an image, ``stride`` pixels of each vector in both directions.

    >>> from paramsym.algebra.symbols import C
    >>> pixels_again(H, 16, C).params
    256*C*H + 256*C
    """
    return Sequential({"0": Conv2d(width, stride * stride * channels, 1), "1": PixelShuffle(stride)})


def whole_patches(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Round the image down to whole patches explicitly: the formula gets floors if the sizes do not divide."""
    images: tuple[Symbol, Symbol] = pair(arguments["image_size"])
    patches: tuple[Symbol, Symbol] = pair(arguments["patch_size"])
    for image, patch in zip(images, patches, strict=True):
        if sizes[image] < sizes[patch]:
            raise ConfigError(f"this configuration cannot be built. image_size {sizes[image]} is less than patch_size {sizes[patch]}.")
    if any(sizes[image] % sizes[patch] for image, patch in zip(images, patches, strict=True)):
        covered = tuple(patch * floor(image / patch) for image, patch in zip(images, patches, strict=True))
        arguments["image_size"] = covered if covered[0] != covered[1] else covered[0]


def rounded(arguments: dict[str, Any], sizes: Sizes) -> None:
    """Round down the patches of an image and the head size as in the reference; without labels there is no classifier."""
    whole_patches(arguments, sizes)
    if arguments["head_dim"] is None and sizes[H] % sizes[A] and sizes[H] > sizes[A]:
        arguments["head_dim"] = floor(H / A)
    no_labels(arguments, sizes)
