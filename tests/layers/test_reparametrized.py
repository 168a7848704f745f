"""Matrices worked out before use, against torch, Keras and (in tests/oracles) Flax."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import entries, imported, keras_weights, on_meta
from strategies import assert_value

import paramsym as ps
from paramsym import C, F, H, K
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.measure.dependence import views
from paramsym.measure.derived import batch_axis
from paramsym.testing import certify

LAYERS = [
    ("Linear", (3, 4), {}),
    ("Linear", (3, 4, False), {}),
    ("Linear", (3, 4), {"dim": 1}),
    ("Linear", (3, 4), {"dim": -1}),
    ("Linear", (3, 4), {"name": "weight"}),
    ("Conv1d", (4, 6, 3, 1, 0, 1, 2), {}),
    ("Conv2d", (3, 4, (5, 2)), {"dim": 2}),
    ("ConvTranspose2d", (3, 4, (5, 2)), {}),
    ("Embedding", (7, 3), {}),
    ("Bilinear", (2, 3, 4), {}),
]


def stored(module: Any) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Return the shapes of a module's parameters and of its state dict."""
    shapes = [{name: tuple(tensor.shape) for name, tensor in found} for found in (module.named_parameters(), module.state_dict().items())]
    return shapes[0], shapes[1]


@pytest.mark.parametrize(("name", "arguments", "options"), LAYERS, ids=str)
@pytest.mark.parametrize(("ours", "theirs"), [("WeightNorm", "weight_norm"), ("SpectralNorm", "spectral_norm")])
def test_torch(ours: str, theirs: str, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Parameters in order, and the state dict with the vectors of the iteration."""
    torch = imported("torch")
    wrap = getattr(torch.nn.utils.parametrizations, theirs)
    parameters, everything = stored(wrap(getattr(torch.nn, name)(*arguments), **options))
    layer = getattr(ps, ours)(getattr(ps, name)(*arguments), **options)
    assert list(layer.shapes().items()) == list(parameters.items())
    assert list(layer.shapes(buffers=True).items()) == list(everything.items())


def test_one_length_for_all() -> None:
    """``dim=None`` is one length in torch's weight norm, and the default axis in its spectral norm."""
    parametrizations = imported("torch").nn.utils.parametrizations
    linear = imported("torch").nn.Linear
    assert ps.WeightNorm(ps.Dense(3, 4), dim=None).shapes() == stored(parametrizations.weight_norm(linear(3, 4), dim=None))[0]
    norm = ps.SpectralNorm(ps.LayerNorm(5))
    assert norm.shapes(buffers=True) == stored(parametrizations.spectral_norm(imported("torch").nn.LayerNorm(5)))[1]


@pytest.mark.parametrize("wrap", ["weight_norm", "spectral_norm"])
def test_certificates(wrap: str) -> None:
    """For every valid size, of a grouped convolution as of a dense layer."""
    torch = imported("torch")
    theirs = getattr(torch.nn.utils.parametrizations, wrap)
    ours = ps.WeightNorm if wrap == "weight_norm" else ps.SpectralNorm
    assert certify(ours(ps.Dense(H, F)), lambda F, H: theirs(torch.nn.Linear(H, F))).lattice.whole
    grouped = ours(ps.Conv2d(C, F, K, groups=ps.G))
    assert certify(grouped, lambda C, F, G, K: on_meta(lambda: theirs(torch.nn.Conv2d(C, F, K, groups=G)))).compared == "tensors"


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("Dense", {"units": 4}, (None, 3)),
        ("Conv2D", {"filters": 4, "kernel_size": (5, 2)}, (None, 9, 9, 3)),
        ("Embedding", {"input_dim": 7, "output_dim": 3}, (None, 5)),
    ],
)
def test_keras(name: str, arguments: dict[str, Any], shape: tuple[int | None, ...]) -> None:
    """The vector stands between the matrix and the rest, and is never trained."""
    keras = imported("keras")
    keras.backend.clear_session()  # which numbers the names it makes up
    layers = keras.layers
    theirs = layers.SpectralNormalization(getattr(layers, name)(**arguments))
    door = ps.keras.SpectralNormalization(getattr(ps.keras, name)(**arguments), input_shape=shape)
    assert entries(door) == keras_weights(theirs, shape)
    named = ps.keras.SpectralNormalization(name, layer_kwargs={**arguments, "name": "inner"}, input_shape=shape)
    theirs = layers.SpectralNormalization(getattr(layers, name)(**arguments, name="inner"))
    assert entries(named) == keras_weights(theirs, shape)


def test_symbols() -> None:
    """One length per output; nothing for the spectral norm."""
    convolution = ps.Conv2d(C, F, K)
    assert ps.WeightNorm(convolution).params - convolution.params == F
    assert ps.SpectralNorm(convolution).params == convolution.params
    assert ps.WeightNorm(convolution).at(C=3, F=4, K=5) == ps.WeightNorm(ps.Conv2d(3, 4, 5))
    layer = ps.SpectralNorm(convolution, dim=1)
    assert_value(layer)
    assert ps.output_shape(layer, (2, C, 9, 9)) == ps.output_shape(convolution, (2, C, 9, 9))
    assert (views(layer), batch_axis(layer, (C, 9, 9))) == (views(convolution), None)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.WeightNorm(ps.MultiHeadAttention(8, 2)), ArgumentError, "stores its tensors itself"),
        (lambda: ps.SpectralNorm(ps.ReLU()), ArgumentError, "stores its tensors itself"),
        (lambda: ps.WeightNorm(ps.Dense(3, 4), "kernel"), UnknownNameError, "has no tensor 'kernel'; it has weight, bias"),
        (lambda: ps.WeightNorm(ps.Dense(3, 4), dim=2), ArgumentError, "dim is 2; weight has 2 axes"),
        (lambda: ps.WeightNorm(ps.Dense(3, 4, dialect="keras")), ArgumentError, "which has no WeightNorm"),
        (lambda: ps.WeightNorm(ps.Dense(3, 4, dialect="flax"), dim=1), ArgumentError, "needs dialect='torch'"),
        (lambda: ps.SpectralNorm(ps.Dense(3, 4, dialect="keras"), dim=1), ArgumentError, "needs dialect='torch'"),
        (lambda: ps.SpectralNorm(ps.Dense(3, 4), called="dense"), ArgumentError, "only in Keras"),
        (lambda: ps.keras.SpectralNormalization(ps.keras.LayerNormalization(), input_shape=(None, 3)), ArgumentError, "kernel"),
        (lambda: ps.keras.SpectralNormalization(ps.keras.Dense(4), 0, input_shape=(None, 3)), SizeError, "power_iterations is 0"),
    ],
    ids=map(str, range(10)),
)
def test_errors(build: Any, error: type[Exception], words: str) -> None:
    """What was found, and what was wanted."""
    with pytest.raises(error, match=words):
        build()


def test_a_dialect_without_the_wrapper() -> None:
    """Keras has a spectral norm and no weight norm; which frameworks have one is said."""
    with pytest.raises(ArgumentError, match=r"dialect 'keras', which has no WeightNorm; wanted torch or flax\."):
        ps.WeightNorm(ps.Dense(3, 4, dialect="keras"))


def test_lengths_in_flax_are_scales() -> None:
    """Flax calls the tensor so: ``layer_instance/kernel/scale``."""
    assert [line.role for line in ps.WeightNorm(ps.Dense(3, 4, dialect="flax")).lines] == ["weight", "bias", "scale"]
