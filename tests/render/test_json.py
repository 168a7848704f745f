"""JSON: exact numbers, formulas as strings, whatever else as it is."""

from __future__ import annotations

import json

import pytest
from sympy import Integer, Symbol

import paramsym as ps
from paramsym import A, F, H, V
from paramsym.render.json import document, plain
from paramsym.render.table import Table


def test_plain_values() -> None:
    """Expressions become strings, whole numbers stay exact whatever their length, sequences become lists."""
    assert plain({H: [Integer(3), 2 * H, (V, 1)], "none": None, "flag": True, "share": 0.5, "words": "a"}) == {
        "H": [3, "2*H", ["V", 1]],
        "none": None,
        "flag": True,
        "share": 0.5,
        "words": "a",
    }
    assert json.loads(document([10**40, Integer(10) ** 40, Symbol("d")])) == [10**40, 10**40, "d"]
    assert document("\x1b\ud800").isascii()
    with pytest.raises(ValueError, match="nan"):
        document(float("nan"))


def test_a_table() -> None:
    """Columns, one object per row, totals; a table of a layer reads back."""
    found = json.loads(ps.Dense(H, F).table().to_json())
    assert found["columns"] == ["tensor", "shape", "parameters"]
    assert found["rows"][0] == {"tensor": "weight", "shape": ["F", "H"], "parameters": "F*H"}
    assert found["total"]["parameters"] == "F*H + F"
    sized = json.loads(ps.MultiHeadAttention(H, A).at(H=768, A=12).table().to_json())
    assert sum(row["parameters"] for row in sized["rows"]) == sized["total"]["parameters"] == 2_362_368
    assert json.loads(Table(("a",), ()).to_json()) == {"caption": "", "columns": ["a"], "rows": [], "total": None}
