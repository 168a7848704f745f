"""Letters for the numbers of a module: what is counted in letters is what torch counts for a module of any sizes."""

from __future__ import annotations

import copy
import pickle

import pytest

import paramsym as ps
from paramsym import A, B, F, H, L, S, V
from paramsym.errors import ArgumentError, NotYetError

torch = pytest.importorskip("torch")

from read.comparing import counted_on  # noqa: E402 - it needs torch


class Block(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Attention whose three projections are one matrix, and a feed-forward of four times the width."""

    def __init__(self, width: int, heads: int) -> None:
        """Build the layers."""
        super().__init__()
        self.heads = heads
        self.norm, self.fused = torch.nn.LayerNorm(width), torch.nn.Linear(width, 3 * width)
        self.out, self.up, self.down = (torch.nn.Linear(*sizes) for sizes in ((width, width), (width, 4 * width), (4 * width, width)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return arrays of the same shape."""
        batch, length, width = x.shape
        parts = self.fused(self.norm(x)).split(width, dim=-1)
        q, k, v = (one.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for one in parts)
        weights = (q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A table, a block and a head that is tied to the table."""

    def __init__(self, rows: int, width: int, heads: int) -> None:
        """Build the layers, and tie the head."""
        super().__init__()
        self.table, self.block = torch.nn.Embedding(rows, width), Block(width, heads)
        self.head = torch.nn.Linear(width, rows, bias=False)
        self.head.weight = self.table.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits."""
        logits: torch.Tensor = self.head(self.block(self.table(tokens)))
        return logits


LETTERS = {50: V, 96: H, 288: 3 * H, 384: 4 * H, 6: A}


@pytest.fixture(name="general", scope="module")
def _general() -> ps.Layer:
    return ps.generalise(ps.from_module(Model(50, 96, 6)), LETTERS)


@pytest.mark.parametrize(("rows", "width", "heads", "shape"), [(50, 96, 6, (2, 9)), (70, 64, 4, (3, 5)), (31, 120, 5, (1, 40))])
def test_other_sizes(general: ps.Layer, rows: int, width: int, heads: int, shape: tuple[int, int]) -> None:
    """FLOPs forward and both ways are torch's, kept bytes those of the module, for the form in letters and with sizes put in."""
    sizes = {V: rows, H: width, A: heads, B: shape[0], S: shape[1]}
    wanted = counted_on(Model(rows, width, heads).to("meta"), {}, torch.zeros(shape, dtype=torch.long, device="meta"))
    found = [ps.flops(general, (B, S), way=way).at(sizes).total for way in ("forward", "both")]
    placed = general.at({V: rows, H: width, A: heads})
    assert tuple(found) == wanted
    assert tuple(ps.flops(placed, shape, way=way).total for way in ("forward", "both")) == wanted
    read = ps.from_module(Model(rows, width, heads))
    assert ps.activations(general, (B, S)).at(sizes).total == ps.activations(read, shape).total == ps.activations(placed, shape).total
    assert placed.shapes() == read.shapes()


def test_why_heads_cancel(general: ps.Layer) -> None:
    """The number of heads is in no tensor; the products have A slices of width H/A, of which the scores keep A."""
    assert ps.flops(general, (B, S)).total == 24 * B * S * H**2 + 4 * B * S**2 * H + 2 * B * S * H * V
    assert "A slices of width H/A" in str(ps.explain(ps.flops(general, (B, S)), A))
    assert ps.activations(general, (B, S)).total.coeff(A).has(S**2)


def test_a_part_has_the_letters(general: ps.Layer) -> None:
    """Also after sizes were put in; copies and pickles are the layer, and its tensors."""
    assert ps.flops(general.part("block"), (B, S, H)).total == 24 * B * S * H**2 + 4 * B * S**2 * H
    placed = general.at({V: 50, H: 64, A: 4})
    assert ps.flops(placed.part("block"), (1, 3, 64)).total == ps.flops(ps.from_module(Block(64, 4)), (1, 3, 64)).total
    assert copy.deepcopy(general) is general
    assert pickle.loads(pickle.dumps(general)).shapes() == general.shapes()


def test_one_letter_after_another() -> None:
    """Letters in two steps are letters in one."""
    read = ps.from_module(Block(96, 6))
    twice = ps.generalise(ps.generalise(read, {96: H, 288: 3 * H, 384: F}), {6: A})
    once = ps.generalise(read, {96: H, 288: 3 * H, 384: F, 6: A})
    assert ps.flops(twice, (B, S, H)).total == ps.flops(once, (B, S, H)).total == 8 * B * S * H**2 + 4 * B * S**2 * H + 4 * B * S * H * F


def test_what_does_not_fit() -> None:
    """A number of heads without a letter, a number that is nowhere, and one that an input has by chance."""
    read = ps.from_module(Block(96, 6))
    with pytest.raises(ps.ParamsymError, match=r"16 is the size of an input's axis, and is H/A in Block; ask with a letter"):
        ps.flops(ps.generalise(read, {96: H, 288: 3 * H, 384: 4 * H, 6: A}), (1, 16, H))
    with pytest.raises(NotYetError, match=r"cannot be reshaped to .*, 6, 16\).* not known with H for its numbers; its tensors are"):
        ps.flops(ps.generalise(read, {96: H, 288: 3 * H, 384: 4 * H}), (B, S, H))
    with pytest.raises(ps.ParamsymError, match="7 is nowhere in Block; there are"):
        ps.generalise(read, {96: H, 288: 3 * H, 384: 4 * H, 6: A, 7: V})
    with pytest.raises(ps.ParamsymError, match="32 is nowhere in the tensors of Block, nor in what it computes"):
        ps.flops(ps.generalise(read, {96: H, 288: 3 * H, 384: 4 * H, 6: A, 32: V}), (B, S, H))


class Stack(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Blocks in a list."""

    def __init__(self) -> None:
        """Build the blocks."""
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(96, 6) for _ in range(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the blocks one after another."""
        for block in self.blocks:
            x = block(x)
        return x


def test_a_letter_for_copies_is_refused() -> None:
    """The number of blocks can stay a number."""
    read, letters = ps.from_module(Stack()), {96: H, 288: 3 * H, 384: 4 * H, 6: A}
    assert ps.flops(ps.generalise(read, letters), (B, S, H)).total == 5 * (24 * B * S * H**2 + 4 * B * S**2 * H)
    with pytest.raises(NotYetError, match="Stack has a letter for a number of copies; with it the tensors alone are known"):
        ps.flops(ps.generalise(read, {**letters, ("copies", 5): L}), (B, S, H))


def test_a_number_of_copies_that_there_is_not() -> None:
    """A number without a meaning may be a divisor of a size, such as heads; copies are none."""
    with pytest.raises(ArgumentError, match="copies 6 is nowhere in Stack; there are"):
        ps.generalise(ps.from_module(Stack()), {96: H, ("copies", 6): L})
