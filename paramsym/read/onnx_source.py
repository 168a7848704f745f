"""An ONNX file as a model: its tensors as a layer, and its graph as the source of recordings.

The graph is played once on arrays without entries, with letters in their shapes: a size that the graph computes from other sizes is an
expression, so no law has to be found. What is computed from sizes alone leaves no operator in the recording.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from paramsym.algebra.convolution import differ
from paramsym.algebra.size import Dim, Shape, shown
from paramsym.core.layer import Layer
from paramsym.derive.assembling import assembled
from paramsym.derive.levels import Held, Level
from paramsym.derive.observe import Seen
from paramsym.errors import CheckpointError, NotYetError, ParamsymError, ShapeError, StructureError
from paramsym.naming import quoted
from paramsym.program import Value
from paramsym.program.tracing import traced
from paramsym.program.types import ArrayType

# These files fill the tables of operators when they are imported.
from paramsym.read import (
    onnx_norms as onnx_norms,
    onnx_products as onnx_products,
    onnx_recurrent as onnx_recurrent,
    onnx_reductions as onnx_reductions,
    onnx_shapes as onnx_shapes,
    onnx_windows as onnx_windows,
    torch_norms as torch_norms,
    torch_products as torch_products,
    torch_reductions as torch_reductions,
    torch_shapes as torch_shapes,
)
from paramsym.read.computed import Computed, Source, named
from paramsym.read.onnx_entries import ONNX
from paramsym.read.onnx_file import Graph, Node, read
from paramsym.read.onnx_from_sizes import FOLDS, can_fold, is_known, kind_of, lettered, number, numpy, settled
from paramsym.read.onnx_names import Scope
from paramsym.read.recording import Array, Called, Done, Recording, Ref
from paramsym.read.sizes import Laws
from paramsym.read.values import fixed


def from_onnx(path: str | os.PathLike[str]) -> Layer:
    """Return the model in an ONNX file.

    Raises:
        CheckpointError: a file that is damaged, contradicts itself, or wants entries from outside of its folder.
        ArgumentError: the package ``onnx`` is not installed.
    """
    graph = read(path)
    seen = [
        Seen(name, one.shape, "parameter" if one.kind == "parameter" else "hidden" if one.kind == "hidden" else "buffer")
        for name, one in graph.tensors.items()
        if one.kind != "constant"
    ]
    try:
        layer = assembled(seen, {}) if all("" not in one.name.split(".") for one in seen) else _listed(seen)
    except StructureError:
        layer = _listed(seen)
    return named(Computed, "OnnxModel")(layer, OnnxSource(graph))


def _listed(seen: Sequence[Seen]) -> Layer:
    """Return tensors whose names are no paths as a layer."""
    return Level(tuple(("", Held(one.name, one.shape, one.kind)) for one in seen))


class OnnxSource(Source):
    """A graph of operators, and the letters of its inputs."""

    operators = ONNX
    kind = "OnnxModel"

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def part(self, path: str) -> None:
        """Return None: a part of a file is known only inside the whole."""

    def names(self) -> tuple[str, ...]:
        return tuple(self.graph.inputs)

    def shapes(self) -> Mapping[str, Shape]:
        return {name: shape for name, (shape, _) in self.graph.inputs.items()}

    def recording(self, shapes: Sequence[tuple[Dim, ...]]) -> Recording:
        """Return the operators for inputs of these shapes.

        Raises:
            ShapeError: inputs of other shapes than the file states.
            NotYetError: an operator that is not known.
            CheckpointError: a graph that contradicts itself.
        """
        return _Recorder(self.graph).recorded(shapes)

    def recorded(self, shapes: Sequence[tuple[Dim, ...]], each: int = 1) -> tuple[Recording, Laws | None]:  # noqa: ARG002 - sizes stay letters
        return self.recording(shapes), None


class _Recorder:
    """The state of one recording: the arrays by their names in the file, traced or known, and the numbers of the traced ones."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.arrays: dict[str, Any] = {}
        self.numbers: dict[str, int] = {}
        self.stored: dict[int, tuple[str, ...]] = {}
        self.constants: dict[int, Array] = {}
        self.top = Called("", "")
        self.stack = [self.top]

    def recorded(self, shapes: Sequence[tuple[Dim, ...]]) -> Recording:
        stated = self.graph.inputs
        if len(shapes) != len(stated):
            raise ShapeError(f"the file has the inputs {', '.join(stated)}; found {len(shapes)} shapes.")
        for (name, (shape, _)), given in zip(stated.items(), shapes, strict=True):
            if len(given) != len(shape) or any(
                isinstance(one, int) and differ(one, other) for one, other in zip(shape, given, strict=True)
            ):
                raise ShapeError(f"the file fixes {name} to {shown(shape)}; found {shown(tuple(given))}.")
        inputs: list[Array] = []

        def body(*values: Value) -> Value:
            for name, value in zip(stated, values, strict=True):
                inputs.append(self._array(name, value))
            self._tensors(self.graph)
            self._nodes(self.graph)
            return values[0] if values else fixed((), "float", None)

        traced(None, body, tuple(ArrayType(tuple(given), kind) for (_, kind), given in zip(stated.values(), shapes, strict=True)))
        outputs = tuple(self._number(name) for name in self.graph.outputs)
        return Recording(tuple(inputs), self.stored, self.constants, self.top, outputs, several=len(outputs) > 1)

    def _tensors(self, graph: Graph) -> None:
        for name, one in graph.tensors.items():
            if name in graph.arrays:
                known = graph.arrays[name]
                self.arrays[name] = self._unknown(name, one.shape, one.entries) if known is None else known
            else:
                array = self._array(name, fixed(one.shape, one.entries, None))
                self.stored[array.number] = (name,)

    def _unknown(self, name: str, shape: tuple[int, ...], kind: Any) -> Value:
        """Return a constant that is too large to be read; its computation is counted, and cannot be run."""
        value = fixed(shape, kind, None)
        array = self._array(name, value)
        self.constants[array.number] = array
        return value

    def _array(self, name: str, value: Value) -> Array:
        """Give a traced array a number."""
        self.arrays[name] = value
        self.numbers[name] = len(self.numbers)
        return Array(self.numbers[name], value.sizes, value.type.kind)

    def _number(self, name: str) -> int:
        """Return the number of an array; one with known entries becomes a constant."""
        if name not in self.numbers:
            known = self.arrays[name]
            self._array(name, fixed(known.shape, kind_of(known), known))
            self.constants[self.numbers[name]] = Array(self.numbers[name], known.shape, kind_of(known), known)
        return self.numbers[name]

    # Operators -------------------------------------------------------------------------------------------------------------------

    def _nodes(self, graph: Graph) -> None:
        for node in graph.nodes:
            try:
                self._node(node)
            except ParamsymError as error:
                raise NotYetError(f"{node.operator} ({quoted(node.name)}): {error}") from None
            except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
                reason = f"{type(error).__name__}: {error}"[:200]
                raise CheckpointError(f"{node.operator} ({quoted(node.name)}) cannot take what it is given ({reason}).") from None

    def _node(self, node: Node) -> None:
        if node.operator == "Constant":
            self.arrays[node.gives[0]] = _constant(node.attributes)
            return
        if node.operator == "If":
            self._branch(node)
            return
        inputs = [self.arrays[name] if name else None for name in node.takes]
        if can_fold(node.operator, inputs):
            fold = FOLDS[node.operator]
            self._known(node, fold(*_bound(fold, inputs), **node.attributes))
            return
        function = ONNX.functions.get(node.operator)
        arguments = {} if function is None else _arguments(function, inputs, node.attributes)
        needed = {} if function is None else signature(function).parameters
        more = {name: number for name, number in (("version", self.graph.version), ("results", _results(node))) if name in needed}
        found = ONNX.apply(node.operator, {**arguments, **more}, list, "")
        if is_known(found[0]):
            self._known(node, found[0])
            return
        if len(found) < _results(node):
            raise NotYetError(f"only {len(found)} of its {_results(node)} results are known.")
        names = {id(self.arrays[name]): name for name in node.takes if name}
        frozen = {key: self._frozen(one, names) for key, one in arguments.items()}
        if len(found) == 1 and id(found[0]) in names:  # an operator that does nothing
            self.arrays[node.gives[0]] = found[0]
            self.numbers[node.gives[0]] = self._number(names[id(found[0])])
            return
        results = tuple(
            self._array(name or f"{node.name}\0{place}", value) for place, (name, value) in enumerate(zip(node.gives, found, strict=False))
        )
        self._called(node.scope).items.append(Done(node.operator, {**frozen, **more}, results, quoted(node.name)))

    def _known(self, node: Node, array: Any) -> None:
        self.arrays[node.gives[0]] = settled(array) if lettered(array) else array

    def _frozen(self, one: Any, names: Mapping[int, str]) -> Any:
        if isinstance(one, Value):
            return Ref(self._number(names[id(one)]))
        return tuple(self._frozen(each, names) for each in one) if isinstance(one, tuple) else one

    def _branch(self, node: Node) -> None:
        """Play the branch that a condition chooses, if it follows from sizes."""
        condition = self.arrays[node.takes[0]]
        if not is_known(condition):
            raise NotYetError("which branch is computed depends on the entries of an input; such a model has no single computation.")
        branch: Graph = node.attributes["then_branch" if number(condition) else "else_branch"]
        self._tensors(branch)
        self._nodes(branch)
        for name, inner in zip(node.gives, branch.outputs, strict=True):
            self.arrays[name] = self.arrays[inner]
            if inner in self.numbers:
                self.numbers[name] = self.numbers[inner]

    def _called(self, scope: Scope) -> Called:
        """Return the call to which an operator belongs; calls that are not around it have ended."""
        depth = 1
        while depth < len(self.stack) and depth <= len(scope) and self.stack[depth].path == scope[depth - 1][0]:
            depth += 1
        del self.stack[depth:]
        for path, kind in scope[depth - 1 :]:
            called = Called(path, kind)
            self.stack[-1].items.append(called)
            self.stack.append(called)
        return self.stack[-1]


def _constant(attributes: Mapping[str, Any]) -> Any:
    xp = numpy()
    for name, kind in (("value_int", "int64"), ("value_ints", "int64"), ("value_float", "float32"), ("value_floats", "float32")):
        if name in attributes:
            return xp.asarray(attributes[name], dtype=kind)
    if attributes.get("value") is None:
        raise NotYetError("a constant of this kind is not read.")
    return attributes["value"]


def _results(node: Node) -> int:
    """Return the number of results up to the last one that is used."""
    return max((place + 1 for place, name in enumerate(node.gives) if name), default=0)


def _bound(function: Any, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return inputs as a function takes them: all of them in one list, or one after another."""
    return [tuple(inputs)] if next(iter(signature(function).parameters)) == "inputs" else inputs


def _arguments(function: Any, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs by the names of a function's arguments, and the attributes."""
    listed = [one.name for one in signature(function).parameters.values() if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    if listed[0] == "inputs":
        return {"inputs": tuple(inputs), **attributes}
    if len(inputs) > len(listed):
        raise CheckpointError(f"it has {len(inputs)} inputs; at most {len(listed)} are known.")
    named = {name: one for name, one in zip(listed, inputs, strict=False) if one is not None}
    twice = named.keys() & attributes.keys()
    if twice:
        raise CheckpointError(f"it has {min(twice)} as an input and as an attribute.")
    return {**named, **attributes}
