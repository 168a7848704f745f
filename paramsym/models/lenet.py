"""LeNet-5 as printed in 1998, as taught today, and in the variant of a well-known C++ program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from paramsym.algebra.size import Count, Dim, Shape, canonical, cat, equal, within
from paramsym.algebra.symbols import B
from paramsym.atlas.published import published_in
from paramsym.core.declared import Declared
from paramsym.core.layer import Part, Tensor
from paramsym.errors import ArgumentError, SizeError
from paramsym.layers.axes import per_channel, spatial
from paramsym.layers.convolution import Conv2d
from paramsym.layers.dense import Dense
from paramsym.models.vision.blocks import Pictures
from paramsym.models.vision.widths import down
from paramsym.program import Own, Value, apply, convolve, copies, features, join, pool, rearrange, reduce, segments, take

C3_TABLE = (
    (0, 1, 2),
    (1, 2, 3),
    (2, 3, 4),
    (3, 4, 5),
    (0, 4, 5),
    (0, 1, 5),
    (0, 1, 2, 3),
    (1, 2, 3, 4),
    (2, 3, 4, 5),
    (0, 3, 4, 5),
    (0, 1, 4, 5),
    (0, 1, 2, 5),
    (0, 1, 3, 4),
    (1, 2, 4, 5),
    (0, 2, 3, 5),
    (0, 1, 2, 3, 4, 5),
)
"""The maps of S2, of six, that each of the sixteen maps of C3 reads: the columns of Table I in LeCun et al. 1998, 60 connections."""

_MAPS_BEFORE_C3 = 6
_IMAGE = {"1998": 32, "modern": 32, "oneill": 29}
_, CLAIMS = published_in("lenet")
"""Published counts; ``name`` is the variant."""


@dataclass(frozen=True)
class LeNet5(Pictures):
    """LeNet-5 for square images; ``variant`` chooses one of the networks with this name.

    - *1998* (LeCun et al. 1998, section II.B): C1 156, the trainable subsampling S2 12, C3 1,516 through the connection table, S4 32,
      C5 48,120, F6 10,164: 60,000 trainable parameters; and 840 fixed centres of the radial basis output, which are stored and not trained.
      Tensors as in Torch7: one kernel for each connection in C3 (``nn.SpatialConvolutionMap``), one weight and one bias for each map in S2
      and S4 (``nn.SpatialSubSampling``). ``connection_table`` takes another table than ``C3_TABLE``.
    - *modern* (PyTorch's tutorial "Neural Networks"): pooling without parameters, every map of the second convolution reads all six, a
      trained output layer; 61,706. With ``image_size=28`` 44,426, and with ``padding=2`` again 61,706.
    - *oneill* (M. O'Neill 2006, "Neural Network for Recognition of Handwritten Digits"): 29x29 images, strided convolutions to 6 and 50
      maps without pooling, layers of 100 and 10; 133,816. The article counts 7,800 weights in the second convolution where
      7,550 are connected: one bias for each pair of maps.

    ``image_size`` None is the variant's own, 32 or 29; ``padding`` is that of the first convolution.

    Raises:
        SizeError: an image too small for its kernels or, in 1998, one for which the maps before C5 do not have its kernel's size.
        ArgumentError: a connection table for a variant that has none, or one that names a map twice, no map, or a seventh.

    >>> LeNet5().params, LeNet5().trainable
    (60840, 60000)
    >>> LeNet5("modern").params, LeNet5("oneill").params
    (61706, 133816)
    >>> from paramsym import K, N
    >>> LeNet5(kernel_size=K).part("C3").params
    60*K**2 + 16
    >>> LeNet5("modern", num_classes=N).params
    85*N + 60856
    """

    variant: Literal["1998", "modern", "oneill"] = "1998"
    num_classes: Dim = 10
    in_channels: Dim = 1
    image_size: Dim | None = None
    kernel_size: Dim = 5
    padding: Count = 0
    connection_table: tuple[tuple[Count, ...], ...] | None = None

    def parts(self) -> Iterator[Part]:
        k, side = self.kernel_size, self._side()
        if self.variant == "1998":
            yield Part("C1", Conv2d(self.in_channels, 6, k, padding=self.padding))
            yield Part("S2", _Subsampling(6))
            yield Part("C3", _TableConvolution(self._table(), k))
            yield Part("S4", _Subsampling(len(self._table())))
            yield Part("C5", Conv2d(len(self._table()), 120, k))
            yield Part("F6", Dense(120, 84))
            yield Part("output", _FixedCentres(self.num_classes, 84))
        elif self.variant == "modern":
            yield Part("conv1", Conv2d(self.in_channels, 6, k, padding=self.padding))
            yield Part("conv2", Conv2d(6, 16, k))
            yield Part("fc1", Dense((16, side, side), 120))
            yield Part("fc2", Dense(120, 84))
            yield Part("fc3", Dense(84, self.num_classes))
        else:
            yield Part("conv1", Conv2d(self.in_channels, 6, k, stride=2, padding=self.padding))
            yield Part("conv2", Conv2d(6, 50, k, stride=2))
            yield Part("fc1", Dense((50, side, side), 100))
            yield Part("fc2", Dense(100, self.num_classes))

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"x": (B, self.in_channels, self._image(), self._image())}

    def forward(self, own: Own, x: Value) -> Value:
        """Scores of classes, (batch, classes); in 1998 the squared distance from each centre.

        The activation is a scaled tanh (LeCun et al. 1998, section II.B and appendix A), in O'Neill's network also in the last layer; the
        modern network has ReLU.
        """
        x = self.seen(x)
        maps = {"1998": ("C1", "S2", "C3", "S4", "C5")}.get(self.variant, ("conv1", "conv2"))
        for name in maps:
            x = self._activated(own[name](x))
            if self.variant == "modern":
                x = pool("max", x, (2, 2), (2, 2), ((0, 0), (0, 0)))
        x = rearrange(x, "b c h w -> b (c h w)")
        *hidden, last = {"1998": ("F6", "output"), "modern": ("fc1", "fc2", "fc3"), "oneill": ("fc1", "fc2")}[self.variant]
        for name in hidden:
            x = self._activated(own[name](x))
        return self._activated(own[last](x)) if self.variant == "oneill" else own[last](x)

    def _activated(self, x: Value) -> Value:
        return apply("relu", x) if self.variant == "modern" else apply("tanh", x * (2 / 3)) * 1.7159

    def conditions(self) -> None:
        side = self._side()
        if not within(1, side):
            raise SizeError(f"image_size {self._image()} with padding {self.padding} is too small for two kernels of {self.kernel_size}.")
        if self.variant == "1998" and not equal(side, self.kernel_size):
            raise SizeError(
                f"image_size {self._image()} with padding {self.padding} gives maps of {side}x{side} before C5, whose kernels cover"
                f" {self.kernel_size}x{self.kernel_size}; digits of 28 are centred in 32: image_size=32, or 28 with padding=2."
            )
        if self.connection_table is not None:
            self._check_table(self.connection_table)

    def _check_table(self, table: tuple[tuple[Count, ...], ...]) -> None:
        if self.variant != "1998":
            raise ArgumentError(f"connection_table is of variant '1998'; in {self.variant!r} every map sees all maps before it.")
        for position, maps in enumerate(table):
            if not maps or len(set(maps)) < len(maps) or not set(maps) <= set(range(_MAPS_BEFORE_C3)):
                message = f"connection_table[{position}] is {maps}; wanted one or more different maps out of 0 to {_MAPS_BEFORE_C3 - 1}."
                raise ArgumentError(message)
        if not table:
            raise ArgumentError("connection_table is empty; C3 needs at least one map.")

    def _table(self) -> tuple[tuple[Count, ...], ...]:
        return C3_TABLE if self.connection_table is None else self.connection_table

    def _image(self) -> Dim:
        return _IMAGE[self.variant] if self.image_size is None else self.image_size

    def _side(self) -> Dim:
        """The side of the maps before the first fully connected layer; every stage halves, by pooling or by its stride."""
        side: Dim = self._image() + 2 * self.padding
        for _ in range(2):
            inside = side - self.kernel_size
            side = down(inside + 1, 2) if self.variant != "oneill" else canonical(down(inside, 2) + 1)
        return side


class _Subsampling(Declared):
    """The sum of four neighbours times one trained weight, plus one trained bias, for each map."""

    channels: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.channels,), role="scale")
        yield Tensor("bias", (self.channels,), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        """The weight is used for each of the four neighbours, as the paper counts its connections: a kernel of four equal entries."""
        x, restored = spatial(x, 2, channels=self.channels)
        kernel = copies(copies(rearrange(own.weight, "c -> c () () ()"), 2, axis=2), 2, axis=3)
        summed = convolve(x, kernel, (2, 2), ((0, 0), (0, 0)), groups=self.channels)
        return restored(summed + per_channel(own.bias, 2))


class _TableConvolution(Declared):
    """A convolution with one kernel for each connection of a table; ``weight`` is (connections, k, k)."""

    connections: tuple[tuple[Count, ...], ...]
    kernel_size: Dim

    def tensors(self) -> Iterator[Tensor]:
        fans = Counter(len(maps) for maps in self.connections)
        kernels = cat(**{f"seeing_{fan}_maps": (copies, fan) for fan, copies in fans.items()})
        yield Tensor("weight", (kernels, self.kernel_size, self.kernel_size))
        yield Tensor("bias", (len(self.connections),), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        x, restored = spatial(x, 2, channels=_MAPS_BEFORE_C3)
        kernels = segments(own.weight, *map(len, self.connections), axis=0)
        found = []
        for maps, kernel in zip(self.connections, kernels, strict=True):
            seen = join(*(take(x, 1, number, 1) for number in maps), axis=1)
            found.append(convolve(seen, rearrange(kernel, "f h w -> () f h w"), (1, 1), ((0, 0), (0, 0))))
        return restored(join(*found, axis=1) + per_channel(own.bias, 2))


class _FixedCentres(Declared):
    """The centres of radial basis units, drawn by hand as bitmaps of 7x12 and never trained."""

    num_classes: Dim
    width: Dim

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.num_classes, self.width), role="table", trainable=False)

    def forward(self, own: Own, x: Value) -> Value:
        apart = rearrange(features(x, self.width), "... f -> ... () f") - own.weight
        return reduce("sum", apart * apart)
