"""Adapted, reparametrized and wrapped layers, trees and the adaptive softmax compute what the references compute."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported
from running import assert_runs_as_flax, assert_runs_as_keras, assert_runs_as_torch, draws

import paramsym as ps


def flip(random: Random) -> bool:
    """Throw a coin."""
    return random.random() < 0.5


@pytest.mark.filterwarnings("ignore")
def test_low_rank_in_torch() -> None:
    """Forty random settings of PEFT's layers around a dense layer, a transposed one, an embedding and convolutions."""
    torch, peft, random = imported("torch"), imported("peft"), Random(1)
    transposed = imported("transformers.pytorch_utils").Conv1D
    for _ in draws(40):
        one, other, rank = random.randint(1, 5), random.randint(1, 5), random.randint(1, 3)
        kind, bias = random.choice(["dense", "transposed", "embedding", "conv"]), flip(random)
        x = torch.randn(2, 3, one).double()
        if kind == "dense":
            base, ours = torch.nn.Linear(one, other, bias), ps.Dense(one, other, bias)
        elif kind == "transposed":
            base, ours = transposed(other, one), ps.TransposedDense(one, other)
        elif kind == "embedding":
            base, ours, x = torch.nn.Embedding(one, other), ps.Embedding(one, other), torch.randint(0, one, (2, 3))
        else:
            dims = random.randint(1, 3)
            arguments = (one, other, 3, random.randint(1, 2), 1, 1, 1, bias)
            base, ours = getattr(torch.nn, f"Conv{dims}d")(*arguments), getattr(ps, f"Conv{dims}d")(*arguments)
            x = torch.randn(2, one, *(5,) * dims).double()
        options = {"lora_alpha": random.choice([4, 8]), "use_rslora": flip(random), "use_dora": flip(random)}
        options["lora_bias"] = not options["use_dora"] and kind != "embedding" and flip(random)
        module = peft.LoraConfig(r=rank, target_modules=["0"], init_lora_weights=False, fan_in_fan_out=kind == "transposed", **options)
        wrapped = peft.inject_adapter_in_model(module, torch.nn.Sequential(base))[0].double()
        for parameter in wrapped.parameters():
            torch.nn.init.normal_(parameter)
        assert_runs_as_torch(ps.LoRA(ours, rank, **options), wrapped, x)


@pytest.mark.filterwarnings("ignore")
def test_low_rank_elsewhere() -> None:
    """Keras' adapted kernels and tables, and NNX' layer."""
    keras, nnx, jax, xp = imported("keras"), imported("flax.nnx"), imported("jax"), imported("numpy")
    random = Random(2)
    for _ in draws(10):
        one, other, rank = random.randint(1, 5), random.randint(1, 5), random.randint(1, 3)
        alpha = random.choice([None, 3.0])
        generator = xp.random.default_rng(random.randrange(2**32))
        x = generator.standard_normal((2, 3, one))
        given: dict[str, Any] = {"lora_rank": rank, "lora_alpha": alpha}
        ours = ps.keras.Dense(other, input_shape=x.shape, **given)
        assert_runs_as_keras(ours, keras.layers.Dense(other, dtype="float64", **given), x)
        ours = ps.keras.EinsumDense("abc,cd->abd", (None, other), bias_axes="d", input_shape=x.shape, **given)
        assert_runs_as_keras(ours, keras.layers.EinsumDense("abc,cd->abd", (None, other), bias_axes="d", dtype="float64", **given), x)
        image = generator.standard_normal((2, 5, 4, one))
        ours = ps.keras.Conv2D(other, 3, input_shape=image.shape, **given)
        assert_runs_as_keras(ours, keras.layers.Conv2D(other, 3, dtype="float64", **given), image)
        index = generator.integers(0, one, (2, 3))
        ours = ps.keras.Embedding(one, other, **given)
        assert_runs_as_keras(ours, keras.layers.Embedding(one, other, dtype="float64", **given), index)
        with jax.enable_x64(True):
            module = nnx.LoRALinear(one, other, lora_rank=rank, rngs=nnx.Rngs(0), param_dtype="float64", lora_param_dtype="float64")
            module.lora.lora_b.value = generator.standard_normal((rank, other))
            wanted = xp.asarray(module(x))
            tensors = {
                **{name: xp.asarray(getattr(module, name).value) for name in ("kernel", "bias")},
                **{f"lora.{name}": xp.asarray(getattr(module.lora, name).value) for name in ("lora_a", "lora_b")},
            }
        found = ps.run(ps.LoRA(ps.Dense(one, other, dialect="flax"), rank), tensors, x)
        assert abs(found - wanted).max() < 1e-9


@pytest.mark.filterwarnings("ignore")
def test_norms_of_weights_in_torch() -> None:
    """Thirty random settings each around a dense layer and a convolution, plain and transposed."""
    torch, random = imported("torch"), Random(3)
    parametrizations = imported("torch.nn.utils.parametrizations")
    for _ in draws(30):
        one, other, bias = random.randint(1, 4), random.randint(1, 4), flip(random)
        kind = random.choice(["Linear", "Conv1d", "Conv2d"])
        arguments = (one, other) if kind == "Linear" else (one, other, 2)
        x = torch.randn(2, *((3, one) if kind == "Linear" else (one, 4, 4)[: 3 if kind.endswith("2d") else 2])).double()
        for wrapper, name in ((ps.WeightNorm, "weight_norm"), (ps.SpectralNorm, "spectral_norm")):
            ours = getattr(ps, "Dense" if kind == "Linear" else kind)(*arguments, bias=bias)
            module = getattr(torch.nn, kind)(*arguments, bias=bias)
            dim = random.choice([0, 1] if name == "spectral_norm" else [0, 1, None])
            assert_runs_as_torch(wrapper(ours, dim=dim), getattr(parametrizations, name)(module, dim=dim), x)


@pytest.mark.filterwarnings("ignore")
def test_norms_of_weights_elsewhere() -> None:
    """Keras' and Flax' wrappers around dense layers."""
    keras, linen, xp, random = imported("keras"), imported("flax.linen"), imported("numpy"), Random(4)
    for _ in draws(10):
        one, other = random.randint(1, 4), random.randint(1, 4)
        x = xp.random.default_rng(random.randrange(2**32)).standard_normal((2, 3, one))
        ours = ps.keras.SpectralNormalization(ps.keras.Dense(other), input_shape=x.shape)
        assert_runs_as_keras(
            ours, keras.layers.SpectralNormalization(keras.layers.Dense(other, dtype="float64", name="dense"), dtype="float64"), x
        )
        ours = ps.keras.TimeDistributed(ps.keras.Dense(other), input_shape=x.shape)
        assert_runs_as_keras(
            ours, keras.layers.TimeDistributed(keras.layers.Dense(other, dtype="float64", name="dense"), dtype="float64"), x
        )
        inner = ps.Dense(one, other, dialect="flax")
        theirs = linen.Dense(other, param_dtype="float64", name="layer_instance")
        assert_runs_as_flax(ps.WeightNorm(inner), linen.WeightNorm(theirs, param_dtype="float64"), x, slashes=True)
        theirs = linen.Dense(other, param_dtype="float64", name="layer_instance")
        assert_runs_as_flax(ps.SpectralNorm(inner), linen.SpectralNorm(theirs, param_dtype="float64"), x, slashes=True, update_stats=False)


def test_adaptive_softmax() -> None:
    """Thirty random settings, with and without a batch."""
    torch, random = imported("torch"), Random(5)
    for _ in draws(30):
        width, classes = random.randint(4, 9), random.randint(6, 15)
        cutoffs = sorted(random.sample(range(1, classes), random.randint(1, 2)))
        options = {"div_value": random.choice([1.5, 2.0]), "head_bias": flip(random)}
        module = torch.nn.AdaptiveLogSoftmaxWithLoss(width, classes, cutoffs, **options).double()
        batch = () if flip(random) else (7,)
        x, target = torch.randn(*batch, width).double(), torch.randint(0, classes, batch)
        tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
        found = ps.run(ps.AdaptiveLogSoftmaxWithLoss(width, classes, tuple(cutoffs), **options), tensors, x.numpy(), target.numpy())
        assert abs(found - module(x, target).output.detach().numpy()).max() < 1e-9


def tree_by_hand(xp: Any, tensors: dict[str, Any], x: Any, depth: int, trees: int) -> Any:
    """Compute all nodes and keep those on the path, as the training code of UltraFastBERT does."""
    erf = xp.vectorize(imported("math").erf)
    nodes = 2 ** (depth + 1) - 1
    scores = (x @ tensors["linear_in.weight"].T + tensors["linear_in.bias"]).reshape(*x.shape[:-1], trees, nodes)
    kept = xp.zeros_like(scores)
    for where in xp.ndindex(scores.shape[:-1]):
        node = 0
        for _ in range(depth + 1):
            kept[(*where, node)] = 1
            node = 2 * node + 1 + int(scores[(*where, node)] > 0)
    gelu = scores * 0.5 * (1 + erf(scores / 2**0.5))
    return (gelu * kept).reshape(*x.shape[:-1], -1) @ tensors["linear_out.weight"].T


def leaves_by_hand(xp: Any, tensors: dict[str, Any], x: Any, depth: int) -> Any:
    """Walk down every position's path, and apply the leaf's network."""
    rows = []
    for one in x.reshape(-1, x.shape[-1]):
        node = 0
        for _ in range(depth):
            node = 2 * node + 1 + int(one @ tensors["node_weights"][node] + tensors["node_biases"][node, 0] > 0)
        leaf = node - (2**depth - 1)
        hidden = xp.maximum(one @ tensors["w1s"][leaf] + tensors["b1s"][leaf], 0)
        rows.append(hidden @ tensors["w2s"][leaf] + tensors["b2s"][leaf])
    return xp.stack(rows).reshape(*x.shape[:-1], -1)


def test_trees() -> None:
    """Twenty random settings of both kinds against a walk by hand; the work is that of the path."""
    xp, random = imported("numpy"), Random(6)
    for _ in draws(20):
        generator = xp.random.default_rng(random.randrange(2**32))
        one, other, depth, trees = (random.randint(1, 4) for _ in range(4))
        x = generator.standard_normal((2, 3, one))
        layer = ps.FastFeedForward(one, other, depth, trees)
        tensors = {name: generator.standard_normal(shape) for name, shape in layer.shapes().items()}
        assert abs(ps.run(layer, tensors, x) - tree_by_hand(xp, tensors, x, depth, trees)).max() < 1e-9
        assert ps.macs(layer, x.shape).total == 6 * trees * (depth + 1) * one
        layer = ps.FastFeedForward(one, other, depth, leaf_width=3)
        tensors = {name: generator.standard_normal(shape) for name, shape in layer.shapes().items()}
        assert abs(ps.run(layer, tensors, x) - leaves_by_hand(xp, tensors, x, depth)).max() < 1e-9
        assert ps.macs(layer, x.shape).total == 6 * (depth * one + 3 * (one + other))
