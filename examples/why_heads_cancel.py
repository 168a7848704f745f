"""When does the number of attention heads change the number of parameters? A lecture's table, derived and not remembered."""

from __future__ import annotations

import paramsym as ps
from paramsym import A, D, G, H
from paramsym.render.table import Table

VARIANTS = (
    ("heads share the width", ps.MultiHeadAttention(H, A)),
    ("heads of a width of their own", ps.MultiHeadAttention(H, A, head_dim=D)),
    ("grouped keys and values", ps.MultiHeadAttention(H, A, kv_heads=G)),
)


def main() -> None:
    """Print count and derivative for three kinds of attention, and the derivation of the first."""
    rows = tuple((name, layer.params, layer.params.diff(A), str(ps.explain(layer, A).cancels)) for name, layer in VARIANTS)
    print(Table(("attention", "parameters", "derivative by A", "A cancels"), rows))
    print()
    for name, layer in VARIANTS:
        print(f"--- {name} ---")
        print(ps.explain(layer, A))
        print()


if __name__ == "__main__":
    main()
