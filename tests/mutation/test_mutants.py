"""The sample of mutants is the same for everybody, and stays what it is when other lines change."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytest.importorskip("mutmut", reason="the group `mutation` is not installed")
from mutation import mutants

TWO = '''"""A module."""

FACTOR: int = 2


def double(value: int = 1) -> int:
    """Return twice the value."""
    return FACTOR * value if value > 0 else 0
'''


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[mutants.Mutant]:
    """The mutants of a small module."""
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "two.py").write_text(TWO, encoding="utf-8")
    return list(mutants.mutants_of(tmp_path / "two.py", "two"))


def test_what_runs_is_changed(found: list[mutants.Mutant]) -> None:
    """Constants of the module, defaults, operators, numbers and conditions are changed; annotations and docstrings are not."""
    changed = {line[1:] for mutant in found for line in mutant.diff().splitlines() if line.startswith("+")}
    assert {
        "FACTOR: int = 3",
        "FACTOR: int = None",
        "def double(value: int = 2) -> int:",
        "    return FACTOR / value if value > 0 else 0",
        "    return FACTOR * value if value >= 0 else 0",
        "    return FACTOR * value if value > 1 else 0",
        "    return FACTOR * value if value > 0 else 1",
        "    return FACTOR * value if (value > 0) and False else 0",
        "    return FACTOR * value if (value > 0) or True else 0",
    } == changed
    assert all(mutant.differs and ast.get_docstring(ast.parse(mutant.source)) == "A module." for mutant in found)


def test_the_spans_go_outwards(found: list[mutants.Mutant]) -> None:
    """The lines of the change come first, then those of what holds it: tests are looked for in that order."""
    deepest = max(found, key=lambda mutant: mutant.spans[0])
    assert deepest.spans[0] == (8, 8)
    assert all(outer[0] <= inner[0] <= inner[1] <= outer[1] for inner, outer in zip(deepest.spans, deepest.spans[1:], strict=False))


def test_what_runs_on_import_is_told_apart(found: list[mutants.Mutant]) -> None:
    """A constant and a default run once, with the module, whichever test imports it; the body of a function runs in tests."""
    assert {(mutant.spans[0][0], mutant.of) for mutant in found} == {(3, ""), (6, ""), (8, None)}


def test_lots_are_drawn_once_and_for_all(found: list[mutants.Mutant], tmp_path: Path) -> None:
    """A change elsewhere in the file moves the lines, not the lots; another seed draws others."""
    (tmp_path / "two.py").write_text(TWO.replace("FACTOR: int", "OTHER = (1, 2)\nFACTOR: int"), encoding="utf-8")
    later = list(mutants.mutants_of(tmp_path / "two.py", "two"))
    assert {mutant.key for mutant in found} < {mutant.key for mutant in later}
    assert len({mutant.key for mutant in later}) == len(later)

    def first(some: list[mutants.Mutant], seed: int) -> set[str]:
        return {mutant.key for mutant in mutants.sample({"two.py": some}, 4, seed)[:4]}

    assert first(found, 1) == first(found[::-1], 1)
    assert first(found, 1) != first(found, 2)
    assert first(later, 1) <= first(found, 1) | {mutant.key for mutant in later} - {mutant.key for mutant in found}
