"""Running a layer and a live torch module on the same tensors and arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from frameworks import imported, widened_keras

from paramsym.core.layer import Layer
from paramsym.measure.run import run
from paramsym.testing.running import largest_difference

TOLERANCE = 1e-9
"""Both sides compute in float64."""
RUNS = int(os.environ.get("FORWARD_RUNS", "0"))


def draws(usual: int) -> range:
    """Return as many draws of settings as a test usually takes, or as FORWARD_RUNS in the environment says, where that is more."""
    return range(max(usual, RUNS))


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
    # A table with ``max_norm`` is changed when its rows are looked up.
    tensors = {name: tensor.numpy().copy() for name, tensor in module.state_dict().items()}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch advises against even kernels with padding="same"
        wanted = _arrays(module(*inputs, **named) if call is None else call(*inputs))
    found = run(layer, tensors, *(one.numpy() for one in inputs))
    largest_difference(xp, layer, found, wanted, tolerance)


def assert_runs_as_keras(layer: Layer, module: Any, *arrays: Any, tolerance: float = TOLERANCE, **call: Any) -> None:
    """Fail unless the layer computes what a Keras layer (made with dtype="float64", torch as its backend) computes; weights are random."""
    torch, xp = imported("torch"), imported("numpy")
    generator = xp.random.default_rng(0)
    inputs = [xp.asarray(array) for array in arrays]
    with torch.no_grad(), widened_keras():
        module(*map(torch.as_tensor, inputs), **call)  # builds the weights
        for weight in module.weights:
            weight.assign(generator.uniform(0.5, 1.5, tuple(weight.shape)) * (generator.integers(0, 2, tuple(weight.shape)) * 2 - 1))
            if "variance" in weight.path:
                weight.assign(generator.uniform(0.5, 1.5, tuple(weight.shape)))
        wanted = _arrays(module(*map(torch.as_tensor, inputs), **call))
    tensors = {weight.path.split("/", 1)[-1].replace("/", "."): xp.asarray(weight.value.detach()) for weight in module.weights}
    largest_difference(xp, layer, run(layer, tensors, *inputs), wanted, tolerance)


def assert_runs_as_flax(layer: Layer, module: Any, *arrays: Any, tolerance: float = TOLERANCE, slashes: bool = False, **call: Any) -> None:
    """Fail unless the layer computes what a Flax linen module (made with param_dtype=float64) computes; weights are random.

    ``slashes`` says that the names of tensors hold slashes, which are dots here, under the name of a wrapper.
    """
    jax, xp = imported("jax"), imported("numpy")
    generator = xp.random.default_rng(0)
    with jax.enable_x64(True):
        variables = module.init(jax.random.key(0), *arrays, **call)
        variables = jax.tree.map(lambda leaf: generator.uniform(0.5, 1.5, leaf.shape), variables)
        wanted = jax.tree.map(xp.asarray, module.apply(variables, *arrays, **call))
    tensors = {name: xp.asarray(leaf) for one in variables.values() for name, leaf in _flat(one)}
    if slashes:
        tensors = {name.replace("/", "."): leaf for name, leaf in tensors.items()}
    largest_difference(xp, layer, run(layer, tensors, *arrays), wanted, tolerance)


def _flat(tree: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested dictionaries under dotted names."""
    for name, value in tree.items():
        if hasattr(value, "items"):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _arrays(outputs: Any) -> Any:
    """Return arrays for tensors, nested tuples laid flat, what is missing left out."""
    if not isinstance(outputs, tuple | list):
        return outputs.numpy()
    listed: list[Any] = []
    for one in outputs:
        inner = () if one is None else _arrays(one)
        listed.extend(inner if isinstance(inner, tuple) else (inner,))
    return tuple(listed)
