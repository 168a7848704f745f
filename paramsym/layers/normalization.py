"""Normalisation over the axes of one example."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from paramsym.errors import NotYetError, ShapeError
from paramsym.extents import View, Views, differ
from paramsym.layer import Layer, Tensor
from paramsym.layers.axes import Pointwise, along_channels
from paramsym.layers.dialects import AFFINE, Dialect, check_scale
from paramsym.layers.features import over_features, positions
from paramsym.size import Dim, Shape, divides, extent, product, text


class ChannelNorm(Layer):
    """What normalises channels: in torch they stand on axis 1; Keras and Flax know the axis from elsewhere, and nothing is checked."""

    ranks: ClassVar[tuple[int, ...]] = ()
    """How many axes torch takes; any from 2 on where this is empty."""
    checks_empty: ClassVar[bool] = False
    """Whether torch looks at the channels of an empty input, too."""

    @property
    def channels(self) -> Dim:
        """How many channels are normalised."""
        return extent(self.num_features)  # type: ignore[attr-defined]

    @property
    def checked(self) -> bool:
        """Whether the number of channels matters."""
        return True

    def channel_axis(self, input_shape: Shape) -> int:
        """Say where the channels stand in torch."""
        return min(1, len(input_shape) - 1)

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape."""
        if getattr(self, "dialect", "torch") != "torch":
            return input_shape
        if len(input_shape) not in self.ranks if self.ranks else len(input_shape) < 2:
            wanted = " or ".join(map(str, self.ranks)) or "at least 2"
            message = f"wanted {wanted} axes, the channels before the spatial ones; found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        axis = self.channel_axis(input_shape)
        if self.checked and (self.checks_empty or 0 not in input_shape) and differ(input_shape[axis], self.channels):
            message = f"axis {axis} holds {input_shape[axis]} channels; wanted {self.channels}, in {text(input_shape)}."
            raise ShapeError(message)
        return input_shape

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Scale and shift of a channel are used once per position."""
        first = getattr(self, "dialect", "torch") == "torch"
        spatial = input_shape[self.channel_axis(input_shape) + 1 :] if first else input_shape[1:-1]
        return {tensor.name: product(spatial) for tensor in self.own_tensors if not tensor.buffer}

    def views(self) -> tuple[View, ...]:
        """With fixed statistics every output entry sees its own input entry; statistics of the example itself need all of it.

        Raises:
            NotYetError: statistics of the example.
        """
        if getattr(self, "track_running_stats", False):
            return ()
        message = f"{type(self).__name__} normalises by statistics of the whole map, so that an output sees everything."
        raise NotYetError(message)


class FeatureNorm(Layer):
    """What normalises the last axes."""

    normalized_shape: Dim | tuple[Dim, ...]

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape; in torch its last axes are those that are normalised, in Keras and Flax they may stand elsewhere."""
        torch = getattr(self, "dialect", "torch") == "torch"
        return over_features(input_shape, _as_shape(self.normalized_shape)) if torch else input_shape

    def reached(self, places: Shape) -> Shape:
        """The positions, and the axes that are normalised."""
        return (*places, *_as_shape(self.normalized_shape))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Scale and shift are used once per position."""
        places = positions(input_shape, len(_as_shape(self.normalized_shape)))
        return {tensor.name: places for tensor in self.own_tensors}

    def views(self) -> tuple[View, ...]:
        """Every output position sees its own input position, and all channels there.

        Raises:
            NotYetError: several axes are normalised, of which all but one are spatial.
        """
        many = len(_as_shape(self.normalized_shape))
        if many > 1:
            message = f"{type(self).__name__} normalises {many} axes together, so that an output sees all of them."
            raise NotYetError(message)
        return Views((), "channels_last")


def _as_shape(normalized_shape: Dim | tuple[Dim, ...]) -> tuple[Dim, ...]:
    return normalized_shape if isinstance(normalized_shape, tuple) else (normalized_shape,)


@dataclass(frozen=True)
class LayerNorm(FeatureNorm):
    r"""Layer normalisation (Ba et al. 2016, section 3), :math:`y = (x - \mu)/\sigma \cdot \gamma + \beta` over the last axes.

    ``weight`` and ``bias`` have ``normalized_shape``, one size or a tuple; with ``dialect="keras"`` they are ``gamma`` and ``beta``, with
    ``"flax"`` ``scale`` and ``bias``. ``elementwise_affine=False`` leaves both out, ``bias=False`` the shift, ``scale=False`` (not in
    torch) the scale. Parameters: twice the product of the shape.

    Raises:
        ArgumentError: ``scale=False`` in torch's dialect.

    Reference: ``torch.nn.LayerNorm``; Keras: ``LayerNormalization``; Flax: ``linen.LayerNorm``.

    >>> from paramsym import H
    >>> LayerNorm(H).params, LayerNorm(H, bias=False).params
    (2*H, H)
    """

    normalized_shape: Dim | tuple[Dim, ...]
    eps: float = 1e-5
    elementwise_affine: bool = True
    bias: bool = True
    _: KW_ONLY
    scale: bool = True
    dialect: Dialect = "torch"

    def tensors(self) -> Iterator[Tensor]:
        """The scale, then the shift."""
        shape = _as_shape(self.normalized_shape)
        weight, bias = AFFINE[self.dialect]
        if self.elementwise_affine and self.scale:
            yield Tensor(weight, shape, role="scale")
        if self.elementwise_affine and self.bias:
            yield Tensor(bias, shape, role="bias")

    def conditions(self) -> None:
        """Torch does not shift without scaling."""
        check_scale(self.scale, self.dialect)


@dataclass(frozen=True)
class RMSNorm(FeatureNorm):
    r"""Root-mean-square normalisation (Zhang and Sennrich 2019, equation 4), :math:`y = x/\mathrm{rms}(x) \cdot \gamma`; no shift.

    ``weight`` has ``normalized_shape``; it is called ``scale`` with ``dialect="keras"`` and ``"flax"``. Parameters: the product of the
    shape. Reference: ``torch.nn.RMSNorm``; Keras: ``RMSNormalization``; Flax: ``linen.RMSNorm``.

    >>> from paramsym import H
    >>> RMSNorm(H).params
    H
    """

    normalized_shape: Dim | tuple[Dim, ...]
    eps: float | None = None
    elementwise_affine: bool = True
    _: KW_ONLY
    dialect: Dialect = "torch"

    def tensors(self) -> Iterator[Tensor]:
        """The scale."""
        if self.elementwise_affine:
            yield Tensor("weight" if self.dialect == "torch" else "scale", _as_shape(self.normalized_shape), role="scale")


@dataclass(frozen=True)
class GroupNorm(ChannelNorm):
    """Normalisation over groups of channels (Wu and He 2018, section 3); scale and shift are per channel, so groups cancel.

    ``weight`` and ``bias`` are (num_channels,), as ``num_groups`` groups of num_channels/num_groups; with ``dialect="keras"`` they are
    ``gamma`` and ``beta``, with ``"flax"`` ``scale`` and ``bias``. ``affine=False`` leaves both out, ``bias=False`` the shift,
    ``scale=False`` (not in torch) the scale. Parameters: 2*num_channels.

    Raises:
        DivisibilityError: groups that do not divide the channels.
        ArgumentError: ``scale=False`` in torch's dialect.

    Reference: ``torch.nn.GroupNorm``; Keras: ``GroupNormalization``; Flax: ``linen.GroupNorm``.

    >>> from paramsym import C, dims
    >>> norm = GroupNorm(dims("g"), C)
    >>> norm.params, norm.at(g=32, C=128).params
    (2*C, 256)
    """

    checks_empty = True

    num_groups: Dim
    num_channels: Dim
    eps: float = 1e-5
    affine: bool = True
    _: KW_ONLY
    bias: bool = True
    scale: bool = True
    dialect: Dialect = "torch"

    def tensors(self) -> Iterator[Tensor]:
        """The scale, then the shift."""
        channels = (self.num_groups, divides(self.num_groups, self.num_channels, "num_groups", "num_channels"))
        weight, bias = AFFINE[self.dialect]
        if self.affine and self.scale:
            yield Tensor(weight, (channels,), role="scale")
        if self.affine and self.bias:
            yield Tensor(bias, (channels,), role="bias")

    def conditions(self) -> None:
        """Groups divide the channels, also where nothing is stored per channel."""
        divides(self.num_groups, self.num_channels, "num_groups", "num_channels")
        check_scale(self.scale, self.dialect)

    @property
    def channels(self) -> Dim:
        """How many channels are normalised."""
        return self.num_channels


@dataclass(frozen=True)
class LocalResponseNorm(Layer):
    """Normalisation over ``size`` neighbouring channels (Krizhevsky et al. 2012, section 3.3). It stores nothing.

    Reference: ``torch.nn.LocalResponseNorm``.

    >>> LocalResponseNorm(5).params
    0
    """

    size: Dim
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape: batch, channels and at least one spatial axis."""
        if len(input_shape) < 3:
            message = f"wanted at least 3 axes, (batch, channels, ...); found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        return input_shape

    def views(self) -> tuple[View, ...]:
        """Every place sees itself, and the channels around its own."""
        return Views((), "channels_first")


@dataclass(frozen=True)
class Normalization(Pointwise):
    """Standardisation of inputs by statistics taken from data beforehand. It has no parameters.

    ``shape`` is that of the axes that keep statistics of their own; () where one mean serves all. The buffers are ``mean`` and
    ``variance``, both of that shape, and the scalar ``count``; ``given=True`` is for statistics passed to the constructor, which are not
    stored. Reference: Keras ``Normalization``.

    >>> from paramsym import C
    >>> Normalization((C,)).params, Normalization((C,)).shapes(buffers=True)
    (0, {'mean': (C,), 'variance': (C,), 'count': ()})
    """

    shape: tuple[Dim, ...]
    given: bool = False
    invert: bool = False

    def tensors(self) -> Iterator[Tensor]:
        """The statistics, then how many examples they come from."""
        if not self.given:
            yield Tensor("mean", self.shape, role="statistic", buffer=True)
            yield Tensor("variance", self.shape, role="statistic", buffer=True)
            yield Tensor("count", (), role="statistic", buffer=True)


@dataclass(frozen=True)
class UnitNormalization(Pointwise):
    """Division by the Euclidean length over ``axis``. It stores nothing. Reference: Keras ``UnitNormalization``.

    >>> UnitNormalization().params
    0
    """

    axis: int | tuple[int, ...] = -1

    def views(self) -> tuple[View, ...]:
        """Along every other axis, an output entry sees its own input entry."""
        return along_channels(self.axis)
