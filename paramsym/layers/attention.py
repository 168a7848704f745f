"""Multi-head attention, as torch, Keras, Flax and present language models store it; and Keras' single-head attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from sympy import Integer

from paramsym.errors import ArgumentError, ShapeError
from paramsym.extents import differ, share
from paramsym.flow import Step, each_input, standing
from paramsym.layer import Layer, Part, Tensor
from paramsym.layers.dense import Dense
from paramsym.layers.features import over_features, positions
from paramsym.size import Dim, Shape, Width, canonical, cat, divides, extent, product, text


@dataclass(frozen=True)
class MultiHeadAttention(Layer):
    r"""Scaled dot-product attention in several heads (Vaswani et al. 2017, section 3.2.2).

    With torch's arguments alone this is ``torch.nn.MultiheadAttention``, tensor by tensor: ``in_proj_weight`` (3E, E), or
    ``q_proj_weight`` (E, E), ``k_proj_weight`` (E, kdim) and ``v_proj_weight`` (E, vdim) where ``kdim`` or ``vdim`` differs from
    E = ``embed_dim``; ``in_proj_bias`` (3E,); ``bias_k`` and ``bias_v`` (1, 1, E) with ``add_bias_kv``; ``out_proj``. The axes keep
    their factors A * (E/A), so that one can see why the number of heads A cancels. Parameters: 4*E**2 + 4*E.

    The keyword-only arguments say what torch's layer cannot:

    - ``kv_heads``: key/value heads G shared by groups of query heads (Ainslie et al. 2023); G divides A;
    - ``head_dim``: the width D of a head, free of E/A; or ``qkv_features``: the width A*D of all query heads together (Flax);
      ``value_head_dim``: another width for the values; ``output_dim``: another output width, in Keras also several axes;
    - ``query_bias``, ``key_bias``, ``value_bias``, ``output_bias``: one projection's bias; None follows ``bias``;
    - ``qk_norm``: queries and keys normalised before the product. ``qk_norm_scope``: one scale of ``head_dim`` *shared* by all heads
      (Qwen3), one *per_head* (Cohere), or one over the *full* width (OLMo 2). ``qk_norm_bias``: None means that "layer" has a bias;
    - ``gate``: a sigmoid gate on the output of each head, projected from the query (Qiu et al. 2025);
    - ``storage``: *fused* in one ``in_proj_weight``, *separate* as ``q_proj``, ``k_proj``, ``v_proj``, ``o_proj``, ``q_norm``,
      ``k_norm``, ``gate_proj`` (the names and the order of transformers), or *auto*: as torch where torch's arguments say everything,
      else separate;
    - ``dialect``: *keras* (``keras.layers.MultiHeadAttention``) and *flax* (``flax.linen.MultiHeadDotProductAttention``,
      ``flax.nnx.MultiHeadAttention``; ``kv_heads`` is NNX' alone) keep heads as an axis of their own.

    ========  =======================  =================  ==============================  ==========================
    dialect   projections              weight             bias                            norms of queries and keys
    ========  =======================  =================  ==============================  ==========================
    torch     in_proj, out_proj        (3E, E), (E, E)    (3E,), (E,)                     q_norm.weight, k_norm.weight
    keras     query, key, [gate,]      kernel (in, A, D)  (A, D); output (out,)           none
              value, attention_output
    flax      query, key, value, out   kernel (in, A, D)  (A, D); output (out,)           query_ln.scale, key_ln.scale
    ========  =======================  =================  ==============================  ==========================

    Raises:
        DivisibilityError: ``num_heads`` does not divide ``embed_dim``, or ``kv_heads`` does not divide ``num_heads``.
        ArgumentError: arguments that exclude each other, or that the dialect does not have.

    >>> from paramsym import A, D, G, H
    >>> MultiHeadAttention(H, A).params
    4*H**2 + 4*H
    >>> MultiHeadAttention(H, A, bias=False, kv_heads=G).params
    2*H**2 + 2*G*H**2/A
    >>> MultiHeadAttention(H, A, head_dim=D, bias=False, qk_norm="rms").params
    4*A*D*H + 2*D
    """

    embed_dim: Dim
    num_heads: Dim
    dropout: float = 0.0
    bias: bool = True
    add_bias_kv: bool = False
    add_zero_attn: bool = False
    kdim: Dim | None = None
    vdim: Dim | None = None
    batch_first: bool = False
    _: KW_ONLY
    kv_heads: Dim | None = None
    head_dim: Dim | None = None
    value_head_dim: Dim | None = None
    qkv_features: Dim | None = None
    output_dim: Dim | tuple[Dim, ...] | None = None
    query_bias: bool | None = None
    key_bias: bool | None = None
    value_bias: bool | None = None
    output_bias: bool | None = None
    qk_norm: Literal["rms", "layer"] | None = None
    qk_norm_scope: Literal["shared", "per_head", "full"] = "shared"
    qk_norm_bias: bool | None = None
    gate: bool = False
    storage: Literal["auto", "fused", "separate"] = "auto"
    dialect: Literal["torch", "keras", "flax"] = "torch"

    def conditions(self) -> None:
        """Heads divide widths, key/value heads divide heads, and no two arguments contradict each other."""
        if self.head_dim is not None and self.qkv_features is not None:
            message = "head_dim and qkv_features both say how wide a head is; give one of them."
            raise ArgumentError(message)
        self._query_width()
        if self.kv_heads is not None:
            divides(self.kv_heads, self.num_heads, "kv_heads", "num_heads")
        if self.storage == "fused" and not self._one_input_width:
            message = "storage='fused' keeps query, key and value in one matrix, so kdim and vdim must be embed_dim; use 'separate'."
            raise ArgumentError(message)
        if self.qk_norm is None and (self.qk_norm_scope != "shared" or self.qk_norm_bias is not None):
            message = "qk_norm_scope and qk_norm_bias say nothing without qk_norm; write qk_norm='rms' or 'layer'."
            raise ArgumentError(message)
        if self.dialect == "torch":
            if isinstance(self.output_dim, tuple):
                message = f"output_dim is {self.output_dim}; several output axes exist in dialect='keras' only."
                raise ArgumentError(message)
            return
        self._dialect_conditions()

    def _dialect_conditions(self) -> None:
        has = {
            "add_bias_kv": self.add_bias_kv,
            "storage": self.storage == "fused",
            "query_bias, key_bias, value_bias and output_bias": len({self._bias(which) for which in _PROJECTIONS}) > 1,
        }
        if self.dialect == "keras":
            has["qk_norm"] = self.qk_norm is not None
        else:
            has["value_head_dim"] = self.value_head_dim is not None
            has["gate"] = self.gate
            has["qk_norm other than an unbiased shared 'layer'"] = self.qk_norm is not None and (
                self.qk_norm == "rms" or self.qk_norm_scope != "shared" or bool(self.qk_norm_bias)
            )
            has["several output axes"] = isinstance(self.output_dim, tuple)
        wrong = [name for name, given in has.items() if given]
        if wrong:
            message = f"dialect={self.dialect!r} has no {wrong[0]}; the torch dialect with storage='separate' takes it."
            raise ArgumentError(message)

    def tensors(self) -> Iterator[Tensor]:
        """What torch keeps on the layer itself: the input projections and the extra key and value."""
        if self.dialect != "torch":
            return
        query, key, value = self._axes()
        storage = self._storage
        if storage == "fused":
            yield Tensor("in_proj_weight", (cat(query=query, key=key, value=value), self.embed_dim))
        elif storage == "split":
            yield Tensor("q_proj_weight", (query, self.embed_dim))
            yield Tensor("k_proj_weight", (key, self._key_input))
            yield Tensor("v_proj_weight", (value, self._value_input))
        if storage != "separate":
            segments = {which: axis for which, axis in zip(_PROJECTIONS, (query, key, value), strict=False) if self._bias(which)}
            if segments:
                yield Tensor("in_proj_bias", (cat(**segments),), role="bias")
        if self.add_bias_kv:
            yield Tensor("bias_k", (1, 1, key), role="bias")
            yield Tensor("bias_v", (1, 1, value), role="bias")

    def parts(self) -> Iterator[Part]:
        """The projections that are layers of their own, then the norms, then the gate."""
        yield from self._torch_parts() if self.dialect == "torch" else self._kernel_parts()

    @property
    def takes_several(self) -> bool:
        """Queries, keys and values; in Keras' order queries, values, keys."""
        return True

    def output_shape(self, input_shape: Shape) -> Shape:
        """The shape of the queries goes in; each of them comes out with the output width.

        Keys may have a shape of their own, and values, as many as keys; given one shape, there are as many keys as queries.
        """
        query, *others = each_input(input_shape)
        if self.dialect == "torch":
            check_rank(query)
        widths = (self._key_input, self._value_input)
        check_attended(query, others, widths if self.dialect != "keras" else widths[::-1], self.batch_axis(input_shape))
        return over_features(query, (self.embed_dim,), self._outputs)

    def batch_axis(self, input_shape: Shape) -> int | None:
        """The second axis, as in torch, unless ``batch_first``; the other dialects have it first."""
        return batch_axis_of(input_shape, batch_first=self.batch_first or self.dialect != "torch")

    def reached(self, places: Shape) -> Shape:
        """The positions, and the width of the queries."""
        return (*places, self.embed_dim)

    def applications(self, input_shape: Shape) -> Iterator[Step]:
        """Queries and the output are projected per query, keys and values per key; norms see the heads apart."""
        queries, keys = attending(input_shape)
        for part in self.own_parts:
            places, heads = (keys, self._kv_heads) if part.name in _OF_KEYS else (queries, self.num_heads)
            by_head = isinstance(part.layer, HeadNorm) and self.qk_norm_scope == "shared"
            yield standing(part.name, part.layer, (*places, heads) if by_head else places)

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """What projects queries is used once per query, what projects keys and values once per key; an added key and value once."""
        batch = self.batch_axis(input_shape)
        queries, keys = (positions_of(places, batch) for places in attending(input_shape))
        times: dict[str, Dim] = dict(zip(_PROJECTIONS, (queries, keys, keys), strict=False))
        axes: dict[str, Dim] = dict(zip(_PROJECTIONS, map(extent, self._axes()), strict=False))
        biased = {which: axis for which, axis in axes.items() if self._bias(which)}
        mixed = {"in_proj_weight": axes, "in_proj_bias": biased}
        found: dict[str, Dim] = {}
        for name in (tensor.name for tensor in self.own_tensors):
            if name in mixed:
                total = sum((size * times[which] for which, size in mixed[name].items()), start=Integer(0))
                found[name] = share(canonical(total), canonical(sum(mixed[name].values(), start=Integer(0))))
            else:
                found[name] = 1 if name.startswith("bias") else queries if name.startswith("q") else keys
        return found

    def _torch_parts(self) -> Iterator[Part]:
        query, key, value = self._axes()
        output = Dense((self.num_heads, self._value_width), self._outputs[0], self._bias("output"))
        if self._storage == "separate":
            yield Part("q_proj", Dense(self.embed_dim, query, self._bias("query")))
            yield Part("k_proj", Dense(self._key_input, key, self._bias("key")))
            yield Part("v_proj", Dense(self._value_input, value, self._bias("value")))
            yield Part("o_proj", output)
        else:
            yield Part("out_proj", output)
        if self.qk_norm is not None:
            biased = self.qk_norm == "layer" if self.qk_norm_bias is None else self.qk_norm_bias
            yield Part("q_norm", HeadNorm(self._norm_shape(self.num_heads), bias=biased))
            yield Part("k_norm", HeadNorm(self._norm_shape(self._kv_heads), bias=biased))
        if self.gate:
            yield Part("gate_proj", Dense(self.embed_dim, (self.num_heads, self._value_width), self.bias))

    def _kernel_parts(self) -> Iterator[Part]:
        heads, groups, width, value_width = self.num_heads, self._kv_heads, self._query_width(), self._value_width
        yield Part("query", HeadProjection((self.embed_dim,), (heads, width), self._bias("query")))
        yield Part("key", HeadProjection((self._key_input,), (groups, width), self._bias("key")))
        if self.gate:
            yield Part("gate", HeadProjection((self.embed_dim,), (heads, value_width), self.bias))
        yield Part("value", HeadProjection((self._value_input,), (groups, value_width), self._bias("value")))
        if self.qk_norm is not None:
            yield Part("query_ln", HeadNorm((width,), dialect="flax"))
            yield Part("key_ln", HeadNorm((width,), dialect="flax"))
        name = "attention_output" if self.dialect == "keras" else "out"
        yield Part(name, HeadProjection((heads, value_width), self._outputs, self._bias("output")))

    def _axes(self) -> tuple[tuple[Dim, Dim], tuple[Dim, Dim], tuple[Dim, Dim]]:
        """The output axes of the query, key and value projections, as heads times width."""
        width, groups = self._query_width(), self._kv_heads
        return (self.num_heads, width), (groups, width), (groups, self._value_width)

    def _query_width(self) -> Dim:
        if self.head_dim is not None:
            return self.head_dim
        if self.qkv_features is not None:
            return divides(self.num_heads, self.qkv_features, "num_heads", "qkv_features")
        return divides(self.num_heads, self.embed_dim, "num_heads", "embed_dim")

    def _norm_shape(self, heads: Dim) -> tuple[Dim | tuple[Dim, Dim], ...]:
        width = self._query_width()
        return {"shared": (width,), "per_head": (heads, width), "full": ((heads, width),)}[self.qk_norm_scope]

    def _bias(self, which: str) -> bool:
        given: bool | None = getattr(self, f"{which}_bias")
        return self.bias if given is None else given

    @property
    def _value_width(self) -> Dim:
        return self._query_width() if self.value_head_dim is None else self.value_head_dim

    @property
    def _kv_heads(self) -> Dim:
        return self.num_heads if self.kv_heads is None else self.kv_heads

    @property
    def _key_input(self) -> Dim:
        return self.embed_dim if self.kdim is None else self.kdim

    @property
    def _value_input(self) -> Dim:
        return self.embed_dim if self.vdim is None else self.vdim

    @property
    def _outputs(self) -> tuple[Dim, ...]:
        if isinstance(self.output_dim, tuple):
            return self.output_dim
        return (self.embed_dim if self.output_dim is None else self.output_dim,)

    @property
    def _one_input_width(self) -> bool:
        width = canonical(self.embed_dim)
        return canonical(self._key_input) == width == canonical(self._value_input)

    @property
    def _storage(self) -> Literal["fused", "split", "separate"]:
        """How the torch dialect keeps the input projections; *split* is torch's way for inputs of different widths."""
        if self.storage != "auto":
            return self.storage
        beyond_torch = (
            *(self.kv_heads, self.head_dim, self.value_head_dim, self.qkv_features, self.output_dim, self.qk_norm),
            *(self.query_bias, self.key_bias, self.value_bias, self.output_bias, self.gate or None),
        )
        if any(argument is not None for argument in beyond_torch):
            return "separate"
        return "fused" if self._one_input_width else "split"


_PROJECTIONS = ("query", "key", "value", "output")
_OF_KEYS = frozenset({"k_proj", "v_proj", "k_norm", "key", "value", "key_ln"})
"""The parts that work on what is attended to."""


def attending(input_shape: Shape) -> tuple[Shape, Shape]:
    """Return the shapes of queries and of keys without their features; given one shape, keys stand where queries do.

    >>> attending((2, 3, 8)), attending(((2, 3, 8), (2, 5, 8)))
    (((2, 3), (2, 3)), ((2, 3), (2, 5)))
    """
    query, *others = each_input(input_shape)
    return query[:-1], (others[0] if others else query)[:-1]


def positions_of(places: Shape, batch: int | None = 0) -> Dim:
    """Return how many positions there are for one example: along every axis but that of the batch.

    >>> positions_of((2, 3)), positions_of((3, 2), 1), positions_of((3,), None)
    (3, 3, 3)
    """
    return product(extent for axis, extent in enumerate(places) if axis != batch)


def batch_axis_of(input_shape: Shape, *, batch_first: bool) -> int | None:
    """Return where the batch stands in what torch's attention takes: (positions, batch, features), or the batch first; or there is none.

    >>> batch_axis_of((3, 2, 8), batch_first=False), batch_axis_of((3, 8), batch_first=False), batch_axis_of((2, 3, 8), batch_first=True)
    (1, None, 0)
    """
    rank = len(each_input(input_shape)[0])
    if batch_first:
        return None if rank == 2 else 0
    return 1 if rank == 3 else None


def check_rank(shape: Shape) -> None:
    """Raise ``ShapeError`` for what torch's attention does not take: other than two axes, or three with a batch."""
    if len(shape) not in {2, 3}:
        message = f"wanted 3 axes, of positions, batch and features, or 2 without a batch; found {len(shape)}, {text(shape)}."
        raise ShapeError(message)


def check_attended(query: Shape, others: Sequence[Shape], widths: Sequence[Dim], batch: int | None = 0) -> None:
    """Check what is attended to: at most two shapes of the ``widths`` wanted, as many of one as of the other, in the queries' batch.

    Raises:
        ShapeError: shapes that cannot go together.
    """
    if len(others) > len(widths):
        message = f"wanted at most {1 + len(widths)} shapes, of queries, keys and values; found {1 + len(others)}."
        raise ShapeError(message)
    for other, width in zip(others, widths, strict=False):
        over_features(other, (width,))
        if len(other) != len(query) or (batch is not None and len(other) > 2 and differ(other[batch], query[batch])):
            message = f"what is attended to is {text(other)}; wanted the batch of the queries, {text(query)}."
            raise ShapeError(message)
    if len(others) == 2 and any(differ(one, other) for one, other in zip(others[0][:-1], others[1][:-1], strict=True)):
        message = f"keys and values are {text(others[0])} and {text(others[1])}; wanted a value for every key."
        raise ShapeError(message)


@dataclass(frozen=True)
class DotProductAttention(Layer):
    """Keras' ``Attention`` (Luong et al. 2015): no projections, at most two learned scalars.

    ``scale`` () with ``use_scale``; ``concat_score_weight`` () where the score is *concat*: a weight on tanh(query + key).

    >>> DotProductAttention().params, DotProductAttention(use_scale=True, score_mode="concat").params
    (0, 2)
    """

    use_scale: bool = False
    score_mode: Literal["dot", "concat"] = "dot"
    dropout: float = 0.0

    def tensors(self) -> Iterator[Tensor]:
        """The scalars."""
        if self.use_scale:
            yield Tensor("scale", (), role="scale")
        if self.score_mode == "concat":
            yield Tensor("concat_score_weight", ())

    @property
    def takes_several(self) -> bool:
        """Queries, values, keys."""
        return True

    def output_shape(self, input_shape: Shape) -> Shape:
        """A vector as wide as the values for every query; given one shape, that of queries and values."""
        query, *others = each_input(input_shape)
        value = others[0] if others else query
        check_attended(query, others, (value[-1] or 1, query[-1] or 1) if value and query else ())
        return (*query[:-1], *value[-1:])

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Either scalar is used once for every pair of query and key."""
        queries, keys = map(positions_of, attending(input_shape))
        return {tensor.name: canonical(queries * keys) for tensor in self.own_tensors}


@dataclass(frozen=True)
class HeadProjection(Layer):
    """A dense layer between groups of axes, so that heads keep their own: ``kernel`` (inputs, outputs), ``bias`` (outputs).

    Reference: the projections inside ``keras.layers.MultiHeadAttention``, and ``flax.linen.DenseGeneral``.

    >>> from paramsym import A, D, H
    >>> HeadProjection((H,), (A, D)).params
    A*D*H + A*D
    """

    inputs: tuple[Width, ...]
    outputs: tuple[Width, ...]
    bias: bool = True

    def tensors(self) -> Iterator[Tensor]:
        """The kernel, then the bias."""
        yield Tensor("kernel", (*self.inputs, *self.outputs))
        if self.bias:
            yield Tensor("bias", self.outputs, role="bias")

    def reached(self, places: Shape) -> Shape:
        """The positions and the input axes."""
        return (*places, *map(extent, self.inputs))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Every weight and bias is used once per position."""
        return {tensor.name: positions(input_shape, len(self.inputs)) for tensor in self.own_tensors}

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input axes become the output axes."""
        return over_features(input_shape, tuple(map(extent, self.inputs)), tuple(map(extent, self.outputs)))


@dataclass(frozen=True)
class ByHead(Layer):
    """A layer that each of so many heads goes through on its own, and that is stored once for all of them.

    >>> from paramsym import A, B, D, S
    >>> ByHead(A, HeadNorm((D,))).params, ByHead(A, HeadNorm((D,))).reached((B, S))
    (D, (B, S, A, D))
    """

    in_order = True

    heads: Dim
    layer: Layer

    def parts(self) -> Iterator[Part]:
        """The layer, on this one's own level."""
        yield Part("", self.layer)

    def reached(self, places: Shape) -> Shape | None:
        """The positions, the heads, and what the layer takes of each."""
        return self.layer.reached((*places, self.heads))


@dataclass(frozen=True)
class HeadNorm(Layer):
    """The norm of queries or keys: ``weight`` (Flax: ``scale``) of ``shape``, and ``bias`` of the same shape where there is one.

    >>> from paramsym import A, D
    >>> HeadNorm((D,)).params, HeadNorm((A, D), bias=True).params
    (D, 2*A*D)
    """

    shape: tuple[Width, ...]
    bias: bool = False
    dialect: Literal["torch", "flax"] = "torch"

    def tensors(self) -> Iterator[Tensor]:
        """The scale, then the shift."""
        yield Tensor("weight" if self.dialect == "torch" else "scale", self.shape, role="scale")
        if self.bias:
            yield Tensor("bias", self.shape, role="bias")

    def reached(self, places: Shape) -> Shape:
        """The positions and what is normalised."""
        return (*places, *map(extent, self.shape))

    def uses(self, input_shape: Shape) -> dict[str, Dim]:
        """Scale and shift are used once per position."""
        return {tensor.name: positions(input_shape, len(self.shape)) for tensor in self.own_tensors}

    def output_shape(self, input_shape: Shape) -> Shape:
        """A norm changes no shape."""
        return over_features(input_shape, tuple(map(extent, self.shape)))
