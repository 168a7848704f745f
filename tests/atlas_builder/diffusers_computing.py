"""Write what diffusers' classes compute: ``PYTHONPATH=tests python -m atlas_builder.diffusers_computing AutoencoderKL:4 CLASS``.

The sizes of the inputs, and the sizes of the record, are letters; the operators are known for the default of each other key, and for those
of published configurations.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import recorded
from atlas_builder.computing import EQUAL, FIXED, Class, Point, equal
from atlas_builder.diffusers_reference import DiffusersReference
from atlas_builder.inputs import Inputs
from atlas_builder.networks import NetworkFinder, kept, known, told
from atlas_builder.rates import rated
from atlas_builder.reference import RefusedError
from sympy import floor

from paramsym.atlas.computing import formed, path_of
from paramsym.atlas.diffusers import diffusers_type
from paramsym.atlas.files import DIFFUSERS, diffusers_index, record_of
from paramsym.errors import ConfigError
from paramsym.read.merging import alike
from paramsym.read.recording import Recording

_SEVERAL = "layers of several kinds"
_OF_BLOCKS = re.compile(r"(channels|mult|layers|blocks|block|head_dim|heads)_\d+$|layers_per_(down_|up_)?block$")
"""Keys of single blocks, which keep their numbers: equal and different ones have other operators, and published networks few of them."""
INERT = {"sample_size"}
"""Keys of which one other value is tried: most classes read them only to divide a large picture."""
_MORE = 1 / 16
"""What is added to a rate, or to a number such as the epsilon of a norm."""
_ERRORS = 8
"""How often another search is tried."""


class DiffusersFinder(NetworkFinder):
    """The search for the computation of one class, counted on the meta device at points that were seen."""

    def held(self, base: Mapping[str, int], recording: Recording, known: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return all keys that are no letters, without those that change nothing."""
        found = super().held(base, recording, known)
        for key in [key for key, (value,) in found.items() if key in INERT or type(value) is float]:
            value = found[key][0]
            other = 2 * value if type(value) is int else value + _MORE if type(value) is float else None
            with suppress(RefusedError):
                seen = None if other is None else self.shaped(self.of.at(base, {key: other}))
                if seen is not None and alike(recording, seen) and equal(recording, seen):
                    del found[key]
        return found

    def told(self, letters: Mapping[str, Any]) -> Iterator[Any]:
        """Yield where a table of positions is cut for a picture, in its middle."""
        for side in (letters[name] for name in ("rows", "columns") if name in letters and "pos_embed_max_size" in letters):
            before = floor((letters["pos_embed_max_size"] - side) / 2)
            yield from (before, before + side)

    def solved(self, base: Any, numbers: Any, recordings: Any, lines: Any) -> Any:
        """Return the laws, and keep the points."""
        self.numbers = numbers
        return super().solved(base, numbers, recordings, lines)

    def shrunk(self, base: Mapping[str, int], least: int, kept: Any) -> dict[str, int]:
        """Return a point that was seen: on the meta device none has to be small."""
        del base, kept
        return dict(self.numbers[-1 - least % len(self.numbers)])


class Single(Class):
    """A class that gets a batch of 1."""

    def taken(self, resolved: Mapping[str, Any]) -> Iterator[Inputs]:
        """Yield the inputs that the class takes."""
        self.reference.single = True  # type: ignore[attr-defined]
        return super().taken(resolved)


def types_of(name: str, label: str = "") -> list[str]:
    """Return the types of the records of a class, or the one of a label."""
    labels = [label] if label else diffusers_index()["classes"][name]["lengths"]
    return [DIFFUSERS + name + (f"/{one}" if one else "") for one in labels]


def points(model_type: str) -> Iterator[Point]:
    """Yield what the configurations of a record change of its start: nothing, and keys of published configurations."""
    reference = DiffusersReference(model_type)
    seen: list[Point] = []
    if reference.is_default or not [*_published(model_type)]:
        seen.append({})
        yield {}
    for config in _published(model_type):
        point = None
        with suppress(ConfigError):  # an outdated key
            point = reference.changed(config)
        if point is not None and point not in seen:
            seen.append(point)
            yield point


def _published(model_type: str) -> Iterator[Mapping[str, Any]]:
    for row in recorded.rows("diffusers"):
        if row["name"] and diffusers_type(row["config"]) == model_type:
            yield row["config"]


def form(model_type: str, given: Point, kind: type[Class], fixed: frozenset[str]) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the computation of a class at a configuration as JSON, and the keys that are numbers in it.

    Raises:
        Exception: why there is none.
    """
    (named,) = record_of(model_type)["classes"]
    layers = [(EQUAL, 2), (EQUAL, 3), (FIXED, 0)]
    for tried in range(_ERRORS):
        of = kind(model_type, named, given, layers[0][0], fixed=fixed, least=layers[0][1])
        try:
            found = DiffusersFinder(of).found()
        except Exception as error:
            print(f"  {type(error).__name__}: {str(error)[:300]} ({len(of.seen)} passes)", flush=True)
            more = of.keys_of(getattr(error, "names", ())) - fixed
            if tried == _ERRORS - 1:
                raise
            if str(error).startswith(_SEVERAL) and len(layers) > 1:
                layers = layers[1:]
            elif more:
                fixed |= more
            else:
                raise
        else:
            return {"inputs": {key: list(axes) for key, axes in of.inputs.items()}, **found}, fixed
    raise AssertionError


def written(model_type: str, entry: dict[str, Any]) -> Iterator[str]:
    """Write the forms of a record one by one, beside those that there are; yield what is said of each."""
    (named,) = record_of(model_type)["classes"]
    of_blocks = frozenset(filter(_OF_BLOCKS.search, record_of(model_type)["classes"][named]["keys"]))
    asked: list[tuple[Point, type[Class], frozenset[str]]] = [(given, Class, of_blocks) for given in points(model_type)]
    values = DiffusersReference(model_type).resolved
    while asked:
        (given, kind, fixed), began = asked.pop(0), time.process_time()
        fitting = [one for one in entry.get("forms", ()) if formed(entry["inputs"], one).fits(values(given))]
        if fitting and kind is Class:
            asked = [(given, Single, fixed), *asked] if all(one["above"].get("B") == 1 for one in fitting) else asked
            continue
        try:
            found, fixed = form(model_type, given, kind, fixed)
        except Exception as error:  # noqa: BLE001 - one configuration that fails does not end the others
            yield f"{given} {time.process_time() - began:.0f} s: {type(error).__name__}: {str(error)[:300]}"
            continue
        entry.setdefault("inputs", found["inputs"])
        if entry["inputs"] == found["inputs"]:
            del found["inputs"]
        entry.setdefault("forms", []).append(found)
        kept(model_type, {named: entry})
        yield f"{given} {time.process_time() - began:.0f} s: {told(found, found.get('inputs', entry['inputs']))}"
        asked = [(given, Class, fixed), *asked] if kind is Class else asked
    if entry:
        yield from trained(model_type)


def trained(model_type: str) -> Iterator[str]:
    """Write what training keeps, and let forms run if a run agrees; yield what is known of both."""
    found = known(model_type)
    yield from rated(model_type, found)
    kept(model_type, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="classes, with a label after a colon for one of several records, or all")
    parser.add_argument("--new", action="store_true", help="only records without a computation")
    parser.add_argument("--more", action="store_true", help="keep the forms that there are")
    parser.add_argument("--again", action="store_true", help="only see again what training keeps, and whether a run agrees")
    chosen = parser.parse_args()
    names = [*diffusers_index()["classes"]] if chosen.names == ["all"] else chosen.names
    for model_type in (one for name in names for one in types_of(*name.split(":"))):
        there = path_of(model_type).is_file()
        if (chosen.new and there) or (chosen.again and not there):
            continue
        (entry,) = known(model_type).values() if chosen.more and there else ({},)
        for said in trained(model_type) if chosen.again else written(model_type, entry):
            print(f"{model_type} {said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
