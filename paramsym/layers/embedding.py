"""Tables of vectors looked up by index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

from paramsym.errors import ShapeError, SizeError
from paramsym.extents import View, share
from paramsym.layer import Layer, Tensor
from paramsym.layers.dialects import Dialect
from paramsym.size import Dim, Shape, Width, extent, product, text, within


class Lookup(Layer):
    """What looks a row up for every index that goes in."""

    counted_by: ClassVar[tuple[str, str]] = ("num_embeddings", "embedding_dim")

    def output_shape(self, input_shape: Shape) -> Shape:
        """A vector for every index."""
        return (*input_shape, extent(getattr(self, self.counted_by[1])))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """One row for every index; on average an entry is used as often as there are indices per row."""
        rows = extent(getattr(self, self.counted_by[0]))
        return {tensor.name: share(product(input_shape[1:]), rows) for tensor in self.own_tensors[:1] if not tensor.buffer}

    def views(self) -> tuple[View, ...]:
        """Every output vector sees its own index."""
        return ()


def _check_padding_index(padding_idx: int | None, num_embeddings: Width) -> None:
    rows = extent(num_embeddings)
    if padding_idx is not None and not within(padding_idx + 1 if padding_idx >= 0 else -padding_idx, rows):
        message = f"padding_idx {padding_idx} is outside the table of num_embeddings {rows} rows."
        raise SizeError(message)


@dataclass(frozen=True)
class Embedding(Lookup):
    """A table of ``num_embeddings`` vectors of width ``embedding_dim``.

    ``weight`` is (num_embeddings, embedding_dim), called ``embeddings`` with ``dialect="keras"`` and ``embedding`` with ``"flax"``.
    Parameters: their product; the row of ``padding_idx`` is stored like any other. A ``_freeze``-d table (torch's ``from_pretrained``) is
    counted, but not trained.

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
        """The table."""
        name = {"torch": "weight", "keras": "embeddings", "flax": "embedding"}[self.dialect]
        yield Tensor(name, (self.num_embeddings, self.embedding_dim), role="table", trainable=not self._freeze)

    def conditions(self) -> None:
        """The padding index is a row of the table."""
        _check_padding_index(self.padding_idx, self.num_embeddings)


@dataclass(frozen=True)
class EmbeddingBag(Lookup):
    """A table whose rows are summed, averaged or maximised over bags of indices, without storing the rows in between.

    ``weight`` is (num_embeddings, embedding_dim). Parameters: their product.

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
        """The table."""
        yield Tensor("weight", (self.num_embeddings, self.embedding_dim), role="table")

    def conditions(self) -> None:
        """The padding index is a row of the table."""
        _check_padding_index(self.padding_idx, self.num_embeddings)

    def output_shape(self, input_shape: Shape) -> Shape:
        """One vector for every bag: (bags, indices) goes in. How many bags a flat list makes is not in its shape."""
        if len(input_shape) != 2:
            message = f"wanted 2 axes, (bags, indices of a bag); found {len(input_shape)}, {text(input_shape)}."
            raise ShapeError(message)
        return (input_shape[0], extent(self.embedding_dim))


@dataclass(frozen=True)
class ReversibleEmbedding(Lookup):
    """A table that also maps vectors back to scores over its rows.

    ``embeddings`` is (input_dim, output_dim). Tied, the same table is used both ways; otherwise ``reverse_embeddings``,
    (output_dim, input_dim), is stored as well. Parameters: in*out, or 2*in*out. Reference: Keras ``ReversibleEmbedding``; tying: Press and
    Wolf 2017.

    >>> from paramsym import H, V
    >>> ReversibleEmbedding(V, H).params, ReversibleEmbedding(V, H, tie_weights=False).params
    (H*V, 2*H*V)
    """

    counted_by = ("input_dim", "output_dim")

    input_dim: Width
    output_dim: Width
    tie_weights: bool = True
    mask_zero: bool = False
    logit_soft_cap: float | None = None

    def tensors(self) -> Iterator[Tensor]:
        """The table, then the one for the way back."""
        yield Tensor("embeddings", (self.input_dim, self.output_dim), role="table")
        if not self.tie_weights:
            yield Tensor("reverse_embeddings", (self.output_dim, self.input_dim), role="table")
