"""The mutants of the rooms that count, made with mutmut's operators, and a seeded sample of them.

Which mutants are drawn is decided by a hash of the seed and of what the mutant changes. A change elsewhere in a file leaves its lots alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from itertools import islice
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("core", "algebra", "program", "layers", "measure", "analysis", "verify", "derive", "atlas")
"""The folders whose code decides a number."""


@dataclass(frozen=True)
class Mutant:
    """One change to one file, with the spans of lines around it, innermost first.

    ``of`` is None inside a function; otherwise it is the class whose definition is changed, or empty.
    """

    room: str
    path: str
    spans: tuple[tuple[int, int], ...]
    of: str | None
    key: str
    module: cst.Module
    node: cst.CSTNode
    changed: cst.CSTNode

    @property
    def name(self) -> str:
        """The name under which the file is imported."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.path}:{self.spans[0][0]}"

    @cached_property
    def source(self) -> str:
        """The file as it stands with the change."""
        return self.module.deep_replace(self.node, self.changed).code

    @property
    def differs(self) -> bool:
        """Whether the change leaves Python, and other Python than before."""
        try:
            return ast.dump(ast.parse(self.source)) != ast.dump(ast.parse(self.module.code))
        except SyntaxError:
            return False

    def diff(self) -> str:
        """Show the changed lines."""
        lines = list(unified_diff(self.module.code.splitlines(), self.source.splitlines(), n=0, lineterm=""))
        return "\n".join(line for line in lines[2:] if not line.startswith("@@"))


def _unseen(node: cst.CSTNode) -> bool:
    """Annotations, and what only type checkers read."""
    return isinstance(node, cst.Annotation) or (isinstance(node, cst.If) and getattr(node.test, "value", "") == "TYPE_CHECKING")


class _Collector(cst.CSTVisitor):
    """Apply every operator to every node that runs."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[tuple[int, int]] = []
        self.bodies: set[cst.CSTNode] = set()
        self.scopes: list[cst.CSTNode] = []
        self.found: list[tuple[cst.CSTNode, cst.CSTNode, tuple[tuple[int, int], ...], str | None]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _unseen(node):
            return False
        position = self.get_metadata(PositionProvider, node, None)
        self.spans.append((position.start.line, position.end.line) if position else self.spans[-1])
        inside = tuple(dict.fromkeys(reversed(self.spans)))
        if isinstance(node, cst.FunctionDef):  # its decorators and defaults run outside it
            self.bodies.add(node.body)
        if isinstance(node, cst.ClassDef) or node in self.bodies:
            self.scopes.append(node)
        of = "" if not self.scopes else self.scopes[-1].name.value if isinstance(self.scopes[-1], cst.ClassDef) else None
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                self.found += ((node, changed, inside, of) for changed in operator(node))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if not _unseen(original_node):
            self.spans.pop()
        if self.scopes and original_node is self.scopes[-1]:
            self.scopes.pop()


def mutants_of(path: Path, room: str) -> Iterator[Mutant]:
    """Yield the mutants of one file, with their keys: hashes of the changed lines."""
    source = path.read_text(encoding="utf-8")
    wrapper = MetadataWrapper(cst.parse_module(source))
    collector = _Collector()
    wrapper.visit(collector)
    lines, times = source.splitlines(), Counter[str]()
    name, module = path.relative_to(ROOT).as_posix(), wrapper.module
    for node, changed, spans, of in collector.found:
        first, last = spans[0]
        change = "\n".join((name, *lines[first - 1 : last], module.code_for_node(node), module.code_for_node(changed)))
        times[change] += 1
        yield Mutant(room, name, spans, of, _hash(f"{change}\n{times[change]}")[:12], module, node, changed)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def population() -> dict[str, list[Mutant]]:
    """Return all mutants, by file."""
    files = {path: room for room in ROOMS for path in sorted((ROOT / "paramsym" / room).rglob("*.py"))}
    return {path.relative_to(ROOT).as_posix(): list(mutants_of(path, room)) for path, room in files.items()}


def sample(mutants: dict[str, list[Mutant]], size: int, seed: int) -> list[Mutant]:
    """Draw from every file in proportion to its mutants, but at least two of each file and about forty of each room; sort by lot."""

    def lot(mutant: Mutant) -> str:
        return _hash(f"{seed} {mutant.key}")

    total = sum(map(len, mutants.values()))
    files = Counter(found[0].room for found in mutants.values() if found)
    drawn: list[Mutant] = []
    for found in filter(None, mutants.values()):
        share = max(2, 40 // files[found[0].room], round(size * len(found) / total))
        drawn += islice((mutant for mutant in sorted(found, key=lot) if mutant.differs), share)
    return sorted(drawn, key=lot)
