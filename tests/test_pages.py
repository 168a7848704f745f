"""The documentation as a reader's browser shows it: built with warnings as errors, formulas typeset, no network, no error.

Needs what the extra ``docs`` installs, and Chromium or Chrome; the browser is denied the network.
"""

from __future__ import annotations

import base64
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest

import paramsym as ps
from paramsym import A, H

ROOT = Path(__file__).parents[1]
NEEDED = ("sphinx", "myst_nb", "furo", "sphinx_copybutton", "sphinxcontrib.bibtex", "sphinx-mathjax-offline", "matplotlib", "pandas")
PAGES = (
    "index.html",
    "tutorials/bert.html",
    "tutorials/convolution.html",
    "how-to/put-a-derivation-into-a-paper.html",
    "explanation/convolutional-networks.html",
    "explanation/why-heads-cancel.html",
    "gallery/index.html",
    "reference/closed-forms.html",
    "reference/dialects.html",
    "reference/letters.html",
)


def browser() -> str:
    """Return the browser's command."""
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium")
    return found


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line per request."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Build the pages once, and serve them on this machine alone."""
    for name in NEEDED:
        try:
            found = find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        str(folder / "trees"),
        "-b",
        "html",
        "docs",
        str(folder / "html"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    handler = functools.partial(_Quiet, directory=str(folder / "html"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder / "html", f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def loaded(url: str, folder: Path) -> tuple[str, str]:
    """Return a page's document once its scripts ran, and what the console said."""
    command = [
        browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--log-level=0",
        f"--user-data-dir={folder}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--virtual-time-budget=20000", "--allow-file-access-from-files", "--dump-dom", url,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return done.stdout, console


@pytest.mark.parametrize("page", PAGES)
def test_formulas_are_typeset(site: tuple[Path, str], page: str, tmp_path: Path) -> None:
    """MathJax, which lies beside the pages, sets every formula; the console stays silent."""
    _, address = site
    document, console = loaded(f"{address}/{page}", tmp_path)
    assert document.count("<mjx-container") >= 1
    assert "<mjx-merror" not in document
    assert console == ""


def test_search_finds(site: tuple[Path, str], tmp_path: Path) -> None:
    """The index of words is built, and answers."""
    _, address = site
    document, console = loaded(f"{address}/search.html?q=adapter", tmp_path)
    assert "tutorials/your-own-layer.html" in document
    assert console == ""


class _Sources(HTMLParser):
    """Collect what a page loads by itself; links that a reader follows are not among it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the sources of scripts, styles, pictures and frames."""
        values = dict(attrs)
        if tag in {"script", "img", "iframe", "source", "video"}:
            self.found.append(values.get("src") or "")
        if tag == "link" and values.get("rel") not in {"canonical", "search", "next", "prev", "index", "author"}:
            self.found.append(values.get("href") or "")


def test_no_page_loads_from_the_network(site: tuple[Path, str]) -> None:
    """Every script, style and picture lies beside the pages."""
    folder, _ = site
    for page in folder.rglob("*.html"):
        sources = _Sources()
        sources.feed(page.read_text(encoding="utf-8"))
        assert [source for source in sources.found if re.match(r"(https?:)?//", source)] == [], page


def test_every_public_name_has_its_place(site: tuple[Path, str]) -> None:
    """The reference knows every layer, function and model."""
    folder, _ = site
    reference = "".join(page.read_text(encoding="utf-8") for page in (folder / "reference" / "api").glob("*.html"))
    names = [name for name in dir(ps) if getattr(getattr(ps, name), "__name__", "") == name]  # an alias stands under its first name
    missing = [name for name in names if f'.{name}"' not in reference]
    assert missing == []


def test_an_exported_notebook(site: tuple[Path, str], tmp_path: Path) -> None:
    """What a notebook shows of layers, tables, derivations and answers stays readable as a page of its own."""
    nbformat, exporters = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert.exporters")
    formatters = pytest.importorskip("IPython.core.formatters")
    _, address = site
    bert = ps.models.Bert().at("bert-base-uncased")
    attention = ps.MultiHeadAttention(H, A)
    things = [bert, attention, bert.table(depth=1), bert.ledger(), ps.explain(attention, A), ps.reconcile(bert, 109_786_368)]
    things += [ps.conventions(bert), ps.compare(attention, ps.Dense(H, H)), ps.sensitivity(bert, "H"), ps.asymptotics(ps.models.Gpt2())]
    things += [ps.match(ps.Dense(4, 3), {"weight": (4, 3)}), ps.summary(ps.models.LeNet5(), (1, 1, 32, 32)), ps.plot.share(bert)]
    formatter = formatters.DisplayFormatter()
    notebook = nbformat.v4.new_notebook()
    for thing in things:
        data, metadata = formatter.format(thing)
        data = {kind: base64.b64encode(shown).decode() if isinstance(shown, bytes) else shown for kind, shown in data.items()}
        output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
        notebook.cells.append(nbformat.v4.new_code_cell("show()", outputs=[output]))
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"${ps.models.Bert().to_latex()}$"))
    local = f"{address}/_static/mathjax/tex-chtml.js"
    exporter = exporters.HTMLExporter(mathjax_url=local, require_js_url="", embed_images=True)
    text, _ = exporter.from_notebook_node(notebook)
    (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
    document, _console = loaded((tmp_path / "notebook.html").as_uri(), tmp_path / "profile")
    assert document.count("jp-OutputArea-output") >= len(things)
    assert "109,482,240" in document
    assert document.count("jp-RenderedHTML ") >= len(things)
    assert document.count("<details>") >= 2
    assert "<i>H</i><sup>2</sup>" in document
