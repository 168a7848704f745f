"""What a backward pass can compute again instead of keeping it, in words; ``activations`` leaves the arrays out, ``work`` counts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

Recompute: TypeAlias = Literal["none", "selective", "full"]

RECOMPUTE: Mapping[Recompute, str] = {
    "none": "everything is kept",
    "selective": "the arrays between queries, keys, values and the attention's result are computed again (Korthikanti 2022)",
    "full": "only the inputs of every repeated block are kept, and the block is computed again (Chen et al. 2016, arXiv:1604.06174)",
}
"""What the backward pass computes again instead of keeping it."""
