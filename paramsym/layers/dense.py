"""Fully connected layers, in every storage of their matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.size import Width
from paramsym.core.layer import Layer, Tensor
from paramsym.layers.dialects import Dialect

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class _Linear(Layer):
    """The common base of layers with one matrix."""

    in_features: Width
    out_features: Width
    bias: bool

    @property
    def _stored(self) -> tuple[str, str]:
        """The name of the matrix, and its axes."""
        return "weight", "i o"

    def tensors(self) -> Iterator[Tensor]:
        name, order = self._stored
        yield Tensor(name, (self.in_features, self.out_features) if order == "i o" else (self.out_features, self.in_features))
        if self.bias:
            yield Tensor("bias", (self.out_features,), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        name, order = self._stored
        y = ops.contract(f"... i, {order} -> ... o", ops.features(x, self.in_features), own[name])
        return y + own.bias if self.bias else y


@dataclass(frozen=True)
class Dense(_Linear):
    r"""A fully connected layer, :math:`y = W x + b`.

    ``weight`` is (out_features, in_features); ``bias``, if present, is (out_features,). With ``dialect="keras"`` and ``"flax"`` the
    first is ``kernel``, (in_features, out_features). Parameters: in*out + out.

    Raises:
        SizeError: a width that cannot be a positive integer.

    Reference: ``torch.nn.Linear``; Keras: ``Dense``; Flax: ``linen.Dense``, ``nnx.Linear``.

    >>> from paramsym import F, H
    >>> Dense(H, F).params
    F*H + F
    >>> Dense(H, F, bias=False, dialect="keras").shapes()
    {'kernel': (H, F)}
    """

    in_features: Width
    out_features: Width
    bias: bool = True
    _: KW_ONLY
    dialect: Dialect = "torch"

    @property
    def _stored(self) -> tuple[str, str]:
        return ("weight", "o i") if self.dialect == "torch" else ("kernel", "i o")


@dataclass(frozen=True)
class TransposedDense(_Linear):
    """A fully connected layer that stores the transposed matrix: ``weight`` is (in_features, out_features).

    Parameters: in*out + out. Reference: ``transformers.pytorch_utils.Conv1D`` of GPT-2 (Radford et al. 2019), whose constructor takes the
    two widths in the opposite order, ``Conv1D(nf, nx)``, and which always has a bias. Despite the name it is not a convolution.

    >>> from paramsym import F, H
    >>> TransposedDense(H, F).params, TransposedDense(H, F).shapes()
    (F*H + F, {'weight': (H, F), 'bias': (F,)})
    """

    in_features: Width
    out_features: Width
    bias: bool = True
