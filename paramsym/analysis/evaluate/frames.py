"""Columns of other libraries: Series come back as Series with their index, lazy arrays stay lazy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from paramsym.errors import ArgumentError, SizeError
from paramsym.naming import quoted
from paramsym.optional import needed

_NAME = "params"


def together(where: str, sizes: Any, named: Mapping[str, Any]) -> Mapping[Any, Any]:
    """Return one mapping from a mapping or a data frame, and from keywords.

    Raises:
        ArgumentError: neither a mapping nor a data frame, or a lazy data frame.
        SizeError: a name given twice.
    """
    lazy = next((method for method in ("collect", "compute") if hasattr(sizes, method)), None)
    keys = sizes.keys() if hasattr(sizes, "keys") else getattr(sizes, "columns", None) if lazy is None else None
    if keys is None or isinstance(sizes, str):
        found = f"a {type(sizes).__name__}, which is not computed yet: call .{lazy}() first" if lazy else quoted(sizes)
        found += "; a published size is put in with .at(...)" if isinstance(sizes, str) else ""
        raise ArgumentError(f"{where}: sizes are a mapping or a data frame from names to numbers, not {found}.")
    keys = [*keys]
    twice = [key for key in keys if key in named or keys.count(key) > 1]
    if twice:
        raise SizeError(f"{where}: {twice[0]} is given twice.")
    return {key: sizes[key] for key in keys} | dict(named)


def as_given(result: Any, values: Iterable[Any]) -> Any:
    """Return a Series for Series: of pandas with the common index, of polars without one.

    Raises:
        SizeError: Series of pandas with different indexes.
    """
    series = [value for value in values if hasattr(value, "to_numpy")]
    indexed = [value for value in series if hasattr(value, "iloc")]
    if indexed:
        first = indexed[0]
        if not all(first.index.equals(other.index) for other in indexed[1:]):
            raise SizeError("the columns have different indexes; align them first, or give .to_numpy() of each.")
        return type(first)(result, index=first.index, name=_NAME) if result.shape == first.shape else result
    unindexed = [value for value in series if hasattr(value, "to_arrow")]
    return type(unindexed[0])(_NAME, result) if unindexed and result.ndim == 1 else result


def is_lazy(value: Any) -> bool:
    """Whether a value is an array that is computed later, by dask."""
    return hasattr(value, "__dask_graph__")


def lazily(function: Callable[..., Any], keys: Iterable[Any], values: Iterable[Any]) -> Any:
    """Apply a function of a mapping to lazy arrays, block by block; return a lazy array of 64-bit integers.

    Each block refuses rows as the function does, and values beyond 64 bits.
    """
    arrays, np = needed("dask.array", "computing with lazy arrays"), needed("numpy", "computing with columns", "numpy")
    names = tuple(keys)

    def block(*pieces: Any) -> Any:
        result = np.asarray(function(dict(zip(names, pieces, strict=True))))
        if result.dtype == object:
            raise SizeError("a value is beyond 64 bits, which a lazy array does not hold; compute the columns first.")
        return result

    return arrays.map_blocks(block, *values, dtype=np.int64, meta=np.empty(0, np.int64))
