"""``derive``: closed forms of builds as users write them, against the builds themselves at sizes that the search did not choose."""

from __future__ import annotations

import functools
import inspect
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from amount import cases
from derive import factories
from derive.factories import REFUSED, RIGHT, Shapes

import paramsym as ps
from paramsym.errors import ArgumentError, NoLawError, NotYetError, ParamsymError, StructureError

CHANCE = 20261122  # not the seed of the search


def name_of(build: Callable[..., Any]) -> str:
    """Name a build in a test's id."""
    return build.__name__


def called(build: Callable[..., Shapes], sizes: dict[str, int]) -> Shapes:
    """Call a build with sizes by name; entries of lists are put together, and a configuration is made."""
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(build).parameters.items():
        if isinstance(parameter.default, tuple):
            given[name] = tuple(sizes[f"{name}_{i}"] for i in range(len(parameter.default)))
        elif name == "config":
            given[name] = factories.GptConfig(**sizes)
        elif name in sizes:
            given[name] = sizes[name]
    return build(**given)


def points(names: list[str], copies: set[str], number: int) -> Iterator[dict[str, int]]:
    """Yield random sizes, small ones and large ones; those that count copies stay small."""
    chance = random.Random(CHANCE)
    for position in range(number):
        largest = (12, 100, 5000)[position % 3]
        sizes = {name: chance.randint(1, 14 if name in copies else largest) for name in names}
        for name in names:  # some sizes divide others, as heads do
            if chance.random() < 0.5 and name not in copies:
                sizes[name] *= sizes[chance.choice(names)] * chance.choice((1, 32))
        yield sizes


COPIES = {
    "depth", "layers", "n_layer", "steps", "levels", "side", "dense", "experts", "n", "depths_0", "depths_1", "depths_2",
}  # fmt: skip


@cases(3)
@pytest.mark.parametrize("build", RIGHT, ids=name_of)
def test_the_form_is_the_build(build: Callable[..., Shapes]) -> None:
    """Wherever the build takes sizes, the form gives its tensors or refuses; it refuses little of what is ordinary."""
    form = ps.derive(build, tests=40)
    names = [name for name, _ in form.sizes_taken]
    agreed = refused = 0
    for sizes in points(names, COPIES, 1500):
        try:
            wanted = called(build, sizes)
        except (ValueError, AssertionError):
            continue
        try:
            sized = form.at({name: value for name, value in sizes.items() if any(s.name == name for s in form.symbols)})
        except ParamsymError:
            refused += 1
            continue
        assert sized.shapes() == wanted, sizes
        agreed += 1
        if agreed == 12:
            break
    assert agreed >= 5, (agreed, refused)


@cases(3)
@pytest.mark.parametrize("build", REFUSED, ids=name_of)
def test_what_has_no_law_is_refused(build: Callable[..., Shapes]) -> None:
    """A square root, a threshold, chance: no formula, and the tensor with its samples, or what it is that changes."""
    with pytest.raises(NoLawError, match=r"no law explains|two different results|stored only at some sizes|refuted the laws"):
        ps.derive(build)


def test_a_certificate_says_what_was_proved_and_what_was_tested() -> None:
    """A polynomial is proved under a degree bound; a floor is tested only; both say on what."""
    proved = ps.derive(factories.mixer).certificate
    assert (proved.degree, proved.stepping) == (2, ())
    assert list(proved.versions) == ["paramsym", "sympy", "python"]
    assert [row[0] for row in proved.table().rows][-2:] == ["built", "versions"]
    assert proved.fresh >= 200  # more where a law was found anew on the way
    assert proved.lattice == 21  # binomial(5 + 2, 2): the principal lattice of order 2 in five coordinates
    assert "all tensors, for every size in the domain" in str(proved)
    assert proved.magnitudes["dim"][1] > 2**14
    tested = ps.derive(factories.vit_floor).certificate
    assert tested.stepping == ("pos",)
    assert "tested only" in str(tested)
    assert "all tensors but 1" in tested.proved
    assert [row[0] for row in tested.table().rows][:3] == ["holds with", "domain", "tensors"]


def test_divisibility_is_found_and_can_be_said() -> None:
    """From the errors of the build, or from what is said; both give one formula with an exact quotient."""
    found = ps.derive(factories.llama, tests=40)
    assert (("divides", ps.dims("heads"), ps.dims("hidden"), "heads", "hidden"),) in found.demands
    said = ps.derive(factories.llama, heads="kv_heads*g", hidden="heads*d", tests=40)
    assert said.certificate.refused == 0
    assert said.params == found.params
    assert said.shapes() == found.shapes()
    with pytest.raises(ParamsymError, match="llama: hidden 100 is not divisible by heads 7"):
        said.at(hidden=100, heads=7, kv_heads=7)


def test_flags_are_strata() -> None:
    """Each choice has its own form and certificate; a choice that is no argument is refused."""
    form = ps.derive(factories.min_gpt, factories_config := {"config": factories.GptConfig()}, tests=40)
    assert is_dataclass(factories_config["config"])
    assert {one.certificate.stratum["bias"] for one in form.strata} == {True, False}
    without = form.stratum(bias=False)
    sizes = {"n_layer": 3, "n_head": 2, "n_embd": 16, "vocab_size": 50, "block_size": 8}
    assert without.at(sizes | {}).shapes() == factories.min_gpt(factories.GptConfig(**sizes, bias=False))
    assert form.at(sizes).shapes() == factories.min_gpt(factories.GptConfig(**sizes))
    assert {field.name for field in fields(factories.GptConfig)} == {*sizes, "bias"}
    with pytest.raises(StructureError, match="no form was derived for bias='maybe'"):
        form.stratum(bias="maybe")


def test_words_are_strata_where_they_are_given() -> None:
    """Two words, two forms; a word that is a default alone is held."""

    def build(width: int = 8, kind: str = "plain") -> Shapes:
        return {"w": (width,)} | ({"gate": (width, width)} if kind == "gated" else {})

    assert ps.derive(build).certificate.held == {"kind": "plain"}
    form = ps.derive(build, kind=("plain", "gated"))
    assert str(form.stratum(kind="gated").params) == "width**2 + width"


def test_a_size_that_chooses_is_held() -> None:
    """Three kinds in turn have no law here: the refusal says how to hold the period, and holding it gives the form for that value."""

    def build(width: int = 8, layers: int = 6, every: int = 3) -> Shapes:
        kinds = {0: "wide", 1: "narrow"}
        return {f"l.{i}.{kinds.get(i % every, 'other')}": (width, 2) for i in range(layers)}

    with pytest.raises(NoLawError, match=r"If layers or every is a choice and not a size, hold it"):
        ps.derive(build)
    form = ps.derive(build, held={"every": 3})
    assert form.at(width=5, layers=7).shapes() == build(5, 7, 3)
    assert form.certificate.held == {"every": 3}


def test_a_form_is_an_ordinary_layer() -> None:
    """Formula, table, explanation and LaTeX; sizes outside its domain are refused."""
    form = ps.derive(factories.skip)
    sized = form.at(inside=8, out=16, classes=4)
    assert (sized.count, str(sized.formula)) == (sum(a[0] * (a[1] if a[1:] else 1) * 9 ** (len(a) == 4 and a[2] == 3)
        for a in factories.skip(8, 16, 4).values()), "classes*out + classes + 10*inside*out + 2*out")  # fmt: skip
    assert "shortcut.weight" in str(form.table())
    assert ps.explain(form, "classes").derivative is not None
    assert "\\text" in form.to_latex() or "inside" in form.to_latex()
    with pytest.raises(StructureError, match="inside and out differ; both are 8"):
        form.at(inside=8, out=8, classes=4)
    with pytest.raises(ParamsymError, match="at most"):
        ps.derive(factories.gan, tests=40).at(steps=1)


def test_counts_have_closed_forms() -> None:
    """The same search on a function that gives a whole number: FLOPs of a block over batch and length."""

    def flops(batch: int = 2, length: int = 5, width: int = 8, layers: int = 3) -> int:
        total = 0
        for _ in range(layers):
            total += 2 * batch * length * width * 3 * width + 2 * 2 * batch * length**2 * width + 16 * batch * length * width**2
        return total

    count = ps.derive(flops)
    assert str(count.formula) == "4*batch*layers*length**2*width + 22*batch*layers*length*width**2"
    assert count.at(batch=3, length=7, width=16, layers=2) == flops(3, 7, 16, 2)
    assert count.certificate.degree == 5
    with pytest.raises(ArgumentError, match="no size 'heads'"):
        count.at(heads=3)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: {"w": (1,)}, "takes no size"),
        ("mlp", "wanted a function"),
        (lambda _width=8: 1 / 0, "build fails at the start values"),
        (lambda _width=8: {}, "returned no tensor"),
        (lambda _width=8: "shapes", "wanted a module"),
        (lambda width=8: 1.5 * width, "wanted a module"),
        (lambda _width=8: None, "wanted a module"),
        (lambda width=8: [("w", (width,))], "no tensors"),
    ],
    ids=["nothing", "word", "failing", "empty", "words", "float", "none", "list"],
)
def test_what_is_no_build_is_refused(build: Any, words: str) -> None:
    """In words of this library."""
    with pytest.raises(ArgumentError, match=words):
        ps.derive(build)


def test_arguments_that_the_build_does_not_take_are_refused() -> None:
    """The message lists those it takes; formulas that depend on each other are refused as well."""
    with pytest.raises(ArgumentError, match="no argument 'widht'; it takes inputs, width, depth, classes"):
        ps.derive(factories.mlp, widht=3)
    with pytest.raises(ArgumentError, match="depend on each other"):
        ps.derive(factories.llama, hidden="heads*d", heads="hidden*g")
    with pytest.raises(ArgumentError, match="is not a polynomial"):
        ps.derive(factories.mlp, width="depth//2")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"held": 3}, "held is 3"),
        ({"held": {3: 4}}, "held is {3: 4}"),
        ({"seconds": "long"}, "seconds is 'long'"),
        ({"tests": 0.5}, "tests is 0.5 .* wanted a whole number"),
        ({"tests": -1}, "tests is -1"),
        ({"tests": 10**30}, "wanted a whole number from 0 to 1,000,000,000"),
    ],
    ids=str,
)
def test_what_says_nothing_of_a_search_is_refused(said: dict[str, Any], words: str) -> None:
    """Neither names nor limits."""
    with pytest.raises(ArgumentError, match=words):
        ps.derive(factories.mlp, **said)


def test_a_symbol_stands_for_the_argument_of_its_name() -> None:
    """In the mapping of sizes and in what is held."""
    form = ps.derive(lambda H, F: {"weight": (F, H)}, {ps.H: 4, "F": 3})
    assert form.params == ps.F * ps.H
    assert ps.derive(lambda H, F: {"weight": (F, H)}, {"H": 4}, held={ps.F: 3}).params == 3 * ps.H


def test_a_search_ends_when_its_time_does() -> None:
    """What was found so far is said."""
    with pytest.raises(NotYetError, match=r"ran out of time after .* builds"):
        ps.derive(factories.mlp, seconds=0.01)


def test_a_search_can_be_interrupted() -> None:
    """An interruption is an answer, too: how far the search came."""
    calls = iter(range(1000))

    def build(width: int = 8) -> Shapes:
        if next(calls) > 30:
            raise KeyboardInterrupt
        return {"w": (width,)}

    with pytest.raises(NotYetError, match="was interrupted after"):
        ps.derive(build)


def test_progress_is_told() -> None:
    """Stage by stage, with the flags of the stratum."""
    said: list[str] = []
    ps.derive(factories.min_gpt, config=factories.GptConfig(), tests=40, progress=said.append)
    assert {"bias=True: points", "bias=True: laws", "bias=True: proof", "bias=False: laws"} <= set(said)


@cases(0)
def test_two_searches_are_one() -> None:
    """The points are the same every time, and so are form and certificate, also if the machine pauses in one of them."""
    calls = iter(range(1_000_000))

    def build(start: int = 16, growth: int = 8, layers: int = 4) -> Shapes:
        time.sleep(0.7 if next(calls) == 15 else 0)
        return factories.dense_net(start, growth, layers)

    one, other = (ps.derive(build, tests=40) for _ in range(2))
    assert one == other
    assert one.certificate == other.certificate


def _interleaved(base: int = 8, depth: int = 3) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for place, level in enumerate(reversed(range(depth))):
        found[f"ups.{2 * place}.weight"] = (base * 2 ** (level + 1), base * 2**level)
        found[f"ups.{2 * place + 1}.conv.weight"] = (base * 2**level, base * (place + 2))
    return found


def _three_kinds(n: int = 4, width: int = 8) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for i in range(n):
        found |= {f"b.{3 * i}.w": (width * (i + 1), 3), f"b.{3 * i + 1}.v": (width + 2 * i,), f"b.{3 * i + 2}.u": (width * 2 ** (n - i),)}
    return found


@cases(1)
@pytest.mark.parametrize("build", [_interleaved, _three_kinds])
def test_layers_of_several_kinds_in_one_list(build: Any) -> None:
    """A list of a transposed convolution, a block, a transposed convolution and so on, as in many a U-Net, whose sizes double."""
    form = ps.derive(build, tests=60)
    for values in ((5, 2), (3, 6), (16, 7)):
        sizes = dict(zip(build.__annotations__, values if build is _interleaved else values[::-1], strict=False))
        assert form.at(sizes).shapes() == build(**sizes)
        assert [*form.at(sizes).shapes()] == [*build(**sizes)]


def test_a_count_without_a_closed_form_is_refused() -> None:
    """Each axis follows a law, but the sum of six to the half of an index does not."""

    def build(n: int = 4) -> dict[str, tuple[int, ...]]:
        return {f"b.{2 * i}.w": (2**i, 3**i) for i in range(n)} | {f"b.{2 * i + 1}.v": (2,) for i in range(n)}

    with pytest.raises(NoLawError, match="every size follows a law"):
        ps.derive(build, tests=40)


def test_a_width_with_a_quotient_and_a_least_value() -> None:
    """The narrow layer of a squeeze and excitation has a sixteenth of the channels, and at least 8."""
    form = ps.derive(lambda width=64: {"weight": (max(8, width // 16), width)}, tests=20)
    assert [form.at(width=width).count for width in (1, 127, 144, 160)] == [8, 8 * 127, 9 * 144, 10 * 160]


def test_a_limit_between_two_sizes() -> None:
    """Where the first size is not the smaller one, the build stores other tensors."""
    form = ps.derive(lambda small=4, large=9: {"w": (small, large)} if small < large else {"v": (large, large, small)}, tests=20)
    assert "small + 1 <= large" in str(form.certificate)
    assert form.at(small=4, large=5).count == 20


def test_sizes_in_lists_of_lists() -> None:
    """Each number of a default is a size, named by its place; a size that follows from another one is none of its own."""
    nested = ps.derive(lambda widths=((4, 6), (5,)): {"a": widths[0], "b": widths[1]}, tests=10)
    assert str(nested.params) == "widths_0_0*widths_0_1 + widths_1_0"
    following = ps.derive(lambda width=8, hidden=32: {"a": (width, hidden)}, hidden="4*width", tests=10)
    assert [name for name, _ in following.sizes_taken] == ["width"]


def _slow(build: Callable[..., Shapes], seconds: float) -> Callable[..., Shapes]:
    @functools.wraps(build)
    def slow(**sizes: int) -> Shapes:
        time.sleep(seconds)
        return build(**sizes)

    return slow


def _narrow_first(width: int = 4, depth: int = 2) -> Shapes:
    return {f"layers.{i}.kernel": (4 if i == 0 else width, width) for i in range(depth)} | {"norm": (width,)}


def _kernels(channels: int = 16, kernel: int = 3, classes: int = 10) -> Shapes:
    return {"a": (channels, 3, kernel, kernel), "b": (2 * channels, channels, kernel, kernel), "head": (classes, 2 * channels)}


@cases(0)
@pytest.mark.parametrize(("build", "builds"), [(_narrow_first, 22), (_kernels, 32)])
def test_few_builds_decide(build: Callable[..., Shapes], builds: int) -> None:
    """If the time is enough for eighty builds, most of them test laws that the first ones have found and proved."""
    form = ps.derive(_slow(build, 0.03), seconds=2.4)
    assert form.certificate.fresh >= 12
    assert form.certificate.built - form.certificate.fresh <= builds
    assert form.certificate.proved.startswith("all tensors, ")
    for values in ((5, 7, 2), (90, 1, 3), (3, 12, 8)):
        sizes = dict(zip((name for name, _ in form.sizes_taken), values, strict=False))
        assert form.at(sizes).shapes() == build(**sizes)


@cases(0)
def test_the_time_also_ends_among_laws() -> None:
    """A count in many sizes without a law: the search ends in its time, though no build is slow."""

    def build(a: int = 6, b: int = 8, c: int = 12, d: int = 16, e: int = 24) -> int:
        return (a * b + c * d if a * c < 200 else a * d) * (e + b) + max(1, e // 4) * a

    began = time.monotonic()
    with pytest.raises((NoLawError, NotYetError)):
        ps.derive(build, seconds=2)
    assert time.monotonic() - began < 4
