"""Random layers are layers, and all kinds of them."""

from __future__ import annotations

import pytest
from amount import tries

import paramsym as ps

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import Phase, find, given, settings  # noqa: E402 - skipped above where it is not there

from paramsym.testing import layers  # noqa: E402
from paramsym.testing.random_layers import _tied  # noqa: E402

width = ps.dims("width")


@settings(max_examples=tries(100), deadline=None)
@given(layers())
def test_they_obey_the_first_laws(layer: ps.Layer) -> None:
    """A count, a ledger that adds up to it, and a repr."""
    assert layer.params == layer.ledger().stored
    assert repr(layer).startswith(type(layer).__name__) or repr(layer).endswith(".freeze()")


@pytest.mark.parametrize("kind", [ps.Sequential, ps.Block, ps.Residual, ps.Repeat, ps.Shared, ps.Tied])
def test_every_composition_comes(kind: type[ps.Layer]) -> None:
    """Each kind is found."""
    unshrunk = settings(phases=[Phase.generate], max_examples=500)
    assert isinstance(find(layers(), lambda layer: isinstance(layer, kind), settings=unshrunk), kind)


def test_leaves_alone_on_request() -> None:
    """Without compositions a layer has a home among the layers."""

    @settings(max_examples=50, deadline=None)
    @given(layers(compositions=False))
    def check(layer: ps.Layer) -> None:
        assert type(layer).__module__.startswith("paramsym.layers")

    check()


def test_flags_vary() -> None:
    """A dense layer without its bias is among them."""
    found = find(layers(compositions=False), lambda layer: isinstance(layer, ps.Dense) and not layer.bias)
    assert isinstance(found, ps.Dense)


def test_layers_of_open_width_are_tied() -> None:
    """Both have one width, so that the tensors that are tied have one shape."""
    found = _tied(ps.LazyDense(4))
    assert found.shapes() == {"one.weight": (4, width), "one.bias": (4,), "two.bias": (4,)}
    assert found.open_letters == set()
