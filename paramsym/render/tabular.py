"""A value that is shown as its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramsym.render.printed import Printed

if TYPE_CHECKING:
    from paramsym.render.table import Table


class Tabular(Printed):
    """A value that is displayed as its table: in a notebook, in a page exported from a notebook, in a terminal."""

    def table(self) -> Table:
        """Return the table."""
        raise NotImplementedError

    def to_latex(self, **options: Any) -> str:
        """Return the table as LaTeX with booktabs rules; ``options`` are those of ``Table.to_latex``: ``caption``, ``label``, ``width``."""
        return self.table().to_latex(**options)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return self.table().to_markdown()

    def __str__(self) -> str:
        return str(self.table())

    def _fitted(self, width: int) -> str:
        return self.table()._fitted(width) if type(self).__str__ is Tabular.__str__ else super()._fitted(width)

    def _shown(self) -> Table:
        """Return the table for a notebook, which may be shorter than the whole table."""
        return self.table()

    def _repr_html_(self) -> str:
        shown = self._shown()
        from html import escape

        return shown.to_html() if shown.rows else f"<p>{escape(str(self))}</p>"

    def _repr_markdown_(self) -> str | None:
        shown = self._shown()
        return shown.to_markdown() if shown.rows else None

    def _repr_latex_(self) -> str | None:
        shown = self._shown()
        return shown._repr_latex_() if shown.rows else None
