"""Memory of training and of inference against the published accounts of bytes per parameter."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import B, H, S
from paramsym.errors import ArgumentError

DENSE = ps.Dense(H, H)


def states(**how: object) -> ps.Expr:
    """Return the bytes that training holds for a linear layer beside its activations, of which it has none."""
    return ps.memory(DENSE, (B, S, H), **how).total


@pytest.mark.parametrize(
    ("how", "per_parameter"),
    [
        ({"dtype": "float16", "optimizer": "adam"}, 16),  # Rajbhandari et al. 2020 (ZeRO), section 3.1: 2 + 2 + 12
        ({"optimizer": "adamw"}, 16),  # float32 throughout: 4 + 4 + 8
        ({"optimizer": "momentum"}, 12),
        ({"optimizer": "sgd"}, 8),
        ({"dtype": "bfloat16", "optimizer": "adamw", "master": False}, 12),
        ({"dtype": "bfloat16", "optimizer": "adam-8bit", "master": False}, 6),
    ],
)
def test_bytes_per_parameter(how: dict[str, object], per_parameter: int) -> None:
    """Weights, gradients, states of the optimizer and the copy in float32."""
    assert (states(**how) - per_parameter * DENSE.params).expand() == 0


def test_frozen_parameters_have_no_gradient() -> None:
    """LoRA and frozen parts: only what is trained has gradients and states."""
    frozen = ps.Sequential(DENSE, ps.Dense(H, 1)).freeze("0")
    assert ps.memory(frozen, (B, S, H)).total.coeff(H, 2) == 4


def test_experts_are_all_stored() -> None:
    """A token uses some experts, and the memory holds all of them."""
    experts = ps.MixtureOfExperts(8, 16, 4, 2)
    assert ps.memory(experts, (1, 3, 8), use="inference").total == 4 * experts.count


def test_refusals() -> None:
    """Words that are not known are answered with those that are."""
    for wrong in ({"use": "sale"}, {"dtype": "float31"}, {"optimizer": "lion"}, {"convention": "apple"}):
        with pytest.raises(ArgumentError, match="known are"):
            ps.memory(DENSE, (B, S, H), **wrong)
