"""Values of layers by the formulas in the documentation of their frameworks, which need not be installed for them."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported

import paramsym as ps


@pytest.mark.parametrize("padding", [None, 1, -4])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_rows(mode: Any, padding: int | None) -> None:
    """The row of the padding, 1, is in no bag; a bag of nothing else gives zeros (torch.nn.EmbeddingBag)."""
    xp = imported("numpy")
    table = xp.array([[0.5, -2.0], [9.0, 9.0], [1.5, -1.0], [-3.0, 4.0], [2.0, 2.0]])
    bags = [[0, 1, 2], [3, 3, 4], [1, 1, 1]]
    kept = [[row for row in bag if padding is None or row != 1] for bag in bags]
    wanted = [getattr(table[bag], mode)(0).tolist() if bag else [0.0, 0.0] for bag in kept]
    found = ps.run(ps.EmbeddingBag(5, 2, mode=mode, padding_idx=padding), {"weight": table}, xp.array(bags))
    assert xp.allclose(found, wanted)


@pytest.mark.parametrize(("tied", "cap"), [(True, None), (True, 2.0), (False, 2.0)])
def test_an_embedding_in_both_directions(tied: bool, cap: float | None) -> None:
    """The scores are hidden @ table.T, or those of an own matrix, and cap * tanh(scores / cap) (keras.layers.ReversibleEmbedding)."""
    xp = imported("numpy")
    chance = xp.random.default_rng(1)
    table, back, hidden = chance.standard_normal((7, 3)), chance.standard_normal((3, 7)), chance.standard_normal((2, 3))
    layer = ps.keras.ReversibleEmbedding(7, 3, tie_weights=tied, logit_soft_cap=cap)
    stored = {"embeddings": table} if tied else {"embeddings": table, "reverse_embeddings": back}
    rows, scores = ps.run(layer, stored, xp.array([[4, 0]]), hidden)
    assert xp.allclose(rows, table[[[4, 0]]])
    wanted = hidden @ (table.T if tied else back)
    assert xp.allclose(scores, wanted if cap is None else cap * xp.tanh(wanted / cap))


def test_a_gate_before_the_product() -> None:
    """The reset gate multiplies the state before the product, as in Cho et al. 2014 (keras.layers.GRUCell, reset_after=False)."""
    xp = imported("numpy")
    chance = xp.random.default_rng(2)
    layer = ps.keras.GRUCell(4, reset_after=False, input_shape=(None, 3))
    stored = {name: chance.standard_normal(shape) for name, shape in layer.shapes().items()}
    kernel, recurrent, bias = (xp.split(stored[name], 3, -1) for name in ("kernel", "recurrent_kernel", "bias"))
    x, h = chance.standard_normal((2, 3)), chance.standard_normal((2, 4))

    def gate(number: int) -> Any:
        return 1 / (1 + xp.exp(-(x @ kernel[number] + h @ recurrent[number] + bias[number])))

    update, reset = gate(0), gate(1)
    new = xp.tanh(x @ kernel[2] + (reset * h) @ recurrent[2] + bias[2])
    found = ps.run(layer, stored, x, h)
    wanted = update * h + (1 - update) * new
    assert all(xp.allclose(one, wanted) for one in (found if isinstance(found, tuple) else (found,)))


def test_a_matrix_over_its_largest_singular_value() -> None:
    """With u and v of the decomposition, W / sigma (torch.nn.utils.parametrizations.spectral_norm in evaluation, Miyato et al. 2018)."""
    xp = imported("numpy")
    chance = xp.random.default_rng(3)
    weight, bias, x = chance.standard_normal((4, 3)), chance.standard_normal(4), chance.standard_normal((2, 3))
    u, sigma, v = xp.linalg.svd(weight)
    names = ("bias", "parametrizations.weight.original", "parametrizations.weight.0._u", "parametrizations.weight.0._v")
    layer = ps.SpectralNorm(ps.Dense(3, 4))
    assert {*layer.shapes(buffers=True)} == {*names}
    found = ps.run(layer, dict(zip(names, (bias, weight, u[:, 0], v[0]), strict=True)), x)
    assert xp.allclose(found, x @ (weight / sigma[0]).T + bias)
