"""Activations, dropout, norms and embeddings compute what the references compute, on random settings."""

from __future__ import annotations

from collections.abc import Callable
from math import cos as cos_, sin as sin_
from random import Random
from typing import Any

import pytest
from frameworks import imported, only_with, widened, widened_keras
from running import assert_runs_as_flax, assert_runs_as_keras, assert_runs_as_torch, draws

import paramsym as ps
from paramsym.keras._activations import ACTIVATIONS as ACTIVATIONS_OF_KERAS
from paramsym.models.activations import NAMES, Activation

only_with("numpy")

Drawn = tuple[tuple[Any, ...], dict[str, Any]]
ACTIVATIONS: dict[str, Callable[[Random], Drawn]] = {
    **{
        name: lambda _: ((), {})
        for name in (
            *("Hardsigmoid", "Hardswish", "LogSigmoid", "Mish", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid"),
            *("Softmax2d", "Softsign", "Tanh", "Tanhshrink"),
        )
    },
    "AlphaDropout": lambda random: ((random.random(),), {}),
    "CELU": lambda random: ((random.uniform(0.2, 2),), {}),
    "Dropout": lambda random: ((random.random(),), {}),
    "Dropout1d": lambda random: ((random.random(),), {}),
    "Dropout2d": lambda random: ((random.random(),), {}),
    "Dropout3d": lambda random: ((random.random(),), {}),
    "ELU": lambda random: ((random.uniform(0.2, 2),), {}),
    "FeatureAlphaDropout": lambda random: ((random.random(),), {}),
    "GELU": lambda random: ((random.choice(["none", "tanh"]),), {}),
    "GLU": lambda random: ((random.choice([1, -1]),), {}),
    "Hardshrink": lambda random: ((random.random(),), {}),
    "Hardtanh": lambda random: ((-random.random(), random.random()), {}),
    "LeakyReLU": lambda random: ((random.random(),), {}),
    "LogSoftmax": lambda random: ((random.choice([None, 0, 1, -1]),), {}),
    "PReLU": lambda random: ((random.choice([1, 4]), random.random()), {}),
    "RReLU": lambda random: ((random.uniform(0, 0.2), random.uniform(0.2, 0.5)), {}),
    "Softmax": lambda random: ((random.choice([None, 0, 1, -1]),), {}),
    "Softmin": lambda random: ((random.choice([None, 0, 1, -1]),), {}),
    "Softplus": lambda random: ((random.uniform(0.5, 3), random.uniform(1, 20)), {}),
    "Softshrink": lambda random: ((random.random(),), {}),
    "Threshold": lambda random: ((random.uniform(-1, 1), random.uniform(-1, 1)), {}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    """Thirty random settings each, on inputs of two to four axes."""
    torch, random = imported("torch"), Random(name)
    for _ in draws(30):
        args, kwargs = ACTIVATIONS[name](random)
        shape = {"Softmax2d": (3,), "Dropout1d": (2, 4), "Dropout2d": (2, 4), "Dropout3d": (2, 4, 3)}.get(name, (2, 4))
        shape = (*shape, *(random.choice([2, 6]) for _ in range(1 if name == "Dropout1d" else 2)))
        module = getattr(torch.nn, name)(*args, **kwargs)
        assert_runs_as_torch(getattr(ps, name)(*args, **kwargs), module, torch.randn(shape, dtype=torch.float64) * 3)


def norm(name: str, random: Random) -> tuple[int, dict[str, Any], tuple[int, ...]]:
    """Draw the channels and the options of a norm of torch that stands on axis 1, and an input."""
    rank, over_batch = int(name[-2]), name.startswith("Batch")
    channels = random.randint(1, 5)
    options = {
        "eps": random.choice([1e-5, 1e-2]),
        "affine": random.random() < 0.5,
        "track_running_stats": random.random() < 0.5,
    }
    batch = () if not over_batch and random.random() < 0.3 else (3,)
    spatial = () if over_batch and rank == 1 and random.random() < 0.5 else tuple(random.randint(2, 4) for _ in range(rank))
    return channels, options, (*batch, channels, *spatial)


@pytest.mark.parametrize("name", [f"{kind}Norm{rank}d" for kind in ("Batch", "Instance") for rank in (1, 2, 3)])
def test_norms_of_batches_and_instances(name: str) -> None:
    """Thirty random settings each, with and without stored statistics."""
    torch, random = imported("torch"), Random(name)
    for _ in draws(30):
        channels, options, shape = norm(name, random)
        assert_runs_as_torch(
            getattr(ps, name)(channels, **options), getattr(torch.nn, name)(channels, **options), torch.randn(shape).double()
        )


def test_norms_of_channels() -> None:
    """Thirty random settings each of group normalisation and of the response of neighbouring channels."""
    torch, random = imported("torch"), Random(1)
    for _ in draws(30):
        groups, width = random.randint(1, 3), random.randint(1, 3)
        kwargs = {"eps": random.choice([1e-5, 1e-2]), "affine": random.random() < 0.7}
        x = torch.randn(2, groups * width, *(random.randint(2, 4) for _ in range(random.randint(1, 3)))).double()
        assert_runs_as_torch(ps.GroupNorm(groups, groups * width, **kwargs), torch.nn.GroupNorm(groups, groups * width, **kwargs), x)
        args = (random.randint(1, 6), random.uniform(0.01, 1), random.uniform(0.3, 1), random.uniform(0.5, 2))
        assert_runs_as_torch(ps.LocalResponseNorm(*args), torch.nn.LocalResponseNorm(*args), x)


def test_norms_of_features() -> None:
    """Thirty random settings each of the norms over the last axes."""
    torch, random = imported("torch"), Random(2)
    for _ in draws(30):
        shape = tuple(random.randint(1, 4) for _ in range(random.randint(1, 3)))
        x = torch.randn(*(2, 3)[: random.randint(0, 2)], *shape).double()
        kwargs = {"eps": random.choice([1e-5, 1e-2]), "elementwise_affine": random.random() < 0.7, "bias": random.random() < 0.7}
        assert_runs_as_torch(ps.LayerNorm(shape, **kwargs), torch.nn.LayerNorm(shape, **kwargs), x)
        kwargs = {"eps": random.choice([None, 1e-5, 1e-2]), "elementwise_affine": random.random() < 0.7}
        assert_runs_as_torch(ps.RMSNorm(shape, **kwargs), torch.nn.RMSNorm(shape, **kwargs), x)


@pytest.mark.filterwarnings("ignore")
def test_norms_in_keras() -> None:
    """Twelve random settings each of Keras' norms, over every axis that Keras takes."""
    keras, xp, random = imported("keras"), imported("numpy"), Random(3)
    for _ in draws(12):
        shape = (2, *(random.randint(2, 5) for _ in range(random.randint(1, 3))), 6)
        x, axis = xp.random.default_rng(random.randrange(2**32)).standard_normal(shape), random.randint(1, len(shape) - 1)
        axes = random.sample(range(1, len(shape)), random.randint(1, len(shape) - 1))
        some = random.choice([axis, axis - len(shape), [random.choice([one, one - len(shape)]) for one in axes]])
        flags = {"center": random.random() < 0.7, "scale": random.random() < 0.7, "epsilon": 1e-2}
        settings: list[tuple[str, dict[str, Any]]] = [
            ("BatchNormalization", {"axis": random.choice([axis, axis - len(shape)]), **flags}),
            ("GroupNormalization", {"groups": 1, "axis": random.choice([axis, axis - len(shape)]), **flags}),
            ("GroupNormalization", {"groups": random.choice([-1, 2, 3]), **flags}),
            # With torch as its backend Keras takes the last axes, or axes that are not neighbours.
            ("LayerNormalization", {"axis": random.choice([-1, [-2, -1], [-1, 1]][: len(shape) - 1]), **flags}),
            ("LayerNormalization", {"axis": -1, "rms_scaling": True}),
            ("RMSNormalization", {"axis": -1, "epsilon": 1e-2}),
            ("Normalization", {"axis": random.choice([None, axis, axes]), "invert": random.random() < 0.5}),
            ("UnitNormalization", {"axis": some}),
        ]
        for name, kwargs in settings:
            layer = getattr(ps.keras, name)(**kwargs, input_shape=(None, *shape[1:]))
            assert_runs_as_keras(layer, getattr(keras.layers, name)(**kwargs, dtype="float64"), x)


@pytest.mark.filterwarnings("ignore")
def test_norms_in_flax() -> None:
    """Ten random settings each of the norms of Flax linen."""
    linen, xp, random = imported("flax.linen"), imported("numpy"), Random(4)
    for _ in draws(10):
        shape = (2, *(random.randint(2, 5) for _ in range(random.randint(1, 3))), 6)
        x = xp.random.default_rng(random.randrange(2**32)).standard_normal(shape)
        scale, bias, eps, rank = random.random() < 0.7, random.random() < 0.7, random.choice([1e-6, 1e-2]), len(shape) - 2
        theirs = {"use_scale": scale, "use_bias": bias, "epsilon": eps, "param_dtype": "float64", "use_fast_variance": False}
        ours: dict[str, Any] = {"scale": scale, "bias": bias, "eps": eps, "dialect": "flax"}
        assert_runs_as_flax(getattr(ps, f"BatchNorm{rank}d")(6, **ours), linen.BatchNorm(use_running_average=True, **theirs), x)
        assert_runs_as_flax(ps.LayerNorm(6, **ours), linen.LayerNorm(**theirs), x)
        assert_runs_as_flax(ps.GroupNorm(3, 6, **ours), linen.GroupNorm(num_groups=3, **theirs), x)
        assert_runs_as_flax(getattr(ps, f"InstanceNorm{rank}d")(6, affine=True, **ours), linen.InstanceNorm(**theirs), x)
        del theirs["use_bias"]
        rms = ps.RMSNorm(6, eps=eps, elementwise_affine=scale, dialect="flax")
        assert_runs_as_flax(rms, linen.RMSNorm(**theirs), x)


def test_embeddings() -> None:
    """Thirty random settings of torch's tables: padding, rows that are shortened, bags of every mode with and without weights."""
    torch, random = imported("torch"), Random(5)
    for _ in draws(30):
        rows, width = random.randint(2, 9), random.randint(1, 5)
        shortened = {"max_norm": random.choice([None, 0.5, 2.0]), "norm_type": random.choice([1.0, 2.0, 3.0, float("inf")])}
        padding = {"padding_idx": random.choice([None, 0, rows - 1, -1])}
        index = torch.randint(0, rows, tuple(random.randint(1, 4) for _ in range(random.randint(0, 3))))
        kwargs = {**shortened, **padding}
        assert_runs_as_torch(ps.Embedding(rows, width, **kwargs), torch.nn.Embedding(rows, width, **kwargs), index)
        kwargs["mode"] = random.choice(["sum", "mean", "max"])
        index = torch.randint(0, rows, (random.randint(1, 4), random.randint(1, 4)))
        assert_runs_as_torch(ps.EmbeddingBag(rows, width, **kwargs), torch.nn.EmbeddingBag(rows, width, **kwargs), index)
    weights = torch.randn(3, 4).double()
    bag = torch.nn.EmbeddingBag(5, 2, mode="sum").double()
    found = ps.run(
        ps.EmbeddingBag(5, 2, mode="sum"), {"weight": bag.weight.detach().numpy()}, index := torch.randint(0, 5, (3, 4)), weights
    )
    assert abs(found - bag(index, per_sample_weights=weights).detach().numpy()).max() < 1e-12


@pytest.mark.filterwarnings("ignore")
def test_embeddings_elsewhere() -> None:
    """Keras' tables, also the way back, and Flax'."""
    keras, linen, xp, random = imported("keras"), imported("flax.linen"), imported("numpy"), Random(6)
    for _ in draws(10):
        rows, width = random.randint(2, 9), random.randint(1, 5)
        index = xp.random.default_rng(random.randrange(2**32)).integers(0, rows, (3, random.randint(1, 4)))
        assert_runs_as_keras(ps.keras.Embedding(rows, width), keras.layers.Embedding(rows, width, dtype="float64"), index)
        assert_runs_as_flax(ps.Embedding(rows, width, dialect="flax"), linen.Embed(rows, width, param_dtype="float64"), index)
        kwargs = {"tie_weights": random.random() < 0.5, "logit_soft_cap": random.choice([None, 3.0])}
        theirs = keras.layers.ReversibleEmbedding(rows, width, dtype="float64", **kwargs)
        ours = ps.keras.ReversibleEmbedding(rows, width, **kwargs)
        assert_runs_as_keras(ours, theirs, index)
        hidden = xp.random.default_rng(random.randrange(2**32)).standard_normal((2, width))
        tensors = {weight.path.split("/", 1)[-1]: weight.numpy() for weight in theirs.weights}
        scores = ps.run(ours, tensors, index, hidden)[1]
        with widened_keras():
            assert abs(scores - keras.ops.convert_to_numpy(theirs(hidden, reverse=True))).max() < 1e-9


@pytest.mark.filterwarnings("ignore")
def test_activations_in_keras() -> None:
    """Every name that Keras knows, and the layers with arguments of Keras' own."""
    keras, xp, random = imported("keras"), imported("numpy"), Random(7)
    generator = xp.random.default_rng(7)
    cannot = {"sparsemax": "sorts along the axis", "threshold": "Keras' own layer lacks its arguments", "linear": "the identity"}
    for name in sorted(ACTIVATIONS_OF_KERAS - cannot.keys()):
        assert_runs_as_keras(
            ps.keras.Activation(name), keras.layers.Activation(name, dtype="float64"), generator.standard_normal((2, 3, 4))
        )
    for _ in draws(12):
        shape = (2, *(random.randint(1, 4) for _ in range(random.randint(1, 3))))
        settings: list[tuple[str, dict[str, Any]]] = [
            ("PReLU", {"shared_axes": random.choice([None, [1]])}),
            (
                "ReLU",
                {
                    "max_value": random.choice([None, 0.7, 6]),
                    "negative_slope": random.choice([0, 0.2]),
                    "threshold": random.choice([0, 0.3]),
                },
            ),
            ("LeakyReLU", {"negative_slope": random.random()}),
            ("ELU", {"alpha": random.random()}),
            ("Softmax", {"axis": random.choice([-1, [1, -1][: len(shape) - 1] if len(shape) > 2 else -1])}),
            ("Dropout", {"rate": 0.3}),
            ("GaussianNoise", {"stddev": 0.3}),
            ("GaussianDropout", {"rate": 0.3}),
            ("AlphaDropout", {"rate": 0.3}),
        ]
        for name, kwargs in settings:
            layer = getattr(ps.keras, name)(**kwargs, input_shape=(None, *shape[1:]))
            assert_runs_as_keras(layer, getattr(keras.layers, name)(**kwargs, dtype="float64"), generator.standard_normal(shape))


def test_activations_of_transformers() -> None:
    """Every name of transformers' table; the learned ones with random tensors."""
    torch, table = imported("torch"), imported("transformers.activations").ACT2FN
    for name in sorted(NAMES - {"prelu", "xielu"}):
        assert_runs_as_torch(Activation(name), table[name], torch.randn(3, 4).double() * 3)
    assert_runs_as_torch(Activation("prelu"), table["prelu"], torch.randn(3, 4).double())
    xielu = table["xielu"]
    assert_runs_as_torch(Activation("xielu"), xielu, torch.randn(3, 4).double())


@widened()
def test_positions() -> None:
    """Rows, sines and biases of transformers, where its layers compute just that."""
    torch, xp = imported("torch"), imported("numpy")
    bloom, t5 = imported("transformers.models.bloom.modeling_bloom"), imported("transformers.models.t5.modeling_t5")
    swin = imported("transformers.models.swin.modeling_swin")
    zeros = xp.zeros((1, 6, 5, 7))
    for buckets, farthest, both in ((32, 128, True), (8, 20, False), (9, 11, True)):
        config = imported("transformers").T5Config(
            num_heads=6, relative_attention_num_buckets=buckets, relative_attention_max_distance=farthest, is_decoder=not both
        )
        attention = t5.T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        ours = ps.RelativeBias(6, num_buckets=buckets, max_distance=farthest, bidirectional=both)
        table = attention.relative_attention_bias.weight.detach().numpy()
        long = xp.zeros((1, 6, 40, 40))
        found = ps.run(ours, {"relative_attention_bias.weight": table}, long)
        assert abs(found - attention.compute_bias(40, 40).detach().numpy()).max() < 1e-9
    for heads in range(1, 13):
        alibi = bloom.build_alibi_tensor(torch.ones(1, 5), heads, torch.float64).reshape(heads, 1, 5).numpy()
        found = ps.run(ps.RelativeBias(heads, "alibi"), {}, xp.zeros((1, heads, 5, 5)))[0]
        assert abs((found - found[..., :1]) - (alibi - alibi[..., :1])).max() < 1e-9  # equal up to what the softmax takes away
    bias = swin.SwinRelativePositionBias(6, (2, 3))
    torch.nn.init.normal_(bias.relative_position_bias_table)
    found = ps.run(
        ps.RelativeBias(6, "swin", window_size=(2, 3)),
        {"relative_position_bias_table": bias.relative_position_bias_table.detach().numpy()},
        xp.zeros((1, 6, 6, 6)),
    )
    assert abs(found[0] - bias().detach().numpy().reshape(6, 6, 6)).max() < 1e-9
    llama = imported("transformers.models.llama.modeling_llama")
    config = imported("transformers").LlamaConfig(hidden_size=24, num_attention_heads=3)
    x = torch.randn(2, 5, 3, 8).double()
    cos, sin = llama.LlamaRotaryEmbedding(config)(x, torch.arange(5)[None])
    turned, _ = llama.apply_rotary_pos_emb(x.transpose(1, 2), x.transpose(1, 2), cos, sin)
    found = ps.run(ps.RotaryPositions(8), {}, x.numpy())
    assert abs(found - turned.transpose(1, 2).numpy()).max() < 1e-9
    table = torch.randn(9, 4).double().numpy()
    ones = xp.ones((2, 3, 4))
    assert (ps.run(ps.LearnedPositions(7, 4, offset=2), {"weight": table}, ones) == 1 + table[2:5]).all()
    assert (ps.run(ps.SinusoidalPositions(7, 4, "frozen", offset=2), {"weight": table}, ones) == 1 + table[2:5]).all()
    wanted = [[f(position / 10000 ** (even / 4)) for even in (0, 2) for f in (sin_, cos_)] for position in range(3)]
    assert abs(ps.run(ps.SinusoidalPositions(7, 4), {}, ones) - 1 - wanted).max() < 1e-12
    assert zeros.shape == ps.RelativeBias(6, "alibi").output_shape((1, 6, 5, 7))
