"""A symbolic layer recognises its own shapes: every layer and model, all flags, depths from 0."""

from __future__ import annotations

import pytest
from amount import few
from hypothesis import given, strategies as st
from strategies import distinct_models, layers, storing_classes
from sympy import Integer, Symbol

import paramsym as ps
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import symbols_in
from paramsym.errors import ParamsymError

SIZES = (1, 2, 3, 4, 6, 8, 12, 24)
DEPTHS = (0, 1, 2, 3, 5)
some = few(5)


def depths(layer: ps.Layer) -> set[Symbol]:
    """Return the symbols that say how many copies there are."""
    steps = [step for line in layer.lines for step in line.path if isinstance(step, Numbers)]
    return symbols_in(tuple((step.start, step.count) for step in steps)) & layer.symbols


@st.composite
def instances(draw: st.DrawFn, cls: type[ps.Layer]) -> tuple[ps.Layer, ps.Layer | None]:
    """Build a layer, and the same with sizes that it takes; None if it took none of those that were tried."""
    layer = draw(layers(cls))
    deep = depths(layer)
    symbols = sorted(layer.symbols, key=lambda symbol: symbol.name)
    same = draw(st.sampled_from((4, 8, 24)))
    numbers = {symbol: draw(st.sampled_from(DEPTHS)) for symbol in symbols if symbol in deep}
    rising = {symbol: 4 ** min(position, 6) for position, symbol in enumerate(symbols, 1)}
    for wide in ({symbol: draw(st.sampled_from(SIZES)) for symbol in symbols}, dict.fromkeys(symbols, same), rising):
        sizes = {**wide, **numbers}
        try:
            sized = layer.at(sizes)
        except ParamsymError:
            continue
        if sized.params == layer.params.xreplace({symbol: Integer(size) for symbol, size in sizes.items()}):
            return layer, sized
    return layer, None


@pytest.mark.parametrize("cls", [*storing_classes(), *distinct_models()], ids=lambda cls: cls.__name__)
@some
@given(data=st.data())
def test_a_layer_matches_its_own_shapes(cls: type[ps.Layer], data: st.DataObject) -> None:
    """Whatever the numbers of copies, also none: each name belongs to the tensor that it was written out from."""
    layer, sized = data.draw(instances(cls))
    if sized is not None:
        found = ps.match(layer, sized.shapes(buffers=True))
        assert found.ok, str(found)
        assert ps.match(layer, sized.shapes()).ok
