"""Configuration of the pages: Sphinx, MyST-NB and furo; every number is computed while building, and no page needs the network."""

from __future__ import annotations

import gc
import inspect
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from api_pages import pages, signature  # noqa: E402 - beside this file
from searched import index_words  # noqa: E402
from sphinx import addnodes  # noqa: E402
from sphinx.errors import ExtensionError  # noqa: E402

import paramsym  # noqa: E402 - the checkout this file is in

project = "paramsym"
author = "The paramsym developers"
copyright = author
release = paramsym.__version__
version = release

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
    "sphinxcontrib.bibtex",
    "scratch.extension",
]
exclude_patterns = ["_build", "explorer", "**.ipynb_checkpoints", "jupyter_execute"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}

html_theme = "furo"
html_title = f"paramsym {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_excludepatterns = ["*.ipynb"]  # the hand-outs hold their outputs, and tests compare them
nb_execution_timeout = 600  # the page of the atlas reads every record, beside whatever else the machine does
nb_execution_show_tb = True
nb_render_markdown_format = "myst"
nb_mime_priority_overrides = [("*", "text/html", 0), ("*", "text/markdown", 5), ("*", "text/latex", 10)]
# Files beside a page that its cells read.
nb_execution_in_temp = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 100
napoleon_google_docstring = True
napoleon_numpy_docstring = False

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

suppress_warnings = [
    "myst.xref_missing",  # README and changelog link to files of the repository
]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_generated(_app: Sphinx) -> None:
    """Write the reference of every public name and the gallery, from the package as it is, and copy the hand-outs."""
    folder = HERE / "reference" / "api"
    wanted = pages()
    for name, text in wanted.items():
        _write(folder / name, text)
    for old in set(folder.glob("*.rst")) - {folder / name for name in wanted}:
        old.unlink()
    for notebook in sorted((HERE.parent / "examples").glob("*.ipynb")):
        _write(HERE / "notebooks" / notebook.name, notebook.read_text(encoding="utf-8"))
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])}
    subprocess.run([sys.executable, "build.py"], cwd=HERE / "gallery", check=True, env=found)


def show_fields(_app: Sphinx, what: str, name: str, thing: Any, _options: Any, _signature: str, _returns: str) -> tuple[str, str] | None:
    """Show a layer's own arguments: the base class's ``__new__``, which only checks them, hides them from Sphinx."""
    if what == "class" and "__dataclass_fields__" in vars(thing):
        if name.startswith("paramsym.models."):  # a recorded family is made in another module
            return signature(thing), ""
        written = re.sub(r": '([^']*)'|: \"([^\"]*)\"", lambda found: f": {found[1] or found[2]}", str(inspect.signature(thing)))
        return re.sub(r" -> '?None'?$", "", written), ""
    return None


def close_examples(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Leave out the empty line that doctest wants before the end of an example."""
    source[0] = re.sub(r"(```pycon\n(?:(?!```).)*?)\n+```", r"\1\n```", source[0], flags=re.DOTALL)


def keep_imported(*_: Any) -> None:
    """Leave what is imported and read out of Python's search for garbage, which would take a third of the time."""
    gc.collect()
    gc.freeze()


def titles_alone(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Give the theme's navigation, which is the same on every page, the titles of all pages.

    By itself, Sphinx copies the whole contents of all pages for each page, and then cuts them to the titles: two fifths of its time.
    """
    toctree = context["toctree"]

    def navigation(**options: Any) -> str:
        whole = app.env.tocs
        if options.get("titles_only"):
            app.env.tocs = _titles(app.env)
        try:
            return str(toctree(**options))
        finally:
            app.env.tocs = whole

    context["toctree"] = navigation


@cache
def _titles(env: BuildEnvironment) -> dict[str, Any]:
    """Return the contents of each page with nothing but its title and its lists of further pages."""
    found = {}
    for name, contents in env.tocs.items():
        found[name] = contents.deepcopy()
        for entry in found[name].children:
            if len(entry) > 1:
                lists = [*entry.findall(addnodes.toctree)]
                entry[1][:] = lists
                entry[1:] = entry[1:] if lists else []
    return found


def _explorer(app: Sphinx) -> list[str]:
    """Return the command for the explorer's data, which is cached until the library changes."""
    kept = os.environ.get("EXPLORER_KEPT") or f"{app.doctreedir}-explorer"
    return [sys.executable, str(HERE / "explorer" / "build.py"), "--kept", kept]


def start_explorer(app: Sphinx) -> None:
    """Compute the explorer's data on the other cores, while Sphinx reads and writes the pages on one."""
    if app.builder.name == "html":
        data = subprocess.Popen(_explorer(app))  # noqa: S603 - the file beside this one
        app.connect("build-finished", lambda app, error: write_explorer(app, error, data))


def write_explorer(app: Sphinx, error: Exception | None, data: subprocess.Popen[bytes]) -> None:
    """Write the page with sliders beside the others, once its data is there."""
    if error is not None:
        data.terminate()
    if data.wait() == 0:
        subprocess.run([*_explorer(app), "--", str(app.outdir)], check=True)  # noqa: S603 - likewise
    elif error is None:
        message = "the data of the explorer cannot be computed."
        raise ExtensionError(message)


def setup(app: Sphinx) -> dict[str, Any]:
    """Generate pages before Sphinx looks for them, the explorer's data beside it, and the explorer after it has written the others."""
    app.connect("builder-inited", start_explorer, priority=50)
    app.connect("builder-inited", write_generated, priority=100)
    app.connect("builder-inited", keep_imported, priority=900)
    app.connect("env-updated", keep_imported)
    app.connect("autodoc-process-signature", show_fields)
    app.connect("source-read", close_examples)
    app.connect("doctree-read", index_words)
    app.connect("html-page-context", titles_alone, priority=100)  # before the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
