"""Several models and several questions in one table, in numbers, formulas or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from sympy import Expr, Symbol

from paramsym.algebra.letters import Lettering, lettering
from paramsym.algebra.size import Count, Dim, canonical, count, expressions, substitute, symbols_in
from paramsym.algebra.symbols import LETTERS, dims
from paramsym.analysis.counted import Counted
from paramsym.analysis.meaning import meaning
from paramsym.arguments import known_word
from paramsym.core.layer import Layer
from paramsym.errors import ArgumentError, UnknownNameError
from paramsym.measure.activations import activations
from paramsym.measure.cost import Cost
from paramsym.measure.kv_cache import kv_cache
from paramsym.measure.memory import memory
from paramsym.measure.work import flops, macs
from paramsym.naming import described
from paramsym.render.latex import symbol as written
from paramsym.render.table import Cell, Letters, Table

Answers: TypeAlias = Literal["numbers", "formulas", "both"]
Asked: TypeAlias = Callable[[Layer], Counted | Expr | int]
QUESTIONS: Mapping[str, Asked] = {
    "parameters": lambda layer: layer,
    "trainable parameters": lambda layer: layer.trainable,
    "active parameters": lambda layer: layer.active,
    "FLOPs": flops,
    "FLOPs per token": partial(flops, per="token"),
    "training FLOPs per token": partial(flops, way="both", per="token"),
    "MACs": macs,
    "MACs per token": partial(macs, per="token"),
    "cache": kv_cache,
    "cache per token": partial(kv_cache, per="token"),
    "activations": activations,
    "training memory": memory,
}
"""The questions that have a name."""
_SAID = {
    "cache": "keys and values that are kept, in numbers",
    "cache per token": "keys and values that are kept, in numbers",
    "activations": "bytes kept for the backward pass",
    "training memory": "in bytes",
}


def table(
    models: Mapping[str, Layer],
    sizes: Iterable[Symbol | str] | None = None,
    questions: Iterable[str] | Mapping[str, Asked] = ("parameters",),
    *,
    at: Mapping[Any, Count] | None = None,
    answers: Answers = "numbers",
    letters: Lettering = None,
) -> Table:
    """Return a table of several models, or several sizes of one: their sizes, and the answers to some questions. Notes define its letters.

    ``models`` gives each a name. ``sizes`` chooses the letters; by default all letters for which a model has a size, in the order of the
    shared letters, and in a table of formulas none. A model without a letter has an empty cell.

    ``questions`` are "parameters", "trainable parameters", "active parameters", "FLOPs", "MACs", "cache", each but the first three also
    "per token", "training FLOPs per token", "activations" or "training memory"; or a mapping from titles of your own to functions of a
    layer, such as ``{"MACs": lambda net: ps.macs(net, (1, 3, 224, 224))}``. ``at`` puts sizes of the inputs in, such as ``{S: 1024}``.

    ``answers`` are the numbers, one row for each model; the formulas, one row for each question and model; or both.

    Raises:
        ArgumentError: something other than a mapping from names to layers, an unknown question, or unknown ``answers``.
        UnknownNameError: a letter for which none of the models has a size, or, in ``at``, one that none of the answers has.
        NotYetError: a model without a forward pass, if a question needs one.

    >>> import paramsym as ps
    >>> models = {"GPT-2": ps.load("gpt2"), "Llama-2-7B": ps.load("meta-llama/Llama-2-7b-hf")}
    >>> print(table(models, ["L", "H"], ["parameters", "FLOPs per token"], at={"S": 1024}))
    model        L      H     parameters  FLOPs per token
    -----------------------------------------------------
    GPT-2       12    768    124,439,808      284,812,800
    Llama-2-7B  32  4,096  6,738,415,616   13,751,025,664
    L: number of layers (blocks); H: hidden size; S: sequence
    length (1,024)
    >>> print(table(models, questions=["cache per token"], answers="formulas"))
    question         model       formula
    --------------------------------------
    cache per token  GPT-2       2*L*H
    cache per token  Llama-2-7B  2*L*G*H/A
    L: number of layers (blocks); A: number of attention heads;
    G: number of key/value heads (query groups); H: hidden size;
    cache per token: keys and values that are kept, in numbers
    """
    _check(models)
    answers = known_word("answers", answers, get_args(Answers))
    asked = _asked(questions)
    given = {name: {symbol.name: size for symbol, size in layer.sizes.items()} for name, layer in models.items()}
    known = sorted({letter for held in given.values() for letter in held}, key=_place)
    wanted = (known if answers == "numbers" else []) if sizes is None else [*_chosen(sizes, known)]
    put = {_name(letter): count(size, str(letter)) for letter, size in (at or {}).items()}
    found = {
        (title, name): _Answer(asked[title], layer, put, formula=answers != "numbers") for title in asked for name, layer in models.items()
    }
    left = put.keys() - {letter for one in found.values() for letter in one.letters}
    if left:
        raise UnknownNameError(f"at has {', '.join(sorted(left))}, but no answer in this table depends on it.")
    head = {name: (name, *(held.get(letter) for letter in wanted)) for name, held in given.items()}
    rows: tuple[tuple[Cell, ...], ...]
    columns: tuple[str, ...]
    if answers == "numbers":
        columns = ("model", *wanted, *asked)
        rows = tuple((*head[name], *(found[title, name].number for title in asked)) for name in models)
    else:
        last = ("formula", "number")[: 1 + (answers == "both")]
        columns = ("question", "model", *wanted, *last)
        rows = tuple((title, *head[name], *one.both[: len(last)]) for (title, name), one in found.items())
    symbols = symbols_in(rows) | {dims(letter) for letter in wanted}
    put_in = {letter: size for letter, size in put.items() if isinstance(size, int)} if answers != "formulas" else {}
    notes = [*_meanings(models.values(), symbols, put_in), *((title, _SAID[title]) for title in asked if title in _SAID)]
    return Table(columns, rows, letters=_with(lettering(letters, symbols), symbols), notes=tuple(notes))


def _chosen(sizes: Iterable[Symbol | str], known: Sequence[str]) -> Iterator[str]:
    """Yield the names of letters; a list without end is refused at the first name that no model has, or that it has twice."""
    before: set[str] = set()
    for size in sizes:
        letter = str(getattr(size, "name", size))
        if letter not in known:
            raise UnknownNameError(f"none of the models has a size for {letter!r}; they have sizes for {', '.join(known) or 'no letter'}.")
        if letter in before:
            raise ArgumentError(f"the letter {letter} is named twice.")
        before.add(letter)
        yield letter


class _Answer:
    """The answer to a question about a model: the number with all sizes put in, and the formula without those that are numbers."""

    def __init__(self, ask: Asked, layer: Layer, put: Mapping[str, Dim], *, formula: bool) -> None:
        whole = ask(layer)
        self.letters = {symbol.name for symbol in _symbols(whole)}
        self.number: Cell = canonical(_put(whole, put))
        general = ask(layer.origin[0]) if formula else whole
        self.both = (canonical(_put(general, {letter: size for letter, size in put.items() if not isinstance(size, int)})), self.number)


def _symbols(value: Counted | Expr | int) -> frozenset[Symbol]:
    return value.symbols if isinstance(value, Layer | Cost) else frozenset(symbols_in((value,)))


def _put(value: Counted | Expr | int, sizes: Mapping[str, Dim]) -> Expr | int:
    """Return a total with sizes put in for the letters that it has; a layer has its sizes already."""
    if isinstance(value, Layer):
        return value.params
    held = {symbol: sizes[symbol.name] for symbol in _symbols(value) if symbol.name in sizes}
    if isinstance(value, Cost):
        return value.at(held).total if held else value.total
    return substitute(value, expressions(held))


def _meanings(models: Iterable[Layer], symbols: Iterable[Symbol], sizes: Mapping[str, int]) -> Iterator[tuple[Cell, str]]:
    """Yield each letter with its meaning, a shared meaning before a name of an argument, and its size where it was put in."""
    layers = [layer.origin[0] for layer in models]
    letters = {*symbols, *map(dims, sizes)}
    for letter in sorted(letters, key=lambda one: _place(one.name)):
        said = [meaning(letter, layer) for layer in layers if letter in layer.symbols] or [meaning(letter, layers[0])]
        words = next((one for one in said if " " in one), next(filter(None, said), ""))
        size = f"({sizes[letter.name]:,})" if letter.name in sizes else ""
        if words or size:
            yield letter, f"{words} {size}".strip()


def _check(models: Any) -> None:
    if not isinstance(models, Mapping) or not models or not all(isinstance(layer, Layer) for layer in models.values()):
        raise ArgumentError(f"models is {described(models)}; wanted names with layers, such as {{'base': one, 'large': other}}.")


def _asked(questions: Any) -> dict[str, Asked]:
    if isinstance(questions, Mapping) and all(callable(ask) for ask in questions.values()):
        return dict(questions)
    if isinstance(questions, str) or not isinstance(questions, Iterable) or isinstance(questions, Mapping):
        raise ArgumentError(
            f"questions is {described(questions)}; wanted a list such as ['parameters', 'FLOPs'], or titles with functions."
        )
    found: dict[str, Asked] = {}
    for typed in questions:
        one = known_word("a question", typed, QUESTIONS, ", or a title with a function")
        if one in found:
            raise ArgumentError(f"the question {one!r} is asked twice.")
        found[one] = QUESTIONS[one]
    return found


def _name(letter: Any) -> str:
    return str(getattr(letter, "name", letter))


def _place(letter: str) -> tuple[int, str]:
    order = [one.name for one in LETTERS]
    return (order.index(letter) if letter in order else len(order), letter)


def _with(letters: Letters, symbols: Iterable[Symbol]) -> Letters:
    """Add the letters of the models to the shared ones, so that a title that is one of them is set as a letter."""
    known = dict(letters.latex)
    more = sorted({symbol.name for symbol in symbols} - known.keys())
    return Letters((*letters.latex, *((name, written(name, letters)) for name in more)))
