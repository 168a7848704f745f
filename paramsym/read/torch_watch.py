"""How a pass of torch is watched: operators as torch dispatches them, and composite functions as they are called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

import paramsym
from paramsym.errors import NotYetError
from paramsym.program.types import Kind
from paramsym.read.recording import Called

COMPOSITE = frozenset(
    {
        *("linear", "matmul", "einsum", "bilinear", "scaled_dot_product_attention", "instance_norm", "repeat_interleave"),
        *("one_hot", "take_along_dim", "cosine_similarity"),
        *("lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"),
        *("dropout", "feature_dropout", "alpha_dropout", "pixel_shuffle", "pixel_unshuffle"),
        *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"),
    }
)
"""Functions that torch computes by several operators, recorded as one operator under the name of aten."""

_LEAVING = frozenset({"numpy", "tolist", "array"})
"""Methods that give the values of a tensor to Python."""
_OURS = (str(Path(paramsym.__file__).parent), "/torch/")


class Watcher(Protocol):
    """An object that receives every operator."""

    def operator(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run an operator and return its result."""

    def check_known(self, name: str, args: Sequence[Any]) -> None:
        """Refuse to give the values of a tensor to Python if they are unknown."""

    def function(self, apply: Callable[[], Any]) -> Any:
        """Call a function that defines its backward pass, whose operators are differentiable."""

    def saved(self, tensors: Sequence[Any]) -> None:
        """Note the tensors that such a function saves."""


@contextmanager
def watched(torch: Any, watcher: Watcher) -> Generator[None]:
    """Tell a watcher of every operator."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Operators(TorchDispatchMode):  # type: ignore[misc,no-untyped-call,unused-ignore]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return watcher.operator(func, args, kwargs or {})

    class Composites(TorchFunctionMode):  # type: ignore[misc,unused-ignore]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "").strip("_")
            if name in _LEAVING:
                watcher.check_known(name, args)
            if name in _WITH_ENTRIES:
                func, args, kwargs = _with_entries(torch, name, func, args, kwargs or {})
            if name == "rmatmul":
                name, args = "matmul", args[::-1]
            found = overload(torch, name, args, kwargs or {}) if name in COMPOSITE and not _transformed(torch, args) else None
            return func(*args, **(kwargs or {})) if found is None else watcher.operator(*found)

    with ExitStack() as stack:
        stack.enter_context(_step_by_step(torch))
        stack.enter_context(_own_backward(torch, watcher))
        stack.enter_context(Composites())
        stack.enter_context(Operators())  # type: ignore[no-untyped-call,unused-ignore]
        yield


@contextmanager
def called(torch: Any, module: Any, stack: list[Called]) -> Generator[None]:
    """Put the call of each module inside the call of the one around it; the last one of the stack is the one that runs."""
    names = {id(inner): (path, type(inner).__name__) for path, inner in module.named_modules() if path}

    def before(inner: Any, _: Any) -> None:
        if id(inner) in names:
            made = Called(*names[id(inner)])
            stack[-1].items.append(made)
            stack.append(made)

    def after(inner: Any, *_: Any) -> None:
        if id(inner) in names and stack[-1].path == names[id(inner)][0]:
            stack.pop()

    hooks = torch.nn.modules.module
    handles = hooks.register_module_forward_pre_hook(before), hooks.register_module_forward_hook(after)
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def unwatched(torch: Any) -> Generator[None]:
    """Compute without telling the watcher."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch._C.DisableTorchFunction():
        yield


@contextmanager
def _step_by_step(torch: Any) -> Generator[None]:
    """Let torch's attention layers compute as in training, and let its functions written in Python run by themselves.

    Such a function would be handed over whole, and the functions inside of it would not be seen. Distributions do not check their
    parameters, whose values are unknown.
    """
    before = torch.backends.mha.get_fastpath_enabled()
    distributions = torch.distributions.Distribution
    checked = distributions._validate_args
    names = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
    modules = (torch.nn.functional, torch.functional)
    checks = {(module, name): getattr(module, name) for module in modules for name in names if hasattr(module, name)}
    torch.backends.mha.set_fastpath_enabled(False)
    distributions.set_default_validate_args(False)
    for module, name in checks:
        setattr(module, name, lambda *_: False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
        distributions.set_default_validate_args(checked)
        for (module, name), check in checks.items():
            setattr(module, name, check)


@contextmanager
def _own_backward(torch: Any, watcher: Watcher) -> Generator[None]:
    """Tell a watcher of each ``torch.autograd.Function``, inside of which torch turns gradients off, and of what it saves."""
    cls, context = torch.autograd.Function, torch.autograd.function.FunctionCtx
    apply, save = cls.__dict__["apply"], context.save_for_backward

    def applied(kind: Any, *args: Any, **kwargs: Any) -> Any:
        call = partial(apply.__func__, kind, *args, **kwargs)
        return watcher.function(call) if torch.is_grad_enabled() else call()

    def saved(ctx: Any, *tensors: Any) -> None:
        watcher.saved(tensors)
        save(ctx, *tensors)

    cls.apply, context.save_for_backward = classmethod(applied), saved
    try:
        yield
    finally:
        cls.apply, context.save_for_backward = apply, save


_WITH_ENTRIES = frozenset({"getitem", "setitem", "tensor", "as_tensor", "new_tensor"})
"""Functions that take entries as lists; with an array on the meta device beside them, torch would forget the entries."""


def _with_entries(
    torch: Any, name: str, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, Sequence[Any], Mapping[str, Any]]:
    """Return a call that makes its array on the CPU, where entries have values."""
    if name in {"getitem", "setitem"}:
        x, index, *value = args
        listed = tuple(torch.tensor(one) if isinstance(one, list) else one for one in (index if isinstance(index, tuple) else (index,)))
        return func, (x, listed if isinstance(index, tuple) else listed[0], *value), kwargs
    if name == "new_tensor":
        func, args, kwargs = torch.tensor, args[1:], {"dtype": args[0].dtype, **kwargs}
    return func, args, {key: one for key, one in kwargs.items() if key != "device"}


def _transformed(torch: Any, args: Any) -> bool:
    """Whether a function transform such as ``vmap`` hides axes of an argument; the operators below it show them."""
    return any(torch._C._functorch.is_functorch_wrapped_tensor(one) for one in flat(args) if isinstance(one, torch.Tensor))


# Arguments -----------------------------------------------------------------------------------------------------------------------


def overload(torch: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Sequence[Any], Mapping[str, Any]] | None:
    """Return the operator of aten that a composite function calls, with its arguments; None if it is another function of that name."""
    packet = getattr(torch.ops.aten, name)
    for func in (getattr(packet, one) for one in packet.overloads() if "out" not in one):
        found = bound(func._schema, args, kwargs)
        if found is None:
            continue
        for one in func._schema.arguments:
            if one.N and isinstance(found[one.name], int):  # one number for every axis
                found[one.name] = [found[one.name]] * one.N
        if all(_fits(torch, one.type, found[one.name]) for one in func._schema.arguments):
            return func, (), found
    return None


def bound(schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of an operator by name, defaults included; None if they do not fit."""
    listed = list(schema.arguments)
    positional = [one.name for one in listed if not one.kwarg_only]
    if len(args) > len(positional):
        return None
    found = dict(zip(positional, args, strict=False))
    names = {one.name for one in listed}
    for name, value in kwargs.items():
        key = "self" if name == "input" and "input" not in names else name
        if key not in names or key in found:
            return None
        found[key] = value
    missing = [one for one in listed if one.name not in found]
    if not all(one.has_default_value() for one in missing):
        return None
    return found | {one.name: one.default_value for one in missing}


def _fits(torch: Any, wanted: Any, given: Any) -> bool:
    kind = str(wanted)
    if kind.startswith("Optional"):
        return given is None or _fits(torch, wanted.getElementType(), given)
    if kind == "Tensor":
        return isinstance(given, torch.Tensor)
    if kind.startswith("List[Tensor"):
        return isinstance(given, list | tuple) and all(isinstance(one, torch.Tensor) for one in given)
    return isinstance(given, int) if kind in {"int", "SymInt"} else not isinstance(given, torch.Tensor)


def without_change(torch: Any, func: Any) -> Any:
    """Return the operator that computes what another one writes into its argument, or into an array given as ``out``.

    Raises:
        NotYetError: torch has none.
    """
    name = func._schema.name.removeprefix("aten::")
    packet = getattr(torch.ops.aten, name[:-1] if name.startswith("_") else name.rstrip("_"), None)
    wanted = [str(one.type) for one in func._schema.arguments if one.name != "out"]
    for overloaded in () if packet is None else packet.overloads():
        found = getattr(packet, overloaded)
        if "out" not in overloaded and [str(one.type) for one in found._schema.arguments] == wanted:
            return found
    raise NotYetError(f"torch's operator {name} changes an array in place in a way that cannot be read yet.")


def kind_of(torch: Any, dtype: Any) -> Kind:
    """Return the kind of entries that a number format of torch is for."""
    if dtype == torch.bool:
        return "truth"
    return "complex" if dtype.is_complex else "float" if dtype.is_floating_point else "index"


def flat(values: Any) -> Iterator[Any]:
    """Yield the values in nested lists, tuples and dictionaries."""
    for one in values.values() if isinstance(values, Mapping) else values:
        if isinstance(one, list | tuple | Mapping):
            yield from flat(one)
        else:
            yield one


def line() -> str:
    """Return the line of the model's source that is running."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if (name := _model_file(file)) is not None:
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


@lru_cache(maxsize=1 << 10)
def _model_file(file: str) -> str | None:
    """Return the name of a file of a model's source; None for files of torch and of this package."""
    return None if file.startswith("<") or any(part in file for part in _OURS) else Path(file).name
