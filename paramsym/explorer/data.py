"""The explorer's data of a variant, as JavaScript: names, conditions and LaTeX as data, arithmetic as ``ps.export`` writes it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sympy import Expr, Symbol

from paramsym.algebra.polynomial import Polynomial, symbols_of
from paramsym.algebra.size import Condition, shown, symbols_in
from paramsym.algebra.symbols import LETTERS
from paramsym.analysis.counted import Counted, lines
from paramsym.analysis.export import export
from paramsym.analysis.meaning import argument_of, meaning
from paramsym.core.conditions import conditions_of
from paramsym.core.layer import Layer
from paramsym.errors import ParamsymError
from paramsym.explorer.questions import QUESTIONS, Answered, NoClosedForm, Question, alike, answered, choices, divided
from paramsym.explorer.variant import Variant
from paramsym.program.signature import stated_inputs
from paramsym.render import latex
from paramsym.render.order import ordered
from paramsym.render.table import Letters

MOST_TENSORS = 60
GROUPS = {"params": "params", "flops": "work", "cache": "work", "inference": "moment"}
"""The group of conditions that a question has; the other questions have the conditions of stored arrays."""
CHECKED: frozenset[tuple[str, ...]] = frozenset(
    {
        ("flops", "forward", "FLOPs"),
        *(("training", "bfloat16", attention) for attention in ("eager", "fused")),
        *(("inference", precision) for precision in ("float32", "bfloat16")),
    }
)
"""The totals that bring their conditions into their program. Activations and wider numbers keep fewer arrays than training in narrow ones,
under conditions among these; each condition is checked by computing a cost again, which takes most of the time of a page."""
PLACE = r"\letter{%s}"
"""The placeholder in LaTeX for a letter of the chosen paper."""


def lettering(symbols: Iterable[Symbol]) -> Letters:
    """Return the letters in their usual order, each with its index."""
    known = [letter.name for letter in LETTERS]
    names = [*known, *sorted({symbol.name for symbol in symbols} - {*known})]
    return Letters(tuple((name, PLACE % name) for name in names))


@dataclass
class Program:
    """The amounts of one exported function, each distinct amount once, with the conditions of some totals, or of its ``first`` one."""

    first: Counted | None = None
    subjects: list[Counted | Expr] = field(default_factory=list)
    places: dict[Polynomial, int] = field(default_factory=dict)

    def place(self, amount: Polynomial, subject: Counted | None = None) -> int:
        """Return the index of an amount in the result; with ``subject``, the function also checks the conditions of this total."""
        if amount not in self.places:
            self.places[amount] = len(self.subjects)
            self.subjects.append(amount.as_expr())
        if subject is not None:
            self.subjects[self.places[amount]] = subject
        return self.places[amount]

    def script(self) -> str:
        """Return a JavaScript object: the names of the arguments, and the function that computes all amounts."""
        if self.first is not None and not any(isinstance(one, Counted) for one in self.subjects):
            self.place(self.first.polynomial, self.first)
        source = export(self.subjects, "javascript", name="count")
        return f'{{"arguments": {json.dumps(source.arguments)}, "run": {source.code.partition(chr(10))[2]}}}'

    def degrees(self) -> dict[str, list[Any]]:
        """Return for each letter its highest power, its highest power in a denominator, and the amounts that move in steps.

        An amount moves in steps if the letter is in a floor or a maximum. The last entry lists the places of these amounts, or is True if
        all amounts with the letter move in steps.
        """
        found: dict[str, list[Any]] = {}
        held = {place: (amount, amount.free_symbols) for amount, place in self.places.items()}
        for symbol in sorted({symbol for _, symbols in held.values() for symbol in symbols}, key=lambda one: one.name):
            having = {place: amount for place, (amount, symbols) in held.items() if symbol in symbols}
            powers = [dict(monomial).get(symbol, 0) for amount in having.values() for monomial in amount.terms]
            stepped = [place for place, amount in having.items() if _inside(symbol, amount)]
            found[symbol.name] = [max(0, *powers), -min(0, *powers), len(stepped) == len(having) or stepped]
        return found


def _inside(symbol: Symbol, amount: Polynomial) -> bool:
    """Whether a letter is inside a floor, a maximum or the reciprocal of a sum."""
    return any(symbol != generator and symbol in symbols_of(generator) for monomial in amount.terms for generator, _ in monomial)


class _Writer:
    """Collects the common data of the questions about one variant: programs by their conditions, LaTeX, letters.

    Parameters have the first program, FLOPs and caches the second. Bytes of arrays have a third if they have more conditions, such as at
    least one copy of every repeated block. Memory of inference has its own: the largest memory of one block occurs at another moment
    than that of several blocks.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant, self.root = variant, variant.root
        self.letters = lettering({*self.root.symbols, *symbols_in(variant.inputs)})
        self.programs: dict[tuple[str, frozenset[Condition]], Program] = {}
        self.texts: dict[str, int] = {}
        self.conditions: dict[str, tuple[Condition, ...]] = {}
        self.symbols: set[Symbol] = set()

    def question(self, question: Question) -> dict[str, Any]:
        """Return for each choice the program, the total, the terms and the parts; raise ``NoClosedForm`` if there is none."""
        known: dict[tuple[str, ...], Answered] = {}
        found = {}
        for choice in choices(question):
            asked = alike(self.variant, choice)
            if asked not in known:
                known[asked] = answered(self.variant, question, asked, self.letters)
            found["/".join(choice)] = self._answer(question, choice, known[asked])
        return found

    def _program(self, question: Question, subject: Counted) -> Program:
        """Return the program that this question shares with the questions of the same conditions."""
        group = GROUPS.get(question.name, "arrays")
        if group not in self.conditions:
            self.conditions[group] = conditions_of(subject)
        key = (group if group in {"params", "moment"} else "", frozenset(self.conditions[group]))
        return self.programs.setdefault(key, Program(subject))

    def _answer(self, question: Question, choice: tuple[str, ...], one: Answered) -> list[Any]:
        self.symbols |= one.subject.symbols
        program = self._program(question, one.subject)
        total = program.place(one.subject.polynomial, one.subject if (question.name, *choice) in CHECKED else None)
        terms = [[self.texts.setdefault(written, len(self.texts)), program.place(amount)] for written, amount in one.terms]
        parts = [[name, program.place(amount), within] for name, amount, within in one.parts]
        return [[*self.programs.values()].index(program), total, terms, parts]

    @property
    def asked(self) -> dict[Condition, None]:
        """The distinct conditions of all programs."""
        return dict.fromkeys(one for asked in self.conditions.values() for one in asked)

    def divisors(self) -> list[tuple[str | int, str | int]]:
        """Return the conditions: a letter or number that divides a letter, and a letter that divides a number."""
        pairs = ((one.small, one.large) for one in self.asked if one.kind == "divides")
        return [
            (_word(small), _word(large)) for small, large in pairs if isinstance(small, Symbol | int) and isinstance(large, Symbol | int)
        ]

    def least(self, symbol: Symbol) -> int:
        """Return the least value of a letter."""
        asked = (one.small for one in self.asked if one.kind == "at most" and one.large == symbol)
        return max((small for small in asked if isinstance(small, int)), default=1)


def variant_data(variant: Variant) -> dict[str, Any]:
    """Return the page's data of a variant; ``programs`` is JavaScript."""
    writer = _Writer(variant)
    questions: dict[str, dict[str, Any]] = {}
    missing: dict[str, str] = {}
    for question in QUESTIONS:
        try:
            questions[question.name] = writer.question(question)
        except NoClosedForm as error:
            missing[question.name] = str(error)
    inputs = sorted(writer.symbols - {*variant.letters}, key=lambda symbol: symbol.name)
    return {
        "title": variant.title,
        "python": variant.python,
        "given": "".join(f", {shown(shape)}" for shape in variant.inputs),
        "letters": [[one.name, writer.least(one), *_said(variant.root, one)] for one in variant.letters],
        "inputs": [[one.name, writer.least(one), *_said(variant.root, one), variant.start.get(one.name)] for one in inputs],
        "shapes": shapes(variant),
        "divides": writer.divisors(),
        "models": {name: [sizes.get(symbol.name) for symbol in variant.letters] for name, sizes in variant.sizes.items()},
        "tensors": tensors(variant.root, writer.letters),
        "texts": [*writer.texts],
        "questions": questions,
        "degrees": [program.degrees() for program in writer.programs.values()],
        "missing": missing,
        "programs": f"[{','.join(program.script() for program in writer.programs.values())}]",
    }


def _said(root: Layer, symbol: Symbol) -> tuple[str, str]:
    """Return the argument that is a letter, and what it means besides."""
    argument, means = argument_of(root, symbol), meaning(symbol, root)
    return argument, means if means != argument else ""


def shapes(variant: Variant) -> str:
    """Return the inputs of a model as part of a sentence; empty for a model without them."""
    if variant.inputs:
        return ", ".join(map(shown, variant.inputs))
    try:
        return ", ".join(f"{name} ({', '.join(map(str, shape))})" for name, shape in stated_inputs(variant.root).items())
    except ParamsymError:
        return ""


def _word(side: Symbol | int) -> str | int:
    return side.name if isinstance(side, Symbol) else side


def _open(root: Layer) -> bool:
    """Whether the count has no closed form, as a sum over a rounded number of the copy."""
    try:
        return not root.polynomial.free_symbols <= root.symbols
    except ParamsymError:
        return True


def tensors(root: Layer, letters: Letters) -> list[list[Any]]:
    """Return the tensors, each with its shape; none for models with very many, or whose count has no closed form."""
    listed = lines(root)
    if len(listed) > MOST_TENSORS or _open(root):
        return []
    parts = {id(line): number for number, (_, members) in enumerate(part for part in divided(listed, by_kind=False)) for line in members}
    total = ordered(root.params, letters)
    places = {next(iter(Polynomial.of(term).terms)): number for number, term in enumerate(total) if len(Polynomial.of(term).terms) == 1}
    return [
        [
            f"{line.name}{f' ({line.label})' if line.label else ''}",
            ", ".join(latex.expression(size, letters) for size in line.sizes),
            parts[id(line)],
            sorted(places[monomial] for monomial in line.polynomial().terms if monomial in places),
        ]
        for line in listed
    ]
