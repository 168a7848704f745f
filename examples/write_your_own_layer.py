"""A layer of your own: state what it stores, and count, shapes, table, LaTeX and explanation follow.

The layer is a gated adapter: a low-rank detour around a wide layer, with one learned gate per head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import paramsym as ps
from paramsym import A, Dim, H, L, Layer, Part, R, Tensor


@dataclass(frozen=True)
class GatedAdapter(Layer):
    r"""``x + gate * up(down(x))``: a bottleneck of ``rank``, with one gate per head.

    ``gate`` is (heads,); ``down`` maps width to rank, ``up`` maps rank to width. Parameters: 2*width*rank + rank + width + heads.

    >>> GatedAdapter(H, R, A).params
    A + 2*H*R + H + R
    """

    width: Dim
    rank: Dim
    heads: Dim

    def conditions(self) -> None:
        """Heads share the width; a bottleneck is no wider than what it goes around."""
        ps.divides(self.heads, self.width, "heads", "width")
        ps.at_most(self.rank, self.width, "rank", "width")

    def tensors(self) -> Iterator[Tensor]:
        """The gates."""
        yield Tensor("gate", (self.heads,), role="scale")

    def parts(self) -> Iterator[Part]:
        """Down, then up."""
        yield Part("down", ps.Dense(self.width, self.rank))
        yield Part("up", ps.Dense(self.rank, self.width))


def main() -> None:
    """Print what follows from the statement."""
    adapters = ps.Repeat(GatedAdapter(H, R, A), L, name="adapter{}")
    print(adapters.table())
    print()
    print("LaTeX:", adapters.to_latex())
    print()
    sized = adapters.at(H=768, R=16, A=12, L=2)
    for name, shape in sized.shapes().items():
        print(f"{name:28} {shape}")
    print(f"{sized.count:,} parameters")
    print()
    print(ps.explain(adapters, A))
    print()
    try:
        GatedAdapter(786, 16, 12)
    except ps.errors.ParamsymError as error:
        print("An impossible size is refused:", error)


if __name__ == "__main__":
    main()
