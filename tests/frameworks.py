"""What the frameworks themselves store, read from live modules: names and shapes, in their order. No framework is imported before use."""

from __future__ import annotations

import inspect
import itertools
import os
import re
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import pytest


def only_with(*names: str) -> None:
    """Skip a module of tests as a whole without these frameworks; importing none of them, this costs nothing where they are installed."""
    for name in names:
        found = find_spec(name)
        if found is None or found.origin is None:  # a folder of these tests can carry a framework's name
            pytest.skip(f"{name} is not installed", allow_module_level=True)


def imported(name: str) -> Any:
    """Import a framework, or skip the test that needs it; its own deprecation warnings are not ours."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    if name.partition(".")[0] in {"torchvision", "timm", "diffusers", "transformers"}:  # they import torchvision if it is there
        _name_operators_of_torchvision()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip(name, exc_type=ImportError)
    if getattr(module, "__file__", None) is None:
        # A folder of these tests can carry a framework's name; Python takes it for a package where the framework is not installed.
        pytest.skip(f"could not import {name!r}: only a folder of that name was found", allow_module_level=True)
    return module


@cache
def _name_operators_of_torchvision() -> None:
    """Let torchvision be imported if its wheel was built for another release of torch, so that its compiled operators cannot be loaded.

    Its networks are plain Python. When it is imported, it asks only for the names of two operators.
    """
    if find_spec("torchvision") is None or find_spec("torch") is None:
        return
    torch = imported("torch")
    for name in ("nms", "qnms"):
        with suppress(RuntimeError):  # already there
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


@contextmanager
def widened() -> Generator[None]:
    """Let transformers and torch compute in float64 throughout, also where they work out rotations, norms and softmax in float32.

    The code of the reference runs as it stands; only the names of the narrower number type mean the wider one, and a change of type is
    still a copy.
    """
    torch = imported("torch")
    narrow, wide = torch.float32, torch.float64
    torch.set_default_dtype(wide)
    try:
        with patch.multiple(torch, float32=wide, float=wide), patch.object(torch.Tensor, "float", lambda x: x.double().clone()):
            yield
    finally:
        torch.set_default_dtype(narrow)


def widened_keras() -> Any:
    """Return a context in which Keras computes in float64 on torch, also where it casts to float32 whatever a layer's number type is."""
    imported("keras")
    return patch.dict(import_module("keras.src.backend.torch.core").TORCH_DTYPES, float32=imported("torch").float64)


def on_meta(build: Callable[[], Any]) -> Any:
    """Build a torch module without allocating its weights."""
    torch = imported("torch")
    with warnings.catch_warnings(), torch.device("meta"):
        warnings.simplefilter("ignore")
        return build()


def assert_same_as_torch(layer: Any, build: Callable[[], Any]) -> None:
    """Check parameters in order, and the state dict with its buffers, against a live torch module."""
    module = on_meta(build)
    assert list(layer.shapes().items()) == [(name, tuple(tensor.shape)) for name, tensor in module.named_parameters()]
    assert list(layer.shapes(buffers=True).items()) == [(name, tuple(tensor.shape)) for name, tensor in module.state_dict().items()]


def keras_weights(layer: Any, *shapes: Any, **named: Any) -> list[tuple[str, tuple[int, ...], bool]]:
    """Build a Keras layer for input shapes and return path, shape and trainable of every weight, without the layer's own name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer.build(*shapes, **named)
        return [(weight.path.split("/", 1)[1].replace("/", "."), tuple(weight.shape), weight.trainable) for weight in layer.weights]


def entries(layer: Any) -> list[tuple[str, tuple[int, ...], bool]]:
    """Return name, shape and trainable of every tensor of one of our layers."""
    return [(entry.name, entry.tensor.sizes, entry.tensor.trainable and not entry.tensor.buffer) for entry in layer.entries()]


def flax_parameters(module: Any, *input_shapes: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
    """Return names and shapes of a Flax linen module's parameters in the order in which it makes them."""
    jax = imported("jax")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inputs = [jax.numpy.zeros(shape) for shape in input_shapes]
        return list(_flat(module.init(jax.random.key(0), *inputs)["params"], ""))


def _flat(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", tuple(value.shape)


def assert_same_signature(ours: type, theirs: Callable[..., Any]) -> None:
    """Check that one dict of arguments builds both: the same names, order and defaults; what is ours alone is keyword-only.

    Where the weights lie (``device``, ``dtype``) and private arguments of the framework are left out.
    """
    mine = inspect.signature(ours).parameters
    wanted = [argument for argument in inspect.signature(theirs).parameters.values() if argument.name not in {"device", "dtype"}]
    public = [argument for argument in wanted if not argument.name.startswith("_")]
    for argument in public:
        assert mine[argument.name].default == argument.default, argument.name
    positional = [argument.name for argument in itertools.takewhile(lambda argument: not argument.name.startswith("_"), wanted)]
    positional = [name for name in positional if inspect.signature(theirs).parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    assert [name for name, argument in mine.items() if argument.kind is not inspect.Parameter.KEYWORD_ONLY] == positional


def refused_empty(error: object) -> tuple[int, ...] | None:
    """Return the spatial extents of an empty output that torch refused to make; None for any other error.

    Its native kernels for transposed convolutions refuse one, its oneDNN kernels return it. Which of them it takes follows from thread
    counts and sizes, so that we give the shape for both.
    """
    found = re.search(r"Calculated output size per channel: \(([^)]*)\)", str(error))
    extents = tuple(map(int, found[1].split(" x "))) if found else ()
    return extents if extents and min(extents) == 0 else None
