"""Published counts of models, each with its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A number somebody published: of which size, how many parameters, where it stands, and what it counts.

    A wrong or rounded number is kept as it was printed; ``counts`` says what a reader needs to reproduce it.

    >>> Claim("gpt2", 124_439_808, source="Hugging Face model card", counts="the tied head once").count
    124439808
    """

    name: str
    count: int
    source: str
    counts: str = "every parameter"
