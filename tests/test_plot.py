"""Pictures: what is drawn is what is counted, described in words, and without a global state of matplotlib."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from amount import cases
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import A, F, H
from paramsym.errors import ArgumentError, SizeError, UnknownNameError

pytest.importorskip("matplotlib")
if TYPE_CHECKING:
    from paramsym.render.plot import Picture


def base() -> ps.Layer:
    """BERT base."""
    return ps.models.Bert().at("bert-base-uncased")


def pictures() -> list[Picture]:
    """Return one of each kind."""
    growing = ps.models.Bert().at(F=4 * H, L=12, V=30522, P=512, T=2)
    return [
        ps.plot.share(base()),
        ps.plot.share(base(), depth=1),
        ps.plot.share(base(), kind="icicle"),
        ps.plot.compare(base(), ps.models.Bert().at("bert-large-uncased"), labels=("base", "large")),
        ps.plot.compare(base(), base()),
        ps.plot.growth(growing, H, ps.plot.spread(8, 65536)),
        ps.plot.growth(growing, "H", [1, 10], letters="megatron"),
        ps.plot.cancellation(6),
        ps.plot.convolution(2, 3, 5, letters="bert"),
    ]


@cases(2)
@pytest.mark.parametrize("number", range(9))
def test_pictures_are_drawn(number: int, tmp_path: Path) -> None:
    """Each is written to a file, and shown in a notebook with its words."""
    picture = pictures()[number]
    for ending in ("png", "svg", "pdf"):
        picture.save(tmp_path / f"picture.{ending}")
        assert (tmp_path / f"picture.{ending}").stat().st_size > 1000
    shown = picture._repr_html_()
    assert shown.startswith('<img alt="')
    assert "data:image/png;base64," in shown
    assert len(picture.alt) > 60


def test_words_say_the_numbers() -> None:
    """Who does not see the bars reads them."""
    alt = ps.plot.share(base(), depth=1).alt
    assert "embeddings 23,837,184 (21.8 %), encoder 85,054,464 (77.7 %), pooler 590,592 (0.5 %)" in alt
    assert "Bands" not in alt
    assert "31,195" in ps.plot.growth(ps.models.Bert().at(F=4 * H, L=12, V=30522, P=512, T=2), H, [8, 65536]).alt
    assert "84 parameters" in ps.plot.convolution(3, 3, 3).alt
    assert ps.Conv2d(3, 3, 3).count == 84


def test_bars_add_up() -> None:
    """The widths of the bars are the parts."""
    (axes,) = ps.plot.share(base(), depth=1).figure.axes
    assert sum(patch.get_width() for patch in axes.patches) == base().count
    assert axes.get_xlabel() == "parameters"
    axes.figure.canvas.draw()
    assert {tick.get_text() for tick in axes.get_xticklabels()} >= {"0", "30,000,000", "60,000,000"}  # no power of ten to multiply by


def test_words_of_small_parts() -> None:
    """What is there is not called nothing, and parts are named in words."""
    alt = ps.plot.share(base()).alt
    assert "token type embeddings 1,536 (< 0.1 %)" in alt
    assert "0.0 %" not in alt
    (axes,) = ps.plot.share(base(), kind="icicle").figure.axes
    assert {"layer 0 to 11\n85,054,464", "word embeddings\n23,440,896"} <= {text.get_text() for text in axes.texts}


def test_the_leading_term_changes_where_it_does() -> None:
    """8*H**2 overtakes 5*H below two; elsewhere the crossing is exact, whatever the sampled values: 31195/145 is 215.1."""
    alt = ps.plot.growth(ps.FeedForward(H, 4 * H), "H", [1, 2, 4]).alt
    assert "8 H^{2} is the largest term from 1 to 4" in alt
    bert = ps.models.Bert().at(F=4 * H, L=12, V=30522, P=512, T=2)
    for values in ([8, 65536], [8, 187, 250, 65536], ps.plot.spread(8, 65536)):
        picture = ps.plot.growth(bert, H, values)
        assert "31,195 H is the largest term from 8 to 215; 145 H^{2} is the largest term from 216 to 65,536" in picture.alt
        assert "215.1" in {text.get_text() for text in picture.figure.axes[0].texts}
    gpt2 = ps.models.Gpt2().at(H=768, V=50257, P=1024, A=12)
    assert "7,087,872 L is the largest term from 6 to 100" in ps.plot.growth(gpt2, "L", [1, 10, 100]).alt


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=4), st.integers(2, 2000))
@settings(max_examples=25)
def test_the_leader_is_the_largest_term_at_every_whole_number(coefficients: list[int], last: int) -> None:
    """Every whole number in the picture's range is led by the term that is the largest there, by brute force."""
    degrees = list(range(1, len(coefficients) + 1))
    parts = {f"p{n}": ps.Parameter((c, *[H] * n)) for n, c in zip(degrees, coefficients, strict=True)}
    alt = ps.plot.growth(ps.Block(parts), "H", [1, last]).alt
    said = {}
    for words in re.findall(r"([^.;]*) is the largest term from ([0-9,]+) to ([0-9,]+)", alt):
        first, end = (int(number.replace(",", "")) for number in words[1:])
        said |= dict.fromkeys(range(first, end + 1), words[0].strip())
    assert set(said) == set(range(1, last + 1))
    for place, name in said.items():
        largest = max(c * place**n for n, c in zip(degrees, coefficients, strict=True))
        amount = next(c * place**n for n, c in zip(degrees, coefficients, strict=True) if name.endswith("H" if n == 1 else f"H^{{{n}}}"))
        assert amount == largest


def test_what_cannot_be_drawn() -> None:
    """Symbols that are left, symbols that are not there, kinds nobody knows."""
    with pytest.raises(SizeError, match="no count yet"):
        ps.plot.share(ps.Dense(H, F))
    with pytest.raises(ArgumentError, match=r"layer is 0 \(int\); wanted a layer"):
        ps.plot.share(0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="kind 'pie' is not known"):
        ps.plot.share(base(), kind="pie")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no symbol 'A'"):
        ps.plot.growth(ps.MultiHeadAttention(H, A), A, [1, 2])
    with pytest.raises(SizeError, match="also has F"):
        ps.plot.growth(ps.Dense(H, F), H, [1, 2])
    with pytest.raises(SizeError, match="two positive values"):
        ps.plot.growth(ps.Dense(H, H), H, [3, 3])
    for wrong in (0, True, 1.5):
        with pytest.raises(SizeError, match="positive whole number"):
            ps.plot.cancellation(wrong)  # type: ignore[arg-type]
        with pytest.raises(SizeError, match="positive whole number"):
            ps.plot.convolution(kernel=wrong)  # type: ignore[arg-type]


def test_spread() -> None:
    """Whole numbers, in order, ends included."""
    assert ps.plot.spread(1, 100, 3) == [1, 10, 100]
    assert ps.plot.spread(1, 3, 50) == [1, 2, 3] or ps.plot.spread(1, 3, 50) == [1, 3]
    values = ps.plot.spread(8, 65536, 40)
    assert values == sorted(set(values))
    assert (values[0], values[-1]) == (8, 65536)
    assert len(values) > 20


def test_parts_of_other_names_are_drawn_side_by_side() -> None:
    """Where no name is in both, what the parts are for pairs them; nothing is written beside a bar that is not there."""
    picture = ps.plot.compare(base(), ps.load("gpt2"), labels=("BERT", "GPT-2"))
    (axes,) = picture.figure.axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["embeddings", "norms", "attention", "feed-forward", "head"]
    assert "BERT: embeddings 23,835,648 (21.8 %)" in picture.alt
    assert "GPT-2: embeddings 39,383,808 (31.6 %)" in picture.alt
    assert " 0 (0 %)" not in [text.get_text() for text in axes.texts]
    named = ps.plot.compare(base(), ps.load("gpt2"), depth=2)
    assert "word embeddings" in named.alt


def test_copies_are_named_in_words() -> None:
    """The copies of a stage but its first are "1 to 5"."""
    assert "layer3 1 to 5" in ps.plot.share(ps.load("resnet50")).alt
