"""The floors of the house: who may import whom, read from the source without running it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent

from amount import cases

import paramsym
from paramsym.models import FAMILIES
from paramsym.program import vocabulary

HOUSE = Path(paramsym.__file__).parent
FLOORS = (
    {"naming"},
    {"errors"},
    {"optional", "arguments"},
    {"render"},
    {"algebra"},
    {"program"},
    {"present"},
    {"core"},
    {"layers"},
    {"measure"},
    {"analysis", "verify"},
    {"keras"},
    {"derive"},
    {"read"},
    {"atlas"},
    {"models"},
    {"config"},
    {"loading"},
    {"checking"},
    {"explorer"},
    {"plot"},
    {"testing", "cli", "__main__"},
)
"""Bottom to top. A room imports from its own floor and from those below it."""
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
FRAMEWORKS = {
    "torch",
    "torchvision",
    "keras",
    "tensorflow",
    "jax",
    "flax",
    "transformers",
    "matplotlib",
    "pandas",
    "numpy",
    "safetensors",
    "onnx",
}


@dataclass(frozen=True)
class Import:
    """One import: who, what, which name of it, and when it happens."""

    module: str
    target: str
    name: str
    when: str

    @property
    def room(self) -> str:
        """The room that imports."""
        return self.module.split(".")[1] if "." in self.module else ""

    @property
    def target_room(self) -> str:
        """The room that is imported from, where it is one of ours."""
        steps = [*self.target.split("."), self.name]
        return steps[1] if steps[0] == "paramsym" and steps[1] in FLOOR_OF else ""


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of the package."""
    return tuple(_imports())


@cache
def sources() -> dict[str, str]:
    """Return the text of every file of the package, by the name under which it is imported."""
    files = {file.relative_to(HOUSE.parent).with_suffix("").parts: file for file in sorted(HOUSE.rglob("*.py"))}
    return {".".join(step for step in steps if step != "__init__"): file.read_text(encoding="utf-8") for steps, file in files.items()}


def _imports() -> Iterator[Import]:
    for module, text in sources().items():
        yield from _inside(ast.parse(text), module, "load")


def _inside(tree: ast.AST, module: str, when: str) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, "", when)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            for alias in node.names:
                yield Import(module, node.module or "", alias.name, when)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from _inside(ast.Module(node.body, []), module, "typing")
            yield from _inside(ast.Module(node.orelse, []), module, when)
        elif not isinstance(node, ast.expr):  # an expression imports nothing
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from _inside(node, module, "call" if later else when)


def test_every_room_has_a_floor() -> None:
    """A new room is given its place here."""
    rooms = {path.stem for path in HOUSE.iterdir() if path.stem not in {"__init__", "__pycache__", "py"} and path.suffix in {"", ".py"}}
    assert rooms <= set(FLOOR_OF)


def test_the_map_names_every_room() -> None:
    """The map of CONTRIBUTING.md has a line for each room; the first lines of the files are the map of a room."""
    text = (HOUSE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [room for room in FLOOR_OF if f"  {room}/ " not in text and f"  {room}.py " not in text] == ["__main__"]
    firsts = {path: path.read_text(encoding="utf-8").partition("\n")[0] for path in HOUSE.rglob("*.py")}
    assert [path.name for path, first in firsts.items() if not first.startswith(('"""', 'r"""'))] == []


def test_a_long_file_says_why() -> None:
    """More than 400 lines need a reason, written in the file."""
    long = [path for path in HOUSE.rglob("*.py") if len(path.read_text(encoding="utf-8").splitlines()) > 400]
    assert [path.name for path in long if "The file is long because" not in path.read_text(encoding="utf-8")] == []


@cases(0)
def test_a_forward_pass_is_short() -> None:
    """What a layer computes is read at one glance: at most 30 lines."""
    passes = [
        (path.name, node.lineno, node.end_lineno - node.lineno + 1)
        for path in HOUSE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "forward" and node.end_lineno is not None
    ]
    assert len(passes) > 290
    assert [one for one in passes if one[2] > 30] == []


IN_ONE_CLASS = {"resnet": 3, "lenet": 3, "vision.mvit": 2, "vision.swin_transformer": 2}
"""ResNet, ResNeXt and wide ResNet; LeNet-5 as printed, as taught and as O'Neill's; the two versions of MViT, and of Swin."""
IN_FILE = {
    home: IN_ONE_CLASS.get(home, len(classes.split()))
    for home, (classes, _) in FAMILIES.items()
    if home.startswith(("vision.", "applications.")) or home in {"resnet", "densenet", "lenet"}
}
"""The families of networks for images, in the layouts of torchvision and Keras, that each file of ``models`` states."""


def test_a_family_for_images_is_short() -> None:
    """A network for images costs at most 120 lines.

    All lines of the file that states it count, also imports, docstrings and empty lines; a file with several families is divided by them.
    Files that state no family are not counted.
    """
    lines = {home: len((HOUSE / "models" / f"{home.replace('.', '/')}.py").read_text(encoding="utf-8").splitlines()) for home in IN_FILE}
    assert len(lines) > 35
    assert {home: found / IN_FILE[home] for home, found in lines.items() if found > 120 * IN_FILE[home]} == {}


def test_what_families_for_images_share_is_shared() -> None:
    """A file beside the families that states none is imported by two families or more."""
    needs: dict[str, set[str]] = {}
    for one in imports():
        needs.setdefault(one.module.removeprefix("paramsym.models."), set()).add(one.target.removeprefix("paramsym.models."))
    beside = {f"{folder}.{path.stem}" for folder in ("vision", "applications") for path in (HOUSE / "models" / folder).glob("[!_]*.py")}
    users = {shared: sum(count for home, count in IN_FILE.items() if shared in needs[home]) for shared in beside - {*IN_FILE}}
    assert len(users) > 8
    assert [shared for shared, count in users.items() if count < 2] == []


def test_imports_go_down() -> None:
    """A room imports only from floors below it, also inside functions and for types."""
    up = {(one.module, one.target) for one in imports() if one.room and one.target_room and FLOOR_OF[one.target_room] > FLOOR_OF[one.room]}
    assert up == {("paramsym.derive", "paramsym.read.deriving")}  # the room is called as the function of its name


def needs() -> dict[str, set[str]]:
    """Return the files that each file imports: when it is loaded, inside functions, and for types."""
    files = {one.module for one in imports()}
    found: dict[str, set[str]] = {file: set() for file in files}
    for one in imports():
        target = next((name for name in (f"{one.target}.{one.name}", one.target) if name in files), one.module)
        found[one.module].update({target} - {one.module})
    return found


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """Return the largest sets of files that all reach each other by imports."""
    reached = {file: set(targets) for file, targets in arrows.items()}
    for middle, behind in reached.items():  # Warshall's closure
        for targets in reached.values():
            if middle in targets:
                targets.update(behind)
    found = {frozenset(other for other in targets if file in reached.get(other, ())) for file, targets in reached.items()}
    return [set(circle) for circle in found if circle]


def test_imports_make_no_circle() -> None:
    """No file needs itself through others; the names written out of a layer know its type."""
    assert circles(needs()) == [{"paramsym.core.layer", "paramsym.core.names"}]


def test_a_circle_is_found() -> None:
    """A long one, two beside each other, and none in a chain or a diamond."""
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"a"}, "e": {"a"}}) == [{"a", "b", "c", "d"}]
    assert sorted(map(sorted, circles({"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}))) == [["a", "b"], ["c", "d"]]
    assert circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []


def test_every_import_is_seen() -> None:
    """On load, for types, in functions, in classes and branches; a string and a comment import nothing."""
    code = """
        import a.b as c
        from d import e, f  # import none
        "import none"
        if TYPE_CHECKING:
            from types import g
        else:
            import h
        try:
            import i
        except ImportError:
            import j
        class K:
            import k
            async def method(self):
                with one:
                    if two:
                        from m import n
                def inner(): import o
        match three:
            case 1:
                import p
    """
    seen = {(one.target, one.name, one.when) for one in _inside(ast.parse(dedent(code)), "module", "load")}
    assert seen == {
        *{("a.b", "", "load"), ("d", "e", "load"), ("d", "f", "load"), ("types", "g", "typing"), ("h", "", "load"), ("i", "", "load")},
        *{("j", "", "load"), ("k", "", "load"), ("m", "n", "call"), ("o", "", "call"), ("p", "", "load")},
    }


BY_NAME = {
    "paramsym": "a public name is loaded when it is used",
    "paramsym.core.layer": "the methods of a layer that return another layer are built on the layer",
    "paramsym.loading": "families by their names",
    "paramsym.models": "families by their names",
    "paramsym.optional": "packages that a few answers need",
    "paramsym.program": "operations by their names",
    "paramsym.read.keras_models": "a file of Keras",
    "paramsym.render.table": "formats by their names",
    "paramsym.testing.random_layers": "every public layer",
}
"""The files that load others by name, which no import in them shows, and why."""


def test_few_files_load_others_by_name() -> None:
    """An arrow that is hidden from the tests above needs a reason here."""
    calls = ("import_module(", "__import__(")
    assert {file for file, text in sources().items() if any(call in text for call in calls)} == {*BY_NAME}


def test_rooms_of_one_floor_do_not_need_each_other() -> None:
    """Analysis and verification stand side by side."""
    rooms = {"analysis", "verify", "render", "errors"}
    assert [one for one in imports() if {one.room, one.target_room} <= rooms and FLOOR_OF[one.room] == FLOOR_OF[one.target_room]
            and one.room != one.target_room] == []  # fmt: skip


def test_questions_know_no_concrete_layer() -> None:
    """Analysis and verification read the contract and the ledger, so that a user's own layer is as good as ours."""
    concrete = {"layers", "models", "keras"}
    assert [one for one in imports() if one.room in {"analysis", "verify"} and one.target_room in concrete] == []


def test_formats_know_no_layers() -> None:
    """Rendering turns tables into strings, whatever they are about."""
    assert {one.target_room for one in imports() if one.room == "render"} <= {"", "render", "errors", "optional", "arguments", "naming"}


def test_no_file_has_the_name_of_an_operation() -> None:
    """The import of a file sets a name of its package, which would hide an operation of this name that is loaded later."""
    operations = {name for name, one in vars(vocabulary).items() if callable(one)}
    assert not operations & {file.stem for file in Path(vocabulary.__file__).parent.glob("*.py")}


def test_no_framework_at_module_level() -> None:
    """Only SymPy is needed to count."""
    assert [one for one in imports() if one.target.split(".")[0] in FRAMEWORKS and one.when == "load"] == []


def test_only_sympy_and_the_standard_library() -> None:
    """What is imported at load time is SymPy, the standard library, and ourselves."""
    allowed = sys.stdlib_module_names | {"sympy", "paramsym"}
    assert {one.target.split(".")[0] for one in imports() if one.when == "load"} <= allowed


def test_nothing_imports_a_private_name_of_another_room() -> None:
    """An underscore means: this room only."""
    private = [
        one
        for one in imports()
        if one.target.startswith("paramsym")
        and any(step.startswith("_") and not step.startswith("__") for step in (*one.target.split("."), one.name))
    ]
    assert [one for one in private if one.room != one.target_room] == []
