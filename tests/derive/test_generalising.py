"""Letters for the numbers of layers, by the meanings that the caller gives; those of modules are in ``tests/read``."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import A, F, H, L
from paramsym.errors import ArgumentError, StructureError

STACK = ps.Repeat(ps.TransformerEncoderLayer(24, 4, 96), 6)


def test_numbers_and_their_letters() -> None:
    """The form in letters gives the count at any other sizes; letters may be names, and expressions of others."""
    general = ps.generalise(STACK, {24: "H", 96: 4 * H, 4: A, 6: L})
    assert general.params == 12 * H**2 * L + 13 * H * L
    assert general.at(H=24, A=4, L=6).shapes() == STACK.shapes()
    assert general.at(H=64, A=8, L=2).shapes() == ps.Repeat(ps.TransformerEncoderLayer(64, 8, 256), 2).shapes()


def test_a_number_with_two_meanings() -> None:
    """Four heads and four copies: a key says which; heads alone leave the copies."""
    stack = ps.Repeat(ps.TransformerEncoderLayer(24, 4, 96), 4)
    with pytest.raises(StructureError, match=r"4 means several things here: (copies and heads|heads and copies)"):
        ps.generalise(stack, {4: A})
    assert ps.generalise(stack, {("copies", 4): L}).symbols == {L}
    assert ps.generalise(stack, {("heads", 4): A, ("copies", 4): L, 24: H, 96: F}).symbols == {A, L, H, F}


def test_meanings_in_a_family() -> None:
    """The names of transformers' configurations: four heads, four layers, and two groups of keys among ten numbers of another meaning."""
    config = {"model_type": "llama", "hidden_size": 24, "intermediate_size": 96, "vocab_size": 100, "tie_word_embeddings": False}
    model = ps.from_config({**config, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2}, "LlamaForCausalLM")
    general = ps.generalise(model, {("copies", 4): L, 24: H, 96: F, 100: "V"})
    # 24*24 for queries and outputs, 24*2*6 for keys and for values, three matrices of 24*96, two norms; the last norm and two tables
    assert general.at(H=24, F=96, V=100).params == (2 * 24 * 24 + 2 * 24 * 12 + 3 * 24 * 96 + 48) * L + 24 + 2 * 24 * 100


def test_refused() -> None:
    """A number that is nowhere, one letter for two numbers, and what is no number or no letter."""
    for letters, words in (
        ({768: H}, r"768 is nowhere in Repeat; there are "),
        ({("heads", 24): A}, r"heads 24 is nowhere"),
        ({24: 4 * H}, r"the letter H is only in an expression and has no number"),
        ({}, r"letters are a mapping from numbers to symbols"),
        ({"24": H}, r"wanted a number and a symbol"),
        ({24: 3}, r"wanted a number and a symbol"),
    ):
        with pytest.raises(ArgumentError, match=words):
            ps.generalise(STACK, letters)
    for letters, words in (({24: H, 96: H}, "H cannot be 24 and 96"), ({24: H, 96: 3 * H}, r"3\*H is 72 and not 96")):
        with pytest.raises(StructureError, match=words):
            ps.generalise(STACK, letters)
