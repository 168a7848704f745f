"""How the pages are built: Sphinx, MyST-NB and furo; every number is computed while building, and no page needs the network."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

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
]
exclude_patterns = ["_build", "**.ipynb_checkpoints", "jupyter_execute"]
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext"}

html_theme = "furo"
html_title = f"paramsym {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_show_tb = True
nb_render_markdown_format = "myst"
nb_mime_priority_overrides = [("*", "text/html", 0), ("*", "text/markdown", 5), ("*", "text/latex", 10)]
# Files beside a page that its cells read.
nb_execution_in_temp = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False

copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

suppress_warnings = [
    "myst.xref_missing",  # README and changelog link to files of the repository
]


def homes() -> dict[str, list[str]]:
    """Return ``{module: public names}`` as the package's own table says."""
    source = Path(paramsym.__file__).read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "_HOMES":
            return {module: names.split() for module, names in ast.literal_eval(node.value).items()}
    message = "paramsym/__init__.py has no table of public names."
    raise LookupError(message)


def _api_page(module: str, names: list[str]) -> str:
    title = module.removeprefix("paramsym.")
    lines = [title, "=" * len(title), "", f".. automodule:: {module}", "   :no-members:", ""]
    for name in names:
        thing = getattr(paramsym, name)
        if isinstance(thing, type):
            lines += [f".. autoclass:: {module}.{name}", "   :members:", ""]
        elif callable(thing):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            lines += [f".. py:data:: {module}.{name}", ""]
    return "\n".join(lines)


def _models_page() -> str:
    lines = ["models", "======", "", ".. automodule:: paramsym.models", "   :no-members:", ""]
    for name in sorted(dir(paramsym.models)):
        thing = getattr(paramsym.models, name)
        if isinstance(thing, type):
            lines += [f".. autoclass:: {thing.__module__}.{name}", "   :members:", ""]
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_generated(_app: Sphinx) -> None:
    """Write the reference of every public name and the gallery, from the package as it is."""
    folder = HERE / "reference" / "api"
    wanted = {f"{module.removeprefix('paramsym.')}.rst": _api_page(module, names) for module, names in homes().items()}
    wanted["models.rst"] = _models_page()
    for module in ("plot", "testing"):
        wanted[f"{module}.rst"] = "\n".join([module, "=" * len(module), "", f".. automodule:: paramsym.{module}", "   :members:", ""])
    wanted["errors.rst"] = "errors\n======\n\n.. automodule:: paramsym.errors\n   :members:\n"
    for name, text in wanted.items():
        _write(folder / name, text)
    for old in set(folder.glob("*.rst")) - {folder / name for name in wanted}:
        old.unlink()
    subprocess.run([sys.executable, "build.py"], cwd=HERE / "gallery", check=True)


def show_fields(_app: Sphinx, what: str, _name: str, thing: Any, _options: Any, _signature: str, _returns: str) -> tuple[str, str] | None:
    """Show a layer's own arguments: the base class's ``__new__``, which only checks, hides them from Sphinx."""
    if what == "class" and "__dataclass_fields__" in vars(thing):
        written = re.sub(r": '([^']*)'|: \"([^\"]*)\"", lambda found: f": {found[1] or found[2]}", str(inspect.signature(thing)))
        return re.sub(r" -> '?None'?$", "", written), ""
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    """Generate pages before Sphinx looks for them."""
    app.connect("builder-inited", write_generated, priority=100)
    app.connect("autodoc-process-signature", show_fields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
