"""Published counts, each with its source: what a model is said to have, and what that number counts."""

from __future__ import annotations

from dataclasses import dataclass

BUILT = "the checkpoint's configuration, built by transformers 5.23"
CARD = "Hugging Face's count of the numbers in the checkpoint's file"
RECALLED = f"{CARD}, as recalled; checked against its configuration, built by transformers 5.23"
"""A count written down from memory is called so: what it was checked against is what the test checks."""


@dataclass(frozen=True)
class Claim:
    """A number from the world: ``count`` parameters of the model ``name``, as ``source`` prints it.

    ``counts`` is the reference class that has this many parameters. Where the published number counts something else or is wrong,
    ``besides`` is what it adds to (or, below zero, takes from) the class's own parameters, and ``note`` says what that is.

    >>> Claim("gpt2", 124_439_808, "openai/gpt-2, README: 124M", counts="GPT2LMHeadModel").count
    124439808
    """

    name: str
    count: int
    source: str
    counts: str
    besides: int = 0
    note: str = ""
