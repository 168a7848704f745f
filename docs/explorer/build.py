"""Write the explorer: a page that computes counts in the browser, with one file of data for each family.

Run from the repository: ``python docs/explorer/build.py FOLDER [FAMILY ...]`` writes ``FOLDER/explorer`` and what it needs beside it.
The page works from a folder, without a server and without a network.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from configs import of_type  # noqa: E402 - beside this file
from data import variant_script  # noqa: E402
from questions import QUESTIONS  # noqa: E402
from reasons import reasons_script  # noqa: E402
from variants import Variant, families  # noqa: E402

import paramsym  # noqa: E402 - the checkout this file is in
from paramsym.algebra.letters import LETTER_SETS, lettering  # noqa: E402
from paramsym.render import latex  # noqa: E402

SCRIPTS = "words models formula address stops sizes answer why chart copies configs main".split()
LINKS = {"../index.html": "Documentation", "../scratch.html": "Scratch", "../scratch/index.html": "Scratch"}
MATHJAX = "_static/mathjax/tex-svg-full.js"


def build(folder: Path, kept: Path, only: Iterable[str] = ()) -> None:
    """Write the explorer into ``folder/explorer``; what a family needs is kept in ``kept`` until the library changes.

    Raises:
        LookupError: a family that there is not.
    """
    out, wanted = folder / "explorer", set(only)
    for part in ("families", "why"):
        (out / part).mkdir(parents=True, exist_ok=True)
    index: dict[str, Any] = {}
    letters: set[str] = set()
    stamp = _stamp()
    for name, variants in families():
        if wanted and name not in wanted:
            continue
        index[name] = [{"title": one.title, "names": [*one.sizes] or [one.title], "types": [*one.configs]} for one in variants]
        letters |= {symbol.name for one in variants for symbol in one.root.symbols}
        packs = _kept(kept / f"{name}.json", stamp, variants)
        for part, script in packs.items():
            (out / part / f"{name}.js").write_text(_pack(f"{part}/{name}", script), encoding="utf-8")
    if missing := wanted - index.keys():
        message = f"there is no family {', '.join(sorted(missing))}."
        raise LookupError(message)
    (out / "index.js").write_text("\n".join(_index(index, letters)), encoding="utf-8")
    for file in (HERE / "page").glob("*.*"):
        if file.suffix != ".html":
            shutil.copy(file, out)
    links = "".join(f'<a href="{href}">{title}</a> ' for href, title in LINKS.items() if href == "../index.html" or (out / href).exists())
    scripts = "\n".join(f'<script src="{name}.js"></script>' for name in [SCRIPTS[0], "index", *SCRIPTS[1:]])
    page = (HERE / "page" / "index.html").read_text(encoding="utf-8")
    (out / "index.html").write_text(page.replace("<!--links-->", links).replace("<!--scripts-->", scripts), encoding="utf-8")
    _copy_mathjax(folder / MATHJAX)


def _kept(path: Path, stamp: str, variants: list[Variant]) -> dict[str, str]:
    """Return the scripts of a family, from ``path`` where they were written by the same library."""
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("stamp") == stamp:
            return found
    types = json.dumps({model_type: of_type(model_type) for one in variants for model_type in one.configs})
    scripts = {
        "families": f'{{"variants": [{",".join(map(variant_script, variants))}], "types": {types}}}',
        "why": f"[{','.join(map(reasons_script, variants))}]",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"stamp": stamp, **scripts}), encoding="utf-8")
    return scripts


def _stamp() -> str:
    """Return a digest of all that the data comes from."""
    digest = hashlib.sha256()
    root = Path(paramsym.__file__).parent
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.csv"), *HERE.glob("*.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _pack(name: str, script: str) -> str:
    packed = base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()
    return f'explorer.packs["{name}"]("{packed}");\n'


def _index(index: dict[str, Any], names: set[str]) -> Iterator[str]:
    """Yield what the page knows before a family is loaded: names, questions, letters of papers."""
    yield '"use strict";'
    yield f"explorer.index = {json.dumps(index, separators=(',', ':'))};"
    asked = [{"name": q.name, "title": q.title, "unit": q.unit, "choices": q.choices, "call": q.call} for q in QUESTIONS]
    yield f"explorer.questions = {json.dumps(asked)};"
    papers: dict[str, Any] = {}
    for one in LETTER_SETS:
        forms = lettering(one.name)
        known = sorted({*names, *dict(forms.latex), "B", "B_v", "S", "S_d"})
        papers[one.name] = {"source": one.source, "letters": {name: latex.symbol(name, forms) for name in known}}
    usual = papers["bert"]["letters"]
    for name, paper in papers.items():
        if name != "bert":
            paper["letters"] = {letter: form for letter, form in paper["letters"].items() if form != usual.get(letter)}
    yield f"explorer.papers = {json.dumps(papers)};"


def _copy_mathjax(target: Path) -> None:
    """Put MathJax where the page looks for it, if it is installed; Sphinx has it there already."""
    found = find_spec("sphinx-mathjax-offline")
    source = Path(str(found.origin)).parent / "static" / "mathjax" / target.name if found else None
    if source is not None and source.exists() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[1]) / ".explorer", sys.argv[2:])
