"""Write what the reference's classes compute: ``PYTHONPATH=tests python -m atlas_builder.computing smollm3 TYPE``.

A class is recorded at its default with few layers, and with other numbers for each of its letters. The numbers of the recording get their
expressions in the letters of the class's record; other keys are changed one by one to see on which of them the operators depend. Fresh
configurations with all letters changed at once then have to give exactly what the expressions say. ``atlas_builder.steps`` and
``atlas_builder.words`` then see whether the forms hold for one more position, and for other activations; ``atlas_builder.rates`` finds
where training drops entries.
"""

from __future__ import annotations

import argparse
import inspect
import random
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from functools import partial
from itertools import combinations, islice
from types import MappingProxyType
from typing import Any, ClassVar

import torch
from atlas_builder.inputs import FLOATS, STARTS, STEPS, Inputs, arrays, candidates, units
from atlas_builder.ordering import Ordering, UnorderedError
from atlas_builder.published import published_values
from atlas_builder.reference import Reference, RefusedError, _reads_logged, reference_of
from read.comparing import counted_on
from sympy import Expr, Symbol, floor

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import extent, per
from paramsym.algebra.symbols import dims
from paramsym.atlas.building import recorded
from paramsym.atlas.computing import packed_computations, path_of
from paramsym.atlas.domain import thawed
from paramsym.atlas.files import record_of
from paramsym.atlas.letters import letter_in, name_of, size_of
from paramsym.atlas.model import Recorded
from paramsym.atlas.record import plain, unpacked
from paramsym.atlas.rotated import Rotated
from paramsym.atlas.turns import PARAMETERS, SCALING, SHARE
from paramsym.atlas.values import Value, frozen_value
from paramsym.atlas.windows import Window
from paramsym.core.ledger import Line
from paramsym.errors import ConfigError, ParamsymError
from paramsym.measure.kv_cache import states
from paramsym.measure.work import flops
from paramsym.program.graph import Program
from paramsym.program.own import trace_layer
from paramsym.program.types import ArrayType
from paramsym.read import torch_recorder
from paramsym.read.computed import shown_as
from paramsym.read.derived import exactly, named_entries, templates
from paramsym.read.loops import folded, numbered, without_copies_of_saved
from paramsym.read.merging import alike, merged
from paramsym.read.playing import Player, limit_at
from paramsym.read.predicted import Predicted
from paramsym.read.recording import Array, Called, Done, Recording, Ref, with_refs
from paramsym.read.rolling import looped, rolled
from paramsym.read.sizes import Found, Laws
from paramsym.read.stacks import stacked
from paramsym.read.stating import stated
from paramsym.read.torch_entries import TORCH
from paramsym.read.torch_recorder import recorded as recording_of
from paramsym.read.torch_source import TorchSource
from paramsym.read.torch_state import unsaved
from paramsym.read.torch_watch import kind_of
from paramsym.read.written import Writer

assert TorchSource.operators is TORCH  # the import of its file fills the table
torch_recorder._LONGEST = 600.0  # a busy machine may pause for longer than a user waits
torch_recorder._MOST = 1 << 19  # loops over positions
torch_recorder.MOST_VALUES = 1 << 28  # the places of pictures in texts are known for all features

_DEPTH = re.compile(r"((?<!dense_)layers|(?<!min_)depth|(?<!num_encoder_)blocks|n_layer|num_hidden_groups)$")
"""Keys of numbers of layers; ``num_encoder_blocks`` is that of stages, of which each has other widths."""
_WIDTH_OF_HEADS = re.compile(r"head_dim$|d_kv$|head_size$|attention_head_size$")
_HEADS_OF_WIDTH = re.compile(r"heads$|n_head$")
_WIDTH_OF_EACH = re.compile(rf"{_WIDTH_OF_HEADS.pattern}|d_head$")
_ROTATED = re.compile(r"(^|\.)rotary_dim$")
"""Keys of numbers of rotated entries of a head, which change no tensor."""
_ENTRIES = "rotary_dim"
"""The letter of the number that a share of heads says."""
_WINDOW = re.compile(r"(window|window_size|local_attention|attention_chunk_size)$")
_NARROW, _NARROWEST = (40, 56), (4, 7, 6)
"""Windows that are shorter than inputs, to see from which length on they change the operators, and windows shorter than all inputs."""
_COPY = re.compile(r"\.\d+\.")
_NOT_GIVEN = re.compile(r"(\S+) is not given")
_POSITIONS = re.compile(r"position")
_PADDING, _UNPADDED = "pad_token_id", re.compile(r"padding token")
"""The key of the token by which a class finds the last position of each text, and what the reference says without it."""
_FEW = 12
_LENGTHS = ("S", "T")
_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")
_HEAD = 128
"""The width of heads if it is given, and null is no quotient."""
_WIDEST = 256
"""The largest width of heads for which torch's attention takes groups of heads in the same way."""
_GROUPS = ("num_key_value_heads", "n_head_kv", "num_kv_heads")
_WIDTHS = ("hidden_size", "n_embd", "d_model", "embed_dim", "dim")
_TEXT = "text_config_"
"""What stands before the letters of the language model of a model with pictures."""
_UNIT = 4
"""Widths of heads are multiples of it where laws are sought: rotary positions turn halves, or halves of halves."""
_UNITS, _AGREED = (1, 2), 6
"""Of what the widths of heads may be multiples, tried when the laws are known, and at how many points these have to agree."""
_PAIR = 2
"""Rotation turns pairs of entries."""
_LAYERS, _DEEP, _DEEPER = 2, 3, 11
"""The number of layers of the first recording, and how many more others have: each sixth layer may attend to all positions."""
_ON_A_LINE, _MIXED, _FRESH, _FEWEST, _TRIES = 2, 4, 12, 8, 6
_FAR = 259
"""What is added to a length over which a loop goes, to see that longer ones have the same operators."""
_ROUNDS, _FLAGS, _PICTURES = 4, 2, 3
_TOKENS = ("image_token_id", "image_token_index")
"""The keys with the token that stands for a part of a picture."""
_TOKEN = 64
"""That token, where the default is null."""
_VOCABULARY = "vocab_size"
"""The key of the number of tokens: a smaller vocabulary may end before the token of a picture, for which a class does other things."""
_SMALL, _COUNTED = (3, 8, 20, 48, 128), 2
"""The least numbers of small configurations, and at how many of these torch's counter is asked."""
_SEVERAL, _UNDIVIDED = "layers of several kinds", "few configurations with null"
EQUAL, SEVERAL, FIXED = "equal", "several", "fixed"
_FIXED = 6
"""The most letters that are a number in the computation, because no other number has the same operators, or no law."""
_FEW_SAME = 2
_FEW_ORDERS = 4
"""The least values of a key that are tried to see whether it only puts layers in another order."""
_SHORTEST = 60
"""The least largest length of inputs for which a form is of use."""
_WORDS = 3
"""The most other words of a key that are tried."""
Point = Mapping[str, Value]


class UnreadError(Exception):
    """Why a class has no computation."""


class InputsError(UnreadError):
    """The computation has no form in the sizes of the inputs; it may have one for other inputs."""


class NumberError(UnreadError):
    """The computation has no form in some letters; it may have one with their numbers."""

    def __init__(self, why: str, names: Sequence[str]) -> None:
        """``names`` are those letters."""
        super().__init__(why)
        self.names = tuple(names)


def _even_heads(values: Mapping[str, Value], given: Point) -> dict[str, Value]:
    """Return another number of heads if that of the default makes heads of an odd width; all configurations have even ones."""
    heads, width, groups = (next((one for one in listed if type(values.get(one)) is int), None) for listed in (_HEADS, _WIDTHS, _GROUPS))
    if (
        heads is None
        or width is None
        or heads in given
        or any(_WIDTH_OF_HEADS.search(key) and type(one) is int for key, one in values.items())
    ):
        return {}
    default, size, unit = int(str(values[heads])), int(str(values[width])), int(str(values[groups])) if groups else 1
    if size % (_UNIT * default) == 0:
        return {}
    fewer = (one for one in range(default, 0, -1) if one % unit == 0 and size % (_UNIT * one) == 0)
    return next(({heads: one} for one in fewer), {})


def _with_token(config_class: Any, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return a vocabulary with the token of a picture if that of the default ends before it; those of published models have it."""
    token = next((one for key in _TOKENS if type(one := getattr(config_class(), key, None)) is int), -1)
    return {key: token + 64 for key in ("text_config.vocab_size",) if type(value := values.get(key)) is int and value <= token}


@dataclass
class Class:
    """One class of the reference beside its record: configurations in, recordings out."""

    model_type: str
    name: str
    given: Point = field(default_factory=dict)
    layers: str = EQUAL
    """Whether numbered layers are equal, of several kinds (the number of layers is no letter), or recorded as the default has them."""
    fixed: frozenset[str] = frozenset()
    """The keys that keep the value of the default, because the computation has no form in their letters."""
    turn: int = 0
    """How many of the inputs that the class takes are left out, because it has no form in their sizes."""
    least: int = _LAYERS
    """The number of layers of the first recording; of three, two may be alike and the last one of another kind."""
    mixed: bool = False
    """Whether the words of layers come by turns, because the reference does not run the default's."""
    beside: bool = True
    """Whether keys without a tensor may be letters, such as the number of experts for a token."""
    reference: Reference = field(init=False)
    inputs: Inputs = field(init=False)
    base: dict[str, Value] = field(init=False)
    seen: dict[str, Recording | str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    """Keys that are no letter and equal to one: the number of key/value heads of latent attention."""
    quotients: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Widths of heads that may be null, with the keys of the hidden size and of the number of heads whose quotient they then are."""
    needed: dict[str, Value] = field(default_factory=dict)
    """Keys without which the class takes one text only, with their defaults."""
    turns: dict[str, tuple[str, tuple[Value, ...]]] = field(default_factory=dict)
    """Lists with an entry for each layer that are given: the key of the number of layers, and the entries that come by turns."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many tokens a picture has, by the configuration and the picture's sizes."""

    def __post_init__(self) -> None:
        self.record = record_of(self.model_type)
        self.entry = self.record["classes"][self.name]
        self.reference = reference_of(self.model_type, self.name)
        self.reference.first()
        left_out = [key for key, value in self.given.items() if value is None and _WIDTH_OF_HEADS.search(key)]  # some take no given null
        start = {key: value for key, value in {**self.reference.start, **self.given}.items() if key not in left_out}
        config = self.reference.config_class()
        null = (key for key in _TOKENS if key not in config.attribute_map and getattr(config, key, _TOKEN) is None)
        self.needed = dict.fromkeys(null)
        start |= dict.fromkeys(self.needed, _TOKEN)
        self.pictured = any(hasattr(self.reference.config_class(), key) for key in _TOKENS)
        values = self.reference.build(start).values
        start |= _even_heads(values, self.given) | _with_token(self.reference.config_class, values)
        if self.pictured:  # the reference completes an inner configuration that is given in part with other values
            start |= {key: one for key, one in values.items() if "." in key and key in self.entry["keys"] and key not in start}
        start |= self.defaults_of(start, values)
        self.turns = dict(self._turns(start, values))
        least = None if self.layers == FIXED else self.least
        deep = {key: min(least or value, value) for key, value in values.items() if type(value) is int and _DEPTH.search(key)}
        self.base = self.full(start, values)
        for key in (one for one in deep if one in self.entry["keys"]):
            with suppress(ConfigError):  # the form may be known for the default's number only
                self.letters(deeper := self.full({**self.base, key: deep[key]}, values))
                self.base = deeper
        for name, _ in self.letters(self.base).following:  # a letter of its own, which a configuration may give
            key = next(key for key in self.entry["keys"] if name_of(key) == name)
            self.base = {**self.base, key: values[key]}
        self.quotients = dict(self._quotients(values))
        self.base |= {key: _quotient({**values, **self.base}, *of) for key, of in self.quotients.items()}
        self.layer: Recorded = self.letters(self.base)
        self.keys = {name_of(key): key for key in self.entry["keys"]}
        resolved = self.defaults = self.reference.build(self.base).values
        listed = {name_of(key): (key, value) for key in self.keys.values() if isinstance(value := resolved.get(key), tuple)}
        entries = {f"{name}_{place}": (key, place, one) for name, (key, value) in listed.items() for place, one in enumerate(value)}
        self.parts = {name: (key, place) for name, (key, place, one) in entries.items() if name in self.layer.names and type(one) is int}
        self.numbers: dict[str, int] = {}
        for name in self.layer.names:
            key = self.keys.get(name)
            if key is not None and type(resolved.get(key)) is int:
                self.numbers[name] = resolved[key]
            elif name in self.parts:
                key, place = self.parts[name]
                self.numbers[name] = resolved[key][place]
        self.depths = tuple(key for key in deep if key in self.entry["keys"]) if self.layers != EQUAL else ()
        of_keys = {name: self.keys[name] if name in self.keys else self.parts[name][0] for name in self.numbers}
        self.numbers = {name: number for name, number in self.numbers.items() if of_keys[name] not in (*self.depths, *self.fixed)}
        self.parts = {name: one for name, one in self.parts.items() if name in self.numbers}
        self.layer = self.letters(self.base)
        windowed = (key for key in self.entry["keys"] if _WINDOW.search(key))
        self.windowed = [key for key in windowed if type(resolved.get(key)) is int or resolved.get(key) is None]
        self._relate(resolved)
        self._find_inputs(resolved)
        self.ordering = Ordering(self, self.depths) if self.layers == SEVERAL else None

    def _quotients(self, values: Point) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the widths of heads that are null by default, in place of which the reference then takes a quotient, rounded down.

        Not those that are a number here, or the quotient of one: they stay null.
        """
        for key in (one for one, domain in self.entry["keys"].items() if _WIDTH_OF_HEADS.search(one) and "whole" in domain):
            before = key[: key.rfind(".") + 1]
            dividend, divisor = (
                next((before + one for one in listed if type(values.get(before + one)) is int), None) for listed in (_WIDTHS, _HEADS)
            )
            if values.get(key) is None and key not in self.given and dividend and divisor and not {key, dividend, divisor} & self.fixed:
                point = {**self.base, key: _quotient({**values, **self.base}, dividend, divisor)}
                with suppress(RefusedError, ConfigError):
                    if name_of(key) not in self.letters(point).names:  # no tensor has this width
                        continue
                    shapes, others = ({name: one.shape for name, one in self.made(one).state_dict().items()} for one in (self.base, point))
                    if shapes == others:
                        yield key, (dividend, divisor)

    def _turns(self, start: Point, values: Mapping[str, Value]) -> Iterator[tuple[str, tuple[str, tuple[Value, ...]]]]:
        """Yield the lists with an entry for each layer that a configuration must have."""
        for key, domain in self.entry["keys"].items():
            before = key.rpartition(".")[0]
            value = start[key] if key in start else values.get(key) if self.mixed else None
            depth = (one for one in self.entry["keys"] if _DEPTH.search(one) and one.rpartition(".")[0] == before)
            depth = (one for one in depth if isinstance(value, tuple) and values.get(one) == len(value))
            words = tuple(domain.get("entries", {}).get("words", ())) if self.mixed else value
            if (number := next(depth, None)) is not None and isinstance(words, tuple) and words:
                yield key, (number, words)

    def full(self, point: Point, values: Mapping[str, Value] | None = None, given: Collection[str] = ()) -> dict[str, Value]:
        """Return a configuration with lists that have an entry for each of its layers, besides those that are ``given``."""
        found = dict(point)
        for key, (depth, words) in self.turns.items():
            number = found.get(depth, (values or self.defaults)[depth])
            if key not in given and isinstance(number, int):
                found[key] = tuple(words[place % len(words)] for place in range(number))
        return found

    def _relate(self, resolved: Mapping[str, Any]) -> None:
        """Find which letters divide, equal or limit others."""
        self.multiples: list[tuple[str, str | None]] = [(name, None) for name in self.numbers if _WIDTH_OF_HEADS.search(name)]
        heads, groups, width = (
            next((text + one for text in ("", _TEXT) for one in listed if text + one in self.numbers), None)
            for listed in (_HEADS, _GROUPS, _WIDTHS)
        )
        if not self.multiples:
            self.multiples = [(width, heads)] if heads and width and self.numbers[width] % (_UNIT * self.numbers[heads]) == 0 else []
        self.pairs = [(heads, groups)] if heads and groups else []
        without = (key for key in self.entry["keys"] if key in _GROUPS and key not in self.numbers)
        self.same = {key: heads for key in without if heads and resolved.get(key) == self.numbers[heads]}
        needs = [*map(tuple, self.entry["needs"])]
        mutual = (one for one in needs if one[::-1] in needs)  # each divides the other
        self.same |= {key: name_of(by) for key, by in mutual if name_of(by) in self.numbers and name_of(key) not in self.numbers}
        self.needs = [(name_of(one), name_of(other)) for one, other in self.entry["needs"]]
        self.needs += [(groups, heads)] if heads and groups and (groups, heads) not in self.needs else []
        self.needs += [(heads, width) for width, heads in self.multiples if heads and (heads, width) not in self.needs]
        self.rotated = [*self._rotated(resolved)][:1]
        self.numbers |= {one.letter: self.entries(one, self.numbers, one.default) for one in self.rotated}

    def _rotated(self, resolved: Mapping[str, Any]) -> Iterator[Rotated]:
        """Yield how many entries of heads are rotated, if only a part of a head is."""
        heads = next(([one] for one in self.numbers if _WIDTH_OF_HEADS.fullmatch(one)), None)
        heads = heads or next(([width, by] for width, by in self.multiples if by), None)
        for key in self.entry["keys"] if heads else ():
            said = resolved.get(key)
            if key == SHARE:
                stated = thawed(resolved.get(PARAMETERS))
                said = said if not isinstance(stated, Mapping) else stated.get(SHARE, said)
            partly = type(said) is float and said < 1 if key == SHARE else _ROTATED.search(key) and type(said) is int
            if partly and key not in self.given:
                yield Rotated(name_of(key) if key != SHARE else _ENTRIES, tuple(map(str, heads or ())), key, said)

    def entries(self, one: Rotated, numbers: Mapping[str, int], said: float) -> int:
        """Return how many entries of a head are rotated."""
        return int(self.width(one, numbers) * said) if one.key.endswith(SHARE) else int(said)

    @staticmethod
    def width(one: Rotated, numbers: Mapping[str, int]) -> int:
        """Return the width of heads of which a part is rotated."""
        return numbers[one.width[0]] // (numbers[one.width[1]] if one.width[1:] else 1)

    def defaults_of(self, start: Point, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the defaults of keys that the record takes only if they are given."""
        found: dict[str, Value] = {}
        while True:
            try:
                self.letters({**start, **found})
            except ConfigError as error:
                said = _NOT_GIVEN.search(str(error))
                if said is None or said[1] in found or said[1] not in values:
                    return found
                found[said[1]] = values[said[1]]
            else:
                return found

    def _find_inputs(self, resolved: Mapping[str, Any]) -> None:
        """Find the inputs whose turn it is, with a token for padding if the class needs one.

        Raises:
            RefusedError: there are none that it takes.
        """
        self.refused = RefusedError("no inputs are known that it takes")
        found = next(islice(self.taken(resolved), self.turn, None), None)
        if found is None and _UNPADDED.search(str(self.refused)):
            self.base[_PADDING] = 0
            self.needed[_PADDING] = resolved.get(_PADDING)
            found = next(islice(self.taken(resolved), self.turn, None), None)
        if found is None:
            raise self.refused

    def taken(self, resolved: Mapping[str, Any]) -> Iterator[Inputs]:
        """Yield the inputs that the class takes, with what their sizes are multiples of."""
        known: Any = getattr(self.reference, "candidates", candidates)
        multiples: Any = getattr(self.reference, "units", units)
        for inputs in known(self.made(self.base), self.numbers, resolved):
            for self.inputs, self.units in ((inputs, each) for each in multiples(inputs)):
                try:
                    self.start()
                except (RefusedError, UnreadError) as error:
                    self.refused = error
                    break
                yield inputs

    @property
    def has_beside(self) -> bool:
        """Whether a letter is that of a key without a tensor."""
        return not {*self.numbers} <= {*self.layer.names}

    @property
    def pictures(self) -> bool:
        """Whether the sizes of pictures are letters."""
        return bool({"height", "width", "rows"} & {*self.letters_of_inputs})

    def keys_of(self, names: Sequence[str]) -> frozenset[str]:
        """Return the keys of letters that may be numbers instead; none if one of the letters is that of an input, or of a depth."""
        if any(name in self.letters_of_inputs or _DEPTH.search(name) for name in names):
            return frozenset()
        return frozenset(self.parts[name][0] if name in self.parts else self.keys[name] for name in names)

    @property
    def letters_of_inputs(self) -> list[str]:
        """The letters of the inputs' sizes."""
        axes = (axis for axes in self.inputs.values() for axis in axes if isinstance(axis, str) and axis not in self.entry["keys"])
        return sorted({letter_in(axis)[1] for axis in axes})

    def start(self) -> dict[str, int]:
        """Return the first numbers that the reference takes.

        Raises:
            RefusedError: it takes none of them.
        """
        for turn in range(4):
            sizes = {name: STARTS[name][min(turn, len(STARTS[name]) - 1)] for name in self.letters_of_inputs}
            if self.counts:  # texts are longer than their pictures, also than larger ones
                sizes["S"] += _PICTURES * max(self.counts.values())
            base = {**self.numbers, **sizes}
            with suppress(RefusedError):
                self.at(base)
                return base
        self.at(base)
        raise UnreadError("no start")

    def letters(self, point: Point) -> Recorded:
        """Return the record's model of a configuration, in letters."""
        found, _, _ = recorded(self.reference.configuration(self.model_type, point), self.name)
        letters = found.origin[0]
        assert isinstance(letters, Recorded)
        varied = getattr(self, "numbers", letters.names)
        numbers = (letter if name in varied else one for name, one, letter in zip(found.names, found.numbers, letters.numbers, strict=True))
        return replace(letters, numbers=tuple(numbers))

    def point(self, numbers: Mapping[str, int], others: Point | None = None) -> Point:
        """Return the configuration with these numbers of its letters, and other values of other keys."""
        changed: dict[str, Value] = {self.keys[name]: number for name, number in numbers.items() if name in self.keys}
        changed |= {key: numbers[name] for key, name in self.same.items() if name in numbers}
        for name, (key, place) in self.parts.items():
            if name in numbers:
                before = changed.get(key, self.base.get(key, self.defaults[key]))
                assert isinstance(before, tuple)
                changed[key] = (*before[:place], numbers[name], *before[place + 1 :])
        shares = {one.key: (numbers[one.letter] + 1 / 2) / self.width(one, numbers) for one in self.rotated if one.key.endswith(SHARE)}
        found = self.full({**self.base, **changed, **(others or {})}, given=others or ())
        for key, share in shares.items():  # settings of positions state it, too
            found |= {one: frozen_value({**stated, key: share}) for one in (PARAMETERS, SCALING) if (stated := thawed(found.get(one)))}
            found |= {} if PARAMETERS in found or SCALING in found else {key: share}
        return {key: value for key, value in found.items() if value is not None or key not in self.quotients}  # some take no given null

    def made(self, point: Point, device: str = "meta") -> Any:
        """Return the reference's model of a configuration.

        Raises:
            RefusedError: the reference builds none.
        """
        try:
            config = self.reference.config_class(**self.reference.arguments(point))
            with torch.device(device):
                return self.reference.model_class(config).eval()
        except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
            raise RefusedError(str(error)[:100]) from None

    def builds(self, numbers: Mapping[str, int]) -> bool:
        """Whether the reference builds a model of these numbers."""
        with suppress(RefusedError):
            return self.made(self.point(numbers)) is not None
        return False

    def at(self, numbers: Mapping[str, int], others: Point | None = None) -> Recording:
        """Return the recording at numbers of the letters, equal copies not yet folded.

        Raises:
            RefusedError: the reference does not build or run this configuration.
            UnreadError: an operator that is not known.
        """
        key = self._key(numbers, others)
        if key not in self.seen:
            try:
                self.seen[key] = self._recorded(numbers, others or {})
            except RefusedError as error:
                self.seen[key] = str(error)
        found = self.seen[key]
        if isinstance(found, str):
            raise RefusedError(found)
        return found

    def was_seen(self, numbers: Mapping[str, int]) -> bool:
        """Whether there is a recording at these numbers."""
        return self._key(numbers, None) in self.seen

    def _key(self, numbers: Mapping[str, int], others: Point | None) -> str:
        """Return what tells a recording from all others: the configuration, and the sizes of the inputs."""
        sizes = {name: numbers[name] for name in self.letters_of_inputs if name in numbers}
        return repr((sorted(self.point(numbers, others).items()), self.inputs, sizes))

    def positions(self) -> list[tuple[str, str, int]]:
        """Return each length of an input that a table of positions limits, with the table's key and how much less the limit is.

        A model with few positions is run on longer and longer inputs; its indices have values, which a pass without memory does not check.
        """
        found = []
        for name in (one for one in self.numbers if _POSITIONS.search(one)):
            if name not in self.keys:
                continue
            small = {self.keys[one]: number for one, number in self.numbers.items() if _DEPTH.search(one)} | {self.keys[name]: _FEW}
            config = self.reference.config_class(**self.reference.arguments({**self.base, **small}))
            model = self.reference.model_class(config).eval()
            for length in (one for one in self.letters_of_inputs if one in _LENGTHS):
                runs = [number for number in range(2, _FEW + 3) if self._runs(model, length, number)]
                if runs and max(runs) < _FEW + 2:
                    found.append((length, name, _FEW - max(runs)))
        return found

    def _runs(self, model: Any, length: str, number: int) -> bool:
        sizes = {**self.start(), "B": 1, "S": 2, "T": 2, length: number}
        try:
            with torch.no_grad():
                model(**self.arguments(model, sizes, "cpu"))
        except (IndexError, RuntimeError, ValueError):
            return False
        return True

    def read(self, numbers: Mapping[str, int]) -> set[str]:
        """Return the last words of the keys that are read while a model is built and run."""
        with _reads_logged() as log:
            self._recorded(numbers, {})
        read = {key for _, keys in log.values() for key in keys}
        aliases = [getattr(owner, "attribute_map", {}) for owner, _ in log.values()]
        return read | {mapping[key] for mapping in aliases for key in read & mapping.keys()}

    def cache(self, numbers: Mapping[str, int], others: Point | None = None) -> list[tuple[int, int]] | None:
        """Return how many numbers and positions the reference's cache has for each layer after a pass; None if the pass fails."""
        model = self.made(self.point(numbers, others))
        if "use_cache" not in inspect.signature(model.forward).parameters:
            return []
        given = {name: one.to("meta") if torch.is_tensor(one) else one for name, one in self.arguments(model, numbers).items()}
        try:
            with torch.no_grad():
                found = getattr(model(**{**given, "use_cache": True}), "past_key_values", None)
            caches = [getattr(found, one) for one in ("self_attention_cache", "cross_attention_cache") if hasattr(found, one)] or [found]
            layers = [layer for cache in caches if cache is not None for layer in cache.layers]
            return [(layer.keys.numel() + layer.values.numel(), layer.keys.shape[-2]) for layer in layers]
        except Exception:  # noqa: BLE001 - somebody else's code may raise anything
            return None

    def kept(self, base: Mapping[str, int], order: Sequence[int]) -> list[list[Any]] | None:
        """Return of which layers the reference keeps fewer positions than inputs have; None if no rule says it.

        ``order`` has the kind of each layer, if there are several.
        """
        found: list[list[Any]] = []
        read = vars(self.made(self.base).config)  # such as the size of chunks, which changes no tensor and no operator
        chunked = [key for key, value in read.items() if _WINDOW.search(key) and type(value) is int and key not in self.windowed]
        for key in [*self.windowed, *chunked] if "S" in base else ():
            more: dict[int | None, set[int | None]] = {}
            for window in _NARROWEST:
                with suppress(RefusedError):
                    layers = self.cache(base, {key: window}) or []
                    kinds = [*order] if len(order) == len(layers) else [None] * len(layers)
                    for kind, (_, positions) in zip(kinds, layers, strict=True):
                        more.setdefault(kind, set()).add(positions - window if positions < base["S"] else None)
            if any(len(one) > 1 for one in more.values()):
                return None
            default = self.reference.resolved(self.base).get(key, read.get(key))
            found += [[kind, key, default, one] for kind, numbers in more.items() for one in numbers if one is not None]
        return found

    def counted(self, numbers: Mapping[str, int]) -> tuple[int, int]:
        """Return the FLOPs of torch's counter, forward and both ways, of a small model with numbers in it."""
        device = self.reference.counted_on
        model = self.made(self.point(numbers), device)
        with torch.no_grad():
            for one in (*model.parameters(), *model.buffers()):
                one.zero_()
        try:
            return counted_on(model, self.arguments(model, numbers, device))
        except Exception as error:  # noqa: BLE001 - such as more experts for a token than there are
            raise RefusedError(str(error)[:160]) from None

    def arguments(self, model: Any, numbers: Mapping[str, int], device: str = "meta") -> dict[str, Any]:
        """Return the arguments of a forward pass.

        Raises:
            RefusedError: texts that are shorter than their pictures.
        """
        given = arrays(model, self.inputs, numbers, device)
        token = next((one for key in _TOKENS if type(one := getattr(model.config, key, None)) is int), None)
        if token is not None and {"input_ids", "pixel_values"} <= given.keys():
            texts = given["input_ids"]
            texts += token == 0
            count = self.tokens_of_a_picture(model, given, token)
            if count > texts.shape[1]:
                raise RefusedError(f"a picture has {count} tokens, and the text {texts.shape[1]}")
            texts[:, :count] = token
        return given

    def tokens_of_a_picture(self, model: Any, given: Mapping[str, Any], token: int) -> int:
        """Return how many tokens of a text stand for its picture: the reference says it where there is only one.

        Raises:
            RefusedError: it does not say it.
        """
        first = {name: one[:1] for name, one in given.items() if torch.is_tensor(one)}
        known = repr((model.config.to_json_string(), [tuple(one.shape) for name, one in first.items() if name in FLOATS]))
        if known not in self.counts:
            texts = first["input_ids"].clone()
            texts[:, 0] = token
            try:
                recording_of(model, (), {**given, **first, "input_ids": texts})
            except ParamsymError as error:
                said = re.search(r"tokens: (\d+),? features:? (\d+)", str(error))
                if said is None:
                    raise RefusedError(str(error)[:160]) from None
                self.counts[known] = int(said[2]) // int(said[1])
            else:
                self.counts[known] = 1
        return self.counts[known]

    def _recorded(self, numbers: Mapping[str, int], others: Point) -> Recording:
        model = self.made(self.point(numbers, others))
        given = self.arguments(model, numbers)
        try:
            found = recording_of(model, (), given)
        except ParamsymError as error:
            if type(error).__name__ == "NotYetError":
                raise UnreadError(str(error)[:160]) from None
            raise RefusedError(str(error)[:160]) from None
        except Exception as error:  # noqa: BLE001 - a hook of the reference may fail outside of the pass
            raise RefusedError(str(error)[:160]) from None
        return with_buffers_in_place(rolled(without_copies_of_saved(found)), model)


def with_buffers_in_place(recording: Recording, model: Any, entries: Mapping[str, Any] = MappingProxyType({})) -> Recording:
    """Return a recording with buffers that are not saved as arrays in place, and without the flag for the kernel of grouped heads.

    The buffers of numbered modules follow from the configuration, so that those of one name and shape are one array. ``entries`` are those
    of buffers by name, if they are known.
    """
    hidden, buffers = unsaved(model), dict(model.named_buffers())
    inside = {number: names[0] for number, names in recording.stored.items() if names[0] in hidden}
    types = {number: (tuple(buffers[name].shape), kind_of(torch, buffers[name].dtype)) for number, name in inside.items()}
    arrays = {number: Array(number, *one, entries.get(inside[number]), held=True) for number, one in types.items()}
    firsts: dict[Any, int] = {}
    same = {number: firsts.setdefault((_COPY.sub(".", name), arrays[number].shape), number) for number, name in inside.items()}
    stored = {number: names for number, names in recording.stored.items() if number not in inside}
    constants = {**recording.constants, **{number: one for number, one in arrays.items() if same[number] == number}}

    def plain(one: Done) -> Done:
        kept = {name: each for name, each in one.arguments.items() if name != "enable_gqa"}
        return replace(one, arguments=with_refs(kept, lambda number: Ref(same.get(number, number))))

    def called(one: Called) -> Called:
        items = [plain(item) if isinstance(item, Done) else called(item) if isinstance(item, Called) else item for item in one.items]
        return Called(one.path, one.kind, items)

    return replace(recording, top=called(recording.top), stored=stored, constants=constants)


def _quotient(values: Point, dividend: str, divisor: str) -> int:
    return int(str(values[dividend])) // int(str(values[divisor]))


@dataclass(frozen=True)
class _Solved(Recorded):
    """The record's model with the computation whose numbers get their expressions when it is played."""

    computes = True  # type: ignore[assignment]
    inputs: ClassVar[Mapping[str, Any]] = {}  # type: ignore[assignment,misc]

    def forward(self, own: Any, *given: Any) -> Any:
        laws, names = self.__dict__["laws"], self.__dict__["templates"]
        entries = tuple(named_entries(laws.found.merged.stored, names, tuple(own._layer.entries()), laws))
        entries = tuple(exactly(entries, self.__dict__["exact"]))
        return Player(laws.found.merged, own._layer, TORCH, self.__dict__["shown"], laws, entries, cache={}).play(given)


@dataclass
class Finder:
    """The search for the computation of one class."""

    of: Class
    beyond: bool = False
    """Whether inputs are longer than windows of attention."""
    most: dict[str, int] = field(default_factory=dict)
    windows: list[Window] = field(default_factory=list)
    excluded: dict[str, list[Value]] = field(default_factory=dict)
    """Numbers in floating point, such as 0, for which other operators run than for all others, and objects with such numbers."""
    unit: int = _UNIT
    """The widths of heads are multiples of it."""
    looped: bool = False
    """Whether a loop goes over positions, so that a long input takes long."""
    equal: list[tuple[str, str, bool]] = field(default_factory=list)
    """Letters that must be equal, or must differ, for the same operators."""
    proportional: list[tuple[str, str | None]] = field(default_factory=list)
    """Widths with the number of their heads: only heads of the width of the default are known."""
    products: list[tuple[str, str, str]] = field(default_factory=list)
    """Widths that must be the product of two other letters: the number of heads and the width of each, which is a key of its own."""
    apart: list[str] = field(default_factory=list)
    """The letters of keys on which no tensor depends."""
    chance: random.Random = field(default_factory=lambda: random.Random(17))
    fresh: ClassVar[int] = _FRESH
    fewest: ClassVar[int] = _FEWEST
    mixtures: ClassVar[int] = _MIXED

    @property
    def shaped(self) -> Callable[[Recording], Recording]:
        """How recordings are compared: with equal copies as one, unless layers are of several kinds."""
        return numbered if self.of.ordering is not None else folded

    def orders(
        self, laws: Any, base: dict[str, int], tested: list[dict[str, int]], held: dict[str, Any], known: Mapping[str, Any] | None
    ) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
        """Return the orders of layers of several kinds, the held keys that do more than order layers, and what the certificate says."""
        of = self.of
        if of.ordering is None:
            return [], held, {}
        layers = of.ordering.orders(base, {})
        of.ordering.solved(laws, layers)
        ordering = self.ordering(base, held) if known is None else known["certificate"].get("ordering", {})
        held = {key: values for key, values in held.items() if key not in ordering}
        ordered = {"orders": of.ordering.tested(layers, [base, *tested], ordering)}
        return layers, held, ordered | ({"ordering": ordering} if ordering else {})

    def found(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return one form of the computation as JSON; ``known`` is the form of the default, whose keys are not tried again.

        Raises:
            UnreadError: no computation that holds at fresh configurations.
        """
        of = self.of
        base = of.start()
        if of.ordering is not None:
            of.base = of.full({**of.base, **of.ordering.deep(of.ordering.least(base))})
            of.layer = of.letters(of.base)
        recording = self.shaped(of.at(base))
        if of.beside:
            self.apart = self.beside_tensors(base, recording) if known is None else [*map(name_of, known.get("beside", ()))]
            of.numbers |= {name: int(str(of.defaults[of.keys[name]])) for name in self.apart}
            base |= {name: of.numbers[name] for name in self.apart}
        self.looped = looped(recording)
        self.windows = [replace(one, beyond=self.beyond) for one in (self.found_windows(base) if known is None else _windows(known))]
        if known is None and not all(one.holds(of.reference.resolved(of.base), base) for one in self.windows):
            raise UnreadError(f"windows of attention below {base}")
        self.equal = [(one, other, base[one] == base[other]) for one, other, _ in (known or {}).get("equal", ())]
        self.products = [(width, heads, each) for width, heads, each in (known or {}).get("products", ())]
        if self.beyond:
            self.beside(base, recording)
        self.check_depths(base, recording)
        lines = {name: [*self.line(base, name, recording)] for name in base}
        for name in [one for one, line in lines.items() if not line]:
            lines |= self.joined(base, name, lines, recording) if not lines[name] else {}
        numbers = [base, *(point for line in lines.values() for point in line)]
        loops = self.loops()
        constant = [name for name, line in lines.items() if not line]
        if set(constant) & set(of.letters_of_inputs):
            raise InputsError(f"no other {constant} has the same operators")
        if constant:
            raise NumberError(f"no other {constant} has the same operators", constant)
        numbers += [*self.mixed(base, lines, recording)]
        recordings = [self.shaped(of.at(point)) for point in numbers]
        held = self.held(base, recording, known)
        tested: list[dict[str, int]] = []
        for _ in range(_ROUNDS):
            laws, writer, one, layer, program = self.solved(base, numbers, recordings, lines)
            wrong, agreed = self.compared(Predicted(laws), base, lines, held)
            tested += agreed
            odd = [point for point in wrong if not alike(recording, self.shaped(of.at(point)))]
            if odd and not self.limited(odd, [*numbers, *tested]):
                raise UnreadError(f"other operators at {odd[0]}")
            wrong = [point for point in wrong if point not in odd]
            if not wrong and len(tested) >= self.fewest:
                break
            numbers += wrong
            recordings += [self.shaped(of.at(point)) for point in wrong]
        else:
            raise UnreadError("laws were refuted too often, or few configurations were built")
        self.unit = self.least_unit(Predicted(laws), base, lines)
        self.check_quotients(Predicted(laws), base, lines)
        layers, held, ordered = self.orders(laws, base, tested, held, known)
        cache, kept = self.cache(laws, program, (base, *tested[:5]), layers)
        units = of.units | {one.letter: _PAIR for one in of.rotated}
        return {
            "base": {name: number for name, number in base.items() if name not in of.letters_of_inputs},
            "held": held,
            **({"excluded": self.excluded} if self.excluded else {}),
            "above": self.above(base, Predicted(laws)) | {name: -1 for name, number in base.items() if number == 0},
            "most": self.most,
            **({"loops": loops} if loops else {}),
            "multiples": [
                *(
                    [name, base[name] // base[str(by)] if (name, by) in self.proportional else self.unit, by, most]
                    for name, by in of.multiples
                    for most in [max(point[name] // (point[by] if by else 1) for point in (*numbers, *tested))]
                ),
                *([name, unit, None, max(point[name] for point in (*numbers, *tested))] for name, unit in units.items()),
            ],
            "within": of.positions(),
            **({"equal": [list(one) for one in self.equal]} if self.equal else {}),
            **({"products": [list(one) for one in self.products]} if self.products else {}),
            **({"quotients": of.quotients} if of.quotients else {}),
            **({"rotated": [list(astuple(one)) for one in of.rotated]} if of.rotated else {}),
            **({"needed": of.needed} if of.needed else {}),
            **({"beside": {of.keys[name]: base[name] for name in self.apart}} if self.apart else {}),
            **({"same": {key: [name, of.defaults[key]] for key, name in of.same.items()}} if of.same else {}),
            **({"windows": [list(astuple(one)) for one in self.windows]} if self.windows else {}),
            "sizes": writer.sizes,
            "recording": one,
            **({"layers": layers} if layers else {}),
            "cache": cache,
            **({"kept": kept} if kept else {}),
            "certificate": {"traces": len(of.seen), "fresh": len(tested), "counted": self.counted(laws, layer, program, base)} | ordered,
        }

    def beside_tensors(self, base: Mapping[str, int], recording: Recording) -> list[str]:
        """Return the letters of keys on which no tensor depends, and only numbers of the recording do: as many experts for each token."""
        of, read = self.of, self.of.read(base)
        lists = {*self.of_layers(), *of.same, *of.fixed, *of.given, *of.windowed, *(key for key, _ in of.parts.values())}
        found = []
        for key, domain in of.entry["keys"].items():
            number = of.defaults.get(key)
            if type(number) is not int or number < 1 or "whole" not in domain or _DEPTH.search(key):
                continue
            new = name_of(key) not in base and key not in lists and key.rpartition(".")[2] in read
            if new and self.resizes(base, recording, key, number):
                found.append(name_of(key))
        return found

    def resizes(self, base: Mapping[str, int], recording: Recording, key: str, number: int) -> bool:
        """Whether other numbers of a key have the same operators with other sizes."""
        found = []
        for other in (number + 1, 2 * number):
            with suppress(RefusedError, UnreadError):
                found.append(self.shaped(self.of.at(base, {key: other})))
        return bool(found) and all(alike(recording, one) and not equal(recording, one) for one in found)

    def held(self, base: Mapping[str, int], recording: Recording, known: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the keys on which the operators depend, those of the known form or those that are given among them."""
        held = self.domain(base, recording) if known is None else dict(known["held"])
        self.excluded |= (known or {}).get("excluded", {})
        held |= {key: [value] for key, value in self.of.given.items() if key not in self.of.windowed}
        ordering = known["certificate"].get("ordering", ()) if known else ()
        held |= {key: [self.of.defaults.get(key)] for key in (*self.of.fixed, *ordering)}
        parted = {key for key, _ in self.of.parts.values()}
        return {key: values for key, values in held.items() if name_of(key) not in base and key not in parted}

    def found_windows(self, base: Mapping[str, int]) -> Iterator[Window]:
        """Yield the windows of attention that change the operators for longer inputs.

        Raises:
            UnreadError: a length that is no share of the window.
        """
        of = self.of
        for key in of.windowed:
            for length in (one for one in of.letters_of_inputs if one in _LENGTHS):
                shares = {}
                for window in _NARROW:
                    with suppress(RefusedError):
                        first = self.shaped(of.at(base, {key: window}))
                        low, high = base[length], 3 * window
                        if alike(first, self.shaped(of.at({**base, length: high}, {key: window}))):
                            continue
                        while high - low > 1:
                            middle = (low + high) // 2
                            same = alike(first, self.shaped(of.at({**base, length: middle}, {key: window})))
                            low, high = (middle, high) if same else (low, middle)
                        shares[window] = low
                if not shares:
                    continue
                (one, share), (other, larger) = [*shares.items(), *shares.items()][:2]
                divisor = (other - one) // (larger - share) if larger > share else 0
                more = share - one // divisor if divisor else 0
                if not divisor or other // divisor + more != larger:
                    raise UnreadError(f"inputs change with {key} as {shares} says")
                default: Any = of.reference.resolved(of.base).get(key)
                yield Window(length, key, default, divisor, more, self.beyond)

    def beside(self, base: Mapping[str, int], recording: Recording) -> None:
        """Check that other windows, below the length of inputs, change nothing.

        Raises:
            UnreadError: they do.
        """
        for key in {one.key for one in self.windows}:
            for window in _NARROWEST:
                other = self.shaped(self.of.at(base, {key: window}))
                if not alike(recording, other) or not equal(recording, other):
                    raise UnreadError(f"what is computed changes with {key}")

    def other_groups(self, heads: str, groups: str) -> int:
        """Return a number of groups that equals the number of heads, or does not, if that of the default does."""
        number = self.of.numbers[heads]
        if self.of.numbers[groups] != number:
            return number
        return next(number // few for few in (4, 2, 3, number) if number % few == 0)

    def flags(self, known: Mapping[str, Any], count: int = _FLAGS) -> Iterator[Point]:
        """Yield other values of flags on which the operators depend: each alone, then several at once."""
        resolved = self.of.reference.build(self.of.base).values
        flags = [key for key in known["held"] if isinstance(resolved.get(key), bool)]
        flags = sorted(flags, key=lambda key: (not key.endswith("tie_word_embeddings"), not key.endswith("bias")))[:count]
        single = [{key: not resolved[key]} for key in flags]
        yield from single
        for key in known["held"]:
            if resolved.get(key) is None and "whole" in self.of.entry["keys"][key]:
                yield {key: _HEAD}
        yield from ({one.key: None} for one in self.of.rotated if one.key != SHARE)
        several = (some for many in range(2, len(single) + 1) for some in combinations(single, many))
        yield from ({key: value for one in some for key, value in one.items()} for some in several)

    def parted(self, odd: Sequence[Mapping[str, int]], others: Sequence[Mapping[str, int]]) -> bool:
        """Whether two letters are equal at all other points and at no odd one, or the reverse: their other case has other operators."""
        for one, other in self.of.pairs:
            equal = others[0][one] == others[0][other]
            same = all((point[one] == point[other]) == equal for point in others)
            if same and all((point[one] == point[other]) != equal for point in odd) and (one, other, equal) not in self.equal:
                self.equal.append((one, other, equal))
                return True
        return False

    def least_unit(self, predicted: Predicted, base: Mapping[str, int], lines: Mapping[str, list[dict[str, int]]]) -> int:
        """Return the least number of which the widths of heads may be multiples: at fresh points the laws agree."""
        for unit in _UNITS if self.of.multiples else ():
            self.unit = unit
            points = (self.at_unit(base, lines) for _ in range(_TRIES * _AGREED))
            fresh = [*islice((one for one in points if one is not None and not self.of.was_seen(one)), _AGREED)]
            with suppress(RefusedError):
                if len(fresh) == _AGREED and all(predicted.agrees(one, self.of.at(one)) for one in fresh):
                    return self.unit
        return _UNIT

    def at_unit(self, base: Mapping[str, int], lines: Mapping[str, list[dict[str, int]]]) -> dict[str, int] | None:
        """Return numbers at which the widths of heads are odd multiples of their unit; None if the record does not read them."""
        point = self.drawn(base, lines)
        for name, by in self.of.multiples:
            if point is not None and (name, by) not in self.proportional:
                most, unit = base[name] // (self.unit * (base[by] if by else 1)), self.unit * (point[by] if by else 1)
                point = self.moved(point, name, unit * self.chance.randrange(1, most + 1, 2))
        return point

    def check_quotients(self, predicted: Predicted, base: Mapping[str, int], lines: Mapping[str, list[dict[str, int]]]) -> None:
        """Check at fresh points that a null for the width of heads is a quotient, also if there is a remainder.

        Raises:
            UnreadError: it is none, or few configurations were built.
        """
        for key, of in self.of.quotients.items():
            agreed = 0
            for _ in range(_TRIES * _AGREED):
                point = self.divided(self.drawn(base, lines), *map(name_of, (key, *of)))
                with suppress(RefusedError):
                    if agreed == _AGREED or point is None or not predicted.agrees(point, self.of.at(point)):
                        continue
                    if not predicted.agrees(point, self.of.at(point, {key: None})):
                        raise UnreadError(f"null for {key} is no quotient, as {point} shows")
                    agreed += 1
            if agreed < _AGREED:
                raise UnreadError(f"{_UNDIVIDED} for {key} were built")

    def divided(self, point: dict[str, int] | None, name: str, dividend: str, divisor: str) -> dict[str, int] | None:
        """Return numbers of which one is the quotient of two others, with a remainder in every other draw; None if there are none."""
        if point is None:
            return None
        rest = self.chance.randrange(point[divisor]) if self.chance.random() < 1 / 2 else 0
        found = self.moved(point, dividend, point[name] * point[divisor] + rest)
        return found if found and found[dividend] // found[divisor] == found[name] else None

    def limited(self, odd: Sequence[Mapping[str, int]], others: Sequence[Mapping[str, int]]) -> bool:
        """Limit the letters that are larger at each odd point than at all others; return whether each odd point is left out.

        Raises:
            UnreadError: that letter is a number of layers, of which the later ones are of another kind.
        """
        if self.parted(odd, others):
            return True
        for name, by in self.of.multiples:
            if by and all(point[name] // point[by] > max(other[name] // other[by] for other in others) for point in odd):
                return True  # the widths of heads are limited by the others
        widths = [name for name, _ in self.of.multiples]
        for name in (*widths, *(name for name in odd[0] if name not in widths)):
            largest = max(point[name] for point in others)
            if all(point[name] > largest for point in odd):
                if _DEPTH.search(name):
                    raise UnreadError(f"{_SEVERAL}, as {name} = {odd[0][name]} shows")
                self.most[name] = largest
                return True
        return False

    def moved(self, base: Mapping[str, int], name: str, value: int) -> dict[str, int] | None:
        """Return numbers with another one; those that it must divide move along. None if the record does not read them."""
        found = {**base, name: value}
        for one, other, equal in self.equal:
            found |= {one: value, other: value} if equal and name in {one, other} else {}
        for width, heads in self.of.multiples:
            if (width, heads) in self.proportional and name in {width, heads}:
                share = base[width] // base[str(heads)]
                if name == width and value % share:
                    return None
                found |= {str(heads): value, width: share * value} if name == heads else {str(heads): value // share}
        for width, heads, each in (one for one in self.products if name in one):
            if name == width and value % found[heads]:
                return None
            found |= {each: value // found[heads]} if name == width else {width: found[heads] * found[each]}
        for one in self.of.rotated:
            width = self.of.width(one, found)
            if name == one.letter and found[name] >= width:
                found[one.width[0]] = 2 * found[name] * (found[one.width[1]] if one.width[1:] else 1)
            elif name != one.letter and not width <= 4 * found[one.letter] < 4 * width:
                found[one.letter] = max(_PAIR, width // 2 // _PAIR * _PAIR)
        if value > self.most.get(name, value) or not self.in_windows(found):
            return None
        if any((found[one] == found[other]) != equal for one, other, equal in self.equal):
            return None
        for one, other in self.of.needs:
            if one == name and other in found and found[one] and found[other] % found[one]:
                found[other] = base[other] // base[one] * value if base[other] % base[one] == 0 else base[other] * value
        if any(other in found and found[other] % found[one] for one, other in self.of.needs if one in found and other == name):
            return None
        for key, divisor in self.of.multiples:
            if key in found and found[key] % (self.unit * (found[divisor] if divisor else 1)):
                return None
            parts, before = (numbers[divisor] if divisor else 1 for numbers in (found, base))
            if self.of.pairs and _WIDEST * before >= base[key] and found[key] > _WIDEST * parts:
                return None
        if any(found[key] % unit for key, unit in self.of.units.items()):
            return None
        if any(found[width] != found[heads] * found[each] for width, heads, each in self.products):
            return None
        if any(not found[one.letter] < self.of.width(one, found) or found[one.letter] % _PAIR for one in self.of.rotated):
            return None
        return found if self.reads(found) else None

    def in_windows(self, numbers: Mapping[str, int]) -> bool:
        """Whether lengths of inputs stand to the windows as in the first recording."""
        values = {one.key: self.of.base.get(one.key, one.default) for one in self.windows}
        return all(one.holds(values, numbers) for one in self.windows)

    def reads(self, numbers: Mapping[str, int]) -> bool:
        """Whether the record reads these numbers, and has the same letters."""
        return self.has_letters(self.of.point(numbers))

    def has_letters(self, point: Point) -> bool:
        """Whether the record reads a configuration, and has the same letters."""
        try:
            return self.of.letters(point).names == self.of.layer.names
        except (ParamsymError, RefusedError):
            return False

    def _values(self, name: str, value: int) -> Iterator[int]:
        if name in self.of.letters_of_inputs:
            far = 19 if self.beyond else _FAR if self.looped else 1019  # masks of windows have an entry for each pair
            lengths = (3, far, 7, 16)
            unit = self.of.units.get(name, 1)
            yield from (value + more for more in (*STEPS.get(name, lengths), 8 * unit) if more % unit == 0)
        elif _DEPTH.search(name):
            yield from (value + more for more in (_DEEP, 1, 2))
        else:
            unit = next((_UNIT * (self.of.numbers[by] if by else 1) for key, by in self.of.multiples if key == name), 1)
            others = (2 * value, value + unit, 3 * value, value // 2, value + 2 * unit, 4 * value, value + 8 * unit, value + 64)
            yield from (one for one in dict.fromkeys(others) if one > 0)

    def line(self, base: Mapping[str, int], name: str, first: Recording) -> Iterator[dict[str, int]]:
        """Yield points at which one number is another one."""
        found = tried = 0
        for value in self._values(name, base[name]):
            point = self.moved(base, name, value)
            if point is None or found >= _ON_A_LINE or tried >= _TRIES:
                continue
            tried += 1
            with suppress(RefusedError):
                if alike(first, self.shaped(self.of.at(point))):
                    found += 1
                    yield point
                elif self.parted([point], [base]):
                    continue
                elif _DEPTH.search(name):
                    raise UnreadError(f"{_SEVERAL}, as {name} = {value} shows")
                elif value > base[name]:
                    self.most[name] = self.largest(base, name, value, first)

    def largest(self, base: Mapping[str, int], name: str, above: int, first: Recording) -> int:
        """Return the largest value of a letter with the same operators, below one that has others; found by halving what is between."""
        low = base[name]
        while above - low > 1:
            middle = (low + above) // 2
            point = self.moved(base, name, middle)
            try:
                same = point is not None and alike(first, self.shaped(self.of.at(point)))
            except RefusedError:
                same = False
            low, above = (middle, above) if same else (low, middle)
        return low

    def joined(
        self, base: Mapping[str, int], name: str, lines: Mapping[str, list[dict[str, int]]], first: Recording
    ) -> dict[str, list[dict[str, int]]]:
        """Return the points of numbers that change only together: a pass adds or multiplies arrays of both widths."""
        for product in (one for one in self.products_at(base) if name in one and one not in self.products):
            self.products.append(product)
            found = {one: [*self.line(base, one, first)] for one in product}
            if all(found.values()):
                return found
            self.products.pop()
        for pair in (one for one in self.of.multiples if name in one and None not in one and one not in self.proportional):
            self.proportional.append(pair)  # rotary positions that rotate several axes state the width of heads
            if found := [*self.line(base, name, first)]:
                return {str(one): found for one in pair}
            self.proportional.pop()
        for other in (one for one, line in lines.items() if one != name and not line and base[one] == base[name]):
            self.equal.append((name, other, True))
            if found := [*self.line(base, name, first)]:
                return {name: found, other: found}
            self.equal.pop()
        return {}

    def products_at(self, base: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
        """Yield the letters that may be the product of a number of heads and the width of each, because they are at these numbers."""
        for heads in filter(_HEADS_OF_WIDTH.search, base):
            for each in filter(_WIDTH_OF_EACH.search, base):
                yield from ((one, heads, each) for one in base if one not in {heads, each} and base[one] == base[heads] * base[each])

    def mixed(self, base: Mapping[str, int], lines: Mapping[str, list[dict[str, int]]], first: Recording) -> Iterator[dict[str, int]]:
        """Yield points at which many numbers are others."""
        for _ in range(self.mixtures):
            point = self.drawn(base, lines)
            with suppress(RefusedError):
                if point is not None and alike(first, self.shaped(self.of.at(point))):
                    yield point

    def drawn(self, base: Mapping[str, int], lines: Mapping[str, list[dict[str, int]]]) -> dict[str, int] | None:
        """Return numbers of which each is one of those tried, or near it; None if the record does not read them."""
        point: dict[str, int] | None = dict(base)
        for name, line in lines.items():
            values = [base[name], *(one[name] for one in line)]
            value = self.chance.choice([one for one in values if not self.looped or name not in _LENGTHS or one < base[name] + _FAR])
            if self.chance.random() < 0.3 and line:
                value = self.chance.choice([value * 2 if not _DEPTH.search(name) else value + 1, value + 1])
            point = None if point is None else self.moved(point, name, value)
        return point

    def solved(
        self,
        base: Mapping[str, int],
        numbers: Sequence[Mapping[str, int]],
        recordings: Sequence[Recording],
        lines: Mapping[str, list[dict[str, int]]],
    ) -> Any:
        """Return the laws, and the recording in letters as JSON.

        Raises:
            NumberError: a number without a law, with the letters with which it changes, or an operator that is not known.
        """
        of = self.of
        letters = dict(zip(of.layer.names, of.layer.numbers, strict=True))
        letters |= {one.letter: dims(one.letter) for one in of.rotated}
        letters |= {name: dims(name) for name in base if name not in letters and name not in of.letters_of_inputs}
        letters |= {other: letters[one] for one, other, equal in self.equal if equal}
        widths = {width: letters[str(heads)] * (base[width] // base[str(heads)]) for width, heads in self.proportional}
        widths |= {width: letters[heads] * letters[each] for width, heads, each in self.products}
        in_letters = replace(of.layer, numbers=tuple((letters | widths)[name] for name in of.layer.names))
        symbols: dict[str, Any] = {name: letters[name] for name in base if isinstance(letters.get(name), Symbol) and name not in widths}
        symbols |= {name: dims(name) for name in of.letters_of_inputs}
        laws = Laws(Found(symbols | widths, tuple(symbols), tuple(numbers), merged(recordings)))
        for one in of.rotated:
            width = per(*(letters[name] for name in one.width)) if one.width[1:] else letters[one.width[0]]
            laws.learn(laws.at(width - letters[one.letter]), width - letters[one.letter])
        exact = [(letters[one], letters[by]) for one, by in of.multiples if by is not None and one not in widths]
        entries = tuple(exactly(in_letters.entries(), exact))
        for entry in entries:
            for axis in entry.tensor.shape:
                for size in (extent(axis), *(axis if isinstance(axis, tuple) else ())):
                    for inner in (size, *size.atoms(floor, per)) if isinstance(size, Expr) else ():
                        with suppress(ParamsymError, KeyError):
                            laws.learn(laws.at(inner), inner)
        for size in self.told(letters | symbols):
            with suppress(ParamsymError, KeyError):
                laws.learn(laws.at(size), size)
        layer = _Solved(*(getattr(in_letters, one) for one in ("model_type", "architecture", "values", "names", "numbers")))
        layer.__dict__.update(laws=laws, templates=templates(laws, entries), exact=exact, shown=partial(shown_as, of.layer))
        shapes = [tuple(axis if isinstance(axis, int) else size_of(axis, symbols) for axis in axes) for axes in of.inputs.values()]
        try:
            program = trace_layer(layer, *(ArrayType(shape, one.kind) for shape, one in zip(shapes, laws.found.merged.inputs, strict=True)))
            writer = Writer({symbol: name for name, symbol in symbols.items()})
            one = stated(laws.found.merged, laws.value)
            return laws, writer, writer.recording(stacked(one).recording if of.ordering is not None else one), layer, program
        except ParamsymError as error:
            at = dict(zip(map(repr, numbers), laws.unexplained, strict=False))
            changing = [name for name, line in lines.items() if any(at.get(repr(one)) != at.get(repr(base)) for one in line)]
            changing = [name for name in changing if name not in of.letters_of_inputs and not _DEPTH.search(name)]
            raise NumberError(f"{type(error).__name__}: {str(error)[:300]}", changing) from None

    def told(self, letters: Mapping[str, Any]) -> Iterator[Expr]:
        """Yield sizes that may be in a pass, and that the search does not find; none here."""
        del letters
        return iter(())

    def cache(
        self, laws: Laws, program: Program, points: Sequence[Mapping[str, int]], layers: Sequence[Mapping[str, Any]]
    ) -> tuple[bool | None, list[list[Any]]]:
        """Return whether the reference returns the keys and values of all attention, and which layers keep fewer positions.

        None if it returns no cache.
        """
        of = self.of
        (order,) = of.ordering.seen(points[0], {}).orders if of.ordering is not None and len(layers) == 1 else ((),)
        kept = of.kept(points[0], order)
        if kept is None:
            return False, []
        values = of.reference.resolved(of.base)
        most = {kind: value + more for kind, key, default, more in kept if type(value := values.get(key, default)) is int}
        paths = {"": most[None]} if None in most else {}
        paths |= {f"{one['path']}.{number}": most[kind] for one in layers for number, kind in enumerate(order) if kind in most}
        found = {}
        for point in points:
            if (returned := of.cache(point)) is not None:
                lines = [line.but(factors=tuple(_number_at(laws, one, point) for one in line.factors)) for line in states(program)]
                kinds = [_within(line, paths) for line in lines]
                expected = Polynomial.total(Polynomial.product((*line.factors, *line.stored)) for line in kinds).as_expr()
                found[laws.value_at(expected, point)] = sum(numbers for numbers, _ in returned)
        if found and not any(found.values()):
            return None, []
        return len(found) > 1 and all(one == other for one, other in found.items()), kept

    def counted(self, laws: Laws, layer: _Solved, program: Program, base: Mapping[str, int]) -> int:
        """Return at how many small points torch's counter finds the same FLOPs, forward and both ways.

        Raises:
            UnreadError: other FLOPs at a point, or none that the counter runs.
        """
        layer.__dict__["_programs"] = {(program.input_types, 0): program}
        forward, both = (flops(layer, *(one.sizes for one in program.input_types), way=way).total for way in ("forward", "both"))
        agreed, predicted = 0, Predicted(laws)
        heads = {one for pair in self.of.multiples for one in pair if one}
        tokens = {name for name in base if name.endswith(_VOCABULARY)} if self.of.pictured else set[str]()
        for least, kept in [*((least, tokens) for least in _SMALL), *((least, tokens | heads) for least in _SMALL[1:4:2])]:
            point = self.shrunk(base, least, kept)
            with suppress(RefusedError):
                if not predicted.agrees(point, self.of.at(point)):
                    continue
                found, said = self.of.counted(point), (laws.value_at(forward, point), laws.value_at(both, point))
                if found != said:
                    raise UnreadError(f"torch's counter finds {found} FLOPs where {said} are said, at {point}")
                agreed += 1
            if agreed == _COUNTED:
                return agreed
        raise UnreadError("torch's counter runs none of the small configurations")

    def shrunk(self, base: Mapping[str, int], least: int, kept: Collection[str]) -> dict[str, int]:
        """Return a point with small numbers: each is halved as long as the record takes it, and it is not below the least.

        ``kept`` are not halved: the widths of heads, of which positions that rotate several axes take no others, and the vocabulary.
        """
        point = dict(base)
        for name in (one for one in base if one not in self.of.letters_of_inputs and one not in kept):
            smaller = [base[name] >> bits for bits in range(20, 0, -1) if base[name] >> bits >= least]
            smaller = [value for value in smaller if value % _UNIT == 0 or base[name] % _UNIT]  # grouped products take no others
            made = (one for value in smaller if (one := self.moved(point, name, value)) is not None and self.of.builds(one))
            point = next(made, point)
        return point

    def compared(
        self, predicted: Predicted, base: Mapping[str, int], lines: Mapping[str, list[dict[str, int]]], held: dict[str, Any]
    ) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
        """Return fresh points that refute the laws, and those that agree; all other keys have other values at every second one."""
        wrong, tested = [], []
        for turn in range(4 * self.fresh):
            if len(tested) >= self.fresh or len(wrong) > 2:
                break
            point = self.drawn(base, lines)
            if point is None or self.of.was_seen(point):
                continue
            others = self.others(held, base) if turn % 2 else {}
            with suppress(RefusedError):
                (tested if predicted.agrees(point, self.of.at(point, others)) else wrong).append(point)
                if wrong[-1:] == [point] and others and predicted.agrees(point, self.of.at(point)):
                    wrong.pop()
                    self.hold(held, others, lambda one, point=point: predicted.agrees(point, self.of.at(point, one)))
        return wrong, tested

    def hold(self, held: dict[str, Any], others: Mapping[str, Value], agrees: Callable[[dict[str, Value]], bool]) -> None:
        """Hold the keys with which, one at a time, the laws disagree, such as a flag that makes a factor 1 which is the root of a width.

        If only several keys together show a difference, the object among them is left out: positions that rotate otherwise beyond the
        number of positions.

        Raises:
            UnreadError: there is no object among them.
        """
        values = self.of.reference.build(self.of.base).values
        alone = [key for key, value in others.items() if not agrees({key: value})]
        if not alone:
            together = dict(others)
            for key in others:
                fewer = {one: value for one, value in together.items() if one != key}
                together = together if agrees(fewer) else fewer
            key = next((one for one, value in together.items() if isinstance(value, tuple) and value[:1] == ("{}",)), None)
            if key is None:
                raise UnreadError(f"the operators depend on several of {sorted(together)} at once")
            self.excluded[key] = [*self.excluded.get(key, ()), together[key]]
        held |= {key: [values.get(key)] for key in alone}

    def others(self, held: Mapping[str, Any], base: Mapping[str, int]) -> dict[str, Value]:
        """Return other values of keys on which nothing depends, as far as they were tried alone."""
        found: dict[str, Value] = {}
        of_layers = self.of_layers()
        for key, domain in self.of.entry["keys"].items():
            if (
                key in of_layers
                or key in self.of.same
                or key in {one for one, _ in self.of.parts.values()}
                or any(key == window.key for window in self.windows)
                or any(key == one.key for one in self.of.rotated)
            ):
                continue
            if name_of(key) in base or key in self.of.given or key.endswith("model_type") or self.chance.random() < 0.5:
                continue
            values = [one for one in held.get(key) or self.alternatives(domain, None) if one not in self.excluded.get(key, ())]
            if values and not (key in held and len(values) == 1):
                found[key] = self.chance.choice(values)
        return found if self.has_letters({**self.of.base, **found}) else {}

    # The domain ------------------------------------------------------------------------------------------------------------------

    def domain(self, base: Mapping[str, int], first: Recording) -> dict[str, Any]:
        """Return the keys on which the operators depend, each with the values at which they are these."""
        of = self.of
        resolved = of.reference.build(of.base).values
        held: dict[str, Any] = {}
        read = of.read(base)
        narrow = {window.key: _NARROWEST[-1] for window in self.windows}  # longer inputs show keys that turn windows on
        beside: list[Point] = [{}, narrow] if narrow and not self.beyond else [{}]
        firsts = [first, *(self.shaped(of.at(base, one)) for one in beside[1:])]
        for key, domain in of.entry["keys"].items():
            name = name_of(key)
            if name in base or key in held or key.endswith("model_type") or key.rpartition(".")[2] not in read:
                continue
            if (
                key in self.of_layers()
                or key in of.same
                or key in {one for one, _ in of.parts.values()}
                or any(key == window.key for window in self.windows)
                or any(key == one.key for one in of.rotated)
            ):
                continue
            same, other = [resolved.get(key)], False
            published = [one for one in published_values(of.model_type).get(key, ()) if one != resolved.get(key)]
            for value in dict.fromkeys((*self.alternatives(domain, resolved.get(key)), *published)):
                try:
                    found = [self.shaped(of.at(base, {**one, key: value})) for one in beside]
                except RefusedError:
                    continue
                except UnreadError:
                    other = True
                    continue
                if all(alike(a, b) and equal(a, b) for a, b in zip(firsts, found, strict=True)):
                    same.append(value)
                else:
                    other = True
            if other and _DEPTH.search(key) and of.layers != FIXED:
                raise UnreadError(f"{_SEVERAL}, or {key} is no letter of the record")
            if other and isinstance(resolved.get(key), float) and len(same) > _FEW_SAME:
                self.excluded[key] = [one for one in self.alternatives(domain, resolved.get(key)) if one not in same]
            elif other:
                held[key] = same
        return held

    def ordering(self, base: Mapping[str, int], held: Mapping[str, Any]) -> dict[str, list[Value]]:
        """Return the keys that only put the layers in another order, such as how many of the first are dense, with the values tried."""
        assert self.of.ordering is not None
        resolved, found = self.of.reference.resolved(self.of.base), dict[str, list[Value]]()
        for key in (one for one in held if one not in self.of.given and one not in self.of.fixed):
            domain = self.of.entry["keys"][key]
            few = range(domain["whole"][0], domain["whole"][0] + _FEW_ORDERS) if "whole" in domain else ()
            values = [*dict.fromkeys((resolved.get(key), *few, *self.alternatives(domain, resolved.get(key))))]
            try:
                orders = {value: order for value in values if (order := self.of.ordering.order(base, {key: value})) is not None}
            except UnorderedError:
                continue
            if len(set(orders.values())) > 1:
                found[key] = [*orders]
        return found

    def loops(self) -> dict[str, int]:
        """Return the largest lengths of inputs at which the operators are these: a loop over positions has others for longer ones.

        Raises:
            InputsError: only short inputs, or pictures up to a size.
        """
        found = {name: self.most.pop(name) for name in [*self.most] if name in self.of.letters_of_inputs}
        for name, most in found.items():
            if name not in _LENGTHS or most < _SHORTEST:
                raise InputsError(f"the operators are the same for {name} up to {most} only")
        return found

    def check_depths(self, base: Mapping[str, int], first: Recording) -> None:
        """Check that more layers are more equal copies.

        Raises:
            UnreadError: they are of several kinds.
        """
        resolved = self.of.reference.resolved(self.of.base)
        for key in (one for one in self.of.entry["keys"] if _DEPTH.search(one) and self.of.layers == EQUAL):
            name, number = name_of(key), resolved.get(key)
            if type(number) is not int:
                continue
            for more in (_DEEP, _DEEPER):
                deeper = ({**base, name: number + more}, None) if name in base else (base, {key: number + more})
                with suppress(RefusedError):
                    found = self.shaped(self.of.at(*deeper))
                    if not alike(first, found) or (name not in base and not equal(first, found)):
                        raise UnreadError(f"{_SEVERAL}, as {key} = {number + more} shows")

    def of_layers(self) -> set[str]:
        """Return the keys of numbers of layers of several kinds, and the lists with one entry for each layer."""
        if self.of.ordering is None:
            return set()
        resolved = self.of.reference.resolved(self.of.base)
        numbers = {resolved.get(depth) for depth in self.of.depths}
        return {*self.of.depths, *(key for key, value in resolved.items() if isinstance(value, tuple) and len(value) in numbers)}

    def above(self, base: Mapping[str, int], predicted: Predicted) -> dict[str, int]:
        """Return the letters that may not be small, with the number above which the laws agree: 1, or that of a token in a vocabulary."""

        def agrees(name: str, value: int) -> bool | None:
            point = self.moved(base, name, value)
            with suppress(RefusedError):
                return None if point is None else predicted.agrees(point, self.of.at(point))
            return None

        found = {}
        for name, number in base.items():
            if number > 1 and agrees(name, 1) is False:
                low, high = 1, number if agrees(name, 2) is False else 2
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (low, middle) if agrees(name, middle) else (middle, high)
                found[name] = low
        return found

    def alone(self, form: Mapping[str, Any]) -> list[str]:
        """Return the keys of numbers of groups of which one has other operators: nothing is copied for its heads."""
        groups = {name for pair in self.of.pairs for name in pair}
        return [self.of.keys[name] for name, number in form["above"].items() if number == 1 and name in groups]

    def alternatives(self, domain: Mapping[str, Any], value: Value) -> Iterator[Value]:
        """Yield other values of a key that its domain has."""
        found = [one for one in domain.get("words", ()) if type(one) is not type(value) or one != value]
        yield from found[:_WORDS]
        for which in ("whole", "number"):
            if which in domain:
                low, high = domain[which]
                if which == "whole":
                    yield from (one for one in (low, high, (low + high) // 2) if one != value)
                else:
                    yield from (float(one) for one in (low, high, (low + high) / 2, (3 * low + high) / 4) if one != value)
        if "entries" in domain and isinstance(value, tuple) and value:
            for one in self.alternatives(domain["entries"], value[0]):
                yield (one,) * len(value)


def equal(one: Recording, other: Recording) -> bool:
    """Whether no whole number differs in two recordings of one structure."""
    varying: list[Any] = []

    def seen(number: Any) -> Any:
        at = getattr(number, "at", None)
        if at is not None and not all(isinstance(each, float) for each in at):
            varying.append(at)
        return 0

    stated(merged([one, other]), seen)
    return not varying


def _number_at(laws: Laws, size: Any, point: Mapping[str, int]) -> int:
    return size if isinstance(size, int) else int(laws.value_at(size, point))


def _within(line: Line, most: Mapping[str, int]) -> Line:
    """Return keys or values with the positions that their layer keeps; of copies, those of the first one."""
    limit = limit_at((one if isinstance(one, str) else one.name(int(str(one.start))) for one in line.path), most) if most else None
    batch, positions, *rest = line.factors
    return line.but(factors=(batch, limit, *rest)) if limit is not None and isinstance(positions, int) and positions > limit else line


def _windows(known: Mapping[str, Any]) -> list[Window]:
    return [Window(*one) for one in known.get("windows", ())]


def classes_in(model_type: str) -> dict[str, Any]:
    """Return the classes of a type's file; none if there is no file."""
    path = path_of(model_type)
    return dict(plain(unpacked(path.read_bytes()))["classes"]) if path.exists() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("types", nargs="+")
    parser.add_argument("--classes", default="", help="only classes whose name has one of these words, with commas between; others stay")
    parser.add_argument("--flags", type=int, default=_FLAGS, help="how many flags have forms with other values")
    chosen = parser.parse_args()
    for model_type in chosen.types:
        classes = classes_in(model_type) if chosen.classes else {}
        for name in record_of(model_type)["classes"]:
            if chosen.classes and not any(word in name for word in chosen.classes.split(",")):
                continue
            classes.pop(name, None)
            forms: list[dict[str, Any]] = []
            asked: list[Point] = [{}]
            layers = [EQUAL, SEVERAL, FIXED]
            fixed: frozenset[str] = frozenset()
            turn, mixed, beside = 0, False, True
            while asked:
                given, began, finder = asked.pop(0), time.process_time(), None
                try:
                    narrow = bool(forms) and any(window.key in given for window in _windows(forms[0]))
                    finder = Finder(Class(model_type, name, given, layers[0], fixed, turn, mixed, beside), narrow)
                    forms.append(finder.found(forms[0] if forms else None))
                    what = (
                        f"{forms[-1]['certificate']} held {sorted(forms[-1]['held'])} above {forms[-1]['above']} most {forms[-1]['most']}"
                    )
                    asked += [
                        {**given, finder.of.keys[groups]: finder.other_groups(heads, groups)}
                        for heads, groups, _ in finder.equal
                        if (heads, groups) in finder.of.pairs and finder.of.keys[groups] not in given
                    ]
                    asked += [{**given, key: 1} for key in finder.alone(forms[-1]) if finder.beyond and key not in given]
                    if not given:
                        asked += finder.flags(forms[0], chosen.flags)
                        windows = {window.key: _NARROWEST[-1] for window in finder.windows}
                        asked += [{**one, **windows} for one in [{}, *asked] if len(one) < 2] if windows else []
                        classes[name] = {"inputs": {key: list(axes) for key, axes in finder.of.inputs.items()}, "forms": forms}
                except Exception as error:  # noqa: BLE001 - one class that fails does not end the others
                    what = f"{type(error).__name__}: {error}"
                    more = finder.of.keys_of(error.names) - fixed if finder is not None and isinstance(error, NumberError) else frozenset()
                    if finder is not None and finder.of.quotients and str(error).startswith(_UNDIVIDED):
                        asked = [{**given, **dict.fromkeys(finder.of.quotients)}, *asked]
                    elif not forms and str(error).startswith(_SEVERAL) and len(layers) > 1:
                        layers, asked = layers[1:], [{}]
                    elif not forms and isinstance(error, RefusedError) and not mixed:
                        mixed, layers, asked = True, [SEVERAL], [{}]
                    elif more and len(fixed | more) <= _FIXED:
                        fixed, asked = fixed | more, [given, *asked]
                    elif not forms and isinstance(error, UnreadError) and finder is not None and finder.of.pictures:
                        turn, asked = turn + 1, [{}]
                    elif not forms and beside and finder is not None and finder.of.has_beside:
                        beside, asked = False, [{}]
                if classes:
                    path_of(model_type).parent.mkdir(exist_ok=True)
                    path_of(model_type).write_bytes(packed_computations(model_type, classes))
                print(f"{model_type} {name} {given} {time.process_time() - began:.0f} s: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
