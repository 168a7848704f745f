"""A pandas data frame, where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramsym.optional import needed

if TYPE_CHECKING:
    from paramsym.render.table import Table


def frame(source: Table) -> Any:
    """Return the rows as a ``DataFrame``; the totals are left out, because a reader of data adds up itself."""
    return needed("pandas", "a DataFrame").DataFrame(list(source.rows), columns=list(source.columns)).convert_dtypes()
