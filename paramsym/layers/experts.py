"""Mixtures of experts: many feed-forward networks are stored, and a token uses a few of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.size import Axis, Dim, at_most, canonical, cat, divides, stack
from paramsym.core.compose import Repeat
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError
from paramsym.layers.axes import widened
from paramsym.layers.dense import Dense
from paramsym.layers.feed_forward import GatedFeedForward

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class MixtureOfExperts(Layer):
    """A router, E experts of which a token uses k, and experts that every token uses (Shazeer et al. 2017; Mixtral 2024, section 2.1).

    With H = ``d_model``, F = ``dim_feedforward`` and E = ``num_experts``:

    - ``gate.weight`` (E, H), the router, under the name ``router``; ``gate.bias`` (E,) with ``router_bias``; the buffer
      ``gate.e_score_correction_bias`` (E,) with ``correction_bias`` (DeepSeek-V3 2024, section 2.1.2);
    - ``storage="stacked"``: ``experts.gate_up_proj`` (E, 2F, H) and ``experts.down_proj`` (E, H, F), each followed by its ``..._bias`` with
      ``expert_bias``; ``transposed`` exchanges the last two axes; experts that are not ``gated`` have ``experts.up_proj`` (E, F, H);
    - ``storage="separate"``: ``experts.0.gate_proj.weight`` (F, H), ``experts.0.up_proj.weight`` (F, H),
      ``experts.0.down_proj.weight`` (H, F), ``experts.1...``;
    - ``shared_dim``: the width of the experts that every token uses, kept as one gated network ``shared_experts`` (name: ``shared``), and
      with ``shared_gate`` a gate ``<shared>_gate.weight`` (1, H).

    ``experts_first`` puts the experts before the router. The computation: ``scores`` turns the router's outputs into weights, the k largest
    of which are ``normalised`` to a sum of 1 and multiplied by ``weights_scale``; with ``groups`` only experts of the best
    ``groups_per_token`` groups are chosen. ``activation`` is that of the experts; ``limit`` clamps its input (GPT-OSS).

    Which arguments give which block of transformers:

    ============================  =============================================================================================
    block                         arguments
    ============================  =============================================================================================
    ``MixtralSparseMoeBlock``     none
    ``Qwen2MoeSparseMoeBlock``    shared_dim, shared="shared_expert", shared_gate=True, normalised=False
    ``DeepseekV2Moe``             shared_dim (n_shared_experts * F), experts_first=True, normalised=False
    ``DeepseekV3MoE``             the first two, correction_bias=True, scores="sigmoid"
    ``GptOssMLP``                 router="router", router_bias=True, scores="chosen", transposed=True, expert_bias=True, limit=7.0
    ============================  =============================================================================================

    ``.params`` counts the stored parameters, ``.active`` those that one token uses: the router, k experts and the shared ones.

    Raises:
        SizeError: more experts used than stored.
        ArgumentError: arguments that exclude each other.

    >>> from paramsym import E, F, H, K
    >>> experts = MixtureOfExperts(H, F, E, K)
    >>> experts.params, experts.active
    (3*E*F*H + E*H, E*H + 3*F*H*K)
    >>> mixtral = MixtureOfExperts(4096, 14336, 8, 2)
    >>> mixtral.params, mixtral.active
    (1409318912, 352354304)
    """

    d_model: Dim
    dim_feedforward: Dim
    num_experts: Dim
    experts_per_token: Dim
    _: KW_ONLY
    gated: bool = True
    expert_bias: bool = False
    storage: Literal["stacked", "separate"] = "stacked"
    transposed: bool = False
    router: str = "gate"
    router_bias: bool = False
    correction_bias: bool = False
    shared_dim: Dim | None = None
    shared: str = "shared_experts"
    shared_gate: bool = False
    experts_first: bool = False
    activation: str = "silu"
    limit: float | None = None
    scores: Literal["softmax", "sigmoid", "chosen"] = "softmax"
    normalised: bool = True
    weights_scale: float = 1.0
    groups: Dim = 1
    groups_per_token: Dim = 1

    def conditions(self) -> None:
        at_most(self.experts_per_token, self.num_experts, "experts_per_token", "num_experts")
        if self.transposed and self.storage != "stacked":
            raise ArgumentError("transposed is the layout of a stack of experts; it needs storage='stacked'.")
        divides(self.groups, self.num_experts, "groups", "num_experts")
        at_most(self.groups_per_token, self.groups, "groups_per_token", "groups")
        if self.shared_gate and self.shared_dim is None:
            raise ArgumentError("shared_gate needs shared experts; give their width as shared_dim.")

    def parts(self) -> Iterator[Part]:
        choice = ("experts_per_token", "scores", "normalised", "weights_scale", "groups", "groups_per_token")
        given = {name: getattr(self, name) for name in choice}
        router = Part(self.router, Router(self.d_model, self.num_experts, self.router_bias, self.correction_bias, **given))
        experts = Part("experts", self._experts())
        yield from (experts, router) if self.experts_first else (router, experts)
        if self.shared_dim is not None:
            yield Part(self.shared, self._expert(self.shared_dim))
            if self.shared_gate:
                yield Part(f"{self.shared}_gate", Dense(self.d_model, 1, bias=False))

    def forward(self, own: Own, x: Value) -> Value:
        _, weights, chosen = own[self.router](x)
        y = own.experts(x, weights, chosen)
        if self.shared_dim is None:
            return y
        shared = own[self.shared](x)
        return y + (shared * ops.apply("sigmoid", own[f"{self.shared}_gate"](x)) if self.shared_gate else shared)

    def _expert(self, width: Dim) -> Layer:
        return (GatedFeedForward if self.gated else PlainExpert)(self.d_model, width, self.expert_bias, self.activation)

    def _experts(self) -> Layer:
        if self.storage == "separate":
            return Repeat(self._expert(self.dim_feedforward), self.num_experts, used=self.experts_per_token)
        return StackedExperts(
            *(self.d_model, self.dim_feedforward, self.num_experts, self.experts_per_token),
            gated=self.gated,
            bias=self.expert_bias,
            transposed=self.transposed,
            activation=self.activation,
            limit=self.limit,
        )


@dataclass(frozen=True)
class StackedExperts(Layer):
    """All experts of a layer in two tensors: ``gate_up_proj`` (E, 2F, H), or ``up_proj`` (E, F, H), and ``down_proj`` (E, H, F).

    >>> from paramsym import E, F, H, K
    >>> StackedExperts(H, F, E, K).params, StackedExperts(H, F, E, K).active
    (3*E*F*H, 3*F*H*K)
    """

    d_model: Dim
    dim_feedforward: Dim
    num_experts: Dim
    experts_per_token: Dim
    _: KW_ONLY
    gated: bool = True
    bias: bool = False
    transposed: bool = False
    activation: str = "silu"
    limit: float | None = None
    alpha: float = 1.702

    def conditions(self) -> None:
        at_most(self.experts_per_token, self.num_experts, "experts_per_token", "num_experts")

    def tensors(self) -> Iterator[Tensor]:
        width: Axis = cat(gate=self.dim_feedforward, up=self.dim_feedforward) if self.gated else self.dim_feedforward
        yield from self._projection("gate_up_proj" if self.gated else "up_proj", self.d_model, width)
        yield from self._projection("down_proj", self.dim_feedforward, self.d_model)

    def forward(self, own: Own, x: Value, weights: Value | None = None, chosen: Value | None = None) -> Value:
        """The weighted sum of the chosen experts' results for each position.

        Without weights and numbers, the first expert is used instead of those that a router would choose.
        """
        if weights is None or chosen is None:
            weights, chosen = ops.unchosen(x, self.experts_per_token)
        rows, weights = ops.dispatch(ops.features(x, self.d_model), weights, chosen)
        y = self._projected(own, "gate_up_proj" if self.gated else "up_proj", rows, chosen)
        y = self._projected(own, "down_proj", self._activated(own, y), chosen)
        return ops.collect(y * widened(weights))

    def function(self, own: Own, y: Value) -> Value:  # noqa: ARG002 - what learns is a subclass
        return ops.apply(self.activation, y)

    def _activated(self, own: Own, y: Value) -> Value:
        """The activated gate times the other half; with a limit both are clamped, and their entries alternate."""
        if not self.gated:
            return self.function(own, y)
        if self.limit is None:
            gate, up = ops.segments(y)
            return self.function(own, gate) * up
        gate, up = (ops.take(y, -1, start, self.dim_feedforward, 2) for start in (0, 1))
        gate, up = ops.apply("clip", gate, -inf, self.limit), ops.apply("clip", up, -self.limit, self.limit)
        return (up + 1) * (gate * ops.apply("sigmoid", gate * self.alpha))

    def _projected(self, own: Own, name: str, x: Value, chosen: Value) -> Value:
        spec = f"... i, ... {'i o' if self.transposed else 'o i'} -> ... o"
        y = ops.contract(spec, x, ops.choose(own[name], chosen))
        return y + ops.choose(own[f"{name}_bias"], chosen) if self.bias else y

    def _projection(self, name: str, inputs: Axis, outputs: Axis) -> Iterator[Tensor]:
        experts = stack(self.num_experts, used=self.experts_per_token)
        yield Tensor(name, (experts, inputs, outputs) if self.transposed else (experts, outputs, inputs))
        if self.bias:
            yield Tensor(f"{name}_bias", (experts, outputs), role="bias")


@dataclass(frozen=True)
class Router(Layer):
    """The scores of E experts: ``weight`` (E, H), ``bias`` (E,), and a buffer ``e_score_correction_bias`` (E,) that balances the load.

    With ``experts_per_token`` it also chooses, as in ``MixtureOfExperts``: scores, weights and the numbers of the chosen experts.

    >>> from paramsym import E, H
    >>> Router(H, E).params
    E*H
    """

    d_model: Dim
    num_experts: Dim
    bias: bool = False
    correction_bias: bool = False
    _: KW_ONLY
    experts_per_token: Dim | None = None
    scores: Literal["softmax", "sigmoid", "chosen"] = "softmax"
    normalised: bool = True
    weights_scale: float = 1.0
    groups: Dim = 1
    groups_per_token: Dim = 1

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.num_experts, self.d_model))
        if self.bias:
            yield Tensor("bias", (self.num_experts,), role="bias")
        if self.correction_bias:
            yield Tensor("e_score_correction_bias", (self.num_experts,), role="statistic", buffer=True)

    def forward(self, own: Own, x: Value) -> Value | tuple[Value, Value, Value]:
        """The scores, and the weights and numbers of the chosen experts."""
        y = ops.contract("... i, o i -> ... o", ops.features(x, self.d_model), own.weight)
        y = y + own.bias if self.bias else y
        if self.experts_per_token is None:
            return y
        if self.scores == "chosen":
            weights, chosen = ops.best(y, self.experts_per_token)
            return y, ops.softmax(weights), chosen
        scores = ops.softmax(y) if self.scores == "softmax" else ops.apply("sigmoid", y)
        chances = scores + own.e_score_correction_bias if self.correction_bias else scores
        weights, chosen = ops.best(self._allowed(chances), self.experts_per_token)
        weights = ops.pick(scores, chosen) if self.correction_bias else weights
        weights = weights / ops.reduce("sum", weights, keep=True) if self.normalised else weights
        return y, weights if self.weights_scale == 1 else weights * self.weights_scale, chosen

    def _allowed(self, chances: Value) -> Value:
        """Hide the experts of all groups except the best; a group scores as its best expert, or with a correction as its best two."""
        if self.groups == 1 and not self.correction_bias:
            return chances
        names = " ".join(f"a{n}" for n in range(chances.rank - 1))
        apart = ops.rearrange(chances, f"{names} (g e) -> {names} g e", g=self.groups)
        rank = ops.reduce("sum", ops.best(apart, 2)[0]) if self.correction_bias else ops.reduce("max", apart)
        last = ops.take(ops.best(rank, self.groups_per_token)[0], -1, canonical(self.groups_per_token - 1), 1)
        kept = ops.compact(ops.copies(ops.compare(widened(rank - last), "greater_equal", 0), apart.sizes[-1], axis=-1))
        return ops.where(ops.rearrange(kept, f"{names} g e -> {names} (g e)"), chances, -inf if self.correction_bias else 0.0)


@dataclass(frozen=True)
class PlainExpert(Layer):
    """An expert without a gate: ``up_proj`` (F, H), ``down_proj`` (H, F).

    >>> from paramsym import F, H
    >>> PlainExpert(H, F).params
    2*F*H
    """

    d_model: Dim
    dim_feedforward: Dim
    bias: bool = False
    activation: str = "silu"

    def forward(self, own: Own, x: Value) -> Value:
        return own.down_proj(ops.apply(self.activation, own.up_proj(x)))

    def parts(self) -> Iterator[Part]:
        yield Part("up_proj", Dense(self.d_model, self.dim_feedforward, self.bias))
        yield Part("down_proj", Dense(self.dim_feedforward, self.d_model, self.bias))
