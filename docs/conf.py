"""How the pages are built: Sphinx, MyST-NB and furo; every number is computed while building, and no page needs the network."""

from __future__ import annotations

import ast
import inspect
import itertools
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

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
        if inspect.isclass(thing):
            lines += [f".. autoclass:: {module}.{name}", "   :members:", ""]
        elif inspect.isfunction(thing):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            said = textwrap.indent(_said_of_data(module).get(name, ""), "   ")
            lines += [f".. py:data:: {module}.{name}", "", said, ""]
    return "\n".join(lines)


def _families() -> dict[str, list[type]]:
    """Return ``{file: classes}`` of the model families."""
    found: dict[str, list[type]] = {}
    for name in sorted(dir(paramsym.models)):
        thing = getattr(paramsym.models, name)
        if isinstance(thing, type):
            found.setdefault(thing.__module__, []).append(thing)
    return found


def _family_page(module: str, classes: list[type]) -> str:
    """Write one family: its classes, and what its published sizes count."""
    title = module.removeprefix("paramsym.")
    lines = [title, "=" * len(title), "", f".. automodule:: {module}", "   :no-members:", ""]
    for cls in classes:
        lines += [
            f".. autoclass:: {module}.{cls.__name__}",
            "   :members:",
            "   :exclude-members: conditions, parts, tensors, ties, published",
            "",
        ]
        sizes = getattr(cls, "published", {})
        if sizes:
            lines += [f"   Sizes that ``{cls.__name__}().at(name)`` knows by name:", ""]
            lines += [f"   - ``{name}``: " + ", ".join(f"{key} {value}" for key, value in values.items()) for name, values in sizes.items()]
            lines.append("")
    return "\n".join(lines)


def _keras_page() -> str:
    """Write the doors in Keras' spelling."""
    lines = ["keras", "=====", "", ".. automodule:: paramsym.keras", "   :no-members:", ""]
    for name in dir(paramsym.keras):
        thing = getattr(paramsym.keras, name)
        if callable(thing) and getattr(thing, "__name__", "") == name:
            lines += [f".. autofunction:: {thing.__module__}.{name}", ""]
    return "\n".join(lines)


def _first_sentence(said: str) -> str:
    return re.split(r"(?<=[.:])\s", said.replace("\n", " "), maxsplit=1)[0].removesuffix(":").removesuffix(".") + "."


def _said_of_data(module: str) -> dict[str, str]:
    """Return the words beneath the constants of a module, and what its letters stand for."""
    found = {letter.name: letter.meaning for letter in paramsym.LETTERS}
    body = ast.parse(Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")).body
    for node, after in itertools.pairwise(body):
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            found |= {target.id: after.value.value for target in targets if isinstance(target, ast.Name)}
    return found


def _index(pages: dict[str, list[tuple[str, Any]]]) -> str:
    """List every public name with its first sentence, a section per page."""
    lines: list[str] = []
    for page, things in pages.items():
        lines += [f"`{page} <api/{page}.html>`__", "   .. list-table::", "      :widths: 30 70", ""]
        for name, thing in things:
            kind = "class" if inspect.isclass(thing) else "func" if inspect.isfunction(thing) else "data"
            home = getattr(thing, "__module__", "") if kind != "data" else f"paramsym.{page}"
            said = (inspect.getdoc(thing) or "") if kind != "data" else _said_of_data(home).get(name, "")
            lines += [f"      * - :py:{kind}:`~{home}.{name}`", f"        - {_first_sentence(said) if said else ''}"]
        lines.append("")
    return "\n".join(lines)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_generated(_app: Sphinx) -> None:
    """Write the reference of every public name and the gallery, from the package as it is."""
    folder = HERE / "reference" / "api"
    wanted = {f"{module.removeprefix('paramsym.')}.rst": _api_page(module, names) for module, names in homes().items()}
    listed = {module.removeprefix("paramsym."): [(name, getattr(paramsym, name)) for name in names] for module, names in homes().items()}
    for module, classes in _families().items():
        wanted[f"{module.removeprefix('paramsym.')}.rst"] = _family_page(module, classes)
        listed[module.removeprefix("paramsym.")] = [(cls.__name__, cls) for cls in classes]
    wanted["keras.rst"] = _keras_page()
    _write(folder / "names.txt", _index(listed))
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


def close_examples(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Leave out the empty line that doctest wants before the end of an example."""
    source[0] = re.sub(r"(```pycon\n(?:(?!```).)*?)\n+```", r"\1\n```", source[0], flags=re.DOTALL)


def write_explorer(app: Sphinx, error: Exception | None) -> None:
    """Write the page with sliders beside the others; what it computed is kept until the library changes."""
    if error is None and app.builder.name == "html":
        kept = os.environ.get("EXPLORER_KEPT") or f"{app.doctreedir}-explorer"
        subprocess.run([sys.executable, str(HERE / "explorer" / "build.py"), str(app.outdir), "--kept", kept], check=True)  # noqa: S603 - the file beside this one


def setup(app: Sphinx) -> dict[str, Any]:
    """Generate pages before Sphinx looks for them, and the explorer after it has written the others."""
    app.connect("build-finished", write_explorer)
    app.connect("builder-inited", write_generated, priority=100)
    app.connect("autodoc-process-signature", show_fields)
    app.connect("source-read", close_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
