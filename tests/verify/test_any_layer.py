"""What holds for every layer and composition: it matches itself, whoever solves for its sizes, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from amount import tries

import paramsym as ps

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, assume, given, settings, strategies as st  # noqa: E402 - skipped above where it is not there

from paramsym.testing import certify, layers, sizes  # noqa: E402

some = settings(max_examples=tries(60), deadline=None, suppress_health_check=list(HealthCheck))
Shapes = Mapping[str, tuple[int, ...]]


def instance(data: st.DataObject) -> tuple[ps.Layer, ps.Layer, dict[str, tuple[int, ...]]]:
    """Draw a layer, the same layer with sizes, and its shapes."""
    layer = data.draw(layers())
    sized = layer.at(data.draw(sizes(layer, largest=6)))
    return layer, sized, {name: tuple(map(int, shape)) for name, shape in sized.shapes(buffers=True).items()}


@some
@given(data=st.data())
def test_a_layer_matches_its_own_shapes(data: st.DataObject) -> None:
    """With its sizes put in, as a dictionary and as a layer."""
    _, sized, shapes = instance(data)
    assert ps.match(sized, shapes).ok
    assert ps.match(sized, sized).ok


@some
@given(data=st.data())
def test_the_shapes_determine_sizes_that_match(data: st.DataObject) -> None:
    """Solved for, the sizes give the same shapes, even where some cannot be known."""
    layer, _, shapes = instance(data)
    found = ps.match(layer, shapes)
    assume(not found.problems)  # sizes that must differ or divide may be undetermined by the shapes
    missing = set(found.missing)
    assert not found.mismatched, str(found)
    assert not found.unexpected, str(found)
    assert all("{" in name for name in missing)  # no copies at all: their number cannot be seen


@some
@given(data=st.data())
def test_one_extent_more_is_found(data: st.DataObject) -> None:
    """Whichever axis of whichever tensor."""
    _, sized, shapes = instance(data)
    candidates = [name for name, shape in shapes.items() if shape]
    assume(candidates)
    name = data.draw(st.sampled_from(candidates))
    axis = data.draw(st.integers(0, len(shapes[name]) - 1))
    wrong = tuple(extent + (position == axis) for position, extent in enumerate(shapes[name]))
    found = ps.match(sized, {**shapes, name: wrong})
    assert not found.ok
    assert name in (*found.mismatched, *found.transposed)


@some
@given(data=st.data())
def test_one_tensor_less_is_found(data: st.DataObject) -> None:
    """A parameter may not be left out; a buffer of a dictionary may."""
    _, sized, shapes = instance(data)
    parameters = [name for name in sized.shapes() if not any(first == name for first in sized.tied.values())]
    assume(parameters)
    name = data.draw(st.sampled_from(parameters))
    assert ps.match(sized, {other: shape for other, shape in shapes.items() if other != name}).missing == (name,)


@settings(max_examples=tries(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_layer_is_certified_against_itself(data: st.DataObject) -> None:
    """Wherever a proof is possible, every instance of the grid agrees."""
    layer = data.draw(layers(depth=1))
    try:
        proof = certify(layer, lambda **found: layer.at(found))
    except ps.errors.NotYetError:
        return
    assert proof.instances >= 1
