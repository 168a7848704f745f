"""Memory of training and of inference against the published accounts of bytes per parameter."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases
from sympy import Max, Rational

import paramsym as ps
from paramsym import A, B, F, G, H, L, S, V, dims
from paramsym.errors import ArgumentError, NotYetError, SizeError
from paramsym.measure.formats import BYTES, FORMATS, Weights
from paramsym.measure.peak import widest

DENSE = ps.Dense(H, H)


def states(**how: Any) -> ps.Expr:
    """Return the bytes that training holds for a linear layer beside its activations, of which it has none."""
    return ps.memory(DENSE, (B, S, H), **how).total


@pytest.mark.parametrize(
    ("how", "per_parameter"),
    [
        ({"dtype": "float16", "optimizer": "adam"}, 16),  # Rajbhandari et al. 2020 (ZeRO), section 3.1: 2 + 2 + 12
        ({"optimizer": "adamw"}, 16),  # float32 throughout: 4 + 4 + 8
        ({"optimizer": "momentum"}, 12),
        ({"optimizer": "sgd"}, 8),
        ({"dtype": "bfloat16", "optimizer": "adamw", "master": False}, 12),
        ({"dtype": "bfloat16", "optimizer": "adam-8bit", "master": False}, 6 + Rational(1, 32)),  # two scales of 4 bytes for 256 numbers
        ({"dtype": "bfloat16", "master": False, "optimizer": "momentum"}, 8),
    ],
)
def test_bytes_per_parameter(how: dict[str, Any], per_parameter: int) -> None:
    """Weights, gradients, states of the optimizer and the copy in float32."""
    assert (states(**how) - per_parameter * DENSE.params).expand() == 0


def of(kind: str, layer: ps.Layer, *shapes: Any, **how: Any) -> ps.Expr:
    """Return the bytes of one kind."""
    cost = ps.memory(layer, *shapes, **how)
    return cost.ledger.where(lambda line: line.path[0] == kind).used


def test_frozen_parameters_have_no_gradient() -> None:
    """LoRA and frozen parts: only what is trained has gradients and states."""
    frozen = ps.Sequential(DENSE, ps.Dense(H, 1)).freeze("0")
    assert ps.memory(frozen, (B, S, H)).total.coeff(H, 2) == 4


def test_experts_are_all_stored() -> None:
    """A token uses some experts, and the memory holds all of them."""
    experts = ps.MixtureOfExperts(8, 16, 4, 2)
    assert of("weights", experts, (1, 3, 8), use="inference") == 4 * experts.count


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, "120.0"), (1, "31.4"), (2, "16.6"), (3, "1.9")])
def test_zero(stage: int, gigabytes: str) -> None:
    """Rajbhandari et al. 2020, figure 1: 7.5 billion parameters on 64 devices, mixed precision with Adam."""
    model = ps.Dense(75_000, 100_000, bias=False)
    held = ps.memory(model, (1, 75_000), dtype="float16", optimizer="adam", zero=stage, devices=64).total
    assert f"{float(held) / 10**9:.1f}" == gigabytes
    n = dims("n")
    states = ps.memory(DENSE, (B, S, H), dtype="float16", optimizer="adam", zero=stage, devices=n).total
    wanted = {0: 16, 1: 4 + 12 / n, 2: 2 + 14 / n, 3: 16 / n}[stage]
    assert (states - wanted * DENSE.params).expand() == 0


def test_optimizers_by_tensor() -> None:
    """Adafactor keeps sums of rows and columns, Muon one average of the blocks' matrices and two of everything else."""
    assert of("optimizer", ps.Dense(H, F), (B, H), optimizer="adafactor") == 4 * (H + F) + 4 * F
    stack = ps.Sequential(ps.Embedding(V, H), L * ps.Dense(H, H), ps.Dense(H, V, bias=False))
    assert (of("optimizer", stack, (B, S), optimizer="muon") - 4 * (L * H**2 + 2 * (2 * V * H + L * H))).expand() == 0


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("gguf-q4_0", "4.5"),  # ggml: 18 bytes for 32 numbers
        ("gguf-q8_0", "8.5"),  # 34 for 32
        ("gguf-q6_k", "6.5625"),  # 210 for 256, as llama.cpp prints it
        ("gguf-q4_k", "4.5"),  # 144 for 256
        ("bnb-nf4", "4.5"),  # Dettmers et al. 2023, section 3: 32/64 = 0.5 bits more
        ("mxfp4", "4.25"),  # gpt-oss' model card: 4.25 bits per parameter
        ("mxfp8", "8.25"),
        ("nvfp4", "4.5"),
        ("awq-g128", "4.15625"),
    ],
)
def test_bits(name: str, bits: str) -> None:
    """As many bits per number as the formats' authors say."""
    assert 8 * FORMATS[name].number == Rational(bits)


def test_double_quantisation() -> None:
    """Dettmers et al. 2023, section 3: 8/64 + 32/(64*256) = 0.127 bits per parameter."""
    extra = 8 * FORMATS["bnb-nf4-double"].number - 4
    assert extra == Rational(8, 64) + Rational(32, 64 * 256)
    assert f"{float(extra):.3f}" == "0.127"


def test_formats_of_a_model() -> None:
    """Formats store the matrices that they are for, and their scales; the rest stays as it is computed with."""
    llama = ps.models.Llama(architecture="LlamaForCausalLM", num_key_value_heads=None)
    matrices, vectors = L * (4 * H**2 + 3 * F * H), (2 * L + 1) * H
    held = of("weights", llama, use="inference", dtype="float16", weights="bnb-nf4")
    assert (held - Rational(9, 16) * matrices - 2 * vectors - 4 * V * H).expand() == 0
    held = of("weights", llama, use="inference", dtype="float16", weights="gguf-q8_0")
    assert (held - Rational(34, 32) * (matrices + 2 * V * H) - 4 * vectors).expand() == 0
    scales = 4 * L * (4 * H + 2 * F + H)
    held = of("weights", llama, use="inference", dtype="float16", weights="bnb-int8")
    assert (held - matrices - scales - 2 * vectors - 4 * V * H).expand() == 0
    held = of("weights", ps.MixtureOfExperts(64, 32, 4, 2), (1, 64), use="inference", dtype="bfloat16", weights="mxfp4")
    assert held == 4 * 3 * 64 * 32 * Rational(17, 32) + 2 * 4 * 64  # the router is in 16 bits


def test_llama_2_7b_in_four_bits() -> None:
    """The published file of 3.83 GB (TheBloke's llama-2-7b.Q4_0.gguf) has an output matrix of 6.5625 bits, and the words."""
    llama = ps.load("meta-llama/Llama-2-7b-hf")
    held = of("weights", llama, (1, 1), use="inference", weights="gguf-q4_0")
    held += 32000 * 4096 * (FORMATS["gguf-q6_k"].number - FORMATS["gguf-q4_0"].number)
    assert f"{float(held) / 10**9:.2f}" == "3.83"


def test_frozen_weights_in_four_bits() -> None:
    """QLoRA: what is frozen is stored in a format, what is trained as it is computed with."""
    tuned = ps.Sequential(L * ps.LoRA(ps.Dense(H, H, bias=False), 8))
    assert (of("weights", tuned, (B, S, H), dtype="bfloat16", weights="bnb-nf4") - L * (Rational(9, 16) * H**2 + 2 * 16 * H)).expand() == 0
    assert (of("gradients", tuned, (B, S, H), dtype="bfloat16", weights="bnb-nf4") - L * 2 * 16 * H).expand() == 0


@pytest.mark.parametrize("use", ["training", "inference"])
def test_the_first_stage_of_a_pipeline(use: Any) -> None:
    """It stores the embedding and its blocks; the final norm and the head are on the last stage, in whatever order they are stored."""
    llama = ps.models.Llama(architecture="LlamaForCausalLM", num_key_value_heads=None)
    first = V * H + L * (4 * H**2 + 3 * F * H + 2 * H) / 4
    assert (of("weights", llama, use=use, dtype="float16", pipeline=4) - 2 * first).expand() == 0
    gpt2 = ps.load("gpt2")  # its head is the table
    assert of("weights", gpt2, (1, 8), use=use, dtype="float16", pipeline=4) == 2 * (50_257 * 768 + 1024 * 768 + 3 * 7_087_872)
    opt = ps.load("facebook/opt-125m")  # stores its final norm before its blocks
    assert of("weights", opt, (1, 8), use=use, dtype="float16", pipeline=4) == 2 * (50_272 * 768 + 2050 * 768 + 3 * 7_087_872)


def test_shared_weights() -> None:
    """Matrices are shared over tensors and stages, vectors over stages alone."""
    t, p = dims("t p")
    stack = ps.Sequential(L * ps.Dense(H, H))
    assert (of("weights", stack, (B, S, H), tensor=t, pipeline=p) - 4 * L * (H**2 / t + H) / p).expand() == 0
    assert of("weights", ps.Dense(8, 8), (1, 8), tensor=4) == 4 * (16 + 8)


@pytest.mark.parametrize("name", ["openai/gpt-oss-20b", "gpt2"])
def test_a_file_in_every_format(name: str) -> None:
    """The sums of a file's tensors give the bytes of all formats, as the ledger of memory has them tensor by tensor."""
    model = ps.load(name).origin[0]
    lines = [line for line in model.lines if not line.alias_of and not line.buffer]
    for form in FORMATS.values():
        ledger = of("weights", model, use="inference", dtype="float16", weights=form.name)
        assert Weights(lines, form.which).in_format(form, BYTES[form.rest or "float16"]).as_expr() == ledger.expand()


def test_the_cache_in_another_format() -> None:
    """A cache may be narrower than the numbers that are computed with."""
    llama = ps.models.Llama()
    assert 4 * of("cache", llama, use="inference", dtype="float32", cache="float8") == of("cache", llama, use="inference", dtype="float32")


def test_recomputed_blocks() -> None:
    """A block that is computed again is held once, beside the inputs of all."""
    stack = ps.Repeat(ps.Residual(ps.Sequential(ps.Dense(H, F), ps.ReLU(), ps.Dense(F, H))), L)
    cost = ps.memory(stack, (B, S, H), recompute="full")
    assert (of("activations", stack, (B, S, H), recompute="full") - 4 * B * S * H * (L - 1)).expand() == 0
    assert of("recomputed block", stack, (B, S, H), recompute="full") == 4 * B * S * F
    assert "full recomputation" in str(cost)


def test_the_widest_moment() -> None:
    """A product holds its input and its result; what nobody takes any more is gone."""
    widths = {"float": 1, "index": 8, "truth": 1, "statistic": 4}
    deep = ps.Sequential(ps.Dense(4, 16, bias=False), ps.Dense(16, 2, bias=False), ps.Dense(2, 4, bias=False))
    assert widest(ps.trace(deep, (1, 4)), widths) == 18  # 16 and 2; the input is the caller's
    wide = ps.Sequential(ps.Dense(H, F, bias=False), ps.Dense(F, V, bias=False), ps.Dense(V, H, bias=False))
    assert set(widest(ps.trace(wide, (B, H)), widths).args) == {B * F + B * V, B * V + B * H}
    assert widest(ps.trace(ps.Flatten(), (1, 4)), widths) == 0
    for view in (ps.Identity(), ps.Flatten(), ps.Dropout(0.5), ps.Sequential(ps.Identity())):  # without gradients, none of them copies
        assert widest(ps.trace(ps.Sequential(ps.Dense(4, 16, bias=False), view), (1, 4)), widths) == 16, view


@cases(0)
def test_no_copies() -> None:
    """With zero layers, the bytes of blocks are not counted, neither for numbers nor for columns; exported code refuses."""
    block = ps.Sequential(ps.Dense(F, V, bias=False), ps.GELU(), ps.Dense(V, F, bias=False))
    deep = ps.Sequential(ps.Dense(H, F, bias=False), ps.Repeat(block, L))
    here, weights = {"H": 2, "F": 3, "V": 100, "B": 5}, 4 * 2 * 3
    inference = ps.memory(deep, (B, H), use="inference")
    assert ps.evaluate(inference, here, L=0) == inference.at(here, L=0).count == weights + 4 * 5 * 3
    for recompute in ("none", "full"):
        training = ps.memory(deep, (B, H), recompute=recompute)  # type: ignore[arg-type]
        assert ps.evaluate(training, here, L=0) == 4 * weights, recompute  # weights, gradients, two states; the input is the caller's
    llama = ps.activations(ps.models.Llama())  # the blocks keep its cosines and sines, once for all of them
    sizes = {"V": 10, "H": 8, "A": 2, "G": 1, "F": 16, "B": 1, "S": 4}
    assert ps.evaluate(llama, sizes, L=0) == ps.activations(ps.models.Llama(10, 8, 0, 2, 1, 16), (1, 4)).count
    swin = ps.load("microsoft/swin-tiny-patch4-window7-224")
    moved = ps.traffic(swin.origin[0])
    sizes = {symbol.name: 2 for symbol in moved.symbols} | {symbol.name: size for symbol, size in swin.sizes.items()} | {"L_1": 0}
    assert ps.evaluate(moved, sizes) == moved.at(sizes).count
    with pytest.raises(ValueError, match=r"^this formula does not hold where L is 0\.$"):
        exec(f"{ps.export(inference)}\ncost(5, 3, 2, 0, 100)", {})  # noqa: S102 - the test is that the source refuses


def repeated(block: Any, copies: int) -> tuple[ps.Expr, ps.Expr]:
    """Return the widest moment of blocks written out, and of a repeated block whose number of copies is a letter at first."""
    index, n = dims("i n")
    shape, letters = (2, 4, 6, 6), ps.Repeat(block(index), n, index=index, start=1)
    written_out = ps.Sequential(*(block(number) for number in range(1, copies + 1)))
    cost = ps.memory(letters, shape, use="inference")
    assert cost.polynomial.free_symbols <= cost.symbols == {n}
    return of("widest moment", written_out, shape, use="inference"), cost.ledger.where(
        lambda line: line.path[0] == "widest moment"
    ).used.subs(n, copies)


def convolutions(seen: Any, wide: Any, gives: Any) -> ps.Layer:
    """Return two convolutions, one after the other."""
    return ps.Sequential(ps.Conv2d(seen, wide, 1), ps.ReLU(), ps.Conv2d(wide, gives, 3, padding=1))


@pytest.mark.parametrize("copies", [2, 3, 7])
def test_the_widest_of_numbered_copies(copies: int) -> None:
    """Copies are as wide as the same blocks written out: equal, growing, shrinking, joined, or first shrinking and then growing."""
    for block in (
        lambda _: convolutions(4, 9, 4),
        lambda number: convolutions(4, 5 * number, 4),
        lambda number: convolutions(4, 2 * (9 - number), 4),
        lambda number: ps.SkipConnection(convolutions(4 + 3 * (number - 1), 12, 3)),
        lambda number: convolutions(4, (number - 4) ** 2 + 1, 4),
    ):
        one, other = repeated(block, copies)
        assert one == other


def test_a_widest_copy_in_between_is_not_guessed() -> None:
    """If the number of copies is a letter, only the first copy and the last copy can be compared."""
    with pytest.raises(SizeError, match=r"may be largest between the first and the last"):
        repeated(lambda number: convolutions(4, number * (10 - number), 4), 9)


@pytest.mark.parametrize("convention", ["torch-eager", "torch-sdpa"])
def test_memory_of_inference_has_the_letters_of_the_model(convention: str) -> None:
    """A closed form contains no index of copies, because source code could not compute it."""
    cost = ps.memory(ps.models.DenseNet(), use="inference", convention=convention)
    assert cost.polynomial.free_symbols <= cost.symbols
    assert "i" not in ps.export(cost).arguments


def test_attention_holds_its_scores_unless_it_is_fused() -> None:
    """The scores and their softmax for every head and pair, or none of them."""
    attention = ps.MultiHeadAttention(64, 4, batch_first=True)
    held = {name: of("widest moment", attention, (1, 1000, 64), use="inference", convention=name) for name in ("torch-eager", "torch-sdpa")}
    assert held["torch-eager"] >= 2 * 4 * 4 * 1000**2
    assert held["torch-sdpa"] < 4 * 4 * 1000**2


def test_another_size() -> None:
    """Sizes go into everything that was chosen."""
    llama = ps.models.Llama()
    cost = ps.memory(llama, optimizer="muon", recompute="full", tensor=2, sequence=True, zero=1, devices=4)
    sizes = {"B": 1, "S": 32, "H": 64, "A": 4, "G": 2, "F": 128, "L": 3, "V": 100}
    assert cost.at(sizes).total == cost.total.subs({B: 1, S: 32, H: 64, A: 4, G: 2, F: 128, L: 3, V: 100})
    assert isinstance(ps.memory(llama, use="inference").total.atoms(Max), set)


def test_refusals() -> None:
    """Words that are not known are answered with those that are."""
    refused: tuple[dict[str, Any], ...] = (
        *({"use": "sale"}, {"dtype": "float31"}, {"optimizer": "lion"}, {"convention": "apple"}),
        *({"weights": "q4"}, {"cache": "q4"}, {"recompute": "some"}),
    )
    for wrong in refused:
        with pytest.raises(ArgumentError, match="wanted one of"):
            ps.memory(DENSE, (B, S, H), **wrong)
    with pytest.raises(ArgumentError, match=r"zero is \{1: 2\}; wanted a stage: 0"):
        ps.memory(ps.Dense(2, 3), (1, 2), zero={1: 2})  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="zero is 4"):
        ps.memory(DENSE, (B, S, H), zero=4)
    with pytest.raises(SizeError):
        ps.memory(DENSE, (B, S, H), devices=0)
    with pytest.raises(SizeError):
        ps.activations(DENSE, (B, S, H), tensor=0)
    with pytest.raises(ArgumentError, match="give pipeline as well"):
        ps.activations(DENSE, (B, S, H), interleaved=2)
    with pytest.raises(NotYetError, match="tensor sharing"):
        ps.activations(ps.Sequential(ps.Dense(H, H), ps.Residual(ps.Dense(H, H))), (B, S, H), tensor=2)


@pytest.mark.parametrize(
    ("name", "bytes_of", "numbers"),
    [
        ("gguf-q4_0", 2 + 16, 32),
        ("gguf-q4_1", 2 + 2 + 16, 32),
        ("gguf-q5_0", 2 + 4 + 16, 32),
        ("gguf-q5_1", 2 + 2 + 4 + 16, 32),
        ("gguf-q8_0", 2 + 32, 32),
        ("gguf-q2_k", 2 + 2 + 16 + 64, 256),
        ("gguf-q3_k", 2 + 12 + 32 + 64, 256),
        ("gguf-q4_k", 2 + 2 + 12 + 128, 256),
        ("gguf-q5_k", 2 + 2 + 12 + 32 + 128, 256),
        ("gguf-q6_k", 2 + 16 + 64 + 128, 256),
        ("mxfp4", 1 + 16, 32),  # ggml's block_mxfp4: an exponent of 8 bits
        ("nvfp4", 4 + 32, 64),  # and its block_nvfp4: four scales
    ],
)
def test_blocks_of_ggml(name: str, bytes_of: int, numbers: int) -> None:
    """The fields of the structures in llama.cpp's ggml-common.h: scales, minima, scales of sub-blocks, bits of the numbers."""
    assert FORMATS[name].number == Rational(bytes_of, numbers)


def test_gpt_oss_in_four_bits() -> None:
    """The file of openai/gpt-oss-20b: ``total_size`` in its model.safetensors.index.json. The biases of experts have 16 bits."""
    held = of("weights", ps.load("openai/gpt-oss-20b"), (1, 1), use="inference", dtype="bfloat16", weights="mxfp4")
    assert held == 13_761_264_768


def test_buffers_of_gptq() -> None:
    """Shapes of the buffers of AutoGPTQ's QuantLinear with 4 bits and groups of 128, for one of Llama-2-7B's matrices."""
    rows, columns, group = 4096, 11008, 128  # inputs and outputs
    qweight, qzeros = 4 * (rows // 32 * 4) * columns, 4 * (rows // group) * (columns // 32 * 4)
    scales, g_idx = 2 * (rows // group) * columns, 4 * rows
    matrix = ps.Repeat(ps.Dense(rows, columns, bias=False), 1)
    assert of("weights", matrix, (1, rows), use="inference", weights="gptq-g128") == qweight + qzeros + scales + g_idx


def test_eight_bits_of_adam() -> None:
    """From 4096 entries on, an average is a byte and a 256th of a float32; below, it is a float32 (bitsandbytes, optim/optimizer.py)."""
    for width, each in ((64, 1 + Rational(4, 256)), (63, 4)):
        found = ps.memory(ps.Dense(width, width, bias=False), (1, width), optimizer="adam-8bit")
        (optimizer,) = [row[1] for row in found.table(1).rows if row[0] == "optimizer"]
        assert optimizer == 2 * each * width**2
    mean = ps.memory(ps.Repeat(ps.Dense(64, 64, bias=False), 3), (1, 64), use="inference", weights="bnb-nf4-double").ledger
    weights = sum(line.polynomial().as_expr() for line in mean if line.path[0] == "weights")
    assert weights == 3 * (64**2 // 2 + 64 + Rational(64, 256) * 4 + 4)  # 4 bits, a byte for 64, a float32 for 256 of these, and their mean


@pytest.mark.parametrize(("devices", "heads"), [(2, 4), (4, 2), (8, 1), (16, 1), (3, 3)])
def test_the_cache_of_one_device(devices: int, heads: int) -> None:
    """VLLM's ``get_num_kv_heads``: ``max(1, heads // devices)``; the busiest one's share if that does not divide them."""
    llama = ps.load("meta-llama/Llama-2-70b-hf")
    held = of("cache", llama, (1, 4096), use="inference", dtype="float16", tensor=devices)
    assert held == 2 * 2 * 80 * 4096 * heads * 128
    letters = of("cache", ps.models.Llama(), use="inference", dtype="float16", tensor=devices)
    assert letters.subs({B: 1, S: 4096, L: 80, H: 8192, A: 64, G: 8}) == held


def test_caches_without_heads() -> None:
    """DeepSeek's latent vectors and Mamba's states are on every device; a pipeline has the blocks of its stage."""
    for model in (ps.models.Deepseek(), ps.load("state-spaces/mamba-130m-hf"), ps.models.Falcon().at("tiiuae/falcon-7b")):
        assert of("cache", model, use="inference", tensor=8) == of("cache", model, use="inference")
    gpt = ps.load("gpt2")
    assert of("cache", gpt, use="inference", pipeline=4, context=2) * 8 == of("cache", gpt, use="inference")
    assert "heads of the cache over 8 devices" in str(ps.memory(gpt, (1, 8), use="inference", tensor=8))


@pytest.mark.parametrize("question", [ps.memory, ps.traffic, ps.communication])
def test_a_letter_for_the_bytes_of_a_number(question: Any) -> None:
    """The letter is any width: 2 put in for it is bfloat16, 4 is float32; a master copy in float32 is asked for then."""
    p, gpt = dims("p"), ps.models.Gpt2(architecture="GPT2LMHeadModel")
    more: dict[str, Any] = {"devices": 4} if question is ps.communication else {"use": "inference"} if question is ps.memory else {}
    form = question(gpt, dtype=p, **more)
    assert p in form.symbols
    for width, name in ((2, "bfloat16"), (4, "float32")):
        assert form.at(p=width).total == question(gpt, dtype=name, **more).total
    with pytest.raises(ArgumentError, match="or a letter for the bytes of a number"):
        question(gpt, dtype="float31", **more)


def test_a_letter_in_training() -> None:
    """Rajbhandari et al. 2020 in letters: p bytes for the weight, g for its gradient, 8 for Adam's states, 4 for the copy in float32."""
    p, g = dims("p g")
    assert (states(dtype=p, gradients=g, master=True) - (p + g + 12) * DENSE.params).expand() == 0
    assert (states(dtype=p) - (2 * p + 8) * DENSE.params).expand() == 0
    assert (of("weights", DENSE, (B, H), use="inference", weights=g) - g * DENSE.params).expand() == 0
