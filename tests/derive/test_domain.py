"""The conditions that refusals show."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest
from derive.factories import Shapes

import paramsym as ps
from paramsym.derive.arguments import Variable
from paramsym.derive.domain import Domain, learnt, said_domain
from paramsym.errors import DivisibilityError, SizeError, StructureError


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


def patches(image: int = 224, patch: int = 16, dim: int = 768, heads: int = 12) -> Shapes:
    """A vision transformer: patches that divide the image, heads that divide the width."""
    if image % patch or dim % heads:
        message = "image dimensions must be divisible by the patch size, and dim by heads"
        raise ValueError(message)
    return {"pos": (1, (image // patch) ** 2 + 1, dim), "qkv": (3 * dim, dim)}


STARTS = ((224, 16, 768, 12), (32, 4, 128, 8), (224, 14, 384, 6), (256, 16, 512, 8), (32, 8, 16, 2), (96, 8, 96, 3))


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_a_condition_is_no_stricter_than_the_build(start: tuple[int, ...]) -> None:
    """Whatever the start values have in common: 224 pixels have seven patches of 32, and 518 pixels 37 of 14."""
    names = ("image", "patch", "dim", "heads")
    form = ps.derive(patches, dict(zip(names, start, strict=True)), tests=20)
    assert set(form.certificate.formulas) == {"image = image_per_patch*patch", "dim = dim_per_heads*heads"}
    for sizes in ((224, 32, 768, 12), (518, 14, 384, 6), (21, 7, 15, 5)):
        assert form.at(dict(zip(names, sizes, strict=True))).shapes() == patches(*sizes)


@pytest.mark.parametrize(("size", "wanted"), [(1, None), (2, 1), (3, 2)])
def test_a_size_that_follows_is_one_or_more(size: int, wanted: int | None) -> None:
    """With small = large - 1 there is no layer for large = 1, and there is one for large = 2."""
    domain = said_domain((Variable("large", (0,)), Variable("small", (1,), formula="large - 1")))
    assert domain.numbers({"large": size}) == (None if wanted is None else {"large": size, "small": wanted})


def test_a_limit_in_the_code() -> None:
    """The build refuses sizes far from the start values, and one size alone; its code has the numbers."""

    def build(width: int = 16, rank: int = 4) -> Shapes:
        assert width <= 5000
        assert width != 40
        return {"w": (width, rank)}

    form = ps.derive(build, tests=60)
    assert set(form.certificate.demands) == {"width <= 5000", "width != 40"}
    assert form.at(width=5000, rank=3).shapes() == build(5000, 3)
    for width in (5001, 40):
        with pytest.raises(StructureError, match="width"):
            form.at(width=width)


def test_sizes_for_which_there_is_no_room() -> None:
    """A machine without memory says nothing of the sizes that a build takes."""

    def build(width: int = 16) -> Shapes:
        if width > 5000:
            raise MemoryError
        return {"w": (width,)}

    assert ps.derive(build, tests=60).certificate.demands == ()


def test_a_build_that_fails_where_groups_do_not_divide() -> None:
    """The errors of a framework at sizes that are tried are sizes outside of the domain: DCGAN with groups in its convolutions."""

    def dcgan(groups: int, latent: int = 100, width: int = 64, channels: int = 3) -> Shapes:
        for inside, out in ((8 * width, 4 * width), (width, channels)):
            if inside % groups or out % groups:
                message = "in_channels must be divisible by groups"
                raise ValueError(message)
        return {
            "first": (latent, 8 * width, 4, 4),
            "next": (8 * width, 4 * width // groups, 4, 4),
            "last": (width, channels // groups, 4, 4),
        }

    form = ps.derive(dcgan, tests=60)
    assert set(form.certificate.formulas) == {"width = groups*width_per_groups", "channels = channels_per_groups*groups"}
    for sizes in ((1, 100, 64, 3), (3, 7, 6, 9), (5, 10, 5, 5)):
        assert form.at(dict(zip(("groups", "latent", "width", "channels"), sizes, strict=True))).shapes() == dcgan(*sizes)


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
    tied = form.stratum(tied=True)
    assert tied.at(vocab=7, embed=5, hidden=5).shapes() == language_model(7, 5, 5, tied=True)
    with pytest.raises(StructureError, match=r"hidden is 6 \(int\); the form holds for hidden = embed, which is 5"):
        tied.at(vocab=7, embed=5, hidden=6)
    (left_out,) = ps.derive(language_model, hidden=40, tests=60).certificate.left_out
    assert "build fails at the start values (vocab=90, embed=24, hidden=40): ValueError: with tied weights" in left_out


def test_layers_beyond_a_number() -> None:
    """With as few layers as are skipped there is none: these sizes are left out, though they are as usual as the others."""

    def build(layers: int = 4, skipped: int = 2, width: int = 8) -> Shapes:
        return {"embed.w": (width,)} | {f"layers.{i}.w": (width, width) for i in range(layers - skipped)}

    form = ps.derive(build, tests=60)
    assert form.certificate.demands == ("skipped + 1 <= layers",)
    assert form.at(layers=9, skipped=3, width=2).shapes() == build(9, 3, 2)


def windows(image: int = 56, patch: int = 4, window: int = 7, dim: int = 24, heads: int = 3) -> Shapes:
    """A Swin transformer: the image is a whole number of windows of patches."""
    assert image % (patch * window) == 0
    assert dim % heads == 0
    return {"windows": (dim, (image // patch // window) ** 2), "bias": ((2 * window - 1) ** 2, heads)}


def grouped(groups: int, latent: int, width: int, channels: int) -> Shapes:
    """DCGAN without defaults: the groups divide four times its width."""
    if any(size % groups for size in (latent, 8 * width, 4 * width)):
        message = "in_channels must be divisible by groups"
        raise ValueError(message)
    return {"first": (latent, 8 * width // groups), "next": (8 * width, 4 * width // groups), "last": (channels, 4 * width)}


def resized(image: int = 33, patch: int = 4) -> Shapes:
    """Positions at both ends of an image: all but one are in patches."""
    assert (image - 1) % patch == 0
    return {"positions": ((image - 1) // patch, patch)}


def split(width: int = 24, heads: int = 4, head: int = 6) -> Shapes:
    """Heads that are stated with their size."""
    assert width == heads * head
    return {"q": (heads * head, width)}


def rotary(dim: int = 64, heads: int = 8, rope: int = 4) -> Shapes:
    """Part of each head is turned."""
    assert dim % heads == 0
    assert rope <= dim // heads
    return {"turned": (rope, dim), "rest": (dim // heads - rope + 1, dim)}


def low_rank(width: int = 32, rank: int = 2) -> Shapes:
    """A rank that is small beside the width."""
    assert 8 * rank <= width
    return {"down": (width, rank)}


@pytest.mark.parametrize(
    ("build", "limits", "inside"),
    [
        (windows, "image = image_per_patch_window*patch*window, dim = dim_per_heads*heads", ((224, 4, 7, 96, 3), (15, 3, 5, 5, 5))),
        (grouped, "latent = groups*latent_per_groups, width = 1/4*groups*width_times_4_per_groups", ((8, 16, 2, 3), (12, 24, 9, 5))),
        (resized, "image = image_less_1_per_patch*patch + 1", ((513, 16), (8, 7))),
        (split, "width = head*heads", ((24, 3, 8), (7, 7, 1))),
        (rotary, "dim = dim_per_heads*heads, heads*rope <= dim", ((320, 4, 80), (7, 7, 1))),
        (low_rank, "8*rank <= width", ((8, 1), (9000, 1000))),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_products_and_multiples(build: Callable[..., Shapes], limits: str, inside: tuple[tuple[int, ...], ...]) -> None:
    """Two sizes together, a multiple of one, or all but one; no limit is taken from the sizes that were tried."""
    form = ps.derive(build, tests=20)
    assert ", ".join((*form.certificate.formulas, *form.certificate.demands)) == limits
    for sizes in inside:
        assert form.at(dict(zip(inspect.signature(build).parameters, sizes, strict=True))).shapes() == build(*sizes)


def test_a_condition_of_an_unknown_kind_is_not_guessed() -> None:
    """The heads have an even width, rounded down: no limit of one size explains that, and the form refuses what is not whole."""

    def build(dim: int = 64, heads: int = 8) -> Shapes:
        assert dim // heads >= 2
        assert dim // heads % 2 == 0
        return {"q": (dim, dim), "rotary": (dim // heads // 2,)}

    form = ps.derive(build, tests=20)
    for sizes in ((28, 7), (15, 7), (2, 1), (768, 12)):
        assert form.at(dim=sizes[0], heads=sizes[1]).shapes() == build(*sizes)
    words = r"build: the form does not hold for dim = 24, heads = 8: shape\[0\] is 3/2, not a whole number\."
    with pytest.raises(SizeError, match=words):
        form.at(dim=24, heads=8)
