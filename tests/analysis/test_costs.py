"""Every question about a count can be asked of a cost; answers are held against formulas that papers print."""

from __future__ import annotations

from typing import Any

import pytest
from amount import cases
from sympy import Eq, Rational

import paramsym as ps
from paramsym import A, B, F, H, L, S, V
from paramsym.errors import ArgumentError, SizeError, UnknownNameError
from paramsym.measure.cost import Cost

MULTI_HEAD = ps.models.Llama(architecture="LlamaForCausalLM", num_key_value_heads=None)
NAME = "meta-llama/Llama-2-7b-hf"


def sized() -> Cost:
    """The FLOPs of Llama 2 for one text."""
    return ps.flops(ps.load(NAME), (1, 2048))


def test_a_sized_model_remembers_the_formula_of_its_cost() -> None:
    """Inputs in numbers are written in the letters of the model; sizes can be changed afterwards."""
    cost = sized()
    assert cost.formula == ps.flops(ps.models.Llama(architecture="LlamaForCausalLM")).total
    known = {"V": 32000, "H": 4096, "L": 32, "A": 32, "G": 32, "F": 11008, "B": 1, "S": 2048}
    assert {symbol.name: size for symbol, size in cost.sizes.items()} == known
    assert cost.at(S=1024).total == ps.flops(ps.load(NAME), (1, 1024)).total
    assert cost.at(L=1).at(L=32).total == cost.total == cost.count
    assert cost.at(S=1024).formula == cost.formula
    attention = ps.MultiHeadAttention(H, A, batch_first=True)
    assert ps.flops(attention.at(H=768, A=12), (B, S, 768)).formula == ps.flops(attention, (B, S, H)).total


@pytest.mark.parametrize("wrong", [float("-inf"), 3, [1], {"S"}])
def test_sizes_that_are_no_mapping_are_refused(wrong: Any) -> None:
    """A cost, an intensity and a training answer as a layer does."""
    model = ps.models.Gpt2()
    values: tuple[Any, ...] = (model, ps.flops(model), ps.intensity(model), ps.training(model, tokens=10))
    for value in values:
        with pytest.raises(ArgumentError, match=r"\.at\(\) takes a mapping, the name of a published size, or keyword arguments"):
            value.at(wrong)


def test_relations_and_mappings_are_no_flags_and_no_numbers() -> None:
    """The truth of H = F is unknown, and a mapping is no number of rows."""
    unknown: Any = Eq(H, F)
    network = ps.Sequential(ps.Dense(H, F), ps.Dense(F, H))
    swept = ps.sweep(ps.Dense(H, F), {"H": [1, 2], "F": [2, 3]})
    rows: Any = {"H": 4}
    for ask, message in (
        (lambda: network.table().to_latex(grouped=unknown), "^grouped is Eq"),
        (lambda: network.table().to_latex(long=unknown), "^long is Eq"),
        (lambda: ps.match(network, {"0.weight": [2, 2]}, rename=unknown), "^rename is Equality; wanted a table"),
        (lambda: swept.table(rows), "^rows is {'H': 4}; wanted a whole number"),
        (lambda: swept.table(-1), "^rows is -1"),
    ):
        with pytest.raises(ArgumentError, match=message):
            ask()


def test_what_cannot_be_written_in_letters_stays_in_numbers() -> None:
    """Two sizes of one number, or none at all: the cost is its own formula."""
    cost = ps.flops(ps.Dense(H, F).at(H=8, F=8), (8, 8))
    assert (cost.origin[0].total, cost.sizes) == (cost.total, {})
    assert ps.flops(ps.Dense(4, 4), (B, 4)).formula == 32 * B
    with pytest.raises(SizeError, match="has no whole number of FLOPs: B is a symbol"):
        ps.flops(ps.Dense(4, 4), (B, 4)).count  # noqa: B018 - the question is the test
    with pytest.raises(SizeError, match=r"it is 1/2, or use \.total"):
        ps.activations(ps.Sequential(ps.Dense(1, 1), ps.Dense(1, 1)), (1, 1), dtype="int4").count  # noqa: B018 - likewise


def test_why_heads_cancel_and_where_they_do_not() -> None:
    """The head count cancels from FLOPs and the multi-head cache, and not from the scores that training keeps."""
    flops = ps.explain(ps.flops(MULTI_HEAD), A)
    assert flops.cancels
    assert all(step.holds for step in flops.steps)
    assert flops.verdict == (
        "A (number of attention heads) cancels from the FLOPs of LlamaForCausalLM for (B, S). It enters 6 of 10 operations, "
        "always as A slices of width H/A, and cancels in every sum."
    )
    assert ps.explain(ps.kv_cache(MULTI_HEAD), "A").cancels
    kept = ps.explain(ps.activations(ps.MultiHeadAttention(H, A, batch_first=True), (B, S, H)), A)
    assert kept.derivative == 4 * B * S**2
    assert "changes the bytes of MultiHeadAttention for (B, S, H)" in kept.verdict
    assert "B \\cdot A \\cdot S \\cdot S" in kept.to_latex()
    assert "arrays" in kept.to_html()
    nowhere = ps.explain(ps.flops(MULTI_HEAD), "E")
    assert "does not change the FLOPs of LlamaForCausalLM for (B, S): no operation has it among its sizes." in nowhere.verdict
    by_layers = ps.explain(sized(), L)
    assert by_layers.steps[0].words.endswith("L times, once per layer.")
    assert by_layers.steps[-1].numbers.endswith(f"= {sized().count:,}")
    with pytest.raises(UnknownNameError, match="Llama has no symbol 'Z'"):
        ps.explain(ps.flops(MULTI_HEAD), "Z")
    with pytest.raises(ArgumentError):
        ps.explain(3, A)  # type: ignore[arg-type]


def test_growth_of_a_cost() -> None:
    """One more layer, the leading term, the sequence length from which attention leads."""
    cost = ps.flops(MULTI_HEAD)
    per_layer = ps.sensitivity(cost, L)
    assert per_layer.marginal == cost.total.coeff(L)
    assert "FLOPs" in str(per_layer.table())
    assert str(ps.sensitivity(cost, A)) == "one more head costs nothing: A cancels from the FLOPs of LlamaForCausalLM for (B, S)."
    grown = ps.asymptotics(cost, S)
    assert (grown.leading, grown.order) == (4 * B * H * L * S**2, "O(S)")
    both = ps.compare(cost, ps.flops(MULTI_HEAD, way="backward"))
    assert both.ratio == Rational(1, 2)  # twice as much, as every product has two factors
    block = ps.Repeat(ps.TransformerEncoderLayer(H, A, 4 * H, batch_first=True), L)
    crossing = ps.compare(ps.flops(block, (B, S, H)).total - 4 * B * H * L * S**2, 4 * B * H * L * S**2).crossovers
    assert [one.at for one in crossing if one.symbol == S] == [6 * H]
    costs = ps.compare(ps.flops(ps.Dense(H, F), (B, H)), ps.flops(ps.Dense(H, V), (B, H)), labels=("one", "other"))
    assert "other costs more above it" in str(costs)


def test_values_of_a_cost() -> None:
    """Whole columns, tables, source code; the batch that fits."""
    cost = sized()
    letters = ps.flops(ps.load(NAME))
    assert ps.evaluate(letters, B=1, S=2048) == cost.count
    assert ps.evaluate(letters, B=1, S=1024) == cost.at(S=1024).count
    rows = ps.sweep(letters, {B: [1, 2], S: [1024, 2048]}, parts=True)
    assert rows["FLOPs"] == tuple(letters.at(B=b, S=s).count for b in (1, 2) for s in (1024, 2048))
    assert len(rows) == 4
    needed = ps.memory(ps.load(NAME), dtype="bfloat16", convention="torch-sdpa").at(S=2048)
    found = ps.solve(needed, "150GB", {B: range(1, 64)}, best=1)
    assert found[0][B] == min(range(1, 64), key=lambda b: abs(needed.at(B=b).count - 150 * 10**9))
    assert "bytes" in str(found.table())
    names: dict[str, object] = {}
    exec(ps.export(letters).code, names)  # noqa: S102 - the source that was written here
    assert names["cost"](B=1, S=2048) == cost.count  # type: ignore[operator]
    assert "The number of FLOPs of LlamaForCausalLM for (B, S)." in ps.export(letters, "c").code


def test_which_batch_fits() -> None:
    """The largest one that does not exceed a memory, and all that fit."""
    needed = ps.memory(ps.load(NAME), use="inference", dtype="float16", convention="torch-sdpa").at(S=4096)
    (best,) = ps.solve(needed, "<= 80 GB", {B: range(1, 257)}, best=1)
    assert needed.at(B=best[B]).count <= 80 * 10**9 < needed.at(B=best[B] + 1).count
    fitting = ps.solve(needed, "<= 20 GB", {B: range(1, 257)})
    # 13,476,831,232 bytes of weights; a cache of 2*32*4096*4096*2 bytes and 406,847,488 bytes at the widest moment for each text
    assert [one[B] for one in fitting] == [2, 1]
    assert "2 of 256 combinations give at most 20 GB" in str(fitting)
    assert len(ps.solve(needed, "<= 1 GB", {B: range(1, 257)}, best=1)) == 0
    with pytest.raises(ArgumentError, match="target is '3 GFLOPs', in FLOPs; the count is in bytes"):
        ps.solve(needed, "3 GFLOPs", {B: range(3)})


def test_a_cost_in_every_form_of_latex() -> None:
    """As a layer is written: factored, by part, step by step."""
    cost = ps.flops(MULTI_HEAD)
    assert cost.to_latex("factored").startswith("8 L H^{2} B S \\left(1 + ")
    assert r"\underbrace" in cost.to_latex("annotated")
    assert cost.to_latex(letters="megatron") == "4 l s^{2} b h + 8 l s b h^{2} + 6 l F s b h + 2 V s b h"
    assert sized().to_latex("steps").startswith("\\begin{align*}\n\\text{FLOPs} &= ")
    assert "29{,}261{,}612{,}187{,}648" in sized().to_latex("steps")
    assert "2 V H B S" in ps.latex_document(cost)


def test_conventions_of_a_cost() -> None:
    """Each convention with the term by which it differs; and all that are known, without a subject."""
    block = ps.models.Gpt2(architecture="GPT2LMHeadModel")
    found = ps.conventions(ps.flops(block, way="both"))
    assert found.names[0] == "matmul"
    assert found["megatron"].formula_difference == 24 * B * H**2 * L * S + 4 * B * H * L * S**2  # Narayanan 2021: once more forward
    assert found["kaplan"].formula_difference == -6 * B * H * L * S**2 - 6 * B * H * S * V
    assert "against matmul" in str(found)
    small = ps.conventions(ps.flops(ps.load("gpt2", architecture="GPT2LMHeadModel"), (1, 1024), way="both"))
    assert small["matmul"].params == 874_944_921_600  # nanoGPT, transformer_sizing.ipynb
    names = ps.conventions(ps.activations(block)).names
    assert names[0] == "torch-eager"
    assert {"torch-sdpa", "torch-eager-cpu", "korthikanti"} <= set(names)  # masks of dropout have another size on CPUs
    known = ps.conventions("work")
    assert {"megatron", "kaplan", "chinchilla", "palm", "nanogpt", "scaling-book", "cookbook", "fvcore", "torchvision", "timm"} <= set(
        known.names
    )
    assert all(one.counts and one.source and one.wrong for one in known)
    assert len(ps.conventions()) > len(known)
    assert str(known["torchvision"]).startswith("torchvision (torchvision, the field _ops")
    assert "source" in str(known)
    assert known[:1] == (known[0],)
    with pytest.raises(UnknownNameError, match="there is no convention 'x'"):
        known["x"]
    with pytest.raises(ArgumentError, match="topic is 'speed'"):
        ps.conventions("speed")  # type: ignore[call-overload]


def korthikanti() -> ps.Layer:
    """The layers of Korthikanti et al. 2022, figure 2."""
    attention = ps.Sequential(ps.LayerNorm(H), ps.MultiHeadAttention(H, A, dropout=0.1, batch_first=True), ps.Dropout(0.1))
    network = ps.Sequential(ps.LayerNorm(H), ps.Dense(H, 4 * H), ps.GELU(), ps.Dense(4 * H, H), ps.Dropout(0.1))
    return ps.Sequential(ps.Residual(attention), ps.Residual(network))


def test_published_formulas_of_activations_in_letters() -> None:
    """The formulas of the threads on DeepSpeed, llm-analysis and LOMO against 34sbh + 5as²b."""
    kept = ps.activations(korthikanti(), (B, S, H), convention="korthikanti", input_gradients=True)
    whole = ps.reconcile(kept, "34sbh + 5as²b")
    assert (whole[0].term, whole[0].readings[0].words) == (2 * B * H * S, "with the inputs themselves")  # of one block alone
    assert ps.reconcile(kept, "sbh(34 + 5as/h)")[0].term == 2 * B * H * S
    numbers = ps.reconcile(kept, "(2·s·a + 16h)·s·b")
    assert numbers[0].readings[0].words == "in numbers, not bytes, without masks and statistics, with the inputs themselves"
    stack = ps.activations(ps.Repeat(korthikanti(), L), (B, S, H), convention="korthikanti", input_gradients=True)
    zero = ps.reconcile(stack, "12hbsL")
    assert zero[0].term == 12 * B * H * L * S - stack.total
    assert "of which 5*L*A*B*S**2 is the whole of dropout's mask, softmax and dropout" in str(zero)
    assert str(ps.reconcile(stack, "(34sbh + 5as^2b)*L - 2bsh")) == "(34sbh + 5as^2b)*L - 2bsh is right, letter by letter"
    more = ps.reconcile(stack, "40hbsL + 5as^2bL")
    assert "it has 2*H*B*S*(3*L + 1) more" in str(more)


@cases(0)
def test_published_formulas_of_work_in_letters() -> None:
    """Narayanan's equation is a way to count; what a claim leaves out is named."""
    cost = ps.flops(ps.models.Gpt2(architecture="GPT2LMHeadModel"), way="both")
    equation = ps.reconcile(cost, "96bslh²(1 + s/6h + V/16lh)")
    assert equation[0].term == 24 * B * H**2 * L * S + 4 * B * H * L * S**2
    assert equation[0].readings[0].words.startswith("counted as megatron (")
    forward = ps.reconcile(cost, "24bslh^2 + 4bs^2lh")
    assert forward[0].readings[0].words == "the forward pass alone, the repeated blocks alone"
    with pytest.raises(SizeError, match="has no whole number of FLOPs"):
        ps.reconcile(cost, "3 GFLOPs")
    partly = ps.reconcile(cost.at(H=768, A=12), "6*V*H*B*S + 72*L*H**2*B*S")
    assert partly[0].term == -12 * 768 * B * L * S**2
    with pytest.raises(ArgumentError):
        ps.reconcile(cost, "12qz")


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("4.09 GMACs", "4.09 GMACs, two FLOPs each, is right"),
        ("4.1G mult-adds", "is right"),
        ("8.18 GFLOPs", "8.18 GFLOPs is right"),
        ("4.09 GFLOPs", "counted as multiply-adds"),
        ("4.1G", "counted as multiply-adds"),
        (4_089_184_256, "counted as multiply-adds"),  # torchvision's _ops
    ],
)
def test_claims_about_an_image_network(claim: str | int, words: str) -> None:
    """Torchvision publishes 4.09 GFLOPS for its ResNet-50: multiply-adds."""
    assert words in str(ps.reconcile(ps.flops(ps.load("resnet50"), (1, 3, 224, 224)), claim)[0])


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("2.15 GB", "2.15 GB is right"),
        ("2.00 GB", "right if its unit is a power of 1024"),
        ("2 GiB", "2 GiB is right"),
        ("4.3 GB", "numbers in float32"),
        ("1.07e9 bytes", "numbers in float8"),
        (2_147_483_648 // 2, "keys without values"),
    ],
)
def test_claims_about_a_cache(claim: str | int, words: str) -> None:
    """2 GiB for 4,096 tokens of Llama 2 in 16 bits: half a mebibyte per token."""
    cache = ps.kv_cache(ps.load(NAME), (1, 4096), dtype="float16")
    assert cache.count == 2**31
    assert words in str(ps.reconcile(cache, claim))


def test_units_that_do_not_fit() -> None:
    """Bytes are no FLOPs; multiply-adds are half of them."""
    cache = ps.kv_cache(ps.load(NAME), (1, 4096), dtype="float16")
    with pytest.raises(ArgumentError, match=r"the claim 3 GFLOPs is in FLOPs; the count of .* is in bytes"):
        ps.reconcile(cache, "3 GFLOPs")
    with pytest.raises(ArgumentError, match="shapes of tensors can be compared with a layer, not with the bytes of"):
        ps.reconcile(cache, {"weight": (3, 3)})
    work = ps.macs(ps.load("resnet50"), (1, 3, 224, 224))
    assert "half of 8.18 GFLOPs is right" in str(ps.reconcile(work, "8.18 GFLOPs"))


def test_costs_against_costs() -> None:
    """Two costs differ by lines."""
    one, other = ps.flops(ps.models.Llama()), ps.flops(MULTI_HEAD)
    assert ps.reconcile(one, one)[0].term == 0
    found = ps.reconcile(ps.flops(ps.models.Llama()), ps.flops(ps.models.Llama(architecture="LlamaForCausalLM")))
    assert "lm_head.product" in str(found)
    assert ps.reconcile(other, ps.flops(MULTI_HEAD, way="both"))[0].term == 2 * other.total


def test_layers_in_letters() -> None:
    """A formula is held against a layer without sizes, too."""
    layer = ps.MultiHeadAttention(H, A)
    assert str(ps.reconcile(layer, "4*H**2 + 4*H")) == "4*H**2 + 4*H is right, letter by letter"
    assert "the biases left out" in str(ps.reconcile(layer, "4*H**2"))
    assert ps.reconcile(layer, 4 * H**2)[0].term == -4 * H
