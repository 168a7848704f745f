"""A live torch module as the source of recordings: the kinds of its inputs are found out, or given by examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from paramsym.algebra.size import Shape, shown
from paramsym.errors import ArgumentError, NotYetError, ParamsymError
from paramsym.naming import described
from paramsym.optional import needed
from paramsym.program.types import Kind

# These files fill the tables of operators when they are imported.
from paramsym.read import (
    torch_complex as torch_complex,
    torch_constants as torch_constants,
    torch_losses as torch_losses,
    torch_norms as torch_norms,
    torch_products as torch_products,
    torch_recurrent as torch_recurrent,
    torch_reductions as torch_reductions,
    torch_rows as torch_rows,
    torch_shapes as torch_shapes,
    torch_windows as torch_windows,
)
from paramsym.read.computed import Source
from paramsym.read.merging import alike
from paramsym.read.recording import Recording
from paramsym.read.torch_entries import TORCH
from paramsym.read.torch_recorder import MOST_VALUES, PassError, recorded, until

_FIRST = re.compile(r"\{(\d+)[^}]*\}")


class TorchSource(Source):
    """A torch module; ``inputs`` and ``named`` are examples, tensors and other arguments, as its forward pass takes them.

    Without examples, inputs are given by position, or ``by_name``.
    """

    operators = TORCH
    advice = "Give inputs of the shapes and kinds that it takes, or examples: from_module(net, tokens)."

    def __init__(self, module: Any, inputs: Sequence[Any], named: Mapping[str, Any], by_name: tuple[str, ...] = ()) -> None:
        self.module, self.inputs, self.named = module, tuple(inputs), dict(named)
        self.by_name = by_name
        self.torch = needed("torch", "from_module")
        self.kind = type(module).__name__
        self.parameters = _parameters(module)
        self.kinds: tuple[Kind, ...] = ()
        self.known: dict[Any, Recording] = {}
        self._check_examples()

    def part(self, path: str) -> TorchSource | None:
        """Return the source of a module inside; numbered copies have equal modules, so the first is taken for all."""
        try:
            module = self.module.get_submodule(_FIRST.sub(r"\1", path))
        except AttributeError:
            return None
        return TorchSource(module, (), {})

    def names(self) -> tuple[str, ...]:
        stated = tuple(self._examples())
        return stated or self.parameters

    def shapes(self) -> Mapping[str, Shape]:
        return {name: tuple(tensor.shape) for name, tensor in self._examples().items()}

    def _examples(self) -> dict[str, Any]:
        """Return the example tensors by the names of their arguments."""
        names = [*self.parameters, *(f"input {n}" for n in range(len(self.parameters), len(self.inputs)))]
        listed = {**dict(zip(names, self.inputs, strict=False)), **self.named}
        return dict(_leaves(self.torch, listed))

    def _check_examples(self) -> None:
        """Refuse examples that the forward pass does not take, and those that are no tensors.

        Raises:
            ArgumentError: the first of them.
        """
        shape = "shapes are given to a question: flops(from_module(net), (2, 3))"
        unknown = [] if _takes_any_name(self.module) else sorted(self.named.keys() - _names(self.module))
        if unknown:
            takes = ", ".join(_names(self.module)) or "none"
            raise ArgumentError(
                f"{self.kind} takes no argument {unknown[0]!r}; it takes {takes}. Examples are given by these names; {shape}."
            )
        odd = [one for one in (*self.inputs, *self.named.values()) if not _is_setting(one)]
        if (self.inputs or odd) and not self._examples():
            found = described((odd or self.inputs)[0])
            raise ArgumentError(
                f"an example input is {found}; wanted a tensor, as in from_module(net, torch.zeros(2, 3)). For letters, {shape}."
            )

    def _check_readable(self) -> None:
        """Refuse modules whose operators cannot be seen.

        Raises:
            NotYetError: such a module.
        """
        torch, module = self.torch, self.module
        if isinstance(module, torch.nn.DataParallel | torch.nn.parallel.DistributedDataParallel):
            raise NotYetError(f"{self.kind} computes on several devices; read the module inside of it: from_module(net.module).")
        if any(isinstance(inner, torch.jit.ScriptModule) for inner in module.modules()):
            raise NotYetError(f"{self.kind} was compiled by torch.jit, which hides its operators; read the module before it is compiled.")
        if type(module).forward is torch.nn.Module.forward:
            raise NotYetError(f"{self.kind} has no forward pass; its tensors are known. Read the module that calls its parts.")

    def recording(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        """Record one pass; without examples, floating-point inputs are tried before indices.

        Raises:
            ArgumentError: a forward pass that takes no inputs of these shapes.
            NotYetError: a computation that cannot be read.
        """
        self._check_readable()
        key = (tuple(shapes), self.module.training)
        if key not in self.known:
            try:
                self.known[key] = self._recorded(shapes)
            except PassError as error:
                raise ArgumentError(f"{error} {self.advice}") from error
        return self.known[key]

    def _recorded(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        if self._examples():
            return self._like_examples(shapes)
        errors: list[ParamsymError] = []
        for kinds in self.kinds_tried(len(shapes)):
            try:
                found = self._of_kinds(shapes, kinds)
            except NotYetError:
                raise
            except ParamsymError as error:
                errors.append(error)
                continue
            if not self.kinds:
                self._check_again(found, shapes, kinds)
            self.kinds = kinds
            return found
        raise max(errors, key=_steps)  # the kinds with which the pass went furthest

    def _of_kinds(self, shapes: Sequence[tuple[int, ...]], kinds: Sequence[Kind]) -> Recording:
        arrays = [self._array(*one) for one in zip(shapes, kinds, strict=True)]
        if self.by_name:
            return recorded(self.module, [], dict(zip(self.by_name, arrays, strict=True)))
        return recorded(self.module, arrays, self.named)

    def _check_again(self, found: Recording, shapes: Sequence[tuple[int, ...]], kinds: Sequence[Kind]) -> None:
        """Refuse a module that computes something else when it is called again."""
        again = self._of_kinds(shapes, kinds)
        if not alike(found, again):
            raise NotYetError(f"{self.kind} computes something else at every call, so no count is right; its tensors are known.")

    def _like_examples(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        left = iter(shapes)
        given = [self._as(one, left) for one in self.inputs]
        named = {name: self._as(one, left) for name, one in self.named.items()}
        if next(left, None) is not None:
            raise ArgumentError(f"the example inputs have {len(self._examples())} arrays; found {len(shapes)} shapes.")
        return recorded(self.module, given, named)

    def _as(self, one: Any, left: Iterator[tuple[int, ...]]) -> Any:
        """Return an example with another shape; an example of this shape is used as it is."""
        if isinstance(one, Mapping):
            return {name: self._as(each, left) for name, each in one.items()}
        if isinstance(one, list | tuple):
            return type(one)(self._as(each, left) for each in one)
        if not isinstance(one, self.torch.Tensor):
            return one
        shape = next(left, None)
        if shape is None:
            raise ArgumentError(f"wanted {len(self._examples())} shapes, one for each example input.")
        if tuple(one.shape) == tuple(shape):
            return one
        torch = self.torch
        known = one.device.type != "meta"
        full = one.dtype == torch.bool or (known and not one.is_floating_point() and one.numel() and bool((one == 1).all()))
        return self._filled(shape, one.dtype, 1 if full else 0, known=known)

    def _array(self, shape: tuple[int, ...], kind: Kind) -> Any:
        torch = self.torch
        dtype = next((one.dtype for one in self.module.parameters() if one.is_floating_point()), torch.float32)
        return self._filled(shape, torch.long if kind == "index" else dtype, 0)

    def _filled(self, shape: tuple[int, ...], dtype: Any, value: int, *, known: bool = True) -> Any:
        """Return an array; whole numbers and Booleans have values if there are not too many.

        Raises:
            ArgumentError: sizes that torch does not have.
        """
        known = known and not (dtype.is_floating_point or dtype.is_complex) and prod(shape) <= MOST_VALUES
        try:
            return self.torch.full(shape, value, dtype=dtype, device="cpu" if known else "meta")
        except (TypeError, RuntimeError):
            raise ArgumentError(f"torch has no array of {shown(shape)}; give smaller sizes, or letters.") from None


def _leaves(torch: Any, listed: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors in arguments, inside lists and dictionaries as well, under dotted names."""
    for name, one in listed.items():
        if isinstance(one, torch.Tensor):
            yield name, one
        elif isinstance(one, Mapping):
            yield from _leaves(torch, {f"{name}.{key}": each for key, each in one.items()})
        elif isinstance(one, list | tuple):
            yield from _leaves(torch, {f"{name}.{n}": each for n, each in enumerate(one)})


def _signature(module: Any) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        return ()


def _parameters(module: Any) -> tuple[str, ...]:
    """Return the names of the arguments of a module's forward pass that may be given by position."""
    return tuple(one.name for one in _signature(module) if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD})


def _names(module: Any) -> tuple[str, ...]:
    """Return the names of the arguments that may be given by name."""
    return tuple(one.name for one in _signature(module) if one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY})


def _takes_any_name(module: Any) -> bool:
    listed = _signature(module)
    return not listed or any(one.kind is one.VAR_KEYWORD for one in listed)


def _is_setting(one: Any) -> bool:
    """Whether an argument without a tensor may be meant: a flag, a number or a word, as in ``use_cache=False``."""
    return one is None or isinstance(one, bool | int | float | str)


def _steps(error: BaseException) -> int:
    """Return how many operators ran before an error."""
    found = until(error)
    return 0 if found is None else sum(1 for _ in found.top.steps())
