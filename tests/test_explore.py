"""The page of a model, without a browser: what is in the file. ``tests/explorer`` drives it in one."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, B, C, H, K, L, S, index
from paramsym.errors import UnknownInputError
from paramsym.explorer import questions
from paramsym.explorer.questions import QUESTIONS, Question, choices

COPIES = Path(questions.__file__).parent / "page" / "copies.js"


def _derived() -> Any:
    return ps.derive(lambda width=16, depth=2: {"e.weight": (100, width)} | {f"l.{i}.w": (4 * width, width) for i in range(depth)})


MODELS: dict[str, tuple[Callable[[], tuple[Any, ...]], str, tuple[int, ...]]] = {
    "attention": (lambda: (ps.MultiHeadAttention(H, A, batch_first=True), (B, S, H)), "MultiHeadAttention", ()),
    "gpt2": (lambda: (ps.load("gpt2"),), "gpt2", (50257, 1024, 768, 12)),
    "resnet-50": (lambda: (ps.models.ResNet().at("resnet50"), (1, 3, 224, 224)), "resnet50", (1000,)),
    "record": (lambda: (ps.from_config({"model_type": "led", "d_model": 512}),), "LEDForConditionalGeneration", (512, 50265)),
    "record by name": (lambda: (ps.load("led"),), "LEDForConditionalGeneration", (50265, 16384)),  # of transformers' LEDConfig
    "derived": (lambda: (_derived(),), "Derived", (16, 2)),
    "growing": (lambda: (ps.Repeat(ps.Dense(C + index("i") * K, K), L, index=index("i")),), "Repeat", ()),
    "two": (lambda: (ps.load("gpt2"), ps.load("bert-base-uncased")), "gpt2 and bert-base-uncased", (50257, 30522)),
}
"""What is given to ``explore``, the title of the page, and sizes that its sliders begin with."""


def unpacked(html: str, name: str) -> str:
    """Return the script of packed data."""
    (found,) = re.findall(rf'explorer\.packed\["{name}"\] = "([^"]+)"', html)
    return zlib.decompress(b64decode(found)).decode()


@cases(2)
@pytest.mark.parametrize("name", MODELS)
def test_a_page_is_whole(name: str, tmp_path: Path) -> None:
    """One file with its data, below 1.5 MB, that asks nothing of a network."""
    build, title, sizes = MODELS[name]
    arguments = build()
    models = [one for one in arguments if isinstance(one, ps.Layer)]
    page = ps.explore(*arguments)
    path = page.save(tmp_path / "page.html")
    html = path.read_text(encoding="utf-8")
    assert page.title == title
    assert path.stat().st_size < 1_500_000
    assert (
        re.findall(r"""(?:src|href)=["'](?!data:|#)[^"']*["']|url\((?!data:)""", re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL))
        == []
    )
    written = "".join(unpacked(html, f"families/{number}") for number in range(len(models)))
    assert all(str(size) in written for size in sizes)
    table = [
        json.loads(unpacked(html, f"why/{number}").partition(',"counts"')[0].removeprefix('{"table":')) for number in range(len(models))
    ]
    said = json.dumps(table)
    for model in models:
        for symbol in sorted(model.origin[0].symbols, key=str)[:2]:
            words = "cancels" if model.origin[0].params.diff(symbol) == 0 else "enters"
            assert words in said, (symbol, words)


def test_a_notebook_gets_the_whole_page() -> None:
    """Inside a frame, whose attribute is escaped."""
    page = ps.explore(ps.Dense(H, H))
    cell = page._repr_html_()
    assert cell.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert cell.count('"') == 6
    assert "MB" in repr(page)


def test_a_page_is_written_by_its_answer() -> None:
    """A path among the arguments looks like an input: the error names the way to write the page."""
    with pytest.raises(UnknownInputError, match=r'has no input \'path\'; .*save\("page.html"\)'):
        ps.explore(ps.Dense(H, H), path="page.html")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_the_python_that_a_page_shows_gives_its_answer(question: Question) -> None:
    """For every choice, with the words that the page puts in."""
    (words,) = re.findall(r"const PYTHON = \{(.*)\};", COPIES.read_text(encoding="utf-8"))
    python = dict(re.findall(r"""(\w+): "([^"]*)\"""", words))
    model = ps.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    for choice in choices(question):
        call = question.call.replace("{model}", "model, (2, 3, 8)")
        for name, word in zip(question.choices, choice, strict=True):
            call = call.replace(f"{{{name}}}", python[word])
        found = eval(call, {"ps": ps, "model": model})  # a call that the page shows
        assert found.count == question.ask(model, ((2, 3, 8),), *choice).count, call
