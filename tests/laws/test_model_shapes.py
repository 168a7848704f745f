"""Laws of shapes that every model there is obeys; a new family meets them by existing, with TESTS=all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
from amount import cases
from strategies import distinct_models
from sympy import Expr, Integer, Symbol

import paramsym as ps
from paramsym.errors import ParamsymError
from paramsym.program.inputs import each_input

every_model = pytest.mark.parametrize("cls", distinct_models(), ids=lambda cls: cls.__name__)
batch, steps, target = ps.dims("batch steps target")


def inputs(model: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the shapes, letters for batch and positions, that a model takes: tokens, images of its own size, sounds, or two of these."""
    tokens, sound = (batch, steps), (batch, 400 * steps)
    inside = getattr(model, "vision_config", model)
    channels, size = getattr(inside, "num_channels", 3), getattr(inside, "image_size", None) or 32
    image = (batch, channels, *(size if isinstance(size, tuple) else (size, size)))
    heard = (batch, getattr(model, "num_mel_bins", 8), 2 * getattr(model, "max_source_positions", 8))
    seen = ((batch, 1, 32, 32), (batch, 3, 224, 224), (batch, 3, 16, 224, 224), (batch, 224, 224, 3))
    stated = tuple(getattr(model, "inputs", {}).values())[:1]
    for shape in (tokens, image, *seen, sound, (tokens, (batch, target)), (tokens, image), (heard, tokens), *stated):
        try:
            ps.output_shape(model, shape)
        except ParamsymError:
            continue
        yield shape


def put_in(extent: Any, numbers: dict[Symbol, Integer]) -> Any:
    """Put numbers into an extent."""
    return extent.xreplace(numbers) if isinstance(extent, Expr) else extent


@cases(6)
@every_model
def test_shapes(cls: type[ps.Layer]) -> None:
    """Every model says what comes out; asking and putting numbers in commute; the summary adds up, in every format."""
    model = cls()
    shape = next(inputs(model), None)
    assert shape is not None, f"{cls.__name__} takes none of the inputs; new kinds of input are added above"
    symbolic = each_input(ps.output_shape(model, shape))
    numbers = {letter: Integer(number) for letter, number in ((batch, 3), (steps, 5), (target, 7))}
    given = tuple(tuple(put_in(extent, numbers) for extent in one) for one in each_input(shape))
    found = each_input(ps.output_shape(model, given if len(given) > 1 else given[0]))
    assert found == tuple(tuple(put_in(extent, numbers) for extent in one) for one in symbolic)
    table = ps.summary(model, shape)
    assert table.footer[table.columns.index("parameters")] == model.params
    if cls.__name__ != "DenseNet":  # a symbolic number of layers that are given more and more channels
        assert table.footer[table.columns.index("connections")] == ps.connections(model, shape)
    first = math.prod(symbolic[0][1:], start=Integer(1))
    assert (ps.neurons(model, shape) - first).expand() == 0
    for text in (str(table), table.to_html(), table.to_latex(), table.to_markdown(), str(ps.summary(model, shape, depth=1))):
        assert "parameters" in text


@every_model
def test_a_wrong_input_is_refused(cls: type[ps.Layer]) -> None:
    """No axis at all, a string, a float, a negative number, an axis too many: each is an error of ours."""
    model = cls()
    shape = next(inputs(model))
    for wrong in ((), "BS", (1.5, 4), (2, -4), (*shape, *shape, *shape), (True, 3), 7, ((), ())):
        with pytest.raises(ParamsymError) as caught:
            ps.output_shape(model, wrong)  # type: ignore[arg-type]
        assert str(caught.value).endswith(".")
