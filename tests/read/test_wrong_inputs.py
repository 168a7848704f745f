"""What is no module, no example and no shape, and passes that never end: each has one error that says what to write."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, ShapeError, SizeError
from paramsym.read import torch_recorder

torch = pytest.importorskip("torch")

nn = torch.nn


class Product(nn.Module):  # type: ignore[misc,name-defined]
    """One product of an input with a matrix, or two."""

    def __init__(self) -> None:
        """Store the matrix."""
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Any, twice: bool = False) -> Any:
        """Multiply."""
        return x @ self.w @ self.w if twice else x @ self.w


class Nothing(nn.Module):  # type: ignore[misc,name-defined]
    """A module without a forward pass."""


def perceptron(dim: int = 16, width: int = 8) -> Any:
    return nn.Sequential(nn.Linear(width, dim), nn.ReLU(), nn.Linear(dim, width))


def product() -> ps.Layer:
    return ps.from_module(Product())


def counted(module: Any, *shapes: Any) -> Callable[[], Any]:
    return lambda: ps.flops(ps.from_module(module), *shapes)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ps.from_module(None), ArgumentError, "None .* is not a module; wanted one of torch"),
        (lambda: ps.from_module("gpt2"), ArgumentError, r"is read by ps\.load"),
        (lambda: ps.from_module(perceptron), ArgumentError, r"A function that builds a module is read by ps\.derive"),
        (
            lambda: ps.from_module(torch.export.export(Product(), (torch.zeros(2, 4),))),
            ArgumentError,
            r"from_module\(program\.module\(\)\)",
        ),
        (lambda: ps.from_module(Product(), inputs={"x": (2, 4)}), ArgumentError, "takes no argument 'inputs'; it takes x, twice"),
        (lambda: ps.from_module(Product(), (2, 4)), ArgumentError, r"an example input is \(2, 4\) \(tuple\); wanted a tensor"),
        (lambda: ps.from_module(Product(), 2), ArgumentError, r"an example input is 2 \(int\); wanted a tensor"),
        (counted(nn.ModuleList([nn.Linear(4, 4)]), (2, 4)), NotYetError, "ModuleList has no forward pass"),
        (counted(Nothing(), (2, 4)), NotYetError, "Nothing has no forward pass"),
        (counted(nn.DataParallel(Product()), (2, 4)), NotYetError, r"from_module\(net\.module\)"),
        (counted(torch.jit.script(nn.Sequential(nn.Linear(4, 4))), (2, 4)), NotYetError, "before it is compiled"),
        (counted(Product(), (10**30, 4)), ArgumentError, "torch has no array of"),
        (counted(Product(), torch.zeros(2, 4)), ShapeError, r"input_shape is an array; wanted its shape, \(2, 4\)"),
        (counted(Product(), {"x": (2, 4)}), ShapeError, r"shapes by name are given as x=\(B, H\)"),
        (counted(Product(), ("B", 4)), SizeError, r"'B' \(str\); a count is .* in symbols from dims\(\)"),
        (lambda: ps.derive(nn.Linear(4, 4)), ArgumentError, "build is a PyTorch module .* wanted the function or class that builds it"),
        (lambda: ps.derive(perceptron, inputs=[itertools.count(1)]), ArgumentError, r"a size of inputs is count\(1\)"),
        (lambda: ps.derive(perceptron, inputs=[["B"] * 99]), ShapeError, "inputs has more than 64 axes"),
        (lambda: ps.derive(perceptron, inputs={}), ArgumentError, "wanted a shape such as"),
    ],
)
def test_refused(call: Callable[[], Any], error: type[ParamsymError], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_number_that_is_also_a_size() -> None:
    """The input has 8 entries because the width is 8: the error says how to state this."""
    with pytest.raises(ArgumentError, match=r"shapes that it takes, as in inputs=\('B', 'width'\) if a size of the build is meant\.$"):
        ps.derive(perceptron, inputs=("B", 8))


def test_shapes_as_lists() -> None:
    """A list of sizes is a shape, a list of lists are shapes."""
    for inputs in (["B", "width"], [["B", "width"]], {"input": ["B", "width"]}):
        assert str(ps.flops(ps.derive(perceptron, inputs=inputs)).total) == "4*B*dim*width"
    assert ps.flops(product(), [2, 4]).total == ps.flops(product(), [(2, 4)]).total == 64


def test_settings_without_tensors() -> None:
    """Other arguments than tensors may be given alone."""
    assert ps.flops(ps.from_module(Product(), twice=True), (2, 4)).total == 128


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_inputs_whose_values_are_unknown(device: str) -> None:
    """Indices on the meta device, and more of them than fit into the memory, are looked up."""
    net = nn.Sequential(nn.Embedding(5, 4), Product())
    tokens = torch.zeros(2, 3, dtype=torch.long, device=device)
    assert ps.flops(ps.from_module(net, tokens)).total == 2 * 3 * 32
    assert ps.flops(ps.from_module(net, tokens), (10**6, 10**6)).total == 32 * 10**12
    assert ps.flops(ps.from_module(net), (10**6, 10**6)).total == 32 * 10**12


def _silent(_: Any, x: Any) -> Any:
    while True:
        pass
    return x


def _handling_errors(_: Any, x: Any) -> Any:
    while x is not None:
        try:
            int("")
        except Exception:  # noqa: BLE001, S112 - as somebody's module may
            continue
    return x


def _of_numbers(_: Any, x: Any) -> Any:
    number = torch.tensor(0)
    while number < 1:
        number = number * 2
    return x


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (_silent, "forward pass called no operator of torch for 0.5 seconds"),
        (_handling_errors, "forward pass called no operator of torch for 0.5 seconds"),
        (_of_numbers, "did not end after 500 operators"),
    ],
)
def test_passes_without_end(monkeypatch: pytest.MonkeyPatch, forward: Any, words: str) -> None:
    """A loop in Python, one that handles errors, and one of operators that are not recorded."""
    assert torch.tensor(0) * 2 == 0  # torch imports more at its first array
    monkeypatch.setattr(torch_recorder, "_LONGEST", 0.5 if "seconds" in words else 30.0)
    monkeypatch.setattr(torch_recorder, "_MOST", 500)
    monkeypatch.setattr(Product, "forward", forward)
    layer = product()
    with pytest.raises(NotYetError, match=words):
        ps.flops(layer, (2, 4))
    assert layer.params == 16


class Positioned(nn.Module):  # type: ignore[misc,name-defined]
    """A table of positions, whose numbers follow from the shape of the input or are a buffer."""

    def __init__(self, buffer: bool) -> None:
        """Store the table."""
        super().__init__()
        self.table = nn.Embedding(9, 4)
        if buffer:
            self.register_buffer("places", torch.arange(9))

    def forward(self, x: Any) -> Any:
        """Add a row for each position."""
        return x + self.table(self.places[: x.shape[1]] if hasattr(self, "places") else torch.arange(x.shape[1]))


def test_connections_of_a_table_of_positions() -> None:
    """Each of 7 positions uses its row of 4 once for each example: a buffer has no batch; of a part without an input no use is known."""
    linear = 7 * (4 * 4 + 4)
    assert ps.connections(ps.from_module(nn.Sequential(nn.Linear(4, 4), Positioned(buffer=True))), (2, 7, 4)) == linear + 7 * 4
    with pytest.raises(NotYetError, match=r"^1\.table gets no array that depends on the input"):
        ps.connections(ps.from_module(nn.Sequential(nn.Linear(4, 4), Positioned(buffer=False))), (2, 7, 4))
