"""Parameter counts as algebra: every layer states its tensors with symbolic shapes, everything else follows.

Names are loaded when they are first used, so that importing the package costs next to nothing; SymPy is imported by the first name that
needs it.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "paramsym.symbols": "A B C D E F G H K L N P R S T V W LETTERS Letter dims",
    "paramsym.size": "Count Dim Width at_most canonical cat divides per stack",
    "paramsym.ledger": "Ledger Line Numbers",
    "paramsym.layer": "Layer Part Tensor",
    "paramsym.compose": "Block Repeat Residual Runs Sequential Shared Tied",
    "paramsym.layers.dense": "Bilinear Dense EinsumDense TransposedDense",
    "paramsym.layers.lora": "LoRA",
    "paramsym.layers.parameter": "Parameter",
    "paramsym.layers.embedding": "Embedding EmbeddingBag ReversibleEmbedding",
    "paramsym.layers.adaptive_softmax": "AdaptiveLogSoftmaxWithLoss",
    "paramsym.layers.position": "LearnedPositions RelativeBias RotaryPositions SinusoidalPositions",
    "paramsym.layers.patch": "PatchEmbedding",
    "paramsym.layers.normalization": "GroupNorm LayerNorm LocalResponseNorm Normalization RMSNorm UnitNormalization",
    "paramsym.layers.batch_norm": ("BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d SyncBatchNorm"),
    "paramsym.layers.activation": (
        "Activation CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish "
        "PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh "
        "Tanhshrink Threshold"
    ),
    "paramsym.layers.dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout GaussianDropout GaussianNoise",
    "paramsym.layers.padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Cropping ReflectionPad1d "
        "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d "
        "ZeroPad3d"
    ),
    "paramsym.layers.pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
        "AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d GlobalAvgPool GlobalMaxPool LPPool1d "
        "LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"
    ),
    "paramsym.layers.resampling": (
        "ChannelShuffle Fold PixelShuffle PixelUnshuffle Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d"
    ),
    "paramsym.layers.reshaping": "Flatten Identity Permute RepeatVector Reshape Unflatten",
    "paramsym.layers.conv_lora": "ConvLoRA",
    "paramsym.layers.convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "paramsym.layers.separable": ("DepthwiseConv1d DepthwiseConv2d DepthwiseConv3d SeparableConv1d SeparableConv2d SeparableConv3d"),
    "paramsym.layers.locally_connected": "LocallyConnected1d LocallyConnected2d LocallyConnected3d",
    "paramsym.layers.cells": "GRUCell LSTMCell PeepholeLSTMCell RNNCell",
    "paramsym.layers.recurrent": "GRU LSTM PeepholeLSTM RNN",
    "paramsym.layers.conv_lstm": "ConvLSTM1d ConvLSTM2d ConvLSTM3d",
    "paramsym.layers.wrappers": "Bidirectional TimeDistributed",
    "paramsym.layers.attention": "DotProductAttention HeadNorm HeadProjection MultiHeadAttention",
    "paramsym.layers.latent_attention": "LatentAttention",
    "paramsym.layers.additive_attention": "AdditiveAttention",
    "paramsym.layers.feed_forward": "FeedForward GatedFeedForward",
    "paramsym.layers.experts": "MixtureOfExperts PlainExpert Router StackedExperts",
    "paramsym.layers.fast_feed_forward": "FastFeedForward",
    "paramsym.layers.transformer": ("Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer"),
    "paramsym.layers.mamba": "CausalConv1d Mamba Mamba2",
    "paramsym.analysis.explain": "Explanation explain",
    "paramsym.analysis.conventions": "Convention Conventions conventions",
    "paramsym.verify.match": "Match match",
    "paramsym.config": "from_config",
}
_ALIASES = {"Linear": "Dense", "MultiheadAttention": "MultiHeadAttention"}
"""The spelling of torch, where it differs."""
_ROOMS = ("analysis", "errors", "keras", "layers", "models", "render", "testing", "verify")
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a public name from its home, once."""
    if name in _ALIASES:
        return __getattr__(_ALIASES[name])
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"paramsym.{name}")
    message = f"module 'paramsym' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*_HOME_OF, *_ALIASES, *_ROOMS, "__version__"])
