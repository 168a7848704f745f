"""Networks of other libraries, built without values; the names of torchvision's operators, which may be built for another torch."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

import torch
import torch.library

for _operator in ("nms", "qnms"):  # only their names are needed
    with contextlib.suppress(RuntimeError):
        torch.library.define(f"torchvision::{_operator}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

_IN_PLACE = ("add_", "clamp_", "copy_", "div_", "erfinv_", "fill_", "mul_", "normal_", "sub_", "uniform_", "zero_")


def _unchanged(tensor: Any, *_: Any, **__: Any) -> Any:
    return tensor


@contextlib.contextmanager
def quickly() -> Any:
    """Build without values: what only fills tensors does nothing, which on the meta device saves most of the time."""
    inits = [name for name in vars(torch.nn.init) if name[0] != "_" and name[-1] == "_"]
    patched = [(torch.nn.init, name) for name in inits] + [(torch.Tensor, name) for name in _IN_PLACE]
    kept = [(where, name, getattr(where, name)) for where, name in patched]
    try:
        for where, name in patched:
            setattr(where, name, _unchanged)
        with warnings.catch_warnings(), torch.device("meta"):
            warnings.simplefilter("ignore")
            yield
    finally:
        for where, name, what in kept:
            if where is torch.Tensor:
                delattr(where, name)  # the method is inherited
            else:
                setattr(where, name, what)
