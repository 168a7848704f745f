"""Flax itself, where it is installed: a certificate per layer of linen and NNX, and sampled sizes that no grid holds."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from frameworks import imported, only_with
from oracles.certified_flax import LINEN_LEFT, NNX_LEFT, Row, linen_rows, nnx_rows
from oracles.instances import placed

import paramsym as ps
from paramsym import C, F, H, K
from paramsym.errors import RefutedError
from paramsym.testing import certify

only_with("flax", "jax")

LINEN, NNX = linen_rows(), nnx_rows()


def row_id(row: Row) -> str:
    """Name a row in a test's id."""
    inside = "" if row.inside is None else f"-{row.inside[0]}"
    return f"{row.name}{inside}-{row.layer}"[:100]


every_linen_row = pytest.mark.parametrize("row", LINEN, ids=row_id)
every_nnx_row = pytest.mark.parametrize("row", NNX, ids=row_id)


def tree_of(module: Any, *shape: int, whole: bool = False) -> Any:
    """Return the shapes of a linen module's variables; nothing is computed."""
    jax = imported("jax")
    kind = "int32" if whole else "float32"
    init = functools.partial(module.init, update_stats=False) if type(module).__name__ == "SpectralNorm" else module.init
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jax.eval_shape(init, jax.random.key(0), jax.ShapeDtypeStruct(shape, kind))


def linen_builder(row: Row) -> Callable[..., Any]:
    """Return a builder of the variables of a linen module."""
    linen = imported("flax.linen")

    def build(**sizes: int) -> Any:
        inner: list[Any] = []
        if row.inside is not None:
            name, arguments = row.inside
            make = functools.partial(getattr(linen, name), **placed(arguments, sizes))
            rnn = row.name == "Bidirectional"
            inner = [linen.RNN(make()), linen.RNN(make())] if rnn else [[make()]] if row.name == "Sequential" else [make()]
        module = getattr(linen, row.name)(*inner, **placed(row.arguments, sizes))
        return tree_of(module, *placed({"shape": row.inputs}, sizes)["shape"], whole=row.name == "Embed")

    return build


def nnx_builder(row: Row) -> Callable[..., Any]:
    """Return a builder of an NNX module without memory for its weights."""
    nnx = imported("flax.nnx")
    without_keys = {"PReLU", "Sequential", "List", "Dict"}

    def module(sizes: dict[str, int]) -> Any:
        keys = {} if row.name in without_keys else {"rngs": nnx.Rngs(0)}
        inner: list[Any] = []
        if row.inside is not None:
            name, arguments = row.inside
            made = [getattr(nnx, name)(**placed(arguments, sizes), rngs=nnx.Rngs(0)) for _ in range(2)]
            one = {"Bidirectional": [nnx.RNN(cell) for cell in made], "List": [[made[0]]], "Dict": [{"inner": made[0]}]}
            inner = one.get(row.name, made[:1])
        return getattr(nnx, row.name)(*inner, **placed(row.arguments, sizes), **keys)

    return lambda **sizes: nnx.eval_shape(lambda: module(sizes))


@every_linen_row
def test_certificate_of_linen(row: Row) -> None:
    """Names, every axis and the count are linen's on every valid size."""
    proof = certify(row.layer, linen_builder(row), rename=row.rename)
    assert proof.compared == "tensors"
    assert proof.lattice.whole
    assert "jax" in proof.versions or not row.layer.lines


@every_nnx_row
def test_certificate_of_nnx(row: Row) -> None:
    """Names, every axis and the count are NNX' on every valid size."""
    proof = certify(row.layer, nnx_builder(row), rename=row.rename)
    assert proof.compared == "tensors"
    assert "flax" in proof.versions


@pytest.mark.parametrize(("rows", "builder"), [(LINEN, linen_builder), (NNX, nnx_builder)], ids=["linen", "nnx"])
def test_sampled_sizes(rows: list[Row], builder: Callable[[Row], Callable[..., Any]]) -> None:
    """Sizes far from the grids, drawn by Hypothesis, agree as well."""
    pytest.importorskip("hypothesis")
    from paramsym.testing import check_against

    for row in rows:
        largest = {symbol.name: 4 if symbol.name in "Kpq" else 90 for symbol in row.layer.symbols}
        check_against(row.layer, builder(row), examples=3, largest=largest, rename=row.rename)


@pytest.mark.parametrize(("room", "rows", "left"), [("flax.linen", LINEN, LINEN_LEFT), ("flax.nnx", NNX, NNX_LEFT)], ids=["linen", "nnx"])
def test_every_layer_has_a_certificate(room: str, rows: list[Row], left: dict[str, str]) -> None:
    """A class that Flax adds or that nobody thought of shows here; the exceptions carry a reason, and are exceptions."""
    found = imported(room)
    classes = {name for name, thing in vars(found).items() if isinstance(thing, type) and issubclass(thing, found.Module)}
    certified = {row.name for row in rows}
    assert classes - certified == set(left)
    assert certified <= classes


def test_a_wrong_kernel_is_refuted_by_name() -> None:
    """The kernel of torch stands the other way round; a bias that is not there is named."""
    with pytest.raises(RefutedError, match="kernel"):
        certify(ps.Conv1d(C, F, K), linen_builder(next(row for row in LINEN if row.name == "Conv")))
    with pytest.raises(RefutedError, match="bias"):
        certify(ps.Dense(H, F, bias=False, dialect="flax"), linen_builder(LINEN[0]))


def test_a_tree_is_transposed_against_torch() -> None:
    """A kernel the other way round than torch's."""
    linen = imported("flax.linen")
    assert ps.match(ps.Dense(3, 4), tree_of(linen.Dense(4), 2, 3), rename={"kernel": "weight"}).transposed == ("weight",)


def test_batch_norm_keeps_its_statistics_in_a_collection_of_their_own() -> None:
    """Running statistics are not among the parameters."""
    linen = imported("flax.linen")
    names = {"scale": "weight", "mean": "running_mean", "var": "running_var"}
    found = ps.match(ps.BatchNorm1d(5), tree_of(linen.BatchNorm(use_running_average=True), 2, 5), rename=names)
    assert found.missing == ("num_batches_tracked",)  # torch's own counter
    assert not found.mismatched
    assert not found.unexpected


def test_nnx_modules_and_states() -> None:
    """Parameters and statistics, without random keys."""
    nnx = imported("flax.nnx")

    class Small(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.up = nnx.Linear(3, 5, rngs=rngs)
            self.norm = nnx.BatchNorm(5, rngs=rngs)
            self.drop = nnx.Dropout(0.1, rngs=rngs)

    layer = ps.Block(up=ps.Dense(C, F, dialect="flax"), norm=ps.BatchNorm1d(F, dialect="flax"))
    module = Small(nnx.Rngs(0))
    for source in (module, nnx.state(module)):
        found = ps.match(layer, source)
        assert found.ok
        assert found.sizes == {C: 3, F: 5}


@pytest.mark.parametrize("kind", ["same", "valid", "causal", "circular", "reflect", 0, 1, (2, 0)], ids=str)
@pytest.mark.parametrize(("kernel", "stride", "dilation"), [((3, 2), 1, 1), (2, (2, 3), 1), (3, 2, 2), ((5, 4), 3, 1)], ids=str)
def test_what_shape_comes_out(kind: Any, kernel: Any, stride: Any, dilation: int) -> None:
    """Convolutions and their transposes give Flax' shapes for every way to pad."""
    linen, jax = imported("flax.linen"), imported("jax")
    mode = kind if kind in {"circular", "reflect"} else "zeros"
    padding = "same" if mode != "zeros" else kind
    theirs = kind.upper() if isinstance(kind, str) else [(margin, margin) for margin in (kind if isinstance(kind, tuple) else (kind, kind))]
    rank = 1 if kind == "causal" else 2
    image = (2, *(11, 12)[:rank], 3)
    one = {name: (value if isinstance(value, tuple) else (value, value))[:rank] for name, value in (("k", kernel), ("s", stride))}
    for name in ("Conv", "ConvTranspose"):
        if name == "ConvTranspose" and kind in {"causal", "reflect"}:
            continue
        layer = getattr(ps, f"{name}{rank}d")(3, 5, one["k"], one["s"], padding, dilation=dilation, padding_mode=mode, dialect="flax")
        module = getattr(linen, name)(5, one["k"], strides=one["s"], padding=theirs, kernel_dilation=dilation)
        shape, _ = jax.eval_shape(module.init_with_output, jax.random.key(0), jax.ShapeDtypeStruct(image, "float32"))
        assert ps.output_shape(layer, image) == shape.shape
