"""What the builder of records takes from a class because the base class of its type was not verified for it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from atlas_builder.narrowing import base_of, common, fixed_in, narrow, stays_held

from paramsym.atlas.domain import verified

BASE: dict[str, Any] = {
    "keys": {
        "hidden_size": {"whole": [4, 64], "missing": ["is", 8]},
        "depths": {"words": [(3, 4)], "missing": ["is", (3, 4)], "unused": True},
        "ratio": {"words": [2], "missing": ["is", 2], "unused": True},
        "act": {"words": ["gelu", "relu"], "unused": True},
        "labels": {"words": [None], "unused": True},
        "heads": {"whole": [1, 8]},
        "kind": {"words": ["a", "b"]},
    },
    "unseen": [["kind", "a", "heads", None], ["kind", "b", "other", True]],
    "certificate": {"fixed": ["depths"]},
}
HEAD: dict[str, Any] = {
    "keys": {
        "hidden_size": {"whole": [1, 512], "words": [None], "missing": ["is", 8], "null": ["is", 8]},
        "depths": {"entries": {"whole": [1, 9]}, "length": [2, 2], "missing": ["is", (3, 4)]},
        "ratio": {"whole": [1, 9], "unused": True},
        "act": {"words": ["gelu", "silu"], "unused": True},
        "labels": {"words": [None], "whole": [1, 3]},
        "heads": {"words": [2, None, True]},
        "kind": {"words": ["a", "c"]},
        "own": {"whole": [1, 3]},
    },
    "unseen": [["kind", "a", "own", None]],
    "certificate": {},
}


@pytest.fixture
def keys() -> Any:
    """The domains of the head within the base; ``kind`` is "c" by default."""
    entry = copy.deepcopy(HEAD)
    narrow(entry, BASE, {"kind": "c", "hidden_size": 8})
    return entry["keys"]


@pytest.mark.parametrize(
    ("key", "accepted", "refused"),
    [
        ("hidden_size", [4, 8, 64], [3, None, 64 * 64 + 1]),
        ("depths", [(3, 4)], [(3, 5), (3,), ()]),  # fixed in the base, because no law was right for other values
        ("ratio", [2], [1, 3, None]),  # without effect in both, and tried in the head only
        ("act", ["gelu", "silu"], ["relu"]),  # each class has tried words of its own
        ("labels", [None, 1, 3 * 64], [0]),  # the base does not read it
        ("heads", [2], [1, None, True]),
        ("kind", ["a", "c"], ["b"]),  # the default stays
        ("own", [1, 3 * 64], [0]),
    ],
)
def test_a_key_has_at_most_the_values_of_the_base(keys: Any, key: str, accepted: list[Any], refused: list[Any]) -> None:
    """Ranges, words and lists; what the base says nothing of is unchanged."""
    assert [one for one in accepted if not verified(keys[key], one)] == []
    assert [one for one in refused if verified(keys[key], one)] == []


def test_what_a_null_means_is_narrowed_too(keys: Any) -> None:
    """Null is refused if the base refuses it; a missing key keeps its meaning."""
    assert "null" not in keys["hidden_size"]
    assert keys["hidden_size"]["missing"] == ["is", 8]


def test_pairs_that_the_base_never_saw_are_not_read_together() -> None:
    """Those of keys that the head knows."""
    entry = copy.deepcopy(HEAD)
    narrow(entry, BASE, {})
    assert entry["unseen"] == [["kind", "a", "own", None], ["kind", "a", "heads", None]]


def test_a_class_of_which_the_default_alone_is_recorded_bounds_nothing() -> None:
    """The base is the first that has more."""
    held = {"certificate": {"held": True}}
    assert base_of({"First": held, "Second": BASE, "Third": HEAD}) == "Second"
    assert base_of({"First": held}) is None


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ({"any": True}, {"whole": [1, 2], "words": [None]}, {"whole": [1, 2], "words": [None]}),
        ({"whole": [1, 9]}, {"whole": [20, 30]}, {}),
        ({"whole": [8, 64], "of": 8}, {"whole": [1, 96], "of": 4}, {"whole": [8, 64], "of": 8}),
        ({"whole": [8, 64], "of": 8}, {"whole": [1, 96], "of": 12}, {}),
        ({"number": [0.0, 2.0]}, {"number": [0.5, 3.0], "words": [1]}, {"number": [0.5, 2.0], "words": [1]}),
        ({"object": True, "words": [("{}",)]}, {"object": True}, {"object": True, "words": [("{}",)]}),
        ({"object": True}, {"words": [("{}", ("a", 1))]}, {"words": [("{}", ("a", 1))]}),
        (
            {"entries": {"whole": [1, 9]}, "length": [1, 4]},
            {"entries": {"whole": [2, 12]}, "length": [2, 6]},
            {"entries": {"whole": [2, 9]}, "length": [2, 4]},
        ),
        ({"entries": {"whole": [1, 9]}, "length": [1, 4]}, {"words": [(1, 2), (0, 0)]}, {"words": [(1, 2)]}),
        ({"words": [1, True]}, {"words": [True, 0]}, {"words": [True]}),
    ],
)
def test_the_values_that_two_domains_share(one: dict[str, Any], other: dict[str, Any], both: dict[str, Any]) -> None:
    """In either order."""
    assert common(one, other) == both
    assert common(other, one) == both


def test_fixed_keys_stay_fixed() -> None:
    """Of a class that is derived again, and of the heads of a base."""
    assert fixed_in(BASE) == ("depths",)
    assert fixed_in(HEAD) == fixed_in(None) == ()


def test_a_class_recorded_by_its_default_stays_so() -> None:
    """A class whose laws were wrong, and one whose base class has its default alone; the base itself is not bounded by a head."""
    held = {"certificate": {"held": True}}
    order = ["Model", "Head", "Other"]
    assert stays_held("Head", {"Model": BASE, "Head": held}, order)
    assert stays_held("Other", {"Model": held, "Head": BASE}, order)
    assert not stays_held("Model", {"Model": BASE, "Head": held}, order)
    assert not stays_held("Other", {"Model": BASE, "Head": held}, order)
    assert not stays_held("Model", {}, order)
