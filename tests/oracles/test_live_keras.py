"""Keras itself, where it is installed: a certificate per layer through the door, in Keras' own arguments and order."""

from __future__ import annotations

from typing import Any

import pytest
from doors import Door, doors, numbered
from frameworks import imported, only_with
from oracles.instances import placed

import paramsym as ps
from paramsym import A, C, D, F, H, K, V, W
from paramsym.testing import certify

only_with("keras")

ROWS: list[tuple[str, dict[str, Any], Any]] = [
    ("Dense", {"units": F}, (None, H)),
    ("Dense", {"units": F, "use_bias": False}, (None, 7, H)),
    ("EinsumDense", {"equation": "abc,cd->abd", "output_shape": (None, F), "bias_axes": "d"}, (None, None, H)),
    ("Embedding", {"input_dim": V, "output_dim": H}, (None, 3)),
    ("LayerNormalization", {}, (None, 7, H)),
    ("LayerNormalization", {"center": False}, (None, H)),
    ("RMSNormalization", {}, (None, H)),
    ("BatchNormalization", {}, (None, 7, 7, C)),
    ("BatchNormalization", {"scale": False}, (None, C)),
    ("GroupNormalization", {"groups": 1}, (None, 7, C)),
    ("PReLU", {}, (None, W, C)),
    ("Conv1D", {"filters": F, "kernel_size": K}, (None, 20, C)),
    ("Conv2D", {"filters": F, "kernel_size": K}, (None, 20, 20, C)),
    ("Conv2D", {"filters": F, "kernel_size": K, "use_bias": False}, (None, 20, 20, C)),
    ("Conv3D", {"filters": F, "kernel_size": 2}, (None, 9, 9, 9, C)),
    ("Conv2DTranspose", {"filters": F, "kernel_size": K}, (None, 20, 20, C)),
    ("DepthwiseConv2D", {"kernel_size": K, "depth_multiplier": D}, (None, 20, 20, C)),
    ("SeparableConv2D", {"filters": F, "kernel_size": K}, (None, 20, 20, C)),
    ("SimpleRNN", {"units": H}, (None, 5, C)),
    ("LSTM", {"units": H}, (None, 5, C)),
    ("LSTM", {"units": H, "use_bias": False}, (None, 5, C)),
    ("GRU", {"units": H}, (None, 5, C)),
    ("GRU", {"units": H, "reset_after": False}, (None, 5, C)),
    ("ConvLSTM2D", {"filters": F, "kernel_size": K}, (None, 3, 20, 20, C)),
]


def label(row: tuple[str, dict[str, Any], Any]) -> str:
    """Name a row."""
    return f"{row[0]}-{row[1]}"[:80]


@pytest.mark.parametrize("row", ROWS, ids=label)
def test_certificate(row: tuple[str, dict[str, Any], Any]) -> None:
    """Every weight in order, trained or not, and the count are those of Keras on every valid size."""
    keras = imported("keras")
    name, arguments, shape = row
    layer = getattr(ps.keras, name)(**arguments, input_shape=shape)

    def build(**sizes: int) -> Any:
        found = placed({"arguments": tuple(arguments.values()), "shape": shape}, sizes)
        made = getattr(keras.layers, name)(**dict(zip(arguments, found["arguments"], strict=True)))
        made.build(found["shape"])
        return made

    proof = certify(layer, build, by="order")
    assert proof.compared == "tensors"
    assert "keras" in proof.versions


LAYERS = [door for door in doors() if door.__name__ != "Sequential"]  # it takes layers, and is compared with Keras' own beside its tests


@pytest.mark.parametrize("door", LAYERS, ids=lambda door: door.__name__)
def test_certificate_of_every_door(door: Door) -> None:
    """A door that nobody gave a row above is certified by existing, with the arguments it cannot do without."""
    keras = imported("keras")
    arguments = door.plain

    def build(**sizes: int) -> Any:
        found = numbered(arguments, {"c": 3, "u": 2, "v": 4} | sizes)  # sizes that the layer does not depend on have to be some
        shape, inner = found.pop("input_shape"), found.pop("layer_kwargs", None)
        if inner is not None:
            found["layer"] = getattr(keras.layers, found["layer"])(**inner)
        made = getattr(keras.layers, door.__name__)(**found)
        several = isinstance(shape, list) and door.__name__ in {"MultiHeadAttention", "GroupQueryAttention"}
        made.build(*shape) if several else made.build(shape)
        return made

    proof = certify(door.open(arguments), build, by="order")
    assert proof.compared == "tensors"
    assert "keras" in proof.versions


@pytest.mark.parametrize("options", [{}, {"value_dim": D}, {"use_bias": False}], ids=str)
def test_attention(options: dict[str, Any]) -> None:
    """Keras' attention has a free key_dim: heads do not cancel, and any width will do."""
    keras = imported("keras")
    shape = (None, 4, H)
    layer = ps.keras.MultiHeadAttention(num_heads=A, key_dim=K, **options, input_shape=[shape, shape, shape])

    def build(**sizes: int) -> Any:
        found = placed(options, sizes)
        made = keras.layers.MultiHeadAttention(sizes["A"], sizes["K"], **found)
        made.build((None, 4, sizes["H"]), (None, 4, sizes["H"]))
        return made

    assert certify(layer, build, by="order").compared == "tensors"


def test_names_are_read_without_the_layers_own() -> None:
    """Alone, in a model, and as a model: dots for slashes, statistics among the weights."""
    keras = imported("keras")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, name="up"), keras.layers.BatchNormalization(name="norm")])
    layer = ps.Block(up=ps.keras.Dense(4, input_shape=(None, 3)), norm=ps.keras.BatchNormalization(input_shape=(None, 4)))
    assert ps.match(layer, model).ok
    assert ps.match(ps.Dense(3, 4, dialect="keras"), model.get_layer("up")).ok
    assert ps.match(ps.Dense(3, 5, dialect="keras"), model.get_layer("up")).mismatched == ("kernel", "bias")


def test_an_unbuilt_layer_is_refused() -> None:
    """A Keras layer without weights is no layer of no weights."""
    keras = imported("keras")
    with pytest.raises(ps.errors.ArgumentError, match="build it"):
        ps.match(ps.Dense(3, 4, dialect="keras"), keras.layers.Dense(4))
