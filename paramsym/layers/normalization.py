"""Normalisation over the axes of one example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import ClassVar

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, canonical, divides, extent, text
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError, RankError, ShapeError
from paramsym.layers.axes import axis_of, per_channel
from paramsym.layers.dialects import AFFINE, Dialect, affine_tensors, check_scale
from paramsym.naming import quoted
from paramsym.program import Own, Value, apply, axes, features, heads, normalise, pad, pool, rearrange, reduce, unknown


class ChannelNorm(Layer):
    """The base of norms of channels, which are on axis 1 in torch, and by default on the last axis in Keras and Flax."""

    ranks: ClassVar[tuple[int, ...]] = ()
    """The numbers of axes that torch takes; if empty, any from 2."""
    alone: ClassVar[bool] = False
    """Whether torch also takes one example without a batch axis; it then has the first of the ranks."""

    @property
    def channels(self) -> Dim:
        """The number of normalised channels."""
        return extent(self.num_features)  # type: ignore[attr-defined]

    @property
    def checked(self) -> bool:
        """Whether the number of channels is checked."""
        return True

    def arranged(self, x: Value) -> tuple[Value, int, Callable[[Value], Value]]:
        """Return an input with a batch axis, the axis of its channels, and the function that removes an added batch axis."""
        dialect = getattr(self, "dialect", "torch")
        if dialect == "torch" and (x.rank not in self.ranks if self.ranks else x.rank < 2):
            wanted = " or ".join(map(str, self.ranks)) or "at least 2"
            message = f"wanted {wanted} axes, the channels before the spatial ones; found {x.rank}, {text(x.sizes)}."
            raise RankError(message)
        rank = max(self.ranks) if self.alone and dialect == "torch" else x.rank
        given = getattr(self, "axis", None)
        channel = axis_of((1 if dialect == "torch" else -1) if given is None else given, (1,) * rank, "axis")
        names = ["[batch]" if rank != x.rank else "batch", *["positions"] * (rank - 1)]
        names[channel] = "channels"
        named, restored = axes(x, " ".join(names), **({"channels": self.channels} if self.checked else {}))
        return named, channel, restored


def affine(own: Own, dialect: str, behind: int) -> Iterator[Value | None]:
    """Yield scale and shift of channels, reshaped for the axes after the channels; None if not stored."""
    for name in AFFINE[dialect]:
        yield per_channel(own[name], behind) if name in own else None


class FeatureNorm(Layer):
    """The base of norms over the last axes; in Keras ``axis`` may name others, in the order of ``normalized_shape``."""

    normalized_shape: Dim | tuple[Dim, ...]
    axis: tuple[int, ...] | None

    def conditions(self) -> None:
        if self.axis is not None and (self.dialect != "keras" or len(self.axis) != len(_as_shape(self.normalized_shape))):  # type: ignore[attr-defined]
            message = f"axis is {quoted(self.axis)}; it needs dialect='keras', and one axis for every size of normalized_shape."
            raise ArgumentError(message)

    def over(self, x: Value) -> tuple[Value, tuple[int, ...]]:
        """Return the checked input and the normalised axes."""
        shape = _as_shape(self.normalized_shape)
        if self.axis is None:
            return features(x, *shape), tuple(range(-len(shape), 0))
        found = tuple(axis_of(axis, x.sizes, "axis") for axis in self.axis)
        for axis, size in zip(found, shape, strict=True):
            if differ(x.sizes[axis], size):
                message = f"axis {axis} has {x.sizes[axis]} entries; wanted {size}, in {text(x.sizes)}."
                raise ShapeError(message)
        return x, found

    def fitted(self, own: Own, name: str, x: Value, over: tuple[int, ...]) -> Value | None:
        """Reshape a tensor for the input; Keras reads the entries in the order of the input's axes, as a reshape does."""
        if name not in own:
            return None
        if self.axis is None:
            return own[name]
        words = [f"a{axis}" for axis in sorted(over)]
        flat = rearrange(own[name], f"{' '.join(words)} -> ({' '.join(words)})")
        behind = " ".join(f"a{axis}" if axis in over else "()" for axis in range(min(over), x.rank))
        return rearrange(flat, f"({' '.join(words)}) -> {behind}", **{f"a{axis}": x.sizes[axis] for axis in over})


def _as_shape(normalized_shape: Dim | tuple[Dim, ...]) -> tuple[Dim, ...]:
    return normalized_shape if isinstance(normalized_shape, tuple) else (normalized_shape,)


@dataclass(frozen=True)
class LayerNorm(FeatureNorm):
    r"""Layer normalisation (Ba et al. 2016, section 3), :math:`y = (x - \mu)/\sigma \cdot \gamma + \beta` over the last axes.

    ``weight`` and ``bias`` have ``normalized_shape``, one size or a tuple; with ``dialect="keras"`` they are ``gamma`` and ``beta``, with
    ``"flax"`` ``scale`` and ``bias``. ``elementwise_affine=False`` leaves both out, ``bias=False`` the shift, ``scale=False`` (not in
    torch) the scale. ``axis`` and ``rms_scaling`` are arguments of Keras. Parameters: twice the product of the shape.

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
    axis: tuple[int, ...] | None = None
    rms_scaling: bool = False

    def tensors(self) -> Iterator[Tensor]:
        scale, shift = (self.scale or self.rms_scaling, self.bias and not self.rms_scaling)  # then Keras does not shift
        kept = self.elementwise_affine
        yield from affine_tensors(_as_shape(self.normalized_shape), self.dialect, scale=kept and scale, shift=kept and shift)

    def conditions(self) -> None:
        super().conditions()
        check_scale(self.scale, self.dialect)

    def forward(self, own: Own, x: Value) -> Value:
        """The difference from the mean divided by the deviation, scaled and shifted; ``rms_scaling`` keeps the mean."""
        x, over = self.over(x)
        scale, shift = (self.fitted(own, name, x, over) for name in AFFINE[self.dialect])
        if self.rms_scaling:
            return normalise(x, "deviation", *over, eps=self.eps, scale=scale)
        return normalise(x, "layer", *over, eps=self.eps, scale=scale, shift=shift)


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
    axis: tuple[int, ...] | None = None

    def tensors(self) -> Iterator[Tensor]:
        if self.elementwise_affine:
            yield Tensor("weight" if self.dialect == "torch" else "scale", _as_shape(self.normalized_shape), role="scale")

    def forward(self, own: Own, x: Value) -> Value:
        """The input divided by its root mean square, scaled."""
        x, over = self.over(x)
        scale = self.fitted(own, "weight" if self.dialect == "torch" else "scale", x, over)
        return normalise(x, "rms", *over, eps=self.eps, scale=scale)


@dataclass(frozen=True)
class GroupNorm(ChannelNorm):
    """Normalisation over groups of channels (Wu and He 2018, section 3); scale and shift are per channel, so the number of groups cancels.

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

    num_groups: Dim
    num_channels: Dim
    eps: float = 1e-5
    affine: bool = True
    _: KW_ONLY
    bias: bool = True
    scale: bool = True
    dialect: Dialect = "torch"
    axis: int | None = None

    def tensors(self) -> Iterator[Tensor]:
        channels = (self.num_groups, divides(self.num_groups, self.num_channels, "num_groups", "num_channels"))
        yield from affine_tensors((channels,), self.dialect, scale=self.affine and self.scale, shift=self.affine and self.bias)

    def conditions(self) -> None:
        """Groups divide the channels, even if nothing is stored per channel."""
        divides(self.num_groups, self.num_channels, "num_groups", "num_channels")
        check_scale(self.scale, self.dialect)

    @property
    def channels(self) -> Dim:
        """The number of normalised channels."""
        return self.num_channels

    def forward(self, own: Own, x: Value) -> Value:
        """Groups of channels normalised together with all positions; every channel is scaled and shifted."""
        x, channel, _ = self.arranged(x)
        names = [f"a{n}" for n in range(x.rank)]
        before, behind = " ".join(names[:channel]), " ".join(names[channel + 1 :])
        apart = rearrange(x, f"{before} (g c) {behind} -> {before} g c {behind}", g=self.num_groups)
        over = [n for n in range(1, apart.rank) if n != channel]
        ends = " ()" * (x.rank - 1 - channel)
        scale, shift = (rearrange(heads(own[name]), f"g c -> g c{ends}") if name in own else None for name in AFFINE[self.dialect])
        y = normalise(apart, "layer", *over, eps=self.eps, scale=scale, shift=shift)
        return rearrange(y, f"{before} g c {behind} -> {before} (g c) {behind}")


@dataclass(frozen=True)
class LocalResponseNorm(Layer):
    """Normalisation over ``size`` neighbouring channels (Krizhevsky et al. 2012, section 3.3). It stores nothing.

    Reference: ``torch.nn.LocalResponseNorm``.
    """

    size: Dim
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input divided by a power of the mean square of neighbouring channels."""
        if x.rank < 3:
            message = f"wanted at least 3 axes, (batch, channels, ...); found {x.rank}, {text(x.sizes)}."
            raise RankError(message)
        rest = " ".join(f"a{n}" for n in range(2, x.rank))
        before = self.size // 2 if isinstance(self.size, int) else 0
        squares = rearrange(x * x, f"b c {rest} -> b {rest} c")
        mean = pool("mean", pad(squares, ((before, canonical(self.size - 1 - before)),)), (self.size,), (1,), ((0, 0),))
        near, _ = axes(rearrange(mean, f"b {rest} c -> b c {rest}"), "batch channels" + " positions" * (x.rank - 2))
        return x / (near * self.alpha + self.k) ** self.beta


@dataclass(frozen=True)
class Normalization(Layer):
    """Standardisation of inputs by statistics taken from data beforehand. It has no parameters.

    ``shape`` is the shape of the axes with separate statistics; () for one mean of everything. The buffers are ``mean`` and
    ``variance``, both of that shape, and the scalar ``count``; ``given=True`` is for statistics passed to the constructor, which are not
    stored. ``axis`` names these axes if they are not the last ones. Reference: Keras ``Normalization``.

    >>> from paramsym import C
    >>> Normalization((C,)).params, Normalization((C,)).shapes(buffers=True)
    (0, {'mean': (C,), 'variance': (C,), 'count': ()})
    """

    shape: tuple[Dim, ...]
    given: bool = False
    invert: bool = False
    axis: tuple[int, ...] | None = None

    def tensors(self) -> Iterator[Tensor]:
        """The statistics, then the number of their examples."""
        if not self.given:
            yield Tensor("mean", self.shape, role="statistic", buffer=True)
            yield Tensor("variance", self.shape, role="statistic", buffer=True)
            yield Tensor("count", (), role="statistic", buffer=True)

    def forward(self, own: Own, x: Value) -> Value:
        """The difference from the mean divided by the deviation, or the inverse; statistics that are not stored cannot be used."""
        if self.given:
            return unknown("standardise", x)
        kept = range(-len(self.shape), 0) if self.axis is None else self.axis
        found = sorted(axis_of(axis, x.sizes, "axis") for axis in kept)
        for axis, size in zip(found, self.shape, strict=True):
            if differ(x.sizes[axis], size):
                message = f"axis {axis} has {x.sizes[axis]} entries; wanted {size}, in {text(x.sizes)}."
                raise ShapeError(message)
        words = " ".join(f"a{axis}" for axis in found)
        fitting = " ".join(f"a{axis}" if axis in found else "()" for axis in range(x.rank))
        mean, variance = (rearrange(own[name], f"{words} -> {fitting}") for name in ("mean", "variance"))
        deviation = apply("clip", apply("sqrt", variance), 1e-7, inf)
        return mean + x * deviation if self.invert else (x - mean) / deviation


@dataclass(frozen=True)
class UnitNormalization(Layer):
    """Division by the Euclidean length over ``axis``. It stores nothing. Reference: Keras ``UnitNormalization``."""

    axis: int | tuple[int, ...] = -1

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        """The input divided by its length."""
        over = tuple(axis_of(axis, x.sizes, "axis") for axis in (self.axis if isinstance(self.axis, tuple) else (self.axis,)))
        return x * apply("clip", apply("rsqrt", reduce("sum", x * x, *over, keep=True)), 0.0, 1e12)
