"""Write into records which tensors are tables and which are scales: ``PYTHONPATH=tests python -m atlas_builder.roles led TYPE``.

A class is built at its default, and with other flags for the tensors that the default does not have. The weight of an embedding module is
a table, as in the reference's own count without embeddings; the weight of a normalisation is a scale. Nothing else of a record changes.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from atlas_builder.__main__ import DATA, file_in, record_in
from atlas_builder.reference import Reference, reference_of
from atlas_builder.starts import STARTS

from paramsym.atlas.files import inner_types, recorded_types
from paramsym.atlas.record import packed, parsed
from paramsym.atlas.values import Value

_NORM = re.compile(r"norm(2d|3d)?$", re.IGNORECASE)
_NORMS = (torch.nn.LayerNorm, torch.nn.GroupNorm, torch.nn.RMSNorm, torch.nn.modules.batchnorm._NormBase)
_LONGEST = 120
_TRIES, _WORDS = 16, 3
"""How many other configurations are built for tensors that the default does not have, and with how many words of a key."""


def roles_in(model: torch.nn.Module) -> dict[str, str]:
    """Return the role of each parameter by its name with # for numbers: "table", "scale" or, for others, nothing."""
    found: dict[str, str] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        table = isinstance(module, torch.nn.Embedding | torch.nn.EmbeddingBag)
        scale = isinstance(module, _NORMS) or _NORM.search(type(module).__name__)
        for name, tensor in module._parameters.items():
            if tensor is not None:
                role = "table" if table else "scale" if scale and not name.startswith("bias") else ""
                found[_template(f"{path}.{name}" if path else name)] = role
    return found


def _template(name: str) -> str:
    return ".".join("#" if step.isdigit() else step for step in name.split("."))


def _built(reference: Reference, point: Mapping[str, Value]) -> dict[str, str]:
    """Return the roles of one configuration, whose model is built without memory; none if the reference does not build it."""
    try:
        with torch.device("meta"):
            return roles_in(reference.model_class(reference.config_class(**reference.arguments(point))))
    except Exception:  # noqa: BLE001 - somebody else's code may raise anything
        return {}


def _flags(entry: Mapping[str, Any]) -> Iterator[dict[str, Value]]:
    """Yield other values of flags and words, and a number for a missing one; those first on which tensors depend."""
    for key, domain in sorted(entry["keys"].items(), key=lambda one: bool(one[1].get("unused"))):
        words = [one for one in domain.get("words", ()) if isinstance(one, bool | str)]
        yield from ({key: one} for one in words[:_WORDS])
        if None in domain.get("words", ()) and "whole" in domain:
            yield {key: max(4, domain["whole"][0])}


def add(model_type: str, record: dict[str, Any]) -> str:
    """Put the roles of a type's tensors into its record, and say how many there are."""
    said = []
    for name, entry in record["classes"].items():
        reference = reference_of(model_type, name)
        start = {**STARTS.get(reference.config_class.model_type, {}), **reference.inner_types}
        wanted = {_template(template) for template, kind, _ in entry["rows"] if kind != "buffer"}
        roles = _built(reference, start)
        for flag in islice(_flags(entry), _TRIES):
            if wanted <= roles.keys():
                break
            roles = {**_built(reference, {**start, **flag}), **roles}
        for template, _, more in entry["rows"]:
            more.pop("role", None)
            if role := roles.get(_template(template)):
                more["role"] = role
        left = wanted - roles.keys()
        said.append(f"{name} {sum(map(bool, roles.values()))}{f' without {sorted(left)[:3]}' if left else ''}")
    return ", ".join(said)


def main(arguments: Sequence[str] | None = None) -> None:
    """Look for the roles in the types that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m atlas_builder.roles", description=__doc__)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--into", type=Path, default=DATA, help="the directory of the records")
    chosen = parser.parse_args(arguments)
    for model_type in (*recorded_types(), *inner_types()) if chosen.types == ["all"] else chosen.types:
        if os.fork() == 0:  # memory, and changed settings of the reference, end with the type
            resource.setrlimit(resource.RLIMIT_CPU, (_LONGEST, _LONGEST))
            file = file_in(chosen.into, model_type)
            record = record_in(file)
            said = add(model_type, record)
            content = packed(record)
            parsed(content)
            if content != file.read_bytes():
                file.write_bytes(content)
            print(f"{model_type}: {said}", flush=True)
            os._exit(0)
        _, status = os.wait()
        if status:
            print(f"{model_type} ended with {status}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1:])
