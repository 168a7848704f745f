"""What is written as LaTeX is typeset on a screen too: by KaTeX and by MathJax, both run by Node where their packages are installed.

``npm install katex mathjax@3`` in a folder, and ``NODE_PATH`` set to its ``node_modules``, switch these tests on.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import strategies

import paramsym as ps
from paramsym.algebra.letters import LETTER_SETS
from paramsym.errors import ArgumentError
from paramsym.present.typeset import FORMS
from paramsym.render.widths import LINE

KATEX = """
const katex = require("katex"), found = JSON.parse(require("fs").readFileSync(0));
const refused = tex => { try { katex.renderToString(tex, {displayMode: true, strict: "error"}); return false } catch { return true } };
const bad = found.filter(refused);
console.log(JSON.stringify(bad));
"""
MATHJAX = """
const found = JSON.parse(require("fs").readFileSync(0));
require("mathjax").init({loader: {load: ["input/tex", "output/svg"]}}).then(MathJax => {
  const bad = found.filter(tex => MathJax.startup.adaptor.outerHTML(MathJax.tex2svg(tex)).includes("data-mjx-error"));
  console.log(JSON.stringify(bad));
});
"""


def written() -> list[str]:
    """Return every form of every layer and family in every set of letters, derivations, steps and limits."""
    layers = [strategies.plain(cls) for cls in (*strategies.storing_classes(), *strategies.model_classes())]
    found = []
    for layer in layers:
        by = min(layer.params.free_symbols, key=lambda symbol: symbol.name, default=None)
        for letters in LETTER_SETS:
            with suppress(ArgumentError):  # two symbols that would be written alike
                found += [layer.to_latex(form, width=LINE, letters=letters.name) for form in FORMS if form not in {"steps", "collected"}]
        found += [layer.to_latex("collected", by=by)] if by is not None else []
        for symbol in sorted(layer.symbols, key=lambda symbol: symbol.name)[:2]:
            found += [ps.explain(layer, symbol).to_latex(words=words) for words in ("text", "none")]
    found += [ps.models.Bert().at("bert-base-uncased").to_latex("steps"), ps.models.Gpt2().at("gpt2").to_latex("steps")]
    return [*dict.fromkeys(found), ps.asymptotics(ps.models.Bert()).to_latex()]


@pytest.mark.parametrize(("package", "script"), [("katex", KATEX), ("mathjax", MATHJAX)])
def test_typeset_on_a_screen(package: str, script: str) -> None:
    """Nothing is refused, not even with KaTeX' strict eye."""
    folders = [Path(folder) for folder in os.environ.get("NODE_PATH", "").split(os.pathsep) if folder]
    node = shutil.which("node")
    if node is None or not any((folder / package).is_dir() for folder in folders):
        pytest.skip(f"Node's package {package} is not installed")
    done = subprocess.run([node, "-e", script], input=json.dumps(written()), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
