"""Running a layer and a live torch module on the same tensors and arrays."""

from __future__ import annotations

from typing import Any

from frameworks import imported

from paramsym.layer import Layer
from paramsym.measure.run import run
from paramsym.testing.running import largest_difference

TOLERANCE = 1e-9
"""Both sides compute in float64."""


def assert_runs_as_torch(layer: Layer, module: Any, *arrays: Any, tolerance: float = TOLERANCE, **call: Any) -> None:
    """Fail unless the layer computes what the module computes in evaluation mode, and states the shapes that come out.

    The module's own random tensors are used; statistics are made random, because zeros and ones would hide what uses them.
    """
    torch, xp = imported("torch"), imported("numpy")
    module = module.double().eval()
    generator = torch.Generator().manual_seed(0)
    for name, buffer in module.named_buffers():
        if name.rpartition(".")[2] in {"running_mean", "running_var"}:
            buffer.copy_(torch.rand(buffer.shape, generator=generator, dtype=buffer.dtype) + 0.5)
    inputs = [torch.as_tensor(array) for array in arrays]
    with torch.no_grad():
        wanted = _arrays(module(*inputs, **call))
    tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    found = run(layer, tensors, *(one.numpy() for one in inputs))
    largest_difference(xp, layer, found, wanted, tolerance)


def _arrays(outputs: Any) -> Any:
    """Return arrays for tensors, nested tuples laid flat, what is missing left out."""
    if not isinstance(outputs, tuple | list):
        return outputs.numpy()
    listed: list[Any] = []
    for one in outputs:
        inner = () if one is None else _arrays(one)
        listed.extend(inner if isinstance(inner, tuple) else (inner,))
    return tuple(listed)
