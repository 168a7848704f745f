"""Neurons, connections, kernels and receptive fields, against the questions that people asked and the papers' numbers."""

from __future__ import annotations

import pytest
from recorded import document
from sympy import Rational, floor

import paramsym as ps
from paramsym import A, B, C, Conv1d, Conv2d, Dense, E, F, H, K, L, LocallyConnected2d, MaxPool2d, S, Sequential, W
from paramsym.errors import NotYetError, ShapeError, StructureError

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
    side = floor(W / 2 - Rational(1, 2)) - 1
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
    assert [step.left[2] for step in list(oneill.applications((1, 1, 29, 29)))[:2]] == SEEDS["S4-36"]
    encoder = Sequential(Conv2d(3, 32, 3, stride=2, padding=1), Conv2d(32, 32, 3, stride=2, padding=1))
    _, channels, frames, bins = ps.output_shape(encoder, (1, 3, 128, 80))
    assert [frames, bins, channels] == SEEDS["S4-22"]
    _, maps, rows, columns = ps.output_shape(Conv2d(6, 16, 3), (1, 6, 5, 10))
    assert [columns, rows, maps] == SEEDS["S4-01"]
    assert list(ps.output_shape(Dense(768, 1), (2, 512, 768))) == SEEDS["S4-27"]
    assert list(ps.output_shape(ps.Embedding(512, 768), (128,))) == SEEDS["S0-07"]


def test_two_readings_of_how_many_kernels() -> None:
    """K filters, or C*K slices: a bias belongs to a filter, which is what 7,800 instead of 7,550 gets wrong."""
    filters, slices = ps.kernels(ONEILL)
    assert (filters, slices) == (50, 300)
    assert ONEILL.params == slices * 25 + filters == 7550
    assert slices * 26 - ONEILL.params == SEEDS["Q-15"] == 250
    assert ps.kernels(ps.DepthwiseConv2d(C, 3, 2)) == (2 * C, 2 * C)
    assert ps.kernels(ps.ConvTranspose2d(C, F, 3)) == (F, C * F)
    with pytest.raises(NotYetError, match="has no kernels"):
        ps.kernels(Dense(3, 4))


def test_connections_of_other_layers() -> None:
    """Every weight as often as it is used: per position, per step, per token, per looked-up row."""
    assert ps.connections(Dense(H, F), (B, S, H)) == (S * Dense(H, F).params).expand()
    assert ps.connections(ps.ConvTranspose2d(C, F, 2, stride=2), (B, C, W, W)) == 4 * C * F * W**2 + 4 * F * W**2
    assert ps.connections(ps.LSTM(3, 5, batch_first=True), (B, 7, 3)) == 7 * ps.LSTM(3, 5).params
    assert ps.connections(ps.LSTM(3, 5, dialect="keras"), (B, 7, 3)) == 7 * ps.LSTM(3, 5, dialect="keras").params
    assert ps.connections(ps.Embedding(100, H), (B, S)) == S * H
    assert ps.connections(ps.MixtureOfExperts(H, F, E, K), (B, S, H)) == (S * ps.MixtureOfExperts(H, F, E, K).active).expand()
    encoder = ps.TransformerEncoder(ps.TransformerEncoderLayer(H, A, F), L)
    assert ps.connections(encoder, (B, S, H)) == (S * encoder.params).expand()
    assert ps.connections(ps.Shared(Dense(H, H), L), (B, H)) == H**2 * L + H * L
    assert ps.connections(ps.Repeat(Dense(H, H), L), (B, H)) == H**2 * L + H * L
    assert ps.connections(ps.TimeDistributed(Dense(3, 4)), (B, 5, 3)) == 5 * 16
    assert ps.connections(ps.BatchNorm2d(C), (B, C, W, W)) == 2 * C * W**2
    assert ps.connections(ps.SeparableConv2d(3, 8, 3), (B, 3, 6, 6)) == 16 * (27 + 24 + 8)
    assert ps.connections(ps.SeparableConv2d(3, 8, 3, dialect="keras"), (B, 6, 6, 3)) == 16 * (27 + 24 + 8)
    assert ps.connections(ps.EinsumDense("abc,cd->abd", (None, 7), (None, 5, 3), "d"), (B, 5, 3)) == 5 * (21 + 7)
    with pytest.raises(NotYetError):
        ps.connections(ps.TransformerDecoderLayer(H, A, F), (B, S, H))


def test_total_neurons() -> None:
    """The network of Krizhevsky et al. 2012 in one column: 650,000 neurons are those of all its layers, the input left out."""
    net = Sequential(Conv2d(3, 96, 11, stride=4), ps.ReLU(), MaxPool2d(3, 2), Conv2d(96, 256, 5, padding=2))
    assert ps.neurons(net, ALEX_IMAGE, total=True) == 290_400 + 27 * 27 * 256
    assert ps.neurons(net, ALEX_IMAGE) == 27 * 27 * 256


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

        chance = random.Random(7)  # noqa: S311 - test data
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
