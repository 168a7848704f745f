"""The typed program runs, and passes mypy where mypy is installed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("api.py")


def test_it_runs() -> None:
    """What type checkers accept works."""
    runpy.run_path(str(PROGRAM), run_name="__main__")


def test_it_type_checks() -> None:
    """Strictly, with the package's own configuration."""
    api = pytest.importorskip("mypy.api")
    settings = PROGRAM.parents[2] / "pyproject.toml"
    words, errors, status = api.run(["--config-file", str(settings), "--cache-dir", str(PROGRAM.parents[2] / ".mypy_cache"), str(PROGRAM)])
    assert (status, errors) == (0, ""), words
