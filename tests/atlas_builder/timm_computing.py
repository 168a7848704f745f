"""Write what timm's architectures compute: ``PYTHONPATH=tests python -m atlas_builder.timm_computing resnet50 MODULE``.

The input, and the keys of its size and of the classes, are letters; the operators are known for the default of each other key.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from atlas_builder.computing import Class, Finder
from atlas_builder.rates import rated
from atlas_builder.reference import RefusedError
from atlas_builder.timm_building import timm
from oracles.live_timm import difference

from paramsym.atlas import computing
from paramsym.atlas.computing import formed, packed_computations, path_of
from paramsym.atlas.files import TIMM, record_of, timm_index
from paramsym.atlas.letters import name_of
from paramsym.atlas.record import plain, unpacked
from paramsym.loading import load


class TimmFinder(Finder):
    """The search for the computation of one architecture, in fewer passes."""

    fresh, fewest, mixtures = 6, 5, 2

    def held(self, base: Mapping[str, int], *_: Any) -> dict[str, Any]:
        """Return all keys that are no letters, rates excepted: in evaluation they do nothing."""
        values = self.of.reference.resolved(self.of.base)
        rates = {key for key, domain in self.of.entry["keys"].items() if key.endswith("rate") and "number" in domain}
        return {key: [values.get(key)] for key in self.of.entry["keys"] if name_of(key) not in base and key not in rates}


def entry(name: str) -> dict[str, Any]:
    """Return the computation of an architecture as JSON; also its sides and classes are numbers if there is no form in them.

    Raises:
        Exception: why there is none.
    """
    model_type = TIMM + name
    (named,) = record_of(model_type)["classes"]
    fixed, turn = frozenset[str](), 0
    while True:
        of = Class(model_type, named, {}, fixed=fixed, turn=turn)
        try:
            form = TimmFinder(of).found()
        except RefusedError:
            raise
        except Exception as error:
            more = of.keys_of(getattr(error, "names", ())) - fixed
            if more:
                fixed |= more
            elif turn < 3 and of.pictures:
                turn += 1
            else:
                raise
        else:
            return {named: {"inputs": {key: list(axes) for key, axes in of.inputs.items()}, "forms": [form]}}


def kept(name: str, found: Mapping[str, Any]) -> None:
    """Write the computation of an architecture into its file, from which it is read anew."""
    path_of(TIMM + name).parent.mkdir(exist_ok=True, parents=True)
    path_of(TIMM + name).write_bytes(packed_computations(TIMM + name, found))
    for cache in (computing._classes_of, computing._forms_of):
        cache.cache_clear()


def compared(name: str, found: Mapping[str, Any]) -> str:
    """Let a computation run if a run gives what the network gives; return why not, nothing if it does.

    Only of an architecture that makes no arrays from sizes.
    """
    (entry,) = found.values()
    (form,) = entry["forms"]
    form["recording"].pop("entries", None)
    if constants := formed(entry["inputs"], form).recording.constants:
        return f"no rules of {len(constants)} arrays"
    form["recording"]["entries"] = []
    kept(name, found)
    said = "the comparison failed"
    try:
        said = difference(partial(timm.create_model, name), load(TIMM + name), name)
    finally:
        if said:
            form["recording"].pop("entries")
            kept(name, found)
    return said


def trained(name: str, found: Mapping[str, Any]) -> list[str]:
    """Write what training keeps, and let it run if a run agrees; return what is known of both."""
    said = [*rated(TIMM + name, found)]
    kept(name, found)
    return [*said, compared(name, found) or "runs"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="architectures, modules of timm, or all")
    modules = timm_index()["modules"]
    parser.add_argument("--new", action="store_true", help="only architectures without a computation")
    parser.add_argument("--again", action="store_true", help="only see again what training keeps, and whether a run agrees")
    chosen = parser.parse_args()
    words = chosen.names
    for name in (one for one in modules if one in words or modules[one] in words or words == ["all"]):
        there, began = path_of(TIMM + name).is_file(), time.process_time()
        if (chosen.new and there) or (chosen.again and not there):
            continue
        try:
            found = plain(unpacked(path_of(TIMM + name).read_bytes()))["classes"] if chosen.again else entry(name)
            kept(name, found)
            said = f"{_told(found)} {trained(name, found)}"
        except Exception as error:  # noqa: BLE001 - one network that fails does not end the others
            said = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"{name} {time.process_time() - began:.0f} s: {said}", flush=True)


def _told(found: Mapping[str, Any]) -> str:
    (one,) = found.values()
    (form,) = one["forms"]
    return f"{form['certificate']} {one['inputs']} held {sorted(form['held'])} above {form['above']} most {form['most']}"


if __name__ == "__main__":
    sys.exit(main())
