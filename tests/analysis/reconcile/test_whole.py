"""The edits of a layer as a whole, against sums by hand: ties, buffers, biases and norms that are not there."""

from __future__ import annotations

import paramsym as ps
from paramsym import H, L, V
from paramsym.analysis.reconcile.edits import Structure
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.reconcile.whole import additional

TIED = ps.Tied(
    ps.Block(a=ps.Embedding(V, H), b=ps.Dense(H, V, bias=False), c=ps.Dense(H, V, bias=False)),
    {"b.weight": "a.weight", "c.weight": "a.weight"},
)


def whole(layer: ps.Layer) -> dict[str, tuple[int, set[str]]]:
    """Return what the edits of the whole add, and the tensors they name."""
    return {edit.words: (edit.value, set(edit.tensors)) for edit in additional(Structure(Subject(layer)))}


def test_ties_are_undone() -> None:
    """Each tied tensor counted beside the first, or all of them."""
    found = whole(TIED.at(V=7, H=4))
    assert found["b.weight counted beside a.weight, to which it is tied"] == (28, {"b.weight"})
    assert found["c.weight counted beside a.weight, to which it is tied"] == (28, {"c.weight"})
    assert found["tied tensors counted under each name: b.weight and c.weight"] == (56, {"b.weight", "c.weight"})
    one = ps.Tied(ps.Block(a=ps.Embedding(V, H), b=ps.Dense(H, V, bias=False)), {"b.weight": "a.weight"})
    assert not any(words.startswith("tied tensors") for words in whole(one.at(V=7, H=4)))


def test_ties_are_made() -> None:
    """A table and a matrix of one shape are tied; matrices of one shape without a table, or in copies, are not."""
    untied = ps.Block(a=ps.Embedding(V, H), b=ps.Dense(H, V), c=ps.Dense(H, V)).at(V=7, H=4)
    assert whole(untied)["b.weight and c.weight tied to a.weight"] == (-56, {"b.weight", "c.weight"})
    for other in (ps.Sequential(ps.Dense(H, V), ps.Dense(H, V)), ps.Repeat(ps.Block(a=ps.Embedding(V, H), b=ps.Dense(H, V)), L)):
        assert not any(" tied to " in words for words in whole(other.at(dict.fromkeys(other.symbols, 4))))


def test_buffers_are_counted() -> None:
    """Torch's batch norm keeps two statistics of K entries and a counter; Keras' keeps the two alone, so there is one way to count them."""
    ours = {words: found for words, found in whole(ps.BatchNorm2d(5)).items() if "as well" in words}
    assert ours == {
        "the buffers of the state dict counted as well": (11, {"running_mean", "running_var", "num_batches_tracked"}),
        "the running statistics counted as well": (10, {"running_mean", "running_var"}),
        "the buffers running_mean counted as well": (5, {"running_mean"}),
        "the buffers running_var counted as well": (5, {"running_var"}),
        "the buffers num_batches_tracked counted as well": (1, {"num_batches_tracked"}),
    }
    keras = {words: value for words, (value, _) in whole(ps.BatchNorm2d(5, dialect="keras")).items() if "as well" in words}
    assert sorted(keras.values()) == [5, 5, 10]


def test_gains_and_biases_are_imagined() -> None:
    """A gain of width H taken for a matrix adds H*H - H; a matrix without a bias gets one of its output width."""
    layer = ps.Block(norm=ps.RMSNorm(H), up=ps.Dense(H, V, bias=False), down=ps.Dense(V, H, bias=False), out=ps.Dense(H, V)).at(V=7, H=4)
    found = whole(layer)
    assert found["the weights of norms counted as matrices"] == (12, {"norm.weight"})
    assert found["a bias counted for every matrix that has none"] == (7 + 4, {"up.weight", "down.weight"})
    one_each = {names.pop(): value for words, (value, names) in found.items() if words.endswith("which has none")}
    assert one_each == {"up.weight": 7, "down.weight": 4}
    keras = whole(ps.Dense(H, V, bias=False, dialect="keras").at(V=7, H=4))
    assert [value for words, (value, _) in keras.items() if words.endswith("which has none")] == [7]


def test_norms_are_imagined_behind_convolutions() -> None:
    """Two numbers for every output map; where there is a norm already, or no convolution, nobody adds one."""
    words = "a norm counted behind every convolution"
    two = ps.Sequential(ps.Conv2d(3, 5, 2), ps.Conv2d(5, 7, 2, bias=False))
    assert whole(two)[words] == (2 * (5 + 7), {"0.weight", "1.weight"})
    assert words not in whole(ps.Sequential(ps.Conv2d(3, 5, 2), ps.BatchNorm2d(5)))
    assert words not in whole(ps.Dense(4, 7))


def test_a_mask_per_layer() -> None:
    """Every position against every other, in each layer: GPT-2's first checkpoints saved it."""
    gpt2 = ps.models.Gpt2().at("gpt2")
    (value,) = (value for words, (value, _) in whole(gpt2).items() if words.startswith("a mask of"))
    assert value == 12 * 1024 * 1024


def test_a_share_that_does_not_come_out_whole() -> None:
    """ResNet-50 has 25,557,032 parameters; a sixteenth is 1,597,314.5, of which a device holds 1,597,315."""
    (found,) = ps.reconcile(ps.load("resnet50"), 1_597_315)
    assert found.term == found.difference == 1_597_315 - 25_557_032
    assert [reading.words for reading in found.readings] == ["one of 16 equal shares, rounded up"]
