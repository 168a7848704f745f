"""Configurations of every kind that builds take, against the builds themselves."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from amount import cases
from derive.factories import Shapes

import paramsym as ps
from paramsym.errors import ArgumentError


class Computed:
    """A constructor that computes an attribute."""

    def __init__(self, width: int = 8, depth: int = 2, act: str = "relu") -> None:
        """Set the attributes."""
        self.width, self.depth, self.act, self.inner = width, depth, act, 4 * width


class Anything:
    """A constructor that takes any setting, as that of minGPT."""

    inner = 24

    def __init__(self, depth: int, **others: Any) -> None:
        """Set the attributes."""
        self.depth = depth
        for name, value in others.items():
            setattr(self, name, value)


class Attributes:
    """Settings in the class itself."""

    width = 8
    depth = 2
    inner = 24
    names = ("a", "b")


class Row(NamedTuple):
    """A named tuple."""

    width: int = 8
    depth: int = 2
    inner: int = 24


def stack(config: Any) -> Shapes:
    return {f"l.{i}.w": (config.inner, config.width) for i in range(config.depth)}


SETTINGS = {"width": 8, "depth": 2, "inner": 24}
CONFIGURATIONS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "class with a constructor": (Computed, Computed),
    "its instance": (Computed(), Computed),
    "changed instance": (Anything(2, width=8), SimpleNamespace),
    "class with attributes": (Attributes, SimpleNamespace),
    "its instance, too": (Attributes(), SimpleNamespace),
    "named tuple": (Row(), Row),
    "class of named tuples": (Row, Row),
    "namespace of argparse": (argparse.Namespace(**SETTINGS), argparse.Namespace),
    "simple namespace": (SimpleNamespace(**SETTINGS), SimpleNamespace),
}


@cases(3)
@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_a_configuration_is_read_field_by_field(kind: str) -> None:
    """Alone, by the name of the argument, and as its default; an attribute that the constructor computes is no size of its own."""
    config, make = CONFIGURATIONS[kind]
    sizes = {"width": 5, "depth": 3} | ({} if make is Computed else {"inner": 7})

    def by_default(config: Any = config) -> Shapes:
        return stack(config)

    builds = [(stack, config), (stack, {"config": config})] + (
        [] if any(config is cls for cls in (Computed, Row)) else [(by_default, None)]
    )
    for build, stated in builds:
        assert ps.derive(build, stated, tests=20).at(**sizes).shapes() == stack(make(**sizes))


def test_a_dictionary_of_settings() -> None:
    """By the name of the argument or as its default, dictionaries in it too; words and lists of words are not changed."""

    def build(settings: Any) -> Shapes:
        assert settings["act"] == "relu"
        return {f"{name}.w": (settings["text"]["width"], settings["vision"]["width"]) for name in settings["names"]}

    settings = {"text": {"width": 4}, "vision": {"width": 6}, "act": "relu", "names": ["q", "k"]}
    for form in (ps.derive(build, settings=settings, tests=20), ps.derive(lambda s=settings: build(s), tests=20)):
        assert form.at(text_width=3, vision_width=5).shapes() == {"q.w": (3, 5), "k.w": (3, 5)}
    assert settings["text"] == {"width": 4}
    with pytest.raises(ArgumentError, match=r"no argument 'width'; it takes config. .* derive\(build, config={\.\.\.}\)"):
        ps.derive(stack, SETTINGS)


def test_an_optional_configuration() -> None:
    """None is held beside other sizes, and is what the annotation says if there is no size without it."""

    def alone(config: Computed | None = None) -> Shapes:
        return stack(config or Computed())

    def beside(width: int = 3, config: Computed | None = None, hidden: int | None = None) -> Shapes:
        return {"w": (width, hidden or width)} | ({} if config is None else stack(config))

    assert ps.derive(alone, tests=20).at(width=5, depth=3).shapes() == stack(Computed(5, 3))
    assert ps.derive(beside, tests=20).at(width=5).shapes() == beside(5)
    form = ps.derive(beside, config=Computed(), hidden=4, tests=20)
    assert form.at(width=5, config_width=6, depth=1, hidden=2).shapes() == beside(5, Computed(6, 1), 2)
    with pytest.raises(ArgumentError, match=r"takes no size: .*, or derive\(build, config=\.\.\.\) with its configuration"):
        ps.derive(lambda config=None: stack(config or Computed()))


@dataclass
class Tower:
    """A part of a configuration."""

    width: int = 8
    depth: int = 2
    kinds: list[str] = field(default_factory=lambda: ["q", "k", "v"])


@dataclass
class Both:
    """Two parts whose fields have the same names."""

    text: Tower = field(default_factory=Tower)
    vision: Tower = field(default_factory=lambda: Tower(16, 3, ["qkv"]))
    shared: int = 7


def towers(config: Both) -> Shapes:
    parts = {"text": config.text, "vision": config.vision}
    return {
        f"{name}.{i}.{kind}": (part.width, config.shared) for name, part in parts.items() for i in range(part.depth) for kind in part.kinds
    }


def test_fields_of_one_name() -> None:
    """They are sizes of their own, named by the parts; other fields keep their short names."""
    form = ps.derive(towers, Both, tests=20)
    assert [name for name, _ in form.sizes_taken] == ["text_width", "text_depth", "vision_width", "vision_depth", "shared"]
    assert form.at(text_width=3, text_depth=1, vision_width=5, vision_depth=2, shared=2).shapes() == towers(
        Both(Tower(3, 1), Tower(5, 2, ["qkv"]), 2)
    )
    with pytest.raises(ArgumentError, match="both named 'a_b'"):
        ps.derive(lambda a_b=3, b=4, a=None: a_b + b + a.b, a=SimpleNamespace(b=5))
