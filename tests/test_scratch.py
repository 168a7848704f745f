"""The page that runs the library in the browser: its cell and its parts in any Python, the page itself in Chromium."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from documentation import ROOT, browser, served

DOCS = ROOT / "docs"
EXAMPLES = sorted((DOCS / "scratch" / "examples").glob("*.py"))


@pytest.fixture(scope="module")
def home() -> Iterator[None]:
    """Let the page's own modules be imported."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(DOCS))
        yield


@pytest.fixture(scope="module")
def parts(home: None) -> ModuleType:  # noqa: ARG001 - it must be there first
    """What the build provides."""
    return importlib.import_module("scratch.parts")


def shown(code: str) -> list[tuple[str, str, int]]:
    """Run a cell; return the blocks that it sends."""
    found: list[tuple[str, str, int]] = []
    importlib.import_module("scratch.cell").run(code, lambda *block: found.append(block))
    return found


# GPT-2's size is Hugging Face's; the block of Mixtral is a router of 8 x 4096 and 8 experts of 3 x 4096 x 14336; the adapter holds
# 768 x 16 twice, two biases and 12 gates; 32 layers train 8 x (4096 + 4096) each; the claim is 12 x 3 x 768 x (12 - 1) too high.
ANSWERS = {
    "1-layer": "25372",
    "2-mixture": "1,409,318,912 stored, 352,354,304 used by a token",
    "3-gpt2": "124,439,808 parameters",
    "4-lora": "2,097,152 of 539,099,136 parameters are trained",
    "5-claim": "the biases of query, key and value counted once per head",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.usefixtures("home")
def test_an_example_shows_its_answer(example: Path) -> None:
    blocks = shown(example.read_text(encoding="utf-8"))
    assert [text for kind, text, _ in blocks if kind == "error"] == []
    assert ANSWERS[example.stem] in "".join(text for kind, text, _ in blocks if kind in {"text", "html"})


@pytest.mark.usefixtures("home")
def test_a_layer_is_shown_with_formula_and_tables_under_its_source() -> None:
    blocks = shown("'''A docstring.'''\nimport paramsym as ps\nlayer = ps.Dense(ps.H, ps.F)\n\nlayer\nNone\n")
    assert [(kind, line) for kind, _, line in blocks] == [("source", 5), ("latex", 0), ("html", 0)]
    assert blocks[0][1] == "layer"
    assert blocks[1][1] == r"\text{parameters} = \displaystyle F H + F"
    assert "<table>" in blocks[2][1]
    ((_, written, _), (kind, text, _)) = shown("__import__('paramsym').load('gpt2')")  # the first line of the HTML has formula and number
    assert (written, kind) == ("__import__('paramsym').load('gpt2')", "html")
    assert "<strong>124,439,808</strong> parameters" in text


@pytest.mark.usefixtures("home")
def test_values_and_prints_come_in_order() -> None:
    assert shown("print('a')\n{'b': 1_0}\nfor i in range(2):\n    display(i)\nprint('c')") == [
        ("text", "a\n", 0),
        ("source", "{'b': 1_0}", 2),  # as it was written
        ("text", "{'b': 10}\n", 0),
        ("text", "0\n", 0),
        ("text", "1\n", 0),
        ("text", "c\n", 0),
    ]


@pytest.mark.usefixtures("home")
def test_every_run_starts_from_empty_names() -> None:
    assert shown("kept = 1") == []
    assert shown("kept") == [("error", "NameError: name 'kept' is not defined\nline 1: kept", 1)]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        (
            "import paramsym as ps\n\ndef build():\n    return ps.MultiHeadAttention(786, 12)\n\nbuild()",
            """DivisibilityError: MultiHeadAttention: embed_dim 786 is not divisible by num_heads 12 (786 = 65*12 + 6).
line 6: build()
line 4, in build: return ps.MultiHeadAttention(786, 12)""",
            6,
        ),
        ("x = (1,", "SyntaxError: '(' was never closed\nline 1: x = (1,", 1),
        ("raise KeyboardInterrupt", "KeyboardInterrupt\nline 1: raise KeyboardInterrupt", 1),
        ("def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded\nline 3: f()" + "\nline 2, in f: f()" * 7, 3),
    ],
)
def test_an_error_is_its_message_and_lines_of_the_cell(code: str, message: str, line: int) -> None:
    (block,) = shown(code)
    assert block == ("error", message, line)


@pytest.mark.usefixtures("home")
def test_what_is_printed_without_end_is_cut() -> None:
    text = "".join(text for _, text, _ in shown("import sys\nfor i in range(30):\n    print('a' * 10_000, file=sys.stderr)"))
    assert text.count("a") < 200_100
    assert text.endswith("\n(The cell printed more than 200,000 characters; the rest is left out.)\n")


def test_tests_of_libraries_are_left_out(parts: ModuleType) -> None:
    """SymPy's tests are a third of its size."""
    names = [name for name, _ in parts.sources()]
    assert {"cell.py", "paramsym/__init__.py", "sympy/core/expr.py", "mpmath/__init__.py"} <= set(names)
    assert [name for name in names if "/tests/" in name or name.endswith(".pyc")] == []
    assert any(name.endswith(".csv") for name in names)  # the published sizes


def test_another_archive_is_refused(parts: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "pyodide.tgz").write_bytes(b"something else")
    with pytest.raises(parts.LeftOutError, match=r"pyodide.tgz has the hash sha512-.*; expected sha512-0YvX"):
        parts.check(tmp_path / "pyodide.tgz")


def left_out(target: Path) -> str:
    """Return the reason that the page gives."""
    text = (target / "data.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("window.scratch = ").rstrip(";\n"))
    assert data["examples"][0]["title"] == "A layer of your own"
    assert not (target / "libraries.zip").exists()
    return str(data["leftOut"])


def test_the_build_can_leave_it_out(parts: ModuleType, tmp_path: Path) -> None:
    assert parts.provide("no", tmp_path / "cache", tmp_path / "page") == "left out, because it was built with -D scratch=no"
    assert left_out(tmp_path / "page") == "it was built with -D scratch=no"
    assert sorted(path.name for path in (tmp_path / "page").iterdir()) == ["data.js", "page.css", "page.js", "worker.js"]
    assert not (tmp_path / "cache").exists()


def test_without_npm_it_is_left_out_and_said(parts: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert parts.provide("auto", tmp_path / "cache", tmp_path / "page") == "left out, because npm is not installed"
    assert left_out(tmp_path / "page") == "npm is not installed"
    with pytest.raises(parts.LeftOutError, match="npm is not installed"):
        parts.provide("yes", tmp_path / "cache", tmp_path / "page")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for npm is a shell script")
def test_without_an_answer_it_is_left_out_and_said(parts: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho 'npm error network request failed' >&2\nexit 1\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert parts.provide("auto", tmp_path / "cache", tmp_path / "page") == "left out, because npm failed: npm error network request failed"


@pytest.fixture(scope="module")
def seen(site: tuple[Path, str]) -> dict[str, Any]:
    """What a reader sees who tries everything; one visit for all tests."""
    folder, address = site
    found = (folder / "scratch" / "data.js").read_text(encoding="utf-8")
    if '"leftOut": ""' not in found:
        pytest.skip(f"the page has nothing to run: {found[-100:]}")
    node = shutil.which("node") or ""
    if not node or subprocess.run([node, "-e", "require('playwright-core')"], capture_output=True, check=False).returncode:
        pytest.skip("there is no playwright-core in NODE_PATH")
    command = [node, str(Path(__file__).with_name("scratch.cjs")), browser(), address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_nothing_is_loaded_before_the_first_run(seen: dict[str, Any], site: tuple[Path, str]) -> None:
    assert [url.rpartition("/")[2] for url in seen["before"] if "/scratch/" in url] == ["page.css", "data.js", "page.js"]
    folder, _ = site
    loaded = [folder / "scratch" / "libraries.zip", *(folder / "scratch" / "pyodide").iterdir()]
    assert seen["button"] == f"Run (loads {sum(path.stat().st_size for path in loaded) / 1e6:.0f} MB)"
    assert seen["buttonAfter"] == "Run"


def test_nothing_is_asked_of_another_host(seen: dict[str, Any], site: tuple[Path, str]) -> None:
    _, address = site
    assert any(url.endswith("pyodide.asm.wasm") for url in seen["requests"])
    assert [url for url in seen["requests"] if not url.startswith((f"{address}/", "data:", "blob:"))] == []
    assert seen["console"] == []


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=lambda number: EXAMPLES[number].stem)
def test_an_example_runs_in_the_browser(seen: dict[str, Any], number: int) -> None:
    """The same answers as in any Python, typeset and in tables."""
    found = seen["examples"][number]
    assert found["status"].startswith("Done in ")
    assert found["faults"] == 0
    assert ANSWERS[EXAMPLES[number].stem] in found["text"]
    assert found["tables"] >= 1
    if number < 4:
        assert found["formulas"][0].startswith("parameters")


def test_an_error_names_its_line(seen: dict[str, Any]) -> None:
    assert seen["error"]["status"] == "An error in line 4."
    assert seen["error"]["text"].split("\n")[0] == "before"
    assert "DivisibilityError: MultiHeadAttention: embed_dim 786 is not divisible by num_heads 12" in seen["error"]["text"]
    assert "pyodide" not in seen["error"]["text"].lower()
    assert seen["line"] == "ps.F"


def test_a_cell_without_end_is_stopped(seen: dict[str, Any]) -> None:
    assert seen["alive"] == 42
    assert seen["stopped"] == "Stopped. The next run loads the library again."
    assert seen["again"].split() == ["6", "*", "7", "42"]


def test_keys(seen: dict[str, Any]) -> None:
    """Enter keeps the indentation, Tab and Shift+Tab change it, undo takes it back, Escape and Tab leave the cell."""
    assert seen["indented"] == "if True:\n    pass"
    assert seen["tabbed"] == "if True:\npass    "
    assert seen["unindented"] == seen["undone"] == "if True:\npass"
    assert seen["focus"] == "scratch-run"
    assert seen["mine"] == seen["undone"]  # what was written is kept when an example is chosen


def test_the_page_never_scrolls_sideways(seen: dict[str, Any]) -> None:
    assert all(inside <= width for width, inside in seen["widths"])


def test_opened_as_a_file_it_says_what_to_type(site: tuple[Path, str], tmp_path: Path) -> None:
    """A browser loads no WebAssembly from a file."""
    folder, _ = site
    command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    command += ["--virtual-time-budget=5000", "--dump-dom", (folder / "scratch.html").as_uri()]
    document = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout
    assert f'python -m http.server --directory "{folder}"' in document
    assert 'href="http://localhost:8000/scratch.html"' in document


def test_left_out_it_says_so(site: tuple[Path, str], parts: ModuleType, tmp_path: Path) -> None:
    """A page whose parts were left out shows the reason, and its button cannot be pressed."""
    folder, _ = site
    shutil.copy(folder / "scratch.html", tmp_path / "scratch.html")
    parts.provide("no", tmp_path / "cache", tmp_path / "scratch")
    with served(tmp_path) as address:
        command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        command += ["--virtual-time-budget=5000", "--dump-dom", f"{address}/scratch.html"]
        document = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout
    assert "cannot run the cell: it was built with -D scratch=no." in document
    assert 'id="scratch-run" disabled=""' in document
