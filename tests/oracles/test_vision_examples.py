"""U-Nets, a DCGAN and a variational autoencoder against the same networks put together of torch's own layers, on random weights."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from frameworks import imported
from oracles.torchvision_live import jumbled

import paramsym as ps
from paramsym.models import VAE, DCGANDiscriminator, DCGANGenerator, HubUNet, UNet
from paramsym.testing.running import largest_difference


def compared(model: ps.Layer, module: Any, forward: Any, *sizes: tuple[int, ...]) -> None:
    """Fail unless a model stores what a module stores, in this order, and computes what a function of the module computes."""
    torch, xp = imported("torch"), imported("numpy")
    state = jumbled(torch, module.eval()).state_dict()
    assert list(model.shapes(buffers=True).items()) == [(name, tuple(tensor.shape)) for name, tensor in state.items()]
    generator = torch.Generator().manual_seed(3)
    inputs = [torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes]
    with torch.no_grad():
        wanted = forward(module, *inputs)
    wanted = tuple(one.numpy() for one in wanted) if isinstance(wanted, tuple) else wanted.numpy()
    found = ps.run(model, {name: tensor.numpy() for name, tensor in state.items()}, *(one.numpy() for one in inputs))
    largest_difference(xp, model, found, wanted, 1e-9)


def modules(**layers: Any) -> Any:
    """Return a module that holds others by name."""
    return imported("torch").nn.ModuleDict(layers)


@pytest.mark.parametrize("bilinear", [False, True])
@pytest.mark.parametrize("extents", [(32, 48), (37, 50)])
def test_unet(bilinear: bool, extents: tuple[int, int]) -> None:
    """Both ways of doubling, at extents that halve evenly and at some that do not."""
    torch = imported("torch")
    nn, functional, top = torch.nn, torch.nn.functional, 6

    def double(near: int, between: int, far: int) -> Any:
        first = (nn.Conv2d(near, between, 3, 1, 1, bias=False), nn.BatchNorm2d(between), nn.ReLU())
        row = nn.Sequential(*first, nn.Conv2d(between, far, 3, 1, 1, bias=False), nn.BatchNorm2d(far), nn.ReLU())
        return nn.Sequential(OrderedDict(double_conv=row))

    factor = 2 if bilinear else 1
    layers: dict[str, Any] = {"inc": double(3, top, top)}
    for level in range(1, 5):
        far = top * 2**level // (factor if level == 4 else 1)
        layers[f"down{level}"] = nn.Sequential(
            OrderedDict(maxpool_conv=nn.Sequential(nn.MaxPool2d(2), double(top * 2 ** (level - 1), far, far)))
        )
    for level in range(1, 5):
        wide = top * 2 ** (5 - level)
        far = wide // 2 // (factor if level < 4 else 1)
        if bilinear:
            up: Any = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        else:
            up = nn.ConvTranspose2d(wide, wide // 2, 2, 2)
        layers[f"up{level}"] = modules(up=up, conv=double(wide, wide // 2 if bilinear else far, far))
    layers["outc"] = nn.Sequential(OrderedDict(conv=nn.Conv2d(top, 2, 1)))

    def forward(module: Any, x: Any) -> Any:
        seen = [module["inc"](x)]
        for level in range(1, 5):
            seen.append(module[f"down{level}"](seen[-1]))
        x = seen.pop()
        for level in range(1, 5):
            beside = seen.pop()
            x = module[f"up{level}"]["up"](x)
            high, wide = beside.shape[2] - x.shape[2], beside.shape[3] - x.shape[3]
            x = functional.pad(x, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
            x = module[f"up{level}"]["conv"](torch.cat([beside, x], 1))
        return module["outc"](x)

    compared(UNet(3, 2, bilinear, features=top), modules(**layers), forward, (1, 3, *extents))


def test_hub_unet() -> None:
    """The U-Net of PyTorch's hub."""
    torch = imported("torch")
    nn, top = torch.nn, 4

    def double(near: int, far: int, name: str) -> Any:
        layers: dict[str, Any] = {}
        for number, incoming in ((1, near), (2, far)):
            layers[f"{name}conv{number}"] = nn.Conv2d(incoming, far, 3, padding=1, bias=False)
            layers |= {f"{name}norm{number}": nn.BatchNorm2d(far), f"{name}relu{number}": nn.ReLU()}
        return nn.Sequential(OrderedDict(layers))

    layers: dict[str, Any] = {}
    for level in range(1, 5):
        layers[f"encoder{level}"] = double(3 if level == 1 else top * 2 ** (level - 2), top * 2 ** (level - 1), f"enc{level}")
    layers["bottleneck"] = double(8 * top, 16 * top, "bottleneck")
    for level in (4, 3, 2, 1):
        width = top * 2 ** (level - 1)
        layers[f"upconv{level}"] = nn.ConvTranspose2d(2 * width, width, 2, 2)
        layers[f"decoder{level}"] = double(2 * width, width, f"dec{level}")
    layers["conv"] = nn.Conv2d(top, 2, 1)

    def forward(module: Any, x: Any) -> Any:
        seen = []
        for level in range(1, 5):
            seen.append(module[f"encoder{level}"](x))
            x = nn.functional.max_pool2d(seen[-1], 2)
        x = module["bottleneck"](x)
        for level in (4, 3, 2, 1):
            x = module[f"decoder{level}"](torch.cat((module[f"upconv{level}"](x), seen[level - 1]), 1))
        return torch.sigmoid(module["conv"](x))

    compared(HubUNet(3, 2, top), modules(**layers), forward, (1, 3, 32, 48))


def test_dcgan() -> None:
    """Both networks of the pair."""
    nn = imported("torch").nn
    row: list[Any] = []
    for near, far, settings in ((7, 24, (4, 1, 0)), (24, 12, (4, 2, 1)), (12, 6, (4, 2, 1)), (6, 3, (4, 2, 1))):
        row += [nn.ConvTranspose2d(near, far, *settings, bias=False), nn.BatchNorm2d(far), nn.ReLU()]
    row += [nn.ConvTranspose2d(3, 2, 4, 2, 1, bias=False), nn.Tanh()]
    compared(DCGANGenerator(7, 3, 2), modules(main=nn.Sequential(*row)), lambda module, x: module["main"](x), (2, 7, 1, 1))
    row = [nn.Conv2d(2, 3, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
    for near in (3, 6, 12):
        row += [nn.Conv2d(near, 2 * near, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * near), nn.LeakyReLU(0.2)]
    row += [nn.Conv2d(24, 1, 4, 1, 0, bias=False), nn.Sigmoid()]
    compared(DCGANDiscriminator(2, 3), modules(main=nn.Sequential(*row)), lambda module, x: module["main"](x).view(-1, 1), (2, 2, 64, 64))


@pytest.mark.parametrize("noisy", [False, True])
def test_vae(noisy: bool) -> None:
    """The autoencoder, with noise and without."""
    torch = imported("torch")
    sizes = {"fc1": (12, 9), "fc21": (9, 4), "fc22": (9, 4), "fc3": (4, 9), "fc4": (9, 12)}

    def forward(module: Any, x: Any, *noise: Any) -> Any:
        seen = torch.relu(module["fc1"](x))
        mean, log_variance = module["fc21"](seen), module["fc22"](seen)
        latent = mean + sum(one * torch.exp(0.5 * log_variance) for one in noise)
        return torch.sigmoid(module["fc4"](torch.relu(module["fc3"](latent)))), mean, log_variance

    layers = {name: torch.nn.Linear(*pair) for name, pair in sizes.items()}
    compared(VAE(12, 9, 4), modules(**layers), forward, (2, 12), *([(2, 4)] if noisy else []))


@pytest.mark.parametrize("cls", [UNet, HubUNet, DCGANGenerator, DCGANDiscriminator, VAE])
def test_claims(cls: Any) -> None:
    """The totals that are quoted for these networks."""
    for claim in cls.claims:
        assert cls(claim.name).count == claim.count
