"""Every recorded shape of convolutions, pooling, padding and resampling, in torch and in Keras: the same shape, or an error of ours."""

from __future__ import annotations

import re
from typing import Any

import pytest
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


def refused_empty(row: dict[str, Any]) -> bool:
    """Say whether torch refused an empty output of a transposed convolution, as its native kernels do; its oneDNN kernels return one.

    Which kernel it takes follows from thread counts and sizes, so that we give the shape for both: four rows, of ConvTranspose2d and 3d.
    """
    sizes = re.search(r"Calculated output size per channel: \(([^)]*)\)", row["error"] or "")
    return row["layer"].startswith("ConvTranspose") and sizes is not None and min(map(int, sizes[1].split(" x "))) == 0


@pytest.mark.parametrize(("library", "layer"), LAYERS, ids="-".join)
def test_rows(library: str, layer: str) -> None:
    """The shapes are those that the framework returned when it was called, and its errors are errors."""
    wrong = []
    for row in ROWS:
        if row["layer"] != layer or not row["library"].startswith(library) or refused_empty(row):
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
        if row["error"] is None or refused_empty(row):
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
    refused = [row for row in ROWS if refused_empty(row)]
    assert len(refused) == 4
    for row in refused:
        extents = "x".join(map(str, shape_of(row)[2:])).replace("x", " x ")
        assert f"Calculated output size per channel: ({extents})" in row["error"]
