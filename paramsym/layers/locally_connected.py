"""Locally connected layers: a window slides as in a convolution, but every position has separate weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.convolution import differ, window_count
from paramsym.algebra.size import Dim, text
from paramsym.core.layer import Tensor
from paramsym.errors import ShapeError
from paramsym.layers.axes import spatial
from paramsym.layers.siblings import Spatial
from paramsym.layers.spatial import Extents, Margin, both_sides

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class _LocallyConnected(Spatial):
    in_channels: Dim
    out_channels: Dim
    kernel_size: Extents
    input_size: Extents
    stride: Extents = 1
    padding: Margin = 0
    bias: bool = True
    _: KW_ONLY
    dialect: Literal["keras", "flax"] = "keras"

    def conditions(self) -> None:
        self.places  # noqa: B018 - working the places out is the check

    @property
    def places(self) -> tuple[Dim, ...]:
        """The number of window positions along each axis."""
        settings = self._each("input_size", "kernel_size", "stride", "padding")
        return tuple(window_count(length, kernel, stride, 2 * padding) for length, kernel, stride, padding in zip(*settings, strict=True))

    def tensors(self) -> Iterator[Tensor]:
        (extents,), flax = self._each("kernel_size"), self.dialect == "flax"
        window = (self.in_channels, *extents) if flax else (*extents, self.in_channels)
        places = self.places if flax else (self.places,)
        yield Tensor("kernel", (*places, window, self.out_channels))
        if self.bias:
            yield Tensor("bias", (*self.places, self.out_channels), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        """The kernel of every position times its window, and its bias; channels last, as in Keras."""
        x, _ = spatial(x, self.rank, "channels_last", channels=self.in_channels)
        kernel, stride, padding, wanted = self._each("kernel_size", "stride", "padding", "input_size")
        if any(map(differ, x.sizes[2:], wanted)):
            message = f"the input is {text(x.sizes[2:])}; wanted {text(self.input_size)}, because every position has its own weights."
            raise ShapeError(message)
        seen = ops.unfold(ops.known(x, *x.shape[:2], *wanted), kernel, stride, both_sides(padding), (1,) * self.rank)
        places, window = " ".join("uvw"[: self.rank]), " ".join("xyz"[: self.rank])
        stored = f"{places} (c {window}) o" if self.dialect == "flax" else f"({places}) ({window} c) o"
        weights = ops.rearrange(own.kernel, f"{stored} -> {places} c {window} o")
        y = ops.contract(f"b c {places} {window}, {places} c {window} o -> b {places} o", seen, weights)
        return y + own.bias if self.bias else y


class LocallyConnected1d(_LocallyConnected, rank=1):
    r"""An unshared convolution over sequences: every position of the window has a separate kernel and bias.

    With p = floor((length + 2*padding - kernel)/stride) + 1 positions, ``kernel`` is (p, kernel*in_channels, out_channels) and ``bias``,
    if present, is (p, out_channels). Parameters: p*out*(k*in + 1); they depend on the length of the input, so ``input_size`` is a
    field.

    Raises:
        ShapeError: a window that does not fit into the input.

    Reference: ``tf.keras.layers.LocallyConnected1D(implementation=1)`` of Keras 2; Flax: ``linen.ConvLocal``.

    >>> from paramsym import C, F, K, W
    >>> LocallyConnected1d(C, F, K, input_size=W, bias=False).params
    -C*F*K**2 + C*F*K*W + C*F*K
    >>> LocallyConnected1d(3, 8, 5, input_size=32).shapes()
    {'kernel': (28, 15, 8), 'bias': (28, 8)}
    """


class LocallyConnected2d(_LocallyConnected, rank=2):
    r"""As ``LocallyConnected1d``, over images, with p and q positions along the two axes.

    ``kernel`` is (p*q, height*width*in_channels, out_channels), with ``dialect="flax"`` (p, q, height*width*in_channels, out_channels),
    and ``bias`` (p, q, out_channels). Parameters: p*q*out*(k*k*in + 1).

    Reference: ``tf.keras.layers.LocallyConnected2D(implementation=1)`` of Keras 2; Flax: ``linen.ConvLocal``. LeCun 1989,
    "Generalization and network design strategies", net-3; Taigman et al. 2014, "DeepFace", section 3.

    >>> from paramsym import C, F, W
    >>> LocallyConnected2d(C, F, 3, input_size=W, padding=1, bias=False).params
    9*C*F*W**2
    """


class LocallyConnected3d(_LocallyConnected, rank=3):
    r"""As ``LocallyConnected1d``, over volumes, with the same storage. Parameters: p*q*r*out*(k*k*k*in + 1).

    >>> LocallyConnected3d(1, 2, 3, input_size=(5, 5, 4)).params
    1008
    """
