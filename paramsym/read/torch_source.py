"""A live torch module as the source of recordings: the kinds of its inputs are found out, or given by examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paramsym.algebra.size import Shape
from paramsym.errors import ArgumentError, NotYetError, ParamsymError
from paramsym.optional import needed
from paramsym.program.types import Kind
from paramsym.read import (
    torch_complex,
    torch_constants,
    torch_losses,
    torch_products,
    torch_recurrent,
    torch_reductions,
    torch_rows,
    torch_shapes,
    torch_windows,
)
from paramsym.read.computed import Source
from paramsym.read.merging import alike
from paramsym.read.recording import Recording
from paramsym.read.torch_entries import TORCH
from paramsym.read.torch_recorder import PassError, recorded, until

FILES = (
    torch_complex,
    torch_constants,
    torch_losses,
    torch_products,
    torch_recurrent,
    torch_reductions,
    torch_rows,
    torch_shapes,
    torch_windows,
)
"""The files that fill the table of operators when they are imported."""
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

    def recording(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        """Record one pass; without examples, floating-point inputs are tried before indices.

        Raises:
            ArgumentError: a forward pass that takes no inputs of these shapes.
            NotYetError: a computation that cannot be read.
        """
        key = (tuple(shapes), self.module.training)
        if key not in self.known:
            try:
                self.known[key] = self._recorded(shapes)
            except PassError as error:
                raise ArgumentError(f"{error} {self.advice}") from error
        return self.known[key]

    def _recorded(self, shapes: Sequence[tuple[int, ...]]) -> Recording:
        if self.inputs or self.named:
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
        return (
            recorded(self.module, [], dict(zip(self.by_name, arrays, strict=True))) if self.by_name else recorded(self.module, arrays, {})
        )

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
        if one.dtype == self.torch.bool or one.is_floating_point():
            return self.torch.ones(shape, dtype=one.dtype, device="meta" if one.is_floating_point() else "cpu")
        full = one.numel() and bool((one == 1).all())
        return self.torch.full(shape, 1 if full else 0, dtype=one.dtype)

    def _array(self, shape: tuple[int, ...], kind: Kind) -> Any:
        if kind == "index":
            return self.torch.zeros(shape, dtype=self.torch.long)
        dtype = next((one.dtype for one in self.module.parameters() if one.is_floating_point()), self.torch.float32)
        return self.torch.empty(shape, dtype=dtype, device="meta")


def _leaves(torch: Any, listed: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors in arguments, inside lists and dictionaries as well, under dotted names."""
    for name, one in listed.items():
        if isinstance(one, torch.Tensor):
            yield name, one
        elif isinstance(one, Mapping):
            yield from _leaves(torch, {f"{name}.{key}": each for key, each in one.items()})
        elif isinstance(one, list | tuple):
            yield from _leaves(torch, {f"{name}.{n}": each for n, each in enumerate(one)})


def _parameters(module: Any) -> tuple[str, ...]:
    """Return the names of the arguments of a module's forward pass that may be given by position."""
    try:
        listed = inspect.signature(module.forward).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(one.name for one in listed if one.kind in {one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD})


def _steps(error: BaseException) -> int:
    """Return how many operators ran before an error."""
    found = until(error)
    return 0 if found is None else sum(1 for _ in found.top.steps())
