"""Rebuild the atlas of diffusers: ``PYTHONPATH=tests python -m atlas_builder.diffusers_records AutoencoderKL UNet2DModel:4``.

A class stands for all lengths of its lists, ``CLASS:LABEL,LABEL`` for some, ``all`` for every class. Each is derived from what diffusers
builds, and replaces what the file of the class says of it. Classes without laws are recorded at their defaults only.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atlas_builder.command import parsed_by, text_of, wanted
from atlas_builder.diffusers_network import REFERENCE, Network, arguments_of, class_of, derived, networks
from atlas_builder.diffusers_starts import ALONE, CHOOSING, HELD, NO_CONFIGURATION, SIZES, STARTS
from atlas_builder.recording import NotAdmittedError
from atlas_builder.reference import RefusedError

from paramsym.atlas.diffusers import FORMER, RENAMED
from paramsym.atlas.files import DIFFUSERS
from paramsym.atlas.record import FORMAT, packed, packed_lines

Found = tuple[Network, dict[str, Any]]


def write(into: Path, name: str, found: dict[str, Found], reasons: dict[str, str]) -> None:
    """Write the records of a class and put its name into the index, beside what both have."""
    file, index = into / f"{name}.json.gz", into / "names.json.gz"
    kept = {one["type"].removeprefix(DIFFUSERS + name).removeprefix("/"): one for one in map(json.loads, text_of(file).splitlines())}
    names = json.loads(text_of(index) or "{}")
    classes, refused = names.get("classes", {}), names.get("refused", {})
    known = classes.get(name, {"lengths": {}})
    for label, (network, entry) in found.items():
        head = {"format": FORMAT, "type": DIFFUSERS + name + (f"/{label}" if label else ""), "reference": REFERENCE}
        kept[label] = {**head, "aliases": {}, "inside": [], "classes": {name: entry}, "refused": {}}
        lengths = {**known["lengths"], label: network.lists}
        spread = sorted({*network.spread, *known.get("spread", network.spread)})
        former = sorted(arguments_of(class_of(FORMER)) - arguments_of(network.model_class)) if name in RENAMED.values() else []
        words = {**known.get("words", {}), **({label: network.words} if network.words else {})}
        known = {"defaults": network.defaults, "spread": spread, "former": former, "lengths": dict(sorted(lengths.items()))}
        known |= {"words": dict(sorted(words.items()))} if words else {}
    if kept:
        classes[name] = known
        refused.pop(name, None)
        file.write_bytes(packed_lines([kept[label] for label in sorted(kept)]))
    else:
        refused[name] = "; ".join(dict.fromkeys(reasons.values()))
    ordered = {"classes": dict(sorted(classes.items())), "refused": dict(sorted(refused.items()))}
    index.write_bytes(packed({"format": FORMAT, "reference": REFERENCE, **ordered}))


def derive(name: str, label: str, seconds: float) -> Found:
    """Return a class at a start, and its entry.

    Raises:
        NotAdmittedError: with the reason.
        RefusedError: diffusers does not build the start.
    """
    if name in NO_CONFIGURATION:
        raise NotAdmittedError(NO_CONFIGURATION[name])
    network = Network(class_of(name), starts_of(name)[label], HELD.get(name, ()), CHOOSING.get(name, ()))
    return network, derived(network, seconds, SIZES.get(name, ()), held=name in ALONE)


def starts_of(name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the starts of a class by label."""
    return STARTS.get(name, {"": {}})


def _in_words(reason: str) -> str:
    """Return a reason without samples and settings of the search.

    >>> _in_words("no law for proj.weight: no law over ['width'] for 177 samples, such as [32, 32]")
    'no law was found for proj.weight'
    """
    if reason.startswith("the defaults are not built"):
        return "diffusers does not build it at its defaults, and no other start was tried"
    found = re.fullmatch(r"no law for ([^:]+): .*", reason, re.DOTALL)
    return f"no law was found for {found[1]}" if found else reason[:200]


def main(arguments: Sequence[str] | None = None) -> None:
    """Rebuild what the command line names."""
    chosen = parsed_by("diffusers", __doc__, "CLASS[:LABELS]", arguments, seconds=45)
    for name, labels in wanted({name: starts_of(name) for name in networks()}, chosen.names):
        found: dict[str, Found] = {}
        reasons: dict[str, str] = {}
        for label in labels:
            begun = time.process_time()
            try:
                found[label] = derive(name, label, chosen.seconds)
                outcome = json.dumps(found[label][1]["certificate"])
            except (NotAdmittedError, RefusedError) as error:
                reasons[label] = _in_words(str(error))
                outcome = f"refused: {error}"
            print(f"{name}:{label} {time.process_time() - begun:.1f} s {outcome}", flush=True)
        write(chosen.into, name, found, reasons)


if __name__ == "__main__":
    main(sys.argv[1:])
