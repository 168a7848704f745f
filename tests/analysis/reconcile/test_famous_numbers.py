"""Numbers that people give for well-known models and layers: each is explained by its cause among the first three answers.

The counts and the causes come from model cards, papers, framework documentation and threads, named beside each.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
import recorded
from amount import cases, tries
from formulas import formula
from sympy import Expr, Integer, expand

import paramsym as ps
from paramsym import A, C, Dense, E, F, G, H, K, L, P, R, T, V, dims

B = ps.models.Bert()
GPT2, GPT2_LM = ps.models.Gpt2(), ps.models.Gpt2(architecture="GPT2LMHeadModel")
LLAMA, LLAMA_TIED = (ps.models.Llama(architecture="LlamaForCausalLM", tie_word_embeddings=tied) for tied in (False, True))
PYTHIA = ps.models.GptNeoX(architecture="GPTNeoXForCausalLM")
MIXTRAL = ps.models.Mixtral(architecture="MixtralForCausalLM")
DEEPSEEK = ps.models.Deepseek(architecture="DeepseekV3ForCausalLM")
RESNET, T5 = ps.models.ResNet(), ps.models.T5()
VIT = ps.load("google/vit-base-patch16-224", "ViTModel")
SWIN = ps.load("microsoft/swin-tiny-patch4-window7-224", "SwinModel")
CONVNEXT = ps.load("facebook/convnext-tiny-224", "ConvNextModel")
BASE, LARGE, EIGHT = "bert-base-uncased", "bert-large-uncased", "mistralai/Mixtral-8x7B-v0.1"
N, d, h, g = dims("N d h g")
EXPERT, DENSE = dims("F_e k")
BLOCK = 2 * F * H + F + 4 * H**2 + 9 * H

# AlexNet's second, fourth and fifth convolutions are cut in two (Krizhevsky et al. 2012, figure 2), here in g.
ALEXNET = ps.Sequential(
    ps.Conv2d(3, 96, 11),
    ps.Conv2d(96, 256, 5, groups=g),
    ps.Conv2d(256, 384, 3),
    ps.Conv2d(384, 384, 3, groups=g),
    ps.Conv2d(384, 256, 3, groups=g),
    *(Dense(9216, 4096), Dense(4096, 4096), Dense(4096, N)),
)
VGG = ps.Block(
    features=ps.Sequential(
        *(
            ps.Conv2d(inward, outward, 3)
            for inward, outward in zip(
                (3, 64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512),
                (64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512),
                strict=True,
            )
        )
    ),
    classifier=ps.Sequential(Dense(25088, 4096), Dense(4096, 4096), Dense(4096, 1000)),
)


@dataclass(frozen=True)
class Famous:
    """A number with its source: what it is said of, and the term that is behind it."""

    layer: ps.Layer
    at: Any
    claim: int | str
    term: Expr | int
    source: str
    others: dict[str, list[int]] = field(default_factory=dict)


FAMOUS = {
    "BERT base with its masked head": Famous(B, BASE, 109_514_298, 2 * H + V, "transformers, BertForMaskedLM"),
    "BERT base without the pooler": Famous(B, BASE, 108_891_648, -(H**2) - H, "transformers, add_pooling_layer=False"),
    "BERT large with both heads": Famous(B, LARGE, 336_226_108, H**2 + 5 * H + V + 2, "Hugging Face, bert-large-uncased: 336M"),
    "BERT large, 336M": Famous(B, LARGE, "336M", H**2 + 5 * H + V + 2, "Hugging Face, bert-large-uncased"),
    "BERT large, 340M": Famous(B, LARGE, "340M", 0, "Devlin et al. 2019, section 3"),
    "the blocks of BERT base": Famous(B, BASE, 85_054_464, L * BLOCK - B.params, "the 85M of many posts"),
    "DistilBERT with its head": Famous(
        ps.models.DistilBert(), "distilbert-base-uncased", 66_985_530, H**2 + 3 * H + V, "transformers, DistilBertForMaskedLM"
    ),
    "RoBERTa large with its head": Famous(
        ps.models.Roberta(), "roberta-large", 355_412_057, H**2 + 3 * H + V - H**2 - H, "Hugging Face, roberta-large"
    ),
    "ALBERT base unshared, 89M": Famous(ps.models.Albert(), "albert-base-v2", "89M", (L - 1) * BLOCK, "Lan et al. 2020, table 4"),
    "ELECTRA small, 14M": Famous(ps.models.Electra(), "google/electra-small-discriminator", "14M", (H + 1) ** 2, "Clark et al. 2020"),
    "GPT-2 with its head as a matrix": Famous(GPT2_LM, "gpt2", 163_037_184, H * V, "torchinfo 322, modded-nanogpt 26"),
    "GPT-2 with its head, 163M": Famous(GPT2, "gpt2", "163M", H * V, "modded-nanogpt 26"),
    "GPT-2 with its masks": Famous(GPT2_LM, "gpt2", 137_022_720, L * P**2, "Hugging Face, gpt2: 137M"),
    "GPT-2 without positions": Famous(GPT2, "gpt2", 123_653_376, -H * P, "nanoGPT, get_num_params"),
    "GPT-2 with a padded vocabulary": Famous(GPT2, "gpt2", 124_475_904, (50_304 - V) * H, "nanoGPT, vocab_size 50304"),
    "GPT-2 XL, 1.5B": Famous(GPT2, "gpt2-xl", "1.5B", 0, "Radford et al. 2019"),
    # OpenAI's README: the counts of the paper are wrong. Each is the count with GPT's vocabulary (transformers, OpenAIGPTConfig).
    **{
        f"{name}, {claim}": Famous(GPT2, name, claim, (40_478 - V) * H, "openai/gpt-2 209", {"V": [40_478]})
        for name, claim in {"gpt2": "117M", "gpt2-medium": "345M", "gpt2-large": "762M", "gpt2-xl": "1542M"}.items()
    },
    "GPT-3's matrices": Famous(
        GPT2, {"V": 50257, "P": 2048, "H": 12288, "L": 96, "A": 96}, 12 * 96 * 12288**2, 12 * L * H**2 - GPT2.params, "Kaplan et al., 2.1"
    ),
    "T5 base untied": Famous(T5, "t5-base", 247_577_856, H * V, "Hugging Face, flan-t5-base: 248M"),
    "T5 large, 770M": Famous(T5, "t5-large", "770M", H * V, "Raffel et al. 2020, section 3.7; t5 326"),
    "Pythia 160M without embeddings": Famous(PYTHIA, "EleutherAI/pythia-160m", 85_056_000, -2 * H * V, "its model card"),
    "Pythia 2.8B without embeddings": Famous(PYTHIA, "EleutherAI/pythia-2.8b", 2_517_652_480, -2 * H * V, "its model card"),
    "Llama 7B of two matrices": Famous(
        LLAMA, "huggyllama/llama-7b", 5_033_164_800, -F * H * L - 2 * H * V - 2 * H * L - H, "TransformerLens 448"
    ),
    "Llama 3 8B without its head": Famous(LLAMA, "meta-llama/Meta-Llama-3-8B", 7_504_924_672, -H * V, "llm-analysis"),
    "Llama 3 8B without its head, 7.50B": Famous(LLAMA, "meta-llama/Meta-Llama-3-8B", "7.50B", -H * V, "accelerate estimate-memory"),
    "Llama 2 70B, 78B": Famous(LLAMA, "meta-llama/Llama-2-70b-hf", "78B", 2 * L * H**2 * (1 - G / A), "meta-llama/llama 1111"),
    "Llama 3.1 405B": Famous(LLAMA, "meta-llama/Llama-3.1-405B", "405B", 0, "its model card"),
    "stories15M by its state dict": Famous(
        LLAMA_TIED, {"V": 32000, "H": 288, "L": 6, "A": 6, "G": 6, "F": 768}, 24_407_712, H * V, "llama2.c 378"
    ),
    "Qwen1.5 72B, 56.19B": Famous(
        ps.models.Llama(architecture="Qwen2ForCausalLM"), "Qwen/Qwen1.5-72B", "56.19B", -F * H * L, "EleutherAI/cookbook 36"
    ),
    "Phi-2, 2.7B": Famous(
        ps.models.Phi(architecture="PhiForCausalLM", partial_rotary_factor=0.4), "microsoft/phi-2", "2.7B", 0, "its model card"
    ),
    "Gemma 2B without embeddings": Famous(
        ps.models.Gemma(architecture="GemmaForCausalLM"), "google/gemma-2b", 1_981_884_416, -H * V, "Gemma Team 2024, table 2"
    ),
    "Mixtral, 13B": Famous(MIXTRAL, EIGHT, "13B", 3 * L * F * H * (K - E), "Jiang et al. 2024: 13B active"),
    "Mixtral as eight models": Famous(
        MIXTRAL, EIGHT, 8 * 7_241_732_096, (E - 1) * (MIXTRAL.params - 3 * E * F * H * L) - E * (E * H * L), "eight times Mistral 7B"
    ),
    "DeepSeek-V3, 37B": Famous(
        DEEPSEEK, "deepseek-ai/DeepSeek-V3", "37B", 3 * EXPERT * H * (L - DENSE) * (K - E) - H * (V - 1), "DeepSeek-AI 2024, abstract"
    ),
    "ViT-B/16 with its classes": Famous(VIT, {}, 86_567_656, 1000 * (H + 1) - H**2 - H, "torchvision, ViT_B_16_Weights"),
    "ViT-B/16, 86.6M": Famous(VIT, {}, "86.6M", 1000 * (H + 1) - H**2 - H, "google/vit-base-patch16-224"),
    "ViT-B/16, 85.8M": Famous(VIT, {}, "85.8M", -(H**2) - H, "timm, num_classes=0"),
    "Swin-T with its classes": Famous(SWIN, {}, 28_288_354, 1000 * (8 * H + 1), "torchvision, Swin_T_Weights"),
    "ConvNeXt-T with its classes": Famous(CONVNEXT, {}, 28_589_128, 1000 * (dims("H_4") + 1), "torchvision, ConvNeXt_Tiny_Weights"),
    "ResNet-50, 25.5M": Famous(RESNET, "resnet50", "25.5M", 0, "many tables; 25,557,032"),
    "ResNet-50 without its classes": Famous(RESNET, "resnet50", 23_508_032, -2049 * N, "microsoft/resnet-50, base model"),
    "AlexNet in one piece": Famous(ALEXNET, {"g": 2, "N": 1000}, 62_378_344, 2_826_240 - 2_826_240 / g, "Krizhevsky's 60M, often 62.3M"),
    "VGG-16 with norms": Famous(VGG, {}, 138_365_992, Integer(8_448), "torchvision, VGG16_BN_Weights"),
    "VGG-16 without its classifier": Famous(VGG, {}, 14_714_688, Integer(14_714_688 - 138_357_544), "Keras, VGG16(include_top=False)"),
    "an LSTM of one bias": Famous(ps.LSTM(d, h), {"d": 128, "h": 256}, 4 * 256 * (128 + 256 + 1), -4 * h, "Keras, LSTM"),
    "a GRU that resets before": Famous(
        ps.GRU(d, h, dialect="keras"), {"d": 128, "h": 256}, 3 * 256 * (128 + 256 + 1), -3 * h, "Keras, GRU(reset_after=False)"
    ),
    "a batch norm of four": Famous(ps.BatchNorm2d(C), {"C": 64}, 256, 2 * C, "Keras, BatchNormalization"),
    "attention without biases": Famous(ps.MultiHeadAttention(H, A), {"H": 512, "A": 8}, 4 * 512**2, -4 * H, "torch, bias=False"),
    "a bidirectional LSTM in one direction": Famous(
        ps.LSTM(d, h, bidirectional=True), {"d": 128, "h": 256}, 4 * 256 * (128 + 256 + 2), -4 * h * (d + h + 2), "torch, LSTM"
    ),
}


@pytest.mark.parametrize("name", FAMOUS)
def test_famous(name: str) -> None:
    """The term behind the number, or one that is equal to it, is among the first three answers."""
    famous = FAMOUS[name]
    sized = famous.layer.at(famous.at) if famous.at else famous.layer
    answers = ps.reconcile(sized, famous.claim, others=famous.others)
    assert any(expand(answer.term - famous.term) == 0 for answer in answers[:3]), str(answers)
    if isinstance(famous.claim, int):
        assert answers[0].difference == famous.claim - sized.count


@cases(0)
def test_none_is_said_where_nothing_is_known() -> None:
    """Numbers that nobody has explained get no answer: it would be a guess."""
    for layer, name, claim in (
        (ps.models.Albert(), "albert-xxlarge-v2", "235M"),
        (ps.models.Whisper(), "openai/whisper-tiny", "39M"),
    ):
        assert not ps.reconcile(layer, claim, at=name)


# The disputed entries of the recorded formulas that need a layer of their own --------------------------------------------------

DISPUTED = {item["id"]: item for item in recorded.document("formulas") if item["kind"] == "disputed"}


def recorded_term(name: str, letters: dict[str, Expr], **numbers: int) -> Expr:
    """Return the claimed formula less the right one, in a layer's letters."""
    item = DISPUTED[name]
    known = {**letters, **{letter: Integer(number) for letter, number in numbers.items()}}
    return expand(formula(item["claimed_formula"], known) - formula(item["formula"], known))


def test_shards() -> None:
    """GPT-J's 6,053,381,344 counts what each of eight shards keeps: norms, biases behind cut matrices, and a bias beside the table."""
    (claim,), (right,) = DISPUTED["disputed-gptj"]["claimed"], DISPUTED["disputed-gptj"]["correct"]
    sized = ps.models.GptJ(architecture="GPTJForCausalLM").at("EleutherAI/gpt-j-6b")
    assert sized.count == right
    answers = ps.reconcile(sized, claim)
    assert expand(answers[0].term - recorded_term("disputed-gptj", {"V": V, "L": L, "d": H, "f": 4 * H}, t=8)) == 0
    assert "kept by each of 8 shards" in str(answers[0])
    assert "h.{0..L-1}.mlp.fc_out.bias" in " ".join(answers[0].tensors)
    assert "fc_in" not in " ".join(answers[0].tensors)  # cut with its matrix


def test_multi_token_prediction() -> None:
    """DeepSeek-V3's module for one more token: 11.61B of its own, 11.5B without what joins the two inputs."""
    (right,) = DISPUTED["disputed-deepseek-v3-mtp"]["correct"]
    shared, plain, turned, value, rank = dims("E_s D_n D_r D_v R_q")
    module = ps.models.Deepseek(architecture="DeepseekV3ForCausalLM", num_nextn_predict_layers=1).part("model.layers.{L}")
    sizes = {"V": 129280, "H": 7168, "A": 128, "F_e": 2048, "E": 256, "E_s": 1, "K": 8, "R": 512, "R_q": 1536}
    sized = module.at({**sizes, "D_n": 128, "D_r": 64, "D_v": 128})
    joint = 2 * 129280 * 7168  # the table and the output matrix are the model's
    assert sum(line.polynomial().constant for line in sized.ledger(buffers=True)) - joint == right
    attention = ps.LatentAttention(H, A, R, plain, turned, value, q_lora_rank=rank)
    experts = ps.MixtureOfExperts(H, EXPERT, E, K, shared_dim=EXPERT * shared, correction_bias=True)
    norm = ps.RMSNorm(H)
    own = ps.Block(
        enorm=norm,
        hnorm=norm,
        eh_proj=Dense(2 * H, H, bias=False),
        layer=ps.Block(self_attn=attention, mlp=experts, input_layernorm=norm, post_attention_layernorm=norm),
        norm=norm,
    )
    assert own.params == expand(module.params - 2 * H * V)
    del sizes["V"]
    answers = ps.reconcile(own, "11.5B", at={**sizes, "D_n": 128, "D_r": 64, "D_v": 128})
    assert expand(answers[0].term + 2 * H**2) == 0
    assert any(expand(answer.term + 2 * H**2 + 3 * H) == 0 for answer in answers[:3])


@cases(0)
def test_published_files_hold_more_than_the_model() -> None:
    """685B are 671B and 14B: the module with another token table and output matrix (deepseek-ai/DeepSeek-V3, README)."""
    predicting = ps.models.Deepseek(architecture="DeepseekV3ForCausalLM", num_nextn_predict_layers=1).at("deepseek-ai/DeepSeek-V3")
    assert predicting.tied == {
        "model.layers.61.embed_tokens.weight": "model.embed_tokens.weight",
        "model.layers.61.shared_head.head.weight": "lm_head.weight",
    }
    assert predicting.shapes()["model.layers.61.eh_proj.weight"] == (7168, 14336)
    assert predicting.part("model.layers.61").count == 13_463_426_048
    assert ps.output_shape(predicting, (2, 5)) == (2, 5, 129280)  # the module is beside the model
    (answer, *_) = ps.reconcile(DEEPSEEK, "685B", at="deepseek-ai/DeepSeek-V3")
    assert "num_nextn_predict_layers=1" in str(answer)
    assert answer.value == 13_463_426_048
    with pytest.raises(ps.errors.ArgumentError, match="has no num_nextn_predict_layers"):
        ps.models.Deepseek(num_nextn_predict_layers=1)


@pytest.mark.parametrize("letters", ["d h kv f L V", "H A D F L V"])
def test_heads_that_do_not_fill_the_width(letters: str) -> None:
    """Chinchilla's 12.6B with heads of d/h comes out as 13,124M (nanoGPT, scaling_laws.ipynb), whatever the letters are."""
    (claim,), (right,) = DISPUTED["disputed-chinchilla-heads"]["claimed"], DISPUTED["disputed-chinchilla-heads"]["correct"]
    width, heads, slice_, inner, depth, words = dims(letters)
    block = ps.Block(
        attention=ps.MultiHeadAttention(width, heads, head_dim=slice_),
        relative=Dense(width, (heads, slice_)),
        mlp=ps.Sequential(Dense(width, inner), Dense(inner, width)),
        norms=ps.Sequential(ps.LayerNorm(width), ps.LayerNorm(width)),
    )
    model = ps.Block(embed=ps.Embedding(words, width), layers=ps.Repeat(block, depth))
    sizes = dict(zip((width, heads, slice_, inner, depth, words), (4608, 32, 128, 18432, 47, 32000), strict=True))
    assert abs(model.at(sizes).count - right * 10**6) < 10**6
    answers = ps.reconcile(model, f"{claim}M", at=sizes)
    assert any(expand(answer.term - depth * (5 * width + 4) * (width - heads * slice_)) == 0 for answer in answers[:3]), str(answers)
    assert f"{width}/{heads} in place of {slice_}" in str(answers[0])


def test_thousands() -> None:
    """The scaling book's 16B comes of multiplying 4,000 by 16,000 where 4,096 and 16,384 are meant."""
    item = DISPUTED["disputed-scaling-book-16b"]
    sizes = {"V": 32000, "H": 4096, "F": 16384, "L": 64, "A": 32}
    model = LLAMA.at(G=A)
    assert model.at(sizes).count == pytest.approx(item["correct"][0] * 10**9, rel=0.001)
    answers = ps.reconcile(model, "16B", at=sizes)
    (thousands,) = [answer for answer in answers[:3] if "thousands" in str(answer)]
    (rounded,) = item["claimed_config"]
    assert {"D": 4000, "F": 16000}.items() <= rounded.items()
    placed = model.at({**sizes, "H": 4000, "F": 16000}).count
    assert thousands.value == placed - model.at(sizes).count
    assert dict(thousands.readings[0].edits[0].sizes) == {H: 4000, F: 16000}


@cases(0)
def test_both_of_a_pair() -> None:
    """Qwen2.5-32B's card gives 32.5B and 31.0B, Gemma's paper two tables: each pair is wrong, or another vocabulary, twice alike."""
    qwen = ps.models.Llama(architecture="Qwen2ForCausalLM")
    item = DISPUTED["disputed-qwen25-32b"]
    with_tables, without = (int(count) for count in item["correct"])
    sized = qwen.at("Qwen/Qwen2.5-32B")
    assert sized.count == with_tables
    for model in (sized, qwen.part("model.layers").at({symbol: size for symbol, size in sized.sizes.items() if symbol != V})):
        claim = f"{item['claimed'][model is not sized]}B"
        answers = ps.reconcile(model, claim, others={"F": [27_392]})
        assert any(expand(answer.term - 3 * L * H * (27_392 - F)) == 0 for answer in answers[:3]), str(answers)
    assert abs(without - (with_tables - 2 * 152_064 * 5120)) == 0
    item = DISPUTED["disputed-gemma-vocab"]
    for sizes, claim in zip(item["config"], item["claimed"], strict=True):
        answers = ps.reconcile(ps.Embedding(V, H), claim, at={"V": sizes["V"], "H": sizes["d"]})
        assert any(expand(answer.term - (256_128 - V) * H) == 0 for answer in answers[:3])


def test_no_disputed_count_is_left_out() -> None:
    """Every recorded dispute about parameters is tried: here, or with the other answers in test_reconcile.py."""
    here = {
        "disputed-gptj",
        "disputed-deepseek-v3-mtp",
        "disputed-chinchilla-heads",
        "disputed-scaling-book-16b",
        "disputed-qwen25-32b",
        "disputed-gemma-vocab",
    }
    there = {
        "disputed-megatron-final-ln",
        "disputed-lora-bitfit",
        "disputed-cookbook-layernorm",
        "disputed-gpt3-xl-heads",
        "disputed-mixtral-56b",
    }
    assert {name for name, item in DISPUTED.items() if item["quantity"] == "params"} == here | there


# How often nothing is found, and how long it takes -----------------------------------------------------------------------------

MODELS: dict[str, tuple[ps.Layer, Any]] = {
    "Llama 7B": (LLAMA, "huggyllama/llama-7b"),
    "Mixtral": (MIXTRAL, EIGHT),
    "DeepSeek-V3": (DEEPSEEK, "deepseek-ai/DeepSeek-V3"),
    "T5 small": (T5, "t5-small"),
    "ViT-B/16": (VIT, {}),
    "ResNet-50": (RESNET, "resnet50"),
    "Swin-T": (SWIN, {}),
    "Whisper tiny": (ps.models.Whisper(), "openai/whisper-tiny"),
    "DenseNet-121": (ps.models.DenseNet(), "densenet121"),
    "ALBERT base": (ps.models.Albert(), "albert-base-v2"),
    "ELECTRA small": (ps.models.Electra(), "google/electra-small-discriminator"),
    "a layer": (ps.TransformerEncoderLayer(H, A, F), {"H": 768, "A": 12, "F": 3072}),
    "an LSTM": (ps.LSTM(d, h), {"d": 128, "h": 256}),
}


@cases(1)
@pytest.mark.parametrize("name", MODELS)
def test_random_claims(name: str) -> None:
    """Of 200 random wrong claims within 5 % of the count, half of them multiples of a width, at most 5 % get an answer, in no time."""
    layer, at = MODELS[name]
    sized = layer.at(at)
    width = int(sized.sizes.get(H, 256))
    chosen, count = random.Random(name), sized.count
    started = time.process_time()  # of this process alone: a busy machine is no slow answer
    ps.reconcile(layer, count + 1, at=at)
    first = time.process_time() - started
    answered = 0
    for number in range(tries(200)):
        claim = chosen.randint(int(count * 0.95), int(count * 1.05))
        claim = claim // width * width if number % 2 else claim
        answered += claim != count and bool(ps.reconcile(sized, claim))
    assert answered <= tries(200) // 20
    assert first < 20  # it does not hang


# The six threads ---------------------------------------------------------------------------------------------------------------


@cases(0)
def test_six_threads() -> None:
    """Each thread's question is answered by one call; the numbers are the threads' own."""
    pytorch = ps.explain(ps.MultiheadAttention(512, 64), "num_heads")  # pytorch 60853
    assert pytorch.cancels
    assert "1,050,624" in str(pytorch.steps[-1])
    heads = dims("D")
    keras = ps.explain(ps.MultiHeadAttention(H, A, head_dim=heads, dialect="keras"), A)  # keras 18373
    assert expand(keras.derivative - 4 * heads * H - 3 * heads) == 0
    bert = ps.reconcile(B, "12*768*12 = 110M", at=BASE)  # google-research/bert 656
    assert "12*768*12 = 110,592" in str(bert[0])
    assert ps.explain(ps.MultiheadAttention(448, 8), "num_heads").derivative == 0  # fvcore 153
    c_attn = GPT2.part("h.0.attn.c_attn")
    nano = ps.reconcile(c_attn, 3 * 768 * 768 // 12 + 3 * 768, at={"H": 768, "A": 12})  # nanoGPT 629
    assert expand(nano[0].term - 3 * H**2 / A + 3 * H**2) == 0
    llama = ps.reconcile(LLAMA, "78B", at="meta-llama/Llama-2-70b-hf")  # llama 1111
    assert expand(llama[0].term - 2 * L * H**2 * (1 - G / A)) == 0


def test_types_of_claims() -> None:
    """The claim "8x7B" is a product; what is cut off or rounded up says so; 120M is not 109M rounded up."""
    answers = ps.reconcile(MIXTRAL, "8x7B", at=EIGHT)
    assert "8x7B = 56,000,000,000" in str(answers[0])
    assert any("once per expert" in str(answer) for answer in answers[:3])
    assert any("once per expert" in str(answer) for answer in ps.reconcile(MIXTRAL, "56B", at=EIGHT)[:3])
    assert str(ps.reconcile(ps.models.Mpt(), "6.7B", at="mosaicml/mpt-7b")) == "6.7B is 6,649,286,656, rounded up"
    assert str(ps.reconcile(RESNET, "25.5M", at="resnet50")[0]) == "25.5M is 25,557,032, cut off, not rounded"
    assert not ps.reconcile(B, "120M", at=BASE) or ps.reconcile(B, "120M", at=BASE)[0].term != 0
    assert T not in ps.reconcile(B, "110M", at=BASE)[0].term.free_symbols
