"""The entry of one of timm's architectures: its tensors as laws of the classes, the channels and the sides of the image.

Points of three kinds are built: those from which the laws are found, those of other poolings and of no classes, and fresh ones that test
all of it. What fails a test is not in the entry: the pooling or the sides stay as they are, or the architecture is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from atlas_builder.fitting import NoFitError
from atlas_builder.limiting import limited
from atlas_builder.timm_building import RefusedError, defaults, made, tags
from atlas_builder.timm_exploring import CHANNELS, CLASSES, LARGEST, Explored, Sides, Values, default_sides, explored, sides_of
from atlas_builder.timm_laws import Laws
from atlas_builder.timm_rows import rows
from atlas_builder.timm_unused import drawn, fewer, unused

from paramsym.atlas.domain import verified
from paramsym.atlas.expression import OutsideError
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.timm import SIDES

_USUAL_STEP = 32
_USUAL = (224, 256, 240, 384, 299, 288, 192, 448, 512)
_SECONDS = 60.0
_FRESH = 6


class NotAdmittedError(Exception):
    """An architecture without an entry, with the reason."""


def entry(name: str) -> dict[str, Any]:
    """Return the entry of an architecture.

    Raises:
        NotAdmittedError: timm does not build it, or no law explains a tensor.
    """
    reasons: dict[str, None] = {}
    for sides in _attempts(name):
        try:
            with limited(_SECONDS):
                found = _tested(*explored(name, sides))
        except (RefusedError, NoFitError, TimeoutError) as error:
            reasons[str(error)] = None
            continue
        found["defaults"] = _defaults(name, found)
        found["certificate"]["left"] = list(reasons)
        return found
    message = "; ".join(reasons)
    raise NotAdmittedError(message)


def _attempts(name: str) -> Iterator[Sides | None]:
    """Yield the sides to try: those found, squares of them, multiples of 32, and none."""
    found = sides_of(Explored(name))
    if found is not None:
        yield found
        if not found.square:
            yield Sides(found.step, found.least, square=True)
        if found.step < _USUAL_STEP and Explored(name).start[0] % _USUAL_STEP == 0:
            yield Sides(_USUAL_STEP, max(found.least, _USUAL_STEP), found.square)
    yield None


def _defaults(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of each tag; null for a tag under which timm builds something else.

    Raises:
        NotAdmittedError: timm builds something else without a tag.
    """
    kept: dict[str, Any] = dict.fromkeys(("", *tags(name)))
    laws = list(rows_of(found["rows"], found["expressions"]))
    for tag in kept:
        full = f"{name}.{tag}" if tag else name
        classes, channels, sides = defaults(full)
        values: Values = {"num_classes": 1000 if classes is None else classes, "in_chans": channels or 3, "global_pool": None}
        if "img_size" in found["keys"]:
            values["img_size"] = sides[0] if sides else found["keys"]["img_size"].get("null", [0, 0])[1]
        elif "img_height" in found["keys"]:
            plain = found["keys"]["img_height"].get("null", [0, 0])[1]
            values |= dict(zip(SIDES, sides or [plain, plain], strict=True))
            if not all(verified(found["keys"][key], values[key]) for key in SIDES):
                continue
        with suppress(RefusedError, OutsideError):
            if predicted(laws, values) == dict(made(full).tensors):
                kept[tag] = [values["num_classes"], values["in_chans"], sides]
    if kept[""] is None:
        message = "timm's registry builds other tensors than the arguments say"
        raise NotAdmittedError(message)
    return kept


def _tested(one: Explored, words: Sequence[Any]) -> dict[str, Any]:
    """Return an entry that agrees with every point and with fresh ones.

    Raises:
        NoFitError: no law, or a fresh point that disagrees.
        RefusedError: timm refuses a fresh point.
    """
    made_of = _entry(one, words)
    _compare(one, made_of)
    _refresh(one, made_of, words)
    made_of["certificate"] |= {"exact": len(one.points), "fresh": _FRESH}
    return made_of


def renewed(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a record with the arguments that change no tensor found again; its laws stay.

    Raises:
        NotAdmittedError: timm builds other tensors, or refuses what the record has.
    """
    keys = {key: domain for key, domain in found["keys"].items() if not domain.get("unused")}
    sides = None
    domain = keys.get("img_size") or keys.get(SIDES[0])
    if domain and domain["whole"][0] < domain["whole"][1]:
        sides = Sides(domain.get("of", 1), domain["whole"][0], square="img_size" in keys)
    one = Explored(name, sides)
    one.add(num_classes=10, in_chans=3, **default_sides(one))
    entry_of = {**found, "keys": keys | unused(one)}
    try:
        _compare(one, entry_of)
        _refresh(one, entry_of, keys["global_pool"]["words"])
    except (NoFitError, RefusedError) as error:
        raise NotAdmittedError(str(error)) from None
    return entry_of


def _refresh(one: Explored, made_of: dict[str, Any], words: Sequence[Any]) -> None:
    """Compare an entry with fresh points; leave out arguments that change a tensor together with others.

    Raises:
        NoFitError: a point that disagrees without these arguments, too.
        RefusedError: timm refuses a point without these arguments, too.
    """
    points = len(one.points)
    reasons: list[RefusedError | NoFitError] = []
    for keys in fewer(made_of["keys"]):
        try:
            _freshly(one, words, keys)
            _compare(one, made_of, points)
        except (RefusedError, NoFitError) as error:
            reasons.append(error)
            del one.points[points:], one.builds[points:]
            continue
        made_of["keys"] = keys
        return
    raise reasons[-1]


def _freshly(one: Explored, words: Sequence[Any], keys: Mapping[str, Any]) -> None:
    """Add fresh points; arguments that change no tensor are among the values."""
    for number in range(_FRESH):
        values = {
            "num_classes": one.draw.choice((0, 3, 365, 11221, one.draw.randrange(1, 2**17))),
            "in_chans": one.draw.choice((1, 3, 6, one.draw.randrange(1, 2**11))),
            "global_pool": one.draw.choice(words),
            **one.sized(square=number % 2 == 0, small=number % 3 == 2),
            **drawn(one, keys, share=0.6),
        }
        if number == 0 and one.sides:
            values |= dict.fromkeys(one.sides.keys, one.sides.step * (2 * LARGEST // one.sides.step - 1))
        one.add(**values)


def _compare(one: Explored, made_of: Mapping[str, Any], first: int = 0) -> None:
    found = list(rows_of(made_of["rows"], made_of["expressions"]))
    for values, built in list(zip(one.points, one.builds, strict=True))[first:]:
        if predicted(found, values) != dict(built.tensors):
            wrong = predicted(found, values)
            names = [name for name in {**wrong, **built.tensors} if wrong.get(name) != built.tensors.get(name)]
            message = f"{names[0]} is {built.tensors.get(names[0])} at {values}, where the laws say {wrong.get(names[0])}"
            raise NoFitError(message)


def _entry(one: Explored, words: Sequence[Any]) -> dict[str, Any]:
    expressions: dict[str, int] = {}
    laws = Laws(one.points, ("num_classes", "in_chans"), one.sides.keys if one.sides else ())
    facts: dict[str, list[Any]] = {}
    for name in _merged(built.tensors for built in one.builds):
        kinds: dict[Any, list[int]] = {}
        for place, built in enumerate(one.builds):
            if name in built.tensors:
                kind, what = built.tensors[name]
                kinds.setdefault((kind, what if kind == "tie" else len(what)), []).append(place)
        for (kind, first), where in kinds.items():
            more: dict[str, Any] = {"first": first} if kind == "tie" else {}
            if kind != "tie":
                axes = [laws.law(where, sizes) for sizes in zip(*(one.builds[place].tensors[name][1] for place in where), strict=True)]
                more["axes"] = [expressions.setdefault(json.dumps(law), len(expressions)) for law in axes]
            presence = _presence(one, set(where))
            facts.setdefault(name, []).append([kind, more if presence is None else {**more, "if": presence}])
    stated = []
    for template, kind, more in rows(facts):
        bounds = [expressions.setdefault(json.dumps(bound), len(expressions)) for bound in more.get("bounds", ())]
        stated.append([template, kind, {**more, "bounds": bounds} if bounds else more])
    return {
        "class": one.builds[0].model_class,
        "keys": _keys(one, words),
        "free": [],
        "expressions": [json.loads(text) for text in expressions],
        "rows": stated,
        "unseen": [],
        "needs": [],
        "certificate": {},
    }


def _merged(orders: Iterator[Any]) -> list[str]:
    """Return the names of all points, each after its predecessor."""
    found: list[str] = []
    for names in orders:
        known = set(found)
        if known.issuperset(names):
            continue
        place = 0
        for name in names:
            if name in known:
                place = found.index(name) + 1
            else:
                found.insert(place, name)
                place += 1
    return found


def _presence(one: Explored, where: set[int]) -> Any:
    """Return the tests and cases that say at which points there is a tensor; None if it is always there.

    Raises:
        NoFitError: the classes and the pooling do not decide it.
    """
    if len(where) == len(one.points):
        return None
    classes, pooling = ["positive", "num_classes"], ["is", "global_pool"]
    for tests in ([classes], [pooling], [classes, pooling]):
        cases: dict[tuple[Any, ...], set[bool]] = {}
        for place, point in enumerate(one.points):
            answers = tuple(point["num_classes"] > 0 if test is classes else point["global_pool"] for test in tests)
            cases.setdefault(answers, set()).add(place in where)
        if all(len(answers) == 1 for answers in cases.values()):
            return [tests, [[list(answers), there.pop()] for answers, there in cases.items()]]
    message = "the classes and the pooling do not decide whether a tensor is there"
    raise NoFitError(message)


def _keys(one: Explored, words: Sequence[Any]) -> dict[str, Any]:
    """Return the domain of each key."""
    keys: dict[str, Any] = {
        "num_classes": {"whole": [0, CLASSES]},
        "in_chans": {"whole": [1, CHANNELS]},
        "global_pool": {"words": list(words)},
    }
    if one.sides is not None:
        domain: dict[str, Any] = {"whole": [one.sides.least, 2 * LARGEST]}
        if one.sides.step > 1:
            domain["of"] = one.sides.step
        plain = _plain_size(one)
        if plain:
            domain["null"] = ["is", plain]
        keys |= {key: dict(domain) for key in one.sides.keys}
    keys |= {key: {"whole": [side, side]} for key, side in one.fixed.items()}
    return keys | unused(one)


def _plain_size(one: Explored) -> int | None:
    """Return the side of the square that timm's class has without an argument; None if it is none of the usual ones."""
    with suppress(RefusedError):
        plain = one.build().tensors
        for size in dict.fromkeys((*one.start, *_USUAL)):
            with suppress(RefusedError):
                if one.build(img_height=size, img_width=size).tensors == plain:
                    return size
    return None
