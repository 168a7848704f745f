"""What a letter means: that of the shared letters, or the argument of a layer that holds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

from sympy import Symbol

from paramsym.algebra.symbols import BY_NAME
from paramsym.core.layer import Layer

_OF_INPUTS = {"S_d": "sequence length of the decoder", "B_v": "batch size of the images"}
_SAME = {"embd": "hidden", "embed": "hidden", "ffn": "feed", "intermediate": "feed", "mlp": "feed"}
"""Words of arguments for words of the shared letters."""
_NOTHING_SAID = frozenset({"size", "num", "number", "of", "dim", "width", "the", "a", "n", "in"})


def meaning(symbol: Symbol, layer: Layer) -> str:
    """Return the meaning of a shared letter, or the argument of the layer that holds another one; empty if nothing is known.

    The argument is returned for a shared letter, too, if it is about something else.

    >>> from paramsym import H, K
    >>> from paramsym.models import Mixtral
    >>> meaning(H, Mixtral()), meaning(K, Mixtral())
    ('hidden size', 'num_experts_per_tok')
    """
    letter, held = BY_NAME.get(symbol.name), layer.argument_of(symbol)
    argument = "" if held == symbol.name else held
    known = _OF_INPUTS.get(symbol.name, "") if letter is None or letter.symbol != symbol else letter.meaning
    if known and argument:
        words, others = _telling(known), _telling(argument)
        if ", or " in known or (others and not any(one in other or other in one for one in words for other in others)):
            return argument
    return known or argument or ("" if held else argument_of(layer, symbol))


def _telling(text: str) -> list[str]:
    words: list[str] = re.findall("[a-z]+", text)
    plain = (word.removesuffix("s") for word in words if word not in _NOTHING_SAID)
    return [_SAME.get(word, word) for word in plain]


def argument_of(layer: Layer, symbol: Symbol) -> str:
    """Return the argument that is a letter, such as ``depths[0]`` or ``encoder.hidden_size``; empty if none is.

    >>> from paramsym import H, load
    >>> argument_of(load("led"), H)  # the key of a configuration
    'd_model'
    """
    return layer.argument_of(symbol) or next(_arguments(layer, symbol), "")


def _arguments(layer: Layer, symbol: Symbol) -> Iterator[str]:
    held = {one.name: getattr(layer, one.name) for one in fields(layer)}  # type: ignore[arg-type]
    for name, value in held.items():
        if value == symbol:
            yield name
        elif isinstance(value, tuple) and symbol in value:
            yield f"{name}[{value.index(symbol)}]"
    for name, value in held.items():
        if isinstance(value, Layer):
            yield from (f"{name}.{inner}" for inner in _arguments(value, symbol))
