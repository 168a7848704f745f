"""The errors of exported code for broken conditions, in the words of the layer that states them."""

from __future__ import annotations

import re

from sympy import Expr, Symbol

from paramsym.algebra.size import Condition, with_quotients

_PLAIN = re.compile(r"[\w .,:()*/+\[\]-]*")
"""Names that a string of any language can contain without escapes."""


def refusal(kind: str, asked: Condition | None, left: str, right: str, quotient: str, remainder: str) -> str:
    """Return the sentence for a broken check of the values ``left`` and ``right``, with quotient and remainder of a division.

    >>> from paramsym import A, H
    >>> refusal("divides", Condition("divides", A, H, ("num_heads", "embed_dim")), "786", "12", "65", "6")
    'embed_dim 786 is not divisible by num_heads 12 (786 = 65*12 + 6).'
    """
    if asked is None:
        return f"the value is {left}/{right}, not a whole number."
    small, large = (_called(name, side) for name, side in zip(asked.names, (asked.small, asked.large), strict=True))
    if kind == "divides":
        return f"{large}{left} is not divisible by {small}{right} ({left} = {quotient}*{right} + {remainder})."
    if kind == "differ":
        one = large if isinstance(asked.small, int) else small
        both = f"{small}and {large}are both {left}" if small and large else f"{one}is {left}"
        return f"this formula does not hold where {both}."
    if kind == "equal":
        return f"{small}{left} is not {large}{right}."
    if isinstance(asked.small, int) and not asked.names[0]:
        wanted = ("zero or more", "a positive whole number")
        return f"{large}is {right}; wanted {wanted[asked.small] if asked.small in {0, 1} else f'{left} or more'}."
    return f"{small}{left} is more than {large}{right}."


def _called(name: str, side: Expr | int) -> str:
    """Return the name of one side of a condition with a space after it: its name, or its letter or quotient."""
    written = name or ("" if isinstance(side, int) else side.name if isinstance(side, Symbol) else str(with_quotients(side)))
    return f"{written} " if written and _PLAIN.fullmatch(written) else ""
