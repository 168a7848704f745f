"""Rebuild records of the atlas: ``PYTHONPATH=tests python -m atlas_builder led qwen3_next:Qwen3NextModel --into DIRECTORY``.

A type stands for all its classes, ``TYPE:CLASS`` for one, ``all`` for every type. Each class is derived in a separate process, with a
limit on its time; what it gives is put into the type's record, beside the classes that are there already.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import transformers
from atlas_builder.narrowing import fixed_in, stays_held
from atlas_builder.reasons import plain
from atlas_builder.recording import NotAdmittedError, entry_of
from atlas_builder.reference import class_named, config_class_of, is_published
from transformers.models.auto import modeling_auto

import paramsym
from paramsym.atlas.files import INNER, plain_type
from paramsym.atlas.record import FORMAT, packed, parsed

DATA = Path(paramsym.__file__).parent / "atlas" / "data"


def classes_of(model_type: str) -> list[str]:
    """Return the classes of a type, the base first."""
    found: dict[str, None] = {}
    for name in sorted(vars(modeling_auto), key=lambda name: name != "MODEL_MAPPING_NAMES"):
        if name.startswith("MODEL") and name.endswith("_MAPPING_NAMES"):
            classes = vars(modeling_auto)[name].get(plain_type(model_type), ())
            found |= dict.fromkeys([classes] if isinstance(classes, str) else classes)
    return list(found)


def wanted(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the types and classes that the command names."""
    types = [one for one in modeling_auto.MODEL_MAPPING_NAMES if words == ["all"]]
    for word in types or words:
        model_type, _, name = word.partition(":")
        yield from ((model_type, one) for one in ([name] if name else classes_of(model_type)))


def blank(model_type: str) -> dict[str, Any]:
    """Return a record without classes."""
    config_class = config_class_of(model_type)
    return {
        "format": FORMAT,
        "type": model_type,
        "reference": f"transformers {transformers.__version__}",
        "aliases": dict(config_class.attribute_map),
        "inside": [],
        "classes": {},
        "refused": {},
    }


def rebuild(model_type: str, name: str, seconds: int, into: Path, *, held: bool = False) -> str:
    """Derive one class in a separate process and put it into its record; return what came of it."""
    with suppress(Exception):  # what fails is refused below
        class_named(name, model_type)  # imported here, once for all classes of a type
    file = file_in(into, model_type)
    record = record_in(file) if file.exists() else blank(model_type)
    entries = parsed(file.read_bytes())["classes"] if file.exists() else {}
    order = list(dict.fromkeys([*classes_of(model_type), *entries]))
    held = held or is_published(model_type) or stays_held(name, entries, order)
    others = {one: entries[one] for one in order if one in entries and one != name}
    fixed = () if held else fixed_in(entries.get(name))  # in a record of the default, keys without effect are found again
    places = dict.fromkeys([*record["classes"], name])  # the first class is read for a configuration that names none
    for outcomes in (record["classes"], record["refused"]):
        outcomes.pop(name, None)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        limit = int(seconds * 3)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 2))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        answer = _derived(model_type, name, seconds, others, fixed, held=held)
        with os.fdopen(writing, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    answer = json.loads(text) if text else {"refused": f"not derived in {seconds} seconds"}
    if "entry" in answer:
        found = {**record["classes"], name: answer["entry"]}
        record["classes"] = {one: found[one] for one in places}
        record["inside"] = sorted({*record["inside"], *answer["inside"]})
    else:
        record["refused"][name] = plain(model_type, name, answer["refused"])
    content = packed(record)
    parsed(content)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return f"{json.dumps(answer['entry']['certificate'])}" if "entry" in answer else f"refused: {answer['refused']}"


def file_in(directory: Path, model_type: str) -> Path:
    """Return the file of the record of a type."""
    return directory / (INNER if "+" in model_type else "") / f"{model_type}.json.gz"


def record_in(file: Path) -> dict[str, Any]:
    import gzip

    found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return found


def _derived(model_type: str, name: str, seconds: int, others: Mapping[str, Any], fixed: Sequence[str], *, held: bool) -> dict[str, Any]:
    try:
        entry, inside = entry_of(model_type, name, seconds, others, fixed, held=held)
    except NotAdmittedError as error:
        return {"refused": str(error)}
    except Exception as error:  # noqa: BLE001 - the next class is tried all the same
        return {"refused": f"{type(error).__name__}: {str(error)[:200]}"}
    return {"entry": entry, "inside": inside}


def main(arguments: Sequence[str] | None = None) -> None:
    """Rebuild what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m atlas_builder", description=__doc__)
    parser.add_argument("types", nargs="+", metavar="TYPE[:CLASS]")
    parser.add_argument("--seconds", type=int, default=40, help="processor time for each class")
    parser.add_argument("--into", type=Path, default=DATA, help="the directory of the records")
    parser.add_argument("--held", action="store_true", help="record the default alone, for classes of which no laws are found")
    parser.add_argument("--new", action="store_true", help="leave out classes that the records have or refuse")
    chosen = parser.parse_args(arguments)
    chosen.into.mkdir(parents=True, exist_ok=True)
    for model_type, name in wanted(chosen.types):
        file = file_in(chosen.into, model_type)
        if chosen.new and file.exists() and name in {**(record := record_in(file))["classes"], **record["refused"]}:
            continue
        begun = time.monotonic()
        outcome = rebuild(model_type, name, chosen.seconds, chosen.into, held=chosen.held)
        print(f"{model_type}:{name} {time.monotonic() - begun:.1f} s {outcome}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
