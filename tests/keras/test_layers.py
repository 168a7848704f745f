"""The Keras doors of single layers against live Keras: same arguments, same weights, and what Keras refuses is refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from frameworks import entries, imported, keras_weights
from hypothesis import given, settings, strategies as st

import paramsym as ps
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, SizeError

SMALL = st.integers(1, 9)
INPUTS = st.lists(SMALL, min_size=1, max_size=4)
FLAGS = {"center": st.booleans(), "scale": st.booleans(), "epsilon": st.floats(1e-8, 1e-2)}
AXIS = st.integers(-5, 5)
AXES = AXIS | st.lists(AXIS, min_size=1, max_size=3, unique=True)
DRAWN: dict[str, dict[str, Any]] = {
    "Dense": {
        "use_bias": st.booleans(),
        "activation": st.sampled_from([None, "relu", "no_such_activation"]),
        "lora_rank": st.none() | SMALL,
        "trainable": st.booleans(),
        "name": st.just("name"),
    },
    "LayerNormalization": FLAGS | {"axis": AXES},
    "RMSNormalization": {"axis": AXES, "epsilon": st.floats(1e-8, 1e-2)},
    "GroupNormalization": FLAGS | {"axis": AXIS, "groups": st.integers(-1, 6)},
    "BatchNormalization": FLAGS
    | {"axis": AXIS, "renorm": st.booleans(), "momentum": st.floats(0, 1), "renorm_clipping": st.sampled_from([None, {"rmax": 2.0}])},
    "UnitNormalization": {"axis": AXES},
    "Normalization": {
        "axis": st.none() | AXES,
        "invert": st.booleans(),
        "mean": st.none() | st.just(0.5),
        "variance": st.none() | st.just(2.0),
    },
    "PReLU": {"shared_axes": st.none() | AXES},
}
"""Optional arguments, drawn now and then; some draws fit no input, and then both sides refuse."""


def live(name: str, options: dict[str, Any], shape: tuple[int | None, ...]) -> list[tuple[str, tuple[int, ...], bool]]:
    """Build the Keras layer and read its weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return keras_weights(getattr(imported("keras").layers, name)(**options), shape)


@pytest.mark.parametrize("name", DRAWN)
@settings(deadline=None, max_examples=60)
@given(INPUTS, st.data())
def test_random_arguments(name: str, extents: list[int], data: st.DataObject) -> None:
    """Names, shapes, order and what is trained are Keras'."""
    options = data.draw(st.fixed_dictionaries({}, optional=DRAWN[name]))
    if name == "Dense":
        options["units"] = data.draw(SMALL)
    shape = (None, *extents)
    try:
        theirs = live(name, options, shape)
    except (ValueError, IndexError, TypeError, RuntimeError):  # the last for an axis named twice
        with pytest.raises(ParamsymError):
            getattr(ps.keras, name)(**options, input_shape=shape)
        return
    axes = options.get("axis", ())
    if name == "Normalization" and isinstance(axes, tuple | list) and len({axis % len(shape) for axis in axes}) < len(axes):
        with pytest.raises(ArgumentError, match="twice"):  # Keras takes it where all extents are 1
            getattr(ps.keras, name)(**options, input_shape=shape)
        return
    try:
        layer = getattr(ps.keras, name)(**options, input_shape=shape)
    except SizeError as error:
        assert "None" in str(error)  # Keras stores nothing along an axis that it does not know, where nothing is to be stored  # noqa: PT017
        return
    assert entries(layer) == theirs
    waiting = getattr(ps.keras, name)(**options)
    assert (waiting if isinstance(waiting, ps.Layer) else waiting.build(shape)) == layer


@settings(deadline=None, max_examples=30)
@given(SMALL, SMALL, st.none() | SMALL, st.booleans(), st.booleans())
def test_embeddings(rows: int, width: int, rank: int | None, masked: Any, tied: Any) -> None:
    """Tables, tied or not, with low-rank factors or not."""
    options: dict[str, Any] = {"input_dim": rows, "output_dim": width, "mask_zero": masked, "lora_rank": rank}
    assert entries(ps.keras.Embedding(**options)) == live("Embedding", options, (None, 3))
    options["tie_weights"] = tied
    if rank and not tied:
        with pytest.raises(ValueError, match=r".*"):
            live("ReversibleEmbedding", options, (None, 3))
        with pytest.raises(ArgumentError, match="tie_weights=False"):
            ps.keras.ReversibleEmbedding(**options)
        return
    assert entries(ps.keras.ReversibleEmbedding(**options)) == live("ReversibleEmbedding", options, (None, 3))


PLAIN: list[tuple[str, dict[str, Any], tuple[int | None, ...]]] = [
    ("Activation", {"activation": "relu"}, (None, 4)),
    ("Activation", {"activation": "squareplus"}, (None, 4)),
    ("ActivityRegularization", {"l2": 0.1}, (None, 4)),
    ("AdaptiveAveragePooling1D", {"output_size": 2}, (None, 6, 4)),
    ("AdaptiveMaxPooling2D", {"output_size": (2, 3)}, (None, 6, 6, 4)),
    ("AlphaDropout", {"rate": 0.1}, (None, 4)),
    ("AveragePooling1D", {"pool_size": 2, "padding": "SAME"}, (None, 6, 4)),
    ("AveragePooling3D", {"pool_size": [2, 2, 1], "strides": 1}, (None, 6, 6, 6, 4)),
    ("AvgPool2D", {"pool_size": (2, 3), "data_format": "channels_first"}, (None, 4, 6, 6)),
    ("Cropping1D", {"cropping": (1, 2)}, (None, 6, 4)),
    ("Cropping2D", {"cropping": 1}, (None, 6, 6, 4)),
    ("Cropping3D", {"cropping": ((1, 1), (0, 1), (2, 0))}, (None, 6, 6, 6, 4)),
    ("Dropout", {"rate": 0.1, "noise_shape": (None, 1), "seed": 3}, (None, 4)),
    ("ELU", {"alpha": 0.5}, (None, 4)),
    ("Flatten", {}, (None, 3, 4)),
    ("GaussianDropout", {"rate": 0.1}, (None, 4)),
    ("GaussianNoise", {"stddev": 0.1}, (None, 4)),
    ("GlobalAveragePooling2D", {"keepdims": True}, (None, 6, 6, 4)),
    ("GlobalMaxPool1D", {}, (None, 6, 4)),
    ("GlobalMaxPooling3D", {"data_format": "channels_first"}, (None, 4, 6, 6, 6)),
    ("Identity", {}, (None, 4)),
    ("LeakyReLU", {"negative_slope": 0.1}, (None, 4)),
    ("Masking", {"mask_value": -1.0}, (None, 6, 4)),
    ("MaxPool3D", {}, (None, 6, 6, 6, 4)),
    ("MaxPooling1D", {"pool_size": (3,)}, (None, 6, 4)),
    ("MaxPooling2D", {"padding": "same", "name": "pool"}, (None, 6, 6, 4)),
    ("Permute", {"dims": (2, 1)}, (None, 3, 4)),
    ("ReLU", {"max_value": 6.0, "negative_slope": 0.1, "threshold": 1.0}, (None, 4)),
    ("RepeatVector", {"n": 3}, (None, 4)),
    ("Rescaling", {"scale": 0.5}, (None, 4)),
    ("Reshape", {"target_shape": (2, -1)}, (None, 4)),
    ("Softmax", {"axis": -1}, (None, 4)),
    ("Softmax", {"axis": [1, 2]}, (None, 3, 4)),
    ("SpatialDropout1D", {"rate": 0.1}, (None, 6, 4)),
    ("SpatialDropout2D", {"rate": 0.1, "data_format": "channels_first"}, (None, 4, 6, 6)),
    ("SpatialDropout3D", {"rate": 0.1}, (None, 6, 6, 6, 4)),
    ("UpSampling1D", {"size": 3}, (None, 6, 4)),
    ("UpSampling2D", {"size": [2, 3], "interpolation": "bicubic"}, (None, 6, 6, 4)),
    ("UpSampling3D", {}, (None, 6, 6, 6, 4)),
    ("ZeroPadding1D", {"padding": 2}, (None, 6, 4)),
    ("ZeroPadding2D", {"padding": ((1, 2), 3)}, (None, 6, 6, 4)),
    ("ZeroPadding3D", {"padding": (1, 2, 3)}, (None, 6, 6, 6, 4)),
]


@pytest.mark.parametrize(("name", "options", "shape"), PLAIN, ids=str)
def test_layers_without_weights(name: str, options: dict[str, Any], shape: tuple[int | None, ...]) -> None:
    """They take Keras' arguments, and store what Keras stores: nothing."""
    layer = getattr(ps.keras, name)(**options, input_shape=shape)
    assert entries(layer) == live(name, options, shape) == []
    assert layer == getattr(ps.keras, name)(**options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Activation", {"activation": "foo"}),
        ("AveragePooling1D", {"pool_size": 0}),
        ("AlphaDropout", {"rate": 2}),
        ("Dense", {"units": 0}),
        ("Dense", {"units": 3.0}),
        ("Dense", {"units": 3, "no_such_argument": 1}),
        ("Dropout", {"rate": -0.1}),
        ("Embedding", {"input_dim": 0, "output_dim": 3}),
        ("Embedding", {"input_dim": 3, "output_dim": True}),
        ("Flatten", {"data_format": "channels"}),
        ("GaussianNoise", {"stddev": 2}),
        ("GlobalMaxPooling1D", {"data_format": "channels"}),
        ("LayerNormalization", {"axis": None}),
        ("LeakyReLU", {"negative_slope": -1}),
        ("MaxPooling2D", {"pool_size": (2,)}),
        ("MaxPooling2D", {"data_format": "first"}),
        ("Normalization", {"mean": 1.0}),
        ("Permute", {"dims": (1, 3)}),
        ("ReLU", {"max_value": -1}),
        ("ReLU", {"threshold": None}),
        ("RepeatVector", {"n": 0}),
        ("Reshape", {"target_shape": (-1, -1)}),
        ("Reshape", {"target_shape": 5}),
        ("UnitNormalization", {"axis": None}),
        ("UpSampling1D", {"size": 0}),
        ("UpSampling3D", {"size": (1, 2)}),
        ("ZeroPadding1D", {"padding": (1, 2, 3)}),
        ("ZeroPadding1D", {"padding": -1}),
        ("Cropping2D", {"cropping": -1}),
        ("Cropping2D", {"cropping": (1, 2, 3)}),
    ],
    ids=str,
)
def test_what_keras_refuses(name: str, options: dict[str, Any]) -> None:
    """Bad arguments fail here as they fail there, before any input shape is known."""
    with pytest.raises((ValueError, TypeError)):
        getattr(imported("keras").layers, name)(**options)
    if "no_such_argument" in options:
        options = options | {"input_shape": (None, 4)}
    with pytest.raises(ParamsymError):
        getattr(ps.keras, name)(**options)


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: ps.keras.Dense(4, input_shape=(3,)), ArgumentError, "wanted at least 2, batch first"),
        (lambda: ps.keras.Dense(4, input_shape=(None, None)), SizeError, "weights depend on it"),
        (lambda: ps.keras.Dense(4, input_shape="shape"), ArgumentError, "wanted a tuple"),
        (lambda: ps.keras.Dense(4, lora_rank=2, kernel_constraint="non_neg", input_shape=(None, 3)), ArgumentError, "constraint"),
        (lambda: ps.keras.Dense(4, dtype="int8_from_float32"), NotYetError, "quantised"),
        (lambda: ps.keras.Normalization(axis=[-3, 2], input_shape=(None, 1, 2, 1, 1)), ArgumentError, "contains axis 2 twice"),
        (lambda: ps.keras.BatchNormalization(renorm=True, renorm_clipping={"max": 1}), ArgumentError, "rmax, rmin or dmax"),
        (
            lambda: ps.keras.BatchNormalization(renorm=True, renorm_clipping=ps.H - 5),
            ArgumentError,
            "renorm_clipping is H - 5; wanted a dict",
        ),
        (lambda: ps.keras.BatchNormalization(input_shape=(None, 6, 3), axis=()), ArgumentError, r"axis is \(\); wanted one axis"),
        (lambda: ps.keras.LayerNormalization(center=ps.H > ps.F), ArgumentError, "center is H > F; wanted True or False"),
        (lambda: ps.keras.BatchNormalization(renorm=ps.H), ArgumentError, "renorm is H; wanted True or False"),
        (lambda: ps.keras.BatchNormalization(axis=7, input_shape=(None, 3)), ArgumentError, "axis 7 is outside"),
        (lambda: ps.keras.UpSampling2D(interpolation="foo"), ArgumentError, "interpolation is 'foo'"),
        (lambda: ps.keras.MaxPooling2D(padding="causal"), ArgumentError, "padding is 'causal'"),
        (lambda: ps.keras.LeakyReLU(input_shape="shape"), ArgumentError, "input_shape is 'shape'"),
    ],
)
def test_words(build: Any, error: type[Exception], words: str) -> None:
    """An error says what was found, where, and what was wanted."""
    with pytest.raises(error, match=words):
        build()


def test_in_symbols() -> None:
    """Units and inputs may be symbols."""
    a, b = ps.dims("a b")
    layer: Any = ps.keras.Dense(b, input_shape=(None, a))
    assert layer.params == a * b + b
    adapted: Any = ps.keras.Dense(b, lora_rank=ps.R, input_shape=(None, a))
    assert adapted.trainable == a * ps.R + b * ps.R + b
    assert layer.at(a=3, b=4) == ps.keras.Dense(4, input_shape=(None, 3))


def test_the_name_of_an_activation() -> None:
    """A name means torch's layer, where it has one; functions are known by their names, layers by themselves."""
    assert ps.keras.Activation("silu") == ps.keras.Activation("swish") == ps.SiLU()
    assert ps.keras.Activation(None) == ps.keras.Activation("linear") == ps.Identity()
    assert ps.keras.Activation(ps.GELU()) == ps.GELU()

    def relu() -> None:
        """Stand for a function of that name."""

    assert ps.keras.Activation(relu) == ps.ReLU()
    assert ps.keras.Activation({"class_name": "x"}) == ps.Activation("dict")


def test_arguments_too_many_or_too_few() -> None:
    """They are Python's own error, with the door's name."""
    with pytest.raises(TypeError, match=r"keras\.Dense: .*units"):
        ps.keras.Dense()
    with pytest.raises(TypeError, match=r"keras\.Identity: "):
        ps.keras.Identity(1)
    assert repr(ps.keras.Dense) == "<keras.Dense>"
