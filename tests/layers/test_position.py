"""Positions against live transformers."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import assert_same_as_torch, imported
from hypothesis import given, settings, strategies as st
from strategies import assert_value

import paramsym as ps
from paramsym import A, D, H, P
from paramsym.errors import ArgumentError, DivisibilityError, ShapeError, SizeError

w, h = ps.dims("w h")


def test_learned() -> None:
    """OPT keeps two rows in front that no position uses."""
    opt = imported("transformers.models.opt.modeling_opt")
    assert_same_as_torch(ps.LearnedPositions(64, 8, offset=2), lambda: opt.OPTLearnedPositionalEmbedding(64, 8))
    assert ps.LearnedPositions(P, H).params == H * P


def test_sinusoidal() -> None:
    """M2M-100 keeps its table as a buffer outside the state dict; Whisper's encoder as a frozen parameter."""
    m2m = imported("transformers.models.m2m_100.modeling_m2m_100").M2M100SinusoidalPositionalEmbedding
    ours = ps.SinusoidalPositions(64, 8, stored="buffer", offset=2, persistent=False, name="weights")
    assert_same_as_torch(ours, lambda: m2m(64, 8))
    (buffer,) = (entry for entry in ours.entries() if entry.tensor.buffer)
    assert {buffer.name: buffer.tensor.sizes} == {name: tuple(table.shape) for name, table in m2m(64, 8).named_buffers()}
    whisper = imported("transformers.models.whisper.modeling_whisper")
    config = imported("transformers").WhisperConfig(
        d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, vocab_size=99, pad_token_id=0
    )
    table = whisper.WhisperEncoder(config).embed_positions
    frozen = ps.SinusoidalPositions(config.max_source_positions, 8, "frozen")
    assert_same_as_torch(frozen, lambda: table)
    assert not table.weight.requires_grad
    assert (frozen.count, frozen.trainable) == (table.weight.numel(), 0)
    assert ps.SinusoidalPositions(P, H).shapes(buffers=True) == {}


def test_rotary() -> None:
    """LLaMA rotates pairs by frequencies that are no parameters and in no state dict."""
    llama = imported("transformers.models.llama.modeling_llama")
    config = imported("transformers").LlamaConfig(hidden_size=64, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=1)
    theirs = llama.LlamaRotaryEmbedding(config)
    ours = ps.RotaryPositions(16)
    assert_same_as_torch(ours, lambda: llama.LlamaRotaryEmbedding(config))
    assert [entry.tensor.sizes for entry in ours.entries()] == [tuple(theirs.inv_freq.shape)]
    assert ps.RotaryPositions(D, stored="computed").shapes(buffers=True) == {}
    with pytest.raises(DivisibilityError, match="dim 7 is not divisible by 2"):
        ps.RotaryPositions(7)
    with pytest.raises(DivisibilityError):
        ps.RotaryPositions(D, stored="computed").at(D=7)


def test_t5() -> None:
    """T5's first block owns a table of buckets by heads; the heads do not cancel."""
    t5 = imported("transformers.models.t5.modeling_t5")
    config = imported("transformers").T5Config(num_heads=3, relative_attention_num_buckets=7)
    theirs = t5.T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    wanted = {name: tuple(tensor.shape) for name, tensor in theirs.named_parameters() if name.startswith("relative")}
    assert ps.RelativeBias(3, num_buckets=7).shapes() == wanted
    assert ps.RelativeBias(A).params.diff(A) == 32


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_swin(heads: int, height: int, width: int) -> None:
    """Swin has one row for each distance in a window, and an index outside the state dict."""
    swin = imported("transformers.models.swin.modeling_swin")
    ours = ps.RelativeBias(heads, "swin", window_size=(height, width))
    assert_same_as_torch(ours, lambda: swin.SwinRelativePositionBias(heads, (height, width)))
    index = swin.SwinRelativePositionBias(heads, (height, width)).relative_position_index
    assert [entry.tensor.sizes for entry in ours.entries() if entry.tensor.buffer] == [tuple(index.shape)]


def test_bias_formulas() -> None:
    """Liu et al. 2021, section 3.2: (2M - 1)**2 rows; Press et al. 2022: no parameters."""
    assert ps.RelativeBias(A, "swin", window_size=w).params == ((2 * w - 1) ** 2 * A).expand()
    assert ps.RelativeBias(A, "swin", window_size=(h, w)).params == ((2 * h - 1) * (2 * w - 1) * A).expand()
    assert ps.RelativeBias(A, "alibi").params == 0


@pytest.mark.parametrize(
    "layer",
    [
        ps.LearnedPositions(P, H, offset=2),
        ps.SinusoidalPositions(P, H, "buffer", persistent=False),
        ps.RotaryPositions(2 * H),
        ps.RelativeBias(H, "swin", window_size=(P, 3)),
    ],
)
def test_values(layer: Any) -> None:
    """``at``, repr and pickle give equal layers."""
    assert_value(layer)
    sizes = dict.fromkeys(layer.symbols, 4)
    assert layer.at(sizes).count == layer.params.subs(sizes)


def test_what_cannot_be() -> None:
    """Ways of storing and kinds are words of their own; Swin has a window, the others none."""
    with pytest.raises(ArgumentError, match="stored is 'table'"):
        ps.SinusoidalPositions(P, H, "table")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="kind is 'bert'"):
        ps.RelativeBias(A, "bert")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="wants a window_size"):
        ps.RelativeBias(A, "swin")
    with pytest.raises(ArgumentError, match="wants no window_size"):
        ps.RelativeBias(A, window_size=7)
    with pytest.raises(SizeError, match="num_positions is 0"):
        ps.LearnedPositions(0, H)


def test_rows_beside_the_positions() -> None:
    """M2M-100 keeps ``num_positions + offset`` rows; a table is one, trained or not."""
    for stored in ("frozen", "buffer"):
        layer = ps.SinusoidalPositions(10, 4, stored=stored, offset=2)
        assert layer.shapes(buffers=True) == {"weight": (12, 4)}
        assert [(line.role, line.trainable, line.buffer) for line in layer.lines] == [("table", False, stored == "buffer")]


def test_rotary_positions_keep_the_axes() -> None:
    """Rotation changes numbers, not shapes: with heads or without."""
    for shape in ((1, 2, 4), (1, 2, 3, 4)):
        assert ps.output_shape(ps.RotaryPositions(4), shape) == shape


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("layer", [ps.LearnedPositions, ps.SinusoidalPositions])
def test_a_table_has_a_row_for_each_position(layer: Any, rows: int) -> None:
    """As many positions as rows, and fewer, but not one more."""
    table = layer(rows, 4)
    for length in (1, rows):
        assert table.output_shape((2, length, 4)) == (2, length, 4)
    with pytest.raises(ShapeError, match=f"{rows + 1} positions, but the table has rows for {rows}"):
        table.output_shape((2, rows + 1, 4))
