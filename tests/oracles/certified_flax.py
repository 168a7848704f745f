"""Which layers are proven equal to Flax' own, linen's and NNX', by which arguments: one row per layer and set of flags.

A symbol stands where the instance gets a number; what is not said keeps its default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import paramsym as ps
from paramsym import A, C, D, F, G, H, K, R, V, W, dims
from paramsym.verify.rename import Renaming

i, p, q = dims("i p q")


@dataclass(frozen=True)
class Row:
    """A class of Flax, our layer, Flax' arguments, and what the instance is shown (linen) or wrapped in."""

    name: str
    layer: ps.Layer
    arguments: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[Any, ...] = ()
    """The shape that a linen module is initialised with."""
    inside: tuple[str, dict[str, Any]] | None = None
    """The class and arguments of what a wrapper such as RNN or WeightNorm holds."""
    rename: Renaming | None = None


def flax(name: str, *arguments: Any, **named: Any) -> ps.Layer:
    """Build a layer of ours in Flax' dialect."""
    layer: ps.Layer = getattr(ps, name)(*arguments, dialect="flax", **named)
    return layer


def linen_rows() -> list[Row]:
    """Return the rows of ``flax.linen``."""
    return [*_dense(), *_norms(), *_convolutions(), *_attention(), *_recurrent(), *_wrapped()]


def _dense() -> list[Row]:
    table = ps.EinsumDense("abx,xde->abde", (None, A, D), (None, None, H), "de")
    return [
        Row("Dense", flax("Dense", H, F), {"features": F}, (2, H)),
        Row("Dense", flax("Dense", H, F, bias=False), {"features": F, "use_bias": False}, (2, H)),
        Row("DenseGeneral", ps.HeadProjection((H,), (A, D)), {"features": (A, D)}, (2, H)),
        Row("DenseGeneral", ps.HeadProjection((A, D), (H,), bias=False), {"features": H, "axis": (-2, -1), "use_bias": False}, (2, A, D)),
        Row("Einsum", table, {"shape": (H, A, D), "einsum_str": "abx,xde->abde"}, (2, 3, H)),
        Row("Einsum", ps.EinsumDense("ab,bc->ac", F, (None, H)), {"shape": (H, F), "einsum_str": "ab,bc->ac", "use_bias": False}, (2, H)),
        Row("Embed", flax("Embedding", V, H), {"num_embeddings": V, "features": H}, (2,)),
        Row("PReLU", flax("PReLU"), {}, (2, 3)),
        Row("Dropout", ps.Dropout(0.1), {"rate": 0.1, "deterministic": True}, (2, 3)),
    ]


def _norms() -> list[Row]:
    none = {"use_scale": False, "use_bias": False}
    found = [
        Row("LayerNorm", flax("LayerNorm", (W, H)), {"feature_axes": (-2, -1)}, (2, W, H)),
        Row("RMSNorm", flax("RMSNorm", H), {}, (2, H)),
        Row("RMSNorm", flax("RMSNorm", H, elementwise_affine=False), {"use_scale": False}, (2, H)),
        Row("GroupNorm", flax("GroupNorm", G, C), {"num_groups": G}, (2, 3, C)),
        Row("GroupNorm", flax("GroupNorm", G, C, affine=False), {"num_groups": G, **none}, (2, 3, C)),
        Row("GroupNorm", flax("GroupNorm", 2, C, scale=False), {"num_groups": 2, "use_scale": False}, (2, 3, C)),
        Row("InstanceNorm", flax("InstanceNorm1d", C), none, (2, 3, C)),
        Row("BatchNorm", flax("BatchNorm1d", C, affine=False), {"use_running_average": True, **none}, (2, C)),
    ]
    for scale, bias in ((True, True), (True, False), (False, True)):
        flags, theirs = {"scale": scale, "bias": bias}, {"use_scale": scale, "use_bias": bias}
        found += [
            Row("LayerNorm", flax("LayerNorm", H, **flags), theirs, (2, H)),
            Row("BatchNorm", flax("BatchNorm2d", C, **flags), {"use_running_average": True, **theirs}, (2, 3, 3, C)),
            Row("InstanceNorm", flax("InstanceNorm2d", C, affine=True, **flags), theirs, (2, 3, 3, C)),
        ]
    return found


def _convolutions() -> list[Row]:
    found: list[Row] = []
    for rank, window in ((1, (K,)), (2, (K, p)), (3, (K, p, q))):
        image = (1, *(9,) * rank, C)
        plain: dict[str, Any] = {"features": F, "kernel_size": window}
        found += [
            Row("Conv", flax(f"Conv{rank}d", C, F, window), plain, image),
            Row(
                "Conv",
                flax(f"Conv{rank}d", C, F, window, groups=G, bias=False),
                {**plain, "feature_group_count": G, "use_bias": False},
                image,
            ),
            Row("ConvTranspose", flax(f"ConvTranspose{rank}d", C, F, window), plain, image),
            Row(
                "ConvTranspose",
                flax(f"ConvTranspose{rank}d", C, F, window, transpose_kernel=True),
                {**plain, "transpose_kernel": True},
                image,
            ),
        ]
    local = flax("LocallyConnected2d", C, F, (K, 2), (W + K, 5), bias=False)
    return [
        *found,
        Row(
            "ConvLocal", flax("LocallyConnected1d", C, F, K, W + K), {"features": F, "kernel_size": (K,), "padding": "VALID"}, (1, W + K, C)
        ),
        Row("ConvLocal", local, {"features": F, "kernel_size": (K, 2), "padding": "VALID", "use_bias": False}, (1, W + K, 5, C)),
        Row(
            "ConvLocal",
            flax("LocallyConnected3d", C, F, 2, 5, 2, 1),
            {"features": F, "kernel_size": (2, 2, 2), "strides": 2, "padding": 1},
            (1, 5, 5, 5, C),
        ),
    ]


def _attention() -> list[Row]:
    normed = flax("MultiHeadAttention", H, A, qkv_features=A * D, output_dim=F, qk_norm="layer", bias=False)
    arguments = {"num_heads": A, "qkv_features": A * D, "out_features": F, "normalize_qk": True, "use_bias": False}
    return [
        Row("MultiHeadDotProductAttention", flax("MultiHeadAttention", H, A), {"num_heads": A}, (2, 3, H)),
        Row("MultiHeadAttention", normed, arguments, (2, 3, H)),
        Row("SelfAttention", flax("MultiHeadAttention", H, A), {"num_heads": A}, (2, 3, H)),
    ]


def _recurrent() -> list[Row]:
    cells = {"SimpleCell": "RNN", "LSTMCell": "LSTM", "OptimizedLSTMCell": "LSTM", "GRUCell": "GRU"}
    found = [Row("RNN", flax(name, i, H), inputs=(2, 3, i), inside=(cell, {"features": H})) for cell, name in cells.items()]
    found += [
        Row("RNN", ps.Block(cell=ps.MGUCell(i, H, reset_gate=flag)), {}, (2, 3, i), ("MGUCell", {"features": H, "reset_gate": flag}))
        for flag in (True, False)
    ]
    for rank in (1, 2, 3):
        for bias in (True, False):
            layer = flax(f"ConvLSTM{rank}d", C, F, K, padding="same", bias=bias)
            cell = {"features": F, "kernel_size": (K,) * rank, "use_bias": bias}
            found.append(Row("RNN", layer, {}, (1, 2, *(5,) * rank, C), ("ConvLSTMCell", cell)))
    return [*found, Row("Bidirectional", ps.Bidirectional(flax("GRU", i, H)), inputs=(2, 3, i), inside=("GRUCell", {"features": H}))]


def _wrapped() -> list[Row]:
    dense, image = flax("Dense", H, F), flax("Conv2d", C, F, K)
    convolution = ("Conv", {"features": F, "kernel_size": (K, K)})
    return [
        Row("WeightNorm", ps.WeightNorm(dense), {}, (2, H), ("Dense", {"features": F})),
        Row("WeightNorm", ps.WeightNorm(image), {}, (1, 9, 9, C), convolution),
        Row("SpectralNorm", ps.SpectralNorm(dense), {}, (2, H), ("Dense", {"features": F})),
        Row("SpectralNorm", ps.SpectralNorm(image), {}, (1, 9, 9, C), convolution),
        Row("Sequential", ps.Block(layers_0=dense), {}, (2, H), ("Dense", {"features": F})),
    ]


LINEN_LEFT = {
    "Module": "the base class of all",
    "RNNCellBase": "the base class of the cells",
    "SimpleCell": "certified inside RNN",
    "LSTMCell": "certified inside RNN",
    "OptimizedLSTMCell": "certified inside RNN",
    "GRUCell": "certified inside RNN",
    "MGUCell": "certified inside RNN",
    "ConvLSTMCell": "certified inside RNN",
    "Fp8DotGeneral": "an operation inside a layer, of scales that belong to training in eight bits",
    "Fp8DotGeneralOp": "likewise",
    "Fp8DirectDotGeneralOp": "likewise",
    "Fp8Einsum": "likewise",
    "NANOOFp8DotGeneralOp": "likewise",
}
"""Classes of linen without a row of their own, and why."""


def nnx_rows() -> list[Row]:
    """Return the rows of ``flax.nnx``, whose modules are built without an input."""
    pair = {"in_features": i, "hidden_features": H}
    widths = {"in_features": H, "out_features": F}
    channels = {"in_features": C, "out_features": F, "kernel_size": (K, p)}
    table = ps.EinsumDense("abx,xde->abde", (None, A, D), (None, None, H), "de")
    grouped = flax("MultiHeadAttention", H, A, kdim=K, vdim=K, qkv_features=A * D, output_dim=F, kv_heads=1, qk_norm="layer")
    normed = {"qkv_features": A * D, "out_features": F, "num_kv_heads": 1, "in_kv_features": K, "normalize_qk": True}
    return [
        Row("Linear", flax("Dense", H, F), widths),
        Row("Linear", flax("Dense", H, F, bias=False), {**widths, "use_bias": False}),
        Row("LinearGeneral", ps.HeadProjection((A, D), (H,)), {"in_features": (A, D), "out_features": H, "axis": (-2, -1)}),
        Row("Einsum", table, {"einsum_str": "abx,xde->abde", "kernel_shape": (H, A, D), "bias_shape": (A, D)}),
        Row("Embed", flax("Embedding", V, H), {"num_embeddings": V, "features": H}),
        Row("PReLU", flax("PReLU")),
        Row("Dropout", ps.Dropout(0.1), {"rate": 0.1}),
        Row("LayerNorm", flax("LayerNorm", H), {"num_features": H}),
        Row("LayerNorm", flax("LayerNorm", H, scale=False), {"num_features": H, "use_scale": False}),
        Row("RMSNorm", flax("RMSNorm", H), {"num_features": H}),
        Row("GroupNorm", flax("GroupNorm", G, C), {"num_features": C, "num_groups": G}),
        Row("InstanceNorm", flax("InstanceNorm2d", C, affine=True), {"num_features": C}),
        Row("BatchNorm", flax("BatchNorm2d", C), {"num_features": C}),
        Row("BatchNorm", flax("BatchNorm2d", C, bias=False), {"num_features": C, "use_bias": False}),
        Row("Conv", flax("Conv2d", C, F, (K, p), groups=G), {**channels, "feature_group_count": G}),
        Row("ConvTranspose", flax("ConvTranspose2d", C, F, (K, p)), channels),
        Row("ConvTranspose", flax("ConvTranspose2d", C, F, (K, p), transpose_kernel=True), {**channels, "transpose_kernel": True}),
        Row("MultiHeadAttention", flax("MultiHeadAttention", H, A), {"num_heads": A, "in_features": H}),
        Row("MultiHeadAttention", grouped, {"num_heads": A, "in_features": H, **normed}),
        Row("SimpleCell", ps.RNNCell(i, H, dialect="nnx"), pair),
        Row("LSTMCell", ps.LSTMCell(i, H, dialect="flax"), pair, rename={"if_.{}": "if.{}"}),
        Row("OptimizedLSTMCell", ps.LSTMCell(i, H, dialect="nnx"), pair),
        Row("GRUCell", ps.GRUCell(i, H, dialect="nnx"), pair),
        Row("RNN", ps.RNN(i, H, dialect="nnx"), inside=("SimpleCell", pair)),
        Row("RNN", ps.LSTM(i, H, dialect="nnx"), inside=("OptimizedLSTMCell", pair)),
        Row("RNN", ps.GRU(i, H, dialect="nnx"), inside=("GRUCell", pair)),
        Row("Bidirectional", ps.Bidirectional(ps.GRU(i, H, dialect="nnx")), inside=("GRUCell", pair)),
        Row("LoRALinear", ps.LoRA(flax("Dense", H, F), R), {**widths, "lora_rank": R}),
        Row("LoRA", FACTORS, {**widths, "lora_rank": R}, rename={"lora_a": "0.weight", "lora_b": "1.weight"}),
        Row("WeightNorm", ps.Block(layer_instance=flax("Dense", H, F)), inside=("Linear", widths)),
        Row("SpectralNorm", ps.SpectralNorm(flax("Dense", H, F)), inside=("Linear", widths), rename=NNX_STATISTICS),
        Row("Sequential", ps.Block(layers=ps.Sequential(flax("Dense", H, F))), inside=("Linear", widths)),
        Row("List", ps.Sequential(flax("Dense", H, F)), inside=("Linear", widths)),
        Row("Dict", ps.Block(inner=flax("Dense", H, F)), inside=("Linear", widths)),
    ]


FACTORS = ps.Sequential(ps.Parameter((H, R)), ps.Parameter((R, F)))
"""What ``nnx.LoRA`` holds itself, without the layer that it may adapt."""

NNX_STATISTICS = {"batch_stats.{}": "layer_instance.{}"}
"""NNX keeps them in a dictionary beside the layer."""

NNX_LEFT = {"Module": "the base class of all", "RNNCellBase": "the base class of the cells"}
"""Classes of NNX without a row of their own, and why."""
