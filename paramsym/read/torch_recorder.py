"""A recorder of one pass of a torch module.

Parameters and other floating-point arrays are on the meta device, so nothing is computed and nothing is stored. Whole numbers and Booleans
are on the CPU and have values, because models compute masks, lengths and branches from them. A value that depends on floating-point
numbers is unknown; a model that branches on one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple, cast

from paramsym.derive.deadline import Deadline, OutOfTime
from paramsym.errors import ArgumentError, NotYetError, ParamsymError
from paramsym.optional import needed
from paramsym.program.types import Kind
from paramsym.read.recording import Array, Called, Done, Graded, Recording, Ref
from paramsym.read.torch_results import RESULTS, laid_out, without_values
from paramsym.read.torch_returned import arrays, cached, remember
from paramsym.read.torch_state import first_names, unsaved
from paramsym.read.torch_watch import COMPOSITE, bound, called, flat, kind_of, line, unwatched, watched, without_change

_MOST = 50_000
"""The most operators that run, those on whole numbers included, which are not recorded."""
_LONGEST = 30.0
"""The most seconds between two operators."""
MOST_VALUES = 1 << 22
"""The largest new array or input whose values are known."""
_PLACEMENT = frozenset({"device", "layout", "pin_memory", "memory_format", "generator", "non_blocking"})
_BY_VALUES = frozenset({"_local_scalar_dense", "nonzero", "_unique2", "unique_dim", "equal", "is_nonzero", "masked_select", "bincount"})
"""Operators whose result, or its shape, depends on values."""
_SHAPES_IN_PLACE = frozenset({"squeeze_", "unsqueeze_", "t_", "transpose_"})
"""Operators that change the axes of a tensor, and no entry."""
REAL = frozenset({"float", "complex"})
"""Kinds of entries that have gradients; their values are unknown."""
_MAY_MOVE = frozenset({"_to_copy", "empty_like", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "new_empty"})


class PassError(ArgumentError):
    """A forward pass that raised; whoever asked for it says what to give instead."""


def recorded(module: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> Recording:
    """Record one pass of a module, as it is in training or evaluation mode.

    Raises:
        PassError: a forward pass that raises.
        NotYetError: one that branches on floating-point values, has too many operators, or returns no array.
    """
    return _Recorder(needed("torch", "from_module")).recorded(module, inputs, named)


def until(error: BaseException) -> Recording | None:
    """Return what a pass did before it ended with an error, without outputs; None if it did not begin."""
    return cast("Recording | None", error.__dict__.get("recorded"))


class _View(NamedTuple):
    """How a tensor is a view of another one: the operator, its arguments, and the place among its results."""

    base: Any
    name: str
    arguments: dict[str, Any]
    place: int


class _Recorder:
    """The state of one recording, by the identities of tensors, which are kept alive.

    ``fixed`` are whole numbers that depend on nothing, ``buffers`` those that the module holds and does not save, ``blind`` tensors without
    values. A view of a tensor that was changed in place is taken again; ``seen`` is the tensor's version at which it was taken.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.alive: list[Any] = []
        self.number: dict[int, int] = {}
        self.fixed: set[int] = set()
        self.buffers: set[int] = set()
        self.blind: set[int] = set()
        self.views: dict[int, _View] = {}
        self.versions: dict[int, int] = {}
        self.seen: dict[int, int] = {}
        self.constants: dict[int, Array] = {}
        self.stored: dict[int, tuple[str, ...]] = {}
        self.stack = [Called("", "")]
        self.count = self.ran = 0
        self.functions: list[list[Any]] = []
        self.deadline = Deadline(_LONGEST)

    # The pass --------------------------------------------------------------------------------------------------------------------

    def recorded(self, module: Any, inputs: Sequence[Any], named: Mapping[str, Any]) -> Recording:
        torch, self.stack[0].kind = self.torch, type(module).__name__
        state = self._state(module)
        given, by_name = tuple(self._input(one) for one in inputs), {name: self._input(one) for name, one in named.items()}
        taken = tuple(self._array(one) for one in flat([given, by_name]) if isinstance(one, torch.Tensor))
        with called(torch, module, self.stack), watched(torch, self), self.deadline:
            try:
                with self.deadline.running():
                    result = torch.func.functional_call(module, state, given, by_name, tie_weights=False)
            except ParamsymError as error:
                error.__dict__["recorded"] = self._until(taken)
                raise
            except OutOfTime:
                path = self.stack[-1].path or "the forward pass"
                message = f"{path} called no operator of torch for {self.deadline.seconds:g} seconds; it cannot be read."
                raise NotYetError(message) from None
            except Exception as error:
                (failed := self._failed(module, error)).__dict__["recorded"] = self._until(taken)
                raise failed from error
        found = list(arrays(torch, result))
        if not found:
            raise NotYetError(f"{type(module).__name__} returned no array; its computation cannot be read.")
        outputs = tuple(self._ref(one).number for one in found)
        remember(self.stack[0], {self._ref(one).number: name for name, one in cached(torch, result) if id(one) in self.number})
        return Recording(taken, self.stored, self.constants, self.stack[0], outputs, several=not isinstance(result, torch.Tensor))

    def _until(self, taken: tuple[Array, ...]) -> Recording:
        return Recording(taken, self.stored, self.constants, self.stack[0], (), several=False)

    def _failed(self, module: Any, error: Exception) -> PassError:
        inside = f" in {self.stack[-1].path}" if self.stack[-1].path else ""
        reason = str(error).strip().partition("\n")[0].rstrip(".")[:300]
        return PassError(f"the forward pass of {type(module).__name__} failed{inside} ({type(error).__name__}: {reason}).")

    def _state(self, module: Any) -> dict[str, Any]:
        """Return the module's tensors on the meta device; buffers that are not saved keep their values.

        A module that occurs twice has its first path alone: torch would put the tensors of its last path back, which are these.
        """
        torch = self.torch
        names: dict[int, list[str]] = {}
        tensors: dict[int, Any] = {}
        for name, tensor in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
            names.setdefault(id(tensor), []).append(name)
            tensors[id(tensor)] = tensor
        places, hidden = first_names(module), unsaved(module)
        state: dict[str, Any] = {}
        for key, tensor in tensors.items():
            if names[key][0] in hidden and tensor.device.type != "meta":
                made = tensor.detach().to("cpu")
                self.alive.append(made)
                self.fixed.add(id(made))
                self.buffers.add(id(made))
            else:
                made = without_values(torch, tensor).requires_grad_(tensor.requires_grad)
                self.stored[self._new(made)] = tuple(names[key])
                self.blind.add(id(made))
            state |= dict.fromkeys(places.intersection(names[key]), made)
        return state

    def _input(self, given: Any) -> Any:
        torch = self.torch
        if isinstance(given, Mapping):
            return {name: self._input(one) for name, one in given.items()}
        if isinstance(given, list | tuple):
            return type(given)(self._input(one) for one in given)
        if not isinstance(given, torch.Tensor):
            return given
        unknown = self._kind(given) in REAL or given.device.type == "meta" or given.numel() > MOST_VALUES
        made = without_values(torch, given) if unknown else given.detach().to("cpu").clone()
        if unknown:
            self.blind.add(id(made))
        self._new(made)
        return made

    # Arrays ----------------------------------------------------------------------------------------------------------------------

    def _new(self, tensor: Any) -> int:
        """Give a tensor a new number; its former entries keep theirs."""
        self.alive.append(tensor)
        self.number[id(tensor)] = self.count
        self.count += 1
        return self.count - 1

    def _array(self, tensor: Any, data: Any = None) -> Array:
        return Array(self.number[id(tensor)], tuple(tensor.shape), self._kind(tensor), data)

    def _kind(self, tensor: Any) -> Kind:
        return kind_of(self.torch, tensor.dtype)

    def _ref(self, tensor: Any) -> Ref:
        """Return the reference to a tensor's current entries."""
        key = id(tensor)
        view = self.views.get(key)
        if view is not None and self.seen[key] != self._version(view.base):
            self.seen[key] = self._version(view.base)
            self._step(view.name, {**view.arguments, "self": self._ref(view.base)}, [*[None] * view.place, tensor])
        if key not in self.number:  # it depends on nothing that was recorded, or the module holds it outside of its state
            self._new(tensor)
            self.constants[self.number[key]] = replace(self._array(tensor, self._entries(tensor)), held=key in self.buffers)
        return Ref(self.number[key])

    def _entries(self, tensor: Any) -> Any:
        """Return the entries of a tensor as an array of NumPy; None if they are unknown."""
        if tensor.device.type == "meta" or tensor.numel() > MOST_VALUES:
            return None
        with unwatched(self.torch):
            tensor = tensor.detach().cpu()
            return (tensor.float() if tensor.dtype == self.torch.bfloat16 else tensor).numpy().copy()  # it may be changed in place

    def _version(self, tensor: Any) -> int:
        view = self.views.get(id(tensor))
        return self.versions.get(id(tensor), 0) + (0 if view is None else self._version(view.base))

    # Operators -------------------------------------------------------------------------------------------------------------------

    def operator(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run an operator of aten and record it."""
        torch, schema = self.torch, func._schema
        self.deadline.put_off()
        self.ran += 1
        if self.ran > _MOST:
            raise NotYetError(f"the forward pass did not end after {_MOST:,} operators; it cannot be read.")
        name = schema.name.removeprefix("aten::")
        arguments: dict[str, Any] = bound(schema, args, kwargs) or {}
        taken = [one for one in flat(arguments) if isinstance(one, torch.Tensor)]
        self._check(name, arguments, taken)
        target = next((one.name for one in schema.arguments if one.alias_info is not None and one.alias_info.is_write), None)
        if target is not None:
            return self._changed(func, name, arguments, taken, target)
        result = self._computed(func, name, arguments, taken)
        outputs = [one for one in flat([result]) if isinstance(one, torch.Tensor)]
        if not outputs or any(one is other for one in outputs for other in taken):  # a number, or nothing was done
            return result
        if self._depends_on_nothing(taken) and not any(self._kind(one) in REAL for one in outputs):
            self.alive += outputs
            self.fixed.update(map(id, outputs))
            if schema.returns[0].alias_info is not None and id(taken[0]) in self.buffers:
                self.buffers.update(map(id, outputs))  # views
            return result
        self._step(name, frozen := self._frozen(arguments), outputs)
        if any(id(one) in self.blind for one in taken):
            self.blind.update(id(one) for one in outputs if one.device.type == "meta")
        if taken and schema.returns and schema.returns[0].alias_info is not None:
            for place, one in enumerate(outputs):
                self.views[id(one)] = _View(taken[0], name, frozen, place)
                self.seen[id(one)] = self._version(taken[0])
        return result

    def function(self, apply: Callable[[], Any]) -> Any:
        """Call a function with a backward pass of its own: its operators are differentiable, and what it saves is kept for its result."""
        saved: list[Any] = []
        self.functions.append(saved)
        try:
            result = apply()
        finally:
            self.functions.pop()
        output = next((one for one in flat([result]) if isinstance(one, self.torch.Tensor) and self._kind(one) in REAL), None)
        if saved and output is not None:
            self._step("saved", {"self": self._ref(output), "tensors": tuple(map(self._ref, saved))}, [output])
        return result

    def saved(self, tensors: Sequence[Any]) -> None:
        """Note the tensors that a function saves for its backward pass."""
        if self.functions:
            self.functions[-1] += [one for one in tensors if isinstance(one, self.torch.Tensor)]

    def _depends_on_nothing(self, taken: Sequence[Any]) -> bool:
        keys = [id(one) for one in taken]
        return all(key in self.fixed or key not in self.number or self.number[key] in self.constants for key in keys) and not (
            self.blind & set(keys)
        )

    def _step(self, name: str, arguments: Mapping[str, Any], outputs: Sequence[Any]) -> None:
        """Record an operator; None marks a result that is not taken."""
        results = []
        for one in outputs:
            if one is None:
                self.count += 1
                results.append(Array(self.count - 1, (), "float"))
            else:
                self._new(one)
                results.append(self._array(one))
        graded: Graded = "within" if self.functions else self.torch.is_grad_enabled()
        self.stack[-1].items.append(Done(name, arguments, tuple(results), line(), graded))

    def _frozen(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._plain(one) for name, one in arguments.items() if name not in _PLACEMENT}

    def _plain(self, one: Any) -> Any:
        """Return an argument as a value without torch: a tensor as its number, a number format as its kind."""
        if isinstance(one, self.torch.Tensor):
            return self._ref(one)
        if isinstance(one, list | tuple):
            return tuple(self._plain(each) for each in one)
        if isinstance(one, self.torch.dtype):
            return kind_of(self.torch, one)
        return one if isinstance(one, bool | int | float | complex | str) or one is None else str(one)

    def _computed(self, func: Any, name: str, arguments: Mapping[str, Any], taken: Sequence[Any]) -> Any:
        """Compute the result: from values if all of them are known, otherwise its shape, on the meta device."""
        torch = self.torch
        blind = any(one.device.type == "meta" or id(one) in self.blind for one in taken)
        device = "meta" if blind or (not taken and prod(arguments.get("size") or ()) > MOST_VALUES) else "cpu"
        with unwatched(torch):
            moved = {key: self._moved(one, device) for key, one in arguments.items()}
            if "device" in moved and (not taken or name in _MAY_MOVE):
                moved["device"] = torch.device(device)
            moved.pop("pin_memory", None)
            result = RESULTS[name](torch, moved) if name in RESULTS else None
            if result is not None:
                return result
            wanted = {one.name for one in func._schema.arguments}
            given = {key: one for key, one in moved.items() if key in wanted}
            return laid_out(torch, func, given, graded=name in COMPOSITE) if device == "meta" else func(**given)

    def _moved(self, one: Any, device: str) -> Any:
        if isinstance(one, self.torch.Tensor):
            return without_values(self.torch, one) if device == "meta" != one.device.type else one
        return type(one)(self._moved(each, device) for each in one) if isinstance(one, list | tuple) else one

    # Changes in place ------------------------------------------------------------------------------------------------------------

    def _changed(self, func: Any, name: str, arguments: Mapping[str, Any], taken: Sequence[Any], target: str) -> Any:
        """Record a change in place: the tensor, and all that it is a view of, have new entries."""
        torch, tensor = self.torch, arguments[target]
        if target == "out":
            result = self.operator(without_change(torch, func), (), {key: one for key, one in arguments.items() if key != target})
            return self.operator(torch.ops.aten.copy_.default, (), {"self": tensor, "src": result})
        if name in _SHAPES_IN_PLACE:
            frozen = self._frozen(arguments)
            with unwatched(torch):
                func(**arguments)
            self._step(name, frozen, [tensor])
            return tensor
        result = self._computed(without_change(torch, func), name, arguments, taken)
        value = next(one for one in flat([result]) if isinstance(one, torch.Tensor))
        if value.shape != tensor.shape:
            raise NotYetError(f"{self._where()} changes the shape of an array in place by {name}; this cannot be read.")
        fixed = self._depends_on_nothing(taken) and self._kind(tensor) not in REAL and id(tensor) not in self.number
        frozen = {} if fixed else self._frozen(arguments)  # before the change, because constants are noted with their entries
        if value.device.type == tensor.device.type == "cpu" and id(tensor) not in self.blind:
            with unwatched(torch), torch.no_grad():
                tensor.detach().copy_(value)
        if fixed:
            return tensor
        if any(id(one) in self.blind or one.device.type == "meta" for one in taken):
            self._blinded(tensor)
        self._step(name, frozen, [tensor])
        self._put_back(tensor)
        return tensor

    def _blinded(self, tensor: Any) -> None:
        self.blind.add(id(tensor))
        if id(tensor) in self.views:
            self._blinded(self.views[id(tensor)].base)

    def _put_back(self, tensor: Any) -> None:
        """Record that the array of which a tensor is a view has new entries, too."""
        self.fixed.discard(id(tensor))
        self.versions[id(tensor)] = self.versions.get(id(tensor), 0) + 1
        view = self.views.get(id(tensor))
        if view is None:
            return
        old, new = self._ref(view.base), Ref(self.number[id(tensor)])
        self._step("put back", {"base": old, "view": new, "name": view.name, "arguments": view.arguments, "place": view.place}, [view.base])
        self._put_back(view.base)
        self.seen[id(tensor)] = self._version(view.base)

    # What is refused -------------------------------------------------------------------------------------------------------------

    def _check(self, name: str, arguments: Mapping[str, Any], taken: Sequence[Any]) -> None:
        """Refuse results that depend on unknown values, and positions that a table does not have."""
        deciding = taken if name in _BY_VALUES else [one for one in taken[1:] if self._kind(one) == "truth"] if name == "index" else []
        if any(id(one) in self.blind or one.device.type == "meta" for one in deciding):
            raise NotYetError(
                f"{self._where()} depends on the values of floating-point numbers ({name.strip('_')}), which are unknown without an input;"
                " such a model has no single computation. Its tensors are known: count them without inputs."
            )
        if name == "embedding":
            rows, index = arguments["weight"].shape[0], arguments["indices"]
            if index.device.type == "cpu" and index.numel() and id(index) not in self.blind and int(index.max()) >= rows:
                raise ArgumentError(f"{self._where()} looks up row {int(index.max())} of a table of {rows} rows; give shorter inputs.")

    def check_known(self, name: str, args: Sequence[Any]) -> None:
        """Refuse to hand out the values of an array that depends on an input: what is computed from them would not be seen."""
        if any(isinstance(one, self.torch.Tensor) and (id(one) in self.number or one.device.type == "meta") for one in args):
            raise NotYetError(f"{self._where()} leaves torch with {name}(); what is computed after that cannot be seen.")

    def _where(self) -> str:
        """Return the module and the line of the model's source that is running, in words."""
        path, place = self.stack[-1].path or "the forward pass", line()
        return f"{path} ({place})" if place else path
