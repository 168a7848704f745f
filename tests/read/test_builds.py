"""What a build computes, in its arguments' letters and the inputs': compared with torch at sizes that were not recorded."""

from __future__ import annotations

import warnings
from functools import cache
from random import Random
from typing import Any

import pytest
from sympy import Expr

import paramsym as ps

torch = pytest.importorskip("torch")

from read.builds import BUILDS, CutTable, Packed  # noqa: E402 - they need torch
from read.comparing import counted, kept, results  # noqa: E402 - they need torch

POINTS = 4
"""Fresh sizes of each build."""


@cache
def form(name: str) -> Any:
    """Return the closed form of a build."""
    return ps.derive(BUILDS[name].build, inputs=BUILDS[name].inputs, seconds=300)


def drawn(name: str, number: int) -> tuple[Any, dict[str, int], list[Any]]:
    """Return a module, its sizes, and inputs for it."""
    chance, build = Random(number), BUILDS[name]
    sizes = build.draw(chance)
    own = {key: value for key, value in sizes.items() if key not in set("BSHW")}
    torch.manual_seed(number)
    module = build.build(**own)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    shapes = [tuple(put(size, sizes) for size in shape) for shape in form(name).inputs.values()]
    return module, sizes, [torch.randint(0, sizes["vocabulary"], shape) if build.index else torch.randn(shape) for shape in shapes]


def put(size: Any, sizes: dict[str, int]) -> int:
    """Return a size with numbers for its letters."""
    return int(size.subs({symbol: sizes[symbol.name] for symbol in size.free_symbols})) if isinstance(size, Expr) else size


@pytest.mark.parametrize("name", BUILDS)
def test_flops(name: str) -> None:
    """Forward and both ways, as torch's counter, in letters and with sizes put in."""
    letters = [ps.flops(form(name)), ps.flops(form(name), way="both")]
    for number in range(POINTS):
        module, sizes, given = drawn(name, number)
        wanted = counted(module, given)
        assert tuple(one.at(**{s.name: sizes[s.name] for s in one.total.free_symbols}).total for one in letters) == wanted, sizes
        own = form(name).at({key: sizes[key] for key, _ in form(name).sizes_taken if any(s.name == key for s in form(name).symbols)})
        shapes = [tuple(one.shape) for one in given]
        assert (ps.flops(own, *shapes).total, ps.flops(own, *shapes, way="both").total) == wanted, sizes


@pytest.mark.parametrize("name", BUILDS)
def test_kept(name: str) -> None:
    """As many bytes for the backward pass as autograd holds."""
    letters = ps.activations(form(name), convention="torch-sdpa-cpu")
    for number in range(POINTS):
        module, sizes, given = drawn(name, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.backends.mkldnn.flags(enabled=False):  # whose LSTM keeps a workspace
                wanted = kept(module, given)
        assert letters.at(**{s.name: sizes[s.name] for s in letters.total.free_symbols}).total == wanted, sizes


@pytest.mark.parametrize("name", BUILDS)
def test_tensors_and_run(name: str) -> None:
    """The same tensors, and the same results from them."""
    for number in range(POINTS):
        module, sizes, given = drawn(name, number)
        own = form(name).at({key: sizes[key] for key, _ in form(name).sizes_taken if any(s.name == key for s in form(name).symbols)})
        state = module.eval().state_dict()
        assert {**own.shapes(buffers=True), **{key: tuple(state[key].shape) for key in own.tied}} == {
            key: tuple(value.shape) for key, value in state.items()
        }
        found = results(ps.run(own, {key: value.numpy() for key, value in state.items()}, *(one.numpy() for one in given)))
        with torch.no_grad():
            wanted = results(module(*given))
        assert [one.shape for one in found] == [tuple(one.shape) for one in wanted]
        for one, other in zip(found, wanted, strict=True):
            assert abs(one - other.numpy()).max() < 1e-3 * max(1, abs(other.numpy()).max())


@pytest.mark.parametrize("inputs", [3, "BS", [], ("B", 0), ("B", 1.5), {"x": 3}, {1: ("B", "S")}, ("B", "S", "+")])
def test_inputs_that_are_no_shapes(inputs: Any) -> None:
    """One error says what was found and what is wanted."""
    with pytest.raises(ps.ParamsymError, match=r"inputs|expression|size"):
        ps.derive(BUILDS["Mixer"].build, inputs=inputs)


def test_sizes_of_one() -> None:
    """Other operators at sizes of 1 limit the form in letters; at these sizes, the module itself is recorded."""
    packed = ps.derive(lambda width=6: Packed(width), inputs=("B", "S", "width"), seconds=300)
    assert "for 2 <= B or 2 <= S, elsewhere the module itself is recorded" in str(packed.certificate)
    for b, s, width in ((1, 1, 5), (1, 4, 3), (4, 1, 2), (3, 3, 1)):
        found = ps.activations(packed.at(width=width), (b, s, width), convention="torch-eager-cpu").total
        assert found == kept(Packed(width), [torch.randn(b, s, width)]), (b, s, width)


def test_inputs_that_the_module_does_not_take() -> None:
    """The error shows the shapes that were tried, and names the argument that states them."""
    with pytest.raises(ps.ParamsymError, match=r"Its inputs were \(3, 10, 11\); state with inputs=\.\.\. the shapes that it takes\.$"):
        ps.derive(lambda width=6: Packed(width), inputs=("B", "S", "T"))


def test_a_table_that_is_cut_needs_a_held_length() -> None:
    """One position is added to all of them, by another law; the error says what to hold, and then the form is found."""
    inputs = ("B", "S", "width")
    with pytest.raises(ps.ParamsymError, match="Hold an argument of the build, held="):
        ps.derive(lambda width=6, positions=32: CutTable(width, positions), inputs=inputs)
    form = ps.derive(lambda width=6, positions=32: CutTable(width, positions), inputs=inputs, held={"positions": 128})
    assert ps.output_shape(form.at(width=8), (2, 16, 8)) == (2, 16, 8)
