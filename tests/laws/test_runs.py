"""Every layer runs on arrays, or stands in the documentation's list of those that do not, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from amount import cases
from frameworks import imported, only_with
from laws.test_shapes import OF_TWO, inputs
from strategies import layer_classes, plain
from sympy import Expr, Integer

import paramsym as ps
from paramsym.errors import NotYetError, ParamsymError

only_with("numpy")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "vocabulary.md"
ELSEWHERE = {
    *("AdaptiveLogSoftmaxWithLoss", "Cropping", "Fold", "GlobalAvgPool", "GlobalMaxPool", "Mamba2", "PatchEmbedding", "PixelShuffle"),
    *OF_TWO,
    *("Parameter", "Runs"),  # without an input; runs that do not fit each other
}
"""Layers whose sizes and inputs have to fit in ways that these tries do not; they run beside their references."""


def listed() -> dict[str, str]:
    """Return the layers of the documentation's list, and why they do not run."""
    section = PAGE.read_text(encoding="utf-8").partition("## Layers that do not run")[2]
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE))


def tries(layer: ps.Layer) -> Iterator[tuple[ps.Layer, tuple[int, ...]]]:
    """Yield the layer in numbers, with shapes that it may take."""
    for size in (4, 24, 96, 6, 8):
        try:
            sized = layer.at(dict.fromkeys(layer.symbols, size)) if layer.symbols else layer
        except ParamsymError:
            continue
        for shape in islice(inputs(sized), 6):
            for extent in (4, 8, 6):
                numbers = [
                    one.xreplace(dict.fromkeys(one.free_symbols, Integer(extent))) if isinstance(one, Expr) else one for one in shape
                ]
                yield sized, tuple(map(int, numbers))
        return


def computed(layer: ps.Layer, shape: tuple[int, ...]) -> Any:
    """Return what a layer makes of random numbers, or of ones where it takes indices, with random tensors."""
    xp = imported("numpy")
    tensors = {name: xp.random.default_rng(1).random(size) for name, size in layer.shapes(buffers=True).items()}
    try:
        return ps.run(layer, tensors, xp.random.default_rng(0).standard_normal(shape))
    except ParamsymError:
        return ps.run(layer, tensors, xp.ones(shape, int))


@cases(1000)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # roots and logarithms of numbers below zero
@pytest.mark.parametrize("cls", [cls for cls in layer_classes() if cls.__name__ not in ELSEWHERE], ids=lambda cls: cls.__name__)
def test_every_layer_runs_or_is_listed(cls: type[ps.Layer]) -> None:
    """What comes out has the shape that is stated; a listed layer says that it does not run."""
    imported("numpy")
    refused = []
    for layer, shape in tries(plain(cls)):
        try:
            found = computed(layer, shape)
        except ParamsymError as error:
            refused.append(error)
            continue
        stated = ps.output_shape(layer, shape)
        assert tuple(one.shape for one in found) == stated if isinstance(found, tuple) else found.shape == stated
        assert cls.__name__ not in listed()
        return
    assert cls.__name__ in listed()
    assert all(isinstance(error, NotYetError) for error in refused)


def test_what_is_listed() -> None:
    """The list names layers, each with a reason; nothing else is known not to run."""
    assert listed().keys() == {"Activation", "Block", "FractionalMaxPool2d", "FractionalMaxPool3d"}
    assert all(len(reason) > 20 for reason in listed().values())
