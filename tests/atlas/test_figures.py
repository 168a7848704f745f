"""What the records explain, over all types: why head counts cancel, where a size is rounded down, and depths as letters.

The limits are today's figures; a change may only improve them. The ordinary run reads a sample of the types.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from amount import sample
from sympy import Expr, Symbol, floor, fraction

import paramsym as ps
from paramsym.atlas.files import read_types, record_of
from paramsym.atlas.letters import letter_names
from paramsym.atlas.model import Recorded
from paramsym.errors import ConfigError

HEADS = "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads"
DEPTHS = "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers depth"
EXPLAINED, DEEP, ROUNDED = 0.9, 0.97, 20


@cache
def models() -> list[Recorded]:
    """Return the models of default configurations, in letters; those that need a key are left out."""
    found = []
    for model_type in sample(24, read_types()):
        try:
            model: Any = ps.from_config({"model_type": model_type}).origin[0]
            found.append(cast("Recorded", getattr(model, "record", model)))  # of a family its record
        except ConfigError:
            continue
    return found


def numbers(model: Recorded, words: str) -> Iterator[tuple[str, Symbol]]:
    """Yield the keys with one of these words whose value is a whole number, with the letter that each should have.

    A key that is not given has the letter of the key that it follows.
    """
    others = {name: model._by_name[name] for name, _ in model.following}
    values, keys = dict(model.values), record_of(model.model_type)["classes"][model.architecture]["keys"]
    for key, name in letter_names(keys).items():
        if key.rpartition(".")[2] in words.split() and type(values.get(key)) is int:
            yield key.replace(".", "_"), others.get(key.replace(".", "_"), ps.dims(name))


def rounded(model: Recorded) -> set[Symbol]:
    """Return the letters by which a size is divided and rounded down."""
    formula: Any = model.formula
    return (
        {letter for one in formula.atoms(floor) for letter in fraction(one.args[0])[1].free_symbols} if isinstance(formula, Expr) else set()
    )


def is_explained(model: Recorded, letter: Symbol) -> bool:
    """Whether a number of heads cancels as slices of an exact width, or stays because the width is another key's or a group's."""
    why = ps.explain(model, letter)
    return "slices of width" in why.verdict if why.cancels else letter in model.symbols and letter not in rounded(model)


def test_heads_are_slices() -> None:
    """Of the types with a key for heads."""
    found = [any(is_explained(model, letter) for _, letter in keys) for model in models() if (keys := list(numbers(model, HEADS)))]
    assert sum(found) >= EXPLAINED * len(found)


def test_few_widths_of_heads_are_rounded() -> None:
    """The reference demands that heads divide a width, or its default does."""
    found = [model.model_type for model in models() if rounded(model) & {letter for _, letter in numbers(model, HEADS)}]
    assert len(found) <= ROUNDED


def test_depths_are_letters() -> None:
    """Of the types with a key for depth on which tensors depend."""
    found = []
    for model in models():
        held = {name: letter for name, letter in numbers(model, DEPTHS) if name in used(model)}
        if held:
            found.append(all(letter in model.symbols and str(letter)[0] == "L" for letter in held.values()))
    assert found.count(False) <= max(2, (1 - DEEP) * len(found))  # two of a sample are more than 3 %


def used(model: Recorded) -> set[str]:
    """Return the names of the keys in the bounds of numbered copies."""
    entry = record_of(model.model_type)["classes"][model.architecture]
    bounds = [entry["expressions"][number] for _, _, more in entry["rows"] for number in more.get("bounds", ())]
    return {word.replace(".", "_") for bound in bounds for word in words_in(bound)}


def words_in(what: Any) -> Iterator[str]:
    """Yield the words in an expression."""
    if isinstance(what, str):
        yield what
    elif isinstance(what, list):
        for one in what:
            yield from words_in(one)
