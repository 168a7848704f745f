"""A design space as a table."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

import paramsym as ps
from paramsym import A, E, F, G, H, K, L, V, sweep
from paramsym.errors import ArgumentError, DivisibilityError, SizeError, UnknownNameError


def test_every_row_is_what_at_counts() -> None:
    """Sizes, count and parts of every row; what the layer cannot have is left out and counted."""
    model = ps.models.Llama()
    found = sweep(model, {V: 100, H: [12, 24], L: range(1, 4), A: (2, 3, 5), G: [1, 3], F: 7}, parts=True)
    assert len(found) + found.left_out == 2 * 3 * 3 * 2
    assert found.left_out
    names = list(found.columns)
    assert names[:7] == ["V", "H", "L", "A", "G", "F", "params"]
    for row in zip(*found.columns.values(), strict=True):
        sizes = dict(zip(names[:6], row, strict=False))
        assert model.at(sizes).count == row[6] == sum(row[7:])


def test_the_last_size_varies_fastest() -> None:
    """A tidy table in the order of the sizes."""
    found = sweep(ps.Dense(H, F), {"F": [1, 2], "H": [3, 4]})
    assert list(zip(found["F"], found["H"], found["params"], strict=True)) == [(1, 3, 4), (1, 4, 5), (2, 3, 8), (2, 4, 10)]


def test_parts_to_a_depth() -> None:
    """The deeper, the more columns; the sum stays."""
    model = ps.Repeat(ps.TransformerEncoderLayer(H, 2, F), L)
    shallow, deep = (sweep(model, {H: [4, 8], F: 3, L: 2}, parts=depth) for depth in (2, 4))
    assert len(deep.columns) > len(shallow.columns)
    for found in (shallow, deep):
        assert [sum(row[4:]) for row in zip(*found.columns.values(), strict=True)] == list(found["params"])


def test_large_and_small_sweeps_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """In columns or one by one, with NumPy or without: the same rows, sizes that no layer has left out, and beyond 64 bits."""
    pytest.importorskip("numpy")
    model = ps.models.Mixtral().at(V=100, F=4 * H)
    sizes = {H: [0, 12, 24, 36, 2**30], L: range(3), A: [2, 3, 4], G: [1, 2, 3], E: [2, 4, 8], K: [1, 2, 3, 9]}
    large = sweep(model, sizes, parts=True)
    assert len(large) + large.left_out == 5 * 3 * 3 * 3 * 3 * 4
    assert max(large["params"]) > 2**63
    assert {type(one) for column in large.columns.values() for one in column} == {int}
    for row in range(0, len(large), 40):
        assert model.at({str(symbol): large[str(symbol)][row] for symbol in sizes}).count == large["params"][row]
    monkeypatch.setattr("paramsym.analysis.sweep.available", lambda _: None)
    assert sweep(model, sizes, parts=True).columns == large.columns
    with pytest.raises(SizeError, match="hidden_size is 0; wanted a positive"):
        sweep(model, sizes, invalid=False)


def test_a_model_with_sizes() -> None:
    """What was put in stays; the rest is swept, parts included."""
    found = sweep(ps.models.Bert().at(V=30522, P=512, T=2, A=12), {H: 768, L: [6, 12], F: 3072}, parts=True)
    assert found["params"][1] == 109_482_240
    assert [sum(row[4:]) for row in zip(*found.columns.values(), strict=True)] == list(found["params"])


def test_formats() -> None:
    """Text, HTML and CSV; a long one is cut short in print only."""
    found = sweep(H**2, {H: range(1, 50)})
    assert "and 29 more rows" in repr(found)
    assert "<table" in found._repr_html_()
    rows = list(csv.reader(StringIO(found.to_csv())))
    assert rows[0] == ["H", "params"]
    assert rows[-1] == ["49", "2401"]
    assert len(sweep(H**2, {H: []})) == 0


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """A bar on standard error, or a function of one's own."""
    sweep(H**2, {H: range(1, 50)}, progress=True)
    assert capsys.readouterr().err.endswith("] 49/49\n")
    seen: list[tuple[int, int]] = []
    sweep(H**2, {H: range(1, 70_000)}, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(65_536, 69_999), (69_999, 69_999)]
    assert capsys.readouterr().err == ""


def test_wrong_questions() -> None:
    """Each with one clear error."""
    with pytest.raises(DivisibilityError, match="MultiHeadAttention: embed_dim 64 is not divisible by num_heads 5"):
        sweep(ps.MultiHeadAttention(H, A), {H: [64], A: [5]}, invalid=False)
    with pytest.raises(UnknownNameError, match="needs a size for F"):
        sweep(ps.Dense(H, F), {H: [3]})
    with pytest.raises(UnknownNameError, match="no symbol 'K'"):
        sweep(ps.Dense(H, F), {H: [3], F: 4, K: 5})
    assert sweep(ps.Dense(H, F), {H: (size for size in (3, 5)), F: 4})["H"] == (3, 5)
    for wrong in ("12", 2.5, [2.5], [True], pytest.importorskip("numpy").ones((2, 2), int)):
        with pytest.raises(SizeError, match="whole number"):
            sweep(ps.Dense(H, F), {H: wrong, F: 4})
    for wrong in (5, "HF", [H, F]):
        with pytest.raises(ArgumentError, match="mapping"):
            sweep(ps.Dense(H, F), wrong)  # type: ignore[arg-type]
    for parts in (-1, 1.5):
        with pytest.raises(ArgumentError, match="parts"):
            sweep(ps.Dense(H, F), {H: 3, F: 4}, parts=parts)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no column"):
        sweep(ps.Dense(H, F), {H: 3, F: 4})["V"]


def test_a_page_shows_the_first_rows() -> None:
    """Twenty rows and a heading in a notebook, and all of them when asked."""
    many = sweep(ps.Dense(H, 4), {"H": range(1, 31)})
    assert many._repr_html_().count("<tr") == 1 + 20
    assert many.table().to_html().count("<tr") == 1 + 30
