"""The table: columns of cells with titles, and the forms of its symbols. Formats turn it into strings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeAlias

from sympy import Expr, Integer, Symbol

from paramsym.naming import one_line
from paramsym.optional import needed
from paramsym.render.printed import NARROWEST, Printed

Cell: TypeAlias = "str | int | Expr | tuple[int | Expr, ...] | None"
"""Words, a number, a formula, a shape, or nothing."""
NAMES = frozenset({"tensor", "part", "line"})
"""Titles of first columns whose cells are tensor or part names."""
HEADINGS = frozenset({"question"})
"""Titles of first columns whose cells head a group of rows, where a format has such headings."""
MODELS = frozenset({"model"})
"""Titles of first columns whose rows can also be columns."""
_PAGE = 30  # the most rows on one page


@dataclass(frozen=True)
class Letters:
    """The LaTeX forms of symbols, and their order in a product.

    ``latex`` holds ``(name, form)`` pairs; other names have a default form, and come last.
    """

    latex: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Table(Printed):
    """An immutable table; ``rows`` have one cell per column, ``footer`` holds the totals.

    Line feeds and control characters in strings are escaped, so that a name from a file cannot break a format or control a terminal.
    ``heading`` is the caption in pieces, for formats that set formulas: ``("Bert:", formula, "parameters")``. ``notes`` are printed below
    the table: a letter or another cell, and what it means.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    footer: tuple[Cell, ...] = ()
    caption: str = ""
    letters: Letters = Letters()
    heading: tuple[Cell, ...] = ()
    notes: tuple[tuple[Cell, str], ...] = ()

    def __post_init__(self) -> None:
        for name in ("columns", "footer", "heading"):
            object.__setattr__(self, name, _shown(getattr(self, name)))
        for name in ("rows", "notes"):
            object.__setattr__(self, name, tuple(map(_shown, getattr(self, name))))
        object.__setattr__(self, "caption", one_line(self.caption))

    def __str__(self) -> str:
        return self.to_text()

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column contains only numbers and shares, and so is aligned to the right."""
        return tuple(bool(self.rows) and all(_is_number(row[i]) for row in self.rows) for i in range(len(self.columns)))

    def turned(self) -> Table:
        """Return the table with its rows as columns, for a table of a few rows that is wide; totals are one of them.

        >>> print(Table(("model", "L", "H"), (("BERT base", 12, 768), ("BERT large", 24, 1024))).turned())
           BERT base  BERT large
        ------------------------
        L         12          24
        H        768       1,024
        """
        lines = (*self.rows, self.footer) if self.footer else self.rows
        known = dict(self.letters.latex)
        titles = (Symbol(title, integer=True, positive=True) if title in known else title for title in self.columns[1:])
        rows = tuple((title, *cells) for title, *cells in zip(titles, *(line[1:] for line in lines), strict=True))
        return replace(self, columns=("", *(str(line[0] or "") for line in lines)), rows=rows, footer=())

    def _written(self, form: str, **options: Any) -> str:
        """Write the table with the module of a format, which is imported when it is first needed."""
        written: str = import_module(f"paramsym.render.{form}").table(self, **options)
        return written

    def _fitted(self, width: int) -> str:
        fitted: str = import_module("paramsym.render.layout").table(self, max(width, NARROWEST))
        return fitted

    def to_text(self) -> str:
        """Return aligned plain text."""
        return self._written("text")

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        return self._written("markdown")

    def to_latex(
        self,
        *,
        long: bool = False,
        caption: str | None = None,
        label: str = "",
        letters: Letters | None = None,
        width: int | None = None,
        grouped: bool | None = None,
    ) -> str:
        r"""Return a LaTeX ``tabular`` with booktabs rules, or a ``longtable`` that breaks across pages.

        ``caption``, which is LaTeX, and ``label`` put the tabular into a floating ``table``; a label alone takes the table's own caption,
        which a longtable always has. It fits a line of ``width`` characters of five points; None means an article in ten points, 45 a
        column of a two-column article; there a table of models that does not fit is turned, and a captioned table that does not fit either
        spans both columns, as a ``table*``. ``grouped`` adds a group row for names with the same first steps; by default only in narrow
        columns.
        Needs ``\usepackage{amsmath,array,booktabs}``, and ``longtable`` if ``long`` is set.
        """
        return self._written("latex_table", letters=letters, long=long, caption=caption, label=label, width=width, grouped=grouped)

    def to_html(self, *, limit: int | None = 100) -> str:
        """Return an HTML table; with more than ``limit`` rows it shows the first ones, and can be opened (``limit=None``: all rows)."""
        return self._written("html", limit=limit)

    def to_pandas(self) -> Any:
        """Return a pandas ``DataFrame`` of the rows, whole numbers as ints and formulas as expressions; totals are left out.

        Raises:
            ArgumentError: pandas is not installed.
        """
        return needed("pandas", "a DataFrame").DataFrame(list(self.rows), columns=list(self.columns)).convert_dtypes()

    def to_csv(self) -> str:
        """Return comma-separated values with a header; formulas are plain text, and a spreadsheet takes no string for a formula."""
        return self._written("csv")

    def to_json(self) -> str:
        """Return JSON with one object per row; numbers exact, formulas as strings."""
        return self._written("json")

    def _repr_html_(self) -> str:
        return self.to_html()

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_latex_(self) -> str:
        return self.to_latex(long=len(self.rows) > _PAGE)


def percent(amount: int, whole: int) -> str:
    """Return a share with one decimal; shares near 0 % and 100 % are never rounded to these.

    >>> percent(1, 3), percent(1, 10_000), percent(9_999, 10_000), percent(0, 3)
    ('33.3 %', '< 0.1 %', '> 99.9 %', '0 %')
    """
    if amount == 0:
        return "0 %"
    if 2000 * amount < whole:
        return "< 0.1 %"
    if 0 < 2000 * (whole - amount) < whole:
        return "> 99.9 %"
    return f"{100 * amount / whole:.1f} %"


def _shown(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
    return tuple(one_line(cell) if isinstance(cell, str) else int(cell) if isinstance(cell, Integer) else cell for cell in row)


def _is_number(cell: Cell) -> bool:
    return cell is None or isinstance(cell, int) or (isinstance(cell, str) and (not cell or cell.endswith(" %")))
