"""Keras' doors over spatial axes compute what Keras computes on torch, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported, only_with
from running import assert_runs_as_keras, draws

import paramsym as ps

only_with("keras", "numpy")


def layer_arguments(name: str, random: Random, rank: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Draw arguments of one layer."""
    pair = tuple((random.randint(0, 1), random.randint(0, 2)) for _ in range(rank))
    each = tuple(random.randint(1, 4) for _ in range(rank))
    if name.startswith(("ZeroPadding", "Cropping")):
        return (pair[0] if rank == 1 else pair,), {}
    if name.startswith("UpSampling"):
        return (each if rank > 1 else each[0],), {"interpolation": random.choice(["nearest", "bilinear", "bicubic"])} if rank == 2 else {}
    if name.startswith("Global"):
        return (), {"keepdims": random.random() < 0.5}
    if name.startswith("Adaptive"):
        return (each if rank > 1 else each[0],), {}
    if "Pooling" in name:
        return (each,), {"strides": random.choice([None, 1, 2, 3]), "padding": random.choice(["valid", "same"])}
    stride = random.choice([1, 1, 2, 3])
    options: dict[str, Any] = {
        "kernel_size": each,
        "strides": stride,
        "padding": random.choice(["valid", "same"]),
        "dilation_rate": random.randint(1, 2) if stride == 1 else 1,
        "use_bias": random.random() < 0.5,
        "activation": random.choice([None, "relu", "softplus", "tanh"]),
    }
    if name.endswith("Transpose") and stride > 1:
        options["output_padding"] = random.choice([None, 0, 1])
    if name.startswith(("Depthwise", "Separable")):
        options["depth_multiplier"] = random.randint(1, 2)
    elif not name.endswith("Transpose"):
        options |= {"groups": random.choice([1, 2]), "padding": random.choice(["valid", "same", *(["causal"] if rank == 1 else [])])}
    return () if name.startswith("Depthwise") else (2 * random.randint(1, 2),), options


OVER_AXES = [
    "Conv{}D",
    "Conv{}DTranspose",
    "DepthwiseConv{}D",
    "SeparableConv{}D",
    "MaxPooling{}D",
    "AveragePooling{}D",
    "GlobalMaxPooling{}D",
    "GlobalAveragePooling{}D",
    "AdaptiveMaxPooling{}D",
    "AdaptiveAveragePooling{}D",
    "ZeroPadding{}D",
    "Cropping{}D",
    "UpSampling{}D",
]
CASES = [(name.format(rank), rank) for name in OVER_AXES for rank in (1, 2, 3) if not (rank == 3 and name.startswith(("Depth", "Separ")))]
WITHOUT_FORMAT = {"ZeroPadding1D", "Cropping1D", "UpSampling1D"}


def compared(name: str, arguments: tuple[Any, ...], options: dict[str, Any], image: Any) -> None:
    """Fail unless the door's layer computes what Keras computes with the same random weights."""
    keras = imported("keras")
    module = getattr(keras.layers, name)(*arguments, **options, dtype="float64")
    assert_runs_as_keras(getattr(ps.keras, name)(*arguments, **options, input_shape=image.shape), module, image)


@pytest.mark.filterwarnings("ignore:Using padding='same'", "ignore:.*output_padding")
@pytest.mark.parametrize(("name", "rank"), CASES)
def test_over_axes(name: str, rank: int) -> None:
    """Ten random settings each, channels last and first."""
    xp, random = imported("numpy"), Random(rank)
    for _ in draws(10):
        arguments, options = layer_arguments(name, random, rank)
        extents, channels = tuple(random.randint(7, 9) for _ in range(rank)), 2
        first = random.random() < 0.3 and name not in WITHOUT_FORMAT
        options |= {"data_format": "channels_first" if first else "channels_last"} if name not in WITHOUT_FORMAT else {}
        shape = (2, channels, *extents) if first else (2, *extents, channels)
        compared(name, arguments, options, xp.random.default_rng(rank).standard_normal(shape))


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("Flatten", (), (2, 3, 4)),
        ("Reshape", ((-1, 6),), (2, 3, 4)),
        ("Reshape", ((12,),), (2, 3, 4)),
        ("Reshape", ((2, -1, 3),), (2, 3, 4)),
        ("Permute", ((2, 1),), (2, 3, 4)),
        ("Permute", ((3, 1, 2),), (2, 3, 4, 5)),
        ("Permute", ((2, 1, 3),), (2, 3, 4, 5)),
        ("RepeatVector", (3,), (2, 5)),
        ("Identity", (), (2, 3)),
        ("Dense", (4, "relu"), (2, 5, 3)),
        ("Dense", (4, "softmax", False), (2, 3)),
        ("EinsumDense", ("abc,cd->abd", (None, 4), "elu", "d"), (2, 5, 3)),
        ("Rescaling", (2.5, -1.0), (2, 3, 4)),
        ("Rescaling", ([0.1, 2.0, 3.0], [1.0, 0.0, -1.0]), (2, 3)),
    ],
)
def test_single_settings(name: str, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    """Layers that take few settings, one by one."""
    compared(name, arguments, {}, imported("numpy").random.default_rng(0).standard_normal(shape))


PLAIN = ["Flatten", "Reshape", "Permute", "RepeatVector", "Identity", "Dense", "Rescaling", "Masking", "Activation"]


@pytest.mark.parametrize("name", PLAIN)
def test_random_settings(name: str) -> None:
    """Ten random settings each of layers that change no spatial axes."""
    xp, random = imported("numpy"), Random(name)
    for _ in draws(10):
        inner = [random.randint(1, 4) for _ in range(random.randint(1, 3))]
        order = random.sample(inner, len(inner))
        if random.random() < 0.5:
            order[0] = -1
        settings: dict[str, tuple[Any, ...]] = {
            "Reshape": (tuple(order),),
            "Permute": (tuple(random.sample(range(1, len(inner) + 1), len(inner))),),
            "RepeatVector": (random.randint(1, 4),),
            "Dense": (random.randint(2, 4), random.choice([None, "relu", "softmax", "elu"]), random.random() < 0.5),
            "Rescaling": (random.uniform(-2, 2), random.uniform(-2, 2)),
            "Masking": (random.choice([0.0, 1.0]),),
            "Activation": (random.choice(["relu", "gelu", "softplus", "tanh", "sigmoid", "silu"]),),
        }
        shape = (2, inner[0]) if name == "RepeatVector" else (2, 3, inner[0]) if name == "Masking" else (2, *inner)
        image = xp.random.default_rng(random.randrange(2**32)).standard_normal(shape)
        compared(name, settings.get(name, ()), {}, image.round() if name == "Masking" else image)


def test_masked_steps() -> None:
    """Steps that hold the value alone become zero, one that holds it among others stays."""
    image = imported("numpy").array([[[2.0, 2.0], [2.0, 1.0], [0.0, 0.0]]])
    assert ps.run(ps.Masking(2.0), {}, image).tolist() == [[[0, 0], [2, 1], [0, 0]]]
    compared("Masking", (2.0,), {}, image)
