"""Convolutions and transposed convolutions over one, two and three spatial axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from paramsym import program as ops
from paramsym.algebra.size import Axis, Dim, divides, per, within
from paramsym.core.layer import Tensor
from paramsym.layers.axes import DataFormat, in_front, per_channel, spatial
from paramsym.layers.dialects import Dialect
from paramsym.layers.siblings import Spatial
from paramsym.layers.spatial import Extents, Margin, Padding, PaddingMode, exclude
from paramsym.layers.windowed import Sliding

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class Filtering(Spatial):
    """The base of convolutions: a kernel slides over the spatial axes of (batch, in_channels, *spatial), then a bias is added."""

    in_channels: Dim
    kernel_size: Extents
    stride: Extents
    padding: Padding
    dilation: Extents
    bias: bool
    padding_mode: PaddingMode
    dialect: Any
    data_format: DataFormat | None

    def conditions(self) -> None:
        self._each("kernel_size", "stride", "dilation", "padding")
        super().conditions()

    def _refused(self) -> Iterator[str]:
        if self.dialect == "torch" and self.data_format == "channels_last":
            yield "data_format is 'channels_last', which needs dialect='keras'; torch's convolutions take the channels first."
        if self.dialect == "torch" and self.padding == "same" and any(step != 1 for step in self._each("stride")[0]):
            yield f"padding='same' with stride {self.stride}: torch has no 'same' for strided convolutions; give the padding in numbers."
        if self.dialect == "keras" and self.padding_mode != "zeros":
            yield f"padding_mode is {self.padding_mode!r}; Keras' convolutions pad with zeros."
        if self.padding == "causal" and self.dialect == "torch":
            yield "padding='causal' needs dialect='keras'; in torch write padding=0 and pad on the left before the layer."
        if self.padding == "causal" and not self.may_be_causal:
            yield "padding='causal' is for plain convolutions over one axis, Conv1d."

    @property
    def may_be_causal(self) -> bool:
        """Whether the framework pads this layer on the left alone, if it is asked to."""
        return False

    def forward(self, own: Own, x: Value) -> Value:
        torch = self.dialect == "torch"
        data_format = self.data_format or ("channels_first" if torch else "channels_last")
        x, restored = spatial(x, self.rank, data_format, channels=self.in_channels, batched=not torch)
        y = self._convolved(own, x)
        return restored(y + per_channel(own.bias, self.rank) if self.bias else y)

    def _convolved(self, own: Own, x: Value) -> Value:
        """Return the result for (batch, in_channels, *spatial), without the bias."""
        raise NotImplementedError

    @property
    def _sliding(self) -> Sliding:
        return Sliding.of(self.rank, self.kernel_size, self.stride, self.dilation, self.padding, self.padding_mode, self.dialect)


class _Convolution(Filtering):
    """A kernel per pair of channels within a group, and a bias per output channel."""

    transposed: ClassVar[bool] = False

    out_channels: Dim
    groups: Dim
    transpose_kernel: bool = False

    def tensors(self) -> Iterator[Tensor]:
        (extents,) = self._each("kernel_size")
        wide, narrow = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        grouped: Axis = wide
        if self.groups != 1:
            grouped, narrow = (self.groups, per(wide, self.groups)), per(narrow, self.groups)
        if self.dialect == "torch":
            yield Tensor("weight", (grouped, narrow, *extents))
        else:
            yield Tensor("kernel", (*extents, *((grouped, narrow) if self._turned else (narrow, grouped))))
        if self.bias:
            yield Tensor("bias", (self.out_channels,), role="bias")

    def conditions(self) -> None:
        if self.groups != 1:
            divides(self.groups, self.in_channels, "groups", "in_channels")
            divides(self.groups, self.out_channels, "groups", "out_channels")
        super().conditions()
        if self.dialect == "keras":
            exclude(*self._each("stride", "dilation"))

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if self.dialect != "flax":
            return
        if self.data_format is not None:
            yield f"data_format is {self.data_format!r}; Flax always takes the channels last."
        modes = ("circular",) if self.transposed else ("circular", "reflect")
        if self.padding_mode != "zeros" and (self.padding_mode not in modes or self.padding != "same"):
            yield (
                f"padding_mode is {self.padding_mode!r} with padding {self.padding!r}; for other padding than zeros Flax takes only a name:"
                f" padding='same' with one of {', '.join(map(repr, modes))}."
            )

    @property
    def may_be_causal(self) -> bool:
        return self.rank == 1 and not self.transposed

    def _convolved(self, own: Own, x: Value) -> Value:
        return self._sliding.convolve(x, self._kernel(own, "i o -> o i"), self.groups)

    def _kernel(self, own: Own, stored: str) -> Value:
        """Return the kernel with its channels in front, as torch stores it."""
        return own.weight if self.dialect == "torch" else in_front(own.kernel, self.rank, stored)

    @property
    def _turned(self) -> bool:
        """Whether a transposed convolution stores its kernel like a plain one, with the input channels first."""
        return self.transposed and self.dialect == "flax" and not self.transpose_kernel


@dataclass(frozen=True)
class _Transposed(_Convolution, transposed=True):
    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    stride: Extents = 1
    padding: Padding = 0
    output_padding: Margin | None = 0
    groups: Dim = 1
    bias: bool = True
    dilation: Extents = 1
    padding_mode: PaddingMode = "zeros"
    _: KW_ONLY
    dialect: Dialect = "torch"
    data_format: DataFormat | None = None
    transpose_kernel: bool = False

    def _refused(self) -> Iterator[str]:
        if self.dialect == "torch" and isinstance(self.padding, str):
            yield f"padding is {self.padding!r}; a transposed convolution in torch takes numbers, as in padding=1."
        if self.dialect == "torch" and self.padding_mode != "zeros":
            yield f"padding_mode is {self.padding_mode!r}; a transposed convolution takes only 'zeros'."
        if self.dialect == "torch" and self.output_padding is None:
            yield "output_padding is None, which needs dialect='keras'; torch takes numbers."
        if self.dialect != "torch" and self.groups != 1:
            yield f"groups is {self.groups}; {self.dialect.capitalize()}' transposed convolutions have no groups."
        if self.dialect != "flax" and self.transpose_kernel:
            yield f"transpose_kernel needs dialect='flax'; in {self.dialect} the kernel is always stored that way."
        if self.dialect == "flax" and self.output_padding not in {0, None}:
            yield f"output_padding is {self.output_padding}; Flax has none."
        extras, strides = self._each("output_padding", "stride")  # torch checks them when the layer is called
        if self.dialect == "keras" and not all(
            extra is None or within(extra + 1, stride) for extra, stride in zip(extras, strides, strict=True)
        ):
            yield f"output_padding {self.output_padding} is not less than stride {self.stride}."
        yield from super()._refused()

    def _convolved(self, own: Own, x: Value) -> Value:
        kernel = self._kernel(own, "i o -> i o" if self._turned else "o i -> i o")
        for axis in range(2, 2 + self.rank) if self._turned else ():
            kernel = ops.flip(kernel, axis)
        if self.padding_mode == "circular":
            return self._sliding.spread_around(x, kernel, odd_before=self._turned)
        return self._sliding.spread(x, kernel, None if self.dialect == "flax" else self.output_padding, self.groups)


@dataclass(frozen=True)
class _Plain(_Convolution):
    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    stride: Extents = 1
    padding: Padding = 0
    dilation: Extents = 1
    groups: Dim = 1
    bias: bool = True
    padding_mode: PaddingMode = "zeros"
    _: KW_ONLY
    dialect: Dialect = "torch"
    data_format: DataFormat | None = None


class Conv1d(_Plain, rank=1):
    r"""A convolution over sequences: every output channel has one kernel for each input channel of its group.

    ``weight`` is (out_channels, in_channels/groups, kernel); ``bias``, if present, is (out_channels,). With ``dialect="keras"`` and
    ``"flax"`` the first is ``kernel``, (kernel, in_channels/groups, out_channels). Parameters: out*in/groups*k + out. Stride, padding,
    dilation and padding mode do not change the count; they are the reference's arguments.

    Raises:
        DivisibilityError: groups that do not divide both numbers of channels.
        ArgumentError: a tuple of another length than there are axes; ``padding="same"`` with a stride; an unknown padding mode.

    Reference: ``torch.nn.Conv1d``; Keras: ``Conv1D``; Flax: ``linen.Conv``.

    >>> from paramsym import C, F, K, dims
    >>> Conv1d(C, F, K).params
    C*F*K + F
    >>> Conv1d(C, F, K, groups=dims("g"), bias=False).params
    C*F*K/g
    """


class Conv2d(_Plain, rank=2):
    r"""As ``Conv1d``, over images: ``weight`` is (out_channels, in_channels/groups, height, width).

    Reference: ``torch.nn.Conv2d``; Keras: ``Conv2D``; Flax: ``linen.Conv``. LeCun et al. 1998, section II.A.

    >>> from paramsym import C, F, K
    >>> Conv2d(C, F, K).params, Conv2d(C, F, (1, K), bias=False).params
    (C*F*K**2 + F, C*F*K)
    >>> Conv2d(3, 64, 7, groups=2)
    Traceback (most recent call last):
        ...
    paramsym.errors.DivisibilityError: Conv2d: in_channels 3 is not divisible by groups 2 (3 = 1*2 + 1).
    """


class Conv3d(_Plain, rank=3):
    r"""As ``Conv1d``, over volumes or videos: ``weight`` is (out_channels, in_channels/groups, depth, height, width).

    Reference: ``torch.nn.Conv3d``; Keras: ``Conv3D``; Flax: ``linen.Conv``.

    >>> from paramsym import C, F, K
    >>> Conv3d(C, F, K).params
    C*F*K**3 + F
    """


class ConvTranspose1d(_Transposed, rank=1):
    r"""A transposed convolution over sequences: the gradient of ``Conv1d``, so the channel axes of its kernel are swapped.

    ``weight`` is (in_channels, out_channels/groups, kernel); ``bias``, if present, is (out_channels,). With ``dialect="keras"`` the
    first is ``kernel``, (kernel, out_channels, in_channels), without groups, and so with ``"flax"`` and ``transpose_kernel=True``; by
    default Flax has the input channels first, as in a convolution. Parameters: in*out/groups*k + out.

    Raises:
        DivisibilityError: groups that do not divide both numbers of channels.
        ArgumentError: a tuple of another length than there are axes; a padding mode other than zeros.

    Reference: ``torch.nn.ConvTranspose1d``; Keras: ``Conv1DTranspose``; Flax: ``linen.ConvTranspose``.

    >>> from paramsym import C, F, K
    >>> ConvTranspose1d(C, F, K).params
    C*F*K + F
    """


class ConvTranspose2d(_Transposed, rank=2):
    r"""As ``ConvTranspose1d``, over images: ``weight`` is (in_channels, out_channels/groups, height, width).

    Reference: ``torch.nn.ConvTranspose2d``; Keras: ``Conv2DTranspose``; Flax: ``linen.ConvTranspose``. Zeiler et al. 2010,
    "Deconvolutional networks".

    >>> from paramsym import C, F, K
    >>> ConvTranspose2d(C, F, K).params
    C*F*K**2 + F
    """


class ConvTranspose3d(_Transposed, rank=3):
    r"""As ``ConvTranspose1d``, over volumes: ``weight`` is (in_channels, out_channels/groups, depth, height, width).

    Reference: ``torch.nn.ConvTranspose3d``; Keras: ``Conv3DTranspose``; Flax: ``linen.ConvTranspose``.

    >>> from paramsym import C, F, K
    >>> ConvTranspose3d(C, F, K).params
    C*F*K**3 + F
    """
