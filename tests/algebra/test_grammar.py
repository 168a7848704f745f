"""The grammar of typed expressions: what it reads, what it refuses, and that nothing in it runs away."""

from __future__ import annotations

import time

import pytest
from amount import tries
from hypothesis import given, settings, strategies as st
from sympy import floor

from paramsym import A, F, H, V, dims
from paramsym.algebra.grammar import LONGEST, assignment, mentioned, read
from paramsym.errors import ArgumentError, ParamsymError, UnknownNameError

HOSTILE = [
    "__import__('os').system('true')",
    "H.__class__",
    "lambda: 0",
    "H; H",
    "H\nF",
    "[1]",
    "{1}",
    "'H'",
    "1.5",
    "1e9",
    "0x10",
    "1__0",
    "_1 2",
    "1_",
    "H if H else F",
    "H/A",
    "H^2",
    "H%A",
    "~H",
    "+H",
    "f(H)",
    "H(2)",
    "2H",
    "\uff28",
    "\u0397",
    "\u0661\u0662",
    "H\u202e",
    "\0",
    "",
    " ",
    "()",
    "(",
    ")",
    "H)",
    "*",
    "**",
    "2**",
    "2***2",
    "2**-1",
    "2**65",
    "2**64**2",
    "9**64**64",
    "2**H",
    "1//0",
    "H//0",
    "H//(A - A)",
    "H//(A + 1)",
    "(H + F + A + V + 1)**64",
    "(((H + F + 1)**8)**8)**8",
    "9" * 100,
    "9" * LONGEST,
    "(" * 100 + "H" + ")" * 100,
    "-" * 100 + "H",
    "2**2**2**2**2**2**2",
    "H//2//2//2//2//2//2",
    "H" + "*H" * 1000,
    "for",
    "None",
]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1024", 1024),
        (" 1_000 ", 1000),
        ("4*H", 4 * H),
        ("2*H + F - 1", 2 * H + F - 1),
        ("H*(A + 1)", A * H + H),
        ("-(2 - 5)", 3),
        ("--3", 3),
        ("2**10", 1024),
        ("2**3**2", 512),
        ("-2**2", -4),
        ("2**-0", 1),
        ("0**0", 1),
        ("H**2*H", H**3),
        ("7//2", 3),
        ("-7//2", -4),
        ("7//2*2", 6),
        ("7*2//4", 3),
        ("H//A", floor(H / A)),
        ("(H + A)//2", floor((A + H) / 2)),
        ("H//1", H),
        ("H - H", 0),
        ("d_model", dims("d_model")),
    ],
)
def test_what_is_read(text: str, value: object) -> None:
    """Precedence and rounding are Python's; the results are canonical."""
    assert read(text) == value


def test_names_stand_for_values() -> None:
    """A name may be a number or an expression; between numbers ``//`` is exact arithmetic."""
    assert read("(V + 63)//64*64", {"V": 50257}) == 50304
    assert read("4*H", {"H": 2 * A}) == 8 * A
    assert read("F", {"F": F}) == F
    with pytest.raises(UnknownNameError, match=r"there is no size 'hidden'; did you mean hidden_size\?"):
        read("hidden", {"hidden_size": 3})
    with pytest.raises(UnknownNameError, match=r"there is no size 'Z'; known are F, H\.$"):
        read("Z", {"H": H, "F": F})


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{text[:20]!a}-{len(text)}")
def test_hostile(text: str) -> None:
    """Everything outside the grammar or its limits is one short error, at once."""
    began = time.process_time()
    with pytest.raises(ParamsymError) as caught:
        read(text, {"H": H, "F": F, "A": A, "V": V} if text not in {"for", "None"} else None)
    assert time.process_time() - began < 20, "it hung"
    assert len(str(caught.value)) < 250
    assert str(caught.value).isascii()
    assert "\n" not in str(caught.value)


def test_where_it_went_wrong() -> None:
    """The message says at which character, and what to write instead."""
    with pytest.raises(ArgumentError, match=r"^'4\*H\+': wanted a number, a name or '\(' at character 5, found the end\.$"):
        read("4*H+")
    with pytest.raises(ArgumentError, match=r"^'H / A': .* at character 3, found '/'\. For a quotient rounded down write '//'\.$"):
        read("H / A")
    with pytest.raises(ArgumentError, match=r"found '\^'\. For a power write '\*\*'\.$"):
        read("H^2")
    with pytest.raises(ArgumentError, match=r"an expression is a string such as '4\*H', not 4 \(int\)"):
        read(4)  # type: ignore[arg-type]


def test_assignments() -> None:
    """A name, an equals sign and something after it."""
    assert assignment("H=1024") == ("H", "1024")
    assert assignment(" num_layers = 2*6 ") == ("num_layers", "2*6")
    assert mentioned("4*H + F//2") == {"H", "F"}
    for wrong in ("H", "=3", "H=", "H-1=3", "3=H", "", "\uff28=3"):
        with pytest.raises(ArgumentError, match="is not an assignment; write NAME=VALUE"):
            assignment(wrong)


def trees() -> st.SearchStrategy[str]:
    """Expressions of the grammar, fully in parentheses, so that Python's own arithmetic is the reference."""
    return st.recursive(
        st.integers(0, 99).map(str),
        lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "//"]), inner).map(lambda three: f"({' '.join(three)})"),
        max_leaves=8,
    )


@settings(max_examples=tries(300), deadline=None)
@given(trees())
def test_numbers_as_python_reads_them(text: str) -> None:
    """On whole numbers the grammar is Python's."""
    try:
        wanted = eval(text)  # a string made here, of digits and signs
    except ZeroDivisionError:
        with pytest.raises(ArgumentError, match="divides by zero"):
            read(text)
        return
    assert read(text) == wanted


@settings(max_examples=tries(200), deadline=None)
@given(st.lists(st.sampled_from(["7", "2", "+", "-", "*", "//", "**", "3"]), max_size=9).map(" ".join))
def test_precedence_as_python_has_it(text: str) -> None:
    """Without parentheses, too; where Python refuses or leaves the whole numbers, so does the grammar."""
    try:
        wanted = eval(text)
    except (SyntaxError, ZeroDivisionError, ValueError, OverflowError, MemoryError):
        with pytest.raises(ArgumentError):
            read(text)
        return
    try:
        found = read(text)
    except ArgumentError:
        # A sign before a number and a large exponent are the two things that Python takes and the grammar does not.
        assert text.startswith("+") or any(f"{sign} +" in text for sign in "+-*/") or "**" in text
        return
    assert found == wanted


@settings(max_examples=tries(1000), deadline=2000)
@given(st.text(max_size=60) | st.text("HFAV0123456789+-*/() ", max_size=LONGEST + 9))
def test_any_string(text: str) -> None:
    """Any string gives a value or one error, in no time."""
    try:
        value = read(text, {"H": H, "F": F, "A": A, "V": V})
    except ParamsymError as error:
        assert 0 < len(str(error)) < 400  # noqa: PT017 - either outcome is right
    else:
        assert isinstance(value, int) or value.free_symbols <= {H, F, A, V}
