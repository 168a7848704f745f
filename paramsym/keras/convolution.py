"""Convolutions in Keras' spelling: plain, transposed, depthwise, separable, and inside an LSTM."""

from __future__ import annotations

from functools import partial
from typing import Any

from paramsym.algebra.convolution import window_count
from paramsym.core.layer import Layer
from paramsym.keras._activations import activated
from paramsym.keras._arguments import one_of, takes, weights
from paramsym.keras._door import Door, Given, axis_size, shape_of
from paramsym.keras.dense import adapted
from paramsym.keras.recurrent import FORGET, RETURNED, SEED, UNMASKED, recurrent, weighted
from paramsym.layers import conv_lstm, convolution, separable
from paramsym.layers.spatial import per_axis


def _named(kind: Any, given: Given) -> dict[str, Any]:
    return {**recurrent(kind, given), "data_format": "channels_first" if given.data_format == "channels_first" else None}


def _check(kind: Any, given: Given) -> None:
    """Refuse bad arguments, as Keras does before an input; the unknown number of channels is taken to be the number of groups."""
    kind(given.values.get("groups", 1), **_named(kind, given))


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


def _door(name: str, opens: Any, kind: Any, arguments: dict[str, Any], says: str, call: str, count: int, keywords: Any = None) -> None:
    """Make the door of a kind of convolution, with an example of a call and its number of parameters."""
    said = f"Return ``paramsym.{kind.__name__}`` as Keras stores it: {says}.\n\n>>> {name}({call}).params\n{count}\n"
    more: dict[str, Any] = {"reads": {"padding": one_of("valid", "same", "causal")} if name == "Conv1D" else None}
    Door(partial(opens, kind), arguments, keywords, name=name, says=said, rank=kind.rank, complete=partial(_check, kind), **more)


def _doors(rank: int) -> None:
    ones = 1 if rank == 1 else (1,) * rank
    k, places = "k, " * rank, 3**rank
    image = f"{'10, ' * rank}3)"
    dense, stepped = f"8, 3, input_shape=(None, {image}", f"4, 3, input_shape=(None, 5, {image}"
    start, formed = takes(strides=ones, padding="valid"), takes(data_format=None, dilation_rate=ones)
    asked, multiplied = takes("filters", "kernel_size"), takes(depth_multiplier=1)
    grown = takes(data_format=None, output_padding=None) if rank == 3 else takes(output_padding=None, data_format=None)
    end = takes(activation=None, use_bias=True)
    full = {**end, **weights("kernel", "bias", activity=True)}
    steps = takes(strides=1, padding="valid", data_format=None, dilation_rate=1, activation="tanh", recurrent_activation="sigmoid")

    arguments = {**asked, **start, **formed, "groups": 1, **full}
    says = f"``kernel`` ({k}channels/groups, filters), ``bias`` (filters,); ``lora_rank`` adds ``lora_kernel_a`` and ``lora_kernel_b``"
    kind: Any = getattr(convolution, f"Conv{rank}d")
    _door(f"Conv{rank}D", _slid, kind, arguments, says, dense, places * 3 * 8 + 8, takes(lora_rank=None, lora_alpha=None))

    arguments = {**asked, **start, **grown, "dilation_rate": ones, **full}
    says = f"``kernel`` ({k}filters, channels), ``bias`` (filters,)"
    kind = getattr(convolution, f"ConvTranspose{rank}d")
    _door(f"Conv{rank}DTranspose", _slid, kind, arguments, says, dense, places * 3 * 8 + 8)

    arguments = {**asked, **steps, "use_bias": True, **weighted(more=FORGET), **SEED, **RETURNED}
    says = "``kernel``, ``recurrent_kernel`` and ``bias`` of ``conv_lstm_cell``"
    kind = getattr(conv_lstm, f"ConvLSTM{rank}d")
    _door(f"ConvLSTM{rank}D", _stepped, kind, arguments, says, stepped, 16 * (places * (3 + 4) + 1), {"unroll": False, **UNMASKED})
    if rank == 3:
        return

    arguments = {**takes("kernel_size"), **start, **multiplied, **formed, **end, **weights("depthwise", "bias", activity=True)}
    says = f"``kernel`` ({k}channels, multiplier), ``bias``"
    kind, call = getattr(separable, f"DepthwiseConv{rank}d"), dense.replace("8, 3", "3, depth_multiplier=2")
    _door(f"DepthwiseConv{rank}D", _slid, kind, arguments, says, call, (places + 1) * 3 * 2)

    arguments = {**asked, **start, **formed, **multiplied, **end, **weights("depthwise", "pointwise", "bias", activity=True)}
    says = "``depthwise_kernel``, ``pointwise_kernel`` and one ``bias``"
    kind = getattr(separable, f"SeparableConv{rank}d")
    _door(f"SeparableConv{rank}D", _slid, kind, arguments, says, dense, places * 3 + 3 * 8 + 8)


for _rank in (1, 2, 3):
    _doors(_rank)
