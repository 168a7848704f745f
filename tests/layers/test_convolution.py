"""Convolutions against live torch and the papers' counts."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from frameworks import assert_same_as_torch, assert_same_signature, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import C, F, K
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError, SizeError

g = ps.dims("g")
FORWARD = ["Conv1d", "Conv2d", "Conv3d"]
BACKWARD = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


@st.composite
def torch_arguments(draw: st.DrawFn, name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Draw arguments that torch takes."""
    rank, transposed = int(name[-2]), name.startswith("ConvTranspose")
    groups = draw(st.integers(1, 4))

    def each(low: int, high: int) -> Any:
        one = st.integers(low, high)
        return draw(one | st.tuples(*[one] * rank) | st.lists(one, min_size=rank, max_size=rank))

    named: dict[str, Any] = {"bias": draw(st.booleans()), "groups": groups, "stride": each(1, 3), "dilation": each(1, 2)}
    named["padding"] = each(0, 2) if transposed else draw(st.sampled_from(["valid", each(0, 2)]))
    if transposed:
        named["output_padding"] = each(0, 1)
    else:
        named["padding_mode"] = draw(st.sampled_from(["zeros", "reflect", "replicate", "circular"]))
        if draw(st.booleans()):
            named |= {"padding": "same", "stride": 1}
    kept = {key: value for key, value in named.items() if draw(st.booleans()) or key in {"groups", "padding", "stride"}}
    return (groups * draw(st.integers(1, 5)), groups * draw(st.integers(1, 5)), each(1, 4)), kept


@pytest.mark.parametrize("name", FORWARD + BACKWARD)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_torch(name: str, data: st.DataObject) -> None:
    """One dictionary builds torch's layer and ours, with the same tensors."""
    nn = imported("torch").nn
    positional, named = data.draw(torch_arguments(name))
    assert_same_as_torch(getattr(ps, name)(*positional, **named), lambda: getattr(nn, name)(*positional, **named))


@pytest.mark.parametrize("name", FORWARD + BACKWARD)
def test_torchs_signature(name: str) -> None:
    """Same arguments in the same order with the same defaults; dialect and data format are ours."""
    assert_same_signature(getattr(ps, name), getattr(imported("torch").nn, name))


@pytest.mark.parametrize("name", FORWARD + BACKWARD)
@pytest.mark.parametrize(
    "named",
    [
        {"groups": 2},
        {"groups": 7},
        {"groups": 0},
        {"groups": -1},
        {"padding_mode": "mirror"},
        {"padding": "full"},
    ],
    ids=str,
)
def test_what_torch_refuses(name: str, named: dict[str, Any]) -> None:
    """Where torch raises, we raise, and not only when the layer runs."""
    nn = imported("torch").nn
    if not (name in BACKWARD and "padding" in named):  # torch takes the letters of a word as paddings there, and fails when run
        with pytest.raises((ValueError, TypeError)):
            getattr(nn, name)(9, 14, 3, **named)
    with pytest.raises((SizeError, ArgumentError)):
        getattr(ps, name)(9, 14, 3, **named)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.Conv2d(10, 9, 3, groups=3), DivisibilityError, r"in_channels 10 is not divisible by groups 3 \(10 = 3\*3 \+ 1\)"),
        (lambda: ps.Conv2d(9, 10, 3, groups=3), DivisibilityError, "out_channels 10 is not divisible by groups 3"),
        (lambda: ps.Conv2d(3, 4, 3, stride=2, padding="same"), ArgumentError, "no 'same' for strided"),
        (lambda: ps.Conv2d(3, 4, (3, 3, 3)), ArgumentError, "wanted one size or a tuple of 2"),
        (lambda: ps.Conv2d(3, 4, 3.0), SizeError, "3.0"),
        (lambda: ps.Conv2d(3, 4, 0), SizeError, "kernel_size is 0"),
        (lambda: ps.Conv2d(3, 4, 3, bias=1), ArgumentError, "True or False"),
        (lambda: ps.Conv1d(3, 4, 3, padding="causal"), ArgumentError, "needs dialect='keras'"),
        (lambda: ps.DepthwiseConv1d(4, 3, padding="causal"), ArgumentError, "needs dialect='keras'"),
        (lambda: ps.SeparableConv1d(4, 8, 3, padding="causal", dialect="keras"), ArgumentError, "plain convolutions"),
        (lambda: ps.ConvTranspose1d(3, 4, 3, padding_mode="reflect"), ArgumentError, "takes only 'zeros'"),
        (lambda: ps.ConvTranspose1d(3, 4, 3, padding="same"), ArgumentError, "takes numbers"),
        (lambda: ps.ConvTranspose1d(3, 4, 3, output_padding=None), ArgumentError, "torch takes numbers"),
        (lambda: ps.Conv2d(3, 4, 3, padding_mode="reflect", dialect="keras"), ArgumentError, "pad with zeros"),
        (lambda: ps.Conv2d(3, 4, 3, padding="causal", dialect="keras"), ArgumentError, "over one axis"),
        (lambda: ps.Conv2d(3, 4, 3, stride=2, dilation=2, dialect="keras"), ArgumentError, "not both"),
        (lambda: ps.ConvTranspose2d(4, 4, 3, groups=2, dialect="keras"), ArgumentError, "have no groups"),
        (lambda: ps.ConvTranspose2d(4, 4, 3, stride=2, output_padding=2, dialect="keras"), ArgumentError, "not less than stride"),
        (lambda: ps.Conv2d(3, 4, 3, data_format="channels_first", dialect="flax"), ArgumentError, "always takes the channels last"),
        (lambda: ps.Conv2d(3, 4, 3, padding="causal", dialect="flax"), ArgumentError, "over one axis"),
        (lambda: ps.Conv2d(3, 4, 3, padding=1, padding_mode="circular", dialect="flax"), ArgumentError, "padding='same' with one of"),
        (lambda: ps.Conv2d(3, 4, 3, padding="same", padding_mode="replicate", dialect="flax"), ArgumentError, "'circular', 'reflect'"),
        (lambda: ps.ConvTranspose2d(3, 4, 3, padding="same", padding_mode="reflect", dialect="flax"), ArgumentError, "one of 'circular'"),
        (lambda: ps.ConvTranspose2d(4, 4, 3, groups=2, dialect="flax"), ArgumentError, "have no groups"),
        (lambda: ps.ConvTranspose2d(4, 4, 3, stride=2, output_padding=1, dialect="flax"), ArgumentError, "Flax has none"),
        (lambda: ps.ConvTranspose2d(4, 4, 3, transpose_kernel=True), ArgumentError, "transpose_kernel needs dialect='flax'"),
    ],
    ids=count(),
)
def test_errors(build: Any, error: type[Exception], words: str) -> None:
    """What was found, and what is wanted."""
    with pytest.raises(error, match=words):
        build()


def test_groups_stay_in_view() -> None:
    """The group's own channels meet their kernel; the count falls with the number of groups, as the algebra says."""
    layer = ps.Conv2d(C, F, K, groups=g, bias=False)
    assert layer.params == C * F * K**2 / g
    assert layer.params.diff(g) == -C * F * K**2 / g**2
    assert layer.own_tensors[0].shape == ((g, ps.per(F, g)), ps.per(C, g), K, K)
    assert layer.at(C=8, F=12, K=3, g=4).shapes() == {"weight": (12, 2, 3, 3)}
    assert layer.at(C=8, F=12, K=3, g=4) == ps.Conv2d(8, 12, 3, groups=4, bias=False)
    with pytest.raises(DivisibilityError, match="in_channels 10 is not divisible by groups 4"):
        layer.at(C=10, g=4)


def test_published_counts() -> None:
    """AlexNet's second layer as published, in two groups (Krizhevsky et al. 2012, section 3.5: 256 kernels of 5x5x48)."""
    layer = ps.Conv2d(96, 256, 5, groups=2)
    assert layer.shapes()["weight"] == (256, 48, 5, 5)
    assert layer.count == 256 * 5 * 5 * 48 + 256


@pytest.mark.parametrize("name", FORWARD + BACKWARD)
def test_values(name: str) -> None:
    """``at``, repr and pickle give equal layers, with the dialect kept."""
    for dialect in ("torch", "keras"):
        layer = getattr(ps, name)(C, F, K, stride=2, padding="valid" if dialect == "keras" else 1, dialect=dialect)
        assert_value(layer)
        assert layer.at(C=3, F=4, K=5).shapes() == layer.at(C=3).at(F=4, K=5).shapes()
        assert layer.params.diff(C) == F * K ** int(name[-2])


def test_copied_padding_that_keeps_the_length() -> None:
    """With ``padding="same"`` and a kernel of 3 one entry is copied on each side; a mirror needs two entries for it. So says torch 2.13."""
    reflecting = ps.Conv1d(2, 3, 3, padding="same", padding_mode="reflect")
    assert reflecting.output_shape((1, 2, 2)) == (1, 3, 2)
    with pytest.raises(ShapeError, match="mirrors too much"):
        reflecting.output_shape((1, 2, 1))
    circular = ps.Conv1d(2, 3, 3, padding=2, padding_mode="circular")
    assert circular.output_shape((1, 2, 2)) == (1, 3, 4)
    with pytest.raises(ShapeError, match="more than once"):
        circular.output_shape((1, 2, 1))
    assert ps.Conv1d(2, 3, 3, padding=2, padding_mode="replicate").output_shape((1, 2, 1)) == (1, 3, 3)


@pytest.mark.parametrize("field", ["kernel_size", "stride", "dilation", "padding"])
def test_the_field_with_the_wrong_number_of_axes_is_named(field: str) -> None:
    """Of the settings of a convolution, the one that is wrong is said."""
    settings: dict[str, Any] = {"kernel_size": 3, field: (1, 1, 1)}
    with pytest.raises(ArgumentError, match=field):
        ps.Conv2d(3, 4, **settings)


def test_flax_pads_what_it_spreads() -> None:
    """``linen.ConvTranspose`` with a number for padding pads its spread input: lengths as Flax 0.12 gave them."""
    for padding, kernel, stride, length, dilation, wanted in ((1, 3, 2, 5, 1, 9), (2, 3, 1, 5, 2, 5), (0, 2, 3, 4, 1, 9)):
        layer = ps.ConvTranspose1d(3, 6, kernel, stride=stride, padding=padding, dilation=dilation, dialect="flax")
        assert layer.output_shape((1, length, 3)) == (1, wanted, 6)


def test_flax_stores_kernels_in_two_orders() -> None:
    """``flax.linen.ConvTranspose``: (size, in, out), or with ``transpose_kernel`` (size, out, in)."""
    assert ps.ConvTranspose1d(3, 5, 2, dialect="flax").shapes()["kernel"] == (2, 3, 5)
    assert ps.ConvTranspose1d(3, 5, 2, dialect="flax", transpose_kernel=True).shapes()["kernel"] == (2, 5, 3)
