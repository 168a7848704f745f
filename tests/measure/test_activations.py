"""Activations of one transformer block against the published formulas and against what was measured on torch (``facts/costs``)."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym import A, B, E, F, G, H, K, L, S, V, dims
from paramsym.errors import ArgumentError
from paramsym.models import Llama


def gpt_block() -> ps.Layer:
    """The block of Korthikanti et al. 2022, figure 2: dropout on the attention's weights and on both branches, GELU."""
    attention = ps.Sequential(ps.LayerNorm(H), ps.MultiHeadAttention(H, A, dropout=0.1, batch_first=True), ps.Dropout(0.1))
    network = ps.Sequential(ps.LayerNorm(H), ps.Dense(H, 4 * H), ps.GELU(), ps.Dense(4 * H, H), ps.Dropout(0.1))
    return ps.Sequential(ps.Residual(attention), ps.Residual(network))


def per_block(layer: ps.Layer, **how: Any) -> ps.Expr:
    """Return what one more block keeps, as a part of a stack: its own input is kept then."""
    total = ps.activations(ps.Repeat(layer, L), (B, S, H), input_gradients=True, **how).total
    return total.coeff(L)


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({"convention": "korthikanti"}, 34 * S * B * H + 5 * A * S**2 * B),  # equation 1
        ({"convention": "torch-eager", "dtype": "float16"}, 34 * S * B * H + 5 * A * S**2 * B + 16 * S * B),  # measured, CUDA path
        ({"convention": "torch-sdpa", "dtype": "float16"}, 34 * S * B * H + 16 * S * B + 4 * A * S * B),  # measured, flash attention
        ({"convention": "torch-eager-cpu"}, 72 * S * B * H + 12 * A * S**2 * B + 16 * S * B),  # measured, float32 on a CPU
        ({"convention": "torch-eager"}, 66 * S * B * H + 9 * A * S**2 * B + 16 * S * B),  # measured, float32 with masks of a byte
    ],
)
def test_gpt_block(how: dict[str, Any], wanted: ps.Expr) -> None:
    """The paper's formula, and what torch's autograd kept for the same block."""
    assert (per_block(gpt_block(), **how) - wanted).expand() == 0


T, P, M = dims("t p m")
PAIRS = 5 * A * S**2 * B


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({"tensor": T}, S * B * H * (10 + 24 / T) + PAIRS / T),  # equation 2
        ({"tensor": T, "sequence": True}, 34 * S * B * H / T + PAIRS / T),  # equation 4
        ({"tensor": T, "recompute": "selective"}, S * B * H * (10 + 24 / T)),  # table 2
        ({"tensor": T, "sequence": True, "recompute": "selective"}, 34 * S * B * H / T),  # equation 6, one layer
        ({"recompute": "full"}, 2 * S * B * H),  # table 2
        ({"tensor": T, "sequence": True, "pipeline": P}, 34 * S * B * H / T + PAIRS / T),  # equation 5: L layers, whatever p
        (
            {"tensor": T, "sequence": True, "pipeline": P, "interleaved": M},
            (34 * S * B * H / T + PAIRS / T) * (1 + (P - 1) / (P * M)),
        ),  # section 4.2.3
        ({"context": T}, (34 * S * B * H + PAIRS) / T),
    ],
)
def test_korthikanti(how: dict[str, Any], wanted: ps.Expr) -> None:
    """Korthikanti et al. 2022 (arXiv:2205.05198), equations 2, 4, 5 and 6 and table 2, as identities in letters."""
    assert (per_block(gpt_block(), convention="korthikanti", **how) - wanted).expand() == 0


def test_whole_devices() -> None:
    """Numbers of devices give exact fractions; a model that shares matrices over three devices holds thirds."""
    found = per_block(gpt_block(), convention="korthikanti", tensor=3, context=2)
    assert (found - S * B * H * 9 - PAIRS / 6).expand() == 0


def test_what_is_kept_outside_the_blocks() -> None:
    """Section 4.3: s*b*h*p/t for the masks of the embedding's dropout on the first stage; 4*s*b*h/t*(1 + v/h) for p = 1 only.

    Megatron-LM's ``theoretical_memory_usage.py`` multiplies the masks by the factor of interleaved stages, too. The loss keeps a mask and
    the targets beside the paper's 4*s*b*v/t: 9 bytes for each position.
    """
    model = ps.models.Gpt2(architecture="GPT2LMHeadModel", activation_function="gelu")
    sbh = S * B * H
    for how, wanted in (
        ({}, 5 * sbh / T + 4 * S * B * V / T + 9 * S * B),
        ({"pipeline": P}, sbh * P / T),
        ({"pipeline": P, "interleaved": M}, sbh * P / T * (1 + (P - 1) / (P * M))),
    ):
        found = ps.activations(model, convention="korthikanti", tensor=T, sequence=True, loss=True, **how).total
        assert (found.expand().coeff(L, 0) - wanted).expand() == 0


@pytest.mark.parametrize("kept", ["torch-eager", "korthikanti"])
def test_a_pipeline_of_any_model(kept: str) -> None:
    """The first of two stages has two inputs in progress: what is before the blocks counts twice, what is after them not at all."""
    body = [ps.Tanh(), ps.Dense(H, H, bias=False)]
    model = ps.Sequential(ps.Tanh(), ps.Dropout(0.1), ps.Repeat(ps.Sequential(*body), L), ps.Tanh(), ps.Dense(H, F))
    one, two = (ps.activations(model, (B, H), convention=kept, pipeline=p, input_gradients=True) for p in (1, 2))
    width = 4 if kept == "torch-eager" else 2
    # Before: the result of the first tanh and the mask. After: the result of the last tanh, which the head takes.
    assert (two.total - one.total - B * H * (width + 1) + B * H * width).expand() == 0
    whole, stage = (ps.activations(ps.Sequential(*body), (B, H), pipeline=p) for p in (1, 2))
    assert whole.ledger == stage.ledger


def test_megatron_with_any_inner_width() -> None:
    """Megatron-LM, ``theoretical_memory_usage.py``: s*b*h*(18 + 4*f/h) for a block, shared over t devices, with selective recomputation."""
    network = ps.Sequential(ps.LayerNorm(H), ps.Dense(H, F), ps.GELU(), ps.Dense(F, H), ps.Dropout(0.1))
    attention = ps.Sequential(ps.LayerNorm(H), ps.MultiHeadAttention(H, A, dropout=0.1, batch_first=True), ps.Dropout(0.1))
    block = ps.Sequential(ps.Residual(attention), ps.Residual(network))
    how: dict[str, Any] = {"convention": "korthikanti", "recompute": "selective", "tensor": T, "sequence": True}
    assert (per_block(block, **how) - S * B * H * (18 + 4 * F / H) / T).expand() == 0


@pytest.mark.parametrize(
    ("convention", "wanted"),
    [
        ("torch-eager", 40 * S * B * H + 16 * S * B * F + 4 * A * S**2 * B + 8 * S * B),
        ("torch-sdpa", 32 * S * B * H + 16 * S * B * F + 8 * S * B * G * H / A + 4 * A * S * B + 8 * S * B),
    ],
)
def test_llama_block(convention: str, wanted: ps.Expr) -> None:
    """What was measured for a block in float32, eager and with fused attention."""
    assert (ps.activations(Llama(), convention=convention).total.expand().coeff(L) - wanted).expand() == 0


@pytest.mark.parametrize(
    "model", [ps.models.Deepseek(), ps.models.T5(architecture="T5EncoderModel"), ps.models.Bert(attention_probs_dropout_prob=0.1)]
)
def test_what_only_a_gpu_fuses(model: ps.Layer) -> None:
    """Values narrower than keys, a bias with a gradient, dropout: torch's memory-efficient kernel takes them, the kernel for CPUs does not.

    ``check_head_dim_size_mem_efficient`` requires one width of queries and keys, ``check_head_dim_size_cpp`` also of values. So the scores
    (A, S, S) of each block are kept on a CPU. The bias of T5 has as many entries, once for all blocks.
    """
    quadratic = {
        name: ps.activations(model, convention=name).total.expand().coeff(S, 2).coeff(B, 1) for name in ("torch-sdpa", "torch-sdpa-cpu")
    }
    assert quadratic["torch-sdpa"] == 0
    assert "logsumexp" in str(ps.activations(ps.MultiHeadAttention(8, 2, batch_first=True), (2, 3, 8), convention="torch-sdpa").table())
    assert quadratic["torch-sdpa-cpu"] != 0


def test_letters_and_numbers_agree_on_the_widths_of_heads() -> None:
    """A formula in letters assumes that a head's keys and values have different widths, as in DeepSeek-V2-Lite (192 and 128)."""
    model = ps.load("deepseek-ai/DeepSeek-V2-Lite")
    letters, sizes = model.origin
    for name in ("torch-sdpa", "torch-sdpa-cpu"):
        formula = ps.activations(letters, convention=name).total
        assert formula.subs({**sizes, B: 8, S: 96}) == ps.activations(model, (8, 96), convention=name).total


def test_a_window_longer_than_the_text_needs_no_mask() -> None:
    """GPT-Neo's window of 256: a formula in letters counts the mask that a longer text needs; a shorter text is counted without a mask."""
    subject = ps.activations(ps.models.GptNeo(), convention="torch-sdpa")
    sizes = {"A": 6, "B": 6, "H": 48, "L": 3, "P": 512, "V": 6}
    for length in (3, 300):
        assert (
            ps.evaluate(subject, {**sizes, "S": length})
            == ps.activations(
                ps.models.GptNeo().at(**{name: size for name, size in sizes.items() if name != "B"}), (6, length), convention="torch-sdpa"
            ).total
        )


def test_heads_cancel_from_the_cache_and_not_from_the_scores() -> None:
    """With as many key/value heads as heads A is in the scores that training keeps, and not in the cache nor in the work."""
    llama = Llama(num_key_value_heads=None)
    assert ps.flops(llama).total.diff(A) == 0
    assert ps.kv_cache(llama).total.diff(A) == 0
    assert ps.activations(llama).total.coeff(A, 1).equals(4 * B * L * S**2)


def test_frozen_weights_free_their_inputs() -> None:
    """A product with a frozen weight keeps its input no more; what comes before still needs a gradient."""
    frozen = ps.Sequential(ps.Dense(H, H), ps.Dense(H, F), ps.Dense(F, H)).freeze("2")
    assert ps.activations(frozen, (B, S, H)).total == 4 * B * H * S


@pytest.mark.parametrize("storage", ["stacked", "separate"])
def test_experts(storage: str) -> None:
    """A loop over the experts keeps a row: itself, gate, activation, up, their product, the output, its weighted form, and two indices.

    Measured on transformers' MixtralExperts (``facts/costs/hf_saved``, all rows of mixtral are equal): 4*(3*H + 4*F + 1) + 16 bytes.
    """
    experts = ps.MixtureOfExperts(H, F, E, K, storage=storage)
    total = ps.activations(experts, (B, S, H), input_gradients=True).total
    router = 4 * E + 8 * K + 4 * K + 4  # the scores, the indices of the best, their scores, the sum of these
    assert (total - B * S * K * (4 * (3 * H + 4 * F + 1) + 16) - B * S * router).expand() == 0


def test_refusals() -> None:
    """A convention, a format and experts that nothing is stated about."""
    with pytest.raises(ArgumentError, match="wanted one of torch-eager"):
        ps.activations(Llama(), convention="apple")
    with pytest.raises(ArgumentError, match="wanted one of none"):
        ps.activations(Llama(), recompute="some")
    with pytest.raises(ArgumentError, match="wanted one of float64"):
        ps.activations(Llama(), dtype="float31")
    with pytest.raises(ArgumentError, match="None for elements"):
        ps.kv_cache(Llama(), dtype="float31")


def test_asking_twice() -> None:
    """A second call does not change the cached arrays of a program: the mask of a biased attention counts once."""
    model = ps.models.T5(architecture="T5ForConditionalGeneration")
    assert ps.activations(model, convention="torch-sdpa").total == ps.activations(model, convention="torch-sdpa").total


def test_attention_in_steps_with_copies() -> None:
    """In 16 bits, without a fused kernel, torch's function computes in float32: 40sbh + 9as^2b + 8sb, as measured for a block of GPT-2."""
    attention = ps.Sequential(ps.LayerNorm(H), ps.MultiHeadAttention(H, A, dropout=0.1, batch_first=True), ps.Dropout(0.1))
    network = ps.Sequential(ps.LayerNorm(H), ps.Dense(H, 4 * H), ps.GELU(), ps.Dense(4 * H, H), ps.Dropout(0.1))
    block = ps.Sequential(ps.Residual(attention), ps.Residual(network))
    wanted = 40 * S * B * H + 9 * A * S**2 * B + 8 * S * B
    assert (per_block(block, convention="torch-sdpa-native", dtype="bfloat16") - wanted).expand() == 0


BLOCKS = (
    ps.Sequential(ps.LayerNorm(8, elementwise_affine=False), ps.Dense(8, 8)),
    ps.Sequential(ps.ReLU(), ps.Dense(8, 8)),
    ps.Sequential(ps.Dense(8, 8), ps.Softmax(-1)),
    ps.Residual(ps.Sequential(ps.RMSNorm(8), ps.Dense(8, 12), ps.ReLU(), ps.Dense(12, 8))),
    ps.TransformerEncoderLayer(8, 2, 16, batch_first=True),
    ps.Sequential(ps.Dense(8, 8)).freeze(),
)


@cases(1000)
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("how", [{}, {"convention": "torch-sdpa-cpu"}, {"input_gradients": True}])
def test_copies_keep_what_separate_blocks_keep(block: ps.Layer, count: int, how: dict[str, Any]) -> None:
    """The input of the first copy may need no gradient, so that it keeps less than the others."""
    copies, separate = ps.Repeat(block, count), ps.Sequential(*([block] * count))
    assert ps.activations(copies, (B, S, 8), **how).total == ps.activations(separate, (B, S, 8), **how).total
    assert ps.activations(ps.Repeat(block, L), (B, S, 8), **how).at(L=count).total == ps.activations(copies, (B, S, 8), **how).total


def test_the_first_norm_has_no_gradient() -> None:
    """Torch keeps neither the first norm's input nor its statistics: 32 bytes a position for Dense there, 32 + 32 + 8 in every other copy.

    As ``saved_tensors_hooks`` shows it: 1,760 bytes for three copies and ten positions.
    """
    assert ps.activations(ps.Repeat(BLOCKS[0], L), (B, S, 8)).total == ((32 + 72 * (L - 1)) * B * S).expand()
