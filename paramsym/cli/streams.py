"""Writing to the standard streams, also if they are closed, ASCII only, or not a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from paramsym.naming import harmless
from paramsym.render.printed import NARROWEST

WIDEST = 200


def width() -> int:
    """Return the number of columns for text: those of the terminal, or of COLUMNS, otherwise 80."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((80, 24)).columns))


def on_a_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream, by default the standard output, is a terminal."""
    stream = sys.stdout if stream is None else stream
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def coloured(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that shows colours, and NO_COLOR is not set (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and on_a_terminal(stream)


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Return the text in bold, red, green or yellow if the stream shows colours."""
    codes = {"bold": "1", "red": "31", "green": "32", "yellow": "33"}
    return f"\x1b[{codes[colour]}m{text}\x1b[0m" if coloured(stream if stream is not None else sys.stdout) else text


def emit(text: str) -> None:
    """Write a reply to the standard output, if there is one."""
    if sys.stdout is None:
        return
    _as_it_can(sys.stdout)
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def complain(message: str, command: str = "", kind: str = "error") -> None:
    """Write one line to the standard error stream."""
    if sys.stderr is None:
        return
    words = harmless(" ".join(message.split()))
    name = f"paramsym {command}" if command else "paramsym"
    try:
        _as_it_can(sys.stderr)
        sys.stderr.write(f"{name}: {painted(kind, 'yellow' if kind == 'warning' else 'red', sys.stderr)}: {words}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # the error stream is closed, so the message cannot be written


def _as_it_can(stream: TextIO) -> None:
    """Let a stream escape characters that its encoding does not have, instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
