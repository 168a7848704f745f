"""What an answer shows at a prompt."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Any

NARROWEST = 40  # the fewest columns that lines are made for
_HANGING = " " * 4
_GAP = "  "  # between the columns of a table


class Printed:
    """An answer: a Python prompt shows it as ``print`` does, and so does IPython's terminal, in lines that fit the terminal's width."""

    def __init_subclass__(cls) -> None:
        """Keep this ``repr``, which a dataclass would replace."""
        cls.__repr__ = Printed.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return self._fitted(shutil.get_terminal_size().columns) if _on_a_terminal() else str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        del cycle
        printer.text(repr(self))

    def _fitted(self, width: int) -> str:
        """Return the text in lines of a width; a sentence goes on behind an indent, and a row of a table stays whole."""
        width = max(width, NARROWEST)
        return "\n".join(
            line if len(line) <= width or _GAP in line.strip() else words(line, width, rest=_indent(line) + _HANGING)
            for line in str(self).splitlines()
        )


def words(text: str, width: int, first: str = "", rest: str = "") -> str:
    """Return prose in lines; a word that is wider than a line stays whole."""
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )


def _indent(line: str) -> str:
    return " " * (len(line) - len(line.lstrip()))


def _on_a_terminal() -> bool:
    try:
        return sys.stdout is not None and sys.stdout.isatty()
    except ValueError:  # a closed stream
        return False
