"""Fast feed-forward networks: a binary tree of neurons is stored, and a token uses one path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from paramsym import program as ops
from paramsym.algebra.size import Count, Dim, canonical, stack, within
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, SizeError
from paramsym.layers.axes import widened
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Own, Value

_DEEPEST = 256  # a tree of depth 256 fits into no memory, and computing 2**(10**9) would fill this one


@dataclass(frozen=True)
class FastFeedForward(Layer):
    """A fast feed-forward network, FFF: trees of depth D, of which a token takes one path from the root to a leaf.

    Without ``leaf_width`` every node is a neuron (Belcak & Wattenhofer 2023, "Exponentially Faster Language Modelling", section 2.1;
    reference: ``FFF`` in the training code of UltraFastBERT). Each of P = ``parallel_size`` trees stores N = 2**(D+1) - 1 nodes, of which
    a token uses D + 1. With W = ``leaf_width`` the nodes only choose the path, and the leaves are small networks ("Fast Feedforward
    Networks", 2023, section 3; reference: ``FFF`` in the package fastfeedforward). The tree stores M = 2**D - 1 nodes and 2**D leaves, of
    which a token uses D nodes and one leaf.

    ===================  ======================  =========================  ========================
    without leaf_width                           with leaf_width
    -------------------------------------------  ---------------------------------------------------
    linear_in.weight     (P*N, input_width)      node_weights               (M, input_width)
    linear_in.bias       (P*N,)                  node_biases                (M, 1)
    linear_out.weight    (output_width, P*N)     w1s, b1s                   (2**D, input_width, W), (2**D, W)
    ..                                           w2s, b2s                   (2**D, W, output_width), (2**D, output_width)
    ===================  ======================  =========================  ========================

    A tree with leaves also has frozen parameters: ``depth`` (), and with ``track_usage`` ``node_usage`` (M,) and ``leaf_usage`` (2**D,).
    ``.params`` counts the stored parameters, ``.active`` those that a token uses. The depth may be a symbol.

    Raises:
        SizeError: a depth that fits into no memory, or a tree without nodes.
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
        if not within(self.depth, _DEEPEST):
            raise SizeError(f"depth is {self.depth}; a tree of depth {_DEEPEST} already has 2**{_DEEPEST + 1} nodes.")
        if self.leaf_width is None:
            if self.track_usage:
                raise ArgumentError("track_usage counts visits to leaves; give leaf_width.")
            return
        if not within(1, self.depth):
            raise SizeError("depth 0 with leaf_width is one leaf and no node, an ordinary FeedForward; wanted depth 1 or more.")
        if self.parallel_size != 1:
            raise ArgumentError(f"parallel_size is {self.parallel_size}; a tree with leaf_width is used alone.")

    def tensors(self) -> Iterator[Tensor]:
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
        if self.leaf_width is not None:
            return
        nodes = (self.parallel_size, stack(canonical(2 ** (self.depth + 1) - 1), used=canonical(self.depth + 1)))
        yield Part("linear_in", Dense(self.input_width, nodes))
        yield Part("linear_out", Dense(nodes, self.output_width, bias=False))

    def forward(self, own: Own, x: Value) -> Value:
        """The path of every position: the sign of a node's score chooses the next child.

        This is the computation of evaluation, and every path has the same work. In training the references differ: without leaf networks
        all nodes are computed and those outside the path are masked; with leaf networks all leaves are mixed by the nodes' sigmoids.
        """
        if self.leaf_width is not None:
            return self._leaf(own, ops.features(x, self.input_width))
        weight = ops.rearrange(own["linear_in.weight"], "(p n) i -> n p i", p=self.parallel_size)
        bias = ops.rearrange(own["linear_in.bias"], "(p n) -> n p", p=self.parallel_size)
        out = ops.rearrange(own["linear_out.weight"], "o (p n) -> n p o", p=self.parallel_size)
        batch = ops.features(x, self.input_width).sizes[:-1]

        def tree(total: Value, weight: Value, bias: Value, out: Value) -> tuple[Value, ...]:
            def step(node: Value, total: Value, _: Value) -> tuple[Value, ...]:
                score = _product(x, ops.choose(weight, node)) + ops.choose(bias, node)
                return _child(node, score), total + widened(ops.apply("gelu", score)) * ops.choose(out, node)

            start = ops.constant("index zeros", batch, kind="index")
            return ops.scan(step, (start, total), ops.constant("positions", (canonical(self.depth + 1),)), axis=0)[1:]

        return ops.scan(tree, (ops.constant("zeros", (*batch, self.output_width)),), weight, bias, out)[0]

    def _leaf(self, own: Own, x: Value) -> Value:
        weights, biases = own.node_weights, ops.rearrange(own.node_biases, "n one -> (n one)")

        def step(node: Value, _: Value) -> tuple[Value, ...]:
            return (_child(node, _product(x, ops.choose(weights, node)) + ops.choose(biases, node)),)

        start = ops.constant("index zeros", x.sizes[:-1], kind="index")
        (node,) = ops.scan(step, (start,), ops.constant("positions", (self.depth,)), axis=0)
        leaf = node - canonical(2**self.depth - 1)
        hidden = ops.apply("relu", ops.contract("... i, ... i w -> ... w", x, ops.choose(own.w1s, leaf)) + ops.choose(own.b1s, leaf))
        return ops.contract("... w, ... w o -> ... o", hidden, ops.choose(own.w2s, leaf)) + ops.choose(own.b2s, leaf)


def _product(x: Value, weights: Value) -> Value:
    return ops.contract("... i, ... i -> ...", x, weights)


def _child(node: Value, score: Value) -> Value:
    """Return the left child of a node, or the right one if the score is positive."""
    return node * 2 + 1 + ops.where(ops.compare(score, "greater", 0), node * 0 + 1, node * 0)
