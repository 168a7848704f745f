"""Every recorded shape of convolutions, pooling, padding and resampling, in torch and in Keras: the same shape, or an error of ours."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import refused_empty
from recorded import rows

import paramsym as ps
from paramsym.errors import ParamsymError

ROWS = rows("conv_shapes")
LAYERS = sorted({(row["library"].split()[0], row["layer"]) for row in ROWS})


def shape_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """Build the layer from the row's arguments and ask it."""
    if row["library"] == "torch":
        layer = getattr(ps, row["layer"])(*row["args"], **row["kwargs"])
    else:
        layer = getattr(ps.keras, row["layer"])(*row["args"], **row["kwargs"], input_shape=row["input_shape"])
    return ps.output_shape(layer, row["input_shape"])


REFUSED = [row for row in ROWS if row["layer"].startswith("ConvTranspose") and refused_empty(row["error"])]
"""Four rows, of ConvTranspose2d and 3d, in which torch happened to take a kernel that makes no empty output."""


@pytest.mark.parametrize(("library", "layer"), LAYERS, ids="-".join)
def test_rows(library: str, layer: str) -> None:
    """The shapes are those that the framework returned when it was called, and its errors are errors."""
    wrong = []
    for row in ROWS:
        if row["layer"] != layer or not row["library"].startswith(library) or row in REFUSED:
            continue
        try:
            found: list[Any] | None = list(shape_of(row))
        except ParamsymError:
            found = None
        if found != row["output_shape"]:
            wrong.append((row["args"], row["kwargs"], row["input_shape"], row["output_shape"], row["error"], found))
    assert not wrong, f"{len(wrong)} rows, such as {wrong[0]}"


def test_errors_say_what_arrived() -> None:
    """An error of ours is worth reading: it is a sentence, and one line."""
    seen = 0
    for row in ROWS:
        if row["error"] is None or row in REFUSED:
            continue
        with pytest.raises(ParamsymError) as caught:
            shape_of(row)
        words = str(caught.value)
        assert words.endswith(".")
        assert "\n" not in words
        seen += 1
    assert seen == sum(row["output_shape"] is None for row in ROWS) - 4


def test_an_empty_output_is_one() -> None:
    """What torch's native kernels refuse as empty has the extents that their error says."""
    assert len(REFUSED) == 4
    for row in REFUSED:
        assert shape_of(row)[2:] == refused_empty(row["error"])
