"""Check a checkpoint against its own configuration: ``config.json`` against the headers of the safetensors files beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from sympy import Symbol

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import Dim
from paramsym.atlas.config_file import ADAPTER, OF_ADAPTER, read_config
from paramsym.config import architectures_of, from_config
from paramsym.core.layer import Layer
from paramsym.core.names import MOST_TENSORS
from paramsym.core.spelling import extra_prefix, is_dropped_buffer
from paramsym.errors import ArgumentError, ConfigError, ParamsymError
from paramsym.naming import described, one_line, some
from paramsym.program.statement import class_name
from paramsym.render.table import Table
from paramsym.render.tabular import Tabular
from paramsym.verify.compare import GOOD, TensorRow
from paramsym.verify.match import Match, match
from paramsym.verify.quantization_config import cache_scales, quantised, scaleless
from paramsym.verify.readers import read
from paramsym.verify.report import faults
from paramsym.verify.safetensors import unreadable
from paramsym.verify.spelling import respelt
from paramsym.verify.stored import Stored

_NAMED = 3  # tensors that a message names; the others are counted


@dataclass(frozen=True)
class Verdict(Tabular):
    """The result of a check: true if the files contain the model and every difference is explained; prints.

    ``explained`` lists expected differences, such as an alias that the file does not repeat. ``problems`` lists faults, and ``wrong`` the
    tensors concerned. ``match`` is the whole comparison, ``count`` the number of parameters of ``architecture``.
    """

    source: str
    architecture: str
    count: int
    match: Match
    explained: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    wrong: tuple[TensorRow, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every tensor of the model is in the files with its shape, and every other tensor of the files is explained."""
        return not self.wrong and not self.problems

    def __bool__(self) -> bool:
        return self.ok

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict in one sentence, then what is wrong, then what is explained."""
        agrees = "agrees" if self.ok else "does not agree"
        first = f"{self.source} {agrees} with its config as {self.architecture}, {self.count:,} parameters."
        said = (first, *(f"- wrong: {problem}." for problem in self.problems), *(f"- {words}." for words in self.explained))
        return tuple(map(one_line, said))

    def table(self) -> Table:
        """Return the wrong tensors; if there are none, every tensor with its outcome."""
        return faults(self.wrong) if self.wrong else self.match.table()

    def __str__(self) -> str:
        return "\n".join([*self.lines, *([str(self.table())] if self.wrong else [])])


def check(path: str | os.PathLike[str], architecture: str | None = None, *, strict: bool = False) -> Verdict:
    """Compare a checkpoint with its own configuration, tensor by tensor, without loading a weight.

    ``path`` is a directory with ``config.json`` and safetensors files, or one of these files. ``architecture`` and ``strict`` are those
    of ``from_config``. These differences are explained and no fault: tied tensors that the file leaves out, buffers on either side, names
    with or without the base model's prefix or in an older spelling, experts stored one by one or stacked, packed weights, scales of
    a quantised cache, and a head that another class of the family has. Quantised weights must have the method, the bits and the groups of
    ``quantization_config``, with all their scales. Files beside the one that the reference reads are mentioned.

    Raises:
        ConfigError: a configuration that is missing or cannot be read or built.
        CheckpointError: a file that is missing, is unreadable or damaged, or contradicts its index.
        ArgumentError: the safetensors package, or numpy, is not installed.
    """
    try:
        where = Path(path)
        folder = where.parent if where.is_file() else path
    except OSError as error:
        raise unreadable(Path(path), error) from None
    except (TypeError, ValueError):
        hint = " ps.match compares a layer with a module." if hasattr(path, "state_dict") else ""
        raise ArgumentError(f"a checkpoint is the path of a directory or of one file, not {described(path)}.{hint}") from None
    config = read_config(folder)
    model = from_config(config, architecture, strict)
    _check_number(model)
    said = quantised(config)
    stored = read(path if where.name != "config.json" else folder, said.setting if said else None)
    verdict = _verdict(_compared(model, stored), stored, config, where.name or str(where))
    problems = [*verdict.problems, *(said.problems(stored) if said else ())]
    bare = scaleless(config, stored)
    if bare:
        problems.append(bare)
    if not verdict and (Path(folder) / ADAPTER).is_file():
        problems.append(f"the folder {OF_ADAPTER}")
    return replace(verdict, problems=tuple(problems))


@dataclass(frozen=True)
class _Compared:
    """The comparison of one model with the files, after names were respelt."""

    model: Layer
    stored: Stored
    match: Match
    notes: tuple[str, ...]

    @cached_property
    def wrong(self) -> tuple[TensorRow, ...]:
        return tuple(row for row in self.match.rows if row.outcome not in GOOD)


def _compared(model: Layer, stored: Stored) -> _Compared:
    """Compare the files with the model, with its experts stacked or one by one, whichever fits more names."""
    wanted = [(one, {entry.name for entry in one.entries()}) for one in _storages(model)]
    there = _with_tails(stored.shapes)
    chosen, names = max(wanted, key=lambda pair: len(_with_tails(pair[1]) & there))
    same, notes = respelt(stored, names)
    return _Compared(chosen, same, match(chosen, same), notes)


def _with_tails(names: Iterable[str]) -> set[str]:
    """Return the names, with and without their first step: a prefix does not change how experts are stored."""
    return {part for name in names for part in (name, name.partition(".")[2])}


def _check_number(model: Layer) -> None:
    number = sum(prod(step.count for step in line.path if isinstance(step, Numbers)) for line in model.lines)
    if number > MOST_TENSORS:
        raise ConfigError(f"the configuration asks for {number:,} tensors; {MOST_TENSORS:,} are the limit for a comparison one by one.")


def _storages(model: Layer) -> Iterator[Layer]:
    """Yield the model, and, if it has experts, the same model with its experts stored the other way."""
    yield model
    stored = getattr(model, "expert_storage", None)
    if stored in {"stacked", "separate"}:
        root, sizes = model.origin
        yield replace(root, expert_storage="separate" if stored == "stacked" else "stacked").at(sizes)  # type: ignore[type-var]


# Explaining the differences ---------------------------------------------------------------------------------------------------


def _verdict(found: _Compared, stored: Stored, config: Mapping[str, Any], source: str) -> Verdict:
    named = class_name(found.model)
    unexpected = {row.name: row for row in found.wrong if row.outcome == "unexpected"}
    explained = [*found.notes, *_as_they_should_be(found)]
    dropped = [name for name in unexpected if is_dropped_buffer(name)]
    if dropped:
        explained.append(f"{_some(dropped)}: saved by older versions, computed today")
    scales = [name for name in cache_scales(config, found.stored) if name in unexpected]
    if scales:
        explained.append(f"{_some(scales)}: scales of the quantised cache")
    if stored.beside:
        explained.append(f"{_some(stored.beside)}: beside it and not read")
    others = unexpected.keys() - {*dropped, *scales}
    missing = [row.name for row in found.wrong if row.outcome == "missing"]
    problems = [*found.match.problems, *_strange_prefix(found, stored, config)]
    fitting = _other_sizes(found) if found.wrong else ""
    if fitting:
        problems.append(fitting)
    elif (others or missing) and not found.match.mismatched:
        head, base = _elsewhere(config, named, stored, tuple(name for name in unexpected if name in others), tuple(missing))
        if head:
            explained.append(head)
            others = set()
        if base:
            problems.append(base)
    accounted = unexpected.keys() - others
    wrong = tuple(row for row in found.wrong if not (row.outcome == "unexpected" and row.name in accounted))
    if wrong and not problems:
        kinds = dict.fromkeys(row.outcome for row in wrong)
        counted = ", ".join(f"{sum(row.outcome == kind for row in wrong)} {kind}" for kind in kinds)
        problems.append(f"of {len(found.match.rows)} tensors {counted}")
    return Verdict(source, named, found.model.count, found.match, tuple(explained), tuple(problems), wrong)


def _strange_prefix(found: _Compared, stored: Stored, config: Mapping[str, Any]) -> Iterator[str]:
    """Name a prefix in the files that no class of the family has; the reference would find none of these tensors."""
    first = extra_prefix(stored.shapes, {entry.name for entry in found.model.entries()})
    if not first:
        return
    for other in architectures_of(config, class_name(found.model)):
        with suppress(ParamsymError):  # another class may need keys that this configuration does not have
            if any(line.name.partition(".")[0] == first for line in from_config(config, other).lines):
                return
    yield f"the names in the file begin with {first!r}, which no class of this family has: take this prefix away"


def _as_they_should_be(found: _Compared) -> Iterator[str]:
    """Explain expected differences between the files and the model."""
    rows = found.match.rows
    absent = [row for row in rows if row.outcome == "tied" and row.found is None]
    if absent:
        firsts = [row.note.removeprefix("= ") for row in absent]
        yield f"{_some([row.name for row in absent])}: not repeated in the file, tied to {_some(firsts)}"
    second = [row for row in rows if row.outcome == "equal" and row.note.startswith("stored as ")]
    if second:
        yield f"{_some([row.name for row in second])}: {second[0].note}, its second name"
    left = [row.name for row in rows if row.outcome == "left out"]
    if left:
        yield f"{_some(left)}: left out of the file, {'buffers' if len(left) > 1 else 'a buffer'}"
    buffers = {entry.name for entry in found.model.entries() if entry.tensor.buffer}
    present = [row.name for row in rows if row.outcome == "equal" and row.name in buffers]
    if present:
        yield f"{_some(present)}: in the file, {'buffers' if len(present) > 1 else 'a buffer'}, not parameters"
    packed = [row for row in rows if row.outcome == "packed"]
    if packed:
        yield f"{_some([row.name for row in packed])}: {packed[0].note}"
    storage = getattr(found.model, "expert_storage", None)
    if storage == "separate":
        yield "experts are stored one by one in the file; the reference stacks them in memory"


def _other_sizes(found: _Compared) -> str:
    """Return the sizes with which the model would fit, as a message; empty if there are none."""
    root, sizes = found.model.origin
    solved = match(root, found.stored)
    differ = _unlike(solved, sizes)
    # The tensors may show only a product of sizes; then each size is searched with the others as in the config.
    for one in sizes if solved.ok and not differ else ():
        with suppress(ParamsymError):  # the others may contradict each other
            differ = _unlike(match(root.at({symbol: size for symbol, size in sizes.items() if symbol != one}), found.stored), sizes)
        if differ:
            break
    here = ", ".join(f"{symbol} = {size}" for symbol, size in differ.items())
    there = ", ".join(f"{symbol} = {sizes[symbol]}" for symbol in differ if symbol in sizes)
    return f"the tensors fit {here}, where the config says {there}" if differ else ""


def _unlike(solved: Match, sizes: Mapping[Symbol, Dim]) -> dict[Symbol, Dim]:
    """Return the sizes of a fitting layer that differ from those of the config."""
    return {symbol: size for symbol, size in solved.sizes.items() if size != sizes.get(symbol)} if solved.ok else {}


def _elsewhere(config: Mapping[str, Any], named: str, stored: Stored, extra: tuple[str, ...], missing: tuple[str, ...]) -> tuple[str, str]:
    """Look for another class of the family that fits the files. It explains an extra head, and names a missing one."""
    for other in architectures_of(config, named):
        if other == named:
            continue
        try:
            found = _compared(from_config(config, other), stored)
        except ParamsymError:
            continue
        if not all(row.outcome == "unexpected" and is_dropped_buffer(row.name) for row in found.wrong):
            continue
        if missing:
            return "", f"{_some(missing)}: not in the file, which holds {other}; check it with architecture={other!r}"
        return f"{_some(extra)}: of {other}, which has them in addition to those of {named}", ""
    return "", ""


def _some(names: list[str] | tuple[str, ...]) -> str:
    return some(list(dict.fromkeys(names)), _NAMED)
