"""Activations store nothing, except the two that learn."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError
from paramsym.models.activations import LEARNED, NAMES, Activation, learned
from paramsym.models.blocks import feed_forward


def test_what_they_store() -> None:
    """Only the learned ones store tensors."""
    assert {name for name in NAMES if Activation(name).shapes(buffers=True)} == LEARNED
    assert Activation("xielu").shapes(buffers=True) == {"alpha_p": (1,), "alpha_n": (1,), "beta": (), "eps": ()}


def test_as_parts() -> None:
    """A part is there where it stores something."""
    assert learned("act", "prelu") == {"act": Activation("prelu")}
    assert learned("act", "gelu") == {}


def test_unknown() -> None:
    """An unknown name lists the known ones."""
    with pytest.raises(ArgumentError, match="function is 'gulu', which is not an activation; wanted one of gelu"):
        Activation("gulu")


def test_what_they_keep() -> None:
    """Bytes that torch 2.13's hook of saved tensors sees in ``Starcoder2MLP`` with 6 and 24 features, at 2 texts of 5 positions.

    2160 with GELU and with PReLU, which keep what they take; xIELU keeps three other arrays, a truth for each entry and two numbers.
    """
    kept = {one: ps.activations(feed_forward(6, 24, one), (2, 5, 6), dtype="float32").total for one in ("gelu", "prelu", "xielu")}
    assert kept["prelu"] == kept["gelu"]
    assert kept["xielu"] - kept["gelu"] == 5288 - 2160 == 3 * 960 + 240 + 8


def test_as_read() -> None:
    """DeepSpeed counts one operation for each entry of PReLU (its ``_prelu_flops_compute``), of the layer as of a module that is read."""
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(6, 24), torch.nn.PReLU())
    products = 2 * 5 * 6 * 24
    for layer in (ps.Sequential(ps.Linear(6, 24), ps.PReLU()), ps.from_module(module)):
        assert ps.flops(layer, (5, 6), convention="deepspeed").total == products + 5 * 24
