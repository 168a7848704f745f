"""``certify_run`` passes what agrees with its reference, and refutes what does not."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import B, F, H
from paramsym.errors import ArgumentError, RefutedError
from paramsym.testing import certify_run


def test_a_function_as_the_reference() -> None:
    """The product x W' + b, of the tensors by their names; the bias forgotten is found."""
    imported("numpy")

    def right(H: int, F: int) -> Any:
        assert H > 0 < F
        return lambda tensors, x: x @ tensors["weight"].T + tensors["bias"]

    def wrong(H: int, F: int) -> Any:
        assert H > 0 < F
        return lambda tensors, x: x @ tensors["weight"].T

    assert "5 runs agree" in str(certify_run(ps.Dense(H, F), right, (B, H)))
    with pytest.raises(RefutedError, match="Dense"):
        certify_run(ps.Dense(H, F), wrong, (B, H))
    with pytest.raises(ArgumentError):
        certify_run(ps.Dense(H, F), lambda H, F: H + F, (B, H))


def test_a_module_as_the_reference() -> None:
    """A live torch module takes the same tensors."""
    torch = imported("torch")
    imported("numpy")
    args = ps.dims("in_features out_features")
    assert "5 runs agree" in str(certify_run(ps.Dense(*args), torch.nn.Linear, (B, args[0])))
