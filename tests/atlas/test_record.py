"""Records from strangers: damaged, hostile or of another format, each is one clear error and nothing is ever run."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import re
from typing import Any

import pytest

import paramsym as ps
from paramsym.algebra.symbols import dims
from paramsym.atlas.common_keys import labels_of
from paramsym.atlas.domain import default, said, verified
from paramsym.atlas.expression import OutsideError, answer, chosen, evaluated
from paramsym.atlas.files import record_of
from paramsym.atlas.indices import MOST_COPIES, indices
from paramsym.atlas.model import _check_size
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.reading import values_of
from paramsym.atlas.record import LARGEST_RECORD, RecordError, packed, parsed
from paramsym.errors import ConfigError

RECORD: dict[str, Any] = {
    "format": 1,
    "type": "toy",
    "reference": "none",
    "aliases": {"width": "hidden_size"},
    "inside": ["text_config"],
    "spelled": {"pattern": ["kinds", {"x": "a", "-": "b"}], "kinds": ["kinds", {"old a": "a"}]},
    "classes": {
        "Toy": {
            "keys": {
                "hidden_size": {"whole": [1, 64], "missing": ["is", 8]},
                "heads": {"whole": [1, 8], "words": [None], "missing": ["expression", ["+", [[1, 1, [[["//", "hidden_size", 4], 1]]]]]]},
                "bias": {"words": [True, False], "missing": ["is", True]},
                "kinds": {
                    "entries": {"words": ["a", "b"]},
                    "length": [1, 64],
                    "missing": ["list", 4, [["a", ["where", ["mod", 2, 0], [0]]], ["b", ["where", ["mod", 2, 0], [1]]]]],
                },
                "sparse": {
                    "entries": {"whole": [0, 64]},
                    "length": [0, 64],
                    "missing": ["numbers", ["where", ["mod", 3, 0], [1]], ["+", [[1, 1, [["hidden_size", 1]]]]]],
                    "unused": True,
                },
                "doubled": {"derived": True, "whole": [2, 128], "missing": ["expression", ["+", [[2, 1, [["hidden_size", 1]]]]]]},
                "settings": {"derived": True, "missing": ["each", "kinds", "b", {"width": 2}], "unused": True, "without": ["rate"]},
                "text_config.depth": {"whole": [1, 4], "missing": ["is", 2], "absent": 3},
                "rate": {"number": [0.0, 1.0], "unused": True},
            },
            "free": ["note"],
            "expressions": [["+", [[1, 1, [["hidden_size", 1]]]]], ["+", [[1, 1, [[["len", "kinds"], 1]]]]], 1],
            "rows": [
                ["w", "parameter", {"axes": [0, 0]}],
                ["b", "parameter", {"axes": [0], "if": [[["is", "bias"]], [[[True], True], [[False], False]]]}],
                ["layers.#.a", "frozen", {"axes": [0], "bounds": [1], "sets": [["where", ["entry", "kinds"], ["a"]]]}],
                ["layers.#.n", "buffer", {"axes": [], "bounds": [1], "sets": [["all"]]}],
                ["again", "tie", {"first": "w"}],
            ],
            "unseen": [["bias", False, "heads", None], ["bias", True, "rate", 0.25]],
            "needs": [["heads", "hidden_size"]],
            "below": [["text_config.depth", "hidden_size"]],
            "certificate": {"exact": 200},
        }
    },
    "refused": {"Other": "no law"},
}


def changed(*path: Any, to: Any) -> bytes:
    """Return the file of the record with one thing changed."""
    record = copy.deepcopy(RECORD)
    held: Any = record
    for step in path[:-1]:
        held = held[step]
    held[path[-1]] = to
    return packed(record)


def read(**config: Any) -> dict[str, Any]:
    """Return what the record gives for a configuration."""
    record = parsed(packed(RECORD))
    entry = record["classes"]["Toy"]
    return predicted(list(rows_of(entry["rows"], entry["expressions"])), values_of(config, record, entry)[0])


def test_a_record_is_read() -> None:
    """Defaults, lists by their laws, presence, kinds of tensors and ties."""
    assert read() == {
        "w": ("parameter", (8, 8)),
        "b": ("parameter", (8,)),
        "layers.0.a": ("frozen", (8,)),
        "layers.2.a": ("frozen", (8,)),
        "layers.0.n": ("buffer", ()),
        "layers.1.n": ("buffer", ()),
        "layers.2.n": ("buffer", ()),
        "layers.3.n": ("buffer", ()),
        "again": ("tie", "w"),
    }
    assert "b" not in read(bias=False, width=4)
    assert read(width=4)["w"] == ("parameter", (4, 4))
    assert [name for name in read(kinds=["b", "a"]) if name.endswith(".a")] == ["layers.1.a"]


def test_a_text_spells_a_list_of_words() -> None:
    """One letter for each word; a given list has priority, null is no list, and another letter is refused."""
    assert read(pattern="x-xx") == read(kinds=["a", "b", "a", "a"]) == read(pattern="x-xx", kinds=None)
    assert read(kinds=["old a", "b"]) == read(kinds=["a", "b"])
    assert read(pattern="--", kinds=["a", "b"]) == read(kinds=["a", "b"])
    for text in ("xM", 5, None):
        with pytest.raises(OutsideError, match=r"pattern is .*; wanted a text of the letters x \(a\), - \(b\)\."):
            read(pattern=text)


def test_what_the_reference_replaces() -> None:
    """A value that the reference would replace is refused; the replacing value, null and a missing key are accepted."""
    for config in ({"doubled": 24}, {"doubled": None}, {}):
        assert read(hidden_size=12, **config) == read(hidden_size=12)
    with pytest.raises(OutsideError, match=r"doubled is 23.* other keys give 24"):
        read(hidden_size=12, doubled=23)


def test_settings_of_single_layers() -> None:
    """Those that follow from the kinds of the layers are accepted, with numbers of as many digits as the last one; others are refused."""
    assert read(settings={"1": {"width": 2}, "3": {"width": 2}}) == read()
    kinds = ["a", "b", *"aaaaaaaaa"]
    assert read(kinds=kinds, settings={"01": {"width": 2}}) == read(kinds=kinds)
    with pytest.raises(OutsideError, match=r"settings is \{'1': \{'width': 3\}\}.* other keys give \{'1': \{'width': 2\}, '3'"):
        read(settings={"1": {"width": 3}})


def test_objects_are_the_same_in_any_order_of_their_keys() -> None:
    """JSON objects have no order: a value of a record, one inside another, and that of a configuration are compared by their keys."""
    record = copy.deepcopy(RECORD)
    word = ["{}", ["b", ["{}", ["d", 2], ["c", 1]]], ["a", [0.5]]]
    record["classes"]["Toy"]["keys"]["rate"]["words"] = [word]
    read_again = parsed(packed(record))
    for config in ({"a": [0.5], "b": {"c": 1, "d": 2}}, {"b": {"d": 2, "c": 1}, "a": [0.5]}):
        assert values_of({"rate": config}, read_again, read_again["classes"]["Toy"])[0]["hidden_size"] == 8
    for other in ({"a": [0.5], "b": {"c": 2, "d": 1}}, {"a": [0.5]}, {"b": {"c": 1, "d": 2}, "a": [0.5], "e": None}):
        with pytest.raises(OutsideError, match="rate is"):
            values_of({"rate": other}, read_again, read_again["classes"]["Toy"])


@pytest.mark.parametrize("value", [["{}", 3], ["{}", ["a", 1]], [["{}"]], {"a": ["{}", [1, 2]]}])
def test_a_list_is_never_taken_for_an_object(value: Any) -> None:
    """Records mark objects by a word at the beginning of a list; a configuration has no such lists."""
    with pytest.raises(ConfigError, match=r"begins with '\{\}'"):
        read(rate=value)


def test_settings_of_single_layers_that_no_tensor_depends_on() -> None:
    """They are accepted with verified values; another key, an unverified value, and what is no layer are refused."""
    record = copy.deepcopy(RECORD)
    domain = {"words": [None], "layers": {"window": {"whole": [1, 64], "words": [None]}}, "missing": ["is", None], "unused": True}
    record["classes"]["Toy"]["keys"]["per_layer"] = domain
    again = parsed(packed(record))
    for settings in (None, {}, {"0": {"window": 8}, "3": {"window": None}}, {"1": {}}):
        assert values_of({"per_layer": settings}, again, again["classes"]["Toy"])[0]["hidden_size"] == 8
    for settings in ({"0": {"width": 8}}, {"0": {"window": 0}}, {"0": 8}, {"window": 8}, {"a": {"window": 8}}, [{"window": 8}]):
        with pytest.raises(OutsideError, match=r"per_layer is .*window of single layers: null, whole numbers from 1"):
            values_of({"per_layer": settings}, again, again["classes"]["Toy"])


def test_a_missing_list_of_numbered_layers() -> None:
    """The layers whose number leaves the remainder 1 when divided by 3; of 8 layers 1, 4 and 7, by hand."""
    record = parsed(packed(RECORD))
    assert values_of({"hidden_size": 8}, record, record["classes"]["Toy"])[0]["sparse"] == (1, 4, 7)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"colour": 1}, "'colour' is not known"),
        ({"hidden_sise": 1}, "did you mean hidden_size"),
        ({"hidden_size": 0}, "hidden_size is 0"),
        ({"hidden_size": 64 * 64 + 1}, "tested to 64"),
        ({"hidden_size": True}, "hidden_size is true"),
        ({"heads": 3}, "heads must divide hidden_size"),
        ({"hidden_size": 2, "heads": 1}, "text_config.depth must be less than hidden_size"),
        ({"bias": False, "heads": None}, "bias = false together with heads = null was not verified"),
        ({"bias": True, "rate": 0.25}, "bias = true together with rate = 0.25 was not verified"),
        ({"kinds": ["c"]}, "kinds is"),
        ({"kinds": []}, "lists of 1 to 64 entries"),
        ({"rate": 2.0}, "numbers from 0 to 1"),
        ({"rate": float("nan")}, r"rate is nan \(float\)"),
        ({"rate": 0.5, "settings": {"1": {"width": 2}}}, "settings and rate are both given"),
        ({"text_config": 3}, "text_config is 3"),
        ({"text_config": {"depht": 3}}, "did you mean text_config.depth"),
    ],
)
def test_what_was_not_verified_is_refused(config: dict[str, Any], message: str) -> None:
    """The error names the key, or both keys of a pair."""
    with pytest.raises(OutsideError, match=message):
        read(**config)


def test_a_configuration_inside_has_its_own_defaults() -> None:
    """Keys of an inner configuration may have other defaults if the whole inner configuration is missing."""
    record = parsed(packed(RECORD))
    entry = record["classes"]["Toy"]
    assert values_of({}, record, entry)[0]["text_config.depth"] == 3
    assert values_of({"text_config": {"pad_token_id": 3}}, record, entry)[0]["text_config.depth"] == 2
    with pytest.raises(OutsideError, match=r"text_config\.depth is not given"):  # some references read an empty object as a missing one
        values_of({"text_config": {}}, record, entry)
    assert values_of({"text_config": {"depth": 4}, "note": [1], "pad_token_id": 3}, record, entry)[0]["text_config.depth"] == 4


def test_labels_are_counted() -> None:
    """A number goes before names; null is not a number."""
    assert labels_of({"num_labels": 3, "id2label": {"0": "a"}}) == 3
    assert labels_of({"num_labels": None, "id2label": {"0": "a"}}) == 1
    assert labels_of({}) is None
    with pytest.raises(ConfigError, match="id2label is 3"):
        read(id2label=3)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        gzip.compress(b"no json", mtime=0),
        gzip.compress(b"[" * 5000, mtime=0),
        gzip.compress(json.dumps([[[[[]]]]] * 3).encode(), mtime=0),
        gzip.compress(b" " * (LARGEST_RECORD + 2), mtime=0),
        gzip.compress(b"{}", mtime=0)[:-4],
        gzip.compress(pickle.dumps(RECORD), mtime=0),
        b"\x1f\x8b\x08\x00" + b"\xff" * 40,
        b"x" * (2**20 + 1),
        gzip.compress(json.dumps({"format": 1, "classes": [0] * 500_000}).encode(), mtime=0),
        changed("format", to=2),
        changed("type", to=3),
        changed("inside", to=[3]),
        changed("spelled", to={"pattern": ["kinds", {"x": 3}]}),
        changed("classes", "Toy", "rows", 0, 1, to="code"),
        changed("classes", "Toy", "rows", 0, 2, "role", to="key"),
        changed("classes", "Toy", "rows", 0, 2, "role", to=["table"]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=[7]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=["__import__('os')"]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=[[0, 7], 0]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=[[], 0]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=[[0, [["query", 0, 7]]], 0]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=[[0, [[3, 0]]], 0]),
        changed("classes", "Toy", "rows", 0, 2, "axes", to=[[0, [["not a name", 0]]], 0]),
        changed("classes", "Toy", "rows", 2, 2, "sets", to=[]),
        changed("classes", "Toy", "rows", 2, 2, "sets", 0, to=["eval", "1"]),
        changed("classes", "Toy", "rows", 2, 2, "sets", 0, to=["where", ["exec", "x"], [1]]),
        changed("classes", "Toy", "rows", 2, 2, "sets", 0, to=["?", [["call", "x"]], []]),
        changed("classes", "Toy", "rows", 2, 2, "sets", 0, to=["?", [["is", "bias"]], [[[True], ["eval", "1"]]]]),
        changed("classes", "Toy", "rows", 1, 2, "if", to=[[["call", "x"]], []]),
        changed("classes", "Toy", "rows", 1, 2, "if", to=[[["is", "bias"]], [[[], True]]]),
        changed("classes", "Toy", "rows", 4, 2, "first", to=3),
        changed("classes", "Toy", "expressions", 0, to=["system", "ls"]),
        changed("classes", "Toy", "expressions", 0, to="hidden_size"),
        changed("classes", "Toy", "expressions", 0, to=["+", [[1, 0, []]]]),
        changed("classes", "Toy", "expressions", 0, to=["+", [[1, 1, [["hidden_size", 10**9]]]]]),
        changed("classes", "Toy", "expressions", 0, to=["+", [[1, 1, [[["**", 9, 9], 1]]]]]),
        changed("classes", "Toy", "expressions", 0, to=["+", [[1, 1, [[["2^"], 1]]]]]),
        changed("classes", "Toy", "expressions", 0, to=["+", [[1, 1, [[["near", "a", 8], 1]]]]]),
        changed("classes", "Toy", "expressions", 0, to=["+", [[1, 1, [[["or", 8, "a"], 1]]]]]),
        changed("classes", "Toy", "keys", "hidden_size", "whole", to=["a", "b"]),
        changed("classes", "Toy", "keys", "hidden_size", "missing", to=["run", "x"]),
        changed("classes", "Toy", "keys", "hidden_size", "missing", to=["each", "kinds", "a"]),
        changed("classes", "Toy", "keys", "hidden_size", "missing", to=["each", 3, "a", {}]),
        changed("classes", "Toy", "keys", "kinds", "length", to=[1]),
        changed("classes", "Toy", "keys", "rate", "words", to=[["{}", 3]]),
        changed("classes", "Toy", "keys", "rate", "layers", to={"x": {"whole": ["a", "b"]}}),
        changed("classes", "Toy", "keys", "rate", "layers", to=[{}]),
        changed("classes", "Toy", "keys", "rate", "words", to=[["{}", [["a"], 3]]]),
        changed("classes", "Toy", "unseen", to=[[1]]),
        changed("classes", "Toy", "needs", to=[[1, 2]]),
        changed("classes", "Toy", "below", to=[[1, 2]]),
        changed("classes", "Toy", "keys", "settings", "without", to=[3]),
        changed("classes", "Toy", "keys", "kinds", "last", to={"whole": ["a", "b"]}),
        changed("classes", "Toy", "certificate", to=3),
    ],
)
def test_hostile_records_are_refused(content: bytes) -> None:
    """Whatever is wrong with a file, it is one error of the atlas."""
    with pytest.raises(RecordError):
        parsed(content)


def test_a_record_that_is_not_there_is_refused() -> None:
    """A name is looked up in the list of records and never used as a path."""
    for name in ("../../etc/passwd", "no such type", ""):
        with pytest.raises(RecordError):
            record_of(name)


def test_a_file_is_the_same_for_the_same_record() -> None:
    """No time of day is in it."""
    assert packed(RECORD) == packed(copy.deepcopy(RECORD))


# Expressions and sets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("atom", "value"),
    [
        (["//", "a", 2], 3),
        (["^/", "a", 2], 4),
        (["min", "a", "b"], 2),
        (["max", "a", "b"], 7),
        (["-", "a", "b"], 5),
        (["*", "a", "b"], 14),
        (["up", "a", 4], 8),
        (["int*", "a", "rate"], 17),
        (["2^", "b"], 4),
        (["root", ["*", "a", "b"]], 3),
        (["round", ["times", "b", 1.25]], 2),  # halves go to the even number, as in Python
        (["round", ["/", "a", "b"]], 4),
        (["near", "a", 4, 1], 8),
        (["near", ["times", "a", 1.6], 8, 8], 16),  # 8 would lose more than a tenth of 11.2
        (["near", 3, 4, 16], 16),
        (["or", "a", "b"], 7),
        (["or", "null", "b"], 2),
        (["at", "list", -1], 5),
        (["at", "nested", 1, 0], 4),
        (["len", "list"], 2),
    ],
)
def test_operations(atom: Any, value: int) -> None:
    """Each operation, by hand."""
    values = {"a": 7, "b": 2, "null": None, "rate": 2.5, "list": (3, 5), "nested": ((1,), (4,))}
    assert evaluated(values, ["+", [[1, 1, [[atom, 1]]]]]) == value


@pytest.mark.parametrize(
    "what",
    [
        ["+", [[1, 2, [["a", 1]]]]],
        ["+", [[1, 1, [["missing", 1]]]]],
        ["+", [[1, 1, [["flag", 1]]]]],
        ["+", [[1, 1, [["rate", 1]]]]],
        ["+", [[1, 1, [[["//", "a", 0], 1]]]]],
        ["+", [[1, 1, [[["2^", 99], 1]]]]],
        ["+", [[1, 1, [[["int*", "a", "endless"], 1]]]]],
        ["+", [[1, 1, [[["times", "a", "rate"], 1]]]]],
        ["+", [[1, 1, [[["round", ["times", "a", "endless"]], 1]]]]],
        ["+", [[1, 1, [[["round", ["/", "a", 0]], 1]]]]],
        ["+", [[1, 1, [[["root", ["-", 0, "a"]], 1]]]]],
        ["+", [[1, 1, [[["near", "a", 0, 8], 1]]]]],
        ["+", [[1, 1, [[["or", "missing", "words"], 1]]]]],
        ["+", [[1, 1, [[["at", "list", 5], 1]]]]],
        ["+", [[1, 1, [[["at", "words", 0], 1]]]]],
        ["+", [[1, 1, [[["len", "a"], 1]]]]],
        ["+", [[10**18, 1, [["a", 3]]]]],
        ["?", [["is", "a"]], [[[8], 1]]],
    ],
)
def test_what_has_no_whole_number_is_refused(what: Any) -> None:
    """Halves, floats, divisions by nothing, lists that are too short, cases that were never seen."""
    values = {"a": 7, "flag": True, "rate": 2.5, "endless": float("inf"), "list": (3, 5), "words": ("x",)}
    with pytest.raises(OutsideError):
        evaluated(values, what)


def test_answers() -> None:
    """Each test, by hand; a flag is not a number."""
    values = {"a": 7, "b": 2, "none": None, "list": (3, 5)}
    assert [answer(values, test) for test in (["is", "a"], ["none", "none"], ["positive", "a"], ["positive", "none"])] == [
        7,
        True,
        True,
        None,
    ]
    assert [answer(values, test) for test in (["equal", "a", "b"], ["equal", "a", "a"])] == [False, True]
    assert [answer(values, test) for test in (["beyond", "list", 1], ["beyond", "a", 7], ["beyond", "none", 1])] == [True, False, None]
    assert [
        answer(values, test) for test in (["over", "list", 1, 4], ["over", "list", 0, 3], ["over", "list", 2, 0], ["over", "a", 0, 0])
    ] == [
        True,
        False,
        None,
        None,
    ]
    assert answer(values, ["entry", "list", 0]) == 3
    words = {"list": ("c2p",), "string": "c2p|p2c", "none": None, "number": 3}
    assert [answer(words, ["holds", key, ["p2c"]]) for key in words] == [False, True, False, False]
    with pytest.raises(OutsideError, match="never tested"):
        chosen({"x": True}, [["is", "x"]], [[[1], "wrong"]])


@pytest.mark.parametrize(
    ("what", "found"),
    [
        (["all"], [0, 1, 2, 3, 4, 5]),
        (["range", 1, 3], [1, 2]),
        (["not", ["range", 1, 6]], [0]),
        (["both", ["range", 1, 6], ["where", ["mod", 2, 0], [0]]], [2, 4]),
        (["where", ["mod", 3, 1], [0]], [2, 5]),
        (["where", ["from", 3, 1], [0]], [1, 4]),
        (["where", ["last"], [True]], [5]),
        (["where", ["ends"], ["first", "last"]], [0, 5]),
        (["where", ["member", "list"], [True]], [1, 5]),
        (["where", ["entry", "kinds"], ["b"]], [1, 3]),
        (["?", [["entry", "kinds", 1]], [[["a"], ["all"]], [["b"], ["range", 0, 2]]]], [0, 1]),
    ],
)
def test_sets_of_indices(what: Any, found: list[int]) -> None:
    """Each law, by hand; a member below zero counts from the end."""
    assert list(indices({"list": (1, -1), "kinds": tuple("ababaa")}, what, 6)) == found


@pytest.mark.parametrize(
    ("what", "bound"),
    [
        (["all"], MOST_COPIES + 1),
        (["range", 0, 9], 6),
        (["where", ["mod", 0, 0], [0]], 6),
        (["where", ["entry", "kinds"], ["b"]], 6),
    ],
)
def test_sets_that_cannot_be_are_refused(what: Any, bound: int) -> None:
    """Too many copies, a range beyond the bound, a period of 0, a list that is too short."""
    with pytest.raises(OutsideError):
        indices({"kinds": ("a",)}, what, bound)


def test_rows_that_collide_are_refused() -> None:
    """Two rows for one name, a negative size, more tensors than any model has."""
    collide = [["w", "parameter", {"axes": [0]}]] * 2
    with pytest.raises(OutsideError, match="stored twice"):
        predicted(list(rows_of(collide, [3])), {})
    with pytest.raises(OutsideError, match="shape"):
        predicted(list(rows_of(collide[:1], [-3])), {})
    with pytest.raises(OutsideError, match="more than"):
        predicted(list(rows_of([["a.#.b.#", "parameter", {"bounds": [0, 0], "sets": [["all"], ["all"]]}]], [1000])), {})


def test_defaults() -> None:
    """A value, another key's, cases; a rule that needs what is not there, and a list with holes, are refused."""
    assert default(["is", 3], {}) == 3
    assert default(["same", "a"], {"a": "x"}) == "x"
    assert default(["cases", [["is", "a"]], [[["x"], True]]], {"a": "x"}) is True
    with pytest.raises(OutsideError, match="not known"):
        default(["same", "a"], {})
    with pytest.raises(OutsideError, match="would have 2"):
        default(["list", 4, [["a", ["range", 0, 2]]]], {})


def test_a_letter_of_a_list_is_as_large_as_the_verified_entries() -> None:
    """A list of which one value was verified has numbers, though no range of them; there is no multiple of its largest."""
    assert _check_size("depths_0", {"words": [None, (2, 8, 12)]}, dims("n")) is None
    for size in (1, 13, 8):
        with pytest.raises(OutsideError, match="depths_0 is"):
            _check_size("depths_0", {"words": [None, (2, 8, 12)]}, size)


def test_domains() -> None:
    """What was verified is said in words."""
    assert verified({"any": True}, ("{}",))
    assert verified({"object": True}, ("{}", ("a", 1)))
    assert not verified({"words": [1]}, True)
    assert not verified({}, 3)
    assert said({}) == "its default"
    assert said({"number": [0, 1], "entries": {"whole": [1, 2]}, "length": [1, 2]}).startswith("numbers from 0 to 1, lists of 1 to 2")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("led", r"LEDForConditionalGeneration\(vocab_size=V, d_model=H, .*decoder_ffn_dim=F_d, tie_word_embeddings=True\)"),
        ({"model_type": "led", "d_model": 64}, r"LEDForConditionalGeneration\(vocab_size=50265, d_model=64, .*"),
        ("swin2sr", r"Swin2SRModel\(.*depths=\[6, 6, 6, 6, 6, 6\], mlp_ratio=2.0, num_heads=\[num_heads_0, .*"),
        ("timm/resnet18", r"ResNet\('timm/resnet18', in_chans=.*, num_classes=.*\)"),
    ],
)
def test_a_model_shows_its_keys(asked: Any, words: str) -> None:
    """Its repr is the class of the reference with the values of its keys: letters in a model in letters."""
    model = ps.load(asked) if isinstance(asked, str) else ps.from_config(asked)
    assert re.fullmatch(words, repr(model))
