"""The gate for sizes, exact quotients, concatenations and stacks."""

from __future__ import annotations

import copy
import pickle

import pytest
import sympy
from hypothesis import given, strategies as st
from sympy import Integer, Rational, Symbol, floor, symbols

import paramsym as ps
from paramsym import A, G, H, cat, dims, per, stack
from paramsym.algebra.size import axis, canonical, count, extent, factors_of, size, substitute, symbols_in, text
from paramsym.errors import DivisibilityError, SizeError


class Five:
    """Something that counts as an integer without being one, as numpy's integers do."""

    def __index__(self) -> int:
        """Return the number."""
        return 5


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (64.0, "64.0 (float)"),
        (768 / 12, "For an exact quotient write per(a, b)"),
        (True, "True (bool)"),
        (0, "is 0; wanted a positive whole number"),
        (-3, "is -3; wanted a positive whole number"),
        (Integer(-3), "is -3"),
        ("768", "'768' (str)"),
        (None, "None (NoneType)"),
        ([3], "[3] (list)"),
        (Rational(1, 2), "1/2, not a whole number"),
        (sympy.Float(2.0), "size"),
        (sympy.oo, "size"),
        (sympy.nan, "size"),
        (sympy.I, "not made of whole-number sizes"),
        (-H, "never positive"),
        (H * 0, "is 0"),
        (sympy.sqrt(H), "cannot be a size"),
        (H * 1.5, "cannot be a size"),
        (Symbol("x", negative=True), "cannot be a positive integer"),
        (Symbol("x", integer=False), "cannot be a positive integer"),
        (Symbol("x", commutative=False), "cannot be a positive integer"),
        (2 * Symbol("x", integer=False), "cannot be a positive integer"),
        ((A + H) ** 1000, "too large for a size"),
    ],
)
def test_what_is_no_size_is_named(value: object, words: str) -> None:
    """The error names the field, what was found and what was wanted."""
    with pytest.raises(SizeError) as caught:
        size(value, "out_features")
    assert str(caught.value).startswith("out_features")
    assert words in str(caught.value)


def test_long_values_are_cut_short() -> None:
    """A megabyte of input does not become a megabyte of message."""
    with pytest.raises(SizeError) as caught:
        size("x" * 10**6)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("value", [1, 768, Integer(768), Five(), 10**30])
def test_whole_numbers_become_ints(value: object) -> None:
    """Ints, SymPy's integers and whatever counts as an index are plain ints afterwards."""
    found = size(value)
    assert type(found) is int
    assert count(0) == count(Integer(0)) == 0


@pytest.mark.parametrize("value", [H, 2 * H - 3, symbols("x"), floor(H / 2), per(H, A) + 1, sympy.Max(H, A)])
def test_expressions_pass(value: sympy.Expr) -> None:
    """Symbols with or without assumptions, sums, floors and quotients are sizes."""
    assert size(value) is value


def test_counts_may_be_zero_and_no_less() -> None:
    """A number of copies is never negative."""
    with pytest.raises(SizeError, match="zero or more"):
        count(-1)
    with pytest.raises(SizeError, match="non-negative"):
        count(1.0)


@given(st.integers(1, 10**6), st.integers(1, 1000))
def test_exact_quotients_of_numbers(numerator: int, denominator: int) -> None:
    """Two numbers divide, or the error says what is left over."""
    if numerator % denominator:
        with pytest.raises(DivisibilityError, match=rf"\+ {numerator % denominator}\)"):
            per(numerator, denominator)
    else:
        assert per(numerator, denominator) == numerator // denominator


def test_exact_quotients_remember() -> None:
    """A quotient of symbols stays exact inside sums and products until numbers arrive."""
    quotient = per(H, A)
    assert quotient.is_integer
    assert quotient.is_positive
    assert per(A * H, A) == H
    assert per(H, H) == 1
    assert per(2 * H, 2) == H
    assert (quotient + 1).xreplace({H: Integer(12), A: Integer(4)}) == 4
    with pytest.raises(DivisibilityError):
        (3 * quotient + 1).xreplace({H: Integer(13), A: Integer(4)})
    with pytest.raises(SizeError, match="positive whole number"):
        quotient.xreplace({A: Integer(0)})


def test_exact_quotients_differentiate_and_print_as_quotients() -> None:
    """``per`` is H/A for calculus and for LaTeX."""
    quotient = per(H, A)
    assert quotient.diff(H) == 1 / A
    assert quotient.diff(A) == -H / A**2
    assert quotient.doit() == H / A
    assert sympy.latex(quotient) == r"\frac{H}{A}"
    assert sympy.latex(quotient**2) == r"\left(\frac{H}{A}\right)^{2}"


def test_no_string_reaches_sympy() -> None:
    """SymPy would evaluate it."""
    with pytest.raises(SizeError, match="numerator"):
        per("__import__('os').getpid()", 2)
    with pytest.raises(SizeError, match="denominator"):
        per(H, "A")


def test_concatenations() -> None:
    """A ``cat`` is as long as its segments together, and each segment keeps its factors."""
    fused = cat(query=A, key=G, value=(G, 2))
    assert fused.size == A + 3 * G
    assert fused.segments == (("query", (A,)), ("key", (G,)), ("value", (G, 2)))
    assert repr(fused) == "cat(query=A, key=G, value=(G, 2))"
    assert eval(repr(fused), {"cat": cat, "A": A, "G": G}) == fused
    assert pickle.loads(pickle.dumps(fused)) == copy.copy(fused) == fused
    assert hash(copy.deepcopy(fused)) == hash(fused)
    assert fused != cat(query=A, key=G, value=(2, G))
    assert fused != A
    with pytest.raises(SizeError, match="at least one"):
        cat()
    with pytest.raises(SizeError, match="segment key"):
        cat(query=A, key=1.5)
    with pytest.raises(AttributeError, match="cannot assign"):
        fused.segments = ()  # type: ignore[misc]


def test_stacks() -> None:
    """A ``stack`` stores all and uses some, never more than it stores."""
    experts = stack(8, used=2)
    assert experts.size == 8
    assert repr(experts) == "stack(8, used=2)"
    assert pickle.loads(pickle.dumps(experts)) == experts
    with pytest.raises(SizeError, match="used 9 is more than stored 8"):
        stack(8, used=9)
    with pytest.raises(SizeError):
        stack(8, used=0)


def test_axes() -> None:
    """An axis is a size, or a tuple of factors whose product is one."""
    assert axis([A, per(H, A)]) == (A, per(H, A))
    assert extent((A, per(H, A))) == H
    assert extent(cat(a=A, b=(A, 2))) == 3 * A
    assert extent((stack(8, used=2), 3)) == 24
    assert factors_of(H) == (H,)
    assert factors_of((A, 2)) == (A, 2)
    with pytest.raises(SizeError, match="empty tuple"):
        axis(())
    with pytest.raises(SizeError, match="an axis"):
        axis((A, 0))


def test_helpers_for_conditions() -> None:
    """``divides`` and ``at_most`` name both sides, and wait for numbers."""
    assert ps.divides(12, 768, "heads", "width") == 64
    assert ps.divides(A, H, "heads", "width") == per(H, A)
    assert ps.divides(A, 2 * A, "heads", "width") == 2
    assert type(ps.divides(A, 2 * A, "heads", "width")) is int
    with pytest.raises(DivisibilityError, match=r"width 786 is not divisible by heads 12 \(786 = 65\*12 \+ 6\)"):
        ps.divides(12, 786, "heads", "width")
    with pytest.raises(SizeError, match="heads is 0; wanted a positive whole number"):
        ps.divides(0, 768, "heads", "width")
    ps.at_most(A, 3, "k", "n")
    ps.at_most(3, 3, "k", "n")
    with pytest.raises(SizeError, match="k 4 is more than n 3"):
        ps.at_most(4, 3, "k", "n")


def test_substitution_reaches_everywhere() -> None:
    """Sizes are put in all at once inside tuples, concatenations, stacks and layers; words and flags stay."""
    mapping = {H: A, A: Integer(12)}
    value = (H, (A, 7), cat(a=A, b=(H, 2)), stack(A, used=2), "H", None, True, 0.5, ps.Dense(H, A))
    expected = (A, (12, 7), cat(a=12, b=(A, 2)), stack(12, used=2), "H", None, True, 0.5, ps.Dense(A, 12))
    assert substitute(value, mapping) == expected
    assert set(symbols_in(value)) == {H, A}
    assert canonical(Integer(3) * H / H) == 3
    assert canonical(H * (H + 1)) == H**2 + H


@pytest.mark.parametrize(
    "value", [H / 2, 3 * H / 2 + 1, Rational(3, 4) * (H + 1), floor(H / 2), per(H, A), H**2 / A, (1, 2), (H,), -H / 2, "x"]
)
def test_source_form_reads_back(value: object) -> None:
    """A half is written so that Python reads no float."""
    scope = {"H": H, "A": A, "floor": floor, "Rational": Rational, "per": per}
    assert eval(text(value), scope) == value
    assert "/2" not in text(H / 2)


def test_dims_and_sizes_meet() -> None:
    """``dims`` gives what the gate takes."""
    assert size(dims("d_model")) == dims("d_model")


def test_absurdly_large_numbers_are_refused() -> None:
    """A number nobody can print is not a size; one of a hundred digits still is."""
    assert size(10**100) == 10**100
    with pytest.raises(SizeError, match="no size has more than 4096"):
        size(2**5000)


def test_arrays_are_refused() -> None:
    """An array of one entry has an index method that fails; it is refused as anything else that is not a number."""

    class Array:
        def __index__(self) -> int:
            message = "only integer scalar arrays can be converted to a scalar index"
            raise TypeError(message)

    with pytest.raises(SizeError, match="a size is a positive int"):
        size(Array())
