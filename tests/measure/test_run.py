"""Running a forward pass on arrays: values by hand, and what is refused."""

from __future__ import annotations

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import H
from paramsym.errors import ArgumentError, NotYetError, ShapeError, SizeError

TENSORS = {"weight": [[1.0, 2.0]], "bias": [0.5]}


def test_a_dense_layer_by_hand() -> None:
    """1*3 + 2*4 + 0.5 = 11.5."""
    imported("numpy")
    assert ps.run(ps.Dense(2, 1), TENSORS, [[3.0, 4.0]]).tolist() == [[11.5]]


def test_what_is_refused() -> None:
    """Tensors and arrays that do not fit, letters, and a layer without a forward pass."""
    imported("numpy")
    with pytest.raises(ArgumentError, match="bias"):
        ps.run(ps.Dense(2, 1), {"weight": [[1.0, 2.0]]}, [[3.0, 4.0]])
    with pytest.raises(ArgumentError, match="weight"):
        ps.run(ps.Dense(2, 1), TENSORS | {"weight": [[1.0], [2.0]]}, [[3.0, 4.0]])
    with pytest.raises(ShapeError, match="3 entries; wanted 2"):
        ps.run(ps.Dense(2, 1), TENSORS, [[3.0, 4.0, 5.0]])
    with pytest.raises(SizeError, match="no numbers for H"):
        ps.run(ps.Dense(H, 1), TENSORS, [[3.0, 4.0]])
    with pytest.raises(NotYetError, match="Block"):
        ps.run(ps.Block(a=ps.Dense(2, 1)), {f"a.{name}": tensor for name, tensor in TENSORS.items()}, [[3.0, 4.0]])
