"""A pandas data frame, if pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramsym.optional import needed

if TYPE_CHECKING:
    from paramsym.render.table import Table


def frame(source: Table) -> Any:
    """Return the rows as a ``DataFrame``; totals are left out, because programs compute them."""
    return needed("pandas", "a DataFrame").DataFrame(list(source.rows), columns=list(source.columns)).convert_dtypes()
