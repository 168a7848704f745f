"""The command line: ``paramsym count bert-base-uncased``, ``paramsym check path/to/checkpoint``, and so on.

Exit codes: 0 all is well; 1 a check failed, or a claim was not explained; 2 the input was wrong. Every error is one line on the standard
error stream. No module larger than argparse is loaded before a command needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from paramsym.cli.arguments import parse
from paramsym.cli.streams import complain, emit
from paramsym.errors import ParamsymError

GOOD, FAILED, WRONG = 0, 1, 2
_INTERRUPTED = 130  # the exit code of a program that was interrupted from the keyboard


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    >>> main(["count", "bert-base-uncased"])
    109482240
    0
    """
    try:
        arguments = parse(argv)
    except SystemExit as stopped:  # after --help and --version, or after an error of argparse
        return stopped.code if isinstance(stopped.code, int) else WRONG
    try:
        from paramsym.cli.commands import run

        reply = run(arguments)
        emit(reply.writers[arguments.format]())
    except ParamsymError as error:
        complain(str(error), arguments.command)
        return WRONG
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader closed the pipe: `paramsym table bert | head`
        _forget_output()
        return GOOD
    except (OSError, RecursionError, MemoryError) as error:
        complain(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, arguments.command)
        return WRONG
    except Exception as error:  # noqa: BLE001 - users of the command line get one line, never a traceback
        complain(f"this is a bug in paramsym, please report it: {type(error).__name__}: {error}", arguments.command)
        return WRONG
    return GOOD if reply.ok else FAILED


def _forget_output() -> None:
    """Point the standard output at the null device, so that the interpreter's last flush raises no error either."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = None
