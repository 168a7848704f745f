"""What a certificate states, what it takes, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Rational, ceiling, floor

import paramsym as ps
from paramsym import A, C, F, G, H, K, L, per
from paramsym.errors import ArgumentError, NotYetError, RefutedError
from paramsym.testing import Certificate, certify


def test_it_prints_variables_lattice_degrees_instances_and_versions() -> None:
    """Everything a reader needs to repeat it."""
    proof = certify(ps.MultiHeadAttention(H, A), lambda A, H: ps.MultiHeadAttention(H, A))
    assert isinstance(proof, Certificate)
    text = str(proof)
    for words in (
        "MultiHeadAttention(H, A)",
        "4*H**2 + 4*H",
        "A, H",
        "H = A*h; A, h free",
        "2 in A, 2 in h",
        "every valid size",
        f"paramsym {ps.__version__}, sympy",
    ):
        assert words in text
    assert f"paramsym {ps.__version__}, sympy" in text
    assert proof.instances == 9
    assert proof.compared == "tensors"
    assert "A in 1, 2, 3" in text
    assert "<table>" in proof._repr_html_()


def test_a_count_alone_is_certified_as_a_count() -> None:
    """An int has no names, and the certificate says so."""
    proof = certify(ps.Dense(H, F), lambda F, H: F * H + F)
    assert proof.compared == "count"
    assert "the count alone" in str(proof)


def test_a_layer_without_symbols_is_one_instance() -> None:
    """Nothing is assumed."""
    proof = certify(ps.Dense(3, 4), lambda: 16)
    assert proof.instances == 1
    assert proof.assumption.startswith("none")
    assert proof.reach == "the only instance"


@pytest.mark.parametrize("wrong", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1)])
def test_every_polynomial_within_the_degree_that_differs_is_refuted(wrong: tuple[int, int, int]) -> None:
    """Whatever is added to a count within the bound, some point of the grid sees it."""
    a, b, c = wrong
    with pytest.raises(RefutedError, match="difference"):
        certify(ps.Dense(H, F), lambda F, H: F * H + F + a * F * H + b * F + c * H)


def test_a_higher_degree_is_seen_when_it_is_allowed_for() -> None:
    """(F - 1)(F - 2) vanishes on two values: outside the assumption, and inside it with one more degree."""

    def build(F: int, H: int) -> int:
        return F * H + F + (F - 1) * (F - 2)

    assert "degree 1 in F" in certify(ps.Dense(H, F), build).assumption
    for degree in (2, {"F": 2}, {F: 2}):
        with pytest.raises(RefutedError, match="F=3"):
            certify(ps.Dense(H, F), build, degree)


@pytest.mark.parametrize("degree", [0, -1, True, 1.5, "2", {"h": 1}])
def test_a_degree_below_the_formulas_own_is_refused(degree: Any) -> None:
    """The formula itself would break the assumption."""
    with pytest.raises(ArgumentError, match="degree is"):
        certify(ps.MultiHeadAttention(H, A), lambda A, H: 4 * H * H + 4 * H * (A > 0), degree)


def test_steps_are_proven_on_each_residue_class() -> None:
    """A ceiling of H/16 takes sixteen times as many values."""
    layer = ps.Dense(ceiling(H * Rational(1, 16)), F, bias=False)
    proof = certify(layer, lambda F, H: {"weight": (F, -(-H // 16))})
    assert proof.instances == 2 * 2 * 16
    assert "residue class modulo 16" in str(proof)
    with pytest.raises(RefutedError, match="H=17"):
        certify(layer, lambda F, H: {"weight": (F, -(-H // 16) if H < 17 else 1)})


def test_alternating_blocks_are_proven_for_even_and_odd_depths() -> None:
    """Ceilings of the depth are steps, too."""
    layer = ps.Repeat((ps.Dense(H, 1, bias=False), ps.Dense(H, H, bias=False)), L)

    def build(H: int, L: int) -> dict[str, tuple[int, int]]:
        return {f"{i}.weight": ((H, H) if i % 2 else (1, H)) for i in range(L)}

    assert certify(layer, build).degrees[L].modulus == 2


def test_copies_that_depend_on_their_number_are_proven() -> None:
    """A sum over the index is a polynomial in the depth."""
    i, g, n = ps.dims("i g n")
    layer = ps.Repeat(ps.Dense(C + i * g, g, bias=False), n, index=i)
    proof = certify(layer, lambda C, g, n: {f"{k}.weight": (g, C + k * g) for k in range(n)})
    assert proof.degrees[n].degree == 2
    with pytest.raises(RefutedError, match=r"1\.weight"):
        certify(layer, lambda C, g, n: {f"{k}.weight": (g, C + g * (k > 0) * 2) for k in range(n)})


def test_sizes_that_cancel_are_tried_at_two_values() -> None:
    """That a size changes nothing is part of the claim."""
    layer = ps.RMSNorm(H, elementwise_affine=False)
    assert certify(layer, lambda H: 0 * H).instances == 2
    with pytest.raises(RefutedError, match="H=2"):
        certify(layer, lambda H: H - 1)


def test_orders_are_part_of_the_lattice() -> None:
    """At most as many experts are used as there are."""
    layer = ps.Repeat(ps.Dense(H, 1, bias=False), L, used=K)
    proof = certify(layer, lambda H, K, L: {f"{i}.weight": (1, H) for i in range(L + 0 * K)})
    assert "L = K + l - 1" in str(proof)
    assert proof.lattice.whole


def test_a_part_of_the_valid_sizes_is_called_one() -> None:
    """Where A divides H*F, sizes in which it divides one of the two are not all there are."""
    proof = certify(ps.Dense(per(H * F, A), 1, bias=False), lambda A, F, H: {"weight": (1, H * F // A)})
    assert not proof.lattice.whole
    assert "a part of the valid sizes" in proof.reach


def test_sizes_that_must_differ_find_a_grid() -> None:
    """Torch stores other tensors where kdim equals embed_dim; the grid keeps them apart."""
    layer = ps.MultiHeadAttention(H, A, kdim=K, bias=False)
    proof = certify(layer, lambda A, H, K: layer.at(A=A, H=H, K=K).shapes())
    assert proof.instances > 1


def test_what_is_no_polynomial_is_not_certified_but_may_be_refuted() -> None:
    """Floors by a symbol and powers have no finite proof; wrong ones are still found."""
    d = ps.dims("d")
    for layer, right, wrong in (
        (ps.Dense(floor(H / A), 1, bias=False), lambda A, H: H // A, lambda A, H: H // A + (H > 3)),
        (ps.Dense(2**d, 1, bias=False), lambda d: 2**d, lambda d: 2**d + (d > 2)),
    ):
        with pytest.raises(NotYetError, match="prove nothing"):
            certify(layer, right)
        with pytest.raises(RefutedError, match="difference"):
            certify(layer, wrong)


def test_too_many_instances_are_refused() -> None:
    """Eleven free sizes would be 2**13 instances and more."""
    sizes = ps.dims("a b c d e f g h i j k l m")
    with pytest.raises(NotYetError, match="are the limit"):
        certify(ps.Parameter(sizes), lambda **found: {"weight": tuple(found[s.name] for s in sizes)})


def test_a_build_that_cannot_be_called_or_fails_says_so() -> None:
    """A missing argument before anything is built; an exception with the sizes at which it came."""
    with pytest.raises(ArgumentError, match=r"build\(F=\.\.\., H=\.\.\.\)"):
        certify(ps.Dense(H, F), lambda width: width)
    with pytest.raises(ArgumentError, match="wanted a function of F, H"):
        certify(ps.Dense(H, F), 7)  # type: ignore[arg-type]

    def build(F: int, H: int) -> int:
        if F > 1:
            message = "too wide"
            raise ValueError(message)
        return F * H + F

    with pytest.raises(RefutedError, match="at F=2, H=1, build raised ValueError: too wide") as caught:
        certify(ps.Dense(H, F), build)
    assert isinstance(caught.value.__cause__, ValueError)


def test_groups_share_their_coordinates() -> None:
    """Both channels are multiples of the groups."""
    proof = certify(ps.Conv2d(C, F, 3, groups=G), lambda C, F, G: ps.Conv2d(C, F, 3, groups=G))
    assert str(proof.lattice) == "C = G*c; F = G*f; c, f, G free"
