"""Tables of vectors looked up by index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paramsym.layer import Layer, Tensor
from paramsym.size import Dim


@dataclass(frozen=True)
class Embedding(Layer):
    """A table of ``num_embeddings`` rows. ``weight`` is (num_embeddings, embedding_dim). Reference: ``torch.nn.Embedding``.

    >>> from paramsym import H, V
    >>> Embedding(V, H).params
    H*V
    """

    num_embeddings: Dim
    embedding_dim: Dim

    def tensors(self) -> Iterator[Tensor]:
        """The table."""
        yield Tensor("weight", (self.num_embeddings, self.embedding_dim), role="table")
