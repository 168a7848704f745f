"""Rebuild the records of timm's classes: ``PYTHONPATH=tests python -m atlas_builder.timm_class_records VisionTransformer SwinTransformer``.

A class has a record for each set of layers and each number of stages that its architectures have. An architecture is in the index if
the record gives what timm's function builds. Arguments that the function does not hand on as they are stand beside it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from atlas_builder.command import parsed_by, text_of
from atlas_builder.recording import NotAdmittedError
from atlas_builder.reference import RefusedError
from atlas_builder.timm_building import REFERENCE, made
from atlas_builder.timm_calls import class_named, defaults_of, named, passed
from atlas_builder.timm_class_starts import STARTS, Start
from atlas_builder.timm_network import TimmNetwork, built, derived, is_layer, plain_arguments, style_of, with_sides
from atlas_builder.told import told_by

from paramsym.atlas.expression import OutsideError
from paramsym.atlas.files import TIMM
from paramsym.atlas.predicting import predicted, rows_of
from paramsym.atlas.reading import values_of
from paramsym.atlas.record import FORMAT, packed, packed_lines
from paramsym.atlas.timm import SIDES
from paramsym.atlas.timm_classes import SIZE

_FEWEST = 2  # architectures, unless a label is given
Named = Mapping[str, Mapping[str, Any]]


def styles(network: type, names: Named) -> dict[str, list[str]]:
    """Return the names of the same layers, under a text that says which layers; layers that change no tensor are left out."""
    needed: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for name, arguments in names.items():
        with suppress(RefusedError):
            whole = said(style_of(arguments))
            if whole not in needed:
                needed[whole] = said(_needed(network, arguments))
            found.setdefault(needed[whole], []).append(name)
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))


def _needed(network: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the layers without which another network is built, at the arguments themselves or with a flag changed."""
    flags = [key for key, value in defaults_of(network).items() if isinstance(value, bool) and not is_layer(key)]
    points = [arguments, *({**arguments, key: not arguments.get(key, defaults_of(network)[key])} for key in flags)]
    style = style_of(arguments)
    for key in list(style):
        without = {one: value for one, value in style.items() if one != key}
        if all(_same(network, {**point, **style}, {**plain_arguments(point), **without}) for point in points):
            style = without
    return style


def _same(network: type, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    results = []
    for arguments in (one, other):
        try:
            results.append(built(network, arguments))
        except RefusedError as error:
            results.append({"": ("", str(error)[:20])})
    return results[0] == results[1]


def said(style: Mapping[str, Any]) -> str:
    """Return words for layers: the names of classes and functions."""
    return json.dumps({key: _word(value) for key, value in sorted(style.items())})


def _word(value: Any) -> Any:
    if isinstance(value, partial):
        rates = {key for key, one in value.keywords.items() if isinstance(one, float)}  # such as an epsilon, which no tensor depends on
        return [_word(value.func), *map(_word, value.args), {key: _word(one) for key, one in value.keywords.items() if key not in rates}]
    if isinstance(value, torch.nn.Module):
        raise RefusedError("a module is an argument")
    if isinstance(value, list):
        return [_word(one) for one in value]
    if isinstance(value, dict):
        return {key: _word(one) for key, one in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else value.__name__


def lengths_of(network: type, arguments: Mapping[str, Any]) -> dict[str, int]:
    """Return the lengths of the lists of an architecture."""
    whole = {**plain_arguments(defaults_of(network)), **plain_arguments(arguments)}
    return {key: len(value) for key, value in whole.items() if isinstance(value, list)}


def own(name: str) -> dict[str, Any]:
    """Return the arguments that timm's function itself passes, without those of the registry, as laws have them."""
    _, plain = passed(name)
    _, other = passed(name, num_classes=7, in_chans=5, **({"img_size": (320, 352)} if "img_size" in plain else {}))
    moved = {"num_classes": 7, "in_chans": 5, "img_size": [320, 352]}
    return {key: value for key, value in plain_arguments(plain).items() if other.get(key) != moved.get(key, ...)}


def admitted(network: TimmNetwork, name: str, entry: Mapping[str, Any]) -> list[str] | None:
    """Return the keys that the function of an architecture does not hand on; None if the record gives something else than the function."""
    _, plain = passed(name)
    flat = {**network.flat(network.defaults), **network.flat(plain)}
    for place, side in enumerate(SIDES):
        if f"{SIZE}_{place}" in flat:
            flat[side] = flat.pop(f"{SIZE}_{place}")
    try:
        values = values_of(flat, {"inside": (), "aliases": {}}, entry)[0]
        if predicted(list(rows_of(entry["rows"], entry["expressions"])), values) != dict(made(name).tensors):
            return None
    except (OutsideError, RefusedError):
        return None
    known = {SIZE if one in SIDES else network.of.get(one, one) for one in entry["keys"]}
    return sorted(key for key in known if not _handed(name, plain, key, network.defaults.get(key)))


def _handed(name: str, plain: Mapping[str, Any], key: str, value: Any) -> bool:
    value = value if plain.get(key) is None else plain[key]
    other = {bool: lambda: not value, int: lambda: value + 16, float: lambda: value + 0.25, str: lambda: value + "x"}
    given = other[type(value)]() if type(value) in other else [one + 1 for one in value] if _numbers(value) else 1
    try:
        _, found = passed(name, **{key: given})
    except RefusedError:
        return False
    return _comparable(found) == _comparable({**plain, key: given})


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, int) for one in value)


def _comparable(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return arguments without the layers, and words for these: two partial functions are never equal."""
    return plain_arguments(arguments), said(style_of(arguments))


Found = tuple[list[str], TimmNetwork, dict[str, Any]]


def records(name: str, labels: Sequence[str], seconds: float) -> Iterator[tuple[str, str, Found | str]]:
    """Yield the style and the label of each record of a class, and its architectures and entry, or the reason why there is none."""
    network, start = class_named(name), STARTS.get(name, Start())
    entries: list[dict[str, Any]] = []
    for style, (layers, of_style) in enumerate(styles(network, named()[network]).items()):
        groups: dict[str, list[str]] = {}
        for one in of_style:
            groups.setdefault(json.dumps(lengths_of(network, named()[network][one])), []).append(one)
        for number, group in enumerate(sorted(groups.values(), key=lambda group: -len(group))):
            label = f"{style}.{number}" if number else str(style)
            if label not in labels if labels else len(group) < _FEWEST:
                continue
            first = min(group, key=lambda one: (one != start.first, one.startswith("test_"), len(made(one).tensors)))
            arguments = named()[network][first]
            given = {key: value for key, value in style_of(arguments).items() if key in json.loads(layers)}
            begun = time.process_time()
            try:
                opened = TimmNetwork(network, {**plain_arguments(arguments), **start.values}, given, start.held)
                entry = derived(opened, seconds, start.told.plus(told_by(entries)), [named()[network][one] for one in group])
                entries.append(entry)
                found: Found | str = (group, opened, with_sides(entry))
                outcome = json.dumps(found[2]["certificate"])
            except (NotAdmittedError, RefusedError) as error:
                found = outcome = str(error)[:300]
            print(f"{name}/{label} {layers} {len(group)} from {first} {time.process_time() - begun:.1f} s {outcome}", flush=True)
            yield str(style), label, found


def main(arguments: Sequence[str] | None = None) -> None:
    """Rebuild what the command line names."""
    chosen = parsed_by("timm", __doc__, "CLASS[:LABELS]", arguments, seconds=45)
    into = chosen.into / "classes"
    into.mkdir(exist_ok=True)
    for word in chosen.names:
        name, _, some = word.partition(":")
        labels = some.split(",") if some else []
        file = into / f"{name}.json.gz"
        index = json.loads(text_of(into / "names.json.gz") or '{"classes": {}, "names": {}, "refused": {}}')
        kept = {one["type"].rpartition("/")[2]: one for one in map(json.loads, text_of(file).splitlines())} if labels else {}
        known = index["classes"].get(name, {"styles": {}}) if labels else {"styles": {}}
        names = {one: its for one, its in index["names"].items() if its[0] != name or (labels and its[1] not in labels)}
        reasons = []
        for style, label, found in records(name, labels, chosen.seconds):
            if isinstance(found, str):
                reasons.append(found)
                continue
            group, network, entry = found
            closed = {one: admitted(network, one, entry) for one in group}
            left = [one for one, keys in closed.items() if keys is None]
            print(f"{name}/{label} without {left}, closed {sorted(set().union(*filter(None, closed.values())))}", flush=True)
            if len(left) == len(group):
                reasons.append("the record is of none of the architectures")
                continue
            names |= {one: [name, style, own(one), keys] for one, keys in closed.items() if keys is not None}
            head = {"format": FORMAT, "type": f"{TIMM}{name}/{label}", "reference": REFERENCE, "aliases": {}, "inside": []}
            kept[label] = {**head, "classes": {name: entry}, "refused": {}}
            styles_of = {**known["styles"], style: {**known["styles"].get(style, {}), label: network.lists}}
            known = {"defaults": network.defaults, "spread": sorted({*network.spread, *known.get("spread", network.spread)})}
            known["styles"] = styles_of
        for what in ("classes", "refused"):
            index[what].pop(name, None)
        if kept:
            index["classes"][name] = known
            file.write_bytes(packed_lines([kept[label] for label in sorted(kept)]))
        else:
            index["refused"][name] = "; ".join(dict.fromkeys(reasons))
        ordered = {"classes": index["classes"], "names": names, "refused": index["refused"]}
        ordered = {key: dict(sorted(one.items())) for key, one in ordered.items()}
        (into / "names.json.gz").write_bytes(packed({"format": FORMAT, "reference": REFERENCE, **ordered}))


if __name__ == "__main__":
    main(sys.argv[1:])
