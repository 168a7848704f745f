"""Single operators of torch on random shapes: outputs, FLOPs and kept bytes as torch has them."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies

import paramsym as ps

torch = pytest.importorskip("torch")

from read.comparing import counted, kept, results  # noqa: E402 - they need torch
from read.operator_forms import FORMS, Form  # noqa: E402 - they need torch

DRAWS = int(os.environ.get("OPERATOR_RUNS", "4"))
ROLES = ("input", "parameter", "activation")


class Computed(torch.nn.Module):
    """A function of arrays that are inputs, parameters, or inputs to which a parameter is added."""

    def __init__(self, function: Callable[..., Any], arrays: list[Any], roles: list[str]) -> None:
        """Keep the arrays that are parameters."""
        super().__init__()
        self.function, self.roles = function, roles
        self.stored = torch.nn.ParameterList(one for one, role in zip(arrays, roles, strict=True) if role == "parameter")
        if "activation" in roles:
            self.shift = torch.nn.Parameter(torch.zeros(()))

    def forward(self, *given: Any) -> Any:
        """Apply the function."""
        left, stored = iter(given), iter(self.stored)
        taken = [next(stored) if role == "parameter" else next(left) for role in self.roles]
        return self.function(*(one + self.shift if role == "activation" else one for one, role in zip(taken, self.roles, strict=True)))


def size(axis: str, letters: dict[str, int]) -> int:
    """Return the size of an axis, a number or a letter as in "2*a+1"."""
    factor, letter, more = re.fullmatch(r"(?:(\d+)\*)?([a-z]|\d+)(?:\+(\d+))?", axis).groups()  # type: ignore[union-attr]
    return int(factor or 1) * (int(letter) if letter.isdecimal() else letters[letter]) + int(more or 0)


def array(stated: str, letters: dict[str, int]) -> Any:
    """Return a random array of a form."""
    kind, axes = stated.split(":")
    shape = tuple(size(axis, letters) for axis in axes.split())
    if kind.startswith("i"):
        return torch.randint(0, size(kind[1:], letters), shape)
    entries = torch.randn(shape)
    return entries > 0 if kind == "t" else entries.abs() + 0.1 if kind in "pv" else entries


def kind(array: Any) -> str:
    """Return the kind of the entries of an array of torch."""
    if array.is_complex():
        return "complex"
    return "truth" if array.dtype == torch.bool else "float" if array.is_floating_point() else "index"


def drawn(form: Form, data: strategies.DataObject) -> tuple[Any, list[Any]]:
    """Return a module for a form, and inputs for it."""
    names = sorted(set(re.findall(r"[a-z]", " ".join(one.partition(":")[2] for one in form.arrays))))
    letters = {name: data.draw(strategies.integers(1, 4), label=name) for name in names}
    torch.manual_seed(data.draw(strategies.integers(0, 9), label="seed"))
    arrays = [array(one, letters) for one in form.arrays]
    if form.build is not None:
        return form.build().train(form.training), arrays
    kinds = [one[0] for one in form.arrays]
    roles = [data.draw(strategies.sampled_from(ROLES)) if one in "fp" else "parameter" if one in "wv" else "input" for one in kinds]
    roles = roles if "input" in roles or "activation" in roles else ["activation", *roles[1:]]
    module = Computed(form.function, arrays, roles)  # type: ignore[arg-type]
    return module.train(form.training), [one for one, role in zip(arrays, roles, strict=True) if role != "parameter"]


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=DRAWS, derandomize=True, database=None)
@given(data=strategies.data())
def test_operator(name: str, data: strategies.DataObject) -> None:
    """Shapes, entries, FLOPs forward and both ways, and kept bytes."""
    form = FORMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, arrays = drawn(form, data)
        layer = ps.from_module(module, *arrays)
        with torch.no_grad():
            wanted = [one.detach() for one in results(module(*(one.clone() for one in arrays)))]
        tensors = {key: value.numpy() for key, value in module.state_dict().items()}
        shapes = tuple(tuple(one.shape) for one in arrays)
        types = ps.trace(layer, *shapes).output_types
        assert [(one.sizes, one.kind) for one in types] == [(tuple(one.shape), kind(one)) for one in wanted]
        if form.ran:
            found = ps.run(layer, tensors, *(one.numpy() for one in arrays))
            for one, other in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
                assert one.dtype.kind == other.numpy().dtype.kind
                torch.testing.assert_close(torch.tensor(one.copy()).to(other.dtype), other, rtol=1e-4, atol=1e-4, equal_nan=True)
        if any(one.requires_grad for one in results(module(*arrays))):
            ways = {"nothing": slice(0), "forward": slice(1), "backward": slice(1, 2), "both": slice(2)}[form.counted]
            work = [ps.flops(layer, *shapes, way=way).total for way in ("forward", "backward")]
            forward, both = counted(module, arrays)
            assert work[ways] == [forward, both - forward][ways]
            if form.kept:
                assert ps.activations(layer, *shapes, convention="torch-sdpa-cpu").total == kept(module, arrays)


@settings(max_examples=10 * DRAWS, derandomize=True, database=None, deadline=None)
@given(data=strategies.data())
def test_einsums(data: strategies.DataObject) -> None:
    """The kept bytes of Einstein sums of any letters: torch sums in the order of the letters, and copies a factor with another order."""
    letters = data.draw(strategies.permutations("abcxyzABCXYZ").map(lambda one: one[:5]), label="letters")
    sizes = {letter: data.draw(strategies.integers(1, 4), label=letter) for letter in letters}
    term = strategies.permutations(letters).flatmap(lambda one: strategies.integers(2, 4).map(lambda rank: one[:rank]))
    terms = data.draw(strategies.lists(term, min_size=2, max_size=3), label="terms")
    used = sorted({letter for term in terms for letter in term})
    output = data.draw(strategies.permutations(used).flatmap(lambda one: strategies.integers(1, len(one)).map(lambda rank: one[:rank])))
    equation = f"{','.join(map(''.join, terms))}->{''.join(output)}"
    arrays = [torch.randn([sizes[letter] for letter in term]) for term in terms]
    module = Computed(lambda *given: torch.einsum(equation, *given), arrays, ["activation", *["parameter"] * (len(arrays) - 1)])
    layer = ps.from_module(module, arrays[0])
    assert ps.activations(layer, tuple(arrays[0].shape), convention="torch-eager-cpu").total == kept(module, arrays[:1]), equation
