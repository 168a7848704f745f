"""Layers whose input width is a question until something arrives: what comes out, and what cannot arrive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import B, F, H, S
from paramsym.errors import ShapeError, SizeError


def test_every_axis_but_the_last_is_kept() -> None:
    """As torch.nn.LazyLinear: (batch, positions, width) to (batch, positions, out), however many axes there are."""
    assert ps.LazyLinear(F).output_shape((B, S, H)) == (B, S, F)
    assert ps.LazyLinear(5).output_shape((2, 3, 4, 7)) == (2, 3, 4, 5)
    assert ps.LazyLinear(5).output_shape((7,)) == (5,)


@pytest.mark.parametrize("shape", [(), (3, None), (3, 0)])
def test_a_width_must_arrive(shape: tuple[int | None, ...]) -> None:
    """No axis, an unknown one and an empty one give the weights no shape."""
    with pytest.raises(ShapeError, match="the width of the weights follows from the last axis"):
        ps.infer(ps.LazyLinear(5), shape)


def test_a_bias_is_kept_or_left_out() -> None:
    """A ``LazyLinear(out_features, bias=True)`` of torch becomes ``Linear`` with the same bias."""
    for bias in (True, False):
        assert ps.LazyLinear(4, bias=bias).built(3) == ps.Linear(3, 4, bias=bias)


# Several in one model ---------------------------------------------------------------------------------------------------------

VGG_16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
"""Simonyan and Zisserman 2014, table 1, column D; 0 is a pooling."""


def vgg_16() -> ps.Sequential:
    """Return the network with lazy layers where a reader would not want to work the width out."""
    layers: list[ps.Layer] = []
    channels = 3
    for width in VGG_16:
        layers += [ps.Conv2d(channels, width, 3, padding=1), ps.ReLU()] if width else [ps.MaxPool2d(2, 2)]
        channels = width or channels
    classifier = (ps.LazyDense(4096), ps.ReLU(), ps.Dropout(), ps.LazyDense(4096), ps.ReLU(), ps.Dropout(), ps.LazyDense(1000))
    return ps.Sequential(ps.Sequential(*layers), ps.Flatten(), ps.Sequential(*classifier))


def test_two_unknown_widths_are_two_letters() -> None:
    """A size for the first is none for the second; what is left open is said, with the way on."""
    net = ps.Sequential(ps.LazyDense(8), ps.LazyDense(4))
    assert str(net.params) == "8*in_features + 4*in_features_2 + 12"
    with pytest.raises(SizeError, match=r"in_features_2 is a symbol.* ps.infer"):
        net.at(in_features=100).count  # noqa: B018 - raises
    assert ps.infer(net, (1, 100)).count == ps.infer(net.at(in_features=100), (1, 100)).count == 100 * 8 + 8 + 8 * 4 + 4
    width = ps.dims("n")
    same = ps.Block(a=ps.LazyDense(8, in_features=width), b=ps.LazyDense(4, in_features=width))
    assert same.at(n=100).count == 100 * 12 + 12
    with pytest.raises(SizeError, match="the letter of another open width"):
        net.at(in_features_2=ps.dims("in_features"))
    assert net.at(in_features=width, in_features_2=width).at(n=100).count == 100 * 12 + 12

    @dataclass(frozen=True)
    class Two(ps.Layer):
        def parts(self) -> Iterator[ps.Part]:
            yield ps.Part("a", ps.LazyDense(8))
            yield ps.Part("b", ps.LazyDense(4))

    assert Two().params == net.params


def test_vgg_16() -> None:
    """Torchvision's own count; each of the three widths is asked for alone."""
    net = vgg_16()
    assert ps.infer(net, (1, 3, 224, 224)).count == 138_357_544
    assert len(net.open_letters) == 3
    sizes = {"in_features": 25088, "in_features_2": 4096, "in_features_3": 4096}
    assert net.at(sizes).count == 138_357_544


NESTED = st.recursive(st.integers(1, 9), lambda inside: st.lists(inside, min_size=1, max_size=4), max_leaves=8)


@given(NESTED, st.integers(1, 50), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_chain_of_lazy_layers_however_nested(shape: object, arrived: int, by_name: bool) -> None:
    """As many letters as layers; the count is what a loop over the widths adds up, and the value reads back from its repr."""
    widths: list[int] = []

    def built(one: object) -> ps.Layer:
        if isinstance(one, int):
            widths.append(one)
            return ps.LazyDense(one)
        assert isinstance(one, list)
        layers = [built(inner) for inner in one]
        return ps.Sequential({f"layer{number}": layer for number, layer in enumerate(layers)}) if by_name else ps.Sequential(*layers)

    net = built(shape)
    count, width = 0, arrived
    for out in widths:
        count, width = count + width * out + out, out
    assert len(net.open_letters) == len(widths)
    assert ps.infer(net, (1, arrived)).count == count
    scope = {"Sequential": ps.Sequential, "LazyDense": ps.LazyDense, **{letter.name: letter for letter in net.open_letters}}
    assert eval(repr(net), scope) == net
    ordered = sorted(net.open_letters, key=lambda letter: (len(letter.name), letter.name))
    assert net.at(dict(zip(ordered, [arrived, *widths], strict=False))).count == count
