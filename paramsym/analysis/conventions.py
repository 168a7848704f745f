"""``conventions(model)``: the usual ways to count its parameters, each as a ledger, so that their differences are terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, overload

from sympy import Expr

from paramsym.algebra.numbering import Numbers
from paramsym.algebra.size import shown
from paramsym.analysis.counted import Counted, put, sums
from paramsym.analysis.formula import number
from paramsym.analysis.listing import ByName, Listing, Topic, listing
from paramsym.analysis.ways import Alternative, ways
from paramsym.core.layer import Layer, check_layer
from paramsym.core.ledger import Kind, Ledger, Line
from paramsym.measure.cost import Cost
from paramsym.measure.work_conventions import CONVENTIONS, is_position
from paramsym.naming import some
from paramsym.present.tabulate import PAPER
from paramsym.program.statement import class_name
from paramsym.render.printed import Printed
from paramsym.render.table import Table

Selection: TypeAlias = Callable[[Layer], Ledger]

_NAMED = 4  # the most tensors that a difference names; the others are counted


@dataclass(frozen=True)
class Convention(Printed):
    """One way to count a layer: its ``name``, meaning and source, and the count in closed form.

    ``formula`` is the count before sizes were put in, ``params`` after; ``difference`` and ``formula_difference`` are the difference from
    the stored count. ``left_out``, ``added`` and ``changed`` (another number of copies) name the tensors.
    """

    name: str
    meaning: str
    source: str
    formula: Expr
    params: Expr
    formula_difference: Expr
    difference: Expr
    left_out: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        """The tensors that differ, in words."""
        kinds = (("without", self.left_out), ("with", self.added), ("another share of", self.changed))
        return ", ".join(f"{word} {some(names, _NAMED)}" for word, names in kinds if names)

    def __str__(self) -> str:
        if self.formula_difference == 0:
            return f"{self.name}: {number(self.params)}"
        return f"{self.name}: {number(self.params)}, stored {_signed(self.formula_difference)}; {self.because or self.meaning}"


@dataclass(frozen=True)
class Conventions(ByName[Convention]):
    """The conventions side by side, *stored* first; ``conventions(model)["trainable"]`` gives one by its name."""

    subject: str
    items: tuple[Convention, ...]
    unit: str = "parameters"

    def table(self) -> Table:
        """Return a table with each count and its difference from the stored count, or from the given cost."""
        rows = tuple((item.name, item.params, item.formula_difference, item.because or item.meaning) for item in self.items)
        against = "against stored" if self.unit == "parameters" else f"against {self.items[0].name}"
        return Table(("convention", self.unit, against, "that is"), rows, (), f"{self.subject}: what counts", PAPER)


@overload
def conventions(subject: Counted) -> Conventions: ...
@overload
def conventions(subject: Topic = "all") -> Listing: ...
def conventions(subject: Counted | Topic = "all") -> Conventions | Listing:
    """Return every named way to count a layer, with its difference from ``layer.params``; or every way to count a cost.

    For a cost, the first entry is the cost itself, and the others are the conventions of its kind that give another total. Without a
    subject, all conventions of costs are listed, with what they count, their source and their known faults; a topic is "work",
    "activations", "optimizers", "formats", "losses", "sharings" or "machines".

    - *stored*: every distinct tensor once;
    - *rows as listed*: tied tensors counted again under each of their names;
    - *trainable*: without frozen tensors;
    - *with buffers*: everything in a state dict, ties once;
    - *non-embedding (nanoGPT)*: without position tables; the token table stays, as the output matrix too, unless the model has an
      output matrix that is not tied;
    - *non-embedding (Hugging Face)*: without every ``nn.Embedding``, tied or not;
    - *non-embedding (Kaplan)*: only the matrices inside the repeated blocks (Kaplan et al. 2020, equation 2.1);
    - *active*: the parameters that one token uses: k of E experts, a shared block times the number of its uses;
    - *touched*: the same, with one row of every table that is only looked up.

    >>> from paramsym import Block, Dense, Embedding, H, Tied, V
    >>> model = Tied(Block(wte=Embedding(V, H), head=Dense(H, V, bias=False)), {"head.weight": "wte.weight"})
    >>> found = conventions(model)
    >>> found["rows as listed"].difference, found["non-embedding (Hugging Face)"].params
    (H*V, 0)
    >>> print(found["rows as listed"])
    rows as listed: 2*V*H, stored + V*H; with head.weight
    >>> from paramsym import B, flops
    >>> conventions(flops(Dense(H, V), (B, H)))["multiply-adds"].params
    B*H*V
    """
    if isinstance(subject, str):
        return listing(subject)
    if isinstance(subject, Cost):
        return _of_cost(subject)
    check_layer(subject)
    return _of_layer(subject)


def _of_cost(cost: Cost) -> Conventions:
    root, sizes = cost.origin
    here = root.polynomial
    name = str(cost.chosen.get("convention", cost.convention))
    source = CONVENTIONS[name].source if name in CONVENTIONS else ""
    found = [Alternative(name, "the cost itself", source, here, 0.0), *(way for way in ways(root) if way.of_convention)]
    items = []
    for one in found:
        term = one.total - here
        numbers = [put(value, sizes).as_expr() for value in (one.total, term)]
        meaning = CONVENTIONS[one.name].counts if one.name in CONVENTIONS else one.words
        items.append(Convention(one.name, meaning, one.source, one.total.as_expr(), numbers[0], term.as_expr(), numbers[1], (), ()))
    return Conventions(cost.subject, tuple(items), cost.unit)


def _of_layer(layer: Layer) -> Conventions:
    root = layer.origin[0]
    stored, formula = layer.polynomial, root.polynomial
    items = []
    for name, meaning, source, select, kind in _CONVENTIONS:
        general = select(root)
        chosen = general if layer is root else select(layer)
        count, closed = chosen.polynomial(kind), general.polynomial(kind)
        more, difference = (closed - formula).as_expr(), (count - stored).as_expr()
        tensors = _differences(root.ledger(), general, kind)
        items.append(Convention(name, meaning, source, closed.as_expr(), count.as_expr(), more, difference, *tensors))
    return Conventions(class_name(root), tuple(items))


def _differences(stored: Ledger, chosen: Ledger, kind: Kind) -> tuple[tuple[str, ...], ...]:
    """Return the names of tensors that a convention leaves out, adds, or counts in another number of copies."""
    before, after = sums(stored, lambda line: line.name), sums(chosen, lambda line: line.name, kind)
    return (
        tuple(name for name in before if name not in after),
        tuple(name for name in after if name not in before),
        tuple(name for name in before if name in after and before[name] != after[name]),
    )


def _multiplied(layer: Layer) -> frozenset[str]:
    """The tables that are also used in a product: those tied to a tensor that is not a table."""
    tied: dict[str, list[Line]] = {}
    for line in layer.lines:
        tied.setdefault(line.alias_of or line.name, []).append(line)
    used = (lines for lines in tied.values() if any(line.alias_of for line in lines) and any(line.role != "table" for line in lines))
    return frozenset(line.name for lines in used for line in lines)


def _without_positions(layer: Layer) -> Ledger:
    """Without position embeddings, and without token embeddings that are not the output matrix."""
    ledger = layer.ledger()
    outputs = {line.sizes for line in ledger if line.role == "weight"}
    return ledger.where(lambda line: line.role != "table" or not (is_position(line) or line.sizes in outputs))


def _is_embedding(line: Line) -> bool:
    """Whether the tensor belongs to an embedding layer: Hugging Face checks the module, and a bare table is not a module."""
    return line.role == "table" and str(line.path[-1]) in {"weight", "embeddings"} and len(line.shape) == 2


def _block_matrices(layer: Layer) -> Ledger:
    kept = layer.ledger().where(lambda line: line.role == "weight" and len(line.shape) > 1)
    multiplied = _multiplied(layer)
    repeated = kept.where(lambda line: any(isinstance(step, Numbers) for step in line.path))
    return (repeated if len(repeated) else kept).where(lambda line: line.name not in multiplied)


def _touched(layer: Layer) -> Ledger:
    multiplied = _multiplied(layer)
    looked_up = (_is_embedding(line) and line.name not in multiplied for line in layer.ledger())
    lines = zip(layer.ledger(), looked_up, strict=True)
    return Ledger(tuple(replace(line, factors=line.sizes[1:]) if one_row else line for line, one_row in lines))


_CONVENTIONS: tuple[tuple[str, str, str, Selection, Kind], ...] = (
    ("stored", "every distinct tensor once", "torch's parameters(), summed", Layer.ledger, "stored"),
    (
        "rows as listed",
        "tied tensors counted again under each name",
        "a state dict, summed",
        lambda layer: layer.ledger(aliases=True),
        "stored",
    ),
    ("trainable", "without frozen tensors", "requires_grad", lambda layer: layer.ledger().where(lambda line: line.trainable), "stored"),
    (
        "with buffers",
        "with everything in a state dict, ties once",
        "Keras' total with statistics",
        lambda layer: layer.ledger(buffers=True).where(lambda line: line.persistent or not line.buffer),
        "stored",
    ),
    ("non-embedding (nanoGPT)", "without position tables", "nanoGPT, get_num_params", _without_positions, "stored"),
    (
        "non-embedding (Hugging Face)",
        "without every embedding layer",
        "num_parameters(exclude_embeddings=True)",
        lambda layer: layer.ledger().where(lambda line: not _is_embedding(line)),
        "stored",
    ),
    ("non-embedding (Kaplan)", "the matrices of the blocks alone", "Kaplan et al. 2020, equation 2.1", _block_matrices, "stored"),
    ("active", "what one token uses", "mixtures of experts", Layer.ledger, "used"),
    ("touched", "what one token uses, one row of each lookup table", "Belcak and Wattenhofer 2023", _touched, "used"),
)


def _signed(value: Expr) -> str:
    written = shown(value)
    return f"- {written[1:]}" if written.startswith("-") else f"+ {written}"
