r"""Estimates of the width of LaTeX without running it, in characters; a line of an article in ten points has 69.

A character is five points, as wide as a digit. The widths are those of Computer Modern, in classes: narrow and wide letters, operators with
their spaces, brackets, indices.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any

from paramsym.errors import ArgumentError
from paramsym.naming import quoted

LINE = 67
"""Characters on a line of an article, whose 345 points are 69: two are subtracted, because an estimate may be too small."""

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\{,\}|[{}^_]|\s+|.", re.DOTALL)
_SMALL = 0.78  # an index relative to its base
_TYPEWRITER = 1.05
_ITALIC = 1.05  # words in a formula relative to words in a text
_ITALIC_UNDERSCORE = 1.55
_BRACE = 3.6  # the smallest brace
_MATH = {
    **dict.fromkeys(ascii_uppercase, 1.6), **dict.fromkeys(ascii_lowercase, 1.0), **dict.fromkeys(digits, 1.0),
    **dict.fromkeys("ijltI", 0.8), **dict.fromkeys("mwMW", 1.85), **dict.fromkeys("()[]", 0.75), **dict.fromkeys("=<>", 2.65),
    "+": 2.45, "-": 2.45, ",": 0.9, ".": 0.55, "/": 1.0, "{,}": 0.55, r"\cdot": 1.45, r"\sim": 2.65, r"\sum": 2.9, r"\ldots": 2.4,
    r"\,": 0.35, r"\quad": 2.0, r"\qquad": 4.0, r"\lfloor": 0.9, r"\rfloor": 0.9, r"\lceil": 0.9, r"\rceil": 0.9, r"\left": 0.5,
    r"\right": 0.5, r"\max": 3.8, r"\min": 3.6, r"\bmod": 5.0, r"\log": 2.6,
}  # fmt: skip
_WORDS = {
    **dict.fromkeys(ascii_uppercase, 1.4), **dict.fromkeys(ascii_lowercase, 0.97), **dict.fromkeys(digits, 1.0),
    **dict.fromkeys("ijltfrs", 0.72), **dict.fromkeys("mwMW", 1.65), **dict.fromkeys("()[]-", 0.75), **dict.fromkeys(".,:;'", 0.55),
    " ": 0.67, "+": 1.55, "=": 1.55, "/": 1.0, r"\_": 1.0,
}  # fmt: skip
_NOTHING = {r"\allowbreak", r"\displaystyle", r"\penalty", "&", "$"}


def limit_of(wanted: float | None, otherwise: float = LINE) -> float:
    """Return the number of characters in a line: the given number, or ``otherwise``.

    Raises:
        ArgumentError: something that is not a width.

    >>> limit_of(45), limit_of(None)
    (45, 67)
    """
    if wanted is None:
        return otherwise
    given: Any = wanted  # callers without a type checker
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        wide = f"wanted a number of characters, such as {LINE} for an article, 45 for a two-column article"
        raise ArgumentError(f"width is {quoted(wanted)}; {wide}.")
    return wanted


def width(written: str) -> float:
    r"""Estimate the width of a formula; of several lines, the widest.

    >>> width("12 L H^{2}") < width(r"12 n_{\text{layer}} d_{\text{model}}^{2}") < width("12 L H^{2} + 13 L H + V H")
    True
    """
    return _Reader(_TOKEN.findall(written)).whole()


def width_of_words(written: str) -> float:
    """Estimate the width of escaped words; in typewriter type all characters have the same width."""
    plain = written.replace(r"\texttt", "")
    if plain != written:
        return _TYPEWRITER * sum(mark not in {"{", "}", r"\allowbreak", r"\quad"} for mark in _TOKEN.findall(plain))
    return _spelt(_TOKEN.findall(written))


def _spelt(tokens: Iterable[str]) -> float:
    return sum(_WORDS.get(mark, 0.0 if mark in {"{", "}", r"\allowbreak"} else 1.0) for mark in tokens)


class _Reader:
    """A position in a formula, which moves as parts are measured."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = [mark for mark in tokens if not mark.isspace() or mark == " "]
        self.at = 0

    def whole(self) -> float:
        """Measure everything that is left."""
        widest = 0.0
        while self.at < len(self.tokens):
            widest = max(widest, self.line())
            self.at += 1  # an unmatched closing brace
        return widest

    def line(self) -> float:
        """Measure up to the end of the group; lines are below each other."""
        widest = total = 0.0
        before = "("
        while self.at < len(self.tokens) and self.tokens[self.at] not in {"}", r"\end"}:
            mark = self.tokens[self.at]
            self.at += 1
            if mark == r"\\":
                widest, total, before = max(widest, total), 0.0, "("
                continue
            total += self.piece(mark, before)
            before = before if mark == " " or mark in _NOTHING else mark
        return max(widest, total)

    def group(self) -> list[str]:
        """Return the tokens of the next group, or the next single token."""
        while self.at < len(self.tokens) and self.tokens[self.at] == " ":
            self.at += 1
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += {"{": 1, "}": -1}.get(self.tokens[self.at], 0)
            self.at += 1
            if depth == 0:
                break
        found = self.tokens[start : self.at]
        return found[1:-1] if found[:1] == ["{"] else found

    def piece(self, mark: str, before: str) -> float:
        """Measure one token and its arguments."""
        if mark in {"^", "_"}:
            return _SMALL * _Reader(self.group()).whole()
        if mark == "{":
            self.at -= 1
            return _Reader(self.group()).whole()
        if mark == r"\frac":
            return max(_Reader(self.group()).whole(), _Reader(self.group()).whole()) + 0.6
        if mark == r"\sqrt":
            return _Reader(self.group()).whole() + 1.7
        if mark == r"\mathit":
            name = self.group()
            return _ITALIC * _spelt(sign for sign in name if sign != r"\_") + _ITALIC_UNDERSCORE * name.count(r"\_")
        if mark in {r"\text", r"\mathcal", r"\operatorname"}:
            return _spelt(self.group())
        if mark == r"\underbrace":
            body = _Reader(self.group()).whole()
            self.at += 1
            return max(body, _SMALL * _Reader(self.group()).whole(), _BRACE)
        if mark == r"\begin":
            self.group()
            inside = self.line()
            self.at += 1
            self.group()
            return inside
        if mark == "-" and before in {"(", "=", r"\quad"}:
            return 1.55
        return 0.0 if mark == " " or mark in _NOTHING else _MATH.get(mark, 1.1)
