"""Neurons, connections, kernels and receptive fields, against the questions that people asked and the papers' numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from recorded import document
from sympy import ceiling

import paramsym as ps
from paramsym import A, B, C, Conv1d, Conv2d, Dense, E, F, H, K, L, LocallyConnected2d, MaxPool2d, P, S, Sequential, T, V, W
from paramsym.algebra.size import Shape
from paramsym.errors import NotYetError, ShapeError, StructureError
from paramsym.measure.walk import applied

M = ps.dims("M")

SEEDS = {item["id"]: item["correct_value"] for item in document("seeds_audit")}
ALEX, ALEX_IMAGE = Conv2d(3, 96, 11, stride=4), (B, 3, 227, 227)
QUARTERS, QUARTERS_IMAGE = Conv2d(4, 4, 5, stride=2), (B, 4, 11, 11)
ONEILL, ONEILL_MAPS = Conv2d(6, 50, 5, stride=2), (B, 6, 13, 13)


def test_neurons_of_a_volume() -> None:
    """55 x 55 x 96 neurons; 64, and not 4 or 12; 1,250."""
    assert ps.neurons(ALEX, ALEX_IMAGE) == SEEDS["S0-46"] == SEEDS["S0-44"] == 290_400
    assert ps.neurons(QUARTERS, QUARTERS_IMAGE) == SEEDS["S0-52"] == SEEDS["S0-54"] == SEEDS["Q-18"] == 64
    assert ps.neurons(ONEILL, ONEILL_MAPS) == SEEDS["S4-32"] == SEEDS["S4-40"] == 1250
    assert ps.output_shape(ALEX, ALEX_IMAGE)[2] == SEEDS["S0-45"]
    assert ps.neurons(Conv2d(4, 1, 5, stride=2), QUARTERS_IMAGE) == SEEDS["S0-55"]


def test_neurons_in_symbols() -> None:
    """The side is rounded down, squared, and multiplied with the filters, not with the input's depth."""
    side = ceiling(W / 2) - 2  # floor((W - 5)/2) + 1
    assert (ps.neurons(Conv2d(C, K, 5, stride=2), (B, C, W, W)) - K * side**2).expand() == 0


def test_without_a_batch() -> None:
    """One example as torch takes it has as many neurons; a time axis in front of the batch does not count as batch."""
    assert ps.neurons(ALEX, ALEX_IMAGE[1:]) == 290_400
    assert ps.neurons(ps.LSTM(3, 5), (7, B, 3)) == ps.neurons(ps.LSTM(3, 5, batch_first=True), (B, 7, 3)) == 35
    assert ps.neurons(ps.LSTM(3, 5), (7, 3)) == 35
    assert ps.neurons(ps.GRU(3, 5, dialect="keras", return_state=True), (None, 7, 3)) == 5
    with pytest.raises(ShapeError, match="cannot be counted"):
        ps.neurons(Dense(3, 5), (B, None, 3))


def test_connections_share_weights() -> None:
    """188,750 connections, not 32,500; unshared weights are as many as connections."""
    assert ps.connections(ONEILL, ONEILL_MAPS) == SEEDS["S4-34"] == 188_750
    assert ps.connections(Conv2d(C, K, 5, stride=2), (B, C, 13, 13)) == 625 * C * K + 25 * K
    unshared = LocallyConnected2d(3, 96, 11, input_size=227, stride=4)
    assert ps.connections(ALEX, ALEX_IMAGE) == unshared.params == ps.connections(unshared, (B, 227, 227, 3)) == 105_705_600
    assert unshared.params / ALEX.params == 55 * 55


def test_each_neuron_sees() -> None:
    """The connections of one neuron: kernel times depth, and a bias."""
    one_place = Conv2d(20, 1, 3, bias=False)
    assert ps.connections(one_place, (1, 20, 3, 3)) == SEEDS["S4-46"] == 180
    assert ps.connections(Conv2d(3, 1, 11, bias=False), (1, 3, 11, 11)) == SEEDS["S0-47"] == 363
    assert ps.connections(Conv2d(6, 1, 5, bias=False), (1, 6, 5, 5)) == SEEDS["S4-37"] == 150
    assert ps.connections(Conv2d(4, 1, 5, bias=False), (1, 4, 5, 5)) == SEEDS["S0-53"] == 100


def test_lenet_as_printed() -> None:
    """340,908 connections and each of its layers (LeCun et al. 1998, section II.B)."""
    lenet = ps.models.LeNet5()
    assert ps.connections(lenet, (B, 1, 32, 32)) == 340_908
    table = ps.summary(lenet, (B, 1, 32, 32))
    printed = {"C1": 122_304, "S2": 5_880, "C3": 151_600, "S4": 2_000, "C5": 48_120, "F6": 10_164, "output": 840}
    assert {row[0]: row[-1] for row in table.rows if row[-1] != 0} == printed


def test_block_dense() -> None:
    """18 shared, 360 unshared, 6,060 dense, and 30,060 in the asker's reading; each maps 100 values to 60."""
    readings = [
        (Conv1d(1, 3, 5, stride=5), (B, 1, 100), (B, 3, 20)),
        (Conv1d(100, 60, 1, groups=20), (B, 100, 1), (B, 60, 1)),
        (Dense(100, 60), (B, 100), (B, 60)),
        (Conv2d(100, 60, (5, 1)), (B, 100, 5, 1), (B, 60, 1, 1)),
    ]
    assert [layer.count for layer, _, _ in readings] == SEEDS["Q-12"] == [18, 360, 6060, 30060]
    for layer, taken, given in readings:
        assert ps.output_shape(layer, taken) == given
        assert ps.neurons(layer, taken) == SEEDS["S4-06"] == 60
    shared, unshared = readings[0], readings[1]
    assert ps.connections(shared[0], shared[1]) == ps.connections(unshared[0], unshared[1]) == 360


def test_recorded_shapes() -> None:
    """Shapes that the seeds ask for: a kernel of 7x7x8x16, maps of 13 and 5, T/4 x 20 x 32, a rectangular image."""
    assert list(Conv2d(8, 16, 7, dialect="keras").shapes()["kernel"]) == SEEDS["S4-42"] == [7, 7, 8, 16]
    assert list(Conv2d(3, 32, 3).shapes()["weight"]) == SEEDS["Q-13"]
    oneill = ps.models.LeNet5("oneill")
    assert [step.left[2] for step in list(applied(oneill, (1, 1, 29, 29)))[:2]] == SEEDS["S4-36"]
    encoder = Sequential(Conv2d(3, 32, 3, stride=2, padding=1), Conv2d(32, 32, 3, stride=2, padding=1))
    _, channels, frames, bins = ps.output_shape(encoder, (1, 3, 128, 80))
    assert [frames, bins, channels] == SEEDS["S4-22"]
    _, maps, rows, columns = ps.output_shape(Conv2d(6, 16, 3), (1, 6, 5, 10))
    assert [columns, rows, maps] == SEEDS["S4-01"]
    assert list(ps.output_shape(Dense(768, 1), (2, 512, 768))) == SEEDS["S4-27"]
    assert list(ps.output_shape(ps.Embedding(512, 768), (128,))) == SEEDS["S0-07"]


def test_a_bias_belongs_to_a_filter() -> None:
    """50 filters of 6 slices each: 7,800 instead of 7,550 gives each of the 300 slices a bias."""
    assert ONEILL.params == 300 * 25 + 50 == 7550
    assert 300 * 26 - ONEILL.params == SEEDS["Q-15"] == 250


def test_connections_of_other_layers() -> None:
    """Every weight as often as it is used: per position, per step, per token, per looked-up row."""
    assert ps.connections(Dense(H, F), (B, S, H)) == (S * Dense(H, F).params).expand()
    assert ps.connections(ps.ConvTranspose2d(C, F, 2, stride=2), (B, C, W, W)) == 4 * C * F * W**2 + 4 * F * W**2
    assert ps.connections(ps.LSTM(3, 5, batch_first=True), (B, 7, 3)) == 7 * ps.LSTM(3, 5).params
    assert ps.connections(ps.LSTM(3, 5, dialect="keras"), (B, 7, 3)) == 7 * ps.LSTM(3, 5, dialect="keras").params
    assert ps.connections(ps.Embedding(100, H), (B, S)) == S * H
    assert ps.connections(ps.MixtureOfExperts(H, F, E, K), (B, S, H)) == (S * ps.MixtureOfExperts(H, F, E, K).active).expand()
    encoder = ps.TransformerEncoder(ps.TransformerEncoderLayer(H, A, F, batch_first=True), L)
    assert ps.connections(encoder, (B, S, H)) == (S * encoder.params).expand()
    assert ps.connections(ps.Shared(Dense(H, H), L), (B, H)) == H**2 * L + H * L
    assert ps.connections(ps.Repeat(Dense(H, H), L), (B, H)) == H**2 * L + H * L
    assert ps.connections(ps.TimeDistributed(Dense(3, 4)), (B, 5, 3)) == 5 * 16
    assert ps.connections(ps.BatchNorm2d(C), (B, C, W, W)) == 2 * C * W**2
    assert ps.connections(ps.SeparableConv2d(3, 8, 3), (B, 3, 6, 6)) == 16 * (27 + 24 + 8)
    assert ps.connections(ps.SeparableConv2d(3, 8, 3, dialect="keras"), (B, 6, 6, 3)) == 16 * (27 + 24 + 8)
    assert ps.connections(ps.EinsumDense("abc,cd->abd", (None, 7), (None, 5, 3), "d"), (B, 5, 3)) == 5 * (21 + 7)
    with pytest.raises(NotYetError):
        ps.connections(Silent(H), (B, S, H))


@dataclass(frozen=True)
class Silent(ps.Layer):
    """A layer that says what comes out of it, and not how often its weights are used."""

    width: ps.Dim

    def tensors(self) -> Iterator[ps.Tensor]:
        """One vector."""
        yield ps.Tensor("weight", (self.width,))

    def output_shape(self, input_shape: Shape) -> Shape:
        """The input's shape."""
        return input_shape


class TestAttention:
    """Queries are projected once per query, keys and values once per key (Vaswani et al. 2017, section 3.2)."""

    def test_of_a_decoder(self) -> None:
        """T positions attend to M: two of the eight matrices, keys and values of the second attention, are used M times."""
        decoder = ps.TransformerDecoderLayer(H, A, F, batch_first=True)
        assert ps.connections(decoder, (B, S, H)) == (S * decoder.params).expand()
        crossing = 2 * H**2 + 2 * H
        expected = T * (decoder.params - crossing) + M * crossing
        assert ps.connections(decoder, ((B, T, H), (B, M, H))) == expected.expand()
        stack = ps.TransformerDecoder(decoder, L, ps.LayerNorm(H))
        assert ps.connections(stack, ((B, T, H), (B, M, H))) == (L * expected + 2 * H * T).expand()
        assert ps.neurons(stack, ((B, T, H), (B, M, H))) == T * H

    def test_of_both_stacks(self) -> None:
        """The source goes through the encoder, the target through the decoder."""
        whole = ps.Transformer(H, A, L, L, F, batch_first=True)
        encoder, decoder = whole.part("encoder"), whole.part("decoder")
        expected = S * encoder.params + ps.connections(decoder, ((B, T, H), (B, S, H)))
        assert ps.connections(whole, ((B, S, H), (B, T, H))) == expected.expand()
        assert ps.connections(whole, (B, S, H)) == (S * whole.params).expand()
        assert ps.output_shape(whole, ((B, S, H), (B, T, H))) == (B, T, H)

    def test_of_one_attention(self) -> None:
        """Fused or apart, grouped, with norms that the heads share; an added key and value is used once."""
        assert ps.connections(ps.MultiHeadAttention(H, A, batch_first=True), (B, S, H)) == 4 * H**2 * S + 4 * H * S
        assert ps.connections(ps.MultiHeadAttention(H, A, batch_first=True), ((B, T, H), (B, M, H))) == (2 * (H**2 + H) * (T + M)).expand()
        wide = ps.MultiHeadAttention(H, A, kdim=F, vdim=E, bias=False, batch_first=True)
        assert ps.connections(wide, ((B, T, H), (B, M, F), (B, M, E))) == 2 * H**2 * T + F * H * M + E * H * M
        grouped = ps.MultiHeadAttention(64, 8, kv_heads=2, bias=False, qk_norm="rms", batch_first=True)
        assert ps.connections(grouped, (1, 5, 64)) == 5 * (2 * 64 * 64 + 2 * 64 * 16 + 8 * 8 + 2 * 8)
        assert ps.connections(ps.MultiHeadAttention(8, 2, add_bias_kv=True, batch_first=True), (1, 5, 8)) == 5 * (4 * 64 + 4 * 8) + 16
        assert ps.connections(ps.MultiHeadAttention(8, 2, dialect="keras"), ((1, 5, 8), (1, 7, 8))) == 5 * 2 * 72 + 7 * 2 * 72

    def test_where_the_batch_stands(self) -> None:
        """Torch has positions first unless told otherwise; the same numbers come out, also without a batch."""
        first, second = ps.TransformerDecoderLayer(8, 2, 16, batch_first=True), ps.TransformerDecoderLayer(8, 2, 16)
        whole = ps.TransformerEncoder(ps.TransformerEncoderLayer(8, 2, 16), 3)
        for question in (ps.connections, ps.neurons, partial(ps.neurons, total=True)):
            expected = question(first, ((2, 5, 8), (2, 7, 8)))
            assert question(second, ((5, 2, 8), (7, 2, 8))) == question(second, ((5, 8), (7, 8))) == expected
            assert question(whole, (5, 2, 8)) == question(whole, (5, 8))
        assert ps.connections(whole, (5, 2, 8)) == 5 * whole.params
        attention = ps.MultiHeadAttention(8, 2, batch_first=True)
        assert ps.connections(attention.freeze("out_proj"), (5, 2, 8)) == ps.connections(attention, (5, 2, 8)) == 2 * attention.params
        assert ps.summary(second, ((5, 2, 8), (7, 2, 8))).footer[4:] == ps.summary(first, ((2, 5, 8), (2, 7, 8))).footer[4:]
        with pytest.raises(ShapeError, match=r"multihead_attn.* has 2 entries in one factor and 3 in the other"):
            ps.output_shape(second, ((5, 2, 8), (7, 3, 8)))

    def test_of_additive_attention(self) -> None:
        """The score's vector meets every pair of query and key (Bahdanau et al. 2015, appendix A.1.2)."""
        attention = ps.AdditiveAttention(H, E, K)
        assert ps.connections(attention, ((B, T, H), (B, M, E))) == K * H * T + K * E * M + K * T * M
        assert ps.output_shape(attention, ((B, T, H), (B, M, E))) == (B, T, E)
        assert ps.connections(ps.AdditiveAttention(H, dialect="keras"), ((B, T, H), (B, M, H))) == H * T * M

    @pytest.mark.parametrize(
        ("layer", "shape", "words"),
        [
            (ps.MultiHeadAttention(8, 2), ((3, 2, 8), (4, 3, 8)), "axis b has 2 entries in one factor and 3 in the other"),
            (ps.MultiHeadAttention(8, 2), ((3, 2, 8), (4, 2, 8), (5, 2, 8)), "axis k has 4 entries in one factor and 5 in the other"),
            (ps.MultiHeadAttention(8, 2), ((2, 3, 8), (2, 4, 9)), r"axis 2 \(features\) is 9; wanted 8"),
            (ps.MultiHeadAttention(8, 2), ((2, 3, 8),) * 4, "wanted 1 to 3 inputs"),
            (ps.Transformer(8, 2, 1, 1, 4), ((3, 2, 8), (3, 3, 8)), "axis b has 3 entries in one factor and 2 in the other"),
            (ps.MultiHeadAttention(8, 2), (8,), r"positions, batch, features.* found 1 axes"),
            (ps.TransformerEncoderLayer(8, 2, 4), (1, 2, 3, 8), r"positions, batch, features.* found 4 axes"),
            (Sequential(Dense(8, 8)), ((2, 3, 8), (2, 3, 8)), "wanted one shape, for one input; found 2"),
            (Dense(8, 8), ((2, 8), (2, 8)), "wanted one shape, for one input; found 2"),
        ],
    )
    def test_what_does_not_go_together(self, layer: ps.Layer, shape: Shape, words: str) -> None:
        """Shapes that torch refuses, and several if there is one input."""
        for question in (ps.output_shape, ps.connections, ps.neurons, ps.summary):
            with pytest.raises(ShapeError, match=words):
                question(layer, shape)  # type: ignore[operator]


def test_connections_of_models() -> None:
    """Matrices are used once per token, the pooler once, a looked-up row once per token: GPT-2's 12*L*H**2 per token, and BERT's."""
    gpt2 = ps.models.Gpt2()
    assert ps.connections(gpt2, (B, S)) == (S * (gpt2.params - H * (V + P) + 2 * H)).expand()
    bert = ps.models.Bert()
    pooler = H**2 + H
    assert ps.connections(bert, (B, S)) == (S * (bert.params - pooler - H * (V + P + T) + 3 * H) + pooler).expand()
    assert ps.neurons(bert, (B, S)) == S * H
    mixtral = ps.models.Mixtral()
    tables = V * H
    assert ps.connections(mixtral, (B, S)) == (S * (mixtral.active - tables + H)).expand()


def test_total_neurons() -> None:
    """The network of Krizhevsky et al. 2012 in one column: 650,000 neurons are those of all its layers, the input left out."""
    net = Sequential(Conv2d(3, 96, 11, stride=4), ps.ReLU(), MaxPool2d(3, 2), Conv2d(96, 256, 5, padding=2))
    assert ps.neurons(net, ALEX_IMAGE, total=True) == 290_400 + 27 * 27 * 256
    assert ps.neurons(net, ALEX_IMAGE) == 27 * 27 * 256


NORMS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "BatchNorm1d": ((4,), {}),
    "InstanceNorm1d": ((4,), {}),
    "GroupNorm": ((4, 4), {}),
    "LayerNorm": (((4, 10),), {}),
    "RMSNorm": ((10,), {}),
    "LocalResponseNorm": ((3,), {}),
    "Identity": ((), {}),
    "Softmax": ((-1,), {}),
    "LogSoftmax": ((1,), {}),
}
"""Layers between two convolutions of four channels, ten entries long."""


class TestReceptiveField:
    """What one output sees (Araujo, Norris and Sim 2019)."""

    @pytest.mark.parametrize("value", next(item for item in document("formulas") if item["id"] == "receptive-field")["values"])
    def test_published_networks(self, value: dict[str, object]) -> None:
        """The single-path networks of the paper's table, from kernels and strides."""
        layers = value["config"]["l"]  # type: ignore[index]
        stack = Sequential(*(Conv2d(1, 1, kernel, stride=stride) for kernel, stride in layers))
        assert ps.receptive_field(stack) == (value["published"],) * 2
        strides = 1
        for _, stride in layers:
            strides *= stride
        assert ps.effective_stride(stack) == (strides, strides)

    def test_symbols(self) -> None:
        """The field is 1 + sum of (k - 1) times the strides before; L layers of K see L*(K - 1) + 1."""
        assert ps.receptive_field(ps.Repeat(Conv1d(C, C, K, padding="same"), L)) == (K * L - L + 1,)
        k1, k2, s1 = ps.dims("k1 k2 s1")
        assert ps.receptive_field(Sequential(Conv1d(1, 1, k1, stride=s1), Conv1d(1, 1, k2))) == (k1 + k2 * s1 - s1,)
        assert ps.receptive_field(Conv1d(1, 1, K, dilation=2)) == (2 * K - 1,)

    def test_paths_that_are_added(self) -> None:
        """The widest path counts; a pointwise path sees its own entry."""
        block = ps.Residual(Sequential(Conv2d(8, 8, 3, padding=1), ps.ReLU(), Conv2d(8, 8, 3, padding=1)))
        assert ps.receptive_field(Sequential(block, block)) == (9, 9)
        down = ps.Residual(Conv2d(8, 16, 3, stride=2, padding=1), Conv2d(8, 16, 1, stride=2))
        assert (ps.receptive_field(down), ps.effective_stride(down)) == ((3, 3), (2, 2))
        with pytest.raises(StructureError, match="strides 2, 1"):
            ps.receptive_field(ps.Residual(Conv2d(8, 8, 3, stride=2, padding=1)))
        assert ps.receptive_field(ps.Residual(Dense(H, H))) == ()

    def test_rectangles_and_repeats(self) -> None:
        """Each axis on its own; three poolings of two see eight."""
        assert ps.receptive_field(Sequential(Conv2d(1, 1, (1, 5)), MaxPool2d((2, 1)))) == (2, 5)
        assert ps.receptive_field(ps.Repeat(MaxPool2d(2), 3)) == (8, 8)
        with pytest.raises(StructureError, match="symbolic number of times"):
            ps.receptive_field(ps.Repeat(MaxPool2d(2), L))

    def test_of_models(self) -> None:
        """An entry of the last map, before everything is pooled or flattened into one, in numbers and in depths.

        ResNet: 1 + 6 for the stem, 8 for the pooling, then 2*(3 - 1) times the stride for every block of a stage; with torchvision's
        stride on the 3 by 3. wav2vec 2.0 hears 25 ms, 400 samples, every 20 ms, 320 (Baevski et al. 2020, section 4.2), where its
        normalisation is over the channels; the base model's GroupNorm takes its mean over all that is heard.
        """
        n1, n2, n3, n4 = ps.dims("n1 n2 n3 n4")
        resnet = ps.models.ResNet()
        field = 8 * n1 + 16 * n2 + 32 * n3 + 64 * n4 - 45
        assert ps.receptive_field(resnet) == (field, field)
        assert ps.effective_stride(resnet) == (32, 32)
        assert ps.receptive_field(ps.models.ResNet("resnet50")) == (427, 427)
        assert ps.receptive_field(ps.load("microsoft/resnet-50", "ResNetModel")) == (427, 427)
        assert ps.receptive_field(ps.models.DenseNet("densenet121")) == (2071, 2071)
        assert ps.receptive_field(ps.models.LeNet5()) == (32, 32)
        assert ps.receptive_field(ps.models.LeNet5("modern")) == (16, 16)
        heard = ps.from_config({"model_type": "wav2vec2", "feat_extract_norm": "layer"}).part("feature_extractor")
        assert (ps.receptive_field(heard), ps.effective_stride(heard)) == ((400,), (320,))

        with pytest.raises(NotYetError, match="GroupNorm depends on a whole axis"):
            ps.receptive_field(ps.load("facebook/wav2vec2-base-960h", "Wav2Vec2Model").part("feature_extractor"))

    @pytest.mark.parametrize("name", NORMS)
    def test_norms_against_gradients(self, name: str) -> None:
        """What one output's gradient reaches in torch, with a layer between two convolutions: as many entries, or all and a refusal."""
        torch = pytest.importorskip("torch")
        arguments, named = NORMS[name]
        ours = Sequential(Conv1d(2, 4, 3), getattr(ps, name)(*arguments, **named), Conv1d(4, 2, 3))
        between = getattr(torch.nn, name)(*arguments, **named)
        module = torch.nn.Sequential(torch.nn.Conv1d(2, 4, 3), between, torch.nn.Conv1d(4, 2, 3)).double().eval()
        torch.manual_seed(0)
        signal = torch.randn(2, 2, 12, dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(module(signal)[0, 0, 3], signal)
        reached = gradient[0].abs().sum(0).nonzero().flatten()
        if len(reached) == 12:
            with pytest.raises(NotYetError, match=r"depends on a whole axis|the next takes its channels last"):
                ps.receptive_field(ours)
        else:
            assert ps.receptive_field(ours) == (int(reached.max()) - int(reached.min()) + 1,) == (5,)

    @pytest.mark.parametrize(
        ("norm", "field"),
        [
            (ps.BatchNorm2d(4), (5, 5)),
            (ps.BatchNorm2d(4, track_running_stats=False), None),
            (ps.InstanceNorm2d(4), None),
            (ps.InstanceNorm2d(4, track_running_stats=True), (5, 5)),
            (ps.GroupNorm(2, 4), None),
            (ps.LayerNorm((4, 10, 10)), None),
            (ps.LayerNorm(10), None),
            (ps.LocalResponseNorm(2), (5, 5)),
            (ps.Softmax2d(), (5, 5)),
            (ps.Softmax(dim=1), (5, 5)),
            (ps.Softmax(dim=-1), None),
            (ps.Softmax(dim=2), None),
            (Dense(10, 10), None),
        ],
        ids=repr,
    )
    def test_norms_of_images(self, norm: ps.Layer, field: tuple[int, int] | None) -> None:
        """The same over images: what mixes a spatial axis is refused, wherever it stands, and what mixes channels is not."""
        torch = pytest.importorskip("torch")
        arguments, named = norm.arguments()
        module = torch.nn.Sequential(
            torch.nn.Conv2d(2, 4, 3),
            getattr(torch.nn, {"Dense": "Linear"}.get(type(norm).__name__, type(norm).__name__))(*arguments, **named),
        )
        module = torch.nn.Sequential(*module, torch.nn.Conv2d(4, 2, 3)).double().eval()
        torch.manual_seed(0)
        image = torch.randn(2, 2, 12, 12, dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(module(image)[0, 0, 3, 3], image)
        reached = gradient[0].abs().sum(0)
        spans = tuple(int((line := reached.sum(axis).nonzero().flatten()).max() - line.min()) + 1 for axis in (1, 0))
        for ours in (
            Sequential(Conv2d(2, 4, 3), norm, Conv2d(4, 2, 3)),
            Sequential(Conv2d(2, 4, 3), Sequential(ps.ReLU(), Sequential(norm)), ps.Repeat(Conv2d(4, 2, 3), 1)),
        ):
            if field is None:
                assert 12 in spans
                with pytest.raises(NotYetError, match=r"depends on a whole axis|the next takes its channels last"):
                    ps.receptive_field(ours)
            else:
                assert ps.receptive_field(ours) == spans == field

    def test_channels_that_move(self) -> None:
        """Behind a Permute, which moves the channels to the end, what mixes the last axis mixes channels."""
        there, back = ps.Permute((2, 3, 1)), ps.Permute((3, 1, 2))
        conv = Conv2d(4, 4, 3)
        assert ps.receptive_field(Sequential(conv, there, ps.LayerNorm(4), Dense(4, 4), back, conv)) == (5, 5)
        assert ps.receptive_field(Sequential(conv, Sequential(there, ps.Softmax(dim=-1)), Sequential(back, conv))) == (5, 5)
        turn = ps.Permute((2, 1))
        assert ps.receptive_field(ps.Repeat(Sequential(Conv1d(4, 4, 3), turn, ps.LayerNorm(4), turn), 3)) == (7,)
        keras = Conv2d(4, 4, 3, dialect="keras")
        assert ps.receptive_field(Sequential(keras, Dense(4, 4, dialect="keras"), keras)) == (5, 5)
        for wrong in (
            Sequential(conv, there, ps.LayerNorm(4), conv),
            Sequential(conv, Dense(4, 4), there),
            Sequential(Dense(9, 9), conv),
            Sequential(keras, ps.Softmax(dim=1)),
            Sequential(conv, ps.EinsumDense("abcd,cde->abe", (None, 4), (None, 4, 4, 4))),
            Sequential(turn, ps.LayerNorm(4), Conv1d(4, 4, 3)),
        ):
            with pytest.raises(NotYetError, match="has no single receptive field"):
                ps.receptive_field(wrong)
        with pytest.raises(StructureError, match=r"axis 1 \(channels\) is 2; wanted 4"):
            ps.receptive_field(ps.Repeat(Sequential(Conv1d(4, 4, 3), turn), 2))

    def test_the_part_to_ask_for(self) -> None:
        """A classifier names its features, if all of their outputs depend on equally many entries."""
        with pytest.raises(NotYetError, match=r"mean pool depend .* receptive_field\(model.part\('features'\)\)"):
            ps.receptive_field(ps.models.AlexNet())
        spread = Sequential(ps.ConvTranspose2d(3, 3, 2, 2))
        for model in (Sequential(spread, Conv2d(3, 3, 3)), Sequential(Conv2d(3, 3, 3), spread)):
            with pytest.raises(NotYetError) as found:
                ps.receptive_field(model)
            assert "model.part" not in str(found.value)

    @pytest.mark.parametrize("name", ["Bert", "Gpt2", "Vit", "Swin", "T5", "Bart", "MambaLM", "Llama"])
    def test_attention_sees_everything(self, name: str) -> None:
        """A model with attention, or a state that goes along, has no receptive field; the error says why."""
        with pytest.raises(NotYetError, match=f"{name} has no single receptive field: .* depends on a whole axis"):
            ps.receptive_field(getattr(ps.models, name)())

    def test_two_inputs_have_no_one_field(self) -> None:
        """A model of texts and images takes two inputs; the error says that an output has a field in each."""
        with pytest.raises(NotYetError, match="Clip takes 2 inputs; an output has a field in each"):
            ps.receptive_field(ps.models.Clip())

    def test_of_live_models(self) -> None:
        """The entries that one output's gradient reaches, in transformers' ResNet and ConvNeXt with weights of one."""
        torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
        resnet = {"embedding_size": 4, "hidden_sizes": [4, 8], "depths": [2, 1], "layer_type": "basic", "num_channels": 1}
        convnext = {"hidden_sizes": [2, 4], "depths": [2, 1], "num_stages": 2, "patch_size": 3, "num_channels": 1}
        for model_type, config in (("resnet", resnet), ("convnext", convnext)):
            ours = ps.from_config({"model_type": model_type, **config})
            (size, _), (step, _) = ps.receptive_field(ours), ps.effective_stride(ours)
            assert isinstance(size, int)
            assert isinstance(step, int)
            module = transformers.AutoModel.from_config(transformers.AutoConfig.for_model(model_type, **config)).eval()
            for name, parameter in module.named_parameters():
                torch.nn.init.constant_(parameter, 1.0 if "norm" not in name or "weight" in name else 0.0)
            for one in module.modules():
                if type(one).__name__ in {"LayerNorm", "ConvNextLayerNorm"}:  # it looks along the channels alone; its division hides zeros
                    one.forward = lambda x: x  # type: ignore[method-assign]
            if model_type == "resnet":  # of equal entries, the maximum passes a gradient to one
                module.embedder.pooler = torch.nn.AvgPool2d(3, 2, 1)
            image = torch.ones(1, 1, 4 * size, 4 * size, requires_grad=True)
            left = module(image).last_hidden_state
            middle = left.shape[-1] // 2
            reached = []
            for place in (middle, middle + 1):
                (gradient,) = torch.autograd.grad(left[0, :, middle, place].sum(), image, retain_graph=True)
                columns = gradient[0, 0].abs().sum(0).nonzero().flatten()
                reached.append((int(columns.min()), int(columns.max())))
            assert reached[0][1] - reached[0][0] + 1 == size
            assert reached[1][0] - reached[0][0] == step

    def test_what_has_no_one_number(self) -> None:
        """Transposed convolutions see more or less by position, pooling over everything sees everything."""
        for layer in (ps.ConvTranspose2d(1, 1, 3, stride=2), ps.AdaptiveAvgPool2d(1), ps.Upsample(scale_factor=2)):
            with pytest.raises(NotYetError):
                ps.receptive_field(layer)
        with pytest.raises(NotYetError, match="spatial axes"):
            ps.receptive_field(Sequential(Conv2d(1, 1, 3), Conv1d(1, 1, 3)))

    def test_against_gradients(self) -> None:
        """The entries that one output's gradient reaches in torch are as many, for random stacks."""
        torch = pytest.importorskip("torch")
        import random

        chance = random.Random(7)
        for _ in range(20):
            settings = [(chance.randint(1, 4), chance.randint(1, 3), chance.randint(1, 3)) for _ in range(chance.randint(1, 4))]
            ours = Sequential(*(Conv1d(1, 1, k, stride=s, dilation=d) for k, s, d in settings))
            size, step = ps.receptive_field(ours)[0], ps.effective_stride(ours)[0]
            assert isinstance(size, int)
            assert isinstance(step, int)
            modules = [torch.nn.Conv1d(1, 1, k, stride=s, dilation=d, bias=False) for k, s, d in settings]
            signal = torch.zeros(1, 1, size + step, requires_grad=True)
            net = torch.nn.Sequential(*modules)
            for parameter in net.parameters():
                torch.nn.init.ones_(parameter)
            outputs = net(signal)[0, 0]
            first = [torch.autograd.grad(outputs[i], signal, retain_graph=True)[0][0, 0].nonzero().flatten() for i in (0, 1)]
            assert int(first[0].max() - first[0].min()) + 1 == size
            assert int(first[1].min() - first[0].min()) == step
