"""``certify_run`` passes what agrees with its reference, and refutes what does not."""

from __future__ import annotations

import math
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import B, F, H
from paramsym.errors import ArgumentError, RefutedError
from paramsym.testing import certify_run


def test_a_function_as_the_reference() -> None:
    """The product x W' + b, of the tensors by their names; the bias forgotten is found."""
    imported("numpy")

    def right(H: int, F: int) -> Any:
        assert H > 0 < F
        return lambda tensors, x: x @ tensors["weight"].T + tensors["bias"]

    def wrong(H: int, F: int) -> Any:
        assert H > 0 < F
        return lambda tensors, x: x @ tensors["weight"].T

    assert "5 runs agree" in str(certify_run(ps.Dense(H, F), right, (B, H)))
    with pytest.raises(RefutedError, match="Dense"):
        certify_run(ps.Dense(H, F), wrong, (B, H))
    with pytest.raises(ArgumentError):
        certify_run(ps.Dense(H, F), lambda H, F: H + F, (B, H))


def test_a_module_as_the_reference() -> None:
    """A live torch module takes the same tensors."""
    torch = imported("torch")
    imported("numpy")
    args = ps.dims("in_features out_features")
    assert "5 runs agree" in str(certify_run(ps.Dense(*args), torch.nn.Linear, (B, args[0])))


def test_inputs_that_select_rows() -> None:
    """Numbers of tokens stay below the number of rows; a model's own inputs are taken where none are given."""
    imported("numpy")

    def twice(F: int, H: int) -> Any:
        assert F > 0 < H
        return lambda tensors, ids: tensors["words.weight"][ids] @ tensors["head.weight"].T

    net = ps.Sequential(words=ps.Embedding(F, H), head=ps.Dense(H, F, bias=False))
    assert "2 runs agree" in str(certify_run(net, twice, (B, 3), times=2))
    with pytest.raises(ArgumentError, match="does not state its inputs"):
        certify_run(net, twice)


def test_a_module_that_selects_rows() -> None:
    """Torch's table takes whole numbers, too."""
    torch = imported("torch")
    assert "5 runs agree" in str(certify_run(ps.Embedding(*ps.dims("num_embeddings embedding_dim")), torch.nn.Embedding, (B, 3)))


def test_statistics_by_their_formula() -> None:
    """A variance is positive, so that its root is a number."""
    xp = imported("numpy")
    width = ps.dims("num_features")

    def scaled(num_features: int) -> Any:
        assert num_features > 0
        return lambda tensors, x: (
            (x - tensors["running_mean"]) / xp.sqrt(tensors["running_var"] + 1e-5) * tensors["weight"] + tensors["bias"]
        )

    assert "5 runs agree" in str(certify_run(ps.BatchNorm1d(width), scaled, (B, width)))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: (x, x), "the reference returns 2 arrays; Identity returns 1"),
        (lambda x: x[:, :1], r"output 0 of the reference has shape \(\d, 1\); that of Identity \(\d, 3\)"),
        (lambda x: x * 2, "output 0 differs from the reference by 5.0e-01 of its largest entry"),
        (lambda x: x.reshape(0, 5), "the reference raised ValueError"),
    ],
)
def test_other_answers_are_refuted(answer: Any, words: str) -> None:
    """What differs, and by how much."""
    imported("numpy")
    with pytest.raises(RefutedError, match=words):
        certify_run(ps.Identity(), lambda: lambda _, x: answer(x), (B, 3))


def test_a_module_with_statistics() -> None:
    """A variance is positive."""
    torch = imported("torch")
    imported("numpy")
    width = ps.dims("num_features")
    assert "5 runs agree" in str(certify_run(ps.BatchNorm1d(width), torch.nn.BatchNorm1d, (B, width)))


def test_a_module_with_other_names() -> None:
    """The names that only one side has are listed."""
    torch = imported("torch")
    imported("numpy")
    named = ps.Sequential(up=ps.Dense(H, F))
    words = r"stores what the layer does not: 0\.weight, 0\.bias; .* the module does not: up\.weight, up\.bias"
    with pytest.raises(RefutedError, match=words):
        certify_run(named, lambda H, F: torch.nn.Sequential(torch.nn.Linear(H, F)), (B, H))
    with pytest.raises(ArgumentError, match="wanted a function that takes the sizes and returns a module"):
        certify_run(named, torch.nn.Linear(2, 3), (B, H))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "layer": ({"layer": 3}, "3"),
    "build": ({"build": {"weight": (2, 3)}}, "build is {'weight': "),
    "arguments": ({"build": lambda width: width}, "cannot be called as build"),
    "times": ({"times": 0}, "times is 0 .* from 1 on"),
    "seed": ({"seed": "x"}, "seed is 'x'"),
    "tolerance": ({"tolerance": math.nan}, "tolerance is nan"),
    "two in one": ({"shape": ((2, H), (2, H))}, "wanted one shape"),
    "unknown extent": ({"shape": (None, H)}, "wanted one shape whose sizes are known"),
    "no shape": ({"shape": 3}, "input_shape is 3"),
    "an input that does not fit": ({"shape": (B, H + 1)}, "Dense: the last axis has"),
    "a reference that fails": ({"build": int}, "the reference raised TypeError"),
    "no arrays": ({"build": lambda H, F: lambda tensors, x: {}}, "output 0 of the reference has shape"),  # noqa: ARG005 - the layer's
}


@pytest.mark.parametrize(("changed", "words"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_run(changed: dict[str, Any], words: str) -> None:
    """Each argument is looked at before anything is run."""
    imported("numpy")
    options: dict[str, Any] = {"layer": ps.Dense(H, F), "build": lambda H, F: lambda tensors, x: x, "shape": (B, H)} | changed  # noqa: ARG005
    with pytest.raises(ps.ParamsymError, match=words):
        certify_run(options.pop("layer"), options.pop("build"), options.pop("shape"), **options)
