"""Number formats, with the scales of their blocks: data with sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sympy import Expr, Rational

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, canonical, extent, factors_of, product, stack
from paramsym.core.ledger import Line

BYTES: Mapping[str, Dim] = {
    "float64": 8,
    "float32": 4,
    "bfloat16": 2,
    "float16": 2,
    "float8": 1,
    "int8": 1,
    "int4": Rational(1, 2),
}
"""Bytes of one number in a format; without the scales of blocks."""
SHORT: Mapping[str, str] = {"fp64": "float64", "fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "half": "float16"}
"""Formats by the short names that configurations of training write."""
Dtype: TypeAlias = str | Dim
"""A format by its name, or the bytes of a number: a letter, or what was put in for it."""


def is_width(dtype: object) -> bool:
    """Return whether a format is given by the bytes of a number."""
    return isinstance(dtype, Expr) or (type(dtype) is int and dtype > 0)


def bytes_of(dtype: Dtype) -> Dim:
    """Return the bytes of one number."""
    return BYTES[dtype] if isinstance(dtype, str) else canonical(dtype)


def narrow(width: Dim) -> bool:
    """Return whether numbers are known to be narrower than float32; a letter may be any width."""
    return isinstance(width, int | Rational) and bool(width < 4)


Which: TypeAlias = Literal["all", "matrices", "repeated", "blocks", "experts"]


@dataclass(frozen=True)
class Format:
    """The storage of a matrix (..., rows, columns): bytes per number, with its share of the block's scales, and per row, column and tensor.

    ``which`` names the tensors: matrices and tables, the matrices of the repeated blocks, or stacks of experts. Other tensors have the
    format ``rest``; if it is None, the format of the computation. ``caches``: caches of keys and values are also stored in this format.
    """

    name: str
    source: str
    number: Dim
    which: Which = "matrices"
    row: int = 0
    column: int = 0
    tensor: int = 0
    rest: str | None = None
    wrong: str = ""
    caches: bool = False

    @property
    def counts(self) -> str:
        """The counted bytes, in words."""
        scales = (self.row, "row"), (self.column, "column"), (self.tensor, "tensor")
        more = [f"{size} bytes for each {what}" for size, what in scales if size]
        rest = f"; other tensors in {self.rest}" if self.rest else ""
        return ", and ".join([f"{8 * self.number} bits per number of {_WORDS[self.which]}", *more]) + rest


_WORDS: Mapping[Which, str] = {
    "matrices": "matrices and tables",
    "blocks": "the matrices of repeated blocks",
    "experts": "stacks of experts",
}


def _bits(bits: int, scales: int = 0, block: int = 1) -> Dim:
    """Return the bytes of one number, from its bits and the bits of scales in its block."""
    return Rational(bits * block + scales, 8 * block)


_GGML = "ggml, block_{}: {} bytes for {} numbers (llama.cpp, ggml/src/ggml-common.h)"
_GGUF = {
    "q4_0": (18, 32),
    "q4_1": (20, 32),
    "q5_0": (22, 32),
    "q5_1": (24, 32),
    "q8_0": (34, 32),
    "q2_k": (84, 256),
    "q3_k": (110, 256),
    "q4_k": (144, 256),
    "q5_k": (176, 256),
    "q6_k": (210, 256),
}
_CACHED = 32
"""The size of the blocks in which llama.cpp also keeps caches: q4_0, q4_1, q5_0, q5_1 and q8_0 (common/arg.cpp, --cache-type-k)."""
_BITSANDBYTES = "bitsandbytes, functional.quantize_4bit, blocks of 64 (Dettmers et al. 2023, QLoRA, arXiv:2305.14314, section 3)"
_CODES = "the tables of the 16 and 256 codes are left out"
_MIXED = (
    "files of that name keep some matrices in other blocks: q4_0 has the output matrix in q6_k (log in llama.cpp, pull request 2398), so"
    " Llama-2-7B's file has 3.83 GB instead of 3.79"
)
_TURNED = "for matrices that are stored as (in, out), such as GPT-2's, the wrong axis is counted"
_KEPT = "training also keeps the weights in a wider format"
_WHOLE = "matrices whose rows do not divide into whole blocks are padded or not quantised"
FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        *(
            Format(
                f"gguf-{name}",
                _GGML.format(name, size, block),
                Rational(size, block),
                rest="float32",
                wrong=_MIXED,
                caches=block == _CACHED,
            )
            for name, (size, block) in _GGUF.items()
        ),
        Format("bnb-nf4", f"{_BITSANDBYTES}: 4 bits, and 32 for each block", _bits(4, 32, 64), "blocks", wrong=f"{_WHOLE}; {_CODES}"),
        Format(
            "bnb-nf4-double",
            f"{_BITSANDBYTES}: scales of 8 bits, 32 more bits for 256 scales, and the mean of the scales in float32",
            _bits(4) + Rational(1, 64) + Rational(4, 64 * 256),
            "blocks",
            tensor=4,
            wrong=f"{_WHOLE}; {_CODES}",
        ),
        Format(
            "bnb-int8",
            "bitsandbytes, nn.Int8Params (LLM.int8, Dettmers et al. 2022, arXiv:2208.07339): one byte, and a float32 for each row (SCB)",
            1,
            "blocks",
            row=4,
            wrong=f"{_KEPT}; {_TURNED}",
        ),
        Format(
            "gptq-g128",
            "Frantar et al. 2023, arXiv:2210.17323, as AutoGPTQ stores it (nn_modules/qlinear/qlinear_cuda.py): for 128 numbers a scale of"
            " 16 bits and a zero point of 4 (scales, qzeros); for each input the number of its group in int32 (g_idx)",
            _bits(4, 20, 128),
            "blocks",
            column=4,
            wrong="kernels without g_idx do not keep it in memory; other group sizes have other scales; " + _TURNED,
        ),
        Format(
            "awq-g128",
            "Lin et al. 2024, arXiv:2306.00978, as AutoAWQ stores it (awq/modules/linear/gemm.py): for 128 numbers a scale of 16 bits and a"
            " zero point of 4",
            _bits(4, 20, 128),
            "blocks",
            wrong="other group sizes have other scales",
        ),
        Format(
            "mxfp4",
            "OCP Microscaling Formats 1.0: 4 bits (E2M1), and 8 (E8M0) for each block of 32; for the matrices of experts, as in gpt-oss",
            _bits(4, 8, 32),
            "experts",
            wrong=_WHOLE,
        ),
        Format("mxfp8", "OCP Microscaling Formats 1.0: 8 bits, and 8 (E8M0) for each block of 32", _bits(8, 8, 32), "blocks", wrong=_WHOLE),
        Format(
            "nvfp4",
            "NVIDIA, as compressed-tensors stores it (nvfp4-pack-quantized: weight_packed, weight_scale in float8 for 16 numbers,"
            " weight_global_scale in float32)",
            _bits(4, 8, 16),
            "blocks",
            tensor=4,
            caches=True,
            wrong="activations in 4 bits need one more float32 for each matrix; ggml's blocks of that name have 36 bytes for 64",
        ),
        Format(
            "fp8",
            "8 bits, and a float32 for each tensor (Micikevicius et al. 2022, arXiv:2209.05433)",
            1,
            "blocks",
            tensor=4,
            caches=True,
            wrong=_KEPT,
        ),
        Format(
            "fp8-128x128",
            "DeepSeek-V3, arXiv:2412.19437, section 3.3: a float32 for 128 x 128 numbers",
            _bits(8, 32, 128 * 128),
            "blocks",
            wrong=_WHOLE,
        ),
    )
}
"""Formats of weights, by name; blocks are assumed to be whole."""
CACHES: Mapping[str, Format] = {name: form for name, form in FORMATS.items() if form.caches}
"""Those in which caches of keys and values are stored, too."""


def chosen(line: Line, which: Which | Literal["others"]) -> bool:
    """Return whether a tensor is of a kind; "others" are those that are not "blocks". A stack of biases is not a matrix."""
    matrix = sum(not isinstance(axis, stack) for axis in line.shape) > 1
    match which:
        case "all":
            return True
        case "matrices":
            return matrix
        case "repeated":
            return any(isinstance(step, Numbers) for step in line.path)
        case "experts":
            return matrix and any(isinstance(factor, stack) for axis in line.shape for factor in factors_of(axis))
        case "blocks":
            return matrix and line.role != "table" and chosen(line, "repeated")
        case "others":
            return not chosen(line, "blocks")


def in_format(lines: Sequence[Line], form: Format, rest: Callable[[Line], Iterator[Line]]) -> Iterator[Line]:
    """Yield stored tensors as bytes in a format; ``rest`` yields tensors in other formats."""
    seen: set[str] = set()
    for line in lines:
        if not chosen(line, form.which):
            yield from rest(line)
            continue
        yield line.but(factors=(form.number, *line.factors))
        if line.name not in seen:
            seen.add(line.name)
            rows, columns = rows_and_columns(line)
            more = canonical(form.row * rows + form.column * columns + form.tensor)
            if more != 0:
                yield line.but(path=(*line.path, "scales"), factors=(more,), label="")


class Weights:
    """The sums of stored tensors that the bytes of any format depend on: of those that it packs, and of the others."""

    def __init__(self, lines: Sequence[Line], which: Which) -> None:
        """Add up the numbers, and for each packed tensor its rows, its columns and 1."""
        packed = [line for line in lines if chosen(line, which)]
        tensors = [line.but(label="") for line in {line.name: line for line in reversed(packed)}.values()]
        self.numbers, self.rest = _sum(packed), _sum(line for line in lines if not chosen(line, which))
        self.rows = _sum(line.but(factors=(rows_and_columns(line)[0],)) for line in tensors)
        self.columns = _sum(line.but(factors=(rows_and_columns(line)[1],)) for line in tensors)
        self.tensors = _sum(line.but(factors=()) for line in tensors)

    def in_format(self, form: Format, rest: Dim) -> Polynomial:
        """Return the bytes in a format, with ``rest`` bytes for each number of the others."""
        packed = ((form.number, self.numbers), (form.row, self.rows), (form.column, self.columns), (form.tensor, self.tensors))
        return Polynomial.total(Polynomial.of(each) * amount for each, amount in (*packed, (rest, self.rest)) if each)


def _sum(lines: Iterable[Line]) -> Polynomial:
    return Polynomial.total(line.polynomial() for line in lines)


def rows_and_columns(line: Line) -> tuple[Dim, Dim]:
    """Return the numbers of sums over rows and over columns of a tensor: over its last axis, and over the one before."""
    sizes = tuple(map(extent, line.shape))
    return product(sizes[:-1]), product((*sizes[:-2], *sizes[-1:]))
