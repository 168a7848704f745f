"""What is taken along from the page: links, Python, LaTeX, code, pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from chromium import Browser
from explored import show

import paramsym as ps

STATES = (
    "#model=gpt2&H=1024&A=16&question=params",
    "#model=meta-llama%2FLlama-2-70b-hf&question=flops&pass=training&count=MACs&input.S=4096&letters=vaswani",
    "#model=bert-base-uncased&question=activations&precision=bfloat16&attention=fused&input.B=8&why=A&chart=S",
    "#model=t5-small&question=cache&precision=bfloat16",
    "#model=google%2Fvit-base-patch16-224&question=training&letters=kaplan",
    "#model=gpt2&question=inference&with=gpt2-medium&with.L=30&letters=megatron",
)


@pytest.mark.parametrize("address", STATES)
def test_a_link_restores_everything(page: Browser, folder: Path, address: str) -> None:
    """What is copied as a link shows the same again."""
    shown = ".total, .choices select, .size .field, #paper, #why-letter, #chart-letter"
    said = f"[...document.querySelectorAll('{shown}')].map((one) => one.value ?? one.textContent)"
    show(page, folder, address)
    page.wait("document.querySelector('#chart').textContent")
    before = page.run(said)
    page.run("document.querySelector('[data-copy=link]').click()")
    link = page.run("explorer.copied")
    show(page, folder, "")
    page.open(link, "document.body?.dataset.ready && document.querySelector('#chart').textContent")
    assert page.run(said) == before
    assert link.startswith("file://")


@pytest.mark.parametrize("address", STATES)
def test_copied_python_gives_the_same_numbers(page: Browser, folder: Path, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run as it stands."""
    show(page, folder, address)
    page.run("document.querySelector('[data-copy=python]').click()")
    exec(page.run("explorer.copied"), {})  # noqa: S102 - what is tested is that the source runs
    shown = page.run("[...document.querySelectorAll('.total .count')].map((one) => one.textContent)")
    assert capsys.readouterr().out.split() == [one.replace(",", "") for one in shown]


def test_copied_latex_compiles(page: Browser, folder: Path, tmp_path: Path) -> None:
    """In an article, with amsmath alone."""
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("there is no pdflatex")
    written = []
    for address in STATES:
        show(page, folder, address)
        page.run("document.querySelector('[data-copy=latex]').click()")
        written.append(page.run("explorer.copied"))
    assert all(one.count(r"\begin{align*}") >= 1 and r"\letter" not in one for one in written)
    body = "\n\n".join(written)
    begin = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    (tmp_path / "copied.tex").write_text(f"{begin}{body}\n\\end{{document}}\n")
    run = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "copied.tex"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_code_that_is_copied_is_what_export_writes(page: Browser) -> None:
    """The body of the function, check by check."""
    page.run("document.querySelector('[data-copy=code]').click()")
    code = page.run("explorer.copied")
    exported = ps.export(ps.load("gpt2").origin[0], "javascript", name="count").code.splitlines()
    assert "as ps.export writes it" in code
    assert all(line.strip() in code for line in exported[1:4])


def test_a_picture_is_whole_by_itself(page: Browser) -> None:
    """One SVG that names no file, with the total, the parts and the chart in it; a browser can draw it."""
    page.wait("document.querySelector('#chart svg')")
    picture = page.run("explorer.picture()")
    assert picture.startswith("<svg ")
    assert "124,439,808" in picture
    assert "transformer.h.attn.c_attn" in picture
    assert not re.search(r"(href|src)=|url\(", picture)
    loaded = "image.onload = () => resolve(image.width); image.onerror = () => resolve(0)"
    source = "image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(explorer.picture())"
    assert page.run(f"new Promise((resolve) => {{ const image = new Image(); {loaded}; {source}; }})") == 900


SAVED = """
window.saved = {};
HTMLAnchorElement.prototype.click = async function () {
  saved[this.download] = [...new Uint8Array(await (await fetch(this.href)).arrayBuffer()).slice(0, 8)];
};
"""


def test_a_picture_is_saved(page: Browser) -> None:
    """The buttons give files of the named kinds; the file names say what was shown."""
    page.wait("document.querySelector('#chart svg')")
    page.run(SAVED)
    for kind in ("svg", "png"):
        page.click(f"[data-save={kind}]")
        page.wait(f"saved['gpt2-params.{kind}']")
    files = {name: bytes(begin) for name, begin in page.run("saved").items()}
    assert files == {"gpt2-params.svg": b"<svg xml", "gpt2-params.png": b"\x89PNG\r\n\x1a\n"}
    assert page.run("document.querySelector('#copied').textContent") == "Saved: gpt2-params.png"


def test_an_address_that_names_nothing_is_said(page: Browser, folder: Path) -> None:
    """A model that is not there, sizes that are none and choices that nobody offers leave what is usual."""
    show(page, folder, "#model=no-such-model&H=twelve&question=colour&letters=nobody&input.S=-1")
    assert "'no-such-model' is not on this page" in page.run("document.querySelector('#config-said').textContent")
    assert page.run("document.querySelector('.total .count').textContent") == "124,439,808"
