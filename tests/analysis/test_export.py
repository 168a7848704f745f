"""Source code in five languages, run where the tool is at hand and compared with our own values."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from math import floor as round_down
from pathlib import Path
from typing import Any

import pytest
from amount import cases
from sympy import Expr, Integer, Max, Min, Mod, ceiling, floor

import paramsym as ps
from paramsym import A, C, D, E, F, H, K, L, W, dims, evaluate, export
from paramsym.algebra.size import Condition
from paramsym.analysis.evaluate.refusal import refusal
from paramsym.errors import ArgumentError, SizeError

LLAMA = {"V": 32000, "H": 4096, "L": 32, "A": 32, "G": 8, "F": 14336}
CASES: list[tuple[Any, dict[str, int]]] = [
    (ps.models.Llama(), LLAMA),
    (ps.models.Bert(), {"V": 30522, "P": 512, "T": 2, "H": 768, "A": 12, "L": 12, "F": 3072}),
    (ps.models.Vit(), {symbol.name: int(size) for symbol, size in ps.load("google/vit-base-patch16-224", "ViTModel").sizes.items()}),
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
        "MIN": lambda *sizes: min(sizes),
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


def test_no_layers_at_all() -> None:
    """Without its layers a model has another program, for which the formula does not hold."""
    scope: dict[str, Any] = {}
    exec(str(export(ps.flops(ps.models.Gpt2(), (2, 8)))), scope)  # noqa: S102 - what we wrote
    assert scope["cost"](A=2, H=8, L=1, P=8, V=8) > 0
    with pytest.raises(ValueError, match="does not hold where L is 0"):
        scope["cost"](A=2, H=8, L=0, P=8, V=8)


def test_a_spreadsheet_formula_without_sizes() -> None:
    """3 * 4 + 4 parameters, and nothing to be checked."""
    assert export(ps.Dense(3, 4), "spreadsheet").code == "=16"


def test_names_that_a_spreadsheet_reads_as_cells() -> None:
    """H1 is a cell and R a row there: without being told where the size stands, another number would be taken."""
    for name in ("H1", "R", "c"):
        symbol = dims(name)
        with pytest.raises(ArgumentError, match=f"{name} is a cell"):
            export(ps.Dense(symbol, 3), "spreadsheet")
        assert export(ps.Dense(symbol, 3), "spreadsheet", cells={symbol: "Sheet1!B2"}).code == "=IF(Sheet1!B2>=1,(Sheet1!B2+1)*3,NA())"


def test_parentheses_stand_where_they_are_needed() -> None:
    """As few as precedence allows, and none too few."""
    assert export(ps.Dense(H, F)).code.endswith("return (H + 1) * F")
    assert export(W - (K - C) * (W + 2)).code.splitlines()[-1].count("(") <= 3
    for expression in (W - (K - C), 2 ** (K + 1) * W, (2**K) ** 2 + W, W * floor(K / 2) * 3, -(W**2) - Mod(W + K, 5)):
        sizes = {symbol.name: 5 + position for position, symbol in enumerate(sorted(expression.free_symbols, key=str))}
        source = export(expression)
        assert run(source.code, sizes, source.arguments) == evaluate(expression, sizes)


def test_conditions_are_kept() -> None:
    """Sizes a layer cannot have are refused by the source, too."""
    model = ps.MultiHeadAttention(H, A)
    source = export(model)
    with pytest.raises(ValueError, match=r"^embed_dim 786 is not divisible by num_heads 12 \(786 = 65\*12 \+ 6\)\.$"):
        run(source.code, {"H": 786, "A": 12}, source.arguments)
    source = export(ps.MixtureOfExperts(H, F, E, K))
    with pytest.raises(ValueError, match=r"experts_per_token 9 is more than num_experts 8\.$"):
        run(source.code, {"H": 64, "F": 128, "E": 8, "K": 9}, source.arguments)
    assert "NA()" in export(model, "spreadsheet").code
    assert "A % A" not in export(ps.flops(ps.models.Gpt2())).code  # a size always divides itself
    source = export(ps.models.Electra())  # a projection stands between its widths, where they are two
    sizes = {"V": 100, "P": 16, "T": 2, "E": 12, "H": 24, "A": 4, "F": 48, "L": 2}
    assert run(source.code, sizes, source.arguments) == evaluate(ps.models.Electra(), sizes)
    with pytest.raises(ValueError, match=r"^this formula does not hold where E and H are both 24\.$"):
        run(source.code, sizes | {"E": 24}, source.arguments)


BROKEN: list[tuple[Any, dict[str, int], str]] = [
    (ps.models.Llama(), LLAMA | {"G": 5}, "num_attention_heads 32 is not divisible by num_key_value_heads 5 (32 = 6*5 + 2)."),
    (ps.flops(ps.models.Llama()), LLAMA | {"A": 32, "H": 96, "B": 1, "S": 1}, "H/A 3 is not divisible by 2 (3 = 1*2 + 1)."),
    (ps.Dense(H, F), {"H": 0, "F": 3}, "wanted 1 or more; found F=3, H=0."),
    (W / 2, {"W": -2}, "wanted 0 or more; found W=-2."),
    (W / 2, {"W": 7}, "the value is 7/2, not a whole number."),
    (ps.Conv2d(C, F, K, groups=2), {"C": 3, "F": 4, "K": 1}, "in_channels 3 is not divisible by groups 2 (3 = 1*2 + 1)."),
    (ps.flops(ps.Conv2d(1, 1, 5), (1, 1, H, W)), {"H": 3, "W": 9}, "H is 3; wanted 5 or more."),
]


@pytest.mark.parametrize(("subject", "sizes", "words"), BROKEN)
def test_refusals_are_in_the_words_of_the_layer(subject: Any, sizes: dict[str, int], words: str) -> None:
    """Python and JavaScript say the same: what was found under which name."""
    source = export(subject)
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        run(source.code, sizes, source.arguments, source.code.partition("(")[0].removeprefix("def "))
    node = shutil.which("node")
    if node is None:
        pytest.skip("no JavaScript")
    source = export(subject, "javascript", name="count")
    call = f"count({', '.join(f'{sizes[one]}n' for one in source.arguments)})"
    script = f"{source.code}\ntry {{ {call} }} catch (error) {{ console.log(error.message) }}"
    assert subprocess.run([node, "-e", script], check=True, capture_output=True, text=True).stdout.strip() == words


SEVERAL = {"weight": H * F, "all": ps.Dense(H, F), "attention": ps.MultiHeadAttention(H, A)}


@pytest.mark.parametrize("language", ["python", "numpy", "javascript"])
def test_several_counts_of_one_function(language: Any) -> None:
    """By name or in order, and each as it is alone; the conditions of all of them are checked."""
    source, listed, sizes = export(SEVERAL, language), export([*SEVERAL.values()], language), {"A": 12, "F": 3072, "H": 768}
    assert source.arguments == listed.arguments == ("A", "F", "H")
    expected = {name: evaluate(subject, {s.name: sizes[s.name] for s in _symbols(subject)}) for name, subject in SEVERAL.items()}
    if language != "javascript":
        if language == "numpy":
            pytest.importorskip("numpy")
        assert {name: int(count) for name, count in run(source.code, sizes, source.arguments).items()} == expected
        assert [int(count) for count in run(listed.code, sizes, source.arguments)] == [*expected.values()]
        for one in (source, listed):
            with pytest.raises(ValueError, match="divisible"):
                run(one.code, sizes | {"A": 7}, source.arguments)
        return
    node = shutil.which("node")
    if node is None:
        pytest.skip("no JavaScript")
    plain = "BigInt.prototype.toJSON = function () { return `${this}` };"
    shown = []
    for one in (source, listed):
        script = f"{one.code}\n{plain} console.log(JSON.stringify(params(12, 3072, 768)));"
        shown.append(json.loads(subprocess.run([node, "-e", script], check=True, capture_output=True, text=True).stdout))
    assert {name: int(count) for name, count in shown[0].items()} == expected
    assert [int(count) for count in shown[1]] == [*expected.values()]


def _symbols(subject: Any) -> Any:
    return subject.free_symbols if isinstance(subject, Expr) else subject.symbols


def test_variables_have_the_first_free_names() -> None:
    """A variable is named t1, t2 and so on, except where a size has this name."""
    t_1, t_2, h = dims("t1 t3 H")
    source = export((h + t_1) ** 2 * (h + t_2) ** 2 * (h + t_1 + t_2) ** 2)
    assert [line.split()[0] for line in source.code.splitlines() if re.match(r" +t\d+ = ", line)] == ["t2", "t4"]
    assert run(source.code, {"t1": 2, "t3": 3, "H": 4}, source.arguments) == 6**2 * 7**2 * 9**2


def test_a_size_may_have_any_name() -> None:
    """No name is a place in the texts from which code is made."""
    said, broken = dims("SAID broken")
    source = export(ps.MultiHeadAttention(said, broken))
    assert run(source.code, {"SAID": 8, "broken": 2}, source.arguments) == 4 * 8 * 8 + 4 * 8
    with pytest.raises(ValueError, match="embed_dim 8 is not divisible by num_heads 3"):
        run(source.code, {"SAID": 8, "broken": 3}, source.arguments)


@cases(0)
def test_code_does_not_depend_on_the_hashes_of_an_interpreter() -> None:
    """Factors are sorted before they are written, because a set gives them in another order in the next interpreter."""
    code = (
        "from paramsym import A, F, G, H, export; from sympy import Max, ceiling, floor\n"
        "print(export((H + A) * floor(H / A) * ceiling(F / G) * floor(F / H) + Max(H, F) * H / A))"
    )
    written = {
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True).stdout
        for seed in ("0", "1")
    }
    assert len(written) == 1


@pytest.mark.parametrize(("language", "name"), [("python", "min"), ("python", "ValueError"), ("javascript", "max"), ("numpy", "np")])
def test_names_that_the_code_uses_are_refused(language: Any, name: str) -> None:
    """A size called min would replace the function min."""
    with pytest.raises(ArgumentError, match=f"'{name}' is not a name in {language}"):
        export(ps.Dense(*dims(f"{name} H")), language)


def test_several_counts_need_names_and_a_language_that_has_them() -> None:
    """A cell holds one number, and what has no name cannot be returned by it."""
    for language in ("c", "spreadsheet"):
        with pytest.raises(ArgumentError, match=f"{language} gives one count"):
            export(SEVERAL, language)  # type: ignore[arg-type]
    for nothing in ({}, [], ()):
        with pytest.raises(ArgumentError, match="by name or in a list"):
            export(nothing)  # type: ignore[arg-type]
    for text in ("abc", b"abc"):
        with pytest.raises(ArgumentError, match="wanted a layer, a cost or an expression"):
            export(text)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="by name"):
        export({1: H})  # type: ignore[dict-item]


def test_a_name_that_could_end_a_string_is_left_out() -> None:
    """What a layer calls its sizes goes into code only where it is plain."""
    asked = Condition("divides", A, H, ("a`${alert(1)}", "it's"))
    assert refusal("divides", asked, "3", "2", "1", "1") == "3 is not divisible by 2 (3 = 1*2 + 1)."
    assert refusal("differ", Condition("differ", L, 0), "0", "0", "", "") == "this formula does not hold where L is 0."
    assert refusal("equal", Condition("equal", A, H), "3", "2", "", "") == "A 3 is not H 2."


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


def test_letters_of_equal_costs() -> None:
    """A generator keeps no positions, so that its bytes after T positions are equal to those without; the letters asked with are not."""
    positions, generator = ps.dims("T_p"), ps.models.DCGANGenerator()
    after, first = ps.traffic(generator, past=positions), ps.traffic(generator)
    assert after == first
    assert {*ps.export(after).arguments} - {*ps.export(first).arguments} == {"T_p"}


@pytest.mark.parametrize("kernel", [2, 3, 5])
def test_an_image_is_as_large_as_a_kernel(kernel: int) -> None:
    """A kernel of k needs k positions, and gives one at k."""
    code = str(export(ps.macs(ps.Conv2d(3, 4, kernel), (1, 3, W, W)), "python"))
    assert run(code, {"W": kernel}, ("W",), "cost") == 3 * 4 * kernel**2
    with pytest.raises(ValueError, match=f"W is {kernel - 1}; wanted {kernel} or more"):
        run(code, {"W": kernel - 1}, ("W",), "cost")
