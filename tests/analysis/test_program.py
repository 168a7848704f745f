"""The steps of a program where their operands are equal, zero, or only zero as far as bounds can tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sympy import Integer, Mod, floor

from paramsym import A, Dim, F, G, H, K, Layer, Tensor, evaluate, per
from paramsym.errors import SizeError
from paramsym.size import at_most, divides


@dataclass(frozen=True)
class Share(Layer):
    """The channels of one of several groups; it asks for more than it need."""

    channels: Dim
    groups: Dim

    def conditions(self) -> None:
        """What divides a number is at most that number."""
        divides(self.groups, self.channels, "groups", "channels")
        at_most(self.groups, self.channels, "groups", "channels")

    def tensors(self) -> Iterator[Tensor]:
        """A vector."""
        yield Tensor("share", (per(self.channels, self.groups),))


def test_remainders() -> None:
    """Nothing is left of a number divided by itself; by zero nothing is divided."""
    assert evaluate(Mod(H, F), H=5, F=5) == 0
    assert evaluate(Mod(H, F), H=Integer(5), F=5) == 0  # SymPy's numbers go step by step
    with pytest.raises(SizeError, match=r"^the expression: 3 cannot be divided by zero"):
        evaluate(Mod(H, F - 5), H=3, F=5)


def test_no_power_is_one() -> None:
    """Two to the power of nothing."""
    assert evaluate(2 ** (K - 1), K=1) == 1


def test_a_divisor_that_looks_as_if_it_could_be_zero() -> None:
    """F is 3 or 5 and K 2 or 4: somewhere between the bounds they meet, but in no row."""
    pytest.importorskip("numpy")
    assert evaluate(floor(H / (F - K)), H=[7, 9], F=[3, 5], K=[2, 4]).tolist() == [7, 9]


def test_a_quotient_is_that_of_its_own_condition() -> None:
    """Another condition between the same two sizes gives no number."""
    assert evaluate(Share(A, G), A=12, G=4) == 3
