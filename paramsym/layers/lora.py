"""Low-rank adaptation: a frozen layer plus the product of two narrow ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sympy import Expr, sqrt

from paramsym import program as ops
from paramsym.algebra.size import Dim, Width, divides
from paramsym.core.compose import Block
from paramsym.core.edit import thawed
from paramsym.core.layer import Layer, Part
from paramsym.errors import ArgumentError
from paramsym.layers.convolution import Conv1d, Conv2d, Conv3d
from paramsym.layers.dense import Dense, TransposedDense
from paramsym.layers.einsum import EinsumDense
from paramsym.layers.embedding import Embedding, ReversibleEmbedding
from paramsym.layers.parameter import Parameter

if TYPE_CHECKING:
    from paramsym.program import Own, Value


@dataclass(frozen=True)
class LoRA(Layer):
    r"""Low-rank adaptation (Hu et al. 2021, equation 3), :math:`W + (\alpha/r) B A` with :math:`W` frozen.

    ================== ============================================ ==========================================================
    base               stored beside ``base_layer``, which is       shapes
                       frozen
    ================== ============================================ ==========================================================
    dense              ``lora_A.default.weight``,                   (r, in), (out, r)
                       ``lora_B.default.weight``
    embedding          ``lora_embedding_A.default``,                (r, rows), (width, r)
                       ``lora_embedding_B.default``
    convolution        ``lora_A.default.weight``,                   (r, in, kernel), (out, r/groups, 1, ...)
                       ``lora_B.default.weight``
    any, Keras         ``lora_kernel_a``, ``lora_kernel_b``, or     (all axes but the last, r), (r, last axis)
                       ``lora_embeddings_a``, ``..._b``
    dense, Flax        ``lora.lora_a``, ``lora.lora_b``             (in, r), (r, out)
    ================== ============================================ ==========================================================

    Trained parameters for a dense layer or an embedding: r*(in + out). The options are those of PEFT's ``LoraConfig``: ``bias="all"`` or
    ``"lora_only"`` also trains the base's bias, ``lora_bias`` gives the second factor a bias, ``use_dora`` adds a magnitude per output (Liu
    et al. 2024, section 4.1), ``lora_magnitude_vector.default.weight``; ``lora_alpha`` (None: the rank), ``lora_dropout`` and
    ``use_rslora`` do not change the count. For a base in Keras' dialect, names and freezing are Keras': the bias stays trained, and those
    options do not exist. For a base in Flax' dialect, names are those of ``nnx.LoRALinear``, which keeps the base's tensors beside ``lora``
    and freezes none: the optimiser must be told to train only the factors.

    Raises:
        ArgumentError: a base that the reference does not adapt; ``lora_bias`` around an embedding or with ``use_dora``; an option that
            Keras does not have.
        DivisibilityError: groups of a convolution that do not divide the rank.

    Reference: ``peft`` 0.21, ``LoraConfig`` and ``inject_adapter_in_model``; Keras: ``enable_lora``; Flax: ``nnx.LoRALinear``.

    >>> from paramsym import F, H, R
    >>> adapted = LoRA(Dense(H, F), R)
    >>> adapted.trainable, adapted.params
    (F*R + H*R, F*H + F*R + F + H*R)
    >>> list(adapted.shapes())
    ['base_layer.weight', 'base_layer.bias', 'lora_A.default.weight', 'lora_B.default.weight']
    """

    base: Layer
    r: Dim
    _: KW_ONLY
    lora_alpha: float | None = 8
    lora_dropout: float = 0.0
    bias: Literal["none", "all", "lora_only"] = "none"
    use_rslora: bool = False
    use_dora: bool = False
    lora_bias: bool = False
    adapter: str = "default"

    def conditions(self) -> None:
        """The base can be adapted with the given options; it may be frozen, because this layer decides which of its tensors are trained."""
        object.__setattr__(self, "base", thawed(self.base))
        if isinstance(self.base, Conv1d | Conv2d | Conv3d):
            if self.base.dialect == "torch":
                divides(self.base.groups, self.r, "groups", "rank r")
        elif not isinstance(self.base, Dense | TransposedDense | Embedding | EinsumDense | ReversibleEmbedding):
            raise ArgumentError(
                f"base is a {type(self.base).__name__}; wanted a Dense, TransposedDense, Embedding, EinsumDense, Conv1d, Conv2d or Conv3d;"
                " in a larger layer write layer.replace(path, LoRA(layer.part(path), r))."
            )
        elsewhere = {"keras": "Keras'", "flax": "Flax'"}.get(self._dialect)
        if elsewhere and (self.bias != "none" or self.use_dora or self.lora_bias or self.adapter != "default"):
            raise ArgumentError(f"bias, use_dora, lora_bias and adapter are options of PEFT, but the base is in {elsewhere} dialect.")
        if self._dialect == "flax" and not isinstance(self.base, Dense):
            message = f"base is a {type(self.base).__name__} in Flax' dialect, where only a dense layer is adapted (nnx.LoRALinear)."
            raise ArgumentError(message)
        if isinstance(self.base, ReversibleEmbedding) and not self.base.tie_weights:
            raise ArgumentError("base is a ReversibleEmbedding with tie_weights=False; Keras adapts only a tied table.")
        if self.lora_bias and self.use_dora:
            raise ArgumentError("lora_bias=True together with use_dora=True; the reference takes one of them, not both.")
        if self.lora_bias and isinstance(self.base, Embedding):
            raise ArgumentError("lora_bias=True: an embedding's factors are bare tensors without a bias.")

    @property
    def computed_as(self) -> Layer:
        return self.base.computed_as

    def forward(self, own: Own, x: Value, *more: Value) -> Any:
        """The base plus the product of the two factors; Keras adds the product to the kernel."""
        if self._dialect == "keras":
            name = self.base.own_tensors[0].name
            added = ops.contract("... r, r o -> ... o", own[f"lora_{name}_a"], own[f"lora_{name}_b"]) * self._scale
            values = {tensor.name: own[tensor.name] for tensor in self.base.own_tensors}
            return self.base.forward(ops.Lent(self.base, {**values, name: values[name] + added}), x, *more)
        if self._dialect == "flax":
            beside = ops.contract("... r, r o -> ... o", ops.contract("... i, i r -> ... r", x, own["lora.lora_a"]), own["lora.lora_b"])
            return own[""](x) + beside
        base, beside = own.base_layer(x), self._beside(own, x) * self._scale
        return self._stretched(own, base, beside) if self.use_dora else base + beside

    @property
    def _scale(self) -> float | Expr:
        return 1.0 if self.lora_alpha is None else self.lora_alpha / (sqrt(self.r) if self.use_rslora else self.r)

    def _beside(self, own: Own, x: Value) -> Value:
        if isinstance(self.base, Embedding):
            rows = ops.lookup(ops.rearrange(own[f"lora_embedding_A.{self.adapter}"], "r v -> v r"), x)
            return ops.contract("... r, h r -> ... h", rows, own[f"lora_embedding_B.{self.adapter}"])
        beside: Value = own[f"lora_B.{self.adapter}"](own[f"lora_A.{self.adapter}"](ops.drop(x, self.lora_dropout)))
        return beside

    def _stretched(self, own: Own, base: Value, beside: Value) -> Value:
        """Rescale every output of the adapted matrix to its own magnitude, without the base's bias (DoRA)."""
        weight, biased = own["base_layer.weight"], "base_layer.bias" in own
        rank = len(weight.shape)
        behind = " ()" * (rank - 2)
        extents, ones = (" ".join(f"{word}{n}" for n in range(rank - 2)) for word in "xy")
        if isinstance(self.base, Embedding):
            first, second = own[f"lora_embedding_A.{self.adapter}"], own[f"lora_embedding_B.{self.adapter}"]
            change, over = ops.contract("r v, h r -> v h", first, second), [0]
        else:
            first, second = own[f"lora_A.{self.adapter}.weight"], own[f"lora_B.{self.adapter}.weight"]
            flat = ops.rearrange(second, f"o r {ones} -> o (r {ones})") if rank > 2 else second
            change = ops.contract(f"o r, r i {extents} -> o i {extents}", flat, first)
            change = ops.rearrange(change, "o i -> i o") if isinstance(self.base, TransposedDense) else change
            over = [0] if isinstance(self.base, TransposedDense) else list(range(1, rank))
        adapted = weight + change * self._scale
        length = ops.apply("sqrt", ops.reduce("sum", adapted * adapted, *over))
        magnitude = own[f"lora_magnitude_vector.{self.adapter}.weight"]
        if rank > 2:
            length, magnitude = ops.rearrange(length, f"o -> o{behind}"), ops.rearrange(magnitude, f"one o {ones} -> (one o) {ones}")
        stretch = magnitude / length
        if not biased:
            return base * stretch + beside * stretch
        bias = own["base_layer.bias"] if rank == 2 else ops.rearrange(own["base_layer.bias"], f"o -> o{behind}")
        return (base - bias) * stretch + bias + beside * stretch

    def parts(self) -> Iterator[Part]:
        base, rank = self.base, self.r
        if self._dialect == "keras":  # only the kernel is frozen, and factored between its last axis and all others
            kernel = base.own_tensors[0]
            yield Part("", base.freeze(kernel.name))
            yield Part("", Parameter((*kernel.shape[:-1], rank), f"lora_{kernel.name}_a"))
            yield Part("", Parameter((rank, kernel.shape[-1]), f"lora_{kernel.name}_b"))
            return
        if self._dialect == "flax" and isinstance(base, Dense):
            yield Part("", base, frozen=True)
            yield Part("", Parameter((base.in_features, rank), "lora.lora_a"))
            yield Part("", Parameter((rank, base.out_features), "lora.lora_b"))
            return
        trains_bias = self.bias != "none"
        yield Part("base_layer", base.freeze("weight") if trains_bias else base, frozen=not trains_bias)
        magnitude: tuple[Width, ...]
        if isinstance(base, Embedding):  # bare tensors, which have the adapter's name themselves
            yield Part("lora_embedding_A", Parameter((rank, base.num_embeddings), self.adapter))
            yield Part("lora_embedding_B", Parameter((base.embedding_dim, rank), self.adapter))
            magnitude = (base.embedding_dim,)
        elif isinstance(base, Dense | TransposedDense):
            yield self._named("lora_A", Dense(base.in_features, rank, bias=False))
            yield self._named("lora_B", Dense(rank, base.out_features, bias=self.lora_bias))
            magnitude = (base.out_features,)
        else:  # the first factor spans the whole window and all groups; the second mixes channels within groups
            assert isinstance(base, Conv1d | Conv2d | Conv3d)  # noqa: S101 - for the type checker; conditions() refused the rest
            yield self._named("lora_A", replace(base, out_channels=rank, dilation=1, groups=1, bias=False, padding_mode="zeros"))
            yield self._named("lora_B", type(base)(rank, base.out_channels, 1, groups=base.groups, bias=self.lora_bias))
            magnitude = (1, base.out_channels, *(1,) * base.rank)
        if self.use_dora:
            yield self._named("lora_magnitude_vector", Parameter(magnitude, role="scale"))

    @property
    def _dialect(self) -> str:
        return "keras" if isinstance(self.base, EinsumDense | ReversibleEmbedding) else getattr(self.base, "dialect", "torch")

    def _named(self, name: str, layer: Layer) -> Part:
        """Put a factor under its adapter's name."""
        return Part(name, Block({self.adapter: layer}))
