"""Flax modules and functions of JAX: outputs as JAX computes them, FLOPs as counted by hand or by XLA, formulas in letters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest
from sympy import expand

import paramsym as ps
from paramsym import B, S
from paramsym.errors import ArgumentError, NotYetError

np = pytest.importorskip("numpy")
jax = pytest.importorskip("jax")
nnx = pytest.importorskip("flax.nnx")
nn = pytest.importorskip("flax.linen")

import jax.numpy as jnp  # noqa: E402 - it may be missing


class Tagger(nnx.Module):
    """Indices to tags: an embedding, a norm, a convolution, an attention, in NNX."""

    def __init__(self, rngs: Any) -> None:
        self.embed, self.up, self.norm = nnx.Embed(50, 16, rngs=rngs), nnx.Linear(16, 32, rngs=rngs), nnx.LayerNorm(32, rngs=rngs)
        self.conv, self.stats = nnx.Conv(32, 8, (3,), rngs=rngs), nnx.BatchNorm(8, use_running_average=True, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(4, 8, decode=False, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        y = jax.nn.gelu(self.norm(self.up(self.embed(x))))
        return self.attention(self.stats(self.conv(y)))[:, -1]


class Recurrent(nn.Module):
    """An LSTM, which is a scan."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.RNN(nn.LSTMCell(8))(nn.Dense(4)(x))


class Images(nn.Module):
    """Convolutions, pooling and their transposes."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.max_pool(nn.relu(nn.Conv(8, (3, 3), strides=2)(x)), (2, 2), (2, 2))
        x = nn.ConvTranspose(4, (3, 3), (2, 2))(nn.avg_pool(x, (2, 2), (1, 1), padding="SAME"))
        return nn.Dense(3)(nn.GroupNorm(2)(x).mean((1, 2)))


class Transformer(nn.Module):
    """A small ViT."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Conv(16, (4, 4), (4, 4))(x)
        x = x.reshape(x.shape[0], -1, 16)
        first = self.param("first", nn.initializers.normal(), (1, 1, 16))
        x = jnp.concatenate([jnp.broadcast_to(first, (x.shape[0], 1, 16)), x], 1)
        x = x + self.param("places", nn.initializers.normal(), (1, 17, 16))
        for _ in range(2):
            x = x + nn.SelfAttention(4)(nn.LayerNorm()(x))
            x = x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x))))
        return nn.Dense(5)(x[:, 0])


def layers(tree: Any, x: Any) -> Any:
    """Layers in a list."""
    for layer in tree["layers"]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jax.nn.softmax(x @ tree["out"])


def decoder(tree: Any, tokens: Any) -> Any:
    """Equal blocks by a scan over their stacked weights, and a tied head."""
    length = tokens.shape[1]
    seen = jnp.tril(jnp.ones((length, length), bool))

    def block(x: Any, weights: Any) -> Any:
        q, k, v = jnp.split(x @ weights["qkv"], 3, -1)
        scores = jnp.where(seen, jnp.einsum("bid,bjd->bij", q, k) / 4, -jnp.inf)
        return x + jax.nn.softmax(scores, -1) @ v, None

    x, _ = jax.lax.scan(block, tree["words"][tokens] + tree["places"][:length], tree["blocks"])
    return x @ tree["words"].T


def draw(*shape: int) -> Any:
    """Return random numbers."""
    return jnp.asarray(np.random.default_rng(sum(shape)).normal(size=shape) * 0.3, jnp.float32)


class Groups(nn.Module):
    """A norm of groups, whose mean divides by a number that the size of the images gives."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.GroupNorm(num_groups=2)(nn.Conv(4, (3, 3), strides=2)(x))


def causal(tree: Any, x: Any) -> Any:
    """Attention by JAX's own function, with a mask of all pairs."""
    q, k, v = (jnp.einsum("bsd,dhe->bshe", x, tree[name]) for name in "qkv")
    return jnp.einsum("bshe,hed->bsd", jax.nn.dot_product_attention(q, k, v, is_causal=True), tree["out"])


class Case(NamedTuple):
    """A layer that was read, its tensors, what JAX computes, the input, its shape in letters, and the count by hand."""

    layer: ps.Layer
    tensors: dict[str, Any]
    function: Callable[[Any], Any]
    x: Any
    letters: tuple[Any, ...]
    flops: Any


def of_linen(module: Any, x: Any, letters: tuple[Any, ...], flops: Any) -> Case:
    """Return a linen module with its variables."""
    variables = module.init(jax.random.key(0), x)
    leaves = jax.tree_util.tree_flatten_with_path(variables)[0]
    tensors = {".".join(step.key for step in path[1:]): np.asarray(leaf) for path, leaf in leaves}
    return Case(ps.from_module(module, variables), tensors, partial(module.apply, variables), x, letters, flops)


def of_function(function: Any, tree: Any, x: Any, letters: tuple[Any, ...], flops: Any) -> Case:
    """Return a function with its tree."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    tensors = {".".join(str(getattr(step, "key", getattr(step, "idx", ""))) for step in path): np.asarray(leaf) for path, leaf in leaves}
    return Case(ps.from_module(function, tree), tensors, partial(function, tree), x, letters, flops)


def of_nnx() -> Case:
    """Return an NNX module: a product, a convolution, four projections, two products of the attention."""
    module = Tagger(nnx.Rngs(0))
    tensors = {".".join(map(str, path)): np.asarray(leaf.get_value()) for path, leaf in nnx.to_flat_state(nnx.state(module))}
    tokens = jnp.arange(14).reshape(2, 7)
    hand = B * (2 * S * (16 * 32 + 3 * 32 * 8 + 4 * 8 * 8) + 2 * 2 * S**2 * 8)
    return Case(ps.from_module(module), tensors, module, tokens, (B, S), hand)


def patches() -> Any:
    """Return the FLOPs of the transformer by hand: patches, two blocks of 17 positions, the head."""
    block = 2 * 17 * 4 * 16 * 16 + 2 * 2 * 17 * 17 * 16 + 2 * 2 * 17 * 16 * 32
    return B * (2 * 16 * 48 * 16 + 2 * block + 2 * 16 * 5)


def stacked(tree: Any, x: Any) -> Any:
    """Layers whose tensors are stacked, in one scan; a choice with a zero in it."""

    def layer(x: Any, one: Any) -> Any:
        y = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * one["norm"]
        return x + jnp.where(y > 0, y, 0) @ one["up"] @ one["down"], None

    return jax.lax.scan(layer, x, {key: tree[key] for key in ("norm", "up", "down")})[0] @ tree["out"]


def associative(tree: Any, x: Any) -> Any:
    """A linear recurrence as a scan in pairs (Smith et al. 2023, S5)."""
    fed = x @ tree["in"]
    rates = jnp.broadcast_to(jax.nn.sigmoid(tree["rate"]), fed.shape)
    states = jax.lax.associative_scan(lambda one, two: (one[0] * two[0], two[0] * one[1] + two[1]), (rates, fed), axis=1)[1]
    return states @ tree["out"]


TREE = {"words": draw(20, 16), "places": draw(32, 16), "blocks": {"qkv": draw(3, 16, 48)}}
STACKED = {"norm": draw(3, 8), "up": draw(3, 8, 16), "down": draw(3, 16, 8), "out": draw(8, 5)}
STATES = {"rate": draw(6), "in": draw(4, 6), "out": draw(6, 4)}
HEADS = {"q": draw(8, 2, 4), "k": draw(8, 2, 4), "v": draw(8, 2, 4), "out": draw(2, 4, 8)}
LIST = {"layers": [{"w": draw(4, 4) + n, "b": draw(4)} for n in range(3)], "out": draw(4, 5)}
CASES: dict[str, Callable[[], Case]] = {
    "nnx": of_nnx,
    "scan": lambda: of_linen(Recurrent(), draw(2, 5, 3), (B, S, 3), B * S * 2 * (3 * 4 + 4 * 8 * (4 + 8))),
    "images": lambda: of_linen(Images(), draw(2, 16, 16, 3), (B, 16, 16, 3), B * 2 * (8 * 8 * 27 * 8 + 4 * 4 * 9 * 8 * 4 + 4 * 3)),
    "transformer": lambda: of_linen(Transformer(), draw(2, 16, 16, 3), (B, 16, 16, 3), patches()),
    "groups": lambda: of_linen(Groups(), draw(2, 8, 6, 3), (B, 2 * S, 6, 3), B * S * 3 * 2 * 27 * 4),
    "causal": lambda: of_function(causal, HEADS, draw(2, 7, 8), (B, S, 8), B * (4 * 2 * S * 8 * 8 + 2 * 2 * S**2 * 8)),
    "stacked": lambda: of_function(stacked, STACKED, draw(2, 7, 8), (B, S, 8), B * S * 2 * (3 * 2 * 8 * 16 + 8 * 5)),
    "associative": lambda: of_function(associative, STATES, draw(2, 11, 4), (B, 11, 4), B * 11 * 2 * 2 * 4 * 6),
    "list": lambda: of_function(layers, LIST, draw(2, 4), (B, 4), B * 2 * (3 * 4 * 4 + 4 * 5)),
    "blocks": lambda: of_function(
        decoder, TREE, jnp.arange(14).reshape(2, 7), (B, S), B * (3 * (2 * S * 16 * 48 + 2 * 2 * S**2 * 16) + 2 * S * 16 * 20)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_model(name: str) -> None:
    """The count, the outputs, the FLOPs in letters."""
    case = CASES[name]()
    assert case.layer.count == sum(one.size for key, one in case.tensors.items() if key not in {"stats.mean", "stats.var"})
    wanted = np.asarray(case.function(case.x))
    found = ps.run(case.layer, case.tensors, np.asarray(case.x))
    assert found.shape == wanted.shape
    assert abs(found - wanted).max() < 1e-4 * max(1, abs(wanted).max())
    assert ps.flops(case.layer, case.letters).total == expand(case.flops)


def test_products_as_xla_counts_them() -> None:
    """Products and convolutions without padding, of which XLA counts the same."""

    def function(tree: Any, x: Any) -> Any:
        y = jax.lax.conv_general_dilated(x, tree["kernel"], (2, 1), "VALID", rhs_dilation=(1, 2), feature_group_count=2)
        return jnp.einsum("bchw,cdh->bdw", y, tree["mixed"])

    tree = {"kernel": draw(6, 2, 3, 3), "mixed": draw(6, 7, 4)}
    x = draw(2, 4, 9, 11)
    wanted = jax.jit(partial(function, tree)).lower(x).cost_analysis()["flops"]
    assert ps.flops(ps.from_module(function, tree), x.shape).total == int(wanted)
    found = ps.run(ps.from_module(function, tree), {key: np.asarray(one) for key, one in tree.items()}, np.asarray(x))
    assert abs(found - np.asarray(function(tree, x))).max() < 1e-4


def test_parts_are_those_of_linen() -> None:
    """The table has the modules by name."""
    table = str(ps.flops(CASES["transformer"]().layer, (1, 16, 16, 3)).table())
    assert "SelfAttention_0" in table
    assert "Dense_4" in table


def test_what_is_refused() -> None:
    """A loop whose end depends on entries, a random choice, inputs that a function cannot take."""

    def loop(tree: Any, x: Any) -> Any:
        return jax.lax.while_loop(lambda y: y.sum() < 9, lambda y: y * tree["w"], x)

    with pytest.raises(NotYetError, match="the operator while is not known"):
        ps.flops(ps.from_module(loop, {"w": draw(3)}), (3,))

    class Dropped(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.drop, self.up = nnx.Dropout(0.5, rngs=rngs), nnx.Linear(4, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.up(self.drop(x))

    layer = ps.from_module(Dropped(nnx.Rngs(0)))
    assert layer.count == 20
    with pytest.raises(NotYetError, match="random"):
        ps.flops(layer, (2, 4))
    with pytest.raises(ArgumentError, match="layers failed"):
        ps.flops(ps.from_module(layers, LIST), (2, 3))
