"""Write the explorer with all families: the page of ``ps.explore``, with one file of data for each family beside it.

Run from the repository: ``python docs/explorer/build.py FOLDER [FAMILY ...]`` writes ``FOLDER/explorer``. The page works from a folder,
without a server and without a network. ``--kept CACHE`` without a folder computes the data alone, for a later call with the folder.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import signal
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

from configs import of_all, of_structure, of_type  # noqa: E402 - beside this file
from families import structures_of  # noqa: E402

import paramsym  # noqa: E402 - the checkout this file is in
from paramsym.atlas.files import recorded_types  # noqa: E402
from paramsym.atlas.published import RECORDED  # noqa: E402
from paramsym.explorer.data import variant_data  # noqa: E402
from paramsym.explorer.packing import family_script, pack, reasons_script  # noqa: E402
from paramsym.explorer.page import known, listed, page  # noqa: E402
from paramsym.explorer.reasons import reasons_data  # noqa: E402
from paramsym.models import FAMILIES, model_types  # noqa: E402

NAMES = [name for classes, _ in FAMILIES.values() for name in classes.split()] + [*RECORDED]
LINKS = {"../index.html": "Documentation", "../scratch.html": "Scratch", "../scratch/index.html": "Scratch"}


def families(kept: Path, only: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """Return the data of families, from every core; it is cached in ``kept`` until the library changes.

    Raises:
        LookupError: a family that does not exist.
    """
    wanted = [*only] or NAMES
    if missing := {*wanted} - {*NAMES}:
        message = f"there is no family {', '.join(sorted(missing))}."
        raise LookupError(message)
    kept.mkdir(parents=True, exist_ok=True)
    # Nothing searches for garbage: what is cached stays to the end, and the search would go through all of it, again and again. An executor
    # raises if one of its processes is killed, where a Pool waits.
    with ProcessPoolExecutor(initializer=gc.disable) as pool:
        return dict(zip(wanted, pool.map(_family, wanted, repeat(kept), repeat(_stamp())), strict=True))


def build(folder: Path, found: dict[str, dict[str, Any]]) -> None:
    """Write the explorer of these families into ``folder/explorer``."""
    out = folder / "explorer"
    for part in ("families", "why"):
        (out / part).mkdir(parents=True, exist_ok=True)
    for name, family in found.items():
        for part, script in (("families", family_script(family["variants"], family["types"])), ("why", reasons_script(family["why"]))):
            (out / part / f"{name}.js").write_text(pack(f"{part}/{name}", script), encoding="utf-8")
    index = {name: [listed(one) | {"types": [*one["configs"]]} for one in family["variants"]] for name, family in found.items()}
    letters = {letter for family in found.values() for letter in family["letters"]}
    about = known(index, letters, many=True, types=sorted({*model_types(), *recorded_types()}), keys=of_all())
    links = "".join(f'<a href="{href}">{title}</a> ' for href, title in LINKS.items() if href == "../index.html" or (out / href).exists())
    (out / "index.html").write_text(page("Explorer: move a size, watch the formula change", about, links=links), encoding="utf-8")


def _family(name: str, kept: Path, stamp: str) -> dict[str, Any]:
    """Return a family's data for the page, from the file in ``kept`` if the same library wrote it."""
    path = kept / f"{name}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["stamp"] == stamp:
            return found
    structures = structures_of(name)
    found = {
        "stamp": stamp,
        "letters": sorted({symbol.name for one in structures for symbol in one.root.symbols}),
        "variants": [variant_data(one.variant) | {"configs": of_structure(one)} for one in structures],
        "types": {model_type: of_type(model_type) for one in structures for model_type in one.configs},
        "why": [reasons_data(one.variant) for one in structures],
    }
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def _stamp() -> str:
    """Return a digest of everything from which the data is computed."""
    digest = hashlib.sha256()
    root = Path(paramsym.__file__).parent
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.csv"), *root.rglob("published.json"), *HERE.glob("*.py")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the pages are; without it, only the data is computed")
    parser.add_argument("families", nargs="*", help="the classes of the families; all, by default")
    parser.add_argument("--kept", type=Path, help="folder of the cache for the next build")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the processes of the pool end, too
    if not (given.folder or given.kept):
        parser.error("name the folder of the pages, or --kept for the data alone")
    data = families(given.kept or given.folder / ".explorer", given.families)
    if given.folder:
        build(given.folder, data)
