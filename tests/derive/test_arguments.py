"""What is said of the arguments of a build: by position, by annotation, in a namespace; and what is wrong about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, H
from paramsym.errors import ArgumentError, StructureError


def test_a_namespace_is_a_configuration() -> None:
    """Its fields are the sizes, lists of numbers one size each."""

    def build(config: Any) -> dict[str, tuple[int, ...]]:
        return {"weight": (config.width, config.inner[0]), "bias": (config.inner[1],)}

    form = ps.derive(build, {"config": SimpleNamespace(width=4, inner=[3, 5])}, tests=40)
    assert form.at(width=7, inner_0=2, inner_1=9).count == 7 * 2 + 9


@dataclass
class Sizes:
    """A configuration with a default, a factory and a field that is computed."""

    width: int = 4
    inner: int = field(default_factory=lambda: 3)
    both: int = field(init=False, default=0)


def test_a_dataclass_is_a_configuration() -> None:
    """As an instance or a class, by the name of the argument or alone."""
    for sizes in ({"config": Sizes()}, {"config": Sizes}, Sizes(), Sizes):
        form = ps.derive(lambda config, more=5: {"weight": (config.width, config.inner, more)}, sizes, tests=40)
        assert form.at(width=7, inner=2, more=1).count == 14
    with pytest.raises(ArgumentError, match="build takes no argument"):
        ps.derive(lambda: 3, Sizes)
    with pytest.raises(ArgumentError, match="build is 3"):
        ps.derive(3, Sizes)  # type: ignore[arg-type]


def test_a_form_has_the_name_of_its_build() -> None:
    """In tables and errors."""

    def net(width: int = 4) -> dict[str, tuple[int, ...]]:
        return {"weight": (width, width)}

    assert str(ps.derive(net, tests=40).table()).startswith("net: width**2 parameters")
    assert str(ps.derive(lambda width=4: net(width), tests=40).table()).startswith("Derived: width**2 parameters")


def test_annotations_without_defaults() -> None:
    """A whole number starts somewhere, a truth value is chosen, and of anything else a value is asked for."""

    def build(width: int, bias: bool) -> dict[str, tuple[int, ...]]:
        return {"weight": (width, width)} | ({"bias": (width,)} if bias else {})

    assert ps.derive(build, tests=40).at(width=7).count == 56
    with pytest.raises(ArgumentError, match="the argument 'table' has no default"):
        ps.derive(_with_table, tests=40)
    with pytest.raises(ArgumentError, match="by position only; wrap it"):
        ps.derive(_by_position, tests=40)


def _with_table(table: dict[str, int]) -> dict[str, tuple[int, ...]]:
    return {"weight": tuple(table.values())}


def _by_position(width: int, /) -> dict[str, tuple[int, ...]]:
    return {"weight": (width,)}


def test_letters_that_contradict_the_layer() -> None:
    """Each with one clear error."""
    layer = ps.Dense(12, 24)
    for letters, message in (({12: H, 24: H}, "one letter is one number"), ({12: H, 24: 3 * H}, "is 36 and not 24")):
        with pytest.raises(StructureError, match=message):
            ps.generalise(layer, letters)  # type: ignore[arg-type]
    for letters, message in (({12: 5}, "wanted a number and a symbol"), ({24: 2 * A}, "has no number; give one")):
        with pytest.raises(ArgumentError, match=message):
            ps.generalise(layer, letters)  # type: ignore[arg-type]
    for name in ("A B", "4", "lambda"):
        with pytest.raises(ArgumentError):
            ps.generalise(layer, {12: name})
    assert ps.generalise(layer, {12: "H", 24: "mine"}) == ps.Dense(H, ps.dims("mine"))  # names instead of symbols
    assert ps.generalise(ps.Dense(12, 24, bias=False), {12: "H"}) == ps.Dense(H, 24, bias=False)
    with pytest.raises(ArgumentError, match="letters are a mapping"):
        ps.generalise(layer, 12)  # type: ignore[arg-type]


@pytest.mark.parametrize("sizes", [range(0), range(-3, 4), range(1, 10**30)])
def test_a_range_without_sizes_is_refused(sizes: range) -> None:
    """An empty range, negative numbers, and numbers that are no axis."""
    with pytest.raises(ArgumentError, match=rf"^n is {re.escape(repr(sizes))}; wanted a range with at least one size, from 0 to"):
        ps.derive(lambda n: {"w": (n, 3)}, n=sizes)


@pytest.mark.parametrize("sizes", [range(9, 1, -2), range(1, 10**12)])
def test_a_range_is_never_written_out(sizes: range) -> None:
    """A range may go down, and may have very many numbers."""
    assert ps.derive(lambda n: {"w": (n, 3)}, n=sizes).params == 3 * ps.dims("n")


def test_a_number_with_two_meanings() -> None:
    """Each meaning has a letter of its own."""
    layer = ps.Conv1d(3, 3, 3, bias=False)
    general = ps.generalise(layer, {("kernel", 3): "K", ("width", 3): "C"})
    assert str(general.params) == "C**2*K"
    assert general.at(K=3, C=3) == layer.at({})


def heads(dim: int = 16, names: tuple[str, ...] = ("a", "b", "c"), on: Any = [True, False, True]) -> dict[str, tuple[int, ...]]:  # noqa: B006
    return {f"heads.{name}.weight": (dim, dim) for name in names} | {f"gates.{i}": (dim,) for i, gate in enumerate(on) if gate}


def test_a_list_of_words_is_held() -> None:
    """As its author wrote it, flags too; another list may be given, and lists to try are several lists."""
    form = ps.derive(heads, tests=20)
    assert form.certificate.held == {"names": ("a", "b", "c"), "on": [True, False, True]}
    assert form.at(dim=16).shapes() == heads()
    assert ps.derive(heads, names=("x",), tests=20).at(dim=3).shapes() == heads(3, ("x",))
    several = ps.derive(heads, names=[("x",), ("y", "z")], tests=20)
    for names in (("x",), ("y", "z")):
        assert several.stratum(names=names).at(dim=3).shapes() == heads(3, names)


def test_words_to_try_are_given_by_name() -> None:
    """For a word, a flag or None."""

    def build(dim: int = 16, act: str | None = None) -> dict[str, tuple[int, ...]]:
        return {"w": (dim,)} | ({"gate": (dim, dim)} if act == "glu" else {})

    assert ps.derive(build, tests=20).certificate.held == {"act": None}
    form = ps.derive(build, act=(None, "glu"), tests=20)
    assert [form.stratum(act=act).at(dim=3).shapes() for act in (None, "glu")] == [build(3), build(3, "glu")]


def test_a_list_with_words_and_sizes() -> None:
    """Each whole number is a size, as the channels of VGG; the words stay."""

    def build(layers: tuple[int | str, ...] = (64, "M", 128, "M")) -> dict[str, tuple[int, ...]]:
        return {f"{place}.w": (width, 3) for place, width in enumerate(layers) if isinstance(width, int)}

    assert ps.derive(build, tests=20).at(layers_0=5, layers_2=7).shapes() == build((5, "M", 7, "M"))


def classifier(dim: int = 16, classes: int = 0, extra: int = 0, bias: bool = True) -> dict[str, tuple[int, ...]]:
    found = {"pos": (1 + extra, dim)} | ({"bias": (dim,)} if bias else {})
    return found | ({"head.weight": (classes, dim)} if classes else {})


def test_a_size_that_is_off() -> None:
    """The default 0 is a form of its own, for every choice of flags; the size is one from 1 on."""
    form = ps.derive(classifier, tests=20)
    for sizes in ({}, {"classes": 0}, {"extra": 0}, {"classes": 0, "extra": 0}):
        for bias in (True, False):
            given = {"dim": 5, "classes": 3, "extra": 2} | sizes
            assert form.stratum(bias=bias).at(given).shapes() == classifier(**given, bias=bias)
    assert form.at(dim=5, classes=3, extra=2).at(classes=0).shapes() == classifier(5, 0, 2)
    assert ps.derive(lambda n=0: {"w": (n + 1,)}, tests=20).at(n=0).shapes() == {"w": (1,)}
    assert ps.derive(lambda n=0: n + 3 if n else 1, tests=20).at(n=0) == 1
    with pytest.raises(StructureError, match=r"classifier: the form holds for sizes from 1 on, not for dim=0\. .* held={'dim': 0}"):
        form.at(dim=0)


def test_a_number_that_is_no_size() -> None:
    """A negative default is held: it means something else than a size."""

    def build(dim: int = 16, last: int = -1) -> dict[str, tuple[int, ...]]:
        return {"w": (dim, 3 if last < 0 else last)}

    assert ps.derive(build, tests=20).certificate.held == {"last": -1}


@cases(0)
def test_a_configuration_with_many_flags() -> None:
    """Not all choices are listed: there are 2**40."""

    def build(config: Any) -> dict[str, tuple[int, ...]]:
        return {"w": (config.width, 2 if config.flag_3 else 1)}

    form = ps.derive(build, SimpleNamespace(width=8, **{f"flag_{i}": False for i in range(40)}), tests=20)
    assert form.stratum(flag_3=True).at(width=5).count == 10
    assert form.certificate.left_out == (f"{2**40 - 16:,} more choices of flags",)


def test_a_count_has_a_domain() -> None:
    """Conditions that the build has, and sizes that a user mistypes."""

    def build(width: int = 8, heads: int = 2) -> int:
        assert width % heads == 0
        return width // heads

    count = ps.derive(build, tests=20)
    assert count.at(width=12, heads=3) == 4
    for sizes in ({"width": 9, "heads": 2}, {"width": -4}, {"width": 2.5}):
        with pytest.raises(ps.errors.ParamsymError):
            count.at(**sizes)  # type: ignore[arg-type]
