"""A pandas data frame, where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sympy import Integer

from paramsym.optional import needed

if TYPE_CHECKING:
    from paramsym.render.table import Cell, Table


def frame(source: Table) -> Any:
    """Return the rows as a ``DataFrame``; the totals are left out, because a reader of data adds up itself."""
    pd = needed("pandas", "a DataFrame")

    rows = [[_plain(value) for value in row] for row in source.rows]
    return pd.DataFrame(rows, columns=list(source.columns)).convert_dtypes()


def _plain(value: Cell) -> Any:
    return int(value) if isinstance(value, Integer) else value
