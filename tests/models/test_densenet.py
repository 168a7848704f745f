"""DenseNet: the closed form against an independent summation, letters, wrong input, and the network rebuilt from torch's layers."""

from __future__ import annotations

from typing import Any

import pytest
import sympy
from frameworks import imported
from hypothesis import given, settings, strategies as st

from paramsym import C, N, dims
from paramsym.errors import ArgumentError, SizeError
from paramsym.models import DenseNet

g, n1, n2, n3, n4, i = dims("g n1 n2 n3 n4 i")


def in_torch(growth: int, depths: tuple[int, ...], stem: int, bn_size: int, classes: int) -> Any:
    """Build the network from torch's own layers, in the order in which torchvision registers them."""
    torch = imported("torch")
    nn = torch.nn
    with torch.device("meta"):
        network, features = nn.Module(), nn.Sequential()
        features.add_module("conv0", nn.Conv2d(3, stem, 7, bias=False))
        features.add_module("norm0", nn.BatchNorm2d(stem))
        channels = stem
        for number, depth in enumerate(depths, 1):
            block = nn.Module()
            for position in range(1, depth + 1):
                layer = nn.Sequential()
                layer.add_module("norm1", nn.BatchNorm2d(channels))
                layer.add_module("conv1", nn.Conv2d(channels, bn_size * growth, 1, bias=False))
                layer.add_module("norm2", nn.BatchNorm2d(bn_size * growth))
                layer.add_module("conv2", nn.Conv2d(bn_size * growth, growth, 3, bias=False))
                block.add_module(f"denselayer{position}", layer)
                channels += growth
            features.add_module(f"denseblock{number}", block)
            if number < len(depths):
                transition = nn.Sequential()
                transition.add_module("norm", nn.BatchNorm2d(channels))
                transition.add_module("conv", nn.Conv2d(channels, channels // 2, 1, bias=False))
                features.add_module(f"transition{number}", transition)
                channels //= 2
        features.add_module("norm5", nn.BatchNorm2d(channels))
        network.features, network.classifier = features, nn.Linear(channels, classes)
    return network


def summed(growth: Any, depths: tuple[Any, ...], stem: Any, bn_size: Any, classes: Any) -> Any:
    """Add the network up with SymPy's own summation, transitions rounding down."""
    position = sympy.Symbol("position", integer=True)
    total, channels, narrow = 147 * stem + 2 * stem, stem, bn_size * growth
    for number, depth in enumerate(depths, 1):
        seen = channels + (position - 1) * growth
        layer = 2 * seen + seen * narrow + 2 * narrow + 9 * narrow * growth
        total += sympy.summation(sympy.expand(layer), (position, 1, depth))
        channels = channels + depth * growth
        if number < len(depths):
            half = sympy.floor(channels / sympy.Integer(2))
            total += 2 * channels + channels * half
            channels = half
    return sympy.expand(total + 2 * channels + channels * classes + classes)


@given(
    growth=st.integers(1, 9),
    depths=st.lists(st.integers(0, 4), max_size=5),
    stem=st.integers(8, 20),
    bn_size=st.integers(1, 4),
    classes=st.integers(1, 12),
)
@settings(max_examples=30, deadline=None)
def test_state_dict(growth: int, depths: list[int], stem: int, bn_size: int, classes: int) -> None:
    """Whatever the arguments: the names, shapes and order of the state dict, odd channels halved and rounded down."""
    channels = stem
    for depth in depths[:-1]:
        channels = (channels + depth * growth) // 2
    if channels == 0:
        return
    network = in_torch(growth, tuple(depths), stem, bn_size, classes)
    ours = DenseNet(growth, depths, stem, bn_size, 0.2, classes, True)
    assert list(ours.shapes(buffers=True).items()) == [(name, tuple(value.shape)) for name, value in network.state_dict().items()]


@pytest.mark.parametrize("claim", DenseNet.claims, ids=lambda claim: claim.name)
def test_published(claim: Any) -> None:
    """A published count is the model's, by name and through letters."""
    assert DenseNet(claim.name).count + claim.besides == claim.count
    sized = DenseNet().at(claim.name)
    assert sized == DenseNet(claim.name)
    assert sized.formula == DenseNet().params


@pytest.mark.parametrize(
    ("growth", "depths"),
    [(g, (6, 12, 24, 16)), (32, (n1, n2, n3, n4)), (g, (n1,)), (g, (2 * n1, 4 * n2)), (6, (n1, n2, n3))],
    ids=str,
)
def test_against_an_independent_sum(growth: Any, depths: tuple[Any, ...]) -> None:
    """The closed form equals SymPy's own sum over the layers, as a polynomial."""
    stem = 2 * growth
    ours = DenseNet(growth, depths, stem, num_classes=N).params
    assert sympy.expand(ours - summed(growth, depths, stem, 4, N)) == 0


def test_all_letters_against_numbers() -> None:
    """With every size a letter, floors of halves remain, and numbers put in give the sum over numbers."""
    formula = DenseNet().params
    for growth, depths in ((3, (1, 2, 3, 4)), (5, (3, 5, 1, 2)), (32, (6, 12, 48, 32)), (1, (1, 1, 1, 1))):
        values = dict(zip((g, n1, n2, n3, n4, N), (growth, *depths, 7), strict=True))
        expected = summed(growth, depths, 2 * growth, 4, 7)
        assert formula.xreplace({symbol: sympy.Integer(value) for symbol, value in values.items()}) == expected
        assert DenseNet().at(values).count == expected


def test_published_growth_rates_leave_no_floors() -> None:
    """Three transitions halve 32 and 48 evenly, so that the count is a polynomial in the depths."""
    for growth in (32, 48):
        assert not DenseNet(growth).params.atoms(sympy.floor)


def test_quadratic_in_the_depth() -> None:
    """One more layer in the only block is seen by every later one: the second difference is the growth rate times 2 + 4*g."""
    formula = DenseNet(g, (n1,), num_init_features=C).params
    assert sympy.expand(formula.diff(n1, 2) - g * (2 + 4 * g)) == 0


def test_a_size_named_like_the_index() -> None:
    """A user's own letter i is not taken for the number of a layer."""
    assert DenseNet(i, (2, 3), num_classes=10).at(i=4).count == DenseNet(4, (2, 3), num_classes=10).count


def test_a_name_and_changes() -> None:
    """Other arguments change the sizes of a published name, as for every network."""
    assert DenseNet("densenet121", block_config=(1, 2)) == DenseNet(32, (1, 2), num_classes=1000)
    with pytest.raises(ArgumentError, match="there is no size 'densenet264'"):
        DenseNet("densenet264")


def test_stem_is_twice_the_growth_rate() -> None:
    """Where the stem's width is not given, the paper's rule holds; where it is, it stays."""
    assert DenseNet(12, (2,), num_classes=10).shapes()["features.conv0.weight"] == (24, 3, 7, 7)
    assert DenseNet(12, (2,), 16, num_classes=10).shapes()["features.conv0.weight"] == (16, 3, 7, 7)


@pytest.mark.parametrize(
    "layer",
    [DenseNet(), DenseNet("densenet161"), DenseNet(32), DenseNet(32, (6, n2), 2 * g), DenseNet(C, (3, 4), 2 * g), DenseNet(32, (g, 2))],
    ids=str,
)
def test_repr_builds_the_same(layer: DenseNet) -> None:
    """What a DenseNet prints builds it again, and putting in what is there already changes nothing."""
    assert eval(repr(layer)) == layer
    assert layer.at({symbol: symbol for symbol in layer.symbols}) == layer


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"growth_rate": "densenet121"}, SizeError, "growth_rate is 'densenet121'"),
        ({"growth_rate": 0}, SizeError, "growth_rate is 0"),
        ({"growth_rate": 3.0}, SizeError, "growth_rate is 3.0"),
        ({"growth_rate": True}, SizeError, "growth_rate is True"),
        ({"block_config": (6, -1)}, SizeError, r"block_config\[1\] is -1"),
        ({"growth_rate": 1, "block_config": (0, 0, 0, 1)}, SizeError, "wanted a positive whole number"),
        ({"block_config": 6}, ArgumentError, "wanted a tuple"),
    ],
)
def test_wrong_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """What cannot be a network is one clear error."""
    with pytest.raises(error, match=words):
        DenseNet(**arguments)
