"""Normalisation over the axes of one example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from paramsym import program as ops
from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Axis, Dim, canonical, divides, extent, text
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError, ShapeError
from paramsym.layers.axes import axis_of, check_rank
from paramsym.layers.dialects import AFFINE, SHIFT_ALONE, Dialect, affine_tensors
from paramsym.layers.siblings import Sibling, Variant
from paramsym.naming import quoted

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class ChannelNorm(Variant):
    """The base of norms of channels, which are on axis 1 in torch, and by default on the last axis in Keras and Flax."""

    ranks: ClassVar[tuple[int, ...]] = ()
    """The numbers of axes that torch takes; if empty, any from 2."""
    alone: ClassVar[bool] = False
    """Whether torch also takes one example without a batch axis; it then has the first of the ranks."""

    eps: float
    affine: bool
    bias: bool
    scale: bool = True
    dialect: Any = "torch"
    axis: int | None = None

    @property
    def _channels(self) -> Axis:
        """The axis of the channels, as it is stored."""
        raise NotImplementedError

    @property
    def checked(self) -> bool:
        """Whether the number of channels is checked."""
        return True

    def tensors(self) -> Iterator[Tensor]:
        yield from affine_tensors((self._channels,), self.dialect, scale=self.affine and self.scale, shift=self.affine and self.bias)

    def _refused(self) -> Iterator[str]:
        if self.dialect == "torch" and not self.scale:
            yield SHIFT_ALONE

    def arranged(self, x: Value) -> tuple[Value, int, Callable[[Value], Value]]:
        """Return an input with a batch axis, the axis of its channels, and the function that removes an added batch axis."""
        torch = self.dialect == "torch"
        if torch:
            wanted = " or ".join(map(str, self.ranks)) or "at least 2"
            check_rank(x, x.rank in self.ranks if self.ranks else x.rank >= 2, f"{wanted} axes, the channels before the spatial ones")
        rank = max(self.ranks) if self.alone and torch else x.rank
        channel = axis_of((1 if torch else -1) if self.axis is None else self.axis, (1,) * rank, "axis")
        names = ["[batch]" if rank != x.rank else "batch", *["positions"] * (rank - 1)]
        names[channel] = "channels"
        named, restored = ops.axes(x, " ".join(names), **({"channels": extent(self._channels)} if self.checked else {}))
        return named, channel, restored


class FeatureNorm(Sibling):
    """The base of norms over the last axes; in Keras ``axis`` may name others, in the order of ``normalized_shape``."""

    normalized_shape: Dim | tuple[Dim, ...]
    dialect: Dialect
    axis: tuple[int, ...] | None

    def _refused(self) -> Iterator[str]:
        if self.axis is not None and (self.dialect != "keras" or len(self.axis) != len(self._shape)):
            yield f"axis is {quoted(self.axis)}; it needs dialect='keras', and one axis for every size of normalized_shape."

    @property
    def _shape(self) -> tuple[Dim, ...]:
        return self.normalized_shape if isinstance(self.normalized_shape, tuple) else (self.normalized_shape,)

    def over(self, x: Value) -> tuple[Value, tuple[int, ...]]:
        """Return the checked input and the normalised axes."""
        if self.axis is None:
            return ops.features(x, *self._shape), tuple(range(-len(self._shape), 0))
        found = tuple(axis_of(axis, x.sizes, "axis") for axis in self.axis)
        _check_extents(x, found, self._shape)
        return x, found

    def fitted(self, own: Own, name: str, x: Value, over: tuple[int, ...]) -> Value | None:
        """Reshape a tensor for the input; Keras reads the entries in the order of the input's axes, as a reshape does."""
        if name not in own:
            return None
        if self.axis is None:
            return own[name]
        words = " ".join(f"a{axis}" for axis in sorted(over))
        flat = ops.rearrange(own[name], f"{words} -> ({words})")
        behind = " ".join(f"a{axis}" if axis in over else "()" for axis in range(min(over), x.rank))
        return ops.rearrange(flat, f"({words}) -> {behind}", **{f"a{axis}": x.sizes[axis] for axis in over})


def _check_extents(x: Value, axes: Iterable[int], shape: Iterable[Dim]) -> None:
    for axis, size in zip(axes, shape, strict=True):
        if differ(x.sizes[axis], size):
            raise ShapeError(f"axis {axis} has {x.sizes[axis]} entries; wanted {size}, in {text(x.sizes)}.")


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
        kept = self.elementwise_affine
        scale, shift = self.scale or self.rms_scaling, self.bias and not self.rms_scaling  # then Keras does not shift
        yield from affine_tensors(self._shape, self.dialect, scale=kept and scale, shift=kept and shift)

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if self.dialect == "torch" and not self.scale:
            yield SHIFT_ALONE

    def forward(self, own: Own, x: Value) -> Value:
        x, over = self.over(x)
        scale, shift = (self.fitted(own, name, x, over) for name in AFFINE[self.dialect])
        if self.rms_scaling:
            return ops.normalise(x, "deviation", *over, eps=self.eps, scale=scale)
        return ops.normalise(x, "layer", *over, eps=self.eps, scale=scale, shift=shift)


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
            yield Tensor(self._name, self._shape, role="scale")

    def forward(self, own: Own, x: Value) -> Value:
        x, over = self.over(x)
        return ops.normalise(x, "rms", *over, eps=self.eps, scale=self.fitted(own, self._name, x, over))

    @property
    def _name(self) -> str:
        return "weight" if self.dialect == "torch" else "scale"


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

    @property
    def _channels(self) -> Axis:
        """The channels as groups of equal size."""
        return (self.num_groups, divides(self.num_groups, self.num_channels, "num_groups", "num_channels"))

    def conditions(self) -> None:
        self._channels  # noqa: B018 - groups divide the channels, even if nothing is stored per channel
        super().conditions()

    def forward(self, own: Own, x: Value) -> Value:
        x, channel, _ = self.arranged(x)
        before = " ".join(f"a{n}" for n in range(channel))
        apart = ops.rearrange(x, f"{before} (g c) ... -> {before} g c ...", g=self.num_groups)
        over = [n for n in range(1, apart.rank) if n != channel]
        ends = " ()" * (x.rank - 1 - channel)
        scale, shift = (ops.rearrange(ops.heads(own[name]), f"g c -> g c{ends}") if name in own else None for name in AFFINE[self.dialect])
        y = ops.normalise(apart, "layer", *over, eps=self.eps, scale=scale, shift=shift)
        return ops.rearrange(y, f"{before} g c ... -> {before} (g c) ...")


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
        check_rank(x, x.rank >= 3, "at least 3 axes, (batch, channels, ...)")
        before = self.size // 2 if isinstance(self.size, int) else 0
        squares = ops.rearrange(x * x, "b c ... -> b ... c")
        mean = ops.pool("mean", ops.pad(squares, ((before, canonical(self.size - 1 - before)),)), (self.size,), (1,), ((0, 0),))
        near, _ = ops.axes(ops.rearrange(mean, "b ... c -> b c ..."), "batch channels" + " positions" * (x.rank - 2))
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

    def conditions(self) -> None:
        if self.axis is not None and len(self.axis) != len(self.shape):
            raise ArgumentError(f"axis has {len(self.axis)} entries and shape {len(self.shape)}; wanted one axis for each extent of shape.")

    def tensors(self) -> Iterator[Tensor]:
        if not self.given:
            for name, shape in (("mean", self.shape), ("variance", self.shape), ("count", ())):
                yield Tensor(name, shape, role="statistic", buffer=True)

    def forward(self, own: Own, x: Value) -> Value:
        if self.given:  # statistics that are not stored cannot be used
            return ops.unknown("standardise", x)
        kept = range(-len(self.shape), 0) if self.axis is None else self.axis
        found = sorted(axis_of(axis, x.sizes, "axis") for axis in kept)
        _check_extents(x, found, self.shape)
        words = " ".join(f"a{axis}" for axis in found)
        fitting = " ".join(f"a{axis}" if axis in found else "()" for axis in range(x.rank))
        mean, variance = (ops.rearrange(own[name], f"{words} -> {fitting}") for name in ("mean", "variance"))
        deviation = ops.apply("clip", ops.apply("sqrt", variance), 1e-7, inf)
        return mean + x * deviation if self.invert else (x - mean) / deviation


@dataclass(frozen=True)
class UnitNormalization(Layer):
    """Division by the Euclidean length over ``axis``. It stores nothing. Reference: Keras ``UnitNormalization``."""

    axis: int | tuple[int, ...] = -1

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        over = tuple(axis_of(axis, x.sizes, "axis") for axis in (self.axis if isinstance(self.axis, tuple) else (self.axis,)))
        return x * ops.apply("clip", ops.apply("rsqrt", ops.reduce("sum", x * x, *over, keep=True)), 0.0, 1e12)
