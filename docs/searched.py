"""The words that people search for: those of the table on the first page, which leads from each to its pages, as entries of the index."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_ROW = re.compile(r"^\| (?!:|you look for)(.+?) \| (.+) \|$", re.MULTILINE)
_PAGE = re.compile(r"(?:\]\(|<)([\w/-]+)(?:\.md)?(?:#([\w-]+))?[)>]")
_BETWEEN = re.compile(r", |: | \(|\)")


def words(page: str, table: str) -> list[tuple[str, str, bool]]:
    """Return the words of the table's rows that lead to a page, the heading on it, empty for the whole page, and if it is the row's first.

    >>> words("how-to/onnx", "| FLOPs of a file (ONNX), of a graph | [Count](how-to/onnx.md#files) |")
    [('FLOPs of a file', 'files', True), ('ONNX', 'files', True), ('of a graph', 'files', True)]
    """
    return [
        (word, heading, place == 0)
        for said, pages in _ROW.findall(table)
        for place, (found, heading) in enumerate(_PAGE.findall(pages))
        if found == page
        for word in filter(None, map(str.strip, _BETWEEN.split(said.replace("`", ""))))
    ]


def index_words(app: Sphinx, doctree: nodes.document) -> None:
    """Add the words of a page to its entries of the index; those of the first page in a row are main ones, which the search puts first."""
    from sphinx import addnodes

    table = (Path(app.srcdir) / "index.md").read_text(encoding="utf-8")
    entries = [("single", word, heading, "main" if first else "", None) for word, heading, first in words(app.env.docname, table)]
    if entries:
        doctree.insert(0, addnodes.index(entries=entries))
