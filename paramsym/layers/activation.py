"""Activations: functions applied entry by entry, or along one axis. All but ``PReLU`` store nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Literal, cast

from paramsym.errors import ArgumentError, ShapeError
from paramsym.extents import View, differ, exactly, share
from paramsym.layer import Layer, Tensor
from paramsym.layers.axes import Pointwise, along_channels, axis_of
from paramsym.layers.dialects import Dialect
from paramsym.size import Dim, Shape, product, text


@dataclass(frozen=True)
class PReLU(Pointwise):
    """max(0, x) + a*min(0, x) with a learned slope a (He et al. 2015, section 2.1).

    ``weight`` is (num_parameters,): one slope for all channels, or one for each. With ``dialect="keras"`` it is ``alpha`` and has the shape
    of one input without its batch axis, 1 where Keras' ``shared_axes`` share a slope; ``num_parameters`` is then that shape. With
    ``dialect="flax"`` there is one slope for all, the scalar ``negative_slope``. Parameters: the number of slopes.

    Raises:
        ArgumentError: several axes in torch's dialect; more than one slope in Flax'.

    Reference: ``torch.nn.PReLU``; Keras: ``PReLU``; Flax: ``linen.PReLU``.

    >>> from paramsym import C
    >>> PReLU().params, PReLU(C).params, PReLU((1, 1, C), dialect="keras").shapes()
    (1, C, {'alpha': (1, 1, C)})
    """

    num_parameters: Dim | tuple[Dim, ...] = 1
    init: float = 0.25
    _: KW_ONLY
    dialect: Dialect = "torch"

    def tensors(self) -> Iterator[Tensor]:
        """The slopes."""
        shape = self.num_parameters if isinstance(self.num_parameters, tuple) else (self.num_parameters,)
        name = {"torch": "weight", "keras": "alpha", "flax": "negative_slope"}[self.dialect]
        yield Tensor(name, () if self.dialect == "flax" else shape, role="scale")

    def conditions(self) -> None:
        """Only Keras has slopes along several axes, and Flax has one."""
        if self.dialect == "flax" and self.num_parameters != 1:
            message = f"num_parameters is {self.num_parameters}; Flax has one slope for all."
            raise ArgumentError(message)
        if self.dialect == "torch" and isinstance(self.num_parameters, tuple):
            message = f"num_parameters is {self.num_parameters}; torch takes one number, slopes per axis are Keras' (dialect='keras')."
            raise ArgumentError(message)

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape; in torch a slope per channel wants that many channels on axis 1."""
        if self.dialect == "torch" and self.num_parameters != 1:
            channels = input_shape[1] if len(input_shape) > 1 else 1
            if differ(channels, cast("Dim", self.num_parameters)):
                message = f"there are {self.num_parameters} slopes for {channels} channels, on axis 1 of {text(input_shape)}."
                raise ShapeError(message)
        return input_shape

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """All slopes together are used once per entry."""
        slopes = product(self.own_tensors[0].sizes)
        return {self.own_tensors[0].name: share(product(input_shape[1:]), slopes)}


@dataclass(frozen=True)
class ReLU(Pointwise):
    """max(0, x). Reference: ``torch.nn.ReLU``.

    ``max_value``, ``negative_slope`` and ``threshold`` are Keras'.

    >>> ReLU().params
    0
    """

    inplace: bool = False
    _: KW_ONLY
    max_value: float | None = None
    negative_slope: float = 0.0
    threshold: float = 0.0


@dataclass(frozen=True)
class ReLU6(Pointwise):
    """min(max(0, x), 6). Reference: ``torch.nn.ReLU6``.

    >>> ReLU6().params
    0
    """

    inplace: bool = False


@dataclass(frozen=True)
class LeakyReLU(Pointwise):
    """max(0, x) + negative_slope*min(0, x). Reference: ``torch.nn.LeakyReLU``.

    >>> LeakyReLU(0.2).params
    0
    """

    negative_slope: float = 0.01
    inplace: bool = False


@dataclass(frozen=True)
class RReLU(Pointwise):
    """A leaky ReLU whose slope is drawn between ``lower`` and ``upper`` in training (Xu et al. 2015). Reference: ``torch.nn.RReLU``.

    >>> RReLU().params
    0
    """

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


@dataclass(frozen=True)
class ELU(Pointwise):
    """x above zero, alpha*(exp(x) - 1) below (Clevert et al. 2016). Reference: ``torch.nn.ELU``.

    >>> ELU().params
    0
    """

    alpha: float = 1.0
    inplace: bool = False


@dataclass(frozen=True)
class CELU(Pointwise):
    """max(0, x) + min(0, alpha*(exp(x/alpha) - 1)) (Barron 2017). Reference: ``torch.nn.CELU``.

    >>> CELU().params
    0
    """

    alpha: float = 1.0
    inplace: bool = False


@dataclass(frozen=True)
class SELU(Pointwise):
    """A scaled ELU with fixed constants (Klambauer et al. 2017). Reference: ``torch.nn.SELU``.

    >>> SELU().params
    0
    """

    inplace: bool = False


@dataclass(frozen=True)
class GELU(Pointwise):
    """x times the normal distribution function of x (Hendrycks and Gimpel 2016), exactly or by tanh. Reference: ``torch.nn.GELU``.

    Raises:
        ArgumentError: an unknown approximation.

    >>> GELU("tanh").params
    0
    """

    approximate: Literal["none", "tanh"] = "none"


@dataclass(frozen=True)
class SiLU(Pointwise):
    """x times its sigmoid, also called swish (Elfwing et al. 2018). Reference: ``torch.nn.SiLU``.

    >>> SiLU().params
    0
    """

    inplace: bool = False


@dataclass(frozen=True)
class Mish(Pointwise):
    """x*tanh(softplus(x)) (Misra 2019). Reference: ``torch.nn.Mish``.

    >>> Mish().params
    0
    """

    inplace: bool = False


@dataclass(frozen=True)
class Sigmoid(Pointwise):
    """1/(1 + exp(-x)). Reference: ``torch.nn.Sigmoid``.

    >>> Sigmoid().params
    0
    """


@dataclass(frozen=True)
class LogSigmoid(Pointwise):
    """The logarithm of the sigmoid. Reference: ``torch.nn.LogSigmoid``.

    >>> LogSigmoid().params
    0
    """


@dataclass(frozen=True)
class Tanh(Pointwise):
    """The hyperbolic tangent. Reference: ``torch.nn.Tanh``.

    >>> Tanh().params
    0
    """


@dataclass(frozen=True)
class Tanhshrink(Pointwise):
    """x - tanh(x). Reference: ``torch.nn.Tanhshrink``.

    >>> Tanhshrink().params
    0
    """


@dataclass(frozen=True)
class Hardtanh(Pointwise):
    """x cut off below ``min_val`` and above ``max_val``. Reference: ``torch.nn.Hardtanh``, whose older spellings are taken, too.

    Raises:
        ArgumentError: a lower end that is not below the upper one.

    >>> Hardtanh(0, 6).params
    0
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    min_value: float | None = None
    max_value: float | None = None

    def conditions(self) -> None:
        """The lower end is below the upper one."""
        lower = self.min_val if self.min_value is None else self.min_value
        upper = self.max_val if self.max_value is None else self.max_value
        if lower >= upper:
            message = f"min_val {lower} is not below max_val {upper}."
            raise ArgumentError(message)


@dataclass(frozen=True)
class Hardsigmoid(Pointwise):
    """A sigmoid of three straight pieces, x/6 + 1/2 between -3 and 3. Reference: ``torch.nn.Hardsigmoid``.

    >>> Hardsigmoid().params
    0
    """

    inplace: bool = False


@dataclass(frozen=True)
class Hardswish(Pointwise):
    """x times its hard sigmoid (Howard et al. 2019). Reference: ``torch.nn.Hardswish``.

    >>> Hardswish().params
    0
    """

    inplace: bool = False


@dataclass(frozen=True)
class Hardshrink(Pointwise):
    """x, but zero between -lambd and lambd. Reference: ``torch.nn.Hardshrink``.

    >>> Hardshrink().params
    0
    """

    lambd: float = 0.5


@dataclass(frozen=True)
class Softshrink(Pointwise):
    """x moved by lambd towards zero, and zero in between. Reference: ``torch.nn.Softshrink``.

    >>> Softshrink().params
    0
    """

    lambd: float = 0.5


@dataclass(frozen=True)
class Softplus(Pointwise):
    """log(1 + exp(beta*x))/beta, and x above ``threshold``. Reference: ``torch.nn.Softplus``.

    >>> Softplus().params
    0
    """

    beta: float = 1.0
    threshold: float = 20.0


@dataclass(frozen=True)
class Softsign(Pointwise):
    """x/(1 + abs(x)). Reference: ``torch.nn.Softsign``.

    >>> Softsign().params
    0
    """


@dataclass(frozen=True)
class Threshold(Pointwise):
    """x above ``threshold``, ``value`` elsewhere. Reference: ``torch.nn.Threshold``.

    >>> Threshold(0.1, 20).params
    0
    """

    threshold: float
    value: float
    inplace: bool = False


class _AlongAxis(Layer):
    """What sums over an axis, and so sees all of it."""

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape; it must have the axis."""
        along: int | tuple[int, ...] | None = self.dim  # type: ignore[attr-defined]
        for dim in along if isinstance(along, tuple) else (along,):
            if dim is not None:
                axis_of(dim, input_shape)
        return input_shape

    def views(self) -> tuple[View, ...]:
        """Along every other axis, an output entry sees its own input entry."""
        return along_channels(self.dim)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Softmax(_AlongAxis):
    """exp(x) divided by its sum along ``dim``; along several, Keras sums over all of them. Reference: ``torch.nn.Softmax``.

    >>> Softmax(dim=-1).params
    0
    """

    dim: int | tuple[int, ...] | None = None


@dataclass(frozen=True)
class Softmax2d(Pointwise):
    """A softmax over the channels at every place of an image. Reference: ``torch.nn.Softmax2d``.

    >>> Softmax2d().params
    0
    """

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape: channels, height and width, and a batch axis or none."""
        if len(input_shape) not in {3, 4}:
            message = f"wanted 3 or 4 axes, (batch, channels, height, width); found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        return input_shape


@dataclass(frozen=True)
class Softmin(_AlongAxis):
    """The softmax of -x along ``dim``. Reference: ``torch.nn.Softmin``.

    >>> Softmin(dim=-1).params
    0
    """

    dim: int | None = None


@dataclass(frozen=True)
class LogSoftmax(_AlongAxis):
    """The logarithm of the softmax along ``dim``. Reference: ``torch.nn.LogSoftmax``.

    >>> LogSoftmax(dim=-1).params
    0
    """

    dim: int | None = None


@dataclass(frozen=True)
class GLU(Layer):
    """The first half along ``dim`` times the sigmoid of the second (Dauphin et al. 2017). Reference: ``torch.nn.GLU``.

    It halves the extent of ``dim``.

    >>> GLU().params
    0
    """

    dim: int = -1

    def output_shape(self, input_shape: Shape) -> Shape:
        """Half the extent of ``dim``, which must be even."""
        position = axis_of(self.dim, input_shape)
        whole = input_shape[position]
        half = None if whole is None else exactly(whole, 2, "the entries to halve")
        return (*input_shape[:position], half, *input_shape[position + 1 :])

    def views(self) -> tuple[View, ...]:
        """Along every other axis, an output entry sees its own input entry."""
        return along_channels(self.dim)


@dataclass(frozen=True)
class Activation(Pointwise):
    """An activation known by its name only, as Keras' ``Activation("hard_silu")``; it stores nothing.

    >>> Activation("log_softmax").params
    0
    """

    function: str
