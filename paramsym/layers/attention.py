"""Multi-head attention, as torch, Keras, Flax and current language models store it; and Keras' single-head attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

from paramsym import program as ops
from paramsym.algebra.size import Dim, cat, divides, same, text
from paramsym.core.layer import Layer, Part, Tensor
from paramsym.errors import ArgumentError, NotYetError, ShapeError
from paramsym.layers.dense import Dense

if TYPE_CHECKING:
    from paramsym.program import Mask, Own, Value


@dataclass(frozen=True)
class MultiHeadAttention(Layer):
    r"""Scaled dot-product attention in several heads (Vaswani et al. 2017, section 3.2.2).

    With torch's arguments alone this is ``torch.nn.MultiheadAttention``, tensor by tensor: ``in_proj_weight`` (3E, E), or
    ``q_proj_weight`` (E, E), ``k_proj_weight`` (E, kdim) and ``v_proj_weight`` (E, vdim) where ``kdim`` or ``vdim`` differs from
    E = ``embed_dim``; ``in_proj_bias`` (3E,); ``bias_k`` and ``bias_v`` (1, 1, E) with ``add_bias_kv``; ``out_proj``. The axes keep
    their factors A * (E/A), which shows why the number of heads A cancels. Parameters: 4*E**2 + 4*E.

    The keyword-only arguments go beyond torch's layer:

    - ``kv_heads``: key/value heads G shared by groups of query heads (Ainslie et al. 2023); G divides A;
    - ``head_dim``: the head size D, independent of E/A; or ``qkv_features``: the width A*D of all query heads together (Flax);
      ``value_head_dim``: another width for the values; ``output_dim``: another output width, in Keras also several axes;
    - ``query_bias``, ``key_bias``, ``value_bias``, ``output_bias``: one projection's bias; None follows ``bias``;
    - ``qk_norm``: queries and keys normalised before the product. ``qk_norm_scope``: one scale of ``head_dim`` *shared* by all heads
      (Qwen3), one *per_head* (Cohere), or one over the *full* width (OLMo 2). ``qk_norm_bias``: None means that "layer" has a bias;
    - ``gate``: a sigmoid gate on the output of each head, projected from the query (Qiu et al. 2025);
    - ``attention_axes``, ``window``: the axes of attention, and the number of nearest positions that a query sees (Keras);
    - ``storage``: *fused* in one ``in_proj_weight``, *separate* as ``q_proj``, ``k_proj``, ``v_proj``, ``o_proj``, ``q_norm``,
      ``k_norm``, ``gate_proj`` (the names and the order of transformers), or *auto*: as torch if torch's arguments are enough,
      else separate;
    - ``dialect``: *keras* (``keras.layers.MultiHeadAttention``) and *flax* (``flax.linen.MultiHeadDotProductAttention``,
      ``flax.nnx.MultiHeadAttention``; ``kv_heads`` is NNX' alone) keep heads as a separate axis.

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
    attention_axes: tuple[int, ...] | None = None
    window: Dim | None = None
    storage: Literal["auto", "fused", "separate"] = "auto"
    dialect: Literal["torch", "keras", "flax"] = "torch"
    need_weights: bool = False

    @property
    def positions_lead(self) -> bool:  # type: ignore[override]
        """Whether this is torch's own layer with the batch first: inside, it puts the positions first."""
        return self.dialect == "torch" and self.batch_first and self._storage != "separate"

    def conditions(self) -> None:
        if self.head_dim is not None and self.qkv_features is not None:
            raise ArgumentError("head_dim and qkv_features both say how wide a head is; give one of them.")
        self._query_width()
        if self.kv_heads is not None:
            divides(self.kv_heads, self.num_heads, "kv_heads", "num_heads")
        if self.storage == "fused" and not self._one_input_width:
            message = "storage='fused' keeps query, key and value in one matrix, so kdim and vdim must be embed_dim; use 'separate'."
            raise ArgumentError(message)
        if self.qk_norm is None and (self.qk_norm_scope != "shared" or self.qk_norm_bias is not None):
            raise ArgumentError("qk_norm_scope and qk_norm_bias say nothing without qk_norm; write qk_norm='rms' or 'layer'.")
        if self.dialect != "keras" and (self.attention_axes is not None or self.window is not None):
            raise ArgumentError("attention_axes and window are Keras' (dialect='keras').")
        if self.dialect == "torch" and isinstance(self.output_dim, tuple):
            raise ArgumentError(f"output_dim is {self.output_dim}; several output axes exist in dialect='keras' only.")
        foreign = {
            "add_bias_kv": self.add_bias_kv,
            "storage": self.storage == "fused",
            "query_bias, key_bias, value_bias and output_bias": len({self._bias(which) for which in _PROJECTIONS}) > 1,
        }
        if self.dialect == "keras":
            foreign["qk_norm"] = self.qk_norm is not None
        else:
            foreign["value_head_dim"] = self.value_head_dim is not None
            foreign["gate"] = self.gate
            foreign["qk_norm other than an unbiased shared 'layer'"] = self.qk_norm is not None and (
                self.qk_norm == "rms" or self.qk_norm_scope != "shared" or bool(self.qk_norm_bias)
            )
            foreign["several output axes"] = isinstance(self.output_dim, tuple)
        found = next((name for name, given in foreign.items() if given), "")
        if found and self.dialect != "torch":
            raise ArgumentError(f"dialect={self.dialect!r} has no {found}; the torch dialect with storage='separate' takes it.")

    def tensors(self) -> Iterator[Tensor]:
        if self.dialect != "torch":
            return
        storage, outputs = self._storage, self._axes()
        if storage == "fused":
            yield Tensor("in_proj_weight", (cat(**outputs), self.embed_dim))
        elif storage == "split":
            for name, axis, width in zip("qkv", outputs.values(), self._inputs, strict=True):
                yield Tensor(f"{name}_proj_weight", (axis, width))
        if storage != "separate":
            biased = {which: axis for which, axis in outputs.items() if self._bias(which)}
            if biased:
                yield Tensor("in_proj_bias", (cat(**biased),), role="bias")
        if self.add_bias_kv:
            yield Tensor("bias_k", (1, 1, outputs["key"]), role="bias")
            yield Tensor("bias_v", (1, 1, outputs["value"]), role="bias")

    def parts(self) -> Iterator[Part]:
        yield from self._torch_parts() if self.dialect == "torch" else self._kernel_parts()

    def forward(self, own: Own, query: Value, key: Value | None = None, value: Value | None = None) -> Value:
        """Multi-head attention; a missing input equals the one before it. Keras' order is queries, values, keys."""
        second = query if key is None else key
        third = second if value is None else value
        if self.dialect == "torch":
            return self._torch(own, query, second, third)
        return self._kernels(own, query, *((third, second) if self.dialect == "keras" else (second, third)))

    def _torch(self, own: Own, *inputs: Value) -> Value:
        """Projections, attention with the batch first, the layout of the inputs; torch's own layer projects with the positions first."""
        words = "[batch] positions features" if self.batch_first else "positions [batch] features"
        widths = self._inputs
        if any(one.rank != inputs[0].rank for one in inputs):
            message = f"queries, keys and values are {', '.join(text(one.sizes) for one in inputs)}; wanted all or none with a batch."
            raise ShapeError(message)
        batch_first = self.batch_first and not self.positions_lead
        query, restored = ops.axes(inputs[0], words, features=widths[0])
        found = {inputs[0]: query} | {
            one: ops.axes(one, words, features=w)[0] for one, w in zip(inputs[1:], widths[1:], strict=True) if one is not inputs[0]
        }
        if self.positions_lead:
            found = {one: ops.rearrange(x, "b s f -> s b f") for one, x in found.items()}
        q, k, v = self._projected(own, *(found[one] for one in inputs))
        if self.add_bias_kv:
            batch = 0 if batch_first else 1
            extra = (ops.copies(own[name], q.sizes[batch], axis=batch) for name in ("bias_k", "bias_v"))
            k, v = (ops.join(one, more, axis=1 - batch) for one, more in zip((k, v), extra, strict=True))
        q, k = (self._normed(own, name, one) for name, one in (("q_norm", q), ("k_norm", k)))
        q, k, v = (one if batch_first else ops.rearrange(one, "s b a d -> b s a d") for one in (q, k, ops.heads(v)))
        if self.add_zero_attn:
            k, v = (ops.join(one, ops.constant("zeros", (one.sizes[0], 1, *one.sizes[2:])), axis=1) for one in (k, v))
        if self.need_weights:
            y = ops.attend(q * ops.root_reciprocal(q.sizes[-1]), k, v, scale=1, dropout=self.dropout, fused=False)
        else:
            y = ops.attend(q, k, v, dropout=self.dropout)
        y = y if batch_first else ops.rearrange(y, "b s f -> s b f")
        y = y * ops.apply("sigmoid", own.gate_proj(found[inputs[0]])) if self.gate else y
        y = own["o_proj" if self._storage == "separate" else "out_proj"](y)
        return restored(ops.rearrange(y, "s b f -> b s f") if self.positions_lead else y)

    def _projected(self, own: Own, *inputs: Value) -> list[Value]:
        """Queries, keys and values, for each way to store their matrices; those that come from the same array are one product."""
        if self._storage == "separate":
            return [own[f"{name}_proj"](x) for name, x in zip("qkv", inputs, strict=True)]
        biased = [which for which in _PROJECTIONS[:3] if self._bias(which)]
        if self._storage == "split" or inputs[1] is not inputs[2] or len(biased) in {1, 2}:
            fused = self._storage == "fused"
            weights = ops.segments(own.in_proj_weight, axis=0) if fused else [own[f"{name}_proj_weight"] for name in "qkv"]
            found = tuple(ops.contract("... i, o i -> ... o", x, weight) for x, weight in zip(inputs, weights, strict=True))
            biases = dict(zip(biased, ops.segments(own.in_proj_bias), strict=True)) if biased else {}
            return [y + biases[which] if which in biases else y for which, y in zip(_PROJECTIONS, found, strict=False)]

        def both(x: Value, weight: Value, bias: Value | None) -> Value:
            y = ops.contract("... i, o i -> ... o", x, weight)
            return y if bias is None else y + bias

        bias = own.in_proj_bias if biased else None
        if inputs[0] is inputs[1]:
            return list(ops.segments(both(inputs[0], own.in_proj_weight, bias), apart=True))
        query, key, value = self._axes().values()
        pieces = (query, cat(key=key, value=value))
        first, second = ops.segments(own.in_proj_weight, *pieces, axis=0)
        one, other = (None, None) if bias is None else ops.segments(bias, *pieces, axis=0)
        return [both(inputs[0], first, one), *ops.segments(both(inputs[1], second, other), apart=True)]

    def _normed(self, own: Own, name: str, x: Value) -> Value:
        if self.qk_norm is None:
            return ops.heads(x)
        return ops.heads(own[name](x)) if self.qk_norm_scope == "full" else own[name](ops.heads(x))

    def _kernels(self, own: Own, query: Value, key: Value, value: Value) -> Value:
        """Heads as a separate axis; axes without attention are treated like the batch."""
        q, k, v = own.query(query), own.key(key), own.value(value)
        if self.qk_norm is not None:
            q, k = own.query_ln(q), own.key_ln(k)
        rank = query.rank
        default = range(1, rank - 1) if self.dialect == "keras" else (rank - 2,)
        over = [axis % rank for axis in self.attention_axes or default]
        y = ops.heads(attend_over(q, k, v, over, mask=ops.Mask(window=self.window), dropout=self.dropout))
        y = y * ops.apply("sigmoid", own.gate(query)) if self.gate else y
        return own["attention_output" if self.dialect == "keras" else "out"](y)

    def _torch_parts(self) -> Iterator[Part]:
        separate = self._storage == "separate"
        if separate:
            for which, axis, width in zip(_PROJECTIONS, self._axes().values(), self._inputs, strict=False):
                yield Part(f"{which[0]}_proj", Dense(width, axis, self._bias(which)))
        output = Dense((self.num_heads, self._value_width), self._outputs[0], self._bias("output"))
        yield Part("o_proj" if separate else "out_proj", output)
        if self.qk_norm is not None:
            from paramsym.layers.heads import HeadNorm

            biased = self.qk_norm == "layer" if self.qk_norm_bias is None else self.qk_norm_bias
            yield Part("q_norm", HeadNorm(self._norm_shape(self.num_heads), biased, kind=self.qk_norm))
            yield Part("k_norm", HeadNorm(self._norm_shape(self._kv_heads), biased, kind=self.qk_norm))
        if self.gate:
            yield Part("gate_proj", Dense(self.embed_dim, (self.num_heads, self._value_width), self.bias))

    def _kernel_parts(self) -> Iterator[Part]:
        from paramsym.layers.heads import HeadNorm, HeadProjection

        output = (self.num_heads, self._value_width)
        for which, axis, width in zip(_PROJECTIONS, self._axes().values(), self._inputs, strict=False):
            if self.gate and which == "value":
                yield Part("gate", HeadProjection((self.embed_dim,), output, self.bias))
            yield Part(which, HeadProjection((width,), axis, self._bias(which)))
        if self.qk_norm is not None:
            for name in ("query_ln", "key_ln"):
                yield Part(name, HeadNorm((self._query_width(),), dialect="flax", kind="layer"))
        name = "attention_output" if self.dialect == "keras" else "out"
        yield Part(name, HeadProjection(output, self._outputs, self._bias("output")))

    def _axes(self) -> dict[str, tuple[Dim, Dim]]:
        """The output axes of the query, key and value projections, as heads times width."""
        width, groups = self._query_width(), self._kv_heads
        return {"query": (self.num_heads, width), "key": (groups, width), "value": (groups, self._value_width)}

    @property
    def _inputs(self) -> tuple[Dim, Dim, Dim]:
        """The widths of queries, keys and values."""
        width = self.embed_dim
        return width, width if self.kdim is None else self.kdim, width if self.vdim is None else self.vdim

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
    def _outputs(self) -> tuple[Dim, ...]:
        if isinstance(self.output_dim, tuple):
            return self.output_dim
        return (self.embed_dim if self.output_dim is None else self.output_dim,)

    @property
    def _one_input_width(self) -> bool:
        return all(same(self.embed_dim, width) for width in self._inputs[1:])

    @property
    def _storage(self) -> Literal["fused", "split", "separate"]:
        """The storage of the input projections in the torch dialect; *split* is torch's storage for inputs of different widths."""
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


def attend_over(q: Value, k: Value, v: Value, over: Sequence[int], *, mask: Mask, dropout: float) -> Value:
    """Attend along some axes of (batch, ..., heads, width); all others are treated like the batch.

    Raises:
        NotYetError: a window on other keys than queries.
    """
    names = [f"a{n}" for n in range(q.rank - 2)]
    kept, positions = ([name for n, name in enumerate(names) if (n in over) is chosen] for chosen in (False, True))
    flat = f"{' '.join(names)} heads width -> ({' '.join(kept)}) ({' '.join(positions)}) heads width"
    if mask and q.sizes[1] != k.sizes[1]:
        raise NotYetError(f"a window on {k.sizes[1]} keys for {q.sizes[1]} queries; wanted the same number.")
    if any(one.rank != q.rank for one in (k, v)):
        raise ShapeError(f"queries, keys and values have {q.rank - 1}, {k.rank - 1} and {v.rank - 1} axes; wanted the same number.")
    y = ops.attend(*(one if len(names) == 2 else ops.rearrange(one, flat) for one in (q, k, v)), mask=mask, dropout=dropout)
    sizes = dict(zip(names, q.sizes, strict=False))
    return y if len(names) == 2 else ops.rearrange(y, f"({' '.join(kept)}) ({' '.join(positions)}) f -> {' '.join(names)} f", **sizes)
