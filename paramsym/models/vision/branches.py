"""Parallel branches whose channels are joined, and the modules of Inception v1 and v3 as data, each of which two networks share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer
from paramsym.models.blocks import Holder
from paramsym.program import Own, Value, join

GOOGLENET: Mapping[str, tuple[int, ...]] = {
    "inception3a": (192, 64, 96, 128, 16, 32, 32),
    "inception3b": (256, 128, 128, 192, 32, 96, 64),
    "inception4a": (480, 192, 96, 208, 16, 48, 64),
    "inception4b": (512, 160, 112, 224, 24, 64, 64),
    "inception4c": (512, 128, 128, 256, 24, 64, 64),
    "inception4d": (512, 112, 144, 288, 32, 64, 64),
    "inception4e": (528, 256, 160, 320, 32, 128, 128),
    "inception5a": (832, 256, 160, 320, 32, 128, 128),
    "inception5b": (832, 384, 192, 384, 48, 128, 128),
}
"""Inception v1 (Szegedy et al. 2015, table 1): channels in, of the first branch, inside and at the end of two more, of the pooled one."""

Kernel: TypeAlias = int | tuple[int, int]
Route: TypeAlias = tuple[tuple[int, *tuple[Kernel, ...]], ...]
"""Width and kernel of convolutions one after another; those with several kernels are parallel."""
Module: TypeAlias = tuple[Mapping[str, Route], int]
"""The branches, under torchvision's names, and the width of the one that pools; with 0 the last convolutions and the pooling halve."""


def _modules() -> Iterator[Module]:
    row, column, both = (1, 7), (7, 1), ((1, 3), (3, 1))
    double: Route = ((64, 1), (96, 3), (96, 3))
    for pooled in (32, 64, 64):
        yield {"branch1x1": ((64, 1),), "branch5x5": ((48, 1), (64, 5)), "branch3x3dbl": double}, pooled
    yield {"branch3x3": ((384, 3),), "branch3x3dbl": double}, 0
    for c in (128, 160, 160, 192):
        long: Route = ((c, 1), (c, column), (c, row), (c, column), (192, row))
        yield {"branch1x1": ((192, 1),), "branch7x7": ((c, 1), (c, row), (192, column)), "branch7x7dbl": long}, 192
    yield {"branch3x3": ((192, 1), (320, 3)), "branch7x7x3": ((192, 1), (192, row), (192, column), (192, 3))}, 0
    for _ in range(2):
        twice = ((448, 1), (384, 3), (384, *both))
        yield {"branch1x1": ((320, 1),), "branch3x3": ((384, 1), (384, *both)), "branch3x3dbl": twice}, 192


INCEPTION_V3: tuple[Module, ...] = tuple(_modules())
"""The modules of Inception v3 at 35x35, 17x17 and 8x8 positions (Szegedy et al. 2016, table 1)."""


class Branches(Holder):
    """Parallel routes, whose channels are joined; a route has the names of its layers, several where it divides.

    Without ``routes``, every layer is one.
    """

    routes: tuple[tuple[tuple[str, ...], ...], ...] = ()

    def forward(self, own: Own, x: Value) -> Value:
        found = []
        for route in self.routes or [((name,),) for name in dict(self.layers)]:
            y = x
            for names in route:
                y = own[names[0]](y) if len(names) == 1 else join(*(own[name](y) for name in names), axis=1)
            found.append(y)
        return join(*found, axis=1)


def inception_v1(
    widths: tuple[int, ...], first: int, conv: Callable[..., Layer], wide: Callable[..., Layer], pool: Layer
) -> dict[str, Layer]:
    """Return the branches of a module of Inception v1, a row of ``GOOGLENET``, numbered from ``first``.

    ``conv`` builds a convolution of 1x1 between two widths, ``wide`` one that keeps the extents for a kernel as well.
    """
    near, plain, *pairs, pooled = widths
    both = (Sequential(conv(near, between), wide(between, far, 3)) for between, far in (pairs[:2], pairs[2:]))
    branches = (conv(near, plain), *both, Sequential(pool, conv(near, pooled)))
    return {f"branch{number}": layer for number, layer in enumerate(branches, first)}
