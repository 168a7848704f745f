"""Parameter counts as algebra: every layer states its tensors with symbolic shapes, everything else follows.

Names are loaded when they are first used, so that importing the package costs next to nothing; SymPy is imported by the first name that
needs it.

The file is long because it lists every public name twice: once for type checkers, and once with the module that defines it.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # as in typing, without importing it
if TYPE_CHECKING:
    from paramsym import (
        analysis as analysis,
        errors as errors,
        keras as keras,
        layers as layers,
        models as models,
        plot as plot,
        render as render,
        testing as testing,
        verify as verify,
    )
    from paramsym.algebra.letters import LETTER_SETS as LETTER_SETS, LetterSet as LetterSet
    from paramsym.algebra.numbering import Numbers as Numbers
    from paramsym.algebra.size import (
        Count as Count,
        Dim as Dim,
        Width as Width,
        at_most as at_most,
        canonical as canonical,
        cat as cat,
        divides as divides,
        per as per,
        stack as stack,
    )
    from paramsym.algebra.symbols import (
        LETTERS as LETTERS,
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
        Letter as Letter,
        N as N,
        P as P,
        R as R,
        S as S,
        T as T,
        V as V,
        W as W,
        dims as dims,
        index as index,
    )
    from paramsym.analysis.asymptotics import Asymptotics as Asymptotics, Within as Within, asymptotics as asymptotics
    from paramsym.analysis.compare import Comparison as Comparison, Crossover as Crossover, Difference as Difference, compare as compare
    from paramsym.analysis.conventions import Convention as Convention, Conventions as Conventions, conventions as conventions
    from paramsym.analysis.evaluate.evaluating import Approximate as Approximate, as_function as as_function, evaluate as evaluate
    from paramsym.analysis.explain import Explanation as Explanation, explain as explain
    from paramsym.analysis.export import Source as Source, export as export
    from paramsym.analysis.listing import Known as Known, Listing as Listing
    from paramsym.analysis.reconcile.answers import Answer as Answer, Reading as Reading, Reconciliation as Reconciliation
    from paramsym.analysis.reconcile.reconciling import reconcile as reconcile
    from paramsym.analysis.sensitivity import PartSensitivity as PartSensitivity, Sensitivity as Sensitivity, sensitivity as sensitivity
    from paramsym.analysis.solve import (
        Solution as Solution,
        Solutions as Solutions,
        multiples as multiples,
        rounded_up as rounded_up,
        solve as solve,
    )
    from paramsym.analysis.sweep import Sweep as Sweep, sweep as sweep
    from paramsym.checking import Verdict as Verdict, check as check
    from paramsym.config import from_config as from_config
    from paramsym.core.compose import (
        Block as Block,
        Repeat as Repeat,
        Residual as Residual,
        Runs as Runs,
        Sequential as Sequential,
        Shared as Shared,
    )
    from paramsym.core.layer import Layer as Layer, Part as Part, Tensor as Tensor
    from paramsym.core.ledger import Ledger as Ledger, Line as Line
    from paramsym.core.tied import Tied as Tied
    from paramsym.derive.certificate import Derivation as Derivation
    from paramsym.derive.deriving import DerivedCount as DerivedCount, derive as derive
    from paramsym.derive.generalising import generalise as generalise
    from paramsym.derive.reading import from_module as from_module
    from paramsym.errors import ParamsymError as ParamsymError, ParamsymWarning as ParamsymWarning
    from paramsym.layers.activation import (
        CELU as CELU,
        ELU as ELU,
        GELU as GELU,
        GLU as GLU,
        SELU as SELU,
        Activation as Activation,
        Hardshrink as Hardshrink,
        Hardsigmoid as Hardsigmoid,
        Hardswish as Hardswish,
        Hardtanh as Hardtanh,
        LeakyReLU as LeakyReLU,
        LogSigmoid as LogSigmoid,
        LogSoftmax as LogSoftmax,
        Mish as Mish,
        PReLU as PReLU,
        ReLU as ReLU,
        ReLU6 as ReLU6,
        RReLU as RReLU,
        Sigmoid as Sigmoid,
        SiLU as SiLU,
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
    from paramsym.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
    from paramsym.layers.attention import MultiHeadAttention as MultiHeadAttention
    from paramsym.layers.batch_norm import (
        BatchNorm1d as BatchNorm1d,
        BatchNorm2d as BatchNorm2d,
        BatchNorm3d as BatchNorm3d,
        InstanceNorm1d as InstanceNorm1d,
        InstanceNorm2d as InstanceNorm2d,
        InstanceNorm3d as InstanceNorm3d,
        SyncBatchNorm as SyncBatchNorm,
    )
    from paramsym.layers.cells import GRUCell as GRUCell, LSTMCell as LSTMCell, MGUCell as MGUCell, RNNCell as RNNCell
    from paramsym.layers.conv_lstm import ConvLSTM1d as ConvLSTM1d, ConvLSTM2d as ConvLSTM2d, ConvLSTM3d as ConvLSTM3d
    from paramsym.layers.convolution import (
        Conv1d as Conv1d,
        Conv2d as Conv2d,
        Conv3d as Conv3d,
        ConvTranspose1d as ConvTranspose1d,
        ConvTranspose2d as ConvTranspose2d,
        ConvTranspose3d as ConvTranspose3d,
    )
    from paramsym.layers.dense import Bilinear as Bilinear, Dense as Dense, EinsumDense as EinsumDense, TransposedDense as TransposedDense
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
    from paramsym.layers.embedding import Embedding as Embedding, EmbeddingBag as EmbeddingBag, ReversibleEmbedding as ReversibleEmbedding
    from paramsym.layers.experts import (
        MixtureOfExperts as MixtureOfExperts,
        PlainExpert as PlainExpert,
        Router as Router,
        StackedExperts as StackedExperts,
    )
    from paramsym.layers.fast_feed_forward import FastFeedForward as FastFeedForward
    from paramsym.layers.feed_forward import FeedForward as FeedForward, GatedFeedForward as GatedFeedForward
    from paramsym.layers.fractional_pooling import FractionalMaxPool2d as FractionalMaxPool2d, FractionalMaxPool3d as FractionalMaxPool3d
    from paramsym.layers.heads import HeadNorm as HeadNorm, HeadProjection as HeadProjection
    from paramsym.layers.latent_attention import LatentAttention as LatentAttention
    from paramsym.layers.lazy import LazyDense as LazyDense
    from paramsym.layers.locally_connected import (
        LocallyConnected1d as LocallyConnected1d,
        LocallyConnected2d as LocallyConnected2d,
        LocallyConnected3d as LocallyConnected3d,
    )
    from paramsym.layers.lora import LoRA as LoRA
    from paramsym.layers.mamba import CausalConv1d as CausalConv1d, Mamba as Mamba, Mamba2 as Mamba2
    from paramsym.layers.normalization import (
        GroupNorm as GroupNorm,
        LayerNorm as LayerNorm,
        LocalResponseNorm as LocalResponseNorm,
        Normalization as Normalization,
        RMSNorm as RMSNorm,
        UnitNormalization as UnitNormalization,
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
    from paramsym.layers.parameter import Parameter as Parameter
    from paramsym.layers.patch import PatchEmbedding as PatchEmbedding
    from paramsym.layers.peephole import PeepholeLSTM as PeepholeLSTM, PeepholeLSTMCell as PeepholeLSTMCell
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
    from paramsym.layers.position import (
        LearnedPositions as LearnedPositions,
        RelativeBias as RelativeBias,
        RotaryPositions as RotaryPositions,
        SinusoidalPositions as SinusoidalPositions,
    )
    from paramsym.layers.preprocessing import Masking as Masking, Rescaling as Rescaling
    from paramsym.layers.recurrent import GRU as GRU, LSTM as LSTM, RNN as RNN
    from paramsym.layers.reparametrized import SpectralNorm as SpectralNorm, WeightNorm as WeightNorm
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
    from paramsym.layers.reshaping import (
        Flatten as Flatten,
        Identity as Identity,
        Permute as Permute,
        RepeatVector as RepeatVector,
        Reshape as Reshape,
        Unflatten as Unflatten,
    )
    from paramsym.layers.scored_attention import AdditiveAttention as AdditiveAttention, DotProductAttention as DotProductAttention
    from paramsym.layers.separable import (
        DepthwiseConv1d as DepthwiseConv1d,
        DepthwiseConv2d as DepthwiseConv2d,
        DepthwiseConv3d as DepthwiseConv3d,
        SeparableConv1d as SeparableConv1d,
        SeparableConv2d as SeparableConv2d,
        SeparableConv3d as SeparableConv3d,
    )
    from paramsym.layers.skip import SkipConnection as SkipConnection
    from paramsym.layers.transformer import (
        Transformer as Transformer,
        TransformerDecoder as TransformerDecoder,
        TransformerDecoderLayer as TransformerDecoderLayer,
        TransformerEncoder as TransformerEncoder,
        TransformerEncoderLayer as TransformerEncoderLayer,
    )
    from paramsym.layers.unpooling import MaxUnpool1d as MaxUnpool1d, MaxUnpool2d as MaxUnpool2d, MaxUnpool3d as MaxUnpool3d
    from paramsym.layers.wrappers import Bidirectional as Bidirectional, TimeDistributed as TimeDistributed
    from paramsym.loading import load as load
    from paramsym.measure.activations import activations as activations
    from paramsym.measure.communication import communication as communication
    from paramsym.measure.cost import Cost as Cost
    from paramsym.measure.machines import Machine as Machine
    from paramsym.measure.memory import memory as memory
    from paramsym.measure.neurons import connections as connections, kernels as kernels, neurons as neurons
    from paramsym.measure.readings import InputReading as InputReading, readings as readings
    from paramsym.measure.receptive_field import effective_stride as effective_stride, receptive_field as receptive_field
    from paramsym.measure.run import run as run
    from paramsym.measure.shapes import infer as infer, output_shape as output_shape
    from paramsym.measure.state import kv_cache as kv_cache
    from paramsym.measure.summary import summary as summary
    from paramsym.measure.trace import trace as trace
    from paramsym.measure.traffic import Intensity as Intensity, Roofline as Roofline, intensity as intensity, traffic as traffic
    from paramsym.measure.training import Training as Training, training as training
    from paramsym.measure.work import flops as flops, macs as macs
    from paramsym.present.tabulate import table as table
    from paramsym.present.typeset import latex_document as latex_document
    from paramsym.verify.match import Match as Match, match as match

    LazyLinear = LazyDense
    Linear = Dense
    MultiheadAttention = MultiHeadAttention

__version__ = "0.1.0"

_HOMES = {
    "paramsym.errors": "ParamsymError ParamsymWarning",
    "paramsym.algebra.symbols": "A B C D E F G H K L N P R S T V W LETTERS Letter dims index",
    "paramsym.algebra.size": "Count Dim Width at_most canonical cat divides per stack",
    "paramsym.algebra.numbering": "Numbers",
    "paramsym.core.ledger": "Ledger Line",
    "paramsym.algebra.letters": "LETTER_SETS LetterSet",
    "paramsym.present.typeset": "latex_document",
    "paramsym.core.layer": "Layer Part Tensor",
    "paramsym.core.compose": "Block Repeat Residual Runs Sequential Shared",
    "paramsym.core.tied": "Tied",
    "paramsym.layers.dense": "Bilinear Dense EinsumDense TransposedDense",
    "paramsym.layers.lazy": "LazyDense",
    "paramsym.layers.lora": "LoRA",
    "paramsym.layers.parameter": "Parameter",
    "paramsym.layers.embedding": "Embedding EmbeddingBag ReversibleEmbedding",
    "paramsym.layers.adaptive_softmax": "AdaptiveLogSoftmaxWithLoss",
    "paramsym.layers.position": "LearnedPositions RelativeBias RotaryPositions SinusoidalPositions",
    "paramsym.layers.patch": "PatchEmbedding",
    "paramsym.layers.normalization": "GroupNorm LayerNorm LocalResponseNorm Normalization RMSNorm UnitNormalization",
    "paramsym.layers.batch_norm": "BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d SyncBatchNorm",
    "paramsym.layers.activation": (
        "Activation CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU RReLU ReLU "
        "ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold"
    ),
    "paramsym.layers.dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout GaussianDropout GaussianNoise",
    "paramsym.layers.padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Cropping ReflectionPad1d ReflectionPad2d "
        "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"
    ),
    "paramsym.layers.pooling": "AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d",
    "paramsym.layers.fractional_pooling": "FractionalMaxPool2d FractionalMaxPool3d",
    "paramsym.layers.adaptive_pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d GlobalAvgPool "
        "GlobalMaxPool"
    ),
    "paramsym.layers.unpooling": "MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "paramsym.layers.resampling": (
        "ChannelShuffle Fold PixelShuffle PixelUnshuffle Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d"
    ),
    "paramsym.layers.preprocessing": "Masking Rescaling",
    "paramsym.layers.reshaping": "Flatten Identity Permute RepeatVector Reshape Unflatten",
    "paramsym.layers.convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "paramsym.layers.separable": "DepthwiseConv1d DepthwiseConv2d DepthwiseConv3d SeparableConv1d SeparableConv2d SeparableConv3d",
    "paramsym.layers.skip": "SkipConnection",
    "paramsym.layers.locally_connected": "LocallyConnected1d LocallyConnected2d LocallyConnected3d",
    "paramsym.layers.cells": "GRUCell LSTMCell MGUCell RNNCell",
    "paramsym.layers.recurrent": "GRU LSTM RNN",
    "paramsym.layers.peephole": "PeepholeLSTM PeepholeLSTMCell",
    "paramsym.layers.reparametrized": "SpectralNorm WeightNorm",
    "paramsym.layers.conv_lstm": "ConvLSTM1d ConvLSTM2d ConvLSTM3d",
    "paramsym.layers.wrappers": "Bidirectional TimeDistributed",
    "paramsym.layers.attention": "MultiHeadAttention",
    "paramsym.layers.heads": "HeadNorm HeadProjection",
    "paramsym.layers.latent_attention": "LatentAttention",
    "paramsym.layers.scored_attention": "AdditiveAttention DotProductAttention",
    "paramsym.layers.feed_forward": "FeedForward GatedFeedForward",
    "paramsym.layers.experts": "MixtureOfExperts PlainExpert Router StackedExperts",
    "paramsym.layers.fast_feed_forward": "FastFeedForward",
    "paramsym.layers.transformer": "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer",
    "paramsym.layers.mamba": "CausalConv1d Mamba Mamba2",
    "paramsym.analysis.explain": "Explanation explain",
    "paramsym.analysis.asymptotics": "Asymptotics Within asymptotics",
    "paramsym.analysis.compare": "Comparison Crossover Difference compare",
    "paramsym.analysis.evaluate.evaluating": "Approximate as_function evaluate",
    "paramsym.analysis.export": "Source export",
    "paramsym.analysis.sensitivity": "PartSensitivity Sensitivity sensitivity",
    "paramsym.analysis.solve": "Solution Solutions multiples rounded_up solve",
    "paramsym.analysis.sweep": "Sweep sweep",
    "paramsym.analysis.conventions": "Convention Conventions conventions",
    "paramsym.analysis.listing": "Known Listing",
    "paramsym.analysis.reconcile.reconciling": "reconcile",
    "paramsym.analysis.reconcile.answers": "Answer Reading Reconciliation",
    "paramsym.verify.match": "Match match",
    "paramsym.measure.cost": "Cost",
    "paramsym.measure.receptive_field": "effective_stride receptive_field",
    "paramsym.measure.neurons": "connections kernels neurons",
    "paramsym.measure.readings": "InputReading readings",
    "paramsym.measure.shapes": "infer output_shape",
    "paramsym.measure.run": "run",
    "paramsym.measure.summary": "summary",
    "paramsym.measure.trace": "trace",
    "paramsym.measure.activations": "activations",
    "paramsym.measure.memory": "memory",
    "paramsym.measure.state": "kv_cache",
    "paramsym.measure.work": "flops macs",
    "paramsym.measure.traffic": "Intensity Roofline intensity traffic",
    "paramsym.measure.training": "Training training",
    "paramsym.measure.communication": "communication",
    "paramsym.measure.machines": "Machine",
    "paramsym.derive.certificate": "Derivation",
    "paramsym.derive.deriving": "DerivedCount derive",
    "paramsym.derive.generalising": "generalise",
    "paramsym.derive.reading": "from_module",
    "paramsym.config": "from_config",
    "paramsym.loading": "load",
    "paramsym.present.tabulate": "table",
    "paramsym.checking": "Verdict check",
}
_ALIASES = {"LazyLinear": "LazyDense", "Linear": "Dense", "MultiheadAttention": "MultiHeadAttention"}
"""The spelling of torch, where it differs."""
_ROOMS = ("analysis", "errors", "keras", "layers", "models", "plot", "render", "testing", "verify")
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _ALIASES:
        return __getattr__(_ALIASES[name])
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name == "__all__":  # a star import brings no submodules: it must not replace a user's own `keras`
        return [*_HOME_OF, *_ALIASES]
    if name in _ROOMS:
        return import_module(f"paramsym.{name}")
    message = f"module 'paramsym' has no attribute {name!r}"
    raise AttributeError(message, name=name, obj=sys.modules[__name__])  # so that Python adds the nearest name


def __dir__() -> list[str]:
    return sorted([*_HOME_OF, *_ALIASES, *_ROOMS, "__version__"])
