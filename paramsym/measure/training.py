"""The FLOPs and the time of a whole training run: 6ND and the exact count."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from sympy import Expr, Integer, Rational

from paramsym.algebra.letters import Lettering
from paramsym.algebra.size import Count, count
from paramsym.arguments import amount
from paramsym.core.layer import Layer
from paramsym.core.ledger import Ledger
from paramsym.errors import ArgumentError
from paramsym.measure.cost import Cost
from paramsym.measure.machines import Machine, Speed, exact_share, machine_of
from paramsym.measure.options import telling_options
from paramsym.measure.work import flops
from paramsym.naming import described
from paramsym.program.statement import class_name
from paramsym.render.table import Table

_DAY = 86_400


@dataclass(frozen=True, repr=False)
class Training(Cost):
    """The FLOPs of a training run as a cost, and their time on ``devices`` devices at a share of their stated speed.

    ``per_token`` is the cost of one token, forward and backward; ``estimate`` is 6ND, with N the parameters that a token uses.
    """

    per_token: Cost = field(kw_only=True)
    tokens: Count = field(kw_only=True)
    parameters: Expr = field(kw_only=True)
    devices: int = field(kw_only=True)
    machine: Machine = field(kw_only=True)
    utilisation: Rational = field(kw_only=True)

    @property
    def flops(self) -> Expr:
        """The FLOPs of the whole run, by the given convention; the same as ``total``."""
        return self.total

    @property
    def estimate(self) -> Expr:
        """6 times parameters times tokens (Kaplan et al. 2020)."""
        return (6 * self.parameters * self.tokens).expand()

    @property
    def speed(self) -> Rational:
        """The FLOPs that one device does in a second."""
        return cast("Rational", self.machine.flops * self.utilisation)

    @property
    def seconds(self) -> Expr:
        """The seconds of the run on all devices, exactly."""
        return self.flops / (self.speed * self.devices)

    @property
    def days(self) -> Expr:
        """The same in days."""
        return self.seconds / _DAY

    def __str__(self) -> str:
        name = class_name(self.layer)
        if not self.days.is_Rational:
            return f"{name}: {self.flops} FLOPs, 6ND = {self.estimate}"
        ratio = float(self.flops / self.estimate)
        return (
            f"{name}: {float(self.flops):.4g} FLOPs for {int(self.tokens):,} tokens ({ratio:.3f} times 6ND), "
            f"{float(self.days):.4g} days on {self.devices:,} device{'s' * (self.devices != 1)}"
        )

    def table(self, depth: int | None = None, *, letters: Lettering = None) -> Table:
        """Return the figures as a table; with a depth, the FLOPs of every part."""
        if depth is not None:
            return super().table(depth, letters=letters)
        rows = (
            ("FLOPs per token", self.per_token.total),
            ("tokens", self.tokens),
            ("FLOPs", self.flops),
            ("6ND", self.estimate),
            ("devices", f"{self.devices:,} {self.machine.name} at {float(100 * self.utilisation):.4g} % of their speed"),
            ("days", f"{float(self.days):.4g}" if self.days.is_Rational else self.days),
        )
        return Table(("", "value"), rows, (), str(self))


@telling_options
def training(
    layer: Layer,
    *inputs: Any,
    tokens: Any,
    devices: int = 1,
    machine: Speed = "h100",
    utilisation: Any = "40 %",
    convention: str = "matmul",
    **named: Any,
) -> Training:
    """Return the FLOPs of a training run on ``tokens`` tokens, and the days that it takes.

    A token costs what ``flops`` counts forward and backward for sequences of the inputs' length; ``devices`` work at the share
    ``utilisation`` of the speed of a ``machine``. The share is exact: a fraction, or a string such as ``"40 %"``.

    Raises:
        ShapeError, NotYetError, ArgumentError: as ``flops``; an unknown machine, or an impossible share.
        SizeError: tokens that are not a whole number; 2e12 is one, and so is "2T".

    >>> import paramsym as ps
    >>> print(training(ps.load("meta-llama/Llama-2-7b-hf"), (1, 4096), tokens=2 * 10**12, devices=1024, machine="a100"))
    LlamaForCausalLM: 9.217e+22 FLOPs for 2,000,000,000,000 tokens (1.140 times 6ND), 8.348 days on 1,024 devices
    """
    if type(devices) is not int or devices < 1:
        raise ArgumentError(f"devices is {described(devices)}; wanted a positive whole number.")
    per_token = flops(layer, *inputs, way="both", convention=convention, per="token", **named)
    device, share = machine_of(machine), exact_share(utilisation, "utilisation")
    number = count(_as_typed(tokens), "tokens")
    used = layer.active
    chosen: dict[str, Any] = {
        "tokens": number,
        "devices": devices,
        "machine": machine,
        "utilisation": utilisation,
        "convention": convention,
    }

    return Training(
        layer,
        per_token.inputs,
        per_token.unit,
        f"{convention}, training on {number} tokens",
        Ledger(tuple(line.but(factors=(number, *line.factors)) for line in per_token.ledger)),
        training,
        chosen,
        per_token=per_token,
        tokens=number,
        parameters=Integer(used) if isinstance(used, int) else used,
        devices=devices,
        machine=device,
        utilisation=share,
    )


def _as_typed(tokens: Any) -> Any:
    """Return the whole number that was typed as a float or with a unit: 1e23 is 10**23, which no float equals, and "1.4T" 1.4e12."""
    if isinstance(tokens, str):
        found = amount(tokens)
        return tokens if found is None else found
    return int(Decimal(repr(tokens))) if isinstance(tokens, float) and tokens.is_integer() else tokens
