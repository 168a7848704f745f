"""Published sizes and counts, read when they are first used: rows beside a family's module, and configurations of recorded types.

A row gives a published ``name``, constructor arguments by column, and a published count: ``count`` parameters of its ``class`` in the
reference, from ``source``. An empty cell is left out. Further rows of one name hold further counts. A tuple is in brackets, with spaces
between its entries; an exact fraction is 3/4. A column such as ``vision_config.hidden_size`` is an argument of the inner model.
"""

from __future__ import annotations

import csv
import json
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from sympy import Rational

_CARD = "Hugging Face's count of the numbers in the checkpoint's file"
SOURCES: Mapping[str, str] = {
    "built": "the checkpoint's configuration, built by transformers 5.23",
    "card": _CARD,
    "recalled": f"{_CARD}, as recalled; checked against its configuration, built by transformers 5.23",
    "torchvision": "torchvision 0.28, num_params of the weights",
    "keras": "keras 3.15.1, Model.summary: Total params",
}
"""Sources that many counts share, by the word in the file. A count from memory is marked as recalled."""
RECORDED: Mapping[str, tuple[str, str]] = {
    "Phi": ("phi", "Phi-1, Phi-1.5 and Phi-2 (Li et al. 2023, arXiv:2309.05463)"),
    "Starcoder2": ("starcoder2", "StarCoder2 (Lozhkov et al. 2024, arXiv:2402.19173)"),
}
"""``{name in paramsym.models: (model type, paper)}`` of the families whose architecture is a record."""
RECORDED_TYPES = tuple(model_type for model_type, _ in RECORDED.values())
"""Their model types."""
KERAS = "keras.applications."
"""The prefix of the published names of Keras' networks; only Keras has the spelling of the short form, such as ``ResNet50``."""
_CLAIM = ("name", "class", "count", "source", "besides", "note")


@dataclass(frozen=True)
class Claim:
    """A published number: ``count`` parameters of the model ``name``, from ``source``.

    ``counts`` is the reference class that has this many parameters. If the published number counts something else or is wrong, ``besides``
    is its difference from the class's parameters, and ``note`` explains it.

    >>> Claim("gpt2", 124_439_808, "openai/gpt-2, README: 124M", counts="GPT2LMHeadModel").count
    124439808
    """

    name: str
    count: int
    source: str
    counts: str
    besides: int = 0
    note: str = ""


@dataclass(frozen=True, eq=False)
class Published(Mapping[str, Mapping[str, Any]]):
    """The constructor arguments of each published name, from a data file that is read once; with ``of``, only the rows of this class."""

    file: str
    of: str
    inside: Mapping[str, Callable[..., Any]]

    @cached_property
    def rows(self) -> list[dict[str, str]]:
        """The rows, each without its empty cells."""
        data = pkgutil.get_data("paramsym", self.file) or b""
        rows = [{column: cell for column, cell in row.items() if cell} for row in csv.DictReader(data.decode().splitlines())]
        return [row for row in rows if not self.of or row["class"] == self.of]

    @cached_property
    def sizes(self) -> dict[str, dict[str, Any]]:
        """The constructor arguments of each published name."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            given = {column: _value(cell) for column, cell in row.items() if column not in _CLAIM}
            found.setdefault(row["name"], {}).update(given)
        for arguments in found.values():
            for name, model in self.inside.items():
                own = {column.removeprefix(f"{name}."): arguments.pop(column) for column in [*arguments] if column.startswith(f"{name}.")}
                arguments[name] = model(**own)
        return found

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        found = [(row, SOURCES.get(row["source"], row["source"])) for row in self.rows if "count" in row]
        return tuple(
            Claim(row["name"], int(row["count"]), source, row["class"], int(row.get("besides", 0)), row.get("note", ""))
            for row, source in found
        )

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        return self.sizes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True, eq=False)
class Claims(Sequence[Claim]):
    """The published counts of a family, read when they are first used."""

    published: Published

    def __getitem__(self, index: Any) -> Any:
        return self.published.claims[index]

    def __len__(self) -> int:
        return len(self.published.claims)


def published_in(name: str, of: str = "", **inside: Callable[..., Any]) -> tuple[Published, Claims]:
    """Return the sizes and the counts of a family's data file; ``inside`` are the inner models, by argument.

    ``of`` selects the rows of one class in a file that several families share.

    >>> sizes, claims = published_in("llama")
    >>> sizes["Qwen/Qwen2-0.5B"]["num_key_value_heads"], claims[0].count
    (2, 6738415616)
    """
    published = Published(f"models/{name.replace('.', '/')}.csv", of, inside)
    return published, Claims(published)


@dataclass(frozen=True)
class PublishedRecord(Claim):
    """A published number of a recorded type, with the configuration that has it."""

    config: Mapping[str, Any] = field(default_factory=dict[str, Any])


@cache
def published_records() -> Mapping[str, PublishedRecord]:
    """Return the published configurations of recorded types by their names, with the classes that were published.

    >>> smol = published_records()["HuggingFaceTB/SmolLM3-3B"]
    >>> smol.config["model_type"], smol.counts, smol.count
    ('smollm3', 'SmolLM3ForCausalLM', 3075098624)
    """
    listed = json.loads(files("paramsym.atlas").joinpath("data", "published.json").read_bytes())
    return {
        name: PublishedRecord(
            name,
            one["count"],
            SOURCES.get(one["source"], one["source"]),
            one["class"],
            config={"model_type": model_type, **one["config"]},
        )
        for model_type, names in listed.items()
        for name, one in names.items()
    }


def _value(cell: str) -> Any:
    """Read a cell: a number, an exact fraction, true, false, null, a tuple of these and of tuples in brackets, or a word."""
    if not cell.startswith("["):
        return _entry(cell)
    open_: list[list[Any]] = [[]]
    for word in cell.replace("[", " [ ").replace("]", " ] ").split():
        if word == "[":
            open_.append([])
        elif word == "]":
            inner = tuple(open_.pop())
            open_[-1].append(inner)
        else:
            open_[-1].append(_entry(word))
    return open_[0][0]


def _entry(word: str) -> Any:
    if word in _WORDS:
        return _WORDS[word]
    if not _NUMBER.fullmatch(word):
        return word
    return Rational(word) if "/" in word else float(word) if "." in word else int(word)


_WORDS = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?\d+(\.\d+|/\d+)?")
