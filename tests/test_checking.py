"""A checkpoint against its own configuration: what agrees, what is explained, what is wrong, and what strangers may send."""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym.checking import MOST_TENSORS
from paramsym.cli import main
from paramsym.core.spelling import is_dropped_buffer
from paramsym.errors import ArgumentError, CheckpointError, ConfigError, ParamsymError
from paramsym.verify.spelling import respelt
from paramsym.verify.stored import Stored

TINY = {
    "model_type": "bert",
    "vocab_size": 7,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 5,
    "max_position_embeddings": 6,
}


def saved(folder: Path, config: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]], **files: Mapping[str, tuple[int, ...]]) -> Path:
    """Write a checkpoint of zeros: one file, or the files given by name and their index."""
    numpy = pytest.importorskip("numpy")
    save_file = pytest.importorskip("safetensors.numpy", reason="safetensors files are written by the safetensors package").save_file
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    for name, inside in {**({"model": shapes} if shapes else {}), **files}.items():
        save_file({key: numpy.zeros(shape, dtype="float16") for key, shape in inside.items()}, folder / f"{name}.safetensors")
    if files:
        where = {key: f"{name}.safetensors" for name, inside in files.items() for key in inside}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return folder


def shapes(architecture: str, **changes: Any) -> dict[str, tuple[int, ...]]:
    """Return the shapes that the class stores; the models themselves are checked elsewhere, against the reference."""
    return dict(ps.from_config({**TINY, **changes}, architecture).shapes())  # type: ignore[arg-type]


def config(architecture: str, **changes: Any) -> dict[str, Any]:
    """Return a configuration that names its class."""
    return {**TINY, "architectures": [architecture], **changes}


# Written here -----------------------------------------------------------------------------------------------------------------


def test_as_it_should_be(tmp_path: Path) -> None:
    """The same tensors, aliases left out: true, and it says which model it is."""
    verdict = ps.check(saved(tmp_path / "tiny", config("BertForMaskedLM"), shapes("BertForMaskedLM")))
    assert verdict
    assert verdict.ok
    assert verdict.architecture == "BertForMaskedLM"
    assert verdict.count == 1057
    assert str(verdict).startswith("tiny agrees with its config as BertForMaskedLM, 1,057 parameters.\n- cls.predictions.decoder.weight, ")
    assert "not repeated in the file, tied to bert.embeddings.word_embeddings.weight" in str(verdict)
    assert len(verdict.table().rows) == len(verdict.match.rows)
    assert "<table>" in verdict._repr_html_()
    assert ps.check(tmp_path / "tiny" / "model.safetensors").ok
    assert ps.check(str(tmp_path / "tiny" / "config.json")).ok


def test_shards(tmp_path: Path) -> None:
    """Several files and their index are one checkpoint."""
    every = shapes("BertModel")
    names = list(every)
    first, second = ({name: every[name] for name in part} for part in (names[:20], names[20:]))
    assert ps.check(saved(tmp_path / "two", config("BertModel"), {}, one=first, two=second)).ok


def test_buffers_on_either_side(tmp_path: Path) -> None:
    """Buffers that older versions saved, and that this one computes, are no difference."""
    extra = {"embeddings.position_ids": (1, 6)}
    verdict = ps.check(saved(tmp_path / "old", config("BertModel"), {**shapes("BertModel"), **extra}))
    assert verdict.ok
    assert "embeddings.position_ids: " in str(verdict)
    gpt2 = {"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "vocab_size": 7, "n_positions": 6}
    there = {**ps.from_config(gpt2, "GPT2Model").shapes(), "h.0.attn.bias": (1, 1, 6, 6), "h.0.attn.masked_bias": ()}
    verdict = ps.check(saved(tmp_path / "older", {**gpt2, "architectures": ["GPT2Model"]}, there))  # type: ignore[arg-type]
    assert verdict.ok, str(verdict)
    assert "saved by older versions" in str(verdict)


def test_prefix(tmp_path: Path) -> None:
    """A base model saved from under a head, and a model whose base was saved alone."""
    under = {f"bert.{name}": shape for name, shape in shapes("BertModel").items()}
    verdict = ps.check(saved(tmp_path / "under", config("BertModel"), under))
    assert verdict.ok
    assert "39 names have the prefix 'bert' in the file, as in a model with a head" in str(verdict)
    verdict = ps.check(saved(tmp_path / "alone", config("BertForSequenceClassification"), shapes("BertModel")))
    assert not verdict.ok
    assert "classifier.weight, classifier.bias: not in the file, which holds BertModel; check it with architecture='BertModel'" in str(
        verdict
    )
    assert {row.name for row in verdict.wrong} == {"classifier.weight", "classifier.bias"}
    assert ps.check(tmp_path / "alone", "BertModel").ok


def test_another_head(tmp_path: Path) -> None:
    """The published BERT names the masked model in its config and holds the pretraining one."""
    verdict = ps.check(saved(tmp_path / "bert", config("BertForMaskedLM"), shapes("BertForPreTraining")))
    assert verdict.ok
    assert "cls.seq_relationship.bias" in str(verdict)
    assert "of BertForPreTraining, which has them in addition to those of BertForMaskedLM" in str(verdict)
    assert ps.check(tmp_path / "bert", "BertModel").ok
    assert ps.check(tmp_path / "bert", "BertForPreTraining").explained == (
        (
            "cls.predictions.decoder.weight, cls.predictions.decoder.bias: not repeated in the file, tied to"
            " bert.embeddings.word_embeddings.weight, cls.predictions.bias"
        ),
    )


def test_older_spelling(tmp_path: Path) -> None:
    """Gamma and beta are the scale and the bias of a normalisation."""
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): shape
        for name, shape in shapes("BertForMaskedLM").items()
    }
    verdict = ps.check(saved(tmp_path / "old", config("BertForMaskedLM"), old))
    assert verdict.ok
    assert "12 names are spelt otherwise in the file (" in str(verdict)
    assert ps.check(tmp_path / "old", "BertForMaskedLM").ok


def test_second_name(tmp_path: Path) -> None:
    """A tied tensor may stand under its second name, or under both."""
    there = shapes("BertForMaskedLM")
    both = {**there, "cls.predictions.decoder.weight": (7, 8)}
    assert ps.check(saved(tmp_path / "both", config("BertForMaskedLM"), both)).ok
    del both["bert.embeddings.word_embeddings.weight"]
    verdict = ps.check(saved(tmp_path / "second", config("BertForMaskedLM"), both))
    assert verdict.ok
    assert "bert.embeddings.word_embeddings.weight: stored as cls.predictions.decoder.weight, its second name" in str(verdict)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"hidden_size": 16}, "the tensors fit H = 8, where the config says H = 16"),
        ({"num_hidden_layers": 3}, "the tensors fit L = 2, where the config says L = 3"),
        ({"vocab_size": 8, "intermediate_size": 6}, "the tensors fit F = 5, V = 7, where the config says F = 6, V = 8"),
    ],
)
def test_other_sizes(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    """A config of another model: the sizes that would fit are named."""
    verdict = ps.check(saved(tmp_path / "other", config("BertModel", **changes), shapes("BertModel")))
    assert not verdict
    assert words in str(verdict)
    assert "other does not agree with its config" in str(verdict)


def test_a_size_in_a_product(tmp_path: Path) -> None:
    """The projection of the keys shows heads times their width only; with the width as the config has it, the heads are found."""
    llama = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 7, "hidden_size": 12, "num_hidden_layers": 1}
    llama |= {"num_attention_heads": 6, "head_dim": 2, "intermediate_size": 5}
    there = dict(ps.from_config({**llama, "num_key_value_heads": 3}).shapes())
    assert there["model.layers.0.self_attn.k_proj.weight"] == (6, 12)
    verdict = ps.check(saved(tmp_path / "heads", {**llama, "num_key_value_heads": 6}, there))  # type: ignore[arg-type]
    assert not verdict
    assert "wrong: the tensors fit G = 3, where the config says G = 6." in str(verdict)
    there["model.layers.0.self_attn.k_proj.weight"] = (4, 12)  # of one tensor alone, which no number of heads explains
    odd = ps.check(saved(tmp_path / "odd", {**llama, "num_key_value_heads": 6}, there))  # type: ignore[arg-type]
    assert not odd
    assert "the tensors fit" not in str(odd)


@cases(0)
def test_one_tensor_wrong(tmp_path: Path) -> None:
    """One shape, one tensor less, one too many: each is found and nothing else."""
    there = shapes("BertModel")
    verdict = ps.check(saved(tmp_path / "shape", config("BertModel"), {**there, "pooler.dense.weight": (8, 9)}))
    assert [(row.name, row.outcome) for row in verdict.wrong] == [("pooler.dense.weight", "wrong shape")]
    assert "axis 1 (H) is 9, not 8" in str(verdict)
    verdict = ps.check(saved(tmp_path / "more", config("BertModel"), {**there, "abacus": (3,)}))
    assert [(row.name, row.outcome) for row in verdict.wrong] == [("abacus", "unexpected")]
    del there["encoder.layer.1.output.dense.bias"]
    verdict = ps.check(saved(tmp_path / "less", config("BertModel"), there))
    assert [(row.name, row.outcome) for row in verdict.wrong] == [("encoder.layer.1.output.dense.bias", "missing")]
    turned = {**shapes("BertModel"), "encoder.layer.0.output.dense.weight": (5, 8)}
    verdict = ps.check(saved(tmp_path / "turned", config("BertModel"), turned))
    assert [(row.name, row.outcome) for row in verdict.wrong] == [("encoder.layer.0.output.dense.weight", "transposed")]


def test_spelling_hides_nothing(tmp_path: Path) -> None:
    """A name is read otherwise only where the model has it so and the file has not; two cannot become one."""
    there = {**shapes("BertModel"), "bert.pooler.dense.bias": (8,)}
    verdict = ps.check(saved(tmp_path / "twice", config("BertModel"), there))
    assert [(row.name, row.outcome) for row in verdict.wrong] == [("bert.pooler.dense.bias", "unexpected")]
    same, notes = respelt(Stored({"x.a": (1,), "y.a": (1,)}), {"a"})
    assert len(notes) == 1
    assert sorted(same.shapes) == ["a", "y.a"]
    assert respelt(Stored({"a": (1,)}), {"a", "b"}) == (Stored({"a": (1,)}), ())
    twice = Stored({"p.LayerNorm.gamma": (1,), "LayerNorm.gamma": (1,), "LayerNorm.beta": (1,), "p.LayerNorm.beta": (1,)})
    assert len(respelt(twice, {"LayerNorm.weight", "LayerNorm.bias"})[0].shapes) == 4
    halved, notes = respelt(Stored({"mlp.weights_in.weight": (6, 2)}), {"mlp.gate_proj.weight", "mlp.up_proj.weight"})
    assert halved.shapes == {"mlp.gate_proj.weight": (3, 2), "mlp.up_proj.weight": (3, 2)}
    assert not is_dropped_buffer("attn.c_attn.bias")


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """0, 1 and 2 on the command line; in text within eighty columns, and as data."""
    monkeypatch.setenv("COLUMNS", "80")
    good = str(saved(tmp_path / "good", config("BertForMaskedLM"), shapes("BertForMaskedLM")))
    bad = str(saved(tmp_path / "bad", config("BertModel", hidden_size=16), {**shapes("BertModel"), "a\x1b[31m": (1,)}))
    assert main(["check", good]) == 0
    assert capsys.readouterr().out.startswith("good agrees with its config as BertForMaskedLM, 1,057 parameters.")
    assert main(["check", bad]) == 1
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "a\\x1b[31m" in said
    assert max(map(len, said.splitlines())) <= 80
    assert main(["check", bad, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert found["wrong"][0]["outcome"] == "wrong shape"
    for form in ("latex", "markdown", "html"):
        assert main(["check", good, "--format", form]) == 0
    assert main(["check", good, "--architecture", "AbacusModel"]) == 2
    (tmp_path / "good" / "model.safetensors").unlink()
    capsys.readouterr()
    assert main(["check", good]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_experts_under_another_prefix(tmp_path: Path) -> None:
    """How experts are stored is seen whatever stands before their names."""
    mixtral = {"model_type": "mixtral", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1}
    mixtral |= {"intermediate_size": 5, "vocab_size": 7, "num_local_experts": 3, "architectures": ["MixtralModel"]}
    model = ps.from_config(mixtral)
    root, sizes = model.origin
    separate = replace(root, expert_storage="separate").at(sizes)  # type: ignore[type-var]
    for name, there in (("stacked", model.shapes()), ("separate", separate.shapes())):
        under = {f"model.{key}": shape for key, shape in there.items()}
        verdict = ps.check(saved(tmp_path / name, mixtral, under))  # type: ignore[arg-type]
        assert verdict.ok, str(verdict)
        assert ("one by one" in str(verdict)) == (name == "separate")


# From strangers ---------------------------------------------------------------------------------------------------------------


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """A missing config, missing files, damaged files, no path at all: one error each."""
    with pytest.raises(ConfigError, match="there is no file or directory"):
        ps.check(tmp_path / "nothing")
    with pytest.raises(ConfigError, match=r"no config\.json"):
        ps.check(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    with pytest.raises(CheckpointError, match=r"no \.safetensors file"):
        ps.check(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 99)
    with pytest.raises(CheckpointError):
        ps.check(tmp_path)
    with pytest.raises(ArgumentError, match=r"a checkpoint is the path of a directory or of one file, not 7 \(int\)"):
        ps.check(7)  # type: ignore[arg-type]
    with pytest.raises(ParamsymError):
        ps.check("a\0b")


def test_too_many_tensors(tmp_path: Path) -> None:
    """A configuration that asks for billions of tensors is refused before one is written out."""
    where = saved(tmp_path / "huge", config("BertModel", num_hidden_layers=10**12), shapes("BertModel"))
    with pytest.raises(ConfigError, match=rf"tensors; {MOST_TENSORS:,} are the limit"):
        ps.check(where)


def test_unknown_keys(tmp_path: Path) -> None:
    """Warned about, refused where asked to be strict."""
    where = saved(tmp_path / "odd", config("BertModel", abacus=3), shapes("BertModel"))
    with pytest.warns(UserWarning, match="abacus"):
        assert ps.check(where).ok
    with pytest.raises(ConfigError, match="abacus"):
        ps.check(where, strict=True)


# Written by the reference -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transformers() -> Iterator[Any]:
    """The reference, silent."""
    found = pytest.importorskip("transformers", reason="the reference writes these checkpoints")
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield found
    logging.disable(before)


SMALL: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 6, "vocab_size": 7}
GROUPED: dict[str, Any] = {**SMALL, "num_key_value_heads": 1}
EXPERTS: dict[str, Any] = {"num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 4}
IMAGES: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 6, "image_size": 8}
DINO: dict[str, Any] = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 8, "patch_size": 4}
CHECKPOINTS: list[tuple[str, str, dict[str, Any], str]] = [
    ("Bert", "BertForMaskedLM", {**SMALL, "max_position_embeddings": 6}, "not repeated in the file"),
    ("Bert", "BertForSequenceClassification", {**SMALL, "max_position_embeddings": 6}, ""),
    ("Roberta", "RobertaForMaskedLM", {**SMALL, "max_position_embeddings": 6}, "not repeated in the file"),
    (
        "GPT2",
        "GPT2LMHeadModel",
        {"n_embd": 8, "n_layer": 1, "n_head": 2, "vocab_size": 7, "n_positions": 6},
        "lm_head.weight: not repeated",
    ),
    ("T5", "T5ForConditionalGeneration", {"vocab_size": 7, "d_model": 8, "d_kv": 4, "d_ff": 5, "num_layers": 1, "num_heads": 2}, "tied to"),
    ("Llama", "LlamaForCausalLM", GROUPED, ""),
    ("Qwen2", "Qwen2ForCausalLM", {**GROUPED, "tie_word_embeddings": True}, "lm_head.weight: not repeated"),
    ("Mixtral", "MixtralForCausalLM", {**GROUPED, "num_local_experts": 3}, "experts are stored one by one"),
    ("Qwen2Moe", "Qwen2MoeForCausalLM", {**GROUPED, **EXPERTS, "shared_expert_intermediate_size": 3}, "experts are stored one by one"),
    ("Qwen3Moe", "Qwen3MoeForCausalLM", {**GROUPED, **EXPERTS, "head_dim": 4}, "experts are stored one by one"),
    ("Olmoe", "OlmoeForCausalLM", {**GROUPED, "num_experts": 3, "num_experts_per_tok": 2}, "experts are stored one by one"),
    ("ViT", "ViTForImageClassification", {**IMAGES, "patch_size": 4}, "vision transformers are saved with these names"),
    ("DeiT", "DeiTModel", {**IMAGES, "patch_size": 4}, "are saved with these names"),
    ("Beit", "BeitModel", {**IMAGES, "patch_size": 4, "use_relative_position_bias": True}, "is saved with these names"),
    ("Dinov2", "Dinov2Model", {**DINO, "use_swiglu_ffn": True}, "each join two of the model's"),
    (
        "Swin",
        "SwinModel",
        {"embed_dim": 4, "depths": [1, 1], "num_heads": [1, 2], "image_size": 16, "patch_size": 2, "window_size": 2},
        "Swin",
    ),
]


@pytest.mark.parametrize(
    ("family", "architecture", "keys", "words"), CHECKPOINTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_saved_by_the_reference(
    transformers: Any,
    tmp_path: Path,
    family: str,
    architecture: str,
    keys: dict[str, Any],
    words: str,
) -> None:
    """What save_pretrained writes holds what its config says; without one tensor it does not."""
    built = getattr(transformers, f"{family}Config")(**keys)
    from paramsym.models import model_types

    if built.model_type not in model_types():
        pytest.skip(f"from_config does not read {built.model_type}")
    getattr(transformers, architecture)(built).save_pretrained(tmp_path / "saved")
    verdict = ps.check(tmp_path / "saved")
    assert verdict.ok, str(verdict)
    assert verdict.architecture == architecture
    assert words in str(verdict)
    from safetensors.numpy import load_file, save_file

    tensors = load_file(tmp_path / "saved" / "model.safetensors")
    del tensors[max(tensors, key=lambda name: (tensors[name].ndim, name))]
    save_file(tensors, tmp_path / "saved" / "model.safetensors")
    assert not ps.check(tmp_path / "saved").ok


@cases(0)
def test_no_framework_is_loaded(tmp_path: Path) -> None:
    """Headers are read without torch."""
    import subprocess
    import sys

    where = saved(tmp_path / "tiny", config("BertModel"), shapes("BertModel"))
    code = f"import sys, paramsym as ps; print(ps.check({str(where)!r}).ok, 'torch' in sys.modules, 'transformers' in sys.modules)"
    there = {**os.environ, "PYTHONPATH": str(Path(ps.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=there, check=True)
    assert done.stdout.split() == ["True", "False", "False"]
