"""Published formulas of convolution arithmetic, as identities in symbols and exactly in numbers."""

from __future__ import annotations

from typing import Any

from recorded import document
from sympy import Integer

import paramsym as ps
from paramsym import B, C, Conv1d, Conv2d, ConvTranspose1d, MaxPool1d, MaxPool2d, Sequential, dims
from paramsym.algebra.convolution import effective_kernel, same_length, transposed_length, window_count

FORMULAS = {item["id"]: item for item in document("formulas")}
i, k, s, p, d, a = dims("i k s p d a")


def configs(name: str) -> list[tuple[dict[str, int], int]]:
    """Return the sizes and the published value of each entry of a formula."""
    return [(value["config"], value["published"]) for value in FORMULAS[name]["values"]]


def put(expression: Any, sizes: dict[str, int]) -> int:
    """Put numbers in by name."""
    return int(expression.xreplace({symbol: Integer(sizes[symbol.name]) for symbol in expression.free_symbols}))


def test_direct() -> None:
    """Relationships 1 to 6 and dilation (Dumoulin and Visin 2016), through the layer and in symbols."""
    symbolic = ps.output_shape(Conv1d(1, 1, k, stride=s, padding=p, dilation=d), (B, 1, i))[2]
    assert symbolic == window_count(i, k, s, 2 * p, d)
    for sizes, published in configs("conv-output-size"):
        assert put(symbolic, sizes) == published
        layer = Conv1d(1, 1, sizes["k"], stride=sizes["s"], padding=sizes["p"], dilation=sizes["d"])
        assert ps.output_shape(layer, (1, 1, sizes["i"])) == (1, 1, published)


def test_transposed() -> None:
    """The transpose undoes the shape: s*(i' - 1) + a + k - 2*p, an identity."""
    ip = dims("ip")
    layer = ConvTranspose1d(1, 1, k, stride=s, padding=p, output_padding=a)
    symbolic = ps.output_shape(layer, (B, 1, ip))[2]
    assert (symbolic - (s * (ip - 1) + a + k - 2 * p)).expand() == 0  # type: ignore[operator, union-attr]
    for sizes, published in configs("transposed-conv-output-size"):
        built = ConvTranspose1d(1, 1, sizes["k"], stride=sizes["s"], padding=sizes["p"], output_padding=sizes["a"])
        assert ps.output_shape(built, (1, 1, sizes["ip"])) == (1, 1, published)
        assert put(symbolic, sizes) == published
    # A direct convolution with a stride of one, then its transpose, gives the length back.
    there_and_back = Sequential(Conv1d(C, C, k, padding=p), ConvTranspose1d(C, C, k, padding=p))
    assert ps.output_shape(there_and_back, (B, C, i)) == (B, C, i)


def test_dilated() -> None:
    """A dilated kernel spans k + (k - 1)*(d - 1) entries, an identity."""
    assert (effective_kernel(k, d) - (k + (k - 1) * (d - 1))).expand() == 0  # type: ignore[operator, union-attr]
    assert ps.receptive_field(Conv1d(1, 1, k, dilation=d)) == (effective_kernel(k, d),)
    for sizes, published in configs("dilated-effective-kernel"):
        assert effective_kernel(sizes["k"], sizes["d"]) == published


def test_pooling() -> None:
    """floor((i - k)/s) + 1."""
    symbolic = ps.output_shape(MaxPool1d(k, s), (B, C, i))[2]
    for sizes, published in configs("pooling-output-size"):
        assert put(symbolic, sizes) == published
        assert ps.output_shape(MaxPool1d(sizes["k"], sizes["s"]), (1, 1, sizes["i"])) == (1, 1, published)


def test_full_and_same() -> None:
    """A full convolution has every place where kernel and input touch; "same" rounds up (MATLAB's convn, the seeds' 7 x 9 x 10)."""
    assert [window_count(length, 5, 1, 2 * 4) for length in (3, 5, 6)] == [7, 9, 10]
    assert window_count(i, k, 1, 2 * (k - 1)) == i + k - 1
    layer = Conv1d(1, 1, k, padding=k - 1)
    assert ps.output_shape(layer, (B, 1, i)) == (B, 1, i + k - 1)
    assert same_length(i) == i
    for sizes, published in configs("speech-weiss2017-shape"):
        assert put(same_length(same_length(dims("F"), 2), 2), {"F": sizes["F"]}) * sizes["C"] == published


def test_neurons() -> None:
    """The first layer of CS231n's example has 290,400 neurons."""
    for sizes, published in configs("cs231n-conv1-neurons"):
        layer = Conv2d(3, sizes["K"], sizes["F"], stride=sizes["S"], padding=sizes["P"])
        assert ps.neurons(layer, (1, 3, sizes["W"], sizes["W"])) == published


def test_valid_unet() -> None:
    """572 in, 388 out, and the sizes between them (Ronneberger, Fischer and Brox 2015, figure 1); in symbols, i - 184 for i = 16*m + 12."""
    double = Sequential(Conv2d(C, C, 3), Conv2d(C, C, 3))
    up = ps.ConvTranspose2d(C, C, 2, stride=2)
    side, down, m = 572, [], dims("m")
    for _ in range(4):
        side = ps.output_shape(double, (1, C, side, side))[2]  # type: ignore[assignment]
        down.append(side)
        side = ps.output_shape(MaxPool2d(2), (1, C, side, side))[2]  # type: ignore[assignment]
    assert down == [568, 280, 136, 64]
    net = Sequential(*[double, MaxPool2d(2)] * 4, double, *[up, double] * 4)
    assert ps.output_shape(net, (1, C, 572, 572)) == (1, C, 388, 388)
    assert ps.output_shape(net, (B, C, 16 * m + 12, 16 * m + 12)) == (B, C, 16 * m - 172, 16 * m - 172)
    assert transposed_length(28, 2, 2) == 56
