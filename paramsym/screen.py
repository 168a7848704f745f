"""Text that is safe to show: names from a stranger's file move no cursor, hide nothing and break no line."""

from __future__ import annotations

import re

_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves the cursor, starts an escape sequence or turns the direction of writing; the line feed is left."""


def harmless(text: str) -> str:
    r"""Return the text with control characters spelt out; lines stay lines.

    >>> harmless("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text if text.isprintable() else _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str) -> str:
    r"""Return the text with line feeds spelt out, too.

    >>> one_line("a\nb")
    'a\\nb'
    """
    return text if text.isprintable() else harmless(text).replace("\n", r"\n")
