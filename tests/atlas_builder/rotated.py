"""See whether all entries of heads, none, or an odd number may be rotated: ``PYTHONPATH=tests python -m atlas_builder.rotated phi``.

A form for a part of each head is that of a whole head, too, if the reference's pass has the FLOPs of all conventions and the kept bytes
that the record's computation has; torch leaves out slices of all entries, which cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from atlas_builder.passes import configuration, rewritten
from atlas_builder.words import differing

from paramsym.atlas.computing import formed
from paramsym.atlas.files import record_of
from paramsym.atlas.letters import name_of
from paramsym.atlas.rotated import SHARE

_NARROW, _ODD, _LEAST = 2, 20, 0.25
"""Widths of heads of which no entry or an odd number is rotated, and the least share that records know."""


def edges(form: Mapping[str, Any], base: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield how many entries of heads are rotated, and a configuration of which they are."""
    names = {name_of(key): key for key in base}
    for _, width, key, *_ in form["rotated"]:
        whole, *parts = [base[names[one]] for one in width]
        by = parts[0] if parts else 1
        if key.endswith(SHARE):
            yield "all", {**base, key: 1.0}
            yield "none", {**base, names[width[0]]: _NARROW * by, key: _LEAST}
            yield "odd", {**base, names[width[0]]: _ODD * by, key: _LEAST}
        else:
            yield from zip(("all", "none", "odd"), ({**base, key: number} for number in (whole // by, 0, 5)), strict=True)


def edged(model_type: str, classes: Mapping[str, Any]) -> Iterator[str]:
    """Say in the forms of a type's classes whether all, none, or an odd number of entries may be rotated; yield what was found."""
    for name, entry in classes.items():
        for form in (one for one in entry["forms"] if "rotated" in one):
            for how, point in edges(form, configuration(form, record_of(model_type)["classes"][name]["keys"])):
                ((letter, width, key, default, whole, up, *_),) = [[*one, False, False] for one in form["rotated"]]
                tried = {**form, "rotated": [[letter, width, key, default, whole or how == "all", up or how == "odd"]]}
                tried["above"] = {**form["above"], **({letter: -1} if how == "none" else {})}
                try:
                    said = differing(model_type, name, replace(formed(entry["inputs"], tried), dropout=()), point)
                except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
                    said = f"{type(error).__name__}: {str(error)[:160]}"
                if not said:
                    form |= {"rotated": tried["rotated"], "above": tried["above"]}
                yield f"{model_type} {name} {how}: {said or 'the same'}"


if __name__ == "__main__":
    rewritten(__doc__, edged)
