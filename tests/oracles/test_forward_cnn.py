"""Convolutional networks that transformers does not have: the program run on NumPy against networks put together of torch's own layers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from frameworks import imported, only_with
from oracles.test_forward_models import TOLERANCE, randomised

import paramsym as ps
from paramsym.models import DenseNet, LeNet5, ResNet
from paramsym.testing.running import largest_difference

only_with("numpy", "torch")


def compared(model: ps.Layer, module: Any, size: tuple[int, ...]) -> None:
    """Fail unless the model computes what the module computes, with its tensors under the same names."""
    torch, xp = imported("torch"), imported("numpy")
    x = torch.randn(size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    module = randomised(torch, module).eval()
    with torch.no_grad():
        wanted = module(x).numpy()
    tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    largest_difference(xp, model, ps.run(model, tensors, x.numpy()), wanted, TOLERANCE)


def frozen_norm(channels: int) -> Any:
    """Return a norm with the four vectors as buffers."""
    torch = imported("torch")
    norm = torch.nn.BatchNorm2d(channels)
    for name in ("weight", "bias"):
        vector = getattr(norm, name).detach()
        delattr(norm, name)
        norm.register_buffer(name, vector)
    del norm.num_batches_tracked
    norm.register_buffer("num_batches_tracked", None)
    return norm


def residual(block: str, incoming: int, planes: int, stride: int, dilation: int, groups: int, width: int, norm: Any) -> Any:
    """Return one block of a ResNet."""
    nn = imported("torch").nn
    functional = nn.functional
    outgoing = planes if block == "BasicBlock" else 4 * planes
    inside = planes * width // 64 * groups

    class Block(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            if block == "BasicBlock":
                sizes = [(incoming, planes, 3, stride, 1, 1), (planes, planes, 3, 1, 1, 1)]
            else:
                sizes = [(incoming, inside, 1, 1, 1, 1), (inside, inside, 3, stride, dilation, groups), (inside, outgoing, 1, 1, 1, 1)]
            self.count = len(sizes)
            for number, (near, far, kernel, step, gap, apart) in enumerate(sizes, 1):
                margin = kernel // 2 * gap
                self.add_module(f"conv{number}", nn.Conv2d(near, far, kernel, step, margin, gap, apart, bias=False))
                self.add_module(f"bn{number}", norm(far))
            self.downsample = None
            if incoming != outgoing:
                self.downsample = nn.Sequential(nn.Conv2d(incoming, outgoing, 1, stride, bias=False), norm(outgoing))

        def forward(self, x: Any) -> Any:
            y = x
            for number in range(1, self.count + 1):
                y = self.get_submodule(f"bn{number}")(self.get_submodule(f"conv{number}")(y))
                y = functional.relu(y) if number < self.count else y
            return functional.relu(y + (x if self.downsample is None else self.downsample(x)))

    return Block()


def resnet(block: str, depths: tuple[int, ...], stem: int, groups: int, width: int, replaced: tuple[bool, ...], norm: Any) -> Any:
    """Return a ResNet with 5 classes."""
    nn = imported("torch").nn
    layers: dict[str, Any] = {"conv1": nn.Conv2d(3, stem, 7, 2, 3, bias=False), "bn1": norm(stem), "relu": nn.ReLU()}
    layers["maxpool"] = nn.MaxPool2d(3, 2, 1)
    incoming, dilation = stem, 1
    for stage, (depth, dilated) in enumerate(zip(depths, (False, *replaced), strict=True)):
        planes, stride, first = stem * 2**stage, 1 if stage == 0 or dilated else 2, dilation
        dilation = dilation * 2 if dilated else dilation
        blocks = []
        for number in range(depth):
            place = (incoming, planes, stride if number == 0 else 1, first if number == 0 else dilation)
            blocks.append(residual(block, *place, groups, width, norm))
            incoming = planes if block == "BasicBlock" else 4 * planes
        layers[f"layer{stage + 1}"] = nn.Sequential(*blocks)
    ends = {"pool": nn.AdaptiveAvgPool2d(1), "flat": nn.Flatten(), "fc": nn.Linear(incoming, 5)}
    return nn.Sequential(OrderedDict({**layers, **ends}))


@pytest.mark.parametrize(
    ("block", "depths", "groups", "width", "replaced"),
    [
        ("BasicBlock", (2, 1, 1, 2), 1, 64, (False, False, False)),
        ("Bottleneck", (1, 2, 1, 1), 1, 64, (False, False, False)),
        ("Bottleneck", (1, 1, 2, 1), 2, 32, (False, False, False)),
        ("Bottleneck", (1, 2, 2, 2), 1, 128, (False, True, True)),
        ("Bottleneck", (1, 1, 2, 1), 1, 64, (True, False, True)),
    ],
)
@pytest.mark.parametrize("frozen", [False, True])
def test_resnet(block: str, depths: Any, groups: int, width: int, replaced: Any, frozen: bool) -> None:
    """Both blocks; ResNeXt, wide ResNet, dilated stages; frozen norms."""
    norm = "FrozenBatchNorm2d" if frozen else "BatchNorm2d"
    options = {"groups": groups, "width_per_group": width, "replace_stride_with_dilation": replaced, "norm_layer": norm}
    model = ResNet(block, depths, 5, **options, inplanes=8)  # type: ignore[arg-type]
    build = frozen_norm if frozen else imported("torch").nn.BatchNorm2d
    compared(model, resnet(block, depths, 8, groups, width, replaced, build), (2, 3, 45, 64))


def dense_layer(incoming: int, growth: int, bottleneck: int) -> Any:
    """Return one layer of a dense block."""
    torch = imported("torch")
    nn = torch.nn

    class Dense(nn.Sequential):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return torch.cat((x, super().forward(x)), 1)

    narrow = bottleneck * growth
    layers = {"norm1": nn.BatchNorm2d(incoming), "relu1": nn.ReLU(), "conv1": nn.Conv2d(incoming, narrow, 1, bias=False)}
    more = {"norm2": nn.BatchNorm2d(narrow), "relu2": nn.ReLU(), "conv2": nn.Conv2d(narrow, growth, 3, padding=1, bias=False)}
    return Dense(OrderedDict({**layers, **more}))


@pytest.mark.parametrize("depths", [(2, 3), (1, 1, 4), (3,)])
def test_densenet(depths: tuple[int, ...]) -> None:
    """Blocks of growing width, with transitions that round half of the channels down."""
    nn, growth, channels = imported("torch").nn, 3, 6
    features: dict[str, Any] = {"conv0": nn.Conv2d(3, channels, 7, 2, 3, bias=False), "norm0": nn.BatchNorm2d(channels)}
    features |= {"relu0": nn.ReLU(), "pool0": nn.MaxPool2d(3, 2, 1)}
    for number, depth in enumerate(depths, 1):
        block = {f"denselayer{n + 1}": dense_layer(channels + n * growth, growth, 2) for n in range(depth)}
        features[f"denseblock{number}"] = nn.Sequential(OrderedDict(block))
        channels += depth * growth
        if number < len(depths):
            halved = {"norm": nn.BatchNorm2d(channels), "relu": nn.ReLU(), "conv": nn.Conv2d(channels, channels // 2, 1, bias=False)}
            features[f"transition{number}"] = nn.Sequential(OrderedDict({**halved, "pool": nn.AvgPool2d(2, 2)}))
            channels //= 2
    features["norm5"] = nn.BatchNorm2d(channels)
    ends = {"relu": nn.ReLU(), "pool": nn.AdaptiveAvgPool2d(1), "flat": nn.Flatten(), "classifier": nn.Linear(channels, 5)}
    module = nn.Sequential(OrderedDict({"features": nn.Sequential(OrderedDict(features)), **ends}))
    compared(DenseNet(growth, depths, 6, 2, num_classes=5), module, (2, 3, 61, 40))


def squashed() -> Any:
    """Return the activation of 1998: 1.7159 tanh(2/3 a)."""
    torch = imported("torch")

    class Squash(torch.nn.Module):  # type: ignore[name-defined, misc]
        def forward(self, x: Any) -> Any:
            return 1.7159 * torch.tanh(2 / 3 * x)

    return Squash()


@pytest.mark.parametrize("variant", ["modern", "oneill"])
def test_lenet(variant: Any) -> None:
    """The network of the tutorials and O'Neill's."""
    nn = imported("torch").nn
    if variant == "modern":
        act, pool = nn.ReLU(), nn.MaxPool2d(2)
        first = {"conv1": nn.Conv2d(1, 6, 5), "a": act, "p": pool, "conv2": nn.Conv2d(6, 16, 5), "b": act, "q": pool, "f": nn.Flatten()}
        last = {"fc1": nn.Linear(400, 120), "c": act, "fc2": nn.Linear(120, 84), "d": act, "fc3": nn.Linear(84, 10)}
    else:
        act = squashed()
        first = {"conv1": nn.Conv2d(1, 6, 5, 2), "a": act, "conv2": nn.Conv2d(6, 50, 5, 2), "b": act, "f": nn.Flatten()}
        last = {"fc1": nn.Linear(1250, 100), "c": act, "fc2": nn.Linear(100, 10), "d": act}
    size = 32 if variant == "modern" else 29
    compared(LeNet5(variant), nn.Sequential(OrderedDict({**first, **last})), (3, 1, size, size))


def test_lenet_of_1998() -> None:
    """The subsampling, the connection table and the distances from the centres, entry by entry as the paper writes them."""
    torch = imported("torch")
    nn, table = torch.nn, ((0, 1), (2,), (0, 3, 5), (1, 2, 4))

    class Subsampling(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.ones(channels))

        def forward(self, x: Any) -> Any:
            summed = x[..., ::2, ::2] + x[..., 1::2, ::2] + x[..., ::2, 1::2] + x[..., 1::2, 1::2]
            return summed * self.weight[:, None, None] + self.bias[:, None, None]

    class Table(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.ones(sum(map(len, table)), 5, 5)), nn.Parameter(torch.ones(len(table)))

        def forward(self, x: Any) -> Any:
            dense, pairs = torch.zeros(len(table), 6, 5, 5, dtype=x.dtype), [(n, one) for n, maps in enumerate(table) for one in maps]
            for kernel, (far, near) in zip(self.weight, pairs, strict=True):
                dense[far, near] = kernel
            return nn.functional.conv2d(x, dense, self.bias)

    class Centres(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(10, 84))

        def forward(self, x: Any) -> Any:
            return torch.cdist(x, self.weight, compute_mode="donot_use_mm_for_euclid_dist") ** 2

    act = squashed()
    maps = {"C1": nn.Conv2d(1, 6, 5), "a": act, "S2": Subsampling(6), "b": act, "C3": Table(), "c": act, "S4": Subsampling(4), "d": act}
    rest = {"C5": nn.Conv2d(4, 120, 5), "e": act, "f": nn.Flatten(), "F6": nn.Linear(120, 84), "g": act, "output": Centres()}
    compared(LeNet5(connection_table=table), nn.Sequential(OrderedDict({**maps, **rest})), (2, 1, 32, 32))
