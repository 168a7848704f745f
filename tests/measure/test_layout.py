"""Which views torch copies, and which it keeps: strides and merged axes, against torch's own rules in ``Tensor.view``."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import A, B, H, S, per
from paramsym.measure.layout import Layout, like, mergeable, plain, viewed
from paramsym.program.named_axes import Rearrange
from paramsym.program.slices import Copies, Join, Segments, Take
from paramsym.program.types import ArrayType


def laid(operation: object, kind: ArrayType) -> tuple[ArrayType, Layout]:
    """Return the first result of an operation on a new array, with its layout."""
    given = operation.gives(kind)  # type: ignore[attr-defined]
    found = viewed(operation, kind, given, plain(kind))
    assert found is not None
    return given[0], found[0]


def test_heads_before_positions_cannot_be_merged_with_the_batch() -> None:
    """(b, s, a, d) seen as (b, a, s, d) lies as before; only one example can be merged with the heads."""
    for batch, merges in ((B, False), (2, False), (1, True)):
        kind, layout = laid(Rearrange("b s a d -> b a s d"), ArrayType((batch, S, A, per(H, A))))
        assert layout.order == (0, 2, 1, 3)
        assert mergeable(kind, layout, (0, 1)) is merges
        assert like(kind, (kind, layout)).order == (0, 2, 1, 3)


def test_axes_that_lie_behind_one_another_merge() -> None:
    """Taken apart and put together again nothing moves; across another axis it does."""
    kind = ArrayType((B, S, (A, per(H, A))))
    assert viewed(Rearrange("b s (a d) -> (b s) a d"), kind, (), plain(kind)) is not None
    assert viewed(Rearrange("b s (a d) -> b (a s) d"), kind, (), plain(kind)) is None


def test_pieces_and_entries_keep_their_strides() -> None:
    """A piece of a fused projection steps over the whole of it; a single position steps over all of them."""
    fused = ArrayType((B, S, 3 * H))
    piece, layout = laid(Segments((H, H, H)), fused)
    assert mergeable(piece, layout, (0, 1))
    assert layout.strides[1] == (3 * H,)
    first, layout = laid(Take(1, 0), fused)
    assert first.sizes == (B, 3 * H)
    assert layout.strides[0] == (3 * H, S)
    every, layout = laid(Take(1, 0, S, 2), fused)
    assert not mergeable(every, layout, (0, 1))


def test_stretched_axes() -> None:
    """One entry is stretched without a copy, and cannot be merged with what lies outside of it; several are copied."""
    one = ArrayType((B, 1, S))
    kind, layout = laid(Copies(A, 1), one)
    assert layout.strides[1] == (0,)
    assert not mergeable(kind, layout, (0, 1))
    assert like(kind, (kind, layout)) == plain(kind)
    for copied in (Copies(2, 1), Join(0)):
        assert viewed(copied, ArrayType((B, A, S)), (), plain(ArrayType((B, A, S)))) is None


@pytest.mark.parametrize("order", ["a b c d", "b a c d", "a c b d", "a b d c", "d c b a"])
@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (1, 3, 4, 5), (2, 1, 4, 5), (2, 3, 1, 5)])
def test_as_torch(order: str, sizes: tuple[int, ...]) -> None:
    """Two neighbouring axes merge exactly where ``Tensor.view`` merges them."""
    torch = pytest.importorskip("torch")
    kind, layout = laid(Rearrange(f"a b c d -> {order}"), ArrayType(sizes))
    moved = torch.empty(sizes).permute(*("abcd".index(word) for word in order.split()))
    for first in range(3):
        shape = [*moved.shape[:first], moved.shape[first] * moved.shape[first + 1], *moved.shape[first + 2 :]]
        try:
            moved.view(shape)
            merges = True
        except RuntimeError:
            merges = False
        assert mergeable(kind, layout, (first, first + 1)) is merges


def test_one_position_needs_no_copy_of_heads() -> None:
    """DeBERTa joins its heads by a view if there is one position, and by a copy otherwise: the formula does not hold for one."""
    model = ps.load("microsoft/deberta-v3-xsmall").origin[0]
    cost = ps.memory(model, dtype="bfloat16", convention="torch-sdpa")
    sizes = {symbol: int(size) for symbol, size in ps.load("microsoft/deberta-v3-xsmall").sizes.items()}
    for positions in (1, 2, 8):
        given = {symbol: sizes.get(symbol, positions if symbol.name == "S" else 2) for symbol in cost.symbols}
        assert ps.evaluate(cost, given) == cost.at(given).count
