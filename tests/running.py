"""Running a layer and a live torch module on the same tensors and arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from inspect import signature
from typing import Any

from frameworks import imported

from paramsym.layer import Layer
from paramsym.measure.run import run
from paramsym.testing.running import largest_difference

TOLERANCE = 1e-9
"""Both sides compute in float64."""


def assert_runs_as_torch(
    layer: Layer, module: Any, *arrays: Any, tolerance: float = TOLERANCE, call: Callable[..., Any] | None = None, **named: Any
) -> None:
    """Fail unless the layer computes what the module computes in evaluation mode, and states the shapes that come out.

    ``call`` calls the module where its inputs are not simply one after another. The module's own random tensors are used; statistics are
    made random, because zeros and ones would hide what uses them.
    """
    torch, xp = imported("torch"), imported("numpy")
    module = module.double().eval()
    generator = torch.Generator().manual_seed(0)
    for name, buffer in module.named_buffers():
        if name.rpartition(".")[2] in {"running_mean", "running_var"}:
            buffer.copy_(torch.rand(buffer.shape, generator=generator, dtype=buffer.dtype) + 0.5)
    inputs = [torch.as_tensor(array) for array in arrays]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch advises against even kernels with padding="same"
        wanted = _arrays(module(*inputs, **named) if call is None else call(*inputs))
    tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    found = run(layer, tensors, *(one.numpy() for one in inputs))
    largest_difference(xp, layer, found, wanted, tolerance)


def assert_runs_as_keras(layer: Layer, theirs: Any, *arrays: Any, tolerance: float = 1e-5) -> None:
    """Fail unless the layer computes what a built Keras layer computes in evaluation mode, in float32; weights by their order."""
    xp = imported("numpy")
    wanted = theirs(*arrays, training=False) if _takes_training(theirs) else theirs(*arrays)
    weights = [xp.asarray(weight, dtype="float64") for weight in theirs.get_weights()]
    names = [entry.name for entry in layer.entries() if not entry.alias_of]
    found = run(layer, dict(zip(names, weights, strict=True)), *(xp.asarray(array, dtype="float64") for array in arrays))
    largest_difference(xp, layer, found, _numbers(xp, wanted), tolerance)


def assert_runs_as_flax(layer: Layer, module: Any, *arrays: Any, tolerance: float = 1e-5, **call: Any) -> None:
    """Fail unless the layer computes what a linen module computes, in float32; tensors by their names."""
    xp, jax = imported("numpy"), imported("jax")
    inputs = [jax.numpy.asarray(array) for array in arrays]
    variables = module.init(jax.random.key(0), *inputs, **call)
    wanted = module.apply(variables, *inputs, **call)
    tensors = {name: xp.asarray(array, dtype="float64") for tree in variables.values() for name, array in flat(tree, "")}
    found = run(layer, tensors, *(xp.asarray(array, dtype="float64" if array.dtype.kind == "f" else None) for array in arrays))
    largest_difference(xp, layer, found, _numbers(xp, wanted), tolerance)


def flat(tree: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    """Yield the arrays of a nested mapping under their dotted names."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _takes_training(theirs: Any) -> bool:
    return "training" in signature(theirs.call).parameters


def _numbers(xp: Any, outputs: Any) -> Any:
    """Return NumPy arrays for what Keras or Flax returns, nested sequences laid flat."""
    if not isinstance(outputs, tuple | list):
        return xp.asarray(outputs.detach() if hasattr(outputs, "detach") else outputs)
    listed: list[Any] = []
    for one in outputs:
        inner = _numbers(xp, one)
        listed.extend(inner if isinstance(inner, tuple) else (inner,))
    return tuple(listed)


def _arrays(outputs: Any) -> Any:
    """Return arrays for tensors, nested tuples laid flat, what is missing left out."""
    if not isinstance(outputs, tuple | list):
        return outputs.numpy()
    listed: list[Any] = []
    for one in outputs:
        inner = () if one is None else _arrays(one)
        listed.extend(inner if isinstance(inner, tuple) else (inner,))
    return tuple(listed)
