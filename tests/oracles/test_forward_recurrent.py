"""Recurrent layers and their cells compute what torch computes, on random settings."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from frameworks import imported, only_with
from running import assert_runs_as_flax, assert_runs_as_keras, assert_runs_as_torch, draws

import paramsym as ps

only_with("numpy")


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_layers(name: str) -> None:
    """Thirty random settings each, with and without a batch, states included."""
    torch, random = imported("torch"), Random(len(name))
    for _ in draws(30):
        wide, layers = random.randint(2, 5), random.randint(1, 3)
        drawn: dict[str, Any] = {
            "input_size": random.randint(1, 4),
            "hidden_size": wide,
            "num_layers": layers,
            "bias": random.random() < 0.6,
            "batch_first": random.random() < 0.5,
            "bidirectional": random.random() < 0.5,
        }
        if name == "RNN":
            drawn["nonlinearity"] = random.choice(["tanh", "relu"])
        if name == "LSTM":
            drawn["proj_size"] = random.choice([0, 0, wide - 1])
        lead = random.choice([(3,), (2, 3), (4, 1)])
        sequence = torch.randn(*lead, drawn["input_size"], dtype=torch.float64)
        assert_runs_as_torch(getattr(ps, name)(**drawn, return_state=True), getattr(torch.nn, name)(**drawn), sequence)


@pytest.mark.parametrize("name", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells(name: str) -> None:
    """Thirty random settings each, with and without a batch, with and without states."""
    torch, random = imported("torch"), Random(len(name))
    for _ in draws(30):
        drawn: dict[str, Any] = {"input_size": random.randint(1, 4), "hidden_size": random.randint(1, 5), "bias": random.random() < 0.6}
        if name == "RNNCell":
            drawn["nonlinearity"] = random.choice(["tanh", "relu"])
        batch, count = random.choice([(), (3,)]), random.choice([0, 2 if name == "LSTMCell" else 1])
        x = torch.randn(*batch, drawn["input_size"], dtype=torch.float64)
        states = [torch.randn(*batch, drawn["hidden_size"], dtype=torch.float64) for _ in range(count)]
        module = getattr(torch.nn, name)(**drawn).double()
        nested = (lambda x, *states, cell=module: cell(x, states if len(states) > 1 else states[0])) if states else module
        assert_runs_as_torch(getattr(ps, name)(**drawn), module, x, *states, call=nested)


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
@pytest.mark.parametrize("all_steps", [True, False])
def test_keras(name: str, all_steps: bool) -> None:
    """Keras' layers, all steps or the last one, with the states."""
    keras, xp = imported("keras"), imported("numpy")
    for settings in ({}, {"use_bias": False}, *([{"reset_after": False}] if name == "GRU" else [])):
        array = xp.random.default_rng(0).standard_normal((2, 4, 3))
        returned = {"return_sequences": all_steps, "return_state": True}
        theirs = getattr(keras.layers, name)(5, **settings, **returned, dtype="float64")
        ours = getattr(ps.keras, name)(5, **settings, **returned, input_shape=array.shape)
        assert_runs_as_keras(ours, theirs, array)


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"])
def test_random_settings_of_keras(name: str) -> None:
    """Ten random settings each of Keras' recurrent layers, and of both directions of one of them."""
    keras, xp, random = imported("keras"), imported("numpy"), Random(name)
    for _ in draws(10):
        rank = int(name[-2]) if name.startswith("Conv") else 0
        array = xp.random.default_rng(random.randrange(2**32)).standard_normal(
            (2, random.randint(1, 4), *(5,) * rank, random.randint(1, 3))
        )
        inner = random.choice(["SimpleRNN", "LSTM", "GRU"]) if name == "Bidirectional" else name
        named: dict[str, Any] = {
            "use_bias": random.random() < 0.5,
            "return_sequences": random.random() < 0.5,
            "activation": random.choice(["tanh", "relu", "softsign"]),
            **({} if inner == "SimpleRNN" else {"recurrent_activation": random.choice(["sigmoid", "hard_sigmoid"])}),
            **({"name": "inner"} if name == "Bidirectional" else {"go_backwards": random.random() < 0.3}),
        }
        given = (random.randint(1, 5),)
        if rank:
            given = (*given, random.randint(1, 3))
            named |= random.choice([{}, {"strides": 2}, {"dilation_rate": 2}]) | {"padding": random.choice(["valid", "same"])}
        ours, theirs = getattr(ps.keras, inner), getattr(keras.layers, inner)
        if name == "Bidirectional":
            mode = random.choice(["sum", "mul", "ave", "concat"])
            theirs = keras.layers.Bidirectional(theirs(*given, **named, dtype="float64"), mode, dtype="float64")
            layer = ps.keras.Bidirectional(ours(*given, **named), mode, input_shape=array.shape)
        else:
            theirs, layer = theirs(*given, **named, dtype="float64"), ours(*given, **named, input_shape=array.shape)
        assert_runs_as_keras(layer, theirs, array)


@pytest.mark.parametrize(("name", "cell"), [("RNN", "SimpleCell"), ("LSTM", "LSTMCell"), ("LSTM", "OptimizedLSTMCell"), ("GRU", "GRUCell")])
def test_flax(name: str, cell: str) -> None:
    """Linen's layers around one cell, in sizes drawn at random."""
    linen, xp, random = imported("flax.linen"), imported("numpy"), Random(cell)
    for _ in draws(2):
        width, hidden = random.randint(1, 4), random.randint(1, 5)
        array = xp.random.default_rng(random.randrange(2**32)).standard_normal((2, random.randint(1, 4), width))
        theirs = linen.RNN(getattr(linen, cell)(hidden, param_dtype="float64"))
        assert_runs_as_flax(getattr(ps, name)(width, hidden, dialect="flax"), theirs, array)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutional(rank: int) -> None:
    """Keras' convolutional LSTMs, with strides, dilations and both data formats, and linen's."""
    keras, linen, xp = imported("keras"), imported("flax.linen"), imported("numpy")
    array = xp.random.default_rng(0).standard_normal((2, 3, *(6,) * rank, 2))
    for settings in ({}, {"strides": 2}, {"padding": "same"}, {"dilation_rate": 2}, {"use_bias": False}, {"return_sequences": True}):
        theirs = getattr(keras.layers, f"ConvLSTM{rank}D")(3, 2, **settings, return_state=True, dtype="float64")
        ours = getattr(ps.keras, f"ConvLSTM{rank}D")(3, 2, **settings, return_state=True, input_shape=array.shape)
        assert_runs_as_keras(ours, theirs, array)
    module = linen.RNN(linen.ConvLSTMCell(3, (2,) * rank, param_dtype="float64"))
    assert_runs_as_flax(getattr(ps, f"ConvLSTM{rank}d")(2, 3, 2, padding="same", dialect="flax"), module, array)


ACTIVATIONS = ["relu", "softsign", "leaky_relu", "softmax", "linear", None]


@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_other_activations_of_keras(name: str, activation: str | None) -> None:
    """Any activation for the state, another for the gates, read from either end; likewise in a cell."""
    keras, xp = imported("keras"), imported("numpy")
    array = xp.random.default_rng(0).standard_normal((2, 4, 3))
    gates = {} if name == "SimpleRNN" else {"recurrent_activation": "hard_sigmoid"}
    settings = [{}, {"go_backwards": True, "return_sequences": True}, *([{"reset_after": False}] if name == "GRU" else [])]
    for one in settings:
        named: dict[str, Any] = {"activation": activation, **gates, **one}
        theirs = getattr(keras.layers, name)(5, **named, return_state=True, dtype="float64")
        ours = getattr(ps.keras, name)(5, **named, return_state=True, input_shape=array.shape)
        assert_runs_as_keras(ours, theirs, array)
    cell = getattr(ps.keras, f"{name}Cell")(5, activation=activation, **gates, input_shape=(None, 3))
    states = [xp.random.default_rng(n).standard_normal((2, 5)) for n in range(2 if name == "LSTM" else 1)]
    their_cell = getattr(keras.layers, f"{name}Cell")(5, activation=activation, **gates, dtype="float64")
    their_cell.build((2, 3))
    found = ps.run(cell, {tensor.path.split("/")[-1]: tensor.numpy() for tensor in their_cell.weights}, array[:, 0], *states)
    wanted = their_cell(array[:, 0], states)[1]
    wanted = wanted if isinstance(wanted, list | tuple) else [wanted]
    for one, other in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
        assert xp.allclose(one, keras.ops.convert_to_numpy(other), atol=1e-6)


@pytest.mark.parametrize("data_format", ["channels_first", "channels_last"])
def test_other_activations_of_convolutional_lstms(data_format: str) -> None:
    """An activation along an axis sees the axes in Keras' order."""
    keras, xp = imported("keras"), imported("numpy")
    array = xp.random.default_rng(0).standard_normal((2, 3, 2, 6, 5) if data_format == "channels_first" else (2, 3, 6, 5, 2))
    for one in ({"activation": "softmax"}, {"recurrent_activation": "hard_sigmoid", "activation": "relu"}, {"go_backwards": True}):
        named: dict[str, Any] = {**one, "data_format": data_format, "padding": "same", "return_sequences": True}
        theirs = keras.layers.ConvLSTM2D(3, 2, **named, dtype="float64")
        assert_runs_as_keras(ps.keras.ConvLSTM2D(3, 2, **named, input_shape=array.shape), theirs, array)


@pytest.mark.parametrize("merge_mode", ["sum", "mul", "ave", "concat"])
@pytest.mark.parametrize("all_steps", [True, False])
def test_both_directions_of_keras(merge_mode: str, all_steps: bool) -> None:
    """A backward direction of its own, and one that is made; a forward one may be the one that goes backwards."""
    keras, xp = imported("keras"), imported("numpy")
    array = xp.random.default_rng(0).standard_normal((2, 4, 3))
    named = {"return_sequences": all_steps}

    def pairs(k: Any, **more: Any) -> list[Any]:
        there, back = {**named, **more, "name": "there"}, {**named, **more, "name": "back"}
        return [
            (k.LSTM(5, **there), None),
            (k.LSTM(5, **there), k.GRU(5, go_backwards=True, **back)),
            (k.SimpleRNN(5, go_backwards=True, **there), k.LSTM(5, activation="relu", **back)),
        ]

    for (layer, back), (their_layer, their_back) in zip(pairs(ps.keras), pairs(keras.layers, dtype="float64"), strict=True):
        ours = ps.keras.Bidirectional(layer, merge_mode, backward_layer=back, input_shape=array.shape)
        theirs = keras.layers.Bidirectional(their_layer, merge_mode, backward_layer=their_back, dtype="float64")
        assert_runs_as_keras(ours, theirs, array)
