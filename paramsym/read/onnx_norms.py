"""ONNX's softmaxes and norms."""

from __future__ import annotations

from typing import Any

from paramsym.errors import NotYetError
from paramsym.program import Value, apply, normalise, reduce, softmax
from paramsym.read.onnx_entries import ONNX, array, axis_in
from paramsym.read.torch_entries import TORCH


@ONNX("Softmax")
def _softmax(input: Any, axis: int | None = None, *, version: int) -> Value:
    return _normalised(array(input), axis, version, log=False)


@ONNX("LogSoftmax")
def _log_softmax(input: Any, axis: int | None = None, *, version: int) -> Value:
    return _normalised(array(input), axis, version, log=True)


def _normalised(x: Value, axis: int | None, version: int, *, log: bool) -> Value:
    """Return a softmax; before version 13 it was over all axes from one on."""
    if version >= 13:
        return softmax(x, axis_in(x, -1 if axis is None else axis), log=log)
    first = axis_in(x, 1 if axis is None else axis)
    if first != x.rank - 1:
        raise NotYetError("a softmax over several axes is not known.")
    return softmax(x, first, log=log)


@ONNX("LayerNormalization", ignored="stash_type")
def _layer_norm(X: Any, Scale: Any = None, B: Any = None, axis: int = -1, epsilon: float = 1e-5) -> Value:
    x = array(X)
    scale, shift = (None if one is None else array(one) for one in (Scale, B))
    return normalise(x, "layer", *range(axis_in(x, axis) - x.rank, 0), eps=epsilon, scale=scale, shift=shift)


@ONNX("RMSNormalization", ignored="stash_type")
def _rms_norm(X: Any, scale: Any, axis: int = -1, epsilon: float = 1e-5) -> Value:
    x = array(X)
    return normalise(x, "rms", *range(axis_in(x, axis) - x.rank, 0), eps=epsilon, scale=array(scale))


@ONNX("BatchNormalization", ignored="momentum spatial")
def _batch_norm(X: Any, scale: Any, B: Any, input_mean: Any, input_var: Any, epsilon: float = 1e-5, training_mode: int = 0) -> Value:
    given = [array(one) for one in (X, scale, B, input_mean, input_var)]
    return TORCH.functions["native_batch_norm"](*given, training=bool(training_mode), eps=epsilon)


@ONNX("InstanceNormalization")
def _instance_norm(input: Any, scale: Any, B: Any, epsilon: float = 1e-5) -> Value:
    return TORCH.functions["instance_norm"](array(input), array(scale), array(B), None, None, True, epsilon)


@ONNX("GroupNormalization", ignored="stash_type")
def _group_norm(X: Any, scale: Any, bias: Any, num_groups: int, epsilon: float = 1e-5, *, version: int) -> Value:
    if version < 21:
        raise NotYetError("a group normalisation with one scale for a group, as before version 21, is not known.")
    return TORCH.functions["native_group_norm"](array(X), array(scale), array(bias), num_groups, epsilon)


@ONNX("LpNormalization")
def _lp_norm(input: Any, axis: int = -1, p: int = 2) -> Value:
    x = array(input)
    if p == 1:
        return x / reduce("sum", apply("abs", x), axis, keep=True)
    return x / apply("sqrt", reduce("sum", apply("square", x), axis, keep=True))
