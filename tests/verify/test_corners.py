"""The rare ends of verification: what is refused, and what is said about it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from frameworks import imported
from sympy import Max, Mod, floor

import paramsym as ps
from paramsym import A, C, E, F, G, H, K, L, V, per
from paramsym.algebra.polynomial import Polynomial
from paramsym.errors import ArgumentError, CheckpointError, NotYetError, StructureError
from paramsym.testing import certify, check_against
from paramsym.verify.degrees import Movement, movement
from paramsym.verify.infer import infer
from paramsym.verify.lattice import lattice
from paramsym.verify.readers import read


def test_degrees_of_steps() -> None:
    """Nested floors multiply their classes; a remainder has none but its classes."""
    assert movement([Polynomial.of(floor((floor(H / 2) + 1) / 3) * F)], H) == Movement(1, 6)
    assert movement([Polynomial.of(Mod(H, 4) + H)], H) == Movement(1, 4)
    assert movement([Polynomial.of(floor(A * H / 16))], A) == Movement(1, 16)
    assert Movement(2, 3).values == 9
    for never in (1 / H, 2**H, Max(H, F), floor(F / H)):
        with pytest.raises(NotYetError, match="prove nothing"):
            movement([Polynomial.of(never)], H)


def test_sizes_from_quotients_and_falling_formulas() -> None:
    """A quotient is solved; what falls and has more than one term is not guessed."""
    layer = ps.Block(whole=ps.Dense(H, 1, bias=False), share=ps.Dense(per(H, A), 1, bias=False))
    shapes = {"whole.weight": (1, 12), "share.weight": (1, 4)}
    assert infer(layer, shapes).sizes == {H: 12, A: 3}
    falling = ps.Dense(per(12, A) + per(36, A**2), 1, bias=False)
    assert infer(falling, {"weight": (1, 48)}).sizes == {}
    assert ps.match(falling, {"weight": (1, 48)}).ok


def test_a_last_block_that_stores_nothing_leaves_the_depth_open() -> None:
    """One or two blocks: the names are the same, and that is said."""
    found = ps.match(ps.Repeat((ps.Dense(H, H), ps.Flatten()), L), {"0.weight": (3, 3), "0.bias": (3,)})
    assert found.ok
    assert found.sizes == {H: 3, L: 1}
    assert "do not determine L" in str(found)


def test_sizes_that_no_number_solves() -> None:
    """Three times something is not ten."""
    assert infer(ps.Dense(3 * H, 1, bias=False), {"weight": (1, 10)}).sizes == {}
    assert infer(ps.Dense(H**2, 1, bias=False), {"weight": (1, 9)}).sizes == {H: 3}
    assert infer(ps.Dense(H**2, 1, bias=False), {"weight": (1, 10)}).sizes == {}


def test_two_conditions_on_one_symbol() -> None:
    """Divisors of two numbers are those of both; at most two numbers, at most the smaller."""
    layer = ps.Block(a=ps.MultiHeadAttention(12, A), b=ps.MultiHeadAttention(18, A))
    assert lattice(layer).coordinates[0].choices == (1, 2, 3, 6)
    experts = ps.Block(a=ps.Repeat(ps.Dense(1, 1), 5, used=K), b=ps.Repeat(ps.Dense(1, 1), 3, used=K))
    assert lattice(experts).coordinates[0].choices == (1, 2, 3)
    product = ps.Repeat(ps.Dense(1, 1), A * G, used=K)
    assert [condition.kind for condition in lattice(product).left] == ["at most"]
    assert "accepts (K <= A*G)" in certify(product, lambda **found: product.at(found)).reach


def test_a_divisor_among_given_numbers_stays_a_condition() -> None:
    """A width that divides two fixed ones, and is divided itself."""
    layer = ps.Block(a=ps.MultiHeadAttention(12, A), b=ps.GroupNorm(G, A))
    assert lattice(layer).left or lattice(layer).whole
    check_against(layer, lambda A, G: layer.at(A=A, G=G))


def test_no_grid_is_said_with_the_first_refusal() -> None:
    """Where the layer never has two sizes of a kind, nothing can be proven."""
    layer = ps.MultiHeadAttention(12, A)
    assert certify(layer, lambda A: layer.at(A=A)).instances == 2


def test_a_builtin_is_called_without_looking() -> None:
    """Some callables have no signature; what they raise is shown."""
    with pytest.raises(AssertionError, match="build raised TypeError"):
        check_against(ps.Dense(H, F), min)


def test_an_alias_that_a_module_does_not_have() -> None:
    """A live module names every alias; a layer that ties one more is wrong."""
    tied = ps.Tied(ps.Block(wte=ps.Embedding(V, H), head=ps.Dense(H, V, bias=False)), {"head.weight": "wte.weight"}).at(V=3, H=2)
    assert ps.match(tied, ps.Block(wte=ps.Embedding(3, 2))).missing == ("head.weight",)


def test_packed_beside_plain_and_of_other_bits() -> None:
    """Only what is packed is unpacked; eight bits where four do not come out even."""
    shapes = {"a.qweight": (24, 8), "a.qzeros": (1, 1), "a.scales": (3, 8), "b.weight": (2, 8), "c.qweight": (5, 5)}
    found = read(shapes)
    assert found.shapes == {"a.weight": (8, 192), "b.weight": (2, 8), "c.qweight": (5, 5)}
    assert read({"qweight": (7, 8), "scales": (5, 8)}).shapes == {"weight": (8, 56)}
    assert read({"qweight": (8, 8), "scales": (2, 8)}).shapes == {"weight": (8, 64)}
    assert read(found) is found


def test_names_that_meet_in_a_tree() -> None:
    """A dotted key and a nested one may be the same name; both cannot be kept."""
    with pytest.raises(CheckpointError, match="occurs twice in the tree"):
        read({"a.b": (1,), "a": {"b": (1,)}})
    with pytest.raises(CheckpointError, match="occurs twice in the tree"):
        read({"params": {"a": (1,)}, "batch_stats": {"a": (1,)}})


def test_by_order_pairs_places() -> None:
    """Leftovers keep their names; a table and an order exclude each other."""
    assert ps.match(ps.Dense(2, 3), {"x": (3, 2), "y": (3,)}, by="order").ok
    assert ps.match(ps.Dense(2, 3), {"x": (3, 2), "y": (3,), "z": (1,)}, by="order").unexpected == ("z",)
    with pytest.raises(ArgumentError, match="with a renaming table"):
        ps.match(ps.Dense(2, 3), {}, by="order", rename={})
    with pytest.raises(ArgumentError, match="by is 'size'"):
        ps.match(ps.Dense(2, 3), {}, by="size")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"by is \{\}"):
        ps.match(ps.Dense(2, 3), {}, by={})  # type: ignore[arg-type]


def test_without_safetensors_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear error where the package is not there."""
    path = tmp_path / "model.safetensors"
    path.write_bytes((2).to_bytes(8, "little") + b"{}")
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ArgumentError, match=r"paramsym\[safetensors\]"):
        ps.match(ps.Dense(C, L), path)


def test_modules_that_are_none() -> None:
    """One that contains itself, and an object with the words of Keras and nothing behind them."""
    torch = imported("torch")
    itself = torch.nn.Sequential(torch.nn.Linear(2, 3))
    itself.append(itself)
    with pytest.raises(StructureError, match="Sequential contains itself"):
        ps.match(ps.Dense(2, 3), itself)
    pretender = type("Pretender", (), {"trainable_weights": None, "weights": None})()
    with pytest.raises(ArgumentError, match=r"there are no tensors in .*Pretender"):
        ps.match(ps.Dense(2, 3), pretender)


def test_slices_stored_apart_are_put_together() -> None:
    """Experts one by one in the file, stacked in the layer; one that is missing or differs is named."""
    layer = ps.Parameter((E, F, H))
    table = {"experts.{}.w": "weight[{}]"}
    shapes = {f"experts.{number}.w": (3, 2) for number in range(4)}
    found = ps.match(layer, shapes, rename=table)
    assert found.ok
    assert found.sizes == {E: 4, F: 3, H: 2}
    assert found.row("weight").note == "4 slices stored separately"
    sized = layer.at(E=4, F=3, H=2)
    del shapes["experts.2.w"]
    assert "slice 2 is missing" in str(ps.match(sized, shapes, rename=table))
    assert "experts.3.w is (3, 5)" in str(ps.match(sized, {**shapes, "experts.2.w": (3, 2), "experts.3.w": (3, 5)}, rename=table))
    assert ps.match(sized, {f"experts.{number}.w": (3, 2) for number in range(3)}, rename=table).mismatched == ("weight",)
