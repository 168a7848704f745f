"""Activations: functions of every entry, or along one axis. Only ``PReLU`` stores a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, ClassVar, Literal, cast

from paramsym import program as ops
from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, text
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ShapeError
from paramsym.layers.axes import axis_of, per_channel
from paramsym.layers.dialects import Dialect
from paramsym.layers.siblings import Sibling, Variant

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class _Function(Variant):
    """An elementwise function: the name of its operation, and the fields that are its settings."""

    computes_by: ClassVar[tuple[str, ...]]
    inplace = False  # a field of some

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        name, *settings = self.computes_by
        return ops.apply(name, x, *(getattr(self, setting) for setting in settings), inplace=self.inplace)


@dataclass(frozen=True)
class _InPlace(_Function):
    """A function without settings, which torch may compute in place."""

    inplace: bool = False


@dataclass(frozen=True)
class PReLU(Sibling):
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
        shape = self.num_parameters if isinstance(self.num_parameters, tuple) else (self.num_parameters,)
        name = {"torch": "weight", "keras": "alpha", "flax": "negative_slope"}[self.dialect]
        yield Tensor(name, () if self.dialect == "flax" else shape, role="scale")

    def _refused(self) -> Iterator[str]:
        if self.dialect == "flax" and self.num_parameters != 1:
            yield f"num_parameters is {self.num_parameters}; Flax has one slope for all channels."
        if self.dialect == "torch" and isinstance(self.num_parameters, tuple):
            yield f"num_parameters is {self.num_parameters}; torch takes one number; dialect='keras' has slopes per axis."

    def forward(self, own: Own, x: Value) -> Value:
        slopes = own[self.own_tensors[0].name]
        if self.dialect == "torch" and self.num_parameters != 1:  # a slope per channel, on axis 1
            channels = x.sizes[1] if x.rank > 1 else 1
            if differ(channels, cast("Dim", self.num_parameters)):
                raise ShapeError(f"there are {self.num_parameters} slopes for {channels} channels, on axis 1 of {text(x.sizes)}.")
            slopes = per_channel(slopes, x.rank - 2)
        return sloped(x, slopes)


def sloped(x: Value, slopes: Value) -> Value:
    """Return entries above zero as they are, and those below multiplied by slopes."""

    def kernel(x: Value, slopes: Value) -> Value:
        return ops.apply("relu", x) + slopes * ops.apply("clip", x, -inf, 0.0)

    return ops.region("prelu", kernel, x, slopes, keeps=(ops.Kept("taken"), ops.Kept("taken", 1)))


@dataclass(frozen=True)
class ReLU(Layer):
    """max(0, x). Reference: ``torch.nn.ReLU``.

    ``max_value``, ``negative_slope`` and ``threshold`` are arguments of Keras.
    """

    inplace: bool = False
    _: KW_ONLY
    max_value: float | None = None
    negative_slope: float = 0.0
    threshold: float = 0.0

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        y = ops.apply("threshold", x, self.threshold, 0.0) if self.threshold else ops.apply("relu", x, inplace=self.inplace)
        y = y if self.max_value is None else ops.apply("clip", y, 0.0, self.max_value)
        return y - ops.apply("relu", self.threshold - x) * self.negative_slope if self.negative_slope else y


class ReLU6(_InPlace, computes_by=("relu6",)):
    """min(max(0, x), 6). Reference: ``torch.nn.ReLU6``."""


@dataclass(frozen=True)
class LeakyReLU(_Function, computes_by=("leaky_relu", "negative_slope")):
    """max(0, x) + negative_slope*min(0, x). Reference: ``torch.nn.LeakyReLU``."""

    negative_slope: float = 0.01
    inplace: bool = False


@dataclass(frozen=True)
class RReLU(_Function, computes_by=("leaky_relu", "slope")):
    """A leaky ReLU whose slope is drawn between ``lower`` and ``upper`` in training (Xu et al. 2015). Reference: ``torch.nn.RReLU``.

    Training keeps the slope of every entry, and the input, or with ``inplace`` the output.
    """

    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False

    @property
    def slope(self) -> float:
        """The mean slope, which evaluation uses."""
        return (self.lower + self.upper) / 2

    def forward(self, own: Own, x: Value) -> Value:
        keeps = (ops.Kept("given" if self.inplace else "taken"), ops.Kept("own", factors=x.sizes))
        return ops.region("rrelu", partial(super().forward, own), x, keeps=keeps)


@dataclass(frozen=True)
class ELU(_Function, computes_by=("elu", "alpha")):
    """x above zero, alpha*(exp(x) - 1) below (Clevert et al. 2016). Reference: ``torch.nn.ELU``."""

    alpha: float = 1.0
    inplace: bool = False


@dataclass(frozen=True)
class CELU(_Function, computes_by=("celu", "alpha")):
    """max(0, x) + min(0, alpha*(exp(x/alpha) - 1)) (Barron 2017). Reference: ``torch.nn.CELU``."""

    alpha: float = 1.0
    inplace: bool = False


class SELU(_InPlace, computes_by=("selu",)):
    """A scaled ELU with fixed constants (Klambauer et al. 2017). Reference: ``torch.nn.SELU``."""


@dataclass(frozen=True)
class GELU(Layer):
    """x times the normal distribution function of x (Hendrycks and Gimpel 2016), exactly or by tanh. Reference: ``torch.nn.GELU``.

    Raises:
        ArgumentError: an unknown approximation.
    """

    approximate: Literal["none", "tanh"] = "none"

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.apply("gelu_tanh" if self.approximate == "tanh" else "gelu", x)


class SiLU(_InPlace, computes_by=("silu",)):
    """x times its sigmoid, also called swish (Elfwing et al. 2018). Reference: ``torch.nn.SiLU``."""


class Mish(_InPlace, computes_by=("mish",)):
    """x*tanh(softplus(x)) (Misra 2019). Reference: ``torch.nn.Mish``."""


class Sigmoid(_Function, computes_by=("sigmoid",)):
    """1/(1 + exp(-x)). Reference: ``torch.nn.Sigmoid``."""


class LogSigmoid(_Function, computes_by=("logsigmoid",)):
    """The logarithm of the sigmoid. Reference: ``torch.nn.LogSigmoid``."""


class Tanh(_Function, computes_by=("tanh",)):
    """The hyperbolic tangent. Reference: ``torch.nn.Tanh``."""


class Tanhshrink(_Function, computes_by=("tanhshrink",)):
    """x - tanh(x). Reference: ``torch.nn.Tanhshrink``."""


@dataclass(frozen=True)
class Hardtanh(_Function, computes_by=("clip", "lower", "upper")):
    """x cut off below ``min_val`` and above ``max_val``. Reference: ``torch.nn.Hardtanh``, including its older argument names.

    Raises:
        ArgumentError: a lower bound that is not below the upper one.
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False
    min_value: float | None = None
    max_value: float | None = None

    def _refused(self) -> Iterator[str]:
        if self.lower >= self.upper:
            yield f"min_val {self.lower} is not below max_val {self.upper}."

    @property
    def lower(self) -> float:
        """The lower bound."""
        return self.min_val if self.min_value is None else self.min_value

    @property
    def upper(self) -> float:
        """The upper bound."""
        return self.max_val if self.max_value is None else self.max_value


class Hardsigmoid(_InPlace, computes_by=("hardsigmoid",)):
    """A sigmoid of three linear pieces, x/6 + 1/2 between -3 and 3. Reference: ``torch.nn.Hardsigmoid``."""


class Hardswish(_InPlace, computes_by=("hardswish",)):
    """x times its hard sigmoid (Howard et al. 2019). Reference: ``torch.nn.Hardswish``."""


@dataclass(frozen=True)
class Hardshrink(_Function, computes_by=("hardshrink", "lambd")):
    """x, but zero between -lambd and lambd. Reference: ``torch.nn.Hardshrink``."""

    lambd: float = 0.5


@dataclass(frozen=True)
class Softshrink(_Function, computes_by=("softshrink", "lambd")):
    """x moved by lambd towards zero, and zero in between. Reference: ``torch.nn.Softshrink``."""

    lambd: float = 0.5


@dataclass(frozen=True)
class Softplus(_Function, computes_by=("softplus", "beta", "threshold")):
    """log(1 + exp(beta*x))/beta, and x above ``threshold``. Reference: ``torch.nn.Softplus``."""

    beta: float = 1.0
    threshold: float = 20.0


class Softsign(_Function, computes_by=("softsign",)):
    """x/(1 + abs(x)). Reference: ``torch.nn.Softsign``."""


@dataclass(frozen=True)
class Threshold(_Function, computes_by=("threshold", "threshold", "value")):
    """x above ``threshold``, ``value`` elsewhere. Reference: ``torch.nn.Threshold``."""

    threshold: float
    value: float
    inplace: bool = False


@dataclass(frozen=True)
class Softmax(Layer):
    """exp(x) divided by its sum along ``dim``; along several, Keras sums over all of them. Reference: ``torch.nn.Softmax``."""

    dim: int | tuple[int, ...] | None = None

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        if not isinstance(self.dim, tuple):
            return ops.softmax(x, _axis(self.dim, x))
        y = ops.apply("exp", x)
        return y / ops.reduce("sum", y, *(axis_of(dim, x.sizes) for dim in self.dim), keep=True)


@dataclass(frozen=True)
class Softmax2d(Layer):
    """A softmax over the channels at every position of an image. Reference: ``torch.nn.Softmax2d``."""

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        x, restored = ops.axes(x, "[batch] channels height width")
        return restored(ops.softmax(x, 1))


@dataclass(frozen=True)
class Softmin(Layer):
    """The softmax of -x along ``dim``. Reference: ``torch.nn.Softmin``."""

    dim: int | None = None

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.softmax(-x, _axis(self.dim, x))


@dataclass(frozen=True)
class LogSoftmax(Layer):
    """The logarithm of the softmax along ``dim``. Reference: ``torch.nn.LogSoftmax``."""

    dim: int | None = None

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.softmax(x, _axis(self.dim, x), log=True)


def _axis(dim: int | None, x: Value) -> int:
    """Return the axis of a softmax; by default torch takes the first of one or three axes, otherwise the second."""
    return axis_of((0 if x.rank in {0, 1, 3} else 1) if dim is None else dim, x.sizes)


@dataclass(frozen=True)
class GLU(Layer):
    """The first half along ``dim`` times the sigmoid of the second (Dauphin et al. 2017). Reference: ``torch.nn.GLU``.

    It halves the extent of ``dim``.
    """

    dim: int = -1

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        return ops.glu(x, axis_of(self.dim, x.sizes))


@dataclass(frozen=True)
class Activation(Layer):
    """An activation known only by its name, as Keras' ``Activation("hard_silu")``. Reference: ``keras.activations``."""

    function: str

    def forward(self, own: Own, x: Value) -> Value:  # noqa: ARG002 - nothing is stored
        if self.function == "squareplus":
            return (x + ops.apply("sqrt", x * x + 4)) / 2
        if self.function == "sparse_sigmoid":
            return (ops.apply("clip", x, -1.0, 1.0) + 1) / 2
        name = {"exponential": "exp"}.get(self.function, self.function)
        return ops.apply(name, x) if ops.is_known(name) else ops.unknown(name, x)
