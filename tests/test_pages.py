"""The documentation as a reader's browser shows it: built with warnings as errors, formulas typeset, no network, no error.

Needs what the extra ``docs`` installs, and Chromium or Chrome; the browser is denied the network.
"""

from __future__ import annotations

import base64
import inspect
import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from documentation import browser

import paramsym as ps
from paramsym import A, H

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


def test_closed_forms_can_be_filtered(site: tuple[Path, str], tmp_path: Path) -> None:
    """Each model has an anchor; what was asked for is shown alone."""
    _, address = site
    document, _ = loaded(f"{address}/reference/closed-forms.html?filter=lstmcell", tmp_path)
    rows = re.findall(r"<tr[^>]*>.*?</tr>", document.partition('id="layers"')[2], re.DOTALL)
    shown = [row for row in rows if "<td" in row and "hidden" not in row.partition(">")[0]]
    assert shown
    assert all("LSTMCell" in row for row in shown)
    assert '<p class="rubric" id="bert" hidden="">' in document


def test_the_atlas_can_be_filtered(site: tuple[Path, str], tmp_path: Path) -> None:
    """Classes are found by their names and their types, not by the keys in their closed forms; modules of timm by their architectures."""
    _, address = site
    for typed, wanted in (("ledfor", "LEDFor"), ("resnet50d", "resnet50d"), ("fluxtransformer", "FluxTransformer2DModel")):
        document, _ = loaded(f"{address}/reference/atlas.html?filter={typed}", tmp_path)
        rows = re.findall(r"<tr[^>]*>.*?</tr>", document.partition('id="what-the-atlas-contains"')[2], re.DOTALL)
        shown = [row for row in rows if "<td" in row and "hidden" not in row.partition(">")[0]]
        assert shown
        assert all(wanted in row for row in shown)


def test_search_finds(site: tuple[Path, str], tmp_path: Path) -> None:
    """The index of words is built, and answers."""
    _, address = site
    document, console = loaded(f"{address}/search.html?q=adapter", tmp_path)
    assert "tutorials/your-own-layer.html" in document
    assert console == ""


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("install", "how-to/install"),
        ("FLOPs", "how-to/flops-of-a-model"),
        ("KV cache", "how-to/cache-of-serving"),
        ("GQA", "how-to/cache-of-serving"),
        ("quantized", "how-to/count-work-and-memory"),
        ("LoRA", "tutorials/first-hour"),
        ("VGG", "tutorials/first-hour"),
        ("U-Net", "how-to/build-what-is-not-covered"),
        ("YOLO", "how-to/build-what-is-not-covered"),
        ("diffusion", "how-to/build-what-is-not-covered"),
        ("not covered", "how-to/build-what-is-not-covered"),
    ],
)
def test_pages_are_found_by_the_words_that_people_search(site: tuple[Path, str], asked: str, page: str) -> None:
    """Sphinx' index of words names the page for each of the words, stemmed as the search stems them."""
    from sphinx.search.en import SearchEnglish

    folder, _ = site
    index = json.loads((folder / "searchindex.js").read_text(encoding="utf-8").removeprefix("Search.setIndex(").removesuffix(")"))
    number = index["docnames"].index(page)
    stem = SearchEnglish({}).stem
    for word in re.findall(r"\w+", asked.lower()):
        found = [index[kind].get(form, []) for kind in ("terms", "titleterms") for form in {word, stem(word)}]
        assert any(number == one or (isinstance(one, list) and number in one) for one in found) or word in STOPPED, word


STOPPED = frozenset({"not", "u"})
"""What the search leaves out of a question."""


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


def test_every_answer_has_its_place(site: tuple[Path, str]) -> None:
    """What a public function returns is described, too; no summary is cut at an abbreviation, and no signature is a wall."""
    folder, _ = site
    reference = "".join(page.read_text(encoding="utf-8") for page in (folder / "reference" / "api").glob("*.html"))
    functions = [function for name in dir(ps) if inspect.isfunction(function := getattr(ps, name))]
    answers = {word for function in functions for word in re.findall(r"\b[A-Z]\w+", str(function.__annotations__.get("return")))}
    outside = {"Any", "Expr", "None", "Shape", "Symbol"}
    assert [answer for answer in sorted(answers - outside) if f'.{answer}"' not in reference] == []
    overview = (folder / "reference" / "api.html").read_text(encoding="utf-8")
    assert not re.search(r"et al\.?\s*</p>", overview)
    signatures = re.findall(r'<dt class="sig sig-object py" id="paramsym.models[^"]+">(.*?)</dt>', reference, re.DOTALL)
    assert max(len(re.sub(r"<[^>]+>|\s+", "", one)) for one in signatures) < 700


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
