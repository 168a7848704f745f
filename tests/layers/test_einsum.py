"""Dense layers that an Einstein sum describes, against live Keras."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import A, D, F, H, S
from paramsym.errors import ArgumentError, ShapeError, SizeError

EQUATIONS = [
    ("ab,bc->ac", 2, None),
    ("abc,cd->abd", 3, None),
    ("abc,cde->abde", 3, None),
    ("abcd,cde->abe", 4, None),
    ("abc,bd->adc", 3, None),
    ("abc,de->abcde", 3, None),
    ("abcd,dbe->aecb", 4, None),
    ("abc,bcd->adb", 3, None),
    ("...x,xy->...y", 1, "left"),
    ("...xy,yz->...xz", 2, "left"),
    ("...xy,xyzw->...zw", 2, "left"),
    ("...xy,yxz->...z", 2, "left"),
    ("ab...,bc->ac...", 2, "right"),
    ("abc...,cde->abde...", 3, "right"),
    ("abc...,bd->adc...", 3, "right"),
]


@st.composite
def einsums(draw: st.DrawFn) -> tuple[str, Any, Any, list[int | None]]:
    """Draw an equation, an output shape, bias axes and an input shape that fit, and now and then one that does not."""
    equation, rank, dots = draw(st.sampled_from(EQUATIONS))
    elided = draw(st.integers(0, 3)) if dots else 0
    if dots == "left" and rank == 1:
        elided = max(elided, 1)
    left, outputs = equation.replace("...", "").split("->")
    inputs, _ = left.split(",")
    size = {letter: draw(st.integers(1, 9)) for letter in set(left + outputs) - {","}}
    rest: list[int | None] = [draw(st.integers(1, 9)) for _ in range(elided)]
    shape = [*rest, *(size[x] for x in inputs)] if dots == "left" else [*(size[x] for x in inputs), *rest]
    shape[0] = None
    skipped = 0 if dots == "left" and elided else 1
    partial: list[int | None] = [size[x] if x not in inputs or draw(st.booleans()) else None for x in outputs[skipped:]]
    if partial and draw(st.integers(0, 7)) == 0:
        partial[0] = draw(st.integers(1, 9))
    chosen = draw(st.lists(st.sampled_from(outputs[skipped:]), unique=True)) if outputs[skipped:] else []
    output_shape: Any = partial[0] if len(partial) == 1 and partial[0] is not None and draw(st.booleans()) else tuple(partial)
    return equation, output_shape, "".join(chosen) or None, shape


@settings(deadline=None, max_examples=150)
@given(einsums())
def test_einsum_dense(drawn: tuple[str, Any, Any, Any]) -> None:
    """Kernel and bias are Keras', and what Keras refuses is refused."""
    equation, output_shape, bias_axes, input_shape = drawn
    keras = imported("keras")
    try:
        theirs = keras_weights(keras.layers.EinsumDense(equation, output_shape, bias_axes=bias_axes), tuple(input_shape))
    except (ValueError, IndexError):
        with pytest.raises((ArgumentError, SizeError)):
            ps.EinsumDense(equation, output_shape, tuple(input_shape), bias_axes)
        return
    assert entries(ps.EinsumDense(equation, output_shape, tuple(input_shape), bias_axes)) == theirs


def test_einsum_dense_in_symbols() -> None:
    """Sizes are symbols, and are checked against each other once numbers arrive."""
    layer = ps.EinsumDense("abc,cde->abde", (None, A, D), (None, S, H), "de")
    assert layer.params == A * D * H + A * D
    assert layer.at(A=12, D=64, H=768, S=128) == ps.EinsumDense("abc,cde->abde", (None, 12, 64), (None, 128, 768), "de")
    shared = ps.EinsumDense("abc,cd->abd", (S, D), (None, H, F))
    with pytest.raises(SizeError, match="'b' is 5 in the input shape and 4 in the output shape"):
        shared.at(S=4, H=5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ab,bc", 3, (None, 4)), "write 'ab,bc->ac'"),
        (("ab->ac", 3, (None, 4)), "write 'ab,bc->ac'"),
        (("...ab,bc->ac", 3, (None, 4)), "write 'ab,bc->ac'"),
        (("a...,ab->b...", 3, (None, 4)), "write 'ab,bc->ac'"),
        (("a1,1c->ac", 3, (None, 4)), "write 'ab,bc->ac'"),
        (("aab,bc->ac", 3, (None, 4, 4)), "occurs twice"),
        (("ab,bc->ad", 3, (None, 4)), "'d' is neither in the input nor in the kernel"),
        (("ab,bce->ac", 3, (None, 4)), "'e' is neither in the input nor in the output"),
        (("ab,bc->ac", (3, 4), (None, 4)), "has 2 axes"),
        (("ab,bc->ac", 3, (None, 4, 5)), "has 3 axes"),
        (("...ab,bc->...ac", 3, (None,)), "at least 2"),
        (("ab,bc->ac", 3, (None, 4), "b"), "bias_axes is 'b'"),
        (("ab,bc->ac", 3, (None, 4), ""), "bias_axes is ''"),
    ],
)
def test_equations_that_cannot_be(arguments: Any, words: str) -> None:
    """An equation, shapes and bias axes fit each other, or one error says which does not."""
    with pytest.raises(ArgumentError, match=words):
        ps.EinsumDense(*arguments)


def test_an_extent_that_a_weight_needs() -> None:
    """None is an extent that no weight needs."""
    with pytest.raises(SizeError, match="extent of 'b', which is None"):
        ps.EinsumDense("ab,bc->ac", 3, (None, None))
    with pytest.raises(SizeError, match="extent of 'a', which is None"):
        ps.EinsumDense("ab,bc->ac", 3, (None, 4), "a")


def test_an_equation_is_built_for_one_input() -> None:
    """Keras' EinsumDense keeps the extents that it was built with; those of None are free."""
    layer = ps.EinsumDense("ab,bc->ac", 5, (None, 3))
    assert layer.output_shape((7, 3)) == (7, 5)
    with pytest.raises(ShapeError, match="was built for"):
        layer.output_shape((7, 4))
