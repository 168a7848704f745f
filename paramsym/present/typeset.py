"""From a layer to LaTeX: its closed form expanded, collected, factored, by part, annotated, or with numbers put in step by step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, TypeAlias, cast, get_args

from sympy import Add, Expr, Integer, Symbol

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.line import Line
from paramsym.algebra.numbering import Numbers
from paramsym.algebra.polynomial import Polynomial
from paramsym.algebra.size import Dim, symbols_in, text
from paramsym.algebra.wanted import symbol_of
from paramsym.arguments import check_depth, check_flags, known_word
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.naming import described, quoted
from paramsym.program.statement import Statement
from paramsym.render import forms, latex
from paramsym.render.document import displayed, document
from paramsym.render.order import ordered
from paramsym.render.table import Letters, Table
from paramsym.render.tabular import Tabular
from paramsym.render.widths import LINE, limit_of, width as measured, width_of_words

Form: TypeAlias = Literal["expanded", "collected", "factored", "parts", "annotated", "align", "steps"]
FORMS: tuple[Form, ...] = get_args(Form)
_MOST = 8  # the most parts that one formula names
_PLAIN = {"weight", "bias", "dense", "layer", "layers", "block", "blocks", "h", "kernel", "proj", "LayerNorm", "norm"}
"""Names that are unclear without the name before them."""


@dataclass(frozen=True)
class PartTotal:
    """The contribution of the tensors under one path: ``copies`` times ``amount``."""

    path: tuple[str | Numbers, ...]
    copies: tuple[Dim, ...]
    amount: Expr

    @property
    def total(self) -> Expr:
        """The whole contribution, expanded."""
        return Polynomial.product((*self.copies, self.amount)).as_expr()

    @property
    def steps(self) -> tuple[str, ...]:
        """The names on the path, without numbers."""
        names = (step.pattern.replace("{}", "") if isinstance(step, Numbers) else step.replace("{}", "") for step in self.path)
        return tuple(name.replace("_", " ").replace(".", " ").strip() for name in names if name.strip("._"))

    @property
    def numbered(self) -> str:
        """The whole path with its numbers, if words alone are not unique: ``encoder block 1..L-1``."""
        steps = (re.sub(r"(?<!\.)\.(?!\.)", " ", str(step)) for step in self.path)
        return " ".join(step.strip("{}").replace("{", "").replace("_", " ") for step in steps)


def shares(lines: Iterable[Line], depth: int | None = None) -> tuple[PartTotal, ...]:
    """Return the contributions of the parts down to a depth; by default the largest depth with at most eight parts.

    >>> from paramsym.models import Bert
    >>> [(" ".join(share.steps), share.copies, share.amount) for share in shares(Bert().lines, 1)][2]
    ('pooler', (), H**2 + H)
    """
    counted = tuple(line for line in lines if not (line.buffer or line.alias_of or line.empty))
    if depth is not None:
        return tuple(_shares(counted, depth))
    deepest = max((len(line.path) for line in counted), default=1)
    deeper = (tuple(_shares(counted, level)) for level in range(2, deepest + 1))
    return [tuple(_shares(counted, 1)), *takewhile(lambda found: len(found) <= _MOST, deeper)][-1]


def _shares(lines: tuple[Line, ...], depth: int) -> Iterator[PartTotal]:
    groups: dict[tuple[str | Numbers, ...], list[Line]] = {}
    for line in lines:
        # The last name on a path is a tensor's; parts are named down to its owner, and a number belongs to the name before it.
        end = max(1, min(depth, len(line.path) - 1))
        while end < len(line.path) - 1 and isinstance(line.path[end], Numbers):
            end += 1
        groups.setdefault(line.path[:end], []).append(line)
    for path, members in groups.items():
        copies = tuple(step.count for step in path if isinstance(step, Numbers) and step.count != 1)
        if any(line.spans or Counter(copies) - Counter(line.stored) for line in members):
            copies = ()
        inside = (Polynomial.product((*line.factors, *_without(line.stored, copies))) for line in members)
        total = Polynomial.total(inside if copies else (line.polynomial() for line in members))
        yield PartTotal(path, copies, total.as_expr())


def _without(stored: tuple[Dim, ...], copies: tuple[Dim, ...]) -> Iterator[Dim]:
    left = Counter(copies)
    for number in reversed(stored):
        if left[number]:
            left[number] -= 1
        else:
            yield number


def names(found: tuple[PartTotal, ...], limit: float = LINE) -> list[str]:
    """Return short words for each share: the last names on its path that are unique; no longer than a line."""
    paths = [share.steps for share in found]
    wanted = [1 + (len(path) > 1 and (path[-1].isdigit() or path[-1].rsplit(" ", maxsplit=1)[-1] in _PLAIN)) for path in paths]
    for _ in range(max(map(len, paths), default=1)):
        shown = [" ".join(path[-taken:]) for path, taken in zip(paths, wanted, strict=True)]
        counts = Counter(shown)
        wanted = [taken + (counts[name] > 1) for name, taken in zip(shown, wanted, strict=True)]
    shown = [" ".join(path[-taken:]) or "whole" for path, taken in zip(paths, wanted, strict=True)]
    told = [share.numbered if shown.count(name) > 1 else name for share, name in zip(found, shown, strict=True)]
    return [_end(name, limit) for name in told]


def _end(name: str, limit: float) -> str:
    """Return the last words of a name that is longer than a line, after an ellipsis."""
    while len(name) > limit and " " in name.removeprefix("... "):
        name = f"... {name.removeprefix('... ').partition(' ')[2]}"
    return name


def to_latex(
    layer: Statement,
    form: Form = "expanded",
    *,
    letters: Lettering = None,
    by: Symbol | Expr | str | None = None,
    depth: int | None = None,
    width: int | None = None,
    standalone: bool = False,
    unit: str = "parameters",
) -> str:
    r"""Return the closed form of a layer as LaTeX, without dollar signs; ``align`` and ``steps`` are an ``align*``.

    ``form`` is one of the following. ``expanded``: ``12 L H^{2} + 13 L H + V H``. ``collected``: by powers of the symbol ``by``.
    ``factored``: the leading term, or the term ``by``, times the rest. ``parts``: one sum per part, in brackets. ``annotated``: the
    same with the name of each part under a brace. ``align``: one line per part. ``steps``: numbers put in, multiplied, added; for a layer
    with sizes.

    ``letters`` is the name of a paper's set or a mapping; ``depth`` is the depth of parts; ``width`` breaks wider sums, in characters of
    five points (an article in ten points has 67 on a line, a column of a two-column article 45); ``standalone`` returns a whole document.

    Raises:
        ArgumentError: an unknown form or letters, or an impossible width.
        UnknownNameError: ``by`` is not a symbol of the layer, or is missing and the layer has several.
        SizeError: ``steps`` for a layer with symbols left.

    >>> from paramsym import Dense, H, L, MultiHeadAttention, A
    >>> to_latex(MultiHeadAttention(H, A), "factored", letters="megatron")
    '4 h^{2} \\left(1 + \\frac{1}{h}\\right)'
    """
    check_flags(standalone=standalone)
    form = known_word("form", form, FORMS)
    check_depth(depth)
    root = layer.origin[0] if form == "steps" else layer
    chosen = lettering(letters, symbols_in(tuple((line.factors, line.stored, line.used) for line in root.lines)))
    limit = limit_of(width, LINE if standalone or form in {"align", "steps"} else 10**9)
    written = _steps(layer, chosen, limit, unit) if form == "steps" else _written(layer, form, chosen, by, depth, limit)
    return document([displayed(written)]) if standalone else written


def _written(layer: Statement, form: Form, letters: Letters, by: Any, depth: int | None, limit: float) -> str:
    total = layer.polynomial.as_expr()
    if form == "expanded":
        return forms.broken(latex.terms(total, letters), limit)
    if form == "collected":
        return forms.broken(forms.collected(total, letters, _symbol(layer, by), limit), limit)
    if form == "factored":
        lead = _symbol(layer, by) if isinstance(by, str) else by
        if lead is not None and (not isinstance(lead, Expr) or isinstance(lead, Add) or lead == 0):
            what = text(lead) if isinstance(lead, Expr) else quoted(lead)
            raise ArgumentError(f"by is {what}; wanted one term to take out, such as H**2*L, or the name of a symbol.")
        return forms.factored(total, letters, lead, limit)
    found = shares(layer.lines, depth)
    if form == "align":
        return _align(layer, found, letters, limit)
    bodies = [forms.product(share.copies, share.amount, letters, limit - forms.BRACKETS) for share in found]
    if form == "annotated":
        bodies = [forms.braced(body, name) for body, name in zip(bodies, names(found, limit), strict=True)]
    else:
        alone = (not share.copies and share.amount.is_Add for share in found)
        bodies = [rf"\left({body}\right)" if sum_alone else body for body, sum_alone in zip(bodies, alone, strict=True)]
    return forms.broken([(1, body) for body in bodies], limit)


def _symbol(layer: Statement, by: Symbol | str | None) -> Symbol:
    if not isinstance(by, str) and not hasattr(by, "name"):
        if len(layer.symbols) == 1:
            return next(iter(layer.symbols))
        names = ", ".join(sorted(symbol.name for symbol in layer.symbols)) or "none"
        raise UnknownNameError(f"form 'collected' of {type(layer).__name__} needs by= with one of {names}.")
    return symbol_of(type(layer).__name__, by, layer.symbols)


def _align(layer: Statement, found: tuple[PartTotal, ...], letters: Letters, limit: float) -> str:
    """Write each part and the sum on separate lines; a name is above its formula if both are too wide for one line."""
    called, total = names(found, limit), layer.polynomial.as_expr()
    written = [body for value in (total, *(share.total for share in found)) for _, body in latex.terms(value, letters)]
    room = limit - max(map(width_of_words, [*called, "total"])) - measured("= +")
    beside = max(map(measured, written), default=0) <= room
    room = room if beside else limit - measured(r"\quad = +")
    rows: list[str] = []
    for share, name in zip(found, called, strict=True):
        first, *others = latex.rows(latex.terms(share.total, letters), room)
        if share.copies:
            body = forms.product(share.copies, share.amount, letters, room)
            equal = f"{body} = {first}"
            plain = others or latex.expression(share.total, letters) == body
            fits = not plain and r"\\" not in body and measured(equal) <= room
            first, others = (equal, []) if fits else (body, [] if body == first else [f"= {first}", *(rf"\quad {row}" for row in others)])
        else:
            others = [rf"\quad {row}" for row in others]
        rows += _under(name, first, others, beside=beside)
    first, *others = latex.rows(latex.terms(total, letters), room)
    return forms.align([*rows, *_under("total", first, [rf"\quad {other}" for other in others], beside=beside)])


def _under(name: str, first: str, others: list[str], *, beside: bool) -> list[str]:
    """Return the rows of one name, with the formula beside it or below it."""
    label = rf"\text{{{latex.escape(name)}}}"
    if beside:
        return [f"{label} &= {first}", *(f"&{other}" for other in others)]
    return [f"&{label}", rf"&\quad = {first}", *(rf"&\quad {other}" for other in others)]


def _steps(layer: Statement, letters: Letters, limit: float, unit: str) -> str:
    """Write the formula, the numbers in it, the terms, and the sum."""
    root, sizes = layer.origin
    formula = root.polynomial.as_expr()
    if not isinstance(layer.polynomial.as_expr(), Integer):
        raise SizeError(f"{type(layer).__name__} has symbols left; put all sizes in with .at(...) before asking for the steps.")
    numbers = {symbol.name: size for symbol, size in sizes.items() if isinstance(size, int)}
    placed = {symbol: Integer(size) for symbol, size in sizes.items()}
    values = [cast("Expr", term.xreplace(placed)) for term in ordered(formula, letters)]
    known = {symbol.name for symbol in symbols_in(formula)} <= set(numbers)
    counted = rf"\text{{{latex.escape(unit)}}}"
    limit -= measured(rf"{counted} = \quad")
    sides = [latex.rows(latex.terms(formula, letters), limit)]
    if sizes and known:
        sides.append(latex.rows(forms.substituted(formula, numbers, letters), limit))
    if len(values) > 1 and known and sizes:
        sides.append(latex.rows([each for value in values for each in latex.terms(value, letters)], limit))
    if sizes:
        sides.append([latex.integer(layer.count)])
    return forms.lines(counted, sides)


def latex_document(*pieces: Any, title: str = "") -> str:
    r"""Return a LaTeX document that compiles: of layers, tables, explanations, reconciliations, or strings of LaTeX.

    >>> from paramsym import Dense, F, H
    >>> print(latex_document(Dense(H, F)).splitlines()[0])
    \documentclass{article}
    """
    if not isinstance(title, str):
        raise ArgumentError(f"title is {described(title)}; wanted a string.")
    return document([_piece(piece) for piece in pieces], title)


def _piece(piece: Any) -> str:
    if isinstance(piece, str):
        return displayed(piece) if piece.startswith("\\begin{") else piece
    if isinstance(piece, Table | Tabular):
        return displayed(piece.to_latex(long=True))
    if isinstance(piece, type):
        raise ArgumentError(f"{quoted(piece)} is a class; give an instance of it.")
    if hasattr(piece, "own_tensors"):
        return displayed(piece.to_latex(width=LINE))
    if hasattr(piece, "to_latex"):
        return displayed(piece.to_latex())
    raise ArgumentError(f"{quoted(piece)} cannot be written as LaTeX; give a layer, a table, an explanation or a string of LaTeX.")
