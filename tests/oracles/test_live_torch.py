"""torch.nn itself, where it is installed: a certificate per layer and flags, and sampled sizes that no grid holds."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from frameworks import only_with
from oracles.certified import ASKED, ELSEWHERE, NO_LAYERS, WANTED, Row, rows
from oracles.instances import builder, label

import paramsym as ps
from paramsym import A, F, H, L
from paramsym.errors import RefutedError
from paramsym.testing import certify

only_with("torch")

ROWS = rows()
every_row = pytest.mark.parametrize("row", ROWS, ids=label)


@pytest.fixture
def on_meta() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a wrapper that builds torch modules without memory for their weights."""
    torch = pytest.importorskip("torch")

    def wrapped(make: Callable[..., Any]) -> Callable[..., Any]:
        def build(**sizes: int) -> Any:
            with torch.device("meta"):
                return make(**sizes)

        return build

    return wrapped


def torch_builder(row: Row) -> Callable[..., Any]:
    """Return a builder of torch's own layer."""
    torch = pytest.importorskip("torch")
    name, arguments = row
    return builder(getattr(torch.nn, name), arguments)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@every_row
def test_certificate(row: Row, on_meta: Callable[..., Any]) -> None:
    """Names, every axis and the count are torch's on every valid size."""
    name, arguments = row
    proof = certify(getattr(ps, name)(**arguments), on_meta(torch_builder(row)))
    assert proof.compared == "tensors"
    assert "torch" in proof.versions
    assert proof.lattice.whole
    assert not proof.lattice.left


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@every_row
def test_sampled_sizes(row: Row, on_meta: Callable[..., Any]) -> None:
    """Sizes far from the grid, drawn by Hypothesis, agree as well."""
    pytest.importorskip("hypothesis")
    from paramsym.testing import check_against

    name, arguments = row
    copies = {symbol.name: 4 for value in arguments.values() for symbol in getattr(value, "free_symbols", ()) if symbol.name in "LNKST"}
    layer = getattr(ps, name)(**arguments)
    largest = {symbol.name: copies.get(symbol.name, 200) for symbol in layer.symbols}
    check_against(layer, on_meta(torch_builder(row)), examples=8, largest=largest)


def test_every_layer_of_torch_is_certified(on_meta: Callable[..., Any]) -> None:
    """A class that torch adds, or that nobody thought of, shows here; what has no row stores nothing, in torch and here."""
    torch = pytest.importorskip("torch")
    classes = {name: thing for name, thing in vars(torch.nn).items() if isinstance(thing, type) and issubclass(thing, torch.nn.Module)}
    stated = {name for name in classes if hasattr(ps, name)}
    absent = {name for name in classes.keys() - stated if not re.search(r"Loss(2d)?$", name) and name.removeprefix("Lazy") not in stated}
    assert absent == NO_LAYERS.keys()
    certified = {name for name, _ in ROWS} | ELSEWHERE.keys()
    assert certified <= stated
    for name in sorted(stated - certified):
        arguments = inspect.signature(classes[name]).parameters
        required = {
            key: WANTED[key] for key in arguments if key in WANTED and (arguments[key].default is inspect.Parameter.empty or key in ASKED)
        }
        layer = getattr(ps, name)(**required)
        assert certify(layer, on_meta(builder(classes[name], required))).compared == "tensors", name
        assert not layer.lines, f"{name} stores something: it needs a row"


@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
def test_stacks_of_blocks(kind: str, on_meta: Callable[..., Any]) -> None:
    """The stacks take a block, a number and a final norm."""
    torch = pytest.importorskip("torch")
    block = getattr(ps, f"Transformer{kind}Layer")(H, A, F)

    def make(A: int, F: int, H: int, L: int) -> Any:
        inner = getattr(torch.nn, f"Transformer{kind}Layer")(H, A, F, batch_first=True)
        options = {"enable_nested_tensor": False} if kind == "Encoder" else {}
        return getattr(torch.nn, f"Transformer{kind}")(inner, L, norm=torch.nn.LayerNorm(H), **options)

    layer = getattr(ps, f"Transformer{kind}")(block, L, norm=ps.LayerNorm(H))
    assert certify(layer, on_meta(make)).compared == "tensors"


def test_a_module_and_its_state_dict_say_the_same() -> None:
    """Aliases are seen in a module by identity, in a state dict by memory, and not at all on the meta device."""
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
    module[1].weight = module[0].weight
    loose = ps.Sequential(ps.Embedding(5, 3), ps.Dense(3, 5, bias=False))
    tied = ps.Tied(loose, {"1.weight": "0.weight"})
    for source in (module, module.state_dict()):
        assert ps.match(tied, source).ok
        assert ps.match(loose, source).mismatched == ("1.weight",)
    apart = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
    for source in (apart, apart.state_dict()):
        assert ps.match(loose, source).ok
        assert ps.match(tied, source).mismatched == ("1.weight",)
    assert ps.match(loose, module.to("meta").state_dict()).ok


def test_buffers_must_be_there_in_a_module() -> None:
    """A live module keeps back nothing: running statistics are there or they are not."""
    torch = pytest.importorskip("torch")
    norm = ps.BatchNorm1d(5)
    assert ps.match(norm, torch.nn.BatchNorm1d(5)).ok
    assert "running_mean" in ps.match(norm, torch.nn.BatchNorm1d(5, track_running_stats=False)).missing
    plain = ps.BatchNorm1d(5, track_running_stats=False)
    assert ps.match(plain, torch.nn.BatchNorm1d(5)).unexpected == ("running_mean", "running_var", "num_batches_tracked")


def test_a_parameter_is_no_buffer() -> None:
    """Equal names and shapes, but one is trained and counted and the other is not."""
    torch = pytest.importorskip("torch")
    module = torch.nn.Module()
    module.register_buffer("weight", torch.zeros(3, 2))
    found = ps.match(ps.Dense(2, 3, bias=False), module)
    assert found.mismatched == ("weight",)
    assert "a buffer here" in str(found)


def test_a_lazy_module_must_be_run_first() -> None:
    """A lazy layer has no shapes yet, and that is said."""
    torch = pytest.importorskip("torch")
    with pytest.raises(ps.errors.ArgumentError, match="run the lazy module once"):
        ps.match(ps.Dense(2, 3), torch.nn.LazyLinear(3))


def test_a_wrong_flag_is_refuted_by_name() -> None:
    """A bias that torch has and the formula has not."""
    torch = pytest.importorskip("torch")
    with pytest.raises(RefutedError, match="bias"):
        certify(ps.Dense(H, F, bias=False), lambda F, H: torch.nn.Linear(H, F))
