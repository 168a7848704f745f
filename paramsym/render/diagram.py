"""Nested boxes as SVG, in order from top to bottom, with an arc for every connection that skips a box."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

_ROW, _GAP, _PAD, _STEP = 24, 10, 12, 7
_CHARACTER = 7.0
"""The width of one character of the 12-pixel font, a little more than the average."""


@dataclass(eq=False)
class Box:
    """One box: its words, and the boxes inside. ``after`` are the boxes whose results it takes; None is the input of the diagram."""

    words: str
    detail: str = ""
    after: list[Box | None] = field(default_factory=list)
    inside: list[Box] = field(default_factory=list)
    top: float = 0.0
    bottom: float = 0.0
    left: float = 0.0
    right: float = 0.0


def to_svg(boxes: list[Box], title: str) -> str:
    """Return the boxes as an SVG picture that follows the reader's light or dark colours."""
    lanes = max(1, len(list(_skips(boxes))))
    width = _PAD * 4 + max((_width(box) for box in boxes), default=100.0)
    start = _PAD * 2 + lanes * _STEP
    bottom = _placed(boxes, start, start + width - 2 * _PAD, _PAD + _ROW)
    size = f"{start + width:.0f} {bottom + _PAD:.0f}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{start + width:.0f}" role="img"'
    style = 'font-family="system-ui, sans-serif" font-size="12" fill="currentColor"'
    lines = [
        f'{head} aria-label="{escape(title, quote=True)}" {style}>',
        f'<text x="{start:.0f}" y="{_ROW - 6}" font-weight="bold">{escape(title)}</text>',
        *_drawn(boxes),
        *_arcs(boxes, start, _ROW - 10),
        "</svg>",
    ]
    return "\n".join(lines)


def _width(box: Box) -> float:
    own = _CHARACTER * (len(box.words) + len(box.detail) + 4)
    return max(own, *(2 * _PAD + _width(inner) for inner in box.inside), 0.0)


def _placed(boxes: list[Box], left: float, right: float, top: float) -> float:
    """Set the position of every box, and return the bottom of the last one."""
    for box in boxes:
        box.left, box.right, box.top = left, right, top
        box.bottom = top + _ROW if not box.inside else _placed(box.inside, left + _PAD, right - _PAD, top + _ROW) + _GAP / 2
        top = box.bottom + _GAP
    return top - _GAP


def _drawn(boxes: list[Box]) -> Iterator[str]:
    for box in boxes:
        shade = 0.04 if box.inside else 0.10
        yield (
            f'<rect x="{box.left:.0f}" y="{box.top:.0f}" width="{box.right - box.left:.0f}" height="{box.bottom - box.top:.0f}" rx="4"'
            f' fill="currentColor" fill-opacity="{shade}" stroke="currentColor" stroke-opacity="0.35"/>'
        )
        yield f'<text x="{box.left + 8:.0f}" y="{box.top + 16:.0f}">{escape(box.words)}</text>'
        yield (f'<text x="{box.right - 8:.0f}" y="{box.top + 16:.0f}" text-anchor="end" fill-opacity="0.7">{escape(box.detail)}</text>')
        yield from _drawn(box.inside)


def _skips(boxes: list[Box]) -> Iterator[tuple[Box | None, Box]]:
    """Yield the connections other than those from the previous box, or from the input to the first box."""
    before: Box | None = None
    for box in boxes:
        met: list[Box | None] = []
        for one in box.after:
            if one is not before and not any(one is other for other in met):
                met.append(one)
                yield one, box
        before = box


def _arcs(boxes: list[Box], left: float, top: float) -> Iterator[str]:
    """Yield an arrow to the next box, and an arc at the left for every connection that skips one; longer arcs are further out.

    ``top`` is the position of the boxes' input.
    """
    for upper, lower in pairwise(boxes):
        if any(upper is before for before in lower.after):
            down = f"M {left + 16:.0f} {upper.bottom:.0f} v {_GAP - 4} m -3 -1 h 6 l -3 5 z"
            yield f'<path d="{down}" fill-opacity="0.6" stroke="currentColor"/>'
    skips = sorted(_skips(boxes), key=lambda skip: skip[1].top - (skip[0].bottom if skip[0] else top))
    for lane, (one, other) in enumerate(skips, start=1):
        begin, x = (one.bottom - _ROW / 2 if one else top), left - lane * _STEP
        yield (
            f'<path d="M {left:.0f} {begin:.0f} C {x:.0f} {begin:.0f} {x:.0f} {other.top + 8:.0f} {left - 5:.0f} {other.top + 8:.0f}"'
            ' fill="none" stroke="currentColor" stroke-opacity="0.5"/>'
        )
        yield f'<path d="M {left - 6:.0f} {other.top + 5:.0f} l 6 3 l -6 3 z"/>'
    for box in boxes:
        if box.inside:
            yield from _arcs(box.inside, box.left + _PAD, box.top + _ROW - 6)
