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

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from paramsym.algebra.symbols import dims
from paramsym.atlas.computation import KINDS, Computation
from paramsym.atlas.dropout import places_of
from paramsym.atlas.files import TIMM, types_in
from paramsym.atlas.letters import letter_in, name_of
from paramsym.atlas.orders import Order
from paramsym.atlas.record import check_size, need, packed, plain, refused, unpacked
from paramsym.atlas.rotated import Rotated
from paramsym.atlas.running import Running, keys_of
from paramsym.atlas.values import Value, recorded_value
from paramsym.atlas.windows import Window
from paramsym.read.written import Reader

FORMAT = 1
FOLDER = "computations"
_DEEPEST = 64


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
    (['ApertusForCausalLM', 'ApertusModel'], [])
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
