"""Modules as users write them, one class each, with the shapes of their inputs: ``MODELS`` by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
from read.more_models import MORE  # noqa: E402 - it needs torch

nn = torch.nn
functional = nn.functional


class CausalAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (one.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for one in (q, k, v))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), CausalAttention(width, heads), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x: Any) -> Any:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class MinGPT(nn.Module):
    def __init__(
        self, vocabulary: int = 50, positions: int = 40, width: int = 24, heads: int = 4, depth: int = 3, *, tied: bool = True
    ) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.h = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.ln_f, self.lm_head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.lm_head.weight = self.wte.weight

    def forward(self, tokens: Any) -> Any:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class EagerAttention(nn.Module):
    """Attention by hand: a mask in a buffer, scores, softmax."""

    def __init__(self, width: int = 24, heads: int = 3, positions: int = 40) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.heads = heads
        self.register_buffer("mask", torch.tril(torch.ones(positions, positions)), persistent=False)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = (one(x).view(batch, length, self.heads, -1).permute(0, 2, 1, 3) for one in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        scores = scores.masked_fill(self.mask[:length, :length] == 0, float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)


class VisionTransformer(nn.Module):
    def __init__(self, side: int = 32, patch: int = 8, width: int = 24, heads: int = 4, depth: int = 2, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.zeros(1, (side // patch) ** 2 + 1, width))
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, images: Any) -> Any:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x)[:, 0])


class Residual(nn.Module):
    def __init__(self, before: int, behind: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, behind, 3, stride, 1, bias=False), nn.BatchNorm2d(behind)
        self.conv2, self.bn2 = nn.Conv2d(behind, behind, 3, 1, 1, bias=False), nn.BatchNorm2d(behind)
        same = stride == 1 and before == behind
        self.down = nn.Identity() if same else nn.Sequential(nn.Conv2d(before, behind, 1, stride, bias=False), nn.BatchNorm2d(behind))

    def forward(self, x: Any) -> Any:
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.down(x))


class ResNet(nn.Module):
    def __init__(self, depths: tuple[int, ...] = (2, 3, 1), width: int = 8, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        stages, before = [], width
        for number, depth in enumerate(depths):
            behind = width << number
            stages.append(
                nn.Sequential(*(Residual(before if n == 0 else behind, behind, 2 if n == 0 and number else 1) for n in range(depth)))
            )
            before = behind
        self.stages, self.fc = nn.ModuleList(stages), nn.Linear(before, classes)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.fc(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class UNet(nn.Module):
    def __init__(self, width: int = 6) -> None:
        super().__init__()
        self.down1, self.down2, self.middle = self.twice(1, width), self.twice(width, 2 * width), self.twice(2 * width, 4 * width)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2), nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.back2, self.back1, self.out = self.twice(4 * width, 2 * width), self.twice(2 * width, width), nn.Conv2d(width, 2, 1)

    @staticmethod
    def twice(before: int, behind: int) -> Any:
        return nn.Sequential(nn.Conv2d(before, behind, 3, 1, 1), nn.ReLU(), nn.Conv2d(behind, behind, 3, 1, 1), nn.ReLU())

    def forward(self, x: Any) -> Any:
        one = self.down1(x)
        two = self.down2(functional.max_pool2d(one, 2))
        x = self.middle(functional.max_pool2d(two, 2))
        x = self.back2(torch.cat([two, self.up2(x)], dim=1))
        return self.out(self.back1(torch.cat([one, self.up1(x)], dim=1)))


class Cells(nn.Module):
    """A loop over time steps with a cell written by hand."""

    def __init__(self, features: int = 5, width: int = 7) -> None:
        super().__init__()
        self.update, self.reset, self.new = (nn.Linear(features + width, width) for _ in range(3))
        self.width = width

    def forward(self, x: Any) -> Any:
        state = x.new_zeros(x.shape[0], self.width)
        outputs = []
        for step in range(x.shape[1]):
            both = torch.cat([x[:, step], state], dim=-1)
            update, reset = torch.sigmoid(self.update(both)), torch.sigmoid(self.reset(both))
            new = torch.tanh(self.new(torch.cat([x[:, step], reset * state], dim=-1)))
            state = (1 - update) * state + update * new
            outputs.append(state)
        return torch.stack(outputs, dim=1)


class DenseMixture(nn.Module):
    """Every expert computes every position; a softmax weighs them."""

    def __init__(self, width: int = 12, hidden: int = 20, experts: int = 4) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(experts, width, hidden) / 4), nn.Parameter(torch.randn(experts, hidden, width) / 4)

    def forward(self, x: Any) -> Any:
        weights = self.gate(x).softmax(-1)
        hidden = functional.silu(torch.einsum("bsd,edh->bseh", x, self.up))
        return torch.einsum("bseh,ehd,bse->bsd", hidden, self.down, weights)


class Autoencoder(nn.Module):
    """A variational autoencoder with the noise given, and three results in a dictionary."""

    def __init__(self, features: int = 30, hidden: int = 16, latent: int = 4) -> None:
        super().__init__()
        self.encoder, self.mean, self.spread = nn.Linear(features, hidden), nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, features), nn.Sigmoid())

    def forward(self, x: Any, noise: Any) -> dict[str, Any]:
        hidden = torch.tanh(self.encoder(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        return {"image": self.decoder(mean + noise * torch.exp(0.5 * spread)), "mean": mean, "spread": spread}


class Generator(nn.Module):
    """DCGAN's generator."""

    def __init__(self, latent: int = 8, width: int = 6) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(latent, 4 * width, 4, 1, 0, bias=False),
            nn.BatchNorm2d(4 * width),
            nn.ReLU(True),
            nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(True),
            nn.ConvTranspose2d(2 * width, 3, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z: Any) -> Any:
        return self.main(z[:, :, None, None])


class DetectorHead(nn.Module):
    """Two towers over the levels of a pyramid, and all boxes joined."""

    def __init__(self, channels: int = 8, anchors: int = 3, classes: int = 5) -> None:
        super().__init__()
        self.tower = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.GroupNorm(4, channels), nn.ReLU())
        self.classes, self.boxes = nn.Conv2d(channels, anchors * classes, 3, padding=1), nn.Conv2d(channels, anchors * 4, 3, padding=1)
        self.number = classes

    def forward(self, fine: Any, coarse: Any) -> tuple[Any, Any]:
        scores, boxes = [], []
        for level in (fine, coarse):
            shared = self.tower(level)
            scores.append(self.classes(shared).permute(0, 2, 3, 1).reshape(level.shape[0], -1, self.number))
            boxes.append(self.boxes(shared).permute(0, 2, 3, 1).reshape(level.shape[0], -1, 4))
        return torch.cat(scores, dim=1), torch.cat(boxes, dim=1)


class Conformer(nn.Module):
    """The convolution module of a conformer block, and half a feed-forward module."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.pointwise, self.depthwise = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 5, padding=2, groups=width)
        self.batch_norm, self.last = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)

    def forward(self, x: Any) -> Any:
        x = x + 0.5 * self.down(functional.silu(self.up(self.norm(x))))
        y = functional.glu(self.pointwise(x.transpose(1, 2)), dim=1)
        return x + self.last(functional.silu(self.batch_norm(self.depthwise(y)))).transpose(1, 2)


class LowRank(nn.Module):
    """LoRA: a frozen matrix and two trained ones."""

    def __init__(self, before: int = 10, behind: int = 14, rank: int = 3) -> None:
        super().__init__()
        self.base = nn.Linear(before, behind).requires_grad_(False)
        self.first = nn.Linear(before, 6)
        self.a, self.b = nn.Parameter(torch.randn(rank, 6)), nn.Parameter(torch.randn(behind, rank))
        self.frozen = nn.Linear(6, behind).requires_grad_(False)

    def forward(self, x: Any) -> Any:
        y = self.first(x)
        return self.base(x) + self.frozen(y) + 2.0 * (y @ self.a.t() @ self.b.t())


class WeightNormed(nn.Module):
    """A parametrisation: the weight is computed from two stored tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 6, 3, padding=1))

    def forward(self, x: Any) -> Any:
        return self.conv(x)


class Mixer(nn.Module):
    def __init__(self, patches: int = 9, width: int = 10) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(patches, 5), nn.GELU("tanh"), nn.Linear(5, patches))
        self.channels = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))

    def forward(self, x: Any) -> Any:
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int = 12) -> None:
        super().__init__()
        self.expand, self.deep = nn.Conv2d(4, channels, 1), nn.Conv2d(channels, channels, 3, 2, 1, groups=channels)
        self.reduce, self.again, self.project = nn.Conv2d(channels, 3, 1), nn.Conv2d(3, channels, 1), nn.Conv2d(channels, 4, 1)

    def forward(self, x: Any) -> Any:
        x = self.deep(functional.hardswish(self.expand(x)))
        scale = functional.hardsigmoid(self.again(functional.relu(self.reduce(x.mean((2, 3), keepdim=True)))))
        return self.project(x * scale)


class SelectiveScan(nn.Module):
    """A state space scanned step by step, as a small Mamba."""

    def __init__(self, width: int = 6, states: int = 4) -> None:
        super().__init__()
        self.inner, self.step = nn.Linear(width, 2 * states + 1), nn.Linear(1, width)
        self.a, self.d = nn.Parameter(torch.rand(width, states)), nn.Parameter(torch.ones(width))
        self.states = states

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        b, c, delta = torch.split(self.inner(x), [self.states, self.states, 1], dim=-1)
        delta = functional.softplus(self.step(delta))
        state = torch.zeros(batch, width, self.states, device=x.device, dtype=x.dtype)
        outputs = []
        for place in range(length):
            decay = torch.exp(-delta[:, place, :, None] * torch.exp(self.a))
            state = decay * state + delta[:, place, :, None] * b[:, place, None, :] * x[:, place, :, None]
            outputs.append((state @ c[:, place, :, None]).squeeze(-1))
        return torch.stack(outputs, 1) + x * self.d


class PointCloud(nn.Module):
    """A shared network on points, the largest features, and both joined."""

    def __init__(self) -> None:
        super().__init__()
        self.each, self.all = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 16)), nn.Linear(32, 5)

    def forward(self, points: Any) -> Any:
        features = self.each(points)
        whole = features.amax(dim=1, keepdim=True).expand_as(features)
        return self.all(torch.cat([features, whole], dim=-1)).log_softmax(-1)


class Shifted(nn.Module):
    """Windows of a shifted map, and changes in place."""

    def __init__(self, channels: int = 6, window: int = 4) -> None:
        super().__init__()
        self.mix, self.window = nn.Linear(channels, channels), window

    def forward(self, x: Any) -> Any:
        batch, height, width, channels = x.shape
        size = self.window
        y = torch.roll(x, (-1, -1), dims=(1, 2))
        y = y.view(batch, height // size, size, width // size, size, channels).permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, channels)
        y = self.mix(y) * 2
        y[:, 0] = 0
        y[..., :2] += 1
        y = y.view(batch, height // size, width // size, size, size, channels).transpose(2, 3).reshape(batch, height, width, channels)
        return torch.roll(y, (1, 1), dims=(1, 2))


class FourierLayer(nn.Module):
    """A Fourier neural operator's layer: some frequencies are mixed, in an array of complex zeros (Li et al. 2021, section 4)."""

    def __init__(self, channels: int = 4, modes: int = 3) -> None:
        super().__init__()
        self.weight, self.modes = nn.Parameter(torch.randn(channels, channels, modes, dtype=torch.cfloat)), modes
        self.local = nn.Conv1d(channels, channels, 1)

    def forward(self, x: Any) -> Any:
        batch, channels, length = x.shape
        found = torch.fft.rfft(x)[:, :, : self.modes]
        mixed = torch.zeros(batch, channels, length // 2 + 1, dtype=torch.cfloat)
        mixed[:, :, : self.modes] = torch.einsum("bix,iox->box", found, self.weight)
        return functional.gelu(torch.fft.irfft(mixed, n=length) + self.local(x))


class Splines(nn.Module):
    """A layer of a Kolmogorov-Arnold network: a sum of B-splines on every edge (Liu et al. 2024, section 2.2)."""

    def __init__(self, inputs: int = 6, outputs: int = 5, intervals: int = 5, order: int = 3) -> None:
        super().__init__()
        knots = torch.arange(-order, intervals + order + 1) * 2 / intervals - 1
        self.register_buffer("knots", knots.expand(inputs, -1).contiguous())
        self.base, self.order = nn.Linear(inputs, outputs, bias=False), order
        self.splines = nn.Parameter(torch.randn(outputs, inputs, intervals + order))

    def forward(self, x: Any) -> Any:
        knots, at = self.knots, x.unsqueeze(-1)
        basis = ((at >= knots[:, :-1]) & (at < knots[:, 1:])).to(x.dtype)
        for order in range(1, self.order + 1):
            rising = (at - knots[:, : -(order + 1)]) / (knots[:, order:-1] - knots[:, : -(order + 1)])
            falling = (knots[:, order + 1 :] - at) / (knots[:, order + 1 :] - knots[:, 1:-order])
            basis = rising * basis[:, :, :-1] + falling * basis[:, :, 1:]
        return self.base(functional.silu(x)) + functional.linear(basis.flatten(1), self.splines.flatten(1))


class Codebook(nn.Module):
    """Vectors replaced by the nearest codes, through whose index no gradient passes (van den Oord et al. 2017, section 3.2)."""

    def __init__(self, codes: int = 64, width: int = 16) -> None:
        super().__init__()
        self.codes, self.before, self.behind = nn.Embedding(codes, width), nn.Linear(8, width), nn.Linear(width, 8)

    def forward(self, x: Any) -> Any:
        z, codes = self.before(x), self.codes.weight
        apart = (z**2).sum(-1, keepdim=True) - 2 * z @ codes.t() + (codes**2).sum(-1)
        found = self.codes(apart.argmin(-1))
        return self.behind(z + (found - z).detach())


class DiagonalStates(nn.Module):
    """A state space with a diagonal matrix as one long convolution (Gu et al. 2022, S4D, listing 1)."""

    def __init__(self, channels: int = 6, states: int = 4) -> None:
        super().__init__()
        self.mixed, self.skip = nn.Parameter(torch.randn(channels, states, 2)), nn.Parameter(torch.randn(channels))
        self.decay, self.turn = nn.Parameter(torch.zeros(channels, states)), nn.Parameter(torch.ones(channels, states))
        self.step = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Any) -> Any:
        length = x.shape[-1]
        states = -self.decay.exp() + 1j * self.turn
        stepped = states * self.step.exp()[:, None]
        powers = (stepped.unsqueeze(-1) * torch.arange(length)).exp()
        kernel = 2 * torch.einsum("hn,hnl->hl", torch.view_as_complex(self.mixed) * (stepped.exp() - 1) / states, powers).real
        y = torch.fft.irfft(torch.fft.rfft(x, n=2 * length) * torch.fft.rfft(kernel, n=2 * length), n=2 * length)
        return y[..., :length] + x * self.skip[:, None]


class Flow(nn.Module):
    """Four affine couplings, and the logarithm of the determinant (Dinh et al. 2017, section 3.2)."""

    def __init__(self, width: int = 10, hidden: int = 12) -> None:
        super().__init__()
        half = width // 2
        self.scales = nn.ModuleList(nn.Sequential(nn.Linear(half, hidden), nn.Tanh(), nn.Linear(hidden, half), nn.Tanh()) for _ in range(4))
        self.shifts = nn.ModuleList(nn.Sequential(nn.Linear(half, hidden), nn.ReLU(), nn.Linear(hidden, half)) for _ in range(4))

    def forward(self, x: Any) -> Any:
        determinant = x.new_zeros(x.shape[0])
        for scale, shift in zip(self.scales, self.shifts, strict=True):
            kept, changed = x.chunk(2, -1)
            by = scale(kept)
            x = torch.cat([changed * by.exp() + shift(kept), kept], -1)
            determinant = determinant + by.sum(-1)
        return x, determinant


class Example(NamedTuple):
    """A model with the shapes of its inputs at three sizes, the kinds of the inputs, and the letters of the shapes."""

    build: Callable[[], Any]
    shapes: tuple[tuple[tuple[int, ...], ...], ...]
    letters: tuple[tuple[Any, ...], ...] = ()
    vocabulary: int = 0


MODELS: dict[str, Example] = {
    "minGPT": Example(MinGPT, (((2, 9),), ((3, 14),), ((1, 5),)), (("B", "S"),), 50),
    "untied minGPT": Example(lambda: MinGPT(tied=False, depth=2), (((2, 9),), ((3, 14),), ((1, 5),)), (("B", "S"),), 50),
    "attention by hand": Example(EagerAttention, (((2, 9, 24),), ((3, 14, 24),), ((1, 5, 24),)), (("B", "S", 24),)),
    "ViT": Example(VisionTransformer, (((2, 3, 32, 32),), ((3, 3, 32, 32),), ((5, 3, 32, 32),)), (("B", 3, 32, 32),)),
    "ResNet": Example(ResNet, (((2, 3, 32, 32),), ((3, 3, 45, 37),), ((1, 3, 64, 64),)), (("B", 3, "H", "W"),)),
    "U-Net": Example(UNet, (((2, 1, 16, 16),), ((3, 1, 24, 8),), ((1, 1, 32, 20),)), (("B", 1, "4*H", "4*W"),)),
    "cells in a loop": Example(Cells, (((2, 4, 5),), ((3, 6, 5),), ((1, 3, 5),)), (("B", 4, 5),)),
    "dense mixture": Example(DenseMixture, (((2, 5, 12),), ((3, 7, 12),), ((1, 4, 12),)), (("B", "S", 12),)),
    "VAE": Example(Autoencoder, (((2, 30), (2, 4)), ((3, 30), (3, 4)), ((5, 30), (5, 4))), (("B", 30), ("B", 4))),
    "DCGAN": Example(Generator, (((2, 8),), ((3, 8),), ((5, 8),)), (("B", 8),)),
    "detector's head": Example(
        DetectorHead,
        (((2, 8, 8, 8), (2, 8, 4, 4)), ((3, 8, 12, 10), (3, 8, 6, 5)), ((1, 8, 6, 6), (1, 8, 3, 3))),
        (("B", 8, "2*H", "2*W"), ("B", 8, "H", "W")),
    ),
    "conformer": Example(Conformer, (((2, 9, 12),), ((3, 14, 12),), ((1, 5, 12),)), (("B", "S", 12),)),
    "LoRA": Example(LowRank, (((2, 10),), ((3, 10),), ((4, 5, 10),)), (("B", 10),)),
    "weight norm": Example(WeightNormed, (((2, 4, 9),), ((3, 4, 12),), ((1, 4, 5),)), (("B", 4, "S"),)),
    "mixer": Example(Mixer, (((2, 9, 10),), ((3, 9, 10),), ((5, 9, 10),)), (("B", 9, 10),)),
    "squeeze and excite": Example(SqueezeExcite, (((2, 4, 8, 8),), ((3, 4, 9, 12),), ((1, 4, 16, 5),)), (("B", 4, "H", "W"),)),
    "selective scan": Example(SelectiveScan, (((2, 3, 6),), ((3, 5, 6),), ((1, 4, 6),)), (("B", 3, 6),)),
    "point cloud": Example(PointCloud, (((2, 7, 3),), ((3, 11, 3),), ((1, 5, 3),)), (("B", "N", 3),)),
    "Fourier layer": Example(FourierLayer, (((2, 4, 16),), ((3, 4, 9),), ((1, 4, 12),)), (("B", 4, "S"),)),
    "splines": Example(Splines, (((2, 6),), ((3, 6),), ((5, 6),)), (("B", 6),)),
    "codebook": Example(Codebook, (((3, 7, 8),), ((2, 5, 8),), ((1, 9, 8),)), (("B", "S", 8),)),
    "diagonal states": Example(DiagonalStates, (((2, 6, 16),), ((3, 6, 9),), ((1, 6, 12),)), (("B", 6, "S"),)),
    "flow": Example(Flow, (((2, 10),), ((3, 10),), ((5, 10),)), (("B", 10),)),
    "shifted windows": Example(Shifted, (((2, 8, 8, 6),), ((3, 12, 4, 6),), ((1, 4, 16, 6),)), (("B", "4*H", "4*W", 6),)),
}
MODELS |= {name: Example(*stated) for name, stated in MORE.items()}
