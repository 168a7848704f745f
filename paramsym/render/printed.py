"""What an answer shows at a prompt."""

from __future__ import annotations

import shutil
import sys
from typing import Any


class Printed:
    """An answer: a Python prompt shows it as ``print`` does, and so does IPython's terminal; a table is made to fit a terminal's width."""

    def __init_subclass__(cls) -> None:
        """Keep this ``repr``, which a dataclass would replace."""
        cls.__repr__ = Printed.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return self._fitted(shutil.get_terminal_size().columns) if _on_a_terminal() else str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        del cycle
        printer.text(repr(self))

    def _fitted(self, width: int) -> str:
        """Return the text in lines of a width, as far as the answer can be broken."""
        del width
        return str(self)


def _on_a_terminal() -> bool:
    try:
        return sys.stdout is not None and sys.stdout.isatty()
    except ValueError:  # a closed stream
        return False
