"""The pages of the reference: every public name under its task; first the names that a reader looks for, then their parts."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from sympy import Symbol

import paramsym

TOPICS: Mapping[str, Mapping[str, str]] = {
    "Read: a model from a name, a configuration, a module or a build": {
        "load": "load from_config",
        "read-a-module": "from_module derive generalise derive.deriving.DerivedCount derive.certificate.Derivation",
    },
    "Count: parameters for any sizes, and sizes for a count": {
        "evaluate": "evaluate as_function analysis.evaluate.evaluating.Approximate export analysis.export.Source",
        "design": "solve analysis.solve.Solutions analysis.solve.Solution sweep analysis.sweep.Sweep",
        "conventions": (
            "conventions analysis.conventions.Conventions analysis.conventions.Convention analysis.listing.Listing analysis.listing.Known"
        ),
    },
    "Compute: what a forward pass costs, and its shapes": {
        "work-and-memory": "flops macs activations kv_cache memory measure.cost.Cost",
        "time": (
            "intensity measure.traffic.Intensity measure.traffic.Roofline traffic training measure.training.Training communication Machine"
        ),
        "shapes": "output_shape infer summary receptive_field effective_stride neurons connections",
        "run": "run trace program.graph.Program",
    },
    "Explain: where a number comes from, and how it grows": {
        "explain": "explain analysis.explain.explanation.Explanation",
        "reconcile": (
            "reconcile analysis.reconcile.answers.Reconciliation analysis.reconcile.answers.Answer analysis.reconcile.answers.Reading"
        ),
        "compare": "compare analysis.compare.Comparison analysis.compare.Difference analysis.compare.Crossover",
        "growth": (
            "sensitivity analysis.sensitivity.Sensitivity analysis.sensitivity.PartSensitivity asymptotics "
            "analysis.asymptotics.Asymptotics analysis.asymptotics.Within"
        ),
    },
    "Check: a checkpoint, a module, a counter": {"match": "match verify.match.Match check checking.Verdict"},
    "Present: tables, pages, papers": {
        "page": "explore explorer.exploring.Explorer",
        "tables": "table render.table.Table latex_document LETTER_SETS algebra.letters.LetterSet",
    },
    "Compose": {"compose": "Sequential Block Residual SkipConnection Repeat Runs Shared Tied"},
    "Write a layer": {
        "layer": "Layer Tensor Part Numbers",
        "sizes": "dims index per cat stack divides at_most Dim Count Width",
        "ledger": "core.ledger.Ledger core.ledger.Line",
        "letters": "A B C D E F G H K L N P R S T V W LETTERS algebra.symbols.Letter",
    },
}
"""Pages by task; names on a page in the order in which a reader meets them."""
ROOMS = {"Check": ("testing",), "Present": ("plot",), "Write a layer": ("errors",)}
"""Modules with a separate page, below their task."""
CONSISTED_OF = frozenset({"CausalConv1d", "HeadNorm", "HeadProjection", "PlainExpert", "Router", "StackedExperts"})
"""Classes that are parts of other classes; they are last on their page."""
_METHODS = "arguments computed_as conditions in_order parts per_token positions_lead substituted tensors ties"
CONTRACT = ", ".join(_METHODS.split())
"""Methods of every layer, described once at ``Layer``."""
_ABBREVIATED = r"(?<!\bet al\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\b[A-Z]\.)(?<!\.\.\.)"
_KINDS = {
    "Dim": "a size",
    "Count": "a number of copies",
    "bool": "True or False",
    "str": "a word",
    "int": "a whole number",
    "float": "a number",
    "None": "None",
    "object": "a value",
}
"""The values of an argument in words, by its annotation."""
_SHORT = 40  # characters of a default that a table shows


def homes() -> dict[str, list[str]]:
    """Return ``{module: public names}`` from the package's own list."""
    listed = Path(paramsym.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    found = (node for node in ast.parse(listed).body if isinstance(node, ast.ImportFrom) and node.module != "paramsym")
    return {str(node.module): [alias.name for alias in node.names] for node in found}


def pages() -> dict[str, str]:
    """Return ``{file name: text}`` of every page, and of the list of names at the beginning of the reference.

    Raises:
        LookupError: a public name without a task.
    """
    found, index = {}, []
    for task, topics in TOPICS.items():
        index += _heading(task, "-")
        for page, names in topics.items():
            things = [_thing(name) for name in names.split()]
            found[f"{page}.rst"] = "\n".join(
                [*_heading(_title(page), "="), *itertools.chain.from_iterable(itertools.starmap(_entry, things))]
            )
            index += _listed(page, things)
        for room in ROOMS.get(task.partition(":")[0], ()):
            found[f"{room}.rst"] = "\n".join([*_heading(_title(room), "="), f".. automodule:: paramsym.{room}", "   :members:", ""])
            index += _listed(room, [])
    listed = {name for topics in TOPICS.values() for names in topics.values() for name in names.split()} | {
        "ParamsymError",
        "ParamsymWarning",
    }
    index += _heading("Layers", "-")
    for module, names in homes().items():
        left = [name for name in names if name not in listed]
        if left and not module.startswith("paramsym.layers."):
            message = f"docs/api_pages.py lists {', '.join(left)} under no task."
            raise LookupError(message)
        if left:
            page = module.removeprefix("paramsym.")
            things = [_thing(name) for name in sorted(left, key=lambda name: name in CONSISTED_OF)]
            entries = itertools.chain.from_iterable(itertools.starmap(_entry, things))
            found[f"{page}.rst"] = "\n".join([*_heading(_title(page), "="), f".. automodule:: {module}", "   :no-members:", "", *entries])
            index += _listed(page, things)
    index += _heading("Models", "-")
    for module, classes in _families().items():
        page = module.removeprefix("paramsym.")
        found[f"{page}.rst"] = _family_page(module, classes)
        index += _listed(page, [(f"paramsym.models.{cls.__name__}", cls) for cls in classes])
    index += _heading("Keras", "-")
    found["keras.rst"] = _keras_page()
    index += _listed("keras", [])
    return {**found, "names.txt": "\n".join(index)}


def _heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]


def _title(page: str) -> str:
    words = page.rpartition(".")[2].replace("_", " ").replace("-", " ")
    return words if words != words.lower() else words[0].upper() + words[1:]


def _thing(name: str) -> tuple[str, Any]:
    """Return the name under which a reader imports a thing, and the thing."""
    room, _, last = name.rpartition(".")
    thing = getattr(import_module(f"paramsym.{room}") if room else paramsym, last)
    if not inspect.ismodule(thing):
        return f"paramsym.{name}", thing
    home = next(module for module, names in homes().items() if name in names)  # a room that can be called, as derive
    return f"{home}.{name}", getattr(import_module(home), name)


def _entry(name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        layer = issubclass(thing, paramsym.Layer) and thing is not paramsym.Layer
        return [f".. autoclass:: {name}", "   :members:", *([f"   :exclude-members: {CONTRACT}"] if layer else []), ""]
    if inspect.isfunction(thing):
        return [f".. autofunction:: {name}", ""]
    return [f".. py:data:: {name}", "", textwrap.indent(_said(name, thing), "   "), ""]


def _listed(page: str, things: Iterable[tuple[str, Any]]) -> list[str]:
    """List the names on a page with their first sentences."""
    lines = [f"`{_title(page)} <api/{page}.html>`__", ""]
    rows = []
    for name, thing in things:
        kind = "class" if inspect.isclass(thing) else "func" if inspect.isfunction(thing) else "data"
        rows += [f"   * - :py:{kind}:`~{name}`", f"     - {first_sentence(_said(name, thing))}"]
    return [*lines, ".. list-table::", "   :widths: 30 70", "", *rows, ""] if rows else lines


def _said(name: str, thing: Any) -> str:
    if inspect.isclass(thing) or inspect.isfunction(thing):
        return inspect.getdoc(thing) or ""
    last = name.rpartition(".")[2]
    module = next((module for module, names in homes().items() if last in names), "")
    return _said_of_data(module).get(last, "")


def first_sentence(said: str) -> str:
    """Return the first sentence of a docstring; an abbreviation such as "et al." does not end it."""
    whole = said.partition("\n\n")[0].replace("\n", " ")
    return re.split(rf"{_ABBREVIATED}(?<=\.)\s", whole, maxsplit=1)[0].rstrip(".:") + "." if whole else ""


def _said_of_data(module: str) -> dict[str, str]:
    """Return the docstrings of a module's constants, and the meanings of its letters."""
    found = {letter.name: letter.meaning for letter in paramsym.LETTERS}
    body = ast.parse(Path(sys.modules[module].__file__ or "").read_text(encoding="utf-8")).body
    for node, after in itertools.pairwise(body):
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            found |= {target.id: after.value.value for target in targets if isinstance(target, ast.Name)}
    return found


# Models -----------------------------------------------------------------------------------------------------------------------


def _families() -> dict[str, list[type]]:
    """Return ``{file: classes}`` of the model families."""
    found: dict[str, list[type]] = {}
    for name in sorted(dir(paramsym.models)):
        thing = getattr(paramsym.models, name)
        if isinstance(thing, type):
            found.setdefault(thing.__module__, []).append(thing)
    return found


def _family_page(module: str, classes: list[type]) -> str:
    """Write one family: its classes, their arguments, and their published sizes."""
    lines = [*_heading(_title(module), "="), f".. automodule:: {module}", "   :no-members:", ""]
    for cls in classes:
        lines += [
            f".. autoclass:: paramsym.models.{cls.__name__}",
            "   :members: forward",
            "",
            *textwrap.indent(_arguments(cls), "   ").splitlines(),
            "",
        ]
        sizes = getattr(cls, "published", {})
        if sizes:
            lines += [f"   Published sizes that ``ps.models.{cls.__name__}().at(name)`` knows:", ""]
            lines += [f"   - ``{name}``: " + ", ".join(f"{key} {value}" for key, value in values.items()) for name, values in sizes.items()]
            lines.append("")
    return "\n".join(lines)


def _arguments(cls: Any) -> str:
    """Return a table of a model's arguments; a list of choices is not shown as a default."""
    rows = []
    for field in sorted(fields(cls), key=lambda field: "Literal[" in str(field.type)):  # long lists of choices are last
        if field.init:
            default = "" if field.default is MISSING else _shown(field.default)
            rows += [f"   * - ``{field.name}``", f"     - {default}", f"     - {_takes(str(field.type))}"]
    head = [".. list-table::", "   :header-rows: 1", "   :widths: 40 25 35", "", "   * - argument", "     - default", "     - takes"]
    return "\n".join([*head, *rows])


def _shown(default: Any) -> str:
    words = repr(default)
    return f"``{words if len(words) <= _SHORT else type(default).__name__ + '(...)'}``"


def _takes(hint: str) -> str:
    """Return an argument's values in words."""
    return " or ".join(map(_in_words, re.split(r" \| (?![^\[]*\])", hint)))


def _in_words(hint: str) -> str:
    hint = hint.removeprefix("typing.")
    if hint.startswith("Literal["):
        choices = ast.literal_eval(f"[{hint.removeprefix('Literal[').removesuffix(']')}]")
        return ", ".join(f"``{choice!r}``" for choice in choices)
    return _KINDS.get(hint, f"``{hint}``")


def signature(cls: Any) -> str:
    """Return a model's letters as its signature; the table below it has all arguments."""
    given = [field for field in fields(cls) if field.init]
    sizes = [f"{field.name}={field.default}" for field in given if isinstance(field.default, Symbol)]
    return f"({', '.join([*sizes, *(['...'] if len(sizes) < len(given) else [])])})"


def _keras_page() -> str:
    """Write the doors in Keras' spelling."""
    lines = [*_heading("Keras", "="), ".. automodule:: paramsym.keras", "   :no-members:", ""]
    for name in dir(paramsym.keras):
        thing = getattr(paramsym.keras, name)
        if callable(thing) and getattr(thing, "__name__", "") == name:
            lines += [f".. autofunction:: paramsym.keras.{name}", ""]
    return "\n".join(lines)
