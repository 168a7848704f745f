"""Rebuild the atlas of timm: ``PYTHONPATH=tests python -m atlas_builder.timm_records vision_transformer resnet:resnet50 --into DIRECTORY``.

A module of timm stands for all its architectures, ``MODULE:NAME,NAME`` for some, ``all`` for every module. Each is derived from what timm
builds, and replaces what the module's file says of it; with ``--arguments``, only the arguments that change no tensor are found again. timm
and torchvision (its plain Python part is enough) must be importable.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atlas_builder.command import parsed_by, text_of, wanted
from atlas_builder.timm_building import REFERENCE, modules, renamed
from atlas_builder.timm_entry import NotAdmittedError, entry, renewed

from paramsym.atlas.files import TIMM
from paramsym.atlas.record import FORMAT, packed, packed_lines


def record(name: str, of_class: dict[str, Any]) -> dict[str, Any]:
    """Return the record of one architecture."""
    known = {"format": FORMAT, "type": TIMM + name, "reference": REFERENCE, "aliases": {}, "inside": []}
    return {**known, "defaults": of_class.pop("defaults"), "classes": {of_class.pop("class"): of_class}, "refused": {}}


def write(into: Path, module: str, found: dict[str, Any], refused: dict[str, str]) -> None:
    """Write a module's records and put its names into the index, beside what both have."""
    file, index = into / f"{module}.json.gz", into / "names.json.gz"
    known = {one["type"].removeprefix(TIMM): one for one in map(json.loads, text_of(file).splitlines())}
    known = {name: one for name, one in {**known, **found}.items() if name not in refused}
    file.write_bytes(packed_lines([known[name] for name in sorted(known)]))
    names = json.loads(text_of(index) or "{}")
    stated = {name: where for name, where in names.get("modules", {}).items() if name not in refused} | dict.fromkeys(found, module)
    reasons = {name: why for name, why in {**names.get("refused", {}), **refused}.items() if name not in found}
    aliases = {old: new for old, new in renamed().items() if new.partition(".")[0] in stated}
    index.write_bytes(
        packed(
            {
                "format": FORMAT,
                "reference": REFERENCE,
                "modules": dict(sorted(stated.items())),
                "aliases": dict(sorted(aliases.items())),
                "refused": dict(sorted(reasons.items())),
            }
        )
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Rebuild what the command line names."""
    flags = {"arguments": "keep the laws, and find again which arguments change no tensor"}
    chosen = parsed_by("timm", __doc__, "MODULE[:NAMES]", arguments, flags=flags)
    for module, names in wanted(modules(), chosen.names):
        found, refused = {}, {}
        kept = {one["type"].removeprefix(TIMM): one for one in map(json.loads, text_of(chosen.into / f"{module}.json.gz").splitlines())}
        for name in names:
            begun = time.process_time()
            try:
                if chosen.arguments and name in kept:
                    ((of_class, known),) = kept[name]["classes"].items()
                    found[name] = {**kept[name], "classes": {of_class: renewed(name, known)}}
                else:
                    found[name] = record(name, entry(name))
                outcome = json.dumps(next(iter(found[name]["classes"].values()))["certificate"])
            except NotAdmittedError as error:
                refused[name] = str(error)[:300]
                outcome = f"refused: {error}"
            print(f"{module}:{name} {time.process_time() - begun:.1f} s {outcome}", flush=True)
        write(chosen.into, module, found, refused)


if __name__ == "__main__":
    main(sys.argv[1:])
