"""Activations store nothing, except the two that learn."""

from __future__ import annotations

import pytest

from paramsym.errors import ArgumentError
from paramsym.models.activations import LEARNED, NAMES, Activation, learned


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
