"""What each command does: from its arguments to a reply that can be written in every format.

A module that only one command needs is imported when that command runs, so that `count` does not load the search of `reconcile`.
"""

from __future__ import annotations

import argparse
import html
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sympy import Expr, Integer, Symbol

from paramsym.algebra.size import shown
from paramsym.algebra.symbols import W
from paramsym.analysis.meaning import meaning
from paramsym.cli import data
from paramsym.cli.candidates import candidates
from paramsym.cli.cost_options import COSTS, TAKES, given, spelled
from paramsym.cli.source import is_source, load
from paramsym.cli.streams import complain, on_a_terminal, painted, width
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, ParamsymWarning, SizeError
from paramsym.present.tabulate import formula_latex
from paramsym.program.statement import class_name
from paramsym.render import json, layout
from paramsym.render.printed import words
from paramsym.render.table import Cell, Table

if TYPE_CHECKING:
    from paramsym.analysis.counted import Counted
    from paramsym.analysis.explain.explanation import Explanation
    from paramsym.measure.cost import Cost


@dataclass(frozen=True)
class Reply:
    """An answer, with a writer for each format; ``ok`` decides the exit code."""

    writers: dict[str, Callable[[], str]]
    ok: bool = True


def run(arguments: argparse.Namespace) -> Reply:
    """Run the parsed command; its warnings are lines on the error stream."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reply = _COMMANDS[arguments.command](arguments)
    for message in dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, ParamsymWarning)):
        complain(message, arguments.command, "warning")
    return reply


def _model(arguments: argparse.Namespace) -> Layer:
    return load(arguments.source, arguments.architecture, arguments.strict, arguments.sizes)


# One model --------------------------------------------------------------------------------------------------------------------


def _formula(arguments: argparse.Namespace) -> Reply:
    model = _model(arguments)
    closed = data.in_letters(model).params

    def written() -> str:
        name = class_name(model)
        root = model.origin[0]
        letters = sorted(root.symbols, key=str)
        rows: list[tuple[Cell, ...]] = [(symbol.name, model.sizes.get(symbol), meaning(symbol, root)) for symbol in letters]
        columns: tuple[str, ...] = ("letter", "size", "meaning")
        if not model.sizes:
            rows, columns = [(row[0], row[2]) for row in rows], ("letter", "meaning")
        legend = "\n\n" + layout.table(Table(columns, tuple(rows), caption=f"{name}, with"), width()) if rows else ""
        return layout.formula(shown(closed), width(), rest="  ") + legend

    latex = data.in_letters(model).to_latex(letters=arguments.letters)
    return Reply(
        {
            "text": written,
            "latex": lambda: latex,
            "markdown": lambda: f"${latex}$",
            "html": lambda: f"<p>${html.escape(latex)}$</p>",
            "json": lambda: json.document(data.of_model(model)),
        }
    )


def _latex(arguments: argparse.Namespace) -> Reply:
    subject: Any = _subject(arguments)
    if arguments.form != "steps":  # which shows the sizes
        subject = data.in_letters(subject)
    options = {name: getattr(arguments, name) for name in ("letters", "by", "depth", "standalone")}
    latex = subject.to_latex(arguments.form, **options)
    return Reply({"latex": lambda: latex})


def _count(arguments: argparse.Namespace) -> Reply:
    model = _sized(_model(arguments), arguments.source)
    count = model.count
    return Reply(
        {
            "text": lambda: f"{count:,} parameters of {class_name(model)}" if on_a_terminal() else str(count),
            "latex": lambda: formula_latex(Integer(count)),
            "markdown": lambda: f"{count:,}",
            "html": lambda: f"<p>{count:,}</p>",
            "json": lambda: json.document(data.of_model(model)),
        }
    )


def _sized(model: Layer, source: str) -> Layer:
    if not isinstance(model.params, Integer):
        missing = sorted(str(symbol) for symbol in model.params.free_symbols)
        message = f"{source} leaves {', '.join(missing)} open; put sizes in with {' '.join(f'--set {name}=...' for name in missing)}"
        message += f", or name a published size (see `paramsym families {source}`)."
        raise SizeError(message)
    return model


def _table(arguments: argparse.Namespace) -> Reply:
    model = _model(arguments)
    found = model.table(arguments.depth, buffers=arguments.buffers, letters=arguments.letters)
    if arguments.depth is not None:
        return _of_table(found)
    ledger = model.ledger(buffers=arguments.buffers, aliases=True)
    return _of_table(found, json=lambda: json.document({**data.of_model(model), "tensors": data.of_ledger(ledger)}))


def _cost(arguments: argparse.Namespace) -> Reply:
    return _of_table(_cost_of(arguments, arguments.command).table(arguments.depth, letters=arguments.letters))


def _cost_of(arguments: argparse.Namespace, question: str) -> Cost:
    """Return a cost of the model, with the options that were given and the sizes of the inputs."""
    import paramsym

    options = given(arguments)
    unknown = sorted(options.keys() - {*TAKES[question], "use" if question == "memory" else ""})
    if unknown:
        raise ArgumentError(f"{question} takes no --{'inference' if unknown[0] == 'use' else spelled(unknown[0])}.")
    if question == "communication" and "devices" not in options:
        raise ArgumentError("communication needs the number of devices; give --devices.")
    cost: Cost = getattr(paramsym, "kv_cache" if question == "cache" else question)(_model(arguments), **options)
    return cost.at(_of_inputs(arguments, cost))


def _of_inputs(arguments: argparse.Namespace, cost: Cost) -> dict[str, int]:
    """Return the given sizes of the inputs, without those whose letter is not in the cost."""
    sizes = {"B": arguments.batch, "S": arguments.positions, "W": _side(cost, arguments.side)}
    letters = {symbol.name for symbol in cost.symbols}
    return {name: size for name, size in sizes.items() if size is not None and name in letters}


def _intensity(arguments: argparse.Namespace) -> Reply:
    from paramsym.measure.traffic import intensity

    options = given(arguments)
    machine = options.pop("machine", None)
    found = intensity(_model(arguments), **options)
    found = found.at(_of_inputs(arguments, found.bytes))
    table = found.table()
    if machine is None:
        return _of_table(table)
    left = sorted(map(str, {*found.flops.total.free_symbols, *found.bytes.total.free_symbols}))
    if left:
        message = f"--machine needs numbers, but {', '.join(left)} have no size; give --batch, --positions or --side, and sizes with --set."
        raise SizeError(message)
    return _of_table(replace(table, caption=f"{found}; {found.on(machine).words}"))


def _training(arguments: argparse.Namespace) -> Reply:
    from paramsym.measure.training import training
    from paramsym.measure.work import flops

    model = _model(arguments)
    asked = flops(model)
    inputs = asked.at(_of_inputs(arguments, asked)).inputs
    return _of_table(training(model, *inputs, **given(arguments)).table())


def _side(cost: Cost, pixels: int | None) -> int | None:
    """Return the value of W for an image with this many pixels along each side: a model may state its side as 32*W."""
    if pixels is None:
        return None
    for extent in {extent for shape in cost.inputs for extent in shape if isinstance(extent, Expr)}:
        step: Any = extent.coeff(W)
        if step.is_Integer and step > 0:
            if pixels % int(step):
                message = f"--side is {pixels}; an image of {class_name(cost.layer)} has a multiple of {int(step)} pixels along each side."
                raise SizeError(message)
            return pixels // int(step)
    return None


def _of_table(found: Table, ok: bool = True, **others: Callable[[], str]) -> Reply:
    """Reply with a table; ``others`` are functions that write single formats in another way."""
    formats = {name: getattr(found, f"to_{name}") for name in ("latex", "markdown", "html", "csv", "json")}
    return Reply({"text": lambda: layout.table(found, width()), **formats, **others}, ok)


# Questions about one ----------------------------------------------------------------------------------------------------------


def _explain(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.explain.explaining import explain

    symbol = _asked_first(arguments)
    why = explain(_cost_of(arguments, arguments.of) if arguments.of else _model(arguments), symbol, style=arguments.style)

    def steps() -> Iterator[tuple[int, str, str]]:
        return ((number, step.words, step.to_latex(why.letters).replace("&=", "=")) for number, step in enumerate(why.steps, 1))

    def page() -> str:
        items = (f"<li>{html.escape(words)} ${html.escape(shown)}$</li>" for _, words, shown in steps())
        return "\n".join([f"<p>{html.escape(why.verdict)}</p>\n<ol>", *items, "</ol>"])

    return Reply(
        {
            "text": lambda: _explanation(why, width()),
            "latex": lambda: why.to_latex(arguments.letters),
            "markdown": lambda: "\n".join([why.verdict, "", *(f"{n}. {words}\n\n   ${shown}$\n" for n, words, shown in steps())]),
            "html": page,
            "json": lambda: json.document(data.of_explanation(why)),
        }
    )


def _explanation(why: Explanation, columns: int) -> str:
    lines = [painted(words(why.verdict, columns), "bold"), ""]
    for number, step in enumerate(why.steps, 1):
        hanging = " " * len(f"{number}. ")
        lines.append(words(step.words, columns, f"{number}. ", hanging))
        lines.append(layout.formula(f"{step.left} = {shown(step.right)}", columns, "    ", "      "))
        if step.numbers:
            lines.append(layout.formula(step.numbers, columns, "    ", "      "))
    return "\n".join(lines)


def _reconcile(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.reconcile.reconciling import reconcile

    if len(arguments.more) % 2:
        message = f"there is a claim without a source, or a source without a claim: {arguments.more[-1]!r}; wanted CLAIM SOURCE, repeated."
        raise ArgumentError(message)
    counted: list[Counted] = []
    claims: list[str | Layer] = []
    for claim, source in [(arguments.asked, arguments.source), *zip(arguments.more[::2], arguments.more[1::2], strict=True)]:
        row = argparse.Namespace(**{**vars(arguments), "asked": claim, "source": source})
        asked = _asked_first(row)
        counted.append(_cost_of(row, row.of) if row.of else _sized(_model(row), row.source))
        claims.append(asked if row.of else _claim(asked))
    one = len(claims) == 1
    found: Any = reconcile(counted[0], claims[0]) if one else reconcile(counted, claims)
    if not one:
        names = (arguments.source, *arguments.more[1::2])
        found = replace(found, rows=tuple(replace(row, name=name) for row, name in zip(found.rows, names, strict=True)))

    def written() -> str:
        lines = [line if found else painted(line, "yellow") for line in str(found).splitlines()]
        return "\n".join(words(line, width(), rest="    " if found else "") for line in lines)

    as_data = data.of_reconciliation if one else data.of_together
    return _of_table(found.table(), bool(found), text=written, json=lambda: json.document(as_data(found)))


def _claim(asked: str) -> str | Layer:
    """Return the other model that a claim names, or the claim as it is: a number, arithmetic, an expression."""
    if any(character.isalpha() for character in asked) and is_source(asked):
        return _sized(load(asked), asked)
    return asked


def _asked_first(arguments: argparse.Namespace) -> str:
    """Return the symbol, claim or target; if it was given after the source, swap the two, also if nothing has the source's name."""
    short = len(arguments.source) < 3 or arguments.source[:1].isdigit()
    if not is_source(arguments.source) and (short or is_source(arguments.asked)):
        arguments.source, arguments.asked = arguments.asked, arguments.source
    asked: str = arguments.asked
    return asked


def _conventions(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.conventions import conventions

    found = conventions(_model(arguments))
    return _of_table(found.table(), json=lambda: json.document(data.of_conventions(found)))


def _check(arguments: argparse.Namespace) -> Reply:
    from paramsym.checking import check

    verdict = check(arguments.source, arguments.architecture, strict=arguments.strict)

    def written() -> str:
        first, *others = (words(line, width(), rest="    ") for line in verdict.lines)
        wrong = [layout.table(verdict.table(), width())] if verdict.wrong else []
        return "\n".join([painted(first, "green" if verdict.ok else "red"), *others, *wrong])

    return _of_table(verdict.table(), verdict.ok, text=written, json=lambda: json.document(data.of_verdict(verdict)))


# Designs ----------------------------------------------------------------------------------------------------------------------


def _subject(arguments: argparse.Namespace, source: str = "") -> Counted:
    """Return what is counted: the parameters, or a cost with --of; ``source`` is another model than the first."""
    chosen = argparse.Namespace(**{**vars(arguments), "source": source or arguments.source, "sizes": [] if source else arguments.sizes})
    return _cost_of(chosen, chosen.of) if chosen.of else _model(chosen)


def _compare(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.compare import compare

    names = (arguments.source, arguments.other)
    labels = names if names[0] != names[1] else ()
    found = compare(_subject(arguments), _subject(arguments, arguments.other), labels=labels)

    def written() -> str:
        told = (words(str(one), width(), rest="    ") for one in found.crossovers)
        return "\n".join([layout.table(found.table(), width()), *told])

    return _of_table(found.table(), text=written)


def _tried(arguments: argparse.Namespace) -> tuple[Counted, dict[Symbol, Any]]:
    """Return what is counted, with its sizes except those that --over names, and the values of these."""
    subject = _subject(arguments)
    root, sizes = subject.origin
    over = candidates(arguments.over, {symbol.name: symbol for symbol in root.symbols})
    held = {symbol: size for symbol, size in sizes.items() if symbol not in over}
    return root.at(held) if held else root, over


def _sweep(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.sweep import sweep

    return _of_table(sweep(*_tried(arguments)).table())


def _solve(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.solve import solve

    asked = _asked_first(arguments)
    subject, over = _tried(arguments)
    target = int(asked) if asked.isdecimal() else asked
    found = solve(subject, target, over, best=arguments.best)
    return _of_table(found.table(), bool(found))


def _export(arguments: argparse.Namespace) -> Reply:
    from paramsym.analysis.export import export

    code = export(_subject(arguments).origin[0], arguments.language).code
    return Reply({"text": code.rstrip})


def _explore(arguments: argparse.Namespace) -> Reply:
    from paramsym.explorer.exploring import explore

    page = explore(_model(arguments), *map(load, arguments.more))
    path = page.save(arguments.output) if arguments.output is not None else page.open()
    return Reply({"text": lambda: str(path)})


# The families -----------------------------------------------------------------------------------------------------------------


def _families(arguments: argparse.Namespace) -> Reply:
    from paramsym.cli.families import every_family, one_family

    return _of_table(every_family() if arguments.source is None else one_family(arguments.source))


_COMMANDS: dict[str, Callable[[argparse.Namespace], Reply]] = {
    "formula": _formula,
    "latex": _latex,
    "count": _count,
    "compare": _compare,
    "sweep": _sweep,
    "solve": _solve,
    "export": _export,
    "table": _table,
    "explain": _explain,
    "reconcile": _reconcile,
    "conventions": _conventions,
    **dict.fromkeys(COSTS, _cost),
    "intensity": _intensity,
    "training": _training,
    "check": _check,
    "explore": _explore,
    "families": _families,
}
