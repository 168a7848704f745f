"""Every example in the README and in the documentation's pages is run as it stands."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import re
from math import prod
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from amount import cases
from recorded import rows

from paramsym.program import vocabulary

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)]


OWN_MODULE = ROOT / "docs" / "how-to" / "own-module.md"
ONNX = ROOT / "docs" / "how-to" / "onnx.md"
FIRST_HOUR = ROOT / "docs" / "tutorials" / "first-hour.md"
LLAMA_3 = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "vocab_size": 128256,
}
"""The config.json of meta-llama/Meta-Llama-3-8B, what changes counts."""
LLAMA_2_QUANTISED = {
    **{key: LLAMA_3[key] for key in ("architectures", "hidden_size", "model_type", "num_attention_heads", "num_hidden_layers")},
    "intermediate_size": 11008,
    "num_key_value_heads": 32,
    "quantization_config": {"bits": 4, "desc_act": False, "group_size": 128, "quant_method": "gptq"},
    "vocab_size": 32000,
}
"""The config.json of a 4-bit GPTQ file of meta-llama/Llama-2-7b-hf, likewise."""


def blocks(page: Path) -> list[str]:
    """Return the Python on a page that stands without a prompt."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def needed(page: Path) -> set[str]:
    """Return the packages that the blocks of a page import, and the one that reads a file they name."""
    trees = [node for block in blocks(page) for node in ast.walk(ast.parse(block))]
    imported = {alias.name for node in trees if isinstance(node, ast.Import) for alias in node.names}
    return imported | ({"safetensors"} if re.search(r"\.safetensors|ps\.check\(", "".join(blocks(page))) else set())


@cases(1000)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples_on_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page shows is what a reader gets."""
    if page == FIRST_HOUR:
        pytest.importorskip("safetensors")  # it checks a checkpoint
        _put_files(tmp_path)
        monkeypatch.chdir(tmp_path)
    if page == OWN_MODULE:
        pytest.importorskip("torch")
    if page == ONNX:
        pytest.importorskip("onnx")
        monkeypatch.chdir(tmp_path)
    _run_examples(page)


def test_the_first_hour_asks_for_three_lines() -> None:
    """Fifteen questions, each answered in at most three lines; what a reader has already is no line."""
    sections = re.split(r"^## ", FIRST_HOUR.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(sections) == 15
    for section in sections:
        prompts = re.findall(r"^(?:>>>|\.\.\.) .*$", section, re.MULTILINE)
        answers = [block for block in re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL) if "import " not in block]
        lines = [*prompts, *(line for block in answers for line in block.splitlines())]
        assert 1 <= len(lines) <= 3, section


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_on_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Code without a prompt runs after the page's examples, where the packages it needs are installed."""
    for package in sorted(needed(page)):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    if page == FIRST_HOUR or "model.safetensors" in "".join(blocks(page)):
        _put_files(tmp_path)
    names = _run_examples(page)
    for block, printed in _with_output(page):
        capsys.readouterr()
        exec(compile(block, str(page), "exec"), names)  # noqa: S102 - what a page shows is run
        found = capsys.readouterr().out
        assert "does not match" not in found
        assert not printed or found == printed


def test_which_pages_have_blocks() -> None:
    """If no page had any, nothing would be run."""
    assert {page.name for page in PAGES if blocks(page)} == {"check-a-checkpoint.md", "compute-with-a-formula.md", "first-hour.md"}


def _run_examples(page: Path) -> dict[str, Any]:
    """Run the examples of a page and return the names they leave behind."""
    text = page.read_text(encoding="utf-8").replace("\n```", "\n\n```")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append, clear_globs=False)
    assert runner.failures == 0, "".join(report)
    return test.globs


def _with_output(page: Path) -> list[tuple[str, str]]:
    """Return each block without a prompt with the text that is shown below it; empty if none is."""
    form = r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?"
    return re.findall(form, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _put_files(folder: Path) -> None:
    """Write what the examples read: a checkpoint of BERT, and published configurations of Llama, one of them quantised."""
    _save_bert(folder / "bert-base-uncased")
    (folder / "config.json").write_text(json.dumps(LLAMA_3))
    (folder / "quantised").mkdir()
    (folder / "quantised" / "config.json").write_text(json.dumps(LLAMA_2_QUANTISED))


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


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("FLOPs of my model", "how-to/own-module"),
        ("GQA", "how-to/cache-of-serving"),
        ("KV cache", "how-to/cache-of-serving"),
        ("MoE", "explanation/stored-used-trainable"),
        ("LoRA", "tutorials/first-hour"),
        ("activation memory", "how-to/count-work-and-memory"),
        ("quantized", "how-to/count-work-and-memory"),
        ("ONNX", "how-to/onnx"),
        ("why is my count different", "how-to/why-is-my-number-different"),
        ("MFU", "notebooks/from_parameters_to_a_training_run"),
        ("parameters of my model", "tutorials/formula-of-your-own-model"),
    ],
)
def test_what_people_look_for_is_found(typed: str, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page's table leads there, first of all, and the search, which prefers entries that have at most twice as many letters."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    words = importlib.import_module("searched").words
    found = [word for word, _, first in words(page, (ROOT / "docs/index.md").read_text(encoding="utf-8")) if first]
    assert any(typed.lower() in word.lower() and len(word) <= 2 * len(typed) for word in found), found


def test_the_vocabulary_is_whole() -> None:
    """The page of the vocabulary describes every function that a forward pass is written with."""
    page = (ROOT / "docs/reference/vocabulary.md").read_text(encoding="utf-8")
    functions = {name for name, value in vars(vocabulary).items() if isinstance(value, FunctionType)} - {
        "output_shape",
        "trace_layer",
        "picture",
    }  # which read a program
    assert set(re.findall(r"autofunction:: paramsym\.program\.(\w+)", page)) == functions
