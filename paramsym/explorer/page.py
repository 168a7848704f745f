"""The page as one HTML text: its style, its scripts, KaTeX with its fonts, and packed data."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from paramsym.algebra.letters import LETTER_SETS, lettering
from paramsym.explorer.packing import pack
from paramsym.explorer.questions import QUESTIONS
from paramsym.render import latex

SCRIPTS = ("words", "models", "formula", "address", "stops", "sizes", "answer", "why", "crossings", "chart", "copies", "configs", "main")
_HERE = files("paramsym.explorer")
_FACE = re.compile(r"@font-face\{[^}]*?url\(fonts/(\S+?\.woff2)\)[^}]*?\}")


def page(title: str, about: Mapping[str, Any], packs: Iterable[str] = (), links: str = "") -> str:
    """Return the page.

    ``about`` is what the page has before it reads a model. ``packs`` are the models; a model that is not among them is read from a file
    beside the page.
    """
    data = [pack("index", json.dumps(about, separators=(",", ":"))), *packs]
    scripts = [_read("katex/katex.min.js"), *(_read(f"page/{name}.js") for name in SCRIPTS)]
    scripts[2:2] = data  # behind "words", which defines the explorer
    parts = {
        "title": escape(title),
        "style": f"<style>\n{_style()}\n</style>",
        "links": links,
        "scripts": "\n".join(f"<script>\n{one}</script>" for one in scripts),
    }
    return re.sub(r"<!--(\w+)-->", lambda found: parts[found[1]], _read("page/index.html"))


def listed(variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data that the page needs of a variant before it loads the variant."""
    return {"title": variant["title"], "names": [*variant["models"]] or [variant["title"]]}


def known(index: Mapping[str, Any], names: Iterable[str], **more: Any) -> dict[str, Any]:
    """Return the data that the page needs before it loads a model: the index, the questions, and the letters in papers."""
    papers: dict[str, dict[str, Any]] = {}
    for one in LETTER_SETS:
        forms = lettering(one.name)
        written = sorted({*names, *dict(forms.latex), "B", "B_v", "S", "S_d"})
        papers[one.name] = {"source": one.source, "letters": {name: latex.symbol(name, forms) for name in written}}
    usual = papers["bert"]["letters"]
    for name, paper in papers.items():
        if name != "bert":
            paper["letters"] = {letter: form for letter, form in paper["letters"].items() if form != usual.get(letter)}
    questions = [{"name": q.name, "title": q.title, "unit": q.unit, "choices": q.choices, "call": q.call} for q in QUESTIONS]
    return {"index": index, "questions": questions, "papers": papers, **more}


@cache
def _read(path: str) -> str:
    return _HERE.joinpath(path).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """Return the page's style and KaTeX', with the fonts that are in the package; faces of other fonts are left out."""
    return f"{_FACE.sub(lambda found: _face(found[0], found[1]), _read('katex/katex.min.css'))}\n{_read('page/explorer.css')}"


def _face(face: str, name: str) -> str:
    font = _HERE.joinpath("katex", name)
    if not font.is_file():
        return ""
    return re.sub(r"src:.*", f'src:url(data:font/woff2;base64,{b64encode(font.read_bytes()).decode()}) format("woff2")}}', face)
