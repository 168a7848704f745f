"""What comes out: through compositions, with symbols and numbers, and what an error says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import paramsym as ps
from paramsym import B, C, Conv1d, Conv2d, Dense, F, Flatten, H, L, LazyDense, MaxPool2d, S, Sequential, V, W, dims
from paramsym.errors import ArgumentError, NotYetError, ParamsymError, ShapeError, SizeError
from paramsym.measure.readings import readings

m, n = dims("m n")


def test_symbols_in_symbols_out() -> None:
    """Floors and ceilings stay exact, and go where the algebra allows (Dumoulin and Visin 2016)."""
    assert ps.output_shape(Conv2d(3, 6, 5), (B, 3, W, W)) == (B, 6, W - 4, W - 4)
    assert ps.output_shape(Conv2d(3, 6, 3, padding="same"), (B, 3, W, H)) == (B, 6, W, H)
    assert ps.output_shape(MaxPool2d(2), (B, C, 2 * m, 2 * n)) == (B, C, m, n)
    assert ps.output_shape(Conv1d(3, 6, 3, stride=2, padding=1), (B, 3, 2 * m)) == (B, 6, m)
    assert ps.output_shape(ps.ConvTranspose2d(3, 6, 2, stride=2), (B, 3, W, H)) == (B, 6, 2 * W, 2 * H)


def test_halving_again_and_again_is_one_floor() -> None:
    """Two strides of two give ceil(T/4) frames, whatever T is; for T = 4*m that is m."""
    encoder = Sequential(Conv2d(3, 32, 3, stride=2, padding=1), Conv2d(32, 32, 3, stride=2, padding=1))
    shape = ps.output_shape(encoder, (B, 3, n, 80))
    for frames in range(1, 50):
        assert shape[2].subs(n, frames) == -(-frames // 4)
    assert str(shape[2]) == "ceiling(n/4)"
    assert ps.output_shape(encoder, (B, 3, 4 * m, 80)) == (B, 32, m, 20)


def test_composition() -> None:
    """The shape of a composition is the composition of shapes."""
    layers = (Conv2d(3, 6, 5), MaxPool2d(2), Flatten(), Dense(1176, 10))
    shape: tuple[object, ...] = (B, 3, 32, 32)
    for layer in layers:
        shape = ps.output_shape(layer, shape)  # type: ignore[arg-type]
    assert ps.output_shape(Sequential(*layers), (B, 3, 32, 32)) == shape == (B, 10)


def test_unknown_extents_pass() -> None:
    """None stays None if it passes through, and a product with it is unknown."""
    assert ps.output_shape(Conv2d(3, 6, 5, dialect="keras"), (None, None, 10, 3)) == (None, None, 6, 6)
    assert ps.output_shape(Flatten(), (None, None, 3)) == (None, None)
    assert ps.output_shape(Sequential(ps.Embedding(V, H), ps.LSTM(H, F, batch_first=True)), (None, None)) == (None, None, F)


def test_an_error_names_the_part_by_its_path() -> None:
    """The part, the shape that arrived there, and what was wanted, through two levels."""
    net = Sequential({"conv": Conv2d(3, 8, 3), "head": Sequential(Flatten(), Dense(9, 4))})
    with pytest.raises(ShapeError, match=r"Sequential: head\.1, a Dense, which was given \(1, 288\): .* 288 entries; wanted 9"):
        ps.output_shape(net, (1, 3, 8, 8))
    with pytest.raises(ShapeError, match=r"3\.up, a Dense, which was given \(B, 4\)"):
        ps.output_shape(ps.Repeat(ps.Sequential({"up": Dense(1, 1)}), 4, start=3), (B, 4))
    with pytest.raises(ShapeError, match=r"axis 1 \(channels\) is 4; wanted 3.*channels last"):
        ps.output_shape(Conv2d(3, 8, 3), (1, 4, 3, 3))


def test_widths_that_do_not_fit_are_found() -> None:
    """32 entries do not go into a layer of 17, whatever the shape of the end would be."""
    with pytest.raises(ShapeError, match=r"down, .* given \(2, 3, 32\): the last axis has 32 entries; wanted 17"):
        ps.output_shape(ps.Sequential(up=ps.Dense(8, 32), down=ps.Dense(17, 5)), (2, 3, 8))


def test_a_symbolic_depth() -> None:
    """Blocks that keep the shape can be as many as they like; others must be counted."""
    assert ps.output_shape(ps.Repeat(Dense(H, H), L), (B, S, H)) == (B, S, H)
    assert ps.output_shape(ps.Repeat(Dense(H, H), 10**6), (B, H)) == (B, H)
    with pytest.raises(ShapeError, match="cannot be repeated a symbolic number of times"):
        ps.output_shape(ps.Repeat(MaxPool2d(2), L), (B, C, W, W))
    assert ps.output_shape(ps.Repeat(MaxPool2d(2), 3), (B, C, 8, 8)) == (B, C, 1, 1)
    assert ps.output_shape(ps.Shared(MaxPool2d(2), 3), (B, C, 8, 8)) == (B, C, 1, 1)


def test_additions_must_fit() -> None:
    """A residual adds what fits; what symbols will be is checked with numbers."""
    assert ps.output_shape(ps.Residual(Dense(H, H)), (B, S, H)) == (B, S, H)
    with pytest.raises(ShapeError, match=r"the body gives \(B, C, m, m\), but \(B, C, 2\*m, 2\*m\) is to be added"):
        ps.output_shape(ps.Residual(MaxPool2d(2)), (B, C, 2 * m, 2 * m))
    down = ps.Residual(Conv2d(8, 16, 3, stride=2, padding=1), Conv2d(8, 16, 1, stride=2))
    assert ps.output_shape(down, (B, 8, 9, 9)) == (B, 16, 5, 5)


@pytest.mark.parametrize("shape", [5, "B3", (1, 2.5), (1, -2), (1, True), (1, "W")])
def test_what_is_no_shape(shape: object) -> None:
    """Floats, strings and negative numbers are refused before any layer is asked."""
    with pytest.raises(ParamsymError):
        ps.output_shape(Dense(2, 2), shape)  # type: ignore[arg-type]


def test_data_formats() -> None:
    """Keras has the channels last unless told otherwise; torch has them first, and takes one example without a batch."""
    assert ps.output_shape(Conv2d(3, 6, 3, dialect="keras"), (B, 8, 9, 3)) == (B, 6, 7, 6)
    assert ps.output_shape(Conv2d(3, 6, 3, dialect="keras", data_format="channels_first"), (B, 3, 8, 9)) == (B, 6, 6, 7)
    assert ps.output_shape(Conv2d(3, 6, 3), (3, 8, 9)) == (6, 6, 7)
    with pytest.raises(ShapeError, match="found 3 axes"):
        ps.output_shape(Conv2d(3, 6, 3, dialect="keras"), (8, 9, 3))
    with pytest.raises(ArgumentError, match="channels_last"):
        Conv2d(3, 6, 3, data_format="channels_last")


class TestLazyWidth:
    """A dense layer may leave its width to the shape that arrives."""

    def test_symbolically(self) -> None:
        """The width is what the flattened maps have, in symbols."""
        net = Sequential(Conv2d(3, C, 3), Flatten(), LazyDense(10))
        built = ps.infer(net, (B, 3, W, W))
        assert built == Sequential(Conv2d(3, C, 3), Flatten(), Dense(C * W**2 - 4 * C * W + 4 * C, 10))
        assert built.at(C=4, W=8).params == ps.infer(net.at(C=4), (B, 3, 8, 8)).params

    def test_nested_and_repeated(self) -> None:
        """Every lazy layer is found where it stands, in each copy."""
        net = Sequential({"in": LazyDense(8), "mid": ps.Repeat(LazyDense(8), 3), "res": ps.Residual(LazyDense(8))})
        built = ps.infer(net, (B, 5))
        assert built.count == 6 * 8 + 4 * (8 * 8 + 8)
        assert list(built.shapes()) == list(net.shapes())

    def test_torch_names(self) -> None:
        """In torch it is LazyLinear; Keras' kernel stands the other way round."""
        assert ps.LazyLinear is LazyDense
        assert ps.infer(LazyDense(4, dialect="keras"), (None, 3)).shapes() == {"kernel": (3, 4), "bias": (4,)}

    def test_a_width_must_be_known(self) -> None:
        """Without an extent there is no width; a layer that does not say what reaches its parts cannot be inferred."""
        with pytest.raises(ShapeError, match="must be a size or a symbol"):
            ps.infer(LazyDense(4), (None, None))
        with pytest.raises(NotYetError):
            ps.infer(ps.Block(a=LazyDense(3)), (B, 4))
        with pytest.raises(ShapeError, match="Sequential: 0"):
            ps.infer(Sequential(Dense(3, 3), LazyDense(4)), (B, 4))
        with pytest.raises(SizeError):
            LazyDense(0)

    def test_against_torch(self) -> None:
        """A lazy network of torch's ends up with the same shapes."""
        torch = pytest.importorskip("torch")
        module = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 4, stride=2), torch.nn.Flatten(), torch.nn.LazyLinear(5), torch.nn.LazyLinear(2))
        module(torch.zeros(1, 2, 21))
        ours = ps.infer(Sequential(Conv1d(2, 3, 4, stride=2), Flatten(), LazyDense(5), LazyDense(2)), (1, 2, 21))
        assert list(ours.shapes().items()) == [(name, tuple(tensor.shape)) for name, tensor in module.state_dict().items()]


class TestReadings:
    """An input that lacks an axis is answered with the ways to read it."""

    def net(self, stride: int | None, channels: int = 1) -> ps.Layer:
        """Return the net of the question: two convolutions over sequences, fed with 512 features."""
        pool = ps.AvgPool1d(2, stride)
        widths = (LazyDense(20), LazyDense(10), LazyDense(3))
        return Sequential(Conv1d(channels, 20, 3), ps.Tanh(), pool, Conv1d(20, 10, 3), ps.Tanh(), pool, Flatten(), *widths)

    @pytest.mark.parametrize(("stride", "positions", "count"), [(1, 506, 102_153), (None, 126, 26_153)])
    def test_the_readings_that_work(self, stride: int | None, positions: int, count: int) -> None:
        """512 positions of one channel work, with MATLAB's stride of the pooling or with torch's; one position does not."""
        for channels in (1, 512):
            sequence, vector = readings(self.net(stride, channels), (1512, 512))
            assert sequence.works
            assert sequence.input_shape == (1512, 1, 512)
            assert sequence.output_shape == (1512, 3)
            assert sequence.params == count
            assert sequence.layer is not None
            assert sequence.layer.part("7").in_features == 10 * positions  # type: ignore[attr-defined]
            assert not vector.works
            assert vector.params is None
            assert "shorter than the kernel" in vector.reason

    def test_the_error_shows_them(self) -> None:
        """The message says which axis is missing, and the counts."""
        with pytest.raises(ShapeError) as caught:
            ps.output_shape(self.net(None), (None, 512))
        words = str(caught.value)
        assert "An axis is missing: length or channels." in words
        assert "(None, 1, 512), 512 positions of 1 channel, gives (None, 3) with 26153 parameters" in words
        assert "(None, 512, 1), 1 position of 512 channels, does not work" in words

    def test_with_padding_both_work(self) -> None:
        """A kernel with padding fits one position of 512 channels."""
        both = readings(Conv1d(C, 20, 3, padding=1), (B, 512))
        assert [str(reading.params) for reading in both] == ["80", "30740"]

    def test_none_is_missing(self) -> None:
        """A shape that fits has no other reading, nor has one that lacks more."""
        assert readings(Conv1d(1, 20, 3), (B, 1, 512)) == ()
        with pytest.raises(ArgumentError, match="wanted a layer of paramsym"):
            readings("net", (B, 512))  # type: ignore[arg-type]
        assert readings(Conv1d(1, 20, 3), (512,)) == ()
        assert readings(Dense(3, 4), (B, 5)) == ()


def test_inputs_by_name_or_left_out() -> None:
    """Every question about shapes takes them in order, by the reference's names, or a model's own."""
    model = ps.models.Clip()
    batch, images = ps.dims("B B_v")
    assert ps.output_shape(model) == ((images, batch), (batch, images))
    by_name = ps.output_shape(model, pixel_values=(2, C, W, W), input_ids=(3, 7))
    assert by_name == ps.output_shape(model, ((3, 7), (2, C, W, W))) == ((2, 3), (3, 2))
    assert by_name == ps.output_shape(model, (3, 7), (2, C, W, W))
    bert = ps.models.Bert()
    for question in (ps.output_shape, ps.neurons, ps.connections, ps.summary, ps.infer):
        assert question(bert, input_ids=(2, 16)) == question(bert, (2, 16))
        assert question(bert) == question(bert, (batch, S))
        with pytest.raises(ArgumentError, match="'input_ids' twice"):
            question(bert, (2, 16), input_ids=(2, 16))
        with pytest.raises(ArgumentError, match="has no input 'pixel_values'; it takes input_ids"):
            question(bert, pixel_values=(2, 16))
        with pytest.raises(ArgumentError, match="Dense does not state its inputs"):
            question(ps.Dense(2, 3))


@dataclass(frozen=True)
class Chosen(ps.Layer):
    """A layer that keeps a number of positions that only its input decides, and states the shape alone."""

    def output_shape(self, input_shape: Any) -> Any:
        """The batch, an unknown number of positions, the features."""
        return input_shape[0], None, input_shape[-1]


def test_an_unknown_extent_that_a_part_states() -> None:
    """An opaque part may state None for an axis; the axis stays, also after other layers, in copies and beside other inputs."""
    for model in (ps.Sequential(Chosen()), ps.Repeat(Chosen(), 3), ps.Sequential(ps.Dense(4, 4), Chosen())):
        assert ps.output_shape(model, (2, 5, 4)) == (2, None, 4)
    assert ps.output_shape(ps.Repeat(Chosen(), L), (2, None, 4)) == (2, None, 4)
    with pytest.raises(ShapeError, match="a symbolic number of times"):  # without copies, there would be 5 positions
        ps.output_shape(ps.Repeat(Chosen(), L), (2, 5, 4))
    assert ps.output_shape(ps.Sequential(Chosen(), ps.Dense(4, 3)), (B, 5, 4)) == (B, None, 3)
    assert ps.output_shape(ps.Sequential(Chosen(), ps.Dense(4, 3)), (None, None, 4)) == (None, None, 3)
    assert ps.output_shape(ps.Sequential(inner=ps.Sequential(Chosen())).freeze(), (2, 5, 4)) == (2, None, 4)
    assert "(2, None, 3)" in str(ps.summary(ps.Sequential(Chosen(), ps.Dense(4, 3)), (2, 5, 4)))
