"""Layers whose matrix is stored in another form and computed before every use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from paramsym import program as ops
from paramsym.algebra.size import Axis, factors_of
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.layers.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from paramsym.layers.siblings import Sibling
from paramsym.layers.wrappers import keras_name

if TYPE_CHECKING:
    from paramsym.program import Own, Value


class _Reparametrized(Sibling):
    """The common base: one tensor of a layer without parts is stored in another form, the others unchanged."""

    knows: ClassVar[tuple[str, ...]]

    layer: Layer
    name: str

    def _refused(self) -> Iterator[str]:
        if self.layer.own_parts or not self.layer.own_tensors:
            yield f"layer is a {type(self.layer).__name__}; wanted one that stores its tensors itself, such as Dense or Conv2d."
        if self._dialect not in self.knows:
            yield f"layer is in dialect {self._dialect!r}, which has no {type(self).__name__}; wanted {' or '.join(self.knows)}."

    def conditions(self) -> None:
        super().conditions()
        self._tensor  # noqa: B018 - looking it up is the check

    @property
    def computed_as(self) -> Layer:
        """The layer inside, which defines the inputs."""
        return self.layer.computed_as

    def forward(self, own: Own, *inputs: Value) -> Any:
        values = {tensor.name: own[f"{self._above}{tensor.name}"] for tensor in self._others}
        return self.layer.forward(ops.Lent(self.layer, {**values, **self._worked_out(own)}), *inputs)

    def _worked_out(self, own: Own) -> dict[str, Value]:
        """Return the tensors that are not used directly."""
        raise NotImplementedError

    @property
    def _dialect(self) -> str:
        return str(getattr(self.layer, "dialect", "torch"))

    @property
    def _above(self) -> str:
        """The prefix of the layer's tensors."""
        return "layer_instance." if self._dialect == "flax" else ""

    def _prefixed(self, *tensors: Tensor) -> Iterator[Tensor]:
        yield from (replace(tensor, name=f"{self._above}{tensor.name}") for tensor in tensors)

    @property
    def _tensor(self) -> Tensor:
        tensors = self.layer.own_tensors
        found = next((tensor for tensor in tensors if tensor.name == (self.name or tensors[0].name)), None)
        if found is None:
            message = f"{type(self.layer).__name__} has no tensor {self.name!r}; it has {', '.join(tensor.name for tensor in tensors)}."
            raise UnknownNameError(message)
        return found

    @property
    def _others(self) -> tuple[Tensor, ...]:
        return tuple(tensor for tensor in self.layer.own_tensors if tensor is not self._tensor)

    def _axis(self, dim: int) -> int:
        rank = len(self._tensor.shape)
        if not -rank <= dim < rank:
            raise ArgumentError(f"dim is {dim}; {self._tensor.name} has {rank} axes.")
        return dim % rank


@dataclass(frozen=True)
class WeightNorm(_Reparametrized, knows=("torch", "flax")):
    r"""A layer with a matrix stored as lengths and directions, :math:`w = g \cdot v/\lVert v \rVert` (Salimans and Kingma 2016, section 2).

    ``name`` is the tensor, by default the layer's first. In torch it becomes ``parametrizations.weight.original0``, g, of its rank with 1
    on all axes but ``dim``, and ``parametrizations.weight.original1``, v, of its shape; ``dim=None``, or -1, has one length for all,
    a scalar. For a layer in Flax' dialect all tensors of the layer are under ``layer_instance``, and ``layer_instance.kernel.scale`` has
    the last axis. Parameters: those of the layer, and one length per output.

    Raises:
        ArgumentError: a layer with parts, or of Keras, which has no such wrapper; an impossible axis.
        UnknownNameError: a tensor that the layer does not have.

    Reference: ``torch.nn.utils.parametrizations.weight_norm``; Flax: ``linen.WeightNorm``.

    >>> from paramsym import Dense, F, H
    >>> WeightNorm(Dense(H, F)).params - Dense(H, F).params
    F
    >>> list(WeightNorm(Dense(H, F)).shapes())
    ['bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
    """

    layer: Layer
    name: str = ""
    dim: int | None = 0

    def conditions(self) -> None:
        super().conditions()
        self._kept  # noqa: B018 - looking it up is the check

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if self._dialect == "flax" and self.dim != 0:
            yield f"dim is {self.dim}, which needs dialect='torch'; for a layer of Flax the lengths are those of the last axis."

    def tensors(self) -> Iterator[Tensor]:
        directions, lengths = self._names
        if self._dialect == "flax":
            yield from self._prefixed(*self.layer.own_tensors)
            yield Tensor(lengths, self._tensor.shape[-1:], role="scale")
            return
        yield from self._others
        kept = self._kept
        shape = () if kept is None else tuple(axis if place == kept else 1 for place, axis in enumerate(self._tensor.shape))
        yield Tensor(lengths, shape, role="scale")
        yield replace(self._tensor, name=directions)

    def _worked_out(self, own: Own) -> dict[str, Value]:
        directions, lengths = self._names
        over = (axis for axis in range(len(self._tensor.shape)) if axis != self._kept)
        return {self._tensor.name: ops.normalise(own[directions], "length", *over, scale=own[lengths])}

    @property
    def _names(self) -> tuple[str, str]:
        """The names of directions and lengths."""
        name = self._tensor.name
        if self._dialect == "flax":
            return f"layer_instance.{name}", f"layer_instance.{name}.scale"
        return f"parametrizations.{name}.original1", f"parametrizations.{name}.original0"

    @property
    def _kept(self) -> int | None:
        """The axis of the lengths."""
        if self._dialect == "flax":
            return len(self._tensor.shape) - 1
        return None if self.dim in {None, -1} else self._axis(self.dim or 0)


@dataclass(frozen=True)
class SpectralNorm(_Reparametrized, knows=("torch", "keras", "flax")):
    r"""A layer whose matrix is divided by its largest singular value (Miyato et al. 2018, section 2.1), found by power iteration.

    The parameters are those of the layer; the vectors of the iteration are buffers. Names and shapes follow the layer's dialect:

    - torch: ``parametrizations.weight.original`` has the tensor's shape. The buffer ``parametrizations.weight.0._u`` is as long as axis
      ``dim``, and ``._v`` as the product of the other axes. ``dim=None`` is torch's default: 1 for transposed convolutions, otherwise 0.
    - Keras: the buffer ``vector_u`` is (1, last axis).
    - Flax: all tensors of the layer are under ``layer_instance``. Every tensor of two or more axes has the buffers
      ``layer_instance.kernel.u`` (1, last axis) and ``layer_instance.kernel.sigma``, a scalar.

    Raises:
        ArgumentError: a layer with parts; an impossible axis.
        UnknownNameError: a tensor that the layer does not have.

    Reference: ``torch.nn.utils.parametrizations.spectral_norm``; Keras: ``SpectralNormalization``; Flax: ``linen.SpectralNorm``.

    >>> from paramsym import Dense, F, H
    >>> SpectralNorm(Dense(H, F, bias=False)).shapes(buffers=True)
    {'parametrizations.weight.original': (F, H), 'parametrizations.weight.0._u': (F,), 'parametrizations.weight.0._v': (H,)}
    """

    layer: Layer
    name: str = ""
    dim: int | None = None
    _: KW_ONLY
    called: str = ""
    """Keras' name of the layer inside, if it differs from the default."""

    def conditions(self) -> None:
        super().conditions()
        if self.dim is not None:
            self._axis(self.dim)

    def _refused(self) -> Iterator[str]:
        yield from super()._refused()
        if self._dialect != "torch" and self.dim is not None:
            yield f"dim is {self.dim}, which needs dialect='torch'; for a layer of {self._dialect} the last axis is used."
        if self.called and self._dialect != "keras":
            yield f"called is {self.called!r}; only in Keras the layer inside has a name."

    def tensors(self) -> Iterator[Tensor]:
        tensor = self._tensor
        if self._dialect == "flax":
            yield from self._prefixed(*self.layer.own_tensors)
            for matrix in self._matrices:
                yield _vector(f"layer_instance.{matrix.name}.sigma")
                yield _vector(f"layer_instance.{matrix.name}.u", 1, matrix.shape[-1])
        elif self._dialect == "keras":
            yield from self._prefixed(tensor)
            yield _vector("vector_u", 1, tensor.shape[-1])
            yield from self._prefixed(*self._others)
        else:
            yield from self._others
            yield replace(tensor, name=f"parametrizations.{tensor.name}.original")
            if len(tensor.shape) > 1:
                columns = [factor for place, axis in enumerate(tensor.shape) if place != self._rows for factor in factors_of(axis)]
                yield _vector(f"parametrizations.{tensor.name}.0._u", tensor.shape[self._rows])
                yield _vector(f"parametrizations.{tensor.name}.0._v", tuple(columns))

    @property
    def _above(self) -> str:
        return f"{self.called or keras_name(self.layer)}." if self._dialect == "keras" else super()._above

    @property
    def _matrices(self) -> list[Tensor]:
        return [tensor for tensor in self.layer.own_tensors if len(tensor.shape) > 1]

    @property
    def _rows(self) -> int:
        """The axis of the rows in torch."""
        usual = 1 if isinstance(self.layer, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
        return self._axis(usual if self.dim is None else self.dim)

    def _worked_out(self, own: Own) -> dict[str, Value]:
        """Divide the tensor by its largest singular value; Keras stores the divided tensor, and Flax iterates once more."""
        tensor = self._tensor
        if self._dialect == "keras":
            return {tensor.name: own[f"{self._above}{tensor.name}"]}
        if self._dialect == "flax":
            return {matrix.name: _iterated(own, f"layer_instance.{matrix.name}") for matrix in self._matrices}
        value = own[f"parametrizations.{tensor.name}.original"]
        if len(tensor.shape) == 1:
            return {tensor.name: value / (ops.apply("sqrt", ops.reduce("sum", value * value, keep=True)) + 1e-12)}
        u, v = (own[f"parametrizations.{tensor.name}.0.{name}"] for name in ("_u", "_v"))
        names = [f"a{n}" for n in range(len(tensor.shape))]
        rest = " ".join(name for n, name in enumerate(names) if n != self._rows)
        matrix = ops.rearrange(value, f"{' '.join(names)} -> a{self._rows} ({rest})")
        return {tensor.name: value / ops.contract("r, r -> ", u, ops.contract("r c, c -> r", matrix, v))}


def _iterated(own: Own, name: str) -> Value:
    """Divide a tensor of Flax by the singular value after one step of the iteration."""
    value = own[name]
    matrix = ops.rearrange(value, "... c -> (...) c")
    u = ops.take(own[f"{name}.u"], 0)
    v = _unit(ops.contract("c, r c -> r", u, matrix))
    u = _unit(ops.contract("r, r c -> c", v, matrix))
    return value / ops.contract("c, c -> ", ops.contract("r, r c -> c", v, matrix), u)


def _vector(name: str, *shape: Axis) -> Tensor:
    return Tensor(name, shape, role="statistic", buffer=True)


def _unit(vector: Value) -> Value:
    return vector * ops.apply("rsqrt", ops.reduce("sum", vector * vector, keep=True) + 1e-12)
