"""The conditions that refusals show."""

from __future__ import annotations

import pytest
from derive.factories import Shapes

import paramsym as ps
from paramsym.derive.arguments import Variable
from paramsym.derive.domain import Domain, learnt
from paramsym.errors import DivisibilityError


def test_heads_of_an_even_width() -> None:
    """What is taken has an even width for each head; divisibility by the heads or by 2 alone does not explain what is refused."""
    domain = Domain((Variable("heads", (0,)), Variable("dim", (1,))))
    taken = [{"heads": heads, "dim": 2 * heads * times} for heads in (1, 2, 3, 5) for times in (1, 2)]
    refused = [{"heads": heads, "dim": heads * odd} for heads in (1, 2, 3, 6) for odd in (1, 3)]
    assert [str(demand) for demand in learnt(domain, taken, refused)] == ["2*heads divides dim"]


def test_a_size_at_most_as_large_as_another() -> None:
    """Equal sizes were taken, a larger first one never."""
    domain = Domain((Variable("small", (0,)), Variable("large", (1,))))
    taken = [{"small": small, "large": large} for small, large in ((2, 2), (2, 3), (5, 5), (7, 11))]
    refused = [{"small": small, "large": large} for small, large in ((3, 2), (5, 4), (11, 7))]
    assert [str(demand) for demand in learnt(domain, taken, refused)] == ["small <= large"]


def by_depth(depth: int = 20, widen: int = 2) -> Shapes:
    """A residual network for small images: its depth is 6n + 2."""
    assert (depth - 2) % 6 == 0, "depth should be 6n+2"
    return {f"stage{stage}.{i}.{half}.w": (16 * widen, 2**stage) for stage in range(3) for i in range((depth - 2) // 6) for half in "ab"}


def test_a_depth_with_a_remainder() -> None:
    """None of the depths near the start is accepted, so farther ones are tried."""
    form = ps.derive(by_depth, tests=60)
    assert form.certificate.formulas == ("depth = 6*depth_less_2_per_6 + 2",)
    assert [form.at(depth=depth, widen=1).shapes() == by_depth(depth, 1) for depth in (8, 56, 110)] == [True] * 3
    with pytest.raises(DivisibilityError, match="depth - 2"):
        form.at(depth=21, widen=1)


def language_model(vocab: int = 90, embed: int = 24, hidden: int = 24, tied: bool = False) -> Shapes:
    """Tied weights need equal widths."""
    if tied and embed != hidden:
        message = "with tied weights, hidden must be equal to embed"
        raise ValueError(message)
    return {"embed.w": (vocab, embed), "rnn.w": (4 * hidden, embed)} | ({} if tied else {"out.w": (vocab, hidden)})


def test_a_flag_with_which_two_sizes_must_be_equal() -> None:
    """The choice has its own domain; start values that it does not take are named."""
    form = ps.derive(language_model, tests=60)
    assert (form.certificate.formulas, form.certificate.left_out) == ((), ())
    assert form.stratum(tied=True).certificate.formulas == ("hidden = embed",)
    assert form.stratum(tied=True).at(vocab=7, embed=5).shapes() == language_model(7, 5, 5, tied=True)
    (left_out,) = ps.derive(language_model, hidden=40, tests=60).certificate.left_out
    assert "build fails at the start values (vocab=90, embed=24, hidden=40): ValueError: with tied weights" in left_out


def test_layers_beyond_a_number() -> None:
    """With as few layers as are skipped there is none: these sizes are left out, though they are as usual as the others."""

    def build(layers: int = 4, skipped: int = 2, width: int = 8) -> Shapes:
        return {"embed.w": (width,)} | {f"layers.{i}.w": (width, width) for i in range(layers - skipped)}

    form = ps.derive(build, tests=60)
    assert form.certificate.demands == ("skipped + 1 <= layers",)
    assert form.at(layers=9, skipped=3, width=2).shapes() == build(9, 3, 2)
