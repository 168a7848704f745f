"""Fields are checked against their annotations when a layer is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from paramsym import Count, Dense, Dim, H, Layer, Width
from paramsym.errors import ArgumentError, SizeError


@dataclass(frozen=True)
class Everything(Layer):
    """A layer with one field of each kind."""

    size: Dim
    copies: Count = 0
    width: Width = 1
    flag: bool = False
    kind: Literal["a", "b"] = "a"
    rate: float = 0.1
    steps: int = 3
    label: str = "x"
    maybe: Dim | None = None
    kernel: Dim | tuple[Dim, ...] = 1
    pair: tuple[Dim, Dim] = (1, 1)
    nested: tuple[tuple[Dim, bool], ...] = ()
    inner: Layer | None = None
    padding: Literal["same", "valid"] | Count = 0
    anything: object = None
    many: list[int] = field(default_factory=list)
    widths: list[Dim] = field(default_factory=list)


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("size", 1.5, SizeError, "size is 1.5 (float)"),
        ("size", True, SizeError, "size is True (bool)"),
        ("copies", -1, SizeError, "copies is -1"),
        ("copies", None, SizeError, "copies is None"),
        ("width", (), SizeError, "width is an empty tuple"),
        ("width", (2, 0.5), SizeError, "width is 0.5"),
        ("flag", 1, ArgumentError, "flag is 1 (int); wanted True or False"),
        ("flag", None, ArgumentError, "flag is None"),
        ("kind", "c", ArgumentError, "kind is 'c'; wanted one of 'a', 'b'"),
        ("kind", True, ArgumentError, "kind is True"),
        ("rate", "fast", ArgumentError, "rate is 'fast' (str); wanted a number"),
        ("rate", True, ArgumentError, "rate is True"),
        ("steps", 1.0, ArgumentError, "steps is 1.0 (float); wanted a whole number"),
        ("steps", False, ArgumentError, "steps is False"),
        ("steps", H, ArgumentError, "steps is H (Symbol); wanted a whole number. For a size in symbols annotate the field with ps.Dim."),
        ("label", 3, ArgumentError, "label is 3 (int); wanted a string"),
        ("maybe", 0, SizeError, "maybe is 0"),
        ("kernel", (3, -3), SizeError, "kernel[1] is -3"),
        ("kernel", "3", SizeError, "kernel is '3'"),
        ("kernel", None, SizeError, "kernel is None"),
        ("pair", (1, 2, 3), ArgumentError, "pair has 3 entries; wanted 2"),
        ("pair", 3, ArgumentError, "pair is 3 (int); wanted a tuple"),
        ("pair", (1, "2"), SizeError, "pair[1] is '2'"),
        ("nested", ((1, 2),), ArgumentError, "nested[0][1] is 2"),
        ("nested", (1,), ArgumentError, "nested[0] is 1"),
        ("inner", "dense", ArgumentError, "inner is 'dense' (str); wanted a Layer"),
        ("padding", "full", ArgumentError, "padding is 'full'"),
        ("padding", -2, SizeError, "padding is -2"),
        ("widths", [3, 0], SizeError, "widths[1] is 0"),
        ("widths", 3, ArgumentError, "widths is 3 (int); wanted a tuple"),
    ],
)
def test_wrong_values_are_named(name: str, value: object, error: type[Exception], words: str) -> None:
    """The error carries the class, the field and the value, and the place."""
    with pytest.raises(error) as caught:
        Everything(**{"size": 3, name: value})  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"Everything: {words}")
    assert caught.value.where == "Everything"  # type: ignore[attr-defined]


def test_right_values_pass_and_lists_become_tuples() -> None:
    """What JSON holds builds what Python builds."""
    layer = Everything(
        H,
        copies=0,
        width=[2, H],  # type: ignore[arg-type]
        flag=True,
        kind="b",
        rate=1,
        maybe=H,
        kernel=[3, 5],  # type: ignore[arg-type]
        pair=[1, H],  # type: ignore[arg-type]
        nested=[[1, True]],  # type: ignore[arg-type]
        inner=Dense(1, 2),
        padding="same",
        anything=(0.5,),
        widths=[2, H],
    )
    assert layer.widths == (2, H)  # type: ignore[comparison-overlap]
    assert layer.at(H=5).widths == (2, 5)  # type: ignore[comparison-overlap]
    assert repr(Everything(3)) == "Everything(3)"
    assert layer.width == (2, H)
    assert layer.kernel == (3, 5)
    assert layer.pair == (1, H)
    assert layer.nested == ((1, True),)
    assert Everything(3, kernel=4).kernel == 4
    assert Everything(3, padding=2).padding == 2
    assert Everything(3, maybe=None).maybe is None


def test_a_class_with_local_names_is_still_gated() -> None:
    """Where annotations cannot be looked up, the words Dim, Count, Width and bool are understood."""

    class Local:
        pass

    @dataclass(frozen=True)
    class Odd(Layer):
        size: Dim
        flag: bool = True
        other: Local | None = None

    with pytest.raises(SizeError, match="Odd: size is 0"):
        Odd(0)
    with pytest.raises(ArgumentError, match="Odd: flag is 3"):
        Odd(1, flag=3)  # type: ignore[arg-type]
    assert Odd(2, other=Local()).size == 2


def test_unknown_annotations_leave_the_others_checked() -> None:
    """A class inside a function may use a name nobody else sees; its other fields are gated all the same."""

    class Own:
        pass

    @dataclass(frozen=True)
    class Local(Layer):
        width: Dim
        lengths: tuple[Dim, ...]
        own: Own | None = None

    assert Local(3, [1, 2]).lengths == (1, 2)
    with pytest.raises(SizeError, match=r"lengths\[0\] is 1.0"):
        Local(3, (1.0,))
