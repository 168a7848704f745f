"""What decoder-only families share: key/value heads, ties, labels, rotary frequencies, and the keys that say so."""

from __future__ import annotations

from typing import Any

import pytest
from sympy import Symbol, floor

import paramsym as ps
from paramsym import A, D, E, F, G, H, K, L, N, V, per
from paramsym.errors import ArgumentError, ConfigError, DivisibilityError, ParamsymError, SizeError
from paramsym.models import Deepseek, Gemma, Llama, Mixtral, QwenMoe, family_of
from paramsym.models.decoder import RotaryFrequencies
from paramsym.models.deepseek import DENSE
from paramsym.models.qwen_moe import SparsePattern

SMALL: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 90,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 40,
}


def test_groups_stay_and_heads_cancel_without_them() -> None:
    """With as many groups as heads A cancels; with fewer, their share of the heads stays."""
    assert Llama(num_key_value_heads=None).params.diff(A) == 0
    assert Llama().params.coeff(L).coeff(G).equals(2 * H**2 / A)
    lines = {line.name.rpartition("self_attn.")[2]: line for line in Llama().ledger()}
    assert lines["q_proj.weight"].factors == (A, per(H, A), H)
    assert lines["k_proj.weight"].factors == (G, per(H, A), H)


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("LlamaModel", 0),
        ("LlamaForCausalLM", H * V),
        ("LlamaForSequenceClassification", H * N),
        ("LlamaForTokenClassification", H * N + N),
        ("LlamaForQuestionAnswering", 2 * H + 2),
    ],
)
def test_heads(architecture: str, head: Symbol) -> None:
    """Each class adds its head to the base model."""
    assert (Llama(architecture=architecture).params - Llama().params - head).expand() == 0


def test_ties() -> None:
    """Tied, the output matrix is the token table, and counts once."""
    tied, untied = (Llama(architecture="LlamaForCausalLM", tie_word_embeddings=flag) for flag in (True, False))
    assert tied.tied == {"lm_head.weight": "model.embed_tokens.weight"}
    assert untied.tied == {}
    assert (untied.params - tied.params - H * V).expand() == 0


def test_depth_is_not_written_out() -> None:
    """A million layers cost no more than two, and DeepSeek's experts are not written out either."""
    deep = ps.from_config({**SMALL, "num_hidden_layers": 10**6})
    assert deep.count - ps.from_config({**SMALL, "num_hidden_layers": 0}).count == 10**6 * (24 * (24 * 3 + 120 + 2))
    many = ps.from_config({"model_type": "deepseek_v3", "num_hidden_layers": 10**6, "n_routed_experts": 10**6})
    assert many.count > 10**18


def test_active_experts() -> None:
    """What a token uses has K experts where what is stored has E."""
    model = Mixtral()
    assert model.active.equals(model.params - 3 * F * H * L * (E - K))
    assert model.params.diff(K) == 0


def test_dense_layers_first() -> None:
    """The first k layers are dense; a configuration may ask for more of them than there are layers."""
    sparse = Deepseek().params.coeff(E).coeff(L)
    assert Deepseek().params.coeff(E).coeff(DENSE) == -sparse
    config = {"model_type": "deepseek_v3", "num_hidden_layers": 2, "first_k_dense_replace": 7}
    dense = ps.from_config(config)
    assert not any("experts" in name for name in dense.shapes())
    assert dense.formula.diff(E) == 0


@pytest.mark.parametrize(
    ("layers", "step", "only", "sparse"),
    [
        (6, 1, None, [0, 1, 2, 3, 4, 5]),
        (6, 2, None, [1, 3, 5]),
        (7, 3, [2], [5]),
        (6, 1, [0, 3, 3, 99, -1], [1, 2, 4, 5]),
        (6, 2, [0, 3], [1, 5]),
        (2, 5, None, []),
        (0, 1, [0], []),
    ],
)
def test_sparse_layers(layers: int, step: int, only: list[int] | None, sparse: list[int]) -> None:
    """Every step-th layer is sparse, the last of each step, without the exceptions; others that are listed change nothing."""
    config = {"model_type": "qwen3_moe", "num_hidden_layers": layers, "decoder_sparse_step": step, "mlp_only_layers": only}
    names = ps.from_config(config).shapes()
    assert [layer for layer in range(layers) if f"layers.{layer}.mlp.gate.weight" in names] == sparse
    assert sum(name.endswith("mlp.gate_proj.weight") for name in names) == layers - len(sparse)
    order = [int(name.split(".")[1]) for name in names if name.startswith("layers.")]
    assert order == sorted(order)


def test_sparse_pattern_is_closed() -> None:
    """With a symbol for the depth the pattern still sums."""
    dense, sparse = ps.Dense(H, 1, bias=False), ps.Dense(H, H, bias=False)
    pattern = SparsePattern(dense, sparse, L, 3, (5,))
    for layers in (6, 7, 8, 9, 11, 12):
        stored = [number for number in range(layers) if number % 3 == 2 and number != 5]
        assert pattern.at(L=layers, H=10).count == 100 * len(stored) + 10 * (layers - len(stored))


def test_no_experts() -> None:
    """Without experts every layer is dense, as in the reference."""
    model = ps.from_config({"model_type": "qwen2_moe", "num_experts": 0, "num_hidden_layers": 2})
    assert not any("expert" in name for name in model.shapes())
    assert E not in model.sizes


def test_frequencies() -> None:
    """Two buffers of one frequency for each two entries, in no state dict; none where nothing is rotated."""
    assert [tensor.shape for tensor in RotaryFrequencies(7).own_tensors] == [(4,), (4,)]
    assert RotaryFrequencies(0).own_tensors == ()
    assert RotaryFrequencies(8).shapes(buffers=True) == {}
    kinds = Gemma(architecture="Gemma3TextModel").part("rotary_emb").own_tensors
    assert [tensor.name for tensor in kinds] == [
        f"{kind}_{name}" for kind in ("full_attention", "sliding_attention") for name in ("inv_freq", "original_inv_freq")
    ]


def test_heads_that_do_not_divide() -> None:
    """Mistral rounds the width of a head down, in the open; Llama refuses, and so does MPT, in the names of its own keys."""
    with pytest.raises(DivisibilityError, match="Mpt: d_model 4 is not divisible by n_heads 10"):
        ps.models.Mpt().at(H=4, A=10)
    odd = {**SMALL, "hidden_size": 26}
    with pytest.raises(ConfigError, match="hidden_size 26 is not divisible by num_attention_heads 4"):
        ps.from_config(odd)
    model = ps.from_config({**odd, "model_type": "mistral"})
    assert model.shapes()["layers.0.self_attn.q_proj.weight"] == (24, 26)
    assert model.formula.has(floor)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_key_value_heads": 3}, "num_attention_heads 4 is not divisible by num_key_value_heads 3"),
        ({"layer_types": ["full_attention"]}, "layer_types has 1 entries for num_hidden_layers 3"),
        ({"layer_types": "full_attention"}, "wanted a list of words"),
        ({"layer_types": ["full_attention", 3, None]}, r"layer_types\[1\] is 3"),
        ({"rope_scaling": {"rope_type": "spiral"}}, "rope_type is 'spiral'"),
        ({"rope_scaling": "linear"}, "wanted an object"),
        ({"partial_rotary_factor": float("nan")}, "wanted a number from 0 to 1"),
        ({"partial_rotary_factor": True}, "wanted a number from 0 to 1"),
        ({"head_dim": 7}, "wanted an even width"),
        ({"head_dim": 0}, "wanted a positive whole number"),
        ({"hidden_act": "abacus"}, "is not an activation"),
        ({"attention_bias": None}, "wanted true or false"),
        ({"model_type": "mistral", "num_key_value_heads": None}, "num_key_value_heads is null"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": 3}, "wanted a list of layer numbers"),
        ({"model_type": "qwen3_moe", "mlp_only_layers": [True]}, "wanted a whole number"),
        ({"model_type": "qwen3_moe", "decoder_sparse_step": 0}, "wanted a positive whole number"),
        ({"model_type": "qwen3_moe", "decoder_sparse_step": 10**9}, "at most 256"),
        ({"model_type": "mixtral", "num_experts_per_tok": 9}, "num_experts_per_tok 9 is more than num_local_experts 8"),
        ({"model_type": "gpt_neo", "num_layers": 3}, "attention_types describes 24 layers, and num_layers is 3"),
        ({"model_type": "gpt_neo", "attention_types": [[["sideways"], 24]]}, "layers are 'global' or 'local'"),
        ({"model_type": "gpt_neo", "attention_types": [["global"]]}, "wanted a pattern and a number"),
        ({"model_type": "mamba2", "num_heads": 3}, r"num_heads 3 \* head_dim 64 is not expand 2 \* hidden_size 24"),
        ({"model_type": "gemma3_text", "num_attention_heads": 5}, "not divisible"),
        ({"model_type": "gemma3_text", "layer_types": ["conv", "conv", "conv"]}, "layer_types has 'conv'"),
        ({"model_type": "gpt_bigcode", "add_cross_attention": True}, "needs multi_query=False"),
        ({"model_type": "deepseek_v2", "n_shared_experts": -1}, "wanted a whole number, zero or more"),
    ],
)
@pytest.mark.filterwarnings("ignore::paramsym.errors.ParamsymWarning")
def test_wrong_values(change: dict[str, Any], message: str) -> None:
    """A value that the reference cannot build is one error that names the key."""
    with pytest.raises(ConfigError, match=message):
        ps.from_config({**SMALL, **change})


def test_flags_of_a_relative_are_refused() -> None:
    """A bias that a family does not have is no silent no-op."""
    for wrong in ({"attention_bias": True, "architecture": "MistralModel"}, {"mlp_bias": True, "architecture": "Qwen3Model"}):
        with pytest.raises(ArgumentError, match="has no"):
            Llama(**wrong)
    with pytest.raises(ArgumentError, match="DeepseekV3Model has no mlp_bias"):
        Deepseek(mlp_bias=True)
    with pytest.raises(ArgumentError, match="has no attention_bias"):
        QwenMoe(attention_bias=True)


def test_sizes_are_checked() -> None:
    """Conditions hold for models built by hand, too."""
    with pytest.raises(DivisibilityError):
        Llama().at(H=25, A=4)
    with pytest.raises(DivisibilityError):
        Llama().at(A=4, G=3)
    with pytest.raises(SizeError):
        Mixtral().at(E=2, K=3)
    with pytest.raises(SizeError):
        Deepseek().at(L=2, k=3)


def test_unknown_keys_are_told() -> None:
    """A key that could change the count is warned about, and refused when asked to be strict."""
    with pytest.raises(ConfigError, match="abacus_size"):
        ps.from_config({**SMALL, "abacus_size": 3}, strict=True)
    with pytest.warns(ps.errors.ParamsymWarning, match="token_classification_bias"):
        ps.from_config({**SMALL, "token_classification_bias": False})


def test_labels_and_answers() -> None:
    """GPT-J's question answering has an output for each label; all others have two."""
    config = {"n_layer": 1, "num_labels": 5}
    gptj = ps.from_config({"model_type": "gptj", **config}, "GPTJForQuestionAnswering")
    assert gptj.shapes()["qa_outputs.weight"] == (5, 4096)
    llama = ps.from_config({**SMALL, "num_labels": 5}, "LlamaForQuestionAnswering")
    assert llama.shapes()["qa_outputs.weight"] == (2, 24)


def test_every_value_of_the_wrong_kind_is_one_error() -> None:
    """Whatever stands in a key, there is a model or one error of this library."""
    strange: list[Any] = [None, True, -1, 0, 2.5, float("nan"), "x", "ж" * 200, [], [1], [[[["global"], 10**30]]], {}, {"a": {}}, 10**40]
    for model_type in ("llama", "gemma3_text", "phi", "qwen2_moe", "deepseek_v3", "gpt_neo", "gptj", "opt", "falcon", "mamba", "mamba2"):
        for key in family_of(model_type).keys:
            for value in strange:
                try:
                    ps.from_config({"model_type": model_type, key: value})
                except ParamsymError as error:
                    assert isinstance(error, ConfigError)  # noqa: PT017 - no error is right, too
                    assert len(str(error)) < 2000  # noqa: PT017 - likewise


def test_free_head_width() -> None:
    """A head width of its own keeps A and D in the count."""
    model = Llama(head_dim=D)
    assert model.params.coeff(L).coeff(A).equals(2 * D * H)
    assert model.params.coeff(L).coeff(G).equals(2 * D * H)
    assert model.params.free_symbols == {V, H, L, A, G, D, F}


PUBLISHED: list[tuple[str, int, dict[str, Any]]] = [
    (
        "DeepseekV3ForCausalLM",
        671_026_404_352,
        {
            "model_type": "deepseek_v3",
            "aux_loss_alpha": 0.001,
            "ep_size": 1,
            "moe_layer_freq": 1,
            "num_nextn_predict_layers": 1,
            "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
            "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
            "rope_theta": 10000,
            "scoring_func": "sigmoid",
            "seq_aux": True,
            "topk_method": "noaux_tc",
        },
    ),
    (
        "GPTNeoXForCausalLM",
        20_554_567_680,
        {
            "model_type": "gpt_neox",
            "hidden_act": "gelu_fast",
            "attention_probs_dropout_prob": 0,
            "hidden_dropout_prob": 0,
            "rotary_emb_base": 10000,
            "rotary_pct": 0.25,
        },
    ),
    (
        "BloomForCausalLM",
        559_214_592,
        {
            "model_type": "bloom",
            "n_embed": 1024,
            "n_layer": 24,
            "num_attention_heads": 16,
            "n_inner": None,
            "masked_softmax_fusion": True,
            "offset_alibi": 100,
            "seq_length": 2048,
            "skip_bias_add": True,
        },
    ),
    (
        "GptOssForCausalLM",
        116_829_156_672,
        {
            "model_type": "gpt_oss",
            "layer_types": ["sliding_attention", "full_attention"] * 18,
            "experts_per_token": 4,
            "initial_context_length": 4096,
            "quantization_config": {"quant_method": "mxfp4"},
            "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "truncate": False},
            "swiglu_limit": 7.0,
        },
    ),
    ("MambaForCausalLM", 129_135_360, {"model_type": "mamba", "num_hidden_layers": 24, "d_model": 768, "n_layer": 24, "ssm_cfg": {}}),
    ("Phi3ForCausalLM", 3_821_079_552, {"model_type": "phi3", "attention_bias": False, "embd_pdrop": 0.0, "sliding_window": 2047}),
]


@pytest.mark.parametrize(("architecture", "count", "config"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_keys_of_published_files(architecture: str, count: int, config: dict[str, Any]) -> None:
    """Keys that published files carry and the reference does not read are known, by name."""
    assert ps.from_config(config, architecture, strict=True).count == count
