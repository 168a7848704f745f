"""What one output sees, against the entries of the input that its gradient reaches in torch."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import Conv2d, Sequential
from paramsym.algebra.convolution import View
from paramsym.errors import NotYetError
from paramsym.measure.dependence import views


def drawn(random: Random, channels: int) -> tuple[str, tuple[Any, ...], dict[str, Any], int]:
    """Draw the name of a layer over images, its arguments, and the channels that it gives."""
    size, step = random.randint(1, 3), random.randint(1, 2)
    return random.choice(
        [
            ("Conv2d", (channels, 2, size), {"stride": step, "dilation": random.randint(1, 2)}, 2),
            ("AvgPool2d", (size,), {"stride": (step, 1)}, channels),
            ("MaxPool2d", (1,), {"stride": step}, channels),
            ("LPPool2d", (1.0, (1, size)), {"stride": step}, channels),
            ("ZeroPad2d", ((2, 1, 0, -1),), {}, channels),
            ("ReplicationPad2d", (1,), {}, channels),
            ("PixelUnshuffle", (2,), {}, 4 * channels),
            ("Identity", (), {}, channels),
        ]
    )


def test_stacks() -> None:
    """Windows, margins and resolution turned into channels, two to four one after another, along both axes."""
    torch, random = imported("torch"), Random(3)
    checked = 0
    while checked < 25:
        channels, layers, modules = 1, [], []
        for _ in range(random.randint(2, 4)):
            name, arguments, options, channels_after = drawn(random, channels)
            layers.append(getattr(ps, name)(*arguments, **options))
            modules.append(getattr(torch.nn, name)(*arguments, **options).double())
            channels = channels_after
        for module in modules:
            for parameter in module.parameters():
                torch.nn.init.ones_(parameter)
        net, ours = torch.nn.Sequential(*modules), Sequential(*layers)
        fields = views(ours) or (View(),) * 2
        image = torch.rand(1, 1, 96, 96, dtype=torch.float64, requires_grad=True)
        try:
            left = net(image)
        except RuntimeError:
            continue  # an odd length cannot be halved
        checked += 1
        rows, columns = (extent // 2 for extent in left.shape[-2:])
        reached = [spans(torch, left[0, :, row, column].sum(), image) for row, column in ((rows, columns), (rows + 1, columns + 1))]
        for axis, view in enumerate(fields):
            (first, last), (later, _) = reached[0][axis], reached[1][axis]
            assert (view.size, view.stride) == (last - first + 1, later - first), ours


def spans(torch: Any, output: Any, image: Any) -> list[tuple[int, int]]:
    """Return the first and the last row, and column, that a gradient reaches."""
    (gradient,) = torch.autograd.grad(output, image, retain_graph=True)
    places = gradient[0, 0].nonzero()
    return [(int(places[:, axis].min()), int(places[:, axis].max())) for axis in (0, 1)]


@pytest.mark.parametrize(
    "layer",
    [
        ps.AdaptiveAvgPool2d(3),
        ps.AdaptiveMaxPool2d((1, 2)),
        ps.AdaptiveAvgPool2d(1),
        ps.GlobalMaxPool(2),
        ps.Fold(4, 2),
        ps.MaxUnpool2d(2),
        ps.PixelShuffle(2),
        ps.Upsample(scale_factor=2, mode="bilinear"),
        ps.FractionalMaxPool2d(2, output_ratio=0.5),
    ],
    ids=count(),
)
def test_what_does_not_see_equally_much(layer: ps.Layer) -> None:
    """Outputs that see everything, or more or less by position, have no receptive field, alone or behind a convolution."""
    for net in (
        (layer, Sequential(Conv2d(4, 4, 3), layer)) if layer != ps.AdaptiveAvgPool2d(1) and layer != ps.GlobalMaxPool(2) else (layer,)
    ):
        with pytest.raises(NotYetError):
            ps.receptive_field(net)


@pytest.mark.parametrize("depth", [1, 2, ps.L])
def test_recurrences_depend_on_every_position(depth: Any) -> None:
    """Also stacked ones, whose levels give their states beside the output."""
    for layer in (ps.LSTM(3, 8, depth), Sequential(ps.Dense(3, 3), ps.GRU(3, 8, depth))):
        with pytest.raises(NotYetError, match="depends on a whole axis"):
            ps.receptive_field(layer)


def test_what_ends_a_map() -> None:
    """Pooling over everything and flattening end a map; it is an entry of that map that is asked about."""
    for end in (
        ps.AdaptiveAvgPool2d(1),
        ps.GlobalAvgPool(2),
        ps.Flatten(),
        Sequential(ps.AdaptiveMaxPool2d(1), ps.Flatten(), ps.Dense(4, 2)),
    ):
        assert ps.receptive_field(Sequential(Conv2d(3, 4, 3, stride=2), Conv2d(4, 4, 3), end)) == (7, 7)


def test_a_gate_of_means_sees_everything() -> None:
    """Squeeze-and-excitation multiplies every place by a mean of all places, so that no window bounds what is seen."""
    with pytest.raises(NotYetError, match="SqueezeExcitation depends on a whole axis"):
        ps.receptive_field(ps.load("efficientnet_b0"))
    assert ps.receptive_field(ps.load("mobilenet")) == (315, 315)  # Araujo et al. 2019, of the first MobileNet


@pytest.mark.parametrize("behind", [False, True], ids=["alone", "behind a convolution"])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("InstanceNorm1d", (4,)),
        ("InstanceNorm2d", (4,)),
        ("InstanceNorm3d", (4,)),
        ("GroupNorm", (2, 4)),
        ("GroupNorm", (4, 4)),
        ("LayerNorm", ((4, 7, 7),)),
        ("LayerNorm", ((7, 7),)),
        ("RMSNorm", ((4, 7, 7),)),
        ("BatchNorm1d", (4,)),
        ("BatchNorm2d", (4,)),
        ("LocalResponseNorm", (3,)),
        ("Softmax2d", ()),
    ],
)
def test_statistics_of_places(name: str, arguments: tuple[Any, ...], behind: bool) -> None:
    """Norms over positions depend on all of them, as the gradient shows; norms over channels depend on their own position."""
    torch = imported("torch")
    axes = {"1": 1, "3": 3}.get(name[-2], 2)
    ours, module = getattr(ps, name)(*arguments), getattr(torch.nn, name)(*arguments).double().eval()
    if behind:
        ours = Sequential(getattr(ps, f"Conv{axes}d")(4, 4, 3, padding=1), ours)
        module = torch.nn.Sequential(getattr(torch.nn, f"Conv{axes}d")(4, 4, 3, padding=1).double(), module)
    image = torch.rand(1, 4, *(7,) * axes, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(module(image)[(0, 1, *(3,) * axes)], image)
    reached = gradient[0].abs().sum(0).nonzero().unique(dim=0)
    width = int(reached[:, 0].max() - reached[:, 0].min()) + 1
    assert len(reached) == width**axes
    if width == 7:
        with pytest.raises(NotYetError, match="depends on a whole axis"):
            ps.receptive_field(ours)
    else:
        assert ps.receptive_field(ours) == (width,) * axes * behind
        assert width == (3 if behind else 1)


def test_an_unknown_layer_after_a_flattened_map() -> None:
    """Whatever it computes, it comes behind the map: the field of the map's entries is that of the convolution."""

    @dataclass(frozen=True)
    class Unknown(ps.Layer):
        def output_shape(self, input_shape: Any) -> Any:
            return (input_shape[0], 5)

    convolution = Conv2d(1, 2, 3)
    behind = Sequential(convolution, ps.Flatten(), Unknown())
    assert ps.receptive_field(behind) == ps.receptive_field(convolution)
