"""``derive`` on torch modules as users write them, against these modules at sizes that the search did not choose."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from derive.drawn import arguments
from frameworks import imported

import paramsym as ps

torch = imported("torch")
nn = torch.nn


class Sparse(nn.Module):
    """A mixture of experts in every k-th layer, and grouped queries."""

    def __init__(
        self, vocab: int = 97, heads: int = 4, groups: int = 2, head: int = 8, layers: int = 6, experts: int = 4, every: int = 2
    ) -> None:
        """Build it; the groups must divide the heads."""
        super().__init__()
        assert heads % groups == 0
        width = heads * head
        self.embed, self.layers = nn.Embedding(vocab, width), nn.ModuleList()
        for number in range(layers):
            block = nn.ModuleDict({"qkv": nn.Linear(width, (heads + 2 * groups) * head, bias=False), "norm": nn.RMSNorm(width)})
            if (number + 1) % every == 0:
                block["experts"] = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(experts))
            else:
                block["mlp"] = nn.Linear(width, 4 * width)
            self.layers.append(block)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.embed.weight


class Mobile(nn.Module):
    """Stages of inverted residuals in one sequence."""

    def __init__(self, settings: tuple[tuple[int, int, int], ...] = ((2, 16, 1), (6, 24, 2)), stem: int = 20, classes: int = 10) -> None:
        """Build it."""
        super().__init__()
        layers, inside = [nn.Sequential(nn.Conv2d(3, stem, 3, bias=False), nn.BatchNorm2d(stem))], stem
        for expand, channels, repeats in settings:
            for _ in range(repeats):
                block, hidden = nn.Sequential(), inside * expand
                if expand != 1:
                    block.append(nn.Conv2d(inside, hidden, 1, bias=False)).append(nn.BatchNorm2d(hidden)).append(nn.ReLU6())
                block.append(nn.Conv2d(hidden, hidden, 3, groups=hidden, bias=False)).append(nn.BatchNorm2d(hidden)).append(nn.ReLU6())
                layers.append(block.append(nn.Conv2d(hidden, channels, 1, bias=False)).append(nn.BatchNorm2d(channels)))
                inside = channels
        self.features, self.classifier = nn.Sequential(*layers), nn.Linear(inside, classes)


class Residual(nn.Module):
    """A residual block of a diffusion model, with a projection between different widths."""

    def __init__(self, inside: int, out: int, time: int) -> None:
        """Build it."""
        super().__init__()
        self.body, self.time = nn.Sequential(nn.GroupNorm(1, inside), nn.SiLU(), nn.Conv2d(inside, out, 3)), nn.Linear(time, out)
        self.skip = nn.Identity() if inside == out else nn.Conv2d(inside, out, 1)


class Unet(nn.Module):
    """A U-Net of a diffusion model: all input blocks in one list, and all output blocks in another one."""

    def __init__(self, channels: int = 3, base: int = 8, blocks: int = 2, factors: tuple[int, ...] = (1, 2)) -> None:
        """Build it; each output block takes the output of an input block, too."""
        super().__init__()
        width, skips = base, [base]
        self.inputs, self.outputs = nn.ModuleList([nn.Conv2d(channels, base, 3)]), nn.ModuleList()
        for level, factor in enumerate(factors):
            for _ in range(blocks):
                self.inputs.append(Residual(width, factor * base, 4 * base))
                width = factor * base
                skips.append(width)
            if level + 1 < len(factors):
                self.inputs.append(nn.Conv2d(width, width, 3))
                skips.append(width)
        for factor in reversed(factors):
            for _ in range(blocks + 1):
                self.outputs.append(Residual(width + skips.pop(), factor * base, 4 * base))
                width = factor * base


class Style(nn.Module):
    """A generator whose channels are bounded, with a mapping network."""

    def __init__(self, base: int = 1024, most: int = 64, style: int = 32, mapping: int = 3) -> None:
        """Build it."""
        super().__init__()
        self.mapping = nn.Sequential(*(nn.Linear(style, style) for _ in range(mapping)))
        for side in (4, 8, 16, 32):
            inside, out = min(base // max(4, side // 2), most), min(base // side, most)
            self.add_module(f"b{side}", nn.ModuleDict({"conv": nn.Conv2d(inside, out, 3), "affine": nn.Linear(style, inside)}))


BUILDS: dict[Callable[..., Any], tuple[dict[str, Any], set[str]]] = {
    Sparse: ({}, {"layers", "experts", "every"}),
    Mobile: ({"settings_0_0": 2, "settings_1_0": 6}, {"settings_0_2", "settings_1_2"}),
    Unet: ({"factors": (1, 2)}, {"blocks"}),  # what is held is the default
    Style: ({}, {"mapping"}),
}


def seen(module: Any) -> tuple[dict[str, tuple[int, ...]], int]:
    """Return the names and shapes of a module, every tensor once, and the number of its parameters."""
    firsts: dict[int, str] = {}
    kept = module.state_dict(keep_vars=True)
    once = {name: tuple(tensor.shape) for name, tensor in kept.items() if firsts.setdefault(id(tensor), name) == name}
    return once, sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_the_form_is_the_module(build: Callable[..., Any]) -> None:
    """Names, shapes and counts at random sizes, large widths among them."""
    held, counts = BUILDS[build]
    form = ps.derive(build, held=held or None, tests=40, seconds=200)
    chance, agreed = random.Random(20261126), 0
    for attempt in range(400):
        sizes = {name: chance.randint(1, 12 if name in counts else (8, 300, 20_000)[attempt % 3]) for name, _ in form.sizes_taken}
        if "groups" in sizes:
            sizes["heads"] = sizes["groups"] * chance.randint(1, 4)
        try:
            sized = form.at(sizes)
        except ps.errors.ParamsymError:
            continue
        with torch.device("meta"):
            wanted, count = seen(build(**arguments(build, sizes)))
        assert (sized.shapes(buffers=True), sized.count) == (wanted, count)
        agreed += 1
        if agreed == 8:
            return
    pytest.fail("too few sizes are inside the form")
