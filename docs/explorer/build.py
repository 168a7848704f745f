"""Write the explorer: a page that computes counts in the browser, with one file of data for each family.

Run from the repository: ``python docs/explorer/build.py FOLDER [FAMILY ...]`` writes ``FOLDER/explorer`` and what it needs beside it.
The page works from a folder, without a server and without a network.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from configs import of_all, of_type  # noqa: E402 - beside this file
from data import variant_data  # noqa: E402
from packing import family_script, pack, reasons_script  # noqa: E402
from questions import QUESTIONS  # noqa: E402
from reasons import reasons_data  # noqa: E402
from variants import variants_of  # noqa: E402

import paramsym  # noqa: E402 - the checkout this file is in
from paramsym.algebra.letters import LETTER_SETS, lettering  # noqa: E402
from paramsym.atlas.files import recorded_types  # noqa: E402
from paramsym.models import FAMILIES, model_types  # noqa: E402
from paramsym.render import latex  # noqa: E402

NAMES = [name for classes, _ in FAMILIES.values() for name in classes.split()]
SCRIPTS = ("words", "models", "formula", "address", "stops", "sizes", "answer", "why", "crossings", "chart", "copies", "configs", "main")
LINKS = {"../index.html": "Documentation", "../scratch.html": "Scratch", "../scratch/index.html": "Scratch"}
MATHJAX = "_static/mathjax/tex-svg-full.js"


def build(folder: Path, kept: Path, only: Iterable[str] = ()) -> None:
    """Write the explorer into ``folder/explorer``; a family's data is cached in ``kept`` until the library changes.

    Raises:
        LookupError: a family that does not exist.
    """
    out, wanted = folder / "explorer", [*only] or NAMES
    if missing := {*wanted} - {*NAMES}:
        message = f"there is no family {', '.join(sorted(missing))}."
        raise LookupError(message)
    for part in ("families", "why"):
        (out / part).mkdir(parents=True, exist_ok=True)
    kept.mkdir(parents=True, exist_ok=True)
    stamp = _stamp()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(wanted, pool.map(_family, wanted, repeat(kept), repeat(stamp)), strict=True))
    for name, family in found.items():
        for part, script in (("families", family_script(family["variants"], family["types"])), ("why", reasons_script(family["why"]))):
            (out / part / f"{name}.js").write_text(pack(f"{part}/{name}", script), encoding="utf-8")
    index = {name: [_listed(one) for one in family["variants"]] for name, family in found.items()}
    letters = {letter for family in found.values() for letter in family["letters"]}
    (out / "index.js").write_text(pack("index", json.dumps(_index(index, letters), separators=(",", ":"))), encoding="utf-8")
    for file in (HERE / "page").glob("*.*"):
        if file.suffix != ".html":
            shutil.copy(file, out)
    links = "".join(f'<a href="{href}">{title}</a> ' for href, title in LINKS.items() if href == "../index.html" or (out / href).exists())
    scripts = "\n".join(f'<script src="{name}.js"></script>' for name in SCRIPTS)
    page = (HERE / "page" / "index.html").read_text(encoding="utf-8")
    (out / "index.html").write_text(page.replace("<!--links-->", links).replace("<!--scripts-->", scripts), encoding="utf-8")
    _copy_mathjax(folder / MATHJAX)


def _family(name: str, kept: Path, stamp: str) -> dict[str, Any]:
    """Return a family's data for the page, from the file in ``kept`` if the same library wrote it."""
    path = kept / f"{name}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["stamp"] == stamp:
            return found
    variants = variants_of(name)
    found = {
        "stamp": stamp,
        "letters": sorted({symbol.name for one in variants for symbol in one.root.symbols}),
        "variants": [variant_data(one) for one in variants],
        "types": {model_type: of_type(model_type) for one in variants for model_type in one.configs},
        "why": [reasons_data(one) for one in variants],
    }
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def _stamp() -> str:
    """Return a digest of everything from which the data is computed."""
    digest = hashlib.sha256()
    root = Path(paramsym.__file__).parent
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.csv"), *HERE.glob("*.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _listed(variant: dict[str, Any]) -> dict[str, Any]:
    """Return the page's data of a variant before it is loaded."""
    return {"title": variant["title"], "names": [*variant["models"]] or [variant["title"]], "types": [*variant["configs"]]}


def _index(index: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Return the data that the page has before it loads a family: names, questions, types and keys of configurations, letters of papers."""
    papers: dict[str, Any] = {}
    for one in LETTER_SETS:
        forms = lettering(one.name)
        known = sorted({*names, *dict(forms.latex), "B", "B_v", "S", "S_d"})
        papers[one.name] = {"source": one.source, "letters": {name: latex.symbol(name, forms) for name in known}}
    usual = papers["bert"]["letters"]
    for name, paper in papers.items():
        if name != "bert":
            paper["letters"] = {letter: form for letter, form in paper["letters"].items() if form != usual.get(letter)}
    return {
        "index": index,
        "questions": [{"name": q.name, "title": q.title, "unit": q.unit, "choices": q.choices, "call": q.call} for q in QUESTIONS],
        "types": sorted({*model_types(), *recorded_types()}),
        "keys": of_all(),
        "papers": papers,
    }


def _copy_mathjax(target: Path) -> None:
    """Put MathJax where the page looks for it, if it is installed; Sphinx has already put it there."""
    found = find_spec("sphinx-mathjax-offline")
    source = Path(str(found.origin)).parent / "static" / "mathjax" / target.name if found else None
    if source is not None and source.exists() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pages are")
    parser.add_argument("families", nargs="*", help="the classes of the families; all, by default")
    parser.add_argument("--kept", type=Path, help="folder of the cache for the next build")
    given = parser.parse_args()
    build(given.folder, given.kept or given.folder / ".explorer", given.families)
