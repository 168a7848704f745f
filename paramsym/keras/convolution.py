"""Convolutions in Keras' spelling: plain, transposed, depthwise, separable, and inside an LSTM."""

from __future__ import annotations

from functools import partial
from typing import Any

from paramsym.algebra.convolution import window_count
from paramsym.core.layer import Layer
from paramsym.keras._activations import activated
from paramsym.keras._arguments import one_of, takes, weights
from paramsym.keras._door import Door, Given, axis_size, listed, shape_of
from paramsym.keras.dense import adapted
from paramsym.keras.recurrent import DROPPED, RETURNED, SEED, UNMASKED, recurrent
from paramsym.layers import conv_lstm, convolution, separable
from paramsym.layers.spatial import per_axis


def _named(kind: Any, given: Given) -> dict[str, Any]:
    return {**recurrent(kind, given), "data_format": "channels_first" if given.data_format == "channels_first" else None}


def _check(kind: Any, given: Given) -> bool:
    """Refuse bad arguments, as Keras does before an input; the unknown number of channels is taken to be the number of groups."""
    kind(given.values.get("groups", 1), **_named(kind, given))
    return False


def _slid(kind: Any, given: Given, shape: Any) -> Layer:
    """Return a convolution, with its low-rank factors and its activation."""
    first, inputs = given.data_format == "channels_first", shape_of(shape, kind.rank + 2)
    layer = kind(axis_size(inputs, 1 if first else -1), **_named(kind, given))
    if layer.padding == "valid" and not getattr(kind, "transposed", False):
        settings = (per_axis(value, kind.rank, "") for value in (layer.kernel_size, layer.stride, layer.dilation))
        for length, kernel, stride, dilation in zip(inputs[2:] if first else inputs[1:-1], *settings, strict=True):
            _ = length is None or window_count(length, kernel, stride, 0, dilation)  # refuses a window that is larger than the input
    return activated(adapted(layer, given, given.values.get("lora_alpha")), given.activation)


def _stepped(kind: Any, given: Given, shape: Any) -> Layer:
    """Return a convolutional LSTM; Keras requires every axis except batch and time to be known."""
    _, _, *image = shape_of(shape, kind.rank + 3)
    known = tuple(axis_size((None, *image), axis + 1) for axis in range(len(image)))
    layer: Layer = kind(known[0 if given.data_format == "channels_first" else -1], **_named(kind, given))
    return layer


def _door(name: str, opens: Any, kind: Any, arguments: dict[str, Any], says: str, call: str, count: int, keywords: Any = None) -> Door:
    """Return the door of a kind of convolution, with an example of a call and its number of parameters."""
    reads = {"padding": one_of("valid", "same", "causal")} if name == "Conv1D" else None
    said = f"Return ``paramsym.{kind.__name__}`` as Keras stores it: {says}.\n\n>>> {name}{call}.params\n{count}\n"
    more: dict[str, Any] = {"rank": kind.rank, "reads": reads, "complete": partial(_check, kind)}
    return Door(partial(opens, kind), arguments, keywords, name=name, says=said, **more)


def _doors(rank: int) -> list[Door]:
    """Return the doors for a number of spatial axes."""
    ones = 1 if rank == 1 else (1,) * rank
    k, inputs = "k, " * rank, f"input_shape=(None, {'10, ' * rank}3))"
    start, formed = takes(strides=ones, padding="valid"), takes(data_format=None, dilation_rate=ones)
    asked, multiplied = takes("filters", "kernel_size"), takes(depth_multiplier=1)
    grown = takes(data_format=None, output_padding=None) if rank == 3 else takes(output_padding=None, data_format=None)
    end = takes(activation=None, use_bias=True)
    full = {**end, **weights("kernel", "bias", activity=True)}
    stepped = takes(
        strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh", recurrent_activation="sigmoid", use_bias=True
    )
    kept = weights("kernel", "recurrent", "bias", activity=True, more={"unit_forget_bias": True}) | DROPPED | SEED | RETURNED
    places = 3**rank
    found = [
        _door(
            f"Conv{rank}D",
            _slid,
            getattr(convolution, f"Conv{rank}d"),
            {**asked, **start, **formed, "groups": 1, **full},
            f"``kernel`` ({k}channels/groups, filters), ``bias`` (filters,); ``lora_rank`` adds ``lora_kernel_a`` and ``lora_kernel_b``",
            f"(8, 3, {inputs}",
            places * 3 * 8 + 8,
            {"lora_rank": None, "lora_alpha": None},
        ),
        _door(
            f"Conv{rank}DTranspose",
            _slid,
            getattr(convolution, f"ConvTranspose{rank}d"),
            {**asked, **start, **grown, "dilation_rate": ones, **full},
            f"``kernel`` ({k}filters, channels), ``bias`` (filters,)",
            f"(8, 3, {inputs}",
            places * 3 * 8 + 8,
        ),
        _door(
            f"ConvLSTM{rank}D",
            _stepped,
            getattr(conv_lstm, f"ConvLSTM{rank}d"),
            {**asked, **stepped, **kept},
            "``kernel``, ``recurrent_kernel`` and ``bias`` of ``conv_lstm_cell``",
            f"(4, 3, input_shape=(None, 5, {'10, ' * rank}3))",
            16 * (places * (3 + 4) + 1),
            {"unroll": False, **UNMASKED},
        ),
    ]
    if rank == 3:
        return found
    return [
        *found,
        _door(
            f"DepthwiseConv{rank}D",
            _slid,
            getattr(separable, f"DepthwiseConv{rank}d"),
            {**takes("kernel_size"), **start, **multiplied, **formed, **end, **weights("depthwise", "bias", activity=True)},
            f"``kernel`` ({k}channels, multiplier), ``bias``",
            f"(3, depth_multiplier=2, {inputs}",
            (places + 1) * 3 * 2,
        ),
        _door(
            f"SeparableConv{rank}D",
            _slid,
            getattr(separable, f"SeparableConv{rank}d"),
            {**asked, **start, **formed, **multiplied, **end, **weights("depthwise", "pointwise", "bias", activity=True)},
            "``depthwise_kernel``, ``pointwise_kernel`` and one ``bias``",
            f"(8, 3, {inputs}",
            places * 3 + 3 * 8 + 8,
        ),
    ]


DOORS = listed(*_doors(1), *_doors(2), *_doors(3))
