"""Valid sizes as formulas in free coordinates."""

from __future__ import annotations

import random

import pytest

import paramsym as ps
from paramsym import A, C, D, E, F, G, H, K, L, per
from paramsym.errors import ParamsymError
from paramsym.verify.lattice import lattice


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (ps.Dense(H, F), "F, H free"),
        (ps.MultiHeadAttention(H, A), "H = A*h; A, h free"),
        (ps.MultiHeadAttention(H, A, kv_heads=G), "A = G*a; H = G*a*h; a, G, h free"),
        (ps.MultiHeadAttention(12, A), "A among 1, 2, 3, 4, 6, 12"),
        (ps.GroupNorm(G, C), "C = G*c; c, G free"),
        (ps.Dense(per(2 * H, 3), F), "H = 3*h; F, h free"),
        (ps.Dense(per(H, 2 * A), F), "H = 2*A*h; A, F, h free"),
        (ps.Repeat(ps.Dense(H, H), L, used=K), "L = K + l - 1; H, K, l free"),
        (ps.Repeat(ps.Dense(H, H), 3, used=K), "K among 1, 2, 3; H free"),
        (ps.models.Bert(), "H = A*h; A, F, h, L, P, T, V free"),
    ],
    ids=str,
)
def test_formula(layer: ps.Layer, words: str) -> None:
    """The lattice in words, and every valid size a point of it."""
    found = lattice(layer)
    assert str(found) == words
    assert found.whole
    assert not found.left


@pytest.mark.parametrize(
    "layer",
    [
        ps.MultiHeadAttention(H, A),
        ps.MultiHeadAttention(H, A, kv_heads=G),
        ps.Conv2d(C, F, 3, groups=G),
        ps.Dense(per(H * F, A), 1),
        ps.Dense(per(H + F, 3), 1),
        ps.Block(a=ps.MultiHeadAttention(H, A), b=ps.MultiHeadAttention(H, D)),
        ps.MixtureOfExperts(H, F, E, K),
        ps.models.Bert(),
        ps.models.Gpt2(),
        ps.models.Vit(),
    ],
    ids=lambda layer: repr(layer)[:60],
)
def test_every_point_is_valid(layer: ps.Layer) -> None:
    """No condition is left to try and fail."""
    found = lattice(layer)
    chance = random.Random(7)
    for _ in range(40):
        sizes = found.sizes({c.symbol: chance.choice(c.choices or range(1, 9)) for c in found.coordinates})
        assert layer.at(sizes).count > 0


@pytest.mark.parametrize("layer", [ps.MultiHeadAttention(H, A, kv_heads=G), ps.Conv2d(C, F, 1, groups=G), ps.GroupNorm(G, C)], ids=repr)
def test_every_valid_size_is_a_point(layer: ps.Layer) -> None:
    """Counted on a small box: as many points as sizes that the layer accepts."""
    from itertools import product

    names = sorted(symbol.name for symbol in layer.symbols)
    found = lattice(layer)
    points = {
        tuple(sizes[name] for name in names)
        for point in product(range(1, 9), repeat=len(names))
        for sizes in [found.sizes(dict(zip((c.symbol for c in found.coordinates), point, strict=True)))]
        if all(size <= 8 for size in sizes.values())
    }

    def accepted(sizes: tuple[int, ...]) -> bool:
        try:
            layer.at(dict(zip(names, sizes, strict=True)))
        except ParamsymError:
            return False
        return True

    assert points == {sizes for sizes in product(range(1, 9), repeat=len(names)) if accepted(sizes)}


def test_two_divisors_of_one_width_are_a_part_of_the_sizes() -> None:
    """Heads A and D both divide H: multiples of A*D are valid, and not all there are."""
    found = lattice(ps.Block(a=ps.MultiHeadAttention(H, A), b=ps.MultiHeadAttention(H, D)))
    assert str(found) == "H = A*D*h; A, D, h free"
    assert not found.whole


def test_what_cannot_be_solved_is_left() -> None:
    """A number with two divisors unknown stays a condition to try; a width over a sum does not."""
    found = lattice(ps.Dense(per(12, A * G), 1))
    assert [condition.kind for condition in found.left] == ["divides"]
    assert str(lattice(ps.Dense(per(H, A + G), 1))) == "H = A*h + G*h; A, G, h free"
