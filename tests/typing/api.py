"""A program as users write it; it must pass strict type checkers, and it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Expr

import paramsym as ps
from paramsym import A, Dim, F, H, Layer, Part, Tensor, per
from paramsym.render.table import Table


@dataclass(frozen=True)
class Gate(Layer):
    """A user's own layer."""

    width: Dim
    heads: Dim = 1

    def tensors(self) -> Iterator[Tensor]:
        """One table per head."""
        yield Tensor("gate", (self.heads, per(self.width, self.heads)))

    def parts(self) -> Iterator[Part]:
        """A projection."""
        yield Part("out", ps.Dense(self.width, self.width))


def main() -> None:
    """Use the public surface."""
    gate = Gate(H, A)
    sized = gate.at(H=768, A=12)
    params: Expr = gate.params
    count: int = sized.count
    table: Table = gate.table()
    shapes: dict[str, tuple[Dim, ...]] = gate.shapes(buffers=True)
    model = ps.Sequential(ps.Linear(H, F), ps.Repeat(gate, 3), 2 * gate + gate)
    tied = ps.Tied(ps.Block(a=ps.Dense(H, F), b=ps.Dense(H, F)), {"b.weight": "a.weight"})
    assert (params, count, str(table) != "", len(shapes)) == (gate.params, 768 + 768 * 769, True, 3)
    assert model.symbols == {H, F, A}
    assert tied.tied == {"b.weight": "a.weight"}
    assert model.replace("0", gate).freeze().trainable == 0


if __name__ == "__main__":
    main()
