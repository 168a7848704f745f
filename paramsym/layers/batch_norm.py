r"""Normalisation by the statistics of a batch, or of each example's channels.

The stored tensors differ between the frameworks:

============== ================ ===================== ========================================================
dialect        scale, shift     statistics (buffers)  flags
============== ================ ===================== ========================================================
torch          weight, bias     running_mean,         ``affine=False`` neither, ``bias=False`` no shift,
                                running_var,          ``track_running_stats=False`` no statistics
                                num_batches_tracked
keras          gamma, beta      moving_mean,          ``scale=False``, ``bias=False`` (Keras: ``center``);
                                moving_variance       ``renorm=True`` adds three statistics
flax           scale, bias      mean, var             ``scale=False``, ``bias=False`` (Flax: ``use_scale``, ``use_bias``)
============== ================ ===================== ========================================================

Every tensor is (num_features,), except the scalar ``num_batches_tracked``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from paramsym import program as ops
from paramsym.algebra.size import Axis, Width
from paramsym.core.layer import Tensor
from paramsym.layers.axes import per_channel
from paramsym.layers.dialects import AFFINE, Dialect
from paramsym.layers.normalization import ChannelNorm
from paramsym.naming import quoted

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_STATISTICS = {
    "torch": ("running_mean", "running_var"),
    "keras": ("moving_mean", "moving_variance"),
    "flax": ("mean", "var"),
}
_RENORM = ("moving_stddev", "renorm_mean", "renorm_stddev")


@dataclass(frozen=True)
class _Normalised(ChannelNorm):
    """The computation of all classes in evaluation, with the stored statistics, or without them those of the input."""

    apart: ClassVar[bool] = False
    """Whether every example is normalised separately."""

    num_features: Width
    eps: float = 1e-5
    momentum: float | None = 0.1
    affine: bool = True
    track_running_stats: bool = True

    renorm = False  # a field of batch norms

    @property
    def _channels(self) -> Axis:
        return self.num_features

    def tensors(self) -> Iterator[Tensor]:
        yield from super().tensors()
        names = _STATISTICS[self.dialect] if self.track_running_stats else ()
        for name in (*names, *(_RENORM if self.renorm else ())):
            yield Tensor(name, (self.num_features,), role="statistic", buffer=True)
        if self.track_running_stats and self.dialect == "torch":
            yield Tensor("num_batches_tracked", (), role="statistic", buffer=True)

    def forward(self, own: Own, x: Value) -> Value:
        x, channel, restored = self.arranged(x)
        behind = x.rank - 1 - channel
        scale, shift = (per_channel(own[name], behind) if name in own else None for name in AFFINE[self.dialect])
        given = [per_channel(own[name], behind) for name in _STATISTICS[self.dialect] if name in own]
        over = () if given else [n for n in range(int(self.apart), x.rank) if n != channel]

        def kernel(x: Value) -> Value:
            return ops.normalise(x, "given" if given else "layer", *over, eps=self.eps, scale=scale, shift=shift, given=given)

        if not self.apart or self.dialect != "torch":
            return restored(kernel(x))
        # Torch normalises one example with batch*channels channels; it repeats the scale and the stored statistics for every example.
        repeated = ops.Kept("own", factors=x.sizes[:2], kind="statistic")
        scales = () if scale is None else (replace(repeated, kind="float"),)
        keeps = (ops.Kept("taken", merged=((0, 1),)), *scales, *(repeated,) * (2 + len(given)))
        return restored(ops.region("instance norm", kernel, x, keeps=keeps))


@dataclass(frozen=True)
class _BatchNorm(_Normalised):
    _: KW_ONLY
    bias: bool = True
    scale: bool = True
    renorm: bool = False
    dialect: Dialect = "torch"
    axis: int | None = None

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if not self.track_running_stats and self.dialect != "torch":
            yield f"track_running_stats=False needs dialect='torch'; with dialect={self.dialect!r} the statistics are always stored."
        if self.axis is not None and self.dialect == "torch":
            yield f"axis is {quoted(self.axis)}; in torch the channels are always on axis 1; only Keras and Flax allow another one."
        if self.renorm and self.dialect != "keras":
            yield f"renorm=True needs dialect='keras'; found dialect={self.dialect!r}."


class BatchNorm1d(_BatchNorm, ranks=(2, 3)):
    r"""Batch normalisation (Ioffe and Szegedy 2015, algorithm 1) of (batch, features) or (batch, features, length).

    ``weight`` and ``bias`` are (num_features,); the buffers ``running_mean`` and ``running_var`` too, and the scalar
    ``num_batches_tracked``. ``dialect="keras"`` and ``"flax"`` store what the table above says. Parameters: 2*num_features.

    Raises:
        ArgumentError: a flag that the dialect's framework does not have.

    Reference: ``torch.nn.BatchNorm1d``; Keras: ``BatchNormalization``; Flax: ``linen.BatchNorm``.

    >>> from paramsym import C
    >>> BatchNorm1d(C).params, list(BatchNorm1d(C, dialect="keras").shapes(buffers=True))
    (2*C, ['gamma', 'beta', 'moving_mean', 'moving_variance'])
    """


class BatchNorm2d(_BatchNorm, ranks=(4,)):
    """As ``BatchNorm1d``, of (batch, features, height, width). Reference: ``torch.nn.BatchNorm2d``.

    >>> from paramsym import C
    >>> BatchNorm2d(C).params, BatchNorm2d(64, affine=False).params
    (2*C, 0)
    """


class BatchNorm3d(_BatchNorm, ranks=(5,)):
    """As ``BatchNorm1d``, of (batch, features, depth, height, width). Reference: ``torch.nn.BatchNorm3d``.

    >>> from paramsym import C
    >>> BatchNorm3d(C).params
    2*C
    """


@dataclass(frozen=True)
class SyncBatchNorm(_Normalised):
    """Batch normalisation with statistics shared between processes; it stores the tensors of ``BatchNorm1d``. Parameters: 2*num_features.

    ``process_group`` is the framework's argument, and has no effect here. Reference: ``torch.nn.SyncBatchNorm``.

    >>> from paramsym import C
    >>> SyncBatchNorm(C).params
    2*C
    """

    process_group: object = None
    _: KW_ONLY
    bias: bool = True


@dataclass(frozen=True)
class _InstanceNorm(_Normalised, alone=True, apart=True):
    affine: bool = False
    track_running_stats: bool = False
    _: KW_ONLY
    bias: bool = True
    scale: bool = True
    dialect: Literal["torch", "flax"] = "torch"

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if self.track_running_stats and self.dialect == "flax":
            yield "track_running_stats=True needs dialect='torch'; Flax' instance normalisation keeps no statistics."

    @property
    def checked(self) -> bool:
        """False without stored tensors: torch then only warns about a wrong number of channels."""
        return self.affine or self.track_running_stats


class InstanceNorm1d(_InstanceNorm, ranks=(2, 3)):
    """Normalisation of each channel of each example (Ulyanov et al. 2016) of (batch, features, length).

    Nothing is stored by default. ``affine=True`` stores ``weight`` and ``bias``, both (num_features,): 2*num_features parameters;
    ``track_running_stats=True`` the buffers of ``BatchNorm1d``. With ``dialect="flax"`` they are ``scale`` and ``bias``; ``scale=False``
    and ``bias=False`` leave one out.

    Raises:
        ArgumentError: a flag that the dialect's framework does not have.

    Reference: ``torch.nn.InstanceNorm1d``; Flax: ``linen.InstanceNorm``, whose ``use_scale`` and ``use_bias`` are True by default.

    >>> from paramsym import C
    >>> InstanceNorm1d(C).params, InstanceNorm1d(C, affine=True).params
    (0, 2*C)
    """


class InstanceNorm2d(_InstanceNorm, ranks=(3, 4)):
    """As ``InstanceNorm1d``, of (batch, features, height, width). Reference: ``torch.nn.InstanceNorm2d``.

    >>> from paramsym import C
    >>> InstanceNorm2d(C, affine=True, bias=False).params
    C
    """


class InstanceNorm3d(_InstanceNorm, ranks=(4, 5)):
    """As ``InstanceNorm1d``, of (batch, features, depth, height, width). Reference: ``torch.nn.InstanceNorm3d``.

    >>> from paramsym import C
    >>> InstanceNorm3d(C, affine=True).params
    2*C
    """
