"""What runs cost: bytes moved and what limits a device, whole training runs, and what devices send each other."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from sympy import Rational

import paramsym as ps
from paramsym import A, B, F, G, H, L, S, T
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.measure.machines import MACHINES

N = ps.dims("n")
BLOCK = ps.Repeat(ps.TransformerEncoderLayer(H, A, F, batch_first=True), L)
LLAMA = ps.models.Llama(architecture="LlamaForCausalLM")


# Bytes moved ------------------------------------------------------------------------------------------------------------------


def test_intensity_of_a_product() -> None:
    """Scaling book, part 1: a product of (B, D) and (D, F) in 16 bits has 2BDF FLOPs for 2BD + 2DF + 2BF bytes."""
    product = ps.intensity(ps.Dense(H, F, bias=False), (B, H))
    assert product.flops.total == 2 * B * F * H
    assert product.bytes.total == 2 * B * H + 2 * H * F + 2 * B * F
    assert (product.ratio - B * F * H / (B * F + B * H + F * H)).cancel() == 0
    assert (product.total, product.unit) == (product.ratio, "FLOPs per byte")
    assert product.table().footer == ("total", product.flops.total, product.bytes.total, product.ratio)


def test_intensity_of_attention() -> None:
    """Scaling book, part 4, question 4: TG/(G + 1) in its letters for a prefill of grouped attention, scores never in memory."""
    one = ps.intensity(LLAMA)
    part = "model.layers.{0..L-1}.self_attn"
    row = next(row for row in one.table().rows if row[0] == part)
    groups = A / G
    assert (row[3] - S * groups / (groups + 1)).cancel() == 0


def test_decoding_is_bound_by_memory() -> None:
    """One text at a time, every weight is read for two FLOPs; a long prefill is bound by arithmetic."""
    model = ps.load("meta-llama/Llama-2-7b-hf")
    step = ps.intensity(model, (B, 1), past=T).at(B=1, T=2048)
    assert Rational(9, 10) < step.ratio < 1
    slow = step.on("h100")
    assert slow.bound == "memory"
    assert slow.seconds == Rational(step.bytes.count, 3350 * 10**9)
    assert str(slow).startswith("LlamaForCausalLM for (1, 1) on h100: memory-bound (")
    fast = ps.intensity(model, (1, 2048)).on(ps.Machine("mine", 10**14, 10**12))
    assert (fast.bound, fast.machine) == ("compute", "mine")
    assert "FLOPs per byte moved" in str(step)
    assert "LlamaForCausalLM for (B, S)" in str(ps.intensity(LLAMA))


def test_traffic_is_a_cost() -> None:
    """Its letters, its formats, its questions."""
    moved = ps.traffic(ps.Dense(H, F), (B, H))
    assert ps.traffic(ps.Dense(H, F), (B, H), dtype="float32").total == 2 * moved.total
    assert ps.explain(moved, F).derivative == 2 * B + 2 * H
    assert moved.at(B=2).total == moved.total.subs(B, 2)


def test_wrong_machines() -> None:
    """Names that are not known, and speeds that are none."""
    with pytest.raises(ArgumentError, match="machine is 'abacus'"):
        ps.intensity(ps.Dense(4, 4), (1, 4)).on("abacus")
    wrong: Any = 1e12
    with pytest.raises(ArgumentError, match="flops is"):
        ps.Machine("mine", wrong, 1)
    with pytest.raises(SizeError, match="has no whole number of FLOPs"):
        ps.intensity(ps.Dense(H, F), (B, H)).on("h100")
    assert ps.Machine("mine", 300, 2).ridge == 150


# Whole runs -------------------------------------------------------------------------------------------------------------------


def test_training_run() -> None:
    """Forward and backward for every token, over devices at a share of their speed; and 6ND beside it."""
    model = ps.load("meta-llama/Llama-2-7b-hf")
    run = ps.training(model, (1, 4096), tokens=2 * 10**12, devices=1024, machine="a100", utilisation="40 %")
    once = ps.flops(model, (1, 4096), way="both").total
    assert run.flops == once / 4096 * 2 * 10**12
    assert run.estimate == 6 * model.count * 2 * 10**12
    assert run.seconds == run.flops / (Rational(2, 5) * 312 * 10**12 * 1024)
    assert run.days * 86_400 == run.seconds
    assert "8.348 days on 1,024 devices" in str(run)
    assert run.table().rows[0] == ("FLOPs per token", once / 4096)
    lettered = ps.training(ps.models.Gpt2(architecture="GPT2LMHeadModel"), tokens=N)
    assert lettered.estimate.coeff(N) == 6 * ps.models.Gpt2().params
    assert "6ND" in str(lettered)
    assert lettered.table().rows[1] == ("tokens", N)


def test_experts_are_trained_where_they_are_used() -> None:
    """6ND of a mixture counts the parameters that a token uses."""
    model = ps.load("mistralai/Mixtral-8x7B-v0.1")
    assert ps.training(model, (1, 4096), tokens=10).estimate == 60 * model.active


def test_a_whole_float_of_tokens_is_what_was_typed() -> None:
    """300e9 is what people write; no float equals 1e23, so its digits count."""
    run = ps.training(LLAMA, tokens=300e9)
    assert run.flops == ps.training(LLAMA, tokens=300 * 10**9).flops
    assert ps.training(LLAMA, tokens=1e23).tokens == 10**23
    for wrong in (1.5, float("inf"), float("nan"), -2e9):
        with pytest.raises(SizeError, match="tokens"):
            ps.training(LLAMA, tokens=wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"utilisation": 0.4}, "utilisation is 0.4"),
        ({"utilisation": "140 %"}, "utilisation is 7/5"),
        ({"utilisation": "4e1 %"}, "utilisation is '4e1 %'"),
        ({"utilisation": True}, "utilisation is True"),
        ({"devices": 0}, "devices is 0"),
        ({"machine": "abacus"}, "machine is 'abacus'"),
        ({"convention": "guess"}, "convention is 'guess'"),
    ],
)
def test_wrong_runs(options: dict[str, Any], message: str) -> None:
    """No floats, no shares above one, no unknown names."""
    with pytest.raises(ArgumentError, match=message):
        ps.training(LLAMA, tokens=10, **options)


def test_shares_are_exact() -> None:
    """Per cents and fractions of every kind."""
    found = {ps.training(LLAMA, tokens=10, utilisation=share).speed for share in ("50%", "50.0 %", Fraction(1, 2), Rational(1, 2))}
    assert found == {Rational(989 * 10**12, 2)}


def test_images_have_no_tokens() -> None:
    """A share of a token, or a count by parameters, of a model that has none."""
    with pytest.raises(ArgumentError, match="has no tokens to count by"):
        ps.flops(ps.Conv2d(3, 4, 3), (1, 3, 8, 8), per="token")
    with pytest.raises(ArgumentError, match="has no tokens to count by"):
        ps.flops(ps.Conv2d(3, 4, 3), (1, 3, 8, 8), convention="palm")
    assert ps.flops(ps.Conv2d(3, 4, 3), (5, 3, 8, 8), per="sequence").total == ps.flops(ps.Conv2d(3, 4, 3), (1, 3, 8, 8)).total


# Between devices --------------------------------------------------------------------------------------------------------------


def test_what_data_sharing_sends() -> None:
    """ZeRO, section 7: an all-reduce sends 2 of what there is, as stages 1 and 2 do; stage 3 sends 3."""
    weights = LLAMA.params
    for sharing, times in (("data", 2), ("zero-1", 2), ("zero-2", 2), ("zero-3", 3), ("fsdp", 3)):
        sent = ps.communication(LLAMA, sharing=sharing, devices=N).total
        assert (sent - 2 * times * weights * (1 - 1 / N)).expand() == 0
    for stage in ("zero-1", "zero-2"):  # their reduction is a scattering, and the updated weights are gathered
        assert "gradients scattered, weights gathered" in str(ps.communication(LLAMA, sharing=stage, devices=N))
    frozen = ps.Sequential(ps.Dense(4, 4), ps.Dense(4, 4)).freeze("0")
    assert ps.communication(frozen, (1, 4), devices=2, dtype="float32").total == 4 * 2 * 20 // 2
    assert ps.communication(frozen, (1, 4), sharing="fsdp", devices=2, dtype="float32").total == 4 * (3 + 2) * 20 // 2


def test_what_tensor_sharing_sends() -> None:
    """Narayanan et al. 2021, section 3.2: 8bsh(t - 1)/t per layer and device; gathering and scattering the sequence is as much."""
    for sharing in ("tensor", "sequence"):
        sent = ps.communication(BLOCK, (B, S, H), sharing=sharing, devices=N)
        assert (sent.total - 2 * L * 8 * B * S * H * (N - 1) / N).expand() == 0
    assert ps.explain(sent, "L").derivative == (sent.total / L).expand()


def test_what_stages_and_rings_send() -> None:
    """A pipeline sends 2bsh over a boundary, section 3.2 again; a ring of attention keys and values, and these with their gradients."""
    assert ps.communication(BLOCK, (B, S, H), sharing="pipeline", devices=N).total == 2 * 2 * B * S * H
    ring = ps.communication(LLAMA, sharing="context", devices=N).total
    cache = ps.kv_cache(LLAMA).total
    assert (ring - 2 * 3 * cache * (1 - 1 / N)).expand() == 0


def test_devices_are_a_size() -> None:
    """A letter, put in afterwards; no words, no fractions."""
    sent = ps.communication(LLAMA, sharing="tensor", devices=N)
    assert sent.at(n=8).total == ps.communication(LLAMA, sharing="tensor", devices=8).total
    assert ps.communication(LLAMA, sharing="tensor", devices=1).total == 0
    with pytest.raises(SizeError):
        ps.communication(LLAMA, devices=0)
    with pytest.raises(ArgumentError, match="sharing is 'fair'"):
        ps.communication(LLAMA, sharing="fair", devices=2)
    with pytest.raises(UnknownNameError):
        sent.at(m=2)
    assert "sharings" in str(ps.conventions("sharings"))
    assert "h100" in ps.conventions("machines").names


def test_machines_of_the_data_sheets() -> None:
    """NVIDIA's data sheets: A100 80 GB SXM 312 TFLOPS and 2,039 GB/s, H100 SXM 989 and 3.35 TB/s, H200 SXM 989, 4.8 TB/s and 141 GB."""
    found = {name: MACHINES[name] for name in ("a100", "h100", "h200")}
    assert {name: (one.flops // 10**12, one.bandwidth // 10**6, one.memory // 10**9) for name, one in found.items()} == {
        "a100": (312, 2_039_000, 80),
        "h100": (989, 3_350_000, 80),
        "h200": (989, 4_800_000, 141),
    }
