"""Tables of vectors looked up by index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.size import Dim, Width, canonical, extent, text, within
from paramsym.core.layer import Layer, Tensor
from paramsym.errors import RankError, SizeError
from paramsym.layers.dialects import Dialect

if TYPE_CHECKING:
    from paramsym.program import Own, Value


def renormed(rows: Value, max_norm: float | None, norm_type: float) -> Value:
    """Return rows with a norm of at most ``max_norm``; torch rescales them in the table at the look-up."""
    if max_norm is None:
        return rows
    size = ops.apply("abs", rows)
    length = ops.reduce("max", size, keep=True) if norm_type == inf else ops.reduce("sum", size**norm_type, keep=True) ** (1 / norm_type)
    return ops.where(ops.compare(length, "greater", max_norm), rows * (max_norm / (length + 1e-7)), rows)


def _check_padding_index(padding_idx: int | None, num_embeddings: Width) -> None:
    rows = extent(num_embeddings)
    if padding_idx is not None and not within(padding_idx + 1 if padding_idx >= 0 else -padding_idx, rows):
        raise SizeError(f"padding_idx {padding_idx} is outside the table of num_embeddings {rows} rows.")


@dataclass(frozen=True)
class Embedding(Layer):
    """A table of ``num_embeddings`` vectors of width ``embedding_dim``.

    ``weight`` is (num_embeddings, embedding_dim), called ``embeddings`` with ``dialect="keras"`` and ``embedding`` with ``"flax"``.
    Parameters: their product; the row of ``padding_idx`` is stored like any other. A table with ``_freeze`` (torch's ``from_pretrained``)
    is counted, but not trained.

    Raises:
        SizeError: a ``padding_idx`` outside the table.

    Reference: ``torch.nn.Embedding``; Keras: ``Embedding``; Flax: ``linen.Embed``.

    >>> from paramsym import H, V
    >>> Embedding(V, H).params, Embedding(V, H, padding_idx=0).at(V=30_522, H=768).params
    (H*V, 23440896)
    """

    num_embeddings: Width
    embedding_dim: Width
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    sparse: bool = False
    _: KW_ONLY
    _freeze: bool = False
    dialect: Dialect = "torch"

    def tensors(self) -> Iterator[Tensor]:
        name = {"torch": "weight", "keras": "embeddings", "flax": "embedding"}[self.dialect]
        yield Tensor(name, (self.num_embeddings, self.embedding_dim), role="table", trainable=not self._freeze)

    def conditions(self) -> None:
        _check_padding_index(self.padding_idx, self.num_embeddings)

    def forward(self, own: Own, index: Value) -> Value:
        table = own[self.own_tensors[0].name]
        if self.max_norm is None:
            return ops.lookup(table, index)

        def kernel(table: Value, index: Value) -> Value:
            return renormed(ops.lookup(table, index), self.max_norm, self.norm_type)

        return ops.region("embedding", kernel, table, index, keeps=(ops.Kept("taken", 1),))


@dataclass(frozen=True)
class EmbeddingBag(Layer):
    """A table whose rows are summed, averaged or maximised over bags of indices, without storing the rows in between.

    ``weight`` is (num_embeddings, embedding_dim), the only stored tensor.

    Raises:
        SizeError: a ``padding_idx`` outside the table.
        ArgumentError: an unknown mode.

    Reference: ``torch.nn.EmbeddingBag``.

    >>> from paramsym import H, V
    >>> EmbeddingBag(V, H, mode="sum").params
    H*V
    """

    num_embeddings: Width
    embedding_dim: Width
    max_norm: float | None = None
    norm_type: float = 2.0
    scale_grad_by_freq: bool = False
    mode: Literal["mean", "sum", "max"] = "mean"
    sparse: bool = False
    _: KW_ONLY
    include_last_offset: bool = False
    padding_idx: int | None = None

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("weight", (self.num_embeddings, self.embedding_dim), role="table")

    def conditions(self) -> None:
        _check_padding_index(self.padding_idx, self.num_embeddings)

    def forward(self, own: Own, index: Value, weights: Value | None = None) -> Value:
        """One vector for every bag: the input is (bags, indices), and with "sum" a weight for every index.

        A flat list is not accepted, because its shape does not contain the number of bags.
        """
        if index.rank != 2:
            raise RankError(f"wanted 2 axes, (bags, indices of a bag); found {index.rank}, {text(index.sizes)}.")
        values = (own.weight, index) if weights is None else (own.weight, index, weights)
        return ops.region("embedding bag", self._reduced, *values, keeps=tuple(self._kept(*index.sizes, weighted=weights is not None)))

    def _kept(self, bags: Dim, entries: Dim, *, weighted: bool) -> Iterator[ops.Kept]:
        """The indices and weights; the first index and the length of each bag, the place of each maximum; and the bag of each index."""
        yield ops.Kept("taken", 1, merged=((0, 1),))
        if weighted:
            yield ops.Kept("taken", 2)
        for sizes in ((bags,), (bags,), (bags, extent(self.embedding_dim)) if self.mode == "max" else (bags,)):
            yield ops.Kept("own", factors=sizes, kind="index")
        if self.mode != "sum" or self.padding_idx is not None:
            yield ops.Kept("own", factors=(canonical(bags * entries + 1),), kind="index")

    def _reduced(self, table: Value, index: Value, weights: Value | None = None) -> Value:
        rows = renormed(ops.lookup(table, index), self.max_norm, self.norm_type)
        rows = rows if weights is None else rows * ops.rearrange(weights, "b n -> b n ()")
        return ops.reduce(self.mode, rows, 1) if self.padding_idx is None else self._without_padding(index, rows)

    def _without_padding(self, index: Value, rows: Value) -> Value:
        """Leave the padding out; a bag with only padding gives zeros."""
        row = self.padding_idx if self.padding_idx is None or self.padding_idx >= 0 else extent(self.num_embeddings) + self.padding_idx
        padding = ops.rearrange(ops.compare(index, "equal", row or 0), "b n -> b n ()")
        counts = ops.reduce("sum", ops.where(padding, rows * 0, 1.0), 1)
        if self.mode == "max":
            return ops.where(ops.compare(counts, "greater", 0), ops.reduce("max", ops.where(padding, rows * 0 - inf, rows), 1), 0.0)
        total = ops.reduce("sum", ops.where(padding, rows * 0, rows), 1)
        return total if self.mode == "sum" else total / ops.apply("clip", counts, 1.0, inf)


@dataclass(frozen=True)
class ReversibleEmbedding(Layer):
    """A table that also maps vectors back to scores over its rows.

    ``embeddings`` is (input_dim, output_dim). Tied, the same table is used both ways; otherwise ``reverse_embeddings``,
    (output_dim, input_dim), is stored as well. Parameters: in*out, or 2*in*out. Reference: Keras ``ReversibleEmbedding``; tying: Press and
    Wolf 2017.

    >>> from paramsym import H, V
    >>> ReversibleEmbedding(V, H).params, ReversibleEmbedding(V, H, tie_weights=False).params
    (H*V, 2*H*V)
    """

    input_dim: Width
    output_dim: Width
    tie_weights: bool = True
    mask_zero: bool = False
    logit_soft_cap: float | None = None

    def tensors(self) -> Iterator[Tensor]:
        yield Tensor("embeddings", (self.input_dim, self.output_dim), role="table")
        if not self.tie_weights:
            yield Tensor("reverse_embeddings", (self.output_dim, self.input_dim), role="table")

    def forward(self, own: Own, index: Value, hidden: Value | None = None) -> Value | tuple[Value, Value]:
        """A row for every index; for vectors given after the indices also their scores, as with Keras' ``reverse=True``."""
        rows = ops.lookup(own.embeddings, index)
        if hidden is None:
            return rows
        table = ops.rearrange(own.embeddings, "v h -> h v") if self.tie_weights else own.reverse_embeddings
        scores = ops.contract("... h, h v -> ... v", ops.features(hidden, self.output_dim), table)
        cap = self.logit_soft_cap
        return rows, scores if cap is None else ops.apply("tanh", scores / cap) * cap
