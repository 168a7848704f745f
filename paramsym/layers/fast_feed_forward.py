"""Fast feed-forward networks: a binary tree of neurons is stored, one path through it is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass

from paramsym.errors import ArgumentError, SizeError
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.features import over_features
from paramsym.size import Count, Dim, Shape, canonical, stack, within

_DEEPEST = 256  # a tree of depth 256 has more nodes than there are atoms; 2**(10**9) would only fill the memory


@dataclass(frozen=True)
class FastFeedForward(Layer):
    """A fast feed-forward network, FFF: trees of depth D, of which a token takes one path from the root to a leaf.

    Without ``leaf_width`` every node is a neuron (Belcak & Wattenhofer 2023, "Exponentially Faster Language Modelling", section 2.1;
    reference: ``FFF`` in the training code of UltraFastBERT). N = 2**(D+1) - 1 nodes are stored in each of ``parallel_size`` trees P and
    D + 1 are used: ``linear_in.weight`` (P*N, input_width), ``linear_in.bias`` (P*N,), ``linear_out.weight`` (output_width, P*N).

    With ``leaf_width`` W the nodes only decide and the leaves are small networks ("Fast Feedforward Networks", 2023, section 3; reference:
    ``FFF`` in the package fastfeedforward). 2**D - 1 nodes and 2**D leaves are stored, D and 1 used: ``depth`` (), which the reference
    keeps as a frozen parameter; ``node_weights`` (2**D - 1, input_width), ``node_biases`` (2**D - 1, 1), ``w1s`` (2**D, input_width, W),
    ``b1s`` (2**D, W), ``w2s`` (2**D, W, output_width), ``b2s`` (2**D, output_width); and, frozen, with ``track_usage`` ``node_usage``
    (2**D - 1,) and ``leaf_usage`` (2**D,).

    ``.params`` counts what is stored, ``.active`` what a token uses. The depth may be a symbol.

    Raises:
        SizeError: a depth beyond any memory, or no node to decide with.
        ArgumentError: several trees of leaves, or usage tracked without leaves.

    >>> from paramsym import D, H
    >>> tree = FastFeedForward(H, H, D)
    >>> tree.params, tree.active
    (4*2**D*H + 2*2**D - 2*H - 1, 2*D*H + D + 2*H + 1)
    >>> tree.at(H=768, D=11).params, tree.at(H=768, D=11).active
    (6294015, 18444)
    """

    per_token = True

    input_width: Dim
    output_width: Dim
    depth: Count
    parallel_size: Dim = 1
    _: KW_ONLY
    leaf_width: Dim | None = None
    track_usage: bool = False

    def conditions(self) -> None:
        """The tree fits somewhere, and the arguments describe one of the two references."""
        if not within(self.depth, _DEEPEST):
            message = f"depth is {self.depth}; a tree of depth {_DEEPEST} already has 2**{_DEEPEST + 1} nodes."
            raise SizeError(message)
        if self.leaf_width is None:
            if self.track_usage:
                message = "track_usage counts visits to leaves; give leaf_width."
                raise ArgumentError(message)
            return
        if not within(1, self.depth):
            message = "depth 0 with leaf_width is one leaf and no node, an ordinary FeedForward; wanted depth 1 or more."
            raise SizeError(message)
        if self.parallel_size != 1:
            message = f"parallel_size is {self.parallel_size}; a tree with leaf_width stands alone."
            raise ArgumentError(message)

    def tensors(self) -> Iterator[Tensor]:
        """Nodes and leaves, where leaves are networks of their own."""
        if self.leaf_width is None:
            return
        all_leaves = canonical(2**self.depth)
        nodes, leaves = stack(canonical(all_leaves - 1), used=self.depth), stack(all_leaves, used=1)
        yield Tensor("depth", (), trainable=False)
        yield Tensor("node_weights", (nodes, self.input_width))
        yield Tensor("node_biases", (nodes, 1), role="bias")
        yield Tensor("w1s", (leaves, self.input_width, self.leaf_width))
        yield Tensor("b1s", (leaves, self.leaf_width), role="bias")
        yield Tensor("w2s", (leaves, self.leaf_width, self.output_width))
        yield Tensor("b2s", (leaves, self.output_width), role="bias")
        if self.track_usage:
            yield Tensor("node_usage", (nodes,), role="statistic", trainable=False)
            yield Tensor("leaf_usage", (leaves,), role="statistic", trainable=False)

    def parts(self) -> Iterator[Part]:
        """Into the neurons and out of them, where every node is one."""
        if self.leaf_width is not None:
            return
        nodes = (self.parallel_size, stack(canonical(2 ** (self.depth + 1) - 1), used=canonical(self.depth + 1)))
        yield Part("linear_in", Dense(self.input_width, nodes))
        yield Part("linear_out", Dense(nodes, self.output_width, bias=False))

    def output_shape(self, input_shape: Shape) -> Shape:
        """Positions are kept."""
        return over_features(input_shape, (self.input_width,), (self.output_width,))
