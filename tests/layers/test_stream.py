"""Blocks over positions: what reaches each layer, what is attended to, and what is left out without it."""

from __future__ import annotations

import pytest

import paramsym as ps
from paramsym import A, B, Block, Dense, F, H, L, LayerNorm, S, Stream, V
from paramsym.errors import NotYetError, ShapeError

M, T = ps.dims("M T")
BODY = Block(
    attention=Block(query=Dense(H, H), key=Dense(H, H), value=Dense(H, H), out=Dense(H, H)),
    cross=Block(query=Dense(H, H), key=Dense(H, H), value=Dense(H, H), out=Dense(H, H)),
    norm=LayerNorm(H),
    up=Dense(H, F),
    down=Dense(F, H),
)
BLOCK = Stream(H, BODY, ("cross.key", "cross.value"), ("cross",))


def test_widths_say_what_reaches() -> None:
    """Whatever the order, each layer gets the positions and its own width; a block stores what its body stores."""
    reached = {step.name: step.arrived for step in BLOCK.applications((B, S, H))}
    assert reached["attention.query"] == reached["up"] == (B, S, H)
    assert reached["down"] == (B, S, F)
    assert BLOCK.params == BODY.params
    assert BLOCK.shapes() == BODY.shapes()
    assert ps.output_shape(ps.Repeat(BLOCK, L), (B, S, H)) == (B, S, H)
    with pytest.raises(ShapeError, match="last axis has 9 entries; wanted 8"):
        ps.output_shape(Stream(8, Block(up=Dense(8, 4))), (2, 3, 9))


def test_memory() -> None:
    """Keys and values of the cross attention are used per position of the memory; without one, cross attention is left out."""
    crossing = 2 * (H**2 + H)
    everything = ps.connections(BLOCK, ((B, T, H), (B, M, H)))
    assert everything == ((BODY.params - crossing) * T + crossing * M).expand()
    assert ps.connections(BLOCK, (B, T, H)) == ((BODY.params - 2 * crossing) * T).expand()
    table = ps.summary(BLOCK, ((B, T, H), (B, M, H)))
    assert {row[0]: row[2] for row in table.rows}["cross.key"] == (B, M, H)


def test_depth_of_a_summary() -> None:
    """A block whose layers stand deeper than a table goes is one row."""
    net = ps.Sequential(embed=ps.Embedding(V, H), blocks=ps.Repeat(BLOCK, L))
    assert [row[0] for row in ps.summary(net, (B, S), depth=1).rows] == ["embed", "blocks"]
    assert [row[0] for row in ps.summary(net, (B, S), depth=2).rows] == ["embed", "blocks.{0..L-1}"]
    assert len(ps.summary(net, (B, S)).rows) == 12


def test_experts() -> None:
    """Of copies of which a token uses some, those are counted; all are stored."""
    experts = Stream(H, Block(gate=ps.Router(H, 8), experts=ps.Repeat(Block(up=Dense(H, F), down=Dense(F, H)), 8, used=2)))
    assert ps.connections(experts, (B, S, H)) == (S * experts.active).expand()
    assert ps.summary(experts, (B, S, H)).footer[4] == experts.params


def test_what_does_not_say() -> None:
    """A layer inside whose own sizes do not tell what reaches it leaves the connections open, and the error says so."""
    with pytest.raises(NotYetError):
        ps.connections(Stream(H, Block(up=Dense(H, F), gate=ps.Parameter(H))), (B, S, H))
    with pytest.raises(NotYetError, match="sees every other one"):
        ps.receptive_field(Stream(H, Block(attention=ps.MultiHeadAttention(H, A))))


def test_what_is_attended_to_has_the_batch_of_the_stream() -> None:
    """torch: "the batch number of src and tgt must be equal"."""
    with pytest.raises(ShapeError, match=r"what is attended to is \(2, 5, H\); wanted the batch of the stream, \(3, 4, H\)"):
        ps.output_shape(ps.models.EncoderDecoder(), ((2, 5), (3, 4)))
