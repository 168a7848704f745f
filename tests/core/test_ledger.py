"""Lines, numbered copies, and ledgers."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, strategies as st
from sympy import expand, summation, symbols

import paramsym as ps
from paramsym import E, H, K, L, Numbers, cat, stack
from paramsym.core.ledger import Line


@pytest.mark.parametrize(
    ("numbers", "template"),
    [
        (Numbers(L), "{0..L-1}"),
        (Numbers(12), "{0..11}"),
        (Numbers(1), "0"),
        (Numbers(1, 5), "5"),
        (Numbers(1, L), "{L}"),
        (Numbers(L - 1, 1), "{1..L-1}"),
        (Numbers(L, 1, 2), "{1,3..2*L-1}"),
        (Numbers(3, 0, 2), "{0,2..4}"),
        (Numbers(L, 0, 1, "layer{}"), "layer{0..L-1}"),
        (Numbers(1, 3, 1, "block{}_x"), "block3_x"),
    ],
)
def test_templates(numbers: Numbers, template: str) -> None:
    """While their number is a symbol, a template stands for the copies."""
    assert str(numbers) == template


@given(st.integers(0, 9), st.integers(0, 5), st.integers(1, 4))
def test_numbers_are_known_or_not(count: int, start: int, step: int) -> None:
    """The numbers are a range, or None while a symbol is among them."""
    assert list(Numbers(count, start, step).values or ()) == [start + step * i for i in range(count)]
    assert Numbers(L, start, step).values is None
    assert Numbers(count, L, step).values is None
    assert Numbers(count, start, step, "x{}y").name(7) == "x7y"


class TestLines:
    """One line is one product."""

    def test_a_fused_tensor_has_a_line_per_segment(self) -> None:
        """Labels name the segments; together they are the tensor."""
        tensor = ps.Tensor("qkv", (cat(query=H, key=K, value=K), H))
        lines = list(tensor.lines())
        assert [line.label for line in lines] == ["query", "key", "value"]
        assert [line.amount for line in lines] == [H**2, H * K, H * K]
        assert [line.sizes for line in lines] == [(H, H), (K, H), (K, H)]
        assert tensor.sizes == (H + 2 * K, H)

    def test_two_concatenations_have_a_line_per_pair(self) -> None:
        """Labels are joined by a dot."""
        lines = list(ps.Tensor("x", (cat(a=1, b=2), cat(c=3, d=4))).lines())
        assert [(line.label, line.amount) for line in lines] == [("a.c", 3), ("a.d", 4), ("b.c", 6), ("b.d", 8)]
        assert [line.sizes for line in lines] == [(1, 3), (1, 4), (2, 3), (2, 4)]

    def test_axes_without_a_label_are_whole(self) -> None:
        """Only a label narrows a concatenation; of experts in one tensor all are stored."""
        assert Line(("x",), (18, E), shape=(cat(a=1, b=2), (cat(c=4, d=2), stack(E, used=K)))).axes == ((3,), (6, E))
        assert Line(("x",), (2, 4, E), label="b.c", shape=(cat(a=1, b=2), (cat(c=4, d=2), stack(E, used=K)))).axes == ((2,), (4, E))

    def test_two_concatenations_may_share_a_label(self) -> None:
        """The first part of a label is the first concatenation's, whatever stands between them."""
        lines = list(ps.Tensor("x", (cat(a=1, b=2), H, (cat(b=3, a=4), K))).lines())
        assert [(line.label, line.sizes) for line in lines] == [
            ("a.b", (1, H, 3 * K)),
            ("a.a", (1, H, 4 * K)),
            ("b.b", (2, H, 3 * K)),
            ("b.a", (2, H, 4 * K)),
        ]
        assert all(line.amount == prod(line.sizes) for line in lines)

    def test_a_stack_stores_all_and_uses_some(self) -> None:
        """Both multiplicities stand on the line."""
        (line,) = ps.Tensor("experts", (stack(E, used=K), H)).lines()
        assert line.polynomial().as_expr() == E * H
        assert line.polynomial("used").as_expr() == H * K

    def test_a_buffer_is_never_trained(self) -> None:
        """Whatever the tensor says of training."""
        (line,) = ps.Tensor("mean", (H,), buffer=True).lines()
        assert line.buffer
        assert not line.trainable


def test_a_ledger_filters_and_sums() -> None:
    """It is a sequence of lines with three sums."""
    layer = ps.Sequential(ps.Dense(H, K), ps.LayerNorm(K)).freeze("1")
    ledger = layer.ledger()
    assert len(ledger) == len(list(ledger)) == 4
    biases = ledger.where(lambda line: line.role == "bias")
    assert [line.name for line in biases] == ["0.bias", "1.bias"]
    assert biases.stored == 2 * K
    assert ledger.stored == H * K + 3 * K
    assert ledger.trainable == H * K + K
    assert ledger.used == ledger.stored
    assert ledger.where(lambda line: line.role == "table").stored == 0


def test_sums_over_bound_indices_nest() -> None:
    """A repeat whose inner repeat's size depends on the outer index sums twice."""
    i, j = ps.dims("i j")
    inner = ps.Repeat(ps.Dense(H + j, 1, bias=False), i + 1, index=j)
    layer = ps.Repeat(inner, L, index=i)
    n, m = symbols("n m")
    expected = summation(summation(H + m, (m, 0, n)), (n, 0, L - 1))
    assert expand(layer.params - expected) == 0
    assert layer.at(L=4, H=10).params == sum(10 + b for a in range(4) for b in range(a + 1))
    assert sum(shape[0] * shape[1] for shape in layer.at(L=4, H=10).shapes().values()) == layer.at(L=4, H=10).params


def test_a_line_is_a_trained_weight_unless_it_says_otherwise() -> None:
    """What a line needs are its path and its factors."""
    line = Line(("w",), (3, 4))
    assert (line.role, line.label, line.alias_of, line.trainable, line.buffer, line.persistent) == ("weight", "", "", True, False, True)
    assert line.polynomial().as_expr() == 12
