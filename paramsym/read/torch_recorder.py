"""A recorder of one pass of a torch module: operators as torch dispatches them, and a few composite functions as they are called.

Parameters and other floating-point arrays are on the meta device, so nothing is computed and nothing is stored. Whole numbers and Booleans
are on the CPU and have values, because models compute masks, lengths and branches from them. A value that depends on floating-point
numbers is unknown; a model that branches on one is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import paramsym
from paramsym.errors import ArgumentError, NotYetError, ParamsymError
from paramsym.optional import needed
from paramsym.read.recording import Array, Called, Done, Recording, Ref

COMPOSITE = frozenset(
    {
        "linear",
        "matmul",
        "einsum",
        "bilinear",
        "scaled_dot_product_attention",
        "lstm",
        "gru",
        "rnn_tanh",
        "rnn_relu",
        "lstm_cell",
        "gru_cell",
        "rnn_tanh_cell",
        "rnn_relu_cell",
        "instance_norm",
        "dropout",
        "feature_dropout",
        "alpha_dropout",
        "repeat_interleave",
        "pixel_shuffle",
        "pixel_unshuffle",
        "adaptive_avg_pool1d",
        "adaptive_avg_pool2d",
        "adaptive_avg_pool3d",
    }
)
"""Functions that torch computes from several operators, recorded as one operator under the name of aten."""

_MOST_STEPS = 50_000
_MOST_VALUES = 1 << 22
"""The largest array of whole numbers, or of floating-point numbers that depend on no input, whose values are computed."""
_HERE = (str(paramsym.__path__[0]), "/torch/")


def recorded(module: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> Recording:
    """Record one pass of a module, as it is in training or evaluation mode.

    Raises:
        ArgumentError: a forward pass that raises.
        NotYetError: one that branches on floating-point values, has too many operators, or returns no array.
    """
    return _Recorder(needed("torch", "from_module")).recorded(module, inputs, named)


class _Recorder:
    """The state of one recording: numbers of arrays, by the identity of the tensors, which are kept alive."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.alive: list[Any] = []
        self.number: dict[int, int] = {}
        self.fixed: set[int] = set()
        self.blind: set[int] = set()
        self.parents: dict[int, tuple[Any, Any, dict[str, Any], int]] = {}
        self.versions: dict[int, int] = {}
        self.seen: dict[int, int] = {}
        self.constants: dict[int, Array] = {}
        self.stored: dict[int, tuple[str, ...]] = {}
        self.stack = [Called("", "")]
        self.count = 0
        self.steps = 0

    # The pass --------------------------------------------------------------------------------------------------------------------

    def recorded(self, module: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> Recording:
        torch = self.torch
        self.stack[0].kind = type(module).__name__
        state = self._state(module)
        given = [self._input(one) for one in inputs]
        by_name = {name: self._input(one) for name, one in named.items()}
        arrays = tuple(self._array(one) for one in _flat([*given, *by_name.values()]) if isinstance(one, torch.Tensor))
        with ExitStack() as stack:
            stack.enter_context(self._paths(module))
            stack.enter_context(_without_fast_paths(torch))
            stack.enter_context(_modes(self))
            try:
                result = torch.func.functional_call(module, state, tuple(given), by_name)
            except ParamsymError:
                raise
            except Exception as error:
                raise self._failed(module, error) from error
        found = list(_tensors(torch, result))
        if not found:
            raise NotYetError(f"{type(module).__name__} returned no array; its computation cannot be read.")
        outputs = tuple(self._ref(one).number for one in found)
        return Recording(arrays, self.stored, self.constants, self.stack[0], outputs, several=not isinstance(result, torch.Tensor))

    def _failed(self, module: Any, error: Exception) -> ArgumentError:
        text = str(error).strip().split("\n")[0]
        where = self.stack[-1].path
        inside = f" in {where}" if where else ""
        return ArgumentError(
            f"the forward pass of {type(module).__name__} failed{inside} ({type(error).__name__}: {text[:300]}); give inputs of the shapes and"
            " kinds that it takes, or examples: from_module(net, tokens)."
        )

    def _state(self, module: Any) -> dict[str, Any]:
        """Return the module's tensors on the meta device; buffers that are not saved keep their values."""
        torch = self.torch
        names: dict[int, list[str]] = {}
        tensors: dict[int, Any] = {}
        hidden = {
            f"{path}.{name}" if path else name for path, inner in module.named_modules() for name in inner._non_persistent_buffers_set
        }
        listed = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
        for name, tensor in listed:
            names.setdefault(id(tensor), []).append(name)
            tensors[id(tensor)] = tensor
        state = {}
        for key, tensor in tensors.items():
            if names[key][0] in hidden and tensor.device.type != "meta":
                made = self._known(tensor.detach().to("cpu"))
            else:
                made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")
                made.requires_grad_(tensor.requires_grad)
                self.stored[self._new(made)] = tuple(names[key])
                self.blind.add(id(made))
            for name in names[key]:
                state[name] = made
        return state

    def _input(self, given: Any) -> Any:
        torch = self.torch
        if isinstance(given, Mapping):
            return {name: self._input(one) for name, one in given.items()}
        if isinstance(given, list | tuple):
            return type(given)(self._input(one) for one in given)
        if not isinstance(given, torch.Tensor):
            return given
        if given.is_floating_point() or given.is_complex():
            made = torch.empty_strided(given.shape, given.stride(), dtype=given.dtype, device="meta")
            self.blind.add(id(made))
        else:
            made = given.detach().to("cpu").clone()
        self._new(made)
        return made

    # Arrays ----------------------------------------------------------------------------------------------------------------------

    def _new(self, tensor: Any) -> int:
        """Give a tensor a new number."""
        self.alive.append(tensor)
        self.number[id(tensor)] = self.count
        self.count += 1
        return self.count - 1

    def _known(self, tensor: Any) -> Any:
        """Mark a tensor as one whose values depend on nothing."""
        self.alive.append(tensor)
        self.fixed.add(id(tensor))
        return tensor

    def _array(self, tensor: Any, data: Any = None) -> Array:
        return Array(self.number[id(tensor)], tuple(tensor.shape), self._kind(tensor), data)

    def _kind(self, tensor: Any) -> Any:
        if tensor.dtype == self.torch.bool:
            return "truth"
        return "float" if tensor.is_floating_point() or tensor.is_complex() else "index"

    def _ref(self, tensor: Any) -> Ref:
        """Return the number of a tensor's present entries; a view of a tensor that was changed in place is taken again."""
        key = id(tensor)
        parent = self.parents.get(key)
        if parent is not None and self.seen[key] != self._version(parent[0]):
            base, name, arguments, place = parent
            self.seen[key] = self._version(base)
            self._step(name, {**arguments, "self": self._ref(base)}, [tensor] if place < 0 else [None] * place + [tensor])
        if key not in self.number:  # a constant, or a tensor that the module holds outside of its parameters and buffers
            number = self._new(tensor)
            values = None
            if tensor.device.type != "meta" and tensor.numel() <= _MOST_VALUES:
                with _no_modes(self.torch):
                    values = tensor.detach().cpu().float().numpy() if tensor.dtype == self.torch.bfloat16 else tensor.detach().cpu().numpy()
            self.constants[number] = self._array(tensor, values)
        return Ref(self.number[key])

    def _version(self, tensor: Any) -> int:
        parent = self.parents.get(id(tensor))
        own = self.versions.get(id(tensor), 0)
        return own if parent is None else own + self._version(parent[0])

    # Operators -------------------------------------------------------------------------------------------------------------------

    def operator(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run an operator of aten and record it."""
        torch, schema = self.torch, func._schema
        name = schema.name.removeprefix("aten::")
        arguments = _bound(schema, args, kwargs)
        taken = [one for one in _flat(arguments.values()) if isinstance(one, torch.Tensor)]
        if name in {"_local_scalar_dense", "nonzero", "_unique2", "equal", "is_nonzero", "masked_select", "unique_dim", "bincount"}:
            self._check_values(name, taken)
        changed = [argument.name for argument in schema.arguments if argument.alias_info is not None and argument.alias_info.is_write]
        if name == "embedding":
            self._check_rows(arguments)
        result = self._computed(func, name, arguments, taken, changed)
        if name == "_local_scalar_dense":
            return result
        if changed:
            return self._changed(name, arguments, changed[0], result)
        outputs = [one for one in (result if isinstance(result, tuple | list) else (result,)) if isinstance(one, torch.Tensor)]
        if all(id(one) in self.fixed or (id(one) not in self.number and not self._given(one)) for one in taken):
            if not any(one.is_floating_point() for one in outputs) and not any(id(one) in self.blind for one in taken):
                for one in outputs:
                    self._known(one)
                return result
        if any(one is other for one in outputs for other in taken):  # nothing was done
            return result
        self._step(name, self._frozen(arguments), outputs)
        if any(id(one) in self.blind for one in taken):
            self.blind.update(id(one) for one in outputs if name != "topk" or one.is_floating_point())
        returned = schema.returns[0].alias_info if schema.returns else None
        if returned is not None and taken:
            single = not isinstance(result, tuple | list)
            for place, one in enumerate(outputs):
                self.parents[id(one)] = (taken[0], name, self._frozen(arguments), -1 if single else place)
                self.seen[id(one)] = self._version(taken[0])
        return result

    def _given(self, tensor: Any) -> bool:
        return id(tensor) in self.number and self.number[id(tensor)] not in self.constants

    def _step(self, name: str, arguments: Mapping[str, Any], outputs: Sequence[Any]) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise NotYetError(f"the forward pass did not end after {_MOST_STEPS:,} operators; it cannot be read.")
        results = []
        for one in outputs:
            if one is None:
                self.count += 1
                results.append(Array(self.count - 1, (), "float"))
            else:
                self._new(one)
                results.append(self._array(one))
        self.stack[-1].items.append(Done(name, arguments, tuple(results), _line(), self.torch.is_grad_enabled()))

    def _frozen(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._plain(one) for name, one in arguments.items() if name not in _PLACEMENT or name == "dtype"}

    def _plain(self, one: Any) -> Any:
        torch = self.torch
        if isinstance(one, torch.Tensor):
            return self._ref(one)
        if isinstance(one, list | tuple):
            return tuple(self._plain(each) for each in one)
        if isinstance(one, torch.dtype):
            return "truth" if one == torch.bool else "float" if one.is_floating_point or one.is_complex else "index"
        return one if isinstance(one, bool | int | float | str) or one is None else str(one)

    def _check_values(self, name: str, taken: Sequence[Any]) -> None:
        if any(id(one) in self.blind or one.device.type == "meta" for one in taken):
            raise NotYetError(
                f"{self._where()} depends on the values of floating-point numbers ({name.strip('_')}), which are unknown without an input;"
                " such a model has no single computation. Its tensors are known: count them without inputs."
            )

    def check_known(self, name: str, args: Sequence[Any]) -> None:
        """Refuse to hand out the values of an array that depends on an input: what is computed from them would not be seen."""
        if any(isinstance(one, self.torch.Tensor) and (id(one) in self.number or one.device.type == "meta") for one in args):
            raise NotYetError(f"{self._where()} leaves torch with {name.strip('_')}(); what is computed after that cannot be seen.")

    def _check_rows(self, arguments: Mapping[str, Any]) -> None:
        """Refuse positions that a table does not have; without values torch would not notice."""
        rows, index = arguments["weight"].shape[0], arguments["indices"]
        if index.device.type == "cpu" and index.numel() and id(index) not in self.blind and int(index.max()) >= rows:
            raise ArgumentError(f"{self._where()} looks up row {int(index.max())} of a table of {rows} rows; give shorter inputs.")

    def _where(self) -> str:
        """Return the module and the line of the model's source that is running, in words."""
        path, line = self.stack[-1].path, _line()
        return (path or "the forward pass") + (f" ({line})" if line else "")

    def _computed(self, func: Any, name: str, arguments: Mapping[str, Any], taken: Sequence[Any], changed: Sequence[str]) -> Any:
        """Compute the result: from values if all of them are known, otherwise its shape, on the meta device."""
        torch = self.torch
        if changed:
            func = _without_change(torch, func)
        blind = any(one.device.type == "meta" or id(one) in self.blind for one in taken)
        whole = not taken and _is_whole(torch, name, arguments)
        large = not taken and not whole and _entries(arguments) > _MOST_VALUES
        with _no_modes(torch):
            device = "meta" if blind or large else "cpu"
            moved = {key: self._moved(one, device) for key, one in arguments.items() if not (changed and key == "out")}
            for key in ("device",):
                if key in moved and (not taken or name in {"_to_copy", "empty_like", "zeros_like", "ones_like", "full_like", "new_zeros"}):
                    moved[key] = torch.device(device)
            moved.pop("pin_memory", None)
            wanted = {one.name for one in func._schema.arguments}
            result = _RESULTS[name](torch, moved) if name in _RESULTS else None
            if result is not None:
                return result
            return func(**{key: one for key, one in moved.items() if key in wanted})

    def _moved(self, one: Any, device: str) -> Any:
        torch = self.torch
        if isinstance(one, torch.Tensor):
            if device == "meta" and one.device.type != "meta":
                return torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device="meta")
            return one
        if isinstance(one, list | tuple):
            return type(one)(self._moved(each, device) for each in one)
        return one

    def _changed(self, name: str, arguments: Mapping[str, Any], target: str, result: Any) -> Any:
        """Record a change in place: the tensor, and all that it is a view of, have new entries."""
        torch = self.torch
        tensor = arguments[target]
        value = result[0] if isinstance(result, tuple | list) else result
        taken = [one for one in _flat(arguments.values()) if isinstance(one, torch.Tensor)]
        if value.shape != tensor.shape:
            raise NotYetError(f"{self._where()} changes the shape of an array in place ({name}); this cannot be read.")
        fixed = all(id(one) in self.fixed for one in taken) and not tensor.is_floating_point()
        if value.device.type == "cpu" and tensor.device.type == "cpu" and id(tensor) not in self.blind:
            with _no_modes(torch), torch.no_grad():
                tensor.detach().copy_(value)
        if fixed and id(tensor) not in self.number:
            return tensor
        if any(id(one) in self.blind or one.device.type == "meta" for one in taken):
            self._blinded(tensor)
        frozen = self._frozen(arguments)
        self._step(name, frozen, [tensor])
        self.fixed.discard(id(tensor))
        self._put_back(tensor)
        return tensor

    def _blinded(self, tensor: Any) -> None:
        self.blind.add(id(tensor))
        parent = self.parents.get(id(tensor))
        if parent is not None:
            self._blinded(parent[0])

    def _put_back(self, tensor: Any) -> None:
        """Record that the array of which a tensor is a view has new entries, too."""
        parent = self.parents.get(id(tensor))
        self.versions[id(tensor)] = self.versions.get(id(tensor), 0) + 1
        if parent is None:
            return
        base, name, arguments, place = parent
        old, new = self._ref(base), Ref(self.number[id(tensor)])
        self._step("put back", {"base": old, "view": new, "name": name, "arguments": arguments, "place": max(place, 0)}, [base])
        self.fixed.discard(id(base))
        self._put_back(base)
        self.seen[id(tensor)] = self._version(base)

    # Modules ---------------------------------------------------------------------------------------------------------------------

    @contextmanager
    def _paths(self, module: Any) -> Iterator[None]:
        """Keep the path of the module that runs."""
        names = {id(inner): (path, type(inner).__name__) for path, inner in module.named_modules()}

        def before(inner: Any, _: Any) -> None:
            if id(inner) in names and names[id(inner)][0]:
                called = Called(*names[id(inner)])
                self.stack[-1].items.append(called)
                self.stack.append(called)

        def after(inner: Any, *_: Any) -> None:
            if id(inner) in names and names[id(inner)][0] and len(self.stack) > 1 and self.stack[-1].path == names[id(inner)][0]:
                self.stack.pop()

        hooks = self.torch.nn.modules.module
        one = hooks.register_module_forward_pre_hook(before)
        other = hooks.register_module_forward_hook(after)
        try:
            yield
        finally:
            one.remove()
            other.remove()


def _fused_attention(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the result of a fused attention, whose kernels lay it out as the queries; None for other ranks."""
    query, value = arguments["query"], arguments["value"]
    if query.dim() != 4 or query.device.type != "meta":
        return None
    made = torch.empty_like(query.detach().transpose(1, 2)).transpose(1, 2)
    if query.shape[-1] != value.shape[-1]:
        made = made[..., :1].expand(*query.shape[:-1], value.shape[-1]).clone(memory_format=torch.contiguous_format)
    return made.requires_grad_() if query.requires_grad and torch.is_grad_enabled() else made


def _grouped_product(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return the result of rows times the matrix of their group; the kernel itself has no shape for every number format."""
    rows, matrices = arguments["self"], arguments["mat2"]
    return torch.empty(*rows.shape[:-1], matrices.shape[-1], dtype=rows.dtype, device="meta")


def _largest(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return largest entries without values, and positions with values: entry k is at position k.

    Positions that are sent to experts are then sent to the first k, as many as in any routing, so the work is that of every routing.
    """
    x, k = arguments["self"], arguments["k"]
    if x.device.type != "meta":
        return None
    axis = arguments["dim"] % max(x.dim(), 1)
    shape = [k if n == axis else size for n, size in enumerate(x.shape)]
    ladder = [k if n == axis else 1 for n in range(x.dim())]
    return torch.empty(shape, dtype=x.dtype, device="meta"), torch.arange(k).view(ladder).expand(shape).clone()


def _histogram(torch: Any, arguments: Mapping[str, Any]) -> Any:
    """Return how often each whole number occurs; the kernel for CPUs takes no whole numbers."""
    x, bins = arguments["self"], arguments["bins"]
    if x.device.type == "meta":
        return torch.empty(bins, dtype=x.dtype, device="meta")
    return torch.bincount(x.flatten().long(), minlength=bins)[:bins].to(x.dtype)


_RESULTS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "scaled_dot_product_attention": _fused_attention,
    "_grouped_mm": _grouped_product,
    "topk": _largest,
    "histc": _histogram,
}
"""Results that torch lays out in another way, or does not give, on the meta device; None if torch computes the result."""


# How torch is watched ------------------------------------------------------------------------------------------------------------

_PLACEMENT = frozenset({"device", "layout", "pin_memory", "memory_format", "generator", "non_blocking", "dtype"})


@contextmanager
def _modes(recorder: _Recorder) -> Iterator[None]:
    torch = recorder.torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Operators(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return recorder.operator(func, args, kwargs or {})

    class Composites(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "").strip("_")
            if name in {"numpy", "tolist", "array"}:
                recorder.check_known(name, args)
            if name == "rmatmul":
                name, args = "matmul", args[::-1]
            inside = any(torch._C._functorch.is_functorch_wrapped_tensor(one) for one in _flat(args) if isinstance(one, torch.Tensor))
            found = _overload(torch, name, args, kwargs or {}) if name in COMPOSITE and not inside else None
            if found is None:
                return func(*args, **(kwargs or {}))
            return recorder.operator(*found)

    with Composites(), Operators():
        yield


@contextmanager
def _no_modes(torch: Any) -> Iterator[None]:
    """Compute without recording."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch._C.DisableTorchFunction():
        yield


@contextmanager
def _without_fast_paths(torch: Any) -> Iterator[None]:
    """Let torch's attention layers compute step by step, as they do in training, and its Python functions run by themselves."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    # A function written in Python would be handed over whole, and the functions inside of it would not be seen.
    names = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
    checks = {
        (module, name): getattr(module, name)
        for module in (torch.nn.functional, torch.functional)
        for name in names
        if hasattr(module, name)
    }
    for module, name in checks:
        setattr(module, name, lambda *_: False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
        for (module, name), check in checks.items():
            setattr(module, name, check)


def _overload(torch: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Sequence[Any], Mapping[str, Any]] | None:
    """Return the operator of aten that a composite function calls, with its arguments; None if it is another function of that name."""
    packet = getattr(torch.ops.aten, name)
    for overload in packet.overloads():
        func = getattr(packet, overload)
        if "out" in overload:
            continue
        bound = _bound(func._schema, args, kwargs)
        if bound is None:
            continue
        for one in func._schema.arguments:
            if one.N and isinstance(bound[one.name], int):  # one number for every axis
                bound[one.name] = [bound[one.name]] * one.N
        if all(_fits(torch, one.type, bound[one.name]) for one in func._schema.arguments):
            return func, (), bound
    return None


def _fits(torch: Any, wanted: Any, given: Any) -> bool:
    kind = str(wanted)
    if kind.startswith("Optional"):
        return given is None or _fits(torch, wanted.getElementType(), given)
    if kind == "Tensor":
        return isinstance(given, torch.Tensor)
    if kind.startswith("List[Tensor"):
        return isinstance(given, list | tuple) and all(isinstance(one, torch.Tensor) for one in given)
    if kind in {"int", "SymInt"}:
        return isinstance(given, int)
    return not isinstance(given, torch.Tensor)


def _bound(schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the arguments of an operator by name, defaults included; None if they do not fit."""
    listed = [one for one in schema.arguments]
    if len(args) > len(listed):
        return None
    found = {one.name: value for one, value in zip(listed, args, strict=False)}
    names = {one.name for one in listed}
    for name, value in kwargs.items():
        key = "self" if name == "input" and "input" not in names else name
        if key not in names or key in found:
            return None
        found[key] = value
    for one in listed:
        if one.name not in found:
            if not one.has_default_value():
                return None
            found[one.name] = one.default_value
    return found


def _without_change(torch: Any, func: Any) -> Any:
    """Return the operator that computes what another one writes into its argument."""
    name = func._schema.name.removeprefix("aten::")
    packet = getattr(torch.ops.aten, name.rstrip("_") if not name.startswith("_") else name[:-1], None)
    overload = func._overloadname
    if packet is None or overload not in packet.overloads():
        raise NotYetError(f"torch's operator {name} changes an array in place in a way that cannot be read yet.")
    return getattr(packet, overload)


def _is_whole(torch: Any, name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a new array holds whole numbers or Booleans."""
    kind = arguments.get("dtype")
    if kind is None:
        return name == "arange" and all(isinstance(arguments.get(key, 0), int) for key in ("start", "end", "step"))
    return kind == torch.bool or not (kind.is_floating_point or kind.is_complex)


def _entries(arguments: Mapping[str, Any]) -> int:
    found = 1
    for one in arguments.get("size") or ():
        found *= one
    return found


def _flat(values: Any) -> Iterator[Any]:
    for one in values:
        if isinstance(one, list | tuple):
            yield from _flat(one)
        elif isinstance(one, Mapping):
            yield from _flat(one.values())
        else:
            yield one


def _tensors(torch: Any, result: Any, inside: frozenset[int] = frozenset()) -> Iterator[Any]:
    """Yield the arrays in what a module returned: tuples, dictionaries and dataclasses, in order."""
    if isinstance(result, torch.Tensor):
        yield result
    elif id(result) in inside:
        return
    elif isinstance(result, Mapping):
        for one in result.values():
            yield from _tensors(torch, one, inside | {id(result)})
    elif isinstance(result, list | tuple):
        for one in result:
            yield from _tensors(torch, one, inside | {id(result)})
    elif hasattr(result, "__dataclass_fields__"):
        for name in result.__dataclass_fields__:
            yield from _tensors(torch, getattr(result, name), inside | {id(result)})


def _line() -> str:
    """Return the line of the model's source that is running."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not any(part in file for part in _HERE) and not file.startswith("<"):
            return f"{file.rpartition('/')[2]}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


Table = Mapping[str, Callable[..., Any]]
