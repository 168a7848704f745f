"""The adaptive softmax against live torch."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported, on_meta
from hypothesis import given, settings, strategies as st
from strategies import assert_value
from sympy import Rational, floor

import paramsym as ps
from paramsym import H, V
from paramsym.errors import ArgumentError, ShapeError, SizeError

c1, c2 = ps.dims("c1 c2")


def theirs(*arguments: Any, **named: Any) -> Any:
    """Build torch's layer."""
    return imported("torch").nn.AdaptiveLogSoftmaxWithLoss(*arguments, **named)


def test_signature() -> None:
    """One dict of arguments builds torch's layer and ours."""
    assert_same_signature(ps.AdaptiveLogSoftmaxWithLoss, imported("torch").nn.AdaptiveLogSoftmaxWithLoss)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 300),
    st.integers(2, 60),
    st.lists(st.integers(-1, 60), max_size=4),
    st.one_of(st.sampled_from([1.0, 2.0, 4.0, 8.0, 1.1, 1.5, 1.7, 2.5, 3.3]), st.floats(1.0, 9.0), st.integers(1, 5)),
    st.booleans(),
)
def test_torch(width: int, classes: int, cutoffs: list[int], div_value: Any, bias: Any) -> None:
    """Names, shapes and order are torch's, for fractional div_value too; what torch refuses is refused."""
    if len(set(cutoffs)) == len(cutoffs):
        cutoffs = sorted(cutoffs)
    options = {"div_value": div_value, "head_bias": bias}
    try:
        module = on_meta(lambda: theirs(width, classes, cutoffs, **options))
    except ValueError:
        with pytest.raises((ArgumentError, SizeError), match="cutoffs"):
            ps.AdaptiveLogSoftmaxWithLoss(width, classes, cutoffs, **options)  # type: ignore[arg-type]
        return
    if any(not tensor.numel() for tensor in module.parameters()):  # torch builds a projection of no width, which nothing can pass
        with pytest.raises(SizeError, match="leaves no width"):
            ps.AdaptiveLogSoftmaxWithLoss(width, classes, cutoffs, **options)  # type: ignore[arg-type]
        return
    ours = ps.AdaptiveLogSoftmaxWithLoss(width, classes, tuple(cutoffs), **options)
    assert_same_as_torch(ours, lambda: theirs(width, classes, cutoffs, **options))


def test_formula() -> None:
    """Grave et al. 2017, section 4: a head, and per cluster a projection and its classes."""
    layer = ps.AdaptiveLogSoftmaxWithLoss(H, V, (c1, c2), div_value=2.0, head_bias=True)
    first, second = floor(H / 2), floor(H / 4)
    expected = (H + 1) * (c1 + 2) + first * (H + c2 - c1) + second * (H + V - c2)
    assert (layer.params - expected).expand() == 0
    assert layer.at(H=78, V=187, c1=16, c2=24) == ps.AdaptiveLogSoftmaxWithLoss(78, 187, (16, 24), div_value=2.0, head_bias=True)


@settings(deadline=None, max_examples=30)
@given(st.integers(16, 400), st.sampled_from([2, 4.0, 1.5, 2.5, Rational(4, 3), Rational(7, 2)]))
def test_symbolic_width_means_the_same(width: int, div_value: Any) -> None:
    """A width put in later counts what the same width counts at once, from 4**2 on, which leaves every cluster a width."""
    symbolic = ps.AdaptiveLogSoftmaxWithLoss(H, 50, (10, 20), div_value)
    direct = ps.AdaptiveLogSoftmaxWithLoss(width, 50, (10, 20), div_value)
    assert symbolic.at(H=width) == direct
    assert symbolic.params.subs({H: width}) == direct.params
    exact = Fraction(int(div_value.p), int(div_value.q)) if isinstance(div_value, Rational) else Fraction(div_value)
    assert direct.widths == tuple(int(width // exact**power) for power in (1, 2))


def test_values() -> None:
    """Repr and pickle give equal layers."""
    layer = ps.AdaptiveLogSoftmaxWithLoss(H, V, (c1, c2), Rational(5, 2))
    assert_value(layer)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((8, 10, ()), ArgumentError, "cutoffs is empty"),
        ((8, 10, (3, 3)), SizeError, "increasing cutoffs between 1 and n_classes - 1"),
        ((8, 10, (4, 3)), SizeError, "increasing"),
        ((8, 10, (10,)), SizeError, "increasing"),
        ((8, 10, (0,)), SizeError, "cutoffs"),
        ((8, 10, (2.5,)), SizeError, "cutoffs"),
        ((8, 10, 3), ArgumentError, "cutoffs is 3"),
        ((8, 10, (3,), 0.0), ArgumentError, "div_value"),
        ((8, 10, (3,), -2), ArgumentError, "div_value"),
        ((8, 10, (3,), float("inf")), ArgumentError, "div_value"),
        ((8, 10, (3,), "4"), ArgumentError, "div_value"),
        ((3, 10, (3,)), SizeError, "leaves no width for cluster 0"),
    ],
)
def test_what_cannot_be(arguments: Any, error: type[Exception], words: str) -> None:
    """Cutoffs increase within the classes, and every cluster has a width."""
    with pytest.raises(error, match=words):
        ps.AdaptiveLogSoftmaxWithLoss(*arguments)


def test_cutoffs_in_symbols() -> None:
    """Cutoffs that cannot increase are refused also where the classes are a symbol."""
    with pytest.raises(SizeError, match="increasing"):
        ps.AdaptiveLogSoftmaxWithLoss(H, V, (V,))
    with pytest.raises(SizeError, match="increasing"):
        ps.AdaptiveLogSoftmaxWithLoss(H, V, (c1, c2)).at(c1=5, c2=5)


def test_a_cluster_without_width_is_named() -> None:
    """The first cluster is divided by div_value once, the second twice."""
    with pytest.raises(SizeError, match=r"in_features 8 divided by div_value 4\.0\*\*2 leaves no width for cluster 1"):
        ps.AdaptiveLogSoftmaxWithLoss(8, 100, (10, 20))
    with pytest.raises(SizeError, match=r"div_value 16\.0\*\*1 leaves no width for cluster 0"):
        ps.AdaptiveLogSoftmaxWithLoss(8, 100, (10,), div_value=16.0)


def test_one_number_for_every_example() -> None:
    """The log-probability of each example's class; the features must be as many as the layer has."""
    layer = ps.AdaptiveLogSoftmaxWithLoss(64, 100, (10,))
    assert layer.output_shape((7, 64)) == (7,)
    with pytest.raises(ShapeError):
        layer.output_shape((7, 63))


def test_examples_do_not_see_each_other() -> None:
    """Two examples at once give what each gives alone: one of the head, one of a cluster."""
    xp = imported("numpy")
    layer, draw = ps.AdaptiveLogSoftmaxWithLoss(4, 6, [2]), xp.random.default_rng(0)
    tensors = {name: draw.standard_normal(shape) for name, shape in layer.shapes().items()}
    x, target = draw.standard_normal((2, 4)), xp.array([1, 5])
    alone = [ps.run(layer, tensors, x[i : i + 1], target[i : i + 1])[0] for i in (0, 1)]
    assert ps.run(layer, tensors, x, target).tolist() == pytest.approx(alone)
