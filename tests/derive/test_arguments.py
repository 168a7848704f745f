"""What is said of the arguments of a build: by position, by annotation, in a namespace; and what is wrong about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

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
