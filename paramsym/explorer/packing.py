"""Packs the data of a family into a small file: equal parts of its variants are next to each other, so that the compression finds them."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable
from typing import Any


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def pack(name: str, script: str) -> str:
    """Return a script that gives a JavaScript expression to the page, packed."""
    return f'explorer.packed["{name}"] = "{b64encode(zlib.compress(script.encode(), 9)).decode()}";\n'


def family_script(variants: list[dict[str, Any]], types: dict[str, Any]) -> str:
    """Write variants as columns, one column per answer."""
    columns = {key: [one[key] for one in variants] for key in variants[0] if key not in {"questions", "programs"}}
    answers: dict[str, dict[str, list[Any]]] = {}
    for number, one in enumerate(variants):
        for question, chosen in one["questions"].items():
            for choice, answer in chosen.items():
                answers.setdefault(question, {}).setdefault(choice, [None] * len(variants))[number] = answer
    programs = ",\n".join(one["programs"] for one in variants)
    return f'{{"columns":{_json(columns)},"answers":{_json(answers)},"types":{_json(types)},"programs":[{programs}]}}'


def reasons_script(reasons: list[dict[str, Any]]) -> str:
    """Write derivations with every sentence and equation once, in a table that the steps point into."""
    table: dict[str, int] = {}

    def place(value: Any) -> int:
        return table.setdefault(_json(value), len(table))

    written = [
        {name: {letter: _why(why, place) for letter, why in letters.items()} for name, letters in one["counts"].items()} for one in reasons
    ]
    programs = ",\n".join(one["programs"] for one in reasons)
    return f'{{"table":[{",".join(table)}],"counts":{_json(written)},"programs":[{programs}]}}'


def _why(why: dict[str, Any], place: Callable[[Any], int]) -> list[Any]:
    steps = [[place([step["said"], step["equation"]]), step["numbers"] or 0, step["value"]] for step in why["steps"]]
    return [int(why["cancels"]), int(why["enters"]), place(why["verdict"]), steps]
