"""Further modules as users write them, with their own functions, loops and latents: ``MORE`` by name."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402 - it needs torch
from torch.nn import functional  # noqa: E402 - it needs torch


class Swish(torch.autograd.Function):  # type: ignore[misc,name-defined]
    """A function that saves its argument alone, and computes the rest again (Tan and Le 2019, in many repositories)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        """Save the argument."""
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Compute the sigmoid again."""
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(x)
        return grad * (gate * (1 + x * (1 - gate)))


class Norm(torch.autograd.Function):  # type: ignore[misc,name-defined]
    """A norm that saves two arrays that it computes inside."""

    @staticmethod
    def forward(ctx: Any, x: Any, scale: Any) -> Any:
        """Save the result before the scale, and the rate."""
        rate = (x.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt()
        y = x * rate
        ctx.save_for_backward(y, rate, scale)
        return y * scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Use all three."""
        y, rate, scale = ctx.saved_tensors
        inner = grad * scale
        return rate * (inner - y * (inner * y).mean(-1, keepdim=True)), (grad * y).sum((0, 1))


class Split(torch.autograd.Function):  # type: ignore[misc,name-defined]
    """A product and exponents; the context is set up behind the forward pass."""

    @staticmethod
    def forward(x: Any, weight: Any) -> Any:
        """Return both results."""
        return x @ weight, x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save what is taken, and one result."""
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Use all three."""
        x, weight, powers = ctx.saved_tensors
        return grads[0] @ weight.t() + grads[1] * powers, x.flatten(0, 1).t() @ grads[0].flatten(0, 1)


class Rounded(torch.autograd.Function):  # type: ignore[misc,name-defined]
    """Signs whose gradient passes straight through; nothing is saved (Bengio et al. 2013)."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:  # noqa: ARG004 - saves nothing
        """Return the signs."""
        return x.sign()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:  # noqa: ARG004 - saves nothing
        """Pass the gradient on."""
        return grad


class OwnFunctions(nn.Module):  # type: ignore[misc]
    """Functions with backward passes of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.behind = nn.Linear(6, 8), nn.Linear(5, 2)
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.scale, self.weight = nn.Parameter(torch.ones(8)), nn.Parameter(torch.randn(8, 5))

    def forward(self, x: Any) -> Any:
        """Apply all of them."""
        x = Swish.apply(self.before(x))
        for layer in self.layers:
            x = Swish.apply(layer(x))
        y, powers = Split.apply(Norm.apply(x, self.scale), self.weight)
        return self.behind(Rounded.apply(torch.tanh(y + powers.mean(-1, keepdim=True)).sigmoid()))


class CrossAttention(nn.Module):  # type: ignore[misc]
    """Latents that look at the data."""

    def __init__(self, width: int, features: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.query = nn.LayerNorm(width), nn.Linear(width, width, bias=False)
        self.pair, self.out = nn.Linear(features, 2 * width, bias=False), nn.Linear(width, width)

    def forward(self, x: Any, data: Any) -> Any:
        """Attend."""
        query, (key, value) = self.query(self.norm(x)), self.pair(data).chunk(2, dim=-1)
        query, key, value = (one.unflatten(-1, (self.heads, -1)) for one in (query, key, value))
        scores = torch.einsum("bihd,bjhd->bhij", query, key).softmax(-1)
        return x + self.out(torch.einsum("bhij,bjhd->bihd", scores, value).flatten(2))


class Perceiver(nn.Module):  # type: ignore[misc]
    """Latents that are stored and expanded to the batch; one feed-forward part is shared by all layers (Jaegle et al. 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(5, 12))
        shared = nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 20), nn.GELU(), nn.Linear(20, 12))
        self.layers = nn.ModuleList(nn.ModuleList([CrossAttention(12, 7, 3), shared]) for _ in range(3))

    def forward(self, data: Any) -> Any:
        """Read the data layer by layer."""
        x = self.latents.unsqueeze(0).expand(data.size(0), -1, -1)
        for attention, feed in self.layers:
            x = attention(x, data)
            x = x + feed(x)
        return x.mean(1)


class SpatialTransformer(nn.Module):  # type: ignore[misc]
    """An image moved by a map that is computed from it (Jaderberg et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(True), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 6))
        self.head = nn.Conv2d(1, 3, 3)

    def forward(self, x: Any) -> Any:
        """Move the image."""
        grid = functional.affine_grid(self.place(x).view(-1, 2, 3), x.size(), align_corners=False)
        return self.head(functional.grid_sample(x, grid, align_corners=False)).mean((2, 3))


class Policy(nn.Module):  # type: ignore[misc]
    """A normal distribution over actions, and a value (Schulman et al. 2017)."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))
        self.value, self.log_std = nn.Linear(6, 1), nn.Parameter(torch.full((3,), -0.5))

    def forward(self, seen: Any, action: Any) -> Any:
        """Return the probability of an action, the value and the entropy."""
        chances = torch.distributions.Normal(self.mean(seen), self.log_std.exp())
        return chances.log_prob(action).sum(-1), self.value(seen).squeeze(-1), chances.entropy().sum(-1)


class Causal(nn.Module):  # type: ignore[misc]
    """A block of a temporal convolutional network: what is padded too much is cut off (Bai et al. 2018)."""

    def __init__(self, before: int, behind: int, kernel: int, apart: int) -> None:
        super().__init__()
        self.more = (kernel - 1) * apart
        self.first = nn.Conv1d(before, behind, kernel, padding=self.more, dilation=apart)
        self.second = nn.Conv1d(behind, behind, kernel, padding=self.more, dilation=apart)
        self.down = nn.Conv1d(before, behind, 1) if before != behind else None

    def forward(self, x: Any) -> Any:
        """Add the input."""
        y = x
        for one in (self.first, self.second):
            y = torch.relu(one(y)[:, :, : -self.more].contiguous())
        return torch.relu(y + (x if self.down is None else self.down(x)))


MORE = {
    "own functions": (OwnFunctions, (((2, 5, 6),), ((3, 7, 6),), ((1, 4, 6),)), (("B", "S", 6),)),
    "Perceiver": (Perceiver, (((2, 5, 7),), ((3, 9, 7),), ((4, 2, 7),)), (("B", "S", 7),)),
    "spatial transformer": (SpatialTransformer, (((2, 1, 12, 12),), ((3, 1, 16, 11),), ((1, 1, 20, 15),)), (("B", 1, "H", "W"),)),
    "policy": (Policy, (((2, 6), (2, 3)), ((3, 6), (3, 3)), ((5, 6), (5, 3))), (("B", 6), ("B", 3))),
    "causal convolutions": (
        lambda: nn.Sequential(Causal(4, 6, 3, 1), Causal(6, 6, 3, 2), Causal(6, 6, 3, 4)),
        (((2, 4, 20),), ((3, 4, 31),), ((1, 4, 17),)),
        (("B", 4, "S"),),
    ),
}
