"""Parameter counts as algebra: every layer states its tensors with symbolic shapes, everything else follows.

Names are loaded when they are first used, so that importing the package costs next to nothing; SymPy is imported by the first name that
needs it.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # what typing has, without importing it
if TYPE_CHECKING:
    from paramsym.analysis.answers import Answer as Answer
    from paramsym.analysis.answers import Reading as Reading
    from paramsym.analysis.answers import Reconciliation as Reconciliation
    from paramsym.analysis.conventions import Convention as Convention
    from paramsym.analysis.conventions import Conventions as Conventions
    from paramsym.analysis.conventions import conventions as conventions
    from paramsym.analysis.explain import Explanation as Explanation
    from paramsym.analysis.explain import explain as explain
    from paramsym.analysis.reconcile import reconcile as reconcile
    from paramsym.compose import Block as Block
    from paramsym.compose import Repeat as Repeat
    from paramsym.compose import Residual as Residual
    from paramsym.compose import Runs as Runs
    from paramsym.compose import Sequential as Sequential
    from paramsym.compose import Shared as Shared
    from paramsym.compose import Tied as Tied
    from paramsym.config import from_config as from_config
    from paramsym.layer import Layer as Layer
    from paramsym.layer import Part as Part
    from paramsym.layer import Tensor as Tensor
    from paramsym.layers.activation import Activation as Activation
    from paramsym.layers.activation import CELU as CELU
    from paramsym.layers.activation import ELU as ELU
    from paramsym.layers.activation import GELU as GELU
    from paramsym.layers.activation import GLU as GLU
    from paramsym.layers.activation import Hardshrink as Hardshrink
    from paramsym.layers.activation import Hardsigmoid as Hardsigmoid
    from paramsym.layers.activation import Hardswish as Hardswish
    from paramsym.layers.activation import Hardtanh as Hardtanh
    from paramsym.layers.activation import LeakyReLU as LeakyReLU
    from paramsym.layers.activation import LogSigmoid as LogSigmoid
    from paramsym.layers.activation import LogSoftmax as LogSoftmax
    from paramsym.layers.activation import Mish as Mish
    from paramsym.layers.activation import PReLU as PReLU
    from paramsym.layers.activation import RReLU as RReLU
    from paramsym.layers.activation import ReLU as ReLU
    from paramsym.layers.activation import ReLU6 as ReLU6
    from paramsym.layers.activation import SELU as SELU
    from paramsym.layers.activation import SiLU as SiLU
    from paramsym.layers.activation import Sigmoid as Sigmoid
    from paramsym.layers.activation import Softmax as Softmax
    from paramsym.layers.activation import Softmax2d as Softmax2d
    from paramsym.layers.activation import Softmin as Softmin
    from paramsym.layers.activation import Softplus as Softplus
    from paramsym.layers.activation import Softshrink as Softshrink
    from paramsym.layers.activation import Softsign as Softsign
    from paramsym.layers.activation import Tanh as Tanh
    from paramsym.layers.activation import Tanhshrink as Tanhshrink
    from paramsym.layers.activation import Threshold as Threshold
    from paramsym.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
    from paramsym.layers.additive_attention import AdditiveAttention as AdditiveAttention
    from paramsym.layers.attention import DotProductAttention as DotProductAttention
    from paramsym.layers.attention import HeadNorm as HeadNorm
    from paramsym.layers.attention import HeadProjection as HeadProjection
    from paramsym.layers.attention import MultiHeadAttention as MultiHeadAttention
    from paramsym.layers.attention import MultiHeadAttention as MultiheadAttention
    from paramsym.layers.batch_norm import BatchNorm1d as BatchNorm1d
    from paramsym.layers.batch_norm import BatchNorm2d as BatchNorm2d
    from paramsym.layers.batch_norm import BatchNorm3d as BatchNorm3d
    from paramsym.layers.batch_norm import InstanceNorm1d as InstanceNorm1d
    from paramsym.layers.batch_norm import InstanceNorm2d as InstanceNorm2d
    from paramsym.layers.batch_norm import InstanceNorm3d as InstanceNorm3d
    from paramsym.layers.batch_norm import SyncBatchNorm as SyncBatchNorm
    from paramsym.layers.cells import GRUCell as GRUCell
    from paramsym.layers.cells import LSTMCell as LSTMCell
    from paramsym.layers.cells import PeepholeLSTMCell as PeepholeLSTMCell
    from paramsym.layers.cells import RNNCell as RNNCell
    from paramsym.layers.conv_lora import ConvLoRA as ConvLoRA
    from paramsym.layers.conv_lstm import ConvLSTM1d as ConvLSTM1d
    from paramsym.layers.conv_lstm import ConvLSTM2d as ConvLSTM2d
    from paramsym.layers.conv_lstm import ConvLSTM3d as ConvLSTM3d
    from paramsym.layers.convolution import Conv1d as Conv1d
    from paramsym.layers.convolution import Conv2d as Conv2d
    from paramsym.layers.convolution import Conv3d as Conv3d
    from paramsym.layers.convolution import ConvTranspose1d as ConvTranspose1d
    from paramsym.layers.convolution import ConvTranspose2d as ConvTranspose2d
    from paramsym.layers.convolution import ConvTranspose3d as ConvTranspose3d
    from paramsym.layers.dense import Bilinear as Bilinear
    from paramsym.layers.dense import Dense as Dense
    from paramsym.layers.dense import Dense as Linear
    from paramsym.layers.dense import EinsumDense as EinsumDense
    from paramsym.layers.dense import TransposedDense as TransposedDense
    from paramsym.layers.dropout import AlphaDropout as AlphaDropout
    from paramsym.layers.dropout import Dropout as Dropout
    from paramsym.layers.dropout import Dropout1d as Dropout1d
    from paramsym.layers.dropout import Dropout2d as Dropout2d
    from paramsym.layers.dropout import Dropout3d as Dropout3d
    from paramsym.layers.dropout import FeatureAlphaDropout as FeatureAlphaDropout
    from paramsym.layers.dropout import GaussianDropout as GaussianDropout
    from paramsym.layers.dropout import GaussianNoise as GaussianNoise
    from paramsym.layers.embedding import Embedding as Embedding
    from paramsym.layers.embedding import EmbeddingBag as EmbeddingBag
    from paramsym.layers.embedding import ReversibleEmbedding as ReversibleEmbedding
    from paramsym.layers.experts import MixtureOfExperts as MixtureOfExperts
    from paramsym.layers.experts import PlainExpert as PlainExpert
    from paramsym.layers.experts import Router as Router
    from paramsym.layers.experts import StackedExperts as StackedExperts
    from paramsym.layers.fast_feed_forward import FastFeedForward as FastFeedForward
    from paramsym.layers.feed_forward import FeedForward as FeedForward
    from paramsym.layers.feed_forward import GatedFeedForward as GatedFeedForward
    from paramsym.layers.latent_attention import LatentAttention as LatentAttention
    from paramsym.layers.locally_connected import LocallyConnected1d as LocallyConnected1d
    from paramsym.layers.locally_connected import LocallyConnected2d as LocallyConnected2d
    from paramsym.layers.locally_connected import LocallyConnected3d as LocallyConnected3d
    from paramsym.layers.lora import LoRA as LoRA
    from paramsym.layers.mamba import CausalConv1d as CausalConv1d
    from paramsym.layers.mamba import Mamba as Mamba
    from paramsym.layers.mamba import Mamba2 as Mamba2
    from paramsym.layers.normalization import GroupNorm as GroupNorm
    from paramsym.layers.normalization import LayerNorm as LayerNorm
    from paramsym.layers.normalization import LocalResponseNorm as LocalResponseNorm
    from paramsym.layers.normalization import Normalization as Normalization
    from paramsym.layers.normalization import RMSNorm as RMSNorm
    from paramsym.layers.normalization import UnitNormalization as UnitNormalization
    from paramsym.layers.padding import CircularPad1d as CircularPad1d
    from paramsym.layers.padding import CircularPad2d as CircularPad2d
    from paramsym.layers.padding import CircularPad3d as CircularPad3d
    from paramsym.layers.padding import ConstantPad1d as ConstantPad1d
    from paramsym.layers.padding import ConstantPad2d as ConstantPad2d
    from paramsym.layers.padding import ConstantPad3d as ConstantPad3d
    from paramsym.layers.padding import Cropping as Cropping
    from paramsym.layers.padding import ReflectionPad1d as ReflectionPad1d
    from paramsym.layers.padding import ReflectionPad2d as ReflectionPad2d
    from paramsym.layers.padding import ReflectionPad3d as ReflectionPad3d
    from paramsym.layers.padding import ReplicationPad1d as ReplicationPad1d
    from paramsym.layers.padding import ReplicationPad2d as ReplicationPad2d
    from paramsym.layers.padding import ReplicationPad3d as ReplicationPad3d
    from paramsym.layers.padding import ZeroPad1d as ZeroPad1d
    from paramsym.layers.padding import ZeroPad2d as ZeroPad2d
    from paramsym.layers.padding import ZeroPad3d as ZeroPad3d
    from paramsym.layers.parameter import Parameter as Parameter
    from paramsym.layers.patch import PatchEmbedding as PatchEmbedding
    from paramsym.layers.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
    from paramsym.layers.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
    from paramsym.layers.pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
    from paramsym.layers.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
    from paramsym.layers.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
    from paramsym.layers.pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
    from paramsym.layers.pooling import AvgPool1d as AvgPool1d
    from paramsym.layers.pooling import AvgPool2d as AvgPool2d
    from paramsym.layers.pooling import AvgPool3d as AvgPool3d
    from paramsym.layers.pooling import FractionalMaxPool2d as FractionalMaxPool2d
    from paramsym.layers.pooling import FractionalMaxPool3d as FractionalMaxPool3d
    from paramsym.layers.pooling import GlobalAvgPool as GlobalAvgPool
    from paramsym.layers.pooling import GlobalMaxPool as GlobalMaxPool
    from paramsym.layers.pooling import LPPool1d as LPPool1d
    from paramsym.layers.pooling import LPPool2d as LPPool2d
    from paramsym.layers.pooling import LPPool3d as LPPool3d
    from paramsym.layers.pooling import MaxPool1d as MaxPool1d
    from paramsym.layers.pooling import MaxPool2d as MaxPool2d
    from paramsym.layers.pooling import MaxPool3d as MaxPool3d
    from paramsym.layers.pooling import MaxUnpool1d as MaxUnpool1d
    from paramsym.layers.pooling import MaxUnpool2d as MaxUnpool2d
    from paramsym.layers.pooling import MaxUnpool3d as MaxUnpool3d
    from paramsym.layers.position import LearnedPositions as LearnedPositions
    from paramsym.layers.position import RelativeBias as RelativeBias
    from paramsym.layers.position import RotaryPositions as RotaryPositions
    from paramsym.layers.position import SinusoidalPositions as SinusoidalPositions
    from paramsym.layers.recurrent import GRU as GRU
    from paramsym.layers.recurrent import LSTM as LSTM
    from paramsym.layers.recurrent import PeepholeLSTM as PeepholeLSTM
    from paramsym.layers.recurrent import RNN as RNN
    from paramsym.layers.resampling import ChannelShuffle as ChannelShuffle
    from paramsym.layers.resampling import Fold as Fold
    from paramsym.layers.resampling import PixelShuffle as PixelShuffle
    from paramsym.layers.resampling import PixelUnshuffle as PixelUnshuffle
    from paramsym.layers.resampling import Unfold as Unfold
    from paramsym.layers.resampling import Upsample as Upsample
    from paramsym.layers.resampling import UpsamplingBilinear2d as UpsamplingBilinear2d
    from paramsym.layers.resampling import UpsamplingNearest2d as UpsamplingNearest2d
    from paramsym.layers.reshaping import Flatten as Flatten
    from paramsym.layers.reshaping import Identity as Identity
    from paramsym.layers.reshaping import Permute as Permute
    from paramsym.layers.reshaping import RepeatVector as RepeatVector
    from paramsym.layers.reshaping import Reshape as Reshape
    from paramsym.layers.reshaping import Unflatten as Unflatten
    from paramsym.layers.separable import DepthwiseConv1d as DepthwiseConv1d
    from paramsym.layers.separable import DepthwiseConv2d as DepthwiseConv2d
    from paramsym.layers.separable import DepthwiseConv3d as DepthwiseConv3d
    from paramsym.layers.separable import SeparableConv1d as SeparableConv1d
    from paramsym.layers.separable import SeparableConv2d as SeparableConv2d
    from paramsym.layers.separable import SeparableConv3d as SeparableConv3d
    from paramsym.layers.transformer import Transformer as Transformer
    from paramsym.layers.transformer import TransformerDecoder as TransformerDecoder
    from paramsym.layers.transformer import TransformerDecoderLayer as TransformerDecoderLayer
    from paramsym.layers.transformer import TransformerEncoder as TransformerEncoder
    from paramsym.layers.transformer import TransformerEncoderLayer as TransformerEncoderLayer
    from paramsym.layers.wrappers import Bidirectional as Bidirectional
    from paramsym.layers.wrappers import TimeDistributed as TimeDistributed
    from paramsym.ledger import Ledger as Ledger
    from paramsym.ledger import Line as Line
    from paramsym.ledger import Numbers as Numbers
    from paramsym.size import Count as Count
    from paramsym.size import Dim as Dim
    from paramsym.size import Width as Width
    from paramsym.size import at_most as at_most
    from paramsym.size import canonical as canonical
    from paramsym.size import cat as cat
    from paramsym.size import divides as divides
    from paramsym.size import per as per
    from paramsym.size import stack as stack
    from paramsym.symbols import A as A
    from paramsym.symbols import B as B
    from paramsym.symbols import C as C
    from paramsym.symbols import D as D
    from paramsym.symbols import E as E
    from paramsym.symbols import F as F
    from paramsym.symbols import G as G
    from paramsym.symbols import H as H
    from paramsym.symbols import K as K
    from paramsym.symbols import L as L
    from paramsym.symbols import LETTERS as LETTERS
    from paramsym.symbols import Letter as Letter
    from paramsym.symbols import N as N
    from paramsym.symbols import P as P
    from paramsym.symbols import R as R
    from paramsym.symbols import S as S
    from paramsym.symbols import T as T
    from paramsym.symbols import V as V
    from paramsym.symbols import W as W
    from paramsym.symbols import dims as dims
    from paramsym.verify.match import Match as Match
    from paramsym.verify.match import match as match

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
    "paramsym.analysis.reconcile": "reconcile",
    "paramsym.analysis.answers": "Answer Reading Reconciliation",
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
    if name == "__all__":  # what a star brings: no rooms, because a user's own `keras` must stay theirs
        return [*_HOME_OF, *_ALIASES]
    if name in _ROOMS:
        return import_module(f"paramsym.{name}")
    message = f"module 'paramsym' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*_HOME_OF, *_ALIASES, *_ROOMS, "__version__"])
