"""Skips that join: shapes and values by hand, and a U-Net against torch."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported, on_meta

import paramsym as ps
from paramsym import B, C, F, H, N, W
from paramsym.errors import ShapeError


def double(near: Any, far: Any) -> ps.Layer:
    """Two convolutions."""
    return ps.Sequential(ps.Conv2d(near, far, 3, padding=1), ps.ReLU(), ps.Conv2d(far, far, 3, padding=1), ps.ReLU())


def net(near: Any, width: Any, levels: int) -> ps.Layer:
    """One level of a U-Net and those below it."""
    if levels == 0:
        return double(near, width)
    below = ps.Sequential(ps.MaxPool2d(2), net(width, 2 * width, levels - 1), ps.ConvTranspose2d(2 * width, width, 2, stride=2))
    return ps.Sequential(double(near, width), ps.SkipConnection(below), double(2 * width, width))


def test_a_u_net_has_the_count_that_torch_has() -> None:
    """Ronneberger's widths, 64 to 1024, with biases; each level counted by hand."""
    model = ps.Sequential(net(C, 64, 4), ps.Conv2d(64, N, 1))
    by_hand, near = 0, 1
    for width in (64, 128, 256, 512, 1024):
        by_hand += 9 * near * width + width + 9 * width**2 + width
        near = width
    for width in (512, 256, 128, 64):
        by_hand += 4 * 2 * width * width + width + 9 * 2 * width * width + width + 9 * width**2 + width
    assert model.at(C=1, N=2).count == by_hand + 64 * 2 + 2
    assert ps.output_shape(model, (B, C, 16 * W, 16 * W)) == (B, N, 16 * W, 16 * W)


def test_as_torch_computes_it() -> None:
    """The same numbers from the same weights."""
    torch, numpy = imported("torch"), imported("numpy")
    torch.manual_seed(0)

    class Skip(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.submodule = torch.nn.Conv2d(3, 4, 3, padding=1)

        def forward(self, x: Any) -> Any:
            return torch.cat([x, self.submodule(x)], dim=1)

    theirs, ours = Skip(), ps.SkipConnection(ps.Conv2d(3, 4, 3, padding=1))
    assert ours.shapes() == {name: tuple(tensor.shape) for name, tensor in on_meta(Skip).state_dict().items()}
    x = torch.randn(2, 3, 5, 6)
    found = ps.run(ours, {name: tensor.detach().numpy() for name, tensor in theirs.state_dict().items()}, x.numpy())
    assert numpy.allclose(found, theirs(x).detach().numpy(), atol=1e-5)


def test_other_axes_agree() -> None:
    """A submodule that halves the map cannot stand beside it."""
    with pytest.raises(ShapeError, match="cannot be joined along axis 1"):
        ps.output_shape(ps.SkipConnection(ps.Conv2d(3, 4, 3)), (1, 3, 8, 8))
    assert ps.output_shape(ps.SkipConnection(ps.Dense(H, F), axis=-1), (B, H)) == (B, F + H)
