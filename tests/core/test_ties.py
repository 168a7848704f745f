"""Which names a tie pairs."""

from __future__ import annotations

from paramsym.core.ties import beside


def test_copies_are_paired_by_their_number() -> None:
    """A tie of one tensor with all copies has no single partner, in neither direction."""
    assert list(beside("a.3.w", [("a.{}.w", "b.{}.w")])) == ["b.3.w"]
    assert list(beside("a.3.w", [("a.{}.w", "b.w")])) == []
    assert list(beside("a.w", [("a.w", "layers.{}.w")])) == []
