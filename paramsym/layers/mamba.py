"""Selective state-space blocks: Mamba and Mamba-2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.convolution import up_over
from paramsym.algebra.size import Dim, Width, canonical, cat, divides, equal, extent, per
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import NotYetError, SizeError
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class Mamba(Layer):
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
    hidden_act: str = "silu"

    def forward(self, own: Own, x: Value) -> Value:
        """Return (batch, positions, hidden size): a short convolution, then a linear recurrence with input-dependent rates."""
        x, gate = ops.segments(own.in_proj(ops.features(x, self.hidden_size)))
        x = ops.rearrange(activated(own, self.hidden_act, own.conv1d(ops.rearrange(x, "b s c -> b c s"))), "b c s -> b s c")
        rate, write, read = ops.segments(own.x_proj(x))
        rate = ops.rearrange(ops.apply("softplus", own.dt_proj(rate)), "b s i -> b s i ()")
        decay = ops.apply("exp", rate * -ops.apply("exp", own.A_log))
        entering = rate * ops.rearrange(write, "b s n -> b s () n") * ops.rearrange(x, "b s i -> b s i ()")

        def step(state: Value, decay: Value, entering: Value, read: Value) -> tuple[Value, ...]:
            state = decay * state + entering
            return state, ops.contract("b i n, b n -> b i", state, read)

        empty = ops.constant("zeros", (x.sizes[0], x.sizes[2], self.state_size))
        state, y = ops.scan(step, (empty,), decay, entering, read)
        ops.remember("recurrent", state)
        return own.out_proj((y + x * own.D) * ops.apply("silu", gate))

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("A_log", (self._inner, self.state_size))
        yield Tensor("D", (self._inner,))

    def parts(self) -> Iterator[Part]:
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
class Mamba2(Layer):
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
    hidden_act: str = "silu"
    chunk_size: Dim = 256
    time_step_limit: tuple[float, float] = (0.0, inf)
    layer_norm_epsilon: float = 1e-5

    def forward(self, own: Own, x: Value) -> Value:
        """Return (batch, positions, hidden size): a short convolution, then the recurrence in chunks (Dao & Gu 2024, section 6).

        Raises:
            NotYetError: several positions after earlier ones; a single position is a step, which the reference computes without chunks.
        """
        if ops.past() != 0 and x.sizes[1] != 1:
            message = f"{x.sizes[1]} positions of Mamba-2 after earlier ones are not supported yet; give one position, which is a step."
            raise NotYetError(message)
        inner, state = self._inner(), (self.n_groups, self.state_size)
        together = cat(x=inner, B=state, C=state)  # one piece, so that the convolution reads it without a copy
        gate, mixed, rate = ops.segments(own.in_proj(ops.features(x, self.hidden_size)), inner, together, self.num_heads)
        mixed = activated(own, self.hidden_act, own.conv1d(ops.rearrange(mixed, "b s c -> b c s")))
        x, write, read = ops.segments(ops.rearrange(mixed, "b c s -> b s c"))
        rate = ops.apply("softplus", rate + own.dt_bias)
        x = ops.heads(x)
        write, read = (
            ops.compact(ops.copies(ops.heads(one), canonical(per(self.num_heads, self.n_groups)), axis=2)) for one in (write, read)
        )
        if ops.past() != 0:
            y = self._step(x, rate, write, read, ops.apply("exp", own.A_log)) + x * ops.rearrange(own.D, "a -> a ()")
            return own.out_proj(own.norm(ops.rearrange(y, "b s a d -> b s (a d)"), gate))
        rate = ops.apply("clip", rate, *self.time_step_limit)
        decay = rate * -ops.apply("exp", own.A_log)
        entering = x * ops.rearrange(rate, "b s a -> b s a ()")
        past_by = self._padded(x) * ops.rearrange(own.D, "a -> a ()")
        y = self._recurrence(*(self._chunked(one) for one in (entering, decay, write, read)))
        y = ops.take(ops.rearrange(y, "b c l a d -> b (c l) a d") + past_by, 1, 0, x.sizes[1])
        return own.out_proj(own.norm(ops.rearrange(y, "b s a d -> b s (a d)"), gate))

    def _chunked(self, x: Value) -> Value:
        """Return (batch, positions, ...) padded to whole chunks, as (batch, chunks, positions in the chunk, ...)."""
        rest = " ".join("xy"[: x.rank - 2])
        return ops.rearrange(self._padded(x), f"b (c l) {rest} -> b c l {rest}", l=self.chunk_size)

    def _padded(self, x: Value) -> Value:
        """Return (batch, positions, ...) padded to whole chunks."""
        chunks = up_over(x.sizes[1], self.chunk_size)
        return ops.pad(x, ((0, canonical(chunks * self.chunk_size - x.sizes[1])), *((0, 0),) * (x.rank - 2)))

    def _step(self, x: Value, rate: Value, write: Value, read: Value, decay: Value) -> Value:
        """Return the output of one position, after the state decayed and got the position; the reference does not limit the rate here."""
        x, write, read = (ops.rearrange(one, "b () a n -> b a n") for one in (x, write, read))
        rate = ops.rearrange(rate, "b () a -> b a ()")
        before = ops.constant("zeros", (*x.sizes, self.state_size))  # in place of the kept state
        kept = ops.rearrange(ops.apply("exp", rate * ops.rearrange(decay * -1, "a -> a ()")), "b a () -> b a () ()")
        added = ops.rearrange(rate * write, "b a n -> b a () n") * ops.rearrange(x, "b a d -> b a d ()")
        state = ops.remember("recurrent", before * kept + added)
        return ops.rearrange(ops.contract("b a d n, b a n -> b a d", state, read), "b a d -> b () a d")

    def _recurrence(self, x: Value, decay: Value, write: Value, read: Value) -> Value:
        """Return the output of the states: within chunks by pairs of positions, and between chunks by their last states."""
        total = ops.cumulate(ops.rearrange(decay, "b c l a -> b a c l"))
        scores = ops.contract("b c l a n, b c s a n -> b a c l s", read, write) * between(total)
        inside = ops.contract("b a c l s, b c s a d -> b c l a d", scores, x)
        end = ops.take(total, 3, canonical(self.chunk_size - 1))
        left = ops.rearrange(ops.apply("exp", ops.rearrange(end, "b a c -> b a c ()") - total), "b a c l -> b c l a ()")
        states = ops.contract("b c l a n, b c l a d -> b c a d n", write * left, x)
        empty = ops.constant("zeros", (states.sizes[0], 1, *states.sizes[2:]))
        passed = between(ops.cumulate(ops.pad(end, ((1, 0),))))
        states = ops.contract("b a c z, b z a d n -> b a c d n", passed, ops.join(empty, states, axis=1))
        states = ops.rearrange(states, "b a c d n -> b c a d n")
        chunks = x.sizes[1]
        ops.remember("recurrent", ops.take(states, 1, chunks))
        before = ops.contract("b c l a n, b c a d n -> b c l a d", read, ops.take(states, 1, 0, chunks))
        return inside + before * ops.rearrange(ops.apply("exp", total), "b a c l -> b c l a ()")

    def conditions(self) -> None:
        self._inner()
        if self.head_dim is not None:
            heads, inner = canonical(self.num_heads * self.head_dim), canonical(self.expand * self.hidden_size)
            if not equal(heads, inner):
                raise SizeError(f"num_heads * head_dim is {self.num_heads}*{self.head_dim} = {heads}, but expand * hidden_size is {inner}.")

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("dt_bias", (self.num_heads,), role="bias")
        yield Tensor("A_log", (self.num_heads,))
        yield Tensor("D", (self.num_heads,))

    def parts(self) -> Iterator[Part]:
        inner, state = self._inner(), (self.n_groups, self.state_size)
        yield Part("conv1d", CausalConv1d(cat(x=inner, B=state, C=state), self.conv_kernel, self.use_conv_bias))
        yield Part("in_proj", Dense(self.hidden_size, cat(gate=inner, x=inner, B=state, C=state, dt=self.num_heads), self.use_bias))
        yield Part("norm", GatedGroupNorm(canonical(self.expand * self.hidden_size), self.n_groups, self.layer_norm_epsilon))
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
        yield Tensor("weight", (self.channels, 1, self.kernel_size))
        if self.bias:
            yield Tensor("bias", (self.channels,), role="bias")

    def forward(self, own: Own, x: Value) -> Value:
        """Return (batch, channels, positions): every position depends on itself and the ``kernel_size - 1`` before it.

        Like the reference, it pads both sides and takes the first positions; a later step has the earlier positions cached.
        """
        x, _ = ops.axes(x, "batch channels positions", channels=extent(self.channels))
        length, margin = x.sizes[2], canonical(self.kernel_size - 1)
        ops.remember("window", ops.pad(x, ((self.kernel_size, canonical(-length)),)))
        margins = (self.kernel_size, 0) if ops.past() != 0 else (margin, margin)
        y = ops.convolve(x, own.weight, (1,), (margins,), groups=x.sizes[1])
        y = y + ops.rearrange(own.bias, "c -> c ()") if self.bias else y
        return ops.take(y, 2, canonical(y.sizes[2] - length) if ops.past() != 0 else 0, length)


@dataclass(frozen=True)
class GatedGroupNorm(Layer):
    """An RMSNorm over groups of features, after a gate: ``weight`` (features,).

    Reference: ``MambaRMSNormGated`` in transformers.

    >>> from paramsym import H
    >>> GatedGroupNorm(H, 1).params
    H
    """

    features: Dim
    groups: Dim
    eps: float = 1e-5

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.features,), role="scale")

    def forward(self, own: Own, x: Value, gate: Value | None = None) -> Value:
        x = x if gate is None else x * ops.apply("silu", gate)
        x = ops.rearrange(ops.features(x, self.features), "... (g d) -> ... g d", g=self.groups)
        return ops.rearrange(ops.normalise(x, "rms", -1, eps=self.eps), "... g d -> ... (g d)") * own.weight


def activated(own: Own, function: str, x: Value) -> Value:
    """Apply the part ``act`` if present, otherwise the named function."""
    return own.act(x) if "act" in own else ops.apply(function, x)


def between(total: Value) -> Value:
    """Return exp(total_l - total_s) for pairs of positions (..., l, s), zero where s comes after l."""
    later, earlier = ops.rearrange(total, "... l -> ... l ()"), ops.rearrange(total, "... s -> ... () s")
    apart, pairs = later - earlier, (total.sizes[-1], total.sizes[-1])
    for hidden in (0.0, -inf):  # the reference masks twice, before and after a sum
        apart = ops.where(ops.constant("earlier", pairs, kind="truth"), apart, hidden)
    return ops.apply("exp", apart)
