"""Claims in bytes: the file of a model whose parameters are counted, and bytes for each of a rounded number of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sympy import Integer, Rational

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.claim import Stated
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.answers import Answer, Reading
from paramsym.analysis.reconcile.edits import Edit, fixed
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.reconcile.whole import masks_of
from paramsym.measure.cost import Cost
from paramsym.measure.formats import BYTES, FORMATS, Weights

_VOCABULARY = BY_NAME["V"].symbol
_OUTPUT_APART = ("gguf-q4_0", "gguf-q4_1", "gguf-q5_0", "gguf-q5_1")
_DISTRIBUTED = re.compile(r"format (gguf|gptq|awq)-")  # the formats of files that people share; others are made when a model is loaded
_HEADER = 10**6  # the most bytes that names and shapes add to a file, and at most a hundredth
_CALLED = 0.08  # what a model is called differs from its count at most by this share
_WIDTHS: tuple[tuple[Dim, str], ...] = ((4, "float32"), (2, "bfloat16 or float16"), (1, "float8 or int8"), (Rational(1, 2), "4 bits"))
_PER_PARAMETER: Mapping[str, tuple[tuple[Dim, str], ...]] = {
    "training": (
        (16, "2 for the weight and 2 for its gradient in 16 bits, 12 for Adam's averages and a copy in float32; or 4 of each in float32"),
        (18, "6 for the weight in 16 bits and in float32, 4 for its gradient, 8 for Adam's averages"),
        (12, "2 for the weight and 2 for its gradient in 16 bits, 8 for Adam's averages, no copy in float32"),
        (8, "the averages of Adam alone, in float32"),
        (6, "2 for the weight, 2 for its gradient, and 2 for Adam's averages in 8 bits"),
        (4, "the weights alone in float32"),
        (2, "the weights alone in 16 bits"),
    ),
    "inference": tuple((width, f"the weights alone in {name}") for width, name in _WIDTHS),
}
"""The bytes for each parameter that people multiply with; 16 is Rajbhandari et al. 2020 (arXiv:1910.02054), section 3.1."""


def in_widths(subject: Subject) -> Iterator[Edit]:
    """Yield the bytes of the counted numbers, all in one width."""
    for width, names in _WIDTHS:
        words = f"the bytes of the numbers in {names}, {width} each"
        yield fixed(subject, subject.formula * Polynomial.of(width) - subject.formula, words, 1.07, alone=True)


def in_formats(subject: Subject) -> Iterator[Edit]:
    """Yield the bytes of a file of the counted parameters in every format."""
    lines = [line for line in subject.root.lines if not line.alias_of and not line.buffer]
    weights = {which: Weights(lines, which) for which in dict.fromkeys(form.which for form in FORMATS.values())}
    for form in FORMATS.values():
        term = weights[form.which].in_format(form, BYTES[form.rest or "float16"]) - subject.formula
        words = f"the bytes of a file in the format {form.name}: {form.counts}{'' if form.rest else ', the rest in 16 bits'}"
        yield fixed(subject, term, words, 1.3, alone=True)


def of_file(subject: Subject, stated: Stated) -> list[Answer]:
    """Return the files that have a claimed size, the usual ones first; beside the numbers, a file has a header of names and shapes."""
    told = _of_rounded(subject.count, subject.count, stated, "inference")
    found: dict[int, tuple[tuple[bool, bool], Answer]] = {}
    for edit in _with_more(subject):
        size = subject.count + edit.value
        for said, unit in ((stated, ""), (stated.binary, ", in units of 1024")):
            if size not in found and said is not None and said.low <= size + min(_HEADER, size // 100) and size <= said.high:
                words = f"{edit.words}: {size:,}{unit}{'' if said.low <= size else ', and a header'}"
                reading = Reading(words, (edit,))
                answer = Answer(edit.term(subject).as_expr(), edit.value, (reading,), value=edit.value)
                found[size] = (said is not stated, size < said.low), answer
    files = [answer for _, answer in sorted(found.values(), key=lambda one: one[0])]
    return files if told is None or files else [told]


def _with_more(subject: Subject) -> Iterator[Edit]:
    """Yield the files, and those that also have a tied tensor twice or the masks of all pairs, as early checkpoints have."""
    yield from in_widths(subject)
    files = [*in_formats(subject)]
    yield from sorted(files, key=lambda edit: not _DISTRIBUTED.search(edit.words))
    lines = subject.root.lines
    head = total(line for line in lines if line.role == "weight" and _VOCABULARY in line.factors and not line.alias_of)
    for name in _OUTPUT_APART if head else ():
        (edit,) = (edit for edit in files if f" {name}:" in edit.words)
        term = edit.term(subject) + head * Polynomial.of(FORMATS["gguf-q6_k"].number - FORMATS[name].number)
        yield fixed(subject, term, f"{edit.words}, with the output matrix in gguf-q6_k, as llama.cpp writes it", 1.3, alone=True)
    tied = total(line for line in lines if line.alias_of and not line.buffer)
    found = masks_of(subject.lines)
    masks = Polynomial.product((*found, found[1])) if found else Polynomial.of(0)
    for more, what in ((tied, "with its tied tensors under each name"), (masks, "with a mask of all pairs for each layer")):
        for width, names in _WIDTHS[:2] if more else ():
            term = (subject.formula + more) * Polynomial.of(width) - subject.formula
            yield fixed(subject, term, f"a file in {names} {what}, {width} bytes each", 1.1, alone=True)


def of_rounded_size(subject: Subject, stated: Stated) -> Answer | None:
    """Return what a claim counts if it is so many bytes for each parameter of a rounded size: 112 GB are 16 bytes for each of 7 billion."""
    root = subject.root
    if not isinstance(root, Cost) or root.function.__name__ != "memory" or stated.exact:
        return None
    return _of_rounded(subject.layer.layer.count, subject.count, stated, root.chosen["use"])  # type: ignore[union-attr]


def _of_rounded(count: int, counted: int, stated: Stated, use: str) -> Answer | None:
    for digits in (1, 2):
        unit = 10 ** max(len(str(count)) - digits, 0)
        nominal = round(count / unit) * unit
        if abs(nominal - count) > _CALLED * count:
            continue
        for width, words in _PER_PARAMETER[use]:
            for said in (stated, stated.binary):
                if said is not None and said.value == nominal * width:
                    told = (
                        f"{width} bytes for each of {nominal:,} parameters, rounded from {count:,}: {words}; without activations, caches"
                        " and loss"
                    )
                    return Answer(Integer(said.value - counted), said.value - counted, (Reading(told),))
    return None
