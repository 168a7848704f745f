"""A low-rank update around a convolution, as Keras stores it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.errors import ArgumentError, StructureError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.convolution import Conv1d, Conv2d, Conv3d
from paramsym.layers.spatial import per_axis
from paramsym.size import Dim, per


@dataclass(frozen=True)
class _Update(Layer):
    """The two factors of the update."""

    conv: Layer
    rank: Dim

    def tensors(self) -> Iterator[Tensor]:
        """From the kernel's window to the rank, and from the rank to the filters."""
        conv = self.conv
        assert isinstance(conv, Conv1d | Conv2d | Conv3d)  # noqa: S101 - for the type checker; ConvLoRA lets nothing else in
        window = per_axis(conv.kernel_size, conv.rank, "kernel_size")
        inputs = conv.in_channels if conv.groups == 1 else per(conv.in_channels, conv.groups)
        yield Tensor("lora_kernel_a", (*window, inputs, self.rank))
        yield Tensor("lora_kernel_b", (self.rank, conv.out_channels))


@dataclass(frozen=True)
class ConvLoRA(Layer):
    r"""A convolution whose kernel is frozen and gets a low-rank update.

    The convolution's own tensors, ``kernel`` frozen, then ``lora_kernel_a`` (window, in_channels/groups, rank) and ``lora_kernel_b`` (rank,
    out_channels). Trained parameters: r*(k*in/groups + out), and the bias.

    Raises:
        ArgumentError: around anything but a convolution.
        StructureError: around a convolution of another dialect than Keras'.

    Reference: Keras: ``Conv2D(..., lora_rank=r)``. Hu et al. 2021.

    >>> from paramsym import C, F, K, R
    >>> ConvLoRA(Conv2d(C, F, K, bias=False, dialect="keras"), R).trainable
    C*K**2*R + F*R
    """

    conv: Layer
    rank: Dim

    def conditions(self) -> None:
        """Only Keras' convolutions have a low-rank update."""
        if not isinstance(self.conv, Conv1d | Conv2d | Conv3d):
            message = f"conv is {self.conv!r}; wanted a Conv1d, Conv2d or Conv3d."
            raise ArgumentError(message)
        if self.conv.dialect != "keras":
            message = "the convolution is torch's; a low-rank update of a kernel is Keras' (dialect='keras')."
            raise StructureError(message)

    def parts(self) -> Iterator[Part]:
        """The convolution with its kernel frozen, then the update."""
        yield Part("", self.conv.freeze("kernel"))
        yield Part("", _Update(self.conv, self.rank))
