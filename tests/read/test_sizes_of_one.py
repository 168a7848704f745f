"""Sizes of 1 beside letters: along such axes torch makes fewer copies and other products, so a formula in letters does not hold."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import pytest

import paramsym as ps
from paramsym import B, S

torch = pytest.importorskip("torch")

from read.builds import Stretched, Sums  # noqa: E402 - they need torch
from read.comparing import counted, kept  # noqa: E402 - they need torch


def wanted(module: Any, *shape: int) -> tuple[int, int]:
    """Return the FLOPs of both passes, and the kept bytes, as torch has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return counted(module, [torch.randn(shape)])[1], kept(module, [torch.randn(shape)])


def costs(layer: Any, *shapes: Any) -> list[Any]:
    """Return the same of a layer."""
    return [ps.flops(layer, *shapes, way="both"), ps.activations(layer, *shapes, convention="torch-eager-cpu")]


@pytest.mark.parametrize("build", [Stretched, Sums])
def test_a_module(build: Any) -> None:
    """In numbers, in letters with numbers put in, and evaluated for many sizes at once, an answer is torch's."""
    for ones in product((1, 2), repeat=2):
        module = build(*ones)
        width = module.o.out_features if build is Stretched else module.qkv.in_features
        letters = costs(ps.from_module(module), (B, S, width))
        points = list(product((1, 3), repeat=2))
        truth = [wanted(module, b, s, width) for b, s in points]
        for cost, right in zip(letters, zip(*truth, strict=True), strict=True):
            assert tuple(cost.at(B=b, S=s).total for b, s in points) == right, ones
            assert tuple(cost.at(S=s).at(B=b).total for b, s in points) == right, ones
            assert tuple(ps.evaluate(cost, {B: [b for b, _ in points], S: [s for _, s in points]})) == right, ones


def test_a_build() -> None:
    """The form in letters is not asked about sizes that it excludes; with numbers for all letters the module itself is recorded."""
    form = ps.derive(Stretched, inputs=("B", "S", "groups*queries*head"), seconds=300)
    letters = costs(form)
    assert "\nFor 2 <= " in str(letters[1])
    with pytest.raises(ps.ParamsymError, match=r"holds for 2 <= groups.* for all letters, also for B, S, head, queries, and"):
        ps.activations(form.at(groups=1))
    for groups, queries, head, b, s in product((1, 2), (1, 3), (4,), (1, 2), (1, 3)):
        sizes = {"groups": groups, "queries": queries, "head": head, "B": b, "S": s}
        right = wanted(Stretched(groups, queries, head), b, s, groups * queries * head)
        assert tuple(cost.at(**sizes).total for cost in letters) == right, sizes
        assert tuple(int(ps.evaluate(cost, {name: [size] for name, size in sizes.items()})[0]) for cost in letters) == right, sizes
