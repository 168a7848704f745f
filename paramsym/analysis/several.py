"""The base of answers that consist of several others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar, overload

from paramsym.render.tabular import Tabular

T = TypeVar("T")


class Several(Tabular, Sequence[T]):
    """An answer that is a sequence of others; ``_held`` is the name of the field that holds them."""

    _held: ClassVar[str] = "answers"

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        held: tuple[T, ...] = getattr(self, self._held)
        return held[index]

    def __len__(self) -> int:
        return len(getattr(self, self._held))
