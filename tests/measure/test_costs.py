"""Costs as values: sizes put in, tables, LaTeX, HTML; recurrences, opaque parts and missing inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

import paramsym as ps
from paramsym import B, H, L, S
from paramsym.errors import ArgumentError, NotYetError, UnknownNameError
from paramsym.models import Clip, Gemma, Llama


@dataclass(frozen=True)
class Silent(ps.Layer):
    """A layer that says which shape comes out, and not what it computes."""

    def output_shape(self, input_shape: Any) -> Any:
        """The same."""
        return input_shape


def test_a_cost_is_a_value() -> None:
    """Sizes go into the layer and the inputs at once; tables have shares once everything is a number."""
    cost = ps.flops(Llama())
    assert cost.at(B=1, S=2).inputs == ((1, 2),)
    assert cost.at(L=1).total.equals(cost.total.coeff(L))
    with pytest.raises(UnknownNameError):
        cost.at(Q=1)
    numbers = ps.flops(ps.Sequential(ps.Dense(4, 3), ps.Dense(3, 2)), (5, 4))
    assert numbers.total == 2 * 5 * (12 + 6)
    assert numbers.table(1).rows == (("0", 120, "66.7 %"), ("1", 60, "33.3 %"))
    assert numbers.table().footer[1] == 180
    assert cost.to_latex() in cost._repr_latex_()
    assert "layers" in cost._repr_html_()
    assert str(numbers) == "Sequential for (5, 4): 180 FLOPs (matmul)"


def test_states_of_a_recurrence() -> None:
    """An LSTM keeps its gates for every position, and its two states for the next step; its work is as often as there are positions."""
    lstm = ps.LSTM(4, 3)
    kept = [ps.activations(lstm, (length, 2, 4), input_gradients=True).total for length in (2, 3, 4)]
    assert kept[2] - kept[1] == kept[1] - kept[0] > 0
    assert ps.flops(lstm, (S, 2, 4), way="both").total.coeff(S) != 0


def test_opaque_parts_are_refused() -> None:
    """A part without a forward pass has no cost; the message says what to write."""
    model = ps.Sequential(ps.Dense(H, H), ps.Repeat(ps.Sequential(last=Silent()), 3))
    for question in (ps.flops, partial(ps.flops, way="backward"), ps.activations, ps.kv_cache):
        with pytest.raises(NotYetError, match=r"1\.\{0\.\.2\}\.last, a Silent, has no forward pass; write forward\(self, own, x\)"):
            question(model, (B, H))
    with pytest.raises(NotYetError, match=r"^a\.b: Block has no forward pass"):
        ps.flops(ps.Sequential(a=ps.Sequential(b=ps.Block(c=ps.Dense(H, H)))), (B, H))


def test_a_forward_pass_answers_before_a_stated_shape() -> None:
    """A layer that computes is never opaque; its shapes and costs are those of its forward pass."""

    @dataclass(frozen=True)
    class Wrong(ps.Dense):
        """A layer that states a shape which its inherited forward pass does not give."""

        def output_shape(self, input_shape: Any) -> Any:
            """The same."""
            return input_shape

    for question in (ps.output_shape, ps.neurons, ps.connections, ps.macs):
        given, expected = (question(layer, (B, H)) for layer in (Wrong(H, L), ps.Dense(H, L)))
        assert getattr(given, "total", given) == getattr(expected, "total", expected)
    assert ps.output_shape(ps.Sequential(Wrong(H, L), Silent()), (B, H)) == (B, L)


def test_inputs_of_a_model() -> None:
    """The model's own by default; a name before another one is not left out; a layer has none."""
    assert ps.trace(Llama()) == ps.trace(Llama(), (B, S)) == ps.trace(Llama(), input_ids=(B, S))
    with pytest.raises(ArgumentError, match="is not given 'input_ids', which comes before 'pixel_values'"):
        ps.flops(Clip(), pixel_values=(1, 3, 224, 224))
    with pytest.raises(ArgumentError, match="does not state its inputs"):
        ps.flops(ps.Dense(H, H))


def test_windows_limit_what_is_kept() -> None:
    """A layer with a window of w keeps w - 1 positions; half of Gemma 2's layers see one."""
    gemma = Gemma(architecture="Gemma2Model", sliding_window=5).at(L=2, G=1, D=2)
    assert ps.kv_cache(gemma, (1, 100)).total == 2 * 2 * (100 + 4)


def test_shared_blocks_keep_each_time() -> None:
    """A block that is stored once and used three times keeps its input three times, except the input itself."""
    shared = ps.Shared(ps.Dense(4, 4), 3)
    assert ps.activations(shared, (2, 4), input_gradients=True).total == 4 * 2 * (2 * 4)


def test_a_cost_in_powers_of_a_letter() -> None:
    """2 B H (H + 3) FLOPs, ordered by H."""
    cost = ps.flops(ps.Sequential(ps.Dense(H, H, bias=False), ps.Dense(H, 3, bias=False)), (B, H))
    assert cost.to_latex("collected", by="H") == "2 H^{2} B + 6 H B"
    assert cost.to_latex("factored", by="H") == r"H \left(2 H B + 6 B\right)"


def test_the_gradients_of_a_norm_are_one_kernel() -> None:
    """The fvcore convention: 5 for each entry of a norm with a scale, forward and again backward."""
    for way in ("forward", "backward"):
        assert ps.flops(ps.LayerNorm(H), (B, S, H), way=way, convention="fvcore").total == 5 * B * S * H


@pytest.mark.parametrize(
    ("dtype", "numerator", "denominator", "more"),
    [("gguf-q8_0", 34, 32, 0), ("gguf-q4_0", 18, 32, 0), ("gguf-q5_1", 24, 32, 0), ("fp8", 1, 1, 4), ("nvfp4", 9, 16, 4)],
)
def test_caches_with_scales(dtype: str, numerator: int, denominator: int, more: int) -> None:
    """Blocks of llama.cpp (ggml-common.h), and a float32 for keys and for values of each layer."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    numbers, layers = 2 * 32 * 4096 * 4096, 32
    assert ps.kv_cache(llama, (1, 4096), dtype=dtype).total == numbers * numerator // denominator + 2 * layers * more
    inference = ps.memory(llama, (1, 4096), use="inference", cache=dtype)
    plain = ps.memory(llama, (1, 4096), use="inference", cache="float8")
    assert inference.total - plain.total == numbers * numerator // denominator + 2 * layers * more - numbers


def test_formats_of_weights_alone() -> None:
    """Formats in which no library keeps a cache are refused."""
    with pytest.raises(ArgumentError, match=r"dtype is 'gptq-g128' .*wanted one of .*gguf-q8_0"):
        ps.kv_cache(ps.load("meta-llama/Llama-2-7b-hf"), (1, 8), dtype="gptq-g128")


@pytest.mark.parametrize(("name", "giga"), [("resnet50", 4.089), ("vgg16", 15.47), ("densenet121", 2.834), ("mobilenet_v2", 0.301)])
def test_a_network_for_images_has_a_polynomial_for_multiples(name: str, giga: float) -> None:
    """At 224 by 224 pixels it is the number of torchvision's documentation of its weights, in billions of multiply-adds, to its digits."""
    height, width = ps.dims("h w")
    whole = ps.macs(ps.load(name), (B, 3, height, width))
    plain = whole.without_floors()
    assert "floor" in str(whole) or "ceiling" in str(whole)
    assert str(whole).endswith(".without_floors() has a polynomial.")
    assert "without" not in str(plain)
    (rows,), (columns,) = (side.free_symbols for side in plain.inputs[0][2:])
    assert plain.total.is_polynomial(B, rows, columns)
    with pytest.raises(UnknownNameError, match=f"{rows}"):
        plain.at({height: 224})
    step = int(plain.inputs[0][2] / rows)
    number = plain.at({B: 1, rows: 224 // step, columns: 224 // step}).count
    assert number == whole.at({B: 1, height: 224, width: 224}).count
    assert number / 1e9 == pytest.approx(giga, abs=6e-4 if giga < 10 else 6e-3)


def test_a_cost_without_floors_of_its_inputs_is_itself() -> None:
    """A letter of the model is not changed."""
    gpt2 = ps.flops(ps.models.Gpt2())
    assert gpt2.without_floors() is gpt2


def test_the_bytes_of_a_number_may_be_a_letter() -> None:
    """A cache is 2*L*S*H*p bytes; with p = 2 put in, it is that of 16-bit numbers."""
    p = ps.dims("p")
    for question in (ps.kv_cache, ps.activations):
        lettered = question(ps.load("gpt2"), (1, 1024), dtype=p)
        for width, name in ((2, "bfloat16"), (4, "float32")):
            assert lettered.at(p=width).count == question(ps.load("gpt2"), (1, 1024), dtype=name).count
    half = ps.reconcile(ps.kv_cache(ps.load("gpt2"), (1, 1024), dtype=p).at(p=2), 18_874_368)
    assert "keys without values" in str(half)


def test_what_is_left_out_is_said() -> None:
    """The regions of a detector depend on the data: without them, only its first stage is counted."""
    detector = ps.load("fasterrcnn_resnet50_fpn")
    assert "the first stage only" in str(ps.flops(detector, (1, 3, 256, 256)))
    assert "the first stage only" not in str(ps.flops(detector, (1, 3, 256, 256), (100, 256, 7, 7)))
