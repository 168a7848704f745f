"""Conditions, computed tensors and constants as operations of a program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import B, H
from paramsym.errors import NotYetError, ShapeError
from paramsym.program import Lent, Own, Value, compare, where
from paramsym.program.constants import _slopes


@dataclass(frozen=True)
class Chosen(ps.Layer):
    """What exceeds a number, and the weight elsewhere."""

    width: ps.Dim

    def tensors(self) -> Iterator[ps.Tensor]:
        """The weight."""
        yield ps.Tensor("weight", (self.width,))

    def forward(self, own: Own, x: Value) -> Value:
        """Choose entry by entry."""
        return where(compare(x, "greater", 1), x, where(compare(x, "equal", 0), own.weight, -1.0))


@dataclass(frozen=True)
class Doubled(ps.Layer):
    """A dense layer with twice its matrix; it reaches into its part for the stored one."""

    width: ps.Dim

    def parts(self) -> Iterator[ps.Part]:
        """The layer."""
        yield ps.Part("dense", ps.Dense(self.width, self.width, bias=False), frozen=True)

    def forward(self, own: Own, x: Value) -> Value:
        """Lend the dense layer another matrix."""
        dense = own.dense.layer
        result: Value = dense.forward(Lent(dense, {"weight": own["dense.weight"] * 2}), x)
        return result


def test_conditions_choose_entry_by_entry() -> None:
    """The shape is the common one, and so are the entries."""
    imported("numpy")
    assert ps.output_shape(Chosen(H), (B, H)) == (B, H)
    assert ps.output_shape(Chosen(H), (B, 1)) == (B, H)
    assert ps.run(Chosen(3), {"weight": [5.0, 6.0, 7.0]}, [[0.0, 2.0, 1.0], [0.5, 0.0, 3.0]]).tolist() == [[5, 2, -1], [-1, 6, 3]]


def test_a_layer_computes_with_a_tensor_that_another_gives_it() -> None:
    """What is frozen stays frozen when it is reached through its part: there is no gradient of the weight to compute."""
    imported("numpy")
    assert ps.run(Doubled(2), {"dense.weight": [[1.0, 2.0], [3.0, 4.0]]}, [[1.0, 1.0]]).tolist() == [[6, 14]]
    assert ps.flops(Doubled(H), (B, H), way="backward").total == 0
    assert ps.flops(Doubled(H), (B, H)).total == 2 * B * H**2


def test_a_function_known_by_name_only_has_a_shape_and_no_values() -> None:
    """Keras' sparsemax sorts along the axis, which the library does not state."""
    imported("numpy")
    layer = ps.keras.Activation("sparsemax")
    assert ps.output_shape(layer, (B, H)) == (B, H)
    assert ps.flops(layer, (B, H)).total == 0
    with pytest.raises(NotYetError, match="'sparsemax' is known only by its name"):
        ps.run(layer, {}, [[1.0, 2.0]])


def test_the_number_of_inputs_is_checked() -> None:
    """More inputs than a forward pass takes, or fewer than it needs, are an error of shapes."""
    with pytest.raises(ShapeError, match=r"wanted 1 to 3 inputs \(query, key, value\); found 4"):
        ps.output_shape(ps.MultiHeadAttention(4, 2), ((2, 3, 4),) * 4)


def test_slopes_of_twelve_heads() -> None:
    """Press et al. 2022, section 3: 1/2 to 1/256 for 8 heads, and every other slope of 16 heads for the rest."""
    xp = imported("numpy")
    expected = [2.0**-power for power in (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)]
    assert _slopes(xp, (12,)).tolist() == pytest.approx(expected)


def test_what_a_choice_is_called() -> None:
    """The listing says what stands in for the second array."""
    listing = str(ps.trace(Chosen(3), (2, 3)))
    assert "= where(" in listing
    assert "= where, else -1.0(" in listing
