"""Siblings: what their class arguments and inherited fields make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass, fields

import pytest

import paramsym as ps
from paramsym.errors import ArgumentError, StructureError
from paramsym.layers.siblings import Spatial


@dataclass(frozen=True)
class _Window(Spatial):
    kernel_size: ps.Dim | tuple[ps.Dim, ...]

    def _refused(self) -> Iterator[str]:
        if self.kernel_size == 1:
            yield "kernel_size is 1."
        yield from (f"kernel_size is {size}." for size in self._each("kernel_size")[0] if size == 2)


class Window1d(_Window, rank=1):
    """One axis."""


class Window2d(_Window, rank=2):
    """Two axes."""


class Forgotten(_Window, rank=3):
    """A field of its own, and no decorator."""

    stride: int = 1


def test_a_sibling_without_fields_is_a_dataclass() -> None:
    """Its fields, its equality and its repr; another sibling is another layer; nothing is put on it, and errors call it by its name."""
    assert [field.name for field in fields(Window2d)] == ["kernel_size"]
    assert Window2d(3) == Window2d(3) != Window1d(3)
    assert (repr(Window2d((3, 5))), Window2d(3)._each("kernel_size")) == ("Window2d((3, 5))", ((3, 3),))
    with pytest.raises(FrozenInstanceError):
        Window2d(3).anything = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"Window2d\.__init__\(\) missing 1 required"):
        Window2d()  # type: ignore[call-arg]


def test_a_sibling_with_fields_needs_the_decorator() -> None:
    """Without it the field would not exist."""
    with pytest.raises(StructureError, match="Forgotten is not a dataclass"):
        Forgotten(3)


def test_a_users_subclass_keeps_its_decorator() -> None:
    """It has no class arguments, so it is a dataclass by the decorator alone."""

    @dataclass(frozen=True)
    class Own(ps.Conv2d):
        """A convolution."""

    assert repr(Own(3, 4, 5)) == "Own(3, 4, 5)"


def test_the_first_refusal_is_raised() -> None:
    """A layer may have several; the name of the class stands in front."""
    with pytest.raises(ArgumentError, match=r"^Window1d: kernel_size is 1\.$"):
        Window1d(1)
    with pytest.raises(ArgumentError, match=r"^Window2d: kernel_size is 2\.$"):
        Window2d((3, 2))
