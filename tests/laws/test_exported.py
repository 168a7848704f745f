"""Exported code gives the count of ``at`` and refuses the same sizes; so do ``evaluate`` and ``sweep`` of costs."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from amount import cases
from asked import counted, drawn, varied
from strategies import distinct_models

import paramsym as ps
from paramsym.errors import ParamsymError, SizeError

ROWS = 6
Row = dict[str, int]
every_family = pytest.mark.parametrize("cls", distinct_models(), ids=lambda cls: cls.__name__)


def rows(subject: Any, draw: random.Random) -> Iterator[Row]:
    """Yield sizes that a subject takes, if some are found, and then variants with one or two changed sizes, also zero and below."""
    base: Row = {}
    for _ in range(60):
        base = drawn(subject, draw)
        if isinstance(counted(subject, base), int):
            break
    yield base
    for _ in range(ROWS - 1):
        yield varied(base, draw, 36) | ({draw.choice(sorted(base)): draw.choice((-1, 0))} if base and draw.random() < 0.3 else {})


def python(subject: Any) -> Callable[[Row], int | str]:
    """Return the exported function, which returns its count or the text of its error."""
    source, scope = ps.export(subject, name="count"), dict[str, Any]()
    exec(source.code, scope)  # noqa: S102 - what we wrote

    def asked(row: Row) -> int | str:
        try:
            return scope["count"](**{name: row[name] for name in source.arguments})
        except ValueError as error:
            return str(error)

    return asked


def check(subject: Any, function: Callable[[Row], int | str], row: Row) -> None:
    """Compare one row: a count equals that of ``at``, and ``at`` refuses what the code refuses, unless these sizes need another formula."""
    wanted, found = counted(subject, row), function(row)
    assert found == wanted or (isinstance(found, str) and (not isinstance(wanted, int) or "does not hold where" in found)), row


@every_family
def test_parameters_of_families(cls: type[ps.Layer]) -> None:
    """The parameters of every family in letters."""
    model, draw = cls(), random.Random(cls.__name__)
    function = python(model)
    for row in rows(model, draw):
        check(model, function, row)


def agrees(cost: Any, function: Callable[[Row], int | str], row: Row) -> None:
    """Compare one row in exported code, ``sweep``, and ``evaluate`` with numbers and with columns."""
    wanted = counted(cost, row)
    check(cost, function, row)
    found = ps.sweep(cost, row)
    assert [*zip(*found.columns.values(), strict=True)] == ([(*row.values(), wanted)] if isinstance(wanted, int) else [])
    try:
        one, column = ps.evaluate(cost, row), int(ps.evaluate(cost, {name: [size] for name, size in row.items()})[0])
    except ParamsymError:
        assert not isinstance(wanted, int), row
    else:
        assert one == column == wanted, row


COSTS: dict[str, Callable[[Any], Any]] = {
    "work": ps.flops,
    "activations": ps.activations,
    "causal": lambda model: ps.flops(model, convention="causal"),
    "fused": lambda model: ps.activations(model, dtype="bfloat16", convention="torch-sdpa"),
    "inference": lambda model: ps.memory(model, use="inference"),
}
FAMILIES = ("Bert", "GptNeoX", "Phi", "GptJ", "Deepseek", "DenseNet", "Mamba2LM", "T5", "Gemma", "Swin", "Whisper", "GptOss")


@cases(3)
@pytest.mark.parametrize(("name", "cost"), list(product(FAMILIES, COSTS)))
def test_costs_of_families(name: str, cost: str) -> None:
    """More positions than a table has, maps smaller than a window, one example, one group: sizes at which a program has other steps."""
    pytest.importorskip("numpy")
    model = getattr(ps.models, name)()
    subject, draw = COSTS[cost](model), random.Random(name + cost)
    function = python(subject)
    for row in rows(subject, draw):
        agrees(subject, function, row)


def test_copies_that_grow() -> None:
    """Each layer of a DenseNet takes wider arrays than the one before: all sizes are those of its copy, and no letter of a copy is left."""
    for convention in ("torch-eager", "torch-sdpa"):
        cost = ps.activations(ps.models.DenseNet(), dtype="bfloat16", convention=convention)
        assert cost.polynomial.free_symbols <= set(cost.symbols)
        for depth in (2, 3):
            row = {"B": 2, "N": 10, "W": 3, "g": 4} | dict.fromkeys(("n1", "n2", "n3", "n4"), depth)
            sizes = {symbol: row[symbol.name] for symbol in cost.symbols}
            assert cost.polynomial.as_expr().subs(sizes) == cost.at(sizes).count


@cases(2)
@pytest.mark.parametrize("ones", [("B", "G"), ("A", "G"), ("B", "A", "G"), ("S",), ("B", "S", "A", "G")])
def test_several_sizes_of_one(ones: tuple[str, ...]) -> None:
    """One size of 1 changes no kept array of a model with grouped heads; two sizes of 1 do."""
    pytest.importorskip("numpy")
    for model in (ps.models.Llama(), ps.models.Phi3()):
        subject = ps.activations(model, dtype="bfloat16")
        row = {"B": 4, "S": 8, "V": 6, "H": 32, "L": 3, "A": 4, "G": 2, "F": 24} | dict.fromkeys(ones, 1)
        agrees(subject, python(subject), row)


R = ps.dims("r")


@cases(4)
@pytest.mark.parametrize("share", [5, 6, 19, 20, 21])
@pytest.mark.parametrize(
    ("model", "taken"),
    [(ps.models.GptNeoX(rotary_dim=R), {5, 6, 19, 20}), (ps.models.Llama(rotary_dim=R), {19, 20})],
)
def test_a_share_of_a_head(model: ps.Layer, taken: set[int], share: int) -> None:
    """GPT-NeoX rotates five entries of twenty as six, StableLM only pairs, Llama whole heads, like their references."""
    pytest.importorskip("numpy")
    row = {symbol.name: 2 for symbol in model.symbols} | {"H": 40, "A": 2, "r": share, "B": 1, "S": 3}
    for measure in COSTS.values():
        cost = measure(model)
        agrees(cost, python(cost), {symbol.name: row[symbol.name] for symbol in cost.symbols})
        assert isinstance(counted(cost, {symbol.name: row[symbol.name] for symbol in cost.symbols}), int) == (share in taken)


def test_c_answers_as_python_does(tmp_path: Path) -> None:
    """All families in one program: counts below 2**63, and -1 for every refusal."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    sources, calls, expected = [], [], []
    for cls in distinct_models():
        model, draw = cls(), random.Random(cls.__name__)
        try:
            source = ps.export(model, "c", name=f"count_{cls.__name__}")
        except SizeError:  # C has no powers of whole numbers
            continue
        function = python(model)
        sources.append(source.code)
        for row in rows(model, draw):
            found = function(row)
            sizes = ", ".join(f"{row[one]}LL" for one in source.arguments)
            calls.append(f'printf("%lld\\n", (long long)count_{cls.__name__}({sizes}));')
            expected.append(found if isinstance(found, int) and found < 2**63 else -1)
    code = "\n".join((*sources, "#include <stdio.h>", "int main(void) {", *calls, "return 0; }"))
    (tmp_path / "count.c").write_text(code)
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "count", tmp_path / "count.c"], check=True)
    printed = subprocess.run([tmp_path / "count"], check=True, capture_output=True, text=True).stdout
    assert [*map(int, printed.split())] == expected
    assert len([one for one in expected if one >= 0]) > len(expected) / 4


@pytest.mark.parametrize("sizes", [{"S": 2, "T_p": 3}, {"S": 1, "T_p": 127}, {"S": 127, "T_p": 300}, {"S": 200, "T_p": 3}])
def test_windows_longer_than_the_text(sizes: Row) -> None:
    """GPT-OSS sees 128 positions: the formula of visible pairs is for longer texts, and a shorter text is counted by itself."""
    pytest.importorskip("numpy")
    for past in (0, ps.dims("T_p")):
        cost = ps.flops(ps.models.GptOss(), convention="causal", past=past)
        row = {symbol.name: {"H": 32, "A": 4, "G": 2, **sizes}.get(symbol.name, 2) for symbol in cost.symbols}
        assert isinstance(counted(cost, row), int)
        agrees(cost, python(cost), row)
