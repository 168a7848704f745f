"""``from_module`` and ``derive`` on live Flax modules, NNX and linen."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from frameworks import imported
from oracles.certified_flax import linen_rows, nnx_rows
from oracles.instances import placed

import paramsym as ps
from paramsym.errors import ArgumentError
from paramsym.verify.readers import read

jax = imported("jax")
linen = imported("flax.linen")
nnx = imported("flax.nnx")
SIZES = {"H": 8, "A": 2, "D": 4, "F": 6, "C": 4, "G": 2, "K": 3, "V": 10, "W": 5, "R": 2, "i": 5, "p": 3, "q": 2}


@pytest.mark.parametrize("row", [row for row in nnx_rows() if not row.inside], ids=lambda row: f"{row.name}-{row.arguments}"[:80])
def test_every_class_of_nnx(row: Any) -> None:
    """Names, shapes and statistics; a class that has a layer here becomes it, unless it stores something else."""
    arguments = placed(row.arguments, SIZES)
    cls = getattr(nnx, row.name)
    named = {"rngs": nnx.Rngs(0)} if "rngs" in inspect.signature(cls.__init__).parameters else {}
    module = cls(**arguments, **({"decode": False} if row.name == "MultiHeadAttention" else {}), **named)
    layer = ps.from_module(module)
    stored = read(module)
    assert layer.shapes(buffers=True) == dict(stored.shapes) or sorted(layer.shapes(buffers=True)) == sorted(stored.shapes)
    assert all(layer.shapes(buffers=True)[name] == shape for name, shape in stored.shapes.items())


def test_an_nnx_module_of_ones_own() -> None:
    """Known classes become their layers, a parameter that stands alone becomes a parameter."""

    class Block(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.up = nnx.Linear(3, 4, rngs=rngs)
            self.norm = nnx.LayerNorm(4, rngs=rngs)
            self.bn = nnx.BatchNorm(4, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(2, 4, decode=False, rngs=rngs)
            self.spread = nnx.ConvTranspose(4, 3, (2,), rngs=rngs)
            self.gate = nnx.Param(jax.numpy.zeros((2, 3)))

    layer = ps.from_module(Block(nnx.Rngs(0)))
    assert isinstance(layer.part("up"), ps.Dense)
    assert isinstance(layer.part("attention"), ps.MultiHeadAttention)
    assert isinstance(layer.part("spread"), ps.ConvTranspose1d)
    assert layer.shapes()["gate"] == (2, 3)
    assert layer.shapes(buffers=True)["bn.mean"] == (4,)
    assert layer.count == 12 + 4 + 8 + 8 + 6 + 4 * (16 + 4) + (2 * 4 * 3 + 3)


@pytest.mark.parametrize("row", [row for row in linen_rows() if not row.inside], ids=lambda row: f"{row.name}-{row.arguments}"[:80])
def test_every_class_of_linen(row: Any) -> None:
    """The tree that ``init`` gives, tensor by tensor."""
    module = getattr(linen, row.name)(**placed(row.arguments, SIZES))
    kind = jax.numpy.int32 if row.name == "Embed" else jax.numpy.float32
    tree = jax.eval_shape(module.init, jax.random.key(0), jax.numpy.zeros(placed({"x": row.inputs}, SIZES)["x"], kind))
    layer = ps.from_module(module, tree)
    stored = read(tree)
    assert sorted(layer.shapes(buffers=True)) == sorted(stored.shapes)
    assert all(layer.shapes(buffers=True)[name] == shape for name, shape in stored.shapes.items())


def test_a_linen_module_needs_its_tree() -> None:
    """It holds no parameters itself; with them, classes show in the names."""

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            x = linen.LayerNorm()(linen.Embed(7, 8)(x))
            return linen.Dense(4)(linen.MultiHeadDotProductAttention(2, out_features=6)(x, x))

    net = Net()
    with pytest.raises(ArgumentError, match="contains no parameters"):
        ps.from_module(net)
    tree = jax.eval_shape(net.init, jax.random.key(0), jax.numpy.zeros((1, 5), jax.numpy.int32))
    layer = ps.from_module(net, tree)
    assert isinstance(layer.part("MultiHeadDotProductAttention_0"), ps.MultiHeadAttention)
    assert isinstance(layer.part("Dense_0"), ps.Dense)
    assert layer.count == 7 * 8 + 16 + 3 * 72 + (8 * 6 + 6) + (6 * 4 + 4)


def test_derive_a_linen_model() -> None:
    """The tree of shapes is enough: nothing is computed."""

    class Net(linen.Module):
        width: int
        depth: int

        @linen.compact
        def __call__(self, x: Any) -> Any:
            for i in range(self.depth):
                x = linen.Dense(self.width, name=f"h_{i}")(x)
            return linen.Dense(3, name="out")(x)

    def build(width: int = 6, depth: int = 2) -> Any:
        return jax.eval_shape(Net(width, depth).init, jax.random.key(0), jax.numpy.zeros((1, 5)))

    form = ps.derive(build, width=range(1, 60), depth=range(1, 7), tests=40, seconds=60)
    assert str(form.params) == "depth*width**2 + depth*width - width**2 + 8*width + 3"
