"""The builder of the atlas changes torch and transformers for its whole process, so that no test brings it into that of the others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
CHANGES = "atlas_builder.reference"
"""The module that changes functions of the frameworks when it is imported."""
IN_FUNCTIONS = {"oracles.live_diffusers"}
"""Modules with functions that import the builder, and a process of their own."""


def imported_by(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the names of modules that are imported, and whether a function imports them, when it is called."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((one.name, inside) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((name, inside) for name in (node.module or "", *(f"{node.module}.{one.name}" for one in node.names)))
        else:
            yield from imported_by(node, inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))


def importers(files: dict[str, set[tuple[str, bool]]]) -> set[str]:
    """Return the modules with which the changes come, directly or by other modules."""
    found: set[str] = set()
    more = {CHANGES}
    while more:
        found |= more
        more = {name for name, imports in files.items() if any(one in found and not inside for one, inside in imports)} - found
    return found


def test_no_test_imports_what_changes_the_frameworks() -> None:
    """Neither test modules nor their helpers, in which pytest looks for examples, import it; functions that do are in few modules."""
    paths = {".".join(path.relative_to(HERE).with_suffix("").parts): path for path in HERE.rglob("*.py")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    files = {name: {*imported_by(ast.parse(text))} for name, text in texts.items() if "atlas_builder" in text}  # others name no part of it
    changing = importers(files)
    assert {"atlas_builder.networks", "atlas_builder.passes", "atlas_builder.diffusers_reference"} <= changing
    assert not {"atlas_builder.rows", "atlas_builder.slices"} & changing
    tests = {name: imports for name, imports in files.items() if not name.startswith("atlas_builder.")}
    assert sorted(changing & tests.keys()) == []
    assert {name for name, imports in tests.items() if any(one in changing for one, _ in imports)} == IN_FUNCTIONS
