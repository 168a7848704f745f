"""ONNX's reductions, searches for the largest entries, and running sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paramsym.errors import NotYetError
from paramsym.program import Value, apply, best, cumulate, reduce, take
from paramsym.program.reductions import Reduction
from paramsym.read.onnx_entries import ONNX, array, axes_of, axis_in
from paramsym.read.onnx_from_sizes import is_known, number, sizes
from paramsym.read.torch_entries import TORCH

_REDUCTIONS: Mapping[str, Reduction] = {"Sum": "sum", "Mean": "mean", "Max": "amax", "Min": "amin", "Prod": "prod"}
_BEFORE = {"L1": "abs", "L2": "square", "SumSquare": "square", "LogSumExp": "exp", "LogSum": ""}
_AFTER = {"L2": "sqrt", "LogSumExp": "log", "LogSum": "log"}


def _reduction(name: str) -> None:
    @ONNX(f"Reduce{name}")
    def reduction(data: Any, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Value:
        x, over = array(data), axes_of(axes)
        if not over and noop_with_empty_axes:
            return x
        if name == "LogSumExp":
            return TORCH.functions["logsumexp"](x, over, bool(keepdims))
        x = apply(_BEFORE[name], x) if _BEFORE.get(name) else x
        x = reduce(_REDUCTIONS.get(name, "sum"), x, *(over or range(x.rank)), keep=bool(keepdims)) if x.rank else x
        return apply(_AFTER[name], x) if name in _AFTER else x


for _name in (*_REDUCTIONS, *_BEFORE):
    _reduction(_name)


def _place(theirs: str, *, least: bool) -> None:
    @ONNX(theirs)
    def place(data: Any, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Value:
        if select_last_index:
            raise NotYetError("the last of equal entries is not known.")
        x = array(data)
        return take(best(x, 1, axis_in(x, axis), least=least)[1], axis_in(x, axis), 0, 1 if keepdims else None)


_place("ArgMax", least=False)
_place("ArgMin", least=True)


@ONNX("TopK", ignored="sorted")
def _topk(X: Any, K: Any, axis: int = -1, largest: int = 1) -> tuple[Value, Value]:
    x = array(X)
    return best(x, sizes(K)[0], axis_in(x, axis), least=not largest)


@ONNX("CumSum")
def _cumsum(x: Any, axis: Any, exclusive: int = 0, reverse: int = 0) -> Value:
    if exclusive or reverse or not is_known(axis):
        raise NotYetError("running sums from the end, or without the entry itself, are not known.")
    return cumulate(array(x), axis_in(array(x), number(axis)))
