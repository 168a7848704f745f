"""Why a letter changes a count or cancels from it: the library's derivations, as data, and the program of their numbers."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import symbols_in
from paramsym.analysis.counted import Counted, lines
from paramsym.analysis.explain.derivation import Step, Sum
from paramsym.analysis.explain.explaining import explain
from paramsym.analysis.explain.explanation import Explanation
from paramsym.errors import ParamsymError
from paramsym.explorer.data import Program, lettering
from paramsym.explorer.variant import Variant
from paramsym.measure.activations import activations
from paramsym.measure.kv_cache import kv_cache
from paramsym.measure.work import PAIRS, flops
from paramsym.render import latex
from paramsym.render.table import Letters

LONGEST = 6000
"""The longest derivation, in characters, that is shown; convolutional models with many stages have longer ones."""


def counts(variant: Variant) -> dict[str, Counted]:
    """Return the explained costs of models with attention: parameters, FLOPs, activations and KV cache; of others, the parameters."""
    root, inputs = variant.root.built_again(), variant.inputs
    found: dict[str, Counted] = {"params": root}
    try:
        work = flops(root, *inputs)
        if any(line.role == PAIRS for line in lines(work)):
            found |= {"flops": work, "activations": activations(root, *inputs), "cache": kv_cache(root, *inputs)}
    except ParamsymError:
        pass
    return found


def reasons_data(variant: Variant) -> dict[str, Any]:
    """Return the derivations of a variant, by count and letter; ``programs`` is JavaScript."""
    program = Program()
    written: dict[str, dict[str, Any]] = {}
    for name, subject in counts(variant).items():
        letters = lettering(subject.symbols)
        for symbol in sorted(subject.symbols, key=lambda one: one.name):
            try:
                why = explain(subject, symbol)
            except ParamsymError:  # a count without a closed form
                continue
            equations = [step.to_latex(letters) for step in why.steps]
            if sum(map(len, equations)) > LONGEST or (name != "params" and not telling(why)):
                continue
            written.setdefault(name, {})[symbol.name] = {
                "cancels": why.cancels,
                "enters": why.enters,
                "verdict": _said(why._said, letters),
                "steps": [_step(*one, program, letters) for one in zip(why.steps, equations, strict=True)],
            }
    if not program.subjects:
        program.place(Polynomial.of(0))
    return {"counts": written, "programs": f"[{program.script()}]"}


def telling(why: Explanation) -> bool:
    """Whether a letter does more than multiply: it cancels, or occurs in a quotient or twice in one product."""
    if why.cancels:
        return True
    held = ([factor for factor in group.factors if why.symbol in symbols_in((factor,))] for group in why.groups)
    return any(len(factors) > 1 or any(factor != why.symbol for factor in factors) for factors in held)


def _step(step: Step, equation: str, program: Program, letters: Letters) -> dict[str, Any]:
    return {
        "said": _said(step.said, letters),
        "equation": equation.replace("&=", "="),
        "numbers": _numbers(step.left, program),
        "value": program.place(Polynomial.of(step.right)),
    }


def _numbers(left: Sum, program: Program) -> list[Any] | None:
    """Return the terms as factors whose values can be inserted; None for sums over copies, which have no single factors."""
    if any(product.spans for _, product in left.signed):
        return None
    return [[times, [_factor(factor, program) for factor in product.factors]] for times, product in left.signed]


def _factor(factor: Expr | int, program: Program) -> str | int:
    """Return a letter or a number as a word, anything else as its index in the program's result."""
    return str(factor) if isinstance(factor, int | Symbol) else program.place(Polynomial.of(factor))


def _said(pieces: Any, letters: Letters) -> list[Any]:
    return [piece if isinstance(piece, str) else [latex.expression(_plain(piece), letters)] for piece in pieces]


def _plain(piece: Expr | int) -> Expr | int:
    return piece if isinstance(piece, int) else piece.doit()
