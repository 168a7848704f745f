"""The result of one call of a build: every tensor's name, shape and kind, in storage order, and the names that share a tensor."""

from __future__ import annotations

import reprlib
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from paramsym.derive.deadline import Deadline, OutOfTime
from paramsym.errors import ArgumentError, StructureError
from paramsym.naming import described
from paramsym.verify.readers import read
from paramsym.verify.stored import shape

Kind: TypeAlias = Literal["parameter", "buffer", "hidden"]
"""``hidden`` is a buffer that is not in the state dict."""
_DEEPEST = 200  # nested modules; torch itself fails at about a thousand
_MOST = 1_000_000  # names; a module that contains itself through a list has endlessly many


@dataclass(frozen=True, slots=True)
class Seen:
    """One found tensor; an alias has the name that came first."""

    name: str
    shape: tuple[int, ...]
    kind: Kind = "parameter"
    trainable: bool = True
    alias_of: str = ""


def is_torch(thing: object) -> bool:
    """Whether something is a torch module; a Keras layer on the torch backend is excluded, although it is a torch module."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module) and not hasattr(thing, "trainable_weights")


def is_live(thing: object) -> bool:
    """Whether something is a module of a framework, with its sizes."""
    if isinstance(thing, type):
        return False
    flax = [sys.modules.get(name) for name in ("flax.nnx", "flax.linen")]
    return is_torch(thing) or hasattr(thing, "trainable_weights") or any(one is not None and isinstance(thing, one.Module) for one in flax)


def tensors_of(built: Any) -> tuple[Seen, ...]:
    """Return the tensors of a module, a tree of arrays or a mapping of names to shapes.

    Raises:
        ArgumentError: something without tensors, or tensors without a shape.
        StructureError: a module that contains itself.
    """
    if is_torch(built):
        return tuple(_torch(built))
    if isinstance(built, Mapping) and all(type(value) is tuple for value in built.values()) and all(map(_plainly_named, built)):
        return tuple(Seen(name, shape(value, name)) for name, value in built.items())
    stored = read(built)
    ties = stored.tied or {}
    trained = {id(weight) for weight in getattr(built, "trainable_weights", ())}
    frozen = _frozen_names(built, list(stored.shapes), trained)
    return tuple(
        Seen(
            name,
            shape,
            "buffer" if name in stored.buffers and name not in frozen else "parameter",
            name not in stored.buffers,
            ties.get(name, ""),
        )
        for name, shape in stored.shapes.items()
    )


def _plainly_named(name: object) -> bool:
    """Whether a name occurs in no packed checkpoint; most mappings of shapes are written by hand."""
    return isinstance(name, str) and not name.endswith(("qweight", "qzeros", "scales", "SCB", "absmax", "_packed", "_blocks", "g_idx"))


def _frozen_names(built: Any, names: list[str], trained: set[int]) -> set[str]:
    """Return the Keras weights that are not trained because their layer is frozen, as opposed to statistics."""
    weights = getattr(built, "weights", None)
    if weights is None or not hasattr(built, "trainable_weights"):
        return set()
    layers = built._flatten_layers() if hasattr(built, "_flatten_layers") else [built]
    meant = {id(weight) for layer in layers for weight in getattr(layer, "_trainable_variables", ())}
    pairs = zip(names, weights, strict=True)
    return {name for name, weight in pairs if id(weight) not in trained and id(weight) in meant}


def _torch(module: Any) -> Iterator[Seen]:
    firsts: dict[int, str] = {}
    for number, (name, tensor, kind) in enumerate(torch_tensors(module)):
        if number >= _MOST:
            raise StructureError(f"the module {type(module).__name__} has more than {_MOST:,} tensors; {_MOST:,} are the limit.")
        first = firsts.setdefault(id(tensor), name)
        yield Seen(name, shape_of(tensor, name), kind, bool(tensor.requires_grad), "" if first == name else first)


def torch_tensors(module: Any) -> Iterator[tuple[str, Any, Kind]]:
    """Yield name, tensor and kind of all tensors of a torch module, in the order of its state dict, aliases included."""
    waiting: list[tuple[str, Any, tuple[int, ...]]] = [("", module, ())]
    while waiting:
        prefix, inner, above = waiting.pop()
        if id(inner) in above or len(above) > _DEEPEST:
            message = f"the module {type(module).__name__} contains itself, at {prefix.rstrip('.')!r}; a module cannot be its own part."
            raise StructureError(message)
        for name, tensor in inner._parameters.items():
            if tensor is not None:
                yield prefix + name, tensor, "parameter"
        for name, tensor in inner._buffers.items():
            if tensor is not None:
                yield prefix + name, tensor, "hidden" if name in inner._non_persistent_buffers_set else "buffer"
        children = [(f"{prefix}{name}.", child, (*above, id(inner))) for name, child in inner._modules.items() if child is not None]
        waiting.extend(reversed(children))


def shape_of(tensor: Any, name: str) -> tuple[int, ...]:
    """Return the shape of a live tensor.

    Raises:
        ArgumentError: a lazy tensor without a shape.
    """
    if type(tensor).__name__.startswith("Uninitialized"):
        raise ArgumentError(f"{name!r} has no shape yet: run the lazy module once on an input before it is read.")
    return tuple(int(extent) for extent in tensor.shape)


_ON_EMPTY_TENSORS = ("meta", "stateless scope")
"""In torch's and Keras' errors for a build that needs numbers in its tensors."""


@dataclass
class Builder:
    """The user's function, called without allocating or initialising tensors if the framework allows it.

    ``empty`` is tried first, and never again after a build that succeeds only with numbers in its tensors. A build that has not returned
    by its ``deadline`` raises ``OutOfTime``.
    """

    call: Callable[..., Any]
    deadline: Deadline
    empty: bool = True
    built: int = 0
    last: Any = None

    def __call__(self, arguments: Mapping[str, Any]) -> tuple[Seen, ...] | int:
        """Return the result of the build for these arguments.

        Raises:
            ArgumentError: a result with neither tensors nor a whole number.
        """
        self.built += 1
        try:
            result = self._made(arguments, empty=self.empty)
        except (NotImplementedError, RuntimeError, TypeError, ValueError) as error:
            if not self.empty or not any(words in str(error) for words in _ON_EMPTY_TENSORS):
                raise
            result = self._made(arguments, empty=False)
            self.empty = False
        self.last = result
        if hasattr(result, "__index__") and not hasattr(result, "shape") and not isinstance(result, bool):
            return int(result.__index__())
        if isinstance(result, bool | float | str) or result is None:
            raise ArgumentError(f"build returned {described(result)}; wanted a module, a mapping of names to shapes, or a count (an int).")
        return tensors_of(result)

    def filled(self, arguments: Mapping[str, Any]) -> Any:
        """Return the built module with numbers in its tensors, so that its buffers have their values."""
        self.built += 1
        return self._made(arguments, empty=False)

    def lines(self, arguments: Mapping[str, Any]) -> int:
        """Return how many lines of Python one call of the build executes: a measure of its work that is equal in every run."""
        found = 0

        def line(_frame: Any, event: str, _value: Any) -> Any:
            nonlocal found
            found += event == "line"
            return line

        before = sys.gettrace()
        sys.settrace(line)
        try:
            self(arguments)
        finally:
            sys.settrace(before)
        return found

    def _made(self, arguments: Mapping[str, Any], *, empty: bool) -> Any:
        keras = sys.modules.get("keras")
        keras = keras if hasattr(keras, "StatelessScope") else None  # "keras" alone may be a folder of that name
        if keras is not None:
            keras.utils.clear_session(free_memory=False)  # otherwise the numbers in layer names would grow from build to build
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            torch = sys.modules.get("torch")
            if torch is not None and empty:
                stack.enter_context(torch.device("meta"))
            if torch is not None:
                stack.enter_context(_without_filling(torch.nn.init))
            if keras is not None and empty:
                stack.enter_context(keras.StatelessScope(initialize_variables=False))
            try:
                with self.deadline.running():
                    return self.call(**arguments)
            except OutOfTime:
                given = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in arguments.items())
                raise OutOfTime(f"build did not return within {self.deadline.seconds:g} seconds for {given}") from None


@contextmanager
def _without_filling(initialisers: Any) -> Generator[None]:
    """Make torch's initialisers do nothing: their numbers are not needed, and they take most of the time."""

    def left(tensor: Any, *_arguments: Any, **_named: Any) -> Any:
        return tensor

    held = {
        name: thing for name, thing in vars(initialisers).items() if name.endswith("_") and not name.startswith("_") and callable(thing)
    }
    try:
        for name in held:
            setattr(initialisers, name, left)
        yield
    finally:
        for name, thing in held.items():
            setattr(initialisers, name, thing)
