"""The atlas against what the reference itself stores: recorded configurations come out exactly, or are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import recorded
from amount import ALL, cases, sample
from nesting import nested
from sympy import floor

import paramsym as ps
from paramsym import A, D, H, L, P, V
from paramsym.atlas.files import record_of, recorded_types
from paramsym.cli import main
from paramsym.errors import ConfigError, NotYetError, ParamsymWarning, UnknownNameError
from paramsym.models import model_types

TYPES = recorded_types()
RECORDED = {*TYPES} - {*model_types()}


def recorded_rows() -> Iterator[Any]:
    """Yield the recorded configurations of the classes in the atlas, complete and as written; the ordinary run takes a sample."""
    for name in ("hf_checkpoints", "hf_defaults"):
        of_types = [(number, row) for number, row in enumerate(recorded.rows(name)) if row["model_type"] in RECORDED]
        for number, row in sample(24, of_types):
            if row["model_class"] in record_of(row["model_type"])["classes"]:
                for which in ("config", "config_kwargs") if ALL else ("config",):
                    config = {**row[which], "model_type": row["model_type"]}
                    yield pytest.param(row, config, id=f"{name}-{number}-{row['model_class']}-{which}")


def answered(row: dict[str, Any], config: dict[str, Any]) -> Any:
    """Return the model, or the refusal."""
    try:
        return ps.from_config(config, architecture=row["model_class"])
    except ConfigError as error:
        return error


ROWS = list(recorded_rows())


@pytest.mark.parametrize(("row", "config"), ROWS)
@pytest.mark.filterwarnings("ignore::paramsym.errors.ParamsymWarning")
def test_recorded_configurations_come_out_exactly(row: dict[str, Any], config: dict[str, Any]) -> None:
    """Names, shapes, ties, buffers and totals are those of the reference, in its order where the record says so; the rest is refused."""
    model = answered(row, config)
    if isinstance(model, ConfigError):
        assert row["model_class"] in str(model)
        return
    shapes = model.shapes()
    assert shapes == dict(recorded.parameters(row))
    if model.certificate["ordered"]:
        assert list(shapes) == [name for name, _ in recorded.parameters(row)]
    assert model.tied == row["tied"]
    assert model.count == row["n_params"]
    assert {name: shape for name, shape in model.shapes(buffers=True).items() if name not in shapes} == recorded.persistent_buffers(row)
    frozen = {entry.name for entry in model.entries() if entry.frozen and not entry.alias_of}
    assert frozen == set(row.get("frozen", frozen))


@cases(0)
@pytest.mark.filterwarnings("ignore::paramsym.errors.ParamsymWarning")
def test_few_of_them_are_refused() -> None:
    """The test above would pass if everything were refused."""
    refused = sum(isinstance(answered(*case.values), ConfigError) for case in ROWS)
    assert len(ROWS) >= 10
    assert refused * 20 <= len(ROWS)


def test_the_closed_form_is_in_the_shared_letters() -> None:
    """GPT-1 has 12 H**2 + 13 H a block, as its reference's modules say."""
    model = ps.from_config({"model_type": "openai-gpt"}, architecture="OpenAIGPTLMHeadModel")
    assert (model.formula - (12 * H**2 + 13 * H) * L - H * P - H * V).expand() == 0
    assert model.tied == {"lm_head.weight": "transformer.tokens_embed.weight"}
    assert model.architecture == "OpenAIGPTLMHeadModel"
    assert model.certificate["exact"] >= 60


def test_a_question_about_a_shared_letter_is_answered() -> None:
    """The projections of q and o have A heads of D each; the number of layers is none where a list of its own says their kinds."""
    model = ps.from_config({"model_type": "qwen3_next", "num_hidden_layers": 8}, architecture="Qwen3NextModel")
    assert ps.explain(model, A).derivative == 3 * D * H * floor(L / 4)  # gated queries: 2*A*D*H and A*D*H in every fourth layer
    assert ps.explain(model, "num_attention_heads").symbol == A
    kinds = ["full_attention", "linear_attention", "linear_attention", "full_attention", "full_attention"]
    listed = ps.from_config({"model_type": "qwen3_next", "num_hidden_layers": 5, "layer_types": kinds}, architecture="Qwen3NextModel")
    assert "num_hidden_layers is a number" in str(ps.explain(listed, L))


def test_layers_of_one_kind_are_one_row() -> None:
    """Three convolutions, two attentions and a convolution."""
    kinds = ["conv", "conv", "conv", "full_attention", "full_attention", "conv"]
    rows = ps.from_config({"model_type": "lfm2", "layer_types": kinds, "num_hidden_layers": 6}).table(depth=2).rows
    assert [row[0] for row in rows if "layers" in row[0]] == ["layers.{0..2,5}", "layers.{3..4}"]


def test_sizes_can_be_changed_and_other_structure_is_refused() -> None:
    """A model of the atlas is an ordinary layer; what would store other tensors is said."""
    model = ps.from_config({"model_type": "openai-gpt"}, architecture="OpenAIGPTLMHeadModel")
    wider = model.at(H=1536, L=24)
    assert wider.count == ps.from_config({"model_type": "openai-gpt", "n_embd": 1536, "n_layer": 24}, "OpenAIGPTLMHeadModel").count
    assert len(wider.shapes()) > len(model.shapes())
    with pytest.raises(UnknownNameError, match="n_embed"):
        model.at(n_embed=3)
    with pytest.raises(UnknownNameError, match=r"n_embd is H: write at\(H=\.\.\.\)"):
        model.origin[0].at(n_embd=3)
    with pytest.raises(ps.ParamsymError):
        model.at(H=-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_embd": "768"}, "n_embd is '768'"),
        ({"n_embd": 768.0}, "n_embd is 768.0"),
        ({"n_embd": True}, "n_embd is true"),
        ({"n_embd": -768}, "n_embd is -768"),
        ({"n_embd": 10**30}, "n_embd is"),
        ({"n_embd": None}, "n_embd"),
        ({"afn": "xielu"}, "afn is 'xielu'"),
        ({"n_head": 7}, "n_head must divide n_embd|n_head is 7"),
        ({"id2label": 3}, "id2label is 3"),
    ],
)
def test_what_was_not_verified_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    """A value beyond those tested, another type: one error that names the key."""
    with pytest.raises(ConfigError, match=said):
        ps.from_config({"model_type": "openai-gpt", **change}, architecture="OpenAIGPTLMHeadModel")


def test_a_key_that_the_reference_does_not_read_is_reported() -> None:
    """As for a family written by hand: a warning, or with ``strict`` an error, with the known key that may be meant."""
    config = {"model_type": "openai-gpt", "vocab_sise": 3, "n_ctx_": 3}
    with pytest.warns(ParamsymWarning, match=r"openai-gpt does not know .*: vocab_sise \(did you mean vocab_size\?\), n_ctx_") as caught:
        model = ps.from_config(config)
    assert model == ps.from_config({"model_type": "openai-gpt"})
    assert caught[0].filename == __file__
    with pytest.raises(ConfigError, match="vocab_sise"):
        ps.from_config(config, strict=True)


@pytest.mark.parametrize(
    ("model_type", "other", "usual"),
    [
        ("lfm2", {"block_ff_dim": 4096}, {"intermediate_size": 4096}),  # of its first release
        ("qwen2_vl", {"hidden_size": 256, "num_attention_heads": 4}, {"text_config": {"hidden_size": 256, "num_attention_heads": 4}}),
        ("qwen2_vl", {"hidden_size": 256, "text_config": {"vocab_size": 99}}, {"text_config": {"vocab_size": 99}}),
        ("qwen3_next", {"full_attention_interval": 4}, {}),
        ("idefics2", {"vision_config": {"model_type": "idefics2"}}, {}),
        ("glm4_moe", {"rope_theta": 1000000}, {"rope_theta": 1000000.0}),
    ],
)
def test_keys_of_older_releases_are_read(model_type: str, other: dict[str, Any], usual: dict[str, Any]) -> None:
    """What the configuration classes of transformers 5.23 make of them."""
    assert ps.from_config({"model_type": model_type, **other}).shapes() == ps.from_config({"model_type": model_type, **usual}).shapes()


@pytest.mark.parametrize(
    ("model_type", "name", "change"),
    [
        ("qwen3_next", "Qwen3NextModel", {"full_attention_interval": 2}),  # other layers have full attention
        ("lfm2", "Lfm2Model", {"block_ff_dim": 4096, "intermediate_size": 2048}),
        ("openai_privacy_filter", "OpenAIPrivacyFilterForTokenClassification", {"token_classification_bias": None}),  # no bias
        ("seamless_m4t_v2", "SeamlessM4Tv2ForTextToSpeech", {"t2u_decoder_layers": 7}),
        ("flex_olmo", "FlexOlmoModel", {"attribute_map": {"factor": 2.0}, "num_local_experts": 3}),
        ("longt5", "LongT5ForConditionalGeneration", {"num_hidden_layers": 1}),  # under this name the decoder keeps its six layers
        ("moonshine", "MoonshineModel", {"decoder_num_key_value_heads": 9}),
        ("step3p5", "Step3p7TextModel", {"gating": True}),  # all keys at once found it and those below
        ("emu3_text_model", "Emu3TextModel", {"attention_bias": True}),
        ("mimi", "MimiModel", {"frame_rate": 24}),
        ("mimi_encoder", "MimiEncoderModel", {"frame_rate": 24}),
        ("mimi_decoder", "MimiDecoderModel", {"frame_rate": 24}),
        ("paddleocr_vl", "PaddleOCRVLForConditionalGeneration", {"text_config": {"tie_word_embeddings": False}}),  # stores the head
        ("layoutlm", "LayoutLMModel", {"embedding_size": 100, "hidden_size": 192, "num_attention_heads": 5}),  # rounded down, not refused
        ("nemotron_h_omni", "NemotronH_Omni_Reasoning_V3", {"llm_config": {"hidden_size": 64}}),  # other spellings of inner configurations
        ("nemotron_h_omni", "NemotronH_Omni_Reasoning_V3", {"sound_config": {"hidden_size": 64}}),
        ("unlimited_ocr", "UnlimitedOcrModel", {"language_config": {"hidden_size": 640}}),
        ("glm5_next", "Glm5NextModel", {"linear_attn_config": {"head_dim": 64}}),
        ("molmo2", "Molmo2Model", {"vit_config": {"hidden_size": 576}, "vision_config": {"num_position_embeddings": 1458}}),
    ],
)
def test_other_keys_that_the_reference_reads_are_refused(model_type: str, name: str, change: dict[str, Any]) -> None:
    """Their effect was not derived; samples found the last ones."""
    with pytest.raises(ConfigError, match=next(iter(change))):
        ps.from_config({"model_type": model_type, **change}, name)


@pytest.mark.parametrize(
    ("model_type", "name", "given", "count"),
    [
        (
            "llama4_text",
            "Llama4TextModel",
            {"num_hidden_layers": 2, "moe_layers": [1], "num_local_experts": 2, "intermediate_size_mlp": 32},
            1_538_329_600,
        ),
        (
            "minimax_m3_vl_text",
            "MiniMaxM3VLTextModel",
            {
                "num_hidden_layers": 2,
                "num_local_experts": 2,
                "mlp_layer_types": ["dense", "sparse"],
                "dense_intermediate_size": 64,
                "layer_types": ["full_attention", "minimax_m3_sparse"],
                "index_head_dim": 32,
                "index_n_heads": 2,
            },
            1_614_785_088,
        ),
        ("gemma4_unified_text", "Gemma4UnifiedForCausalLM", {"global_head_dim": 100}, 2_896_844_520),
        ("gemma4_unified", "Gemma4UnifiedModel", {"text_config": {"global_head_dim": 100}}, 2_896_844_520),
        (
            "gemma4_text",
            "Gemma4ForCausalLM",
            {"num_kv_shared_layers": 10, "use_double_wide_mlp": True, "attention_k_eq_v": True, "num_global_key_value_heads": 2},
            5_636_327_936,
        ),
        ("mobilebert", "MobileBertModel", {}, 24_844_544),  # true_hidden_size waits for use_bottleneck
        ("mobilebert", "MobileBertModel", {"use_bottleneck": False, "hidden_size": 256}, 35_820_288),
        ("mobilebert", "MobileBertModel", {"intra_bottleneck_size": 64}, 14_485_760),
        (
            "patchtsmixer",
            "PatchTSMixerModel",
            {"context_length": 100, "patch_length": 10, "patch_stride": 5, "use_positional_encoding": True},
            7_035,
        ),
    ],
)
def test_sizes_that_the_default_does_not_have_are_read(model_type: str, name: str, given: dict[str, Any], count: int) -> None:
    """Counted in transformers 5.23: dense layers, an indexer of sparse attention, keys that the configuration does not keep."""
    assert ps.from_config({"model_type": model_type, **given}, name).count == count


@pytest.mark.parametrize(
    ("model_type", "name", "saved"),
    [
        ("idefics3", "Idefics3ForConditionalGeneration", {"_pad_token_id": 128002}),
        ("blip-2", "Blip2Model", {"text_config": {"_remove_final_layer_norm": False}}),
        ("vitdet", "VitDetModel", {"out_features": ["stage12"], "out_indices": [12]}),
        ("tipsv2", "Tipsv2Model", {"vision_config": {"out_features": ["stage12"]}}),
        ("bamba", "BambaModel", {"time_step_limit": [0.0, "inf"]}),
    ],
)
def test_keys_that_are_saved_though_no_field_declares_them_are_read(model_type: str, name: str, saved: dict[str, Any]) -> None:
    """What transformers 5.23 writes into the default configuration of the type changes nothing."""
    assert ps.from_config({"model_type": model_type, **saved}, name).count == ps.from_config({"model_type": model_type}, name).count


@pytest.mark.parametrize(
    ("model_type", "name", "change"),
    [
        ("axk1", "AXK1Model", {"vocab_size": 100}),
        ("rt_detr_v2", "RTDetrV2ForObjectDetection", {"num_denoising": 0}),  # 0 leaves out the embedding of classes
        ("wavlm", "WavLMModel", {"mask_time_prob": 0.0, "mask_feature_prob": 0.1}),  # has a vector for masked positions
    ],
)
def test_a_key_whose_effect_was_not_probed_has_its_default_only(model_type: str, name: str, change: dict[str, Any]) -> None:
    """A class that reads a key can store other tensors for another value."""
    with pytest.raises(ConfigError, match=list(change)[-1]):
        ps.from_config({"model_type": model_type, **change}, name)


def test_a_key_that_only_dense_layers_read_counts() -> None:
    """The head class of Qwen3-Next took the default width for its dense layers, whatever the configuration said."""
    config = {"model_type": "qwen3_next", "num_hidden_layers": 2, "decoder_sparse_step": 12, "intermediate_size": 7}
    for name, prefix in (("Qwen3NextForCausalLM", "model."), ("Qwen3NextModel", "")):
        assert ps.from_config(config, name).shapes()[f"{prefix}layers.1.mlp.gate_proj.weight"] == (7, 2048)


def test_a_size_must_be_divided_by_the_default_too() -> None:
    """MarkupLM has 12 heads if the configuration names no number."""
    with pytest.raises(ConfigError, match="num_attention_heads is 12 and hidden_size is 767"):
        ps.from_config({"model_type": "markuplm", "hidden_size": 767}, "MarkupLMForQuestionAnswering")


def test_published_hybrid_models_are_read() -> None:
    """Former words of layer kinds, letters for them, and lists of indices; figures from the files of older releases in the live test."""
    kinds = ["linear_attention", "mlp", "full_attention", "moe"]
    nemotron = ps.from_config({"model_type": "nemotron_h", "layers_block_type": kinds * 2}, "NemotronHModel")
    assert nemotron == ps.from_config({"model_type": "nemotron_h", "hybrid_override_pattern": "M-*EM-*E"}, "NemotronHModel")
    with pytest.raises(ConfigError, match=r"hybrid_override_pattern is 'MX'.* wanted a text of the letters"):
        ps.from_config({"model_type": "nemotron_h", "hybrid_override_pattern": "MX"}, "NemotronHModel")
    granite = {"model_type": "granitemoehybrid", "num_hidden_layers": 3}
    former, words = ["mamba", "attention", "mamba"], ["linear_attention", "full_attention", "linear_attention"]
    assert ps.from_config({**granite, "layer_types": former}) == ps.from_config({**granite, "layer_types": words})
    bamba = ps.from_config({"model_type": "bamba", "attn_layer_indices": [9, 18, 27]}, "BambaModel").shapes()
    assert sorted(int(name.split(".")[1]) for name in bamba if name.endswith("q_proj.weight")) == [9, 18, 27]


def test_layers_of_settings_of_their_own_are_given_whole() -> None:
    """Dots 3 Note has 4 to 64 experts in each layer by default, and 64 everywhere if only the kinds of the layers are given."""
    (row,) = [row for row in recorded.rows("hf_defaults") if row["model_class"] == "Dots3NoteVisionModel"]
    kinds, settings = ({key: row["config"][key]} for key in ("mlp_layer_types", "per_layer_config"))
    for given in ({}, settings, kinds | settings):
        assert ps.from_config({"model_type": row["model_type"], **given}).count == row["n_params"]
    for given in (kinds, {"per_layer_config": None}):
        with pytest.raises(ConfigError, match="per_layer_config"):
            ps.from_config({"model_type": row["model_type"], **given})


def test_settings_of_layers_that_change_no_tensor_are_read() -> None:
    """NeoMME saves a window of attention for most layers; the width of the heads of one layer is another matter."""
    windows = {"per_layer_config": {"1": {"sliding_window": 1024}, "5": {"sliding_window": None}}}
    assert ps.from_config({"model_type": "neomme", **windows}).shapes() == ps.from_config({"model_type": "neomme"}).shapes()
    with pytest.raises(ConfigError, match=r"per_layer_config is .*sliding_window of single layers"):
        ps.from_config({"model_type": "neomme", "per_layer_config": {"1": {"head_dim": 32}}})


def test_a_backbone_that_is_given_in_part_needs_its_stages() -> None:
    """Without a backbone transformers takes four stages of a ResNet; one without ``out_features`` has one, and other heads follow."""
    assert len(ps.from_config({"model_type": "upernet"}).shapes()) == 202
    with pytest.raises(ConfigError, match=r"backbone_config\.out_(features|indices) is not given"):
        ps.from_config({"model_type": "upernet", "backbone_config": {"model_type": "resnet"}})


@pytest.mark.parametrize(
    ("width", "depth", "hidden", "count"),
    [
        (1.0, 1.0, 1280, 5288548),
        (1.0, 1.1, 1280, 7794184),
        (1.1, 1.2, 1408, 9109994),
        (1.2, 1.4, 1536, 12233232),
        (1.4, 1.8, 1792, 19341616),
        (1.6, 2.2, 2048, 30389784),
        (1.8, 2.6, 2304, 43040704),
        (2.0, 3.1, 2560, 66347960),
    ],
)
def test_every_efficientnet_is_read_from_its_coefficients(width: float, depth: float, hidden: int, count: int) -> None:
    """Counts of B0 to B7 with 1000 classes, as torchvision documents them; transformers' default is B7."""
    config = {"model_type": "efficientnet", "width_coefficient": width, "depth_coefficient": depth, "hidden_dim": hidden}
    assert ps.from_config({**config, "num_labels": 1000}, "EfficientNetForImageClassification").count == count


def test_a_level_without_blocks_is_refused() -> None:
    """Without blocks, the levels of Janus' autoencoder have other widths."""
    assert ps.from_config({"model_type": "janus_vqgan", "num_res_blocks": 1}).count > 0
    with pytest.raises(ConfigError, match="num_res_blocks"):
        ps.from_config({"model_type": "janus_vqgan", "num_res_blocks": 0})


def test_other_parts_of_a_fixed_sum_are_refused() -> None:
    """Reformer's hidden size is the sum of the two widths of positions: with 192 and 64 the reference stores other shapes."""
    assert ps.from_config({"model_type": "reformer", "axial_pos_embds_dim": [64, 192]}).count > 0
    with pytest.raises(ConfigError, match=r"axial_pos_embds_dim is \[192, 64\]"):
        ps.from_config({"model_type": "reformer", "axial_pos_embds_dim": [192, 64]})


def test_classes_are_chosen_and_refused_by_name() -> None:
    """The first of ``architectures``, else the base; a class without an entry is named."""
    config = {"model_type": "openai-gpt", "architectures": ["OpenAIGPTLMHeadModel"]}
    assert ps.from_config(config).architecture == "OpenAIGPTLMHeadModel"
    with pytest.raises(ConfigError, match="OpenAIGPTNone' is not among those of openai-gpt"):
        ps.from_config(config, architecture="OpenAIGPTNone")


@pytest.mark.parametrize(
    ("model_type", "name", "why"),
    [
        ("layoutlmv2", "LayoutLMv2Model", "transformers builds it with the package detectron2 only"),
        ("llama4", "Llama4TextModel", "transformers does not build it from this type"),
        ("qwen2", "JevForDecision", "that can be read: transformers does not build it from this type"),  # beside a family by hand
    ],
)
def test_a_class_without_a_record_is_refused_with_the_reason(model_type: str, name: str, why: str) -> None:
    """Those that the reference has for a type, and that the atlas has not."""
    with pytest.raises(ConfigError, match=rf"{name}.*{why}"):
        ps.from_config({"model_type": model_type}, architecture=name)


def test_a_family_by_hand_goes_first() -> None:
    """What has a family is read by it."""
    assert type(ps.from_config({"model_type": "bert"})).__name__ == "Bert"


def test_load_reads_the_atlas_too() -> None:
    """``load`` takes the same configurations."""
    assert ps.load({"model_type": "openai-gpt"}, "OpenAIGPTLMHeadModel").count == 116534784


def test_tables_and_letters_work_on_it() -> None:
    """The table, the closed form in LaTeX and the repr are those of any layer."""
    model = ps.from_config({"model_type": "openai-gpt"}, architecture="OpenAIGPTLMHeadModel")
    assert "transformer.h.{0..11}" in str(model.table())
    assert model.origin[0].to_latex() == "12 L H^{2} + 13 L H + V H + P H"
    assert "OpenAIGPTLMHeadModel" in repr(model)
    assert ps.flops(model, (1, 8)).total == 2 * 8 * (12 * 12 * 768**2 + 40_478 * 768) + 4 * 12 * 768 * 8**2


def test_a_recorded_type_is_a_name() -> None:
    """What takes the name of a family takes that of a recorded type: in letters from its name, in numbers from its configuration."""
    led = ps.load("led")
    number = ps.from_config({"model_type": "led", "d_model": 512})
    assert led.at({symbol: number.sizes.get(symbol, 512) for symbol in led.symbols}).count == number.count
    with pytest.raises(UnknownNameError, match="did you mean led"):
        ps.load("lde")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["count", "CONFIG"], "182764032"),
        (["count", "CONFIG", "--set", "decoder_layers=0"], "107125248"),
        (["formula", "led", "--set", "decoder_layers=3"], "6*H*F_d"),
        (["formula", "led"], "LEDForConditionalGeneration"),
    ],
)
def test_the_command_line_reads_recorded_types(command: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration takes ``--set`` with its own keys; the counts are those of transformers' own models, built with these sizes."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "led", "d_model": 512}), encoding="utf-8")
    assert main([str(tmp_path) if word == "CONFIG" else word for word in command]) == 0
    assert said in capsys.readouterr().out


def test_sizes_put_in_later_are_verified_too() -> None:
    """``at``, ``evaluate`` and exported code refuse what ``from_config`` refuses: unverified sizes, and sizes that do not divide."""
    form: Any = ps.from_config({"model_type": "led", "encoder_attention_heads": 16, "decoder_attention_heads": 16}).origin[0]
    letters = dict(zip(form.names, map(str, form.numbers), strict=True))
    sizes = dict.fromkeys(form.names, 512) | {"encoder_layers": 6, "decoder_layers": 6}
    exported: dict[str, Any] = {}
    exec(ps.export(form).code, exported)  # noqa: S102 - what is tested is that the source runs
    ways = (lambda of: form.at(of).count, lambda of: ps.evaluate(form, of), lambda of: exported["params"](**of))
    for way in ways:

        def count(of: dict[str, int], way: Any = way) -> int:
            number: int = way({letters[key]: size for key, size in of.items()})
            return number

        assert count(sizes) == ps.from_config({"model_type": "led", **sizes}).count
        for wrong in ({"d_model": 17}, {"d_model": 100}, {"d_model": 2**30}, {"encoder_layers": 10**6}):
            (key,) = wrong
            with pytest.raises((ps.ParamsymError, ValueError), match=key):
                count(sizes | wrong)
            with pytest.raises(ps.ParamsymError):
                ps.from_config({"model_type": "led", "encoder_attention_heads": 16, "decoder_attention_heads": 16, **sizes, **wrong})
        with pytest.raises((ps.ParamsymError, ValueError), match=r"encoder_layers|where L is 0"):  # other tensors: this form has layers
            count(sizes | {"encoder_layers": 0})


def test_costs_say_that_the_atlas_has_tensors_only() -> None:
    """The error names the reference's class, alone and inside another model."""
    model = ps.load("led")
    for given in (lambda: ps.flops(model), lambda: ps.summary(model), lambda: ps.flops(ps.Sequential(ps.Dense(3, 3), model), (4, 3))):
        with pytest.raises(NotYetError, match=r"LEDForConditionalGeneration,? has no forward pass; its record has tensors"):
            given()


def test_a_list_of_parameters_has_a_name_for_each() -> None:
    """GIT keeps one embedding for each frame of a video, (1, 1, hidden size of the images) in ``GitModel.__init__``."""
    model = ps.from_config({"model_type": "git", "num_image_with_embedding": 3}, architecture="GitModel")
    frames = {name: shape for name, shape in model.shapes().items() if name.startswith("img_temporal_embedding")}
    assert frames == {f"img_temporal_embedding.{frame}": (1, 1, 768) for frame in range(3)}
    without = ps.from_config({"model_type": "git"}, architecture="GitModel")
    assert model.count - without.count == 3 * 768


def test_kinds_of_layers_follow_from_a_list_of_numbers() -> None:
    """LFM2's published configurations list the layers with attention and no kinds, which ``Lfm2Config.__post_init__`` makes of them."""
    numbers = [2, 5, 8, 10, 12, 14]
    model = ps.from_config({"model_type": "lfm2", "num_hidden_layers": 16, "full_attn_idxs": numbers}, architecture="Lfm2Model")
    kinds = {layer: {name.split(".")[2] for name in model.shapes() if name.startswith(f"layers.{layer}.")} for layer in range(16)}
    assert [layer for layer, inside in kinds.items() if "self_attn" in inside] == numbers
    assert [layer for layer, inside in kinds.items() if "conv" in inside] == [layer for layer in range(16) if layer not in numbers]


@pytest.mark.parametrize(
    ("model_type", "name", "said"),
    [
        ("openai-gpt", "n_embd", "n_embd is H: write at(H=...)"),
        ("codegen", "A", "n_head is not a letter"),
        ("reformer", "L", "num_hidden_layers is not a letter"),
    ],
)
def test_a_name_that_is_no_letter_is_explained(model_type: str, name: str, said: str) -> None:
    """A key names its letter; a letter whose key is a number in this model names the key."""
    with pytest.raises(UnknownNameError, match=re.escape(said)):
        ps.from_config({"model_type": model_type}).at({name: 5})


def test_a_misspelt_type_is_compared_with_those_of_the_atlas() -> None:
    """Also the type of an inner configuration."""
    with pytest.raises(ConfigError, match="did you mean qwen3_next"):
        ps.from_config({"model_type": "qwen3_nxt"})
    with pytest.raises(ConfigError, match="text_config has the known model_type qwen3_next"):
        ps.from_config({"model_type": "mine", "text_config": {"model_type": "qwen3_next"}})


def test_inner_configurations_of_other_types_have_their_own_record() -> None:
    """LLaVA-NeXT with Mistral has its 32 layers of width 4096 after the same tower of images, and keeps the classes of its type."""
    text = {"model_type": "mistral", "vocab_size": 32064, "num_hidden_layers": 2}
    model = ps.from_config({"model_type": "llava_next", "architectures": ["LlavaNextForConditionalGeneration"], "text_config": text})
    assert model.shapes()["model.language_model.layers.1.self_attn.k_proj.weight"] == (1024, 4096)
    with pytest.raises(ConfigError, match=r"^LlavaNextModel of the model type llava_next: text_config\.hidden_size is 'wide'"):
        ps.from_config({"model_type": "llava_next", "text_config": {**text, "hidden_size": "wide"}}, architecture="LlavaNextModel")


PUBLISHED = json.loads((Path(__file__).parents[1] / "atlas_builder" / "published.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("model_type", "label"), [(one, label) for one, labels in PUBLISHED.items() for label in labels])
def test_a_published_configuration_needs_its_keys(model_type: str, label: str) -> None:
    """The record of a published configuration reads its keys together; without one of them, the default has another value."""
    keys = PUBLISHED[model_type][label]
    record = f"{model_type}+{label}"
    (name,) = record_of(record)["classes"]
    assert ps.from_config(nested({"model_type": model_type, **keys}), architecture=name).model_type == record
    for key in keys.keys() & record_of(record)["classes"][name]["keys"].keys():
        less: Any = None
        with suppress(ConfigError):
            less = ps.from_config(nested({"model_type": model_type, **{one: value for one, value in keys.items() if one != key}}), name)
        assert less is None or less.model_type == model_type


def test_a_key_may_have_a_dot() -> None:
    """Files converted for the browser have such a key, inside inner configurations too."""
    config = {
        "model_type": "llava_next",
        "transformers.js_config": {},
        "text_config": {"model_type": "llama", "transformers.js_config": {}},
    }
    with pytest.warns(ParamsymWarning, match="transformers"):
        assert ps.from_config(config).count == ps.from_config({"model_type": "llava_next"}).count
