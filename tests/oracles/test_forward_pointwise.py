"""Activations, dropout, norms and embeddings compute what the references compute, on random settings."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from frameworks import imported
from running import assert_runs_as_flax, assert_runs_as_keras, assert_runs_as_torch

import paramsym as ps

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
    torch, random = imported("torch"), Random(name)  # noqa: S311 - test data
    for _ in range(30):
        args, kwargs = ACTIVATIONS[name](random)
        shape = {"Softmax2d": (3,), "Dropout1d": (2, 4), "Dropout2d": (2, 4), "Dropout3d": (2, 4, 3)}.get(name, (2, 4))
        shape = (*shape, *(random.choice([2, 6]) for _ in range(1 if name == "Dropout1d" else 2)))
        module = getattr(torch.nn, name)(*args, **kwargs)
        assert_runs_as_torch(getattr(ps, name)(*args, **kwargs), module, torch.randn(shape, dtype=torch.float64) * 3)


def norm(random: Random) -> tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]:
    """Draw a norm of torch that stands on axis 1, its arguments, and an input."""
    rank, kind = random.randint(1, 3), random.choice(["BatchNorm", "InstanceNorm"])
    channels = random.randint(1, 5)
    options = {
        "eps": random.choice([1e-5, 1e-2]),
        "affine": random.random() < 0.5,
        "track_running_stats": random.random() < 0.5,
    }
    batch = () if kind == "InstanceNorm" and random.random() < 0.3 else (3,)
    spatial = () if kind == "BatchNorm" and rank == 1 and random.random() < 0.5 else tuple(random.randint(2, 4) for _ in range(rank))
    return f"{kind}{rank}d", (channels,), options, (*batch, channels, *spatial)


def test_norms_of_channels() -> None:
    """Thirty random settings of batch and instance normalisation each, with and without stored statistics; group normalisation."""
    torch, random = imported("torch"), Random(1)  # noqa: S311 - test data
    for _ in range(60):
        name, args, kwargs, shape = norm(random)
        assert_runs_as_torch(getattr(ps, name)(*args, **kwargs), getattr(torch.nn, name)(*args, **kwargs), torch.randn(shape).double())
    for _ in range(30):
        groups, width = random.randint(1, 3), random.randint(1, 3)
        kwargs = {"eps": random.choice([1e-5, 1e-2]), "affine": random.random() < 0.7}
        x = torch.randn(2, groups * width, *(random.randint(2, 4) for _ in range(random.randint(1, 3)))).double()
        assert_runs_as_torch(ps.GroupNorm(groups, groups * width, **kwargs), torch.nn.GroupNorm(groups, groups * width, **kwargs), x)
        args = (random.randint(1, 6), random.uniform(0.01, 1), random.uniform(0.3, 1), random.uniform(0.5, 2))
        assert_runs_as_torch(ps.LocalResponseNorm(*args), torch.nn.LocalResponseNorm(*args), x)


def test_norms_of_features() -> None:
    """Thirty random settings each of the norms over the last axes."""
    torch, random = imported("torch"), Random(2)  # noqa: S311 - test data
    for _ in range(30):
        shape = tuple(random.randint(1, 4) for _ in range(random.randint(1, 3)))
        x = torch.randn(*(2, 3)[: random.randint(0, 2)], *shape).double()
        kwargs = {"eps": random.choice([1e-5, 1e-2]), "elementwise_affine": random.random() < 0.7, "bias": random.random() < 0.7}
        assert_runs_as_torch(ps.LayerNorm(shape, **kwargs), torch.nn.LayerNorm(shape, **kwargs), x)
        kwargs = {"eps": random.choice([None, 1e-5, 1e-2]), "elementwise_affine": random.random() < 0.7}
        assert_runs_as_torch(ps.RMSNorm(shape, **kwargs), torch.nn.RMSNorm(shape, **kwargs), x)


@pytest.mark.filterwarnings("ignore")
def test_norms_in_keras() -> None:
    """Twelve random settings each of Keras' norms, over every axis that Keras takes."""
    keras, xp, random = imported("keras"), imported("numpy"), Random(3)  # noqa: S311 - test data
    for _ in range(12):
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
            # Keras computes its norms in float32 whatever the precision of the input is.
            assert_runs_as_keras(layer, getattr(keras.layers, name)(**kwargs, dtype="float64"), x, tolerance=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_norms_in_flax() -> None:
    """Ten random settings each of the norms of Flax linen."""
    linen, xp, random = imported("flax.linen"), imported("numpy"), Random(4)  # noqa: S311 - test data
    for _ in range(10):
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
