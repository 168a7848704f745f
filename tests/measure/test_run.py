"""Running a forward pass on arrays: values by hand, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import H
from paramsym.errors import ArgumentError, NotYetError, ShapeError, SizeError
from paramsym.program.conversions import cast
from paramsym.program.types import Kind

TENSORS = {"weight": [[1.0, 2.0]], "bias": [0.5]}


def test_a_dense_layer_by_hand() -> None:
    """1*3 + 2*4 + 0.5 = 11.5."""
    imported("numpy")
    assert ps.run(ps.Dense(2, 1), TENSORS, [[3.0, 4.0]]).tolist() == [[11.5]]


def test_what_is_refused() -> None:
    """Tensors and arrays that do not fit, letters, and a layer without a forward pass."""
    imported("numpy")
    with pytest.raises(ArgumentError, match="bias"):
        ps.run(ps.Dense(2, 1), {"weight": [[1.0, 2.0]]}, [[3.0, 4.0]])
    with pytest.raises(ArgumentError, match="weight"):
        ps.run(ps.Dense(2, 1), TENSORS | {"weight": [[1.0], [2.0]]}, [[3.0, 4.0]])
    with pytest.raises(ShapeError, match="3 entries; wanted 2"):
        ps.run(ps.Dense(2, 1), TENSORS, [[3.0, 4.0, 5.0]])
    with pytest.raises(SizeError, match="no numbers for H"):
        ps.run(ps.Dense(H, 1), TENSORS, [[3.0, 4.0]])
    with pytest.raises(NotYetError, match="Block"):
        ps.run(ps.Block(a=ps.Dense(2, 1)), {f"a.{name}": tensor for name, tensor in TENSORS.items()}, [[3.0, 4.0]])


def test_inputs_by_name() -> None:
    """The names are those of the model's inputs; each class of a model has its own."""
    xp = imported("numpy")
    small = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8}
    config = {
        "model_type": "clip",
        "projection_dim": 4,
        "text_config": {**small, "vocab_size": 9, "max_position_embeddings": 7},
        "vision_config": {**small, "image_size": 8, "patch_size": 4},
    }
    model = ps.from_config(config, "CLIPModel")
    tensors = {name: xp.ones(shape) for name, shape in model.shapes(buffers=True).items()}
    ids, pixels = xp.zeros((2, 5), int), xp.ones((1, 3, 8, 8))
    in_order = ps.run(model, tensors, ids, pixels)
    assert [one.tolist() for one in ps.run(model, tensors, pixel_values=pixels, input_ids=ids)] == [one.tolist() for one in in_order]
    seeing = ps.from_config(config, "CLIPForImageClassification")
    tensors = {name: xp.ones(shape) for name, shape in seeing.shapes(buffers=True).items()}
    assert ps.run(seeing, tensors, pixel_values=pixels).shape == (1, 2)
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, r"wanted 1 input \(pixel_values\); found 0"),
        ({"input_ids": ids}, "no input 'input_ids'; it takes pixel_values"),
        ({"pixel_values": [[1.0], [2.0, 3.0]]}, "pixel_values is not an array"),
        ({"pixel_values": "an image"}, "pixel_values is 'an image'"),
    )
    for named, words in refused:
        with pytest.raises(ArgumentError, match=words):
            ps.run(seeing, tensors, **named)
    with pytest.raises(ArgumentError, match="'pixel_values' twice"):
        ps.run(seeing, tensors, pixels, pixel_values=pixels)
    with pytest.raises(
        ShapeError, match=r"CLIPModel, given input_ids \(2, 5\), pixel_values \(1, 4, 8, 8\): axis 1 \(channels\) is 4; wanted 3"
    ):
        ps.trace(model, input_ids=(2, 5), pixel_values=(1, 4, 8, 8))


def test_tensors_that_do_not_fit() -> None:
    """What a layer does not store, what is missing, and what is no array; numbers of rows that a table does not have."""
    imported("numpy")
    for tensors, words in (
        ({**TENSORS, "other": [1.0]}, "does not store 'other'"),
        ({}, "'weight', 'bias'"),
        (None, "the tensors are None"),
        ({**TENSORS, "weight": [[1.0], [2.0]]}, r"'weight' has shape \(2, 1\); Dense stores \(1, 2\), its axes in another order"),
        ({**TENSORS, "bias": [[1.0], [2.0, 3.0]]}, "the tensor 'bias' is not an array"),
    ):
        with pytest.raises(ArgumentError, match=words):
            ps.run(ps.Dense(2, 1), tensors, [[3.0, 4.0]])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="the buffer 'running_mean'"):
        ps.run(ps.BatchNorm1d(1, affine=False), {}, [[3.0]])
    net = ps.Sequential(words=ps.Embedding(3, 1))
    for index, found in (([3], "int64 from 3 to 3"), ([-1], "int64 from -1 to -1"), ([0.5], "float64 from 0.5 to 0.5")):
        with pytest.raises(ArgumentError, match=f"words.lookup: the positions are {found}; wanted whole numbers from 0 to 2"):
            ps.run(net, {"words.weight": [[1.0], [2.0], [3.0]]}, index)
    many = ps.Sequential(*(ps.Dense(1, 1, bias=False) for _ in range(5)))
    with pytest.raises(ArgumentError, match=r"'0\.weight', '1\.weight', '2\.weight' and 2 more"):
        ps.run(many, {}, [[3.0]])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bool", "float32", "complex128"])
def test_the_kind_of_an_input_is_that_of_its_array(dtype: str) -> None:
    """A conversion to the kind that an array has leaves it as it is, and its precision, too."""
    xp = imported("numpy")
    kinds: dict[str, Kind] = {"uint8": "index", "int32": "index", "bool": "truth", "float32": "float", "complex128": "complex"}

    @dataclass(frozen=True)
    class Converts(ps.Layer):
        def forward(self, own: Any, x: Any) -> Any:  # noqa: ARG002 - it stores nothing
            return cast(x, kinds[dtype])

    array = xp.array([0, 1, 1]).astype(dtype)
    found = ps.run(Converts(), {}, array)
    assert (found.dtype, found.tolist()) == (array.dtype, array.tolist())


def test_the_largest_of_whole_numbers_and_of_booleans() -> None:
    """A window at the edge has only the entries inside, also of arrays whose entries cannot be infinite."""
    xp = imported("numpy")
    layer = ps.MaxPool1d(3, stride=2, padding=1)
    assert ps.run(layer, {}, [[[-7, -5, -9, -4, -8]]]).tolist() == [[[-5, -4, -4]]]
    assert ps.run(layer, {}, xp.array([[[0, 3, 2, 9, 1]]], dtype="uint8")).tolist() == [[[3, 9, 9]]]
    assert ps.run(layer, {}, [[[False, False, False, True, False]]]).tolist() == [[[False, True, True]]]


@pytest.mark.parametrize(
    ("layer", "tensors", "array", "words"),
    [
        (ps.RMSNorm(2), {"weight": [1.0, 1.0]}, [[1, 2]], "normalise rms is not defined for entries of int64"),
        (ps.Sigmoid(), {}, [[True, False]], "sigmoid is not defined for entries of bool"),
    ],
    ids=["RMSNorm", "Sigmoid"],
)
def test_whole_numbers_for_a_function_of_real_ones(layer: ps.Layer, tensors: Any, array: Any, words: str) -> None:
    """NumPy's own refusal becomes one sentence that says what to write."""
    imported("numpy")
    with pytest.raises(ArgumentError, match=rf"^{words}: .*\. Write array\.astype\(float\)\.$"):
        ps.run(layer, tensors, array)
