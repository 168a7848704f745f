"""JSON: whole numbers of any length, formulas as strings of Python source, shapes as lists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sympy import Basic, Integer

if TYPE_CHECKING:
    from paramsym.render.table import Table


def document(value: Any) -> str:
    """Return a value made of words, numbers, formulas, sequences and mappings as JSON.

    >>> from paramsym import H
    >>> print(document({"count": Integer(2) ** 80, "shape": (H, 4 * H), H: True}))
    {
      "count": 1208925819614629174706176,
      "shape": [
        "H",
        "4*H"
      ],
      "H": true
    }
    """
    return json.dumps(plain(value), indent=2, ensure_ascii=True, allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value for JSON: an ``Integer`` as int, any other expression as a string, sequences as lists."""
    if value is None or isinstance(value, bool | str | int | float):
        return value
    if isinstance(value, Integer):
        return int(value)
    if isinstance(value, Basic):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value]


def table(source: Table) -> str:
    r"""Return caption, columns, and one object per row; the totals are an object, too.

    >>> from paramsym.render.table import Table
    >>> table(Table(("part", "parameters"), (("a", 3),), caption="x")).replace("\n", "").replace(" ", "")
    '{"caption":"x","columns":["part","parameters"],"rows":[{"part":"a","parameters":3}],"total":null}'
    """
    return document(
        {
            "caption": source.caption,
            "columns": source.columns,
            "rows": [dict(zip(source.columns, row, strict=True)) for row in source.rows],
            "total": dict(zip(source.columns, source.footer, strict=True)) if source.footer else None,
            **({"notes": {str(value): words for value, words in source.notes}} if source.notes else {}),
        }
    )
