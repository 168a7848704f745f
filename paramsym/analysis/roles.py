"""The roles of tensors, from the words in references' names, to compare designs with different names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.analysis.counted import sums
from paramsym.analysis.wording import plain
from paramsym.core.ledger import Line

_PARTS = {
    "norms": r"norm|(^|_)ln(_|$|\d)",
    "attention": r"att(n|ention)",
    "embeddings": r"emb|^w[tp]e$|^shared$|^(cls|mask)_token$|^position",
    "feed-forward": r"mlp|ffn|feed_?forward|^pos_ffn|intermediate|expert|relu|^fc\d?$|^(up|down|gate)(_proj)?$",
}
"""The role for a step of a name; the first pattern that fits counts."""
_PROJECTIONS = {"query": r"^q(uery)?(_|$)", "key": r"^k(ey)?(_|$)", "value": r"^v(alue)?(_|$)", "output": r"^o(ut)?(put)?(_|$)|^c_proj$"}
"""The same inside an attention."""


def by_role(lines: Sequence[Line]) -> dict[str, Polynomial]:
    """Return the sums by role: a model with attention by its parts, an attention by its projections, others by their names.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> for role, amount in by_role(MultiHeadAttention(H, A, bias=False).lines).items():
    ...     print(role, amount.as_expr())
    query H**2
    key H**2
    value H**2
    output H**2
    """
    role = _projection if any(_projection(line) in {"query", "key"} for line in lines if not _deep(line)) else _part(lines)
    return sums(lines, role)


def _deep(line: Line) -> bool:
    return any(isinstance(step, Numbers) for step in line.path) or len(plain(line)) > 2


def _projection(line: Line) -> str:
    return next(
        (role for role, form in _PROJECTIONS.items() for step in (line.label, *plain(line)) if re.search(form, step)), str(line.path[0])
    )


def _part(lines: Sequence[Line]) -> Callable[[Line], str]:
    if not any(_said(line) == "attention" for line in lines):
        return lambda line: str(line.path[0])

    def role(line: Line) -> str:
        repeated = any(isinstance(step, Numbers) for step in line.path)
        return _said(line) or ("embeddings" if line.role == "table" else "feed-forward" if repeated else "head")

    return role


def _said(line: Line) -> str:
    steps = [step.lower() for step in plain(line)]
    return next((role for role, form in _PARTS.items() if any(re.search(form, step) for step in steps)), "")
