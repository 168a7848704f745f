"""Claims in bytes: the file of a model whose parameters are counted, and bytes for each of a rounded number of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import get_args

from sympy import Integer, Rational

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim
from paramsym.algebra.symbols import BY_NAME
from paramsym.analysis.claim import Stated
from paramsym.analysis.counted import total
from paramsym.analysis.reconcile.answers import Answer, Reading
from paramsym.analysis.reconcile.edits import Edit, fixed
from paramsym.analysis.reconcile.options import optional
from paramsym.analysis.reconcile.subject import Subject
from paramsym.analysis.reconcile.whole import masks_of
from paramsym.measure.cost import Cost
from paramsym.measure.formats import BYTES, FORMATS, Weights, Which

_VOCABULARY, _EXPERTS, _HEADS, _GROUPS = (BY_NAME[name].symbol for name in "VEAG")
_FEW_EXPERTS, _LARGE = 8, 80  # experts and layers of the models that llama.cpp's mixes treat apart
_OUTPUT_APART = ("gguf-q4_0", "gguf-q4_1", "gguf-q5_0", "gguf-q5_1")
_MEDIUM = {"Q4_K_M": "gguf-q4_k", "Q5_K_M": "gguf-q5_k"}
"""llama.cpp's mixes of formats, with the format of most matrices (llama_tensor_get_type in src/llama-quant.cpp)."""
_VALUES, _DOWN = frozenset({"v_proj"}), frozenset({"down_proj", "w2"})
_DISTRIBUTED = re.compile(r"format (gguf|gptq|awq)-")  # the formats of files that people share; others are made when a model is loaded
_HEADER = 10**6  # the most bytes that names and shapes add to a file, and at most a hundredth,
_WORD = 64  # and those of a word of the vocabulary, which a file of llama.cpp has as well
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
    weights = {which: Weights(lines, which) for which in get_args(Which)}
    for form in FORMATS.values():
        term = weights[form.which].in_format(form, BYTES[form.rest or "float16"]) - subject.formula
        words = f"the bytes of a file in the format {form.name}: {form.counts}{'' if form.rest else ', the rest in 16 bits'}"
        yield fixed(subject, term, words, 1.3, alone=True)


def of_file(subject: Subject, stated: Stated) -> list[Answer]:
    """Return the files that have a claimed size, the usual ones first; beside the numbers, a file has a header of names and shapes."""
    found: dict[int, tuple[tuple[bool, bool], Answer]] = {}
    words_of_a_model = _WORD * subject.whole.get(_VOCABULARY, 0)
    for edit in _with_more(subject):
        size = subject.count + edit.value
        header = min(_HEADER + ("gguf-" in edit.words) * words_of_a_model, size // 100)
        for said, unit in ((stated, ""), (stated.binary, ", in units of 1024")):
            if size not in found and said is not None and said.low <= size + header and size <= said.high:
                words = f"{edit.words}: {size:,}{unit}{'' if said.low <= size else ', and a header'}"
                answer = Answer(edit.term(subject).as_expr(), edit.value, (Reading(words, (edit,)),), value=edit.value)
                found[size] = (said is not stated, size < said.low), answer
    return [answer for _, answer in sorted(found.values(), key=lambda one: one[0])]


def _with_more(subject: Subject) -> Iterator[Edit]:
    """Yield the files: of one format, of llama.cpp's mixes, with a tied tensor twice, or with the masks of all pairs as early ones have."""
    yield from in_widths(subject)
    files = [*in_formats(subject)]
    yield from sorted(files, key=lambda edit: not _DISTRIBUTED.search(edit.words))
    terms = {name: edit.term(subject) for edit in files for name in FORMATS if f" {name}:" in edit.words}
    lines = subject.root.lines
    outputs = [line for line in lines if line.role == "weight" and _VOCABULARY in line.factors]
    head = total(line for line in outputs if not line.alias_of)
    for name in _OUTPUT_APART if head else ():
        words = next(edit.words for edit in files if f" {name}:" in edit.words)
        term = terms[name] + head * _more(name, "gguf-q6_k")
        yield fixed(subject, term, f"{words}, with the output matrix in gguf-q6_k, as llama.cpp writes it", 1.3, alone=True)
    yield from _medium(subject, terms, head or total(line for line in lines if line.role == "table" and _VOCABULARY in line.factors))
    tied = total(line for line in lines if line.alias_of and not line.buffer)
    found = masks_of(subject.lines)
    masks = Polynomial.product((*found, found[1])) if found else Polynomial.of(0)
    for edit in optional(subject):
        for width, names in _WIDTHS[:2]:
            term = (subject.formula + edit.term(subject)) * Polynomial.of(width) - subject.formula
            yield fixed(subject, term, f"a file in {names} of the model {edit.words}, {width} bytes each", 1.2, alone=True)
    for more, what in ((tied, "with its tied tensors under each name"), (masks, "with a mask of all pairs for each layer")):
        for width, names in _WIDTHS[:2] if more else ():
            term = (subject.formula + more) * Polynomial.of(width) - subject.formula
            yield fixed(subject, term, f"a file in {names} {what}, {width} bytes each", 1.1, alone=True)


def _medium(subject: Subject, terms: Mapping[str, Polynomial], head: Polynomial) -> Iterator[Edit]:
    """Yield llama.cpp's mixes: the output matrix, and of half of the layers the values and the last matrix, have more bits than the rest.

    The values of eight experts have 8 bits in every layer; those of 80 layers that share keys between heads have 5 at least.
    """
    inside = [line for line in subject.lines if len(line.stored) == 1 + (_EXPERTS in line.stored) and line.role == "weight"]
    values, down = ([line for line in inside if {*map(str, line.path[:-1])} & names] for names in (_VALUES, _DOWN))
    depths = {subject.value(Polynomial.of(line.stored[-1])) for line in (*values, *down)}
    if not values or not down or len(depths) != 1:
        return
    (depth,) = depths
    share = Rational(sum(_has_more_bits(layer, depth) for layer in range(depth)), depth)
    grouped = depth == _LARGE and subject.used.get(_GROUPS, 0) < subject.whole.get(_HEADS, 0)
    for name, base in _MEDIUM.items():
        six = _more(base, "gguf-q6_k")
        often = Polynomial.of(share) * six
        least = "gguf-q5_k" if grouped else base
        rest = Polynomial.of(1 - share) * _more(base, least)
        of_values = _more(base, "gguf-q8_0") if subject.whole.get(_EXPERTS) == _FEW_EXPERTS else often + rest
        term = terms[base] + head * six + total(down) * often + total(values) * of_values
        words = f"the bytes of a file in llama.cpp's {name}: {base}, with more bits for the output matrix and, in half of the layers, for"
        yield fixed(subject, term, f"{words} the values and the last matrix of the feed-forward network", 1.2, alone=True)


def _more(base: str, other: str) -> Polynomial:
    """Return the bytes that a number has more in another format."""
    return Polynomial.of(FORMATS[other].number - FORMATS[base].number)


def _has_more_bits(layer: int, depth: int) -> bool:
    """Whether llama.cpp gives a layer more bits: the first and the last eighth, and every third between (use_more_bits)."""
    return layer < depth // 8 or layer >= 7 * depth // 8 or (layer - depth // 8) % 3 == 2


def of_rounded_size(subject: Subject, stated: Stated) -> list[Answer]:
    """Return what a claim counts if it is so many bytes for each parameter of a rounded size: 112 GB are 16 bytes for each of 7 billion.

    The claim is one about memory, or about the bytes of parameters.
    """
    root = subject.root
    memory = isinstance(root, Cost) and root.function.__name__ == "memory"
    if stated.exact or (isinstance(root, Cost) and not memory):
        return []
    count = subject.layer.layer.count if memory else subject.count  # type: ignore[union-attr]
    for digits in (1, 2):
        unit = 10 ** max(len(str(count)) - digits, 0)
        nominal = round(count / unit) * unit
        if abs(nominal - count) > _CALLED * count:
            continue
        for width, words in _PER_PARAMETER[root.chosen["use"] if memory else "inference"]:  # type: ignore[union-attr]
            for said in (stated, stated.binary):
                if said is not None and said.value == nominal * width:
                    told = (
                        f"{width} bytes for each of {nominal:,} parameters, rounded from {count:,}: {words}; without activations, caches"
                        " and loss"
                    )
                    difference = said.value - subject.count
                    return [Answer(Integer(difference), difference, (Reading(told),))]
    return []
