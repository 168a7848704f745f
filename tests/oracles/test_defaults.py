"""The defaults of torch's own layers, recorded, against ours: what nobody writes must mean the same."""

from __future__ import annotations

import inspect

import pytest
import recorded

import paramsym as ps

DEFAULTS = recorded.document("torch_defaults")


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_torchs(name: str) -> None:
    """Every argument of torch is there, with torch's default; an argument that has none is asked for."""
    ours = inspect.signature(getattr(ps, name)).parameters
    assert {argument: ours[argument].default for argument in DEFAULTS[name]} == DEFAULTS[name]
    assert all(type(ours[argument].default) is type(default) for argument, default in DEFAULTS[name].items())


@pytest.mark.parametrize("name", [f"{kind}Conv{rank}d" for kind in ("Depthwise", "Separable") for rank in (1, 2, 3)])
def test_other_convolutions_have_the_defaults_of_convolutions(name: str) -> None:
    """Layers that torch has not take what they share with torch's convolution as that does."""
    ours, theirs = inspect.signature(getattr(ps, name)).parameters, DEFAULTS[f"Conv{name[-2:]}"]
    shared = {"stride", "padding", "dilation", "bias", "padding_mode"}
    assert {argument: ours[argument].default for argument in shared} == {argument: theirs[argument] for argument in shared}
