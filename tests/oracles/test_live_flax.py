"""Flax itself, where it is installed: linen's trees and NNX's states."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import C, F, H, V
from paramsym.testing import certify


def tree_of(module: Any, *shape: int, whole: bool = False) -> Any:
    """Return the shapes of a linen module's variables; nothing is computed."""
    jax = imported("jax")
    kind = "int32" if whole else "float32"
    return jax.eval_shape(module.init, jax.random.key(0), jax.ShapeDtypeStruct(shape, kind))


def test_dense() -> None:
    """A kernel the other way round than torch's."""
    linen = imported("flax.linen")
    proof = certify(ps.Dense(H, F, dialect="keras"), lambda F, H: tree_of(linen.Dense(F), 2, H))
    assert proof.compared == "tensors"
    assert ps.match(ps.Dense(3, 4), tree_of(linen.Dense(4), 2, 3), rename={"kernel": "weight"}).transposed == ("weight",)


def test_embedding() -> None:
    """One table."""
    linen = imported("flax.linen")
    layer = ps.Embedding(V, H)
    certify(layer, lambda H, V: tree_of(linen.Embed(V, H), 2, whole=True), rename={"embedding": "weight"})


def test_layer_norm() -> None:
    """Scale and bias."""
    linen = imported("flax.linen")
    certify(ps.LayerNorm(H), lambda H: tree_of(linen.LayerNorm(), 2, H), rename={"scale": "weight"})


def test_batch_norm_keeps_its_statistics_in_a_collection_of_their_own() -> None:
    """Running statistics are not among the parameters."""
    linen = imported("flax.linen")
    names = {"scale": "weight", "mean": "running_mean", "var": "running_var"}
    found = ps.match(ps.BatchNorm1d(5), tree_of(linen.BatchNorm(use_running_average=True), 2, 5), rename=names)
    assert found.missing == ("num_batches_tracked",)  # torch's own counter
    assert not found.mismatched
    assert not found.unexpected


def test_nnx_modules_and_states() -> None:
    """Parameters and statistics, without random keys."""
    nnx = imported("flax.nnx")

    class Small(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.up = nnx.Linear(3, 5, rngs=rngs)
            self.norm = nnx.BatchNorm(5, rngs=rngs)
            self.drop = nnx.Dropout(0.1, rngs=rngs)

    layer = ps.Block(up=ps.Dense(C, F, dialect="keras"), norm=ps.BatchNorm1d(F))
    names = {"norm.scale": "norm.weight", "norm.mean": "norm.running_mean", "norm.var": "norm.running_var"}
    module = Small(nnx.Rngs(0))
    for source in (module, nnx.state(module)):
        found = ps.match(layer, source, rename=names)
        assert found.sizes == {C: 3, F: 5}
        assert found.missing == ("norm.num_batches_tracked",)
        assert not found.unexpected


@pytest.mark.parametrize("bias", [True, False])
def test_convolution(bias: bool) -> None:
    """Extents first, then channels."""
    linen = imported("flax.linen")
    found = ps.match(ps.Conv2d(3, 8, 5, bias=bias), tree_of(linen.Conv(8, (5, 5), use_bias=bias), 1, 9, 9, 3), rename={"kernel": "weight"})
    assert found.transposed == ("weight",)
    assert not found.missing
