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
    "paramsym.layers.activation": "PReLU",
    "paramsym.layers.convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "paramsym.layers.separable": ("DepthwiseConv1d DepthwiseConv2d DepthwiseConv3d SeparableConv1d SeparableConv2d SeparableConv3d"),
    "paramsym.layers.locally_connected": "LocallyConnected1d LocallyConnected2d LocallyConnected3d",
    "paramsym.layers.recurrent": "GRU GRUCell LSTM LSTMCell PeepholeLSTM PeepholeLSTMCell RNN RNNCell",
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
    "paramsym.config": "from_config",
}
_ALIASES = {"Linear": "Dense", "MultiheadAttention": "MultiHeadAttention"}
"""The spelling of torch, where it differs."""
_ROOMS = ("analysis", "errors", "keras", "layers", "models", "render")
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
