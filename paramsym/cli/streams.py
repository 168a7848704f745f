"""Writing to the standard streams, whatever they are: closed, ASCII only, no terminal."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from paramsym.naming import harmless

NARROWEST = 40
WIDEST = 200


def width() -> int:
    """Return how many columns text may have: those of the terminal, or of COLUMNS, else 80."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((80, 24)).columns))


def on_a_terminal(stream: TextIO | None = None) -> bool:
    """Say whether a stream, by default the standard output, is read by a person and not by a script."""
    stream = sys.stdout if stream is None else stream
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def coloured(stream: TextIO | None) -> bool:
    """Say whether a stream is a terminal that shows colours and was not asked to leave them out (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and on_a_terminal(stream)


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Return the text in bold, red, green or yellow where the stream shows it."""
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
        pass  # nobody listens, and there is nowhere else to say so


def _as_it_can(stream: TextIO) -> None:
    """Let a stream spell out what its encoding does not have, instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
