"""Source code in five languages, run where the tool is at hand and compared with our own values."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from math import floor as round_down
from pathlib import Path
from typing import Any

import pytest
from sympy import Integer, Max, Min, Mod, ceiling, floor

import paramsym as ps
from paramsym import A, C, D, E, F, H, K, L, W, dims, evaluate, export
from paramsym.errors import ArgumentError, SizeError

LLAMA = {"V": 32000, "H": 4096, "L": 32, "A": 32, "G": 8, "F": 14336}
CASES: list[tuple[Any, dict[str, int]]] = [
    (ps.models.Llama(), LLAMA),
    (ps.models.Bert(), {"V": 30522, "P": 512, "T": 2, "H": 768, "A": 12, "L": 12, "F": 3072}),
    (ps.models.Vit(), {symbol.name: int(size) for symbol, size in ps.models.Vit().at("google/vit-base-patch16-224").sizes.items()}),
    (ps.Shared(ps.Dense(H, F), L), {"H": 64, "F": 128, "L": 4}),
    (ps.MixtureOfExperts(H, F, E, K), {"H": 64, "F": 128, "E": 8, "K": 2}),
    (floor((W - K) / 2) + ceiling(W / 3) * C, {"W": 4, "K": 7, "C": 5}),
    (Max(W, K) * Min(W, K) - Mod(W, K) + 2**D - 3 * C, {"W": 17, "K": 5, "D": 9, "C": 2}),
    (W * (W + 1) / 2, {"W": 7}),
    (Integer(12), {}),
]


def run(code: str, sizes: dict[str, Any], order: tuple[str, ...], name: str = "params") -> Any:
    """Run exported Python code in a scope of its own."""
    scope: dict[str, Any] = {}
    exec(code, scope)  # noqa: S102 - what is tested is that the source runs
    return scope[name](*(sizes[one] for one in order))


@pytest.mark.parametrize(("subject", "sizes"), CASES)
def test_python(subject: Any, sizes: dict[str, int]) -> None:
    """Exact, at any size."""
    source = export(subject)
    assert run(str(source), sizes, source.arguments) == evaluate(subject, sizes)


@pytest.mark.parametrize(("subject", "sizes"), CASES)
def test_numpy(subject: Any, sizes: dict[str, int]) -> None:
    """Columns of sizes."""
    np = pytest.importorskip("numpy")
    source = export(subject, "numpy")
    columns = {name: np.array([size, size]) for name, size in sizes.items()}
    assert np.all(run(source.code, columns, source.arguments) == evaluate(subject, sizes))


@pytest.mark.parametrize(("subject", "sizes"), CASES)
def test_c(subject: Any, sizes: dict[str, int], tmp_path: Path) -> None:
    """Compiled without a warning."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    source = export(subject, "c")
    call = ", ".join(f"INT64_C({sizes[one]})" for one in source.arguments)
    main = f'#include <inttypes.h>\n#include <stdio.h>\nint main(void) {{ printf("%" PRId64, params({call})); return 0; }}\n'
    (tmp_path / "count.c").write_text(source.code + "\n" + main)
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", tmp_path / "count", tmp_path / "count.c"], check=True)
    assert int(subprocess.run([tmp_path / "count"], check=True, capture_output=True, text=True).stdout) == evaluate(subject, sizes)


@pytest.mark.parametrize(("subject", "sizes"), [*CASES, (H**5, {"H": 2**40})])
def test_javascript(subject: Any, sizes: dict[str, int]) -> None:
    """BigInt throughout."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no JavaScript")
    source = export(subject, "javascript")
    script = f"{source.code}\nconsole.log(String(params({', '.join(f'{sizes[one]}n' for one in source.arguments)})));"
    assert int(subprocess.run([node, "-e", script], check=True, capture_output=True, text=True).stdout) == evaluate(subject, sizes)


@pytest.mark.parametrize(("subject", "sizes"), CASES)
def test_spreadsheet(subject: Any, sizes: dict[str, int]) -> None:
    """Read with the meaning that spreadsheets give the few functions used; cells by reference."""
    cells = {name: f"B{row}" for row, name in enumerate(sizes, 1)}
    code = export(subject, "spreadsheet", cells=cells).code
    assert code.startswith("=")
    expression = re.sub(r"(?<![<>])=(?!=)", "==", code[1:]).replace("<==", "<=").replace("^", "**")
    scope = {
        "IF": lambda condition, yes, no: yes if condition else no,
        "AND": lambda *conditions: all(conditions),
        "MOD": lambda a, b: a % b,
        "INT": round_down,
        "MAX": max,
        "MIN": min,
        "NA": lambda: None,
    }
    assert eval(expression, scope | {cells[name]: size for name, size in sizes.items()}) == evaluate(subject, sizes)


def test_a_real_spreadsheet_computes_it(tmp_path: Path) -> None:
    """Sizes in column B and formulas in column C, computed and written out by a spreadsheet program; a broken condition is #N/A."""
    program = shutil.which("ssconvert")
    if program is None:
        pytest.skip("no spreadsheet program (gnumeric)")
    rows: list[list[str]] = []
    expected: list[str] = []
    wrong: tuple[Any, dict[str, int]] = (ps.MultiHeadAttention(H, A), {"H": 786, "A": 12})
    for subject, sizes in (*CASES, wrong):
        cells = {name: f"$B${len(rows) + line}" for line, name in enumerate(sizes, 1)}
        formula = export(subject, "spreadsheet", cells=cells).code
        rows += [[name, str(size), ""] for name, size in sizes.items()] + [["", "", formula]]
        expected.append("#N/A" if sizes == wrong[1] else str(evaluate(subject, sizes)))
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    subprocess.run([program, "--recalc", "in.csv", "out.csv"], check=True, capture_output=True, cwd=tmp_path)
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row[2] for row in csv.reader(file) if len(row) > 2 and row[2]] == expected


def test_names_that_a_spreadsheet_reads_as_cells() -> None:
    """H1 is a cell and R a row there: without being told where the size stands, another number would be taken."""
    for name in ("H1", "R", "c"):
        symbol = dims(name)
        with pytest.raises(ArgumentError, match=f"{name} is a cell"):
            export(ps.Dense(symbol, 3), "spreadsheet")
        assert export(ps.Dense(symbol, 3), "spreadsheet", cells={symbol: "Sheet1!B2"}).code == "=(Sheet1!B2+1)*3"


def test_parentheses_stand_where_they_are_needed() -> None:
    """As few as precedence allows, and none too few."""
    assert export(ps.Dense(H, F)).code.endswith("return (H + 1) * F")
    assert export(W - (K - C) * (W + 2)).code.count("(") <= 4
    for expression in (W - (K - C), 2 ** (K + 1) * W, (2**K) ** 2 + W, W * floor(K / 2) * 3, -(W**2) - Mod(W + K, 5)):
        sizes = {symbol.name: 5 + position for position, symbol in enumerate(sorted(expression.free_symbols, key=str))}
        source = export(expression)
        assert run(source.code, sizes, source.arguments) == evaluate(expression, sizes)


def test_conditions_are_kept() -> None:
    """Sizes a layer cannot have are refused by the source, too."""
    model = ps.MultiHeadAttention(H, A)
    source = export(model)
    with pytest.raises(ValueError, match="786 is not divisible by 12"):
        run(source.code, {"H": 786, "A": 12}, source.arguments)
    source = export(ps.MixtureOfExperts(H, F, E, K))
    with pytest.raises(ValueError, match="9 is more than 8"):
        run(source.code, {"H": 64, "F": 128, "E": 8, "K": 9}, source.arguments)
    assert "NA()" in export(model, "spreadsheet").code
    source = export(ps.models.Electra())  # a projection stands between its widths, where they are two
    sizes = {"V": 100, "P": 16, "T": 2, "E": 12, "H": 24, "A": 4, "F": 48, "L": 2}
    assert run(source.code, sizes, source.arguments) == evaluate(ps.models.Electra(), sizes)
    with pytest.raises(ValueError, match=r"^24 is 24$"):
        run(source.code, sizes | {"E": 24}, source.arguments)


def test_c_says_when_it_overflows(tmp_path: Path) -> None:
    """Never a number that wrapped around: -1."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    main = '#include <stdio.h>\nint main(void) { printf("%d %d", (int)(params(INT64_C(1) << 40)), (int)params(3)); return 0; }\n'
    (tmp_path / "count.c").write_text(export(H**2, "c").code + "\n" + main)
    subprocess.run([compiler, "-o", tmp_path / "count", tmp_path / "count.c"], check=True)
    assert subprocess.run([tmp_path / "count"], check=True, capture_output=True, text=True).stdout == "-1 9"


def test_wrong_questions() -> None:
    """Each with one clear error."""
    for keywords in (
        {"language": "cobol"},
        {"name": "two words"},
        {"name": 3},
        {"name": "H"},
        {"name": "int", "language": "c"},
        {"language": "spreadsheet", "cells": {"H": "B1"}},
        {"language": "spreadsheet", "cells": {"H": "B1", "F": "B2)+1"}},
    ):
        with pytest.raises(ArgumentError):
            export(ps.Dense(H, F), **keywords)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="var"):
        export(ps.Dense(dims("var"), 3), "javascript")
    with pytest.raises(SizeError, match="64 bits"):
        export(H * 2**70, "c")
    with pytest.raises(SizeError, match="no power"):
        export(H * 3**D, "c")
