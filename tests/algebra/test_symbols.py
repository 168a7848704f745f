"""The shared letters and the factory of symbols."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st
from sympy import Symbol

import paramsym as ps
from paramsym.algebra.symbols import BY_NAME, LETTERS
from paramsym.errors import ArgumentError, ParamsymError


def test_letters_are_positive_integers() -> None:
    """One assumption for all, and one home."""
    for letter in LETTERS:
        symbol = getattr(ps, letter.name)
        assert symbol == letter.symbol == ps.dims(letter.name)
        assert symbol.is_integer
        assert symbol.is_positive
        assert letter.meaning
        assert letter.source
        assert BY_NAME[letter.name] is letter
    assert len(BY_NAME) == len(LETTERS)


def test_dims_gives_symbols() -> None:
    """One name gives a symbol; several, or a trailing comma, a tuple."""
    assert ps.dims("d") == Symbol("d", integer=True, positive=True)
    assert ps.dims("d n") == ps.dims("d,n") == ps.dims(" d,  n ") == (ps.dims("d"), ps.dims("n"))
    assert ps.dims("d,") == (ps.dims("d"),)
    assert ps.dims("d_model").name == "d_model"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("", "no name"),
        (" , ", "no name"),
        ("2d", "'2d' cannot name a size"),
        ("lambda", "'lambda' cannot name a size"),
        ("d-n", "'d-n' cannot name"),
        ("d[0]", "cannot name"),
        (3, "takes a string of names"),
        (None, "takes a string of names"),
    ],
)
def test_what_cannot_name_a_size(names: object, words: str) -> None:
    """Identifiers only: a symbol named by a blank breaks repr."""
    with pytest.raises(ArgumentError, match=None) as caught:
        ps.dims(names)  # type: ignore[arg-type]
    assert words in str(caught.value)


@given(st.text(max_size=8))
def test_any_string_gives_symbols_or_one_clear_error(names: str) -> None:
    """Whatever is typed, nothing but symbols or this library's error comes out."""
    try:
        found = ps.dims(names)
    except ParamsymError:
        return
    assert all(symbol.name.isidentifier() for symbol in (found if isinstance(found, tuple) else (found,)))


def test_sources_are_cited_alike() -> None:
    """Authors and year, and where it is in the paper; or what else a letter comes from."""
    form = r"(([A-Z][a-z]+ et al\. \d{4})|Stanford CS231n)(, [a-z][\w .]+)*( \(there \w+\))?|reference configurations|usual"
    assert [letter.source for letter in LETTERS if not re.fullmatch(form, letter.source)] == []
