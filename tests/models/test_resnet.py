"""ResNet: sizes, letters, wrong input, and torchvision's network rebuilt from torch's layers."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported
from hypothesis import given, settings, strategies as st
from sympy import Integer

from paramsym import C, N, W, dims
from paramsym.errors import ArgumentError, SizeError, StructureError
from paramsym.models import ResNet, ResNetV15

n1, n2, n3, n4, g = dims("n1 n2 n3 n4 g")


def in_torch(block: str, layers: tuple[int, ...], classes: int, groups: int, width: int, stem: int = 64) -> Any:
    """Build the network from torch's own layers, in the order in which torchvision registers them."""
    torch = imported("torch")
    nn = torch.nn

    def conv(incoming: int, outgoing: int, kernel: int, groups: int = 1) -> Any:
        return nn.Conv2d(incoming, outgoing, kernel, padding=kernel // 2, groups=groups, bias=False)

    def one(incoming: int, planes: int) -> tuple[Any, int]:
        module = nn.Module()
        if block == "BasicBlock":
            outgoing = planes
            chain = [(incoming, planes, 3, 1), (planes, planes, 3, 1)]
        else:
            inside, outgoing = int(planes * (width / 64.0)) * groups, 4 * planes
            chain = [(incoming, inside, 1, 1), (inside, inside, 3, groups), (inside, outgoing, 1, 1)]
        for number, sizes in enumerate(chain, 1):
            module.add_module(f"conv{number}", conv(*sizes))
            module.add_module(f"bn{number}", nn.BatchNorm2d(sizes[1]))
        if incoming != outgoing:
            module.add_module("downsample", nn.Sequential(conv(incoming, outgoing, 1), nn.BatchNorm2d(outgoing)))
        return module, outgoing

    with torch.device("meta"):
        network = nn.Module()
        network.conv1, network.bn1, channels = conv(3, stem, 7), nn.BatchNorm2d(stem), stem
        for stage, depth in enumerate(layers):
            blocks = []
            for _ in range(depth):
                made, channels = one(channels, stem * 2**stage)
                blocks.append(made)
            network.add_module(f"layer{stage + 1}", nn.Sequential(*blocks))
        network.fc = nn.Linear(channels, classes)
    return network


def stored(module: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Return names and shapes of a state dict, in its order."""
    return [(name, tuple(value.shape)) for name, value in module.state_dict().items()]


@given(
    block=st.sampled_from(["BasicBlock", "Bottleneck"]),
    layers=st.tuples(*[st.integers(1, 3)] * 4),
    classes=st.integers(1, 12),
    groups=st.sampled_from([1, 2, 5, 32]),
    width=st.sampled_from([1, 4, 48, 64, 100, 128]),
    stem=st.sampled_from([64, 8, 30]),
)
@settings(max_examples=30, deadline=None)
def test_state_dict(block: str, layers: tuple[int, ...], classes: int, groups: int, width: int, stem: int) -> None:
    """Whatever the arguments: the names, shapes and order of the state dict, statistics included."""
    if block == "BasicBlock":
        groups, width = 1, 64
    if int(stem * (width / 64.0)) == 0:
        return
    ours = ResNet(block, layers, classes, groups=groups, width_per_group=width, inplanes=stem)
    assert list(ours.shapes(buffers=True).items()) == stored(in_torch(block, layers, classes, groups, width, stem))


@pytest.mark.parametrize("claim", ResNet.claims, ids=lambda claim: f"{claim.name}-{claim.count}")
def test_published(claim: Any) -> None:
    """A published count is the model's, apart from what the claim says it adds."""
    assert ResNet(claim.name).count + claim.besides == claim.count


@pytest.mark.parametrize("name", ResNet.published)
def test_named_sizes_fill_the_letters(name: str) -> None:
    """A published size put into letters gives the model of that name, which remembers its formula."""
    sizes = ResNet.published[name]
    lettered = ResNet(sizes["block"], groups=sizes["groups"], width_per_group=sizes["width_per_group"])
    sized = lettered.at(name)
    assert sized == ResNet(name)
    assert sized.formula == lettered.params
    assert sized.sizes[n1] == sizes["layers"][0]


def test_depths_enter_linearly() -> None:
    """Each further block of a stage adds what one block without projection holds."""
    params = ResNet().params
    assert params.diff(n1) == 256 * 64 + 9 * 64**2 + 64 * 256 + 2 * (64 + 64 + 256)
    assert params.diff(n4, 2) == 0
    assert params.diff(N) == 2049


def test_groups_as_a_letter() -> None:
    """Grouped convolutions stay exact while the number of groups is a letter."""
    lettered = ResNet(layers=(3, 4, 6, 3), groups=g, width_per_group=4, num_classes=1000)
    assert lettered.at(g=32).count == 25_028_904
    assert list(lettered.at(g=32).shapes().items()) == list(ResNet("resnext50_32x4d").shapes().items())


def test_stem_as_a_letter() -> None:
    """With the stem's width as a letter the count is quadratic in it."""
    lettered = ResNet("resnet50", inplanes=C)
    assert lettered.params.diff(C, 3) == 0
    assert lettered.at(C=64).params == Integer(25_557_032)


def test_torchvision_kwargs_that_change_no_count() -> None:
    """Dilation instead of stride and zeroed residuals store the same."""
    same = ResNet("resnet50", zero_init_residual=True, replace_stride_with_dilation=[False, True, True])
    assert same.shapes() == ResNet("resnet50").shapes()


def test_frozen_norms_are_buffers() -> None:
    """With frozen norms, what is left to count is the convolutions and the classifier."""
    frozen, usual = ResNet("resnet18", norm_layer="FrozenBatchNorm2d"), ResNet("resnet18")
    assert usual.count - frozen.count == 9_600
    assert "bn1.num_batches_tracked" not in frozen.shapes(buffers=True)


@pytest.mark.parametrize(
    "layer",
    [ResNet(), ResNet("resnet18"), ResNet("BasicBlock", (n1, 2, n3, 4), 10), ResNet("resnext50_32x4d", num_classes=C, inplanes=32)],
    ids=str,
)
def test_repr_builds_the_same(layer: ResNet) -> None:
    """What a ResNet prints builds it again."""
    assert eval(repr(layer)) == layer


def test_blocks_may_be_classes() -> None:
    """Torchvision's own block class is taken by its name."""
    bottleneck = type("Bottleneck", (), {})
    assert ResNet(bottleneck, [3, 4, 6, 3], 1000) == ResNet("resnet50")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"block": "resnet19"}, ArgumentError, "resnet18, resnet34"),
        ({"block": "quantized_resnet34"}, ArgumentError, "wanted 'BasicBlock', 'Bottleneck'"),
        ({"block": 3}, ArgumentError, "block is 3"),
        ({"block": "resnet18", "layers": (2, 2, 2, 2)}, ArgumentError, "means layers="),
        ({"block": "resnext50_32x4d", "groups": 16}, ArgumentError, "means groups=32 already"),
        ({"block": "resnet18", "groups": 2}, ArgumentError, "a BasicBlock takes 1 and 64 only"),
        ({"block": "BasicBlock", "width_per_group": 128}, ArgumentError, "a BasicBlock takes 1 and 64 only"),
        ({"block": "resnet18", "replace_stride_with_dilation": (False, True, False)}, ArgumentError, "cannot be dilated"),
        ({"replace_stride_with_dilation": (False, True)}, ArgumentError, "2 entries; wanted 3"),
        ({"layers": (3, 4, 6)}, ArgumentError, "3 entries; wanted 4"),
        ({"layers": (3, 4, 0, 3)}, SizeError, r"layers\[2\] is 0"),
        ({"norm_layer": "GroupNorm"}, ArgumentError, "norm_layer is 'GroupNorm'"),
        ({"num_classes": 10.0}, SizeError, "num_classes is 10.0"),
    ],
)
def test_wrong_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """What torchvision refuses, and what cannot be read, is one clear error."""
    with pytest.raises(error, match=words):
        ResNet(**arguments)


def test_a_basic_block_dilated_in_its_last_single_block_is_allowed() -> None:
    """Torchvision dilates only blocks after the one that gave up its stride."""
    assert ResNet("BasicBlock", (1, 1, 1, 1), 10, replace_stride_with_dilation=(False, False, True)).count
    with pytest.raises(ArgumentError, match="dilated"):
        ResNet("BasicBlock", (1, 1, 1, 1), 10, replace_stride_with_dilation=(True, False, False))


def test_a_size_of_other_blocks_is_refused() -> None:
    """A published size with another block would change which tensors exist."""
    with pytest.raises(StructureError, match="block='BasicBlock'"):
        ResNet().at("resnet18")


def test_a_quarter_of_a_width_is_rounded_down_in_the_formula() -> None:
    """A bottleneck of width 30 is 7 wide inside, as the reference builds it (``out_channels // 4``), in numbers and in letters."""
    sizes = {"C": 3, "H": 30, "H_1": 30, "H_2": 45, "L_1": 2, "L_2": 1}
    letters = ResNetV15(hidden_sizes=dims("H_1 H_2"), depths=dims("L_1 L_2"), downsample_in_first_stage=True)
    sized = letters.at(sizes)
    stem = 3 * 30 * 49 + 60
    first = 30 * 30 + 60 + 30 * 7 + 14 + 9 * 49 + 14 + 7 * 30 + 60
    again = 30 * 7 + 14 + 9 * 49 + 14 + 7 * 30 + 60
    wider = 30 * 45 + 90 + 30 * 11 + 22 + 9 * 121 + 22 + 11 * 45 + 90
    assert sized.count == stem + first + again + wider
    assert sized.formula.xreplace({symbol: Integer(size) for symbol, size in sized.sizes.items()}) == sized.count
    with pytest.raises(ArgumentError, match="a bottleneck takes a quarter; wanted 4 or more"):
        letters.at({**sizes, "H_2": 3})


def test_the_sides_that_a_resnet_halves() -> None:
    """The stem halves a side twice and every stage but the first once more, so that four stages take 32*W, and three 16*W."""
    for depths, divisor in (((1, 1, 1, 1), 32), ((1, 1, 1), 16)):
        network = ResNetV15(depths=depths, hidden_sizes=(8, 16, 32, 64)[: len(depths)], embedding_size=8)
        assert network.inputs["pixel_values"][2:] == (divisor * W, divisor * W)
