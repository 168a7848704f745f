"""The published closed forms are derived: layers composed as a source describes them differ from its formula by zero, as polynomials.

Every formula, its source and its published values are read from ``facts/formulas.json.gz``; a test's name is the entry's. What a test adds
is the composition. Where a formula has switches (a tied head, a bias), each recorded setting of them is derived for itself. The formulas of
LeNet-5, ResNet and DenseNet are in ``test_formulas_models.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from amount import cases
from formulas import formula
from recorded import document
from sympy import Expr, Integer, Rational, Symbol, expand

import paramsym as ps
from paramsym import Block, Dense, Embedding, Layer, LayerNorm, Parameter, Repeat, RMSNorm

ENTRIES: dict[str, dict[str, Any]] = {entry["id"]: entry for entry in document("formulas")}
SWITCHES = {"pool", "tie", "qkvb", "qkn", "nln", "proj", "untied", "nff", "emb", "dirs", "nb", "rb", "ehp"}
"""Names in formulas that are 0, 1 or 2 and say which tensors exist; with T, where a model has no segments, and ql, where it is zero."""


@dataclass(frozen=True)
class Sizes:
    """The letters of a formula as symbols, its switches as the numbers of one recorded setting."""

    config: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        """Return a letter by name."""
        if name == "E" and self.config.get("proj") == 0:  # widths that are equal are one letter
            return self.H
        value = self.config[name]
        fixed = name in SWITCHES or value == 0 or not isinstance(value, (int, float))
        return value if fixed else Symbol(name, integer=True, positive=True)

    def everything(self) -> dict[str, Any]:
        """Return every name's value, as the formula needs it."""
        values = {name: getattr(self, name) for name in self.config}
        return {name: Integer(value) if isinstance(value, int) else value for name, value in values.items()}

    def numbers(self) -> dict[Symbol, Rational]:
        """Return the recorded number of every letter; a width multiplier is a fraction."""
        values = self.everything()
        return {values[name]: Rational(str(number)) for name, number in self.config.items() if isinstance(values[name], Symbol)}


def maybe(*layers: tuple[object, str, Layer]) -> dict[str, Layer]:
    """Name the layers whose switch is on."""
    return {name: layer for on, name, layer in layers if on}


def encoder_layer(width: Expr, hidden: Expr) -> Layer:
    """A post-norm encoder layer with biases everywhere; how many heads does not matter."""
    return ps.TransformerEncoderLayer(width, 1, hidden)


def tables(s: Sizes, width: Expr) -> dict[str, Layer]:
    """Words, positions, segments if there are any, and a normalisation."""
    segments = maybe((s.config["T"], "segments", Embedding(s.T or 1, width)))
    return {"words": Embedding(s.V, width), "positions": Embedding(s.P, width), **segments, "norm": LayerNorm(width)}


def bert(s: Sizes) -> Layer:
    """Encoder with tables and, where it is counted, the pooler."""
    pooler = maybe((s.pool, "pooler", Dense(s.h, s.h)))
    return Block({**tables(s, s.h), "layers": Repeat(encoder_layer(s.h, s.f), s.L), **pooler})


def albert(s: Sizes) -> Layer:
    """One layer, stored once and used by every level."""
    shared = ps.Shared(encoder_layer(s.H, 4 * s.H), ps.L)
    return Block({**tables(s, s.E), "mapping": Dense(s.E, s.H), "layer": shared, "pooler": Dense(s.H, s.H)})


def electra(s: Sizes) -> Layer:
    """Narrow tables, widened where the widths differ."""
    width = s.E if s.proj else s.H
    widened = maybe((s.proj, "projection", Dense(s.E, s.H)))
    return Block({**tables(s, width), **widened, "layers": Repeat(encoder_layer(s.H, s.f), s.L)})


def gpt2(s: Sizes) -> Layer:
    """The model itself, its letters renamed."""
    return ps.models.Gpt2().at(V=s.V, H=s.h, P=s.s, L=s.L)


def decoder_block(width: Expr, *, bias: bool = True) -> Layer:
    """A pre-norm block whose feed-forward layer is four times as wide."""
    return Block(
        ln_1=LayerNorm(width, bias=bias),
        attn=ps.MultiHeadAttention(width, 1, bias=bias),
        ln_2=LayerNorm(width, bias=bias),
        mlp=ps.FeedForward(width, 4 * width, bias=bias),
    )


def nanogpt(s: Sizes) -> Layer:
    """GPT-2 without a single bias."""
    blocks = Repeat(decoder_block(s.h, bias=False), s.L)
    positions = maybe((s.s, "wpe", Embedding(s.s or 1, s.h)))
    return Block({"wte": Embedding(s.V, s.h), **positions, "h": blocks, "ln_f": LayerNorm(s.h, bias=False)})


def megatron(s: Sizes) -> Layer:
    """The formula as printed has no normalisation after the last block."""
    return Block(words=Embedding(s.V, s.h), positions=Embedding(s.s, s.h), blocks=Repeat(decoder_block(s.h), s.l))


def kaplan(s: Sizes) -> Layer:
    """No embeddings, biases or normalisations."""
    attention = ps.MultiHeadAttention(s.d_model, 1, bias=False, head_dim=s.d_attn)
    return Repeat(Block(attn=attention, ff=ps.FeedForward(s.d_model, s.d_ff, bias=False)), s.n_layer)


def llama(s: Sizes) -> Layer:
    """Grouped attention, three matrices per feed-forward layer, normalisations without bias."""
    attention = ps.MultiHeadAttention(
        s.d, s.nh, bias=bool(s.qkvb), output_bias=False, kv_heads=s.nkv, head_dim=s.hd, qk_norm="rms" if s.qkn else None
    )
    block = Block(norm=RMSNorm(s.d), attn=attention, post=RMSNorm(s.d), mlp=ps.GatedFeedForward(s.d, s.f))
    head = maybe((not s.tie, "head", Dense(s.d, s.V, bias=False)))
    return Block({"words": Embedding(s.V, s.d), "layers": Repeat(block, s.L), "norm": RMSNorm(s.d), **head})


def falcon(s: Sizes) -> Layer:
    """Attention and feed-forward layer side by side."""
    attention = ps.MultiHeadAttention(s.d, s.nh, bias=False, kv_heads=s.nkv, head_dim=s.hd)
    norms = Block({f"norm_{number}": LayerNorm(s.d) for number in range(s.nln)})
    block = Block(norms=norms, attn=attention, mlp=ps.FeedForward(s.d, 4 * s.d, bias=False))
    head = maybe((not s.tie, "head", Dense(s.d, s.V, bias=False)))
    return Block({"words": Embedding(s.V, s.d), "blocks": Repeat(block, s.L), "norm": LayerNorm(s.d), **head})


def t5(s: Sizes) -> Layer:
    """Two stacks; the first layer of each owns the table of relative positions."""
    attention = Block(norm=RMSNorm(s.d), attn=ps.MultiHeadAttention(s.d, s.H, bias=False, head_dim=s.kv))
    feed_forward = ps.GatedFeedForward(s.d, s.f) if s.nff == 3 else ps.FeedForward(s.d, s.f, bias=False)
    last = Block(norm=RMSNorm(s.d), mlp=feed_forward)
    table = ps.RelativeBias(s.H, num_buckets=s.B)
    encoder = Block(blocks=Repeat(Block(attn=attention, mlp=last), s.Le), table=table, norm=RMSNorm(s.d))
    decoder = Block(blocks=Repeat(Block(attn=attention, cross=attention, mlp=last), s.Ld), table=table, norm=RMSNorm(s.d))
    head = maybe((s.untied, "head", Dense(s.d, s.V, bias=False)))
    return Block({"shared": Embedding(s.V, s.d), "encoder": encoder, "decoder": decoder, **head})


def bart(s: Sizes) -> Layer:
    """Positions with two spare rows on both sides."""
    positions = Block(table=ps.LearnedPositions(s.P, s.d, offset=2), norm=LayerNorm(s.d))
    encoder = Block(positions=positions, layers=Repeat(encoder_layer(s.d, 4 * s.d), s.Le))
    decoder = Block(positions=positions, layers=Repeat(ps.TransformerDecoderLayer(s.d, 1, 4 * s.d), s.Ld))
    return Block(shared=Embedding(s.V, s.d), encoder=encoder, decoder=decoder)


def mixtral(s: Sizes) -> Layer:
    """All experts are stored; the formula's k is how many of them are counted."""
    attention = ps.MultiHeadAttention(s.d, s.nh, bias=False, kv_heads=s.nkv, head_dim=s.hd)
    experts = ps.MixtureOfExperts(s.d, s.m, s.E, s.k)
    layers = Repeat(Block(norm=RMSNorm(s.d), attn=attention, post=RMSNorm(s.d), moe=experts), s.L)
    return Block(words=Embedding(s.V, s.d), layers=layers, norm=RMSNorm(s.d), head=Dense(s.d, s.V, bias=False))


def latent_attention(s: Sizes) -> Layer:
    """Queries, keys and values through narrow vectors."""
    return ps.LatentAttention(s.d, s.H, s.c, s.dn, s.dr, s.dv, q_lora_rank=s.ql or None)


def expert_layer(s: Sizes, *, correction: bool) -> Layer:
    """Latent attention and experts; the released checkpoints store the correction of the router as a parameter."""
    experts = ps.MixtureOfExperts(s.d, s.m, s.E, s.k, shared_dim=s.S * s.m)
    corrected = maybe((correction, "correction", Parameter(s.E)))
    return Block({"norm": RMSNorm(s.d), "attn": latent_attention(s), "post": RMSNorm(s.d), "moe": experts, **corrected})


def deepseek(s: Sizes) -> Layer:
    """Dense layers first, experts after them."""
    dense_layer = Block(norm=RMSNorm(s.d), attn=latent_attention(s), post=RMSNorm(s.d), mlp=ps.GatedFeedForward(s.d, s.f))
    dense = Repeat(dense_layer, s.Ld)
    sparse = Repeat(expert_layer(s, correction=bool(s.rb)), s.L - s.Ld)
    return Block(words=Embedding(s.V, s.d), dense=dense, sparse=sparse, norm=RMSNorm(s.d), head=Dense(s.d, s.V, bias=False))


def next_token_module(s: Sizes) -> Layer:
    """One more layer with experts; around it, where they are counted, two normalised inputs put together and a normalisation."""
    around = Block(enorm=RMSNorm(s.d), hnorm=RMSNorm(s.d), eh_proj=Dense(2 * s.d, s.d, bias=False), norm=RMSNorm(s.d))
    return Block({"layer": expert_layer(s, correction=True), **maybe((s.ehp, "around", around))})


def gpt_oss(s: Sizes) -> Layer:
    """Biases everywhere but in the normalisations, and one sink per head."""
    attention = Block(attn=ps.MultiHeadAttention(s.d, s.nh, kv_heads=s.nkv, head_dim=s.hd), sinks=Parameter(s.nh))
    experts = ps.MixtureOfExperts(s.d, s.f, s.E, s.k, expert_bias=True, router_bias=True)
    layers = Repeat(Block(norm=RMSNorm(s.d), attn=attention, post=RMSNorm(s.d), moe=experts), s.L)
    words = maybe((s.emb == 2, "words", Embedding(s.V, s.d)))
    return Block({**words, "layers": layers, "norm": RMSNorm(s.d), "head": Dense(s.d, s.V, bias=False)})


def vit(s: Sizes) -> Layer:
    """The model itself, with a head, its letters renamed."""
    patches = Block(patches=ps.PatchEmbedding(s.d, s.R, s.p), token=Parameter(s.d), positions=Embedding((s.R / s.p) ** 2 + 1, s.d))
    return Block(embeddings=patches, layers=Repeat(decoder_block(s.d), s.L), norm=LayerNorm(s.d), head=Dense(s.d, s.K))


def mixer(s: Sizes) -> Layer:
    """One feed-forward layer across patches, one across channels."""
    block = Block(norm_1=LayerNorm(s.d), tokens=ps.FeedForward(s.S, s.Ds), norm_2=LayerNorm(s.d), channels=ps.FeedForward(s.d, s.Dc))
    return Block(patches=ps.PatchEmbedding(s.d, 224, s.p), blocks=Repeat(block, s.L), norm=LayerNorm(s.d), head=Dense(s.d, s.K))


def lora(s: Sizes) -> Layer:
    """What the adapters add is what can be trained."""
    return Repeat(ps.LoRA(Dense(s.din, s.dout, bias=False), s.r), s.nW)


def chinchilla(s: Sizes) -> Layer:
    """Relative positions cost one more d by heads*kv matrix; two feed-forward matrices; counted as the paper's table does."""
    attention = Block({name: Dense(s.d, s.h * s.kv) for name in ("query", "key", "value", "relative")})
    out = Dense(s.h * s.kv, s.d, bias=False)
    more = Block(bias=Parameter(s.h * s.kv), up=Dense(s.d, s.f, bias=False), down=Dense(s.f, s.d), norms=Parameter((5, s.d)))
    return Block(words=Embedding(s.V, s.d), layers=Repeat(Block(attn=attention, out=out, more=more), s.L))


def bottlenecks(block: Callable[[Expr, Expr, bool], Layer], widths: list[tuple[Expr, Expr]], copies: Any) -> Layer:
    """Stages of blocks, the first of which changes the width."""
    stages = {
        f"stage_{number}": Block(first=block(before, after, True), others=Repeat(block(after, after, False), copies - 1))
        for number, (before, after) in enumerate(widths)
    }
    return Block(stages)


def wide_resnet(s: Sizes) -> Layer:
    """Normalise, convolve, twice; a shortcut where a stage begins."""

    def block(before: Expr, after: Expr, first: bool) -> Layer:
        shortcut = maybe((first, "shortcut", ps.Conv2d(before, after, 1, bias=False)))
        body = {
            "norm_1": ps.BatchNorm2d(before),
            "conv_1": ps.Conv2d(before, after, 3, bias=False),
            "norm_2": ps.BatchNorm2d(after),
            "conv_2": ps.Conv2d(after, after, 3, bias=False),
        }
        return Block({**body, **shortcut})

    widths = [(16, 16 * s.k), (16 * s.k, 32 * s.k), (32 * s.k, 64 * s.k)]
    last = Block(norm=ps.BatchNorm2d(64 * s.k), head=Dense(64 * s.k, s.K))
    return Block(stem=ps.Conv2d(3, 16, 3, bias=False), stages=bottlenecks(block, widths, s.N), last=last)


def convnext(s: Sizes) -> Layer:
    """The family, its widths doubling."""
    return ps.models.ConvNeXt((s.C, 2 * s.C, 4 * s.C, 8 * s.C), tuple(s.n), num_classes=s.K)


def fc_lstm(s: Sizes) -> Layer:
    """Two layers encode, two forecast; the first forecasting layer sees nothing but its state."""
    cells = {"encode_1": (s.d, s.h), "encode_2": (s.h, s.h), "forecast_2": (s.h, s.h)}
    layers = {name: ps.PeepholeLSTM(*sizes, dialect="keras") for name, sizes in cells.items()}
    blind = Block(recurrent=Dense(s.h, 4 * s.h), peepholes=Parameter((3, s.h)))
    return Block({**layers, "forecast_1": blind, "out": Dense(s.h, s.d)})


def bilstm(s: Sizes) -> Layer:
    """Keras' example for film reviews."""

    def both(width: Expr) -> Layer:
        return ps.LSTM(width, s.m, bidirectional=True, bias=False) + Parameter((2, 4, s.m))

    return Block(words=Embedding(s.V, s.e), first=both(s.e), second=both(2 * s.m), out=Dense(2 * s.m, 1))


def lstm_keras(s: Sizes) -> Layer:
    """One bias per gate; a second direction is a second layer."""
    return Repeat(ps.LSTM(s.n, s.m, dialect="keras"), s.dirs)


def gru(s: Sizes) -> Layer:
    """One bias per gate or two."""
    return ps.GRU(s.n, s.m, dialect="keras", reset_after=s.nb == 2)


def speech(s: Sizes) -> Layer:
    """Convolutions, a convolutional LSTM in both directions, three LSTMs with projections."""

    def both(width: Expr) -> Layer:
        return Repeat(ps.LSTM(width, s.m, dialect="keras"), 2)

    convs = Block(first=ps.Conv2d(3, 32, 3), second=ps.Conv2d(32, 32, 3), norms=Repeat(ps.BatchNorm2d(32), 2))
    mixed = Repeat(ps.ConvLSTM1d(32, s.ch, 3), 2)
    projected = Repeat(Block(linear=Dense(2 * s.m, s.p), norm=ps.BatchNorm1d(s.p)), 3)
    lstms = Block(first=both(2 * s.ch * 20), second=both(s.p), third=both(s.p))
    return Block(convs=convs, mixed=mixed, lstms=lstms, projected=projected)


DERIVED: dict[str, Callable[[Sizes], Layer]] = {
    "bert-family": bert,
    "albert": albert,
    "electra": electra,
    "gpt2-family": gpt2,
    "nanogpt-bias-free": nanogpt,
    "megatron2021-P": megatron,
    "kaplan2020-N": kaplan,
    "pythia-nonembedding": lambda s: Block(layers=Repeat(decoder_block(s.d), s.L), norm=LayerNorm(s.d)),
    "llama-family": llama,
    "qwen2-family": llama,
    "gemma-embedding": lambda s: Embedding(s.V, s.d),
    "falcon": falcon,
    "t5-v1.0": t5,
    "bart": bart,
    "gopher-chinchilla-large": chinchilla,
    "vit": vit,
    "mlp-mixer": mixer,
    "fff-params": lambda s: ps.FastFeedForward(s.din, s.dout, s.D, s.K),
    "vgg-stack-vs-7x7": lambda s: Repeat(ps.Conv2d(s.C, s.C, s.k, bias=False), s.n),
    "wide-resnet": wide_resnet,
    "mobilenet-v1-params": lambda s: ps.models.MobileNet(alpha=s.a, classes=s.K),
    "mobilenet-v2": lambda s: ps.models.MobileNetV2(num_classes=s.K),
    "convnext": convnext,
    "lstm-keras": lstm_keras,
    "lstm-pytorch": lambda s: ps.LSTM(s.n, s.m, bidirectional=s.dirs == 2),
    "bilstm-imdb-keras": bilstm,
    "gru": gru,
    "lstm-peephole": lambda s: ps.PeepholeLSTM(s.n, s.m, dialect="keras"),
    "fc-lstm-shi2015": fc_lstm,
    "speech-weiss2017-encoder": speech,
}
"""Formulas that count everything stored."""
ACTIVE: dict[str, Callable[[Sizes], Layer]] = {
    "mixtral": mixtral,
    "deepseek-mla-moe": deepseek,
    "deepseek-v3-mtp": next_token_module,
    "gpt-oss": gpt_oss,
}
"""Formulas whose k is the number of experts that are counted: what is used per token."""


def settings(names: dict[str, Callable[[Sizes], Layer]]) -> list[Any]:
    """Every recorded setting of every formula."""
    return [
        pytest.param(name, value, id=f"{name}-{number}-{value.get('where', '')[:24]}")
        for name in names
        for number, value in enumerate(ENTRIES[name]["values"])
        if value["config"].get("din") != 0  # one value counts the neurons alone, as a layer without inputs
    ]


def source_of(name: str) -> str:
    """Name the source of a formula in the message of a failing test."""
    return f"{name}, from {ENTRIES[name]['source']}"


def check(name: str, value: dict[str, Any], derived: Expr, s: Sizes) -> None:
    """The derived and the published form differ by zero; with the recorded sizes they are the published number."""
    published = formula(ENTRIES[name]["formula"], s.everything())
    assert expand(derived - published) == 0, source_of(name)
    number = derived.xreplace(s.numbers())
    assert number == round(value["computed"]), source_of(name)  # recorded formulas that divide were computed with floats
    if value["check"] == "exact":
        assert number == value["published"], source_of(name)


@cases(1000)
@pytest.mark.parametrize(("name", "value"), settings(DERIVED))
def test_derived(name: str, value: dict[str, Any]) -> None:
    """What is stored is what the source's formula says."""
    s = Sizes(value["config"])
    check(name, value, DERIVED[name](s).params, s)


@pytest.mark.parametrize(("name", "value"), settings(ACTIVE))
def test_derived_with_experts(name: str, value: dict[str, Any]) -> None:
    """Total and active parameters are one formula: all experts, or those that a token uses."""
    s = Sizes(value["config"])
    layer = ACTIVE[name](s)
    check(name, value, layer.active, s)
    total = formula(ENTRIES[name]["formula"], {**s.everything(), "k": s.E})
    assert expand(layer.params - total) == 0, source_of(name)


@pytest.mark.parametrize(("name", "value"), settings({"lora": lora}))
def test_derived_adapters(name: str, value: dict[str, Any]) -> None:
    """The adapters are what is trained."""
    s = Sizes(value["config"])
    check(name, value, lora(s).trainable, s)


def test_cs231n_unshared() -> None:
    """Without sharing, every place of the first convolution has its own kernel: the course's 105,705,600."""
    (value,) = ENTRIES["cs231n-conv1-unshared"]["values"]
    config = value["config"]
    layer = ps.LocallyConnected2d(config["C"], config["K"], config["F"], config["W"], config["S"], config["P"])
    assert layer.count == value["published"], source_of("cs231n-conv1-unshared")


def test_graph_convolutional_lstm() -> None:
    """Seo et al. 2016 count K Chebyshev matrices where a convolution has kernel places, so a kernel of K places is the same count."""
    for value in ENTRIES["gconv-lstm-seo2016"]["values"]:
        s = Sizes(value["config"])
        peepholes = Parameter((3, s.c))
        first, second = ps.ConvLSTM1d(s.cin, s.c, s.K), ps.ConvLSTM1d(s.c, s.c, s.K)
        # The source's second layer is fed by the first one's state only, and so is stored with one of the two convolutions.
        second_alone = Block(kernel=Parameter((s.K, s.c, 4 * s.c)), bias=Parameter((4, s.c)))
        layer = Block(first=first, peepholes_1=peepholes, second=second_alone, peepholes_2=peepholes, out=Dense(s.c, s.cout))
        check("gconv-lstm-seo2016", value, layer.params, s)
        assert second.params != second_alone.params


def gptj(s: Sizes) -> Layer:
    """One normalisation per block, biases in the feed-forward layer and the head alone."""
    block = Block(norm=LayerNorm(s.d), attn=ps.MultiHeadAttention(s.d, 1, bias=False), mlp=ps.FeedForward(s.d, s.f))
    return Block(words=Embedding(s.V, s.d), blocks=Repeat(block, s.L), norm=LayerNorm(s.d), head=Dense(s.d, s.V))


def qwen2(s: Sizes) -> Layer:
    """As ``llama``, with biases for queries, keys and values; the two tables are counted or not."""
    attention = ps.MultiHeadAttention(s.d, ps.per(s.d, s.hd), output_bias=False, kv_heads=s.nkv, head_dim=s.hd)
    block = Block(norm=RMSNorm(s.d), attn=attention, post=RMSNorm(s.d), mlp=ps.GatedFeedForward(s.d, s.f))
    ends = Block(words=Embedding(s.V, s.d), head=Dense(s.d, s.V, bias=False))
    return Block(ends=Repeat(ends, s.e), layers=Repeat(block, s.L), norm=RMSNorm(s.d))


def mixtral_8x7b(s: Sizes) -> Layer:
    """Eight heads of width 128 for keys and values; what is not an expert is stored once."""
    attention = ps.MultiHeadAttention(s.d, ps.per(s.d, 128), bias=False, kv_heads=8, head_dim=128)
    layer = Block(norm=RMSNorm(s.d), attn=attention, post=RMSNorm(s.d), moe=ps.MixtureOfExperts(s.d, s.m, s.E, 2))
    return Block(words=Embedding(s.V, s.d), layers=Repeat(layer, s.L), norm=RMSNorm(s.d), head=Dense(s.d, s.V, bias=False))


def scaling_book(s: Sizes) -> Layer:
    """Three matrices per feed-forward layer, one normalisation per block, two tables."""
    block = Block(norm=RMSNorm(s.D), attn=ps.MultiHeadAttention(s.D, 1, bias=False), mlp=ps.GatedFeedForward(s.D, s.F))
    return Block(words=Embedding(s.V, s.D), blocks=Repeat(block, s.L), head=Dense(s.D, s.V, bias=False))


def gpt3_with_heads(s: Sizes) -> Layer:
    """GPT-2's architecture; the heads together are as wide as they are, which need not be the model's width."""
    attention = ps.MultiHeadAttention(s.h, 1, head_dim=s.A)
    block = Block(ln_1=LayerNorm(s.h), attn=attention, ln_2=LayerNorm(s.h), mlp=ps.FeedForward(s.h, 4 * s.h))
    return Block(words=Embedding(s.V, s.h), positions=Embedding(s.s, s.h), blocks=Repeat(block, s.L), norm=LayerNorm(s.h))


DISPUTED: dict[str, Callable[[Sizes], Layer]] = {
    "disputed-megatron-final-ln": lambda s: Block(model=megatron(s), norm=LayerNorm(s.h)),
    "disputed-cookbook-layernorm": lambda s: Block(blocks=Repeat(Repeat(LayerNorm(s.h), 2), s.L), norm=LayerNorm(s.h)),
    "disputed-gptj": gptj,
    "disputed-gemma-vocab": lambda s: Embedding(s.V, s.d),
    "disputed-qwen25-32b": qwen2,
    "disputed-mixtral-56b": mixtral_8x7b,
    "disputed-chinchilla-heads": chinchilla,
    "disputed-scaling-book-16b": scaling_book,
}


def in_units(entry: dict[str, Any], s: Sizes) -> tuple[Expr, int]:
    """Return a formula that may end with a division by millions, without it, and what it divides by."""
    written, _, zeros = entry["formula"].partition("/1e")
    return formula(written, s.everything()), 10 ** int(zeros or 0)


@pytest.mark.parametrize("name", DISPUTED)
def test_disputed(name: str) -> None:
    """Where a published number is wrong, the right formula is derived, and the claimed one differs."""
    entry = ENTRIES[name]
    for config, correct in zip(entry["config"], entry["correct"], strict=True):
        s = Sizes(config)
        derived = DISPUTED[name](s).params
        published, unit = in_units(entry, s)
        assert expand(derived - published) == 0, source_of(name)
        digits = len(str(correct).partition(".")[2])
        off = derived.xreplace(s.numbers()) / unit - Rational(str(correct))
        assert 2 * abs(off) * 10**digits <= 1  # right to the last digit written, and so exactly where it is a count
        assert correct not in entry["claimed"]


def test_disputed_heads_of_gpt3() -> None:
    """The formula takes the biases of queries, keys and values for as wide as the model: 3*L*(A - h) too few, none where A = h."""
    entry = ENTRIES["disputed-gpt3-xl-heads"]
    s = Sizes(entry["config"][0])
    derived = gpt3_with_heads(s).params
    published, unit = in_units(entry, s)
    assert expand(derived - published - 3 * s.L * (s.A - s.h)) == 0
    assert (derived.xreplace(s.numbers()), unit) == (entry["correct"][0], 1)
    claimed = Sizes(entry["claimed_config"][0])
    assert round(derived.xreplace(claimed.numbers()) / 10**6) == entry["claimed"][0]


def test_disputed_module_of_deepseek() -> None:
    """The module is 11.61 thousand millions; the README's 11.5 are the layer in it. The source writes its attention as a number."""
    entry = ENTRIES["disputed-deepseek-v3-mtp"]
    (value,) = ENTRIES["deepseek-v3-mtp"]["values"]
    s = Sizes({**value["config"], "ehp": 1})
    attention, module = latent_attention(s).params, next_token_module(s).params
    written = int(entry["formula"].split(" ", 1)[0])
    assert attention.xreplace(s.numbers()) == written
    assert expand(module - attention - (formula(entry["formula"], s.everything()) - written)) == 0
    assert module.xreplace(s.numbers()) == entry["correct"][0]


def test_disputed_biases_alone() -> None:
    """What BitFit trains of GPT-3: everything frozen but the biases leaves 11 per layer and width, not 12."""
    entry = ENTRIES["disputed-lora-bitfit"]
    s = Sizes(entry["config"][0])
    model: Layer = ps.models.Gpt2().at(H=s.h, L=s.L)
    for name in model.shapes():
        if not name.endswith(".bias"):
            model = model.freeze(name)
    assert expand(model.trainable - formula(entry["formula"], s.everything())) == 0
    assert model.trainable.xreplace(s.numbers()) == entry["correct"][0]


def test_every_formula_is_derived() -> None:
    """Every recorded formula of parameters is derived, here or in ``test_formulas_models.py``."""
    elsewhere = {"lenet5-1998-params", "lenet5-1998-c3", "resnet-bottleneck", "resnet50-keras", "densenet-imagenet"}
    alone = {"lora", "cs231n-conv1-unshared", "gconv-lstm-seo2016"}
    disputed = {*DISPUTED, "disputed-gpt3-xl-heads", "disputed-deepseek-v3-mtp", "disputed-lora-bitfit"}
    published = {entry["id"] for entry in ENTRIES.values() if entry["quantity"] == "params"}
    assert published == elsewhere | alone | disputed | {*DERIVED, *ACTIVE}
