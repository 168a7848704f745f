"""What the classes of the atlas compute: one recording for each class, with its numbers in the letters of the class's record.

A file is an object of JSON, compressed by gzip, one for each model type::

    {"format": 1, "type": "glm4", "classes": {class: {"inputs": {name: [size, ...]}, "forms": [{
        "base": {letter: number}, "held": {key: [value, ...]}, "excluded": {key: [value, ...]},
        "above": {letter: number}, "most": {letter: number}, "loops": {letter: number},
        "multiples": [[letter, number, letter or null, number], ...], "within": [[letter, letter, number], ...],
        "windows": [[letter, key, number, number, number, true], ...], "equal": [[letter, letter, true], ...],
        "products": [[letter, letter, letter], ...],
        "same": {key: [letter, default]}, "quotients": {key: [key, key]}, "rotated": [[letter, [letter, ...], key, number], ...],
        "needed": {key: default}, "beside": {key: default}, "step": true,
        "activations": {key: [path, ...]}, "dropout": [[path or null, number, number, [key, ...], number], ...],
        "undropped": {key: default},
        "kept": [[number or null, key, number, number], ...],
        "turns": [[...], ...], "widths": [[...], ...], "numbers": [[...], ...], "alone": {key: value},
        "sizes": [...], "recording": {...}, "layers": [...], "cache": true, "certificate": {...}}]}}}

The sizes of the inputs are keys, letters of their own (B, S), multiples of these (``"8*rows"``), or numbers. A class has a form for its
default, and forms for other flags, which may have ``inputs`` of their own: one more, or a batch of 1, in which nothing is copied to be
contiguous.
``base`` are the numbers at which names were recorded. ``held`` are the keys on which the operators depend, with the values at which they
are these; ``excluded`` are keys whose value may be any but these. ``above`` are the letters that must be larger than a number, ``most``
their largest numbers. ``loops`` are the largest lengths of inputs before a loop over positions has other operators.
``multiples`` are the letters that must be multiples of a number, or of a number and another letter, with the largest multiple of the
other letter. ``within`` are lengths of inputs that may be at most another letter, less a number: the positions that a table has.
``windows`` are the fields of ``Window``. ``equal`` are letters that must be equal, or must differ; ``products`` are letters that must be
the product of two others, a number of heads and the width of each; ``same`` are keys on which no tensor
depends, which must be null or equal to a letter, with their defaults. ``quotients`` are keys of letters that may be null, which means the
quotient of two other keys, rounded down: the width of heads. ``rotated`` are the fields of each ``Rotated``. ``needed`` are keys that must
not be null, with their defaults: without a token for padding a classifier takes one text only. ``beside`` are keys of letters on which no
tensor depends, with their defaults: the number of experts for each token. ``cache`` is true if the class returns the
keys and values of its attention for the next step, null if it returns nothing, and false if it returns something else. ``step`` is true if
a position after others has the same operators, with the keys and values of these before its own. ``kept`` says of which layers it
returns at most as many positions as a key says, and a number more: those of a kind, or all, with the key's default. ``activations`` are
held keys whose word may also be another one of ``WORDS``, with the paths of their modules, without the numbers of copies. ``dropout``
are the fields of each ``Dropout`` of a pass in training; the recording is one of evaluation. It is missing if what training keeps is not
known, and known only if the keys of ``undropped``, with their defaults, are null or 0. In ``recording`` ``held`` are the constants that are
buffers, and a batch norm is ``trained`` if training takes the statistics of the batch. It runs if it has ``entries``; ``Running`` has
``turns``, ``widths``, ``numbers`` and ``alone``. ``layers`` has an ``Order`` for each stack of layers of several kinds.
``paramsym.read.written`` says how sizes and recordings are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sympy import Symbol

from paramsym.algebra.symbols import dims
from paramsym.atlas.activations import WORDS, with_activation
from paramsym.atlas.domain import thawed
from paramsym.atlas.dropout import Dropout, places_of, with_dropout
from paramsym.atlas.files import TIMM, types_in
from paramsym.atlas.letters import letter_in, name_of, size_of
from paramsym.atlas.orders import Order
from paramsym.atlas.record import check_size, need, packed, plain, refused, unpacked
from paramsym.atlas.rotated import Rotated, stated_as
from paramsym.atlas.running import Running, keys_of
from paramsym.atlas.values import Value, recorded_value, shown
from paramsym.atlas.windows import Window
from paramsym.errors import NotYetError, ShapeError
from paramsym.read.recording import Recording
from paramsym.read.stacks import Order as Kinds, written_out
from paramsym.read.written import Reader

FORMAT = 1
FOLDER = "computations"
_DEEPEST = 64
KINDS, FULL, SLIDING = "layer_types", "full_attention", "sliding_attention"
"""The key with the kind of each layer, and usual kinds. If no operator depends on it, the reference's cache still does."""


@dataclass(frozen=True)
class Computation:
    """What one class computes under some conditions; ``letters`` are the letters of the recording by their names."""

    inputs: Mapping[str, tuple[str | int, ...]]
    base: Mapping[str, int]
    held: Mapping[str, tuple[Value, ...]]
    excluded: Mapping[str, tuple[Value, ...]]
    above: Mapping[str, int]
    most: Mapping[str, int]
    loops: Mapping[str, int]
    multiples: tuple[tuple[str, int, str | None, int], ...]
    within: tuple[tuple[str, str, int], ...]
    windows: tuple[Window, ...]
    equal: tuple[tuple[str, str, bool], ...]
    products: tuple[tuple[str, str, str], ...]
    same: Mapping[str, tuple[str, int]]
    quotients: Mapping[str, tuple[str, str]]
    rotated: tuple[Rotated, ...]
    needed: Mapping[str, Value]
    beside: Mapping[str, int]
    kept: tuple[tuple[int | None, str, int | None, int], ...]
    letters: Mapping[str, Symbol]
    recording: Recording
    orders: tuple[Order, ...]
    cache: bool | None
    step: bool
    activations: Mapping[str, tuple[str, ...]]
    dropout: tuple[Dropout, ...] | None
    undropped: Mapping[str, Value]
    running: Running
    certificate: Mapping[str, Any]
    _written: dict[Any, Recording] = field(default_factory=dict, compare=False, repr=False)

    def recording_of(self, kinds: Mapping[str, Kinds], values: Mapping[str, Value]) -> Recording:
        """Return the recording with all layers of its stacks, of these kinds in order, with a configuration's activations and dropout."""
        words = {key: word for key, word in ((one, values.get(one)) for one in self.activations) if word not in (None, self.held[key][0])}
        rates = {one: rate for one in self.dropout or () if (rate := one.rate(values)) != 0}
        numbers = self.running.numbers(values)
        if not kinds and not words and not rates and not numbers:
            return self.recording
        key = (tuple(sorted(kinds.items())), tuple(words.items()), tuple(rates.items()), tuple(numbers.items()))
        if key not in self._written:
            self._written.clear()  # the last one is kept: several questions about one model
            found = with_dropout(self.running.with_numbers(self.recording, numbers), rates)
            found = written_out(found, kinds) if kinds else found
            for name, word in words.items():
                found = with_activation(found, str(self.held[name][0]), str(word), self.activations[name])
            self._written[key] = found
        return self._written[key]

    @property
    def as_step(self) -> Computation:
        """The computation of one position after others: windows only limit what is kept, and masks hide nothing."""
        limits = {key for _, key, _, _ in self.kept}
        return replace(self, windows=tuple(one for one in self.windows if one.key not in limits))

    def caches(self, values: Mapping[str, Value]) -> bool | None:
        """Whether the class returns the keys and values of its attention, in which all layers keep as many positions; otherwise False."""
        kinds = self._listed(values)
        return self.cache and (len(kinds) == 0 or kinds == {FULL} or (kinds == {SLIDING} and bool(self.kept_by(values))))

    def kept_by(self, values: Mapping[str, Value]) -> dict[int | None, int]:
        """Return the most positions whose keys and values a layer keeps, by the kind of layers; None is every kind."""
        found = [(kind, values.get(key, default), more) for kind, key, default, more in self.kept]
        return {kind: most + more for kind, most, more in found if isinstance(most, int) and self._listed(values) != {FULL}}

    def _listed(self, values: Mapping[str, Value]) -> set[Value]:
        """The kinds of attention in a list on which no operator depends, but the cache."""
        kinds = values.get(KINDS)
        every = any(kind is None for kind, _, _, _ in self.kept)
        return set(kinds) if every and isinstance(kinds, tuple) and {*kinds} <= {FULL, SLIDING} else set()

    def untrained(self, values: Mapping[str, Value]) -> str:
        """Return why it is not known what a pass in training keeps; nothing if it is known."""
        if self.dropout is None:
            return "training computes something else than evaluation, which was read"
        rates = ((key, values.get(key, default)) for key, default in self.undropped.items())
        return next((f"{key} is {shown(thawed(rate))}; it is known for 0" for key, rate in rates if rate not in (None, 0)), "")

    @property
    def shapes(self) -> Mapping[str, tuple[Any, ...]]:
        """The shapes of the inputs in letters, by name."""
        return {
            name: tuple(axis if isinstance(axis, int) else size_of(axis, self.letters) for axis in axes)
            for name, axes in self.inputs.items()
        }

    def fits(self, values: Mapping[str, Value]) -> bool:
        """Whether the keys have values at which the operators are these."""
        return not [*self._other_values(values)]

    def holds(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether equal sizes, products and lengths within windows of attention are those of the recording."""
        return not [*self._other_windows(values, numbers), *self._other_pairs(numbers)]

    def answers(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether the sizes are also among those of the recording."""
        return self.holds(values, numbers) and not [*self._other_numbers(numbers)]

    def reaches(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> bool:
        """Whether each length is within its window of attention, or beyond it, as in the recording."""
        return not [*self._other_windows(values, numbers)]

    def check(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> None:
        """Refuse values of keys, and numbers of letters, for which the class computes something else.

        Raises:
            NotYetError: the first of them, by its name, or a letter for a length that must be a number.
            ShapeError: more positions than the model has.
        """
        beside = (*self._other_windows(values, numbers), *self._other_pairs(numbers), *self._unlike(values, numbers))
        for words in (*self._other_values(values), *beside, *self._other_numbers(numbers)):
            raise NotYetError(f"{words}. Its tensors are known.")
        self._check_loops(numbers)
        for name, other, less in self.within:
            length, positions = numbers.get(name, 0), numbers.get(other)
            if positions is not None and length > positions - less:
                raise ShapeError(f"{name} is {length}; the model has positions for {positions - less} ({other} is {positions}).")

    def _check_loops(self, numbers: Mapping[str, int]) -> None:
        """Refuse lengths of inputs for which a loop over positions has other operators, and letters for such lengths.

        Raises:
            NotYetError: the first of them.
        """
        for name, most in self.loops.items():
            if numbers.get(name, most + 1) > most:
                found = f"{name} is {numbers[name]}; w" if name in numbers else "W"
                more = "" if name in numbers else "; give a number for it"
                raise NotYetError(f"{found}hat the model computes is known for {name} up to {most}{more}. Its tensors are known.")

    def _other_values(self, values: Mapping[str, Value]) -> Iterator[str]:
        for key, held in self.held.items():
            value = stated_as(values, key, held, self.running.turns)
            if not any(_same(value, one) for one in held) and not (key in self.activations and value in WORDS):
                known = " or ".join(shown(thawed(one)) for one in held)
                yield f"{key} is {shown(thawed(value))}; what the model computes is known for {known}"
        yield from (words for one in self.rotated for words in one.other_values(values))
        for key, default in self.needed.items():
            if values.get(key, default) is None:
                yield f"{key} is null; what the model computes is known if it is given"
        for key, others in self.excluded.items():
            if key in values and values[key] in others:
                known = " and ".join(shown(thawed(one)) for one in others)
                yield f"{key} is {shown(thawed(values[key]))}; what the model computes is known for other values than {known}"

    def _other_windows(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> Iterator[str]:
        for window in self.windows:
            if not window.holds(values, numbers):
                known = "above" if window.beyond else "up to"
                share = f"{window.key}/{window.divisor}" if window.divisor > 1 else window.key
                more = f" + {window.more}" if window.more > 0 else f" - {-window.more}" if window.more else ""
                yield f"{window.length} is {numbers.get(window.length)}; what the model computes is known for lengths {known} {share}{more}"

    def _other_pairs(self, numbers: Mapping[str, int]) -> Iterator[str]:
        for name, other, equal in self.equal:
            if name in numbers and other in numbers and (numbers[name] == numbers[other]) != equal:
                known = "equal ones" if equal else "different ones"
                yield f"{name} is {numbers[name]} and {other} is {numbers[other]}; what the model computes is known for {known}"
        for width, heads, each in self.products:
            wanted = numbers.get(heads, 0) * numbers.get(each, 0)
            if wanted and numbers.get(width, wanted) != wanted:
                yield f"{width} is {numbers[width]}; what the model computes is known for {wanted}, the product of {heads} and {each}"

    def _unlike(self, values: Mapping[str, Value], numbers: Mapping[str, int]) -> Iterator[str]:
        for key, (name, default) in self.same.items():
            value = values.get(key, default)
            if value is not None and value != numbers.get(name, value):
                yield f"{key} is {value}; what the model computes is known for that of {name}, {numbers[name]}"

    def _other_numbers(self, numbers: Mapping[str, int]) -> Iterator[str]:
        for name, number in numbers.items():
            if number <= (below := self.above.get(name, 0)):
                yield f"{name} is {number}; what the model computes is known above {below}"
            if number > self.most.get(name, number):
                yield f"{name} is {number}; what the model computes is known up to {self.most[name]}"
        yield from (words for one in self.rotated for words in one.other_numbers(numbers))
        for name, unit, divisor, largest in self.multiples:
            number, other = numbers.get(name, 0), 1 if divisor is None else numbers.get(divisor, 0)
            if other and (number % (unit * other) or number > largest * other):
                wanted = f"multiples of {unit * other} up to {largest * other}"
                more = "" if divisor is None else f" ({divisor} is {other})"
                yield f"{name} is {number}{more}; what the model computes is known for {wanted}"


def _same(value: Value, known: Value) -> bool:
    """Whether two values mean the same; of lists whose entries are all equal the length is the model's depth."""
    if isinstance(value, tuple) and isinstance(known, tuple) and len(set(map(repr, value))) == len(set(map(repr, known))) == 1:
        return _same(value[0], known[0])
    return type(value) is type(known) and value == known


def path_of(model_type: str) -> Path:
    """Return the file of a model type."""
    return Path(str(files("paramsym.atlas").joinpath("data", FOLDER, f"{model_type}.json.gz")))


@cache
def computed_types() -> tuple[str, ...]:
    """Return the model types of which some class computes, sorted.

    >>> "glm4" in computed_types()
    True
    """
    return types_in(FOLDER)


@cache
def computed_networks() -> tuple[str, ...]:
    """Return the architectures of timm whose computation is recorded, sorted.

    >>> "resnet50" in computed_networks()
    True
    """
    return types_in(FOLDER, TIMM.rstrip("/"))


def packed_computations(model_type: str, classes: Mapping[str, Any]) -> bytes:
    """Return the bytes of a type's file."""
    return packed({"format": FORMAT, "type": model_type, "classes": classes})


@lru_cache(maxsize=32)
def _classes_of(model_type: str) -> Mapping[str, Any]:
    file = path_of(model_type)
    return checked_computations(plain(unpacked(file.read_bytes()))) if file.is_file() else {}


def checked_computations(found: Any) -> Mapping[str, Any]:
    """Return the classes of a file.

    Raises:
        RecordError: a file of another format, with too many parts, or nested too deeply.
    """
    check_size(found, _DEEPEST)
    need(isinstance(found, dict) and found.get("format") == FORMAT, "has computations of another format")
    classes: Mapping[str, Any] = found["classes"]
    return classes


def computes(model_type: str, architecture: str) -> bool:
    """Whether it is known what a class computes."""
    return architecture in _classes_of(model_type)


def classes_that_compute(model_type: str) -> list[str]:
    """Return the classes of a type whose computation is recorded.

    >>> classes_that_compute("apertus"), classes_that_compute("led")
    (['ApertusForCausalLM'], [])
    """
    return list(_classes_of(model_type))


def keys_beside(model_type: str, architecture: str) -> dict[str, Value]:
    """Return the keys on which a computation depends and no tensor, with known defaults; the tensors' record may not have them."""
    forms = _classes_of(model_type).get(architecture, {"forms": ()})["forms"]
    kept = [(key, KINDS) if kind is None else (key,) for one in forms for kind, key, _, _ in one.get("kept", ())]
    rates = [(keys, default if len(keys) == 1 else None) for one in forms for _, _, _, keys, default in one.get("dropout", ())]
    others = [one.get(listed, ()) for one in forms for listed in ("needed", "undropped")]
    beside: dict[str, Value] = {key: None for keys in (*kept, *others) for key in keys}
    return beside | {key: default for keys, default in rates for key in keys} | keys_of_runs(model_type, architecture)


def keys_of_runs(model_type: str, architecture: str) -> dict[str, Value]:
    """Return the keys of any value on which what a run gives depends, and no operator, with their defaults."""
    forms = _classes_of(model_type).get(architecture, {"forms": ()})["forms"]
    return {key: default for one in forms for key, default in keys_of(one)}


def computations_for(model_type: str, architecture: str, values: Mapping[str, Value]) -> tuple[Computation, ...]:
    """Return the forms of a class's computation whose flags a configuration has; those of the default if there is none.

    Raises:
        RecordError: a damaged file.
    """
    forms = _forms_of(model_type, architecture)
    return tuple(form for form in forms if form.fits(values)) or forms[:1]


@lru_cache(maxsize=64)
def _forms_of(model_type: str, architecture: str) -> tuple[Computation, ...]:
    with refused():
        entry = _classes_of(model_type)[architecture]
        need(bool(entry["forms"]), "has a class without a computation")
        return tuple(formed(entry["inputs"], one) for one in entry["forms"])


def formed(inputs: Mapping[str, Sequence[str | int]], one: Mapping[str, Any]) -> Computation:
    """Return one form of a file; ``inputs`` are those of its class."""
    own = one.get("inputs", inputs).items()
    taken = {str(name): tuple(axis if isinstance(axis, int) else str(axis) for axis in axes) for name, axes in own}
    axes = (axis for listed in taken.values() for axis in listed if isinstance(axis, str))
    names = {*map(name_of, one["base"]), *(letter_in(axis)[1] for axis in axes)}
    letters = {name: dims(name) for name in names}
    return Computation(
        inputs=taken,
        base=one["base"],
        held=_values_of(one["held"]),
        excluded=_values_of(one.get("excluded", {})),
        above=one["above"],
        most=one["most"],
        loops=one.get("loops", {}),
        multiples=tuple((str(name), int(unit), by, int(largest)) for name, unit, by, largest in one["multiples"]),
        within=tuple((str(name), str(other), int(less)) for name, other, less in one["within"]),
        windows=tuple(Window(*window) for window in one.get("windows", ())),
        equal=tuple((str(name), str(other), bool(equal)) for name, other, equal in one.get("equal", ())),
        products=tuple((str(width), str(heads), str(each)) for width, heads, each in one.get("products", ())),
        same={str(key): (str(name), int(default)) for key, (name, default) in one.get("same", {}).items()},
        quotients={str(key): (str(dividend), str(divisor)) for key, (dividend, divisor) in one.get("quotients", {}).items()},
        rotated=tuple(Rotated(letter, tuple(width), *rest) for letter, width, *rest in one.get("rotated", ())),
        needed={str(key): recorded_value(default) for key, default in one.get("needed", {}).items()},
        beside={str(key): int(default) for key, default in one.get("beside", {}).items()},
        kept=tuple((kind, str(key), default, int(more)) for kind, key, default, more in one.get("kept", ())),
        letters=letters,
        recording=Reader(letters, one["sizes"]).recording(one["recording"]),
        orders=tuple(map(Order.of, one.get("layers", ()))),
        cache=one["cache"],
        step=bool(one.get("step", False)),
        activations={str(key): tuple(map(str, paths)) for key, paths in one.get("activations", {}).items()},
        dropout=places_of(one["dropout"]) if "dropout" in one else None,
        undropped={str(key): recorded_value(default) for key, default in one.get("undropped", {}).items()},
        running=Running.of(one),
        certificate=one["certificate"],
    )


def _values_of(stated: Mapping[str, Any]) -> dict[str, tuple[Value, ...]]:
    return {key: tuple(map(recorded_value, known)) for key, known in stated.items()}
