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

from atlas_builder.computing import Class
from atlas_builder.networks import NetworkFinder, compared, kept, known, told
from atlas_builder.rates import rated
from atlas_builder.reference import RefusedError
from atlas_builder.timm_building import timm
from oracles.live_timm import difference

from paramsym.atlas.computing import path_of
from paramsym.atlas.files import TIMM, record_of, timm_index
from paramsym.loading import load


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
            form = NetworkFinder(of).found()
        except RefusedError:
            raise
        except Exception as error:
            last = turn == 3 or not of.pictures
            more = of.keys_of(getattr(error, "names", ())) - fixed or (_sides(of) - fixed if last else frozenset())
            if more:
                fixed |= more
            elif last:
                raise
            else:
                turn += 1
        else:
            return {named: {"inputs": {key: list(axes) for key, axes in of.inputs.items()}, "forms": [form]}}


def _sides(of: Class) -> frozenset[str]:
    """Return the keys of the input's sides that are letters."""
    return frozenset(key for axes in of.inputs.values() for key in axes[2:] if key in of.entry["keys"])


def _compared(name: str, found: Mapping[str, Any]) -> str:
    """Let a computation run if a run gives what the network gives; return why not, nothing if it does."""
    (entry,) = found.values()
    (form,) = entry["forms"]
    return compared(TIMM + name, found, form, lambda: difference(partial(timm.create_model, name), load(TIMM + name), name))


def trained(name: str, found: Mapping[str, Any]) -> list[str]:
    """Write what training keeps, and let it run if a run agrees; return what is known of both."""
    said = [*rated(TIMM + name, found)]
    kept(TIMM + name, found)
    return [*said, _compared(name, found) or "runs"]


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
            found = known(TIMM + name) if chosen.again else entry(name)
            kept(TIMM + name, found)
            said = f"{_told(found)} {trained(name, found)}"
        except Exception as error:  # noqa: BLE001 - one network that fails does not end the others
            said = f"{type(error).__name__}: {str(error)[:200]}"
        print(f"{name} {time.process_time() - began:.0f} s: {said}", flush=True)


def _told(found: Mapping[str, Any]) -> str:
    (one,) = found.values()
    (form,) = one["forms"]
    return told(form, one["inputs"])


if __name__ == "__main__":
    sys.exit(main())
