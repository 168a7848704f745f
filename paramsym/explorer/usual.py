"""Sizes with which a page begins, for letters that have none: a model's defaults, usual ones, or others that the model can have."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from sympy import Symbol

from paramsym.analysis.counted import Counted
from paramsym.analysis.evaluate.evaluating import evaluate
from paramsym.config import from_config
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError

USUAL = {
    "A": 12,
    "B": 1,
    "B_v": 1,
    "C": 64,
    "D": 64,
    "E": 8,
    "F": 3072,
    "G": 4,
    "H": 768,
    "K": 3,
    "L": 12,
    "N": 1000,
    "P": 1024,
    "R": 8,
    "S": 512,
    "S_d": 128,
    "T": 2,
    "V": 32000,
    "W": 224,
}
"""Sizes of a small language model and of a common image."""
_IMAGE, _OTHER = 224, 64
_TRIED = 300
_DRAWN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 224, 256, 384, 512, 768, 1024)


def usual_sizes(subjects: Sequence[Counted], known: Mapping[str, int]) -> dict[str, int]:
    """Return a size for each letter of the subjects that is not known, so that all of them can be counted.

    The first sizes tried are the usual ones; after them, random ones with a fixed seed. If none is possible, the usual ones are returned,
    and the page says what is wrong with them.

    >>> from paramsym import A, H, MultiHeadAttention
    >>> usual_sizes([MultiHeadAttention(H, A)], {"H": 512})
    {'A': 8}
    """
    model = {symbol.name for symbol in subjects[0].symbols}
    free = sorted({symbol for one in subjects for symbol in one.symbols if symbol.name not in known}, key=lambda symbol: symbol.name)
    usual = {symbol.name: _usual(symbol, model) for symbol in free}
    rng = random.Random(0)  # noqa: S311 - sizes, not secrets
    drawn = ({name: rng.choice((*_DRAWN, size)) for name, size in usual.items()} for _ in range(_TRIED))
    for sizes in chain((usual, {**usual, **{name: 8 for name in usual if name == "A"}}), drawn):
        if all(_possible(one, {**known, **sizes}) for one in subjects):
            return sizes
    return usual


def first_sizes(root: Layer) -> dict[str, int]:
    """Return the sizes that a recorded type of model has by default, or a derived form's build; nothing for other layers.

    >>> from paramsym.loading import load
    >>> first_sizes(load("led"))["L_d"]
    12
    """
    start: Mapping[str, int] = getattr(getattr(root, "certificate", None), "start", {})
    kind: Any = getattr(root, "model_type", None)
    if start or not isinstance(kind, str):
        return {symbol.name: start[symbol.name] for symbol in root.symbols if start.get(symbol.name)}
    try:
        model = from_config({"model_type": kind}, getattr(root, "architecture", None))
    except ParamsymError:  # one of timm or diffusers
        return {}
    return {symbol.name: int(size) for symbol, size in model.sizes.items()} if model.origin[0] == root else {}


def _usual(symbol: Symbol, model: set[str]) -> int:
    if symbol.name == "H" and "H" not in model:
        return _IMAGE  # the height of an image
    return USUAL.get(symbol.name, _OTHER)


def _possible(subject: Counted, sizes: Mapping[str, int]) -> bool:
    try:
        evaluate(subject, {symbol.name: sizes[symbol.name] for symbol in subject.symbols})
    except ParamsymError:
        return False
    return True
