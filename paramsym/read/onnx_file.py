"""An ONNX file as plain values: tensors, inputs, operators in order. The file is data of a stranger, and nothing in it is executed.

``onnx`` parses the file. Here it is checked: the number of operators, their nesting, every name, every shape, and where the entries of a
tensor are stored. Entries are read only for small tensors from which sizes are computed; entries outside of the file are read from its
folder and from nowhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, Literal

from paramsym.algebra.size import Dim
from paramsym.errors import CheckpointError, ParamsymError
from paramsym.naming import quoted
from paramsym.optional import needed
from paramsym.program.types import Kind
from paramsym.read.onnx_names import LARGEST_SIZE, Scope, scope, size

LARGEST_FILE = 2 << 30
"""Bytes; the format of the file, protobuf, allows no more."""
MOST_NODES = 100_000
DEEPEST = 16
"""Graphs inside graphs, as in a condition."""
MOST_AXES = 64
_MOST_ENTRIES = 1 << 22
"""The largest tensor whose entries are read."""
_BYTES = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}
"""The bytes of an entry by the number of its type; types with several entries in a byte are not in it."""

_MOST_EQUAL = 1 << 16
"""The largest array that may be a constant with equal entries, such as the scale of a norm that has none."""


@dataclass(frozen=True)
class Node:
    """One operator: its name in ONNX, its own name in the file, its inputs and results by name, and its attributes."""

    operator: str
    name: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    attributes: Mapping[str, Any]
    scope: Scope = ()


@dataclass(frozen=True)
class Weights:
    """A stored tensor. ``kind`` says whether it is trained; a constant is no tensor of the model."""

    shape: tuple[int, ...]
    entries: Kind
    kind: Literal["parameter", "buffer", "hidden", "constant"]


@dataclass(frozen=True)
class Graph:
    """A graph of operators. ``arrays`` are the entries of constants, None for those that are too large or have no known format."""

    inputs: Mapping[str, tuple[tuple[Dim, ...], Kind]]
    tensors: Mapping[str, Weights]
    arrays: Mapping[str, Any]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    version: int = 0


def read(path: str | os.PathLike[str]) -> Graph:
    """Read a file.

    Raises:
        CheckpointError: a file that is missing, too large, damaged, or contradicts itself; entries that are stored outside of its folder.
        ArgumentError: the package ``onnx`` is not installed.
    """
    onnx = needed("onnx", "reading an ONNX file", "onnx")
    inliner = needed("onnx.inliner", "reading an ONNX file", "onnx")
    place = Path(path)
    try:
        if not place.is_file():
            raise CheckpointError(f"{quoted(os.fspath(path))} is not a file.")
        if place.stat().st_size > LARGEST_FILE:
            raise CheckpointError(f"{place.name} has more than {LARGEST_FILE:,} bytes, which no ONNX file has.")
        content = place.read_bytes()
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{quoted(os.fspath(path))} cannot be read: {str(error).rstrip('.')}.") from None
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # noqa: BLE001 - whatever the parser raises for a damaged file
        raise CheckpointError(f"{place.name} is not an ONNX file, or is damaged ({type(error).__name__}).") from None
    if len(model.functions):
        try:
            _written_out(model)
            model = inliner.inline_local_functions(model)
        except ParamsymError as error:
            raise CheckpointError(f"{place.name}: {error}") from None
        except Exception as error:  # noqa: BLE001 - likewise for functions that are missing
            raise CheckpointError(f"{place.name} has functions that cannot be put in place ({type(error).__name__}).") from None
    try:
        return _Reader(onnx, place).model(model)
    except ParamsymError as error:
        raise CheckpointError(f"{place.name}: {error}") from None


@dataclass
class _Reader:
    """The state of reading one file."""

    onnx: Any
    place: Path
    count: int = 0
    known: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """What an exporter noted about a tensor of the module: its kind, and whether it is in the state dict."""

    def model(self, model: Any) -> Graph:
        versions = [one.version for one in model.opset_import if one.domain in {"", "ai.onnx"}]
        if not versions or not model.graph.node:
            raise CheckpointError("there is no graph with operators of ONNX in it.")
        self.known = dict(_noted(model.graph))
        return self.graph(model.graph, versions[0], (), 0)

    def graph(self, graph: Any, version: int, outer: tuple[set[str], ...], depth: int) -> Graph:
        if depth > DEEPEST:
            raise CheckpointError(f"graphs are more than {DEEPEST} levels deep inside each other.")
        if graph.sparse_initializer:
            raise CheckpointError("sparse tensors are not read.")
        stored = {one.name: one for one in graph.initializer}
        if len(stored) != len(graph.initializer) or "" in stored:
            raise CheckpointError("two stored tensors have one name, or one has none.")
        inputs = {one.name: self.input(one) for one in graph.input if one.name not in stored}
        defined = {*stored, *inputs}
        around = (*outer, defined)
        nodes: list[Node] = []
        before: Scope = ()
        for one in graph.node:
            node = self.node(one, version, around, before, depth)
            defined |= {name for name in node.gives if name}
            nodes.append(node)
            before = node.scope
        outputs = tuple(one.name for one in graph.output)
        missing = next((name for name in outputs if not _is_in(name, around)), None)
        if missing is not None or not outputs:
            raise CheckpointError(f"nothing computes the output {quoted(missing)}." if outputs else "a graph has no outputs.")
        used = _uses(nodes)
        tensors = {name: self.weights(one, used.get(name, frozenset())) for name, one in stored.items()}
        arrays = {
            name: self.entries(stored[name])
            for name, one in tensors.items()
            if one.kind in {"constant", "hidden"} or one.entries != "float"
        }
        return Graph(inputs, tensors, arrays, tuple(nodes), outputs, version)

    def node(self, node: Any, version: int, around: tuple[set[str], ...], before: Scope, depth: int) -> Node:
        self.count += 1
        if self.count > MOST_NODES:
            raise CheckpointError(f"there are more than {MOST_NODES:,} operators.")
        name = node.name or (node.output[0] if node.output else node.op_type)
        for taken in node.input:
            if taken and not _is_in(taken, around):
                raise CheckpointError(f"the operator {node.op_type} ({quoted(name)}) takes {quoted(taken)}, which nothing before it gives.")
        for given in node.output:
            if _is_in(given, around):
                raise CheckpointError(f"two operators give {quoted(given)}, or one gives what is stored.")
        operator = node.op_type if node.domain in {"", "ai.onnx"} else f"{node.domain}.{node.op_type}"
        attributes = {one.name: self.attribute(one, version, around, depth) for one in node.attribute}
        return Node(operator, name, tuple(node.input), tuple(node.output), attributes, scope(node, before))

    def attribute(self, one: Any, version: int, around: tuple[set[str], ...], depth: int) -> Any:
        kinds = self.onnx.AttributeProto
        match one.type:
            case kinds.INT:
                return one.i
            case kinds.FLOAT:
                return one.f
            case kinds.STRING:
                return one.s.decode("utf-8", "replace")
            case kinds.INTS:
                return tuple(one.ints)
            case kinds.FLOATS:
                return tuple(one.floats)
            case kinds.STRINGS:
                return tuple(each.decode("utf-8", "replace") for each in one.strings)
            case kinds.TENSOR:
                self.shape(one.t)
                return self.entries(one.t)
            case kinds.GRAPH:
                return self.graph(one.g, version, around, depth + 1)
            case _:
                raise CheckpointError(f"the attribute {quoted(one.name)} has a type that is not read.")

    # Tensors ---------------------------------------------------------------------------------------------------------------------

    def input(self, one: Any) -> tuple[tuple[Dim, ...], Kind]:
        kind = one.type.WhichOneof("value")
        if kind != "tensor_type" or not one.type.tensor_type.HasField("shape"):
            raise CheckpointError(f"the input {quoted(one.name)} is no array with a known number of axes.")
        axes = one.type.tensor_type.shape.dim
        if len(axes) > MOST_AXES:
            raise CheckpointError(f"the input {quoted(one.name)} has more than {MOST_AXES} axes.")
        sizes = tuple(size(axis, f"{one.name}_{number}") for number, axis in enumerate(axes))
        return sizes, self.kind(one.type.tensor_type.elem_type, one.name)

    def kind(self, number: int, name: str) -> Kind:
        kinds = self.onnx.TensorProto
        if number == kinds.BOOL:
            return "truth"
        if number in {kinds.COMPLEX64, kinds.COMPLEX128}:
            return "complex"
        try:
            word = kinds.DataType.Name(number)
        except ValueError:
            word = "UNDEFINED"
        if "INT" in word:
            return "index"
        if "FLOAT" in word or word == "DOUBLE":
            return "float"
        raise CheckpointError(f"{quoted(name)} has entries of the type {word.lower()}, which is not read.")

    def shape(self, tensor: Any) -> tuple[int, ...]:
        shape = tuple(tensor.dims)
        if any(size < 0 for size in shape) or len(shape) > MOST_AXES or prod(shape) > LARGEST_SIZE:
            raise CheckpointError(f"the tensor {quoted(tensor.name)} has the impossible shape {quoted(list(shape))}.")
        each = _BYTES.get(tensor.data_type)
        if tensor.raw_data and each is not None and len(tensor.raw_data) != each * prod(shape):
            found = f"{len(tensor.raw_data)} bytes for the shape {quoted(list(shape))}; wanted {each * prod(shape)}"
            raise CheckpointError(f"the tensor {quoted(tensor.name)} has {found}.")
        self.location(tensor)
        return shape

    def weights(self, tensor: Any, used: frozenset[tuple[str, int]]) -> Weights:
        shape, entries = self.shape(tensor), self.kind(tensor.data_type, tensor.name)
        noted, saved = self.known.get(tensor.name, ("", True))
        if noted == "BUFFER" or (used and used <= _STATISTICS):
            return Weights(shape, entries, "buffer" if saved else "hidden")
        made_up = not noted if self.known else _EXPORTERS_NAME.match(tensor.name)
        if noted == "CONSTANT_TENSOR" or (made_up and self.is_constant(tensor, used)):
            return Weights(shape, entries, "constant")
        return Weights(shape, entries, "parameter" if entries == "float" else "buffer")

    def is_constant(self, tensor: Any, used: frozenset[tuple[str, int]]) -> bool:
        """Whether an array that an exporter made up is a constant of the computation.

        The others are weights that it transposed or merged: what an operator with weights takes, and scales and shifts along one axis.
        """
        along = sum(size > 1 for size in tensor.dims)
        if self.kind(tensor.data_type, tensor.name) != "float" or not (
            used & _WEIGHTS or (along == 1 and {name for name, _ in used} & {"Add", "Sub", "Mul", "Div"})
        ):
            return True
        entries = self.entries(tensor) if prod(tensor.dims) <= _MOST_EQUAL else None
        return entries is not None and entries.size > 1 and bool((entries == entries.flat[0]).all())

    def location(self, tensor: Any) -> Path | None:
        """Return the file that has the entries of a tensor, None for the model's own file.

        Raises:
            CheckpointError: a file outside of the folder.
        """
        if tensor.data_location != self.onnx.TensorProto.EXTERNAL:
            return None
        named = next((one.value for one in tensor.external_data if one.key == "location"), "")
        inside = named and not re.match(r"[\\/]|[A-Za-z]:", named) and ".." not in re.split(r"[\\/]", named) and "\0" not in named
        folder = self.place.resolve().parent
        if not inside or not (folder / named).resolve().is_relative_to(folder):
            raise CheckpointError(f"the entries of {quoted(tensor.name)} are in {quoted(named)}, outside of the folder of the file.")
        return folder / named

    def entries(self, tensor: Any) -> Any:
        """Return the entries of a tensor as an array; None if there are too many.

        Raises:
            CheckpointError: entries that are missing, or not as many as the shape says.
        """
        kind = self.kind(tensor.data_type, tensor.name)
        if prod(tensor.dims) > _MOST_ENTRIES:
            return None
        try:
            outside = self.location(tensor)
            if outside is not None:
                tensor = self.loaded(tensor, outside)
            array = self.onnx.numpy_helper.to_array(tensor)
        except ParamsymError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever the package raises for entries that do not fit
            raise CheckpointError(f"the entries of {quoted(tensor.name)} cannot be read ({type(error).__name__}).") from None
        xp = needed("numpy", "reading an ONNX file", "onnx")
        return array.astype(xp.float32 if array.dtype != xp.float64 else xp.float64) if kind == "float" else array

    def loaded(self, tensor: Any, outside: Path) -> Any:
        """Return a tensor with its entries from another file."""
        where = {one.key: one.value for one in tensor.external_data}
        size = prod(tensor.dims) * self.onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        with outside.open("rb") as file:
            file.seek(int(where.get("offset", "0") or 0))
            content = file.read(size)
        found = self.onnx.TensorProto(name=tensor.name, dims=tensor.dims, data_type=tensor.data_type)
        found.raw_data = content
        return found


_EXPORTERS_NAME = re.compile(r"val_\d+$|onnx::")
"""Names that torch's exporters make up, for constants, and for weights that they transposed or merged, if a file has no notes."""
_STATISTICS = frozenset({("BatchNormalization", 3), ("BatchNormalization", 4)})
"""Where an operator takes running statistics."""
_TWO, _THREE = range(1, 3), range(1, 4)
_WEIGHTS = frozenset(
    {
        *(("MatMul", n) for n in range(2)),
        *(("Gemm", n) for n in range(3)),
        *(
            (name, n)
            for name in ("Conv", "ConvTranspose", "LayerNormalization", "BatchNormalization", "InstanceNormalization")
            for n in _TWO
        ),
        *((name, n) for name in ("LSTM", "GRU", "RNN") for n in _THREE),
        *(("Einsum", n) for n in range(4)),
        ("Gather", 0),
        ("PRelu", 1),
    }
)
"""Where an operator takes trained weights: the name of the operator, and the place among its inputs."""


def _is_in(name: str, around: tuple[set[str], ...]) -> bool:
    """Whether something in a graph, or in one around it, has a name."""
    return any(name in names for names in around)


def _written_out(model: Any) -> int:
    """Return the number of operators if every function of the file is put in place.

    Raises:
        CheckpointError: functions that call each other in a circle, or a larger number than is read.
    """
    functions = {(one.domain, one.name): one for one in model.functions}
    sizes: dict[tuple[str, str], int] = {}

    def written(nodes: Any, inside: frozenset[tuple[str, str]]) -> int:
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            if key in inside:
                raise CheckpointError(f"the function {quoted(node.op_type)} calls itself.")
            if key in functions and key not in sizes:
                sizes[key] = written(functions[key].node, inside | {key})
            inner = [graph.node for one in node.attribute for graph in (one.g, *one.graphs)]
            total += sizes.get(key, 1) + sum(written(each, inside) for each in inner)
            if total > MOST_NODES or len(inside) > DEEPEST:
                raise CheckpointError(f"there are more than {MOST_NODES:,} operators, or functions more than {DEEPEST} levels deep.")
        return total

    return written(model.graph.node, frozenset())


def _uses(nodes: list[Node]) -> dict[str, frozenset[tuple[str, int]]]:
    """Return for every name the operators that take it, and the place at which they do."""
    found: dict[str, set[tuple[str, int]]] = {}
    for node in reversed(nodes):
        for place, name in enumerate(node.takes):
            alias = node.operator == "Identity" and found.get(node.gives[0], set())
            found.setdefault(name, set()).update(alias or {(node.operator, place)})
    return {name: frozenset(uses) for name, uses in found.items()}


def _noted(graph: Any) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield what torch's exporter notes about the tensors of a module: parameter, buffer or constant, and whether it is saved."""
    for one in graph.value_info:
        noted = {each.key.rpartition(".")[2]: each.value for each in one.metadata_props if "InputSpec" in each.key}
        if "kind" in noted:
            yield one.name, (noted["kind"], noted.get("persistent") != "False")
