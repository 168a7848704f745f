"""Fast feed-forward trees against recorded claims, their references' shapes, and as algebra."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from strategies import assert_value
from sympy import Rational

import paramsym as ps
from paramsym import D, F, H
from paramsym.errors import ArgumentError, SizeError

N_BERT = 109_482_240
"""The parameters of BERT base (recorded claim S3-02)."""


def test_recorded_stored_and_used() -> None:
    """Claim S3-21: UltraFastBERT 1x11 stores 6,294,015 per layer, a third more than the dense 4,722,432, and uses 18,444."""
    tree, dense = ps.FastFeedForward(H, H, D).at(H=768, D=11), ps.FeedForward(768, 3072)
    assert tree.params == 6_294_015 == (2**12 - 1) * (2 * 768 + 1)
    assert tree.active == 18_444 == 12 * (2 * 768 + 1)
    assert round(tree.count / dense.count - 1, 3) == 0.333


def test_recorded_nodes() -> None:
    """Claims S3-19 and S3-23: 12 of 4,095 neurons are used, 0.293 percent of them."""
    line = next(iter(ps.FastFeedForward(768, 768, 11).ledger()))
    assert (line.stored, line.used) == ((4095,), (12,))
    assert round(12 / 4095, 5) == 0.00293


def test_recorded_model_grows() -> None:
    """Claim S3-22: with this tree in all twelve layers BERT base has 128,341,236 parameters, 17.2 percent more, not half."""
    difference = 12 * (ps.FastFeedForward(H, H, D).params - ps.FeedForward(H, F).params)
    grown = N_BERT + difference.subs({H: 768, D: 11, F: 3072})
    assert grown == 128_341_236
    assert round(1 - float(Rational(grown, N_BERT)), 4) == -0.1723


def test_algebra() -> None:
    """The depth is a symbol in an exponent; a tree one level deeper stores twice as much and one node more."""
    tree = ps.FastFeedForward(H, H, D)
    assert tree.params == ((2 ** (D + 1) - 1) * (2 * H + 1)).expand()
    assert tree.active == ((D + 1) * (2 * H + 1)).expand()
    deeper = tree.at(D=D + 1)
    assert (deeper.params - 2 * tree.params - (2 * H + 1)).expand() == 0
    assert (deeper.active - tree.active).expand() == 2 * H + 1
    assert [ps.FastFeedForward(5, 3, depth).count for depth in range(4)] == [(2 ** (d + 1) - 1) * 9 for d in range(4)]


@pytest.mark.parametrize(("depth", "trees"), [(0, 1), (3, 1), (2, 4)])
def test_neurons_as_nodes(depth: int, trees: int) -> None:
    """Two linear layers over all nodes of all trees, the second without a bias, as in UltraFastBERT."""
    torch = imported("torch")
    nodes = trees * (2 ** (depth + 1) - 1)

    def build() -> Any:
        return torch.nn.ModuleDict({"linear_in": torch.nn.Linear(7, nodes), "linear_out": torch.nn.Linear(nodes, 5, bias=False)})

    assert_same_as_torch(ps.FastFeedForward(7, 5, depth, trees), build)


def test_networks_as_leaves() -> None:
    """The tensors of the package fastfeedforward: 2**D - 1 nodes decide, 2**D leaves compute, the depth is stored, too."""
    layer = ps.FastFeedForward(7, 5, 3, leaf_width=4, track_usage=True)
    assert layer.shapes() == {
        "depth": (),
        "node_weights": (7, 7),
        "node_biases": (7, 1),
        "w1s": (8, 7, 4),
        "b1s": (8, 4),
        "w2s": (8, 4, 5),
        "b2s": (8, 5),
        "node_usage": (7,),
        "leaf_usage": (8,),
    }
    assert layer.params - layer.trainable == 1 + 7 + 8
    leaves = ps.FastFeedForward(H, H, D, leaf_width=F)
    assert leaves.params == (1 + (2**D - 1) * (H + 1) + 2**D * (2 * F * H + F + H)).expand()
    assert leaves.active == (1 + D * (H + 1) + 2 * F * H + F + H).expand()


def test_values() -> None:
    """``at``, repr and pickle give equal layers."""
    for layer in (ps.FastFeedForward(H, F, D, 3), ps.FastFeedForward(H, F, D, leaf_width=2, track_usage=True)):
        assert_value(layer)
        assert layer.at(H=4, F=5, D=2).params == layer.params.subs({H: 4, F: 5, D: 2})


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"depth": -1}, SizeError, "depth is -1"),
        ({"depth": 1.0}, SizeError, "depth is 1.0"),
        ({"depth": 10**9}, SizeError, "depth is 1000000000"),
        ({"depth": 0, "leaf_width": 3}, SizeError, "an ordinary FeedForward"),
        ({"depth": 2, "leaf_width": 3, "parallel_size": 2}, ArgumentError, "is used alone"),
        ({"depth": 2, "track_usage": True}, ArgumentError, "give leaf_width"),
    ],
)
def test_wrong_input(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    """One clear error when the layer is built, and when sizes are put in."""
    with pytest.raises(error, match=words):
        ps.FastFeedForward(8, 8, **arguments)
    with pytest.raises(SizeError, match="depth is 999"):
        ps.FastFeedForward(8, 8, D).at(D=999)
