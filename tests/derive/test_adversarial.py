"""Laws that agree on small sizes and differ on large ones, or at one size: no certificate covers a point where the form is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from amount import cases
from derive.factories import Shapes, skip

import paramsym as ps
from paramsym.errors import NoLawError, NotYetError, StructureError

TABLE = {4242: 1}


def rare_step(w: int = 16) -> Shapes:
    return {"w": (w + w // 10000,)}


def last_step(w: int = 16) -> Shapes:
    return {"w": (w + (w > 2**16),)}


def rounded_when_large(w: int = 16) -> Shapes:
    return {"w": ((w + 63) // 64 * 64 if w > 1000 else w,)}


def one_layer_differs(w: int = 16, n: int = 4) -> Shapes:
    return {f"l.{i}.a": (w if i != 17 else 1,) for i in range(n)}


def deep_ones_are_wide(w: int = 16, n: int = 4) -> Shapes:
    return {f"l.{i}.a": (w if n < 30 else 2 * w,) for i in range(n)}


def far_layers_are_wide(w: int = 16, n: int = 4) -> Shapes:
    return {f"l.{i}.a": (w if i < 200 else 2 * w,) for i in range(n)}


def deep_and_wide(w: int = 16, n: int = 4) -> Shapes:
    return {f"l.{i}.a": (w if n <= 40 or w <= 3000 else 1,) for i in range(n)}


def larger_sum(w: int = 16, v: int = 8) -> Shapes:
    return {"w": (w, v, 3 if w + v > 130_000 else 2)}


def nearly_divisible(w: int = 96) -> Shapes:
    nearest = max(8, (w + 4) // 8 * 8)
    return {"w": (nearest + 8 if nearest < 0.95 * w else nearest,)}


def three_equal_sizes(w: int = 16, v: int = 20, u: int = 24) -> Shapes:
    return {"w": (w, v, u + (w == v == u))}


def at_one_ratio(w: int = 16, v: int = 20) -> Shapes:
    return {"a": (w, v), "b": (1 if w == 3 * v else 2,)}


def one_residue(w: int = 16) -> Shapes:
    return {"w": (w if w % 1000 != 999 else 1,)}


def in_a_table(w: int = 16) -> Shapes:
    return {"w": (TABLE.get(w, w),)}


def large_product(w: int = 16, v: int = 8) -> Shapes:
    return {"w": (w * v if w * v < 5_000_000 else w,)}


def float_ratio(w: int = 16) -> Shapes:
    return {"w": (int(w * 0.29) + 1,)}


def half_to_even(w: int = 16) -> Shapes:
    return {"w": (round(w * 0.5) + 1,)}


def equal_sizes(w: int = 16, v: int = 8) -> Shapes:
    return {"w": (w, v if w != v else 1)}


def far_turns_stop(w: int = 16, n: int = 6, every: int = 2) -> Shapes:
    return {f"l.{i}.{'a' if (i % every == 0 if every < 40 else i == 0) else 'b'}": (w,) for i in range(n)}


WRONG_IF_FOUND = (
    rare_step, last_step, rounded_when_large, one_layer_differs, deep_ones_are_wide, far_layers_are_wide, at_one_ratio, one_residue,
    three_equal_sizes, in_a_table, large_product, float_ratio, half_to_even, far_turns_stop,
    deep_and_wide, larger_sum, nearly_divisible,
)  # fmt: skip


@cases(2)
@pytest.mark.parametrize("build", WRONG_IF_FOUND, ids=lambda build: build.__name__)
def test_no_wrong_formula_is_certified(build: Callable[..., Any]) -> None:
    """Refused, whether the exception is far out or a single point that only the code shows."""
    with pytest.raises((NoLawError, NotYetError)):
        ps.derive(build, seconds=6)


def test_an_exception_where_two_sizes_are_equal_is_left_out() -> None:
    """The form says so, and refuses those sizes."""
    form = ps.derive(equal_sizes)
    assert form.certificate.demands == ("w != v",)
    assert form.at(w=3, v=4).shapes() == equal_sizes(3, 4)


def no_projection(dim: int = 32, heads: int = 4, dim_head: int = 8, depth: int = 2) -> Shapes:
    """As in many vision transformers: one head as wide as the model has no projection out of it."""
    inner, found = heads * dim_head, {}
    for i in range(depth):
        found[f"layers.{i}.qkv"] = (3 * inner, dim)
        if not (heads == 1 and dim_head == dim):
            found[f"layers.{i}.out"] = (dim, inner)
    return found


def test_an_exception_where_two_equalities_meet_is_left_out() -> None:
    """Each equality alone stays inside the form."""
    form = ps.derive(no_projection)
    assert form.certificate.demands == ("heads != 1 or dim != dim_head",)
    for sizes in ((8, 1, 4, 3), (8, 2, 8, 3), (9, 3, 5, 1)):
        assert form.at(**dict(zip(("dim", "heads", "dim_head", "depth"), sizes, strict=True))).shapes() == no_projection(*sizes)
    with pytest.raises(StructureError, match=r"heads != 1 or dim != dim_head; .* heads = 1 and dim = dim_head"):
        form.at(heads=1, dim_head=8, dim=8)


def test_a_refusal_says_which_start_values_are_special() -> None:
    """The defaults are equal, and the build has a projection between different widths only."""
    with pytest.raises(NoLawError, match=r"inside != out: give start values"):
        ps.derive(skip, inside=16, out=16)
    assert ps.derive(skip, inside=16, out=20).certificate.demands == ("inside != out",)


@cases(0)
def test_a_refusal_shows_where_the_law_changes() -> None:
    """The samples contain the size that refuted the law, also if each size alone changes nothing."""
    with pytest.raises(NoLawError, match=r"16 at w=16; .*; \d+ at w=([5-9]\d\d|\d{4,})\."):
        ps.derive(lambda w=16: {"w": (w if w < 500 else w + 3,)})
    with pytest.raises(NoLawError, match=r"2 at w=16, v=8; 3 at w=\d+, v=\d+\."):
        ps.derive(larger_sum)


def test_a_bound_of_the_code_is_a_law() -> None:
    """The twelfth layer begins another kind: a minimum, right on both sides."""

    def build(w: int = 16, n: int = 4) -> Shapes:
        return {f"l.{i}.{'b' if i >= 12 else 'a'}": (w,) for i in range(n)}

    form = ps.derive(build, tests=60)
    assert all(form.at(w=3, n=n).shapes() == build(3, n) for n in (1, 11, 12, 13, 40))


@cases(0)
def test_the_sizes_to_start_from_stay_inside() -> None:
    """No limit of the sizes may leave out the build's own defaults."""

    def build(w: int = 64, s: int = 2) -> Shapes:
        return {"w": (w**s,)} if s < 4 else {"w": (w,)}

    with pytest.raises(NoLawError):
        ps.derive(build)
