"""Builds as users write them, from sizes to a module: ``BUILDS`` by name, with the shapes of the inputs in letters and sizes to draw."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

from read.own_models import (  # noqa: E402 - they need torch
    Autoencoder,
    Conformer,
    Generator,
    MinGPT,
    Mixer,
    ResNet,
    SelectiveScan,
    UNet,
    VisionTransformer,
)

nn = torch.nn
functional = nn.functional


class CutTable(nn.Module):
    """Positions that are a parameter, of which a forward pass takes the first ones."""

    def __init__(self, width: int, positions: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(positions, width))

    def forward(self, x: Any) -> Any:
        return x + self.positions[: x.shape[1]]


class Perceptron(nn.Module):
    def __init__(self, before: int, width: int, depth: int, behind: int) -> None:
        super().__init__()
        layers: list[Any] = [nn.Linear(before, width), nn.ReLU()]
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Linear(width, behind))

    def forward(self, x: Any) -> Any:
        return self.net(x)


class Convolutions(nn.Module):
    def __init__(self, channels: int, depth: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, 2, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU()) for _ in range(depth)
        )
        self.head = nn.Linear(channels, classes)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self, kind: Any, vocabulary: int, width: int, hidden: int) -> None:
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocabulary, width), kind(width, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocabulary)

    def forward(self, tokens: Any) -> Any:
        x, _ = self.rnn(self.embed(tokens))
        return self.out(x)


class Grouped(nn.Module):
    """A decoder's layer with fewer heads of keys and values than of queries, and a gated feed-forward part."""

    def __init__(self, groups: int, queries: int, head: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.groups, self.head = groups * queries, groups, head
        width = self.heads * head
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.o = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(width, groups * head, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Any) -> Any:
        b, s, _ = x.shape
        y = self.norm1(x)
        q = self.q(y).view(b, s, self.heads, self.head).transpose(1, 2)
        k = self.k(y).view(b, s, self.groups, self.head).transpose(1, 2).repeat_interleave(self.heads // self.groups, dim=1)
        v = self.v(y).view(b, s, self.groups, self.head).transpose(1, 2).repeat_interleave(self.heads // self.groups, dim=1)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, s, -1))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Stretched(nn.Module):
    """Attention whose keys and values are stretched to the heads of the queries: a view if there is one group."""

    def __init__(self, groups: int = 2, queries: int = 3, head: int = 4) -> None:
        super().__init__()
        self.groups, self.queries, self.head = groups, queries, head
        width = groups * queries * head
        self.q, self.k, self.v, self.o = (nn.Linear(width, size) for size in (width, groups * head, groups * head, width))

    def forward(self, x: Any) -> Any:
        b, s, width = x.shape
        heads = self.groups * self.queries
        q = self.q(x).view(b, s, heads, self.head).transpose(1, 2)
        k, v = (one(x).view(b, s, self.groups, self.head).transpose(1, 2) for one in (self.k, self.v))
        k, v = (one[:, :, None].expand(-1, -1, self.queries, -1, -1).reshape(b, heads, s, self.head) for one in (k, v))
        return self.o((q @ k.transpose(-1, -2)).softmax(-1).matmul(v).transpose(1, 2).reshape(b, s, width))


class Sums(nn.Module):
    """Attention in Einstein's notation: without a sum over positions, torch multiplies entry by entry."""

    def __init__(self, heads: int = 2, head: int = 3) -> None:
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(heads * head, 3 * heads * head, bias=False)

    def forward(self, x: Any) -> Any:
        q, k, v = (one.reshape(*one.shape[:2], self.heads, -1) for one in self.qkv(x).chunk(3, -1))
        scores = torch.einsum("bihd,bjhd->bhij", q, k).softmax(-1)
        return torch.einsum("bhij,bjhd->bihd", scores, v).reshape(x.shape)


class Decoder(nn.Module):
    def __init__(self, depth: int, groups: int, queries: int, head: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Grouped(groups, queries, head, hidden) for _ in range(depth))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class PairedLayers(nn.Module):
    """Attention and a feed-forward part in a list of pairs; the sums are in the outer forward pass."""

    def __init__(self, width: int, hidden: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.ModuleList([nn.Linear(width, width), nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))])
            for _ in range(depth)
        )

    def forward(self, x: Any) -> Any:
        for mix, feed in self.layers:
            x = mix(x) + x
            x = feed(x) + x
        return x


class Mixture(nn.Module):
    """Every expert computes every position; the results are weighed."""

    def __init__(self, width: int, hidden: int, experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(experts, width, hidden)), nn.Parameter(torch.randn(experts, hidden, width))

    def forward(self, x: Any) -> Any:
        weights = self.gate(x).softmax(-1)
        hidden = functional.silu(torch.einsum("bsd,edh->bseh", x, self.up))
        return (torch.einsum("bseh,ehd->bsed", hidden, self.down) * weights[..., None]).sum(2)


class Packed(nn.Module):
    """Attention on packed numbers, of which torch makes no copy if there is only one position."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        b, s, w = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, w).permute(2, 0, 1, 3).contiguous()
        return self.out((q @ k.transpose(1, 2)).relu() @ v)


class Build(NamedTuple):
    """A build, the shapes of its inputs in letters, and a function that draws sizes of both."""

    build: Callable[..., Any]
    inputs: Any
    draw: Callable[[Random], dict[str, int]]
    index: bool = False


def _gpt(width: int = 24, heads: int = 4, depth: int = 3, vocabulary: int = 50) -> Any:
    return MinGPT(vocabulary=vocabulary, width=width, heads=heads, depth=depth)


BUILDS: dict[str, Build] = {
    "minGPT": Build(
        _gpt,
        ("B", "S"),
        lambda r: (
            {"heads": (h := r.randint(1, 6)), "width": h * r.randint(1, 9), "depth": r.randint(1, 5), "vocabulary": r.randint(2, 90)}
            | {"B": r.randint(1, 5), "S": r.randint(1, 40)}
        ),
        index=True,
    ),
    "ViT": Build(
        lambda width=24, heads=4, depth=2, classes=10: VisionTransformer(32, 8, width, heads, depth, classes),
        ("B", 3, 32, 32),
        lambda r: (
            {"heads": (h := r.randint(1, 6)), "width": h * r.randint(1, 9), "depth": r.randint(1, 5), "classes": r.randint(1, 30)}
            | {"B": r.randint(2, 5)}
        ),
    ),
    "MLP": Build(
        lambda before=7, width=20, depth=3, behind=5: Perceptron(before, width, depth, behind),
        ("B", "before"),
        lambda r: {name: r.randint(1, 40) for name in ("before", "width", "behind", "B")} | {"depth": r.randint(1, 7)},
    ),
    "CNN": Build(
        lambda channels=8, depth=3, classes=10: Convolutions(channels, depth, classes).eval(),
        ("B", 3, "H", "W"),
        lambda r: (
            {name: r.randint(1, 30) for name in ("channels", "classes", "B")}
            | {"depth": r.randint(1, 6), "H": r.randint(4, 40), "W": r.randint(4, 40)}
        ),
    ),
    "ResNet": Build(
        lambda width=8, classes=10: ResNet(width=width, classes=classes).eval(),
        ("B", 3, "H", "W"),
        lambda r: {name: r.randint(1, 20) for name in ("width", "classes", "B")} | {"H": r.randint(20, 70), "W": r.randint(20, 70)},
    ),
    "U-Net": Build(
        lambda width=6: UNet(width),
        ("B", 1, "4*H", "4*W"),
        lambda r: {"width": r.randint(1, 20), "B": r.randint(1, 4), "H": r.randint(1, 12), "W": r.randint(1, 12)},
    ),
    "LSTM": Build(
        lambda vocabulary=40, width=12, hidden=20: Recurrent(nn.LSTM, vocabulary, width, hidden),
        ("B", "S"),
        lambda r: {name: r.randint(1, 40) for name in ("vocabulary", "width", "hidden")} | {"B": r.randint(1, 6), "S": r.randint(1, 12)},
        index=True,
    ),
    "GRU": Build(
        lambda vocabulary=40, width=12, hidden=20: Recurrent(nn.GRU, vocabulary, width, hidden),
        ("B", "S"),
        lambda r: {name: r.randint(1, 40) for name in ("vocabulary", "width", "hidden")} | {"B": r.randint(1, 6), "S": r.randint(1, 12)},
        index=True,
    ),
    "mixture": Build(
        lambda width=12, hidden=20, experts=4: Mixture(width, hidden, experts),
        ("B", "S", "width"),
        lambda r: {name: r.randint(1, 30) for name in ("width", "hidden", "experts", "B", "S")},
    ),
    "VAE": Build(
        lambda features=30, hidden=16, latent=4: Autoencoder(features, hidden, latent),
        [("B", "features"), ("B", "latent")],
        lambda r: {name: r.randint(1, 30) for name in ("features", "hidden", "latent", "B")},
    ),
    "DCGAN": Build(
        lambda latent=8, width=6: Generator(latent, width).eval(),
        ("B", "latent"),
        lambda r: {name: r.randint(1, 30) for name in ("latent", "width", "B")},
    ),
    "Mixer": Build(
        lambda patches=9, width=10: Mixer(patches, width),
        ("B", "patches", "width"),
        lambda r: {name: r.randint(1, 30) for name in ("patches", "width", "B")},
    ),
    "conformer": Build(
        lambda width=12: Conformer(width).eval(),
        ("B", "S", "width"),
        lambda r: {"width": r.randint(1, 30), "B": r.randint(1, 6), "S": r.randint(1, 40)},
    ),
    "grouped queries": Build(
        lambda depth=3, groups=2, queries=3, head=8, hidden=50: Decoder(depth, groups, queries, head, hidden),
        ("B", "S", "groups*queries*head"),
        lambda r: (
            {name: r.randint(1, 6) for name in ("depth", "groups", "queries", "head", "B")}
            | {"hidden": r.randint(1, 60), "S": r.randint(1, 20)}
        ),
    ),
    "scan": Build(
        lambda width=6, states=4: SelectiveScan(width, states),
        ("B", 3, "width"),
        lambda r: {name: r.randint(1, 20) for name in ("width", "states", "B")},
    ),
    "list of pairs": Build(
        lambda width=12, hidden=30, depth=3: PairedLayers(width, hidden, depth),
        ("B", "S", "width"),
        lambda r: {name: r.randint(1, 30) for name in ("width", "hidden", "B", "S")} | {"depth": r.randint(1, 6)},
    ),
}
