"""Low-rank adaptation against live PEFT and Keras."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym import C, F, H, K, R, V
from paramsym.errors import ArgumentError, DivisibilityError

SMALL = st.integers(1, 9)


def adapted_by_peft(build: Callable[[Any], Any], rank: int, **options: Any) -> list[tuple[str, tuple[int, ...], bool]]:
    """Adapt a torch module and return name, shape and trainable of each of its parameters."""
    peft, nn = imported("peft"), imported("torch").nn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = peft.inject_adapter_in_model(peft.LoraConfig(r=rank, target_modules=["0"], **options), nn.Sequential(build(nn)))
    return [(name, tuple(tensor.shape), tensor.requires_grad) for name, tensor in model[0].named_parameters()]


def gpt2(outputs: int, inputs: int) -> Any:
    """Build GPT-2's transposed dense layer."""
    return imported("transformers.pytorch_utils").Conv1D(outputs, inputs)


OPTIONS: Any = st.fixed_dictionaries(
    {},
    optional={
        "bias": st.sampled_from(["none", "all", "lora_only"]),
        "use_dora": st.booleans(),
        "lora_bias": st.booleans(),
        "use_rslora": st.booleans(),
        "lora_alpha": st.integers(1, 64),
        "lora_dropout": st.sampled_from([0.0, 0.1]),
    },
).filter(lambda options: not (options.get("use_dora") and options.get("lora_bias")))


@settings(deadline=None, max_examples=40)
@given(SMALL, SMALL, SMALL, st.booleans(), OPTIONS)
def test_dense(inputs: int, outputs: int, rank: int, bias: Any, options: dict[str, Any]) -> None:
    """Around dense layers, names, shapes, order and what is trained are PEFT's."""
    ours = ps.LoRA(ps.Dense(inputs, outputs, bias), rank, **options)
    assert entries(ours) == adapted_by_peft(lambda nn: nn.Linear(inputs, outputs, bias), rank, **options)
    ours = ps.LoRA(ps.TransposedDense(inputs, outputs), rank, **options)
    assert entries(ours) == adapted_by_peft(lambda _: gpt2(outputs, inputs), rank, fan_in_fan_out=True, **options)


@settings(deadline=None, max_examples=20)
@given(SMALL, SMALL, SMALL, OPTIONS)
def test_embedding(rows: int, width: int, rank: int, options: dict[str, Any]) -> None:
    """Around embeddings likewise; a bias of the second factor is refused there."""
    if options.get("lora_bias"):
        with pytest.raises(ValueError, match="lora_bias"):
            adapted_by_peft(lambda nn: nn.Embedding(rows, width), rank, **options)
        with pytest.raises(ArgumentError, match="lora_bias"):
            ps.LoRA(ps.Embedding(rows, width), rank, **options)
        return
    ours = ps.LoRA(ps.Embedding(rows, width), rank, **options)
    assert entries(ours) == adapted_by_peft(lambda nn: nn.Embedding(rows, width), rank, **options)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 3), st.sampled_from([1, 2, 3]), SMALL, SMALL, st.integers(1, 6), st.booleans(), OPTIONS)
def test_convolution(axes: int, groups: int, inputs: int, outputs: int, rank: int, bias: Any, options: dict[str, Any]) -> None:
    """Around convolutions likewise, dilated and grouped ones included; groups divide the rank."""
    name = f"Conv{axes}d"
    kernel = (3, 2, 1)[:axes]
    arguments = (inputs * groups, outputs * groups, kernel, 2, 1, 2, groups, bias)
    if rank % groups:
        with pytest.raises(ValueError, match="divisible by groups"):
            adapted_by_peft(lambda nn: getattr(nn, name)(*arguments), rank, **options)
        with pytest.raises(DivisibilityError, match="rank r"):
            ps.LoRA(getattr(ps, name)(*arguments), rank, **options)
        return
    ours = ps.LoRA(getattr(ps, name)(*arguments), rank, **options)
    assert entries(ours) == adapted_by_peft(lambda nn: getattr(nn, name)(*arguments), rank, **options)


@settings(deadline=None, max_examples=20)
@given(SMALL, SMALL, SMALL, st.sampled_from([1, 2]), st.booleans())
def test_keras(inputs: int, outputs: int, rank: int, groups: int, bias: Any) -> None:
    """Keras keeps the bias trained, factors a kernel before its last axis, and asks nothing of groups and rank."""
    layers = imported("keras").layers
    theirs = keras_weights(layers.Dense(outputs, use_bias=bias, lora_rank=rank), (None, inputs))
    assert entries(ps.LoRA(ps.Dense(inputs, outputs, bias, dialect="keras"), rank)) == theirs
    theirs = keras_weights(layers.EinsumDense("abc,cde->abde", (None, 2, outputs), bias_axes="e", lora_rank=rank), (None, 7, inputs))
    assert entries(ps.LoRA(ps.EinsumDense("abc,cde->abde", (None, 2, outputs), (None, 7, inputs), "e"), rank)) == theirs
    theirs = keras_weights(layers.Embedding(inputs, outputs, lora_rank=rank), (None, 3))
    assert entries(ps.LoRA(ps.Embedding(inputs, outputs, dialect="keras"), rank)) == theirs
    theirs = keras_weights(layers.ReversibleEmbedding(inputs, outputs, lora_rank=rank), (None, 3))
    assert entries(ps.LoRA(ps.ReversibleEmbedding(inputs, outputs), rank)) == theirs
    channels = (inputs * groups, outputs * groups)
    theirs = keras_weights(layers.Conv2D(channels[1], 3, groups=groups, lora_rank=rank), (None, 8, 8, channels[0]))
    assert entries(ps.LoRA(ps.Conv2d(*channels, 3, groups=groups, dialect="keras"), rank)) == theirs


def test_formulas() -> None:
    """Hu et al. 2021, section 4.1: r*(d + k) are trained, the rest is stored."""
    layer = ps.LoRA(ps.Dense(H, F), R)
    assert layer.trainable == (R * (H + F)).expand()
    assert layer.params - layer.trainable == (H * F + F).expand()
    assert layer.trainable.diff(R) == H + F
    assert ps.LoRA(ps.Dense(H, F), R, bias="all").trainable == (R * (H + F) + F).expand()
    assert ps.LoRA(ps.Dense(H, F), R, use_dora=True).trainable == (R * (H + F) + F).expand()
    assert ps.LoRA(ps.Embedding(V, H), R).trainable == (R * (V + H)).expand()
    assert ps.LoRA(ps.Conv2d(C, F, K, bias=False), R).trainable == C * K**2 * R + F * R


def test_inside_a_larger_layer() -> None:
    """Replacing a part adapts it; freezing the rest leaves the factors as all that is trained."""
    model = ps.Sequential(ps.Dense(H, F), ps.Dense(F, H))
    adapted = model.replace("0", ps.LoRA(model.part("0"), R)).freeze("1")
    assert adapted.trainable == (R * (H + F)).expand()
    assert list(adapted.at(H=4, F=8, R=2).shapes())[:4] == [
        "0.base_layer.weight",
        "0.base_layer.bias",
        "0.lora_A.default.weight",
        "0.lora_B.default.weight",
    ]
    assert adapted.part("0.lora_A.default") == ps.Dense(H, R, bias=False)


def test_flax() -> None:
    """The factors beside the base, both the other way round than PEFT's; NNX' own layer is certified in tests/oracles."""
    layer = ps.LoRA(ps.Dense(H, F, dialect="flax"), R)
    assert layer.shapes() == {"kernel": (H, F), "bias": (F,), "lora.lora_a": (H, R), "lora.lora_b": (R, F)}
    assert layer.trainable == H * R + R * F


def test_values() -> None:
    """``at`` and repr give equal layers."""
    layer = ps.LoRA(ps.Dense(H, F), R, use_dora=True)
    assert layer.at(H=4, F=8, R=2) == ps.LoRA(ps.Dense(4, 8), 2, use_dora=True)
    assert eval(repr(layer), {"LoRA": ps.LoRA, "Dense": ps.Dense, "H": H, "F": F, "R": R}) == layer


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: ps.LoRA(ps.Bilinear(2, 3, 4), 2), "base is a Bilinear"),
        (lambda: ps.LoRA(ps.LoRA(ps.Dense(2, 3), 2), 2), "base is a LoRA"),
        (lambda: ps.LoRA(ps.ConvTranspose2d(2, 3, 3), 2), "base is a ConvTranspose2d"),
        (lambda: ps.LoRA(ps.Dense(2, 3, dialect="keras"), 2, use_dora=True), "options of PEFT"),
        (lambda: ps.LoRA(ps.Dense(2, 3, dialect="flax"), 2, use_dora=True), "in Flax' dialect"),
        (lambda: ps.LoRA(ps.Embedding(2, 3, dialect="flax"), 2), "only a dense layer is adapted"),
        (lambda: ps.LoRA(ps.ReversibleEmbedding(2, 3, tie_weights=False), 2), "tie_weights=False"),
        (lambda: ps.LoRA(ps.Dense(2, 3), 2, bias="some"), "'some'"),
        (lambda: ps.LoRA(ps.Dense(2, 3), 2, use_dora=True, lora_bias=True), "use_dora=True"),
        (lambda: ps.LoRA("dense", 2), "base is 'dense'"),
        (lambda: ps.LoRA(ps.Dense(2, 3), 0), "r is 0"),
    ],
)
def test_what_cannot_be_adapted(build: Callable[[], Any], words: str) -> None:
    """A base that the reference does not adapt, and options that do not exist, are refused."""
    with pytest.raises((ArgumentError, ValueError), match=words):
        build()


def test_defaults_are_those_of_peft() -> None:
    """``LoraConfig``: alpha 8, no dropout, none of the variants (peft's documentation)."""
    layer = ps.LoRA(ps.Dense(4, 5), 2)
    assert (layer.lora_alpha, layer.lora_dropout) == (8, 0.0)
    assert not layer.use_rslora | layer.use_dora | layer.lora_bias


@pytest.mark.parametrize("use_dora", [False, True])
@pytest.mark.parametrize(
    ("base", "shape"),
    [(ps.Dense(5, 4), (3, 5)), (ps.Dense(5, 4, bias=False), (3, 5)), (ps.Conv2d(3, 4, 3), (2, 3, 5, 5)), (ps.Embedding(6, 4), (3,))],
    ids=["dense", "without a bias", "convolution", "embedding"],
)
def test_the_adapted_matrix_is_that_of_the_papers(base: ps.Layer, shape: tuple[int, ...], *, use_dora: bool) -> None:
    """W + alpha/r * B A (Hu et al. 2022, equation 3), or m * V/|V| of this sum V, for each output (Liu et al. 2024, equation 5)."""
    xp = imported("numpy")
    chance = xp.random.default_rng(0)
    layer = ps.LoRA(base, 2, lora_alpha=3, use_dora=use_dora)
    tensors = {name: chance.standard_normal(size) for name, size in layer.shapes().items()}
    table = isinstance(base, ps.Embedding)
    x = chance.integers(0, 6, shape) if table else chance.standard_normal(shape)
    down, up = (tensors[f"lora_embedding_{one}.default" if table else f"lora_{one}.default.weight"] for one in "AB")
    change = 3 / 2 * xp.einsum("or,r...->o...", up.reshape(up.shape[:2]), down)
    adapted = tensors["base_layer.weight"] + (change.T if table else change)
    if use_dora:
        magnitude = tensors["lora_magnitude_vector.default.weight"].ravel()
        length = xp.sqrt((adapted**2).sum(0 if table else tuple(range(1, adapted.ndim))))
        stretch = magnitude / length
        adapted = adapted * (stretch if table else stretch.reshape(-1, *(1,) * (adapted.ndim - 1)))
    wanted = ps.run(base, {name: adapted if name == "weight" else tensors[f"base_layer.{name}"] for name in base.shapes()}, x)
    assert xp.allclose(ps.run(layer, tensors, x), wanted)
