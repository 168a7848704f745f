"""Laws of shapes that every layer there is obeys, for inputs found from the layer's own fields."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields

import pytest
from amount import cases, few
from hypothesis import given, strategies as st
from strategies import layer_classes, layers, plain, sized
from sympy import Expr, Integer, Symbol

import paramsym as ps
from paramsym.errors import NotYetError, ParamsymError

every_layer = pytest.mark.parametrize("cls", layer_classes(), ids=lambda cls: cls.__name__)
some = few(6)
batch, steps, width, height, depth, channels = ps.dims("batch steps width height depth channels")
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 12, 24, 48)
OF_TWO = {cls.__name__ for cls in layer_classes() if cls.__module__ in {f"paramsym.layers.{file}" for file in ("ctc", "losses", "margins")}}
"""Losses and distances, which take two arrays or more; they are run beside torch in ``tests/layers/test_losses.py``."""
SILENT = {"Block", "GlobalAvgPool", "GlobalMaxPool", "Parameter", "Runs", *OF_TWO}
"""Layers that say nothing: not applied to one input, over a number of axes that is a letter here, or of runs that do not fit."""


def inputs(layer: ps.Layer, first: int = 0) -> Iterator[tuple[int | Expr, ...]]:
    """Yield shapes that the layer takes, those that are tried ``first`` before the others."""
    tried = tries(layer)
    for place in range(len(tried)):
        shape = tried[(first + place) % len(tried)]
        with suppress(ParamsymError):
            ps.output_shape(layer, shape)
            yield shape


def tries(layer: ps.Layer) -> list[tuple[int | Expr, ...]]:
    """Return what may be an input: a layer's own sizes in the places of channels or features, letters for the rest."""
    own = [getattr(layer, field.name) for field in fields(layer)]  # type: ignore[arg-type]
    flat = [entry for value in own for entry in (value if isinstance(value, tuple) else (value,))]
    wide = [value for value in flat if isinstance(value, int | Expr) and not isinstance(value, bool) and value != 0]
    found = []
    for x in dict.fromkeys([*wide, *sorted(layer.symbols, key=str), channels]):
        spatial = [(width,), (width, height), (width, height, depth)]
        shapes = [
            (batch, x),
            (batch, steps, x),
            (batch, steps),
            *((batch, x, *rest) for rest in spatial),
            *((batch, *rest, x) for rest in spatial),
        ]
        shapes += [(batch, steps, *rest, x) for rest in spatial]
        found += shapes
    return list(dict.fromkeys(found))


def entries(shape: tuple[object, ...]) -> tuple[object, ...]:
    """Return the extents of a shape, or of an output with its states."""
    return tuple(itertools.chain.from_iterable(entry if isinstance(entry, tuple) else (entry,) for entry in shape))


@every_layer
@some
@given(data=st.data())
def test_putting_sizes_in_and_asking_commute(cls: type[ps.Layer], data: st.DataObject) -> None:
    """Ask, then put numbers in; or put numbers in, then ask: the same shape, of whole numbers that are not negative."""
    layer = data.draw(layers(cls))
    sizes, numeric = data.draw(sized(layer))  # first, because drawn sizes may not fit, and trying inputs takes time
    shape = next(inputs(layer, data.draw(st.integers(0, 200))), None)
    if shape is None:
        return
    free = [symbol for symbol in (batch, steps, width, height, depth, channels) if symbol not in sizes]
    numbers: dict[Symbol, int] = {**sizes, **{symbol: data.draw(st.sampled_from(EXTENTS)) for symbol in free}}
    given_shape = tuple(
        extent if isinstance(extent, int) else int(extent.xreplace({symbol: Integer(value) for symbol, value in numbers.items()}))
        for extent in shape
    )
    symbolic = entries(ps.output_shape(layer, shape))
    try:
        found = entries(ps.output_shape(numeric, given_shape))
    except ParamsymError:
        return  # these numbers do not fit: a kernel that is too large, channels that groups do not divide
    assert all(extent is None or (isinstance(extent, int) and extent >= 0) for extent in found)
    put_in = {symbol: Integer(value) for symbol, value in numbers.items()}
    assert found == tuple(extent.xreplace(put_in).doit() if isinstance(extent, Expr) else extent for extent in symbolic)


@every_layer
@some
@given(data=st.data())
def test_composing_shapes_is_the_shape_of_the_composition(cls: type[ps.Layer], data: st.DataObject) -> None:
    """A layer between two others takes what the first gives and gives what the last takes."""
    layer = data.draw(layers(cls))
    for shape in itertools.islice(inputs(layer), 2):
        left = ps.output_shape(layer, shape)
        if left and isinstance(left[0], tuple):
            continue
        around = ps.Sequential(ps.Identity(), layer, ps.Flatten(0))
        assert ps.output_shape(around, shape) == ps.output_shape(ps.Flatten(0), left)
        assert ps.output_shape(ps.Tied(ps.Sequential(layer), ()), shape) == left


@cases(1000)
@every_layer
def test_every_layer_says_what_comes_out(cls: type[ps.Layer]) -> None:
    """There is an input for every layer but those that are listed; new layers meet this by existing."""
    found = next(inputs(plain(cls)), None)
    assert (found is not None) != (cls.__name__ in SILENT), cls.__name__


@every_layer
@some
@given(data=st.data())
def test_neurons_and_connections(cls: type[ps.Layer], data: st.DataObject) -> None:
    """Neurons multiply to the output; a summary adds up to the layer's parameters, and its connections to the layer's."""
    layer = data.draw(layers(cls))
    for shape in itertools.islice(inputs(layer), 1):
        table = ps.summary(layer, shape)
        assert table.footer[table.columns.index("parameters")] == layer.params
        try:
            connected = ps.connections(layer, shape)
        except NotYetError:
            continue
        assert table.footer[table.columns.index("connections")] == connected
        assert (connected == 0) == (layer.params == 0)
