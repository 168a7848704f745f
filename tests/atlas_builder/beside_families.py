"""A family by hand beside the record of its type: what they say of one configuration, part by part, and where they differ.

``PYTHONPATH=tests python -m atlas_builder.beside_families cohere TYPE`` lists the differences of each class, with how often each
occurs and a configuration that shows it. A family whose record says the same can be replaced by the record.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from oracles.decoder_configs import DECODERS

import paramsym as ps
from paramsym import B, S
from paramsym.atlas import computing, files as in_files
from paramsym.atlas.building import recorded
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError
from paramsym.models import family_of

WORK, KEPT = ([one.name for one in ps.conventions(topic)] for topic in ("work", "activations"))
_REFUSED = "refused: "
RECORDS = Path(__file__).parents[1] / "facts" / "records"
"""Records of types with a family, which are not in the package."""
_DEPTHS = ("num_hidden_layers", "n_layer")
_HEADS = (("hidden_size", "num_attention_heads"), ("n_embd", "n_head"))
_CACHES = (
    in_files.recorded_types,
    in_files.record_of,
    computing.computed_types,
    computing._classes_of,
    computing._forms_of,
)


@contextmanager
def records() -> Iterator[None]:
    """Read records from the tests' own folder in place of the package's."""

    def found(_: str) -> Path:
        return RECORDS

    in_files.inner_types()  # of the package; this folder has none
    with patch.object(in_files, "files", found), patch.object(computing, "files", found):
        for cache in _CACHES:
            cache.cache_clear()
        yield
    for cache in _CACHES:
        cache.cache_clear()


def recorded_families() -> list[str]:
    """Return the types with a family that have a record here."""
    return sorted(one.name.removesuffix(".json.gz") for one in (RECORDS / "data").glob("*.json.gz"))


@dataclass
class Difference:
    """One way in which a record differs from its family: how often it was seen, and first where."""

    part: str
    where: str
    times: int = 0
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    said: tuple[str, str] = ("", "")

    @property
    def refused(self) -> bool:
        """Whether the record refuses what the family answers, and says nothing wrong."""
        return self.said[1].startswith(_REFUSED)

    def __str__(self) -> str:
        by_hand, recorded = self.said
        return f"{self.part} {self.where}: {self.times} times, family {by_hand[:300]} record {recorded[:300]} at {dict(self.config)}"


def differences(model_type: str, name: str, draws: int, seed: int = 0) -> list[Difference]:
    """Compare a class at its default and at drawn configurations with at least one layer; half of them are ``_usual``.

    A classifier of texts has a token for padding: without one the reference takes one text only.
    """
    draw = random.Random(f"{name} {seed}")
    configure, _ = DECODERS[model_type]
    found: dict[tuple[str, str], Difference] = {}
    for turn in range(draws):
        config: dict[str, Any] = {"model_type": model_type}
        if turn:
            config |= _usual(configure(draw)) if turn % 2 else configure(draw)
            for depth in (one for one in _DEPTHS if config.get(one) == 0):
                config = {**config, depth: 1, "layer_types": None}
        config |= {"pad_token_id": 0} if name.endswith("SequenceClassification") else {}
        for part, where, *said in compared(config, name):
            one = found.setdefault((part, where), Difference(part, where, config=config, said=(said[0], said[1])))
            one.times += 1
    return list(found.values())


def _usual(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the default's activation and kinds of layers, and heads of a width that 4 divides."""
    found = {key: value for key, value in config.items() if "act" not in key and key not in {"layer_types", "head_dim"}}
    for width, heads in _HEADS:
        if {width, heads} <= found.keys():
            found[width] = 4 * found[heads] * max(1, found[width] // found[heads])
    return found


def compared(config: Mapping[str, Any], name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the part, the place, the family's answer and the record's wherever they differ for a configuration."""
    by_hand, of_record = _answer(lambda: ps.from_config(dict(config), name)), _answer(lambda: recorded(config, name)[0])
    if isinstance(by_hand, str) or isinstance(of_record, str):
        if not (isinstance(by_hand, str) and isinstance(of_record, str)):
            yield "reading", _kind(of_record), str(by_hand)[:300], str(of_record)[:300]
        return
    for part, parts in PARTS.items():
        one, other = parts(by_hand), parts(of_record)
        for where in {**one, **other}:
            mine, its = one.get(where, "nothing"), other.get(where, "nothing")
            if mine != its:
                yield part, _kind(its) if its.startswith(_REFUSED) else where, mine, its


def _answer(ask: Callable[[], Any]) -> Any:
    """Return an answer, or what the error says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ask()
    except ParamsymError as error:
        return f"{_REFUSED}{error}"


def _kind(answer: object) -> str:
    """Return a refusal without its numbers; nothing for any other answer."""
    return re.sub(r"\d+", "#", answer)[:160] if isinstance(answer, str) else "read"


# Parts: {where: what is said} -------------------------------------------------------------------------------------------------


def _tensors(layer: Layer) -> dict[str, str]:
    return {name: str(shape) for name, shape in layer.shapes(buffers=True).items()}


def _order(layer: Layer) -> dict[str, str]:
    return {"": str([*layer.shapes(buffers=True)])}


def _ties(layer: Layer) -> dict[str, str]:
    return dict(layer.tied)


def _letters(layer: Layer) -> dict[str, str]:
    return {str(letter): str(size) for letter, size in layer.sizes.items()}


def _formula(layer: Layer) -> dict[str, str]:
    return {"stored": str(layer.formula), "used": str(layer.origin[0].active)}


def _roles(layer: Layer) -> dict[str, str]:
    return {line.name: line.role for line in layer.ledger(aliases=True)}


def _counts(layer: Layer) -> dict[str, str]:
    return {one.name: str(one.params) for one in ps.conventions(layer.origin[0])}


def _work(layer: Layer) -> dict[str, str]:
    found = {}
    for way in ("forward", "both"):
        for convention in WORK:
            found[f"{way} {convention}"] = _said(lambda w=way, c=convention: ps.flops(layer, (B, S), way=w, convention=c).total)
    found["of the next token"] = _said(lambda: ps.flops(layer, (B, 1), past=17).total)
    return found


def _kept(layer: Layer) -> dict[str, str]:
    return {one: _said(lambda c=one: ps.activations(layer, (B, S), convention=c, dtype="float32").total) for one in KEPT}


def _memory(layer: Layer) -> dict[str, str]:
    return {"training": _said(lambda: ps.memory(layer, (B, S)).total)}


def _cache(layer: Layer) -> dict[str, str]:
    return {"": _said(lambda: ps.kv_cache(layer, (B, S)).total)}


def _explained(layer: Layer) -> dict[str, str]:
    return {str(letter): _said(lambda one=letter: ps.explain(layer, one)) for letter in layer.sizes}


def _output(layer: Layer) -> dict[str, str]:
    return {"": _said(lambda: ps.output_shape(layer, (B, S)))}


def _said(ask: Callable[[], Any]) -> str:
    return str(_answer(ask))


PARTS: Mapping[str, Callable[[Any], Mapping[str, str]]] = {
    "tensor": _tensors,
    "order": _order,
    "tie": _ties,
    "letter": _letters,
    "role": _roles,
    "formula": _formula,
    "count": _counts,
    "FLOPs": _work,
    "kept": _kept,
    "cache": _cache,
    "memory": _memory,
    "output": _output,
    "explanation": _explained,
}


def main(arguments: Sequence[str]) -> None:
    """Print the differences of the types that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m atlas_builder.beside_families", description=__doc__)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--classes", default="")
    chosen = parser.parse_args(arguments)
    for model_type in chosen.types:
        for name in family_of(model_type).architectures:
            if any(word in name for word in chosen.classes.split(",")):
                with records():
                    found = differences(model_type, name, chosen.draws)
                print(f"{name}: {len(found)} differences")
                for one in sorted(found, key=lambda one: -one.times):
                    print(f"  {one}")


if __name__ == "__main__":
    main(sys.argv[1:])
