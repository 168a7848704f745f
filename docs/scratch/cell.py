"""Run one cell and send what it shows, block by block. Runs inside Pyodide, and needs the standard library alone."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import pprint
import sys
import time
import traceback
import types
from collections.abc import Callable
from itertools import islice
from typing import Any

NAME = "your_cell"  # of the module that a cell becomes; a dataclass looks its module up by name
MOST = 200_000  # printed characters that a page can hold and still move
FRAMES = 8  # lines of the cell that an error names
EVERY = 0.2  # seconds between two messages about what is printed

Send = Callable[[str, str, int], object]
"""Takes a kind ("source" of a value that is shown, "html", "latex", "text" or "error"), what to show, and a line of the cell or 0."""


class Printed(io.TextIOBase):
    """What a cell prints, sent a few times a second."""

    def __init__(self, send: Send) -> None:
        """Begin with nothing printed."""
        self.send = send
        self.waiting: list[str] = []
        self.left = MOST
        self.sent = time.monotonic()

    def write(self, text: str, /) -> int:
        """Keep the text; send it when the last message is old enough."""
        if self.left > 0:
            self.waiting.append(text[: self.left])
            self.left -= len(text)
            if self.left <= 0:
                self.waiting.append(f"\n(The cell printed more than {MOST:,} characters; the rest is left out.)\n")
        if time.monotonic() - self.sent > EVERY:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was kept."""
        text, self.waiting = "".join(self.waiting), []
        self.sent = time.monotonic()
        if text:
            self.send("text", text, 0)


def run(source: str, send: Send) -> None:
    """Run a cell from empty names; every bare expression at its outermost level is shown, and so is an error."""
    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    module = sys.modules[NAME] = types.ModuleType(NAME)
    printed = Printed(send)

    def display(value: Any, written: str = "", line: int = 0) -> None:
        printed.flush()
        if value is not None:
            if written:
                send("source", written, line)
            for kind, text in shown(value):
                send(kind, text, 0)

    vars(module).update(display=display, __display__=display)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            tree = ast.parse(source, NAME)
            tree.body = [_displayed(statement, source) for statement in tree.body]
            exec(compile(ast.fix_missing_locations(tree), NAME, "exec"), vars(module))  # noqa: S102 - the reader's own code, in the reader's browser
        except BaseException as error:  # noqa: BLE001 - whatever a cell raises is shown, and the next cell can run
            printed.flush()
            send("error", *told(error))
    printed.flush()


def _displayed(statement: ast.stmt, source: str) -> ast.stmt:
    """Show the value of a bare expression under its source; a docstring is none."""
    if not isinstance(statement, ast.Expr) or isinstance(statement.value, ast.Constant):
        return statement
    told = [ast.Constant(ast.get_source_segment(source, statement.value)), ast.Constant(statement.lineno)]
    call = ast.Call(ast.Name("__display__", ast.Load()), [statement.value, *told], [])
    return ast.copy_location(ast.Expr(ast.copy_location(call, statement)), statement)


def shown(value: Any) -> list[tuple[str, str]]:
    """Return a value as blocks: HTML, else LaTeX, else text; a layer in letters (it has parts) as its formula and HTML."""
    html, latex = (getattr(value, name, lambda: None)() for name in ("_repr_html_", "_repr_latex_"))
    if html and latex and hasattr(value, "parts") and value.symbols:
        return [("latex", rf"\text{{parameters}} = {latex.strip('$')}"), ("html", html)]
    if html:
        return [("html", html)]
    return [("latex", latex.strip("$"))] if latex else [("text", pprint.pformat(value, width=100, sort_dicts=False) + "\n")]


def told(error: BaseException) -> tuple[str, int]:
    """Return an error's message with the lines of the cell that led to it, and the first of these lines."""
    if isinstance(error, SyntaxError) and error.filename == NAME:
        name, message = type(error).__name__, error.msg
        frames = [(error.lineno or 0, "", error.text or "")]
    else:
        name, message = type(error).__name__, str(error)
        stack = (frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME)
        frames = [(frame.lineno or 0, frame.name, frame.line or "") for frame in islice(stack, FRAMES)]
    lines = [f"line {number}{f', in {where}' if where not in {'', '<module>'} else ''}: {line.strip()}" for number, where, line in frames]
    return "\n".join([f"{name}: {message}" if message else name, *lines]), frames[0][0] if frames else 0
