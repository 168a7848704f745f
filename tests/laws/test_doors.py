"""Laws of the Keras doors: symbols may be put in before or after a door is opened, and what comes out of it has one home."""

from __future__ import annotations

import pytest
from doors import REQUIRED, Door, doors, numbered
from sympy import Symbol

import paramsym as ps
from paramsym.errors import ParamsymError

every_door = pytest.mark.parametrize("door", doors(), ids=lambda door: door.__name__)
SIZES = {"c": 96, "u": 12, "v": 4}


@every_door
def test_opening_and_putting_sizes_in_commute(door: Door) -> None:
    """A door opened with symbols and then given sizes is the door opened with these sizes."""
    layer = door.open(door.plain)
    sizes = {symbol.name: SIZES[symbol.name] for symbol in layer.symbols}
    opened = door.open(numbered(door.plain, SIZES))
    assert layer.at(sizes) == opened
    assert layer.at(sizes).count == opened.count


@every_door
def test_flags_keep_a_door_open_or_are_refused_in_words(door: Door) -> None:
    """Each flag turned round gives a layer that counts, or one error of this library."""
    for flag in door.flags:
        turned = not door.signature.parameters[flag].default
        try:
            layer = door.open({**door.plain, flag: turned})
        except ParamsymError:
            continue
        assert layer.params == layer.ledger().stored
        assert all(isinstance(symbol, Symbol) for symbol in layer.symbols)


def test_every_door_is_there() -> None:
    """The table in tests/doors.py names no argument that no door takes, and dir() lists what can be opened."""
    taken = {name for door in doors() for name in door.signature.parameters}
    assert set(REQUIRED) <= taken
    assert {door.__name__ for door in doors()} == set(dir(ps.keras)) - {"Input"}
