"""Pack the libraries as the page loads them: byte code for every module that the examples import, source for the rest.

Runs inside Pyodide, because byte code is that of one version of Python. Reading it takes a sixth of the time that compiling takes.
"""

from __future__ import annotations

import json
import py_compile
import sys
import zipfile
from pathlib import Path

import cell


def pack(site: str, examples: str, target: str) -> None:
    """Write the archive ``target`` of everything under ``site``; ``examples`` is a list of cells as JSON."""
    for example in json.loads(examples):
        cell.run(example, _refuse)
    root = Path(site)
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    used = {Path(file) for file in files if file} | set(root.glob("paramsym/**/*.py"))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            kept = path
            if path in used and path.suffix == ".py":
                kept = path.with_suffix(".pyc")
                py_compile.compile(str(path), str(kept), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
            archive.write(kept, kept.relative_to(root))


def _refuse(kind: str, text: str, _line: int) -> None:
    """An example that fails stops the build."""
    if kind == "error":
        raise SystemExit(text)
