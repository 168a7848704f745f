"""Mixtures of experts: many feed-forward networks are stored, a few are used for a token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from paramsym.compose import Repeat
from paramsym.errors import ArgumentError
from paramsym.extents import View, Views
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.features import Featurewise
from paramsym.layers.feed_forward import GatedFeedForward
from paramsym.layers.stream import OneWidth, OverPositions
from paramsym.size import Axis, Dim, at_most, cat, stack


@dataclass(frozen=True)
class MixtureOfExperts(OverPositions):
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

    ``experts_first`` puts the experts before the router. Which arguments give which block of transformers:

    ============================  =============================================================================================
    block                         arguments
    ============================  =============================================================================================
    ``MixtralSparseMoeBlock``     none
    ``Qwen2MoeSparseMoeBlock``    shared_dim, shared="shared_expert", shared_gate=True
    ``DeepseekV2Moe``             shared_dim (n_shared_experts * F), experts_first=True
    ``DeepseekV3MoE``             the same and correction_bias=True
    ``GptOssMLP``                 router="router", router_bias=True, transposed=True, expert_bias=True
    ============================  =============================================================================================

    ``.params`` counts what is stored, ``.active`` what one token uses: the router, k experts and the shared ones.

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

    def conditions(self) -> None:
        """A token uses no more experts than there are; options of the stack need a stack, options of shared experts need those."""
        at_most(self.experts_per_token, self.num_experts, "experts_per_token", "num_experts")
        if self.transposed and self.storage != "stacked":
            message = "transposed says how a stack of experts is laid out; it needs storage='stacked'."
            raise ArgumentError(message)
        if self.shared_gate and self.shared_dim is None:
            message = "shared_gate needs shared experts; give their width as shared_dim."
            raise ArgumentError(message)

    def parts(self) -> Iterator[Part]:
        """Router and experts in either order, then what all tokens share."""
        router = Part(self.router, Router(self.d_model, self.num_experts, self.router_bias, self.correction_bias))
        experts = Part("experts", self._experts())
        yield from (experts, router) if self.experts_first else (router, experts)
        if self.shared_dim is not None:
            yield Part(self.shared, _expert(self.d_model, self.shared_dim, bias=self.expert_bias, gated=self.gated))
            if self.shared_gate:
                yield Part(f"{self.shared}_gate", Dense(self.d_model, 1, bias=False))

    @property
    def width(self) -> Dim:  # type: ignore[override]
        """The width of the stream."""
        return self.d_model

    def views(self) -> tuple[View, ...]:
        """Every position sees itself."""
        return Views((), "channels_last")

    def _experts(self) -> Layer:
        if self.storage == "separate":
            expert = _expert(self.d_model, self.dim_feedforward, bias=self.expert_bias, gated=self.gated)
            return Repeat(expert, self.num_experts, used=self.experts_per_token)
        return StackedExperts(
            *(self.d_model, self.dim_feedforward, self.num_experts, self.experts_per_token),
            gated=self.gated,
            bias=self.expert_bias,
            transposed=self.transposed,
        )


@dataclass(frozen=True)
class StackedExperts(OneWidth):
    """All experts of a layer in two tensors: ``gate_up_proj`` (E, 2F, H), or ``up_proj`` (E, F, H), and ``down_proj`` (E, H, F).

    >>> from paramsym import E, F, H, K
    >>> StackedExperts(H, F, E, K).params, StackedExperts(H, F, E, K).active
    (3*E*F*H, 3*F*H*K)
    """

    per_token = True

    d_model: Dim
    dim_feedforward: Dim
    num_experts: Dim
    experts_per_token: Dim
    _: KW_ONLY
    gated: bool = True
    bias: bool = False
    transposed: bool = False

    def conditions(self) -> None:
        """A token uses no more experts than there are."""
        at_most(self.experts_per_token, self.num_experts, "experts_per_token", "num_experts")

    def tensors(self) -> Iterator[Tensor]:
        """The way up, then the way down, each followed by its bias."""
        width: Axis = cat(gate=self.dim_feedforward, up=self.dim_feedforward) if self.gated else self.dim_feedforward
        yield from self._projection("gate_up_proj" if self.gated else "up_proj", self.d_model, width)
        yield from self._projection("down_proj", self.dim_feedforward, self.d_model)

    @property
    def width(self) -> Dim:  # type: ignore[override]
        """The width of the stream."""
        return self.d_model

    def views(self) -> tuple[View, ...]:
        """Every position sees itself."""
        return Views((), "channels_last")

    def _projection(self, name: str, inputs: Axis, outputs: Axis) -> Iterator[Tensor]:
        experts = stack(self.num_experts, used=self.experts_per_token)
        yield Tensor(name, (experts, inputs, outputs) if self.transposed else (experts, outputs, inputs))
        if self.bias:
            yield Tensor(f"{name}_bias", (experts, outputs), role="bias")


@dataclass(frozen=True)
class Router(Featurewise):
    """The scores of E experts: ``weight`` (E, H), ``bias`` (E,), and a buffer ``e_score_correction_bias`` (E,) that balances the load.

    >>> from paramsym import E, H
    >>> Router(H, E).params
    E*H
    """

    d_model: Dim
    num_experts: Dim
    bias: bool = False
    correction_bias: bool = False

    def tensors(self) -> Iterator[Tensor]:
        """Weight, bias, buffer."""
        yield Tensor("weight", (self.num_experts, self.d_model))
        if self.bias:
            yield Tensor("bias", (self.num_experts,), role="bias")
        if self.correction_bias:
            yield Tensor("e_score_correction_bias", (self.num_experts,), role="statistic", buffer=True)

    @property
    def features(self) -> tuple[Axis, Axis]:
        """A score for each expert."""
        return self.d_model, self.num_experts


@dataclass(frozen=True)
class PlainExpert(OverPositions):
    """An expert without a gate: ``up_proj`` (F, H), ``down_proj`` (H, F).

    >>> from paramsym import F, H
    >>> PlainExpert(H, F).params
    2*F*H
    """

    d_model: Dim
    dim_feedforward: Dim
    bias: bool = False

    def parts(self) -> Iterator[Part]:
        """Up, then down."""
        yield Part("up_proj", Dense(self.d_model, self.dim_feedforward, self.bias))
        yield Part("down_proj", Dense(self.dim_feedforward, self.d_model, self.bias))

    @property
    def width(self) -> Dim:  # type: ignore[override]
        """The width of the stream."""
        return self.d_model

    def views(self) -> tuple[View, ...]:
        """Every position sees itself."""
        return Views((), "channels_last")


def _expert(d_model: Dim, width: Dim, *, bias: bool, gated: bool) -> Layer:
    return GatedFeedForward(d_model, width, bias) if gated else PlainExpert(d_model, width, bias)
