"""Property-testing a numeric counter: a proof where it is right, and the smallest sizes that refute it where it is wrong."""

from __future__ import annotations

import paramsym as ps
from paramsym import A, G, H
from paramsym.errors import RefutedError
from paramsym.testing import certify


def right(A: int, G: int, H: int) -> int:
    """Count grouped attention without biases: queries, keys, values, output."""
    return H * H + 2 * H * G * (H // A) + H * H


def wrong(A: int, G: int, H: int) -> int:
    """Forget the groups: right as long as every test has as many key heads as query heads."""
    del A, G
    return 4 * H * H


def main() -> None:
    """Certify one, refute the other."""
    layer = ps.MultiHeadAttention(H, A, kv_heads=G, bias=False)
    print(certify(layer, right))
    print()
    try:
        certify(layer, wrong)
    except RefutedError as error:
        print("Refuted:", error)


if __name__ == "__main__":
    main()
