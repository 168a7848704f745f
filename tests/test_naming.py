"""Names as people type them."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym.errors import UnknownNameError
from paramsym.naming import described, meant, nearest

NAMES = ["meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-13b-hf", "one/base", "two/base"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("meta-llama/Llama-2-7b-hf", NAMES[0]),
        ("Llama-2-7b-hf", NAMES[0]),
        ("META-LLAMA/llama-2-13B-HF", NAMES[1]),
        ("base", None),
        ("one/base", "one/base"),
        ("Llama-2-7b", None),
        ("", None),
    ],
)
def test_meant(typed: str, name: str | None) -> None:
    """The organisation and capitals may be left out where one name remains."""
    assert meant(typed, NAMES) == name


def test_nearest() -> None:
    """Names that hold what was typed go first; nothing near is said to be near."""
    assert nearest("llama-2-7b", NAMES) == [NAMES[0], NAMES[1]]
    assert nearest("zebra", NAMES) == []


def test_what_was_found_is_one_short_line() -> None:
    """However a value prints itself, and where it cannot."""
    assert described("a\n  b" * 50).count("\n") == 0
    assert len(described([0] * 500)) == 87
    assert described(10**5000) == "a number of 16610 bits (int)"


def test_a_published_size() -> None:
    """A size may be asked for as people write it; what is not there is answered with what is near."""
    assert ps.models.Llama(architecture="LlamaForCausalLM").at("llama-2-7b-HF").count == 6_738_415_616  # the checkpoint's own index
    with pytest.raises(UnknownNameError, match=r"'bert-base'; did you mean bert-base-uncased or bert-base-cased or"):
        ps.models.Bert().at("bert-base")
    with pytest.raises(UnknownNameError, match="Dense has no published size 'gpt2'; it has none"):
        ps.Dense(2, 3).at("gpt2")
