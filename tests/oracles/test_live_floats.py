"""Sizes that a float decides: the live references multiply in floating point, and so 100 entries by 0.29 are 28."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
from frameworks import imported, on_meta, only_with
from sympy import Integer

import paramsym as ps
from paramsym import H, W
from paramsym.algebra.size import canonical, substitute
from paramsym.errors import ShapeError

only_with("torch", "transformers")

FACTORS = (0.29, 0.57, 0.58, 1.15, 2.4, 1.1, 1 / 3, 2**0.5, 0.5)
WITHOUT_FORMULA = {0.29, 0.57, 0.58, 1.15, 2**0.5}
"""Factors of which some products fall below the whole number that they are meant to be, or which stand for no simple fraction."""


def lengths(most: int) -> list[int]:
    """Return random lengths, and round ones, at which a product may be whole."""
    return [100, 80, 50, *random.Random(7).sample(range(10, most), 12)]


@pytest.mark.parametrize("factor", FACTORS)
def test_upsampling(factor: float) -> None:
    """A number gives torch's length; a symbol gives a floor with the same value everywhere, or is refused."""
    torch = imported("torch")
    ours = ps.Upsample(scale_factor=factor)
    if factor in WITHOUT_FORMULA:
        with pytest.raises(ShapeError, match=f"the factor is {factor}, and the reference rounds its products in floating point"):
            ps.output_shape(ours, (1, 1, W))
    for length in lengths(4000):
        theirs = torch.nn.Upsample(scale_factor=factor)(torch.empty(1, 1, length, device="meta")).shape[2]
        assert ps.output_shape(ours, (1, 1, length)) == (1, 1, theirs)
        if factor not in WITHOUT_FORMULA:
            assert at(ps.output_shape(ours, (1, 1, W))[2], length) == theirs


@pytest.mark.parametrize("factor", [factor for factor in FACTORS if factor < 1])
def test_fractional_pooling(factor: float) -> None:
    """As upsampling, by ``output_ratio``."""
    torch = imported("torch")
    ours = ps.FractionalMaxPool2d(1, output_ratio=factor)
    if factor in WITHOUT_FORMULA:
        with pytest.raises(ShapeError, match=f"output_ratio is {factor}, and the reference"):
            ps.output_shape(ours, (1, 1, W, W))
    for length in lengths(300):
        theirs = tuple(torch.nn.FractionalMaxPool2d(1, output_ratio=factor)(torch.empty(1, 1, length, 100)).shape)
        assert ps.output_shape(ours, (1, 1, length, 100)) == theirs
        if factor not in WITHOUT_FORMULA:
            assert at(ps.output_shape(ours, (1, 1, W, 100))[2], length) == theirs[2]


@pytest.mark.parametrize("div_value", [1.1, 1.3, 2.5, 3.3, 7.7, 2**0.5])
def test_adaptive_softmax(div_value: float) -> None:
    """Torch rounds the powers of a float and divides by them exactly; a formula has the same widths."""
    torch = imported("torch")
    symbolic = ps.AdaptiveLogSoftmaxWithLoss(H, 50, (10, 20, 30), div_value)
    for width in (1331, 1210, *lengths(3000)):
        module = on_meta(partial(torch.nn.AdaptiveLogSoftmaxWithLoss, width, 50, [10, 20, 30], div_value))
        if not all(parameter.numel() for parameter in module.parameters()):
            continue  # a projection of no width
        wanted = sum(parameter.numel() for parameter in module.parameters())
        assert symbolic.at(H=width).params == wanted
        assert at(symbolic.params, width) == wanted


@pytest.mark.parametrize("ratio", [0.29, 1.15, 2.4, 2.3, 3.3, 2.5, 4])
def test_swin(ratio: float) -> None:
    """The inner width of Swin's blocks is ``int(mlp_ratio * width)``: 2.4 at 80 gives 192."""
    transformers = imported("transformers")
    sizes: dict[str, Any] = {"depths": [1, 1], "num_heads": [1, 1], "image_size": 32, "patch_size": 4, "window_size": 2}
    for width in (80, 100, 50):
        config = {"mlp_ratio": ratio, "embed_dim": width, **sizes}
        module = on_meta(partial(transformers.SwinModel, transformers.SwinConfig(**config)))
        model = ps.from_config({"model_type": "swin", "architectures": ["SwinModel"], **config})
        assert model.shapes() == {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
        assert substitute(model.formula, {key: Integer(value) for key, value in model.sizes.items()}) == model.count
        if ratio in {0.29, 1.15, 2.3}:
            with pytest.raises(ShapeError, match=f"Swin: mlp_ratio is {ratio}, and the reference .* give a number instead of H"):
                ps.models.Swin(mlp_ratio=ratio, depths=(1, 1), num_heads=(1, 1))
        else:
            symbolic = ps.models.Swin(mlp_ratio=ratio, depths=(1, 1), num_heads=(1, 1))
            assert at(symbolic.at(K=4, C=3, M=2).params, width) == model.count


def at(formula: Any, number: int) -> Any:
    """Put a number in for the one symbol of a formula."""
    return canonical(substitute(formula, {symbol: Integer(number) for symbol in formula.free_symbols}))
