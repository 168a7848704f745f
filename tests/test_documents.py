"""Every example in the README and in the documentation's pages is run as it stands."""

from __future__ import annotations

import ast
import doctest
import json
import re
from math import prod
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from recorded import rows

from paramsym import program

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)]


def blocks(page: Path) -> list[str]:
    """Return the Python on a page that stands without a prompt."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def needed(page: Path) -> set[str]:
    """Return the packages that the blocks of a page import, and the one that reads a file they name."""
    trees = [node for block in blocks(page) for node in ast.walk(ast.parse(block))]
    imported = {alias.name for node in trees if isinstance(node, ast.Import) for alias in node.names}
    return imported | ({"safetensors"} if ".safetensors" in "".join(blocks(page)) else set())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_on_a_page(page: Path) -> None:
    """What a page shows is what a reader gets."""
    _run_examples(page)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_on_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Code without a prompt runs after the page's examples, where the packages it needs are installed."""
    for package in sorted(needed(page)):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    if "model.safetensors" in "".join(blocks(page)):
        _save_bert(tmp_path / "bert-base-uncased")
    names = _run_examples(page)
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)  # noqa: S102 - what a page shows is run
    assert "does not match" not in capsys.readouterr().out


def test_which_pages_have_blocks() -> None:
    """If no page had any, nothing would be run."""
    assert {page.name for page in PAGES if blocks(page)} == {"check-a-checkpoint.md", "compute-with-a-formula.md"}


def _run_examples(page: Path) -> dict[str, Any]:
    """Run the examples of a page and return the names they leave behind."""
    text = page.read_text(encoding="utf-8").replace("\n```", "\n\n```")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append, clear_globs=False)
    assert runner.failures == 0, "".join(report)
    return test.globs


def _save_bert(folder: Path) -> None:
    """Write the recorded configuration and, into a sparse file, the recorded tensors of BERT."""
    row = next(row for row in rows("hf_checkpoints") if (row["checkpoint"], row["model_class"]) == ("bert-base-uncased", "BertModel"))
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({**row["config"], "model_type": "bert", "architectures": ["BertModel"]}))
    header: dict[str, Any] = {}
    end = 0
    for name, shape in row["params"]:
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + 4 * prod(shape)]}
        end += 4 * prod(shape)
    written = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(written).to_bytes(8, "little") + written)
        file.truncate(file.tell() + end)


def test_the_readme_shows_something() -> None:
    """A page without examples would pass silently."""
    assert (ROOT / "README.md").read_text(encoding="utf-8").count(">>> ") > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_local_links_lead_somewhere(page: Path) -> None:
    """A link to a file of the project finds it."""
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), target


def test_the_vocabulary_is_whole() -> None:
    """The page of the vocabulary describes every function that a forward pass is written with."""
    page = (ROOT / "docs/reference/vocabulary.md").read_text(encoding="utf-8")
    functions = {name for name, value in vars(program).items() if isinstance(value, FunctionType)} - {"trace_layer"}
    assert set(re.findall(r"autofunction:: paramsym\.program\.(\w+)", page)) == functions
