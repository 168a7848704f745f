# The public names, each with the module that defines it, in the order of the reference: __init__.py loads them, type checkers read them.
# ruff: noqa: I001

from paramsym import (
    errors as errors,
    keras as keras,
    models as models,
    plot as plot,
    testing as testing,
)
from paramsym.errors import ParamsymError as ParamsymError, ParamsymWarning as ParamsymWarning
from paramsym.algebra.symbols import (
    A as A,
    B as B,
    C as C,
    D as D,
    E as E,
    F as F,
    G as G,
    H as H,
    K as K,
    L as L,
    N as N,
    P as P,
    R as R,
    S as S,
    T as T,
    V as V,
    W as W,
    LETTERS as LETTERS,
    dims as dims,
    index as index,
)
from paramsym.algebra.size import (
    Count as Count,
    Dim as Dim,
    Width as Width,
    at_most as at_most,
    cat as cat,
    divides as divides,
    per as per,
    stack as stack,
)
from paramsym.algebra.numbering import Numbers as Numbers
from paramsym.algebra.letters import LETTER_SETS as LETTER_SETS
from paramsym.present.typeset import latex_document as latex_document
from paramsym.core.layer import Layer as Layer, Part as Part, Tensor as Tensor
from paramsym.core.compose import (
    Block as Block,
    Repeat as Repeat,
    Residual as Residual,
    Runs as Runs,
    Sequential as Sequential,
    Shared as Shared,
)
from paramsym.core.tied import Tied as Tied
from paramsym.layers.bilinear import Bilinear as Bilinear
from paramsym.layers.dense import Dense as Dense, TransposedDense as TransposedDense
from paramsym.layers.einsum import EinsumDense as EinsumDense
from paramsym.layers.lazy import LazyDense as LazyDense
from paramsym.layers.lora import LoRA as LoRA
from paramsym.layers.parameter import Parameter as Parameter
from paramsym.layers.embedding import Embedding as Embedding, EmbeddingBag as EmbeddingBag, ReversibleEmbedding as ReversibleEmbedding
from paramsym.layers.losses import (
    BCELoss as BCELoss,
    BCEWithLogitsLoss as BCEWithLogitsLoss,
    CosineSimilarity as CosineSimilarity,
    CrossEntropyLoss as CrossEntropyLoss,
    GaussianNLLLoss as GaussianNLLLoss,
    HuberLoss as HuberLoss,
    KLDivLoss as KLDivLoss,
    L1Loss as L1Loss,
    LinearCrossEntropyLoss as LinearCrossEntropyLoss,
    MSELoss as MSELoss,
    MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss,
    NLLLoss as NLLLoss,
    PairwiseDistance as PairwiseDistance,
    PoissonNLLLoss as PoissonNLLLoss,
    SmoothL1Loss as SmoothL1Loss,
    SoftMarginLoss as SoftMarginLoss,
)
from paramsym.layers.margins import (
    CosineEmbeddingLoss as CosineEmbeddingLoss,
    HingeEmbeddingLoss as HingeEmbeddingLoss,
    MarginRankingLoss as MarginRankingLoss,
    MultiLabelMarginLoss as MultiLabelMarginLoss,
    MultiMarginLoss as MultiMarginLoss,
    TripletMarginLoss as TripletMarginLoss,
    TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss,
)
from paramsym.layers.ctc import CTCLoss as CTCLoss
from paramsym.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from paramsym.layers.position import (
    LearnedPositions as LearnedPositions,
    RelativeBias as RelativeBias,
    RotaryPositions as RotaryPositions,
    SinusoidalPositions as SinusoidalPositions,
)
from paramsym.layers.patch import PatchEmbedding as PatchEmbedding
from paramsym.layers.normalization import (
    GroupNorm as GroupNorm,
    LayerNorm as LayerNorm,
    LocalResponseNorm as LocalResponseNorm,
    Normalization as Normalization,
    RMSNorm as RMSNorm,
    UnitNormalization as UnitNormalization,
)
from paramsym.layers.batch_norm import (
    BatchNorm1d as BatchNorm1d,
    BatchNorm2d as BatchNorm2d,
    BatchNorm3d as BatchNorm3d,
    InstanceNorm1d as InstanceNorm1d,
    InstanceNorm2d as InstanceNorm2d,
    InstanceNorm3d as InstanceNorm3d,
    SyncBatchNorm as SyncBatchNorm,
)
from paramsym.layers.activation import (
    Activation as Activation,
    CELU as CELU,
    ELU as ELU,
    GELU as GELU,
    GLU as GLU,
    Hardshrink as Hardshrink,
    Hardsigmoid as Hardsigmoid,
    Hardswish as Hardswish,
    Hardtanh as Hardtanh,
    LeakyReLU as LeakyReLU,
    LogSigmoid as LogSigmoid,
    LogSoftmax as LogSoftmax,
    Mish as Mish,
    PReLU as PReLU,
    RReLU as RReLU,
    ReLU as ReLU,
    ReLU6 as ReLU6,
    SELU as SELU,
    SiLU as SiLU,
    Sigmoid as Sigmoid,
    Softmax as Softmax,
    Softmax2d as Softmax2d,
    Softmin as Softmin,
    Softplus as Softplus,
    Softshrink as Softshrink,
    Softsign as Softsign,
    Tanh as Tanh,
    Tanhshrink as Tanhshrink,
    Threshold as Threshold,
)
from paramsym.layers.dropout import (
    AlphaDropout as AlphaDropout,
    Dropout as Dropout,
    Dropout1d as Dropout1d,
    Dropout2d as Dropout2d,
    Dropout3d as Dropout3d,
    FeatureAlphaDropout as FeatureAlphaDropout,
    GaussianDropout as GaussianDropout,
    GaussianNoise as GaussianNoise,
)
from paramsym.layers.padding import (
    CircularPad1d as CircularPad1d,
    CircularPad2d as CircularPad2d,
    CircularPad3d as CircularPad3d,
    ConstantPad1d as ConstantPad1d,
    ConstantPad2d as ConstantPad2d,
    ConstantPad3d as ConstantPad3d,
    Cropping as Cropping,
    ReflectionPad1d as ReflectionPad1d,
    ReflectionPad2d as ReflectionPad2d,
    ReflectionPad3d as ReflectionPad3d,
    ReplicationPad1d as ReplicationPad1d,
    ReplicationPad2d as ReplicationPad2d,
    ReplicationPad3d as ReplicationPad3d,
    ZeroPad1d as ZeroPad1d,
    ZeroPad2d as ZeroPad2d,
    ZeroPad3d as ZeroPad3d,
)
from paramsym.layers.pooling import (
    AvgPool1d as AvgPool1d,
    AvgPool2d as AvgPool2d,
    AvgPool3d as AvgPool3d,
    LPPool1d as LPPool1d,
    LPPool2d as LPPool2d,
    LPPool3d as LPPool3d,
    MaxPool1d as MaxPool1d,
    MaxPool2d as MaxPool2d,
    MaxPool3d as MaxPool3d,
)
from paramsym.layers.fractional_pooling import FractionalMaxPool2d as FractionalMaxPool2d, FractionalMaxPool3d as FractionalMaxPool3d
from paramsym.layers.adaptive_pooling import (
    AdaptiveAvgPool1d as AdaptiveAvgPool1d,
    AdaptiveAvgPool2d as AdaptiveAvgPool2d,
    AdaptiveAvgPool3d as AdaptiveAvgPool3d,
    AdaptiveMaxPool1d as AdaptiveMaxPool1d,
    AdaptiveMaxPool2d as AdaptiveMaxPool2d,
    AdaptiveMaxPool3d as AdaptiveMaxPool3d,
    GlobalAvgPool as GlobalAvgPool,
    GlobalMaxPool as GlobalMaxPool,
)
from paramsym.layers.unpooling import MaxUnpool1d as MaxUnpool1d, MaxUnpool2d as MaxUnpool2d, MaxUnpool3d as MaxUnpool3d
from paramsym.layers.resampling import (
    ChannelShuffle as ChannelShuffle,
    Fold as Fold,
    PixelShuffle as PixelShuffle,
    PixelUnshuffle as PixelUnshuffle,
    Unfold as Unfold,
    Upsample as Upsample,
    UpsamplingBilinear2d as UpsamplingBilinear2d,
    UpsamplingNearest2d as UpsamplingNearest2d,
)
from paramsym.layers.preprocessing import Masking as Masking, Rescaling as Rescaling
from paramsym.layers.reshaping import (
    Flatten as Flatten,
    Identity as Identity,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
    Unflatten as Unflatten,
)
from paramsym.layers.convolution import (
    Conv1d as Conv1d,
    Conv2d as Conv2d,
    Conv3d as Conv3d,
    ConvTranspose1d as ConvTranspose1d,
    ConvTranspose2d as ConvTranspose2d,
    ConvTranspose3d as ConvTranspose3d,
)
from paramsym.layers.separable import (
    DepthwiseConv1d as DepthwiseConv1d,
    DepthwiseConv2d as DepthwiseConv2d,
    DepthwiseConv3d as DepthwiseConv3d,
    SeparableConv1d as SeparableConv1d,
    SeparableConv2d as SeparableConv2d,
    SeparableConv3d as SeparableConv3d,
)
from paramsym.layers.skip import SkipConnection as SkipConnection
from paramsym.layers.locally_connected import (
    LocallyConnected1d as LocallyConnected1d,
    LocallyConnected2d as LocallyConnected2d,
    LocallyConnected3d as LocallyConnected3d,
)
from paramsym.layers.cells import GRUCell as GRUCell, LSTMCell as LSTMCell, MGUCell as MGUCell, RNNCell as RNNCell
from paramsym.layers.recurrent import GRU as GRU, LSTM as LSTM, RNN as RNN
from paramsym.layers.peephole import PeepholeLSTM as PeepholeLSTM, PeepholeLSTMCell as PeepholeLSTMCell
from paramsym.layers.reparametrized import SpectralNorm as SpectralNorm, WeightNorm as WeightNorm
from paramsym.layers.conv_lstm import ConvLSTM1d as ConvLSTM1d, ConvLSTM2d as ConvLSTM2d, ConvLSTM3d as ConvLSTM3d
from paramsym.layers.wrappers import Bidirectional as Bidirectional, TimeDistributed as TimeDistributed
from paramsym.layers.attention import MultiHeadAttention as MultiHeadAttention
from paramsym.layers.heads import HeadNorm as HeadNorm, HeadProjection as HeadProjection
from paramsym.layers.latent_attention import LatentAttention as LatentAttention
from paramsym.layers.scored_attention import AdditiveAttention as AdditiveAttention, DotProductAttention as DotProductAttention
from paramsym.layers.feed_forward import FeedForward as FeedForward, GatedFeedForward as GatedFeedForward
from paramsym.layers.experts import (
    MixtureOfExperts as MixtureOfExperts,
    PlainExpert as PlainExpert,
    Router as Router,
    StackedExperts as StackedExperts,
)
from paramsym.layers.fast_feed_forward import FastFeedForward as FastFeedForward
from paramsym.layers.transformer import (
    Transformer as Transformer,
    TransformerDecoder as TransformerDecoder,
    TransformerDecoderLayer as TransformerDecoderLayer,
    TransformerEncoder as TransformerEncoder,
    TransformerEncoderLayer as TransformerEncoderLayer,
)
from paramsym.layers.mamba import CausalConv1d as CausalConv1d, Mamba as Mamba, Mamba2 as Mamba2
from paramsym.analysis.explain.explaining import explain as explain
from paramsym.analysis.asymptotics import asymptotics as asymptotics
from paramsym.analysis.compare import compare as compare
from paramsym.analysis.evaluate.evaluating import as_function as as_function, evaluate as evaluate
from paramsym.analysis.export import export as export
from paramsym.analysis.sensitivity import sensitivity as sensitivity
from paramsym.analysis.solve import (
    solve as solve,
)
from paramsym.analysis.sweep import sweep as sweep
from paramsym.analysis.conventions import conventions as conventions
from paramsym.analysis.reconcile.reconciling import reconcile as reconcile
from paramsym.verify.match import match as match
from paramsym.measure.receptive_field import effective_stride as effective_stride, receptive_field as receptive_field
from paramsym.measure.neurons import connections as connections, neurons as neurons
from paramsym.measure.shapes import infer as infer, output_shape as output_shape
from paramsym.measure.run import run as run
from paramsym.measure.summary import summary as summary
from paramsym.measure.trace import trace as trace
from paramsym.measure.activations import activations as activations
from paramsym.measure.memory import memory as memory
from paramsym.measure.kv_cache import kv_cache as kv_cache
from paramsym.measure.work import flops as flops, macs as macs
from paramsym.measure.traffic import intensity as intensity, traffic as traffic
from paramsym.measure.training import training as training
from paramsym.measure.communication import communication as communication
from paramsym.measure.machines import Machine as Machine
from paramsym.read.generalising import generalise as generalise
from paramsym.config import from_config as from_config
from paramsym.loading import load as load
from paramsym.analysis.models_table import table as table
from paramsym.read.deriving import derive as derive
from paramsym.read.module import from_module as from_module
from paramsym.checking import check as check
from paramsym.explorer.exploring import explore as explore

LazyLinear = LazyDense
Linear = Dense
MultiheadAttention = MultiHeadAttention

__version__: str
