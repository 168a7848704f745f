"""What is public resolves, is documented, shows its count, and is the same for people, tools and type checkers."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from pathlib import Path

import pytest
from strategies import layer_classes, model_classes

import paramsym as ps
import paramsym.errors

SOURCE = Path(ps.__file__).read_text(encoding="utf-8")
PLAIN = {"LETTERS", "LETTER_SETS", "Count", "Dim", "Width", "Axis", "Factor", "Shape"} | {letter.name for letter in ps.LETTERS}
"""Letters and annotations: values that carry no docstring of their own."""


def table(name: str) -> dict[str, str]:
    """Return one of the package's own tables, read from the source."""
    for node in ast.parse(SOURCE).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(name)


def homes() -> dict[str, str]:
    """Return ``{public name: module}``."""
    return {name: module for module, names in table("_HOMES").items() for name in names.split()}


def typed() -> dict[str, str]:
    """Return ``{public name: "module name"}`` as type checkers read it."""
    found = {}
    for node in ast.parse(SOURCE).body:
        if isinstance(node, ast.If):
            for statement in node.body:
                if isinstance(statement, ast.ImportFrom):
                    found |= {alias.asname or "": f"{statement.module} {alias.name}" for alias in statement.names}
                elif isinstance(statement, ast.Assign):
                    found[ast.unparse(statement.targets[0])] = found[ast.unparse(statement.value)]
    return found


@pytest.mark.parametrize("name", sorted(set(dir(ps)) - {"__version__"}))
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    """A docstring of at least a sentence stands behind every name."""
    thing = getattr(ps, name)
    if name not in PLAIN:
        documentation = inspect.getdoc(thing) or ""
        assert documentation.split("\n")[0].rstrip().endswith((".", "?", ":")), f"{name}: {documentation[:80]!r}"


def test_the_list_is_the_table() -> None:
    """``dir``, ``*`` and the table of homes agree; a name stands once."""
    assert {name for name in dir(ps) if name in homes()} == set(homes())
    assert dir(ps) == sorted(set(dir(ps)))
    scope: dict[str, object] = {}
    exec("from paramsym import *", scope)  # noqa: S102 - what a notebook types
    assert set(homes()) <= set(scope)
    assert not {"keras", "errors", "layers"} & set(scope)  # a star must not hide the user's own keras


def test_type_checkers_see_the_same_names() -> None:
    """The re-exports under TYPE_CHECKING agree with the table; what is missing can be pasted from the message."""
    aliases = table("_ALIASES")
    wanted = {name: f"{module} {name}" for name, module in homes().items()}
    wanted |= {alias: f"{homes()[name]} {name}" for alias, name in aliases.items()}
    wanted |= {room: f"paramsym {room}" for room in set(dir(ps)) - set(wanted) - {"__version__"}}
    found = typed()
    missing = {name: home for name, home in wanted.items() if found.get(name) != home}
    lines = "\n".join(f"    from {home.replace(' ', ' import ')} as {name}" for name, home in missing.items())
    assert not missing, f"add to paramsym/__init__.py:\n{lines}"
    assert set(found) - {"annotations"} == set(wanted)


def test_torchs_spelling_is_the_same_class() -> None:
    """An alias is not a subclass."""
    assert ps.Linear is ps.Dense
    assert ps.MultiheadAttention is ps.MultiHeadAttention


def test_unknown_names_are_attribute_errors() -> None:
    """As for any module."""
    with pytest.raises(AttributeError, match="has no attribute 'Convolution'"):
        _ = ps.Convolution
    with pytest.raises(AttributeError, match="has no attribute 'Convolution'"):
        _ = ps.keras.Convolution
    assert not hasattr(ps, "_private")


@pytest.mark.parametrize("cls", [*layer_classes(), *model_classes()], ids=lambda cls: cls.__name__)
def test_every_layer_shows_its_count(cls: type[ps.Layer]) -> None:
    """A docstring with a doctest; fields that a reader finds explained or named as in the reference; the decorator that makes a value."""
    assert cls.__doc__ is not None
    assert ">>> " in cls.__doc__, f"{cls.__name__} shows nothing"
    assert fields(cls) is not None  # type: ignore[arg-type]
    assert cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    concrete = [base for base in cls.__mro__[1:] if "__dataclass_fields__" in base.__dict__ and base.__name__.isidentifier()]
    assert [base for base in concrete if not base.__name__.startswith("_")] == [], "a concrete layer is never subclassed"


@pytest.mark.parametrize("name", sorted(dir(ps.keras)))
def test_every_door_is_documented(name: str) -> None:
    """Keras' spelling, with a docstring."""
    assert inspect.getdoc(getattr(ps.keras, name))


@pytest.mark.parametrize("name", [name for name in dir(paramsym.errors) if name.endswith("Error")])
def test_every_error_is_documented_and_ours(name: str) -> None:
    """One base for all."""
    error = getattr(paramsym.errors, name)
    assert issubclass(error, paramsym.errors.ParamsymError)
    assert inspect.getdoc(error)
