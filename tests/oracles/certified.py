"""Which layers are proven equal to torch's own, by which arguments: one row per layer and set of flags.

Arguments are named as both constructors name them; a symbol stands where the instance gets a number. What is not said keeps its default.
"""

from __future__ import annotations

from typing import Any

from paramsym import A, C, D, F, G, H, K, L, N, S, T, V, W, dims

Row = tuple[str, dict[str, Any]]
WANTED: dict[str, Any] = {
    "padding": 1,
    "value": 0.5,
    "threshold": 0.5,
    "kernel_size": 2,
    "output_size": 4,
    "output_ratio": 0.5,
    "scale_factor": 2,
    "norm_type": 2,
    "groups": 2,
    "upscale_factor": 2,
    "downscale_factor": 2,
    "dim": 1,
    "unflattened_size": (2, 2),
}
"""Arguments of the layers without a row: those that store nothing."""
ASKED = {"output_ratio", "scale_factor"}
"""Those of them that torch asks for when the layer is run, not when it is built."""
ELSEWHERE = {
    "TransformerEncoder": "takes a block, and has a test of its own",
    "TransformerDecoder": "takes a block, and has a test of its own",
    "Sequential": "a composition, of whatever is put in",
    "LazyLinear": "has no shapes before it is run",
}
"""Layers of torch that are certified in another way, and how."""
NO_LAYERS = {
    "Module": "the base class of all",
    "Container": "an old name of it",
    "RNNBase": "the base class of the recurrent layers",
    "RNNCellBase": "the base class of the cells",
    "ModuleList": "Sequential, Block and Repeat compose",
    "ModuleDict": "likewise",
    "ParameterList": "Parameter states one tensor",
    "ParameterDict": "likewise",
    "DataParallel": "a wrapper, whose names match reads",
    "CrossMapLRN2d": "an old form of LocalResponseNorm",
}
"""Classes of torch that are not stated, and why; losses, and lazy forms of stated layers, beside them."""
a, b, c = dims("a b c")


def rows() -> list[Row]:
    """Return every row."""
    return [*_dense(), *_embedding(), *_normalization(), *_attention(), *_convolution(), *_recurrent(), *_transformer(), *_small()]


def _dense() -> list[Row]:
    return [
        ("Linear", {"in_features": H, "out_features": F}),
        ("Linear", {"in_features": H, "out_features": F, "bias": False}),
        ("Bilinear", {"in1_features": a, "in2_features": b, "out_features": c}),
        ("Bilinear", {"in1_features": a, "in2_features": b, "out_features": c, "bias": False}),
    ]


def _embedding() -> list[Row]:
    return [
        ("Embedding", {"num_embeddings": V, "embedding_dim": H}),
        ("EmbeddingBag", {"num_embeddings": V, "embedding_dim": H}),
        ("AdaptiveLogSoftmaxWithLoss", {"in_features": H, "n_classes": 20, "cutoffs": [5, 10], "div_value": 2.0}),
        ("AdaptiveLogSoftmaxWithLoss", {"in_features": H, "n_classes": 20, "cutoffs": [5], "head_bias": True}),
        ("LinearCrossEntropyLoss", {"in_features": H, "num_classes": V}),
        ("LinearCrossEntropyLoss", {"in_features": H, "num_classes": V, "bias": True}),
    ]


def _normalization() -> list[Row]:
    found: list[Row] = [
        ("LayerNorm", {"normalized_shape": H}),
        ("LayerNorm", {"normalized_shape": (C, W, H)}),
        ("LayerNorm", {"normalized_shape": H, "bias": False}),
        ("LayerNorm", {"normalized_shape": H, "elementwise_affine": False}),
        ("RMSNorm", {"normalized_shape": H}),
        ("RMSNorm", {"normalized_shape": (W, H), "elementwise_affine": False}),
        ("GroupNorm", {"num_groups": G, "num_channels": C}),
        ("GroupNorm", {"num_groups": G, "num_channels": C, "affine": False}),
        ("LocalResponseNorm", {"size": 3}),
        ("SyncBatchNorm", {"num_features": C}),
    ]
    for rank in (1, 2, 3):
        batch = ({}, {"affine": False}, {"track_running_stats": False})
        instance = ({}, {"affine": True}, {"affine": True, "track_running_stats": True})
        found += [(f"BatchNorm{rank}d", {"num_features": C, **flags}) for flags in batch]
        found += [(f"InstanceNorm{rank}d", {"num_features": C, **flags}) for flags in instance]
    return found


def _attention() -> list[Row]:
    plain = {"embed_dim": H, "num_heads": A}
    return [
        ("MultiheadAttention", {**plain, **flags})
        for flags in ({}, {"bias": False}, {"add_bias_kv": True}, {"kdim": K, "vdim": D}, {"kdim": K, "vdim": D, "bias": False})
    ]


def _convolution() -> list[Row]:
    found: list[Row] = []
    for rank in (1, 2, 3):
        sizes = (K, S, T)[:rank]
        for name in (f"Conv{rank}d", f"ConvTranspose{rank}d"):
            plain = {"in_channels": C, "out_channels": F}
            found += [
                (name, {**plain, "kernel_size": K}),
                (name, {**plain, "kernel_size": sizes, "bias": False}),
                (name, {**plain, "kernel_size": 2, "groups": G}),
            ]
    return found


def _recurrent() -> list[Row]:
    found: list[Row] = []
    for name in ("RNN", "GRU", "LSTM"):
        plain = {"input_size": a, "hidden_size": H}
        found += [
            (name, plain),
            (name, {**plain, "num_layers": L}),
            (name, {**plain, "num_layers": L, "bidirectional": True}),
            (name, {**plain, "num_layers": 2, "bias": False}),
            (name + "Cell", plain),
            (name + "Cell", {**plain, "bias": False}),
        ]
    return [
        *found,
        ("LSTM", {"input_size": a, "hidden_size": 9, "proj_size": 4, "num_layers": L}),
        ("LSTM", {"input_size": a, "hidden_size": H, "proj_size": 2, "bidirectional": True}),
    ]


def _transformer() -> list[Row]:
    block = {"d_model": H, "nhead": A, "dim_feedforward": F}
    return [
        ("TransformerEncoderLayer", block),
        ("TransformerEncoderLayer", {**block, "bias": False}),
        ("TransformerDecoderLayer", block),
        ("TransformerDecoderLayer", {**block, "bias": False}),
        ("Transformer", {**block, "num_encoder_layers": L, "num_decoder_layers": N}),
    ]


def _small() -> list[Row]:
    return [
        ("PReLU", {"num_parameters": C}),
        ("ReLU", {}),
        ("Dropout", {"p": 0.5}),
        ("Identity", {}),
        ("Flatten", {}),
        ("MaxPool2d", {"kernel_size": 2}),
        ("Upsample", {"scale_factor": 2}),
        ("ZeroPad2d", {"padding": 1}),
    ]
