"""Selective state-space blocks: Mamba and Mamba-2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from paramsym.errors import SizeError
from paramsym.extents import View, Views, up_over
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.features import positions
from paramsym.layers.normalization import RMSNorm
from paramsym.layers.stream import OverPositions
from paramsym.size import Dim, Shape, Width, canonical, cat, divides, equal, extent, product


class _Mixer(OverPositions):
    """What both kinds share: a stream of one width, and tensors of their own that every position uses."""

    hidden_size: Dim

    @property
    def width(self) -> Dim:  # type: ignore[override]
        """The width of the stream."""
        return self.hidden_size

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """The state's own matrices are used once per position."""
        return {tensor.name: positions(input_shape) for tensor in self.own_tensors}


@dataclass(frozen=True)
class Mamba(_Mixer):
    """A Mamba block (Gu & Dao 2023, section 3.4), without the norm and the residual around it.

    With H = ``hidden_size``, I = ``expand``*H (or ``intermediate_size``), N = ``state_size``, K = ``conv_kernel`` and
    R = ``time_step_rank`` ("auto": the ceiling of H/16):

    - ``A_log`` (I, N), ``D`` (I,);
    - ``conv1d.weight`` (I, 1, K), ``conv1d.bias`` (I,) with ``use_conv_bias``;
    - ``in_proj.weight`` (2I, H) for input and gate; ``x_proj.weight`` (R + 2N, I) for the time step and the state's B and C;
    - ``dt_proj.weight`` (I, R), ``dt_proj.bias`` (I,); ``out_proj.weight`` (H, I);
    - ``use_bias``: a bias for ``in_proj`` and ``out_proj``.

    Reference: ``MambaMixer`` in transformers.

    >>> from paramsym import H, N, R
    >>> Mamba(H, N, time_step_rank=R).params
    6*H**2 + 6*H*N + 4*H*R + 14*H
    >>> Mamba(H).params
    6*H**2 + 4*H*ceiling(H/16) + 110*H
    >>> Mamba(768).params
    3770880
    """

    hidden_size: Dim
    state_size: Dim = 16
    conv_kernel: Dim = 4
    expand: Dim = 2
    time_step_rank: Dim | Literal["auto"] = "auto"
    use_bias: bool = False
    use_conv_bias: bool = True
    intermediate_size: Dim | None = None

    def tensors(self) -> Iterator[Tensor]:
        """The state's own matrices."""
        yield Tensor("A_log", (self._inner, self.state_size))
        yield Tensor("D", (self._inner,))

    def parts(self) -> Iterator[Part]:
        """Convolution, projections."""
        inner, rank = self._inner, self._rank
        yield Part("conv1d", CausalConv1d(inner, self.conv_kernel, self.use_conv_bias))
        yield Part("in_proj", Dense(self.hidden_size, cat(x=inner, gate=inner), self.use_bias))
        yield Part("x_proj", Dense(inner, cat(dt=rank, B=self.state_size, C=self.state_size), bias=False))
        yield Part("dt_proj", Dense(rank, inner))
        yield Part("out_proj", Dense(inner, self.hidden_size, self.use_bias))

    @property
    def _inner(self) -> tuple[Dim, ...]:
        return (self.expand, self.hidden_size) if self.intermediate_size is None else (self.intermediate_size,)

    @property
    def _rank(self) -> Dim:
        return up_over(self.hidden_size, 16) if self.time_step_rank == "auto" else self.time_step_rank


@dataclass(frozen=True)
class Mamba2(_Mixer):
    """A Mamba-2 block (Dao & Gu 2024, section 7), without the norm and the residual around it.

    With H = ``hidden_size``, I = ``expand``*H, A = ``num_heads``, G = ``n_groups``, N = ``state_size`` and K = ``conv_kernel``:

    - ``dt_bias`` (A,), ``A_log`` (A,), ``D`` (A,);
    - ``conv1d.weight`` (I + 2GN, 1, K), ``conv1d.bias`` (I + 2GN,) with ``use_conv_bias``;
    - ``in_proj.weight`` (2I + 2GN + A, H) for gate, input, the state's B and C, and the time step; ``norm.weight`` (I,);
      ``out_proj.weight`` (H, I);
    - ``use_bias``: a bias for ``in_proj`` and ``out_proj``.

    ``head_dim`` is I/A; it can be given, and is then checked. Reference: ``Mamba2Mixer`` in transformers.

    Raises:
        DivisibilityError: ``num_heads`` does not divide ``expand * hidden_size``.
        SizeError: ``num_heads * head_dim`` is not ``expand * hidden_size``.

    >>> from paramsym import A, G, H, N
    >>> Mamba2(H, A, state_size=N, n_groups=G).params
    A*H + 3*A + 2*G*H*N + 10*G*N + 6*H**2 + 12*H
    >>> Mamba2(4096, 128, 64).params
    109635968
    """

    hidden_size: Dim
    num_heads: Dim
    head_dim: Dim | None = None
    state_size: Dim = 128
    conv_kernel: Dim = 4
    expand: Dim = 2
    n_groups: Dim = 8
    use_bias: bool = False
    use_conv_bias: bool = True

    def conditions(self) -> None:
        """The heads divide the inner width between them."""
        self._inner()
        if self.head_dim is not None:
            heads, inner = canonical(self.num_heads * self.head_dim), canonical(self.expand * self.hidden_size)
            if not equal(heads, inner):
                message = f"num_heads * head_dim is {self.num_heads}*{self.head_dim} = {heads}, but expand * hidden_size is {inner}."
                raise SizeError(message)

    def tensors(self) -> Iterator[Tensor]:
        """One number per head, three times."""
        yield Tensor("dt_bias", (self.num_heads,), role="bias")
        yield Tensor("A_log", (self.num_heads,))
        yield Tensor("D", (self.num_heads,))

    def parts(self) -> Iterator[Part]:
        """Convolution, projections and the norm between them."""
        inner, state = self._inner(), (self.n_groups, self.state_size)
        yield Part("conv1d", CausalConv1d(cat(x=inner, B=state, C=state), self.conv_kernel, self.use_conv_bias))
        yield Part("in_proj", Dense(self.hidden_size, cat(gate=inner, x=inner, B=state, C=state, dt=self.num_heads), self.use_bias))
        yield Part("norm", RMSNorm(canonical(self.expand * self.hidden_size)))
        yield Part("out_proj", Dense(inner, self.hidden_size, self.use_bias))

    def _inner(self) -> tuple[Dim, Dim]:
        width = canonical(self.expand * self.hidden_size)
        return self.num_heads, divides(self.num_heads, width, "num_heads", "expand * hidden_size")


@dataclass(frozen=True)
class CausalConv1d(Layer):
    """A depthwise convolution along the sequence: ``weight`` (channels, 1, kernel_size), ``bias`` (channels,).

    >>> from paramsym import C, K
    >>> CausalConv1d(C, K).params
    C*K + C
    """

    channels: Width
    kernel_size: Dim
    bias: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The kernel of each channel, then the bias."""
        yield Tensor("weight", (self.channels, 1, self.kernel_size))
        if self.bias:
            yield Tensor("bias", (self.channels,), role="bias")

    def reached(self, places: Shape) -> Shape:
        """The channels first, then the positions."""
        return (*places[:1], extent(self.channels), product(places[1:]))

    def output_shape(self, input_shape: Shape) -> Shape:
        """Padding on the left keeps the length; the shape is (batch, channels, length)."""
        return input_shape

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Every weight and bias is used once per position."""
        return {tensor.name: product(input_shape[2:]) for tensor in self.own_tensors}

    def views(self) -> tuple[View, ...]:
        """The kernel."""
        return Views((View(self.kernel_size, 1),), "channels_first")
