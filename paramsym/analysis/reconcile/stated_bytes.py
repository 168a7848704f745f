"""Claims in bytes: the file of a model whose parameters are counted, and bytes for each of a rounded number of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import get_args

from sympy import Integer, Rational

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.claim import Stated
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.answers import Answer, Reading
from paramsym.analysis.reconcile.edits import Edit, counted_as
from paramsym.analysis.reconcile.in_eight_bits import bytes_in_eight_bits
from paramsym.analysis.reconcile.mixes import mixes
from paramsym.analysis.reconcile.options import optional
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.reconcile.whole import masks_of
from paramsym.measure.cost import Cost
from paramsym.measure.formats import BYTES, FORMATS, Weights, Which

_VOCABULARY = BY_NAME["V"].symbol
_DISTRIBUTED = re.compile(r"format (gguf-q8_0|gguf-q6_k|gptq|awq)")  # whole files that people share; others are made when a model is loaded
_PLAIN = 1.07  # the cost of all numbers in one width
_UNUSUAL = 1.4  # the cost of a file that has no usual format
_MOST = 3  # files that have a claimed size
_CLOSE = 400  # sizes are told apart by this part of them
_HEADER = 10**6  # the most bytes that names and shapes add to a file, and at most a hundredth,
_NAME = 400  # the most bytes of a name and a shape in the header
_WORD = 64  # and those of a word of the vocabulary, which a file of llama.cpp has as well
_CALLED = 0.08  # what a model is called differs from its count at most by this share
_WIDTHS: tuple[tuple[Dim, str], ...] = ((4, "float32"), (2, "bfloat16 or float16"), (1, "float8 or int8"), (Rational(1, 2), "4 bits"))
_PER_PARAMETER: Mapping[str, tuple[tuple[Dim, str], ...]] = {
    "training": (
        (16, "2 for the weight and 2 for its gradient in 16 bits, 12 for Adam's averages and a copy in float32; or 4 of each in float32"),
        (18, "6 for the weight in 16 bits and in float32, 4 for its gradient, 8 for Adam's averages"),
        (20, "2 for the weight and 2 for its gradient in 16 bits, 4 for each of both in float32, 8 for Adam's averages"),
        (12, "2 for the weight and 2 for its gradient in 16 bits, 8 for Adam's averages, no copy in float32"),
        (8, "the averages of Adam alone, in float32"),
        (6, "2 for the weight, 2 for its gradient, and 2 for Adam's averages in 8 bits"),
        (4, "the weights alone in float32"),
        (2, "the weights alone in 16 bits"),
    ),
    "file": tuple((width, f"the weights alone in {name}") for width, name in _WIDTHS),
    "inference": (
        *((width, f"the weights alone in {name}") for width, name in _WIDTHS),
        *((width * Rational(6, 5), f"the weights in {name}, and a fifth more, as a rule of thumb has it") for width, name in _WIDTHS),
    ),
}
"""The bytes for each parameter that people multiply with; 16 is Rajbhandari et al. 2020 (arXiv:1910.02054), section 3.1,
and 20 Smith et al. 2022 (arXiv:2201.11990)."""


def in_widths(subject: Subject) -> Iterator[Edit]:
    """Yield the bytes of the counted numbers, all in one width."""
    for width, names in _WIDTHS:
        words = f"the bytes of the numbers in {names}, {width} each"
        yield counted_as(subject, subject.formula * Polynomial.of(width), words, 1.07, unit="bytes")


def in_formats(subject: Subject) -> Iterator[Edit]:
    """Yield the bytes of a file of the counted parameters in every format."""
    lines = [line for line in subject.root.lines if not line.alias_of and not line.buffer]
    weights = {which: Weights(lines, which) for which in get_args(Which)}
    for form in FORMATS.values():
        size = weights[form.which].in_format(form, BYTES[form.rest or "float16"])
        words = f"the bytes of a file in the format {form.name}: {form.counts}{'' if form.rest else ', the rest in 16 bits'}"
        yield counted_as(subject, size, words, 1.3, unit="bytes")


def of_file(subject: Subject, stated: Stated) -> list[Answer]:
    """Return the files that have a claimed size, the usual ones first, and of them the nearest.

    Beside the numbers, a file has a header of names and shapes. A file without a usual format is one only if no usual file has the size.
    """
    found: dict[int, tuple[tuple[bool, bool, bool, bool, bool, int], Answer]] = {}
    units = 1 if stated.binary is None else 2
    tried: dict[int, float] = {}  # the chance that a random claim has the size of a file as simple
    tensors = sum(subject.value(Polynomial.product(line.stored)) for line in subject.root.lines)
    words_of_a_model = _WORD * subject.whole.get(_VOCABULARY, 0)
    for edit in sorted(_with_more(subject), key=lambda edit: edit.cost):
        size = subject.count + edit.value
        named = _NAME * tensors if stated.exact else _HEADER + ("gguf-" in edit.words) * words_of_a_model
        header = min(named, size // 100)
        if 2 * abs(size - stated.value) <= stated.value:
            tried[size] = units * (stated.high - stated.low + 1 + header) / stated.value
        for said, unit in ((stated, ""), (stated.binary, ", in units of 1024")):
            if size in found or said is None:
                continue
            cut = size > said.high and bool(said.bent(size))
            if cut or (said.low <= size + header and size <= said.high):
                words = f"{edit.words}: {size:,}{unit}{', cut off' if cut else '' if said.low <= size else ', and a header'}"
                value, chance = (None, 0.0) if stated.exact else (edit.value, (1 + cut) * sum(tried.values()))
                answer = Answer(edit.term(subject).as_expr(), edit.value, (Reading(words, (edit,)),), chance, value)
                apart = abs(size - said.value) * _CLOSE // said.value
                found[size] = (
                    (cut, said is not stated, size < said.low, edit.cost >= _UNUSUAL, size >= said.low and edit.cost > _PLAIN, apart),
                    answer,
                )
    ranked = sorted(found.values(), key=lambda one: one[0])
    return [answer for place, answer in ranked if place[:4] == ranked[0][0][:4]][:_MOST]


def _with_more(subject: Subject) -> Iterator[Edit]:
    """Yield the files: of one format, of llama.cpp's mixes, with a tied tensor twice, or with the masks of all pairs as early ones have."""
    files = [*in_formats(subject)]
    yield from mixes(subject, {name: edit.term(subject) for edit in files for name in FORMATS if f" {name}:" in edit.words})
    yield from in_widths(subject)
    yield from bytes_in_eight_bits(subject)
    whole = (edit for edit in files if "gguf-" not in edit.words or _DISTRIBUTED.search(edit.words))
    yield from (edit if _DISTRIBUTED.search(edit.words) else replace(edit, cost=_UNUSUAL) for edit in whole)
    tied = total(line for line in subject.root.lines if line.alias_of and not line.buffer)
    found = masks_of(subject.lines)
    masks = Polynomial.product((*found, found[1])) if found else Polynomial.of(0)
    for edit in optional(subject):
        for width, names in _WIDTHS[:2]:
            size = (subject.formula + edit.term(subject)) * Polynomial.of(width)
            yield counted_as(subject, size, f"a file in {names} of the model {edit.words}, {width} bytes each", _UNUSUAL)
    buffers = total(line for line in subject.root.lines if line.buffer and line.persistent and not line.alias_of)
    for more, what in (
        (tied, "with its tied tensors under each name"),
        (masks, "with a mask of all pairs for each layer"),
        (buffers, "with its buffers"),
    ):
        for width, names in _WIDTHS[:2] if more else ():
            size = (subject.formula + more) * Polynomial.of(width)
            yield counted_as(subject, size, f"a file in {names} {what}, {width} bytes each", 1.1)


def per_parameter(subject: Subject) -> Iterator[Edit]:
    """Yield the rules of thumb for a memory: a whole number of bytes for each parameter."""
    root = subject.root
    if isinstance(root, Cost) and root.function.__name__ == "memory":
        parameters = root.layer.polynomial
        for width, words in _PER_PARAMETER[root.chosen["use"]]:
            size = parameters * Polynomial.of(width)
            yield counted_as(subject, size, _each(width, f"{subject.value(parameters):,} parameters", words), 1.0)


def _each(width: Dim, parameters: str, words: str) -> str:
    number = "one byte" if width == 1 else "half a byte" if width == Rational(1, 2) else f"{width} bytes"
    return f"{number} for each of {parameters}: {words}; without activations, caches and loss"


def of_rounded_size(subject: Subject, stated: Stated) -> list[Answer]:
    """Return what a claim counts if it is a number of bytes for each parameter of a rounded size: 112 GB are 16 for each of 7 billion.

    The claim is one about memory, or about the bytes of parameters.
    """
    root = subject.root
    memory = isinstance(root, Cost) and root.function.__name__ == "memory"
    if stated.exact or (isinstance(root, Cost) and not memory):
        return []
    count = subject.layer.layer.count if memory else subject.count  # type: ignore[union-attr]
    units = [10 ** max(len(str(count)) - digits, 0) for digits in (1, 2)]
    rounded = [((count + unit // 2) // unit * unit, "rounded") for unit in units]
    tried: set[Dim] = set()
    for nominal, how in (*rounded, *((count // unit * unit, "cut off") for unit in units)):
        if abs(nominal - count) > _CALLED * count:
            continue
        for width, words in _PER_PARAMETER[root.chosen["use"] if memory else "file"]:  # type: ignore[union-attr]
            if 2 * abs(nominal * width - stated.value) <= stated.value:
                tried.add(nominal * width)
            for said in (stated, stated.binary):
                if said is not None and said.value == nominal * width:
                    told = _each(width, f"{nominal:,} parameters, {how} from {count:,}", words)
                    difference = said.value - subject.count
                    chance = (1 if stated.binary is None else 2) * len(tried) * (stated.high - stated.low + 1) / stated.value
                    return [Answer(Integer(difference), difference, (Reading(told),), chance, difference)]
    return []
