"""Gopher and Chinchilla: papers with sizes and counts, whose tensors nobody published."""

from __future__ import annotations

import pytest
import sympy

import paramsym as ps
from paramsym.errors import UnknownNameError
from paramsym.models.unpublished import FORMULA, PAPERS, count

TABLE_A9 = """
44 512 2048 64 8 8, 57 576 2304 64 9 9, 74 640 2560 64 10 10, 90 640 2560 64 10 13, 106 640 2560 64 10 16, 117 768 3072 64 12 12,
140 768 3072 64 12 15, 163 768 3072 64 12 18, 175 896 3584 64 14 14, 196 896 3584 64 14 16, 217 896 3584 64 14 18, 251 1024 4096 64 16 16,
278 1024 4096 64 16 18, 306 1024 4096 64 16 20, 425 1280 5120 128 10 18, 489 1280 5120 128 10 21, 509 1408 5632 128 11 18,
552 1280 5120 128 10 24, 587 1408 5632 128 11 21, 632 1536 6144 128 12 19, 664 1408 5632 128 11 24, 724 1536 6144 128 12 22,
816 1536 6144 128 12 25, 893 1792 7168 128 14 20, 1018 1792 7168 128 14 23, 1143 1792 7168 128 14 26, 1266 2048 8192 128 16 22,
1424 2176 8704 128 17 22, 1429 2048 8192 128 16 25, 1593 2048 8192 128 16 28, 1609 2176 8704 128 17 25, 1731 2304 9216 128 18 24,
1794 2176 8704 128 17 28, 2007 2304 9216 128 18 28, 2283 2304 9216 128 18 32, 2298 2560 10240 128 20 26, 2639 2560 10240 128 20 30,
2980 2560 10240 128 20 34, 3530 2688 10752 128 22 36, 3802 2816 11264 128 22 36, 4084 2944 11776 128 22 36, 4516 3072 12288 128 24 36,
6796 3584 14336 128 28 40, 9293 4096 16384 128 32 42, 11452 4352 17408 128 32 47, 12295 4608 18432 128 36 44, 12569 4608 18432 128 32 47,
13735 4864 19456 128 32 47, 14940 4992 19968 128 32 49, 16183 5120 20480 128 40 47
"""
"""Millions, width, feed-forward width, width of a head, heads, layers: Hoffmann et al. 2022, as nanoGPT's scaling_laws.ipynb copies it."""


def test_the_formula_gives_every_published_count() -> None:
    """To the million."""
    rows = [tuple(map(int, row.split())) for row in TABLE_A9.split(",")]
    assert len(rows) == 50
    formula = sympy.lambdify(sympy.symbols("H F D A L V"), sympy.sympify(FORMULA, locals={"A": sympy.Symbol("A")}))
    for millions, *sizes in rows:
        width, inner, head, heads, layers = sizes
        assert inner == 4 * width
        assert round(formula(*sizes, 32_000) / 10**6) == millions
        assert count(layers, width, heads, head) == formula(*sizes, 32_000)


@pytest.mark.parametrize(
    ("name", "said", "known"), [("gopher-280b", 280, "279,711,580,160"), ("deepmind/Chinchilla-70B", 70, "70,062,571,520")]
)
def test_the_name_says_what_is_known(name: str, said: int, known: str) -> None:
    """The published count, its table, what it comes to, and what to write."""
    with pytest.raises(UnknownNameError, match="were never published") as found:
        ps.load(name)
    assert f"gives {said}B parameters" in str(found.value)
    assert f"{FORMULA} is {known}" in str(found.value)
    assert "arXiv:" in str(found.value)
    assert "Compose such a model from layers: docs/how-to/build-what-is-not-covered.md" in str(found.value)
    assert all(round(count(**sizes) / 10**9) == int(published.rstrip("B")) for published, _, sizes in PAPERS.values())


def test_other_names_are_unknown_as_before() -> None:
    """A name that begins alike is no paper's."""
    with pytest.raises(UnknownNameError, match="there is no file, family"):
        ps.load("gopherish-7b")
