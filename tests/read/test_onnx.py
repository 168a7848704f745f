"""ONNX files that torch exports, compared with their modules: count, FLOPs, outputs, letters; and files that nobody should trust."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paramsym as ps
from paramsym.cli import main
from paramsym.errors import CheckpointError, NotYetError, ParamsymError

onnx = pytest.importorskip("onnx")
torch = pytest.importorskip("torch")

from onnx import TensorProto, helper  # noqa: E402 - they may be missing
from read.comparing import counted, results  # noqa: E402 - it needs torch
from read.more_models import MORE as FURTHER  # noqa: E402 - it needs torch
from read.own_models import MODELS  # noqa: E402 - it needs torch

EXPORTED = [name for name in MODELS if name not in {"Fourier layer", "diagonal states", *FURTHER}]
"""Torch exports no complex numbers, no functions of their own and no affine grids, and folds latents that are expanded into constants."""
COUNTED = {name for name in EXPORTED if name not in {"dense mixture", "LoRA"}}
"""A file keeps neither the order in which torch contracts three arrays, nor which tensors are frozen."""
MORE = {"minGPT": 50 * 24, "weight norm": -6, "codebook": 64 * 16}
"""The tied matrix of a vocabulary of 50 is stored twice, once transposed; a length and a direction become one matrix."""


def module_of(name: str) -> Any:
    """Return a module in evaluation mode with random tensors."""
    torch.manual_seed(0)
    module = MODELS[name].build().eval()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return module


def arrays(name: str, number: int = 0) -> tuple[Any, ...]:
    """Return inputs: indices for a model with a vocabulary, otherwise numbers."""
    torch.manual_seed(1)
    vocabulary, shapes = MODELS[name].vocabulary, MODELS[name].shapes[number]
    return tuple(torch.randint(0, vocabulary, shape) if vocabulary else torch.randn(shape) for shape in shapes)


def exported(name: str, *, axes: bool) -> tuple[Any, bytes]:
    """Return a module and its file, with or without names for the axes that vary."""
    module, given = module_of(name), arrays(name)
    names = [f"x{number}" for number in range(len(given))]
    letters = zip(names, MODELS[name].letters, strict=False) if axes else ()
    dynamic = {one: {n: axis for n, axis in enumerate(shape) if isinstance(axis, str)} for one, shape in letters}
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the exporter says about itself, and about branches on shapes
        training = torch.onnx.TrainingMode.PRESERVE  # otherwise batch norms are merged into convolutions
        more: dict[str, Any] = {"input_names": names, "dynamic_axes": dynamic, "training": training, "opset_version": 17}
        torch.onnx.export(module, given, file, dynamo=False, **more)
    return module, file.getvalue()


def loaded(folder: Path, content: bytes) -> ps.Layer:
    """Write a file and read it."""
    (folder / "model.onnx").write_bytes(content)
    return ps.load(str(folder / "model.onnx"))


def stored(layer: ps.Layer, content: bytes) -> dict[str, Any]:
    """Return the entries of a layer's tensors, from the file."""
    entries = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load_model_from_string(content).graph.initializer}
    return {name: entries[name] for name in layer.shapes(buffers=True)}


def agrees(layer: ps.Layer, content: bytes, module: Any, given: tuple[Any, ...]) -> None:
    """Check the outputs."""
    with torch.no_grad():
        wanted = results(module(*given))
    found = ps.run(layer, stored(layer, content), *(one.numpy() for one in given))
    for one, other in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
        assert one.shape == tuple(other.shape)
        assert abs(one - other.numpy()).max() < 1e-4 * max(1, abs(other.numpy()).max())


@pytest.mark.parametrize("name", EXPORTED)
def test_fixed_axes(name: str, tmp_path: Path) -> None:
    """FLOPs of both ways as torch's counter, and the same outputs."""
    module, content = exported(name, axes=False)
    layer = loaded(tmp_path, content)
    shapes = MODELS[name].shapes[0]
    if name in COUNTED:
        found = ps.flops(layer, *shapes).total, ps.flops(layer, *shapes, way="both").total
        assert found == counted(module, list(arrays(name)))
    agrees(layer, content, module, arrays(name))


@pytest.mark.parametrize("name", EXPORTED)
def test_named_axes(name: str, tmp_path: Path) -> None:
    """The count; names and shapes of the module's tensors; a formula in letters; FLOPs and outputs at other sizes than the exported."""
    module, content = exported(name, axes=True)
    layer = loaded(tmp_path, content)
    assert layer.count == sum(one.numel() for one in module.parameters()) + MORE.get(name, 0)
    state = module.state_dict()
    shapes = layer.shapes(buffers=True)
    assert all(shapes[key] == tuple(state[key].shape) for key in shapes if key in state)
    assert ps.flops(layer).total.free_symbols
    other = next(number for number in (1, 2, 0) if fits(MODELS[name].shapes[number], MODELS[name].letters))
    if name in COUNTED:
        found = ps.flops(layer, *MODELS[name].shapes[other]).total
        assert found == counted(module, list(arrays(name, other)))[0]
    agrees(layer, content, module, arrays(name, other))


RECURRENT: dict[str, Callable[[], Any]] = {
    "LSTM": lambda: torch.nn.LSTM(3, 4, num_layers=2),
    "LSTM of both directions": lambda: torch.nn.LSTM(3, 4, bidirectional=True),
    "GRU": lambda: torch.nn.GRU(3, 4, bidirectional=True),
    "GRU without biases": lambda: torch.nn.GRU(3, 4, bias=False),
    "RNN": lambda: torch.nn.RNN(3, 4, num_layers=2),
    "RNN of ReLU": lambda: torch.nn.RNN(3, 4, nonlinearity="relu", bidirectional=True),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_operators(name: str, tmp_path: Path) -> None:
    """The outputs of all steps, and the last states, of torch's module; the steps are a letter."""
    torch.manual_seed(0)
    module, given, file = RECURRENT[name]().eval(), torch.randn(5, 2, 3), io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the exporter says about itself
        torch.onnx.export(module, (given,), file, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "steps"}}, opset_version=17)
    layer = loaded(tmp_path, file.getvalue())
    assert layer.count == sum(one.numel() for one in module.parameters())

    def flat(x: Any) -> list[Any]:  # an LSTM has two states, in a tuple of their own
        output, state = module(x)
        return [output, *results(state)]

    for steps in (5, 3):
        agrees(layer, file.getvalue(), flat, (torch.randn(steps, 2, 3),))


@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        *((kind, ["", "x"], "with lengths") for kind in ("LSTM", "GRU", "RNN")),
        ("LSTM", ["", "", "", "", "x"], "with peepholes"),
        *((kind, ["", "", "", "x"], "a second state") for kind in ("GRU", "RNN")),
        ("GRU", [], "resets before the product"),
    ],
)
def test_refused_recurrent_operators(kind: str, more: list[str], words: str, tmp_path: Path) -> None:
    """What the cells of the layers do not compute is refused; RNNs of ONNX have one state."""
    given = {"linear_before_reset": 1} if kind == "GRU" and more else {}
    layer = loaded(tmp_path, model([helper.make_node(kind, ["x", "x", "x", *more], ["y"], **given)], x=[5, 2, 3]))
    with pytest.raises(NotYetError, match=words):
        ps.flops(layer)


def fits(shapes: Any, letters: Any) -> bool:
    """Whether shapes have the axes that a file fixes."""
    return all(
        len(one) == len(other) and all(axis == size or isinstance(axis, str) for size, axis in zip(one, other, strict=True))
        for one, other in zip(shapes, letters, strict=True)
    )


@pytest.mark.parametrize("name", ["untied minGPT", "ResNet", "point cloud"])
def test_the_exporter_of_programs(name: str, tmp_path: Path) -> None:
    """Files of torch's other exporter, which notes the modules and the kinds of tensors."""
    pytest.importorskip("onnxscript")
    module, given = module_of(name), arrays(name)
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, given, path, dynamo=True, external_data=False, verbose=False, opset_version=18)
    layer = ps.load(path)
    assert ps.flops(layer, *MODELS[name].shapes[0]).total == counted(module, list(given))[0]
    agrees(layer, path.read_bytes(), module, given)


def test_axes_have_the_letters_that_their_names_mean(tmp_path: Path) -> None:
    """The batch and the sequence have the shared letters; other names are kept."""
    content = model([helper.make_node("Relu", ["x"], ["y"])], x=["batch_size", "sequence", "my axis", "2*k", 5])
    layer = loaded(tmp_path, content)
    assert [str(one) for one in ps.output_shape(layer)] == ["B", "S", "my_axis", "2*k", "5"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The shell reads the file, too."""
    module, content = exported("untied minGPT", axes=True)
    loaded(tmp_path, content)
    assert main(["flops", str(tmp_path / "model.onnx"), "--batch", "2", "--positions", "9"]) == 0
    assert f"{counted(module, list(arrays('untied minGPT')))[0]:,}" in capsys.readouterr().out


# Files that cannot be read ---------------------------------------------------------------------------------------------------------


def model(nodes: list[Any], *, tensors: Any = (), outputs: tuple[str, ...] = ("y",), **inputs: Any) -> bytes:
    """Return a file."""
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(nodes, "graph", given, [named(name) for name in outputs], list(tensors))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def weights(name: str = "w", shape: tuple[int, ...] = (2, 2), location: str = "", **more: Any) -> Any:
    """Return a stored tensor, with entries in another file if a location is given."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, **more)
    if location:
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)
    else:
        tensor.raw_data = bytes(16)
    return tensor


def relu(taken: str = "x", given: str = "y", **more: Any) -> Any:
    """Return one operator."""
    return helper.make_node("Relu", [taken], [given], name="one", **more)


def nested(depth: int) -> Any:
    """Return a condition inside conditions."""
    inner = relu("x", f"z{depth}") if depth == 0 else nested(depth - 1)
    then, other = (helper.make_graph([one], "inner", [], [named(one.output[0])]) for one in (inner, relu("x", f"other{depth}")))
    return helper.make_node("If", ["x"], ["y" if depth in {0, 20} else f"z{depth}"], then_branch=then, else_branch=other)


def named(name: str) -> Any:
    """Return what a file says about a result."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def laughing(times: int) -> bytes:
    """Return a file with functions each of which calls the one before it twice."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    functions = [helper.make_function("my", "f0", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], opsets)]
    for number in range(1, times):
        calls = [helper.make_node(f"f{number - 1}", [a], [b], domain="my") for a, b in (("a", "c"), ("c", "b"))]
        functions.append(helper.make_function("my", f"f{number}", ["a"], ["b"], calls, opsets))
    last = helper.make_node(f"f{times - 1}", ["x"], ["y"], domain="my")
    graph = helper.make_graph([last], "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])], [named("y")])
    return helper.make_model(graph, opset_imports=opsets, functions=functions).SerializeToString()


BROKEN: dict[str, Callable[[], bytes]] = {
    "no file of this format": lambda: b"\x80\x04K\x01." * 50,
    "cut off": lambda: model([relu()], x=[2])[:40],
    "empty": lambda: b"",
    "an input that nothing gives": lambda: model([relu("z")], x=[2]),
    "a circle": lambda: model([relu("b", "a"), relu("a", "b"), relu("a")], x=[2]),
    "a name given twice": lambda: model([relu(), relu()], x=[2]),
    "an output that nothing gives": lambda: model([relu()], outputs=("z",), x=[2]),
    "a negative axis": lambda: model([relu()], tensors=[weights(shape=(-2, 2))], x=[2]),
    "entries in a parent folder": lambda: model([relu()], tensors=[weights(location="../secret")], x=[2]),
    "entries in a folder's parent": lambda: model([relu()], tensors=[weights(location="a/../../secret")], x=[2]),
    "entries at an absolute path": lambda: model([relu()], tensors=[weights(location="/etc/passwd")], x=[2]),
    "entries on another drive": lambda: model([relu()], tensors=[weights(location="C:\\secret")], x=[2]),
    "graphs inside graphs": lambda: model([nested(20)], x=[2]),
    "functions of functions": lambda: laughing(40),
    "an axis of no entries": lambda: model([relu()], x=[0]),
    "two tensors of one name": lambda: model([relu()], tensors=[weights(), weights()], x=[2]),
    "entries that do not fit": lambda: model(
        [helper.make_node("Constant", [], ["c"], value=weights("c", (3, 3))), helper.make_node("Add", ["x", "c"], ["y"])], x=[3]
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file(name: str, tmp_path: Path) -> None:
    """One error that names the file."""
    with pytest.raises(CheckpointError, match=r"^model\.onnx"):
        loaded(tmp_path, BROKEN[name]())


def test_a_link_out_of_the_folder(tmp_path: Path) -> None:
    """A file in the folder may be a link to another folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_bytes(bytes(16))
    (inside / "entries").symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointError, match="outside of the folder"):
        loaded(inside, model([relu()], tensors=[weights(location="entries")], x=[2]))


def whole(name: str, *numbers: int) -> Any:
    """Return whole numbers that the file stores."""
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)


UNCOUNTED: dict[str, Callable[[], bytes]] = {
    "an unknown operator": lambda: model([helper.make_node("Abacus", ["x"], ["y"], name="here")], x=[2]),
    "an operator of another domain": lambda: model([helper.make_node("Relu", ["x"], ["y"], name="here", domain="my")], x=[2]),
    "an unknown attribute": lambda: model([helper.make_node("Relu", ["x"], ["y"], name="here", beads=3)], x=[2]),
    "too many inputs": lambda: model([helper.make_node("Relu", ["x", "x"], ["y"], name="here")], x=[2]),
    "a condition on entries": lambda: model([nested(0)], x=[2]),
    "a shape that does not fit": lambda: model([helper.make_node("Reshape", ["x", "s"], ["y"])], tensors=[whole("s", 3, -1)], x=[2, 4]),
    "an axis that is missing": lambda: model([helper.make_node("Softmax", ["x"], ["y"], axis=7)], x=[2, 4]),
    "a huge axis": lambda: model(
        [helper.make_node("ConstantOfShape", ["s"], ["c"]), helper.make_node("Add", ["x", "c"], ["y"])],
        tensors=[whole("s", -5, 1 << 60)],
        x=[2],
    ),
    "a division by zero": lambda: model(
        [helper.make_node("Div", ["s", "z"], ["d"]), helper.make_node("Reshape", ["x", "d"], ["y"])],
        tensors=[whole("s", 4), whole("z", 0)],
        x=[4],
    ),
    "sizes that grow": lambda: model(
        [
            helper.make_node("Shape", ["x"], ["s0"]),
            *(helper.make_node("Mul", [f"s{n}", f"s{n}"], [f"s{n + 1}"]) for n in range(60)),
            helper.make_node("Reshape", ["x", "s60"], ["y"]),
        ],
        x=["a"],
    ),
    "a shape of entries": lambda: model(
        [helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT64), helper.make_node("Reshape", ["x", "i"], ["y"])], x=[2]
    ),
}


@pytest.mark.parametrize("name", UNCOUNTED)
def test_a_computation_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    """One error; the tensors keep their answers."""
    layer = loaded(tmp_path, UNCOUNTED[name]())
    assert layer.count == 0
    with pytest.raises(ParamsymError):
        ps.flops(layer)


def test_functions_are_put_in_place(tmp_path: Path) -> None:
    """A function of the file is what its operators are."""
    assert ps.output_shape(loaded(tmp_path, laughing(4))) == (2,)


def test_a_missing_operator_is_named(tmp_path: Path) -> None:
    """By its name and the name of the node."""
    with pytest.raises(NotYetError, match=r"Abacus \('here'\)"):
        ps.flops(loaded(tmp_path, UNCOUNTED["an unknown operator"]()))


def test_a_large_constant_is_not_made(tmp_path: Path) -> None:
    """Sizes that a file states cost no memory."""
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["c"]), helper.make_node("Add", ["x", "c"], ["y"])]
    layer = loaded(tmp_path, model(nodes, tensors=[whole("s", 1 << 20, 1 << 20)], x=[1]))
    assert ps.output_shape(layer) == (1 << 20, 1 << 20)
