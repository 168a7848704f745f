"""Models of which a paper gives the sizes and a rounded count, but nobody the tensors: their names say what is known."""

from __future__ import annotations

import re

PAPERS = {
    "gopher": ("280B", "Rae et al. 2021, arXiv:2112.11446, table 1", {"L": 80, "H": 16384, "A": 128, "D": 128}),
    "chinchilla": ("70B", "Hoffmann et al. 2022, arXiv:2203.15556, table 4", {"L": 80, "H": 8192, "A": 64, "D": 128}),
}
"""The published count, the source, and the sizes of the largest model of each paper."""
FORMULA = "L*(5*A*D*H + 5*A*D + 2*F*H + F + 2*H) + H*V"
"""It gives all fifty counts of Hoffmann et al. 2022, table A9, to the million, with five matrices for queries, keys, values, outputs
and relative positions (Dai et al. 2019), two in the feed-forward network, one table of tokens, and vectors."""


def count(L: int, H: int, A: int, D: int) -> int:
    """Return the value of ``FORMULA`` for F = 4*H and 32,000 tokens.

    >>> count(**PAPERS["chinchilla"][2]), count(**PAPERS["gopher"][2])
    (70062571520, 279711580160)
    """
    F, V = 4 * H, 32_000
    return L * (5 * A * D * H + 5 * A * D + 2 * F * H + F + 2 * H) + H * V


def known_from_paper(name: str) -> str:
    """Return what is known of a model such as ``gopher-280b``, or nothing if its name is not one of ``PAPERS``."""
    word = re.split(r"[^a-z]", name.lower().rpartition("/")[2])[0]
    if word not in PAPERS:
        return ""
    published, source, sizes = PAPERS[word]
    return (
        f"the tensors of {word.title()} were never published, so that no model has its name. Its paper ({source}) gives {published}"
        f" parameters: L={sizes['L']} layers of width H={sizes['H']}, A={sizes['A']} heads of D={sizes['D']}, F=4*H, V=32000."
        f" {FORMULA} is {count(**sizes):,} and gives all counts of Hoffmann et al. 2022, table A9; the paper does not say which"
        " vectors have 2*H numbers. Compose such a model from layers: docs/how-to/build-what-is-not-covered.md, Gopher and Chinchilla."
    )
